# SPDX-License-Identifier: GPL-3.0-or-later
"""Replay by tags (Netzer and Miller, 4.2): traced messages go to their receives over a communicator of our own.

The traces of the algorithms that trace messages hold, after a clean end, no sources, only what they traced, collated by
sender: they are replayed by tags. Any other trace is with `--force tagged`. The judge is what the programs print.
PF_RANDOM, PF_SEED: as in random_programs_test.py.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, FULL, JITTERS, SOURCE, PhotofinishTest, main

RANDOM = BIN / "random" / "random_program"
FORMS = BIN / "e2e" / "tagged_forms"
LANES = BIN / "e2e" / "lanes"
WAYS = ("wildcard", "explicit", "senders", "tests", "waitany", "probes", "pool", "exchange")
FAMILIES = BIN / "families" / "families"
SUM = BIN / "corpus" / "any_source_sum"
COUNT = int(os.environ.get("PF_RANDOM", "200" if FULL else "4"))
FIRST = int(os.environ.get("PF_SEED", "1"))
ALGORITHMS = ("netzer-miller", "algorithm-a", "algorithm-b")
EXPECTED = json.loads((SOURCE / "tests" / "corpus" / "expected.json").read_text())["programs"]
CORPUS = ("irecv_any_waitall", "waitany_workers", "testsome_poll", "mprobe_mrecv", "iprobe_loop", "cancel_pending",
          "persistent_any", "preposted_explicit", "subcommunicators", "tags_nontransitive", "request_free", "sendrecv_any",
          "large_messages")


class TaggedTest(PhotofinishTest):
    def record_traced(self, ranks, *words, algorithm, options=()):
        self.need("mpirun", words[0])
        return self.record("t.pft", self.mpirun(ranks, *words), "--mode", "races", "--algorithm", algorithm, *options)

    def replayed(self, recorded, *options, **how):
        self.assert_same_run(recorded, self.replay("t.pft", *options, **how))

    def test_random_programs(self):
        for seed in range(FIRST, FIRST + COUNT):
            algorithm = ALGORITHMS[seed % 3]
            with self.subTest(seed=seed, algorithm=algorithm):
                recorded = self.record_traced(2 + seed % 4, RANDOM, seed, 3, algorithm=algorithm,
                                              options=("--jitter", seed))
                for jitter in JITTERS:
                    self.replayed(recorded, "--jitter", jitter)
                self.assert_as_offline()
                self.replayed(recorded, "--jitter", 3)  # each call is compared now
                self.replayed(recorded, "--jitter", 4, "--force", "pinned")

    def test_random_programs_of_other_modes(self):
        self.need("mpirun", RANDOM)
        for seed in range(FIRST, FIRST + COUNT):
            mode = ("outcomes", "all")[seed % 2]
            with self.subTest(seed=seed, mode=mode):
                recorded = self.record("t.pft", self.mpirun(2 + seed % 4, RANDOM, seed, 3), "--mode", mode, "--jitter", seed)
                for jitter in JITTERS:
                    self.replayed(recorded, "--force", "tagged", "--jitter", jitter)

    def test_corpus(self):
        for number, name in enumerate(EXPECTED if FULL else CORPUS):
            program = BIN / "corpus" / name
            if EXPECTED[name]["fails"] != "never" or not program.exists():
                continue
            for algorithm in ALGORITHMS if FULL else (ALGORITHMS[number % 3],):
                with self.subTest(program=name, algorithm=algorithm):
                    recorded = self.record_traced(EXPECTED[name]["ranks"], program, algorithm=algorithm)
                    for jitter in JITTERS:
                        self.replayed(recorded, "--jitter", jitter)

    def test_every_form(self):
        for ranks in (3, 4):
            for options in (("--algorithm", "netzer-miller"), ("--mode", "outcomes")):
                with self.subTest(ranks=ranks, options=options):
                    self.need("mpirun", FORMS)
                    recorded = self.record("t.pft", self.mpirun(ranks, FORMS), *options, "--jitter", 1)
                    for jitter in (*JITTERS, 3):
                        self.replayed(recorded, "--force", "tagged", "--jitter", jitter)

    def test_families(self):
        self.need("mpirun", FAMILIES)
        recorded = self.record("t.pft", self.mpirun(4, FAMILIES), timeout=120)
        first = recorded.by_rank()[0]
        for jitter in JITTERS:
            # Orders that are noted as not recorded (windows, shared file pointers) get into its messages.
            replayed = self.replay("t.pft", "--ignore-contents", "--force", "tagged", "--jitter", jitter, timeout=180)
            self.assertEqual(replayed.status, 0, replayed)
            self.assertEqual(replayed.by_rank()[0], first, replayed)

    def test_tags_beyond_the_last(self):
        """As if MPI had three tags: communicators beyond the first are used."""
        recorded = self.record_traced(4, FORMS, algorithm="netzer-miller")
        self.env["PHOTOFINISH_TAG_RANGE"] = "3"
        self.replayed(recorded, "--jitter", 1)

    def test_a_rank_that_left_a_message_is_pinned(self):
        """The others are not."""
        recorded = self.record_traced(4, FORMS, "leave", algorithm="algorithm-a")
        self.assertIn("rank 1 left a message unreceived", recorded.err)
        self.assertEqual(self.info()["forcedBy"], "tags")
        for jitter in JITTERS:
            self.replayed(recorded, "--jitter", jitter)

    def test_only_what_was_traced_is_kept(self):
        self.record_traced(4, SUM, algorithm="algorithm-b")
        info = self.info()
        self.assertGreater(info["traced"], 0)
        self.assertLess(info["traced"], info["wildcardReceives"])
        self.assertEqual(info["traced"], info["foundWhileRecording"]["racingDeliveries"])
        self.assertEqual(info["forcedBy"], "tags")
        self.assertEqual(self.photofinish("check", self.dir / "t.pft").status, 0)
        self.record_traced(4, BIN / "corpus" / "token_ordered", algorithm="netzer-miller")
        self.assertEqual(self.info()["traced"], 0)
        self.assertEqual(self.replay("t.pft", "--jitter", 5).status, 0)

    def test_events_races_and_stops(self):
        recorded = self.record_traced(4, SUM, algorithm="netzer-miller")
        races = self.photofinish("races", self.dir / "t.pft", "--json").json()["races"]
        self.assertTrue(races)
        events = self.photofinish("events", self.dir / "t.pft", "--rank", 0, "--json").json()["events"]
        taken = [delivery for event in events for delivery in event.get("deliveries", [])]
        self.assertEqual({delivery["source"] for delivery in taken}, {1, 2, 3}, taken)
        receive = races[-1]["receive"]
        where = f"{receive['rank']}:{receive['serial']}"
        with self.start([BIN / "photofinish", "replay", self.dir / "t.pft", "--until", where],
                        stdin=subprocess.PIPE) as command:
            command.wait_for(lambda: "attach a debugger" in command.errors(), 30)
            self.assertIn(f"just before its event {receive['serial']}", command.errors())
            command.process.stdin.write(b"\n")
            command.process.stdin.close()
            self.assert_same_run(recorded, command.finish(30))

    def test_a_crash_replays_by_tags_too(self):
        program = BIN / "corpus" / "segfault_in_order"
        self.need("mpirun", program)
        for seed in range(1, 100):
            recorded = self.record("t.pft", self.mpirun(4, program), "--algorithm", "algorithm-b", "--jitter", seed,
                                   status=None)
            if recorded.status != 0:
                break
        self.assertIn("the run is cut", recorded.err)
        for options in ((), ("--force", "tagged")):
            for jitter in JITTERS:
                self.replayed(recorded, "--jitter", jitter, *options)

    def test_ways_that_are_refused(self):
        self.record_traced(4, SUM, algorithm="netzer-miller")
        self.assert_refused(self.replay("t.pft", "--force", "taged"), 2, "'taged' is no way to force deliveries")
        self.assert_refused(self.replay("t.pft", "--force=both"), 2, "'both' is no way to force deliveries")
        self.assertEqual(self.replay("t.pft", "--force").status, 0)
        self.assertEqual(self.replay("t.pft", "--force", "--force", "tagged").status, 0)

    def test_threads(self):
        """Posts and sends have the numbers of their turns."""
        self.need("mpirun", LANES)
        for number, way in enumerate(WAYS):
            options = ("--algorithm", ALGORITHMS[number % 3]) if number % 2 == 0 else ("--jitter", number)
            with self.subTest(way=way, options=options):
                recorded = self.record("t.pft", self.mpirun(3, LANES, way), *options)
                for jitter in JITTERS:
                    replayed = self.replay("t.pft", "--force", "tagged", "--jitter", jitter)
                    self.assertEqual(replayed.status, 0, replayed)
                    self.assertEqual(self.by_thread(replayed), self.by_thread(recorded), replayed)

    def by_thread(self, run):
        return {rank: sorted(lines) for rank, lines in run.by_rank().items()}

    def test_a_crash_with_threads(self):
        self.need("mpirun", LANES)
        recorded = self.record("t.pft", self.mpirun(3, LANES, "crash"), status=139)
        replayed = self.replay("t.pft", "--force", "tagged", "--jitter", 1)
        self.assertEqual(replayed.status, 139, replayed)
        self.assertEqual(self.by_thread(replayed), self.by_thread(recorded), replayed)

    def test_another_program_diverges(self):
        word = self.dir / "word"
        word.write_text("plain\n")
        self.record_traced(3, BIN / "e2e" / "steered", word, algorithm="netzer-miller")
        self.assertGreater(self.info()["traced"], 0)
        for surveyed in (False, True):
            for steer in ("tag", "less", "more"):
                with self.subTest(surveyed=surveyed, steer=steer):
                    run = self.replay("t.pft", env={"STEER": steer})
                    self.assertEqual(run.status, 3, run)
            self.assert_as_offline()


if __name__ == "__main__":
    main()
