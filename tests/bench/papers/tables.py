#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The papers' tables again: each program recorded, and what each tracing algorithm would trace of that run.

    tables.py [--build build/release] [--runs 3] [--only det,line,...] [--json OUT] [--markdown]

One row a program: messages, wildcard receives, racing; traced by each algorithm (percent of the messages); bounds on the
optimal trace; recorded/native ratio of the run's time (median of --runs pairs, interleaved; start of the job included);
bytes of the closed trace; and what the paper's table says of the program of that name. Ours are programs of the same
name and kind, written anew from what the papers say: where our counts come near theirs they were chosen so (the notes in
programs.json), and that is no evidence. Exit: 0, 77 nothing to measure with, 1 a program failed.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "corpus"))
from run_native import mpi_environment  # noqa: E402

ALGORITHMS = ("naive", "netzer-miller", "algorithm-a", "algorithm-b", "window-16", "meehan")
HEADS = ("program", "messages", "wildcards", "racing", *ALGORITHMS, "optimum", "rec/native", "bytes", "paper: traced")
TITLES = {"netzer-miller": "Netzer and Miller, Table 1", "yan": "Yan, Tables 1-5", "meehan": "Meehan, Figures 8 and 9",
          "mpiwiz": "MPIWiz, Table 3"}


class Failed(Exception):
    pass


def run(words, where):
    start = time.monotonic()
    done = subprocess.run([str(word) for word in words], cwd=where, env=mpi_environment(), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise Failed(f"exit {done.returncode}: {' '.join(map(str, words))}\n{done.stdout[-500:]}{done.stderr[-1500:]}")
    return time.monotonic() - start, done.stdout


def published(entry):
    """What the paper says was traced, as one short text."""
    said = entry["published"]
    if "Messages Traced" in said:
        return f"{said['Messages Traced']} of {said['Messages Sent']}, optimum {said['% of Optimal Trace']}"
    if "Table 5" in said:
        table = said["Table 5"]
        return f"{table['Adaptive/Naive (%)']} % of {table['Naive'] // said.get('runs', 1)}"
    return "-"


def measure(entry, options, scratch):
    program = options.build / "bin" / "papers" / entry["name"]
    photofinish = options.build / "bin" / "photofinish"
    launch = ["mpirun", "-n", entry["ranks"], "--oversubscribe", program, *entry["arguments"]]
    trace = scratch / f"{entry['name']}.pft"
    ratios = []
    for number in range(options.runs):
        trace.unlink(missing_ok=True)
        record = [photofinish, "record", "--replace", "-o", trace, *launch]
        first, second = (launch, record) if number % 2 == 0 else (record, launch)
        one, _ = run(first, scratch)
        two, _ = run(second, scratch)
        ratios.append(two / one if number % 2 == 0 else one / two)
    size = trace.stat().st_size
    _, text = run([photofinish, "info", trace, "--json", "--tracing"], scratch)
    tracing = json.loads(text)["tracing"]
    trace.unlink()
    return {"program": entry["name"], "paper": entry["paper"], "tracing": tracing, "ratio": statistics.median(ratios),
            "bytes": size, "published": published(entry)}


def cells(row):
    tracing = row["tracing"]
    messages = max(1, tracing["messages"])
    optimum = tracing["optimum"]
    return [row["program"], tracing["messages"], tracing["wildcardReceives"], tracing["racing"],
            *(f"{tracing['algorithms'][name]['traced']} ({100 * tracing['algorithms'][name]['traced'] / messages:.1f} %)"
              for name in ALGORITHMS),
            f"{optimum['lower']}" + ("" if optimum["exact"] else f"-{optimum['upper']}"),
            f"{row['ratio']:.2f}", row["bytes"], row["published"]]


def show(rows, markdown):
    for paper, title in TITLES.items():
        chosen = [cells(row) for row in rows if row["paper"] == paper]
        if not chosen:
            continue
        print(f"\n### {title}\n" if markdown else f"\n{title}")
        table = [list(HEADS), *chosen]
        widths = [max(len(str(line[i])) for line in table) for i in range(len(HEADS))]
        for number, line in enumerate(table):
            texts = [str(cell).ljust(widths[0]) if i == 0 else str(cell).rjust(widths[i]) for i, cell in enumerate(line)]
            print("| " + " | ".join(texts) + " |" if markdown else "  ".join(texts))
            if markdown and number == 0:
                print("|" + "|".join("---" if i == 0 else "---:" for i in range(len(HEADS))) + "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[2] / "build" / "release")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    options.build = options.build.resolve()
    entries = json.loads((HERE / "programs.json").read_text())
    if options.only:
        entries = [entry for entry in entries if entry["name"] in options.only.split(",")]
    if not (options.build / "bin" / "papers" / "det").exists():
        print(f"not built: {options.build}/bin/papers; build it, or name the build directory with --build", file=sys.stderr)
        return 77
    rows, failed = [], False
    with tempfile.TemporaryDirectory(prefix="photofinish-papers-") as scratch:
        for entry in entries:
            try:
                rows.append(measure(entry, options, pathlib.Path(scratch)))
            except (Failed, subprocess.TimeoutExpired) as failure:
                print(f"{entry['name']}: {failure}", file=sys.stderr)
                failed = True
    show(rows, options.markdown)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
