# SPDX-License-Identifier: GPL-3.0-or-later
"""One corpus program: recorded, its races compared with the oracle's, replayed under jitter.

    corpus_test.py PROGRAM

Programs that fail sometimes are recorded until a run fails. What is expected of each stands in corpus/expected.json,
and below for the real bugs of ../shared/corpus.
"""
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, FULL, SOURCE, PhotofinishTest, main

CORPUS = SOURCE / "tests" / "corpus"
HANG = "hang"
TRIES = 24          # recordings of a program until one fails; from the NATURAL-th on with jitter
NATURAL = 8
HANGS_AFTER = 8.0   # seconds
SHARED = {
    "b1_probe_anytag": {"ranks": 4, "args": ["8"], "fails": "sometimes", "calls": ["MPI_Probe"]},
    "b2_size_then_data": {"ranks": 4, "args": [], "fails": "sometimes", "wrong": "WRONG", "calls": ["MPI_Recv"]},
    "b3_nbx_twice": {"ranks": 4, "args": [], "fails": "sometimes", "wrong": "taken in round", "calls": ["MPI_Iprobe"]},
    "b4_emigrants": {"ranks": 4, "args": [], "fails": "sometimes", "calls": ["MPI_Recv", "MPI_Irecv", "MPI_Probe"]},
    "b5_probe_recv_any": {"ranks": 4, "args": [], "fails": "sometimes", "calls": ["MPI_Probe", "MPI_Recv"]},
    "b6_order_sum": {"ranks": 4, "args": [], "fails": "never", "calls": ["MPI_Recv"]},
}


def load(name):
    if name in SHARED:
        program = BIN / "shared_corpus" / name
        return dict(SHARED[name], racing_calls=SHARED[name]["calls"], program=[str(program)])
    entry = json.loads((CORPUS / "expected.json").read_text())["programs"][name]
    words = entry.get("program", ["{bin}/" + name])
    words = [word.replace("{bin}", str(BIN / "corpus")).replace("{source}", str(CORPUS)) for word in words]
    return dict(entry, program=words)


