# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a group's replay stops a rank, it has the stack and the variables that it has there in a replay of all ranks.

PF_STOPS=N: so many places, by chance (6; 50 with PF_FULL). PF_SEED repeats them.
"""
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, FULL, PhotofinishTest, main

LOCALS = BIN / "e2e" / "locals"
STOPS = int(os.environ.get("PF_STOPS", "50" if FULL else "6"))
SEED = int(os.environ.get("PF_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 31)
RANKS, PASSES = 4, 30
ADDRESS = re.compile(r"0x[0-9a-f]+")  # libraries and what they make lie elsewhere
FRAME = re.compile(r"#\d+ ")
LOOK = ("stack @{0}", "gdb @{0} bt -full", "print g_hash @{0}", "print *g_parts @{0}", "print *g_parts->next @{0}")


class ApartStopsTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("gdb", "mpirun", LOCALS, BIN / "photofinish-headless")

    def places(self, ranks):
        choose = random.Random(SEED)
        last = {each["rank"]: each["events"] for each in self.info()["perRank"]}
        return [(rank, choose.randrange(30, last[rank])) for rank in (choose.choice(ranks) for _ in range(STOPS))]

    def answers(self, places, *options):
        """What is seen at each place."""
        text = ""
        for number, (rank, serial) in enumerate(places):
            text += f"replay-to {rank}:{serial}\necho place {number}\n" + "".join(look.format(rank) + "\n" for look in LOOK) + f"echo end {number}\n"
        (self.dir / "s.script").write_text(text)
        run = self.photofinish("debug", "--script", self.dir / "s.script", *options, self.dir / "t.pft", timeout=60 + 20 * len(places))
        self.assertEqual(run.status, 0, run)
        return [self.shown(re.search(rf"place {number}\n(.*?)[^\n]*end {number}\n", run.out, re.S).group(1)) for number in range(len(places))]

    @staticmethod
    def shown(text):
        """Frames of the program with all that is in them, and the values; not those of what is loaded into it."""
        lines, inside = [], True
        for line in ADDRESS.sub("0x", text).splitlines():
            line = line.split("] ", 1)[-1]
            if FRAME.match(line):
                inside = "locals.c:" in line
            elif not line.startswith("  ") and line != "No locals.":
                inside = True
            if inside:
                lines.append(FRAME.sub("", line))
        return "\n".join(lines)

    def compare(self, spec, ranks):
        print(f"PF_SEED={SEED}", file=sys.stderr)
        self.record("t.pft", self.mpirun(RANKS, LOCALS, PASSES), "--groups", spec, "--mode", "all")
        places = self.places(ranks)
        everywhere = self.answers(places)
        alone = self.answers(places, "--ranks", ",".join(map(str, ranks)))
        for place, there, here in zip(places, everywhere, alone):
            with self.subTest(place=place, seed=SEED):
                self.assertRegex(there, r"(?s)main\(\) at .*main \(argc=.*\n +pass = \d+\n.*\{from = \d", "the stack, the variables, the values")
                self.assertEqual(here, there)

    def test_of_one_rank(self):
        self.compare("each", [2])

    def test_of_two_ranks(self):
        self.compare("0+3", [0, 3])


if __name__ == "__main__":
    main()
