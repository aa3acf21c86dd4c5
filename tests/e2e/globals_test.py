# SPDX-License-Identifier: GPL-3.0-or-later
"""Globals and statics of a source file in C, C++ and Fortran, as an editor is shown them: the values that the program prints. Formats."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from dap_client import DapCase
from photofinish import main

OTHER = "static int total = 77; int elsewhere(void) { return total; }\n"
PROGRAMS = {
    "c": (["mpicc", "-g", "-O0"], """\
#include <mpi.h>
#include <stdio.h>
#include <pthread.h>
struct point { int x; unsigned y; };
static int total = 5;
struct point origin = {7, 255};
__thread int own = 3;
static int unused;
int elsewhere(void);
int main(int argc, char **argv)
{
    double origin_too = 1;
    MPI_Init(&argc, &argv);
    total += 6; own += 1; origin.x = 8;
    {
        int total = 1;
        printf("'main.c'::total = %d\\nown = %d\\nunused = %d\\norigin = {x = %d, y = %u}\\n", 11, own, unused, origin.x, origin.y);
        fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
        total += elsewhere();
    }
    MPI_Finalize();
    return total == 11 && origin_too > 0 ? 0 : 1;
}
"""),
    "cpp": (["mpicxx", "-g", "-O0"], """\
#include <mpi.h>
#include <iostream>
#include <vector>
extern "C" int elsewhere(void);
namespace deep {
std::vector<int> numbers;
namespace {
int hidden = 4;
}
}
struct counted { static int count; };
int counted::count = 2;
template <class T> T as_one = T(1);
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    deep::numbers.push_back(elsewhere());
    std::cout << "deep::hidden = " << ++deep::hidden << "\\ncounted::count = " << ++counted::count << "\\nas_one<long> = " << as_one<long>
              << std::endl;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
"""),
    "f90": (["mpif90", "-g", "-O0"], """\
module data
  integer :: total = 5
  real(8), allocatable :: field(:,:)
  character(len=:), allocatable :: words(:)
  type cell
    integer :: a
    real :: b(3)
  end type
  type(cell) :: cells(2)
end module
module other
  integer :: total = 6
end module
program p
  use data
  use mpi
  implicit none
  integer :: error
  call MPI_Init(error)
  allocate(field(2, 3)); field = 1.5
  allocate(character(len=3) :: words(2)); words = 'abc'
  total = total + 10
  print '(a,i0)', 'data::total = ', total
  flush(6)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program
"""),
}


class GlobalsTest(DapCase):
    def globals_of(self, language):
        """(client, frame, {name: variable}, what the program said) at its barrier."""
        compiler, text = PROGRAMS[language]
        (self.dir / f"main.{language}").write_text(text)
        (self.dir / "other.c").write_text(OTHER)
        self.run_command("mpicc", "-g", "-c", "other.c")
        self.run_command(*compiler, f"main.{language}", "other.o", "-o", "main")
        run = self.photofinish("record", "-o", self.dir / "t.pft", *self.mpirun(2, self.dir / "main"))
        self.assertEqual(run.status, 0, run.err)
        said = dict(line.split(" = ", 1) for line in run.by_rank()[0] if " = " in line)
        client = self.launched(self.dir / "t.pft")
        barrier = next(each for each in self.photofinish("events", "--json", self.dir / "t.pft").json()["events"]
                       if each["rank"] == 0 and each["call"] == "MPI_Barrier")["serial"]
        since = client.mark()
        client.ask("photofinish/replayTo", rank=0, serial=barrier)
        client.event("stopped", since, threadId=1)
        frame = next(frame for frame in self.stack(client, 0) if frame.get("source", {}).get("path", "").endswith(f"main.{language}"))
        scopes = {scope["name"]: scope["variablesReference"] for scope in client.ask("scopes", frameId=frame["id"])["scopes"]}
        found = client.ask("variables", variablesReference=scopes["Globals"])["variables"]
        return client, frame, {each["name"]: each for each in found}, said

    def check_all(self, language, names):
        client, frame, found, said = self.globals_of(language)
        self.assertEqual(list(found), names)
        self.assertTrue(said)
        for name, value in said.items():
            shown = found[name]["value"]
            if found[name]["variablesReference"]:
                parts = client.ask("variables", variablesReference=found[name]["variablesReference"])["variables"]
                shown = "{%s}" % ", ".join(f"{part['name']} = {part['value']}" for part in parts)
            self.assertEqual(shown, value, name)
        return client, frame, found

    def test_c(self):
        client, frame, _ = self.check_all("c", ["'main.c'::total", "origin", "own", "unused"])

        def value(expression):
            return client.ask("evaluate", expression=expression, frameId=frame["id"], context="watch")["result"]

        self.assertEqual(value("/x origin"), "{x = 0x8, y = 0xff}")
        body = client.ask("evaluate", expression="/x origin", frameId=frame["id"], context="watch")
        parts = client.ask("variables", variablesReference=body["variablesReference"])["variables"]
        self.assertEqual([each["value"] for each in parts], ["0x8", "0xff"])
        self.assertEqual(value("/t 'main.c'::total"), "1011")
        self.assertEqual(value("/d 'other.c'::total"), "77")
        self.assertIn("nosuch", client.refuse("evaluate", expression="/x nosuch", frameId=frame["id"], context="watch"))
        client.ask("disconnect")

    def test_cpp(self):
        client, _, found = self.check_all("cpp", ["deep::numbers", "deep::hidden", "counted::count", "as_one<long>"])
        self.assertTrue(found["deep::numbers"]["variablesReference"])
        client.ask("disconnect")

    def test_fortran(self):
        """GDB 13 would end at the type of `words`."""
        client, frame, found = self.check_all("f90", ["data::total", "data::field", "data::words", "data::cells", "other::total"])
        words = client.ask("variables", variablesReference=found["data::words"]["variablesReference"])["variables"]
        self.assertEqual([each["value"] for each in words], ["'abc'", "'abc'"])
        self.assertEqual(client.ask("evaluate", expression="/x total", frameId=frame["id"], context="watch")["result"], "0xf")
        client.ask("disconnect")


if __name__ == "__main__":
    main()
