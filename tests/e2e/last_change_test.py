# SPDX-License-Identifier: GPL-3.0-or-later
"""Back to the last change of what only a frame knows: local variables, heap, in C, C++ and Fortran."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, doctor_says, main

C = """\
#include <mpi.h>
#include <stdlib.h>
struct cell { int number; struct cell *next; };
static void report(int rounds, const double *sum) { (void)rounds; (void)sum; }
int main(int argc, char **argv)
{
    int rank, value = 0;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct cell *list = malloc(sizeof *list);
    list->number = -1;
    list->next = calloc(1, sizeof *list);
    for (int i = 0; i < 10; ++i) {
        if (rank == 0) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += value;                          /* SUM */
            if (i % 3 == 0) list->next->number = i;  /* HEAP */
        } else {
            MPI_Send(&i, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        }
    }
    report(10, &sum);                              /* HERE */
    free(list->next);
    free(list);
    MPI_Finalize();
    return sum < 0;
}
"""

FORTRAN = """\
program rows
  use mpi
  implicit none
  integer :: rank, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call work(rank)
  call MPI_Finalize(ierr)
contains
  subroutine work(rank)
    integer, intent(in) :: rank
    integer :: i, value
    double precision :: total
    total = 0
    do i = 1, 5
      if (rank == 0) then
        call MPI_Recv(value, 1, MPI_INTEGER, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        if (i < 4) total = total + value  ! SUM
      else
        call MPI_Send(i, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, ierr)
      end if
    end do
    call done(total)  ! HERE
  end subroutine work
  subroutine done(total)
    double precision, intent(in) :: total
    if (total < 0) print *, total
  end subroutine done
end program rows
"""


def line_of(source, mark):
    return next(number for number, line in enumerate(source.splitlines(), 1) if mark in line)


class LastChangeTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", "gdb", BIN / "photofinish-headless")

    def need_watchpoints(self):
        if not doctor_says("watchpoints"):
            self.skipTest("this machine's watchpoints do not work: photofinish doctor")

    def build(self, compiler, name, source, *options):
        (self.dir / name).write_text(source)
        built = self.run_command(compiler, "-g", "-O0", name, "-o", "program")
        self.assertEqual(built.status, 0, built)
        self.record("t.pft", self.mpirun(2, self.dir / "program"), *options)

    def script(self, *lines):
        (self.dir / "s.txt").write_text("\n".join(lines) + "\n")
        run = self.photofinish("debug", "--script", self.dir / "s.txt", self.dir / "t.pft", timeout=180)
        self.assertEqual(run.status, 0, run)
        return run.out

    def test_a_local_variable(self):
        self.need_watchpoints()
        self.build("mpicc", "change.c", C)
        out = self.script(f"break change.c:{line_of(C, 'HERE')} @0", "run", "last-change sum", "print i", "print sum", "stack")
        self.assertRegex(out, r"last change of sum on rank 0: was 36, is 45 \(its memory, \*\(double \*\)\(\*\(unsigned long \*\)&__libc_stack_end - \d+\)\)")
        at_sum, at_heap = line_of(C, "SUM"), line_of(C, "HEAP")
        self.assertRegex(out, rf"\[0\] 9\n\[0\] 45\n\[0\] #0 main\(\) at change.c:({at_sum}|{at_heap})\n")  # the write is over

    def test_the_heap(self):
        """It lies where it lay in a recording that keeps it there; else that is said, and nothing is claimed."""
        self.need_watchpoints()
        lines = [f"break change.c:{line_of(C, 'HERE')} @0", "run", "last-change list->next->number", "print i"]
        self.build("mpicc", "change.c", C, "--same-addresses")
        out = self.script(*lines)
        self.assertRegex(out, r"last change of list->next->number on rank 0: was 6, is 9 \(its memory, \*\(int \*\)0x[0-9a-f]+\)")
        self.assertTrue(out.endswith("[0] 9\n"), out)
        self.build("mpicc", "change.c", C)
        (self.dir / "s.txt").write_text("\n".join(lines) + "\n")
        run = self.photofinish("debug", "--script", self.dir / "s.txt", self.dir / "t.pft", timeout=180)
        self.assertRegex(run.out + run.err, "was 6, is 9|list->next->number lies elsewhere in each run")

    def test_before_an_event(self):
        """As far as the rank is: three receives later the sum is another one."""
        self.need_watchpoints()
        self.build("mpicc", "change.c", C)
        out = self.script("replay-to 0:6", "last-change sum", "print i")
        self.assertRegex(out, r"last change of sum on rank 0: was 3, is 6 ")
        self.assertTrue(out.endswith("[0] 3\n"), out)

    def test_fortran(self):
        self.need_watchpoints()
        self.need("mpifort")
        self.build("mpifort", "rows.f90", FORTRAN)
        out = self.script(f"break rows.f90:{line_of(FORTRAN, 'HERE')} @0", "run", "last-change total", "print i", "print total")
        self.assertRegex(out, r"last change of total on rank 0: was 3, is 6 \(its memory, \*\(double \*\)\(")
        self.assertTrue(out.endswith("[0] 3\n[0] 6\n"), out)

    def test_what_cannot_be(self):
        self.build("mpicc", "change.c", C)
        (self.dir / "s.txt").write_text(f"break change.c:{line_of(C, 'HERE')} @0\nrun\nlast-change no_such\nprint i\n")
        run = self.photofinish("debug", "--script", self.dir / "s.txt", self.dir / "t.pft", timeout=180)
        self.assertIn("no_such cannot be watched: No symbol", run.out + run.err)
        self.assertIsNone(re.search("was .*, is", run.out), run)

    def test_a_machine_that_sees_no_changes(self):
        """Nothing is said to be unchanged where it could not be seen."""
        if doctor_says("watchpoints"):
            self.skipTest("this machine's watchpoints work")
        self.build("mpicc", "change.c", C)
        for lines in (f"break change.c:{line_of(C, 'HERE')} @0\nrun\nlast-change sum\n", "break watch rank\nrun\nbreakpoints\n"):
            (self.dir / "s.txt").write_text(lines)
            run = self.photofinish("debug", "--script", self.dir / "s.txt", self.dir / "t.pft", timeout=180)
            self.assertIn("does not stop at changes of memory", run.out + run.err)
            self.assertNotIn("has not changed", run.out)


if __name__ == "__main__":
    main()
