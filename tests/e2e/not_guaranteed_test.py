# SPDX-License-Identifier: GPL-3.0-or-later
"""What is not recorded (one-sided communication, threads of unknown origin) is told by name and place, never silently."""
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main


class NotGuaranteedTest(PhotofinishTest):
    def assert_noted(self, program, fragment, mode):
        self.need("mpirun", BIN / "e2e" / program)
        recorded = self.record("t.pft", self.mpirun(3, BIN / "e2e" / program), "--mode", mode)
        self.assertRegex(recorded.err, rf"note: {fragment} at {program}\.c:\d+", recorded)
        notes = self.photofinish("info", self.dir / "t.pft", "--json").json()["notGuaranteed"]
        self.assertTrue(notes)
        self.assertTrue(any(re.search(rf"{fragment} at {program}\.c:\d+", note["text"]) for note in notes), notes)
        self.assertRegex(self.photofinish("info", self.dir / "t.pft").out, rf"not guaranteed in a replay: rank \d: {fragment}")
        self.assertEqual(self.photofinish("check", self.dir / "t.pft").status, 0)
        return recorded

    def test_one_sided(self):
        for mode in ("outcomes", "all"):
            with self.subTest(mode=mode):
                recorded = self.assert_noted("onesided", r"MPI_\w+", mode)
                self.assertIn("tickets add up to 435", recorded.out)
                self.assertIn("MPI_Win_lock", recorded.err)

    def test_threads_of_unknown_origin(self):
        for mode in ("outcomes", "all"):
            with self.subTest(mode=mode):
                recorded = self.assert_noted("unknown_thread", "calls of MPI from a thread that pthread_create did not make, first", mode)
                self.assertEqual(recorded.out.count("sum 6"), 3, recorded)

    def test_ordinary_threads_are_guaranteed_but_for_shared_memory(self):
        recorded = self.record("t.pft", self.mpirun(3, BIN / "e2e" / "threads"))
        self.assertEqual(recorded.out.count(" and "), 3, recorded)
        self.assertRegex(recorded.err, r"note: what threads share without a lock, first thread made at threads\.c:\d+")
        notes = self.photofinish("info", self.dir / "t.pft", "--json").json()["notGuaranteed"]
        self.assertEqual(sorted(note["rank"] for note in notes), [0, 1, 2], notes)
        replayed = self.replay("t.pft", "--jitter", 2)
        self.assertEqual(replayed.by_rank(), recorded.by_rank(), replayed)

    def test_what_somebody_else_tells_a_running_program(self):
        program, told = BIN / "e2e" / "told_from_outside", self.dir / "told"
        self.need(program)
        with self.start([BIN / "photofinish", "record", "-o", self.dir / "t.pft", program, told]) as command:
            rank = command.wait_for(lambda: command.find("told_from_outside"))[0]
            command.wait_for(lambda: any(self.dir.glob("t.pft.d/rank-*.log")))
            time.sleep(0.3)  # it is past MPI_Init
            (self.dir / "new").write_text("42")
            os.rename(self.dir / "new", told)
            os.kill(rank, signal.SIGUSR1)
            recorded = command.finish(60)
        self.assertEqual((recorded.status, recorded.out), (0, "told 42 and 1\n"), recorded)
        notes = sorted(note["text"] for note in self.info()["notGuaranteed"])
        self.assertEqual(len(notes), 2, notes)
        self.assertEqual(notes[0], f"file that somebody else wrote during the run, {told}")
        self.assertRegex(notes[1], r"^signal from another process, taken at told_from_outside\.c:\d+$")
        self.assertRegex(recorded.err, r"note: file that somebody else wrote during the run, ")

    def test_each_signal_from_outside(self):
        program, told = BIN / "e2e" / "told_from_outside", self.dir / "told"
        self.need(program)
        for number in (signal.SIGXCPU, signal.SIGCONT, signal.SIGHUP, signal.SIGALRM):
            with self.subTest(signal=number.name), \
                    self.start([BIN / "photofinish", "record", "--replace", "-o", self.dir / "t.pft", program, told]) as command:
                rank = command.wait_for(lambda: command.find("told_from_outside"))[0]
                command.wait_for(lambda: any(self.dir.glob("t.pft.d/rank-*.log")))
                time.sleep(0.3)  # it is past MPI_Init
                os.kill(rank, number)
                told.write_text("42")
                recorded = command.finish(60)
                self.assertEqual((recorded.status, recorded.out), (0, "told 42 and 1\n"), recorded)
                self.assertTrue([note for note in self.info()["notGuaranteed"] if "signal from another process" in note["text"]], recorded)

    def test_a_signal_that_the_launcher_would_have_passed_on(self):
        program, told = BIN / "e2e" / "told_from_outside", self.dir / "told"
        self.need("mpirun", program)
        with self.start([BIN / "photofinish", "record", "-o", self.dir / "t.pft", *self.mpirun(1, program, told)]) as command:
            command.wait_for(lambda: command.find("told_from_outside"))
            command.wait_for(lambda: any(self.dir.glob("t.pft.d/rank-*.log")))
            time.sleep(0.5)
            os.kill(command.pid, signal.SIGUSR1)
            told.write_text("1")
            recorded = command.finish(60)
        self.assertEqual(recorded.status, 0, recorded)
        self.assertIn("told 1 and 1", recorded.out)

    def test_standard_input_that_is_too_long(self):
        self.need("mpirun", BIN / "corpus" / "any_source_sum")
        for size, kept in ((15 << 20, True), ((15 << 20) + 1, False), (16 << 20, False)):
            (self.dir / "long").write_bytes(b"x" * size)
            with self.subTest(size=size), open(self.dir / "long", "rb") as file:
                run = self.record("t.pft", self.mpirun(2, "sh", "-c", f"cat >/dev/null; exec {BIN / 'corpus' / 'any_source_sum'}"), stdin=file)
                texts = [note["text"] for note in self.info()["notGuaranteed"]]
                self.assertEqual(texts, [] if kept else ["standard input, which was longer than 15 MiB"], run)
                self.assertEqual(self.replay("t.pft").status, 0)

    def test_an_ordinary_program_has_none(self):
        self.record("t.pft", self.mpirun(4, BIN / "corpus" / "any_source_sum"))
        self.assertEqual(self.photofinish("info", self.dir / "t.pft", "--json").json()["notGuaranteed"], [])


if __name__ == "__main__":
    main()
