# SPDX-License-Identifier: GPL-3.0-or-later
"""Our own processes killed, or the disk full, in the middle of a recording: the user's job never notices."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

STEADY = BIN / "e2e" / "steady"
RANKS, ROUNDS = 3, 150


class LostHelpersTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", STEADY)

    def launch(self, *options, pause=10000, rounds=ROUNDS):
        """About pause * 2 * rounds microseconds long."""
        return [BIN / "photofinish", "record", "-o", self.dir / "t.pft", *options, *self.mpirun(RANKS, STEADY, rounds, pause)]

    def assert_program_was_not_disturbed(self, run, rounds=ROUNDS):
        self.assertEqual(run.status, 0, run)
        lines = run.by_rank()
        self.assertEqual(sorted(lines), list(range(RANKS)), run)
        self.assertEqual(len(lines[0]), 11, run)
        self.assertTrue(lines[0][-2].startswith(f"{rounds * (RANKS - 1)} messages"), run)
        for rank in range(RANKS):
            self.assertTrue(lines[rank][-1].startswith(f"rank {rank} ends with"), run)

    def assert_trace_is_complete(self, rounds=ROUNDS):
        info = self.photofinish("info", self.dir / "t.pft", "--json")
        self.assertEqual(info.status, 0, info)
        self.assertTrue(info.json()["complete"], info)
        received = rounds * (RANKS - 1)  # by rank 0, which answers each message
        self.assertEqual(info.json()["wildcardReceives"], received, info)
        self.assertEqual([rank["events"] for rank in info.json()["perRank"]],
                         [2 * received + 2] + [2 * rounds + 2] * (RANKS - 1), info)
        self.assertEqual(self.photofinish("check", self.dir / "t.pft").status, 0)

    def test_daemon_killed(self):
        with self.start(self.launch()) as command:
            command.wait_for(lambda: "messages, state" in command.output())
            daemons = command.find("photofinish-daemon")
            self.assertEqual(len(daemons), 1)
            os.kill(daemons[0], signal.SIGKILL)
            run = command.finish(60)
        self.assert_program_was_not_disturbed(run)
        self.assertEqual(run.err.count("control daemon is gone"), 1, run)
        self.assert_trace_is_complete()
        self.assert_same_run(run, self.replay("t.pft"))

    def test_recorder_killed(self):
        """mpirun and the ranks go on; the logs become a trace when it is asked for."""
        with self.start(self.launch(rounds=60), ) as command:
            command.wait_for(lambda: "messages, state" in command.output())
            os.kill(command.pid, signal.SIGKILL)
            command.wait_for(lambda: command.process.poll() is not None)
            end = time.monotonic() + 30
            while (command.find("mpirun") or command.find("steady")) and time.monotonic() < end:
                time.sleep(0.05)
            output = command.output()
            run = command.finish(10)
        self.assertIn("120 messages", output)
        self.assertFalse((self.dir / "t.pft").exists())
        info = self.photofinish("info", self.dir / "t.pft", "--json")
        self.assertEqual(info.status, 0, info)
        self.assertIn("not finished", info.err)
        self.assert_trace_is_complete(rounds=60)
        self.assertFalse((self.dir / "t.pft.d").exists())
        replayed = self.replay("t.pft")
        self.assertEqual(replayed.status, 0, replayed)
        self.assertEqual(replayed.by_rank(), run.by_rank(), replayed)
        # The daemon of the dead recorder ends by itself, and its session directory goes with the next start.

    def test_recorder_killed_while_the_ranks_run(self):
        """The trace is asked for before they have ended: it must not be made of half a log and the rest lost."""
        with self.start(self.launch(rounds=200)) as command:
            command.wait_for(lambda: "messages, state" in command.output())
            os.kill(command.pid, signal.SIGKILL)
            command.wait_for(lambda: command.process.poll() is not None)
            info = self.photofinish("info", self.dir / "t.pft")
            self.assertTrue(command.find("steady"), "the ranks should still run")
            if info.status == 0:
                self.assertIn("cut short", info.out)
            while command.find("mpirun") or command.find("steady"):
                time.sleep(0.05)
        after = self.photofinish("info", self.dir / "t.pft", "--json")
        self.assertEqual(after.status, 0, after)
        self.assertTrue(after.json()["complete"], f"what was recorded after the first look is lost\n{info}\n{after}")

    def test_a_look_at_the_trace_while_it_is_recorded(self):
        """photofinish info in another terminal must not take the logs from the recorder."""
        with self.start(self.launch()) as command:
            command.wait_for(lambda: "messages, state" in command.output())
            info = self.photofinish("info", self.dir / "t.pft")
            run = command.finish(60)
        self.assert_program_was_not_disturbed(run)
        self.assertTrue(info.status != 0 or "cut short" in info.out, info)
        self.assert_trace_is_complete()

    def assert_ended_early(self, run):
        self.assertNotIn(run.status, (0, None), run)
        self.assertTrue((self.dir / "t.pft").exists(), run)
        info = self.photofinish("info", self.dir / "t.pft", "--json").json()
        self.assertFalse(info["complete"])
        self.assertTrue(info["cut"])

    def test_terminated_recorder_ends_the_job_and_makes_the_trace(self):
        with self.start(self.launch(rounds=2000)) as command:
            command.wait_for(lambda: "messages, state" in command.output())
            os.kill(command.pid, signal.SIGTERM)
            run = command.finish(30)
        self.assert_ended_early(run)

    def test_interrupted_at_the_terminal(self):
        """Ctrl-C goes to recorder and launcher alike."""
        with self.start(self.launch(rounds=2000)) as command:
            command.wait_for(lambda: "messages, state" in command.output())
            os.killpg(command.pid, signal.SIGINT)
            run = command.finish(30)
        self.assert_ended_early(run)

    def assert_only_the_log_ends(self, run, rounds):
        """The program is as undisturbed as ever; each rank that cannot log says so once."""
        self.assert_program_was_not_disturbed(run, rounds)
        said = re.findall(r"photofinish: rank \d: recording stopped, the log cannot grow: (.*?)\. The program goes on", run.err)
        self.assertTrue(1 <= len(said) <= RANKS, f"{said}\n{run}")

    def assert_trace_is_good_up_to_there(self, reason):
        info = self.photofinish("info", self.dir / "t.pft", "--json")
        self.assertEqual(info.status, 0, info)
        self.assertFalse(info.json()["complete"])
        self.assertGreater(info.json()["messages"], 10000, info)
        self.assertTrue(any(re.search(reason, cut["reason"]) for cut in info.json()["cut"]), info)
        self.assertEqual(self.photofinish("check", self.dir / "t.pft").status, 0)
        replayed = self.replay("t.pft", timeout=90)
        self.assertEqual(replayed.status, 0, replayed)
        self.assertIn("recording ends here", replayed.err)

    def test_file_size_limit(self):
        """The log's file must not grow beyond one and a half megabytes: no SIGXFSZ for the program, either."""
        rounds = 20000
        with self.start(self.launch("--mode", "all", pause=0, rounds=rounds), env={"STEADY_FILE_LIMIT": str(3 << 19)}) as command:
            run = command.finish(120)
        self.assert_only_the_log_ends(run, rounds)
        self.assert_trace_is_good_up_to_there("could not grow: File too large")

    def test_disk_full(self):
        """A small file system (as root; elsewhere the test above stands for it)."""
        place = self.dir / "small"
        place.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", place], capture_output=True).returncode:
            self.skipTest("cannot mount a small file system")
        self.addCleanup(subprocess.run, ["umount", place], check=False)
        rounds = 20000
        with self.start([BIN / "photofinish", "record", "--mode", "all", "-o", place / "t.pft", *self.mpirun(RANKS, STEADY, rounds, 0)]) as command:
            run = command.finish(120)
        self.assert_only_the_log_ends(run, rounds)
        # No room for the trace, either: the logs are kept, and become one where there is room.
        if not (place / "t.pft").exists():
            self.assertRegex(run.err, r"(?s)photofinish: .*The logs are kept in .*t\.pft\.d", run)
            shutil.copytree(place / "t.pft.d", self.dir / "t.pft.d")
        else:
            shutil.copy(place / "t.pft", self.dir / "t.pft")
        self.assert_trace_is_good_up_to_there("could not grow: No space left on device")


if __name__ == "__main__":
    main()
