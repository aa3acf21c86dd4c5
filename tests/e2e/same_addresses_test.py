# SPDX-License-Identifier: GPL-3.0-or-later
"""--same-addresses: the memory of a program lies in each replay where it lay in the recording."""
import os
import pty
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, FULL, PhotofinishTest, main

REPLAYS = 20 if FULL else 5
PROGRAM = BIN / "e2e" / "addresses"


class SameAddressesTest(PhotofinishTest):
    def cycles(self, *arguments, times=REPLAYS, options=()):
        self.need("mpirun", PROGRAM)
        recorded = self.record("t.pft", self.mpirun(3, PROGRAM, *arguments), "--same-addresses", "--jitter", "7", *options)
        self.assertEqual(recorded.out.count(" all "), 3, recorded)
        for seed in range(1, times + 1):
            # Variables of the shell differ, in number and length.
            more = {f"PF_OTHER_{i}": "x" * 97 * seed for i in range(seed)}
            more["PF_LONG"] = "x" * (40000 if seed % 3 == 0 else 0)
            replayed = self.replay("t.pft", "--jitter", str(seed), env=more)
            self.assert_same_run(recorded, replayed)
        return recorded

    def test_everything_lies_where_it_did(self):
        recorded = self.cycles()
        survey = self.replay("t.pft", "--survey")
        self.assertEqual(survey.status, 0, survey)
        self.assert_same_run(recorded, self.replay("t.pft", "--same-addresses"))

    def test_with_threads_and_all_events(self):
        self.cycles("threads", times=REPLAYS // 2, options=("--mode", "all"))

    def test_without_it_nothing_does(self):
        self.need("mpirun", PROGRAM)
        recorded = self.record("t.pft", self.mpirun(3, PROGRAM))
        self.assertNotEqual(recorded.by_rank(), self.replay("t.pft").by_rank(), "the program does not see its addresses")
        self.assert_refused(self.replay("t.pft", "--same-addresses"), 2, "recorded without --same-addresses")

    def test_output_to_a_terminal_changes_nothing(self):
        """A stream's buffer is as large as its terminal or file wants it."""
        self.need(PROGRAM)
        recorded = self.record("t.pft", [PROGRAM], "--same-addresses")
        ours, theirs = pty.openpty()
        with subprocess.Popen([BIN / "photofinish", "replay", self.dir / "t.pft"], env=self.env, cwd=self.dir, stdout=theirs,
                              stdin=subprocess.DEVNULL) as process:
            os.close(theirs)
            out = b""
            try:
                while chunk := os.read(ours, 4096):
                    out += chunk
            except OSError:  # the other end is closed
                pass
            self.assertEqual(process.wait(60), 0)
        os.close(ours)
        self.assertEqual(out.decode().replace("\r", ""), recorded.out)

    def test_behind_a_shell(self):
        self.need("mpirun", PROGRAM)
        recorded = self.record("t.pft", self.mpirun(2, "sh", "-c", f"{PROGRAM}; true"), "--same-addresses")
        self.assert_same_run(recorded, self.replay("t.pft", env={"PF_OTHER": "x" * 999}))


if __name__ == "__main__":
    main()
