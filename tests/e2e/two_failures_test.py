# SPDX-License-Identifier: GPL-3.0-or-later
"""Two of the processes killed at once: nothing of a recording is lost, and of a replay nothing is left.

PF_FAILURES=N: so many pairs, by chance (default 3, one of each).
"""
import contextlib
import os
import random
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

STEADY = BIN / "e2e" / "steady"
RANKS = 3
DAEMON, AGENT, RANK, RECORDER = "photofinish-daemon", "photofinish-agent", "steady", "photofinish"
PAIRS = [(DAEMON, RANK), (AGENT, RANK), (RECORDER, DAEMON)]
COUNT = int(os.environ.get("PF_FAILURES", len(PAIRS)))


class TwoFailuresTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", STEADY)
        self.chance = random.Random(25)

    def kill(self, command, pair):
        """Both between two instructions of theirs: they are stopped first."""
        while True:
            victims = [self.chance.choice(command.find(name)) for name in pair]
            try:
                for victim in victims:
                    os.kill(victim, signal.SIGSTOP)
                break
            except ProcessLookupError:  # a rank's process that was about to become the program: the shell of a launcher
                for victim in victims:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(victim, signal.SIGCONT)
        for victim in victims:
            os.kill(victim, signal.SIGKILL)

    def received(self, text):
        """What rank 0 has said it had received, or less."""
        return max([int(number) for number in re.findall(r"(\d+) messages, state", text)] or [0])

    def test_recording(self):
        for number in range(COUNT):
            pair = PAIRS[number % len(PAIRS)]
            with self.subTest(number=number, pair=pair):
                trace = self.dir / f"{number}.pft"
                words = [BIN / "photofinish", "record", "-o", trace, *self.mpirun(RANKS, STEADY, 200, 5000)]
                with self.start(words) as command:
                    command.wait_for(lambda: "messages, state" in command.output())
                    time.sleep(self.chance.random() * 0.5)
                    self.kill(command, pair)
                    end = time.monotonic() + 60
                    while (command.process.poll() is None or command.find("mpirun") or command.find("steady")) and time.monotonic() < end:
                        time.sleep(0.05)
                    run = command.finish(1)
                info = self.photofinish("info", trace, "--json")
                self.assertEqual(info.status, 0, f"{run}\n{info}")
                self.assertGreaterEqual(info.json()["wildcardReceives"], self.received(run.out), f"{run}\n{info}")
                self.assertEqual(info.json()["complete"], RANK not in pair, f"{run}\n{info}")
                self.assertEqual(self.photofinish("check", trace).status, 0)

    def test_replay(self):
        self.record("t.pft", self.mpirun(RANKS, STEADY, 200, 5000))
        for number in range(COUNT):
            pair = PAIRS[number % len(PAIRS)]
            with self.subTest(number=number, pair=pair):
                with self.start([BIN / "photofinish", "replay", self.dir / "t.pft"]) as command:
                    command.wait_for(lambda: "messages, state" in command.output())
                    self.kill(command, pair)
                    command.wait_for(lambda: command.process.poll() is not None, 60)
                    end = time.monotonic() + 30
                    while any(command.find(name) for name in ("mpirun", "steady", AGENT, DAEMON)) and time.monotonic() < end:
                        time.sleep(0.05)
                    left = {name: command.find(name) for name in ("mpirun", "steady", AGENT, DAEMON)}
                    run = command.finish(1)
                self.assertNotIn(run.status, (0, None), run)
                self.assertFalse(any(left.values()), f"{left}\n{run}")


if __name__ == "__main__":
    main()
