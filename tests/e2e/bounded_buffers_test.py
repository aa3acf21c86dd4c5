# SPDX-License-Identifier: GPL-3.0-or-later
"""replay --bounded-buffers: no more unexpected messages than the recording had, and never a hang."""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main


class BoundedBuffersTest(PhotofinishTest):
    def unexpected(self, run):
        found = re.search(r"unexpected (\w+) (\d+)", run.err)
        self.assertIsNotNone(found, run)
        if found[1] != "most":
            self.skipTest("this MPI does not count unexpected messages")
        return int(found[2])

    def test_slow_senders_recorded_a_slow_receiver_replayed(self):
        self.need("mpirun", BIN / "e2e" / "floods")
        recorded = self.record("t.pft", self.mpirun(3, BIN / "e2e" / "floods"), env={"PF_SLOW": "sender"})
        had = self.unexpected(recorded)
        free = self.replay("t.pft", env={"PF_SLOW": "receiver"})
        self.assert_same_run(recorded, free)
        self.assertGreater(self.unexpected(free), 5, "nothing piles up without gates: the test shows nothing")
        for seed in ("0", "1", "2"):
            held = self.replay("t.pft", "--bounded-buffers", "--jitter", seed, env={"PF_SLOW": "receiver"})
            self.assert_same_run(recorded, held)
            # Each receive here can be posted before its message is sent, so none need be unexpected.
            self.assertEqual(self.unexpected(held), 0, held)
            self.assertLessEqual(self.unexpected(held), had, held)
            self.assertNotIn("no rank could go on", held.err)

    def test_no_replay_hangs(self):
        corpus = BIN / "corpus"
        for name in ("sendrecv_any", "large_messages", "iprobe_loop", "mprobe_mrecv", "persistent_any", "ssend_ordered",
                     "waitany_workers", "testsome_poll", "cancel_pending", "ibarrier_nbx", "segfault_in_order", "preposted_explicit"):
            with self.subTest(name=name):
                self.need("mpirun", corpus / name)
                recorded = self.record("t.pft", self.mpirun(4, corpus / name), "--mode", "all", "--jitter", "3", status=None)
                held = self.replay("t.pft", "--bounded-buffers", "--jitter", "5")
                self.assert_same_run(recorded, held)
                self.assertNotIn("no rank could go on", held.err, held)

    def test_refused(self):
        self.need("mpirun", BIN / "e2e" / "lanes")
        self.record("t.pft", self.mpirun(3, BIN / "e2e" / "lanes", "wildcard"))
        self.assert_refused(self.replay("t.pft", "--bounded-buffers"), 2, "several threads")
        self.assertEqual(self.replay("t.pft", "--bounded-buffers", "--until", "0:1").status, 2)


if __name__ == "__main__":
    main()
