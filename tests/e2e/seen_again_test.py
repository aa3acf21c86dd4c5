# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rank saw is what it sees again: which requests are done when a call fails, what a receive had taken when the run
hung, communicators made by threads; and its children are none of the rank's."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main, no_message_queues

E2E = BIN / "e2e"


class SeenAgainTest(PhotofinishTest):
    def test_a_failed_wait_completes_the_same_requests(self):
        self.need("mpirun", E2E / "failing")
        seen = []
        for mode in ("outcomes", "races", "all"):
            with self.subTest(mode=mode):
                recorded = self.record("t.pft", self.mpirun(4, E2E / "failing"), "--mode", mode)
                self.assertNotIn("-77777", recorded.out)
                self.assertIn("1:-9", recorded.out, "a refused receive leaves its status alone")
                seen.append(recorded.by_rank())
                for seed in (1, 2):
                    self.assert_same_run(recorded, self.replay("t.pft", "--jitter", seed))
        self.assertTrue(seen[0] != seen[1] and seen[1] != seen[2], "no two recordings saw the same: MPI has a choice")
        races = self.photofinish("races", self.dir / "t.pft")
        self.assertEqual(races.status, 0, races)

    def test_what_a_receive_had_taken_in_a_run_that_hung(self):
        self.need("mpirun", E2E / "stolen")
        for mode, how in (("all", ["many"]), ("outcomes", ["persistent"]), ("outcomes", []), ("all", [])):
            with self.subTest(mode=mode, how=how):
                recorded = self.record("t.pft", self.mpirun(3, E2E / "stolen", *how), "--end-stuck", "--mode", mode, status=None)
                self.assertIn("makes no progress", recorded.err, recorded)
                replayed = self.replay("t.pft", limits=no_message_queues)
                self.assertNotIn("fine", replayed.out, replayed)
                self.assertIn("MPI_Recv", replayed.err, replayed)
                races = self.photofinish("races", self.dir / "t.pft", "--json")
                self.assertEqual(races.status, 0, races)
                self.assertRegex(races.out, r"stolen\.c", f"the race of the pending receive\n{races}")

    def test_what_a_receive_may_have_taken_in_a_run_that_crashed(self):
        self.need("mpirun", E2E / "stolen")
        text = "buffer of a receive from any source that was pending where the record ends"
        for mode in ("outcomes", "races", "all"):
            for how, noted in (("pending", True), ("taken", False), ("exit", False)):
                with self.subTest(mode=mode, how=how):
                    recorded = self.record("t.pft", self.mpirun(2, E2E / "stolen", how), "--mode", mode, status=None)
                    self.assertNotEqual(recorded.status, 0, recorded)
                    notes = self.info()["notGuaranteed"]
                    self.assertEqual([note["rank"] for note in notes], [0] if noted else [], recorded)
                    if noted:
                        place = r", posted at stolen\.c:\d+" if mode == "all" else ""  # choices have no places
                        self.assertRegex(notes[0]["text"], rf"^{text}{place}$")
                        self.assertRegex(recorded.err, rf"note: {text}{place}: what is decided there is not recorded")
                        self.assertRegex(self.replay("t.pft").err, rf"note: {text}{place}: .*may differ")
        self.record("t.pft", self.mpirun(3, E2E / "stolen"), limits=no_message_queues)
        self.assertEqual(self.info()["notGuaranteed"], [], "it ended as it should")

    def test_threads_that_make_communicators(self):
        self.need("mpirun", E2E / "makers")
        recorded = self.record("t.pft", self.mpirun(3, E2E / "makers"))
        self.assertEqual(len(recorded.by_rank()), 3, recorded)
        for seed in (None, 1, 2, 3):
            self.assert_same_run(recorded, self.replay("t.pft", *(["--jitter", seed] if seed else [])))

    def test_children_are_not_the_rank(self):
        self.need("mpirun", E2E / "children")
        for mode in ("outcomes", "all"):
            with self.subTest(mode=mode):
                recorded = self.record("t.pft", self.mpirun(2, E2E / "children"), "--mode", mode)
                for how in range(3):
                    self.assertEqual(recorded.out.count(f"child {how}: exit 7"), 2, recorded)
                self.assert_same_run(recorded, self.replay("t.pft"))


if __name__ == "__main__":
    main()
