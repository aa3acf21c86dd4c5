# SPDX-License-Identifier: GPL-3.0-or-later
"""Replays of right runs, with jitter and on a machine that is busy, long operations among them: none may be called another run.

PF_RIGHT_REPLAYS=N: so many (default 10); tests/e2e/right_replays_test.py with PF_RIGHT_REPLAYS=1000 is for before a release.
"""
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

MPICC = os.environ.get("PF_MPICC", "mpicc")
COUNT = int(os.environ.get("PF_RIGHT_REPLAYS", 10))
PROGRAMS = [(3, BIN / "e2e" / "steady", 60, 1000), (2, BIN / "e2e" / "patient", "operation", 1), (3, BIN / "e2e" / "patient", "looks", 10),
            (3, BIN / "e2e" / "patient", "calls", 200), (4, BIN / "corpus" / "any_source_sum")]


# Rank 0 fails behind MPI_Finalize: its launcher ends rank 1, unless that has left.
LINGERS = r"""
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Finalize();
  int leaves = getenv("LEAVES") != NULL;
  if (rank == 1 && !leaves) sleep(30);
  if (rank == 0 && leaves) sleep(1);
  return rank == 0;
}
"""


class RightReplaysTest(PhotofinishTest):
    naps = False

    def setUp(self):
        super().setUp()
        for name in [name for name in self.env if name.startswith(("OMPI_MCA_", "PMIX_MCA_", "HWLOC_"))]:
            del self.env[name]  # ./test chooses, users do not

    def test_a_finished_rank_that_the_launcher_ended(self):
        """It may leave by itself in the replay."""
        self.need("mpirun", MPICC)
        (self.dir / "lingers.c").write_text(LINGERS)
        subprocess.run([MPICC, "-o", self.dir / "lingers", self.dir / "lingers.c"], check=True)
        self.record("t.pft", self.mpirun(2, self.dir / "lingers"), status=1)
        ended = self.photofinish("sql", self.dir / "t.pft", "SELECT exit_signal FROM rank ORDER BY rank").out.split()
        self.assertEqual(ended[-1], str(signal.SIGTERM.value), ended)
        replayed = self.replay("t.pft", env={"LEAVES": "1"})
        self.assertEqual(replayed.status, 1, replayed)
        self.assertNotIn("in the recorded run", replayed.err)

    def test_none_is_called_another_run(self):
        self.need("mpirun", *[str(words[1]) for words in PROGRAMS])
        recorded = [self.record(f"{number}.pft", self.mpirun(*words)) for number, words in enumerate(PROGRAMS)]
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"], env=self.env) for _ in range(os.cpu_count() or 1)]
        try:
            for number in range(COUNT):
                which = number % len(PROGRAMS)
                # A stall is told of so early that long operations always are one.
                options = ["--stall-after", "0.5"] if number % 2 == 0 else []
                replayed = self.replay(f"{which}.pft", "--jitter", number + 1, *options, timeout=120)
                self.assert_same_run(recorded[which], replayed)
        finally:
            for process in busy:
                process.kill()
                process.wait()
        print(f"{COUNT} replays of right runs, and none was called another one")


if __name__ == "__main__":
    main()
