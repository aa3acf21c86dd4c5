# SPDX-License-Identifier: GPL-3.0-or-later
"""Mode races: clocks travel and races are found while the program runs.

What each rank traced on the fly is held against the same algorithms run offline on the surveyed execution
(pf_online_check). A trace of mode races holds, after a clean end, only the sources of receives that raced: its replays
must be the same all the same. PF_RANDOM, PF_SEED: as in random_programs_test.py.
"""
import json
import os
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, FULL, JITTERS, SOURCE, PhotofinishTest, main

PROGRAM = BIN / "random" / "random_program"
COUNT = int(os.environ.get("PF_RANDOM", "200" if FULL else "3"))
FIRST = int(os.environ.get("PF_SEED", "1"))
ALGORITHMS = ("meehan", "netzer-miller", "algorithm-a", "algorithm-b")
EXPECTED = json.loads((SOURCE / "tests" / "corpus" / "expected.json").read_text())["programs"]
CORPUS = ("irecv_any_waitall", "waitany_workers", "testsome_poll", "mprobe_mrecv", "iprobe_loop", "cancel_pending",
          "persistent_any", "preposted_explicit", "subcommunicators", "tags_nontransitive", "bcast_orders_root",
          "reduce_orders_root", "ibarrier_nbx", "request_free", "sendrecv_any", "tested_then_taken", "large_messages")


