# SPDX-License-Identifier: GPL-3.0-or-later
"""replay --until RANK:SERIAL: that rank stands just before that event, the others at the cut that it needs; seen
with GDB from outside."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

PROGRAM = BIN / "corpus" / "any_source_sum"
RANKS = 4


class UntilTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", "gdb", PROGRAM)
        self.recorded = self.record("t.pft", self.mpirun(RANKS, PROGRAM))
        self.events = self.photofinish("events", self.dir / "t.pft", "--json").json()["events"]
        self.receives = [event for event in self.events if event["rank"] == 0 and event["call"] == "MPI_Recv"]

    def stop_at(self, rank, serial):
        return self.stop_with("--until", f"{rank}:{serial}")

    def stop_with(self, *options):
        command = self.start([BIN / "photofinish", "replay", self.dir / "t.pft", *options], stdin=subprocess.PIPE)
        command.wait_for(lambda: "attach a debugger" in command.errors(), 30)
        return command

    def pids(self, command):
        found = {int(rank): int(pid) for rank, pid in re.findall(r"rank (\d+) is process (\d+)", command.errors())}
        self.assertEqual(sorted(found), list(range(RANKS)), command.errors())
        return found

    def answer(self, command, text):
        command.process.stdin.write(text)
        command.process.stdin.close()
        return command.finish(30)

    def stack(self, pid):
        run = subprocess.run(["gdb", "-batch", "-nx", "-ex", "set debuginfod enabled off", "-p", str(pid), "-ex", "bt"],
                             capture_output=True, text=True, timeout=60)
        return run.stdout

    def frames(self, stack):
        return re.findall(r"^#\d+ .*? in (\w+) |^#0 +(\w+) ", stack, re.M)

    def test_stack_of_the_stopped_rank(self):
        target = self.receives[2]
        with self.stop_at(0, target["serial"]) as command:
            pids = self.pids(command)
            self.assertIn(f"stopped just before its event {target['serial']}: MPI_Recv", command.errors())
            stack = self.stack(pids[0])
            self.assertIn("pf_stop_at_event", stack)
            self.assertRegex(stack, r"(?s)pf_stop_at_event.*MPI_Recv.*any_source_sum\.c:%d" % target["line"])
            self.assertEqual(os.readlink(f"/proc/{pids[0]}/exe"), str(PROGRAM))
            run = self.answer(command, b"q\n")
        self.assertEqual(run.status, 0, run)
        self.assertNotIn("sum", run.out, "the program has not come to its end")

    def test_a_cut(self):
        self.assertEqual(self.photofinish("races", self.dir / "t.pft").status, 0)  # makes the survey
        second = self.receives[1]
        sends = {event["rank"]: event for event in reversed(self.events) if event["call"] == "MPI_Send"}  # the first ones
        taken = {delivery["source"] for event in self.receives[:1] for delivery in event["deliveries"]}
        stops = {0: second} | {rank: event for rank, event in sends.items() if rank not in taken}
        for rank in taken:  # it has sent
            stops[rank] = next(event for event in self.events if event["rank"] == rank and
                               event["serial"] == sends[rank]["serial"] + 1)
        cut = ",".join(f"{rank}:{event['serial']}" for rank, event in stops.items())
        with self.stop_with("--until", cut) as command:
            self.assertIn("the ranks are stopped at the cut", command.errors())
            for rank, pid in self.pids(command).items():
                self.assertRegex(self.stack(pid), r"(?s)pf_stop_at_event.*%s" % stops[rank]["call"])
            run = self.answer(command, b"\n")
        self.assertEqual(run.status, 0, run)
        self.assertIn("sum", run.out)
        # A rank that has not sent what rank 0 has already taken.
        sender = min(taken)
        stops[sender] = sends[sender]
        backwards = ",".join(f"{rank}:{event['serial']}" for rank, event in stops.items())
        replay = [BIN / "photofinish", "replay", self.dir / "t.pft", "--until"]
        self.assert_refused(self.run_command(*replay, backwards), 2, "no consistent cut",
                            f"the message of rank {sender} event {sends[sender]['serial']} .MPI_Send to rank 0",
                            f"needed by rank 0 event {self.receives[0]['serial']}")
        self.assert_refused(self.run_command(*replay, "0:1,1:1"), 2, "no event of rank 2")
        self.assert_refused(self.run_command(*replay, "0:1,1:1,2:1,2:2"), 2, "names rank 2 twice")
        self.assert_refused(self.run_command(*replay, "0:1,"), 2, "is not an event")

    def test_a_race_by_its_number(self):
        races = self.photofinish("races", self.dir / "t.pft", "--json").json()["races"]
        receive = races[2]["receive"]
        with self.stop_with("--until-race", "3") as command:
            self.assertIn(f"rank {receive['rank']} is stopped just before its event {receive['serial']}: {receive['call']}",
                          command.errors())
            self.answer(command, b"q\n")
        for number in (0, len(races) + 1):
            self.assert_refused(self.photofinish("replay", self.dir / "t.pft", "--until-race", number), 2, "no race")

    def test_the_failing_receive(self):
        self.assert_refused(self.photofinish("replay", self.dir / "t.pft", "--until-failure"), 2, "no rank of this run has failed")
        for seed in range(1, 100):
            failing = self.record("t.pft", self.mpirun(RANKS, BIN / "corpus" / "segfault_in_order"), "--jitter", seed,
                                  status=None)
            if failing.status != 0:
                break
        events = self.photofinish("events", self.dir / "t.pft", "--json").json()["events"]
        last = max(event["serial"] for event in events if event["rank"] == 0 and event["call"] == "MPI_Recv")
        with self.stop_with("--until-failure") as command:
            self.assertIn(f"rank 0 is stopped just before its event {last}: MPI_Recv", command.errors())
            self.answer(command, b"q\n")

    def test_stop_at_end_holds_even_the_rank_that_crashes(self):
        program = BIN / "corpus" / "segfault_in_order"
        for seed in range(1, 30):
            recorded = self.record("cut.pft", self.mpirun(RANKS, program), "--jitter", seed, status=None)
            if recorded.status != 0:
                break
        with self.start([BIN / "photofinish", "replay", self.dir / "cut.pft", "--stop-at-end"],
                        stdin=subprocess.PIPE) as command:
            command.wait_for(lambda: "attach a debugger" in command.errors(), 30)
            self.assertIn("the recording ends here; the ranks are held", command.errors())
            pids = self.pids(command)
            self.assertTrue(all(os.path.exists(f"/proc/{pid}") for pid in pids.values()))
            run = self.answer(command, b"\n")
        self.assertEqual(run.status, recorded.status, run)

    def test_others_stand_at_the_cut(self):
        """A rank that rank 0 needs nothing more of has not run on to MPI_Finalize."""
        with self.stop_at(0, self.receives[0]["serial"]) as command:
            stacks = {rank: self.stack(pid) for rank, pid in self.pids(command).items()}
            self.answer(command, b"q\n")
        for rank in range(1, RANKS):
            self.assertIn("pf_stop_at_event", stacks[rank], f"rank {rank}\n{stacks[rank]}")
            self.assertNotIn("MPI_Finalize", stacks[rank])

    def test_enter_goes_on_to_the_recorded_end(self):
        with self.stop_at(0, self.receives[1]["serial"]) as command:
            run = self.answer(command, b"\n")
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.by_rank(), self.recorded.by_rank(), run)

    def test_end_of_input_ends_the_replay(self):
        run = self.photofinish("replay", self.dir / "t.pft", "--until", f"1:{2}", timeout=40)
        self.assertEqual(run.status, 0, run)
        self.assertIn("rank 1 is stopped", run.err)

    def test_the_same_place_with_jitter(self):
        """Locals of main and of the receive's buffer are those of the recorded run, whatever the timing."""
        target, seen = self.receives[-1], set()
        for seed in ("1", "2", "3"):
            with self.start([BIN / "photofinish", "replay", self.dir / "t.pft", "--until", f"0:{target['serial']}", "--jitter", seed],
                            stdin=subprocess.PIPE) as command:
                command.wait_for(lambda: "attach a debugger" in command.errors(), 30)
                pid = self.pids(command)[0]
                run = subprocess.run(["gdb", "-batch", "-nx", "-ex", "set debuginfod enabled off", "-p", str(pid),
                                      "-ex", "up-silently 99", "-ex", "info locals", "-ex", "frame function main", "-ex", "info locals"],
                                     capture_output=True, text=True, timeout=60)
                seen.add("\n".join(line for line in run.stdout.splitlines() if re.match(r"(value|i|sum|arrivals) = ", line)))
                self.answer(command, b"q\n")
        self.assertEqual(len(seen), 1, seen)

    def test_every_event_of_a_rank(self):
        last = max(event["serial"] for event in self.events if event["rank"] == 2)
        for serial in range(1, last + 1):
            with self.subTest(serial=serial):
                run = self.photofinish("replay", self.dir / "t.pft", "--until", f"2:{serial}", timeout=40)
                self.assertEqual(run.status, 0, run)
                self.assertIn(f"rank 2 is stopped just before its event {serial}:", run.err, run)


if __name__ == "__main__":
    main()
