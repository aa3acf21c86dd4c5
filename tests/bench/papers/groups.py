#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""MPIWiz' evaluation again: what groups leave to log, and what recording and replaying them takes.

    groups.py [--build build/release] [--ranks 64] [--group 8] [--runs 3] [--npb DIRECTORY] [--input FILE] [--only ge,pu,cg,...]
              [--parts 8,7,3,2] [--markdown]

Figures 8 and 6, one row a program: bytes of contents with groups of consecutive ranks (of PU: rank 0 and 1, the others alone), as
percent of data replay (`--groups each`), raw and compressed; a random division of the same sizes (mean of 3); whole runs recorded
so / native, and so with `all`, medians of --runs in turn (native, each, groups, all, native …), start of the job included; a
replay of one rank (data replay) and of group 1 / native, and the latter's processors' seconds beside those of its ranks in a
native run, as far as a whole job's divide evenly.
Figure 7: replay of group 1 / data replay of one rank, on one processor and on each number of them that is here.
Figures 3 and 9: the percentage of data replay by the size of the largest group, as METIS divides and at random, from
`photofinish groups`. Table 2: for each number of ranks that there is a program for, the size of groups at which locality saves most
beside chance (the paper's are local optima of Figure 3), among sizes up to a half of the ranks.
--parts: which of them (Figure 6 comes with 8, 9 with 3).

ge, asp and pu are in this folder. --npb: binaries of the NAS Parallel Benchmarks, called cg.CLASS.RANKS (the first class of a
number of ranks), which are not ours; --input: a file that they read where they run (inputlu.data: fewer iterations). Exit: 0, 77 nothing to measure with, 1 a program failed.
"""
import argparse
import json
import os
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "corpus"))
from run_native import mpi_environment  # noqa: E402

OURS = {"ge": ["256"], "asp": ["256"], "pu": ["5"]}
NPB = ("cg", "mg", "lu", "ft")
SIZES = ("cg", "ft")  # Figures 7 and 9
SCALED = ("cg", "mg")  # Table 2
PAPER = {"cg": "22 %", "mg": "mean of cg, mg, lu: 38 %", "lu": "mean of cg, mg, lu: 38 %", "ft": "87 %", "ge": "87.2 %", "asp": "86.9 %",
         "pu": "98.4 %"}


class Failed(Exception):
    pass


def run(words, where, processors=None):
    """Seconds, seconds of processors, output; on so many of them."""
    def stay():
        if processors:
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:processors])
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([str(word) for word in words], cwd=where, env=mpi_environment(), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=900, check=False, preexec_fn=stay)
    seconds = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise Failed(f"exit {done.returncode}: {' '.join(map(str, words))}\n{done.stdout[-500:]}{done.stderr[-1500:]}")
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


class Program:
    def __init__(self, name, words, options, scratch, ranks=None):
        self.name, self.options, self.scratch, self.ranks = name, options, scratch, ranks or options.ranks
        self.launch = ["mpirun", "--oversubscribe", "-n", self.ranks, *words]
        self.photofinish = options.build / "bin" / "photofinish"

    def trace(self, kind):
        return self.scratch / f"{self.name}-{kind}.pft"

    def record(self, kind, spec, *more):
        self.trace(kind).unlink(missing_ok=True)
        return run([self.photofinish, "record", "-o", self.trace(kind), "--groups", spec, *more, *self.launch], self.scratch)

    def contents(self, kind):
        """Bytes raw and compressed."""
        info = json.loads(run([self.photofinish, "info", self.trace(kind), "--json"], self.scratch)[2])["contents"]
        return (info["bytes"], info["packedBytes"]) if info else (0, 0)

    def spec(self):
        ranks, size = self.ranks, self.options.group
        if self.name == "pu":
            return "0-1"
        return ",".join(f"{first}-{min(first + size, ranks) - 1}" for first in range(0, ranks, size))

    def random_spec(self, seed):
        ranks = list(range(self.ranks))
        random.Random(seed).shuffle(ranks)
        size = 2 if self.name == "pu" else self.options.group
        groups = [ranks[first:first + size] for first in range(0, len(ranks), size)]
        return ",".join("+".join(map(str, sorted(group))) for group in (groups[:1] if self.name == "pu" else groups))

    def row(self):
        native, each, groups, orders = [], [], [], []
        for _ in range(self.options.runs):
            native.append(run(self.launch, self.scratch))
            each.append(self.record("each", "each"))
            groups.append(self.record("groups", self.spec()))
            orders.append(self.record("all", "all"))
        native.append(run(self.launch, self.scratch))
        base = statistics.median(seconds for seconds, _, _ in native)
        processors = statistics.median(used for _, used, _ in native)
        raw, packed = self.contents("each")
        some, some_packed = self.contents("groups")
        chance = []
        for seed in range(3):
            self.record("random", self.random_spec(seed))
            chance.append(self.contents("random")[0])
        replays = self.replays("groups")
        members = 1 if self.name == "pu" else self.options.group
        return {
            "program": self.name, "data replay, MB": raw / 1e6, "groups": 100 * some / raw, "compressed": 100 * some_packed / packed,
            "random": 100 * statistics.mean(chance) / raw, "paper": PAPER[self.name],
            "rec each": statistics.median(s for s, _, _ in each) / base, "rec groups": statistics.median(s for s, _, _ in groups) / base,
            "rec all": statistics.median(s for s, _, _ in orders) / base,
            "replay rank": statistics.median(s for s, _, _ in self.replays("each")) / base,
            "replay group": statistics.median(s for s, _, _ in replays) / base,
            "its processors": statistics.median(used for _, used, _ in replays) / (processors * members / self.ranks)}

    def replays(self, kind, processors=None):
        """Of group 1, --runs of them."""
        return [run([self.photofinish, "replay", self.trace(kind), "--group", 1], self.scratch, processors) for _ in range(self.options.runs)]

    def on_processors(self):
        """Figure 7."""
        self.record("each", "each")
        self.record("groups", self.spec())
        row = {"program": self.name}
        for count in range(1, len(os.sched_getaffinity(0)) + 1):
            one, group = ([seconds for seconds, _, _ in self.replays(kind, count)] for kind in ("each", "groups"))
            row[f"on {count}"] = statistics.median(group) / statistics.median(one)
        return row

    def figure(self):
        self.record("sizes", "all", "--mode", "all")
        sizes = {}
        size = 1
        while size <= self.ranks:
            found = json.loads(run([self.photofinish, "groups", self.trace("sizes"), "--max", size, "--json"], self.scratch)[2])
            for each in found["candidates"]:
                sizes[each["largest"]] = min(sizes.get(each["largest"], (101, 101)), (each["percent"], each["randomPercent"]))
            size *= 2
        return sizes

    def best_size(self):
        """Table 2: size, percent there, percent at random."""
        sizes = {size: both for size, both in self.figure().items() if 1 < size <= self.ranks / 2}
        size, (metis, chance) = max(sizes.items(), key=lambda item: (item[1][1] - item[1][0], -item[0]))
        return {"program": self.name, "ranks": self.ranks, "group size": size, "percent": float(metis), "random": float(chance)}


def programs(options, scratch):
    for name, arguments in OURS.items():
        yield Program(name, [options.build / "bin" / "papers" / name, *arguments], options, scratch)
    for name in NPB:
        if options.ranks in npb(options, name):
            yield Program(name, [npb(options, name)[options.ranks]], options, scratch)


def npb(options, name):
    """Programs by their number of ranks."""
    found = sorted(options.npb.glob(f"{name}.*.*"), reverse=True) if options.npb else []
    return {int(path.suffix[1:]): path.resolve() for path in found if path.suffix[1:].isdigit()}


def show(rows, markdown):
    heads = list(rows[0])
    text = [[f"{value:.2f}" if isinstance(value, float) else str(value) for value in row.values()] for row in rows]
    if markdown:
        print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
        for row in text:
            print("| " + " | ".join(row) + " |")
        return
    for row in [heads, *text]:
        print("  ".join(cell.rjust(max(len(head), 9)) for cell, head in zip(row, heads)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[2] / "build" / "release")
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--group", type=int, default=8)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--npb", type=pathlib.Path)
    parser.add_argument("--input", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--parts", default="8,7,3,2")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if not (options.build / "bin" / "photofinish").exists():
        print(f"{options.build} has no photofinish: build first")
        return 77
    wanted = [name for name in options.only.split(",") if name]
    with tempfile.TemporaryDirectory(prefix="photofinish-groups-") as scratch:
        if options.input:
            shutil.copy(options.input, scratch)
        chosen = [each for each in programs(options, pathlib.Path(scratch)) if not wanted or each.name in wanted]
        parts = options.parts.split(",")
        try:
            if "8" in parts and chosen:
                print(f"{options.ranks} ranks, groups of {options.group}; percent of the bytes of data replay")
                show([each.row() for each in chosen], options.markdown)
            grouped = [each for each in chosen if each.name in SIZES]
            if "7" in parts and grouped:
                print("\nreplay of a group / of one rank, by the number of processors")
                show([each.on_processors() for each in grouped], options.markdown)
            for each in grouped if "3" in parts else []:
                print(f"\n{each.name}: size of the largest group, percent of data replay, the same at random")
                show([{"size": size, "METIS": float(metis), "random": float(chance)} for size, (metis, chance) in sorted(each.figure().items())],
                     options.markdown)
            scaled = [Program(name, [path], options, pathlib.Path(scratch), ranks) for name in SCALED if not wanted or name in wanted
                      for ranks, path in sorted(npb(options, name).items())]
            if "2" in parts and scaled:
                print("\nsize of groups, as programs scale")
                show([each.best_size() for each in scaled], options.markdown)
        except Failed as failed:
            print(failed, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
