# SPDX-License-Identifier: GPL-3.0-or-later
"""kill -9 of a rank at random moments of a recording: every trace opens, verifies, says where it is cut, and its
replay gets there and ends. And SIGSEGV at random calls of a real program. PF_KILLS: how often (8; 50 with PF_FULL)."""
import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, FULL, PhotofinishTest, main

STEADY = BIN / "e2e" / "steady"
MUMPS, MUMPS_INPUT = "/usr/lib/mumps/dsimpletest", "/usr/lib/mumps/input_simpletest_real"
CRASH_AT = BIN / "e2e" / "crash_at.so"
RANKS, ROUNDS = 4, 4000
KILLS = int(os.environ.get("PF_KILLS", "50" if FULL else "8"))
CRASHES = max(KILLS // 3, 1) if KILLS < 50 else KILLS
SEED = int(os.environ.get("PF_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 31)


class KilledRankTest(PhotofinishTest):
    def test_killed_at_random_moments(self):
        self.need("mpirun", STEADY)
        print(f"PF_SEED={SEED}")
        choose = random.Random(SEED)
        for number in range(KILLS):
            victim, delay = choose.randrange(RANKS), choose.random() * 0.35
            with self.subTest(kill=number, victim=victim, delay=delay, seed=SEED):
                mode = "races" if number % 3 == 2 else "outcomes"
                recorded = self.record_and_kill(victim, delay, mode)
                if recorded is not None:
                    self.check(recorded)

    def test_solver_that_crashes_at_random_calls(self):
        """A program that was not written for us, in mode races: its trace keeps what a replay to the cut needs."""
        self.need("mpirun", MUMPS, MUMPS_INPUT, CRASH_AT)
        choose = random.Random(SEED)
        crashed = 0
        for number in range(CRASHES):
            at = f"{choose.randrange(RANKS)}:{choose.randrange(1, 80)}"
            with self.subTest(crash=number, at=at, seed=SEED):
                launch = self.mpirun(RANKS, MUMPS)
                launch[1:1] = ["-x", f"LD_PRELOAD={CRASH_AT}", "-x", f"CRASH_AT={at}"]
                with open(MUMPS_INPUT, "rb") as matrix:
                    recorded = self.record("t.pft", launch, "--mode", "races", status=None, stdin=matrix)
                if recorded.status == 0:
                    continue  # that rank makes fewer calls
                crashed += 1
                replayed = self.replay("t.pft", "--jitter", number + 1)
                self.assertEqual(replayed.status, recorded.status, f"{recorded}\n{replayed}")
                races = self.photofinish("races", self.dir / "t.pft", "--json")
                self.assertEqual(races.status, 0, races)
        print(f"PF_SEED={SEED}: {crashed} runs crashed, {CRASHES - crashed} had ended before")
        self.assertGreater(crashed, 0)

    def record_and_kill(self, victim, delay, mode):
        """None where the program ended before."""
        (self.dir / "t.pft").unlink(missing_ok=True)
        words = [BIN / "photofinish", "record", "--mode", mode, "-o", self.dir / "t.pft",
                 *self.mpirun(RANKS, STEADY, ROUNDS, 20)]
        with self.start(words) as command:
            pids = command.wait_for(lambda: len(command.find("steady")) == RANKS and command.find("steady"))
            command.wait_for(lambda: len(list((self.dir / "t.pft.d").glob("rank-*.log"))) == RANKS)
            time.sleep(delay)
            try:
                os.kill(pids[victim], signal.SIGKILL)
            except ProcessLookupError:
                return None
            run = command.finish(60)
        self.assertIsNotNone(run.status, f"the recording does not end\n{run}")
        self.assertNotEqual(run.status, 0, run)
        self.assertTrue((self.dir / "t.pft").exists(), run)
        return run

    def check(self, recorded):
        trace = self.dir / "t.pft"
        check = self.photofinish("check", trace)
        self.assertEqual(check.status, 0, check)
        info = self.photofinish("info", trace, "--json").json()
        self.assertFalse(info["complete"])
        self.assertTrue(info["cut"])
        for cut in info["cut"]:
            self.assertTrue(cut["reason"])
            self.assertGreaterEqual(cut["serial"], 0)
        text = self.photofinish("info", trace)
        self.assertRegex(text.out, r"cut short:\n  ranks? \d[^:]*: ", text)
        races = self.photofinish("races", trace, "--json")
        self.assertEqual(races.status, 0, races)
        replayed = self.replay("t.pft", timeout=90)
        self.assertIsNotNone(replayed.status, f"the replay does not end\n{replayed}")
        self.assertNotEqual(replayed.status, 3, f"the replay diverges before the cut\n{recorded}\n{replayed}")
        self.assertRegex(replayed.err, r"photofinish: .*recording ends here", replayed)
        # What was printed before the cut is printed again: the free run behind it may print more.
        before, after = recorded.by_rank(), replayed.by_rank()
        for rank, lines in before.items():
            self.assertEqual(after.get(rank, [])[:len(lines)], lines, f"rank {rank}\n{recorded}\n{replayed}")


if __name__ == "__main__":
    main()
