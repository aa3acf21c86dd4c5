#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What recording and replaying cost: the bench programs native and under photofinish, interleaved.

    bench.py [--build build/release] [--runs 9] [--only self,clock,wtime,getenv,thread,threads,pingpong,halo,storm,barrier,allreduce,bcast,barrier8,allreduce8,bcast8,memory,replay,until,within,incoming,alone,diff] [--json OUT]
    bench.py --mode races                                                        recording in another mode
    bench.py --mode races --clock-ranks 1024                                     clocks as in a job of so many ranks
    bench.py --command 'env LD_PRELOAD=/tmp/x.so {launch}' --only storm      another way to record

Runs go native, ours, ours, native, native, ours ..., so that a drift of the machine meets both. Each
run of a program times many short rounds; its figure is the tenth percentile of these, which a load on
the machine disturbs least. "ratio" is the median over the pairs; the ratios of the medians inside the
runs and of the two fastest runs stand beside it. A replay gives the program its recorded clock, so
replays are timed from outside, start of the job included, with a storm long enough to outweigh it.
Exit: 0 all within their targets, 1 not, 77 nothing to measure with.
"""
import argparse
import json
import pathlib
import re
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "corpus"))
from run_native import mpi_environment, stop  # noqa: E402

# name: program, ranks, arguments, target
RECORDED = {"self": ("self", 1, [], None), "clock": ("clock", 1, ["clock_gettime"], None),
            "wtime": ("clock", 1, ["wtime"], None), "getenv": ("clock", 1, ["getenv"], None), "thread": ("threads", 1, ["1"], None),
            "threads": ("threads", 1, ["2"], None), "pingpong": ("pingpong", 2, [], 1.02), "halo": ("halo", 2, [], 1.02),
            "storm": ("storm", 4, [], 1.05), "barrier": ("collective", 4, ["barrier"], 1.05),
            **{f"{name}{suffix}": ("collective", ranks, [name, calls], 1.02) for ranks, suffix, calls in ((4, "", "1000"), (8, "8", "100"))
               for name in ("barrier", "allreduce", "bcast")},
            "memory": ("memory", 2, [], None)}
SELF_TARGETS = {"outcomes": 25.0, "races": 80.0, "all": 80.0}  # ns a message of Send + Recv(ANY), above native
RACES = {"pingpong": 1.05, "halo": 1.02, "storm": 1.15}
RACES |= {name: 1.10 for name in RECORDED if RECORDED[name][0] == "collective"}
# programs of one rank, whose figure is ns a call above native: what a call is, its target if it has one
CALLS = {"self": ("a message to oneself", None), "clock": ("clock_gettime", None), "wtime": ("MPI_Wtime", None), "getenv": ("getenv", 20.0),
         "thread": ("a message of one thread to itself, where threads are told apart", None),
         "threads": ("a message to oneself of each of two threads at once", None)}
# within a group: program, ranks, arguments, SPEC of --groups
WITHIN = [("pingpong", 2, ["8"], "all"), ("pingpong", 4, ["8"], "0-1"), ("self", 1, [], "all"), ("self", 2, [], "each")]
WITHIN_TARGET = 1.03  # beside native
INCOMING = (2, ["1024", "64"])  # MiB from outside of the group, in messages of so many KiB
INCOMING_TARGETS = {"recorded": 4.0, "replayed": 16.0}  # MiB above native
START_TARGET = 0.3  # seconds to the first line of main, of a rank that is replayed alone
ALONE_TARGET = 1.05  # processors' seconds of such a rank, beside what it used natively
LONG_STORM = (4, ["500", "340"])     # just over 1,000,000 events in each rank
UNTIL = "0:1000000"
OWN = ("replay", "until", "within", "incoming", "alone", "diff")  # what is more than one program recorded
REPLAY_TARGET, UNTIL_TARGET = 1.3, 1.1
DIFFERING, DIFF_TARGET = (4, ["500", "166"]), 3
FIELD = re.compile(r"(\w+)=([0-9.]+)")


class Failed(Exception):
    pass


class Bench:
    def __init__(self, args, scratch):
        self.args = args
        self.scratch = scratch
        self.bin = args.build / "bin"
        self.trace = scratch / "long_storm.pft"

    def launch(self, program, ranks, arguments):
        return ["mpirun", "-n", str(ranks), "--oversubscribe", str(self.bin / "bench" / program), *arguments]

    def expand(self, template, launch, trace):
        words = []
        for word in shlex.split(template):
            words += launch if word == "{launch}" else [
                word.replace("{photofinish}", str(self.bin / "photofinish")).replace("{trace}", str(trace))]
        return words

    def record_command(self, launch, trace):
        return self.expand(self.args.command, launch, trace)

    def replay_command(self, *options):
        return self.expand(self.args.replay_command, [], self.trace) + list(options)

    def run(self, command, stop_at=None):
        """(seconds outside, fields of the bench= line); with stop_at, seconds to the line that matches."""
        start = time.monotonic()
        with tempfile.TemporaryFile() as captured:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, cwd=self.scratch, env=mpi_environment(),
                                       stdout=subprocess.PIPE if stop_at else captured,
                                       stderr=subprocess.STDOUT, start_new_session=True)
            try:
                if stop_at:
                    return self.wait_for_line(process, stop_at, start, command), {}
                process.wait(self.args.timeout)
            except subprocess.TimeoutExpired:
                stop(process)
                raise Failed(f"no end after {self.args.timeout:g} s: {shlex.join(command)}") from None
            seconds = time.monotonic() - start
            captured.seek(0)
            text = captured.read().decode(errors="replace")
        if process.returncode != 0:
            raise Failed(f"exit {process.returncode}: {shlex.join(command)}\n{text[-2000:]}")
        line = next((line for line in text.splitlines() if line.startswith("bench=")), "")
        return seconds, {name: float(value) for name, value in FIELD.findall(line)}

    def wait_for_line(self, process, pattern, start, command):
        text = []
        watchdog = self.watch(process)
        try:
            for raw in process.stdout:
                text.append(raw.decode(errors="replace"))
                if pattern.search(text[-1]):
                    return time.monotonic() - start
            raise Failed(f"ended without a line like /{pattern.pattern}/: {shlex.join(command)}\n"
                         + "".join(text[-20:]))
        finally:
            watchdog.cancel()
            stop(process)
            process.stdout.close()

    def watch(self, process):
        watchdog = threading.Timer(self.args.timeout, stop, [process])
        watchdog.daemon = True
        watchdog.start()
        return watchdog

    def interleave(self, native, ours, label):
        """--runs pairs of results of the two functions, in alternating order."""
        pairs = []
        for i in range(self.args.runs):
            if i % 2 == 0:
                first, second = native(), ours()
                pairs.append((first, second))
            else:
                first, second = ours(), native()
                pairs.append((second, first))
            progress(f"{label} {i + 1}/{self.args.runs}")
        progress("")
        return pairs

    def recording(self, name):
        program, ranks, arguments, target = RECORDED[name]
        target = RACES.get(name, target) if self.args.mode == "races" else target
        launch = self.launch(program, ranks, arguments)
        command = self.record_command(launch, self.scratch / "bench.pft")

        pairs = self.interleave(lambda: self.inside(launch), lambda: self.inside(command), f"record {name}")
        if name == "memory":
            show_memory(pairs)
            return None
        if name in CALLS:
            what, target = CALLS[name]
            show_call(pairs, what, SELF_TARGETS[self.args.mode] if name == "self" else target)
            return None
        return row(f"record {name}", [(a["tenth"], b["tenth"]) for a, b in pairs], target,
                   ratio_of_medians=median_ratio([(a["seconds"], b["seconds"]) for a, b in pairs]))

    def record_groups(self, spec, launch, trace):
        return [str(self.bin / "photofinish"), "record", "--replace", "--mode", "outcomes", "--groups", spec, "-o", str(trace), *launch]

    def inside(self, words):
        _, fields = self.run(words)
        if not fields:
            raise Failed(f"no bench= line from {shlex.join(words)}")
        return fields

    def within(self):
        """Messages that stay in their group, beside native and beside a recording without groups."""
        rows = []
        for program, ranks, arguments, spec in WITHIN:
            launch, trace = self.launch(program, ranks, arguments), self.scratch / "within.pft"
            without = []

            def grouped():
                without.append(self.inside(self.record_command(launch, trace)))
                return self.inside(self.record_groups(spec, launch, trace))
            pairs = self.interleave(lambda: self.inside(launch), grouped, f"within {program} {spec}")
            target = WITHIN_TARGET if program == "pingpong" else None
            if target:
                rows.append(row(f"record {program} {ranks} --groups {spec}", [(a["tenth"], b["tenth"]) for a, b in pairs], target,
                                ratio_of_medians=median_ratio([(a["seconds"], b["seconds"]) for a, b in pairs])))
            least = [1e9 * min(each["minimum"] / each["messages"] for each in runs)
                     for runs in ([a for a, _ in pairs], without, [b for _, b in pairs])]
            print(f"{program} of {ranks}, ns a message, least: native {least[0]:.1f}, recorded {least[1]:.1f}, --groups {spec} {least[2]:.1f}")
        return rows

    def incoming(self):
        """Memory of a rank that gets much from outside of its group."""
        launch, trace = self.launch("incoming", *INCOMING), self.scratch / "incoming.pft"
        found = {"native": [], "recorded": [], "replayed": []}
        for i in range(min(self.args.runs, 3)):
            found["native"].append(self.inside(launch))
            found["recorded"].append(self.inside(self.record_groups("each", launch, trace)))
            found["replayed"].append(self.inside([str(self.bin / "photofinish"), "replay", str(trace), "--group", "1"]))
            progress(f"incoming {i + 1}")
        progress("")
        native = {name: statistics.median(run[name] for run in found["native"]) for name in ("kilobytes", "share")}
        for what, target in INCOMING_TARGETS.items():
            more = {name: max(run[name] for run in found[what]) / 1024 - native[name] / 1024 for name in native}
            print(f"memory of a rank that gets {INCOMING[1][0]} MiB from outside, {what}: {more['kilobytes']:+.2f} MiB at most, "
                  f"{more['share']:+.2f} MiB of its own at the end (target {target:+.0f})")
            if more["kilobytes"] > target:
                raise Failed(f"{what}: {more['kilobytes']:.2f} MiB above native")

    def processors(self, command):
        """Seconds that the command and all that it started have used."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.run(command)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def alone(self):
        """One rank that is replayed without the others: its start, and what it takes of the processors."""
        trace = self.scratch / "alone.pft"
        replay = [str(self.bin / "photofinish"), "replay", str(trace), "--group"]
        self.run(self.record_groups("each", self.launch("little", 4, []), trace))
        starts = [self.run([*replay, "0"], re.compile("^main$"))[0] for _ in range(self.args.runs)]
        print(f"first line of main of a rank alone: {statistics.median(starts):.3f} s, least {min(starts):.3f} s (target {START_TARGET})")
        launch = self.launch("incoming", *INCOMING)
        self.run(self.record_groups("each", launch, trace))
        pairs = self.interleave(lambda: self.inside(launch)["processors"], lambda: self.inside([*replay, "1"])["processors"], "alone")
        print(f"processors of all that replays it, reading the trace among it: {self.processors([*replay, '1']):.2f} s; "
              f"of a native job of {INCOMING[0]} ranks: {self.processors(launch):.2f} s")
        if min(starts) > START_TARGET:
            raise Failed(f"{min(starts):.3f} s to the first line of main")
        return row("processors of a rank alone / native", pairs, ALONE_TARGET)

    def need_trace(self):
        if not self.trace.exists():
            self.run(self.record_command(self.launch("storm", *LONG_STORM), self.trace))
            self.show_bytes()

    def show_bytes(self):
        done = subprocess.run([self.bin / "photofinish", "info", self.trace, "--json"], capture_output=True, text=True,
                              check=False)
        if done.returncode == 0:
            info = json.loads(done.stdout)
            receives = max(1, info["wildcardReceives"])
            print(f"{receives} wildcard receives: {info['bytes'] / receives:.3f} bytes each in the logs, "
                  f"{self.trace.stat().st_size / receives:.3f} in the closed trace")

    def replay(self):
        self.need_trace()
        launch = self.launch("storm", *LONG_STORM)
        pairs = self.interleave(lambda: self.run(launch)[0], lambda: self.run(self.replay_command())[0], "replay storm")
        return row("replay storm / native", pairs, REPLAY_TARGET)

    def until(self):
        self.need_trace()
        self.run(self.replay_command("--survey"))  # a stop needs the events; later replays compare with them
        pattern = re.compile(self.args.stopped, re.IGNORECASE)
        pairs = self.interleave(lambda: self.run(self.replay_command())[0],
                                lambda: self.run(self.replay_command("--until", UNTIL), pattern)[0], "replay --until")
        return row(f"replay --until {UNTIL} / replay", pairs, UNTIL_TARGET)

    def diff(self):
        """Two runs of two million events whose orders differ from the beginning."""
        traces = [self.scratch / "a.pft", self.scratch / "b.pft"]
        for trace in traces:
            self.run([str(self.bin / "photofinish"), "record", "--mode", "all", "-o", str(trace), *self.launch("storm", *DIFFERING)])
        times = []
        for _ in range(self.args.runs):
            start = time.monotonic()
            done = subprocess.run([self.bin / "photofinish", "diff", *traces], stdout=subprocess.DEVNULL, check=False, timeout=self.args.timeout)
            times.append(time.monotonic() - start)
            if done.returncode != 1:
                raise Failed(f"diff: exit {done.returncode}")
        print(f"diff of two runs of 2 million events each: {statistics.median(times):.2f} s ({min(times):.2f} to {max(times):.2f}; target {DIFF_TARGET})")
        if statistics.median(times) > DIFF_TARGET:
            raise Failed(f"{statistics.median(times):.2f} s for a comparison")


