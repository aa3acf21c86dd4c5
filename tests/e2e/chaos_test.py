# SPDX-License-Identifier: GPL-3.0-or-later
"""Races that a test run does not show (tests/bench/rare.c): recorded with jitter, each fails within a few seeds, and the failing
run replays. How often they fail natively, and how much more often so, is counted by tests/bench/chaos.py."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

RARE = BIN / "bench" / "rare"
MOST = 24  # runs; one in three or more fails


class ChaosTest(PhotofinishTest):
    def check(self, name):
        self.need("mpirun", RARE)
        launch = self.mpirun(4, RARE, name)
        for seed in range(1, MOST + 1):
            recorded = self.record("t.pft", launch, "--jitter", seed, status=None)
            if recorded.status != 0:
                break
        self.assertEqual(recorded.status, 1, recorded)
        self.assertRegex(recorded.err, r"rare: rank \d: .*, expected \d", recorded)
        self.assert_same_run(recorded, self.replay("t.pft", "--jitter", seed + 1))

    def test_configuration(self):
        self.check("config")

    def test_done(self):
        self.check("done")

    def test_step(self):
        self.check("step")

    def test_silence(self):
        self.check("silence")

    def test_first(self):
        self.check("first")

    def test_home(self):
        self.check("home")


if __name__ == "__main__":
    main()
