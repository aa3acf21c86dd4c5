# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the model of MPI's matching: closed forms, a brute force that shares no code with it, and real MPI.

PF_TINY: programs for the brute force (300; 3000 with PF_FULL). PF_REAL: programs for real MPI (6; 60 with PF_FULL). PF_SEED: where
seeds begin (1).
"""
import collections
import math
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from brute_force import TooLong, enumerate_executions
from comparison import Comparison, aborts_missed, begins
from generator import Shape, TINY, TINY_AND_RACY, draw
from language import parse, render
from model import TooMany, enumerate_matchings
from photofinish import BIN, FULL, PhotofinishTest, main
import programs
import unittest

INTERPRETER = BIN / "exploring" / "interpreter"
TINY_COUNT = int(os.environ.get("PF_TINY", "3000" if FULL else "150"))
REAL_COUNT = int(os.environ.get("PF_REAL", "60" if FULL else "6"))
FIRST = int(os.environ.get("PF_SEED", "1"))
MOST_INTERLEAVINGS = 20000 if FULL else 500
ROUNDS = 100


def outcomes(text, collectives="must"):
    """{matching: its outcomes}, joined by a comma."""
    found = enumerate_matchings(parse(text), collectives).matchings
    return {matching: ",".join(sorted(ends)) for matching, ends in found.items()}


class ClosedFormTest(unittest.TestCase):
    def count(self, program, expected, outcome="ok"):
        result = enumerate_matchings(program)
        self.assertEqual(len(result.matchings), expected)
        self.assertEqual(sum(result.executions.values()), expected, "each once")
        self.assertEqual({end for _, end in result.executions}, {outcome})

    def test_senders_to_one_wildcard_receiver(self):
        for senders, each in ((2, 2), (3, 1), (2, 3), (4, 1), (3, 2), (2, 5), (6, 1)):
            expected = math.factorial(senders * each) // math.factorial(each) ** senders
            with self.subTest(senders=senders, each=each):
                for receive in ("recv", "irecv", "probe", "mprobe"):
                    for send in ("send", "ssend"):
                        self.count(programs.senders(senders, each, receive, send), expected)

    def test_one_where_sources_are_told(self):
        for size in range(2, 9):
            self.count(programs.ring(size, 3), 1)
            self.count(programs.tree(size), 1)

    def test_two_wildcard_receivers(self):
        for senders in (1, 2, 3, 4):
            self.count(programs.two_receivers(senders), math.factorial(senders) ** 2)

    def test_a_large_program_is_quick(self):
        start = time.process_time()
        self.count(programs.senders(2, 9, "recv", "send"), 48620)
        self.count(programs.senders(8, 1, "irecv", "send"), 40320)
        self.assertLess(time.process_time() - start, 20.0)

    def test_limits(self):
        with self.assertRaises(TooMany):
            enumerate_matchings(programs.senders(3, 2, "recv", "send"), most=89)
        with self.assertRaises(TooMany):
            enumerate_matchings(programs.senders(3, 2, "recv", "send"), most_states=10)

    def test_a_text_is_its_program(self):
        for seed in range(FIRST, FIRST + 30):
            drawn = draw(seed, TINY)
            self.assertEqual(parse(drawn.text), drawn.program)
            self.assertEqual(render(parse(drawn.text)), drawn.text)
        for text in ("", "recv * * 0", "rank recv *", "rank if f { recv * * 0", "rank goto 1", "rank }", "rank if f recv * * 0"):
            with self.assertRaises(ValueError, msg=text):
                parse(text)


class RulesTest(unittest.TestCase):
    """A rule of the standard each: the matchings of a small program, written by hand."""

    def test_messages_of_one_sender_do_not_overtake(self):
        self.assertEqual(outcomes("rank recv * * 0 recv * * 0 rank send 0 1 0 0 send 0 0 0 0"), {"1.0,1.1;": "ok"})

    def test_a_tag_takes_a_later_message(self):
        self.assertEqual(outcomes("rank recv 1 0 0 recv 1 1 0 rank send 0 1 0 0 send 0 0 0 0"), {"1.1,1.0;": "ok"})

    def test_pending_receives_take_in_posting_order(self):
        self.assertEqual(outcomes("rank irecv * 1 0 0 irecv * * 0 1 wait 1 wait 0 rank send 0 1 0 0 send 0 0 0 0"), {"1.0,1.1;": "ok"})
        self.assertEqual(outcomes("rank irecv * * 0 0 irecv * * 0 1 waitall 0,1 rank send 0 0 0 0 rank send 0 0 0 0"),
                         {"1.0,2.0;;": "ok", "2.0,1.0;;": "ok"})

    def test_a_pending_wildcard_takes_what_a_later_receive_asks_for(self):
        self.assertEqual(outcomes("rank irecv * * 0 0 recv 1 * 0 wait 0 rank send 0 0 0 0 rank send 0 0 0 0"),
                         {"2.0,1.0;;": "ok", "1.0,-;;": "deadlock"})

    def test_communicators_are_apart(self):
        self.assertEqual(outcomes("rank recv 1 * 1 recv 1 * 0 rank send 0 0 0 0 send 0 0 1 0"), {"1.1,1.0;": "ok"})
        self.assertEqual(outcomes("rank recv * * 0 rank send 0 0 1 0"), {"-;": "deadlock"})

    def test_a_wildcard_may_take_what_another_receive_needs(self):
        self.assertEqual(outcomes("rank recv * * 0 recv 1 * 0 rank send 0 0 0 0 rank send 0 0 0 0"),
                         {"2.0,1.0;;": "ok", "1.0,-;;": "deadlock"})

    def test_messages_that_nobody_receives(self):
        self.assertEqual(outcomes("rank recv * * 0 rank send 0 0 0 0 rank send 0 0 0 0"), {"1.0;;": "ok", "2.0;;": "ok"})

    def test_a_synchronous_send_waits_for_its_receive(self):
        self.assertEqual(outcomes("rank recv * * 0 rank ssend 0 0 0 0 rank ssend 0 0 0 0"), {"1.0;;": "deadlock", "2.0;;": "deadlock"})
        self.assertEqual(outcomes("rank ssend 1 0 0 0 recv 1 * 0 rank ssend 0 0 0 0 recv 0 * 0"), {";": "deadlock"})
        self.assertEqual(outcomes("rank irecv 1 * 0 0 ssend 1 0 0 0 wait 0 rank irecv 0 * 0 0 ssend 0 0 0 0 wait 0"), {"1.0;0.0": "ok"})
        self.assertEqual(outcomes("rank send 1 0 0 0 recv 1 * 0 rank send 0 0 0 0 recv 0 * 0"), {"1.0;0.0": "ok"})

    def test_a_synchronous_send_orders_what_follows(self):
        """Rank 1's second message goes only when the first was taken: by the receive that was posted before."""
        after = "rank irecv * * 0 0 recv 2 * 0 recv * * 0 wait 0 rank ssend 0 0 0 0 send 2 0 0 0 rank recv 1 * 0 send 0 0 0 0 send 0 0 0 0"
        self.assertEqual(outcomes(after), {"1.0,2.0,2.1;;1.0": "ok"})

    def test_a_barrier_orders_messages(self):
        """A receive that is done before a barrier cannot take what is sent after it; one that is pending then can."""
        done = "rank recv * * 0 barrier 0 recv * * 0 rank send 0 0 0 0 barrier 0 rank barrier 0 send 0 0 0 0"
        self.assertEqual(outcomes(done), {"1.0,2.0;;": "ok"})
        pending = done.replace("recv * * 0 barrier 0", "irecv * * 0 0 barrier 0 wait 0", 1)
        self.assertEqual(outcomes(pending), {"1.0,2.0;;": "ok", "2.0,1.0;;": "ok"})
        behind = "rank barrier 0 recv * * 0 recv * * 0 rank send 0 0 0 0 barrier 0 rank barrier 0 send 0 0 0 0"
        self.assertEqual(outcomes(behind), {"1.0,2.0;;": "ok", "2.0,1.0;;": "ok"})

    def test_rooted_collectives_do_not_wait_for_all(self):
        bcast = "rank recv * * 0 bcast 0 1 0 recv * * 0 rank bcast 0 1 5 send 0 0 0 0 rank send 0 0 0 0 bcast 0 1 0"
        self.assertEqual(outcomes(bcast), {"1.0,2.0;;": "ok", "2.0,1.0;;": "ok"})
        self.assertEqual(outcomes(bcast, "all"), {"2.0,1.0;;": "ok"})
        reduce = "rank recv * * 0 reduce 0 2 0 recv * * 0 rank reduce 0 2 0 send 0 0 0 0 rank send 0 0 0 0 reduce 0 2 0"
        self.assertEqual(outcomes(reduce), {"1.0,2.0;;": "ok", "2.0,1.0;;": "ok"})
        at_root = "rank recv * * 0 reduce 0 0 1 recv * * 0 if x%2 { exit 3 } rank reduce 0 0 1 send 0 0 0 0 rank send 0 0 0 0 reduce 0 0 1"
        self.assertEqual(outcomes(at_root), {"1.0,2.0;;": "ok", "2.0,1.0;;": "ok"})

    def test_values_of_collectives(self):
        self.assertEqual(outcomes("rank allreduce 0 3 if x%2 { exit 3 } rank allreduce 0 4"), {";": "exit 3"})
        self.assertEqual(outcomes("rank bcast 0 1 0 if x%2 { exit 3 } rank bcast 0 1 7"), {";": "exit 3"})
        self.assertEqual(outcomes("rank reduce 0 0 3 if x%2 { exit 3 } rank reduce 0 0 4"), {";": "exit 3"})
        with self.assertRaises(ValueError):
            outcomes("rank barrier 0 rank allreduce 0 1")

    def test_a_probe_sees_what_a_receive_could_take(self):
        two = "rank send 0 0 0 0 rank send 0 0 0 0"
        self.assertEqual(outcomes("rank probe * * 0 recv s t 0 recv * * 0 " + two), {"1.0,2.0;;": "ok", "2.0,1.0;;": "ok"})
        self.assertEqual(outcomes("rank mprobe * * 0 0 recv * * 0 mrecv 0 " + two), {"1.0,2.0;;": "ok", "2.0,1.0;;": "ok"})
        unbound = enumerate_matchings(parse("rank probe * * 0 recv * * 0 recv * * 0 " + two))
        self.assertEqual(dict(unbound.executions), {("1.0,2.0;;", "ok"): 2, ("2.0,1.0;;", "ok"): 2})
        self.assertEqual(outcomes("rank irecv 1 * 0 0 probe * * 0 wait 0 rank send 0 0 0 0"), {"1.0;": "deadlock"})

    def test_a_probed_synchronous_send_still_waits(self):
        self.assertEqual(outcomes("rank mprobe 1 * 0 0 recv 1 1 0 mrecv 0 rank ssend 0 0 0 0 send 0 1 0 0"), {"-;": "deadlock"})

    def test_a_single_probe_may_fail(self):
        text = "rank iprobe 1 * 0 if f { recv 1 * 0 } rank send 0 0 0 0"
        self.assertEqual(outcomes(text), {"1.0;": "ok", ";": "ok"})
        test = enumerate_matchings(parse("rank irecv 1 * 0 0 test 0 wait 0 rank send 0 0 0 0"))
        self.assertEqual(dict(test.executions), {("1.0;", "ok"): 2})

    def test_the_index_of_waitany_is_a_choice(self):
        text = "rank irecv 1 * 0 0 irecv 2 * 0 1 waitany 0,1 if w=1 { exit 4 } waitany 0,1 rank send 0 0 0 0 rank send 0 0 0 0"
        self.assertEqual(outcomes(text.replace("if w=1 { exit 4 }", "")), {"1.0,2.0;;": "ok"})
        found = enumerate_matchings(parse(text))
        self.assertEqual(found.matchings, {"1.0,2.0;;": {"ok", "exit 4"}})
        self.assertEqual(sum(found.executions.values()), 2)

    def test_what_waitsome_gives_is_a_choice(self):
        posts, sends = "rank irecv 1 * 0 0 precv 2 * 0 1 ", " rank send 0 0 0 0 rank send 0 0 0 1"
        some = enumerate_matchings(parse(posts + "waitsome 0,1 waitsome 0,1 if w=1 { exit 4 }" + sends))
        self.assertEqual(dict(some.executions), {("1.0,2.0;;", "exit 4"): 2, ("1.0,2.0;;", "ok"): 1}, "one, the other, or both")
        order = enumerate_matchings(parse(posts + "waitsome 0,1 waitsome 0,1 if s=1 { exit 4 }" + sends))
        self.assertEqual(dict(order.executions), {("1.0,2.0;;", "exit 4"): 1, ("1.0,2.0;;", "ok"): 2})
        one = enumerate_matchings(parse(posts + "testany 0,1 if f { exit 4 } waitall 0,1" + sends))
        self.assertEqual(dict(one.executions), {("1.0,2.0;;", "exit 4"): 2, ("1.0,2.0;;", "ok"): 1})

    def test_ends(self):
        self.assertEqual(outcomes("rank exit 3 rank recv 0 * 0"), {";-": "deadlock"})
        self.assertEqual(outcomes("rank exit 3 recv 1 * 0 rank exit 0"), {";": "exit 3"})
        self.assertEqual(outcomes("rank exit 3 rank exit 4"), {";": "exit 3|4"})
        self.assertEqual(outcomes("rank abort 3 rank recv 0 * 0"), {";-": "abort 3"})
        self.assertEqual(outcomes("rank kill 6 rank recv 0 * 0"), {";-": "signal 6"})
        self.assertEqual(outcomes("rank recv * * 0 send s 0 0 4 rank send 0 0 0 0 recv 0 * 0"), {"1.0;0.0": "ok"})
        self.assertEqual(outcomes("rank loop 3 { loop 2 { recv 1 * 0 } } rank loop 6 { send 0 0 0 0 }"),
                         {"1.0,1.1,1.2,1.3,1.4,1.5;": "ok"})

    def test_a_receive_of_which_the_program_is_not_told(self):
        found = enumerate_matchings(parse("rank irecv 1 * 0 0 irecv 1 * 0 1 waitall 0,1 rank send 0 0 0 0"))
        self.assertEqual((found.matchings, found.unobserved), ({"1.0,-;": {"deadlock"}}, True))

    def test_what_cannot_be_run_is_refused(self):
        with self.assertRaises(ValueError):
            outcomes("rank irecv 1 * 0 0 irecv 1 * 0 0 rank send 0 0 0 0")


