# SPDX-License-Identifier: GPL-3.0-or-later
"""Races between two threads of one rank: found where nothing orders the threads, not where the program does; replayed as
recorded in each mode, mode races too. What is found is held against the brute-force oracle."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, JITTERS, PhotofinishTest, main

PROGRAM = BIN / "corpus" / "two_threads"
LANES = BIN / "e2e" / "lanes"
RING = BIN / "e2e" / "thread_ring"
SERIALIZED = BIN / "e2e" / "lanes_serialized"
ORDERED = ("mutex", "handshake", "barrier", "semaphore", "joined")


class ThreadsRacesTest(PhotofinishTest):
    def record_way(self, way, *options):
        self.need("mpirun", PROGRAM)
        recorded = self.record("t.pft", self.mpirun(2, PROGRAM, way), *options)
        self.assertEqual(recorded.status, 0, recorded)
        return recorded

    def races(self):
        races = self.photofinish("races", self.dir / "t.pft", "--json")
        self.assertEqual(races.status, 0, races)
        oracle = self.run_command(BIN / "pf_oracle_check", self.dir / "t.pft")
        self.assertEqual(oracle.status, 0, oracle)
        return races.json()["races"]

    def check_race(self, race):
        """Of a receive that names its source: both messages are of that rank, by different threads."""
        self.assertEqual(race["receive"]["rank"], 0)
        self.assertEqual({end["rank"] for end in [race["taken"], *race["alternatives"]]}, {1}, race)
        events = self.photofinish("events", self.dir / "t.pft", "--rank", 1, "--json").json()["events"]
        thread = {event["serial"]: event["thread"] for event in events}
        self.assertEqual(len(race["alternatives"]), 1, race)
        self.assertNotEqual(thread[race["taken"]["serial"]], thread[race["alternatives"][0]["serial"]], race)

    def test_found_where_nothing_orders_them(self):
        for way, *options in (["free"], ["free", "--jitter", "4"], ["free", "--mode", "all"], ["any"]):
            with self.subTest(way=way, options=options):
                self.record_way(way, *options)
                races = self.races()
                self.assertTrue(3 <= len(races) <= 5, races)
                for race in races:
                    self.check_race(race)

    def test_none_where_the_program_orders_them(self):
        for way in ORDERED:
            for options in ([], ["--mode", "all", "--jitter", "3"]):
                with self.subTest(way=way, options=options):
                    self.record_way(way, *options)
                    self.assertEqual(self.races(), [])

    def test_replays(self):
        for way in ("free", "any", *ORDERED):
            with self.subTest(way=way):
                recorded = self.record_way(way, "--jitter", 9)
                for seed in JITTERS:
                    self.assert_same_run(recorded, self.replay("t.pft", "--jitter", seed))

    def check_mode_races(self, recorded):
        """Replays the same, and what was traced on the fly is no less than what the algorithm traces offline. (It is more
        where a receive that another thread waits for may have taken an earlier message.)"""
        self.assertIn("races between threads of one rank are not found while it runs", recorded.err)
        self.assertNotIn("cannot follow the clocks", recorded.err)
        for seed in JITTERS:
            replayed = self.replay("t.pft", "--jitter", seed)
            self.assertEqual({rank: sorted(lines) for rank, lines in replayed.by_rank().items()},
                             {rank: sorted(lines) for rank, lines in recorded.by_rank().items()}, replayed)
        self.races()  # of the survey: threads' own races too
        online = self.run_command(BIN / "pf_online_check", "--at-least", self.dir / "t.pft")
        self.assertEqual(online.status, 0, online)

    def test_mode_races(self):
        for way in ("free", "any", "mutex"):
            with self.subTest(way=way):
                recorded = self.record_way(way, "--mode", "races", "--jitter", 5)
                self.check_mode_races(recorded)
                # Only one rank sends: the order of the turns says what every wildcard takes.
                info = self.photofinish("info", self.dir / "t.pft", "--json").json()
                self.assertEqual(info["wildcardReceives"], 6 if way == "any" else 0)
                self.assertEqual((info["traced"], info["foundWhileRecording"]["racingDeliveries"]), (0, 0), info)
                self.assertEqual(len(self.races()) > 0, way != "mutex")

    def test_mode_races_of_many_calls(self):
        self.need("mpirun", LANES)
        for number, way in enumerate(("wildcard", "tests", "waitany", "probes", "pool", "exchange")):
            with self.subTest(way=way):
                self.check_mode_races(self.record("t.pft", self.mpirun(3, LANES, way, 3, 6), "--mode", "races",
                                                  "--jitter", number))

    def test_mode_races_leaves_out_what_does_not_race(self):
        """111 wildcard receives have one possible message, by what orders threads and ranks; three of them have two."""
        self.need("mpirun", RING)
        self.check_mode_races(self.record("t.pft", self.mpirun(3, RING), "--mode", "races"))
        info = self.photofinish("info", self.dir / "t.pft", "--json").json()
        self.assertEqual(info["wildcardReceives"], 114)
        self.assertTrue(3 <= info["traced"] <= 20, info)
        self.assertEqual(len(self.races()), 3)

    def test_mode_races_of_threads_that_take_turns(self):
        self.need("mpirun", SERIALIZED)
        self.check_mode_races(self.record("t.pft", self.mpirun(3, SERIALIZED), "--mode", "races"))

    def test_a_crash_in_mode_races_keeps_every_source(self):
        self.need("mpirun", LANES)
        recorded = self.record("t.pft", self.mpirun(3, LANES, "crash"), "--mode", "races", status=None)
        self.assertEqual(recorded.status, 139, recorded)
        info = self.photofinish("info", self.dir / "t.pft", "--json").json()
        self.assertEqual(info["traced"], info["wildcardReceives"])
        self.assertEqual(self.replay("t.pft", "--jitter", 1).status, 139)


if __name__ == "__main__":
    main()
