# SPDX-License-Identifier: GPL-3.0-or-later
"""Every MPI routine in groups that are replayed alone: each rank prints what it printed in the job, or the recording has
named the routine that its group cannot do alone, and the replay ends there and says so. There is nothing else.

PF_FULL=1: each family of tests/families is a program of its own; of groups of one rank, and two partitions in pairs; in both
modes; and the same under MPICH.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from groups_alone import groups_of, refused
from photofinish import BIN, FULL, PhotofinishTest, main

PROGRAM = BIN / "families" / "families"
MPICH = BIN / "families" / "families_mpich"
RANKS = 4
SPECS = ("each", "0-1,2-3", "0+3,1+2")
# On MPI_COMM_WORLD they cannot be done by a group alone: windows, files, a receive that is freed while it goes on, and
# inter-communicators made of others.
# What callbacks receive from any source is noted as not recorded, and a group alone waits for it.
IN_CALLBACKS = re.compile(r"errhandler|attributes_receive$")
NOT_ALONE = re.compile(r"win_|rma_|file_|cancel_free|request_free|intercomm_children$")
SAYS = re.compile(r"rank (\d+) (\w+): (\w+ .*)")


def lines_of(run, rank):
    by_rank = run.by_rank()  # the launcher's ranks; without a launcher none
    text = "\n".join(line for lines in by_rank.values() for line in lines) if by_rank else run.out
    return [(family, said) for number, family, said in SAYS.findall(text) if int(number) == rank]


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
        self.assertEqual({family for family, _ in lines_of(recorded, 0)}, set(families), recorded)
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

    def one_by_one(self, launch, program):
        kept, named = set(), {}
        for family in self.families(program):
            if IN_CALLBACKS.match(family):
                continue
            for turn, spec in enumerate(SPECS):
                with self.subTest(family=family, spec=spec):
                    routines = self.check(launch, [family], spec, ("outcomes", "all")[turn % 2])
                    if routines:
                        named[family] = routines
                    else:
                        kept.add(family)
        print(f"{len(kept)} families replayed apart; named while they were recorded: "
              + "; ".join(f"{family} ({', '.join(sorted(routines))})" for family, routines in sorted(named.items())), file=sys.stderr)
        self.assertFalse(kept & set(named))

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
