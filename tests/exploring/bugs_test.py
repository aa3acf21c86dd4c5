# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of tests/corpus and ../shared/corpus that fail in some order: how soon `photofinish explore` finds it, and what `photofinish blame` names.

What each is due to stands in culprits.json, which was written from the programs and their descriptions: the receives, by a part of their source line,
and what the message that decides is like (a list: either). Blame is right if each delivery that it names is one of these receives, one of them takes such a message, all
of the counter-check's runs with them fail and none without, and one delivery less does not always fail.

PF_BUGS=1: all programs, and `record --until-failure` five times each; else one program, and once. PF_ONLY=NAME,NAME …: these.
"""
import json
import math
import os
import re
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from causality import Recording
from corpus_programs import chosen, launch_words
from photofinish import SOURCE, PhotofinishTest, main

CULPRITS = json.loads((SOURCE / "tests" / "exploring" / "culprits.json").read_text())
FULL = os.environ.get("PF_BUGS", "") not in ("", "0")
FIXED = ("segfault_in_order",)
MOST = int(os.environ.get("PF_MOST", "300" if FULL else "40"))  # runs of an exploration
WRONG = {"b2_size_then_data": "WRONG", "b3_nbx_twice": "taken in round", "b4_emigrants": "expected", "b5_probe_recv_any": "probed"}


def check_of(name):
    return ["--check", f"! grep -q '{WRONG[name]}'"] if name in WRONG else []


class BugsTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun")

    def programs(self):
        """(name, launch) of those that are built here."""
        for name in chosen(CULPRITS if FULL else FIXED):
            entry, words = launch_words(name, small=True)
            if not os.path.exists(words[0]):
                print(f"{name}: skipped: it is not built here")
                continue
            yield name, ["mpirun", "--oversubscribe", "-n", str(entry["ranks"]), *words]

    def clear(self):
        self.run_command("sh", "-c", "rm -rf ./*.explore* ./*.pft*")

    # -- how soon
    def explore(self, name, launch, *options, state="t.explore", most=MOST):
        run = self.photofinish("explore", "--json", "-o", state, "--run-time", "10", "--max-runs", most, *check_of(name), *options, *launch, timeout=60 + 12 * most)
        self.assertIn(run.status, (0, 5), run)
        return run.json()

    def naive(self, trace):
        """How many runs it takes to try each combination of what the first run's receives could have taken."""
        return math.prod(1 + len(race["alternatives"]) for race in Recording(self, trace).races)

    def until_failure(self, name, launch):
        """Runs of record until one failed; None: none did. The trace is u.pft."""
        run = self.photofinish("record", "--until-failure", "--replace", "-o", "u.pft", "--runs", 60, *check_of(name), *launch, timeout=1200)
        found = re.search(r"run (\d+) of at most \d+ failed", run.err)
        return int(found.group(1)) if found else None

    def test_found_within_its_number_of_orders(self):
        lines = [f"{'program':20} {'first failure, run':>18} {'until-failure, median of 5':>27} {'orders':>12} {'naive / ours':>14}  outcomes"]
        for name, launch in self.programs():
            with self.subTest(name):
                self.clear()
                first = self.explore(name, launch, "--first-failure")
                failed = [each for each in first["outcomes"] if each["outcome"] != "ok"]
                whole = self.explore(name, launch, state="w.explore")
                tries = [self.until_failure(name, launch) for _ in range(5 if FULL else 1)]
                median = statistics.median(each or math.inf for each in tries)
                seen_all, runs = whole["all_orders_seen"], whole["runs"]
                share = f"{self.naive(whole['first_trace']) / runs:.3g}" if seen_all else "-"
                lines.append(f"{name:20} {first['runs'] if failed else '-':>18} {median:>27} {('' if seen_all else '> ') + str(runs):>12} {share:>14}  "
                             f"{self.told(whole)}")
                print(lines[-1], flush=True)
                self.assertTrue(failed, f"no order of {first['runs']} failed")
                if seen_all:
                    self.assertLessEqual(first["runs"], runs)
        print("\n" + "\n".join(lines))

    @staticmethod
    def told(found):
        runs = {}
        for each in found["outcomes"]:
            runs[each["outcome"]] = runs.get(each["outcome"], 0) + each["runs"]
        return ", ".join(f"{name} {count}" for name, count in sorted(runs.items())) + (f"; given up {found['given_up']}" if found["given_up"] else "")

    # -- who is to blame
    def failing(self, name, launch):
        if self.until_failure(name, launch) is not None:
            return "u.pft"
        found = self.explore(name, launch, "--first-failure")
        return next((each["trace"] for each in found["outcomes"] if each["outcome"] != "ok"), None)

    def source_line(self, event):
        run = self.photofinish("events", self.trace, "--rank", event["rank"], "--json")
        found = run.json()["events"][event["event"] - 1]
        self.assertEqual(found["serial"], event["event"])
        with open(found["file"], encoding="utf-8") as source:
            return source.read().splitlines()[found["line"] - 1]

    def check_named(self, culprit, found, before):
        """The deliveries are those of the description."""
        self.assertTrue(found["deliveries"])
        suits = 0
        for each in found["deliveries"]:
            receive, took = each["receive"], each["took"]
            self.assertEqual(receive["rank"], culprit.get("rank", receive["rank"]), each)
            line = self.source_line(receive)
            self.assertTrue(any(part in line for part in culprit["receives"]), f"{each}\nat {line}")
            message = next(row for row in before.messages.values()
                           if (row["source"], row["send_serial"], row["dest"]) == (took["rank"], took["event"], receive["rank"]))
            suits += all(message[key] in (value if isinstance(value, list) else [value]) for key, value in culprit["takes"].items())
        self.assertGreater(suits, 0, f"no delivery takes {culprit['takes']}")

    def wishes_without(self, found, left_out):
        """The failing run's deliveries that blame names, but one; of all else what the good run's receives took, as far as that is not taken."""
        good, wanted, taken = Recording(self, found["good"]), {}, set()
        for number, each in enumerate(found["deliveries"]):
            if number != left_out:
                wanted[each["receive"]["rank"], each["receive"]["event"]] = took = (each["took"]["rank"], each["took"]["event"])
                taken.add((each["receive"]["rank"], took))
        for row in list(good.receives.values()) + list(good.probes.values()):
            message = good.messages.get(row["message"])
            place = (row["rank"], row.get("post_serial", row.get("serial")))
            if message is None or row["wanted_source"] != -1 or place in wanted:
                continue
            took = (message["source"], message["send_serial"])
            if (row["rank"], took) not in taken:
                wanted[place] = took
        return [f"{rank}:{event}={sender}:{send}" for (rank, event), (sender, send) in sorted(wanted.items())]

    def fails_without(self, name, found, left_out):
        """Whether each of three runs fails with one delivery less: by flips of the good run, not by blame's own runs."""
        wishes = self.wishes_without(found, left_out)
        for _ in range(3):
            run = self.photofinish("flip", found["good"], *wishes, "--replace", "-o", "c.pft", timeout=90)
            wrong = name in WRONG and WRONG[name] in run.out
            if not os.path.exists(self.dir / "c.pft") or (run.status == 0 and not wrong):
                return False
            (self.dir / "c.pft").unlink()
        return True

    def test_blame(self):
        lines = []
        for name, launch in self.programs():
            with self.subTest(name):
                self.clear()
                self.trace = self.failing(name, launch)
                self.assertIsNotNone(self.trace, "no run of it failed")
                good = ["u-good.pft"] if self.trace == "u.pft" and (self.dir / "u-good.pft").exists() else []  # as a user has it: of the same search
                run = self.photofinish("blame", "--json", "--runs", 5 if FULL else 2, "--run-time", "10", *check_of(name), self.trace, *good, timeout=1500)
                lines.append(f"{name}: {run.err.splitlines()[-1] if run.err and run.status else ''}")
                self.assertEqual(run.status, 0, run)
                found = run.json()
                lines[-1] = (f"{name}: {found['outcome']}, {len(found['deliveries'])} named, {found['failed_with']} of {found['checks']} with, {found['failed_without']} without, "
                             f"{found['failed_with_all_else_free']} with all else free, {found['runs']} runs: {found['sentence']}")
                print(lines[-1], flush=True)
                self.check_named(CULPRITS[name], found, Recording(self, self.trace))
                self.assertEqual((found["failed_with"], found["failed_without"]), (found["checks"], 0), found)
                for number in range(len(found["deliveries"])):
                    self.assertFalse(self.fails_without(name, found, number), f"{found['deliveries'][number]} is not needed")
        print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
