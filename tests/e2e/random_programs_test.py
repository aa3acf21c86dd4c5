# SPDX-License-Identifier: GPL-3.0-or-later
"""Random racy programs (tests/random), recorded, replayed under jitter, and their races against the oracle.

Each program prints a hash of all that its ranks received and of all that MPI chose for them: the judge is the program,
not the interposer. PF_RANDOM: how many (10; 500 with PF_FULL); PF_SEED: where to begin (1).
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, FULL, PhotofinishTest, main

PROGRAM = BIN / "random" / "random_program"
COUNT = int(os.environ.get("PF_RANDOM", "500" if FULL else "10"))
FIRST = int(os.environ.get("PF_SEED", "1"))
REPLAYS = 3 if FULL else 2
PROGRAMS = 4  # of each seed, one after another in one run


class RandomProgramTest(PhotofinishTest):
    def test_replays_and_races(self):
        self.need("mpirun", PROGRAM)
        for seed in range(FIRST, FIRST + COUNT):
            ranks = 2 + seed % 4
            mode = "all" if seed % 3 == 0 else "outcomes"
            with self.subTest(seed=seed, ranks=ranks, mode=mode):
                words = [PROGRAM, seed, PROGRAMS] + (["--count-misses"] if seed % 2 else [])
                recorded = self.record("t.pft", self.mpirun(ranks, *words), "--mode", mode)
                self.assertEqual(recorded.out.count(" hash "), ranks, recorded)
                races = self.photofinish("races", self.dir / "t.pft", "--json")
                self.assertEqual(races.status, 0, races)
                for jitter in range(1, REPLAYS + 1):
                    self.assert_same_run(recorded, self.replay("t.pft", "--jitter", jitter))
                oracle = self.run_command(BIN / "pf_oracle_check", self.dir / "t.pft", timeout=120)
                self.assertEqual(oracle.status, 0, oracle)


if __name__ == "__main__":
    main()
