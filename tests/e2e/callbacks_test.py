# SPDX-License-Identifier: GPL-3.0-or-later
"""Callbacks of the application inside of MPI that do what few do: leave it by longjmp, free communicators."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main


class CallbackTest(PhotofinishTest):
    def assert_recorded_and_replayed(self, program, ranks, wildcards):
        self.need("mpirun", BIN / "e2e" / program)
        for mode in ("outcomes", "all"):
            with self.subTest(mode=mode):
                recorded = self.record("t.pft", self.mpirun(ranks, BIN / "e2e" / program), "--mode", mode)
                self.assertIn("No Errors", recorded.out)
                info = self.photofinish("info", self.dir / "t.pft", "--json").json()
                self.assertTrue(info["complete"], info)
                self.assertEqual(info["wildcardReceives"], wildcards)
                for seed in (1, 2, 3):
                    self.assert_same_run(recorded, self.replay("t.pft", "--jitter", seed))
                races = self.photofinish("races", self.dir / "t.pft", "--json")
                self.assertEqual(races.status, 0, races)
                self.assert_same_run(recorded, self.replay("t.pft"))

    def test_error_handler_that_jumps_out(self):
        self.assert_recorded_and_replayed("handler_jumps", 4, 3)

    def test_communicator_freed_in_a_delete_function(self):
        self.assert_recorded_and_replayed("freed_in_callback", 3, 4)

    def test_what_chooses_in_a_callback_is_noted(self):
        """It is not recorded: nothing of it is to look as if it were."""
        self.need("mpirun", BIN / "e2e" / "starts_in_callback")
        self.record("t.pft", self.mpirun(3, BIN / "e2e" / "starts_in_callback"))
        notes = [note["text"] for note in self.photofinish("info", self.dir / "t.pft", "--json").json()["notGuaranteed"]]
        for call in ("MPI_Start", "MPI_Startall", "MPI_Request_get_status", "MPI_Win_test"):
            self.assertTrue(any(f"{call} " in f"{note} " for note in notes), (call, notes))


if __name__ == "__main__":
    main()
