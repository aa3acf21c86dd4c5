#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds families.txt against the table of all MPI routines and against the programs of this folder.

families.txt has one line per routine: `NAME FAMILY`, or `NAME - reason` where it is not used. Fails when a
routine of mpi_calls.py has no line or a line no routine, when a routine with a family does not occur in the C
files, when a routine without one does, and when a family is not in any table of families.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "replay_engine" / "rank" / "gen"))
sys.dont_write_bytecode = True
from mpi_calls import CALLS  # noqa: E402


def code_only(text):
    """Without comments and strings: a routine that is only spoken of is not used."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def read_list(problems):
    claims = {}
    for number, line in enumerate((HERE / "families.txt").read_text().splitlines(), 1):
        match = re.fullmatch(r"(\w+) (?:- (\S.*)|(\w+))", line)
        if not match:
            problems.append(f"families.txt:{number}: neither 'NAME FAMILY' nor 'NAME - reason': {line!r}")
            continue
        name, _, family = match.groups()
        if name in claims:
            problems.append(f"families.txt:{number}: {name} is there twice")
        claims[name] = family
    return claims


def main():
    problems = []
    claims = read_list(problems)
    sources = [path.read_text() for path in sorted(HERE.glob("*.c"))]
    used = set(re.findall(r"\bMPI_(\w+)", code_only("\n".join(sources))))
    families = set(re.findall(r'\{"(\w+)", \w+, \w+\}', "\n".join(sources))) | {"main"}
    routines = [call.name for call in CALLS]
    problems += [f"{name}: not in families.txt" for name in routines if name not in claims]
    for name, family in claims.items():
        if name not in routines:
            problems.append(f"{name}: no such routine in mpi_calls.py")
        elif family is None and name in used:
            problems.append(f"{name}: is used, though families.txt says it is not")
        elif family is not None and name not in used:
            problems.append(f"{name}: claimed for {family}, but no C file has MPI_{name}")
        if family is not None and family not in families:
            problems.append(f"{name}: no family {family}")
    for problem in problems:
        print(problem)
    in_use = sum(1 for family in claims.values() if family)
    print(f"{len(routines)} routines, {in_use} used, {len(claims) - in_use} not; {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
