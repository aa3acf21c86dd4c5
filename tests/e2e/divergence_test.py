# SPDX-License-Identifier: GPL-3.0-or-later
"""A program that does something else in its replay: exit status 3, and rank, event, expected, got, within seconds."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main, processes

STEERED = BIN / "e2e" / "steered"
STUCK = BIN / "e2e" / "stuck"
WITHIN = 10.0


class DivergenceTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", STEERED)
        self.word = self.dir / "word"
        self.word.write_text("plain\n")
        self.recorded = self.record("t.pft", self.mpirun(3, STEERED, self.word))
        self.survey()

    def survey(self):
        """From then on each call is compared, not only the number of them."""
        run = self.photofinish("replay", self.dir / "t.pft", "--survey")
        self.assertEqual(run.status, 0, run)

    def assert_diverges(self, run, rank, expected, got):
        self.assertEqual(run.status, 3, run)
        self.assertLess(run.seconds, WITHIN, run)
        self.assertRegex(run.err, rf"photofinish: replay divergence at rank {rank}, event \d+", run)
        self.assertRegex(run.err, rf"expected: .*{expected}", run)
        self.assertRegex(run.err, rf"got: .*{got}", run)

    def test_unchanged(self):
        self.assert_same_run(self.recorded, self.replay("t.pft"))

    def test_by_the_environment(self):
        for word, expected, got in (("tag", "MPI_Send.* to rank 0, tag 5", r"MPI_Send.* tag 6"),
                                    ("peer", "MPI_Send.* to rank 0", r"MPI_Send.* 2 tag 5"),
                                    ("call", "MPI_Send ", "MPI_Ssend")):
            with self.subTest(word=word):
                self.assert_diverges(self.replay("t.pft", env={"STEER": word}), 1, expected, got)

    def test_by_a_file(self):
        self.word.write_text("tag\n")
        self.assert_diverges(self.replay("t.pft"), 1, "tag 5", "tag 6")

    def test_one_call_less(self):
        run = self.replay("t.pft", env={"STEER": "less"})
        self.assert_diverges(run, 1, "MPI_Send", "MPI_Finalize")

    def test_one_call_more(self):
        run = self.replay("t.pft", env={"STEER": "more"})
        self.assert_diverges(run, 1, "MPI_Finalize", "MPI_Send")

    def test_without_a_survey(self):
        for word, got in (("less", "MPI_Finalize"), ("more", "MPI_Send")):
            with self.subTest(word=word):
                self.record("choices.pft", self.mpirun(3, STEERED, self.word))
                self.assert_diverges(self.replay("choices.pft", env={"STEER": word}), 1, "MPI_Finalize", got)

    def test_full_recording(self):
        self.record("t.pft", self.mpirun(3, STEERED, self.word), "--mode", "all")
        self.assert_diverges(self.replay("t.pft", env={"STEER": "tag"}), 1, "tag 5", "tag 6")

    def test_expected_names_the_place(self):
        run = self.replay("t.pft", env={"STEER": "tag"})
        self.assertRegex(run.err, r"expected: .* at steered\.c:\d+", run)

    def test_what_led_to_it(self):
        """The last ten events of the rank, each with its place, and where the call that differs was made."""
        run = self.replay("t.pft", env={"STEER": "tag"})
        self.assertRegex(run.err, r"got: .* at steered\.c:\d+ \(send_numbers\)", run)
        self.assertEqual(re.findall(r"^    (\d+)  MPI_(\w+)(?: rank 0, tag 5)? at steered\.c:\d+ \((\w+)\)$", run.err, re.M),
                         [("1", "Init", "main"), *[(str(n), "Send", "send_numbers") for n in (2, 3, 4)]], run)

    def test_at_most_ten_events_led_to_it(self):
        self.record("long.pft", self.mpirun(3, STEERED, self.word), env={"STEER_ROUNDS": "40"})
        run = self.replay("long.pft", env={"STEER_ROUNDS": "41"})
        self.assertEqual(run.status, 3, run)
        self.assertEqual(len(re.findall(r"^    \d+  MPI_Send rank 0, tag 5 at steered\.c:\d+ \(send_numbers\)$", run.err, re.M)), 10, run)


class StallTest(PhotofinishTest):
    """A rank that waits for what will not come: the program's deadlock, or a replay that went another way."""

    def setUp(self):
        super().setUp()
        self.need("mpirun", STUCK)

    def record_it(self, *options, **how):
        return self.record("t.pft", self.mpirun(3, STUCK), *options, **how)

    def test_the_others_end_at_once(self):
        """One of them is blocked inside of MPI, the other one computes and calls nothing."""
        self.record_it("--mode", "all")
        run = self.replay("t.pft", env={"STUCK": "past busy"})
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.err, "divergence at rank 1", run)
        self.assertLess(run.seconds, WITHIN, run)
        left = [entry for entry in processes(self.mark).values() if entry[2] == "stuck" and entry[1] != "Z"]
        self.assertFalse(left, run)

    def test_a_sender_that_has_gone_past(self):
        self.record_it()
        run = self.replay("t.pft", env={"STUCK": "past"})
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.err, r"no deadlock of the recorded program", run)
        self.assertRegex(run.err, r"rank 0 waits in MPI_Wait \(event \d+\) at stuck\.c:\d+ \(take_word\) for rank 1, tag 5", run)
        self.assertRegex(run.err, r"rank 0 went on from there \(to event \d+\): rank 1 has gone past", run)

    def test_a_sender_that_has_finished(self):
        self.record_it()
        run = self.replay("t.pft", env={"STUCK": "finish"})
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.err, r"divergence at rank 1, event \d+\n +expected: .*\n +got: +MPI_Finalize at stuck\.c:\d+|"
                                  r"for a message from rank 1, which has called MPI_Finalize", run)

    def test_gone_past_before_the_recorded_deadlock(self):
        """The recording ends in a deadlock; a replay that stalls before that is not what was recorded."""
        recorded = self.record_stuck("t.pft", self.mpirun(3, STUCK), env={"STUCK": "deadlock"})
        pattern = (r"deadlock: rank 0 waits in MPI_Ssend \(event \d+\) at stuck\.c:\d+ \(embrace\) for rank 1, tag 9; "
                   r"rank 1 waits in MPI_Ssend \(event \d+\) at stuck\.c:\d+ \(embrace\) for rank 0, tag 9")
        self.assertRegex(recorded.err, pattern, recorded)
        same = self.replay("t.pft", env={"STUCK": "deadlock"})
        self.assertEqual(same.status, recorded.status, same)
        self.assertRegex(same.err, r"the recording ends here, too", same)
        self.assertRegex(same.err, pattern, same)
        other = self.replay("t.pft", env={"STUCK": "deadlock past"})
        self.assertEqual(other.status, 3, other)
        self.assertRegex(other.err, r"no deadlock of the recorded program", other)

    def test_call_sites_of_fortran(self):
        """Behind the bindings, whose frames are not the program's."""
        self.need("mpif90", "gfortran")
        for module, integer in (("mpi", "integer :: status(MPI_STATUS_SIZE)"), ("mpi_f08", "type(MPI_Status) :: status")):
            with self.subTest(module=module):
                source = self.dir / f"{module}_stuck.f90"
                source.write_text(f"program stuck\n  use {module}\n  implicit none\n  integer :: rank, value, error\n  {integer}\n"
                                  "  call MPI_Init(error)\n  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)\n"
                                  "  call MPI_Recv(value, 1, MPI_INTEGER, 1 - rank, 3, MPI_COMM_WORLD, status, error)\n"
                                  "  call MPI_Finalize(error)\nend program stuck\n")
                subprocess.run(["mpif90", "-g", "-O1", "-o", self.dir / module, source], check=True)
                run = self.record_stuck(f"{module}.pft", self.mpirun(2, self.dir / module))
                self.assertRegex(run.err, rf"rank 0 waits in MPI_Recv \(event \d+\) at {module}_stuck\.f90:8 \(\w+\) for rank 1", run)


if __name__ == "__main__":
    main()
