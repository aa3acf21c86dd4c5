# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of MPI libraries that photofinish has no recorder for: refused by one sentence before they run, or in MPI_Init where they
load MPI later. The libraries are made here, and say what real ones say. Tracing tools in LD_PRELOAD."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

MPICC = os.environ.get("PF_MPICC", "mpicc")
LIBRARY = """
#include <string.h>
int PMPI_Init(int* c, char*** v) { return 0; }
int MPI_Init(int* c, char*** v) { return PMPI_Init(c, v); }
int PMPI_Get_version(int* v, int* s) { *v = %d; *s = %d; return 0; }
int MPI_Get_version(int* v, int* s) { return PMPI_Get_version(v, s); }
int PMPI_Get_library_version(char* t, int* n) { strcpy(t, "%s"); *n = strlen(t); return 0; }
int MPI_Get_library_version(char* t, int* n) { return PMPI_Get_library_version(t, n); }
"""
PROGRAM = '#include <stdio.h>\nint MPI_Init(int*, char***);\nint main() { puts("it ran"); return MPI_Init(0, 0); }\n'
# As python3 does: it has no MPI until a module that it imports brings it.
LOADS_LATER = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (!dlopen(argv[i], RTLD_NOW | RTLD_LOCAL)) { puts(dlerror()); return 9; }
  }
  int (*init)(int*, char***) = (int (*)(int*, char***))dlsym(RTLD_DEFAULT, "MPI_Init");
  if (!init) { return 8; }
  init(0, 0);
  puts("it went on");
  return 0;
}
"""
TOOL = """
#include <mpi.h>
#include <stdio.h>
int MPI_Send(const void* b, int n, MPI_Datatype d, int to, int tag, MPI_Comm c) {
  fputs("the tool saw a send\\n", stderr);
  return PMPI_Send(b, n, d, to, tag, c);
}
int MPI_Init(int* c, char*** v) { return PMPI_Init(c, v); }
"""


class OtherLibrariesTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("gcc")

    def compile(self, target, code, *options, compiler="gcc"):
        (self.dir / "source.c").write_text(code)
        subprocess.run([compiler, "-w", "-o", target, "source.c", *options], check=True, cwd=self.dir)
        return f"./{target}"

    def library(self, name, says, standard=(3, 1), directory="."):
        (self.dir / directory).mkdir(exist_ok=True)
        self.compile(f"{directory}/{name}", LIBRARY % (*standard, says), "-shared", "-fPIC", f"-Wl,-soname,{name}")
        return self.dir / directory / name

    def refused(self, *launch, words, status=1):
        """One sentence of ours, no trace; the ranks have not gone on."""
        run = self.photofinish("record", "-o", self.dir / "t.pft", *launch, env={"LD_LIBRARY_PATH": str(self.dir)})
        said = re.findall(r"(?m)^(?:\[1,\d\]<stderr>:)?photofinish: (?!nothing was recorded)(.*)", run.err)
        self.assertEqual(len(said), 1, run)
        for word in words:
            self.assertIn(word, run.err, run)
        self.assertNotEqual(run.status, 0, run)
        self.assertNotIn("it went on", run.out, run)
        self.assertFalse((self.dir / "t.pft").exists(), run)
        return run

    def test_unknown_ones_are_refused_before_the_program_runs(self):
        for name, says, words in (
                ("libmpi.so.12", "Intel(R) MPI Library 2021.10 for Linux* OS", ("Intel(R) MPI Library 2021.10", "not known here")),
                ("libmpi.so.20", "Open MPI v2.1.1, package: old", ("Open MPI v2.1.1",))):
            with self.subTest(name=name):
                program = self.compile("app", PROGRAM, str(self.library(name, says)))
                run = self.refused(*self.mpirun(3, program), words=(name, *words))
                self.assertNotIn("it ran", run.out, run)

    def test_the_standards_interface_of_another_version(self):
        """Which one a library has, it says itself (MPI_Abi_get_version); one that does not say is refused as well."""
        says = "int PMPI_Abi_get_version(int* a, int* i) { *a = 2; *i = 0; return 0; }\nint MPI_Abi_get_version(int* a, int* i) { return PMPI_Abi_get_version(a, i); }\n"
        for more, abi in (("", ""), (says, ", MPI ABI 2.0")):
            with self.subTest(says=more):
                self.compile("libmpi_abi.so.1", LIBRARY % (5, 0, "MPICH Version:\\t5.0.2\\n") + more, "-shared", "-fPIC", "-Wl,-soname,libmpi_abi.so.1")
                program = self.compile("app", PROGRAM, str(self.dir / "libmpi_abi.so.1"))
                run = self.refused(*self.mpirun(3, program), words=("MPICH Version: 5.0.2" + abi, "libmpi_abi.so.1", "recorder here was built for MPI ABI 1.0"))
                self.assertNotIn("it ran", run.out, run)

    def test_one_that_is_loaded_later_is_refused_in_its_init(self):
        host = self.compile("host", LOADS_LATER, "-ldl")
        later = self.library("libmpi.so.40", "Open MPI v9.0.1, package: of another time", (3, 1))
        self.refused(*self.mpirun(3, host, later), words=("Open MPI v9.0.1", str(later), "recorder is for Open MPI v"))
        newer = self.library("libmpi.so.40", "Open MPI v4.1.4, package: of another time", (5, 0))
        self.refused(*self.mpirun(2, host, newer), words=("(MPI 5.0, ", "recorder is for Open MPI v"))
        standard = self.library("libmpi_abi.so.1", "Open MPI v4.1.4", (3, 1))
        self.refused(*self.mpirun(2, host, standard), words=("libmpi_abi.so.1", "after it began", f"LD_PRELOAD={standard} photofinish record"))

    def test_the_standards_interface_behind_a_shell(self):
        """A program of it that a shell starts, or that loads it later and has it named before, gets the recorder of the interface."""
        abi = "int PMPI_Abi_get_version(int* a, int* i) { *a = 2; *i = 0; return 0; }\n"
        self.compile("libmpi_abi.so.1", LIBRARY % (5, 0, "My MPI 1") + abi, "-shared", "-fPIC", "-Wl,-soname,libmpi_abi.so.1")
        program = self.compile("app", PROGRAM, str(self.dir / "libmpi_abi.so.1"))
        for shell in (("sh", "-c", f"{program} a 'b c'; true"), ("env", "X=1", program, "a")):
            run = self.refused(*self.mpirun(2, *shell), words=("My MPI 1", "recorder is for MPI ABI 1.0"))
            self.assertLessEqual(run.out.count("it ran"), 2, run)  # once each; mpirun may end a rank before it says so
    def test_two_in_one_process(self):
        host = self.compile("host", LOADS_LATER, "-ldl")
        one = self.library("libmpi.so.40", "Open MPI v4.1.4")
        other = self.library("libmine.so.1", "My MPI 1")
        self.refused(*self.mpirun(2, host, one, other), words=("two MPI libraries", str(one), str(other)))

    def test_a_module_of_another_library(self):
        """Python whose MPI module was built for another library than that of the launcher."""
        self.library("libmpich.so.12", "MPICH Version:\\t4.0.2")
        self.compile("module.so", "int MPI_Init(int*, char***); int go(void) { return MPI_Init(0, 0); }", "-shared", "-fPIC",
                     "./libmpich.so.12")
        (self.dir / "app.py").write_text("import ctypes\nctypes.CDLL('./module.so').go()\nprint('it went on')\n")
        self.refused(*self.mpirun(2, sys.executable, "app.py"), words=("uses MPICH", "launcher of its own MPI library"))

    def test_one_inside_of_the_program(self):
        program = self.compile("app", '#include <stdio.h>\n' + LIBRARY % (3, 1, "MPICH Version: 4.0.2") + 'int main() { puts("it ran"); return PMPI_Init(0, 0); }',
                               "-static")
        run = self.refused(*self.mpirun(2, program), words=("static", "Link it with the shared library"))
        self.assertNotIn("it ran", run.out, run)

    def test_one_that_is_not_found(self):
        gone = self.library("libmpi.so.77", "Open MPI v7.0.1")
        program = self.compile("app", PROGRAM, str(gone))
        gone.unlink()
        self.refused(*self.mpirun(2, program), words=("libmpi.so.77", "finds none", "LD_LIBRARY_PATH"))

    def test_a_tool_in_ld_preload_is_told_and_harms_nothing(self):
        self.need(MPICC)
        self.compile("libtool.so", TOOL, "-shared", "-fPIC", compiler=MPICC)
        tool = {"LD_PRELOAD": str(self.dir / "libtool.so")}
        launch = self.mpirun(3, BIN / "corpus" / "any_source_sum")
        native = self.run_command(*launch, env=tool)
        self.assertIn("the tool saw a send", native.err, native)
        run = self.record("t.pft", launch, env=tool)
        said = re.findall(r"(?m)^\[1,\d\]<stderr>:photofinish: (.*)", run.err)
        self.assertEqual(len(said), 1, run)
        self.assertRegex(said[0], r"libtool\.so, which is loaded with the program, stands in for MPI's routines", run)
        for seed in (1, 2, 3):
            replayed = self.photofinish("replay", self.dir / "t.pft", "--jitter", seed, env=tool)
            self.assert_same_run(run, replayed)


if __name__ == "__main__":
    main()
