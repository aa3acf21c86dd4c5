# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that are linked against libmpi_abi, under each library that implements it: the corpus' own, MPI 4.0, calls of MPI 4.1 that poll,
groups; and what is refused. Without such a library (Debian 12, 13) all of it is skipped: there rank_calls_abi_test runs the recorder."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import standard_abi
from photofinish import BIN, FULL, SOURCE, PhotofinishTest, main

CORPUS, PROGRAMS = SOURCE / "tests" / "corpus", SOURCE / "tests" / "e2e" / "programs"
EXPECTED = json.loads((CORPUS / "expected.json").read_text())["programs"]
MODES = ("outcomes", "races", "all")
SHORT = ("any_source_sum", "irecv_any_waitall", "probe_then_recv", "waitany_workers", "testsome_poll", "mprobe_mrecv", "subcommunicators",
         "sendrecv_any", "persistent_any", "cancel_pending", "proc_null", "two_threads")
SAYS = {"abi-mpich": "MPICH Version:", "abi-openmpi": "Open MPI v"}
LATER = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  if (!dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) { puts(dlerror()); return 9; }
  int (*init)(int*, char***) = (int (*)(int*, char***))dlsym(RTLD_DEFAULT, "MPI_Init");
  int (*end)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "MPI_Finalize");
  if (!init || init(0, 0) || end()) { return 8; }
  puts("it ends");
  return 0;
}
"""


class StandardAbiTest(PhotofinishTest):
    library = ""

    def setUp(self):
        super().setUp()
        if not self.library or standard_abi.found(self.library) is None:
            self.skipTest(f"no library of the standard's binary interface: {self.library}")
        self.launcher = standard_abi.LIBRARIES[self.library][2]
        self.need(self.launcher[0], "gcc", BIN / "libphotofinish_mpi_abi.so")

    def build(self, source, *options):
        target = self.dir / source.stem
        before, behind = standard_abi.compiler(self.library, str(self.dir))
        subprocess.run([*before, "-g", "-O0", *options, "-o", target, source, *behind], check=True, cwd=self.dir, stderr=subprocess.DEVNULL)
        return target

    def launch(self, ranks, *program):
        return [*self.launcher, "-n", str(ranks), *map(str, program)]

    def assert_same_run(self, recorded, replayed):
        self.assertEqual((replayed.status, sorted(replayed.out.splitlines())), (recorded.status, sorted(recorded.out.splitlines())),
                         f"{recorded}\n{replayed}")

    def test_corpus(self):
        """Recorded in each mode, replayed with random delays, races as those of brute force."""
        names = [name for name, entry in EXPECTED.items()
                 if entry["fails"] == "never" and "program" not in entry and (CORPUS / f"{name}.c").exists()]
        self.assertTrue(set(SHORT) - {"two_threads"} <= set(names), names)
        for number, name in enumerate(names if FULL else [name for name in SHORT if name in names]):
            entry = EXPECTED[name]
            program = self.build(CORPUS / f"{name}.c", "-pthread", f"-I{CORPUS}")
            for mode in MODES if FULL else (MODES[number % 3],):
                with self.subTest(program=name, mode=mode):
                    recorded = self.record("t.pft", self.launch(entry["ranks"], program, *entry["args"]), "--mode", mode)
                    for seed in (1, 2):
                        self.assert_same_run(recorded, self.replay("t.pft", "--jitter", seed))
                    races = self.photofinish("races", self.dir / "t.pft", "--json").json()["races"]
                    self.assertTrue(entry["min_racing_receives"] <= len(races) <= entry["max_racing_receives"], races)
                    oracle = self.run_command(BIN / "pf_oracle_check", self.dir / "t.pft", timeout=300)
                    self.assertEqual(oracle.status, 0, oracle)

    def test_what_the_trace_says(self):
        """Which library it was, and that it had the standard's interface; any source, any tag and MPI_PROC_NULL as with all others."""
        program = self.build(CORPUS / "proc_null.c", f"-I{CORPUS}")
        self.record("t.pft", self.launch(4, program), "--mode", "all")
        self.assertRegex(self.info()["mpi"], f"^{SAYS[self.library]}.*, MPI ABI 1\\.0$")
        events = self.photofinish("events", self.dir / "t.pft", "--json").json()["events"]

        def of(rank, call, line=""):
            return [event for event in events if event["rank"] == rank and event["call"] == call and line in self.line_of(event)]
        wild = of(0, "MPI_Recv", "MPI_ANY_SOURCE")
        self.assertEqual([(event["kind"], event["peer"], event["tag"], event["communicator"]) for event in wild],
                         [("receive", -1, 3, "MPI_COMM_WORLD")] * 3)
        self.assertEqual(sorted(delivery["source"] for event in wild for delivery in event["deliveries"]), [1, 2, 3])
        null = of(0, "MPI_Recv", "MPI_PROC_NULL") + of(0, "MPI_Irecv", "left") + of(3, "MPI_Isend", "right")
        self.assertEqual([(event["kind"], event["peer"]) for event in null], [("local", -2)] * 3)
        self.assertEqual([(event["kind"], event["peer"], event["bytes"]) for event in of(0, "MPI_Isend", "right")], [("send", 1, 4)])
        self.assertEqual([event["peer"] for event in of(0, "MPI_Sendrecv")], [-2])
        self.assertEqual([(event["kind"], len(event["deliveries"])) for event in of(1, "MPI_Waitall")], [("completion", 2)])

    def line_of(self, event):
        return pathlib.Path(event["file"]).read_text().splitlines()[event["line"] - 1]

    def test_another_library_is_told_in_words(self):
        """A trace of a native program is not replayed with one of the interface that has the same name."""
        maker = self.library.removeprefix("abi-")
        self.need(f"mpicc.{maker}")
        native = self.dir / "native"
        subprocess.run([f"mpicc.{maker}", "-g", f"-I{CORPUS}", "-Wl,--build-id=none", "-o", native, CORPUS / "token_ordered.c"], check=True)
        standard = self.build(CORPUS / "token_ordered.c", f"-I{CORPUS}", "-Wl,--build-id=none")
        program = self.dir / "program"
        shutil.copy(native, program)
        self.record("t.pft", self.launch(2, program))
        self.assertNotIn("ABI", self.info()["mpi"])
        shutil.copy(standard, program)
        replayed = self.replay("t.pft")
        self.assertEqual(replayed.status, 3, replayed)
        self.assertRegex(replayed.err, "this run uses .*, MPI ABI 1.0, the recorded one used ")

    def test_harvest(self):
        """A failing run is replayed to the same failure."""
        program = self.build(PROGRAMS / "flipped.c")
        for seed in range(1, 40):
            recorded = self.record("t.pft", self.launch(4, program, "harvest"), *(["--jitter", seed] if seed > 4 else []), status=None)
            if recorded.status:
                break
        self.assertNotEqual(recorded.status, 0)
        for seed in (3, 5):
            self.assert_same_run(recorded, self.replay("t.pft", "--jitter", seed))

    def test_large_counts(self):
        recorded = self.record("t.pft", self.launch(4, self.build(PROGRAMS / "mpi4.c")))
        for seed in (1, 2, 3):
            self.assert_same_run(recorded, self.replay("t.pft", "--jitter", seed))

    def test_status_of_many(self):
        """MPI_Request_get_status_any and its like: which requests, and after how many polls."""
        program = self.build(PROGRAMS / "status_of_many.c")
        for mode in MODES:
            recorded = self.record("t.pft", self.launch(4, program), "--mode", mode)
            self.assertEqual(len(re.findall("(?m)^all", recorded.out)), 4, recorded)
            self.assertFalse(self.info().get("unsupportedCalls"), self.info())
            for seed in (1, 2, 3):
                self.assert_same_run(recorded, self.replay("t.pft", "--jitter", seed))

    def test_groups(self):
        """Each rank alone has from outside what it had."""
        program = self.build(PROGRAMS / "apart.c")
        recorded = self.record("t.pft", self.launch(4, program), "--groups", "each")
        for rank in range(4):
            alone = self.replay("t.pft", "--group", rank)
            self.assertEqual(alone.status, 0, alone)
            mark = f"rank {rank}:"
            self.assertEqual([line for line in alone.out.splitlines() if mark in line],
                             [line for line in recorded.out.splitlines() if mark in line], alone)

    def test_a_shell_starts_the_program(self):
        """The launcher's own recorder is there at first: the program begins again with that of the interface."""
        program = self.build(CORPUS / "any_source_sum.c", f"-I{CORPUS}")
        (self.dir / "start.py").write_text("import subprocess, sys\nsys.exit(subprocess.run(sys.argv[1:], close_fds=False).returncode)\n")
        for shell in (("sh", "-c", f"{program} && true"), (sys.executable, self.dir / "start.py", program)):
            recorded = self.record("t.pft", self.launch(4, *shell), "--mode", "all")
            self.assertRegex(self.info()["mpi"], "MPI ABI 1")
            self.assertEqual(self.info()["ranks"], 4)
            for seed in (1, 2):
                self.assert_same_run(recorded, self.replay("t.pft", "--jitter", seed))

    def test_one_that_is_loaded_later(self):
        """As Python's modules do it: refused with what to do, and recorded as that says."""
        self.build(CORPUS / "token_ordered.c", f"-I{CORPUS}")
        library = self.dir / self.library / "libmpi_abi.so.1"
        (self.dir / "later.c").write_text(LATER)
        subprocess.run(["gcc", "-g", "-o", "later", "later.c", "-ldl"], check=True, cwd=self.dir)
        launch = self.launch(2, self.dir / "later", library)
        refused = self.photofinish("record", "-o", self.dir / "t.pft", *launch)
        self.assertNotEqual(refused.status, 0, refused)
        self.assertFalse((self.dir / "t.pft").exists(), refused)
        named = re.search(r"'LD_PRELOAD=(\S+) photofinish record", refused.err)
        self.assertTrue(named, refused)
        preload = {"LD_PRELOAD": named[1]}
        recorded = self.record("t.pft", launch, env=preload)
        self.assertEqual(recorded.out.count("it ends"), 2, recorded)
        self.assertRegex(self.info()["mpi"], "MPI ABI 1")
        self.assert_same_run(recorded, self.photofinish("replay", self.dir / "t.pft", "--jitter", 1, env=preload))


if __name__ == "__main__":
    for name in standard_abi.LIBRARIES:
        if name in sys.argv:
            StandardAbiTest.library = name
            sys.argv.remove(name)
    main()
