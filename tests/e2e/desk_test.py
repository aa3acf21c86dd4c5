# SPDX-License-Identifier: GPL-3.0-or-later
"""What surrounds debugging on the command line: core files, jobs that run, transcripts, sessions; manual page, completion, installation."""
import os
import pathlib
import re
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, SOURCE, PhotofinishTest, main

DESK = BIN / "e2e" / "desk"
COMMANDS = ["record", "ci", "replay", "info", "races", "events", "groups", "check", "salvage", "redact", "peek", "diff", "export", "plugins", "command", "debug", "dap", "attach", "core", "tutorial"]


class DeskTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):  # no window is opened here
            self.env.pop(name, None)

    def test_core_file_of_a_recorded_crash(self):
        self.need("mpirun")
        with self.core_files() as limits:
            run = self.record("t.pft", self.mpirun(2, DESK, "crash"), status=None, limits=limits)
        self.assertNotEqual(run.status, 0)
        self.assertRegex(run.err, r"core file of rank 1: .*core.* \('photofinish core ", run)
        state = next(rank["state"] for rank in self.info()["perRank"] if rank["rank"] == 1)
        core = pathlib.Path(re.search(r"core file: (\S+)", state).group(1))
        self.assertTrue(core.exists(), state)
        # Cut short, empty, and something else: a sentence each.
        whole = core.read_bytes()
        for size in (10, 64, 200, len(whole) // 2):
            (self.dir / "cut").write_bytes(whole[:size])
            cut = self.photofinish("core", self.dir / "cut")
            self.assertIn(cut.status, (1, 2), cut)
        self.assert_refused(self.photofinish("core", core), 1, "no display to open .*core")
        (self.dir / "empty").write_bytes(b"")
        self.assert_refused(self.photofinish("core", self.dir / "empty"), 2, "is not a core file: it is empty")

    def test_bad_core_files(self):
        self.assert_refused(self.photofinish("core", DESK), 2, "is not a core file: it is a program")
        self.assert_refused(self.photofinish("core", self.dir / "nowhere"), 2, "cannot read")
        (self.dir / "text").write_text("core\n")
        self.assert_refused(self.photofinish("core", self.dir / "text"), 2, "it is no ELF file")
        self.assertEqual(self.photofinish("core").status, 2)

    def test_jobs_that_run(self):
        self.need("mpirun")
        with self.start(self.mpirun(2, DESK, "run", self.dir / "stop")) as job:
            listed = job.wait_for(lambda: re.findall(rf"^{job.pid}  2 ranks", self.photofinish("attach").out, re.M))
            self.assertTrue(listed)
            text = self.photofinish("attach").out
            ours = re.search(rf"^{job.pid}  2 ranks.*\n.*\n.*", text, re.M).group(0)  # there may be others' jobs
            self.assertEqual(re.findall(r"rank (\d): process \d+, \S*desk", ours), ["0", "1"], text)
            # One that has a debugger already is named; the others can be attached to.
            taken = re.search(rf"^{job.pid}  2 ranks.*\n.*\n +rank 1: process (\d+)", text, re.M).group(1)
            with self.start(["gdb", "-nx", "-batch", "-p", taken, "-ex", "shell sleep 4", "-ex", "detach"]) as other:
                job.wait_for(lambda: f"TracerPid:\t{other.pid}" in pathlib.Path(f"/proc/{taken}/status").read_text())
                told = self.photofinish("attach", job.pid)
                self.assertIn(f"rank 1 (process {taken}) cannot be debugged: process {other.pid} debugs it already", told.err)
                self.assertIn("there is no display to open", told.err)  # it went on
                self.assertEqual(other.finish(20).status, 0)
            (self.dir / "stop").write_text("")
            self.assertEqual(job.finish().status, 0)
        self.assert_refused(self.photofinish("attach", "99999999"), 2, "there is no process")
        self.assert_refused(self.photofinish("attach", os.getpid()), 2, "neither a launcher with ranks")

    def test_attach_without_permission(self):
        """Another user's processes."""
        if os.geteuid() != 0:
            self.skipTest("needs two users")
        with self.start(["sleep", "30"]) as other:
            nobody = lambda: os.setresuid(65534, 65534, 65534)  # noqa: E731
            run = subprocess.run([BIN / "photofinish", "attach", str(other.pid)], capture_output=True, text=True, env=self.env,
                                 preexec_fn=nobody)
            os.kill(other.pid, signal.SIGTERM)
        self.assertEqual(run.returncode, 1, run)
        self.assertIn("is another user's", run.stderr)

    def test_transcripts_of_an_offline_report(self):
        self.need("mpirun", "gdb", BIN / "photofinish-headless")
        (self.dir / "said").mkdir()
        run = self.photofinish("debug", "--offline", "-o", "r.txt", "--transcripts", self.dir / "said", *self.mpirun(2, DESK),
                               timeout=120)
        self.assertEqual(run.status, 0, run)
        files = sorted(path.name for path in (self.dir / "said").iterdir())
        self.assertEqual([re.sub(r".*-cycle", "cycle", name) for name in files],
                         ["cycle-1-rank-0.transcript", "cycle-1-rank-1.transcript"])
        text = (self.dir / "said" / files[0]).read_text()
        self.assertTrue(text.startswith("# photofinish GDB/MI transcript 1: rank 0\n! "))
        self.assertRegex(text, r"\n> \d+ \d+-target-attach \d+\n")
        self.assertRegex(text, r"\n\* \d+ state stopped\n")
        nowhere = self.photofinish("debug", "--offline", "-o", "r.txt", "--transcripts", "/no/where", DESK)
        self.assertEqual(nowhere.status, 2, nowhere)

    def test_a_session_that_is_not_there(self):
        self.assert_refused(self.photofinish("nowhere.pfs"), 2, "there is no session nowhere.pfs")

    def test_manual_page_and_completion_know_every_option(self):
        page = (SOURCE / "share" / "photofinish.1").read_text().replace("\\-", "-")
        for command in COMMANDS:
            help_text = self.photofinish(command, "--help").out
            self.assertRegex(page, rf"\.B[IR]? \"?{command}\b", f"{command} is not in the manual page")
            section = help_text[help_text.index("Options:"):]
            for option in re.findall(r"^ +(?:-\w,)?(--[a-z][a-z-]+)", section, re.M):
                if option != "--help":
                    self.assertIn(option, page, f"{command} {option} is not in the manual page")

    def complete(self, *words):
        script = (f"source {SOURCE}/share/photofinish.bash; COMP_WORDS=({' '.join(words[:-1])} '{words[-1]}'); "
                  f"COMP_CWORD={len(words) - 1}; _photofinish; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        run = self.run_command("bash", "-c", script)
        self.assertEqual(run.err, "", run)
        return run.out.split()

    def test_completion(self):
        program = str(BIN / "photofinish")
        (self.dir / "a.pft").write_text("")
        (self.dir / "b.pfs").write_text("")
        (self.dir / "c.txt").write_text("")
        self.assertEqual(sorted(self.complete(program, "re")), ["record", "redact", "replay"])
        first = self.complete(program, "")
        self.assertTrue({"a.pft", "b.pfs", "attach", "core", "mpirun"} <= set(first), first)
        self.assertNotIn("c.txt", first)
        self.assertEqual(self.complete(program, "record", "--mo"), ["--mode"])
        self.assertEqual(sorted(self.complete(program, "record", "--mode", "")), ["all", "outcomes", "races"])
        self.assertIn("a.pft", self.complete(program, "races", "a"))
        self.assertEqual(self.complete(program, "tutorial", ""), [str(number) for number in range(1, 9)])

    def test_installed(self):
        """Everything is where desktops and shells look for it, and runs from there."""
        self.need("cmake", "mpirun")
        root = self.dir / "root"
        for part in ("engine", "window"):
            run = self.run_command("cmake", "--install", BIN.parent, "--prefix", root, "--component", part, timeout=120)
            self.assertEqual(run.status, 0, run)
        share = root / "share"
        for name in ("man/man1/photofinish.1", "bash-completion/completions/photofinish", "applications/photofinish.desktop",
                     "mime/packages/photofinish.xml", "icons/hicolor/scalable/apps/photofinish.svg",
                     "nvim/site/lua/photofinish.lua", "emacs/site-lisp/photofinish.el"):
            self.assertTrue((share / name).is_file(), name)
        self.assertEqual(len(list((share / "photofinish").glob("photofinish-*.vsix"))), 1)
        program = root / "bin" / "photofinish"
        self.assertTrue((program.resolve().parent / "corpus" / "harvest").is_file(), "the example of the start page")
        recorded = self.run_command(program, "record", "-o", "i.pft", *self.mpirun(2, DESK))
        self.assertEqual(recorded.status, 0, recorded)
        self.assertTrue((self.dir / "i.pft").exists(), recorded)
        desktop = (share / "applications/photofinish.desktop").read_text()
        types = re.search(r"^MimeType=(.*)$", desktop, re.M).group(1).strip(";").split(";")
        mime = (share / "mime/packages/photofinish.xml").read_text()
        for each, pattern in zip(types, ("*.pft", "*.pfs")):
            self.assertRegex(mime, rf'type="{each}">[\s\S]*?pattern="{re.escape(pattern)}"')


if __name__ == "__main__":
    main()
