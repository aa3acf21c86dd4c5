# SPDX-License-Identifier: GPL-3.0-or-later
"""Back by lines: every line that was stepped through forwards is come to again, in the opposite order, with what it had."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

PROGRAM = """\
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int g_count = 0;
static volatile long g_work = 0;

static int twice(int x)
{
    int y = x + x; /* twice */
    ++g_count;
    return y;
}

static int nested(int depth)
{
    ++g_count; /* nested */
    return depth == 0 ? 0 : 1 + nested(depth - 1);
}

static int sum(int n)
{
    int total = 0; /* sum */
    for (int i = 0; i < n; ++i)
        total += twice(i); /* add */
    return total; /* summed */
}

static void deliver(int value)
{
    ++g_count;
    MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    ++g_count; /* sent */
}

int main(int argc, char **argv)
{
    int rank, value = 0, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); /* first */
    g_count += 1000;
    if (rank == 0) {
        for (int round = 0; round < 3; ++round) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* receive */
            total += value; /* taken */
            total += sum(3); /* call */
            total += nested(2); /* recursion */
        }
        for (long i = 0; i < 3000; ++i) /* loop */
            g_work += i; /* work */
        printf("total %d\\n", total); /* worked */
        fflush(stdout);
    } else {
        value = rank;
        deliver(value); /* send */
    }
    if (rank == 0 && argc > 1)
        *(volatile int *)0 = 1; /* crash */
    MPI_Finalize();
    return 0;
}
"""


# The call behind MPI_Bcast begins where that returns to: nothing is on the stack.
LOOPS = """\
#include <mpi.h>

static double fold(double *a, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * a[i];
    return s; /* folded */
}

