# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish record -o FILE where something has that name: nothing is lost, whatever it is and whenever the recorder is killed."""
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

STEADY = BIN / "e2e" / "steady"
FAULT = BIN / "e2e" / "fault_at.so"


class NothingOverwrittenTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", STEADY)

    def one(self, *options, words=(1, 1), **how):
        """A recording of one rank."""
        return self.photofinish("record", "-o", "t.pft", *options, STEADY, *words, **how)

    def rounds(self, trace):
        """Which recording it is: what it was called with."""
        info = self.photofinish("info", self.dir / trace, "--json")
        self.assertEqual(info.status, 0, info)
        self.assertEqual(self.photofinish("check", self.dir / trace).status, 0)
        return info.json()["command"][-2:]

    def traces(self):
        return sorted(path.name for path in self.dir.iterdir() if ".pft" in path.name)

    def test_what_is_no_trace_is_left_alone(self):
        (self.dir / "text").write_text("results of a year\n")
        (self.dir / "empty").write_text("")
        (self.dir / "other.pft").write_bytes(b"SQLite format 3\0" + bytes(4096))
        (self.dir / "directory").mkdir()
        self.assertEqual(self.one().status, 0)
        (self.dir / "link.pft").symlink_to("t.pft")
        os.mkfifo(self.dir / "fifo")
        before = {path.name: path.read_bytes() for path in self.dir.iterdir() if path.is_file()}
        for name in ("text", "empty", "other.pft", "directory", "link.pft", "fifo", "/dev/null"):
            for options in ([], ["--replace"]):
                with self.subTest(name=name, options=options):
                    run = self.photofinish("record", "-o", name, *options, STEADY, 1, 1)
                    self.assert_refused(run, 2, "is there already and is no trace", "another name")
                    self.assertEqual(run.out, "", "the program is not started")
        self.assertEqual({path.name: path.read_bytes() for path in self.dir.iterdir() if path.is_file()}, before)

    def test_a_trace_is_kept_under_a_number(self):
        for number, said in ((1, None), (2, r"former t\.pft is kept as t\.1\.pft"), (3, r"former t\.pft is kept as t\.2\.pft")):
            run = self.one(words=(number, 1))
            self.assertEqual(run.status, 0, run)
            self.assertEqual("former" in run.err, said is not None, run)
            self.assertRegex(run.err, said or "t.pft", run)
        replaced = self.one("--replace", words=(4, 1))
        self.assertNotIn("former", replaced.err, replaced)
        self.assertEqual(self.traces(), ["t.1.pft", "t.2.pft", "t.pft"])
        self.assertEqual([self.rounds(name)[0] for name in self.traces()], ["1", "2", "4"])

    def kill_the_recorder(self, *options, words=(40, 10000)):
        """The rank goes on to its end."""
        with self.start([BIN / "photofinish", "record", "-o", self.dir / "t.pft", *options, *self.mpirun(2, STEADY, *words)]) as command:
            command.wait_for(lambda: "messages, state" in command.output())
            os.kill(command.pid, signal.SIGKILL)
            command.wait_for(lambda: command.process.poll() is not None)
            said = self.photofinish("info", self.dir / "t.pft")
            if command.find("steady"):
                self.assert_refused(said, 1, "still goes on: rank .* logs are in .*t.pft.d", "a former one")
            until = time.monotonic() + 60
            while (command.find("mpirun") or command.find("steady")) and time.monotonic() < until:
                time.sleep(0.05)

    def test_logs_of_a_killed_recorder_beside_a_former_trace(self):
        self.assertEqual(self.one(words=(1, 1)).status, 0)
        self.kill_the_recorder()
        run = self.photofinish("info", self.dir / "t.pft")
        self.assertEqual(run.status, 0, run)
        self.assertRegex(run.err, r"made \S*t\.pft from the logs(.|\n)*former \S*t\.pft is kept as \S*t\.1\.pft", run)
        self.assertEqual([self.rounds(name)[0] for name in ("t.pft", "t.1.pft")], ["40", "1"])
        self.assertEqual(self.traces(), ["t.1.pft", "t.pft"])

    def test_the_next_recording_after_a_killed_one(self):
        self.assertEqual(self.one(words=(1, 1)).status, 0)
        self.kill_the_recorder()
        run = self.one(words=(2, 1))
        self.assertEqual(run.status, 0, run)
        self.assertIn("from the logs of a recording that was not finished", run.err)
        self.kill_the_recorder(words=(41, 10000))
        run = self.one("--replace", words=(3, 1))
        self.assertEqual(run.status, 0, run)
        self.assertRegex(run.err, r"made t\.3\.pft from the logs", run)
        self.assertEqual({name: self.rounds(name)[0] for name in self.traces()},
                         {"t.1.pft": "1", "t.2.pft": "40", "t.3.pft": "41", "t.pft": "3"})

    def test_a_look_while_a_trace_is_recorded_anew(self):
        self.assertEqual(self.one(words=(1, 1)).status, 0)
        with self.start([BIN / "photofinish", "record", "-o", self.dir / "t.pft", *self.mpirun(2, STEADY, 100, 10000)]) as command:
            command.wait_for(lambda: "messages, state" in command.output())
            run = self.photofinish("info", self.dir / "t.pft")
            self.assertEqual(run.status, 0, run)
            self.assertIn("being recorded anew; this is the former one", run.err)
            self.assertEqual(command.finish(60).status, 0)
        self.assertEqual([self.rounds(name)[0] for name in ("t.pft", "t.1.pft")], ["100", "1"])

    def test_killed_at_each_step(self):
        """kill -9 at each renaming, linking and removal: what was recorded before is there, and the new run if it had ended."""
        self.assertEqual(self.one(words=(1, 1)).status, 0)
        former = (self.dir / "t.pft").read_bytes()
        kills = {}
        for call in ("rename", "link", "unlink"):
            for number in range(1, 60):
                for path in self.dir.glob("t*.pft"):
                    path.unlink()
                (self.dir / "t.pft").write_bytes(former)
                fault = {"LD_PRELOAD": str(FAULT), "FAULT_IN": "photofinish", "FAULT_CALL": call, "FAULT_AT": str(number), "FAULT_WITH": "kill"}
                with self.start([BIN / "photofinish", "record", "-o", "t.pft", STEADY, 2, 1], env=fault) as command:
                    run = command.finish(60)
                    until = time.monotonic() + 30
                    while (command.find("steady") or command.find("photofinish-agent")) and time.monotonic() < until:
                        time.sleep(0.02)
                    run.out = command.output()
                said = f"killed at {call} {number}\n{run}"
                info = self.photofinish("info", "t.pft", "--json")
                self.assertEqual(info.status, 0, f"{said}\n{info}")
                found = {self.photofinish("info", path, "--json").json()["command"][-2] for path in self.dir.glob("t*.pft")}
                kept = [path for path in self.dir.glob("t*.pft") if path.read_bytes() == former]
                self.assertTrue(kept, said)
                self.assertEqual(found, {"1", "2"} if "rank 0 ends with" in run.out else {"1"}, said)
                if run.status == 0:
                    break
                self.assertEqual(run.status, 137, said)
                kills[call] = number
        self.assertEqual(sorted(kills), ["link", "rename", "unlink"], "each was met")
        self.assertEqual(self.photofinish("check", "t.pft").status, 0)


if __name__ == "__main__":
    main()
