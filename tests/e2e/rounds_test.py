# SPDX-License-Identifier: GPL-3.0-or-later
"""Thousands of small random executions, run for real: what was recorded of each against the oracles.

A launch of mpirun takes longer than a hundred such executions. So each runs many programs of tests/random, one after another
(rounds), between which nothing is open and all ranks meet; pf_rounds_check cuts the recording there and looks at each by
itself: races found while it ran, races found afterwards, traces of all algorithms, brute force. All launches are replayed
under jitter with deliveries forced both ways, and print the same hash. tests/e2e/rounds.h says why the cuts are sound.

PF_RANDOM: rounds (2000); PF_REPLAYS: replays of each, each way (1; 3 with PF_FULL); PF_SEED: where to begin (1).
"""
import concurrent.futures
import os
import platform
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, FULL, PhotofinishTest, main

PROGRAM = BIN / "random" / "random_program"
COUNT = int(os.environ.get("PF_RANDOM", "2000"))
FIRST = int(os.environ.get("PF_SEED", "1"))
REPLAYS = int(os.environ.get("PF_REPLAYS", "3" if FULL else "1"))
PROGRAMS = (290, 225)  # of a launch, with one and with two steps; some send nothing and are no rounds
LAUNCHES = -(-COUNT // 200)
WORKERS = 2
ALGORITHMS = ("meehan", "netzer-miller", "algorithm-a", "algorithm-b", "naive")


class RoundsTest(PhotofinishTest):
    def launch(self, number):
        """Records and replays one; gives its trace."""
        seed, ranks, algorithm = FIRST + number, 2 + number % 4, ALGORITHMS[number % 5]
        trace = f"{seed}.pft"
        words = [PROGRAM, seed, PROGRAMS[number % 2], 1 + number % 2, "--messages", 4 + number % 3]
        if number % 4 < 2:
            words.append("--count-misses")
        options = ("--jitter", seed) if number % 3 == 0 else ()
        recorded = self.record(trace, self.mpirun(ranks, *words), "--mode", "races", "--algorithm", algorithm, *options,
                               timeout=240)
        self.assertEqual(recorded.out.count(" hash "), ranks, recorded)
        survey = self.replay(trace, "--survey", timeout=240)
        self.assertEqual(survey.status, 0, survey)
        for replay in range(REPLAYS):
            for way in ("pinned", "tagged"):
                # Time is short in ./test: there one way has the jitter, the other one in the next launch.
                jitter = ("--jitter", replay + 1) if REPLAYS > 1 or (way == "tagged") == (number // 2 % 2 == 0) else ()
                self.assert_same_run(recorded, self.replay(trace, "--force", way, *jitter, timeout=240))
        return self.dir / trace

    def test_rounds(self):
        self.need("mpirun", PROGRAM)
        # Open MPI 4.1's mpirun makes this one, or takes away an empty one at its end, while another does so, and fails.
        sessions = self.dir / f"ompi.{platform.node().split('.')[0]}.{os.getuid()}"
        sessions.mkdir(0o700)
        (sessions / "kept").touch()
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
            traces = list(workers.map(self.launch, range(LAUNCHES)))
            checked = list(workers.map(lambda some: self.run_command(BIN / "pf_rounds_check", *some, timeout=300 + COUNT // 10),
                                       (traces[::2], traces[1::2])))
        rounds = 0
        for run in checked:
            self.assertEqual(run.status, 0, run)
            print(run.out.strip(), file=sys.stderr)
            rounds += int(re.search(r"^(\d+) rounds", run.out, re.M).group(1))
        self.assertGreaterEqual(rounds, COUNT)


if __name__ == "__main__":
    main()
