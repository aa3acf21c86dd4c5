# SPDX-License-Identifier: GPL-3.0-or-later
"""Values shown are those that the program prints of itself: 500 variables of generated programs in C, C++, Fortran and Python.

PF_VALUES=N: so many of each language, PF_SEED: of another one."""
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from dap_client import DapCase
from photofinish import main
from value_programs import LEAF, program

COMPILE = {"c": ["mpicc", "-g", "-O0"], "cpp": ["mpicxx", "-g", "-O0", "-std=c++17"], "f90": ["mpifort", "-g", "-O0", "-ffree-line-length-none"]}
PYTHON = "/usr/bin/python3"
COUNT = int(os.environ.get("PF_VALUES", "125"))
SEED = int(os.environ.get("PF_SEED", "1"))


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
        self.begin(client, "launch", trace=str(self.dir / "t.pft"), stopOnEntry=True)
        client.ask("setExceptionBreakpoints", filters=[])
        client.ask("configurationDone")
        barrier = next(each for each in self.photofinish("events", "--json", self.dir / "t.pft").json()["events"]
                       if each["call"] == "MPI_Barrier")["serial"]
        since = client.mark()
        client.ask("photofinish/replayTo", rank=0, serial=barrier)
        client.event("stopped", since, threadId=1)
        frame = next(frame for frame in self.stack(client, 0) if re.search(r"\bhold\b", frame["name"]))
        scopes = {scope["name"]: scope["variablesReference"] for scope in client.ask("scopes", frameId=frame["id"])["scopes"]}
        found = {each["name"].lower(): each for each in client.ask("variables", variablesReference=scopes["Locals"])["variables"]}
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

    def test_python(self):
        self.need(PYTHON, "/usr/lib/python3/dist-packages/mpi4py")
        self.check("py", PYTHON, self.dir / "values.py")


if __name__ == "__main__":
    main()