int main(int argc, char **argv)
{
    double a[1000];
    int rank, x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 1000; k++)
        a[k] = k;
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    double s = fold(a, 1000); /* call */
    s += 1; /* added */
    x = (int)s; /* taken */
    for (int j = 0; j < 400; j++) /* loop */
        s += fold(a, 2);
    x += s > 0; /* looped */
    MPI_Finalize();
    return x == 0;
}
"""


class LinesBackTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("gdb", "mpirun", "mpicc")
        source = self.dir / "lines.c"
        source.write_text(PROGRAM)
        self.program = self.dir / "lines"
        subprocess.run(["mpicc", "-g", "-O0", "-o", self.program, source], check=True)

    def line_of(self, mark, program=PROGRAM):
        return 1 + next(i for i, line in enumerate(program.splitlines()) if f"/* {mark} */" in line)

    def script(self, text, status=0, trace="t.pft", *options):
        file = self.dir / "s.script"
        file.write_text("timeout 160\n" + text)
        run = self.photofinish("debug", "--script", file, *options, self.dir / trace, timeout=400)
        if status is not None:
            self.assertEqual(run.status, status, run)
        return run

    def record_it(self, *arguments):
        return self.record("t.pft", self.mpirun(4, self.program, *arguments), "--mode", "all", status=None)

    @staticmethod
    def places(run, rank=0):
        """Where the rank was, and the values that were printed there, in order."""
        places = []
        for line in run.out.splitlines():
            if found := re.match(rf"\[{rank}\] .*: (\w+)\(\) at lines\.c:(\d+)$", line):
                places.append([found[1], int(found[2])])
            elif (found := re.match(rf"\[{rank}\] (-?\d+)$", line)) and places:
                places[-1].append(int(found[1]))
            elif re.match(rf"\[{rank}\] before event ", line):
                places.append(["event"])
        return places

    def test_all_steps_backwards(self):
        """reverse-step undoes step after step, in loops and in and out of functions."""
        self.record_it()
        steps = 30
        look = "print g_count\n"
        run = self.script("replay-to 0:3\nnext\n" + look + ("step\n" + look) * steps + ("reverse-step\n" + look) * steps)
        places = self.places(run)
        forwards = places[1:steps + 2]
        backwards = places[steps + 2:]
        self.assertEqual(len(backwards), steps, run)
        self.assertGreater(len({tuple(place) for place in forwards}), 12, forwards)
        self.assertEqual(backwards, forwards[-2::-1], run)

    def test_over_calls_and_out(self):
        self.record_it()
        call, taken, add = self.line_of("call"), self.line_of("taken"), self.line_of("add")
        run = self.script(f"break lines.c:{self.line_of('recursion')} @0\nrun\nreverse-next\nexpect main\\(\\) at lines.c:{call}$\n"
                          f"reverse-next\nexpect main\\(\\) at lines.c:{taken}$\n"
                          # Event 2 is the receive: over it by events.
                          "reverse-next\nexpect \\[0\\] before event 2: MPI_Recv\n"
                          f"delete 1\nbreak twice if x == 2 @0\ncontinue\nreverse-finish\nexpect sum\\(\\) at lines.c:{add}$\nprint i\nexpect 2\n"
                          f"reverse-finish\nexpect main\\(\\) at lines.c:{call}$\nprint g_count\nexpect 1000\n")
        self.assertEqual(run.status, 0, run)

    def test_what_was_stepped_through_takes_one_cycle(self):
        """Over calls of MPI and on, with next: nothing is counted."""
        self.record_it()
        taken, call, recursion, receive = (self.line_of(mark) for mark in ("taken", "call", "recursion", "receive"))
        run = self.script(f"replay-to 0:2\nnext\nexpect lines.c:{taken}$\nnext\nnext\nexpect lines.c:{recursion}$\n"
                          f"next\nnext\nexpect lines.c:{receive}$\n"  # the loop's head, and around
                          f"next\nexpect lines.c:{taken}$\nnext\nexpect lines.c:{call}$\nprint total\n"
                          f"reverse-next\nexpect lines.c:{taken}$\nprint total\nreverse-next\nexpect before event 3: MPI_Recv\n"
                          f"next\nexpect lines.c:{taken}$\nprint total\ncycles\n")
        values = [int(value) for value in re.findall(r"^\[0\] (\d+)$", run.out, re.M)]
        self.assertEqual(values[1:], [values[1]] * 2, run)
        self.assertGreater(values[0], values[1], run)
        self.assertEqual(len(re.findall(r"^\[all\] cycle \d", run.out, re.M)), 3, run)

    def test_before_an_event_and_in_the_console(self):
        self.record_it()
        self.script(f"replay-to 0:3\ngdb reverse-next\nexpect main\\(\\) at lines.c:\\d+$\nwhere @0\nexpect at lines.c:\\d+$\n"
                    f"gdb reverse-step\nwhere @0\nexpect at lines.c:\\d+$\nprint g_count\nexpect 10\\d\\d\n")

    def test_behind_mpi_init(self):
        """The first event is behind the rank where a cycle begins."""
        self.record_it()
        first = self.line_of("first")
        self.script(f"break lines.c:{first + 2} @0\nrun\nexpect lines.c:{first + 2}$\nprint g_count\nexpect 1000\n"
                    f"reverse-next\nexpect lines.c:{first + 1}$\nprint g_count\nexpect 0\nreverse-next\nexpect lines.c:{first}$\n")

    def test_at_a_crash(self):
        self.record_it("crash")
        crash = self.line_of("crash")
        run = self.script(f"run\nexpect SIGSEGV\nreverse-step\nexpect main\\(\\) at lines.c:{crash}$\nreverse-next\nexpect lines.c:{crash - 1}$\n"
                          f"reverse-next\nexpect main\\(\\) at lines.c:{crash - 6}$\n")
        self.assertEqual(run.status, 0, run)

    def test_what_cannot_be_done(self):
        """One sentence, and the rank stays, or is brought back to, where it was."""
        self.record_it()
        run = self.script(f"break lines.c:{self.line_of('worked')} @0\nrun\nreverse-finish\n", status=1)
        self.assertIn("No line of the program called main()", run.err)
        run = self.script("run\nreverse-next\n", status=1)
        run = self.script("replay-to 0:2\ngdb reverse-continue\n", status=1)
        self.assertIn("Rank 0 has hit no breakpoint before this place in this cycle", run.err)
        self.assertNotIn("done", run.out)
        # Called before the last event: back where it was, with what it had.
        sent = self.line_of("sent")
        run = self.typed(f"break lines.c:{sent} @1", "run", "rank 1", "print g_count", "reverse-finish", "where @1", "print g_count")
        self.assertIn("deliver() was called before event 2 of rank 1", run.out + run.err)
        places = self.places(run, 1)
        self.assertEqual([place for place in places if place[0] != "event"][-1], ["deliver", sent, 1001], run)
        # And why it stood there: what the search has set is nobody's breakpoint.
        self.assertRegex(run.out, rf"(?s)goes towards there.*\[1\] breakpoint 1 \(lines\.c:{sent}\), after event 2: deliver\(\)")
        self.assertNotIn("breakpoint 2", run.out)

    def test_long_loops(self):
        """Many lines are not walked through one by one: the last time through a loop is found by counting."""
        self.record_it()
        run = self.script(f"break lines.c:{self.line_of('worked')} @0\nrun\nprint g_work\nreverse-next\nexpect main\\(\\) at lines.c:{self.line_of('loop')}$\n"
                          f"print g_work\nprint i\nreverse-next\nexpect lines.c:{self.line_of('work')}$\nprint i\nprint g_work\n"
                          f"reverse-step\nexpect lines.c:{self.line_of('loop')}$\nprint i\n")
        values = [int(value) for value in re.findall(r"^\[0\] (\d+)$", run.out, re.M)]
        total = sum(range(3000))
        self.assertEqual(values, [total, total, 2999, 2999, total - 2999, 2998], run)

    def test_over_and_out_of_loops(self):
        """What a function does in a loop is no line on the way over its call, and none on the way out to it."""
        (self.dir / "loops.c").write_text(LOOPS)
        subprocess.run(["mpicc", "-g", "-O0", "-o", self.dir / "loops", self.dir / "loops.c"], check=True)
        self.record("t.pft", self.mpirun(2, self.dir / "loops"), "--mode", "all")
        call, added, taken, loop, looped = (self.line_of(mark, LOOPS) for mark in ("call", "added", "taken", "loop", "looped"))
        self.script(f"break loops.c:{self.line_of('folded', LOOPS)} @0\nrun\nreverse-finish\nexpect main\\(\\) at loops.c:{call}$\n"
                    f"delete 1\nbreak loops.c:{taken} @0\nrun\nreverse-next\nexpect loops.c:{added}$\nreverse-next\nexpect loops.c:{call}$\n"
                    "reverse-next\nexpect \\[0-1\\] before event 2: MPI_Bcast\n"
                    f"next\nexpect main\\(\\) at loops.c:{call}$\n"
                    f"delete 2\nbreak loops.c:{looped} @0\nrun\nreverse-next\nexpect loops.c:{loop}$\nprint j\nexpect 399\n")

    def typed(self, *lines):
        """At a terminal, where lines that fail end nothing: all that was answered."""
        self.need("script")
        program = f"{BIN / 'photofinish'} debug --script - {self.dir / 't.pft'}"
        with self.start(["script", "-qec", program, "/dev/null"], stdin=subprocess.PIPE) as command:
            command.process.stdin.write("".join(f"{line}\n" for line in (*lines, "quit")).encode())
            command.process.stdin.flush()
            run = command.finish(150)
        run.out = run.out.replace("\r", "")
        return run

    def test_one_rank_alone(self):
        """From snapshots: nothing is started."""
        self.record("t.pft", self.mpirun(4, self.program), "--groups", "each")
        call, taken = self.line_of("call"), self.line_of("taken")
        run = self.script(f"break lines.c:{self.line_of('recursion')} @0\nrun\ncontinue\nreverse-next\nexpect main\\(\\) at lines.c:{call}$\n"
                          f"reverse-step\nexpect main\\(\\) at lines.c:{taken}$\n", 0, "t.pft", "--ranks", "0")
        self.assertEqual(run.status, 0, run)


if __name__ == "__main__":
    main()
