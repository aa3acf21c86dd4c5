# SPDX-License-Identifier: GPL-3.0-or-later
"""Inputs of a program: what is recorded comes again, and of what is not a replay tells that it is another one."""
import os
import re
import resource
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, FULL, PhotofinishTest, main

PROGRAM, ENDS = BIN / "e2e" / "inputs", BIN / "e2e" / "ends"
RECORDED = {"INPUT_CHANGED": "1", "INPUT_GONE": "1", "INPUT_SECURE": "1", "INPUT_TOKEN": "1", "INPUT_PLUGIN_PATH": "1",
            "COLUMNS": "80", "INPUT_CHILD": "3", "INPUT_WALKED": "1", "INPUT_OWN": "1"}
FILES = ("file_changed", "file_relative", "file_updated", "file_gone", "file_both", "sub/file_at", "file_pread", "file_mapped",
         "file_mpi", "file_access", "file_stat", "memory_file", "target", "target2", "file_reopened", "file_fdopen", "file_parts",
         "file_twice", "file_size", "file_end", "file_appended_to", "file_copied", "file_statx", "file_faccess", "file_future", "file_dupfd", "file_aio",
         "file_position", "file_statx_fd")
LINKS = {"file_link": "target", "link_read": "target", "link_real": "target", "link_random": "/dev/urandom"}
# What is noted when it is recorded, whether or not it changes.
NOTED = {"child_popen": "child process", "child_pipe": "child process", "socket_unix": "socket to another process",
         "socket_inet": "socket to another host", "memory_named": "memory shared", "memory_file": "memory shared",
         "kernel_timer": "timerfd", "kernel_events": "eventfd", "kernel_watch": "inotify", "kernel_signals": "signalfd",
         "limit_poll": "time limit", "limit_select": "time limit", "limit_epoll": "time limit", "signal_sent": "signal to another",
         "parent": "parent process", "group": "of a group", "processor": "processor", "kernel_file": "/proc", "kernel_uptime": "/proc",
         "threads": "threads share", "lock_file": "lock on a file"}
# Names in the list of inputs that differ, by kind.
TOLD = {"env_secret": r"INPUT_TOKEN \(another", "env_unsafe": r"INPUT_PLUGIN_PATH \(another", "env_terminal": r"COLUMNS \(another",
        "file_link": r"file_link \(changed", "file_gone": r"file_gone \(gone", "file_new": r"file_new \(new",
        "file_both_new": r"file_both_new \(new", "file_made": r"file_made \(new", "file_locked": r"file_locked \(new",
        "file_access": r"file_access \(gone", "dir_listing": r"dir_listing \(its listing", "dir_scan": r"dir_scan \(its listing",
        "dir_glob": r"dir_glob/? \(its listing", "dir_walk": r"dir_walk/deep \(its listing", "file_faccess": r"file_faccess \(gone",
        "file_appended_new": r"file_appended_new \(new", "link_read": r"link_read \(leads elsewhere", "link_real": r"link_real \(leads elsewhere", "name_twice": r"sub2/name_twice \(new"}
TOLD.update({name: rf"{name} \(its listing" for name in ("dir_entries", "dir_scan_at")})
TOLD.update({name: rf"{name} \(new" for name in ("name_made", "name_gone", "name_entered", "name_deleted")})
TOLD.update({name: rf"{name} \(changed" for name in ("file_changed", "file_relative", "file_updated", "file_both", "file_at",
                                                     "file_pread", "file_mapped", "file_mpi", "file_stat", "file_reopened",
                                                     "file_fdopen", "file_parts", "file_twice", "file_size", "file_end",
                                                     "file_appended_to", "file_copied", "file_statx", "file_future", "file_dupfd",
                                                     "file_aio", "file_position", "file_statx_fd")})
# The same again.
SAME = ("env_changed", "env_new", "env_gone", "env_secure", "env_child", "env_walked", "env_own", "file_written", "value_clock",
        "value_random", "value_pid", "value_device", "value_thread", "value_parts", "value_stream", "value_link")


def values(run):
    return dict(line.split() for line in run.out.splitlines() if re.fullmatch(r"\w+ -?\d+", line))


class InputsTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need(PROGRAM)
        self.work = self.dir / "work"

    def files(self):
        shutil.rmtree(self.work, ignore_errors=True)
        for directory in ("sub", "sub2", "dir_listing", "dir_scan", "dir_glob", "dir_walk/deep", "dir_entries", "dir_scan_at"):
            (self.work / directory).mkdir(parents=True, exist_ok=True)
        for name in FILES:
            (self.work / name).write_text("11")
        for name, target in LINKS.items():
            (self.work / name).symlink_to(target)
        for path in [self.work / name for name in FILES]:
            os.utime(path, ns=(10**18, 10**18))  # older than the run
        os.utime(self.work / "file_future", ns=(3 * 10**18, 3 * 10**18))

    def environment(self, changed):
        names = {"env_changed": "INPUT_CHANGED", "env_secure": "INPUT_SECURE", "env_secret": "INPUT_TOKEN",
                 "env_unsafe": "INPUT_PLUGIN_PATH", "env_terminal": "COLUMNS", "env_child": "INPUT_CHILD",
                 "env_walked": "INPUT_WALKED", "env_own": "INPUT_OWN"}
        env = dict(RECORDED)
        env.update({name: "2" for kind, name in names.items() if kind in changed})
        if "env_new" in changed:
            env["INPUT_NEW"] = "2"
        if "env_gone" in changed:
            del env["INPUT_GONE"]
        return env

    def change(self, changed):
        at = {"name_twice": "sub2/name_twice", "file_at": "sub/file_at", "file_link": "target", "dir_walk": "dir_walk/deep"}
        for kind in changed:
            path = self.work / at.get(kind, kind)
            if kind in ("file_gone", "file_access", "file_faccess"):
                path.unlink()
            elif kind.startswith("link_"):
                path.unlink()
                path.symlink_to("target2")
            elif kind in ("name_made", "name_entered"):
                path.mkdir()
            elif kind.startswith("dir_"):
                (path / "more").touch()
            elif kind.startswith(("file_", "memory_file", "name_")) and kind not in ("file_made", "file_locked", "file_written", "file_appended_new"):
                path.write_text("2222")

    def run_replay(self, changed):
        """As PhotofinishTest.replay, in another environment, of which the recorded one is given back."""
        self.change(changed)
        return self.photofinish("replay", self.dir / "t.pft", env=self.environment(changed))

    def record_kinds(self, *kinds, mode="outcomes"):
        self.files()
        recorded = self.record("t.pft", [PROGRAM, self.work, *kinds], "--mode", mode, env=RECORDED)
        return recorded, values(recorded)

    def assert_told(self, kinds, before, replayed):
        """Returns of how many it is so."""
        now, right = values(replayed), 0
        self.assertEqual(now.keys(), before.keys(), replayed)
        last = ["", *(line for line in replayed.err.splitlines() if line.startswith("photofinish: "))][-1]
        for kind in kinds:
            with self.subTest(kind=kind):
                if kind in SAME:
                    self.assertEqual(now[kind], before[kind], replayed)
                elif kind in NOTED:
                    self.assertRegex(replayed.err, rf"note: .*{NOTED[kind]}", replayed)
                else:
                    self.assertRegex(replayed.err, rf"differs? from the recorded run's: .*{TOLD[kind]}", replayed)
                    self.assertRegex(last, r"the replay has ended; inputs differ: ", replayed)
                right += 1
        return right

    def test_every_kind_is_the_same_or_told(self):
        """All at once; with PF_FULL each alone as well, in two modes."""
        recorded, before = self.record_kinds()
        kinds = list(before)
        self.assertEqual(sorted(kinds), sorted([*SAME, *NOTED, *TOLD]), recorded)
        for kind in NOTED:
            self.assertRegex(recorded.err, rf"note: .*{NOTED[kind]}", recorded)
        for some in (kinds[::2], kinds[1::2]):  # a line names so many
            _, before = self.record_kinds(*some)
            self.assert_told(some, before, self.run_replay(some))
        alone = [(kind, mode) for mode in ("outcomes", "all") for kind in kinds] if FULL else []
        right = 0
        for kind, mode in alone:
            with self.subTest(mode=mode):
                _, before = self.record_kinds(kind, mode=mode)
                right += self.assert_told([kind], before, self.run_replay([kind]))
        if alone:
            print(f"{len(alone)} programs with one changed input: {right} the same again or told", file=sys.stderr)
            self.assertEqual(right, len(alone))

    def test_nothing_is_told_where_nothing_has_changed(self):
        kinds = [kind for kind in [*SAME, *TOLD] if kind not in ("file_made", "file_locked", "file_both_new", "file_appended_new")]
        _, before = self.record_kinds(*kinds)
        replayed = self.photofinish("replay", self.dir / "t.pft", env=RECORDED)
        self.assertEqual(values(replayed), before)
        self.assertNotIn("photofinish", replayed.err, replayed)
        self.assertEqual(self.info()["notGuaranteed"], [])


