# SPDX-License-Identifier: GPL-3.0-or-later
"""`photofinish flip` of every alternative of every race: of the programs of tests/corpus and ../shared/corpus, and of random ones.

Each flip has one of two ends. It took the message: then the new trace says so, and all that cannot depend on it (causality.py, which does not use the
product's order) is as it was. Of random programs (tests/random) that is judged by the programs' own hash of all that a rank has received and all that
MPI chose for it. Or a sentence says why it cannot be: then an argument that does not use the product's code must say so too.

PF_FLIPS: random programs (2; 300 in the named full run, which has all of the corpus too). PF_SEED: where seeds begin.
PF_ONLY=NAME,NAME …: these programs of the corpus.
"""
import collections
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from causality import Recording
from corpus_programs import CORPUS, SHARED, chosen, launch_words
from photofinish import BIN, PhotofinishTest, main

PROGRAM = BIN / "random" / "random_program"
COUNT = int(os.environ.get("PF_FLIPS", "2"))
FULL = COUNT >= 100
FIRST = int(os.environ.get("PF_SEED", "1" if FULL else "8"))  # in program 8 a receive is cancelled before the flip, and seen to be so behind it
FIXED = ("preposted_explicit", "probe_then_recv", "tags_nontransitive", "deadlock_in_order")  # of the corpus, where not all
MAY_BE_NONE = ("MPI_Test", "MPI_Iprobe", "MPI_Improbe", "MPI_Request_get_status", "MPI_Probe", "MPI_Mprobe")
LINE = re.compile(r"trace (\d+) program \d+ step \d+ event (\d+) hash ([0-9a-f]{16}): (.*)")


def by_rank(text):
    """What mpirun --tag-output shows of each rank's errors, rank after rank: it may put a tag into the middle of a line."""
    pieces, texts = re.split(r"\[\d+,(\d+)\]<stderr>:", text.replace("\r", "")), collections.defaultdict(str)
    for rank, piece in zip(pieces[1::2], pieces[2::2]):
        texts[rank] += piece
    return "".join(texts.values())


class Told:
    """What a random program told of itself: for each rank, its calls, its hash after each thing noted, and behind how many calls that was noted."""

    def __init__(self, text):
        self.calls, self.noted = collections.defaultdict(list), collections.defaultdict(list)
        self.hashes = collections.defaultdict(dict)
        for rank, event, value, what in LINE.findall(by_rank(text)):
            rank, event = int(rank), int(event)
            if what.startswith("call "):
                self.calls[rank].append(what[5:].strip())
            elif event and event not in self.hashes[rank]:
                self.noted[rank].append((len(self.calls[rank]), event))
                self.hashes[rank][event] = value

    def place(self, rank, events):
        """Where what is noted stands among the rank's recorded events, or later: [(serial, number of the note)]. A failed test may be no event, and a
        probe of MPI_PROC_NULL is none. From the end back, for what may be no event then counts as the next one; where the names part: AssertionError."""
        at, serials = len(events), []
        for call in reversed(self.calls[rank]):
            if at > 1 and events[at - 1]["call"] == call:
                serials.append(at)
                at -= 1
            elif call.startswith(MAY_BE_NONE):
                serials.append(at + 1)
            else:
                break
        if at != 1 or len(serials) != len(self.calls[rank]):
            raise AssertionError(f"rank {rank} made other calls than its trace has: {len(self.calls[rank])} calls, {len(events)} events, "
                                 f"{len(self.calls[rank]) - len(serials)} and {at} before they part")
        serials = [1, *reversed(serials)]  # MPI_Init is told by nobody
        return [(serials[count], event) for count, event in self.noted[rank]]


class Figures:
    def __init__(self):
        self.rows, self.start = [], time.monotonic()

    def add(self, name, counts):
        self.rows.append((name, counts))

    def __str__(self):
        total = collections.Counter()
        lines = [f"{'program':28} {'races':>6} {'flips':>6} {'took it':>8} {'sentence right':>15} {'wrong':>6}"]
        for name, counts in self.rows:
            total += counts
            lines.append(self.line(name, counts))
        lines.append(self.line(f"all {len(self.rows)}", total))
        lines.append(f"{total['prefixes']} ranks' parts that do not depend on the flip compared, {total['noted']} things noted in them; {time.monotonic() - self.start:.0f} s")
        return "\n".join(lines)

    @staticmethod
    def line(name, counts):
        return f"{name:28} {counts['races']:6} {counts['flips']:6} {counts['took']:8} {counts['sentence']:15} {counts['wrong']:6}"


class FlipsTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", PROGRAM)
        self.figures = Figures()

    def flip_all(self, name, recorded, told=None):
        before, counts = Recording(self, "a.pft"), collections.Counter()
        counts["races"] = len(before.races)
        if told is not None:
            self.places = {rank: told.place(rank, events) for rank, events in before.events.items()}
        for number, race in enumerate(before.races, 1):
            for place, other in enumerate(race["alternatives"], 1):
                counts["flips"] += 1
                run = self.photofinish("flip", "a.pft", f"{number}:{place}", "--replace", "-o", "b.pft", timeout=90)
                try:
                    counts[self.judge(before, race, other, run, recorded, told, counts)] += 1
                except AssertionError as error:
                    counts["wrong"] += 1
                    print(f"WRONG: {name}: flip {number}:{place}: {str(error)[:3000]}", flush=True)
        self.figures.add(name, counts)
        self.assertEqual(counts["wrong"], 0, name)

    def judge(self, before, race, other, run, recorded, told, counts):
        self.assertIsNotNone(run.status, f"it does not end\n{run}")
        rank = race["receive"]["rank"]
        taker, wanted = before.taker(race), before.sent_at(other, rank)
        self.assertTrue(wanted, f"no such message: {other}")
        cut = before.first_dependent(rank, race["receive"]["serial"])
        if not (self.dir / "b.pft").exists():
            self.check_sentence(before, taker, wanted, cut, run)
            return "sentence"
        after = Recording(self, "b.pft")
        table, key = (after.probes, "ordinal") if race["receive"]["probe"] else (after.receives, "post")
        took = after.taken_by(table[rank, taker[key]])
        self.assertIn(took, [(row["source"], row["send_index"]) for row in wanted], f"it took another message\n{run}")
        for each, end in before.ends(cut).items():
            if not after.is_whole(each):  # a rank of a job that another one has aborted ends sooner or later
                end = min(end, len(after.events[each]))
            self.assertEqual(after.prefix(each, end), before.prefix(each, end), f"rank {each} before its event {end}\n{run}")
            counts["prefixes"] += 1
        if told is not None:
            self.check_hashes(told, Told(run.err), cut, before.events, counts, run)
        else:
            self.check_output(recorded, run, [each for each, end in before.ends(cut).items() if before.is_whole(each) and end > len(before.events[each])])
        (self.dir / "b.pft").unlink()
        return "took"

    def check_hashes(self, told, now, cut, ranks, counts, run):
        """The checker's judgement: a hash is of all that went before."""
        for rank in ranks:
            last = max((event for serial, event in self.places[rank] if serial < cut[rank]), default=0)
            counts["noted"] += last
            if last:
                self.assertEqual(now.hashes[rank].get(last), told.hashes[rank][last], f"rank {rank} noted other things before its event {cut[rank]}\n{run}")

    def check_output(self, recorded, run, independent):
        for rank in independent:
            self.assertEqual(run.by_rank().get(rank), recorded.by_rank().get(rank), f"rank {rank} printed something else\n{run}")

    def check_sentence(self, before, taker, wanted, cut, run):
        message = wanted[0]
        self.assertIn(run.status, (2, 3), run)
        if "do not overtake" in run.err:
            self.assertTrue(all(before.may_come_first(taker, row, cut) for row in wanted), f"nothing comes first\n{run}")
        elif "is sent only because" in run.err or "is never sent" in run.err:
            self.assertGreaterEqual(message["send_serial"], cut[message["source"]], f"its send does not depend on the receive\n{run}")
        else:
            self.fail(f"no reason that a flip can have\n{run}")

    # -- programs
    def corpus_program(self, name):
        entry, words = launch_words(name, small=True)
        self.need(words[0])
        if "two_threads" in name:
            self.check_threads_are_refused(name, self.mpirun(entry["ranks"], *words))
            return
        recorded = self.record("a.pft", self.mpirun(entry["ranks"], *words), "--end-stuck", "--mode", "all", status=None)
        self.flip_all(name, recorded)

    def check_threads_are_refused(self, name, launch):
        self.record("a.pft", launch)
        run = self.photofinish("flip", "a.pft", "1", "-o", "b.pft")
        self.assertEqual(run.status, 2, run)
        self.assertIn("several threads", run.err, run)
        print(f"{name}: refused, as its ranks' threads call MPI")

    def test_corpus(self):
        for name in chosen((*CORPUS, *SHARED) if FULL else FIXED):
            if not os.path.exists(launch_words(name)[1][0]):
                print(f"{name}: skipped: it is not built here")
                continue
            with self.subTest(name):
                self.corpus_program(name)
                print(Figures.line(*self.figures.rows[-1]) if self.figures.rows else "", flush=True)
        print(f"\n{self.figures}")

    def test_random_programs(self):
        for seed in range(FIRST, FIRST + COUNT):
            ranks = 3 + seed % 3
            with self.subTest(seed=seed, ranks=ranks):
                words = [PROGRAM, seed, 1, 4, "--messages", 4, "--trace"]
                mode = "outcomes" if seed % 3 == 0 else "all"
                recorded = self.record("a.pft", self.mpirun(ranks, *words), "--mode", mode)
                self.flip_all(f"random {seed}, {ranks} ranks", recorded, Told(recorded.err))
                print(Figures.line(*self.figures.rows[-1]), flush=True)
        print(f"\n{self.figures}")
        self.assertGreater(sum(counts["flips"] for _, counts in self.figures.rows), COUNT, "next to nothing was flipped")


if __name__ == "__main__":
    main()
