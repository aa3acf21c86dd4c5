#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs corpus programs natively, several times each, and says how they differed.

    run_native.py --bin build/dev/bin/corpus [--runs 10] [--check] [--json OUT] [NAME ...]

Output is compared with its lines sorted: which rank's line the launcher prints first means nothing.
--check exits 1 when a program did what expected.json rules out (an exit it does not list, a failure
of a program that never fails, different output of a program that has only one).
"""
import argparse
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
HANG = "hang"
Run = collections.namedtuple("Run", "exit output errors seconds launcher_failed")


def load_expected(path=HERE / "expected.json"):
    return json.loads(pathlib.Path(path).read_text())["programs"]


def command_of(name, entry, bin_dir):
    """The command line of a program: mpirun, its ranks, the program, its arguments."""
    program = [part.replace("{bin}", str(bin_dir)).replace("{source}", str(HERE))
               for part in entry.get("program", ["{bin}/" + name])]
    return ["mpirun", "-n", str(entry["ranks"]), "--oversubscribe", *program, *entry.get("args", [])]


def mpi_environment():
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def descendants(pid):
    """(pid, state) of every process below pid."""
    children = collections.defaultdict(list)
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            state, parent = pathlib.Path("/proc", entry, "stat").read_text().rsplit(")", 1)[1].split()[:2]
        except OSError:
            continue
        children[int(parent)].append((int(entry), state))
    found, todo = [], [pid]
    while todo:
        below = children[todo.pop()]
        found += below
        todo += [child for child, _ in below]
    return found


def stop(process):
    """Ends a launcher and its ranks. mpirun 4.1.4 may ignore SIGTERM for ever."""
    below = [pid for pid, state in descendants(process.pid) if state != "Z"]
    process.terminate()
    try:
        process.wait(3)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pid in below:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def wait(process, timeout):
    """The exit, HANG, or None where the launcher itself failed: after a rank has aborted, mpirun 4.1.4
    now and then crashes or locks up in PMIx_server_finalize (every rank a zombie, mpirun waiting)."""
    start, ranks_gone = time.monotonic(), None
    while process.poll() is None:
        time.sleep(0.02)
        now = time.monotonic()
        if now - start > timeout:
            stop(process)
            return HANG
        if now - start < 1.0:
            continue
        below = descendants(process.pid)
        if below and all(state == "Z" for _, state in below):
            ranks_gone = ranks_gone or now
            if now - ranks_gone > 2.0:
                process.kill()
                process.wait()
                return None
        else:
            ranks_gone = None
            time.sleep(0.1)
    return process.returncode if process.returncode >= 0 else None


def exit_from_text(text, launcher):
    """What mpirun would have returned, from what it and the ranks said before it failed."""
    if match := re.search(r"with errorcode (\d+)", text) or re.search(r"Exit code:\s+(\d+)", text):
        return int(match[1])
    if match := re.search(r"exited on signal (\d+)", text):
        return 128 + int(match[1])
    for pid, number in re.findall(r"\[[^\]\s]*:(\d+)\] Signal: .*\((\d+)\)", text):
        if int(pid) != launcher:
            return 128 + int(number)
    return None


def run_once(command, timeout=20.0):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   env=mpi_environment(), start_new_session=True)
        code = wait(process, timeout)
        seconds = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        errors = err.read().decode(errors="replace")
        text = out.read().decode(errors="replace").replace("\r", "")
    launcher_failed = code is None
    if launcher_failed:
        code = exit_from_text(errors + text, process.pid)
    return Run(code, "\n".join(sorted(text.splitlines())), errors, seconds, launcher_failed)


def judge(entry, runs):
    """What the runs did that expected.json rules out."""
    wrong = []
    exits = {run.exit for run in runs}
    allowed = set(entry["exit"])
    if exits - allowed:
        wrong.append(f"exits {sorted(exits - allowed, key=str)} are not among {sorted(allowed, key=str)}")
    if entry["fails"] == "never" and exits != {0}:
        wrong.append("fails, and should not")
    if not entry["varies"] and len({run.output for run in runs}) > 1:
        wrong.append("output differs, and should not")
    return wrong


def summary(name, entry, runs):
    outputs = collections.Counter((run.exit, run.output) for run in runs)
    return {"name": name, "runs": len(runs), "distinct": len(outputs),
            "exits": dict(collections.Counter(str(run.exit) for run in runs)),
            "median_seconds": round(sorted(run.seconds for run in runs)[len(runs) // 2], 2),
            "launcher_failed": sum(run.launcher_failed for run in runs),
            "wrong": judge(entry, runs),
            "outputs": [{"exit": code, "runs": count, "output": output.splitlines()}
                        for (code, output), count in outputs.most_common()]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="directory with the built corpus")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--timeout", type=float, default=8.0, help="seconds after which a run counts as hung")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="print each distinct output")
    parser.add_argument("--json", type=pathlib.Path, help="write all outputs here")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    expected = load_expected()
    names = args.names or sorted(expected)
    if unknown := [name for name in names if name not in expected]:
        parser.error("not in expected.json: " + ", ".join(unknown))
    summaries = []
    for name in names:
        entry = expected[name]
        command = command_of(name, entry, args.bin.resolve())
        if missing := [part for part in command if part.startswith("/") and not os.path.exists(part)]:
            print(f"{name:24} skipped, not built: {missing[0]}", flush=True)
            continue
        runs = [run_once(command, args.timeout) for _ in range(args.runs)]
        result = summary(name, entry, runs)
        summaries.append(result)
        note = "" if (result["distinct"] > 1) == entry["varies"] else "  (one output only, this time)"
        print(f"{name:24} {result['distinct']:3} of {args.runs} differ   exits {result['exits']}"
              f"   {result['median_seconds']} s{note}"
              + (f"   launcher failed {result['launcher_failed']}x" if result["launcher_failed"] else ""), flush=True)
        for line in result["wrong"]:
            print(f"    WRONG: {line}", flush=True)
        for output in result["outputs"] if args.verbose else []:
            print(f"    {output['runs']}x exit {output['exit']}")
            for line in output["output"]:
                print("        " + line)
    if args.json:
        args.json.write_text(json.dumps(summaries, indent=1))
    return 1 if args.check and any(result["wrong"] for result in summaries) else 0


if __name__ == "__main__":
    sys.exit(main())
