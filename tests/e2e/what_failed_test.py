# SPDX-License-Identifier: GPL-3.0-or-later
"""How a run failed is told in one sentence, wherever it is told; and a program that only returns 1 has failed."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

TALLY = BIN / "e2e" / "tally"


class WhatFailedTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", TALLY)

    def record_failing(self, ranks, *program, status):
        for seed in range(1, 60):
            (self.dir / "t.pft").unlink(missing_ok=True)
            run = self.photofinish("record", "-o", self.dir / "t.pft", "--jitter", seed, "--mode", "all", *self.mpirun(ranks, *program))
            if run.status == status and not run.launcher_failed:
                return run
        self.fail("no run of 60 failed")

    def test_an_exit_status_is_a_failure(self):
        run = self.record_failing(4, TALLY, status=1)
        trace = self.dir / "t.pft"
        events = [each for each in self.photofinish("events", trace, "--rank", 0, "--json").json()["events"]]
        said = f"rank 0 ended with exit status 1 after event {len(events)}"
        self.assertIn(f"photofinish:   {said}\n", run.err)
        self.assertIn(f"failed    {said}\n", self.photofinish("info", trace).out)
        self.assertEqual(self.photofinish("info", trace, "--json").json()["failed"], {"rank": 0, "text": said})
        # Races are ranked by it, and it can be gone to.
        last = max(each["serial"] for each in events if each["call"] == "MPI_Recv")
        races = self.photofinish("races", trace).out
        self.assertRegex(races, r"look first at number \d+, the last of the rank that failed before it failed: rank 0 event \d+ MPI_Recv")
        self.assertIn(f"rank 0 is stopped just before its event {last}: MPI_Recv", self.replay("t.pft", "--until-failure").err)
        (self.dir / "s").write_text(f"to-failure\nexpect before event {last}: MPI_Recv\n")
        script = self.photofinish("debug", "--script", self.dir / "s", trace)
        self.assertEqual(script.status, 0, script)
        report = self.photofinish("debug", "--offline", "-o", self.dir / "r.txt", trace, timeout=120)
        self.assertEqual(report.status, 1, report)
        self.assertIn(said, (self.dir / "r.txt").read_text())

    def test_a_signal_is_told_before_those_that_the_launcher_ended(self):
        run = self.record_failing(6, BIN / "corpus" / "segfault_in_order", status=139)
        lines = [line for line in run.err.splitlines() if line.startswith("photofinish:   ")]
        self.assertRegex(lines[0], "rank 0 was ended by SIGSEGV after event [0-9]+$")
        self.assertLessEqual(len(lines), 5, run)

    def test_a_right_run_has_not_failed(self):
        self.record("t.pft", self.mpirun(2, BIN / "corpus" / "two_rank_wildcard"))
        self.assertNotIn("failed", self.photofinish("info", self.dir / "t.pft").out)
        self.assertIsNone(self.photofinish("info", self.dir / "t.pft", "--json").json()["failed"])


if __name__ == "__main__":
    main()
