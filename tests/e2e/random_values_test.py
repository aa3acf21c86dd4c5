# SPDX-License-Identifier: GPL-3.0-or-later
"""Values shown are those that the program prints of itself: 500 variables of generated programs in C, C++, Fortran and Python.

PF_VALUES=N: so many of each language, PF_SEED: of another one."""
import os
import re
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from dap_client import DapCase, line_of
from photofinish import main
from value_programs import LEAF, program

COMPILE = {"c": ["mpicc", "-g", "-O0"], "cpp": ["mpicxx", "-g", "-O0", "-std=c++17"], "f90": ["mpifort", "-g", "-O0", "-ffree-line-length-none"]}
PYTHON = "/usr/bin/python3"
COUNT = int(os.environ.get("PF_VALUES", "125"))
SEED = int(os.environ.get("PF_SEED", "1"))


STATES = """\
module states
  implicit none
  type cell
    integer, allocatable :: v(:)
    character(3) :: name
    integer :: n
  end type
  character(:), allocatable :: late
contains
  subroutine hold(back, open, n)
    use mpi
    integer :: back(:), n, open(n, n), error
    real(8), allocatable :: none(:,:), empty(:), flat(:,:)
    real(8), pointer :: nowhere(:)
    type(cell), allocatable :: cells(:)
    class(cell), pointer :: poly
    type(cell) :: many(1000)
    allocate(empty(0), flat(0, 2), cells(-1:0), poly)
    nowhere => null()
    if (allocated(none)) deallocate(none)
    cells(-1) = cell([10], 'ab-', 4)
    cells(0) = cell([20, 20], 'ab0', 5)
    poly%n = 7
    many%n = back(1)
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end subroutine
end module
program p
  use mpi
  use states
  implicit none
  integer, target :: base(10), square(2, 2)
  integer :: error, i
  call MPI_Init(error)
  base = [(i, i = 1, 10)]
  square = 3
  late = 'words'
  call hold(base(10:1:-2), square, 2)
  call MPI_Finalize(error)
end program
"""


def as_float(text):
    return float(re.sub(r"nan\(.*\)", "nan", text))


def same(kind, shown, printed):
    """Whether a debugger's text says what the program has printed."""
    if kind == "int":
        return int(shown) == int(printed)
    if kind == "char":  # 65 'A'
        return int(shown.split(" ")[0]) == int(printed)
    if kind == "double":
        return struct.pack("d", as_float(shown)) == struct.pack("d", float(printed))
    if kind == "float":
        return struct.pack("f", as_float(shown)) == struct.pack("f", float(printed))
    if kind == "bool":
        return shown.strip(".").lower() == ("true" if int(printed) else "false")
    if kind == "complex":
        real, imaginary = re.fullmatch(r"\(?([^,i]+?)[,]? ?\+? ?([^,i]+?)i?\)?", shown).groups()
        return [as_float(real), as_float(imaginary)] == [float(each) for each in printed.split()]
    if kind == "text":
        return re.sub(r"^0x[0-9a-f]+ ", "", shown)[1:-1] == printed
    return shown == printed


