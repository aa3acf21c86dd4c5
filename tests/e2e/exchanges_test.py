# SPDX-License-Identifier: GPL-3.0-or-later
"""MPI_Isendrecv and its like (MPI 4.0, 3.10), of MPICH: recorded, replayed, races found, replayed by a group alone."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, SOURCE, PhotofinishTest, main

PROGRAM = SOURCE / "tests" / "e2e" / "programs" / "exchanges.c"
MPICC = "mpicc.mpich"
MODES = ("outcomes", "races", "all")


def lines(run):
    return sorted(re.findall(r"rank \d+: .*", run.out.replace("\r", "")))


class ExchangesTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpiexec.mpich", MPICC)
        if not (BIN / "libphotofinish_mpich.so").exists():
            self.skipTest("built without MPICH")
        subprocess.run([MPICC, "-g", "-Wno-stringop-overflow", "-o", self.dir / "app", PROGRAM], check=True)

    def launch(self, ranks, *arguments):
        return ["mpiexec.mpich", "-n", str(ranks), self.dir / "app", *arguments]

    def recorded(self, ranks, launch, *options):
        run = self.record("t.pft", launch, *options)
        self.assertNotRegex(run.err, "note: MPI_|kept up to", run)
        self.assertEqual(len(lines(run)), ranks, run)
        return run

    def assert_replays(self, recorded, *options, seeds=(1, 2, 3)):
        for seed in seeds:
            replayed = self.replay("t.pft", "--jitter", seed, *options)
            self.assertEqual((replayed.status, lines(replayed)), (0, lines(recorded)), f"{recorded}\n{replayed}")

    def test_replays(self):
        """Whatever completes them, long messages and short ones, from whoever comes first."""
        for what, ranks in (("busy", 4), ("replace", 3), ("nobody", 4), ("freed", 3), ("refused", 3)):
            for mode in MODES:
                with self.subTest(what=what, mode=mode):
                    self.assert_replays(self.recorded(ranks, self.launch(ranks, what), "--mode", mode))

    def test_recorded_with_jitter(self):
        for seed in (1, 2, 3, 4):
            for mode in ("outcomes", "all"):
                with self.subTest(seed=seed, mode=mode):
                    self.assert_replays(self.recorded(4, self.launch(4, "busy"), "--mode", mode, "--jitter", str(seed)), seeds=(1,))

    def test_threads(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                self.assert_replays(self.recorded(3, self.launch(3, "threaded"), "--mode", mode))

    def test_other_ways_to_force(self):
        """By routed messages, and by sources alone; a survey; memory at the same addresses."""
        recorded = self.recorded(4, self.launch(4, "busy"), "--mode", "races")
        for force in ("tagged", "pinned"):
            with self.subTest(force=force):
                self.assert_replays(recorded, "--force", force, seeds=(1, 2))
        self.assert_as_offline()
        self.assert_replays(recorded, seeds=(3,))  # each call is compared now
        recorded = self.recorded(4, self.launch(4, "replace"), "--same-addresses")
        self.assert_replays(recorded, seeds=(1,))

    def test_races(self):
        """As those of the same program that posts the receive and the send by themselves."""
        found = {}
        for form in ("one", "two"):
            for mode in ("races", "all"):
                with self.subTest(form=form, mode=mode):
                    recorded = self.recorded(4, self.launch(4, "order", form), "--mode", mode)
                    races = self.photofinish("races", self.dir / "t.pft", "--json").json()["races"]
                    found[form, mode] = sorted((race["receive"]["rank"], len(race["alternatives"])) for race in races)
                    calls = {race["receive"]["call"] for race in races}
                    self.assertEqual(calls, {"MPI_Isendrecv" if form == "one" else "MPI_Irecv"}, races)
                    if mode == "races":
                        self.assertIn("found 4 racing deliveries", recorded.err, recorded)
                    else:
                        checked = self.run_command(BIN / "pf_oracle_check", self.dir / "t.pft")
                        self.assertEqual(checked.status, 0, checked)
                    self.assert_replays(recorded, seeds=(1,))
        self.assertEqual(set(map(tuple, found.values())), {((0, 1), (0, 1), (0, 2), (0, 2))}, found)

    def test_events(self):
        """One event sends and posts; its completion takes."""
        self.recorded(4, self.launch(4, "order", "one"), "--mode", "all")
        events = self.photofinish("events", self.dir / "t.pft", "--rank", 0, "--json").json()["events"]
        made = [event for event in events if event["call"] == "MPI_Isendrecv"]
        self.assertEqual(({event["kind"] for event in made}, len(made)), ({"start"}, 12), events)
        self.assertEqual({event["bytes"] for event in made}, {4}, events)
        self.assertEqual(self.info()["messages"], 24, events)

    def test_flipped(self):
        """The other message is taken."""
        self.recorded(4, self.launch(4, "order", "one"))
        races = self.photofinish("races", "--json", self.dir / "t.pft").json()["races"]
        other = races[0]["alternatives"][0]
        flipped = self.photofinish("flip", self.dir / "t.pft", "1:1", "--replace", "-o", self.dir / "b.pft")
        self.assertEqual(flipped.status, 0, flipped)
        self.assertIn(f"took the message that rank {other['rank']}", flipped.err)
        again = self.replay("b.pft", "--jitter", 5)
        self.assertEqual((again.status, lines(again)), (0, lines(flipped)), again)

    def test_groups_alone(self):
        """Where the other half is outside, or both are."""
        for what, ranks in (("busy", 4), ("replace", 4), ("nobody", 4)):
            for groups, count in (("each", 4), ("0-1,2-3", 2)):
                for mode in ("outcomes", "all"):
                    with self.subTest(what=what, groups=groups, mode=mode):
                        recorded = self.recorded(ranks, self.launch(ranks, what), "--groups", groups, "--mode", mode)
                        said = []
                        for group in range(count):
                            alone = self.replay("t.pft", "--group", group)
                            self.assertEqual(alone.status, 0, f"{recorded}\n{alone}")
                            said += lines(alone)
                        self.assertEqual(sorted(said), lines(recorded), recorded)
                        self.assert_replays(recorded, seeds=(1,))

    def test_what_goes_outside_is_compared(self):
        """Of a program that sends something else now, alone or not."""
        (self.dir / "word").write_text("")
        for options, group in ((("--mode", "all"), ()), (("--groups", "each"), ("--group", "0"))):
            with self.subTest(options=options):
                self.recorded(4, self.launch(4, "order", "one", self.dir / "word"), *options)
                self.assertEqual(self.replay("t.pft", *group).status, 0)
                (self.dir / "word").write_text("x")
                other = self.replay("t.pft", *group)
                self.assertRegex(other.err, r"rank 0, event \d+: other contents than recorded\n(.*\n)* +got: +MPI_Isendrecv with other contents", other)
                self.assertEqual(other.status, 3, other)
                (self.dir / "word").write_text("")


main()
