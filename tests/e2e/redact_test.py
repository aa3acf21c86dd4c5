# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish redact: what may be private is not in the new trace, and it reads as the old one."""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

FETCHES = BIN / "e2e" / "fetches"
STEADY = BIN / "e2e" / "steady"
CANARY = "c4n4ry"


class RedactTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", STEADY)

    def test_nothing_private_is_left(self):
        home = self.dir / f"home-{CANARY}"
        home.mkdir()
        program = home / "steady"
        shutil.copy(STEADY, program)
        (home / "input").write_text(f"password {CANARY}\n" * 20)
        with open(home / "input") as given:
            run = self.record("t.pft", self.mpirun(2, "-x", f"TOKEN={CANARY}", program, 4, 1, f"--key={CANARY}"), "--mode", "all",
                              cwd=home, stdin=given, env={"LD_LIBRARY_PATH": f"/opt/{CANARY}", "USER": CANARY})
        self.assertIn(CANARY.encode(), (self.dir / "t.pft").read_bytes() + run.err.encode(), "the test hides nothing")
        made = self.photofinish("redact", self.dir / "t.pft", self.dir / "r.pft")
        self.assertEqual(made.status, 0, made)
        host = os.uname().nodename
        bytes_ = (self.dir / "r.pft").read_bytes()
        self.assertNotIn(CANARY.encode(), bytes_)
        info = self.photofinish("info", self.dir / "r.pft", "--json")
        facts = info.json()
        self.assertTrue(facts["redacted"])
        self.assertEqual((facts["command"], facts["directory"], facts["host"]), (["steady"], "", ""))
        self.assertNotIn(str(self.dir), info.out)
        self.assertEqual(facts["owner"], "stranger")
        self.assertEqual(facts["probes"], self.info()["probes"])
        # Everything that is compressed in the file comes out by these.
        for words in (["events", "--json"], ["races", "--json"], ["sql", "SELECT * FROM call_site"], ["sql", "SELECT * FROM module"],
                      ["sql", "SELECT * FROM rank"], ["sql", "SELECT * FROM launch_fact"], ["sql", "SELECT * FROM seen_input"], ["sql", "SELECT * FROM not_guaranteed"], ["sql", "SELECT * FROM run"], ["sql", "SELECT * FROM log_chunk"]):
            old = self.photofinish(words[0], self.dir / "t.pft", *words[1:])
            new = self.photofinish(words[0], self.dir / "r.pft", *words[1:])
            self.assertEqual(new.status, 0, new)
            for secret in (CANARY, str(self.dir), host if len(host) > 4 else CANARY):
                self.assertNotIn(secret, new.out, new)
            if words[0] in ("events", "races"):
                self.assertEqual(self.without_paths(new.json()), self.without_paths(old.json()))
        self.assertEqual(self.photofinish("check", self.dir / "r.pft").status, 0)
        self.assertEqual(self.photofinish("diff", self.dir / "t.pft", self.dir / "r.pft").status, 0)

    def without_paths(self, value):
        if isinstance(value, dict):
            return {key: self.without_paths(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.without_paths(each) for each in value]
        return value.rsplit("/", 1)[-1] if isinstance(value, str) else value

    def test_says_so_and_is_not_replayed(self):
        self.record("t.pft", self.mpirun(2, STEADY, 3, 1))
        self.assertEqual(self.photofinish("redact", self.dir / "t.pft", self.dir / "r.pft").status, 0)
        self.assertIn("redacted  arguments, ", self.photofinish("info", self.dir / "r.pft").out)
        self.assert_refused(self.photofinish("replay", self.dir / "r.pft"), 2, "is a redacted trace", "it was made of")
        again = self.photofinish("redact", self.dir / "t.pft", self.dir / "r.pft")
        self.assert_refused(again, 2, "is there already")

    def test_what_was_fetched_is_not_there(self):
        self.record("t.pft", self.mpirun(2, FETCHES), "--mode", "all", status=None)
        self.assertEqual(self.photofinish("redact", self.dir / "t.pft", self.dir / "r.pft").status, 0)
        rows = self.photofinish("sql", self.dir / "r.pft", "SELECT count(*) FROM log_chunk").out.split()
        self.assertEqual(rows[-1], "0")


if __name__ == "__main__":
    main()
