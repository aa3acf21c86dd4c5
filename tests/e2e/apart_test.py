# SPDX-License-Identifier: GPL-3.0-or-later
"""A group of a recorded job is replayed alone: each of its ranks receives, to the byte, what it received in the job.

PF_FULL=1: more partitions, every time under jitter. PF_RANDOM, PF_SEED: random programs (tests/random), and where they begin.
PF_ROUNDS: small ones, a hundred in a launch.
"""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from groups_alone import groups_of
from photofinish import BIN, FULL, SOURCE, PhotofinishTest, main
from tagged_output import launches_by_prrte

APART = BIN / "e2e" / "apart"
THREADS = BIN / "e2e" / "apart_threads"
ERRORS = BIN / "e2e" / "apart_errors"
LIMITS = BIN / "e2e" / "apart_limits"
INCOMING = BIN / "bench" / "incoming"
RANDOM = BIN / "random" / "random_program"
ROUNDS = int(os.environ.get("PF_ROUNDS", "1000" if FULL else "200"))
ROUNDS_OF_LAUNCH = 100
COUNT = int(os.environ.get("PF_RANDOM", "100" if FULL else "8"))
FIRST = int(os.environ.get("PF_SEED", "1"))
RECEIVED = re.compile(r"rank (\d+) of \d+ received ([0-9a-f]{16})")
PARTITIONS = [("each", 6), ("0-1,2-3,4-5", 6), ("0+2+4,1+3+5", 6), ("0+5,1-4", 6)]
PARTITIONS += [("all", 6), ("0-2", 5), ("0-3,4-5", 6), ("each", 3), ("0-6,7", 8), ("each", 2)] if FULL else []

MPI4PY = """
import hashlib
from mpi4py import MPI
assert MPI.Query_thread() == MPI.THREAD_MULTIPLE
comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
seen = hashlib.sha256()
for turn in range(5):
    request = comm.isend({"from": rank, "turn": turn, "more": "x" * rank * 100}, dest=(rank + 1) % size, tag=turn)
    seen.update(repr(comm.recv(source=MPI.ANY_SOURCE, tag=turn)).encode())
    request.wait()
seen.update(repr(comm.allgather([rank] * rank)).encode())
seen.update(repr(comm.bcast({"root": rank}, root=size - 1)).encode())
halves = comm.Split(rank % 2, rank)
seen.update(repr(halves.allreduce(rank)).encode())
print(f"rank {rank} of {size} received {seen.hexdigest()[:16]}")
"""


def received(run):
    return dict(RECEIVED.findall(run.out))


class ApartTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", APART)

    def replay_each_group(self, groups, recorded, *options, status=0):
        for number, ranks in enumerate(groups):
            alone = self.replay("t.pft", "--group", number, *options)
            self.assertEqual(alone.status, status, alone)
            self.assertEqual(received(alone), {str(rank): recorded[str(rank)] for rank in ranks}, f"group {number} of {groups}\n{alone}")

    def test_each_group_receives_what_it_received(self):
        for number, (spec, ranks) in enumerate(PARTITIONS):
            mode = ("all", "outcomes")[number % 2]
            with self.subTest(spec=spec, ranks=ranks, mode=mode):
                recorded = received(self.record("t.pft", self.mpirun(ranks, APART), "--groups", spec, "--mode", mode))
                self.assertEqual(len(recorded), ranks)
                self.assertEqual(received(self.replay("t.pft")), recorded, "and all of them together")
                self.replay_each_group(groups_of(spec, ranks), recorded)
                if FULL:
                    self.replay_each_group(groups_of(spec, ranks), recorded, "--jitter", 3)

    def test_with_events_and_of_several_groups(self):
        run = self.record("t.pft", self.mpirun(4, APART), "--groups", "0-1", "--mode", "all")
        recorded = received(run)
        self.assertRegex(run.err, r"'photofinish replay .*t\.pft --group 0' runs a group of ranks alone")
        self.assertIn("groups    0-1\n  group 0: 0-1\n  group 1: 2\n  group 2: 3\n", self.photofinish("info", self.dir / "t.pft").out)
        self.assertNotIn("alone did", self.replay("t.pft").err)
        self.replay_each_group([[0, 1], [2], [3]], recorded, "--jitter", 2)
        both = self.replay("t.pft", "--ranks", "3,0,1")
        self.assertRegex(both.err, r"photofinish: ranks 0-1\+3 alone did what was recorded \(\d+ events\)")
        self.assertEqual(received(both), {rank: recorded[rank] for rank in "013"}, both)
        self.assertEqual(self.replay("t.pft", "--group", 2, "--until", "3:20", stdin=subprocess.DEVNULL).status, 0)
        cut = self.replay("t.pft", "--group", 0, "--until", "0:2,1:2", stdin=subprocess.DEVNULL)
        self.assertEqual(cut.status, 0, cut)
        self.assertIn("the ranks are stopped at the cut", cut.err)
        self.assert_refused(self.replay("t.pft", "--group", 0, "--until", "0:2,2:2"), 2, "rank 2, which does not run in this replay", "0-1")
        self.assert_refused(self.replay("t.pft", "--ranks", "0-1,3", "--until", "0:2,1:2"), 2, "the cut has no event of rank 3")

    def test_events_are_kept_with_groups(self):
        """Who debugs a group may not be able to run the others to see theirs."""
        for spec, options, mode in (("each", (), "all"), ("all", (), "outcomes"), ("0-1", ("--mode", "outcomes"), "outcomes")):
            self.record("t.pft", self.mpirun(3, APART), "--groups", spec, *options)
            self.assertEqual(self.info()["mode"], mode, spec)

    def test_a_place_in_a_trace_without_events(self):
        recorded = received(self.record("t.pft", self.mpirun(4, APART), "--groups", "0-1", "--mode", "outcomes"))
        pair = self.replay("t.pft", "--group", 0, "--until", "1:20", stdin=subprocess.DEVNULL)
        self.assertEqual(pair.status, 0, pair)
        self.assertIn("running the group once more to see its events", pair.err)
        self.assertRegex(pair.err, r"rank 1 is stopped just before its event 20: MPI_\w+ .*apart\.c:\d+")
        self.assertEqual(len(re.findall(r"rank \d is process", pair.err)), 2, pair)
        (self.dir / "enter").write_text("\n")
        with open(self.dir / "enter", "rb") as enter:
            gone_on = self.replay("t.pft", "--group", 0, "--until", "1:20", stdin=enter)
        self.assertEqual(received(gone_on), {rank: recorded[rank] for rank in "01"}, gone_on)
        one = self.replay("t.pft", "--group", 1, "--until", "2:9", stdin=subprocess.DEVNULL)
        self.assertEqual(one.status, 0, one)
        self.assertRegex(one.err, r"rank 2 is stopped just before its event 9: MPI_\w+")
        self.assertNotIn("once more", one.err, "nobody else is to be stopped")
        self.assertIsNone(self.info()["messages"], "what part of the job did is no survey of the trace")
        self.assert_refused(self.replay("t.pft", "--group", 0, "--until", "0:4,1:5,2:3,3:3"), 2, "rank 2, which does not run in this replay", "0-1")
        cut = self.replay("t.pft", "--group", 0, "--until", "0:2,1:2", stdin=subprocess.DEVNULL)
        self.assertEqual(cut.status, 0, cut)
        self.assertIn("running the group once more to see its events", cut.err)
        self.assertIn("the ranks are stopped at the cut", cut.err)

    def rows(self, name):
        """What a survey puts into a trace."""
        runs = [self.photofinish("sql", self.dir / name, query) for query in (
            "SELECT rank, serial, kind, call, peer, tag, bytes FROM event", "SELECT * FROM receive", "SELECT * FROM message",
            "SELECT * FROM collective", "SELECT * FROM race", "SELECT key, members, remote FROM communicator ORDER BY key")]
        runs.append(self.photofinish("races", self.dir / name))
        for run in runs:
            self.assertEqual(run.status, 0, run)
        return [run.out for run in runs]

    def test_survey_of_one_group_after_the_other(self):
        """Each says what it does not know; all of them say what a survey of all ranks does."""
        recorded = received(self.record("t.pft", self.mpirun(4, APART), "--groups", "0-1", "--mode", "outcomes"))
        shutil.copy(self.dir / "t.pft", self.dir / "whole.pft")
        self.assertEqual(self.replay("whole.pft", "--survey").status, 0)
        whole = self.rows("whole.pft")
        self.assertRegex(whole[0], r"(?m)^3\t20\t")
        pair = self.replay("t.pft", "--group", 0, "--survey")
        self.assertEqual(pair.status, 0, pair)
        self.assertRegex(pair.err, r"ranks 0-1 alone did \d+ events, and took [1-9]\d* messages of ranks that did not run")
        self.assertRegex(pair.err, r"of ranks 2-3 no event is known: .* Survey them as well \(--survey --group N")
        self.assertIsNone(self.info()["messages"], "what part of the job did is no survey of the trace")
        self.assertEqual(self.photofinish("check", self.dir / "t.pft").status, 0)
        until = self.replay("t.pft", "--group", 0, "--until", "1:20", stdin=subprocess.DEVNULL)
        self.assertEqual(until.status, 0, until)
        self.assertIn("rank 1 is stopped just before its event 20", until.err)
        self.assertNotIn("once more", until.err, "its events are known")
        again = self.replay("t.pft", "--group", 0)
        self.assertEqual(received(again), {rank: recorded[rank] for rank in "01"}, again)
        one = self.replay("t.pft", "--ranks", 3, "--survey")
        self.assertIn("of rank 2 no event is known", one.err, one)
        last = self.replay("t.pft", "--group", 1, "--survey", "--jitter", 3)
        self.assertRegex(last.err, r"with these, the trace has the events of all ranks: \d+ receives race", last)
        self.assertEqual(self.rows("t.pft"), whole)
        self.assertEqual(self.photofinish("check", self.dir / "t.pft").status, 0)
        for trace in ("t.pft", "whole.pft"):  # and is compared with it
            self.assertEqual(received(self.replay(trace)), recorded)
        known = self.replay("t.pft", "--group", 1, "--survey")
        self.assertEqual(known.status, 0, known)
        self.assertEqual(self.rows("t.pft"), whole)

    def test_surveys_of_all_groups_at_once(self):
        """None loses what another one has kept meanwhile."""
        self.record("t.pft", self.mpirun(4, APART), "--groups", "each", "--mode", "outcomes")
        shutil.copy(self.dir / "t.pft", self.dir / "whole.pft")
        self.assertEqual(self.replay("whole.pft", "--survey").status, 0)
        with contextlib.ExitStack() as stack:
            surveys = [stack.enter_context(self.start([BIN / "photofinish", "replay", self.dir / "t.pft", "--ranks", rank, "--survey"]))
                       for rank in range(4)]
            for survey in surveys:
                run = survey.finish(100)
                self.assertEqual(run.status, 0, run)
        self.assertEqual(self.rows("t.pft"), self.rows("whole.pft"))
        self.assertEqual(self.photofinish("check", self.dir / "t.pft").status, 0)

    def check_random_program(self, ranks, spec, mode, words, same_addresses, jitter):
        """Each group receives what it received, and with the same addresses has the same on its heap."""
        options = ["--groups", spec, "--mode", mode, *(["--same-addresses"] if same_addresses else [])]
        found = re.compile(r"rank (\d+) ((?:hash|heap) [0-9a-f]{16}.*)" if same_addresses else r"rank (\d+) (hash [0-9a-f]{16}.*)")

        def said(run):
            return {rank: [line.strip() for number, line in found.findall(run.out) if int(number) == rank] for rank in range(ranks)}
        recorded = self.record("t.pft", self.mpirun(ranks, RANDOM, *words, "--apart", "--heap"), *options, timeout=120)
        everything = said(recorded)
        self.assertEqual({len(lines) for lines in everything.values()}, {2 if same_addresses else 1}, recorded)
        for number, group in enumerate(groups_of(spec, ranks)):
            alone = self.replay("t.pft", "--group", number, *(("--jitter", jitter) if jitter else ()), timeout=120)
            self.assertEqual(alone.status, 0, f"{recorded}\n{alone}")
            self.assertEqual(said(alone), {rank: everything[rank] if rank in group else [] for rank in range(ranks)}, f"{recorded}\n{alone}")

    def test_random_programs(self):
        self.need(RANDOM)
        for seed in range(FIRST, FIRST + COUNT):
            ranks = 2 + seed % 4
            spec = ("each", "0+1", "0-1,2-3,4", "1-2")[seed // 4 % 4] if ranks > 4 else ("each", "0-1")[seed // 4 % 2]
            with self.subTest(seed=seed, ranks=ranks, spec=spec):
                self.check_random_program(ranks, spec, "all" if seed % 3 == 0 else "outcomes", (seed, 4), seed % 5 < 2, seed if seed % 2 else None)

    def test_rounds(self):
        """Many small ones in one launch, between which nothing is open."""
        self.need(RANDOM)
        for number in range(-(-ROUNDS // ROUNDS_OF_LAUNCH)):
            seed, ranks = FIRST + number, 2 + number % 4
            spec = ("each", "0-1", "each", "0+2", "1-2", "each")[number % 6] if ranks > 2 else "each"
            words = (seed, ROUNDS_OF_LAUNCH, 1 + number % 2, "--messages", 4 + number % 3, *(("--count-misses",) if number % 4 < 2 else ()))
            with self.subTest(seed=seed, ranks=ranks, spec=spec):
                self.check_random_program(ranks, spec, ("outcomes", "all")[number % 2], words, number % 3 == 0, seed if number % 3 == 1 else None)

    def test_a_collective_holds_nobody_whom_the_programs_did_not(self):
        """A rank goes on behind MPI_Gather before the others of its group come to it."""
        for mode in ("outcomes", "all"):
            with self.subTest(mode=mode):
                recorded = self.record("t.pft", self.mpirun(3, BIN / "e2e" / "runs_on"), "--groups", "0-1", "--mode", mode)
                self.assertEqual(received(recorded)["1"], f"{2 + 60:016x}")
                self.replay_each_group([[0, 1]], received(recorded))

    def test_thread_multiple_with_one_thread_that_calls_mpi(self):
        self.need(THREADS)
        for mode, spec in (("outcomes", "each"), ("all", "0-1"), ("outcomes", "0+2")):
            with self.subTest(mode=mode, spec=spec):
                recorded = self.record("t.pft", self.mpirun(4, THREADS, "one"), "--groups", spec, "--mode", mode)
                self.assertNotIn("contents of messages", recorded.err, recorded)
                self.assertEqual(len(received(recorded)), 4)
                self.replay_each_group(groups_of(spec, 4), received(recorded), "--jitter", 5)

    def test_threads_within_a_group(self):
        self.need(THREADS)
        recorded = self.record("t.pft", self.mpirun(4, THREADS, "pairs"), "--groups", "0-1,2-3")
        self.assertNotIn("contents of messages", recorded.err, recorded)
        self.replay_each_group([[0, 1], [2, 3]], received(recorded))
        everything = self.record("t.pft", self.mpirun(3, THREADS, "both"), "--groups", "all")
        self.assertNotIn("contents of messages", everything.err, everything)
        self.replay_each_group([[0, 1, 2]], received(everything))

    def test_threads_that_both_receive_from_outside(self):
        self.need(THREADS)
        recorded = self.record("t.pft", self.mpirun(4, THREADS, "both"), "--groups", "0-1,2-3")
        for rank in range(4):
            self.assertRegex(recorded.err, rf"rank {rank}: MPI_\w+ of another thread than that of MPI_Init, with ranks outside, "
                             "cannot be replayed by a group alone: contents of messages are kept up to here")
        self.assertEqual(self.replay("t.pft").by_rank(), recorded.by_rank())
        alone = self.replay("t.pft", "--group", 1)
        self.assertNotEqual(alone.status, 0, f"what is not there is not made up\n{alone}")
        self.assertRegex(alone.err, r"got: *MPI_\w+ of another thread than that of MPI_Init, which needs ranks that do not run|"
                         r"got: *no more from ranks outside of the group: what followed could not be kept at apart_threads\.c:\d+ \(ring\)", "whichever thread comes there first")
        begins = re.compile(r"rank [23] begins with [0-9a-f]{16}")
        self.assertEqual(sorted(begins.findall(alone.out)), sorted(begins.findall(recorded.out)), alone)

    def test_mpi4py(self):
        """Which asks for MPI_THREAD_MULTIPLE, and sends Python's objects after a probe of their size."""
        self.need("/usr/lib/python3/dist-packages/mpi4py")
        program = self.dir / "objects.py"
        program.write_text(MPI4PY)
        recorded = self.record("t.pft", self.mpirun(4, "/usr/bin/python3", program), "--groups", "0-1")
        self.assertNotIn("contents of messages", recorded.err, recorded)
        self.assertEqual(len(received(recorded)), 4)
        self.replay_each_group([[0, 1], [2], [3]], received(recorded))

    def errors_are_as_recorded(self, launch):
        """Of a rank alone, and of one whose neighbour runs. (Before a failed MPI_Waitall a replay looks at each request, and MPICH calls
        the handler then, too.)"""
        def lines(run, rank):
            return [line.replace("WW", "W") for line in re.findall(rf"rank {rank}: .* class \d+ handler \w*", run.out)]
        native = self.run_command(*launch)
        if "count of -1 in Recv: class 0 handler O" in native.out:  # MPICH 5.0.2
            return self.errors_that_are_not_returned(launch, native, lines)
        for spec, groups in (("each", [[0], [1], [2]]), ("1-2", [[0], [1, 2]])):
            recorded = self.record("t.pft", launch, "--groups", spec)
            said = {rank: lines(recorded, rank) for rank in range(3)}
            self.assertEqual({len(each) for each in said.values()}, {len(said[0])}, recorded)
            self.assertGreater(len(said[0]), 70)
            for number, group in enumerate(groups):
                alone = self.replay("t.pft", "--group", number)
                self.assertEqual(alone.status, 0, alone)
                for rank in group:
                    self.assertEqual(lines(alone, rank), said[rank], alone)

    def errors_that_are_not_returned(self, launch, native, lines):
        """Where MPI returns success although it has called an error handler: the program goes on as without us, and a group is replayed up to
        the first such call that should have brought something from outside."""
        recorded = self.record("t.pft", launch, "--groups", "each")
        for rank in range(3):
            self.assertEqual(lines(recorded, rank), lines(native, rank), recorded)
        self.assertRegex(recorded.err, "MPI_Recv has failed, and MPI did not return the error to the program: contents of messages are kept up to here")
        alone = self.replay("t.pft", "--group", 0)
        self.assertEqual(alone.status, 3, alone)
        self.assertRegex(alone.err, r"rank 0 can be replayed alone only up to MPI_Recv at apart_errors\.c:\d+")
        self.assertRegex(alone.err, "replay all ranks")

    def test_errors_of_calls_with_ranks_outside(self):
        self.need(ERRORS)
        self.errors_are_as_recorded(self.mpirun(3, ERRORS))

    def test_errors_under_mpich(self):
        self.need("mpiexec.mpich", BIN / "libphotofinish_mpich.so", "mpicc.mpich")
        program = self.dir / "errors"
        source = pathlib.Path(__file__).parent / "programs" / "apart_errors.c"
        subprocess.run(["mpicc.mpich", "-g", "-o", program, source], check=True, stderr=subprocess.DEVNULL)
        self.errors_are_as_recorded(["mpiexec.mpich", "-n", "3", program])

    def test_under_mpich(self):
        self.need("mpiexec.mpich", BIN / "libphotofinish_mpich.so", "mpicc.mpich")
        program = self.dir / "apart"
        source = pathlib.Path(__file__).parent / "programs" / "apart.c"
        subprocess.run(["mpicc.mpich", "-g", "-o", program, source], check=True, stderr=subprocess.DEVNULL)
        recorded = received(self.record("t.pft", ["mpiexec.mpich", "-n", "4", program], "--groups", "0+3"))
        self.replay_each_group([[0, 3], [1], [2]], recorded)
        subprocess.run(["mpicc.mpich", "-g", "-pthread", "-o", program, source.with_name("apart_threads.c")], check=True, stderr=subprocess.DEVNULL)
        recorded = received(self.record("t.pft", ["mpiexec.mpich", "-n", "4", program, "pairs"], "--groups", "0-1"))
        self.replay_each_group([[0, 1]], recorded)

    def test_statuses_of_cancelled_receives(self):
        """Under both libraries: a status says nothing but that, and the same in each replay."""
        source = SOURCE / "tests" / "e2e" / "programs" / "cancelled.c"
        for library, compiler in (("open_mpi", os.environ.get("PF_MPICC", "mpicc")), ("mpich", "mpicc.mpich")):
            if library == "mpich" and not (BIN / "libphotofinish_mpich.so").exists():
                continue
            program = self.dir / f"cancelled_{library}"
            subprocess.run([compiler, "-g", "-w", "-o", program, source], check=True)
            launch = self.mpirun(3, program) if library == "open_mpi" else ["mpiexec.mpich", "-n", "3", program]
            for mode in ("all", "outcomes"):
                with self.subTest(library=library, mode=mode):
                    run = self.record("t.pft", launch, "--groups", "0-1", "--mode", mode)
                    self.assertEqual(len(received(run)), 3, run)
                    statuses = set(re.findall(r"cancelled 1 (.*?)\r?$", run.out, re.MULTILINE))
                    self.assertEqual(len(statuses), 1, statuses)
                    self.assertTrue(statuses.pop().endswith("count 0"), run)
                    self.assertEqual(received(self.replay("t.pft")), received(run))
                    self.replay_each_group([[0, 1], [2]], received(run))

    def need_several_programs(self, *launcher):
        """mpirun of Open MPI 5.0.7 (PRRTE 3.0.8) ends by SIGSEGV, or with "Returned value Exists", where it is to start two."""
        run = self.run_command(*launcher, "-n", "1", "true", ":", "-n", "1", "true")
        if run.status != 0:
            self.skipTest(f"{launcher[0]} cannot start several programs: {run.status} {run.err[-200:]}")

    def check_several_programs(self, launcher, program):
        """Which of them a rank ran, the words that it was started with say."""
        self.need_several_programs(*launcher)
        other = self.dir / "other"
        shutil.copy(program, other)
        first = [*launcher, "-n", "2", program, ":"]
        launch = [*first, "-n", "1", other, ":", "-n", "1", other, "more"]
        for spec, groups in (("each", [[0], [1], [2], [3]]), ("1+2,0+3", [[0, 3], [1, 2]])):
            with self.subTest(spec=spec):
                recorded = received(self.record("t.pft", launch, "--groups", spec))
                self.assertEqual(len(recorded), 4)
                self.replay_each_group(groups, recorded)
        stopped = self.replay("t.pft", "--group", 1, "--until", "2:5", stdin=subprocess.DEVNULL)
        self.assertEqual(stopped.status, 0, stopped)
        self.assertEqual(received(self.replay("t.pft")), recorded)
        self.record("s.pft", [*first, "-n", "1", "sh", "-c", f"exec {other} otherwise"], "--groups", "each")
        self.assert_refused(self.replay("s.pft", "--group", 2), 2, "which of them its ranks ran is not known: rank 2 was started by a script", "Replay all ranks")
        # A script that ends in the other program has its words, and what else it has set is lost.
        self.record("s.pft", [*first, "-n", "1", "sh", "-c", f"export MODE=b; exec {program}"], "--groups", "each")
        self.assert_refused(self.replay("s.pft", "--group", 2), 2, "not known: a script has started one of them")
        env = ["-env", "MODE", "b"] if "mpich" in launcher[0] else ["-x", "MODE=b"]
        self.record("s.pft", [*first, "-n", "1", *env, program], "--groups", "each")
        self.assert_refused(self.replay("s.pft", "--group", 2), 2, "not known: two have the same words")

    def test_a_job_of_several_programs(self):
        self.check_several_programs(self.mpirun(2)[:-2], APART)

    def test_a_job_of_several_programs_under_mpich(self):
        self.need("mpiexec.mpich", BIN / "libphotofinish_mpich.so")
        program = self.dir / "apart"
        subprocess.run(["mpicc.mpich", "-g", "-o", program, SOURCE / "tests" / "e2e" / "programs" / "apart.c"], check=True, stderr=subprocess.DEVNULL)
        self.check_several_programs(["mpiexec.mpich"], program)

    def test_collectives_with_large_counts(self):
        """Each, in its three forms (MPICH has them)."""
        self.need("mpiexec.mpich", BIN / "libphotofinish_mpich.so")
        program = self.dir / "large_counts"
        subprocess.run(["mpicc.mpich", "-g", "-o", program, SOURCE / "tests" / "e2e" / "programs" / "large_counts.c"], check=True)
        for spec, count in (("each", 4), ("0-1,2-3", 2)):
            for mode in ("all", "outcomes"):
                with self.subTest(spec=spec, mode=mode):
                    run = self.record("t.pft", ["mpiexec.mpich", "-n", "4", program], "--groups", spec, "--mode", mode)
                    self.assertEqual(len(received(run)), 4, run)
                    self.assertNotIn("kept up to", run.err, run)
                    self.assertEqual(received(self.replay("t.pft")), received(run))
                    self.replay_each_group(groups_of(spec, 4), received(run))

    def test_a_run_that_aborts(self):
        recorded = self.record("t.pft", self.mpirun(3, APART, "abort"), "--groups", "each", status=None)
        self.assertNotEqual(recorded.status, 0, recorded)
        for rank in range(3):
            alone = self.replay("t.pft", "--group", rank, "--stop-at-end", stdin=subprocess.DEVNULL)
            self.assertEqual(received(alone), {str(rank): received(recorded)[str(rank)]}, alone)

    def test_what_no_group_can_do_alone_is_said_while_it_is_recorded(self):
        recorded = self.record("t.pft", self.mpirun(3, APART, "window"), "--groups", "0-1")
        self.assertRegex(recorded.err, r"rank 2: MPI_Win_create cannot be replayed by a group alone")
        place = r"MPI_Win_create at apart\.c:\d+"
        self.assertRegex(self.photofinish("info", self.dir / "t.pft").out, "rank 2: .*contents from outside of its group, which are kept up to " + place)
        alone = self.replay("t.pft", "--group", 1)
        self.assertNotEqual(alone.status, 0, f"what is not there is not made up\n{alone}")
        self.assertRegex(alone.err, r"rank 2 can be replayed alone only up to " + place)
        self.assertRegex(alone.err, r"got: *MPI_Win_create, which needs ranks that do not run: replay all ranks at apart\.c:\d+ \(main\)")
        self.assertNotIn("changed?", alone.err)
        together = self.replay("t.pft")
        self.assertNotIn("kept up to", together.err)
        self.assertEqual(received(together), received(recorded), together)

    def test_without_groups_nothing_of_a_message_is_kept(self):
        self.record("t.pft", self.mpirun(3, APART))
        self.assertIsNone(self.info()["contents"])
        refused = self.replay("t.pft", "--group", 0)
        self.assert_refused(refused, 2, "no contents of messages", "Record with --groups")

    def test_bad_use(self):
        for words, said in ((("x",), "'x' is neither a rank nor a range of ranks"), (("0-1,1-2",), "1"), (("each", "--mode", "races"), "mode races")):
            run = self.photofinish("record", "--groups", *words, *self.mpirun(2, APART))
            self.assertNotEqual(run.status, 0, run)
            self.assertIn(said, run.err, run)
        beyond = self.photofinish("record", "-o", self.dir / "b.pft", "--groups", "0-7", *self.mpirun(2, APART))
        self.assertNotEqual(beyond.status, 0, beyond)
        self.assertRegex(beyond.err, "there is no rank '7'", beyond)
        self.record("t.pft", self.mpirun(4, APART), "--groups", "0-1,2-3")
        self.assert_refused(self.replay("t.pft", "--group", 2), 2, "no group 2", "0 to 1")
        self.assert_refused(self.replay("t.pft", "--ranks", "0,2"), 2, "no groups of the trace", "0-1, 2-3")
        self.assert_refused(self.replay("t.pft", "--ranks", "9"), 2, "no rank 9")
        self.assert_refused(self.replay("t.pft", "--ranks", "0-1", "--bounded-buffers"), 2, "receivers that do not run", "replay all ranks")
        for words in ("x", "", "1-", "-1", "3-1", "0,,1", "0-", "99999999999", "0-99999999", "0x1"):
            refused = self.replay("t.pft", f"--ranks={words}")
            self.assertEqual((refused.status, refused.out), (2, ""), refused)
            self.assertIn("0-7,12" if words else "--ranks", refused.err, refused)
        for words in ("0-1", "1,0", "0+1", "1,0-1"):
            self.assertEqual(self.replay("t.pft", "--ranks", words).status, 0, words)
        self.assert_refused(self.replay("t.pft", "--group", 0, "--until", "3:4"), 2, "event 4 is of rank 3",
                            r"--group 1 runs that rank \(its group: 2-3\)")
        self.record("races.pft", self.mpirun(3, BIN / "corpus" / "any_source_sum"), "--groups", "each")
        self.assert_refused(self.replay("races.pft", "--ranks", 2, "--until-race", 1), 2, "race 1 is at rank 0", "--group 0 runs that rank")
        redacted = self.photofinish("redact", self.dir / "t.pft", self.dir / "r.pft")
        self.assertEqual(redacted.status, 0, redacted)
        self.assertNotEqual(self.replay("r.pft", "--group", 0).status, 0)

    def test_memory_of_a_rank_whatever_it_receives(self):
        """Of 128 MiB from outside, little is in memory: in the recording, and where the rank runs alone."""
        self.need(INCOMING)
        peak = re.compile(r"bench=incoming kilobytes=(\d+)")

        def kilobytes(run):
            self.assertEqual(run.status, 0, run)
            return int(peak.search(run.out)[1])
        launch = self.mpirun(2, INCOMING, 128, 64)
        native = kilobytes(self.run_command(*launch))
        self.assertLess(kilobytes(self.record("t.pft", launch, "--groups", "each")) - native, 8 * 1024)
        self.assertLess(kilobytes(self.replay("t.pft", "--group", 1)) - native, 16 * 1024)

    def each_alone_says_the_same(self, what, launch=None):
        """Gives the recording, as each rank alone prints what it printed there."""
        self.need(LIMITS)
        recorded = self.record("t.pft", (launch or self.mpirun(2, LIMITS)) + [what], "--groups", "each", timeout=120)
        self.assertNotIn("contents of messages", recorded.err, recorded)
        for rank in range(2):
            alone = self.replay("t.pft", "--group", rank, timeout=120)
            said = [re.findall(rf"rank {rank}: .*", run.out) for run in (recorded, alone)]
            self.assertEqual((alone.status, said[1]), (0, said[0]), alone)
            self.assertTrue(said[0], recorded)
        return recorded

    def kept_up_to(self, what, routine, why, launch=None):
        """Rank 1 of a recording says why its group cannot go beyond `routine`, and its replay ends there."""
        self.need(LIMITS)
        recorded = self.record("t.pft", [*(launch or self.mpirun(2, LIMITS)), what], "--groups", "each", timeout=120)
        self.assertRegex(recorded.err, rf"rank 1: {routine} {why}.*: contents of messages are kept up to here")
        self.assertRegex(self.photofinish("info", self.dir / "t.pft").out, rf"rank 1: .*which are kept up to {routine} at apart_limits\.c:\d+")
        alone = self.replay("t.pft", "--group", 1, timeout=120)
        self.assertEqual(alone.status, 3, alone)
        self.assertRegex(alone.err, rf"rank 1 can be replayed alone only up to {routine} at apart_limits\.c:\d+")
        self.assertIn("beyond what its group can do alone: replay all ranks", alone.err)
        self.assertNotIn("changed?", alone.err)
        self.assertNotIn("rank 1: got", alone.out)

    def test_few_bytes_where_there_is_room_for_an_element_of_4_gib(self):
        self.assertEqual(self.each_alone_says_the_same("huge").out.count("rank 0: got 16 100115"), 2)
        self.kept_up_to("gaps", "MPI_Recv", "brought an element of 2 GiB or more with gaps")

    def test_2_gib_at_once(self):
        if not FULL:
            self.skipTest("PF_FULL=1: it takes 6 GiB of memory")
        self.kept_up_to("message", "MPI_Recv", "brought a message of 2 GiB or more")
        self.each_alone_says_the_same("collective")

    def test_attributes_of_datatypes_are_left_alone(self):
        self.assertEqual(self.each_alone_says_the_same("attributes").out.count("attributes 0 0"), 4)

    def test_a_datatype_of_many_values_is_known_at_once(self):
        recorded = self.each_alone_says_the_same("values")
        for seconds in re.findall(r"took (\d+\.\d+) s", recorded.err):
            self.assertLess(float(seconds), 2, recorded)

    def test_statuses_of_what_is_no_receive(self):
        self.each_alone_says_the_same("statuses")

    def test_many_receives_under_way(self):
        self.each_alone_says_the_same("receives")

    def test_communicators_that_are_freed_early_go_with_their_last_message(self):
        def growth(run):
            return int(re.search(r"rank 1: heap grew by (\d+)", run.err)[1])
        recorded = self.each_alone_says_the_same("freed")
        self.assertLess(growth(self.replay("t.pft", "--group", 1)), growth(recorded) + 200_000, "of 2,000 communicators nothing stays")

    def limits_under_mpich(self, ranks):
        self.need("mpiexec.mpich", BIN / "libphotofinish_mpich.so", "mpicc.mpich")
        program = self.dir / "limits"
        source = pathlib.Path(__file__).parent / "programs" / "apart_limits.c"
        subprocess.run(["mpicc.mpich", "-g", "-w", "-o", program, source], check=True)
        return ["mpiexec.mpich", "-n", str(ranks), program]

    def test_groups_of_windows_and_files_of_a_pair(self):
        """A group that the program asks MPI for can be used with those of communicators, in both directions."""
        said = re.compile(r"rank (\d): (\w+ -?\d+ \d+)")
        # Of Open MPI's osc/rdma it was seen that on half of the communicators nothing came where it was put.
        mpirun, *rest = self.mpirun(4, LIMITS)
        chosen = [] if launches_by_prrte() else ["--mca", "osc", "pt2pt"]  # which Open MPI 5 has no more
        for launch in ([mpirun, *chosen, *rest], self.limits_under_mpich(4)):
            recorded = sorted(said.findall(self.record("t.pft", [*launch, "pairs"], "--groups", "0-1,2-3").out))
            self.assertIn(("3", "window 2 3"), recorded)
            self.assertIn(("3", "file 2 3"), recorded)
            self.assertIn(("3", "post -1 0"), recorded)
            for number, ranks in enumerate(("01", "23")):
                alone = self.replay("t.pft", "--group", number)
                self.assertEqual((alone.status, sorted(said.findall(alone.out))), (0, [each for each in recorded if each[0] in ranks]), alone)

    def test_buffered_sends_without_room(self):
        """Those to outside are not sent: that there was no room for them, the recording says."""
        self.each_alone_says_the_same("room")
        self.assertRegex(self.each_alone_says_the_same("room", self.limits_under_mpich(2)).out, "rank 1: started [1-9]")

    def test_a_persistent_send_of_a_freed_type(self):
        self.each_alone_says_the_same("types")
        self.each_alone_says_the_same("types", self.limits_under_mpich(2))

    def test_messages_between_a_matched_probe_and_its_receive(self):
        self.each_alone_says_the_same("matched")
        self.each_alone_says_the_same("matched", self.limits_under_mpich(2))

    def test_a_communicator_of_a_group_alone(self):
        self.kept_up_to("from_group", "MPI_Comm_create_from_group", "cannot be replayed by a group alone", self.limits_under_mpich(2))

    def test_datatypes_of_large_counts(self):
        """MPICH's MPI_Type_get_envelope calls the error handler of such a one, which would end the job that is recorded."""
        self.each_alone_says_the_same("large_counts", self.limits_under_mpich(2))

    def test_buffers_by_their_addresses_alone(self):
        self.each_alone_says_the_same("bottom")
        self.each_alone_says_the_same("bottom", self.limits_under_mpich(2))

    def test_a_persistent_collective(self):
        self.each_alone_says_the_same("persistent")
        self.each_alone_says_the_same("persistent", self.limits_under_mpich(2))

    def test_a_receive_that_is_let_go(self):
        """What it brings is in no record: the replay does not go on without it."""
        self.kept_up_to("let_go", "MPI_Request_free", "cannot be replayed by a group alone")

    def test_one_rank_needs_no_launcher(self):
        recorded = received(self.record("t.pft", self.mpirun(4, APART), "--groups", "each"))
        with self.start([BIN / "photofinish", "replay", self.dir / "t.pft", "--group", 2, "--until", "2:9"], stdin=subprocess.PIPE) as replay:
            replay.wait_for(lambda: "attach a debugger" in replay.errors())
            self.assertEqual((len(replay.find("apart")), replay.find("mpirun")), (1, []))
            replay.process.stdin.write(b"\n")
            replay.process.stdin.close()
            alone = replay.finish()
        self.assertEqual(received(alone), {"2": recorded["2"]}, alone)


if __name__ == "__main__":
    main()
