# SPDX-License-Identifier: GPL-3.0-or-later
"""The trace of somebody else is read, and nothing of it is run: not by any command, the window or an editor, before the
user has seen what it runs and has taken it over. All system calls that name a file are looked at."""
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import seals
from dap_client import DapCase
from mcp_client import McpCase
from photofinish import BIN, PhotofinishTest, main

PROGRAM = BIN / "e2e" / "steady"
GUI, HEADLESS = BIN / "photofinish-gui", BIN / "photofinish-headless"
OURS = {str(BIN / name) for name in ("photofinish", "photofinish-gui", "photofinish-headless")}
CALL = re.compile(r'^(?:\d+ +)?(\w+)\((.*?)(?:\) += (-?\d+).*| <unfinished \.\.\.>)$')
CHANGES = {"creat", "mkdir", "mkdirat", "mknod", "mknodat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir",
           "link", "linkat", "symlink", "symlinkat", "truncate", "chmod", "fchmodat", "chown", "lchown", "fchownat",
           "utimensat", "setxattr", "lsetxattr"}
SHOWN = (r"not recorded by you", r"program +\S*steady", r"command +mpirun", r"directory +/", r"--trust",
         r"Nothing of it has been run")


def without_owner(text):
    """Of what info says."""
    return re.sub(r'(?m)^(owner  | *"owner": ).*\n', "", text)


class Mailed:
    """What is in a directory of its own came from elsewhere."""

    def setUp(self):
        super().setUp()
        self.need("mpirun", PROGRAM)
        self.assertTrue(shutil.which("strace"), "without strace this test says nothing: install it")
        self.mail, self.home = self.dir / "mail", self.dir / "home"
        for path in (self.mail, self.home, self.dir / "tmp"):
            path.mkdir()
        self.env.update(HOME=str(self.home), XDG_STATE_HOME=str(self.dir / "mine"), TMPDIR=str(self.dir / "tmp"),
                        QT_QPA_PLATFORM="offscreen")
        for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
            self.env.pop(name, None)

    def record_as(self, who, name, *options):
        """The same program, by a user whose state lies elsewhere."""
        self.record(f"mail/{name}", self.mpirun(2, PROGRAM, 20, 0), *options, env={"XDG_STATE_HOME": str(self.dir / who)})
        return self.mail / name

    def calls_in(self, log, run):
        """What was executed and changed: paths, as they were named."""
        executed, changed = [], []
        for line in log.read_text(errors="replace").splitlines():
            call = CALL.match(line)
            if call is None:
                continue
            names = re.findall(r'"((?:[^"\\]|\\.)*)"', call[2])
            # What lies beside a trace is not even looked for.
            for name in names:
                self.assertNotRegex(name, rf"^{self.mail}/.*(-journal|-wal|-shm)$", f"{line}\n{run}")
            if (call[3] or "").startswith("-"):
                continue
            if call[1] in ("execve", "execveat"):
                executed.append(names[0])
            elif call[1] in CHANGES or (call[1] in ("open", "openat") and re.search(r"O_WRONLY|O_RDWR|O_CREAT", call[2])):
                changed += names
        return executed, changed

    def assert_asks(self, run, *fragments):
        self.assertEqual(run.status, 2, run)
        for fragment in (*SHOWN, *fragments):
            self.assertRegex(run.err, fragment, run)


