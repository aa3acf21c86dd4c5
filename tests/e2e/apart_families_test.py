# SPDX-License-Identifier: GPL-3.0-or-later
"""Every MPI routine in groups that are replayed alone: each rank prints what it printed in the job, or the recording has
named the routine that its group cannot do alone, and the replay ends there and says so. There is nothing else.

PF_FULL=1: each family of tests/families is a program of its own; of groups of one rank, and two partitions in pairs; in both
modes; and the same under MPICH. PF_FROM: from this one on. All families are in it, and their counts are printed.
"""
import collections
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from groups_alone import groups_of, refused
from photofinish import BIN, FULL, PhotofinishTest, main
from tagged_output import Torn

PROGRAM = BIN / "families" / "families"
MPICH = BIN / "families" / "families_mpich"
RANKS = 4
SPECS = ("each", "0-1,2-3", "0+3,1+2")
# On MPI_COMM_WORLD they cannot be done by a group alone: windows, files, a receive that is freed while it goes on, and
# inter-communicators made of others.
# What callbacks receive from any source is noted as not recorded, and a group alone waits for it, and says so.
IN_CALLBACKS = re.compile(r"errhandler|attributes_receive$")
NOT_ALONE = re.compile(r"win_|rma_|file_|cancel_free|request_free|intercomm_children$")
WAITS = "nothing gets on in the replay"
# Within MPI_Comm_call_errhandler, which is no event: nobody sees that a rank waits there.
SILENT = ("errhandler_called",)
SAYS = re.compile(r"rank (\d+) (\w+): (\w+ .*)")


def lines_of(run, rank):
    """(family, what it said) of each line; of one that PRRTE has torn only that it is there (Torn)."""
    by_rank = run.by_rank()
    if not by_rank:  # without tags: the lines of all
        return [(family, said) for number, family, said in SAYS.findall(run.out) if int(number) == rank]
    for lines in by_rank.values():  # of the launcher's ranks
        matches = [SAYS.fullmatch(line) for line in lines]
        number = collections.Counter(int(match[1]) for match in matches if match).most_common(1)
        if number and number[0][0] == rank:
            whole = [match and int(match[1]) == rank for match in matches]
            return [(match[2], match[3]) if known else line for match, known, line in zip(matches, whole, lines) if known or isinstance(line, Torn)]
    return []


class ApartFamiliesTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", PROGRAM)

    def families(self, program):
        run = self.run_command(program, "--list")
        self.assertEqual(run.status, 0, run)
        return run.out.split()

    def check(self, launch, families, spec, mode="outcomes"):
        """Gives the routines that were refused."""
        recorded = self.record("t.pft", [*launch, "--apart", *families], "--groups", spec, "--mode", mode, timeout=180)
        said = lines_of(recorded, 0)
        whole = {each[0] for each in said if not isinstance(each, Torn)}
        self.assertEqual(whole - set(families), set(), recorded)
        self.assertLessEqual(len(set(families) - whole), len(said) - len(whole), recorded)  # no more than were torn
        self.assertNotIn("WRONG", recorded.out)
        not_alone = refused(recorded)
        for number, group in enumerate(groups_of(spec, RANKS)):
            with self.subTest(group=group):
                alone = self.replay("t.pft", "--group", number, *(["--tag-output"] if len(group) > 1 and launch[0] == "mpirun" else []), timeout=180)
                self.check_group(recorded, alone, group, not_alone)
        return set(not_alone.values())

    def check_group(self, recorded, alone, group, not_alone):
        stops = [rank for rank in group if rank in not_alone]
        for rank in group:
            there, here = lines_of(recorded, rank), lines_of(alone, rank)
            if stops:
                self.assertEqual(here, there[:len(here)], f"rank {rank}\n{recorded}\n{alone}")
            else:
                self.assertEqual(here, there, f"rank {rank}\n{recorded}\n{alone}")
        if not stops:
            self.assertEqual(alone.status, 0, alone)
            return
        self.assertEqual(alone.status, 3, alone)
        for rank in stops:
            self.assertRegex(alone.err, rf"rank {rank} can be replayed alone only up to {not_alone[rank]} at \w+\.c:\d+", alone)
        self.assertRegex(alone.err, r"replay divergence at rank \d+, event \d+\n.*\n.*(which needs ranks that do not run|what followed could not be kept)", alone)

    def test_all_that_groups_can_do(self):
        families = [family for family in self.families(PROGRAM) if not NOT_ALONE.match(family) and not IN_CALLBACKS.match(family)]
        for spec in SPECS[:2]:
            with self.subTest(spec=spec):
                self.assertEqual(self.check(self.mpirun(RANKS, PROGRAM), families, spec), set())

    def test_what_they_cannot_do_is_named(self):
        for families, routine in ((["send", "win_create", "bcast"], "MPI_Win_create"), (["recv", "file_at", "bcast"], "MPI_File_open"),
                                  (["cancel_free"], "MPI_Request_free"),
                                  (["intercomm_children"], "MPI_Comm_split")):
            with self.subTest(families=families):
                self.assertEqual(self.check(self.mpirun(RANKS, PROGRAM), families, "each"), {routine})

    def check_callback(self, launch, family, spec):
        """What a callback received from anyone is recorded, or noted: then a replay waits for it, and says so. Whether all ranks went on."""
        recorded = self.record("t.pft", [*launch, "--apart", family], "--groups", spec, timeout=180)
        all_went_on = True
        for number, group in enumerate(groups_of(spec, RANKS)):
            with self.subTest(family=family, spec=spec, group=group):
                tagged = ["--tag-output"] if len(group) > 1 and launch[0] == "mpirun" else []
                with self.start([BIN / "photofinish", "replay", self.dir / "t.pft", "--group", number, "--stall-after", 1, *tagged]) as command:
                    end = time.monotonic() + (5 if family in SILENT else 60)
                    while command.process.poll() is None and WAITS not in command.errors() and time.monotonic() < end:
                        time.sleep(0.05)
                    if command.process.poll() is None:
                        os.kill(command.pid, signal.SIGINT)
                    alone = command.finish(60)
                for rank in group:
                    there, here = lines_of(recorded, rank), lines_of(alone, rank)
                    self.assertEqual(here, there if alone.status == 0 else there[:len(here)], f"{recorded}\n{alone}")
                if alone.status != 0:
                    all_went_on = False
                    self.assertRegex(recorded.err, r"not recorded|replay is not guaranteed|may differ", recorded)
                    self.assertTrue(family in SILENT or re.search(rf"{WAITS}|divergence", alone.err), alone)
        return all_went_on

    def test_what_callbacks_receive(self):
        self.check_callback(self.mpirun(RANKS, PROGRAM), "errhandler_race", "each")

    def one_by_one(self, launch, program):
        kept, named, waits = set(), {}, set()
        families = self.families(program)[int(os.environ.get("PF_FROM", "0")):]
        for family in families:
            if IN_CALLBACKS.match(family):
                if not all([self.check_callback(launch, family, spec) for spec in SPECS]):
                    waits.add(family)
                else:
                    kept.add(family)
                continue
            for turn, spec in enumerate(SPECS):
                with self.subTest(family=family, spec=spec):
                    routines = self.check(launch, [family], spec, ("outcomes", "all")[turn % 2])
                    if routines:
                        named[family] = routines
                    else:
                        kept.add(family)
        print(f"{len(families)} families, each in {len(SPECS)} divisions: {len(kept)} replayed apart; {len(waits)} noted, as a callback receives "
              f"from anyone ({', '.join(sorted(waits))}); named while they were recorded: "
              + "; ".join(f"{family} ({', '.join(sorted(routines))})" for family, routines in sorted(named.items())), file=sys.stderr)
        self.assertFalse(kept & set(named))
        self.assertEqual(kept | waits | set(named), set(families))

    def test_one_by_one(self):
        if not FULL:
            self.skipTest("PF_FULL=1")
        self.one_by_one(self.mpirun(RANKS, PROGRAM), PROGRAM)

    def test_one_by_one_under_mpich(self):
        if not FULL:
            self.skipTest("PF_FULL=1")
        self.need("mpiexec.mpich", MPICH)
        self.one_by_one(["mpiexec.mpich", "-n", RANKS, MPICH], MPICH)


if __name__ == "__main__":
    main()
