# SPDX-License-Identifier: GPL-3.0-or-later
"""What one-sided communication brings is given back: tickets, locks of the program's own, what the last one wrote."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main
from tagged_output import launches_by_prrte

PROGRAM = BIN / "e2e" / "fetches"
GAPS = BIN / "e2e" / "gaps"
# Open MPI 4.1.4's default crashes in MPI_Compare_and_swap with oneself, without us.
# Open MPI 5 has no such component, and needs none for what is tested.
CHOSEN = [] if launches_by_prrte() else ["--mca", "osc", "pt2pt"]


class OneSidedTest(PhotofinishTest):
    def launch(self, ranks=4, program=PROGRAM):
        launcher, *rest = self.mpirun(ranks, program)
        return [launcher, *CHOSEN, *rest]

    def test_a_replay_fetches_what_the_recording_did(self):
        self.need("mpirun", PROGRAM)
        seen = set()
        for mode in ("outcomes", "races", "all"):
            with self.subTest(mode=mode):
                for turn in range(5):  # on a busy machine two may see the same
                    recorded = self.record(f"{mode}{turn}.pft", self.launch(), "--mode", mode)
                    fetched = str(sorted(recorded.by_rank().items()))
                    if fetched not in seen:
                        break
                seen.add(fetched)
                for seed in (1, 2, 3):
                    self.assert_same_run(recorded, self.replay(f"{mode}{turn}.pft", "--jitter", seed))
        self.assertEqual(len(seen), 3, "no two recordings saw the same: there is something to give back")

    def test_a_survey_gives_them_back_and_what_is_not_covered_is_said(self):
        recorded = self.record("t.pft", self.launch())
        for name in ("MPI_Win_lock_all", "MPI_Put", "MPI_Win_allocate"):
            self.assertRegex(recorded.err, rf"note: .*{name} at fetches\.c:\d+.*not recorded", recorded)
        for name in ("MPI_Fetch_and_op", "MPI_Get_accumulate", "MPI_Win_flush"):
            self.assertNotIn(name, recorded.err)
        self.replay("t.pft", "--survey")
        self.assert_same_run(recorded, self.replay("t.pft", "--jitter", 4))

    def test_elements_with_gaps_come_back_whole_and_what_is_between_them_stays(self):
        self.need("mpirun", GAPS)
        for mode in ("outcomes", "all"):
            recorded = self.record("t.pft", self.launch(3, GAPS), "--mode", mode)
            self.assertEqual(recorded.out.count("wrong: 0"), 3, recorded)
            for seed in (1, 2):
                self.assert_same_run(recorded, self.replay("t.pft", "--jitter", seed))


if __name__ == "__main__":
    main()
