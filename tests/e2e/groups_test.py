# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish groups: the ranks that talk are found, and what is left to log is what one counts by hand."""
import os
import re
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

PAIRS = BIN / "e2e" / "pairs"
# pairs.c: messages of pairs, of the ring, the broadcast of 64 ints, 8 doubles to each rank.
EACH = 8 * 100 * 1000 + 8 * 5 * 16 + 7 * 256 + 8 * 64
IN_PAIRS = 8 * 5 * 16 + 6 * 256 + 8 * 64
MOVES = BIN / "e2e" / "moves"
# moves.c, call by call: what leaves a rank for another, or comes of all.
ON_ALL = [3 * 10, 3 * 11, 3 * 20, 3 * 30, 3 * 31, 12 * 40, 12 * 41, 12 * 50, 12 * 51, 4 * 8, 4 * 9, 4 * 4 * 10, 4 * 4 * 11, 4 * 4 * 12,
          3 * 4 * 13, 3 * 4 * 14]
IN_HALVES = [4 * 100]
BETWEEN_HALVES = [8 * 7, 8 * 3, 2 * 5, 2 * 6, 2 * 8, 4 * 15, 4 * 4 * 16]
ESTIMATED = [12 * 12, 3 * 12]
SPEC = "0+4,1+5,2+6,3+7"


class GroupsTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", PAIRS)

    def groups(self, *words):
        run = self.photofinish("groups", self.dir / "t.pft", "--json", *words)
        self.assertEqual(run.status, 0, run)
        return run.json()

    def check_pairs(self):
        found = self.groups("--max", 2)
        self.assertEqual((found["ranks"], found["max"], found["eachBytes"]), (8, 2, EACH))
        best = found["best"]
        self.assertEqual((best["spec"], best["bytes"], best["groups"]), (SPEC, IN_PAIRS, [[0, 4], [1, 5], [2, 6], [3, 7]]))
        self.assertAlmostEqual(best["percent"], 100 * IN_PAIRS / EACH)
        self.assertEqual((found["estimated"], found["unknownSends"], found["notEntered"], found["oneSided"]), ([], 0, 0, False))
        self.assertEqual([(each["parts"], each["best"]) for each in found["candidates"]],
                         [(4, True), (5, False), (6, False), (7, False)])  # 1 < 8 / k <= 2
        self.assertGreater(found["candidates"][0]["randomPercent"], 10)

    def test_pairs_are_found(self):
        self.record("t.pft", self.mpirun(8, PAIRS), "--mode", "all")
        self.check_pairs()
        whole = self.groups("--max", 8)
        self.assertEqual((whole["best"]["spec"], whole["best"]["bytes"]), ("all", 0))
        each = self.groups("--max", 1)
        self.assertEqual((each["best"]["spec"], each["best"]["bytes"]), ("each", EACH))
        usual = self.groups()
        self.assertEqual(usual["max"], 2 * os.cpu_count())
        four = self.groups("--max", 4)
        self.assertLessEqual(four["best"]["bytes"], IN_PAIRS)
        self.assertTrue(all(row["largest"] <= 4 for row in four["candidates"]), four)

    def test_as_text_and_as_a_picture(self):
        self.record("t.pft", self.mpirun(8, PAIRS), "--mode", "all")
        run = self.photofinish("groups", self.dir / "t.pft", "--max", 2, "--picture", self.dir / "g.svg")
        self.assertEqual(run.status, 0, run)
        self.assertIn(f"each rank a group of its own: {EACH} bytes to log (100 %)", run.out)
        self.assertRegex(run.out, rf"(?m)^ +4 +2 +{IN_PAIRS} +0\.3 % +[0-9.]+ %  best$")
        self.assertIn(f"best: {IN_PAIRS} bytes to log, 0.3 % of", run.out)
        self.assertIn("  0+4 (2 ranks)\n", run.out)
        self.assertIn(f"for record --groups: {SPEC}\n", run.out)
        picture = (self.dir / "g.svg").read_text()
        xml.etree.ElementTree.fromstring(picture)
        frames = picture[picture.index('<g fill="none"'):]
        self.assertEqual(len(re.findall(r"<rect x=", frames)), 4)
        # Nothing is overwritten.
        again = self.photofinish("groups", self.dir / "t.pft", "--picture", self.dir / "g.svg")
        self.assert_refused(again, 2, "g.svg")
        self.assert_refused(self.photofinish("groups", self.dir / "t.pft", "--picture", "g.png"), 2, "no name of an SVG picture", r"\.svg")

    def test_choices_are_surveyed(self):
        self.record("t.pft", self.mpirun(8, PAIRS))
        self.check_pairs()

    def test_each_way_of_moving_data(self):
        self.need(MOVES)
        for mode in ("all", "outcomes"):
            with self.subTest(mode=mode):
                self.record("t.pft", self.mpirun(4, MOVES), "--mode", mode, "--replace")
                found = self.groups("--max", 1)
                self.assertEqual(found["eachBytes"], sum(ON_ALL + IN_HALVES + BETWEEN_HALVES + ESTIMATED))
                self.assertEqual(found["estimated"], ["MPI_Alltoallv", "MPI_Scatterv"])
                self.assertEqual(found["notEntered"], 0)
                # In halves, what halves do by themselves is not logged; a third of what goes from each to each is not.
                halves = [20, 22, 40, 60, 62, 8 * 40, 8 * 41, 8 * 50, 8 * 51, *ON_ALL[9:14], 2 * 4 * 13, 2 * 4 * 14, *BETWEEN_HALVES,
                          8 * 12, 2 * 12]
                best = self.groups("--max", 2)["best"]
                self.assertEqual((best["spec"], best["bytes"]), ("0-1,2-3", sum(halves)))

    def test_recorded_in_groups_that_are_found(self):
        # Other programs, other numbers of ranks, and traces elsewhere say nothing.
        self.record("other.pft", self.mpirun(8, BIN / "e2e" / "apart"))
        self.record("four.pft", self.mpirun(4, PAIRS))
        first = self.record("new.pft", self.mpirun(8, PAIRS), "--groups", "auto:2")
        self.assertIn(f"no trace of this program is in {self.dir}: it is run once to find groups of at most 2 ranks", first.err)
        self.assertIn("8 ranks in 4 groups: 0.3 % of", first.err)
        self.assertEqual(self.photofinish("info", self.dir / "new.pft", "--json").json()["groups"], SPEC)
        self.assertEqual(sorted(path.name for path in self.dir.glob(".*") if "profile" in path.name), [])
        self.assertEqual(self.replay("new.pft", "--group", 0).status, 0)
        # The newest trace is taken, which is surveyed for it.
        self.record("old.pft", self.mpirun(8, PAIRS), "--mode", "all")
        self.record("new.pft", self.mpirun(8, PAIRS), "--replace")
        again = self.record("last.pft", self.mpirun(8, PAIRS), "--groups", "auto:8")
        self.assertIn(f"groups of at most 8 ranks are those that {self.dir / 'new.pft'} shows", again.err)
        self.assertNotIn("is run once", again.err)
        self.assertEqual(self.photofinish("info", self.dir / "last.pft", "--json").json()["groups"], "all")

    def test_groups_of_ranks_that_the_job_does_not_have(self):
        """How many there are, only the job says: it is told once, not by each rank."""
        run = self.photofinish("record", "-o", self.dir / "t.pft", "--groups", "0-3,4-40", *self.mpirun(8, PAIRS))
        self.assert_refused(run, 2, "--groups '0-3,4-40' does not fit the job, which has 8 ranks", "there is no rank '40'", "ranks are 0 to 7")
        self.assertEqual(run.err.count("does not fit"), 1, run)
        self.assertNotRegex(run.err, "MPI_Init|Primary job|mpirun", run)
        self.assertEqual([path.name for path in self.dir.iterdir() if ".pft" in path.name], [])

    def test_the_input_is_read_twice_or_that_is_refused(self):
        (self.dir / "input").write_text("7\n")
        with open(self.dir / "input") as file:
            run = self.photofinish("record", "-o", self.dir / "a.pft", "--groups", "auto:2", *self.mpirun(2, PAIRS), stdin=file)
        self.assertEqual(run.status, 0, run)
        kept = self.photofinish("sql", self.dir / "a.pft", "SELECT hex(input) AS input FROM run", "--json")
        self.assertIn("370A", kept.out)
        read, write = os.pipe()
        os.write(write, b"7\n")
        os.close(write)
        run = self.photofinish("record", "-o", self.dir / "b.pft", "--groups", "auto:2", *self.mpirun(4, PAIRS), stdin=read)
        os.close(read)
        self.assertEqual(run.status, 2, run)
        self.assertRegex(run.err, "can be read once only\n.*< FILE")
        self.assertFalse((self.dir / "b.pft").exists())

    def test_bad_sizes(self):
        for spec in ("auto", "auto:", "auto:0", "auto:-1", "auto:x", "auto:2x", "auto:99999999999999999999999"):
            run = self.photofinish("record", "-o", self.dir / "t.pft", "--groups", spec, *self.mpirun(2, PAIRS))
            self.assert_refused(run, 2, "how many ranks a group may have", "auto:8")
        self.assertFalse((self.dir / "t.pft").exists())

    def test_bad_use(self):
        self.record("t.pft", self.mpirun(8, PAIRS), "--mode", "all")
        self.assert_refused(self.photofinish("groups", self.dir / "no.pft"), 2, "no.pft")
        self.assertEqual(self.photofinish("groups").status, 2)
        for most in ("0", "-1", "abc", "2x", "99999999999999999999999"):
            run = self.photofinish("groups", self.dir / "t.pft", "--max", most)
            self.assertEqual((run.status, run.out), (2, ""), run)
            self.assertIn("--max", run.err)
        self.assertEqual(self.photofinish("redact", self.dir / "t.pft", self.dir / "r.pft").status, 0)
        self.assert_refused(self.photofinish("groups", self.dir / "r.pft"), 2, "no sizes of messages", "--mode all")
        (self.dir / "text.pft").write_text("no trace\n")
        self.assert_refused(self.photofinish("groups", self.dir / "text.pft"), 4, "text.pft")


if __name__ == "__main__":
    main()