class RacesModeTest(PhotofinishTest):
    def record_races(self, ranks, *words, algorithm="meehan", status=0, options=()):
        return self.record("t.pft", self.mpirun(ranks, *words), "--mode", "races", "--algorithm", algorithm, *options,
                           status=status)

    def test_random_programs(self):
        self.need("mpirun", PROGRAM)
        for seed in range(FIRST, FIRST + COUNT):
            ranks = 2 + seed % 4
            algorithm = ALGORITHMS[seed // 4 % 4] if seed % 2 else "meehan"
            with self.subTest(seed=seed, ranks=ranks, algorithm=algorithm):
                recorded = self.record_races(ranks, PROGRAM, seed, 4, algorithm=algorithm, options=("--jitter", seed))
                for jitter in JITTERS:
                    self.assert_same_run(recorded, self.replay("t.pft", "--jitter", jitter))
                self.assert_as_offline()

    def test_what_a_count_of_zero_does_not_order(self):
        self.need("mpirun", BIN / "e2e" / "parts")
        for kind in ("alltoallv", "alltoallw", "ialltoallv", "reduce_scatter", "ireduce_scatter", "allgatherv"):
            for how, races in (("zero", 1), ("full", 0)):
                with self.subTest(kind=kind, how=how):
                    recorded = self.record_races(3, BIN / "e2e" / "parts", kind, how)
                    self.assertEqual(self.info()["foundWhileRecording"]["racingDeliveries"], races, recorded)
                    found = self.photofinish("races", self.dir / "t.pft", "--json")
                    self.assertEqual(len(found.json()["races"]), races, found)

    def test_what_elements_without_bytes_do_not_order(self):
        self.need("mpirun", BIN / "e2e" / "parts")
        for kind in ("alltoallv", "alltoallw", "ialltoallv", "alltoall", "allgather", "bcast", "ibcast", "scatter"):
            for how, races in (("empty", 1), ("full", 0)):
                with self.subTest(kind=kind, how=how):
                    recorded = self.record_races(3, BIN / "e2e" / "parts", kind, how)
                    self.assertEqual(self.info()["foundWhileRecording"]["racingDeliveries"], races, recorded)
                    found = self.photofinish("races", self.dir / "t.pft", "--json")
                    self.assertEqual(len(found.json()["races"]), races, found)

    def test_what_two_groups_do_not_order(self):
        self.need("mpirun", BIN / "e2e" / "parts")
        recorded = self.record_races(4, BIN / "e2e" / "parts", "groups", "zero")
        self.assertEqual(self.info()["foundWhileRecording"]["racingDeliveries"], 1, recorded)
        found = self.photofinish("races", self.dir / "t.pft", "--json")
        self.assertEqual(len(found.json()["races"]), 1, found)

    def test_clocks_as_messages(self):
        """As between hosts: what comes late makes more of a race, never less."""
        self.need("mpirun", PROGRAM)
        self.env["PHOTOFINISH_CLOCKS"] = "messages"
        for seed in range(FIRST, FIRST + COUNT):
            ranks = 2 + seed % 4 if seed % 3 else 10  # larger jobs send less of a clock
            with self.subTest(seed=seed, ranks=ranks):
                recorded = self.record_races(ranks, PROGRAM, seed, 3)
                self.assert_same_run(recorded, self.replay("t.pft", "--jitter", 1))
                self.assert_as_offline("--at-least")
        self.record_races(2, BIN / "corpus" / "two_rank_wildcard")
        self.assertEqual(self.info()["foundWhileRecording"]["racingDeliveries"], 0)

    def test_corpus(self):
        for number, name in enumerate(EXPECTED if FULL else CORPUS):
            ranks = EXPECTED[name]["ranks"]
            if EXPECTED[name]["fails"] != "never" or not (BIN / "corpus" / name).exists():
                continue
            for algorithm in ALGORITHMS if FULL else (ALGORITHMS[number % 2 * 3],):
                with self.subTest(program=name, algorithm=algorithm):
                    self.need("mpirun", BIN / "corpus" / name)
                    recorded = self.record_races(ranks, BIN / "corpus" / name, algorithm=algorithm)
                    self.assert_same_run(recorded, self.replay("t.pft", "--jitter", 1))
                    self.assert_as_offline()

    def test_delayed_decisions(self):
        programs = [(3, BIN / "corpus" / "tested_then_taken"), (4, BIN / "corpus" / "waitany_workers"),
                    (4, PROGRAM, FIRST, 4), (5, PROGRAM, FIRST + 1, 4)]
        for number, (ranks, *words) in enumerate(programs):
            window = (1, 4, 16)[number % 3]
            with self.subTest(program=words, window=window):
                self.need("mpirun", words[0])
                recorded = self.record("t.pft", self.mpirun(ranks, *words), "--window", window)
                self.assertIn(f"window-{window} found", recorded.err)
                self.assert_same_run(recorded, self.replay("t.pft", "--jitter", 1))
                self.assert_as_offline()

    def test_only_what_races_is_kept(self):
        self.need("mpirun", BIN / "corpus" / "token_ordered")
        self.record_races(4, BIN / "corpus" / "token_ordered")
        info = self.info()
        self.assertGreater(info["wildcardReceives"], 0)
        self.assertEqual((info["traced"], info["foundWhileRecording"]["racingDeliveries"]), (0, 0), info)
        self.assertEqual(self.photofinish("check", self.dir / "t.pft").status, 0)
        self.assertEqual(self.replay("t.pft", "--jitter", 5).status, 0)

    def test_races_are_told_while_it_runs(self):
        self.need("mpirun", BIN / "corpus" / "any_source_sum")
        recorded = self.record_races(4, BIN / "corpus" / "any_source_sum")
        self.assertRegex(recorded.err, r"[1-9]\d* racing deliver(y|ies) so far")
        info = self.info()
        self.assertEqual(info["foundWhileRecording"]["algorithm"], "meehan")
        self.assertGreater(info["foundWhileRecording"]["racingDeliveries"], 0)

    def test_a_crash_keeps_every_source(self):
        self.need("mpirun", BIN / "corpus" / "segfault_in_order")
        for seed in range(1, 100):
            recorded = self.record_races(4, BIN / "corpus" / "segfault_in_order", status=None, options=("--jitter", seed))
            if recorded.status != 0:
                break
        self.assertIn("the run is cut", recorded.err)
        info = self.info()
        self.assertEqual(info["traced"], info["wildcardReceives"])
        for jitter in (1, 2, 3):
            self.assert_same_run(recorded, self.replay("t.pft", "--jitter", jitter))

    def test_no_room_for_the_clocks(self):
        """The program is not touched, and its choices are recorded."""
        self.need("mpirun", BIN / "corpus" / "any_source_sum")

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (300 << 20, 300 << 20))  # enough for Open MPI, logs and trace
        self.env["PHOTOFINISH_CLOCK_RANKS"] = "200"
        recorded = self.record("t.pft", self.mpirun(4, BIN / "corpus" / "any_source_sum"), "--mode", "races",
                               limits=small_files)
        self.assertIn("cannot follow the clocks of the other ranks (File too large): choices are recorded", recorded.err)
        self.assertIsNone(self.info()["foundWhileRecording"])
        self.assert_same_run(recorded, self.replay("t.pft", "--jitter", 1))

    def test_naive_keeps_all(self):
        self.need("mpirun", BIN / "corpus" / "any_source_sum")
        recorded = self.record_races(4, BIN / "corpus" / "any_source_sum", algorithm="naive")
        info = self.info()
        self.assertEqual(info["traced"], info["wildcardReceives"])
        self.assert_same_run(recorded, self.replay("t.pft", "--jitter", 1))


if __name__ == "__main__":
    main()
