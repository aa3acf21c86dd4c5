# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish flip: the receive takes the other message, all that does not depend on it stays, the trace of that is whole."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

HARVEST = BIN / "e2e" / "flipped"


class FlipTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", HARVEST)

    def record(self, what, *options):
        run = self.photofinish("record", *options, "--replace", "-o", "a.pft", "mpirun", "--oversubscribe", "-n", "4", HARVEST, what)
        self.assertTrue((self.dir / "a.pft").exists(), run)

    def races(self, trace="a.pft"):
        run = self.photofinish("races", "--json", trace)
        self.assertEqual(run.status, 0, run)
        return run.json()["races"]

    def flip(self, *wishes, out="b.pft"):
        return self.photofinish("flip", "a.pft", *wishes, "--replace", "-o", out, timeout=60)

    def test_each_alternative_of_each_race(self):
        for mode in ((), ("--mode", "all")):
            self.record("harvest", *mode)
            races = self.races()
            self.assertGreaterEqual(len(races), 1)
            for number, race in enumerate(races, 1):
                for place, other in enumerate(race["alternatives"], 1):
                    with self.subTest(mode=mode, race=number, alternative=place):
                        run = self.flip(f"{number}:{place}")
                        self.assertIn(run.status, (0, 3), run)
                        self.assertIn("took the message that rank", run.err)
                        receive = race["receive"]
                        took = self.photofinish("events", "b.pft", "--rank", receive["rank"]).out
                        self.assertRegex(took, rf"event {receive['serial']} MPI_Recv.*<- rank {other['rank']} ")
                        again = self.photofinish("replay", "b.pft", "--jitter", "5")
                        self.assertEqual(again.status, run.status, again)
                        self.assertEqual(sorted(again.out.splitlines()), sorted(run.out.splitlines()))

    def test_what_does_not_depend_on_it_stays(self):
        """Two pairs of ranks: the one race is no matter to the other."""
        self.record("pairs", "--mode", "all")
        before = {rank: self.photofinish("events", "a.pft", "--rank", rank).out for rank in range(4)}
        race = next(number for number, each in enumerate(self.races(), 1) if each["receive"]["rank"] == 0)
        run = self.flip(str(race))
        self.assertEqual(run.status, 0, run)
        after = {rank: self.photofinish("events", "b.pft", "--rank", rank).out for rank in range(4)}
        self.assertNotEqual(after[0], before[0])
        self.assertEqual(after[3], before[3])

    def test_a_message_that_depends_on_the_receive(self):
        """Rank 1 sends its second message only when it has an answer to the first."""
        self.record("answers", "--mode", "all")
        run = self.flip("0:2=1:4")
        self.assertEqual(run.status, 2, run)
        self.assertIn("is sent only because of what this receive took", run.err)
        self.assertFalse((self.dir / "b.pft").exists())

    def test_messages_do_not_overtake(self):
        self.record("twice", "--mode", "all")
        run = self.flip("0:2=1:3")
        self.assertEqual(run.status, 3, run)
        self.assertIn("do not overtake", run.err)
        self.assertFalse((self.dir / "b.pft").exists())

    def test_several_at_once(self):
        self.record("harvest", "--mode", "all")
        takers = [line.split() for line in self.photofinish("events", "a.pft", "--rank", "0").out.splitlines() if "MPI_Recv" in line]
        order = [words[words.index("<-") + 2] for words in takers]
        wishes = [f"0:{2 + place}={rank}:2" for place, rank in enumerate(reversed(order))]
        run = self.flip(*wishes)
        self.assertIn(run.status, (0, 3), run)
        now = [line.split() for line in self.photofinish("events", "b.pft", "--rank", "0").out.splitlines() if "MPI_Recv" in line]
        self.assertEqual([words[words.index("<-") + 2] for words in now], order[::-1])

    def test_into_a_deadlock(self):
        """It is ended once it is proven, and said with its line; explore says it so, too."""
        explored = self.photofinish("explore", "-o", "d.explore", "mpirun", "--oversubscribe", "-n", "3", BIN / "corpus" / "deadlock_in_order", timeout=60)
        self.assertIn("rank 0 is in MPI_Recv at deadlock_in_order.c:18 (main) for rank 2, tag 1", explored.out)
        run = self.photofinish("flip", "d.explore.d/ok.pft", "1", "-o", "c.pft", timeout=30)
        self.assertNotIn(run.status, (0, 3, None), run)
        self.assertIn("rank 0 is in MPI_Recv at deadlock_in_order.c:18 (main) for rank 2, tag 1", run.err)
        self.assertIn("it is ended", run.err)
        self.assertTrue((self.dir / "c.pft").exists(), run)

    def test_bad_wishes(self):
        self.record("harvest", "--mode", "all")
        for wish, words in (("99", "there is no race 99"), ("1:9", "has no alternative 9"), ("x", "says not which message"), ("0:2=0:1", "sends nothing to rank 0"),
                            ("0:1=1:2", "asks for no message of any source"), ("7:1=1:2", "there is no rank 7 event 1")):
            run = self.flip(wish)
            self.assertEqual(run.status, 2, run)
            self.assertIn(words, run.err)
        self.assertFalse((self.dir / "b.pft").exists())

    def test_the_tree_of_runs(self):
        self.record("harvest", "--mode", "all")
        for trace, out in (("a.pft", "b.pft"), ("b.pft", "c.pft")):
            run = self.photofinish("flip", trace, "1", "-o", out, timeout=60)
            self.assertIn(run.status, (0, 3), run)
        for here, trace in enumerate(("a.pft", "b.pft", "c.pft")):
            tree = self.photofinish("runs", "--json", trace).json()
            self.assertEqual(tree["here"], here)
            self.assertEqual([os.path.basename(each["file"]) for each in tree["runs"]], ["a.pft", "b.pft", "c.pft"])
            self.assertEqual([each["parent"] for each in tree["runs"]], [None, 0, 1])
            self.assertEqual([each["made_by"] for each in tree["runs"]], ["", "flip", "flip"])
            for each in tree["runs"][1:]:
                self.assertRegex(each["flips"][0], r"^rank 0's MPI_Recv at flipped\.c:\d+ \(event \d+\) takes rank \d's message \(event \d+\)$")
        text = self.photofinish("runs", "b.pft").out.splitlines()
        self.assertRegex(text[1], r"^  \* .*/b\.pft: ")
        (self.dir / "a.pft").rename(self.dir / "a.elsewhere")
        tree = self.photofinish("runs", "--json", "c.pft").json()
        self.assertEqual([(os.path.basename(each["file"]), each["found"]) for each in tree["runs"]], [("a.pft", False), ("b.pft", True), ("c.pft", True)])
        self.assertIn("is not there any more", self.photofinish("runs", "c.pft").out)

    def test_in_a_script(self):
        """Beside a replay that stands where it stood."""
        self.record("harvest", "--mode", "all")
        script = "to-failure\nwhere @0\nflip 1 b.pft\nexpect took the message that rank\nexpect -> .*b.pft\nwhere @0\nflip 99\n"
        (self.dir / "s.txt").write_text(script.replace("to-failure", "replay-to 0:2"))
        run = self.photofinish("debug", "--script", "s.txt", "a.pft", timeout=120)
        self.assertEqual(run.status, 1, run)
        self.assertIn("there is no race 99", run.out + run.err)
        self.assertEqual(self.photofinish("runs", "--json", "b.pft").json()["here"], 1)
        places = [line for line in run.out.splitlines() if line.startswith("[0] ") and "event" in line]
        self.assertGreaterEqual(len(places), 2, run)

    def test_the_name_is_kept(self):
        self.record("harvest", "--mode", "all")
        for expected in ("a.flip.pft", "a.flip.1.pft"):
            run = self.photofinish("flip", "a.pft", "1", timeout=60)
            self.assertIn(run.status, (0, 3), run)
            self.assertTrue((self.dir / expected).exists(), run)


if __name__ == "__main__":
    main()