class ComparisonTest(unittest.TestCase):
    """What explore_test.py judges by finds what is wrong."""

    def compare(self, text, rows):
        found = Comparison(enumerate_matchings(parse(text)), rows)
        return len(found.missed), sum(found.twice.values()), len(found.wrong), found.again, found.is_right()

    def test_each_once(self):
        text = "rank recv * * 0 recv * * 0 if s=1 { exit 3 } rank send 0 0 0 0 rank send 0 0 0 0"
        one, two = ("1.0,2.0;;", "ok"), ("2.0,1.0;;", "exit 3")
        self.assertEqual(self.compare(text, [one, two]), (0, 0, 0, 0, True))
        self.assertEqual(self.compare(text, [two]), (1, 0, 0, 0, False))
        self.assertEqual(self.compare(text, [one, two, one]), (0, 1, 0, 1, False))
        self.assertEqual(self.compare(text, [one, (two[0], "ok")]), (1, 0, 1, 0, False))
        self.assertEqual(self.compare(text, [one, two, ("1.0,-;;", "deadlock")]), (0, 0, 1, 0, False))

    def test_choices_that_are_no_receives(self):
        text = "rank irecv 1 * 0 0 irecv 2 * 0 1 waitany 0,1 if w=1 { exit 4 } waitany 0,1 rank send 0 0 0 0 rank send 0 0 0 0"
        one, two = ("1.0,2.0;;", "ok"), ("1.0,2.0;;", "exit 4")
        self.assertEqual(self.compare(text, [one, two]), (0, 0, 0, 0, True))
        self.assertEqual(self.compare(text, [one]), (1, 0, 0, 0, False))
        self.assertEqual(self.compare(text.replace("exit 4", ""), [one]), (0, 0, 0, 0, True))
        self.assertEqual(self.compare(text.replace("exit 4", ""), [one, one]), (0, 0, 0, 1, True))
        self.assertEqual(self.compare(text.replace("exit 4", ""), [one] * 3), (0, 1, 0, 2, False))

    def test_before_the_end(self):
        for partial, whole, expected in (("1.0,-;;", "1.0,2.0;;", True), ("-;;", "1.0,2.0;;", True), (";;", "1.0;;0.0", True),
                                         ("1.0,1.1;;", "1.0;;", False), ("2.0;;", "1.0,2.0;;", False), ("1.0;", "1.0;;", False)):
            self.assertEqual(begins(partial, whole), expected, (partial, whole))
        result = enumerate_matchings(parse("rank recv * * 0 if s=1 { abort 3 } rank send 0 0 0 0 rank send 0 0 0 0"))
        self.assertEqual(result.pairs(), {("1.0;;", "abort 3"), ("2.0;;", "ok")})
        self.assertEqual(aborts_missed(result, [0], [("2.0;;", "ok")]), {("1.0",)})
        self.assertEqual(aborts_missed(result, [0], [("2.0;;", "ok"), ("1.0;;", "exit 3")]), set())


