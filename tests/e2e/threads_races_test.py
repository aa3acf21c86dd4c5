"""Races between two threads of one rank: found where nothing orders the threads, not where the program does; replayed as
recorded in each mode, mode races too. What is found is held against the brute-force oracle."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

PROGRAM = BIN / "corpus" / "two_threads"
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
        for options in ([], ["--jitter", "4"], ["--mode", "all"]):
            with self.subTest(options=options):
                self.record_way("free", *options)
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
        for way in ("free", *ORDERED):
            with self.subTest(way=way):
                recorded = self.record_way(way, "--jitter", 9)
                for seed in (1, 2):
                    self.assert_same_run(recorded, self.replay("t.pft", "--jitter", seed))


if __name__ == "__main__":
    main()
