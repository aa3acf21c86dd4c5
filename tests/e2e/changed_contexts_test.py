# SPDX-License-Identifier: GPL-3.0-or-later
"""A replay in a world that is not the recorded one: other ranks, another build, files gone. Exit status 2 or 3."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, SOURCE, PhotofinishTest, main

STEERED = SOURCE / "tests" / "e2e" / "programs" / "steered.c"
MPICC = os.environ.get("PF_MPICC", "mpicc")


class ChangedWorldTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", MPICC)
        self.work = self.dir / "work"
        self.work.mkdir()
        self.program = self.work / "app"
        self.build()

    def build(self, *definitions):
        subprocess.run([MPICC, "-g", "-O0", "-Wl,--build-id", *definitions, "-o", self.program, STEERED], check=True)

    def record_here(self):
        return self.record("t.pft", self.mpirun(3, "./app"), cwd=self.work)

    def test_replay_from_another_directory(self):
        recorded = self.record_here()
        self.assert_same_run(recorded, self.replay("t.pft", cwd="/"))

    def test_rank_count_among_the_launcher_options(self):
        """Open MPI takes the last -n, the recorded one; a launcher that takes the first is refused."""
        recorded = self.record_here()
        run = self.photofinish("replay", self.dir / "t.pft", "-n", "4", timeout=30)
        if run.status == 0:
            self.assert_same_run(recorded, run)
        else:
            self.assertEqual(run.status, 3, run)
            self.assertRegex(run.err, r"photofinish: .*recording has 3 ranks, this run has 4", run)

    def test_another_rank_count(self):
        """The command of a trace cannot be changed from outside; a launcher's setting can."""
        wrapper = self.dir / "bin" / "mpirun"
        wrapper.parent.mkdir()
        real = shutil.which("mpirun")
        wrapper.write_text(f'#!/bin/sh\nfor word; do shift; [ "$word" = 3 ] && word="${{PF_TEST_RANKS:-3}}"; set -- "$@" "$word"; done\n'
                           f'exec {real} "$@"\n')
        wrapper.chmod(0o755)
        path = {"PATH": f"{wrapper.parent}:{self.env['PATH']}"}
        self.record("t.pft", self.mpirun(3, "./app"), cwd=self.work, env=path)
        for ranks in ("2", "4"):
            with self.subTest(ranks=ranks):
                run = self.photofinish("replay", self.dir / "t.pft", env=dict(path, PF_TEST_RANKS=ranks), timeout=30)
                self.assertEqual(run.status, 3, run)
                self.assertRegex(run.err, f"photofinish: .*recording has 3 ranks, this run has {ranks}", run)

    def test_a_changed_binary(self):
        recorded = self.record_here()
        self.record("events.pft", self.mpirun(3, "./app"), "--mode", "all", cwd=self.work)
        self.build("-DEDITION=2")
        run = self.photofinish("replay", self.dir / "t.pft", timeout=30)
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.err, r"build-id [0-9a-f]{6,}, recorded [0-9a-f]{6,}", run)
        self.assertIn("--force", run.err, run)
        self.assertNotIn("edition", run.out, "the changed program must not run beyond MPI_Init")
        forced = self.replay("t.pft", "--force")
        self.assertEqual(forced.status, 0, forced)
        self.assertRegex(forced.err, r"app is not the build that was recorded \(build-id [0-9a-f]+, recorded [0-9a-f]+\); going on because of --force")
        self.assertEqual(forced.err.count("is not the build"), 1, "once for all ranks")
        script = self.dir / "s.txt"
        script.write_text("run\n")
        refused = self.photofinish("debug", "--script", script, self.dir / "events.pft", timeout=60)
        self.assertEqual(refused.status, 1, refused)
        self.assertRegex(refused.err, "is not the build that was recorded(.|\n)*'debug --script' has --force")
        self.assertEqual(self.photofinish("debug", "--script", script, "--force", self.dir / "events.pft", timeout=60).status, 0)
        changed = [line.replace("edition 1", "edition 2") for line in recorded.by_rank()[0]]
        self.assertEqual(forced.by_rank()[0], changed)

    def test_the_binary_is_gone(self):
        self.record_here()
        self.program.unlink()
        run = self.photofinish("replay", self.dir / "t.pft", timeout=30)
        self.assert_refused(run, 2, r"\./app", "cannot start the recorded program")

    def test_the_working_directory_is_gone(self):
        self.record_here()
        shutil.rmtree(self.work)
        run = self.photofinish("replay", self.dir / "t.pft", timeout=30)
        self.assert_refused(run, 2, str(self.work), "directory")

    def test_the_launcher_is_gone(self):
        self.record_here()
        empty = self.dir / "empty"
        empty.mkdir()
        run = self.photofinish("replay", self.dir / "t.pft", env={"PATH": str(empty)}, timeout=30)
        self.assert_refused(run, 2, "mpirun", "not found")

    def test_the_source_is_gone(self):
        """Races are still named by file and line: these come from the debug information."""
        source = self.work / "gone.c"
        shutil.copy(STEERED, source)
        subprocess.run([MPICC, "-g", "-O0", "-o", self.program, source], check=True)
        self.record_here()
        source.unlink()
        races = self.photofinish("races", self.dir / "t.pft", "--json").json()["races"]
        self.assertTrue(races)
        self.assertTrue(all(race["receive"]["file"].endswith("/gone.c") for race in races))

    def test_without_debug_information(self):
        subprocess.run(["strip", "--strip-all", self.program], check=True)
        recorded = self.record_here()
        races = self.photofinish("races", self.dir / "t.pft", "--json").json()["races"]
        self.assertTrue(races)
        self.assertTrue(all(race["receive"]["file"] is None and race["receive"]["line"] is None for race in races))
        self.assertIn("app+", self.photofinish("races", self.dir / "t.pft").out)
        self.assert_same_run(recorded, self.replay("t.pft"))


if __name__ == "__main__":
    main()
