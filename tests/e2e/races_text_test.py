# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish races for a person: classes of races, ranked as in the window, with a limit and --all."""
import os
import pty
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

MPICC = os.environ.get("PF_MPICC", "mpicc")
SITES = 24  # more than are shown unasked
ROUNDS = 3
# Rank 0 takes from any source at SITES places, ROUNDS times at each, from two senders; the last place is a class of one race,
# and fails.
PROGRAM = """#include <mpi.h>
int main(int argc, char** argv) {
  int rank, value = 0, i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
%s
  if (rank == 0) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank != 0) MPI_Send(&rank, 1, MPI_INT, 0, 99, MPI_COMM_WORLD);
  MPI_Finalize();
  return rank == 0 ? %%d : 0;
}
""" % "\n".join(
    f"  for (i = 0; i < {ROUNDS}; i++) if (rank != 0) MPI_Send(&rank, 1, MPI_INT, 0, {tag}, MPI_COMM_WORLD);\n"
    f"  for (i = 0; i < {2 * ROUNDS} && rank == 0; i++) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, {tag}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
    for tag in range(SITES))


class RacesTextTest(PhotofinishTest):
    def record_sites(self, status):
        self.need("mpirun", MPICC)
        (self.dir / "sites.c").write_text(PROGRAM % status)
        subprocess.run([MPICC, "-g", "-O0", "-o", self.dir / "sites", self.dir / "sites.c"], check=True, env=self.env)
        self.record("t.pft", self.mpirun(3, self.dir / "sites"), "--mode", "all", status=status)

    def races(self, *options, **how):
        return self.photofinish("races", self.dir / "t.pft", *options, **how)

    def on_terminal(self, **variables):
        """What is written to a terminal."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([BIN / "photofinish", "races", self.dir / "t.pft"], stdout=theirs, stdin=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env={**self.env, **variables})
        os.close(theirs)
        text = b""
        try:
            while piece := os.read(ours, 65536):
                text += piece
        except OSError:  # the other side is closed
            pass
        os.close(ours)
        self.assertEqual(process.wait(), 0)
        return text.decode().replace("\r\n", "\n")

    @staticmethod
    def classes(text):
        """Number in the list, races, weight in words, example: of each class."""
        return [(int(place), int(races), weight or "", int(example)) for place, races, weight, example in re.findall(
            r"(?m)^class (\d+): (\d+) races?(?:, (.*))?\n(?:    (?!race ).*\n)+    race (\d+): ", text)]

    def test_classes_weightiest_first(self):
        self.record_sites(1)
        document = self.races("--json").json()
        races = document["races"]
        run = self.races()
        self.assertEqual(run.status, 0, run)
        first, second = run.out.splitlines()[:2]
        last = len(races)
        self.assertEqual(races[-1]["weight"], "first")
        self.assertEqual(first, f"{last} racing receives in {SITES + 1} classes")
        self.assertRegex(second, rf"^look first at number {last}, the last of the rank that failed before it failed: rank 0 event \d+ MPI_Recv")
        classes = self.classes(run.out)
        self.assertEqual([each[0] for each in classes], list(range(1, 21)), run)
        self.assertEqual(classes[0], (1, 1, "look here first, the last of the rank that failed before it failed", last), "of one race, and the last")
        self.assertEqual({each[2] for each in classes[1:]}, {"before the failure, which it can have caused"})
        # Each class is what --json says of it, in the same order.
        of = {}
        for number, race in enumerate(races, 1):
            of.setdefault(race["class"], []).append(number)
        names = [each.pop("name") for each in document["classes"]]
        self.assertEqual(names[0], ["MPI_Recv main: if (rank == 0) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
                                    "MPI_Send main: if (rank != 0) MPI_Send(&rank, 1, MPI_INT, 0, 99, MPI_COMM_WORLD);"])
        self.assertEqual({each.pop("verdict") for each in document["classes"]}, {"unknown"})
        self.assertEqual(document["classes"][0], {"class": races[-1]["class"], "weight": "first", "races": 1, "first": last, "weightiest": last})
        for (_, count, _, example), told in zip(classes, document["classes"]):
            self.assertEqual((count, example), (len(of[told["class"]]), told["weightiest"]))
            self.assertEqual(told["first"], of[told["class"]][0])
            self.assertIn(f"received by MPI_Recv at {told['class'].split(' <- ')[0]}\n", run.out)
        self.assertEqual([told["first"] for told in document["classes"][1:]], sorted(told["first"] for told in document["classes"][1:]))
        left = sum(told["races"] for told in document["classes"][20:])
        self.assertTrue(run.out.endswith(f"\nand {SITES - 19} more classes with {left} races; --all prints every race, --json every class\n"), run)

    def test_all_prints_every_race(self):
        self.record_sites(1)
        races = self.races("--json").json()["races"]
        text = self.races("--all").out
        blocks = re.findall(r"(?m)^race (\d+): rank (\d+) event (\d+) .*\n    took     .*\n((?:    or could .*\n)*)", text)
        self.assertEqual([(int(n), int(rank), int(serial), len(others.splitlines())) for n, rank, serial, others in blocks],
                         [(n, race["receive"]["rank"], race["receive"]["serial"], len(race["alternatives"])) for n, race in enumerate(races, 1)])
        # The numbers are those of a replay, and the example of a class is the race of its number.
        number = len(races) // 2
        serial = races[number - 1]["receive"]["serial"]
        self.assertIn(f"rank 0 is stopped just before its event {serial}: MPI_Recv", self.replay("t.pft", "--until-race", number).err)
        example = re.search(r"(?m)^    (race \d+: .*\n)    (    took .*\n)", self.races().out)
        self.assertIn(example.group(1) + example.group(2), text)

    def test_a_run_that_did_not_fail(self):
        self.record_sites(0)
        run = self.races()
        self.assertIn(f" racing receives in {SITES + 1} classes; the run did not fail\n", run.out)
        self.assertNotIn("look first", run.out)
        self.assertEqual({each[2] for each in self.classes(run.out)}, {""})

    def test_no_races(self):
        self.record("t.pft", self.mpirun(4, BIN / "corpus" / "token_ordered"), "--mode", "all")
        self.assertEqual(self.races().out, "0 racing receives\n")
        self.assertEqual(self.races("--json").json(), {"classes": [], "races": []})

    def test_colours_are_for_terminals(self):
        self.record_sites(1)
        plain = self.races().out
        self.assertNotIn("\x1b", plain)
        coloured = self.on_terminal(TERM="xterm", NO_COLOR="")
        self.assertIn("\x1b[1;31m", coloured)
        self.assertEqual(re.sub(r"\x1b\[[0-9;]*m", "", coloured), plain)
        self.assertEqual(self.on_terminal(TERM="xterm", NO_COLOR="1"), plain)
        self.assertEqual(self.on_terminal(TERM="dumb"), plain)


if __name__ == "__main__":
    main()
