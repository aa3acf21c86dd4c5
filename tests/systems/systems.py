#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/systems.md: what was seen to work with which MPI library on which system.

    systems.py [SYSTEM…]    runs capabilities_test.py for each library there, and makes the page anew; SYSTEM is "here" unless given,
                            or one of on_debian.sh (trixie, sid, bookworm): built there before, ./test --build
    systems.py --only C,…   … runs these capabilities only; of the others, what was found before stays
    systems.py --page       makes the page of what was kept
    systems.py --check      whether the page is that one
    systems.py --results    runs them here, and prints what was found, as JSON

What was found is kept in tests/systems/results.json. A cell that was not run says so."""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import standard_abi

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
RESULTS, PAGE = HERE / "results.json", SOURCE / "docs" / "systems.md"
LIBRARIES = {"openmpi": ("mpirun.openmpi", r"\((?:Open MPI|OpenRTE|PRRTE)\) (\S+)", "Open MPI"), "mpich": ("mpiexec.mpich", r"Version: +(\S+)", "MPICH")}
# Of the standard's binary interface, whose launchers are those of who made them.
ABIS = {"abi-openmpi": "openmpi", "abi-mpich": "mpich"}
CAPABILITIES = {
    "record": "the run is recorded, in each mode; output and exit status are the program's own",
    "replay": "a failing run, three times with random delays: the same output and exit status",
    "survey": "events of a run of which only the choices were recorded",
    "races": "racing receives, those of brute force",
    "deadlock": "a run that hangs is ended, and it is said who waits for whom",
    "explore": "every order of the messages, each once",
    "flip": "a race the other way round, as a trace that replays",
    "gdb": "a breakpoint, variables and a step in a replay, by commands",
    "dap": "an editor's session: a breakpoint, a step, an event back",
    "report": "the stacks of a crash, without a window",
    "attach": "a job that runs is found, looked at, moved and left alone",
    "cores": "the core file of a rank",
    "window": "opened at the failing receive",
}
WORDS = {0: "works", 77: "not there"}
LIMIT = 300.0


def system():
    """"Debian 13", of this system."""
    facts = dict(re.findall(r'(?m)^(\w+)="?([^"\n]*)"?$', pathlib.Path("/etc/os-release").read_text()))
    return f"{facts.get('NAME', 'Linux').split()[0]} {facts.get('VERSION_ID', facts.get('VERSION_CODENAME', ''))}".strip()


def version_of(launcher, pattern):
    try:
        said = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    found = re.search(pattern, said.stdout)
    return found[1] if found else None


def libraries_here():
    """[(library, what it is called with its version)]"""
    out = []
    for library, (launcher, pattern, name) in LIBRARIES.items():
        version = version_of(launcher, pattern)
        if version is not None:
            out.append((library, f"{name} {version}"))
            out += [(abi, f"MPI ABI of {name} {version}") for abi, maker in ABIS.items() if maker == library and standard_abi.found(abi)]
    return out


def gdb_version():
    try:
        said = subprocess.run(["gdb", "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return "none"
    return said.splitlines()[0].split()[-1]


def try_one(library, capability):
    words = [sys.executable, "-B", str(HERE / "capabilities_test.py"), library, "-k", f"test_{capability}"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return "fails"
    word = WORDS.get(done.returncode, "fails")
    if word == "not there" and re.search(r"/(photofinish|pf_)[\w-]* is not there", done.stderr):
        word = "not tried"  # a part of ours that was not built
    print(f"{library} {capability}: {word}", file=sys.stderr, flush=True)
    if word == "fails":
        print(done.stderr[-3000:], file=sys.stderr, flush=True)
    return word


def results_here(only):
    found = {}
    for library, name in libraries_here():
        cells = {capability: try_one(library, capability) for capability in CAPABILITIES if capability in only}
        found[name] = {"library": library, "gdb": gdb_version(), "cells": cells}
    return {system(): found}


def results_of(place, only):
    if place == "here":
        return results_here(only)
    done = subprocess.run([HERE / "on_debian.sh", place, "python3", "-B", "tests/systems/systems.py", "--only", ",".join(only), "--results"],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"systems.py: on_debian.sh {place} ended with {done.returncode}: is it built there? (on_debian.sh {place} ./test --build)")
    return json.loads(done.stdout[done.stdout.index("{"):])


def page(results):
    columns = [(where, library, facts) for where, libraries in sorted(results.items()) for library, facts in sorted(libraries.items())]
    lines = ["# Systems", "", "What was seen to work with which MPI library? Made by `tests/systems/systems.py`, which runs",
             "`tests/systems/capabilities_test.py LIBRARY -k CAPABILITY` for each cell: a program built by the library's own compiler and",
             "started by its own launcher. *not there*: the system has no such thing; *fails*: the test does;",
             "*not tried*: nobody has run it, or the part was not built there.", ""]
    lines += ["| | " + " | ".join(f"{library}, {where}, GDB {facts['gdb']}" for where, library, facts in columns) + " |",
              "|---|" + "---|" * len(columns)]
    for capability, text in CAPABILITIES.items():
        lines.append(f"| **{capability}**: {text} | "
                     + " | ".join(facts["cells"].get(capability, "not tried") for _, _, facts in columns) + " |")
    lines += ["", "*MPI ABI of*: programs linked against `libmpi_abi`, the standard's binary interface. Programs of other libraries are refused by name and",
              "version before they run: other makers', another major version than the recorder was built for (`tests/e2e/other_libraries_test.py`,",
              "`agent_test`). The libraries of makers: not tried. On Debian forky (sid) the recorders of Open MPI 6 and MPICH 5 were built there; the",
              "programs, and the recorder of `libmpi_abi`, which needs no MPI library, on Debian 12. Those built there, without the window, ran *record*, *replay* and",
              "*races*. Open MPI 6.0.0rc2's `libmpi_abi` crashes a program that asks `MPI_Dist_graph_neighbors` for the neighbours of a weighted graph with",
              "`MPI_UNWEIGHTED`, by itself. MPICH 5.0.2 returns `MPI_SUCCESS` from a call that failed where an error handler of the program's own was",
              "called: `record --groups` keeps contents up to the first such call that should have received something, and says so. A message that is",
              "too long is kept there as one that is whole.", "",
              "`tests/systems/on_debian.sh trixie` makes a Debian 13 in a folder, and runs `./test` or another command in it. There, `mpirun` is",
              "PRRTE's `prterun`: the name that `ps` shows. Open MPI is not told to run programs of root unless `OMPI_ALLOW_RUN_AS_ROOT` says so,",
              "as before.", "",
              "![The bundled program at its failing receive, on Debian 13: Qt 6.8, GDB 16.3, Open MPI 5.0.7](pictures/window-debian-13.png)"]
    return "\n".join(lines) + "\n"


def put(results, found):
    """What was found beside what was kept. Other versions are other columns, in their place."""
    for where, libraries in found.items():
        for library, facts in libraries.items():
            before = results.get(where, {}).get(library, {"cells": {}})
            facts["cells"] = {**(before["cells"] if before.get("gdb") == facts["gdb"] else {}), **facts["cells"]}
        results[where] = libraries


def kept():
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def main(words):
    only = list(CAPABILITIES)
    if words[:1] == ["--only"] and len(words) > 1:
        only, words = words[1].split(","), words[2:]
        unknown = [name for name in only if name not in CAPABILITIES]
        if unknown:
            sys.exit(f"systems.py: no capability is called {unknown[0]}: {', '.join(CAPABILITIES)}")
    if words == ["--results"]:
        print(json.dumps(results_here(only), indent=1))
        return 0
    if words == ["--check"]:
        same = PAGE.exists() and PAGE.read_text() == page(kept())
        print("docs/systems.md is that of results.json" if same else "docs/systems.md is another one: tests/systems/systems.py --page makes it")
        return 0 if same else 1
    if words and words[0].startswith("-") and words != ["--page"]:
        print(__doc__, file=sys.stderr)
        return 2
    results = kept()
    for place in [] if words == ["--page"] else words or ["here"]:
        put(results, results_of(place, only))
        RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    PAGE.write_text(page(results))
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    sys.exit(main(sys.argv[1:]))
