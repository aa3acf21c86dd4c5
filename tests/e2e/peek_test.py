# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish peek: a trace of what a recording that goes on has so far."""
import fcntl
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

STEADY = BIN / "e2e" / "steady"


class PeekTest(PhotofinishTest):
    def calls(self, trace):
        """By rank the calls of its events."""
        ranks = {}
        for event in self.photofinish("events", self.dir / trace, "--json").json()["events"]:
            ranks.setdefault(event["rank"], []).append((event["call"], event["peer"], event["line"]))
        return ranks

    def test_begins_and_ends_whole(self):
        """Who looks at a recording sees the facts of its run and all its logs, and that its recorder is at work, or nothing."""
        self.need("mpirun", STEADY)
        logs = self.dir / "t.pft.d"
        for left in ("t.pft.d.part-aB3456", "t.pft.d.part-of-the-user"):  # the first by a recorder that was killed
            (self.dir / left).mkdir()
            (self.dir / left / "run.json").write_text("{}")
        with self.start([BIN / "photofinish", "record", "-o", self.dir / "t.pft", *self.mpirun(2, STEADY, 50, 5000)]) as command:
            until = time.monotonic() + 30
            while not logs.is_dir():  # without a pause: what is looked for is there for microseconds
                self.assertLess(time.monotonic(), until, command.output())
            once = {"run.json"}
            self.assertLessEqual(once, set(os.listdir(logs)))
            directory = os.open(logs, os.O_RDONLY)
            self.addCleanup(os.close, directory)
            with self.assertRaises(BlockingIOError):
                fcntl.flock(directory, fcntl.LOCK_SH | fcntl.LOCK_NB)
            while True:
                try:
                    now = {name for name in os.listdir(logs) if name == "run.json" or name.startswith("rank-")}
                except FileNotFoundError:
                    break
                if not logs.exists():
                    break
                self.assertLessEqual(once, now)
                once = now
            self.assertIn("rank-0.log", once)
            self.assertEqual(command.finish(60).status, 0)
        self.assertEqual({path.name for path in self.dir.glob("t.pft*")}, {"t.pft", "t.pft.d.part-of-the-user"})

    def test_logs_that_cannot_be_read(self):
        (self.dir / "t.pft.d").symlink_to(self.dir / "t.pft.d")
        self.assert_refused(self.photofinish("peek", self.dir / "t.pft", self.dir / "p.pft"), 4, "cannot read .*run.json: the directory is a symbolic link")

    def test_twice_while_it_runs(self):
        self.need("mpirun", STEADY)
        with self.start([BIN / "photofinish", "record", "--mode", "all", "-o", self.dir / "t.pft",
                         *self.mpirun(3, STEADY, 400, 4000)]) as command:
            early = self.photofinish("peek", self.dir / "t.pft", self.dir / "early.pft")
            # No rank has come out of MPI_Init, or not even the logs' directory is there.
            self.assert_refused(early, 2, "nothing is (recorded yet|being recorded)", "Try again|Give the name of the trace")
            command.wait_for(lambda: "messages, state" in command.output(), 30)
            for name in ("a.pft", "b.pft"):
                run = self.photofinish("peek", self.dir / "t.pft", self.dir / name)
                self.assertEqual(run.status, 0, run)
                self.assertRegex(run.out, r"ranks? 0.*: it still ran when this trace was made, after events? \d+")
                time.sleep(0.5)
            second = self.photofinish("record", "-o", self.dir / "t.pft", STEADY, 1, 1)
            self.assert_refused(second, 2, "a recording that goes on has its logs in", "another place")
            again = self.photofinish("peek", self.dir / "t.pft", self.dir / "a.pft")
            self.assert_refused(again, 2, "is there already", "another name")
            self.assertEqual(command.finish(60).status, 0)
        whole = self.calls("t.pft")
        lengths = []
        for name in ("a.pft", "b.pft"):
            self.assertEqual(self.photofinish("check", self.dir / name).status, 0)
            seen = self.calls(name)
            self.assertEqual({rank: whole[rank][:len(calls)] for rank, calls in seen.items()}, seen)
            lengths.append(sum(map(len, seen.values())))
        self.assertTrue(0 < lengths[0] < lengths[1] < sum(map(len, whole.values())), lengths)
        self.assertRegex(self.photofinish("info", self.dir / "b.pft").out, r"ranks? [-0-9, ]*1[-0-9, ]*: it still ran .*; was (inside|after) MPI_")
        held = self.replay("b.pft", "--stop-at-end", "--jitter", "1")
        self.assertEqual(held.status, 0, held)
        self.assertIn("the recording ends here; the ranks are held", held.err)
        late = self.photofinish("peek", self.dir / "t.pft", self.dir / "c.pft")
        self.assert_refused(late, 2, "nothing is being recorded as .*t.pft", "It is finished: open it")


if __name__ == "__main__":
    main()
