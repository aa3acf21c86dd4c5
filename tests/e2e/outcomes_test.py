# SPDX-License-Identifier: GPL-3.0-or-later
"""What is recorded by default: only MPI's choices are logged; replays are as good, and events come from a survey."""
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

NAMES = ("any_source_sum", "waitany_workers", "testsome_poll", "mprobe_mrecv", "preposted_explicit", "persistent_any")


class OutcomesTest(PhotofinishTest):
    def record_outcomes(self, name, ranks, status=0):
        self.need("mpirun", BIN / "corpus" / name)
        return self.record("t.pft", self.mpirun(ranks, BIN / "corpus" / name), status=status)

    def test_replays(self):
        for name in NAMES:
            with self.subTest(program=name):
                recorded = self.record_outcomes(name, 3 if name == "preposted_explicit" else 4)
                for seed in ("1", "2"):
                    self.assert_same_run(recorded, self.replay("t.pft", "--jitter", seed))

    def test_choices_only_until_somebody_asks(self):
        self.record_outcomes("any_source_sum", 4)
        info = self.photofinish("info", self.dir / "t.pft", "--json").json()
        self.assertEqual(info["mode"], "outcomes")
        self.assertEqual(info["wildcardReceives"], 6)
        self.assertIsNone(info["messages"])
        self.assertIsNone(info["racingReceives"])

    def test_probes_are_said(self):
        """Of a program that takes what its probes show, the number of wildcard receives says nothing."""
        self.assertRegex(self.record_outcomes("mprobe_mrecv", 4).err, r"0 wildcard receives, [1-9]\d* probes -> ")

    def test_races_run_the_program_once_more_by_themselves(self):
        recorded = self.record_outcomes("any_source_sum", 4)
        races = self.photofinish("races", self.dir / "t.pft", "--json")
        self.assertEqual(races.status, 0, races)
        self.assertIn("once more", races.err)
        self.assertIn(len(races.json()["races"]), (4, 5))
        run = self.run_command(BIN / "pf_oracle_check", self.dir / "t.pft")
        self.assertEqual(run.status, 0, run)
        again = self.photofinish("races", self.dir / "t.pft", "--json")
        self.assertEqual((again.out, again.err), (races.out, ""), "the second time they are in the trace")
        self.assertEqual(self.photofinish("check", self.dir / "t.pft").status, 0)
        self.assert_same_run(recorded, self.replay("t.pft"))

    def test_same_races_as_a_full_recording_of_the_same_run(self):
        """A survey of a full recording finds what the recording held."""
        for program in ("any_source_sum", "mpi_abort_in_order", "segfault_in_order"):
            with self.subTest(program=program):
                self.need("mpirun", BIN / "corpus" / program)
                recorded = self.record("t.pft", self.mpirun(4, BIN / "corpus" / program), "--mode", "all", status=None)
                before = [self.photofinish(what, self.dir / "t.pft", "--json").out for what in ("races", "events")]
                survey = self.photofinish("replay", self.dir / "t.pft", "--survey")
                self.assertEqual(survey.status, recorded.status, survey)
                after = [self.photofinish(what, self.dir / "t.pft", "--json").out for what in ("races", "events")]
                self.assertEqual(after, before)

    def test_a_crash_is_surveyed_up_to_where_it_was(self):
        """Every rank comes to the last event that it had in the recording, though one of them fails again."""
        for program in ("mpi_abort_in_order", "segfault_in_order"):
            with self.subTest(program=program):
                self.record_outcomes(program, 4, status=None)
                ends = [rank["events"] for rank in self.photofinish("info", self.dir / "t.pft", "--json").json()["perRank"]]
                events = self.photofinish("events", self.dir / "t.pft", "--json")
                self.assertNotIn("were seen again", events.err)
                seen = [0] * len(ends)
                for event in events.json()["events"]:
                    seen[event["rank"]] = max(seen[event["rank"]], event["serial"])
                self.assertEqual(seen, ends)

    def test_a_deadlock_is_told_while_it_is_recorded(self):
        """Within seconds, by rank and call; the program is not ended, and the trace is made once somebody does."""
        self.need("mpirun", BIN / "corpus" / "deadlock_in_order")
        for seed in range(1, 60):
            (self.dir / "t.pft").unlink(missing_ok=True)
            with self.start([BIN / "photofinish", "record", "--jitter", seed, "-o", self.dir / "t.pft",
                             *self.mpirun(4, BIN / "corpus" / "deadlock_in_order")]) as command:
                begin = time.monotonic()
                command.wait_for(lambda: command.process.poll() is not None or "makes no progress" in command.errors())
                told = time.monotonic() - begin
                if command.process.poll() is not None:
                    command.finish(10)  # this time the other message came first
                    continue
                os.kill(command.pid, signal.SIGTERM)
                run = command.finish(30)
            break
        else:
            self.fail("no recording of 59 with jitter hung")
        self.assertLess(told, 10)
        self.assertRegex(run.err, r"rank 0 waits in MPI_Recv \(event 3\)", run)
        self.assertIn("left alone", run.err)
        self.assertTrue((self.dir / "t.pft").exists(), run)

    def test_what_the_algorithms_would_trace(self):
        self.record_outcomes("any_source_sum", 4)
        info = self.photofinish("info", self.dir / "t.pft", "--tracing", "--json")
        self.assertEqual(info.status, 0, info)
        tracing = info.json()["tracing"]
        traced = {name: row["traced"] for name, row in tracing["algorithms"].items()}
        self.assertEqual(traced["naive"], 6)
        self.assertLessEqual(traced["algorithm-b"], traced["netzer-miller"])
        self.assertLessEqual(traced["netzer-miller"], traced["naive"])
        self.assertLessEqual(tracing["optimum"]["lower"], traced["window-16"])
        self.assertIn("algorithm-b", self.photofinish("info", self.dir / "t.pft", "--tracing").out)

    def test_events_and_until_survey_too(self):
        self.record_outcomes("any_source_sum", 4)
        events = self.photofinish("events", self.dir / "t.pft", "--json")
        self.assertEqual(events.status, 0, events)
        self.assertTrue(events.json()["events"])
        self.record_outcomes("any_source_sum", 4)
        run = self.photofinish("replay", self.dir / "t.pft", "--until", "0:3", timeout=40)
        self.assertEqual(run.status, 0, run)
        self.assertIn("rank 0 is stopped just before its event 3", run.err)


if __name__ == "__main__":
    main()
