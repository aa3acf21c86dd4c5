# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of MPICH under MPICH's mpiexec: the corpus' own, each MPI family once, MPI 4.0; and what is refused."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, FULL, SOURCE, PhotofinishTest, main, no_message_queues

CORPUS = BIN / "corpus_mpich"
EXPECTED = json.loads((SOURCE / "tests" / "corpus" / "expected.json").read_text())["programs"]
PROGRAMS = SOURCE / "tests" / "e2e" / "programs"
MPICC, OPEN_MPICC = "mpicc.mpich", os.environ.get("PF_MPICC", "mpicc")
MODES = ("outcomes", "races", "all")
# One of each kind of call; all of them with PF_FULL.
SHORT = ("any_source_sum", "irecv_any_waitall", "probe_then_recv", "waitany_workers", "testsome_poll", "mprobe_mrecv",
         "ssend_ordered", "reduce_orders_root", "subcommunicators", "sendrecv_any", "persistent_any", "cancel_pending",
         "errors_return", "proc_null", "two_threads")
# Families that MPICH 4.0.2 fails natively, now and then or always, without us; MPI_T crashes it behind many others.
NOT_WITH_MPICH = {"proc_null_receives", "cart_sub", "error_classes", "win_lock_all", "win_post_start", "win_post_test",
                  "neighbor_graph", "ineighbor_graph", "neighbor_dist_graph", "ineighbor_dist_graph",
                  "tool_cvars", "tool_enums", "tool_categories", "tool_pvars"}


def by_rank(run):
    """Lines of each rank, from mpiexec -prepend-rank."""
    lines = {}
    for rank, line in re.findall(r"(?m)^\[(\d+)\] (.*)$", run.out.replace("\r", "")):
        lines.setdefault(int(rank), []).append(line)
    return lines


class MpichTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpiexec.mpich", MPICC)
        if not (BIN / "libphotofinish_mpich.so").exists():
            self.skipTest("built without MPICH")

    def mpiexec(self, ranks, *program):
        return ["mpiexec.mpich", "-prepend-rank", "-n", str(ranks), *map(str, program)]

    def assert_same_run(self, recorded, replayed):
        self.assertIsNotNone(replayed.status, f"the replay does not end\n{replayed}")
        self.assertEqual(by_rank(replayed), by_rank(recorded), f"output differs\n{recorded}\n{replayed}")
        self.assertEqual(replayed.status, recorded.status, f"exit status differs\n{recorded}\n{replayed}")

    def corpus(self, name):
        entry = EXPECTED[name]
        program = entry.get("program", ["{bin}/" + name])[0].replace("{bin}", str(CORPUS))
        return entry, self.mpiexec(entry["ranks"], program, *entry["args"])

    def build(self, compiler, source, target="app"):
        subprocess.run([compiler, "-g", "-O0", "-o", self.dir / target, PROGRAMS / source], check=True, cwd=self.dir)
        return f"./{target}"

    def record_failing(self, launch, *options, failed):
        """A recording of a program that fails sometimes, in which it did."""
        for attempt in range(24):
            run = self.record("t.pft", launch, *options, *(["--jitter", str(attempt)] if attempt > 2 else []), status=None)
            if failed(run):
                return run
        self.fail(f"no failing run in 24\n{run}")

    def test_corpus(self):
        """Recorded in each mode: as many racing receives as are expected of it under any MPI, the oracle's; replayed."""
        names = [name for name, entry in EXPECTED.items() if entry["fails"] == "never" and (CORPUS / name).exists()]
        self.assertTrue(set(SHORT) <= set(names), names)
        for number, name in enumerate(names if FULL else SHORT):
            for mode in MODES if FULL else (MODES[number % 3],):
                with self.subTest(program=name, mode=mode):
                    self.check_program(name, mode)

    def test_other_languages(self):
        """The three bindings of Fortran, and C++."""
        self.need("gfortran", "mpif90.mpich", "mpicxx.mpich")
        for name, compiler, source in (("fortran_mpif", "mpif90.mpich", "f90"), ("fortran_mpi", "mpif90.mpich", "f90"),
                                       ("fortran_mpi_f08", "mpif90.mpich", "f90"), ("cpp_tasks", "mpicxx.mpich", "cpp")):
            with self.subTest(program=name):
                program = self.build(compiler, SOURCE / "tests" / "corpus" / f"{name}.{source}", name)
                self.check_program(name, "all", self.mpiexec(4, program))

    def check_program(self, name, mode, launch=None):
        entry, corpus = self.corpus(name)
        launch = launch or corpus
        recorded = self.record("t.pft", launch, "--mode", mode)
        self.assertEqual(set(by_rank(recorded)) | set(range(entry["ranks"])), set(range(entry["ranks"])))
        for seed in range(1, 6 if FULL else 3):
            self.assert_same_run(recorded, self.replay("t.pft", "--jitter", seed))
        races = self.photofinish("races", self.dir / "t.pft", "--json").json()["races"]
        self.assertTrue(entry["min_racing_receives"] <= len(races) <= entry["max_racing_receives"], races)
        for race in races:
            self.assertIn(race["receive"]["call"], entry["racing_calls"], race)
            self.assertRegex(race["receive"]["file"], rf"/{name}\.(c|cpp|f90)$", race)
        oracle = self.run_command(BIN / "pf_oracle_check", self.dir / "t.pft", timeout=300)
        self.assertEqual(oracle.status, 0, oracle)
        self.assertRegex(self.info()["mpi"], "^MPICH")

    def test_output_is_the_programs_own(self):
        launch = self.corpus("ssend_ordered")[1]
        native = self.run_command(*launch)
        recorded = self.record("t.pft", launch)
        self.assertEqual((by_rank(recorded), recorded.status), (by_rank(native), native.status))

    def test_harvest_and_crash(self):
        """A wrong value found by an assertion, a crash: the record ends there, and so does its replay. MPICH's mpiexec
        gives the bits of all ranks' signals as its status (it ends the others by 9), and may drop output then."""
        for name, mode, ends in (("harvest", "outcomes", {6, 6 | 9}), ("segfault_in_order", "races", {11}),
                                 ("mpi_abort_in_order", "all", {7})):
            with self.subTest(program=name, mode=mode):
                entry, launch = self.corpus(name)
                recorded = self.record_failing(launch, "--mode", mode, "--end-stuck",
                                               failed=lambda run: run.status != 0 and "makes no progress" not in run.err)
                info = self.info()
                self.assertFalse(info["complete"], info)
                self.assertTrue(info["cut"], info)
                self.assertIn(recorded.status, ends, recorded)
                replayed = self.replay("t.pft", "--jitter", 7)
                self.assertIn(replayed.status, ends, replayed)
                then, now = (set(by_rank(run).get(0, [])) for run in (recorded, replayed))
                self.assertTrue(then <= now or now <= then, f"{recorded}\n{replayed}")
                races = self.photofinish("races", self.dir / "t.pft", "--json").json()["races"]
                self.assertTrue(set(race["receive"]["call"] for race in races) <= set(entry["racing_calls"]), races)
                self.assertTrue(races)

    def test_killed_rank(self):
        """What a rank was waiting for when it was killed is not taken for a message."""
        program = self.build(MPICC, "steady.c")
        for number, victim in enumerate(("0", "2", "0")):
            with self.subTest(victim=victim):
                words = [BIN / "photofinish", "record", "-o", self.dir / f"{number}.pft", *self.mpiexec(4, program, 2000, 100)]
                with self.start(words) as command:
                    command.wait_for(lambda: len(command.find("app")) == 4 and "messages" in command.output())
                    # The first one only: once it is dead, MPICH ends the others.
                    os.kill(next(pid for pid in command.find("app") if f"PMI_RANK={victim}\0" in
                                 pathlib.Path("/proc", str(pid), "environ").read_text()), signal.SIGKILL)
                    recorded = command.finish(60)
                self.assertNotEqual(recorded.status, 0, recorded)
                self.assertFalse(self.info(f"{number}.pft")["complete"])
                replayed = self.replay(f"{number}.pft", "--jitter", number + 1)
                self.assertEqual(replayed.status, 0, f"{recorded}\n{replayed}")
                lines = by_rank(recorded)[0]
                self.assertEqual(by_rank(replayed)[0][:len(lines)], lines)

    def test_deadlock(self):
        launch = self.corpus("deadlock_in_order")[1]
        recorded = self.record_failing(launch, "--end-stuck", failed=lambda run: "makes no progress" in run.err)
        self.assertRegex(recorded.err, r"rank 0 waits? .*rank 2", recorded)
        replayed = self.replay("t.pft", "--jitter", 3)
        self.assertIsNotNone(replayed.status, replayed)
        self.assertRegex(replayed.err, r"photofinish: .*(makes no progress|recording ends)", replayed)
        self.assertRegex(replayed.err, "MPI_Recv", replayed)

    def test_what_a_receive_had_taken_in_a_run_that_hung(self):
        """Requests are found by their handles: of the first, in a block behind them, persistent."""
        program = self.build(MPICC, "stolen.c")
        for mode, how in (("outcomes", []), ("all", ["many"]), ("outcomes", ["persistent"])):
            with self.subTest(mode=mode, how=how):
                recorded = self.record("t.pft", self.mpiexec(3, program, *how), "--end-stuck", "--mode", mode, status=None)
                self.assertIn("makes no progress", recorded.err, recorded)
                replayed = self.replay("t.pft", limits=no_message_queues)
                self.assertNotIn("fine", replayed.out, replayed)
                self.assertIn("MPI_Recv", replayed.err, replayed)
                self.assertEqual(self.info()["notGuaranteed"], [], recorded)
                races = self.photofinish("races", self.dir / "t.pft", "--json")
                self.assertRegex(races.out, r"stolen\.c", races)

    def test_families(self):
        """Each MPI family once: the same lines native, recorded and replayed."""
        program = BIN / "families" / "families_mpich"
        names = [name for name in self.run_command(program, "--list").out.split() if name not in NOT_WITH_MPICH]
        launch = self.mpiexec(4 if FULL else 2, program, *names)  # four spin on two cores for minutes
        native = self.run_command(*launch, timeout=120)
        lines = by_rank(native)
        self.assertEqual(len(lines[0]), len(names), native)
        self.assertEqual(native.status, 0, native)
        for mode in MODES if FULL else ("all",):
            with self.subTest(mode=mode):
                recorded = self.record("t.pft", launch, "--mode", mode, status=None, timeout=120)
                self.assertEqual((by_rank(recorded), recorded.status), (lines, 0), recorded)
                replayed = self.replay("t.pft", "--ignore-contents", "--jitter", 5, timeout=180)
                self.assertEqual((by_rank(replayed), replayed.status), (lines, 0), replayed)

    def test_mpi_4(self):
        """Large counts are followed as others are."""
        launch = self.mpiexec(4, self.build(MPICC, "mpi4.c"))
        for mode in MODES:
            with self.subTest(mode=mode):
                recorded = self.record("t.pft", launch, "--mode", mode)
                self.assertNotIn("not recorded", recorded.err)
                for seed in (1, 2):
                    self.assert_same_run(recorded, self.replay("t.pft", "--jitter", seed))
                races = self.photofinish("races", self.dir / "t.pft", "--json").json()["races"]
                self.assertEqual({race["receive"]["call"] for race in races}, {"MPI_Recv_c", "MPI_Irecv_c"}, races)

    def test_another_library(self):
        """A trace of one MPI library is not replayed with the other, whichever it is."""
        for first, second, launcher in ((MPICC, OPEN_MPICC, self.mpiexec), (OPEN_MPICC, MPICC, self.mpirun)):
            with self.subTest(recorded=first):
                self.record("t.pft", launcher(3, self.build(first, "steered.c")))
                self.build(second, "steered.c")
                # Ranks of Open MPI that another's launcher starts make it at once, and one of them fails.
                (self.dir / f"ompi.{socket.gethostname().split('.')[0]}.{os.getuid()}").mkdir(mode=0o700, exist_ok=True)
                replayed = self.replay("t.pft")
                self.assertEqual(replayed.status, 3, replayed)
                self.assertRegex(replayed.err, r"this run uses .*(Open MPI v.*MPICH|MPICH.*Open MPI v)", replayed)

    def test_built_without_mpich(self):
        """The sentence that a user sees whose Photofinish has no recorder for MPICH."""
        place = self.dir / "bin"
        place.mkdir()
        for name in ("photofinish", "photofinish-daemon", "photofinish-agent", "libphotofinish_mpi.so"):
            shutil.copy2(BIN / name, place)
        run = self.run_command(place / "photofinish", "record", "-o", self.dir / "t.pft", *self.mpiexec(1, CORPUS / "harvest"))
        self.assertNotEqual(run.status, 0, run)
        self.assertRegex(run.err, "is run by MPICH, and photofinish was built without it", run)
        self.assertRegex(run.err, "install libmpich-dev", run)


if __name__ == "__main__":
    main()
