# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranks' output as the launchers of Open MPI 4 and 5 show it, told apart again."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tagged_output import PIECE, lines_by_rank

SAID = {rank: [f"rank {rank} line {number} " + "x" * (number % 50) for number in range(400)] for rank in range(3)}
TAG = "[1,{}]<stdout>:"


def as_orte_writes(said):
    return "".join(TAG.format(rank) + line + "\n" for number in range(400) for rank, lines in said.items() for line in [lines[number]])


def as_prrte_writes(said):
    """Piece by piece, of one rank after the other: what is behind a piece's last line comes before the next piece."""
    left = {rank: "".join(line + "\n" for line in lines) for rank, lines in said.items()}
    out, kept = "", ""
    while any(left.values()):
        for rank, text in left.items():
            *whole, kept = (kept + text[:PIECE]).split("\n")
            left[rank] = text[PIECE:]
            out += "".join(TAG.format(rank) + line + "\n" for line in whole)
    return out


class TaggedOutputTest(unittest.TestCase):
    def test_orte(self):
        self.assertEqual(lines_by_rank(as_orte_writes(SAID), prrte=False), SAID)
        self.assertEqual(lines_by_rank("[1,0]<stdout>:a[1,1]<stdout>:b\n[1,0]<stdout>:c\n", prrte=False), {0: ["ac"], 1: ["b"]})

    def test_prrte(self):
        """As many lines, the same ones; those at the borders of pieces are not known, and no others."""
        text = as_prrte_writes(SAID)
        self.assertNotEqual(lines_by_rank(text, prrte=False), SAID, "nothing is mixed")
        found = lines_by_rank(text, prrte=True)
        self.assertEqual(found, SAID)
        self.assertEqual(SAID, found)
        changed = {rank: list(lines) for rank, lines in SAID.items()}
        differ = 0
        for rank, lines in changed.items():
            for number, line in enumerate(lines):
                lines[number] = "another"
                differ += found != changed
                lines[number] = line
        pieces = sum(len("\n".join(lines)) // PIECE + 1 for lines in SAID.values())
        self.assertGreaterEqual(differ, 1200 - pieces)
        changed[2].pop()
        self.assertNotEqual(found, changed)

    def test_little_output_is_in_one_piece(self):
        text = "[1,0]<stdout>:a\n[1,1]<stdout>:b\n[1,0]<stdout>:c\n"
        self.assertNotEqual(lines_by_rank(text, prrte=True), {0: ["a", "d"], 1: ["b"]})
        self.assertEqual(lines_by_rank(text, prrte=True), {0: ["a", "c"], 1: ["b"]})


if __name__ == "__main__":
    unittest.main()