class RandomValuesTest(DapCase):
    def begun_at_barrier(self, client):
        """The scopes of hold() there, and its frame."""
        self.begin(client, "launch", trace=str(self.dir / "t.pft"), stopOnEntry=True)
        client.ask("setExceptionBreakpoints", filters=[])
        client.ask("configurationDone")
        barrier = next(each for each in self.photofinish("events", "--json", self.dir / "t.pft").json()["events"]
                       if each["call"] == "MPI_Barrier")["serial"]
        since = client.mark()
        client.ask("photofinish/replayTo", rank=0, serial=barrier)
        client.event("stopped", since, threadId=1)
        frame = next(frame for frame in self.stack(client, 0) if re.search(r"\bhold\b", frame["name"]))
        return {scope["name"]: scope["variablesReference"] for scope in client.ask("scopes", frameId=frame["id"])["scopes"]}, frame

    def check(self, language, *run):
        source, shapes = program(language, SEED, COUNT)
        file = self.dir / f"values.{language}"
        file.write_text(source)
        if language in COMPILE:
            built = self.run_command(*COMPILE[language], file.name, "-o", "values", timeout=200)
            self.assertEqual(built.status, 0, built.err[-3000:])
        recorded = self.photofinish("record", "--mode", "all", "-o", self.dir / "t.pft", "mpirun", "-n", "1", *(run or [self.dir / "values"]))
        self.assertEqual(recorded.status, 0, recorded.err[-2000:])
        printed = {name: [] for name in shapes}
        for line in recorded.out.splitlines():
            if line.startswith("LEAF\t"):
                _, name, kind, value = line.split("\t", 3)
                printed[name].append((kind, value))
        _, client = self.serve()
        scopes, _ = self.begun_at_barrier(client)
        found = {each["name"].lower(): each for scope in ("Locals", "Arguments") if scope in scopes
                 for each in client.ask("variables", variablesReference=scopes[scope])["variables"]}
        wrong = []
        for name, shape in shapes.items():
            shown = list(self.leaves(client, found[name], shape)) if name in found else ["not shown"]
            if len(shown) != len(printed[name]):
                wrong.append(f"{name}: {len(shown)} values of {len(printed[name])}: {shown} {printed[name]}")
            else:
                wrong += [f"{name}: {value!r} is no {kind} {text!r}" for value, (kind, text) in zip(shown, printed[name])
                          if not self.is_same(kind, value, text)]
        self.assertEqual(wrong, [])
        client.ask("disconnect")

    @staticmethod
    def is_same(*words):
        try:
            return same(*words)
        except (ValueError, AttributeError, IndexError):
            return False

    def children(self, client, variable):
        if not variable["variablesReference"]:
            return []
        return client.ask("variables", variablesReference=variable["variablesReference"])["variables"]

    def leaves(self, client, variable, shape):
        if shape == LEAF:
            yield variable["value"]
            return
        children = self.children(client, variable)
        if len(children) != len(shape):
            yield f"{len(children)} children of {variable}: {children}"
            return
        for child, inner in zip(children, shape):
            yield from self.leaves(client, child, inner)

    def test_c(self):
        self.check("c")

    def test_cpp(self):
        self.check("cpp")

    def test_fortran(self):
        self.need("mpifort")
        self.check("f90")

    def test_states_of_fortran(self):
        """What has no elements, what has no value, what GDB itself takes for another element; and how long a page takes."""
        self.need("mpifort")
        (self.dir / "s.f90").write_text(STATES)
        built = self.run_command(*COMPILE["f90"], "s.f90", "-o", "s", timeout=200)
        self.assertEqual(built.status, 0, built.err[-3000:])
        recorded = self.photofinish("record", "--mode", "all", "-o", self.dir / "t.pft", "mpirun", "-n", "1", self.dir / "s")
        self.assertEqual(recorded.status, 0, recorded.err[-2000:])
        _, client = self.serve()
        scopes, frame = self.begun_at_barrier(client)
        found = {each["name"]: each for scope in ("Locals", "Arguments")
                 for each in client.ask("variables", variablesReference=scopes[scope])["variables"]}
        self.assertEqual([name for name in found if not name[0].isalpha() or "." in name], [], "the compiler has made them")
        for name, value in (("none", "<not allocated>"), ("nowhere", "<not associated>")):
            self.assertEqual((found[name]["value"], found[name]["variablesReference"]), (value, 0), found[name])
        self.assertIn("does not say where it ends", found["open"]["value"])
        self.assertEqual([len(self.children(client, found[name])) for name in ("empty", "flat")], [0, 2])

        def value(expression):
            return client.ask("evaluate", frameId=frame["id"], expression=expression, context="watch")["result"]
        for expression, shown in (("back(2)", "8"), ("back(2) + back(1)", "18"), ("cells(0)%v(2)", "20"), ("poly%n", "7"), ("late", "'words'"),
                                  ("/x back(2)", "0x8"), ("sizeof(back(2))", "4"), ("cells(0)%name(2:3)", "'b0'")):
            self.assertEqual(value(expression), shown, expression)
        self.assertEqual(value("/d cells"), "(( v = (10), name = 'ab-', n = 4 ), ( v = (20, 20), name = 'ab0', n = 5 ))")
        self.assertIn("1:5", client.refuse("evaluate", frameId=frame["id"], expression="back(6)", context="watch"))
        self.changed(client, found, value)
        began = time.monotonic()
        page = client.ask("variables", variablesReference=found["many"]["variablesReference"], start=0, count=100)["variables"]
        self.assertEqual(len(page), 100)
        self.assertLess(time.monotonic() - began, 2.0)
        self.assertNotIn("out of range", client.output())
        client.ask("disconnect")
        (self.dir / "s.txt").write_text(f"break s.f90:{line_of(self.dir / 's.f90', 'MPI_Barrier')}\nrun\nbreak watch back(2)\nbreak watch n\n")
        run = self.photofinish("debug", "--script", self.dir / "s.txt", self.dir / "t.pft", timeout=180)
        self.assertEqual(re.findall(r"GDB cannot watch '(.*)':", run.out + run.err), ["back(2)"], run)

    def changed(self, client, found, value):
        """An element, where it lies."""
        back = found["back"]["variablesReference"]
        self.assertEqual([each["value"] for each in self.children(client, found["back"])], ["10", "8", "6", "4", "2"])
        self.assertEqual(client.ask("setVariable", variablesReference=back, name="4", value="back(1) * 5")["value"], "50")
        self.assertEqual(value("/d back"), "(10, 8, 6, 50, 2)")

    def test_python(self):
        self.need(PYTHON, "/usr/lib/python3/dist-packages/mpi4py")
        self.check("py", PYTHON, self.dir / "values.py")


if __name__ == "__main__":
    main()
