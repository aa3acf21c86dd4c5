# SPDX-License-Identifier: GPL-3.0-or-later
"""Times of events: those of the recording where it has them, else those of the survey's re-execution, and which they are."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

MS = 1_000_000


class PhysicalTimesTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", BIN / "e2e" / "sleeper")
        self.trace = self.dir / "t.pft"

    def record_sleeper(self, *options):
        run = self.record("t.pft", self.mpirun(2, BIN / "e2e" / "sleeper"), *options)
        self.assertEqual(run.status, 0, run)
        return run

    def events(self):
        document = self.photofinish("events", self.trace, "--json").json()
        return document["times"], {(e["rank"], e["serial"]): e for e in document["events"]}

    def check_order(self, events):
        """They go forward on each rank, and no message comes before its send has begun."""
        for (rank, serial), event in events.items():
            self.assertGreaterEqual(event["durationNs"], 0)
            if serial > 1:
                before = events[rank, serial - 1]
                self.assertGreaterEqual(event["timeNs"], before["timeNs"] + before["durationNs"])
        for event in events.values():
            for one in event.get("deliveries", []):
                send = events[one["source"], one["sendSerial"]]
                self.assertLess(send["timeNs"], event["timeNs"] + event["durationNs"], (send, event))
        self.assertEqual(min(event["timeNs"] for event in events.values()), 0)

    def check_sleeps(self, events):
        """Rank 1's 50 ms between two calls are rank 0's in a receive, its 30 ms rank 1's in a wait."""
        def gaps(rank):
            return {serial: events[rank, serial]["timeNs"] - events[rank, serial - 1]["timeNs"] - events[rank, serial - 1]["durationNs"]
                    for r, serial in events if r == rank and serial > 1}
        longest = max(gaps(1), key=gaps(1).get)
        self.assertEqual(events[1, longest]["call"], "MPI_Send")
        self.assertEqual(events[1, longest]["tag"], 100)
        slept = gaps(1)[longest]
        self.assertGreaterEqual(slept, 50 * MS - 20_000)
        waited = [e for e in events.values() if e["rank"] == 0 and e["call"] == "MPI_Recv" and e["deliveries"][0]["sendSerial"] == longest]
        self.assertEqual(len(waited), 1)
        self.assertGreater(waited[0]["durationNs"], 0.9 * 50 * MS)
        self.assertAlmostEqual(waited[0]["durationNs"], slept, delta=20 * MS)
        wait = [e for e in events.values() if e["rank"] == 1 and e["call"] == "MPI_Wait"]
        self.assertGreater(wait[0]["durationNs"], 0.9 * 30 * MS)

    def sleeps(self, expected, *options):
        """Records it; gives the run and its events. Where other tests run beside it, a rank may come late to where the
        other waits: then once more."""
        for left in reversed(range(8)):
            run = self.record_sleeper(*options)
            if expected == "survey":
                self.assertEqual(self.replay("t.pft", "--survey").status, 0)
            origin, events = self.events()
            try:
                self.assertEqual(origin, expected)
                self.check_order(events)
                self.check_sleeps(events)
                return run, events
            except AssertionError:
                if left == 0:
                    raise

    def test_times_of_a_recording(self):
        run, events = self.sleeps("recording", "--mode", "all")
        end = max(event["timeNs"] + event["durationNs"] for event in events.values())
        self.assertGreater(end, 80 * MS)
        self.assertLess(end, run.seconds * 1000 * MS)
        self.assertRegex(self.photofinish("info", self.trace).out, "(?m)^times +of the recording$")
        self.assertEqual(self.photofinish("info", self.trace, "--json").json()["times"], "recording")
        self.check_sql(events)
        # A survey of it does not take them away.
        self.assertEqual(self.replay("t.pft", "--survey").status, 0)
        self.assertEqual(self.events(), ("recording", events))
        self.assertEqual(self.photofinish("check", self.trace).status, 0)

    def check_sql(self, events):
        rows = self.photofinish("sql", self.trace, "SELECT rank, serial, time_ns, duration_ns FROM event", "--json").json()
        rows = rows["rows"] if isinstance(rows, dict) else rows
        rows = [tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in rows]
        self.assertEqual(rows, [(rank, serial, e["timeNs"], e["durationNs"]) for (rank, serial), e in events.items()])

    def test_times_of_a_survey(self):
        self.record_sleeper()
        self.assertRegex(self.photofinish("info", self.trace).out, "(?m)^times +none")
        self.assertIsNone(self.photofinish("info", self.trace, "--json").json()["times"])
        self.sleeps("survey")
        self.assertRegex(self.photofinish("info", self.trace).out, "(?m)^times +of the survey's re-execution, not of the recording")

    def test_with_the_cycle_counter_recorded(self):
        """It traps then, so the times are of the system's clock."""
        self.sleeps("recording", "--mode", "all", "--rdtsc")

    def test_threads_and_crashes(self):
        for name in ("mpi_abort_in_order", "harvest"):  # ranks end inside of calls
            self.need(BIN / "corpus" / name)
            self.record("t.pft", self.mpirun(4, BIN / "corpus" / name), "--mode", "all", status=None)
            origin, events = self.events()
            self.assertEqual(origin, "recording")
            self.check_order(events)
        self.record("t.pft", self.mpirun(2, BIN / "e2e" / "lanes", "wildcard"), "--mode", "all", status=None)
        origin, events = self.events()
        self.assertEqual(origin, "recording")
        self.check_order(events)


if __name__ == "__main__":
    main()
