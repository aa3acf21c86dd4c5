# SPDX-License-Identifier: GPL-3.0-or-later
"""A group of a recorded job is replayed alone: each of its ranks receives, to the byte, what it received in the job.

PF_FULL=1: more partitions, every time under jitter. PF_RANDOM, PF_SEED: random programs (tests/random), and where they begin.
"""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, FULL, PhotofinishTest, main

APART = BIN / "e2e" / "apart"
RANDOM = BIN / "random" / "random_program"
HASH = re.compile(r"rank (\d+) hash ([0-9a-f]{16} events \d+)")
COUNT = int(os.environ.get("PF_RANDOM", "100" if FULL else "8"))
FIRST = int(os.environ.get("PF_SEED", "1"))
RECEIVED = re.compile(r"rank (\d+) of \d+ received ([0-9a-f]{16})")
PARTITIONS = [("each", 6), ("0-1,2-3,4-5", 6), ("0+2+4,1+3+5", 6), ("0+5,1-4", 6)]
PARTITIONS += [("all", 6), ("0-2", 5), ("0-3,4-5", 6), ("each", 3), ("0-6,7", 8), ("each", 2)] if FULL else []


def received(run):
    return dict(RECEIVED.findall(run.out))


class ApartTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", APART)

    def replay_each_group(self, groups, recorded, *options, status=0):
        for number, ranks in enumerate(groups):
            alone = self.replay("t.pft", "--group", number, *options)
            self.assertEqual(alone.status, status, alone)
            self.assertEqual(received(alone), {str(rank): recorded[str(rank)] for rank in ranks}, f"group {number} of {groups}\n{alone}")

    @staticmethod
    def groups_of(spec, ranks):
        """By the SPEC's own words."""
        if spec in ("each", "all"):
            return [[rank] for rank in range(ranks)] if spec == "each" else [list(range(ranks))]
        groups = []
        for text in spec.split(","):
            group = []
            for piece in text.split("+"):
                first, _, last = piece.partition("-")
                group += range(int(first), int(last or first) + 1)
            groups.append(group)
        named = {rank for group in groups for rank in group}
        groups += [[rank] for rank in range(ranks) if rank not in named]
        return sorted(groups)

    def test_each_group_receives_what_it_received(self):
        for spec, ranks in PARTITIONS:
            with self.subTest(spec=spec, ranks=ranks):
                recorded = received(self.record("t.pft", self.mpirun(ranks, APART), "--groups", spec))
                self.assertEqual(len(recorded), ranks)
                self.assertEqual(received(self.replay("t.pft")), recorded, "and all of them together")
                self.replay_each_group(self.groups_of(spec, ranks), recorded)
                if FULL:
                    self.replay_each_group(self.groups_of(spec, ranks), recorded, "--jitter", 3)

    def test_with_events_and_of_several_groups(self):
        recorded = received(self.record("t.pft", self.mpirun(4, APART), "--groups", "0-1", "--mode", "all"))
        self.replay_each_group([[0, 1], [2], [3]], recorded, "--jitter", 2)
        both = self.replay("t.pft", "--ranks", "3,0,1")
        self.assertEqual(received(both), {rank: recorded[rank] for rank in "013"}, both)
        self.assertEqual(self.replay("t.pft", "--group", 2, "--until", "3:20", stdin=subprocess.DEVNULL).status, 0)

    def test_random_programs(self):
        self.need(RANDOM)
        for seed in range(FIRST, FIRST + COUNT):
            ranks = 2 + seed % 4
            spec = ("each", "0+1", "0-1,2-3,4", "1-2")[seed // 4 % 4] if ranks > 4 else ("each", "0-1")[seed // 4 % 2]
            with self.subTest(seed=seed, ranks=ranks, spec=spec):
                mode = "all" if seed % 3 == 0 else "outcomes"
                recorded = self.record("t.pft", self.mpirun(ranks, RANDOM, seed, 4, "--apart"), "--groups", spec, "--mode", mode)
                hashes = dict(HASH.findall(recorded.out))
                self.assertEqual(len(hashes), ranks, recorded)
                for number, group in enumerate(self.groups_of(spec, ranks)):
                    alone = self.replay("t.pft", "--group", number, *(("--jitter", seed) if seed % 2 else ()))
                    self.assertEqual(alone.status, 0, alone)
                    self.assertEqual(dict(HASH.findall(alone.out)), {str(rank): hashes[str(rank)] for rank in group}, alone)

    def test_under_mpich(self):
        self.need("mpiexec.mpich", BIN / "libphotofinish_mpich.so", "mpicc.mpich")
        program = self.dir / "apart"
        source = pathlib.Path(__file__).parent / "programs" / "apart.c"
        subprocess.run(["mpicc.mpich", "-g", "-o", program, source], check=True, stderr=subprocess.DEVNULL)
        recorded = received(self.record("t.pft", ["mpiexec.mpich", "-n", "4", program], "--groups", "0+3"))
        self.replay_each_group([[0, 3], [1], [2]], recorded)

    def test_a_run_that_aborts(self):
        recorded = self.record("t.pft", self.mpirun(3, APART, "abort"), "--groups", "each", status=None)
        self.assertNotEqual(recorded.status, 0, recorded)
        for rank in range(3):
            alone = self.replay("t.pft", "--group", rank, "--stop-at-end", stdin=subprocess.DEVNULL)
            self.assertEqual(received(alone), {str(rank): received(recorded)[str(rank)]}, alone)

    def test_what_no_group_can_do_alone_is_said_while_it_is_recorded(self):
        recorded = self.record("t.pft", self.mpirun(3, APART, "window"), "--groups", "0-1")
        self.assertRegex(recorded.err, r"rank 2: MPI_Win_create cannot be replayed by a group alone")
        alone = self.replay("t.pft", "--group", 1)
        self.assertNotEqual(alone.status, 0, f"what is not there is not made up\n{alone}")
        self.assertRegex(alone.err, r"got: *MPI_Win_create, which needs ranks that do not run")
        together = self.replay("t.pft")
        self.assertEqual(received(together), received(recorded), together)

    def test_without_groups_nothing_of_a_message_is_kept(self):
        self.record("t.pft", self.mpirun(3, APART))
        self.assertIsNone(self.info()["contents"])
        refused = self.replay("t.pft", "--group", 0)
        self.assert_refused(refused, 2, "no contents of messages", "Record with --groups")

    def test_bad_use(self):
        for words, said in ((("x",), "'x' is neither a rank nor a range of ranks"), (("0-1,1-2",), "1"), (("each", "--mode", "races"), "mode races")):
            run = self.photofinish("record", "--groups", *words, *self.mpirun(2, APART))
            self.assertNotEqual(run.status, 0, run)
            self.assertIn(said, run.err, run)
        beyond = self.photofinish("record", "-o", self.dir / "b.pft", "--groups", "0-7", *self.mpirun(2, APART))
        self.assertNotEqual(beyond.status, 0, beyond)
        self.assertRegex(beyond.err, "there is no rank '7'", beyond)
        self.record("t.pft", self.mpirun(4, APART), "--groups", "0-1,2-3")
        self.assert_refused(self.replay("t.pft", "--group", 2), 2, "no group 2", "0 to 1")
        self.assert_refused(self.replay("t.pft", "--ranks", "0,2"), 2, "no groups of the trace", "0-1, 2-3")
        self.assert_refused(self.replay("t.pft", "--ranks", "9"), 2, "no rank 9")
        self.assert_refused(self.replay("t.pft", "--group", 0, "--until", "3:4"), 2, "rank 3")
        redacted = self.photofinish("redact", self.dir / "t.pft", self.dir / "r.pft")
        self.assertEqual(redacted.status, 0, redacted)
        self.assertNotEqual(self.replay("r.pft", "--group", 0).status, 0)

    def test_one_rank_needs_no_launcher(self):
        recorded = received(self.record("t.pft", self.mpirun(4, APART), "--groups", "each"))
        with self.start([BIN / "photofinish", "replay", self.dir / "t.pft", "--group", 2, "--until", "2:9"], stdin=subprocess.PIPE) as replay:
            replay.wait_for(lambda: "attach a debugger" in replay.errors())
            self.assertEqual((len(replay.find("apart")), replay.find("mpirun")), (1, []))
            replay.process.stdin.write(b"\n")
            replay.process.stdin.close()
            alone = replay.finish()
        self.assertEqual(received(alone), {"2": recorded["2"]}, alone)


if __name__ == "__main__":
    main()
