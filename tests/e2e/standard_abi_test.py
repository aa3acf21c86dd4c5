# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that are linked against libmpi_abi, under each library that implements it: the corpus' own, MPI 4.0, calls of MPI 4.1 that poll,
groups; and what is refused. Without such a library (Debian 12, 13) all of it is skipped: there rank_calls_abi_test runs the recorder."""
import json
import os
import re
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
        """Which library it was; any source and any tag as with all others; PROC_NULL as no event."""
        program = self.build(CORPUS / "any_source_sum.c", f"-I{CORPUS}")
        self.record("t.pft", self.launch(4, program), "--mode", "all")
        self.assertTrue(self.info()["mpi"].startswith(SAYS[self.library]), self.info())
        receives = [event for event in self.photofinish("events", self.dir / "t.pft", "--json").json()["events"] if event["call"] == "MPI_Recv"]
        self.assertTrue(receives)

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

    def test_native_library_behind_the_recorder_is_refused(self):
        """A program of the interface that a shell starts: the launcher's own recorder is there, which says so."""
        program = self.build(CORPUS / "any_source_sum.c", f"-I{CORPUS}")
        run = self.photofinish("record", "-o", self.dir / "t.pft", *self.launch(2, "sh", "-c", f"{program}; true"))
        self.assertIn("libmpi_abi", run.err, run)
        self.assertFalse((self.dir / "t.pft").exists(), run)


if __name__ == "__main__":
    for name in standard_abi.LIBRARIES:
        if name in sys.argv:
            StandardAbiTest.library = name
            sys.argv.remove(name)
    main()