class ForeignTraceTest(Mailed, PhotofinishTest):
    def watched(self, *words, timeout=120):
        """The run, and what it executed and changed: paths, as they were named."""
        log = self.dir / "calls"
        run = self.run_command("strace", "-f", "-qq", "-s", "4096", "-e", "signal=none", "-e", "trace=%file", "-o", log, *words,
                               timeout=timeout)
        return (run, *self.calls_in(log, run))

    def look(self, *words, out=(), command=None):
        """Runs it as a user does, under the tracer."""
        before = {path.name: path.read_bytes() for path in self.mail.iterdir()}
        run, executed, changed = self.watched(command or BIN / "photofinish", *words)
        self.assertLessEqual(set(executed[1:] if executed else []), OURS, f"it executed something\n{run}")
        allowed = (str(self.home), str(self.dir / "tmp"), "/dev/", "/proc/", "/sys/", "/memfd:", *map(str, out))
        for name in changed:
            self.assertTrue(name.startswith(allowed), f"it wrote {name}\n{run}")
        self.assertEqual({path.name: path.read_bytes() for path in self.mail.iterdir()}, before, f"the trace was changed\n{run}")
        return run

    def owner(self, trace, **how):
        """The same in JSON and text."""
        name = self.photofinish("info", "--json", trace, **how).json()["owner"]
        text = {"own": "you", "taken over": "you, who have taken it over", "stranger": "a stranger: not recorded by you.*"}[name]
        self.assertRegex(self.photofinish("info", trace, **how).out, rf"(?m)^owner     {text}$")
        return name

    def script(self):
        (self.dir / "script").write_text("run\nquit\n")
        return self.dir / "script"

    def lay_journal(self, trace):
        """One that names another file, which SQLite would remove."""
        victim = self.dir / "tmp" / "victim"
        victim.write_text("thesis\n")
        name = str(victim).encode() + b"\0"
        magic = bytes.fromhex("d9d505f920a163d7")
        (trace.parent / (trace.name + "-journal")).write_bytes(
            name + len(name).to_bytes(4, "big") + sum(name).to_bytes(4, "big") + magic)
        return victim

    def test_a_trace_with_choices_only_asks_before_it_is_run(self):
        trace, other = self.record_as("theirs", "few.pft"), self.record_as("theirs", "other.pft")
        victim = self.lay_journal(trace)
        front_ends = [["debug", "--offline", "-o", self.dir / "tmp/r.html", trace],
                      ["debug", "--script", self.script(), trace]]
        for words in (["races", trace], ["races", "--json", trace], ["events", trace], ["sql", trace, "SELECT 1"],
                      ["export", trace, "--format", "csv"], ["diff", trace, other], ["info", "--tracing", trace],
                      ["replay", trace], ["replay", trace, "--survey"], ["replay", trace, "--until", "0:3"],
                      ["replay", trace, "--until-failure"],
                      ["replay", trace, "--force", "pinned"], *(front_ends if HEADLESS.exists() else [])):
            with self.subTest(words=words[:2]):
                self.assert_asks(self.look(*words))
        self.assertEqual(victim.read_text(), "thesis\n")
        info = self.look("info", trace)
        self.assertEqual(info.status, 0, info)
        self.assertIn("not known", info.out)
        check = self.look("check", trace)
        self.assertEqual(check.status, 0, check)
        if GUI.exists():
            run = self.look("--screenshot", self.dir / "tmp/picture.png", trace, command=GUI)
            self.assertEqual(run.status, 4, run)
            self.assertIn("not recorded by you", run.err)
        self.assertEqual(victim.read_text(), "thesis\n")

    def test_a_trace_with_events_is_read(self):
        trace = self.record_as("theirs", "all.pft", "--mode", "all")
        theirs = {"XDG_STATE_HOME": str(self.dir / "theirs")}
        for words in (["info", "--json", trace], ["info", "--tracing", trace], ["check", trace], ["races", trace],
                      ["events", "--json", trace], ["sql", trace, "SELECT count(*) FROM event"],
                      ["export", trace, "--format", "csv"], ["diff", trace, trace]):
            with self.subTest(words=words[:2]):
                run = self.look(*words)
                self.assertEqual(run.status, 0, run)
                known = self.photofinish(*words, env=theirs).out
                self.assertEqual(without_owner(run.out), without_owner(known), "it is the same to its owner")
        self.assertEqual((self.owner(trace), self.owner(trace, env=theirs)), ("stranger", "own"))
        saved = self.dir / "saved.pft"
        run = self.look("salvage", trace, saved, out=[saved, self.dir / "photofinish-", f"{self.dir}//photofinish-"])
        self.assertEqual(run.status, 0, run)
        self.assert_asks(self.photofinish("replay", saved))
        run = self.look("peek", trace, self.dir / "peeked.pft")
        self.assertEqual(run.status, 2, run)
        self.assert_asks(self.look("replay", trace))
        if HEADLESS.exists():
            self.assert_asks(self.look("debug", "--offline", "-o", self.dir / "tmp/r.html", trace))
        if GUI.exists():
            run = self.look("--screenshot", self.dir / "tmp/picture.png", trace, command=GUI)
            self.assertEqual(run.status, 0, run)
            session = self.mail / "all.pfs"
            session.write_text(json.dumps({
                "photofinishSession": 1, "trace": "all.pft", "command": ["/bin/sh", "-c", "id"], "directory": "/",
                "breakpoints": [{"at": "steady.c:30", "condition": "system(\"id\")", "commands": ["shell id"]}],
                "watches": ["system(\"id\")"]}))
            run = self.look("--screenshot", self.dir / "tmp/picture.png", session, command=GUI)
            self.assertEqual(run.status, 0, run)
            (self.mail / "gone.pfs").write_text(session.read_text().replace("all.pft", "gone.pft"))
            run = self.look("--screenshot", self.dir / "tmp/picture.png", self.mail / "gone.pfs", command=GUI)
            self.assertEqual(run.status, 4, run)
            self.assertIn("not saved by you", run.err)
            for path in self.home.rglob("*"):  # the window's settings, of which Record takes its command
                self.assertFalse(path.is_file() and b"/bin/sh" in path.read_bytes(), path)
            run = self.run_command(GUI, "--trust", "--screenshot", self.dir / "tmp/picture.png", self.mail / "gone.pfs")
            self.assertEqual(run.status, 4, run)
            self.assertIn("Record (Ctrl+R) runs '/bin/sh -c id' again", run.err)

    def test_taken_over_once(self):
        trace = self.record_as("theirs", "few.pft")
        self.assertEqual(self.owner(trace), "stranger")
        run = self.photofinish("races", "--trust", trace)
        self.assertEqual(run.status, 0, run)
        self.assertRegex(run.err, r"taken over[\s\S]*command +mpirun")
        self.assertEqual(self.owner(trace), "taken over")
        again = self.photofinish("replay", trace)
        self.assertEqual(again.status, 0, again)
        shutil.copy(trace, self.dir / "copy.pft")
        self.assertEqual(self.photofinish("replay", self.dir / "copy.pft").status, 0, "for that text, wherever it lies")
        state = self.dir / "mine" / "photofinish"
        self.assertEqual((state.stat().st_mode & 0o777, (state / "known.db").stat().st_mode & 0o777), (0o700, 0o600))

    def test_what_was_changed_elsewhere_is_not_ones_own(self):
        self.record("t.pft", self.mpirun(2, PROGRAM, 20, 0))
        own = self.dir / "t.pft"
        mark = self.dir / "mark"
        evil = self.dir / "evil.pft"
        changes = {
            "command": (("UPDATE run SET command = ?", (json.dumps(["/bin/sh", "-c", f"touch {mark}"], separators=(",", ":")),)),),
            "directory": ("UPDATE run SET working_directory = '/'",),
            "executable": ("UPDATE rank SET executable = '/bin/sh' WHERE rank = 1",),
            "module": ("INSERT INTO module VALUES ('/tmp/evil.so', '00')",),
            "variable": ("INSERT INTO launch_fact VALUES (NULL, 0, 'all', 'variable', 'LD_PRELOAD', '/tmp/evil.so')",
                         "INSERT INTO launch_fact VALUES (NULL, 0, 'all', 'variable', 'OMP_STACKSIZE', '3M')"),
            "input": (("UPDATE run SET input = ?", (b"touch mark\n",)),),
        }
        for what, statements in changes.items():
            with self.subTest(what=what):
                shutil.copy(own, evil)
                seals.change(evil, *statements)
                self.assertEqual(self.photofinish("check", evil).status, 0, "its seals fit")
                self.assertEqual(self.owner(evil), "stranger")
                run = self.photofinish("races", evil)
                self.assertEqual(run.status, 2, run)
                self.assertRegex(run.err, {"command": f"touch {mark}", "input": r"touch mark\\n",
                                           "variable": r"sets +OMP_STACKSIZE=3M\n(.*\n)*.*never sets +LD_PRELOAD=/tmp/evil.so"
                                           }.get(what, "--trust"), run)
                self.assertFalse(mark.exists())
        self.assertEqual(self.photofinish("replay", own).status, 0, "as it was it is one's own")

    def test_what_loads_code_is_never_set(self):
        self.record("t.pft", self.mpirun(2, PROGRAM, 20, 0))
        evil = self.dir / "evil.pft"
        shutil.copy(self.dir / "t.pft", evil)
        seals.change(evil, f"INSERT INTO launch_fact VALUES (NULL, 0, 'all', 'variable', 'LD_PRELOAD', '{self.dir}/evil.so')")
        run = self.photofinish("races", "--trust", evil)
        self.assertEqual(run.status, 0, run)
        self.assertNotIn("cannot be preloaded", run.out + run.err)
        self.assertRegex(run.err, "never sets +LD_PRELOAD")

    def test_own_in_each_way_that_makes_a_trace(self):
        self.record("t.pft", self.mpirun(2, PROGRAM, 20, 0))
        os.rename(self.dir / "t.pft", self.dir / "renamed.pft")
        self.assertEqual(self.photofinish("salvage", self.dir / "renamed.pft", self.dir / "saved.pft").status, 0)
        self.assertEqual(self.owner(self.dir / "saved.pft"), "own")
        self.assertEqual(self.photofinish("replay", self.dir / "saved.pft").status, 0)

    def test_where_nothing_can_be_kept(self):
        nowhere = {"XDG_STATE_HOME": "/proc/nowhere"}
        run = self.record("t.pft", self.mpirun(2, PROGRAM, 20, 0), env=nowhere)
        self.assertEqual(len(re.findall("that this recording is yours cannot be kept", run.err)), 1, run)
        self.assert_asks(self.photofinish("replay", self.dir / "t.pft", env=nowhere))
        run = self.photofinish("replay", "--trust", self.dir / "t.pft", env=nowhere)
        self.assertEqual(run.status, 0, run)
        self.assertIn("for this command only", run.err)