def progress(text):
    if sys.stderr.isatty():
        print(f"\r{text:40}\r{text}", end="", file=sys.stderr, flush=True)


def show_call(pairs, what, target):
    """Not a ratio: what a call costs more."""
    more = [1e9 * (b["tenth"] - a["tenth"]) / a["messages"] for a, b in pairs]
    told = f"; target {target:+.0f}" if target else ""
    print(f"{what}: native {1e9 * statistics.median(a['tenth'] / a['messages'] for a, _ in pairs):.1f} ns, "
          f"recorded {statistics.median(more):+.1f} ns ({min(more):+.1f} to {max(more):+.1f}{told})")


def show_memory(pairs):
    """Not a ratio either: what a rank takes more."""
    more = statistics.median(b["kilobytes"] - a["kilobytes"] for a, b in pairs)
    each = statistics.median(b["each"] - a["each"] for a, b in pairs)
    print(f"resident memory of a rank: recorded {more / 1024:+.2f} MiB (target +2), {each:+.0f} bytes a pending wildcard (target +64)")


def median_ratio(pairs):
    return statistics.median(ours / native for native, ours in pairs)


def row(name, pairs, target, ratio_of_medians=None):
    native, ours = zip(*pairs)
    ratio = median_ratio(pairs)
    return {"name": name, "runs": len(pairs), "native_median": statistics.median(native), "native_min": min(native),
            "ours_median": statistics.median(ours), "ours_min": min(ours), "ratio": ratio,
            "ratio_of_medians": ratio_of_medians, "ratio_of_minima": min(ours) / min(native),
            "ratios": [b / a for a, b in pairs], "target": target, "ok": ratio <= target}


