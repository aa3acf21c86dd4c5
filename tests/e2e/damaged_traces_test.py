# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces that are cut at any byte, changed, of another version, or not ours: exit status 4, one clear message."""
import json
import os
import random
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

PROGRAM = BIN / "e2e" / "steady"
PLACES = 48
SEED = 20261120


class DamagedTraceTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", PROGRAM)
        self.record("whole.pft", self.mpirun(3, PROGRAM, 400, 0), "--mode", "all")
        self.whole = (self.dir / "whole.pft").read_bytes()
        self.bad = self.dir / "bad.pft"
        self.random = random.Random(SEED)

    def read_all(self):
        """What each reading command makes of bad.pft."""
        return [self.photofinish(*words) for words in
                (["info", self.bad, "--json"], ["races", self.bad, "--json"], ["events", self.bad], ["check", self.bad])]

    def assert_each_refused(self, *fragments, statuses=(4,)):
        for run in self.read_all():
            self.assertIn(run.status, statuses, run)
            if "check" not in map(str, run.command):
                self.assert_refused(run, run.status, *fragments)

    def test_a_query_that_fails_half_way_ends_its_json(self):
        late = "SELECT rank, CASE WHEN rank = 2 THEN abs(-9223372036854775807 - 1) END AS x FROM rank ORDER BY rank"
        run = self.photofinish("sql", "--json", self.dir / "whole.pft", late)
        self.assertNotEqual(run.status, 0, run)
        self.assertEqual([row["rank"] for row in json.loads(run.out)], [0, 1])

    def test_cut_anywhere(self):
        size = len(self.whole)
        offsets = [0, 1, 15, 16, 99, 100, 512, 4095, 4096, 4097, size // 2, size - 4096, size - 1]
        offsets += [self.random.randrange(size) for _ in range(PLACES - len(offsets))]
        for offset in offsets:
            with self.subTest(bytes=offset, of=size):
                self.bad.write_bytes(self.whole[:offset])
                self.assert_refused(self.photofinish("info", self.bad), 4)
                self.assertEqual(self.photofinish("check", self.bad).status, 4)
        self.assert_each_refused()
        self.assert_refused(self.photofinish("replay", self.bad), 4)

    def test_bits_flipped_anywhere(self):
        """A flipped bit is found by check; no command gives out what does not verify, none crashes."""
        info = self.photofinish("info", self.dir / "whole.pft", "--json").out
        races = self.photofinish("races", self.dir / "whole.pft", "--json").out
        unnoticed = []
        for _ in range(PLACES):
            place, bit = self.random.randrange(len(self.whole)), self.random.randrange(8)
            with self.subTest(place=place, bit=bit, seed=SEED):
                data = bytearray(self.whole)
                data[place] ^= 1 << bit
                self.bad.write_bytes(data)
                for run, right in ((self.photofinish("info", self.bad, "--json"), info),
                                   (self.photofinish("races", self.bad, "--json"), races)):
                    if run.status == 0:
                        self.assertEqual(run.out, right, f"wrong content is given out as right\n{run}")
                    else:
                        self.assert_refused(run, 4)
                if self.photofinish("check", self.bad).status != 4:
                    unnoticed.append(place)
        # Bytes that SQLite leaves unused (the free part of a page) carry nothing.
        print(f"{len(unnoticed)} of {PLACES} flips were in unused bytes")
        said = subprocess.run(["sqlite3", str(self.dir / "whole.pft"), "SELECT sum(unused) * 1.0 / sum(pgsize) FROM dbstat"],
                              capture_output=True, text=True, check=True)
        unused = float(said.stdout)  # of a small trace most
        self.assertLess(len(unnoticed), PLACES * unused + 4 * (PLACES * unused * (1 - unused)) ** 0.5, (unused, unnoticed))

    def test_replay_of_a_damaged_log_starts_nothing(self):
        for name, column in (("log_chunk", "data"), ("rank", "log_chunks"), ("run", "racing_receives")):
            with self.subTest(table=name):
                self.bad.write_bytes(self.whole)
                with sqlite3.connect(self.bad) as connection:
                    new = "X'6368616e676564'" if column == "data" else f"coalesce({column}, 0) + 7"
                    connection.execute(f"UPDATE {name} SET {column} = {new}")
                connection.close()
                run = self.photofinish("replay", self.bad)
                self.assert_refused(run, 4, "damaged")
                self.assertEqual(run.out, "", "the program must not start")

    def test_another_version(self):
        self.bad.write_bytes(self.whole)
        with sqlite3.connect(self.bad) as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            connection.execute(f"PRAGMA user_version = {version + 1}")
        connection.close()
        self.assert_each_refused(rf"format {version + 1}.*format {version}")

    def test_not_ours(self):
        with self.subTest(what="text"):
            self.bad.write_text("This is no trace.\n" * 500)
            self.assert_each_refused("bad.pft")
        with self.subTest(what="empty"):
            self.bad.write_bytes(b"")
            self.assert_each_refused("bad.pft")
        with self.subTest(what="another SQLite file"):
            self.bad.unlink()
            with sqlite3.connect(self.bad) as connection:
                connection.execute("CREATE TABLE run (command TEXT)")
            connection.close()
            self.assert_each_refused("bad.pft")
        with self.subTest(what="an executable"):
            self.bad.write_bytes(PROGRAM.read_bytes())
            self.assert_each_refused("bad.pft")

    def test_a_directory_and_no_permission(self):
        self.bad.mkdir()
        for run in self.read_all():
            self.assertIn(run.status, (1, 2, 4), run)
            self.assertIn("bad.pft", run.err)

    def test_logs_whose_description_is_unreadable(self):
        """NAME.pft.d of a recorder that was killed: run.json cut, empty, or with values of other types."""
        logs = self.dir / "bad.pft.d"
        logs.mkdir()
        for text in ("", "{", "[]", '{"command": 1}', '{"ends": {"0": null}}', '{"ends": []}', '{"salt": "x"}', '{"exitStatus": "x"}'):
            with self.subTest(text=text):
                (logs / "run.json").write_text(text)
                run = self.photofinish("info", self.bad)
                self.assertIn(run.status, (2, 4), run)
                self.assert_refused(run, run.status)
                self.assertTrue(logs.exists(), "logs that cannot be read are not thrown away")

    def test_salvage_of_a_cut_trace(self):
        self.bad.write_bytes(self.whole[:len(self.whole) * 3 // 4])
        run = self.photofinish("salvage", self.bad, self.dir / "saved.pft")
        self.assertIn(run.status, (0, 4), run)
        if run.status == 0:
            self.assertEqual(self.photofinish("check", self.dir / "saved.pft").status, 0)
            self.assertIn("lost", run.out)


if __name__ == "__main__":
    main()
