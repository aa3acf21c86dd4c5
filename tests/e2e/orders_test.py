# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish explore and blame, by the command line: outcomes and their classes, bounds, what is gone on with, who is to blame."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

PROGRAM = BIN / "e2e" / "flipped"


class OrdersTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", PROGRAM)

    def launch(self, what):
        return ["mpirun", "--oversubscribe", "-n", "4", PROGRAM, what]

    def explore(self, what, *options, state="t.explore"):
        run = self.photofinish("explore", "--json", "-o", state, *options, *self.launch(what), timeout=200)
        self.assertIn(run.status, (0, 5), run)
        return run.status, run.json()

    def by_outcome(self, found):
        runs = {}
        for each in found["outcomes"]:
            runs[each["outcome"]] = runs.get(each["outcome"], 0) + each["runs"]
        return runs

    def test_outcomes(self):
        status, found = self.explore("harvest")
        self.assertEqual((status, found["runs"], found["all_orders_seen"]), (5, 6, True))
        self.assertEqual(self.by_outcome(found), {"exit 3": 2, "ok": 4})
        for each in found["outcomes"]:
            replayed = self.photofinish("replay", each["trace"])
            self.assertEqual(replayed.status, 3 if each["outcome"] == "exit 3" else 0, replayed)

    def test_no_outcome_but_one(self):
        status, found = self.explore("never")
        self.assertEqual((status, self.by_outcome(found)), (0, {"ok": 6}))

    def test_deadlock(self):
        _, found = self.explore("stuck")
        self.assertEqual(self.by_outcome(found), {"deadlock": 3, "ok": 3})
        sentence = next(each["sentence"] for each in found["outcomes"] if each["outcome"] == "deadlock")
        self.assertRegex(sentence, r"rank 0 is in MPI_Recv at flipped\.c:\d+ \(take\) for rank 3, tag 9")

    def test_stuck_although_nobody_can_prove_it(self):
        """As long as a run may take waits only the first one, if it is stuck. On a busy machine, whose ranks waited long, another one may."""
        begun = time.monotonic()
        _, found = self.explore("swap", "--run-time", "30")
        outcomes = self.by_outcome(found)
        self.assertEqual((outcomes["ok"], outcomes["hang"] + outcomes.get("time limit", 0)), (3, 3))
        self.assertLess(time.monotonic() - begun, 80, found)
        sentence = next(each["sentence"] for each in found["outcomes"] if each["outcome"] == "hang")
        self.assertIn("rank 0 is in MPI_Sendrecv at flipped.c:", sentence)

    def test_a_crash_behind_its_end(self):
        """Open MPI 4.1 crashes by itself there now and then: what does so again and again is the program's."""
        _, found = self.explore("behind")
        self.assertEqual(self.by_outcome(found), {"signal 11": 2, "ok": 4})
        sentence = next(each["sentence"] for each in found["outcomes"] if each["outcome"] != "ok")
        self.assertRegex(sentence, r"^rank 0 was ended by SIGSEGV in MPI_Finalize or after it, its event \d+$")
        self.record("once.pft", self.launch("once"), "--mode", "all")
        (self.dir / "crash").touch()
        run = self.photofinish("explore", "--json", "-o", "once.explore", "once.pft", timeout=100)
        self.assertEqual((run.status, self.by_outcome(run.json())), (0, {"ok": 6}), run)
        self.assertFalse((self.dir / "crash").exists(), "it has not crashed")

    def test_which_request_is_given(self):
        """No receive of it has a choice: what MPI_Waitany gives decides. It can be flipped, and left alone."""
        _, found = self.explore("any")
        self.assertEqual((self.by_outcome(found), found["all_orders_seen"]), ({"exit 3": 1, "ok": 1}, True))
        traces = {each["outcome"]: each for each in found["outcomes"]}
        flips = [flip for each in found["outcomes"] for flip in each["flips"]]
        self.assertEqual(len(flips), 1)
        self.assertRegex(flips[0]["text"], r"^rank 0's MPI_Waitany at flipped\.c:\d+ \(event 4\) gives request [01]$")
        self.assertEqual(self.photofinish("replay", traces["exit 3"]["trace"]).status, 3)
        self.assertEqual(self.photofinish("replay", traces["ok"]["trace"]).status, 0)
        run = self.photofinish("flip", traces["ok"]["trace"], "0:4=1", "-o", "b.pft", timeout=60)
        self.assertEqual(run.status, 3, run)
        self.assertIn("gave request 1", run.err)
        self.assertRegex(self.photofinish("runs", "b.pft").out, r"rank 0's MPI_Waitany at flipped\.c:\d+ \(event 4\) gives request 1")
        for wish, words in (("0:4=0", "gave that in the recorded run"), ("0:4=5", "was not offered these requests"), ("0:2=1", "has no choice of requests")):
            run = self.photofinish("flip", traces["ok"]["trace"], wish, "-o", "c.pft", timeout=60)
            self.assertEqual(run.status, 2, run)
            self.assertIn(words, run.err)
        self.assertFalse((self.dir / "c.pft").exists())
        _, found = self.explore("any", "--matchings-only", state="m.explore")
        self.assertEqual((found["runs"], found["all_orders_seen"], found["all_matchings_seen"]), (1, False, True))

    def test_check(self):
        _, found = self.explore("never", "--check", "head -n 1 | grep -vq 'from 2'")
        self.assertEqual(self.by_outcome(found), {"ok": 4, "wrong": 2})

    def test_bound_and_what_is_left(self):
        _, found = self.explore("never", "--bound", "0")
        self.assertEqual((found["runs"], found["all_orders_seen"]), (1, False))
        self.assertGreater(found["beyond_bound"], 0)
        _, found = self.explore("never", "--max-runs", "2")
        self.assertEqual((found["runs"], found["all_orders_seen"]), (3, False))
        _, found = self.explore("never", "--jobs", "2")
        self.assertEqual((found["runs"], found["all_orders_seen"]), (6, True))
        _, found = self.explore("never")
        self.assertEqual((found["runs"], found["runs_now"]), (6, 0))

    def test_first_failure(self):
        _, found = self.explore("harvest", "--first-failure")
        self.assertEqual(self.by_outcome(found)["exit 3"], 1)

    def test_another_program_in_the_file(self):
        self.explore("never", "--max-runs", "1")
        run = self.photofinish("explore", "-o", "t.explore", *self.launch("harvest"))
        self.assertEqual(run.status, 2, run)
        self.assertIn("explores another command", run.err)
        (self.dir / "x.explore").write_text("no database\n" * 100)
        run = self.photofinish("explore", "-o", "x.explore", *self.launch("never"))
        self.assertEqual(run.status, 4, run)

    # -- blame
    def failing(self, what):
        _, found = self.explore(what, "--first-failure")
        return next(each["trace"] for each in found["outcomes"] if each["outcome"] != "ok")

    def blame(self, *words):
        run = self.photofinish("blame", "--json", "--runs", "3", *words, timeout=300)
        self.assertEqual(run.status, 0, run)
        return run.json()

    def test_one_delivery(self):
        found = self.blame(self.failing("harvest"))
        self.assertRegex(found["sentence"], r"^fails if and only if rank 0's receive at flipped\.c:\d+ \(event 2\) takes rank 2's message before rank [13]'s$")
        self.assertEqual((found["failed_with"], found["failed_without"], found["failed_with_all_else_free"], found["unclear"]), (3, 0, 3, 0))
        good = self.photofinish("replay", found["good"])
        self.assertEqual(good.status, 0, good)

    def test_never_more_than_needed(self):
        for what in ("late", "both"):
            with self.subTest(what=what):
                trace = self.failing(what)
                found = self.blame(trace)
                self.assertEqual((found["failed_with"], found["failed_without"]), (3, 0), found)
                self.assertEqual(len(found["deliveries"]), 1, found)
                for path in self.dir.glob("t.explore*"):
                    path.rename(self.dir / f"{what}.{path.name}")

    def test_deadlock_is_blamed(self):
        found = self.blame(self.failing("stuck"))
        self.assertEqual((found["outcome"], found["failed_with"], found["failed_without"]), ("deadlock", 3, 0))

    def test_what_fails_inside_of_a_receive(self):
        """What such a receive took stands in the header of the rank's log only."""
        _, found = self.explore("short")
        self.assertEqual(self.by_outcome(found), {"exit 15": 4, "ok": 2}, found)
        trace = next(each["trace"] for each in found["outcomes"] if each["outcome"] != "ok")
        found = self.blame(trace)
        self.assertEqual((found["failed_with"], found["failed_without"], found["unclear"]), (3, 0, 0), found)
        self.assertIn("receive at flipped.c:", found["sentence"])

    def test_nothing_to_blame(self):
        _, found = self.explore("always", "--max-runs", "1")
        run = self.photofinish("blame", found["outcomes"][0]["trace"], timeout=200)
        self.assertNotEqual(run.status, 0, run)
        self.assertIn("the program fails in each of its 6 orders: no delivery is to blame", run.err)
        _, found = self.explore("never", "--max-runs", "1", state="n.explore")
        run = self.photofinish("blame", found["outcomes"][0]["trace"])
        self.assertEqual(run.status, 2, run)
        self.assertIn("did not fail", run.err)


if __name__ == "__main__":
    main()