class BruteForceTest(unittest.TestCase):
    """The same executions, and each as often, as where every step of every rank and every message is interleaved."""

    def brute_force(self, count, tags):
        done, interleavings, executions, ends, seed = 0, 0, 0, collections.Counter(), FIRST - 1
        while done < count:
            seed += 1
            drawn = draw(seed, TINY_AND_RACY if seed % 3 == 0 else TINY)
            try:
                found, paths = enumerate_executions(drawn.program, MOST_INTERLEAVINGS, arriving=tags == "in order")
            except TooLong:
                continue
            expected = collections.Counter((matching, outcome) for matching, outcome, _ in found)
            self.assertEqual(enumerate_matchings(drawn.program, tags=tags).executions, expected, f"seed {seed}: {drawn.text}")
            done, interleavings, executions = done + 1, interleavings + paths, executions + len(found)
            ends.update({outcome.split()[0] for _, outcome in expected})
        print(f"\n{done} tiny programs of {seed - FIRST + 1}: {interleavings} interleavings, {executions} executions, programs with {dict(ends)}")
        self.assertGreater(executions, 1.4 * done)
        self.assertGreater(min(ends["ok"], ends["deadlock"], ends["exit"]), done // 20)

    def test_by_the_rules(self):
        self.brute_force(TINY_COUNT, "apart")

    def test_by_arrival(self):
        self.brute_force(TINY_COUNT // 3, "in order")

    def test_tags_that_pass_one_another(self):
        program = parse("rank irecv * 0 0 0 recv 1 1 0 send 2 0 0 0 wait 0 recv * 0 0 "
                        "rank send 0 0 0 0 send 0 1 0 0 rank recv 0 * 0 send 0 0 0 0")
        for tags, expected in (("apart", {"1.0,1.1,2.0;;0.0", "2.0,1.1,1.0;;0.0"}), ("in order", {"1.0,1.1,2.0;;0.0"})):
            self.assertEqual(set(enumerate_matchings(program, tags=tags).matchings), expected)
            found, _ = enumerate_executions(program, 10000, arriving=tags == "in order")
            self.assertEqual({matching for matching, _, _ in found}, expected)


def of_rounds(text):
    """{(matching, outcome): how often}, of what `interpreter --times` printed."""
    rounds = collections.defaultdict(dict)
    for number, rank, status, took in re.findall(r"round (\d+) rank (\d+) status (\d+) took (\S*)", text):
        rounds[int(number)][int(rank)] = (int(status), took)
    seen = collections.Counter()
    for ranks in rounds.values():
        statuses = {status for status, _ in ranks.values()} - {0}
        outcome = "exit " + "|".join(map(str, sorted(statuses))) if statuses else "ok"
        seen[";".join(took for _, (_, took) in sorted(ranks.items())), outcome] += 1
    return seen


class RealTest(PhotofinishTest):
    """What real MPI does is in the model's set."""

    def setUp(self):
        super().setUp()
        self.need("mpirun", INTERPRETER)

    def drawn(self, count, accepts, shape=Shape()):
        seed, found = FIRST, []
        while len(found) < count:
            drawn = draw(seed, shape)
            if accepts({outcome for _, outcome in drawn.result.executions}):
                found.append((seed, drawn))
            seed += 1
        return found

    def launch(self, drawn, *options, **environment):
        words = ["mpirun", "--oversubscribe", "-n", str(len(drawn.program)), INTERPRETER, *options, drawn.text]
        told = self.dir / "told"
        for _ in range(3):
            told.write_text("")
            run = self.run_command(*words, timeout=120, env={name: str(value) for name, value in environment.items()} | {"INTERPRETER_TOLD": str(told)})
            if told.stat().st_size > 0:
                break
        return run, told.read_text()  # else mpirun itself failed three times: no rank has told anything

    def rounds(self, programs_of_seeds):
        known = seen = 0
        for seed, drawn in programs_of_seeds:
            run, told = self.launch(drawn, "--times", ROUNDS, INTERPRETER_DELAY=(300, 3000)[seed % 2], INTERPRETER_SEED=seed)
            self.assertEqual(run.status, 0, run)
            observed = of_rounds(told)
            self.assertEqual(sum(observed.values()), ROUNDS, run)
            self.assertLessEqual(set(observed), drawn.result.pairs(), f"seed {seed}: {drawn.text}")
            known, seen = known + len(drawn.result.pairs()), seen + len(observed)
        print(f"\n{len(programs_of_seeds)} programs: real MPI did {seen} of the {known} executions that the model knows, and no other")
        self.assertGreater(seen, len(programs_of_seeds))

    def test_programs_that_end(self):
        self.rounds(self.drawn(REAL_COUNT, lambda ends: not any(end.startswith("deadlock") for end in ends)))

    def test_single_tests_and_probes(self):
        self.rounds(self.drawn(REAL_COUNT // 2, lambda ends: "deadlock" not in ends, Shape(tries=True)))

    def test_programs_that_may_not_end(self):
        for seed, drawn in self.drawn(REAL_COUNT // 2, lambda ends: "deadlock" in ends):
            for number in range(2):
                run, told = self.launch(drawn, INTERPRETER_DELAY=200, INTERPRETER_SEED=10 * seed + number, INTERPRETER_ALARM=600)
                took = dict(re.findall(r"rank (\d+) took (\S*)", told))
                self.assertTrue(took, run)
                matching = ";".join(took.get(str(rank), "") for rank in range(len(drawn.program)))  # a rank may be ended too early to tell
                self.assertTrue(any(begins(matching, known) for known in drawn.result.matchings), f"seed {seed}: {matching}\n{drawn.text}")


if __name__ == "__main__":
    main()