class WorldsTest(PhotofinishTest):
    """Of jobs."""

    def setUp(self):
        super().setUp()
        self.need("mpirun", ENDS)
        (self.dir / "input").write_text("1")
        os.utime(self.dir / "input", ns=(10**18, 10**18))
        self.recorded = self.record("t.pft", self.mpirun(3, ENDS), env={"SEED": "1", "NEW_NAME": "1"})

    def replayed(self, *options, **env):
        return self.photofinish("replay", self.dir / "t.pft", *options, env=env)

    def test_variables_are_given_back(self):
        for env in ({"SEED": "2"}, {}):
            run = self.replayed(**env)
            self.assert_same_run(self.recorded, run)
            self.assertRegex(run.err, r"recorded environment again: .*SEED '1' \(here: ", run)
            self.assertEqual(run.err.count("SEED"), 1, run)
            self.assertNotIn("inputs differ", run.err)
        run = self.replayed("--environment", "now", SEED="2")
        self.assertEqual(run.status, 0, run)
        self.assertIn("value 5", run.out)
        self.assertRegex(run.err, r"environment differs .*NEW_NAME \(not set, recorded: '1'\)")
        self.assertRegex(run.err, r"environment differs .*SEED \('2', recorded: '1'\)")
        self.assertRegex(run.err, r"the replay has ended; inputs differ: .*SEED")

    def test_a_debugging_session_tells_them(self):
        """At its start, once for all its cycles, and in each one's verdict."""
        self.need("gdb", BIN / "photofinish-headless")
        (self.dir / "input").write_text("1 ")
        (self.dir / "s.txt").write_text("run\nrun\ncycles\n")
        run = self.photofinish("debug", "--script", self.dir / "s.txt", self.dir / "t.pft", env={"SEED": "2", "NEW_NAME": "1"}, timeout=120)
        self.assertEqual(run.status, 0, run)
        self.assertEqual(len(re.findall(r"Inputs differ from the recorded run's: /\S+/input \(changed\)", run.out + run.err)), 1, run)
        self.assertEqual(len(re.findall(r"recorded environment again: SEED '1'", run.out + run.err)), 1, run)
        for cycle in (1, 2):
            self.assertRegex(run.out, rf"cycle {cycle}: ended, exit status 0; as recorded; inputs differ: /\S+/input \(changed\)")
        report = self.photofinish("debug", "--offline", "-o", self.dir / "report.txt", self.dir / "t.pft", env={"SEED": "1", "NEW_NAME": "1"}, timeout=120)
        self.assertIn("input (changed)", (self.dir / "report.txt").read_text(), report)

    def test_limits_are_told(self):
        run = self.replayed(SEED="1", NEW_NAME="1")
        self.assertNotIn("RLIMIT", run.err)
        def other():
            os.umask(0o077)
            resource.setrlimit(resource.RLIMIT_NOFILE, (500, 500))
        run = self.photofinish("replay", self.dir / "t.pft", env={"SEED": "1", "NEW_NAME": "1"}, limits=other)
        self.assertEqual(run.status, 0, run)
        self.assertRegex(run.err, r"environment differs .*umask \('0077', recorded: '0\d+'\), RLIMIT_NOFILE \('500 of 500', recorded: ")
        self.assertRegex(run.err, r"the replay has ended; inputs differ: umask")

    def test_a_survey_has_them_too(self):
        races = self.photofinish("races", self.dir / "t.pft", "--json", env={"SEED": "2"})
        self.assertEqual(races.status, 0, races)
        self.assertTrue(races.json()["races"], races)

    def test_an_input_that_is_gone(self):
        """The program ends before its record does."""
        (self.dir / "input").unlink()
        run = self.replayed(SEED="1", NEW_NAME="1")
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.err, r"inputs differ from the recorded run's: /\S+/input \(gone\)", run)
        self.assertRegex(run.err, r"rank \d ended after event \d of \d+, with exit status 7", run)
        self.assertRegex(run.err, r"Inputs differ: /\S+/input \(gone\)", run)
        self.assertEqual(self.photofinish("races", self.dir / "t.pft").status, 3, "and a survey is not believed")
        (self.dir / "input").write_text("1")
        os.utime(self.dir / "input", ns=(10**18, 10**18))
        self.assertEqual(self.photofinish("races", self.dir / "t.pft").status, 0)

    def test_a_rank_that_ends_early(self):
        run = self.replayed(SEED="1", NEW_NAME="1", PF_END="early 2")
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.err, r"rank 2 ended after event \d of \d+, with exit status 1", run)

    def test_a_rank_that_ends_otherwise(self):
        run = self.replayed(SEED="1", NEW_NAME="1", PF_END="status 1")
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.err, r"rank 1 ended with exit status 1, in the recorded run with exit status 0", run)


if __name__ == "__main__":
    main()
