# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written is private and on disk; what is said harms no terminal; nobody is asked over the network; no odd place ends a program by an exception."""
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

STEADY = BIN / "e2e" / "steady"
STUCK = BIN / "e2e" / "stuck"
FAULT = BIN / "e2e" / "fault_at.so"
NOBODY = 65534


class KeptPrivateTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", STEADY)

    def test_working_directory_that_is_gone(self):
        self.record("t.pft", [STEADY, 1, 1])
        away = self.dir / "away"
        for words, status in ((["record", STEADY, "1", "1"], 1), (["info", "x.pft"], 2), (["check", "x.pft"], 2), (["races", "x.pft"], 2),
                              (["salvage", "x.pft", "y.pft"], 2), (["debug", "--offline", "-o", "r.html", "x.pft"], 2),
                              (["info", self.dir / "t.pft"], 0), (["replay", self.dir / "t.pft"], 0)):
            with self.subTest(words=words):
                away.mkdir()
                with self.start([BIN / "photofinish", *words], cwd=away, limits=lambda: os.rmdir(away)) as command:
                    run = command.finish(60)
                self.assertEqual(run.status, status, run)
                self.assertNotRegex(run.err, "terminate called|what\\(\\)", run)
                if status != 0:
                    self.assertRegex(run.err, "^photofinish: .*\n  ", run)

    def as_nobody(self):
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)

    def test_trace_in_a_directory_that_may_not_be_written(self):
        if os.geteuid() != 0:
            self.skipTest("needs another user")
        place, tmp = self.dir / "theirs", self.dir / "tmp"
        place.mkdir()
        tmp.mkdir()
        self.dir.chmod(0o755)
        self.record("theirs/t.pft", self.mpirun(2, STEADY, 3, 1))
        for path in (place, place / "t.pft", tmp):
            os.chown(path, NOBODY, NOBODY)
        place.chmod(0o555)
        for binary in (BIN / "photofinish", STEADY):
            if os.system(f"setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups test -x {binary}") != 0:
                self.skipTest("the other user cannot read the build")
        run = self.photofinish("races", "--trust", place / "t.pft", limits=self.as_nobody, env={"TMPDIR": str(tmp), "HOME": str(tmp)})
        self.assertIn(run.status, (0, 1), run)
        if run.status == 1:
            self.assertRegex(run.err, "photofinish: .*\n  ", run)
        self.assertEqual([path.name for path in tmp.iterdir() if "survey" in path.name], [])
        self.assertEqual(os.listdir(place), ["t.pft"])

    def test_modes_whatever_the_umask(self):
        seen = set()

        def watch():
            while not done.is_set():
                for path in self.dir.glob("t.pft.*"):
                    try:
                        seen.add((re.sub("[A-Za-z0-9_]{6}$", "", path.name), stat.S_IMODE(path.lstat().st_mode)))
                        for inside in path.iterdir():
                            seen.add(("inside", stat.S_IMODE(inside.lstat().st_mode)))
                    except (FileNotFoundError, NotADirectoryError):
                        pass
        done = threading.Event()
        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            self.record("t.pft", self.mpirun(2, STEADY, 20, 5000), limits=lambda: os.umask(0))
            run = self.photofinish("races", self.dir / "t.pft", limits=lambda: os.umask(0))
        finally:
            done.set()
            watcher.join()
        self.assertEqual(run.status, 0, run)
        self.assertIn(("t.pft.survey-", 0o700), seen)
        self.assertEqual([entry for entry in seen if entry[1] & 0o077], [])
        self.assertEqual(stat.S_IMODE((self.dir / "t.pft").stat().st_mode), 0o600)
        self.assertEqual(list(self.dir.glob("t.pft.*")), [])

    def test_what_the_window_remembers(self):
        window = BIN / "photofinish-gui"
        if not window.exists():
            self.skipTest("needs the window")
        self.record("t.pft", self.mpirun(2, STEADY, 3, 1), "--mode", "all")
        self.env.update(HOME=str(self.dir), XDG_CONFIG_HOME=str(self.dir / "config"))
        kept = self.dir / "config" / "photofinish" / "photofinish.conf"

        def look(*words):
            return self.run_command(window, "--screenshot", self.dir / "picture.png", *words, self.dir / "t.pft", limits=lambda: os.umask(0))
        for before in (None, 0o644):
            if before:
                kept.chmod(before)
            self.assertEqual(look().status, 0)
            self.assertIn("t.pft", kept.read_text())
            self.assertEqual([stat.S_IMODE(path.stat().st_mode) for path in (kept, kept.parent)], [0o600, 0o700])
        # A picture of where nothing can be is none.
        self.assert_refused(look("--replay-to", "failing"), 2, "No rank failed in this recording")
        self.assert_refused(look("--replay-to", "1:x"), 2, "'failing' or RANK:SERIAL, not '1:x'")

    def test_reports_and_transcripts(self):
        if not (BIN / "photofinish-headless").exists():
            self.skipTest("needs the debugger")
        self.need("gdb")
        self.record("t.pft", self.mpirun(2, STEADY, 3, 1))
        said = self.dir / "said"
        said.mkdir()
        victim = self.dir / "victim"
        planted = said / "t-cycle-1-rank-0.transcript"
        planted.symlink_to(victim)
        for name in ("r.html", "r.txt"):
            (self.dir / name).write_text("older")
            (self.dir / name).chmod(0o644)

        def report(name):
            return self.photofinish("debug", "--offline", "--break", "steady.c:30", "--transcripts", said, "-o", name, self.dir / "t.pft",
                                    limits=lambda: os.umask(0), timeout=120)
        for name in ("r.html", "r.txt", "new.html"):
            run = report(name)
            self.assertEqual(run.status, 0, run)
            self.assertEqual(stat.S_IMODE((self.dir / name).lstat().st_mode), 0o600, name)
            self.assertNotEqual((self.dir / name).read_text(), "older")
        self.assertEqual(sorted(path.name for path in self.dir.glob("r.*")), ["r.html", "r.txt"])
        self.assertFalse(victim.exists(), "a transcript followed a link")
        written = [path for path in said.iterdir() if path != planted]
        self.assertGreaterEqual(len(written), 3, run)
        self.assertEqual({stat.S_IMODE(path.lstat().st_mode) for path in written}, {0o600})
        if os.geteuid() == 0:
            victim.write_text("thesis")
            (self.dir / "laid.txt").symlink_to(victim)
            os.lchown(self.dir / "laid.txt", NOBODY, NOBODY)
            self.assert_refused(report("laid.txt"), 1, "symbolic link", "-o")
            self.assertEqual(victim.read_text(), "thesis")

    def test_survey_that_was_killed_leaves_nothing_for_long(self):
        self.record("t.pft", self.mpirun(2, STEADY, 3, 1))
        left = self.dir / "t.pft.survey-aB3456"
        left.mkdir()
        os.utime(left, (1, 1))
        (self.dir / "t.pft.survey-of-the-user").mkdir()
        self.assertEqual(self.photofinish("races", self.dir / "t.pft").status, 0)
        self.assertEqual([path.name for path in self.dir.glob("t.pft.*")], ["t.pft.survey-of-the-user"])

    def test_nothing_steers_the_terminal(self):
        evil = "\x1b]0;title\x07\x9b31m\u202ex"
        self.record("t.pft", [STEADY, "1", "1", evil])
        self.photofinish("races", self.dir / "t.pft")
        for words in (["info"], ["races"], ["events"], ["sql", "SELECT command, char(27) || 'x' AS \"a\x1bb\" FROM run"]):
            run = self.photofinish(words[0], self.dir / "t.pft", *words[1:])
            self.assertEqual(run.status, 0, run)
            for text in (run.out, run.err):
                self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", f"{words[0]}\n{text!r}")
        for words in (["info"], ["races"], ["events"], ["sql", "SELECT command FROM run"], ["export", "--format", "chrome"]):
            run = self.photofinish(words[0], self.dir / "t.pft", *words[1:], *([] if words[0] == "export" else ["--json"]))
            self.assertEqual(run.status, 0, run)
            self.assertNotRegex(run.out, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", words[0])
        self.assertIn("\\x1b]0;title\\x07", self.photofinish("info", self.dir / "t.pft").out)
        self.assertEqual(self.photofinish("info", self.dir / "t.pft", "--json").json()["command"][-1], evil)
        missing = self.photofinish("info", self.dir / "no\x1b[31m.pft")
        self.assert_refused(missing, 2, r"no\\x1b\[31m")

    def test_no_server_is_asked_for_debug_information(self):
        server = socket.socket()
        server.bind(("127.0.0.1", 0))
        server.listen(8)
        self.addCleanup(server.close)
        asked = []

        def serve():
            while True:
                try:
                    peer, _ = server.accept()
                except OSError:
                    return
                asked.append(peer.recv(4096))
                peer.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                peer.close()
        threading.Thread(target=serve, daemon=True).start()
        env = {"DEBUGINFOD_URLS": f"http://127.0.0.1:{server.getsockname()[1]}", "DEBUGINFOD_CACHE_PATH": str(self.dir / "cache"),
               "HOME": str(self.dir)}
        bare = self.dir / "bare"
        shutil.copy(STEADY, bare)
        if shutil.which("strip"):
            os.system(f"strip {bare}")
        run = self.record("t.pft", self.mpirun(2, bare, 2, 1), "--mode", "all", env=env)
        self.assertEqual(self.photofinish("events", self.dir / "t.pft", env=env).status, 0)
        self.assertEqual(asked, [], run)

    def test_debug_information_apart(self):
        """As objcopy --only-keep-debug and --add-gnu-debuglink leave it, beside the program or below .debug."""
        self.need("objcopy")
        for place in (".", ".debug"):
            with self.subTest(place=place):
                home = self.dir / ("d" + place.strip("."))
                (home / place).mkdir(parents=True)
                bare, apart = home / "bare", home / place / "bare.debug"
                shutil.copy(STEADY, bare)
                self.assertEqual(os.system(f"objcopy --only-keep-debug {bare} {apart} && objcopy -g --add-gnu-debuglink={apart} {bare}"), 0)
                self.record("t.pft", [bare, 1, 1], "--mode", "all")
                self.assertRegex(self.photofinish("events", self.dir / "t.pft").out, r"steady\.c:\d+")

    def test_logs_are_on_disk_within_a_second(self):
        """A rank's log is synced once a second while it grows, by its agent, and not when it does not."""
        syncs = self.dir / "syncs"
        fault = {"LD_PRELOAD": str(FAULT), "FAULT_IN": "photofinish-age", "FAULT_CALL": "fsync", "FAULT_AT": "0", "FAULT_WITH": "5",
                 "FAULT_LOG": str(syncs)}
        with self.start([BIN / "photofinish", "record", "-o", self.dir / "t.pft", STEADY, 1, 1], env=fault) as command:
            self.assertEqual(command.finish(60).status, 0)
        short = len(syncs.read_text().split()) if syncs.exists() else 0
        self.assertLessEqual(short, 3, "a run of no time")
        with self.start([BIN / "photofinish", "record", "-o", self.dir / "u.pft", *self.mpirun(2, STEADY, 80, 50000)], env=fault) as command:
            until = time.monotonic() + 60
            while (len(syncs.read_text().split()) if syncs.exists() else 0) < short + 8:  # 2 names, 2 data of each rank
                self.assertIsNone(command.process.poll(), "it has ended, and its logs were not synced")
                self.assertLess(time.monotonic(), until)
                time.sleep(0.1)
            self.assertEqual(command.finish(60).status, 0)

    def test_deadlock_of_which_the_end_is_not_known(self):
        """The recorder was killed: nobody has seen the program's exit status. A replay that hangs again does not exit 0."""
        with self.start([BIN / "photofinish", "record", "-o", self.dir / "t.pft", *self.mpirun(3, STUCK)], env={"STUCK": "deadlock"}) as command:
            command.wait_for(lambda: "makes no progress" in command.errors(), 60)
            os.kill(command.pid, signal.SIGKILL)
            command.wait_for(lambda: command.process.poll() is not None)
            for pid in command.find("mpirun"):
                os.kill(pid, signal.SIGTERM)
            until = time.monotonic() + 30
            while command.find("stuck") and time.monotonic() < until:
                time.sleep(0.05)
        replayed = self.replay("t.pft", env={"STUCK": "deadlock"})
        self.assertEqual(replayed.status, 1, replayed)
        self.assertIn("deadlock: rank 0 waits in MPI_Ssend", replayed.err)


if __name__ == "__main__":
    main()