def show(rows):
    print(f"{'what':32} {'runs':>4} {'native ms':>10} {'ours ms':>10} {'ratio':>6} {'inner':>6} {'min':>6} {'target':>6}")
    for r in rows:
        inner = f"{r['ratio_of_medians']:6.3f}" if r["ratio_of_medians"] else "     -"
        print(f"{r['name']:32} {r['runs']:4} {1e3 * r['native_median']:10.3f} {1e3 * r['ours_median']:10.3f} "
              f"{r['ratio']:6.3f} {inner} {r['ratio_of_minima']:6.3f} {r['target']:6.2f}  {'ok' if r['ok'] else 'OVER'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build" / "release")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only", default=",".join([*RECORDED, *OWN]))
    parser.add_argument("--mode", choices=sorted(SELF_TARGETS), default="outcomes", help="of the recordings")
    parser.add_argument("--clock-ranks", type=int, help="with --mode races: size of the clocks, where that is more")
    parser.add_argument("--command", help="how to record; default: {photofinish} record --mode MODE -o {trace} {launch}")
    parser.add_argument("--replay-command", default="{photofinish} replay {trace}", help="how to replay")
    parser.add_argument("--stopped", default=r"\bstopped\b", help="line that --until prints at its stop")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one run")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    args.build = args.build.resolve()
    environment = f"env PHOTOFINISH_CLOCK_RANKS={args.clock_ranks} " if args.clock_ranks else ""
    args.command = args.command or f"{environment}{{photofinish}} record --replace --mode {args.mode} -o {{trace}} {{launch}}"
    names = args.only.split(",")
    if unknown := set(names) - {*RECORDED, *OWN}:
        parser.error("unknown: " + ", ".join(sorted(unknown)))
    needed = [args.build / "bin" / "bench" / "storm"]
    if "{photofinish}" in args.command or set(OWN) & set(names):
        needed.append(args.build / "bin" / "photofinish")
    if missing := [path for path in needed if not path.exists()]:
        print(f"not built: {missing[0]}; build it, or name the build directory with --build", file=sys.stderr)
        return 77
    rows, failed = [], False
    with tempfile.TemporaryDirectory(prefix="photofinish-bench-") as scratch:
        bench = Bench(args, pathlib.Path(scratch))
        for name in names:
            try:
                result = getattr(bench, name)() if name in OWN else bench.recording(name)
                rows += result if isinstance(result, list) else [result] if result else []
            except Failed as failure:
                print(f"{name}: {failure}", file=sys.stderr)
                failed = True
    if rows:
        show(rows)
    if args.json:
        args.json.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    return 1 if failed or not all(r["ok"] for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
