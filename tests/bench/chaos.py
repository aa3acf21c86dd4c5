#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much more often a racy program fails under record --jitter than natively. Counts only.

    chaos.py [--build build/release] [--runs 40] [--natives 4] [--only harvest,...] [--seed 1] [--json OUT]

The programs are those of rare.c, whose failures a test run does not show, those of tests/corpus that fail in some orders
of their messages, and of ../shared/corpus, where that is built. One that fails in more than a fifth of its native runs
cannot fail five times as often: "at most" says what its native frequency leaves room for. "any order" is how often it
would fail if each of its legal orders were as likely as any other, where that can be counted. Native runs and recordings
take turns, so that both see the same load. A run fails by its exit status, by not ending, or by what it prints. In brackets
the 95 % interval of each frequency (Wilson); the factor is of the frequencies, and "surely" of the ends of the intervals
that lie nearest. Where no native run failed, the factor is a lower bound, as if one had. Exit: 0, 77 nothing to measure with.
"""
import argparse
import json
import math
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "corpus"))
from run_native import HANG, command_of, load_expected, run_once  # noqa: E402

SHARED = {"b1_probe_anytag": (["8"], None), "b2_size_then_data": ([], "WRONG"), "b3_nbx_twice": ([], "taken in round"),
          "b4_emigrants": ([], None), "b5_probe_recv_any": ([], None)}
RARE = ("config", "done", "step", "silence", "first", "home")
ANY_ORDER = {"segfault_in_order": 1 / 2, "mpi_abort_in_order": 1 / 2, "deadlock_in_order": 1 / 2, "rare config": 3 / 4,
             "rare done": 2 / 3, "rare step": 1 - 1296 / 34650, "rare first": 5 / 6}
HANGS_AFTER = 8.0


def programs(build):
    """(name, launch, what a wrong run prints or None)"""
    found = [(f"rare {name}", ["mpirun", "-n", "4", "--oversubscribe", str(build / "bin" / "bench" / "rare"), name], None)
             for name in RARE if (build / "bin" / "bench" / "rare").exists()]
    for name, entry in load_expected().items():
        if entry["fails"] == "sometimes":
            found.append((name, command_of(name, entry, build / "bin" / "corpus"), None))
    for name, (arguments, wrong) in SHARED.items():
        program = build / "bin" / "shared_corpus" / name
        if program.exists():
            found.append((name, ["mpirun", "-n", "4", "--oversubscribe", str(program), *arguments], wrong))
    return found


def fails(words, wrong):
    """Whether the run failed; None where only the launcher did."""
    run = run_once([str(word) for word in words], HANGS_AFTER)
    if run.exit is None:
        return None
    return run.exit == HANG or run.exit != 0 or bool(wrong and re.search(wrong, run.output))


def wilson(failed, runs):
    """The 95 % interval of a frequency."""
    z, n = 1.96, max(runs, 1)
    middle = (failed / n + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(failed / n * (1 - failed / n) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def told(failed, runs):
    low, high = wilson(failed, runs)
    return f"{failed:3} of {runs:3} ({100 * low:4.1f}-{100 * high:4.1f} %)"


def measure(name, launch, wrong, options, scratch):
    counts = {"native": [0, 0], "jitter": [0, 0]}
    for number in range(options.runs):
        trace = scratch / f"{number}.pft"
        record = [options.build / "bin" / "photofinish", "record", "--replace", "-o", trace, "--jitter", options.seed + number, *launch]
        for how, words in [("native", launch)] * options.natives + [("jitter", record)]:
            failed = fails(words, wrong)
            if failed is not None:
                counts[how][0] += failed
                counts[how][1] += 1
        trace.unlink(missing_ok=True)
    (native, runs), (jittered, recorded) = counts["native"], counts["jitter"]
    factor = (jittered / max(recorded, 1)) / (max(native, 1) / max(runs, 1))
    surely = wilson(jittered, recorded)[0] / max(wilson(native, runs)[1], 1e-9)
    room = f"at most {runs / native:.1f} x" if native else ""
    order = f"any order {100 * ANY_ORDER[name]:3.0f} %" if name in ANY_ORDER else ""
    print(f"{name:20} native {told(native, runs)}   jitter {told(jittered, recorded)}   {'>= ' if native == 0 else '   '}{factor:5.1f} x, "
          f"surely {surely:4.1f} x   {order:14} {room}", flush=True)
    return {"program": name, "native": counts["native"], "jitter": counts["jitter"], "factor": factor, "surely": surely}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--natives", type=int, default=4, help="native runs for each recording: a rare failure takes many")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    options.build = options.build.resolve()
    if not (options.build / "bin" / "photofinish").exists():
        print(f"nothing is built in {options.build}")
        return 77
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, launch, wrong in programs(options.build):
            if not options.only or name in options.only.split(","):
                rows.append(measure(name, launch, wrong, options, pathlib.Path(scratch)))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
