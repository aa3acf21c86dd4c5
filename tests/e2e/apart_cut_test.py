# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the record of a rank ends, its replay without the others ends, too: nothing that the run never did is done. And
each is told by its environment which rank of the recorded job it is."""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

CUT_IN = BIN / "e2e" / "cut_in"
PLACES = BIN / "e2e" / "places"
CALLS = {"barrier": "MPI_Barrier", "dup": "MPI_Comm_dup", "ssend": "MPI_Ssend", "recv": "MPI_Recv", "allreduce": "MPI_Allreduce",
         "test": "MPI_Test", "iprobe": "MPI_Iprobe"}


def lines_of(run, rank):
    return [line[line.index(f"rank {rank}: "):] for line in run.out.splitlines() if f"rank {rank}: " in line]


class ApartCutTest(PhotofinishTest):
    def test_no_call_returns_that_did_not(self):
        self.need("mpirun", CUT_IN)
        for how, call in CALLS.items():
            recorded = self.record("t.pft", self.mpirun(3, CUT_IN, how), "--groups", "0,1,2" if how in ("test", "ssend") else "0-1,2", status=None)
            self.assertNotIn("beyond", recorded.out)
            for group in ("0", "1") if how == "ssend" else "0":
                with self.subTest(how=how, group=group):
                    alone = self.replay("t.pft", "--group", group)
                    self.assertEqual(alone.status, 7, alone)
                    self.assertIn(f"rank {group}: ring", alone.out)
                    self.assertNotIn("beyond", alone.out)
                    self.assertIn("the recording ends here, too", alone.err)
                    self.assertRegex(alone.err, rf"rank {group} waits in {call} \(event \d+\)")
                    self.assertNotIn("does not exist", alone.err)

    def test_it_is_held_where_it_ends(self):
        self.need("mpirun", CUT_IN)
        for how in ("recv", "barrier"):
            with self.subTest(how=how):
                self.record("t.pft", self.mpirun(3, CUT_IN, how), "--groups", "each", status=None)
                held = self.replay("t.pft", "--group", "0", "--stop-at-end")
                self.assertEqual(held.status, 0, held)
                self.assertRegex(held.err, r"rank 0 is process \d+ on ")
                self.assertNotIn("beyond", held.out)

    def test_one_that_a_signal_ends_says_so(self):
        self.need("mpirun", CUT_IN)
        self.record("t.pft", self.mpirun(3, CUT_IN, "kill"), "--groups", "each", status=None)
        alone = self.replay("t.pft", "--group", "2")
        self.assertEqual(alone.status, 137, alone)
        self.assertIn("rank 2 was ended by signal 9 (Killed)", alone.err)
        self.assertRegex(alone.err, r"rank 2 alone did what was recorded \(\d+ events; the recording ends there\)")

    def places(self, recorded, groups):
        for number, ranks in enumerate(groups):
            with self.subTest(ranks=ranks):
                alone = self.replay("t.pft", "--group", number)
                self.assertEqual(alone.status, 0, alone)
                for rank in ranks:
                    self.assertEqual(lines_of(alone, rank), lines_of(recorded, rank), alone)
                    self.assertEqual(len(lines_of(alone, rank)), 4)

    def test_the_environment_says_which_rank_it_is(self):
        self.need("mpirun", PLACES)
        recorded = self.record("t.pft", self.mpirun(4, PLACES), "--groups", "0+2,1,3")
        self.assertRegex(recorded.out, r"rank 3: behind 3 4 3 4 3 ")
        self.assertIn("rank 3: 4 processes", recorded.out)
        self.places(recorded, ((0, 2), (1,), (3,)))

    def test_in_scripts_around_the_program(self):
        self.need("mpirun", PLACES)
        recorded = self.record("t.pft", self.mpirun(3, "sh", "-c", f"exec {PLACES} part-$OMPI_COMM_WORLD_RANK-of-$OMPI_COMM_WORLD_SIZE"),
                               "--groups", "0,1+2")
        self.assertIn("argument part-2-of-3", recorded.out)
        self.places(recorded, ((0,), (1, 2)))

    def test_under_mpich(self):
        self.need("mpiexec.mpich", BIN / "libphotofinish_mpich.so", "mpicc.mpich")
        program = self.dir / "places"
        subprocess.run(["mpicc.mpich", "-g", "-o", program, pathlib.Path(__file__).parent / "programs" / "places.c"], check=True)
        recorded = self.record("t.pft", ["mpiexec.mpich", "-n", "4", program], "--groups", "0+2,1,3")
        self.assertRegex(recorded.out, r"rank 3: behind - - - - - 3 4 3")
        self.places(recorded, ((0, 2), (1,), (3,)))


if __name__ == "__main__":
    main()