class CorpusTest(PhotofinishTest):
    name = None

    def test_record_races_replay(self):
        entry = load(self.name)
        self.need(*[word for word in entry["program"] if word.startswith("/")], "mpirun")
        if "python3" in entry["program"][0]:
            self.need("/usr/lib/python3/dist-packages/mpi4py")
        launch = self.mpirun(entry["ranks"], *entry["program"], *entry["args"])
        recorded = self.record_one(entry, launch)
        hung = recorded.status is None or "hang" in map(str, entry.get("exit", [])) and recorded.status not in entry["exit"]
        self.check_reports(entry, recorded)
        self.check_oracle()
        seeds = range(1, 21) if FULL or self.name == "harvest" else range(1, 4)
        for seed in seeds:
            with self.subTest(jitter=seed):
                self.check_replay(recorded, hung, seed)

    def record_one(self, entry, launch):
        """A recording; of a program that may fail, a failing one."""
        fails, allowed = entry["fails"], entry.get("exit")
        interrupt = HANGS_AFTER if allowed and HANG in allowed else None
        for attempt in range(1 if fails == "never" else TRIES):
            jitter = ["--jitter", str(attempt)] if attempt >= NATURAL else []
            run = self.record("t.pft", launch, *jitter, status=None, interrupt_after=interrupt)
            if interrupt is None and allowed:
                self.assertIn(run.status, allowed, run)
            failed = run.status != 0 or "wrong" in entry and re.search(entry["wrong"], run.out)
            if failed:
                print(f"{self.name}: a failing run (exit {run.status}) at attempt {attempt + 1}{' with jitter' if jitter else ''}")
                break
        if fails == "never":
            self.assertEqual(run.status, 0, run)
        else:
            self.assertTrue(failed, f"no failing run in {TRIES}\n{run}")
        return run

    def check_replay(self, recorded, hung, seed):
        replayed = self.replay("t.pft", "--jitter", str(seed), timeout=60)
        if not hung:
            self.assert_same_run(recorded, replayed)
            return
        self.assertIsNotNone(replayed.status, f"the replay of a deadlock hangs\n{replayed}")
        self.assertLess(replayed.seconds, 30, replayed)
        self.assertRegex(replayed.err, r"photofinish: .*(makes no progress|recording ends)", replayed)
        self.assertRegex(replayed.err, r"MPI_Recv", f"the message does not say where the ranks wait\n{replayed}")
        self.assertEqual(replayed.by_rank(), recorded.by_rank(), f"{recorded}\n{replayed}")

    def check_reports(self, entry, recorded):
        """The machine-readable forms."""
        info = self.photofinish("info", self.dir / "t.pft", "--json").json()
        self.assertEqual(info["ranks"], entry["ranks"])
        self.assertEqual(info["command"][0], "mpirun")
        for key in ("mode", "messages", "wildcardReceives", "probes", "traced", "bytes", "complete"):
            self.assertIn(key, info)
        self.assertEqual(info["owner"], "own")
        if "probes" in entry:
            self.assertEqual(info["probes"], entry["probes"])
            self.assertRegex(self.photofinish("info", self.dir / "t.pft").out, rf"(?m)^probes    {entry['probes']} that saw a message$")
        self.assertEqual(info["complete"], recorded.status == 0, info)
        if recorded.status != 0:
            self.assertTrue(info["cut"], "a cut trace says where it is cut")
        self.assertEqual(self.photofinish("check", self.dir / "t.pft").status, 0)
        events = self.photofinish("events", self.dir / "t.pft", "--json").json()["events"]
        self.assertTrue(events)
        races = self.photofinish("races", self.dir / "t.pft", "--json")
        self.assertEqual(races.status, 0, races)
        document = races.json()["races"]
        for race in document:
            self.check_race(entry, race)
        places = [(race["receive"]["rank"], race["receive"]["serial"], race["receive"].get("post"), race["receive"]["probe"])
                  for race in document]
        self.assertEqual(len(set(places)), len(places), "one object for each racing receive")
        if recorded.status == 0 or "failing_receive" in entry:
            low, high = entry.get("min_racing_receives", 0), entry.get("max_racing_receives", 1 << 30)
            self.assertTrue(low <= len(document) <= high, f"{len(document)} racing receives, expected {low} to {high}\n{races}")
        if self.name in SHARED:
            self.assertTrue(document, "the race behind the bug is not in the list")
        if "cause" in entry and recorded.status != 0:
            self.check_cause(entry["cause"], document)

    def check_race(self, entry, race):
        self.assertEqual(set(race), {"receive", "taken", "alternatives", "class", "weight"})
        self.assertIn(race["weight"], ("first", "before failure", "other"))
        self.assertIn(race["receive"]["call"], entry["racing_calls"], race)
        self.assertTrue(race["alternatives"], race)
        for end in [race["taken"], *race["alternatives"]]:
            self.assertIsInstance(end["tag"], int)
            self.assertTrue(0 <= end["rank"] < entry["ranks"], end)
        for end in [race["receive"], race["taken"], *race["alternatives"]]:
            self.assertGreater(end["serial"], 0)
            if self.name == "mpi4py_any":
                continue  # no debug information in Debian's mpi4py
            self.assertRegex(end["file"], rf"/{self.name}\.(c|cpp|f90)$", end)
            self.assertGreater(end["line"], 0)

    def check_cause(self, cause, races):
        found = [race for race in races if race["receive"].get("function") == cause["function"]
                 and race["taken"]["tag"] == cause["taken_tag"]
                 and cause["alternative_tag"] in [end["tag"] for end in race["alternatives"]]]
        self.assertTrue(found, f"the race that causes the failure is not in the list: {cause}")

    def check_oracle(self):
        run = self.run_command(BIN / "pf_oracle_check", self.dir / "t.pft", timeout=300)
        print(run.out.strip())
        self.assertEqual(run.status, 0, run)


if __name__ == "__main__":
    CorpusTest.name = sys.argv.pop(1)
    main()
