# SPDX-License-Identifier: GPL-3.0-or-later
"""An array that lies in parts in several ranks, as one: what each rank prints of its part, and copies that are not what they are copies of."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

RANKS = 4
MPICC = os.environ.get("PF_MPICC", "mpicc")
# A field in blocks of a mesh of two by two, of 4 or 5 rows and 4 or 5 columns, with a halo of one that neighbours exchange, corners left out.
BLOCKS = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int row = rank / 2, column = rank % 2, m = 4 + row, n = 4 + column;
  double block[m][n], in[8], out[8];
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) block[i][j] = i % (m - 1) && j % (n - 1) ? 100 * rank + 10 * i + j : 0;
  const int below = 2 - 2 * row + column, beside = 2 * row + 1 - column;  /* the neighbours */
  const int inner = row ? 1 : m - 2, outer = row ? 0 : m - 1, innerJ = column ? 1 : n - 2, outerJ = column ? 0 : n - 1;
  for (int j = 0; j < n; ++j) out[j] = block[inner][j];
  MPI_Sendrecv(out, n, MPI_DOUBLE, below, 1, in, n, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int j = 1; j < n - 1 && rank != 3; ++j) block[outer][j] = in[j];
  for (int i = 0; i < m; ++i) out[i] = block[i][innerJ];
  MPI_Sendrecv(out, m, MPI_DOUBLE, beside, 2, in, m, MPI_DOUBLE, beside, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 1; i < m - 1; ++i) block[i][outerJ] = in[i];
  for (int i = 0; i < m; ++i) {
    printf("BLOCK %d %d:", rank, i);
    for (int j = 0; j < n; ++j) printf(" %g", block[i][j]);
    printf("\n");
  }
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


class DistributedArraysTest(PhotofinishTest):
    def look(self, *arguments, lines):
        """The answers to `lines`, and what the ranks print: rows by rank."""
        run = self.record("t.pft", self.mpirun(RANKS, BIN / "e2e" / "strips", *arguments), "--mode", "all")
        grid, line = {}, {}
        for text in run.out.splitlines():
            if found := re.search(r"GRID (\d) (\d+): (.*)$", text):
                grid.setdefault(int(found[1]), []).append(found[3].split())
            elif found := re.search(r"LINE (\d): (.*)$", text):
                line[int(found[1])] = found[2].split()
        self.assertEqual((len(grid), len(line)), (RANKS, RANKS), run)
        last = self.photofinish("sql", self.dir / "t.pft", "SELECT MAX(serial) - 1 AS number FROM event WHERE rank = 0", "--json")  # before MPI_Finalize
        serial = re.search(r"\d+", last.out)[0]
        (self.dir / "s.txt").write_text("\n".join([f"replay-to 0:{serial}", *[word for each in lines for word in ("echo STOP", each)]]) + "\n")
        script = self.photofinish("debug", "--script", self.dir / "s.txt", self.dir / "t.pft", timeout=120)
        return script, script.out.split("STOP\n")[1:], grid, line

    def test_the_whole(self):
        """Rows of all ranks in their order, and a line as a row a rank; every copy is right."""
        script, (both, piece, some), grid, line = self.look(
            lines=["array grid@rows across all halo 1", "array line@count across all halo 1", "array grid@rows across 1-2 along 1 halo 1"])
        self.assertEqual(script.status, 0, script)
        rows = [f"[0-3] rank {rank} [{i}][:] " + ", ".join(row) for rank in range(RANKS) for i, row in enumerate(grid[rank])]
        self.assertEqual(both.splitlines()[2:], rows, both)
        self.assertIn(f"All {2 * 4 * (RANKS - 1)} elements of the halo are what they are copies of.", both)
        self.assertEqual(piece.splitlines()[2:], [f"[0-3] rank {rank} [:] " + ", ".join(line[rank]) for rank in range(RANKS)], piece)
        self.assertIn(f"All {2 * (RANKS - 1)} elements of the halo", piece)
        self.assertEqual(some.splitlines()[2:], [row.replace("[0-3]", "[1-2]") for row in rows if row.startswith(("[0-3] rank 1", "[0-3] rank 2"))], some)

    def test_a_stale_halo(self):
        """What a rank forgot to take is found, named with its rank and its neighbour's value."""
        script, (both, piece), grid, line = self.look("stale", lines=["array grid@rows across all halo 1", "array line@count across all halo 1"])
        self.assertEqual(script.status, 0, script)
        rows = len(grid[0])
        self.assertIn(f"4 of 24 elements of the halo are not what they are copies of, the first: rank 1 [0][0] = 0, a copy of "
                      f"rank 0 [{rows - 2}][0] = {grid[0][rows - 2][0]}.", both)
        self.assertIn(f"1 of 6 elements of the halo are not what they are copies of, the first: rank 1 [0] = 0, a copy of "
                      f"rank 0 [{len(line[0]) - 2}] = {line[0][-2]}.", piece)

    def test_blocks(self):
        """A mesh of two by two, of several heights and widths: what each rank prints in its place, and the halo that rank 3 forgets."""
        self.need("mpirun", MPICC)
        (self.dir / "blocks.c").write_text(BLOCKS)
        subprocess.run([MPICC, "-g", "-O0", "-o", self.dir / "blocks", self.dir / "blocks.c"], check=True)
        run = self.record("t.pft", self.mpirun(RANKS, self.dir / "blocks"), "--mode", "all")
        rows = {(int(rank), int(row)): values.split() for rank, row, values in re.findall(r"BLOCK (\d) (\d+):(.*)$", run.out, re.M)}
        self.assertEqual(len(rows), 2 * 4 + 2 * 5, run)
        last = self.photofinish("sql", self.dir / "t.pft", "SELECT MAX(serial) - 1 AS number FROM event WHERE rank = 0", "--json")
        (self.dir / "s.txt").write_text(f"replay-to 0:{re.search('[0-9]+', last.out)[0]}\necho STOP\narray block across all columns 2 halo 1\n")
        script = self.photofinish("debug", "--script", self.dir / "s.txt", self.dir / "t.pft", timeout=120)
        self.assertEqual(script.status, 0, script)
        shown = script.out.split("STOP\n")[1].splitlines()
        self.assertRegex(shown[1], r"^\[0-3\] 3 of 28 elements of the halo are not what they are copies of, the first: rank 3 \[0\]\[1\] = 0, a copy of rank 1 ")
        whole = [line.split("[:] ")[1].split(", ") for line in shown[2:]]
        wanted = [rows[row * 2, i] + rows[row * 2 + 1, i] for row in range(2) for i in range(4 + row)]
        self.assertEqual(whole, wanted, script)

    def test_what_does_not_fit(self):
        """Parts that differ elsewhere, a dimension that is not there, ranks that are none: said."""
        for wrong, words in (("array grid@rows across all along 2", "they differ in another dimension than 2"),
                             ("array grid@rows across all along 3", "it has 2 dimensions, and no dimension 3"),
                             ("array grid@rows across 7", "7"), ("array nothing across 0-1", "rank 0: No symbol")):
            script, _, _, _ = self.look(lines=[wrong])
            self.assertEqual(script.status, 1, script)
            self.assertIn(words, script.err, wrong)


if __name__ == "__main__":
    main()
