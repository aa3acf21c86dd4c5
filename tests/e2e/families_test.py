# SPDX-License-Identifier: GPL-3.0-or-later
"""A program that uses every MPI call family: the same results native, recorded in each mode, surveyed and replayed.

Orders that are noted as not recorded (windows, shared file pointers) get into its messages: the judge is what it prints.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

PROGRAM = BIN / "families" / "families"


class FamiliesTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", PROGRAM)
        native = self.run_command(*self.mpirun(4, PROGRAM), timeout=120)
        self.assertEqual(native.status, 0, native)
        self.lines = native.by_rank()[0]
        self.assertTrue(all(": ok " in line for line in self.lines), native)

    def assert_same_lines(self, run):
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.by_rank()[0], self.lines, run)

    def test_in_each_mode(self):
        for mode in ("outcomes", "all"):
            with self.subTest(mode=mode):
                self.assert_same_lines(self.record("t.pft", self.mpirun(4, PROGRAM), "--mode", mode, timeout=120))
                for seed in (1, 2):
                    self.assert_same_lines(self.replay("t.pft", "--ignore-contents", "--jitter", seed, timeout=180))
                races = self.photofinish("races", self.dir / "t.pft", "--json", timeout=180)
                self.assertEqual(races.status, 0, races)
                self.assert_same_lines(self.replay("t.pft", "--ignore-contents", timeout=120))


if __name__ == "__main__":
    main()
