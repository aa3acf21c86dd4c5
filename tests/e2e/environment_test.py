# SPDX-License-Identifier: GPL-3.0-or-later
"""What the system tells the program (clocks, random numbers, process id ...) is recorded and given back in each replay."""
import os
import platform
import re
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, FULL, JITTERS, PhotofinishTest, doctor_says, main

REPLAYS = 10 if FULL else 4


class EnvironmentTest(PhotofinishTest):
    def program(self, name, ranks, *arguments):
        self.need("mpirun", BIN / "e2e" / name)
        return self.mpirun(ranks, BIN / "e2e" / name, *arguments)

    def assert_replays(self, recorded, times=REPLAYS):
        for seed in range(1, times + 1):
            self.assert_same_run(recorded, self.replay("t.pft", "--jitter", str(seed)))

    def test_clocks_and_random_numbers(self):
        recorded = self.record("t.pft", self.program("clocks", 3))
        self.assertEqual(recorded.out.count("after"), 3, recorded)
        again = self.record("other.pft", self.program("clocks", 3))
        self.assertNotEqual(recorded.by_rank(), again.by_rank(), "the program does not depend on its environment")
        self.assert_replays(recorded)
        self.assertEqual(self.photofinish("check", self.dir / "t.pft").status, 0)

    def test_random_device_chrono_and_time_limits(self):
        recorded = self.record("t.pft", self.program("chances", 3))
        self.assertEqual(recorded.out.count("worker in time"), 3, recorded)
        self.assertEqual(recorded.out.count("lock in time"), 3, recorded)
        self.assertEqual(recorded.out.count("signal 1"), 3, recorded)
        self.assert_replays(recorded)

    def test_a_crash_in_the_middle(self):
        recorded = self.record("t.pft", self.program("clocks", 3, "crash"), status=None)
        self.assertNotEqual(recorded.status, 0)
        wanted = recorded.by_rank()[0]
        self.assertTrue(wanted[-1].startswith("crash"), recorded)
        for seed in JITTERS:
            replayed = self.replay("t.pft", "--jitter", seed)
            self.assertEqual(replayed.status, recorded.status, replayed)
            self.assertEqual(replayed.by_rank()[0], wanted, replayed)
        held = self.replay("t.pft", "--stop-at-end")
        self.assertEqual(held.status, 0, held)
        self.assertIn("the recording ends here", held.err)

    def test_with_all_events_and_after_a_survey(self):
        recorded = self.record("t.pft", self.program("clocks", 3), "--mode", "all")
        self.assert_replays(recorded, 2)
        recorded = self.record("t.pft", self.program("clocks", 3))
        for _ in range(2):
            survey = self.replay("t.pft", "--survey")
            self.assertEqual(survey.status, 0, survey)
        self.assert_replays(recorded, 2)

    def test_what_a_thread_of_mpi_may_still_run_stays_loaded(self):
        """Open MPI 4.1 unloads its component for PMIx in MPI_Finalize while a thread may call back into it: a rank crashed of it now and then."""
        command = self.program("unloads", 1)
        before, after = map(int, self.run_command(*command).by_rank()[0][-1].split())
        if after == before:
            self.skipTest("this MPI library unloads nothing")
        for run in (self.record("t.pft", command), self.replay("t.pft")):
            before, after = map(int, run.by_rank()[0][-1].split())
            self.assertEqual(after, before, run)

    def test_alone_and_behind_a_shell(self):
        program = BIN / "e2e" / "clocks"
        self.need(program)
        recorded = self.record("t.pft", [program])
        for _ in range(2):
            replayed = self.replay("t.pft")
            self.assertEqual((replayed.out, replayed.status), (recorded.out, 0), replayed)
        recorded = self.record("t.pft", self.mpirun(2, "sh", "-c", f"{program}; true"))
        self.assert_replays(recorded, 2)

    def test_a_poll_of_the_clock_is_small_in_the_trace(self):
        self.record("t.pft", ["mpirun", "-n", "1", BIN / "e2e" / "polls", "200000"])
        log_bytes = self.photofinish("info", self.dir / "t.pft", "--json").json()["bytes"]
        self.assertLess(log_bytes, 4 * 400000, "bytes of 200000 calls each of MPI_Wtime and clock_gettime")
        self.assertGreater(log_bytes, 2 * 400000, "they are not in the log")

    @unittest.skipUnless(platform.machine() == "x86_64", "rdtsc is an instruction of x86-64")
    def test_the_cycle_counter_by_option(self):
        if not doctor_says("cycle-counter"):
            self.skipTest("this machine does not let rdtsc trap")
        for end in ((), ("crash",)):
            with self.subTest(end=end):
                recorded = self.record("t.pft", self.program("cycles", 3, *end), "--rdtsc", status=139 if end else 0)
                self.assertEqual(recorded.out.count("program 0"), 3, recorded)
                self.assertEqual(recorded.out.count("end "), 0 if end else 3, recorded)
                for seed in JITTERS:
                    replayed = self.replay("t.pft", "--jitter", seed)
                    self.assertEqual(replayed.status, recorded.status, replayed)
                    self.assertEqual(replayed.by_rank()[0], recorded.by_rank()[0], replayed)

    def test_other_numbers_of_calls_do_no_harm(self):
        counts = self.dir / "counts"
        counts.write_text("5")
        recorded = self.record("t.pft", self.program("uncovered", 3, counts))
        self.assertNotIn("has changed", self.replay("t.pft").err)
        for times in ("0", "3", "50"):
            counts.write_text(times)
            replayed = self.replay("t.pft")
            self.assert_same_run(recorded, replayed)
            self.assertRegex(replayed.err, r"rank 0: .*/counts has changed since the recording")
        self.assertEqual(recorded.out.count("child"), 9)
        self.assertEqual(len(re.findall(r"child \w+: 7", recorded.out)), 9, "a child of the program is not the rank")

    def test_a_program_that_has_moved_says_what_it_misses(self):
        one, two = self.dir / "one", self.dir / "two"
        shutil.copy(BIN / "e2e" / "uncovered", one)
        recorded = self.record("t.pft", self.mpirun(3, one))
        one.rename(two)
        one.symlink_to(two)
        replayed = self.replay("t.pft")
        self.assert_same_run(recorded, replayed)
        self.assertRegex(replayed.err, r"rank 0: this program is not where it was recorded: what it asked")

    def test_what_is_not_covered_is_noted(self):
        for mode in ("outcomes", "all"):
            with self.subTest(mode=mode):
                self.record("t.pft", self.program("uncovered", 3), "--mode", mode)
                notes = self.photofinish("info", self.dir / "t.pft", "--json").json()["notGuaranteed"]
                by_rank = {rank: "\n".join(note["text"] for note in notes if note["rank"] == rank) for rank in range(3)}
                self.assertEqual(len(notes), 7, notes)
                self.assertRegex(by_rank[0], r"socket to another host at uncovered\.c:\d+")
                self.assertRegex(by_rank[1], r"timer that sends signals at uncovered\.c:\d+")
                self.assertRegex(by_rank[2], r"another thread than the first, first at uncovered\.c:\d+")
                self.assertRegex(by_rank[2], r"share without a lock, first thread made at uncovered\.c:\d+")
                for text in by_rank.values():
                    self.assertRegex(text, r"child process, or a pipe to another one at uncovered\.c:\d+")


if __name__ == "__main__":
    main()