class EditorTest(Mailed, DapCase):
    def test_an_editor_is_told(self):
        trace = self.record_as("theirs", "few.pft")
        server, client = self.serve()
        client.ask("initialize", adapterID="photofinish")
        answer = client.refuse("launch", trace=str(trace))
        self.assertRegex(json.dumps(answer), "not recorded by you")
        seq = client.send("launch", trace=str(trace), trust=True)
        self.assertTrue(client.answer(seq, 60)["success"])
        self.end(server)


class AssistantTest(Mailed, McpCase):
    def test_an_assistant_reads_and_runs_nothing(self):
        few, whole = self.record_as("theirs", "few.pft"), self.record_as("theirs", "all.pft", "--mode", "all")
        before = {path.name: path.read_bytes() for path in self.mail.iterdir()}
        log = self.dir / "calls"
        server, client = self.serve(before=["strace", "-f", "-qq", "-s", "4096", "-e", "signal=none", "-e", "trace=%file", "-o", log])
        client.initialize()
        self.assertRegex(client.refuse("open", trace=str(few)), "not recorded by you")
        client.call("open", trace=str(whole))
        for tool, arguments in (("info", {}), ("races", {}), ("events", {"rank": 0}), ("waits", {}), ("compare", {"other": str(whole)}),
                                ("contents", {"rank": 0, "event": 2})):
            client.call(tool, **arguments)
        for tool, arguments in (("replay_to", {"to": "breakpoint"}), ("focus", {"ranks": "0"}), ("breakpoints", {"action": "list"})):
            self.assertRegex(client.refuse(tool, **arguments), "not recorded by you")
        self.end(server)
        executed, changed = self.calls_in(log, self.said())
        self.assertLessEqual(set(executed[1:]), OURS)
        allowed = (str(self.home), str(self.dir / "tmp"), "/dev/", "/proc/", "/sys/", "/memfd:")
        self.assertEqual([name for name in changed if not name.startswith(allowed)], [])
        self.assertEqual({path.name: path.read_bytes() for path in self.mail.iterdir()}, before)


if __name__ == "__main__":
    main()
