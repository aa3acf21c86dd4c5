# SPDX-License-Identifier: GPL-3.0-or-later
"""A replay in which a message holds something else than it did: named with rank, event and both call sites."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

CONTENTS = BIN / "e2e" / "contents"
# form: the call that gives it
TOLD = {"send": "Send", "isend": "Isend", "start": "Start", "sendrecv": "Sendrecv", "replace": "Sendrecv_replace", "type": "Send",
        "bcast": "Bcast", "reduce": "Reduce", "allgather": "Allgather", "gather": "Gather", "scatterv": "Scatterv",
        "alltoall": "Ialltoall", "padded": "Send", "negative": "Send", "large": "Send"}


class ContentsTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", CONTENTS)
        self.word = self.dir / "word"
        self.word.write_text("plain\n")

    def recorded(self, *options):
        run = self.record("t.pft", self.mpirun(3, CONTENTS, self.word), *options)
        self.assertEqual(run.status, 0, run)
        return run

    def replayed(self, word, *options):
        self.word.write_text(word + "\n")
        return self.replay("t.pft", *options)

    def assert_told(self, run, call):
        self.assertRegex(run.err, r"rank 1, event \d+: other contents than recorded\n"
                                  rf" +expected: MPI_{call}\b.* at contents\.c:\d+\n"
                                  rf" +got: +MPI_{call} with other contents \(\d+ bytes\) at contents\.c:\d+", run)
        self.assertIn("done", run.out, run)  # it was not stopped

    def test_each_form(self):
        self.recorded("--mode", "all")
        for word, call in TOLD.items():
            with self.subTest(word=word):
                run = self.replayed(word)
                self.assert_told(run, call)
                self.assertRegex(run.err, r"with other contents than recorded, first at rank 1, event \d+", run)
                self.assertEqual(run.status, 3, run)

    def test_right_runs(self):
        """The same messages, though they hold addresses and memory that was never set; and gaps do not count."""
        run = self.recorded("--mode", "all")
        for word, seed in (("plain", 3), ("plain", 4), ("gap", 5)):
            self.assert_same_run(run, self.replayed(word, "--jitter", seed))

    def test_a_name_that_would_steer_the_terminal(self):
        """What it holds otherwise is shown as it is: at the start, by the ranks, at the end."""
        self.word = self.dir / "\x1b]0;title\x07\x9b31m \u00a7\u00c4"
        self.word.write_text("plain\n")
        os.utime(self.word, ns=(10**18, 10**18))
        self.recorded()
        told = self.replayed("plainer").err
        self.assertNotRegex(told, "[\x00-\x08\x0b-\x1f\x7f-\x9f]")
        self.assertGreaterEqual(len([line for line in told.splitlines() if "31m \u00a7\u00c4 " in line]), 3, told)

    def test_another_size_or_operation(self):
        self.recorded("--mode", "all")
        run = self.replayed("size")
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.err, r"divergence at rank 1, event 2\n +expected: MPI_Send to rank 0, tag 1 at contents\.c:\d+, "
                                  r"20 bytes\n +got: +MPI_Send, 36 bytes at contents\.c:\d+ \(f\)", run)
        run = self.replayed("operation")
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.err, r"divergence at rank 1, event \d+\n +expected: MPI_Reduce at .*\n +got: .*another operation", run)

    def test_after_a_survey(self):
        """A recording of choices knows no contents; those that its survey saw are compared from then on."""
        self.recorded()
        self.assertEqual(self.replayed("send").status, 0)
        self.word.write_text("plain\n")
        self.assertEqual(self.photofinish("replay", self.dir / "t.pft", "--survey").status, 0)
        self.assertEqual(self.replay("t.pft").status, 0)
        run = self.replayed("send")
        self.assert_told(run, "Send")
        self.assertEqual(run.status, 3, run)

    def test_to_ranks_outside_of_its_group(self):
        """They do not run, and nothing is sent; a recording of choices knows what was."""
        self.recorded("--groups", "each", "--mode", "outcomes")
        for seed in (3, 4):
            run = self.replayed("plain", "--group", "1", "--jitter", seed)
            self.assertEqual((run.status, run.err.count("other contents")), (0, 0), run)
        self.assertEqual(self.replayed("gap", "--group", "1").status, 0)
        for word, call in TOLD.items():
            with self.subTest(word=word):
                run = self.replayed(word, "--group", "1")
                self.assertRegex(run.err, rf"rank 1, event \d+: other contents than recorded\n(.*\n)*"
                                          rf" +got: +MPI_{call} with other contents \(\d+ bytes\) at contents\.c:\d+", run)
                self.assertRegex(run.err, r"with other contents than recorded, first at rank 1, event \d+", run)
                self.assertEqual(run.status, 3, run)
        run = self.replayed("size", "--group", "1")
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.err, r"divergence at rank 1, event 2\n +expected: MPI_Send.*20 bytes\n +got: +MPI_Send, 36 bytes at contents\.c:\d+ \(f\)", run)
        run = self.replayed("operation", "--group", "1")
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.err, r"divergence at rank 1, event \d+\n +expected: MPI_Reduce.*\n +got: .*another operation", run)
        # A replay of all knows it as well.
        run = self.replayed("isend")
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.err, r"rank 1, event 3: other contents than recorded\n +expected: MPI_Isend with the recorded contents\n"
                                  r" +got: +MPI_Isend with other contents \(4 bytes\) at contents\.c:\d+", run)

    def test_within_its_group(self):
        """What stays in the group is not recorded: its receivers run, and get what is sent."""
        self.recorded("--groups", "0+1", "--mode", "outcomes")
        run = self.replayed("send", "--group", "0")
        self.assertEqual((run.status, run.err.count("other contents")), (0, 0), run)
        run = self.replayed("sendrecv", "--group", "0")  # to rank 2
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.err, r"rank 1, event \d+: other contents than recorded", run)

    def test_with_all_events_of_groups(self):
        """As a recording with groups is unless choices are asked for: what stays in the group is compared, too."""
        self.recorded("--groups", "0+1")
        self.assertEqual(self.replayed("plain", "--group", "0").status, 0)
        for word, call in (("send", "Send"), ("sendrecv", "Sendrecv"), ("reduce", "Reduce")):
            with self.subTest(word=word):
                run = self.replayed(word, "--group", "0")
                self.assert_told(run, call)
                self.assertEqual(run.status, 3, run)

    def test_in_a_comparison(self):
        """Two recordings with the same calls: the first message that holds something else."""
        for trace, word in (("a.pft", "plain"), ("b.pft", "isend"), ("c.pft", "plain")):
            self.word.write_text(word + "\n")
            self.record(trace, self.mpirun(3, CONTENTS, self.word), "--mode", "all")
        run = self.photofinish("diff", self.dir / "a.pft", self.dir / "b.pft")
        self.assertRegex(run.out, r"other contents, first at rank 1 event 3: MPI_Isend to rank 0, tag 2 at contents\.c:\d+\n$", run)
        self.assertEqual(run.status, 0, run)
        run = self.photofinish("diff", self.dir / "a.pft", self.dir / "c.pft", "--json")
        self.assertEqual(run.json()["otherContents"], [], run)

    def test_ignored(self):
        self.recorded("--mode", "all")
        run = self.replayed("isend", "--ignore-contents")
        self.assert_told(run, "Isend")
        self.assertEqual(run.status, 0, run)


if __name__ == "__main__":
    main()
