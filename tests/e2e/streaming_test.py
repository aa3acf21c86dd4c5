# SPDX-License-Identifier: GPL-3.0-or-later
"""A replay streams its schedule: what a rank holds in memory does not grow with the trace."""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, FULL, PhotofinishTest, main

COUNT = 10_000_000 if FULL else 1_000_000
# KiB, of its own and of mapped files. For 1,000,000 deliveries a schedule has 2 to 8 MiB that are read.
MOST = 4096 if FULL else 700
PROGRAM = BIN / "e2e" / "deliveries"


class StreamingTest(PhotofinishTest):
    def grown(self, run):
        found = re.search(r"grown by (-?\d+) KiB of its own and (-?\d+) of files", run.err)
        self.assertIsNotNone(found, run)
        return int(found[1]) + int(found[2])

    def check(self, how, *options, replay=(), count=COUNT):
        self.need("mpirun", PROGRAM)
        recorded = self.record("t.pft", self.mpirun(2, PROGRAM, str(count), how), *options, timeout=300)
        replayed = self.replay("t.pft", *replay, timeout=300)
        self.assert_same_run(recorded, replayed)
        grown = self.grown(replayed)
        print(f"{how} {' '.join(options)}: {count} deliveries, grown by {grown} KiB", file=sys.stderr)
        self.assertLess(grown, MOST, replayed)

    def test_sources(self):
        self.check("recv")

    def test_outcomes(self):
        self.check("waitany")

    def test_clocks(self):
        self.check("clock")

    def test_all_events_and_gates(self):
        # The trace of more events takes gigabytes to make: a million is enough.
        self.check("recv", "--mode", "all", replay=["--bounded-buffers"], count=1_000_000)


if __name__ == "__main__":
    main()
