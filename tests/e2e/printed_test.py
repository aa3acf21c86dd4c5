# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recorded run prints goes where it went without us, byte for byte, and is in the trace."""
import os
import pty
import re
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

PROGRAM = """\
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank;
    long lines = argc > 1 ? atol(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        printf("terminal %d %d\\n", isatty(1), isatty(2));
        for (long i = 0; i < lines; ++i) printf("line %ld of %ld\\n", i, lines);
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) fprintf(stderr, "WRONG ANSWER: \\x1b[31m%d\\n", 7);
    MPI_Finalize();
    return rank == 0 && argc > 2;
}
"""

PYTHON = "/usr/bin/python3"
RAISES = """\
import sys
from mpi4py import MPI


def work(numbers):
    # What is wrong.
    MPI.COMM_WORLD.Barrier()
    return numbers[7]


def main():
    return work({})

sys.exit(main())
"""


class PrintedTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        (self.dir / "p.c").write_text(PROGRAM)
        self.run_command("mpicc", "-O1", "p.c", "-o", "p")

    def rows(self):
        database = sqlite3.connect(f"file:{self.dir / 't.pft'}?immutable=1", uri=True)
        found = {stream: (beginning, left, end)
                 for stream, beginning, left, end in database.execute("SELECT stream, beginning, left_out, ending FROM printed")}
        database.close()
        return found

    def test_a_run_that_fails(self):
        """Its last line is beside what failed; another one's is not said."""
        launch = ["mpirun", "-n", "2", self.dir / "p", "3", "fail"]
        run = self.photofinish("record", "-o", self.dir / "t.pft", *launch)
        self.assertEqual(run.status, 1, run)
        self.assertIn("line 2 of 3\n", run.out)
        self.assertIn("WRONG ANSWER", run.err)
        info = self.photofinish("info", self.dir / "t.pft")
        self.assertIn("\nprinted   WRONG ANSWER: \\x1b[31m7\n", info.out)
        self.assertEqual(self.photofinish("info", "--json", self.dir / "t.pft").json()["printed"], "WRONG ANSWER: \\x1b[31m7")
        rows = self.rows()
        self.assertEqual(rows[1], (run.out.encode(), 0, None))
        self.assertIn(b"WRONG ANSWER: \x1b[31m7\n", rows[2][0])
        self.photofinish("record", "-o", self.dir / "u.pft", *launch[:-1])
        self.assertNotIn("printed", self.photofinish("info", self.dir / "u.pft").out)

    def test_much_of_it(self):
        """All of it arrives, before the recorder ends; beginning and end are kept."""
        run = self.photofinish("record", "-o", self.dir / "t.pft", "mpirun", "-n", "1", self.dir / "p", "300000")
        self.assertEqual(run.status, 0, run.err[-2000:])
        expected = run.out.splitlines()[0] + "\n" + "".join(f"line {i} of 300000\n" for i in range(300000))
        self.assertTrue(run.out == expected, f"{len(run.out)} bytes of {len(expected)}")
        beginning, left, end = self.rows()[1]
        self.assertEqual((beginning, end), (expected[:16384].encode(), expected[-114688:].encode()))
        self.assertEqual(left, len(expected) - 16384 - 114688)

    def test_nobody_reads(self):
        """As `record … | head`: the run comes to its end."""
        words = " ".join(map(str, (BIN / "photofinish", "record", "-o", self.dir / "t.pft", "mpirun", "-n", "1", self.dir / "p", "300000")))
        run = self.run_command("sh", "-c", f"{words} | head -1", timeout=90)
        self.assertIn("terminal", run.out)
        self.assertTrue((self.dir / "t.pft").exists(), run)

    def test_a_terminal(self):
        """Where the program runs without a launcher it keeps it; under mpirun it has what it always had."""
        master, slave = pty.openpty()
        with self.start([BIN / "photofinish", "record", "-o", self.dir / "t.pft", self.dir / "p"], stdin=slave) as command:
            command.wait_for(lambda: "terminal 0 0" in command.output())  # the test's own files
            command.finish(30)
        pid = os.fork()
        if pid == 0:
            for stream in range(3):
                os.dup2(slave, stream)
            os.chdir(self.dir)
            os.execv(BIN / "photofinish", ["photofinish", "record", "-o", "v.pft", "./p"])
        os.close(slave)
        said, end = b"", time.monotonic() + 30
        while b"WRONG" not in said and time.monotonic() < end:
            said += os.read(master, 4096)
        os.waitpid(pid, 0)
        os.close(master)
        self.assertIn(b"terminal 1 1", said)

    def test_a_traceback(self):
        """Of an exception of Python each frame is told: by info, and by a report."""
        self.need(PYTHON, "/usr/lib/python3/dist-packages/mpi4py", BIN / "photofinish-headless")
        (self.dir / "a.py").write_text(RAISES)
        run = self.photofinish("record", "-o", self.dir / "t.pft", "mpirun", "-n", "1", PYTHON, "a.py", cwd=self.dir)
        self.assertEqual(run.status, 1, run)
        frames = ["a.py:14, in <module>", "a.py:12, in main", "a.py:8, in work"]
        said = "KeyError: 7 (raised at a.py:8, in work)"
        info = self.photofinish("info", self.dir / "t.pft").out
        self.assertIn(f"\nprinted   {said}\ntraceback " + "\n          ".join(frames) + "\n", info)
        self.assertEqual(self.photofinish("info", "--json", self.dir / "t.pft").json()["traceback"],
                         [{"file": file, "line": int(line), "function": function}
                          for file, line, function in re.findall(r'File "(.*?)", line (\d+), in (.*)', run.err)])
        report = self.photofinish("debug", "--offline", "-o", self.dir / "r.txt", self.dir / "t.pft", timeout=120)
        self.assertEqual(report.status, 1, report)
        words = (self.dir / "r.txt").read_text().split()
        self.assertIn(" ".join(["printed", "last", said, "traceback", *frames]), " ".join(words))


if __name__ == "__main__":
    main()
