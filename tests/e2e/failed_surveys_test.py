# SPDX-License-Identifier: GPL-3.0-or-later
"""A survey in which the program does not come as far as it did is no survey: told, and nothing of it is kept."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

ASKING = (("races",), ("events",), ("info", "--tracing"), ("export", "--format", "csv", "-o", "x"), ("sql",))


class FailedSurveysTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", BIN / "e2e" / "needs_file")
        (self.dir / "rounds").write_text("3\n")

    def record_rounds(self, name="t.pft"):
        return self.record(name, self.mpirun(3, BIN / "e2e" / "needs_file"))

    def ask(self, what, *arguments):
        query = ("SELECT count(*) FROM race",) if what == "sql" else ()
        return self.photofinish(what, self.dir / "t.pft", *arguments, *query)

    def assert_surveyed_now(self):
        """The trace is as it was: what is asked when all is right again is answered, and it replays."""
        races = self.photofinish("races", self.dir / "t.pft", "--json")
        self.assertEqual(races.status, 0, races)
        self.assertGreaterEqual(len(races.json()["races"]), 1, races)
        self.assertEqual(self.replay("t.pft").status, 0)

    def test_the_program_ends_early(self):
        self.record_rounds()
        (self.dir / "rounds").rename(self.dir / "elsewhere")
        for what in ASKING:
            with self.subTest(what=what):
                asked = self.ask(*what)
                self.assertEqual(asked.status, 3, asked)
                self.assertRegex(asked.err, r"rank 0 ended after event \d+, of \d+ recorded")
                self.assertIn("needs_file: no rounds", asked.err)
                self.assertEqual(asked.out, "", asked)
        self.assertEqual(self.photofinish("replay", self.dir / "t.pft", "--survey").status, 3)
        self.assertIsNone(self.photofinish("info", self.dir / "t.pft", "--json").json()["racingReceives"])
        (self.dir / "elsewhere").rename(self.dir / "rounds")
        self.assert_surveyed_now()

    def test_the_launcher_does_not_start(self):
        self.record_rounds()
        self.record_rounds("other.pft")
        path = self.env["PATH"]
        launcher = self.dir / "bin" / "mpirun"
        launcher.parent.mkdir()
        launcher.write_text("#!/bin/sh\necho 'no slots today' >&2\nexit 1\n")
        launcher.chmod(0o755)
        self.env["PATH"] = f"{launcher.parent}:{path}"
        for what in ASKING + (("diff",),):
            with self.subTest(what=what):
                other = (self.dir / "other.pft",) if what[0] == "diff" else ()
                asked = self.ask(*what, *other)
                self.assertEqual(asked.status, 3, asked)
                self.assertIn("rank 0 did nothing", asked.err)
                self.assertIn("said:\n    no slots today\n", asked.err)
                self.assertEqual(asked.out, "", asked)
        replayed = self.photofinish("replay", self.dir / "t.pft")
        self.assert_refused(replayed, 3, "rank 0, 1.* did not come to MPI_Init, and the launcher has ended with exit status 1")
        self.env["PATH"] = path
        self.assert_surveyed_now()


if __name__ == "__main__":
    main()
