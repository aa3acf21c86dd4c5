# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces that mean harm: every command that reads gives an answer or a clear error, in one gigabyte, without a crash,
and leaves everything beside the trace as it was. PF_HOSTILE=N makes N traces (10,000 for a release), PF_SEED the first.
The same of logs that were sent with, or in place of, a trace."""
import os
import pathlib
import random
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from hostile_trace import Forger, seal_seals, seal_table
from photofinish import BIN, CRASHED, FULL, PhotofinishTest, main

PROGRAM = BIN / "e2e" / "steady"
TRACES = int(os.environ.get("PF_HOSTILE", "10000" if FULL else "100"))
FLIPS = 3000 if FULL else 30
FIRST = int(os.environ.get("PF_SEED", "1"))
GIGABYTE = 1 << 30
NOBODY = 65534


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTE, GIGABYTE))


class HostileTracesTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", "zstd", PROGRAM)
        self.record("good.pft", self.mpirun(3, PROGRAM, 60, 0), "--mode", "all")
        self.good = self.dir / "good.pft"
        connection = sqlite3.connect(self.good, isolation_level=None)
        connection.execute("""UPDATE run SET command = '["/bin/false"]', program = '/bin/false'""")
        seal_table(connection, "run")
        seal_seals(connection)
        connection.close()
        self.assertEqual(self.photofinish("check", self.good).status, 0, "the seals that we make fit")
        self.place = self.dir / "place"
        self.place.mkdir()

    def read(self, *words):
        return subprocess.run([BIN / "photofinish", *map(str, words)], cwd=self.place, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120, preexec_fn=limits, check=False)

    def commands(self, trace, choose):
        out = self.dir / "out"
        some = [["info", "--json", trace], ["info", trace], ["races", "--json", trace], ["races", trace], ["events", trace],
                ["sql", trace, "SELECT * FROM event"], ["sql", "--json", trace, "SELECT * FROM race_alternative"],
                ["sql", trace, "SELECT * FROM message"], ["sql", trace, "SELECT * FROM receive"],
                ["diff", self.good, trace], ["diff", trace, trace],
                *(["export", "--format", kind, "-o", out, trace] for kind in ("csv", "chrome", "shiviz"))]
        return [["check", trace], *choose.sample(some, 2)]

    def beside(self):
        return {entry.name: (entry.lstat().st_mode, entry.is_symlink() or entry.read_bytes()) for entry in self.place.iterdir()
                if entry.suffix != ".pft"}

    def test_answers_or_errors(self):
        statuses = {}
        for seed in range(FIRST, FIRST + TRACES):
            for entry in self.place.iterdir():
                entry.unlink()
            (self.place / "victim").write_text("thesis")
            forger = Forger(self.good, seed)
            trace = forger.make(str(self.place))
            before = self.beside()
            for command in self.commands("./" + os.path.basename(trace), random.Random(seed)):
                with self.subTest(seed=seed, made=forger.said, command=command):
                    run = self.read(*command)
                    err = run.stderr.decode(errors="replace")
                    statuses[run.returncode] = statuses.get(run.returncode, 0) + 1
                    self.assertIn(run.returncode, (0, 1, 2, 3, 4), err[-2000:])
                    self.assertIsNone(CRASHED.search(err), err[-2000:])
                    if run.returncode != 0 and command[0] != "check":
                        self.assertTrue("photofinish" in err or run.stdout, err)
                    self.assertEqual(self.beside(), before, "what is beside the trace stays as it was")
        print("exit statuses:", dict(sorted(statuses.items())))

    def test_a_flipped_bit_is_seen_or_harmless(self):
        """What check does not find changes nothing that any command prints."""
        choose = random.Random(FIRST)
        trace = self.place / "bad.pft"
        printing = [["info", "--json", trace], ["races", trace], ["events", trace], ["sql", trace, "SELECT * FROM message"],
                    ["sql", trace, "SELECT * FROM communicator"]]
        whole = bytearray(self.good.read_bytes())
        trace.write_bytes(whole)
        right = [self.read(*command).stdout for command in printing]
        for _ in range(FLIPS):
            at, bit = choose.randrange(len(whole)), choose.randrange(8)
            with self.subTest(byte=at, bit=bit):
                whole[at] ^= 1 << bit
                trace.write_bytes(whole)
                whole[at] ^= 1 << bit
                status = self.read("check", trace).returncode
                self.assertIn(status, (0, 4))
                if status == 0:
                    for command, expected in zip(printing, right):
                        run = self.read(*command)
                        self.assertEqual((run.returncode, run.stdout), (0, expected), command)


class HostileLogsTest(PhotofinishTest):
    """Logs of a killed recorder, as somebody sends them: place/t.pft.d."""

    def setUp(self):
        super().setUp()
        self.need("mpirun", PROGRAM)
        self.sent = self.dir / "sent.pft.d"
        words = [BIN / "photofinish", "record", "--mode", "all", "-o", self.dir / "sent.pft", *self.mpirun(2, PROGRAM, 20, 10000)]
        with self.start(words) as command:
            command.wait_for(lambda: "messages, state" in command.output(), 60)
            os.kill(command.pid, signal.SIGKILL)
            until = time.monotonic() + 60
            while (command.find("mpirun") or command.find("steady")) and time.monotonic() < until:
                time.sleep(0.05)
        (self.sent / "input").write_text("given to the program\n")
        self.place = self.dir / "place"
        self.place.mkdir()
        self.trace, self.logs = self.place / "t.pft", self.place / "t.pft.d"

    def lay(self):
        """As they were sent."""
        shutil.rmtree(self.place)
        self.place.mkdir()
        shutil.copytree(self.sent, self.logs)

    def limited(self, *words):
        return self.photofinish(*words, limits=limits, timeout=60)

    def assert_not_taken_up(self, *fragments):
        before = sorted(os.listdir(self.place) + os.listdir(self.logs))
        for words in (["info", self.trace], ["check", self.trace], ["races", "--json", self.trace], ["peek", self.trace, self.place / "p.pft"]):
            self.assert_refused(self.limited(*words), 4, *fragments)
        self.assertEqual(sorted(os.listdir(self.place) + os.listdir(self.logs)), before, "nothing is made or removed")

    def assert_recording_goes_on(self):
        """What cannot be taken up is kept aside."""
        run = self.photofinish("record", "-o", self.trace, PROGRAM, 1, 1)
        self.assertEqual(run.status, 0, run)
        self.assertIn("t.pft.d.old-1", run.err)
        self.assertTrue(os.path.lexists(self.place / "t.pft.d.old-1"))

    def assert_two_ranks(self, events):
        info = self.limited("info", "--json", self.trace)
        self.assertEqual((info.status, info.err), (0, ""), info)
        self.assertEqual(info.json()["ranks"], 2)
        self.assertEqual(self.limited("events", self.trace).out, events)

    def events(self):
        self.lay()
        self.assertEqual(self.limited("check", self.trace).status, 0)
        return self.limited("events", self.trace).out

    def test_links_are_not_followed(self):
        for name in ("run.json", "input", "rank-1.log", "rank-1.world"):
            with self.subTest(name=name):
                self.lay()
                private = self.dir / "private"
                (self.logs / name).rename(private)
                (self.logs / name).symlink_to(private)
                self.assert_not_taken_up(f"cannot read .*t.pft.d/{name}: it is a symbolic link", "move them away")
                self.assert_recording_goes_on()
        self.lay()
        self.logs.rename(self.place / "elsewhere")
        self.logs.symlink_to("elsewhere")
        self.assert_not_taken_up("t.pft.d(/run.json)?: the directory is a symbolic link")

    def test_nothing_waits(self):
        def fifo(path):
            os.mkfifo(path)

        def door(path):
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(str(path))

        for make in (fifo, door, pathlib.Path.mkdir):
            for name in ("run.json", "input", "rank-1.log", "rank-1.world"):
                with self.subTest(name=name, make=make):
                    self.lay()
                    (self.logs / name).unlink()
                    make(self.logs / name)
                    self.assert_not_taken_up(f"cannot read .*t.pft.d/{name}: it is no regular file")
        self.assert_recording_goes_on()

    def test_numbers_that_no_rank_has(self):
        events = self.events()
        for name in ("rank-50000000.log", "rank-2147483647.log", "rank-99999999999.log", "rank-01.log", "rank-x.log", "rank-.log"):
            with self.subTest(name=name):
                self.lay()
                (self.logs / name).write_text("no log")
                run = self.limited("info", self.trace)
                self.assertEqual(run.status, 0, run)
                self.assertRegex(run.err, f"t.pft.d is not removed: it holds what is not of the recording, {name}\n")
                self.assertEqual(os.listdir(self.logs), [name])
                self.assert_two_ranks(events)
        for number in (5000, (1 << 20) - 1):
            with self.subTest(number=number):
                self.lay()
                (self.logs / f"rank-{number}.log").write_text("no log")
                self.assert_not_taken_up(f"t.pft.d/rank-{number}.log would be of a run of {number + 1} ranks, and only 3 have left a log")

    def test_a_log_with_a_hole_of_a_terabyte(self):
        events = self.events()
        self.lay()
        for name in ("rank-0.log", "rank-1.log"):
            os.truncate(self.logs / name, 1 << 40)
        with open(self.logs / "rank-1.log", "r+b") as log:
            log.seek((1 << 40) - 1)
            log.write(b"1")
        self.assertEqual(self.limited("check", self.trace).status, 0)
        self.assert_two_ranks(events)

    def test_a_log_whose_beginning_is_damaged(self):
        """The others make a trace; it is kept, and never over what was kept before."""
        for number, kept in enumerate(("t.pft.rank-1.log", "t.pft.rank-1.log.1")):
            place = os.listdir(self.place) if number else []
            self.assertEqual("t.pft.rank-1.log" in place, number > 0, place)
            self.trace.unlink(missing_ok=True)
            shutil.copytree(self.sent, self.logs)
            with open(self.logs / "rank-1.log", "r+b") as log:
                log.write(b"damaged" * 20)
            damaged = (self.logs / "rank-1.log").read_bytes()
            run = self.limited("info", self.trace)
            self.assertEqual(run.status, 0, run)
            self.assertRegex(run.err, f"the log of rank 1 cannot be read, and is kept as .*/{kept}\n")
            self.assertEqual((self.place / kept).read_bytes(), damaged)
            self.assertFalse(self.logs.exists())
            self.assertEqual(self.limited("check", self.trace).status, 0)
            self.assertIn("rank 0", self.limited("events", self.trace).out)

    def test_texts_without_end(self):
        for name in ("run.json", "input", "rank-1.world"):
            with self.subTest(name=name):
                self.lay()
                os.truncate(self.logs / name, 1 << 40)
                self.assert_not_taken_up(f"t.pft.d/{name}: it is longer than")

    def test_what_no_recorder_made_stays(self):
        events = self.events()
        self.lay()
        (self.logs / "thesis.tex").write_text("years")
        (self.logs / "sub").mkdir()
        (self.logs / "sub" / "rank-0.log").write_text("notes")
        run = self.limited("info", self.trace)
        self.assertEqual(run.status, 0, run)
        self.assertEqual(len([line for line in run.err.splitlines() if "is not removed" in line]), 1, run)
        self.assertRegex(run.err, "t.pft.d is not removed: it holds what is not of the recording, (thesis.tex|sub)\n")
        self.assertEqual(sorted(os.listdir(self.logs)), ["sub", "thesis.tex"])
        self.assertEqual(sorted(os.listdir(self.place)), ["t.pft", "t.pft.d"])
        self.assert_two_ranks(events)
        self.trace.unlink()
        self.assert_refused(self.limited("info", self.trace), 2, "t.pft")  # there are no logs any more
        left = self.place / "t.pft.d.part-thesis"  # as a recorder that was killed leaves one
        left.mkdir()
        (left / "thesis.tex").write_text("years")
        self.assert_recording_goes_on()
        self.assertEqual((self.place / "t.pft.d.old-1" / "thesis.tex").read_text(), "years")
        self.assertEqual((self.place / "t.pft.d.old-1" / "sub" / "rank-0.log").read_text(), "notes")
        self.assertEqual((left / "thesis.tex").read_text(), "years")

    def test_logs_of_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs another user")
        self.lay()
        os.chown(self.logs, NOBODY, NOBODY)
        for words in (["info", self.trace], ["check", self.trace]):
            self.assert_refused(self.limited(*words), 4, "t.pft.d: it belongs to another user .number 65534", "chown")
        self.assertEqual(os.listdir(self.place), ["t.pft.d"])
        os.chown(self.sent, NOBODY, NOBODY)  # as root's files on another host are: but this user began them here
        run = self.limited("info", self.dir / "sent.pft")
        self.assertEqual(run.status, 0, run)
        self.assertFalse(self.sent.exists())


if __name__ == "__main__":
    main()
