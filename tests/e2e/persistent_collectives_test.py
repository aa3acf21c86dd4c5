# SPDX-License-Identifier: GPL-3.0-or-later
"""Persistent collectives (MPI 4.0, 6.13): what they order is no race, and replays are as the recording was; with both libraries."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, SOURCE, PhotofinishTest, main

PROGRAM = SOURCE / "tests" / "e2e" / "programs" / "persistent_collectives.c"
MODES = ("outcomes", "races", "all")


def lines(run):
    return sorted(re.findall(r"rank \d+: .*", run.out.replace("\r", "")))


class PersistentCollectivesTest(PhotofinishTest):
    def launches(self, ranks, *arguments):
        """With each library that is here."""
        self.need("mpirun", os.environ.get("PF_MPICC", "mpicc"))
        launches = []
        for library, compiler in (("open_mpi", os.environ.get("PF_MPICC", "mpicc")), ("mpich", "mpicc.mpich")):
            if library == "mpich" and not (BIN / "libphotofinish_mpich.so").exists():
                continue
            program = self.dir / f"app_{library}"
            subprocess.run([compiler, "-g", "-o", program, PROGRAM], check=True)
            launches.append((library, [*self.mpirun(ranks, program), *arguments] if library == "open_mpi" else
                             ["mpiexec.mpich", "-n", str(ranks), program, *arguments]))
        return launches

    def races(self):
        return self.photofinish("races", self.dir / "t.pft", "--json").json()["races"]

    def replays_as_recorded(self, what, ranks):
        for library, launch in self.launches(ranks, what):
            for mode in MODES:
                with self.subTest(what=what, library=library, mode=mode):
                    recorded = self.record("t.pft", launch, "--mode", mode)
                    self.assertNotRegex(recorded.err, "note: MPI_", recorded)
                    if what != "threaded":  # of threads it is noted that they share memory
                        self.assertNotIn("not recorded", recorded.err, recorded)
                    self.assertEqual(len(lines(recorded)), ranks, recorded)
                    for seed in (1, 2):
                        replayed = self.replay("t.pft", "--jitter", seed)
                        self.assertEqual((replayed.status, lines(replayed)), (0, lines(recorded)), replayed)

    def test_replays(self):
        """With messages and a receive from anyone among them, told of one by one as they come."""
        self.replays_as_recorded("busy", 4)

    def test_between_groups(self):
        self.replays_as_recorded("inter", 4)

    def test_beside_a_thread(self):
        self.replays_as_recorded("threaded", 2)

    def test_what_they_order_is_no_race(self):
        """Whatever the order of their starts; without them it is one."""
        for mode in ("races", "all"):
            for what, racing in (("ordered", 0), ("crossed", 0), ("unordered", 3)):
                for library, launch in self.launches(4, what):
                    with self.subTest(library=library, mode=mode, what=what):
                        recorded = self.record("t.pft", launch, "--mode", mode)
                        if mode == "races":  # as the ranks themselves have it
                            self.assertIn(f"found {racing} racing deliveries", recorded.err, recorded)
                        races = self.races()
                        self.assertEqual(len(races), racing, f"{races}\n{recorded}")
                        if mode == "all":
                            checked = self.run_command(BIN / "pf_oracle_check", self.dir / "t.pft")
                            self.assertEqual(checked.status, 0, checked)
                        replayed = self.replay("t.pft", "--jitter", 3)
                        self.assertEqual((replayed.status, lines(replayed)), (0, lines(recorded)), replayed)

    def test_groups_alone(self):
        """What a start brings from outside is in the trace; of one that was not started, nothing is."""
        for groups, count in (("each", 4), ("0-1,2-3", 2)):
            for library, launch in self.launches(4, "busy"):
                with self.subTest(library=library, groups=groups):
                    recorded = self.record("t.pft", launch, "--groups", groups)
                    self.assertNotIn("kept up to", recorded.err, recorded)
                    said = []
                    for group in range(count):
                        alone = self.replay("t.pft", "--group", group)
                        self.assertEqual(alone.status, 0, alone)
                        said += lines(alone)
                    self.assertEqual(sorted(said), lines(recorded), recorded)
                    whole = self.replay("t.pft")
                    self.assertEqual((whole.status, lines(whole)), (0, lines(recorded)), whole)

    def test_what_a_start_gives_is_compared(self):
        """With each event, and in a group alone, where what it gives goes nowhere: what each of three starts gives."""
        word = self.dir / "word"
        for library, launch in self.launches(3, "given", word):
            for options, replays in ((("--mode", "all"), ()), (("--groups", "each", "--mode", "outcomes"), ("--group", 1)),
                                     (("--groups", "each"), ("--group", 1)), (("--groups", "1-2", "--mode", "outcomes"), ("--group", 1))):
                word.write_text("plain\n")
                recorded = self.record("t.pft", launch, *options)
                for said, differs in (("plain", False), ("gap", False), ("cast", True), ("reduce", True), ("gather", True), ("alltoall", True)):
                    with self.subTest(library=library, options=options, said=said):
                        word.write_text(said + "\n")
                        replayed = self.replay("t.pft", *replays)
                        self.assertEqual(replayed.status, 3 if differs else 0, f"{recorded}\n{replayed}")
                        told = r"rank 1, event \d+: other contents than recorded\n +expected: MPI_Start\b.*\n +got: +MPI_Start with other contents"
                        (self.assertRegex if differs else self.assertNotRegex)(replayed.err, told)

    def test_what_starts_move_is_counted(self):
        """By hand: three times a broadcast of 8 bytes, 12 reduced at each rank, 8 of each rank gathered, 4 from each to each."""
        (self.dir / "word").write_text("plain\n")
        for library, launch in self.launches(3, "given", self.dir / "word"):
            for mode in ("all", "outcomes"):
                with self.subTest(library=library, mode=mode):
                    self.record("t.pft", launch, "--mode", mode)
                    found = self.photofinish("groups", self.dir / "t.pft", "--max", "1", "--json").json()
                    self.assertEqual(found["eachBytes"], 3 * (2 * 8 + 3 * 12 + 2 * 8 + 3 * 2 * 4), found)
                    self.assertEqual((found["persistent"], found["notEntered"], found["estimated"]), (0, 0, []), found)

    def test_events(self):
        """Each is made by an event, and started by one."""
        for library, launch in self.launches(3, "ordered"):
            with self.subTest(library=library):
                self.record("t.pft", launch, "--mode", "all")
                events = self.photofinish("events", self.dir / "t.pft", "--json").json()["events"]
                of_3 = [event for event in events if event["rank"] == 1]
                started = [event for event in of_3 if event["call"] == "MPI_Start"]
                self.assertEqual(len(started), 6, of_3)
                self.assertEqual({event["kind"] for event in started}, {"collective-post"}, started)
                made = [event["call"] for event in of_3 if event["call"].endswith("_init")]
                self.assertEqual(made, ["MPI_Barrier_init", "MPI_Allreduce_init"], of_3)


main()
