# SPDX-License-Identifier: GPL-3.0-or-later
"""`photofinish explore` against the model of MPI's matching: each distinct matching has one run, 0 missed, 0 twice, outcomes equal.

PF_EXPLORE: random programs (12; 500 in the named full run). PF_SEED: where seeds begin (1). PF_JOBS: given to --jobs (2).
A program whose runs can differ in a choice that is no receive (what Waitany or Waitsome gave, what a wildcard probe saw, a
single Test that failed) may have as many runs of one matching as there are such executions, and must have one.
"""
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from comparison import Comparison, aborts_missed, begins, ended, named, told
from generator import Shape, draw
from language import render
from model import enumerate_matchings
from photofinish import BIN, PhotofinishTest, main, processes
import programs

INTERPRETER = BIN / "exploring" / "interpreter"
COUNT = int(os.environ.get("PF_EXPLORE", "12"))
FIRST = int(os.environ.get("PF_SEED", "1"))
JOBS = ["--jobs", os.environ.get("PF_JOBS", "2")]  # it runs beside other tests
RUN_TIME = "10"  # seconds: a program that polls for what never comes takes them all
MOST = 10 if COUNT < 100 else 60  # matchings of a random program


def is_named_otherwise(drawn):
    """Where ranks are stuck, a message that MPI_Mprobe has matched may not have been received yet: the two count it otherwise."""
    return "mprobe" in drawn.text and any(outcome == "deadlock" for _, outcome in drawn.result.executions)


def read_rows(state):
    """[(run, matching, outcome)] of an exploration that nobody has open: of a copy, for who reads it would mend it."""
    with tempfile.TemporaryDirectory() as copies:
        for end in ("", "-wal", "-journal"):
            if os.path.exists(f"{state}{end}"):
                shutil.copy(f"{state}{end}", f"{copies}/state{end}")
        with sqlite3.connect(f"{copies}/state") as database:
            return database.execute("SELECT run, matching, outcome FROM matchings ORDER BY run").fetchall()


def count_rows(state):
    """Of one that is written to; 0 if it cannot be read now."""
    try:
        database = sqlite3.connect(f"file:{state}?mode=ro", uri=True, timeout=0.5)
    except sqlite3.Error:
        return 0
    try:
        return database.execute("SELECT count(*) FROM matchings").fetchone()[0]
    except sqlite3.Error:
        return 0
    finally:
        database.close()


class Totals:
    def __init__(self):
        self.programs = self.matchings = self.runs = self.again = self.missed = self.twice = self.wrong = 0
        self.start = time.monotonic()

    def add(self, result, rows, comparison):
        self.programs += 1
        self.matchings += len(result.executions)
        self.runs += len(rows)
        self.again += comparison.again
        self.missed += len(comparison.missed)
        self.twice += sum(comparison.twice.values())
        self.wrong += len(comparison.wrong)

    def __str__(self):
        seconds = time.monotonic() - self.start
        return (f"{self.programs} programs, {self.matchings} distinct matchings, {self.runs} runs ({self.again} for choices that are no receives) in "
                f"{seconds:.0f} s, {self.runs / max(seconds, 0.001):.1f} a second: {self.missed} missed, {self.twice} twice, {self.wrong} wrong")


class ExploreTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        for path in (BIN / "photofinish", INTERPRETER):
            self.assertTrue(path.exists(), f"{path} is not built")
        run = self.photofinish("explore", "--help")
        self.assertEqual(run.status, 0, f"'photofinish explore' is not there\n{run}")
        self.totals = Totals()

    def words(self, program, state, *options):
        return ["explore", "--json", "-o", state, "--run-time", RUN_TIME, *JOBS, *options, "mpirun", "--oversubscribe", "-n", str(len(program)), INTERPRETER, render(program)]

    def explore(self, program, *options, state=None, runs=100):
        """Explores to the end; gives the table's rows."""
        if state is None:
            state = self.dir / "t.explore"
            for path in self.dir.glob("t.explore*"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        run = self.photofinish(*self.words(program, state, *options), timeout=120 + 12 * runs)
        self.assertNotIn(run.status, (None, 2, 127), run)
        run.json()
        self.assertTrue(state.exists(), run)
        return read_rows(state)

    def pairs(self, rows):
        numbers = [run for run, _, _ in rows]
        self.assertEqual(len(set(numbers)), len(numbers))
        return [(matching, outcome) for _, matching, outcome in rows]

    def compare(self, program, result=None):
        result = result or enumerate_matchings(program)
        rows = self.pairs(self.explore(program, runs=sum(result.executions.values())))
        comparison = Comparison(result, rows, render(program))
        self.totals.add(result, rows, comparison)
        self.assertTrue(comparison.is_right(), f"{comparison}\n{render(program)}")

    def random_programs(self, count, shape):
        seed = FIRST - 1
        while self.totals.programs < count and seed < FIRST + 5 * count:
            seed += 1
            drawn = draw(seed, shape)
            if is_named_otherwise(drawn):
                continue
            with self.subTest(seed=seed):
                self.compare(drawn.program, drawn.result)
        print(f"\n{self.totals}")
        self.assertEqual((self.totals.missed, self.totals.twice, self.totals.wrong), (0, 0, 0))
        self.assertEqual(self.totals.programs, count)

    def test_random_programs(self):
        self.random_programs(COUNT, Shape(matchings=(2, MOST)))

    def test_single_tests_and_probes(self):
        """Whether a single test fails is not varied (docs/other-orders.md): what is run is right and comes once; what a test that fails otherwise
        would lead to may be missed, and is counted."""
        for seed in range(FIRST, FIRST + max(3, COUNT // 4)):
            drawn = draw(seed, Shape(matchings=(2, MOST), tries=True))
            with self.subTest(seed=seed):
                rows = self.pairs(self.explore(drawn.program, runs=sum(drawn.result.executions.values())))
                comparison = Comparison(drawn.result, rows, drawn.text)
                self.totals.add(drawn.result, rows, comparison)
                self.assertFalse(comparison.twice or comparison.wrong, f"{comparison}\n{drawn.text}")
        print(f"\n{self.totals}")

    def test_larger_programs(self):
        """None in the fixed part."""
        if COUNT >= 100:
            self.random_programs(COUNT // 50, Shape(messages=(5, 14), matchings=(61, 300), states=100000))

    def test_aborts(self):
        """Where a rank aborts or ends by a signal, what the others did until then is a matter of time: each run begins one that the model knows, and whatever
        the aborting rank can have received has a run."""
        for seed in range(FIRST, FIRST + max(3, COUNT // 10)):
            with self.subTest(seed=seed):
                drawn = draw(seed, Shape(matchings=(2, MOST), aborts=True))
                rows = [(named(matching, drawn.text), ended(outcome)) for matching, outcome in self.pairs(self.explore(drawn.program))]
                ends = {}
                for matching, outcome in drawn.result.executions:
                    ends.setdefault(told(outcome), set()).add(named(matching, drawn.text))
                for matching, outcome in rows:
                    known = ends.get(outcome, ())
                    looked_at_early = outcome.startswith(("exit", "signal")) or is_named_otherwise(drawn)
                    right = matching in known or looked_at_early and any(begins(matching, one, drawn.text) for one in known)
                    self.assertTrue(right, f"{matching}  {outcome}\n{drawn.text}")
                aborting = [rank for rank, statements in enumerate(drawn.program) if {"abort", "kill"} & set(render([statements]).split())]
                if len(aborting) == 1 and "mprobe" not in drawn.text:  # of those, orders are left out
                    self.assertEqual(aborts_missed(drawn.result, aborting, rows), set(), drawn.text)
                early = ("abort", "signal", *(["deadlock"] if is_named_otherwise(drawn) else []))
                quiet = {(named(pair[0], drawn.text), pair[1]) for pair in drawn.result.executions if not pair[1].startswith(early)}
                self.assertLessEqual(quiet, set(rows), f"missed\n{drawn.text}")

    # -- closed forms
    def closed_form(self, expected, program):
        result = enumerate_matchings(program)
        self.assertEqual(len(result.matchings), expected, "the model")
        self.compare(program, result)
        self.assertEqual(self.totals.runs, expected)

    def test_1_sender_of_3_messages(self):
        self.closed_form(1, programs.senders(1, 3))

    def test_2_senders_of_2_messages(self):
        self.closed_form(6, programs.senders(2, 2))

    def test_3_senders_of_1_message(self):
        self.closed_form(6, programs.senders(3, 1, "irecv", "ssend"))

    def test_2_senders_of_3_messages(self):
        self.closed_form(20, programs.senders(2, 3, "mprobe"))

    def test_4_senders_of_1_message(self):
        self.closed_form(24, programs.senders(4, 1, "probe"))

    def test_3_senders_of_2_messages(self):
        self.closed_form(90, programs.senders(3, 2))

    def test_ring(self):
        self.closed_form(1, programs.ring(4, 2))

    def test_tree(self):
        self.closed_form(1, programs.tree(7))

    def test_two_wildcard_receivers(self):
        self.closed_form(36, programs.two_receivers(3))

    # -- ended and resumed
    def end_in_the_middle(self, program, state, rows_wanted, how):
        """Starts an exploration and ends it when its table has so many rows; gives the rows that it has left."""
        with self.start([BIN / "photofinish", *self.words(program, state)]) as command:
            command.wait_for(lambda: count_rows(state) >= rows_wanted, 120)
            os.kill(command.pid, how)
            command.finish(30)
        return read_rows(state)

    def ended_and_resumed(self, how):
        program, chance = programs.senders(4, 1), random.Random(FIRST)
        result, state, before = enumerate_matchings(program), self.dir / "t.explore", []
        for least in (2, 8, 15):
            rows = self.end_in_the_middle(program, state, least + chance.randrange(3), how)
            self.assertEqual(rows[:len(before)], before, "a run is lost")
            self.assertLess(len(rows), 24, "it was not in the middle")
            before = rows
        rows = self.explore(program, state=state)
        self.assertEqual(rows[:len(before)], before, "a run is lost")
        comparison = Comparison(result, self.pairs(rows))
        self.assertTrue(comparison.is_right(), comparison)
        self.assertEqual(self.explore(program, state=state), rows, "nothing was left to do")

    def test_killed_and_resumed(self):
        self.ended_and_resumed(signal.SIGKILL)
        end = time.monotonic() + 75  # a daemon whose launcher was not started yet waits a minute for its ranks
        while any(state != "Z" for _, state, _ in processes(self.mark).values()) and time.monotonic() < end:
            time.sleep(0.5)
        # Who is the last to be killed removes nothing; the next session does.
        self.record("after.pft", ["mpirun", "--oversubscribe", "-n", "2", INTERPRETER, render(programs.ring(2, 1))])

    def test_interrupted_and_resumed(self):
        self.ended_and_resumed(signal.SIGINT)

    def test_some_runs_and_then_the_rest(self):
        program, state = programs.senders(2, 2), self.dir / "t.explore"
        result = enumerate_matchings(program)
        some = self.explore(program, "--max-runs", "4", state=state)
        comparison = Comparison(result, self.pairs(some))
        self.assertEqual((len(some), comparison.wrong, comparison.twice), (4, [], {}), comparison)
        comparison = Comparison(result, self.pairs(self.explore(program, state=state)))
        self.assertTrue(comparison.is_right(), comparison)


if __name__ == "__main__":
    main()
