#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""C++ as .clang-format has it. Exit: 0 all is, 1 some is not (--fix mends it), 77 there is no clang-format-14: others differ.

    format.py ROOT [--fix]
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

TOOL = "clang-format-14"
FOLDERS = ("app", "mi_bridge", "replay_engine", "views", "db", "plugins", "tests")


def main():
    root, fix = pathlib.Path(sys.argv[1]), "--fix" in sys.argv[2:]
    if not shutil.which(TOOL):
        print(f"there is no {TOOL} here")
        return 77
    files = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in (".h", ".cpp"))
    some = [files[start:start + 40] for start in range(0, len(files), 40)]

    def look(paths):
        return subprocess.run([TOOL, *(["-i"] if fix else ["--dry-run", "-Werror"]), *paths], capture_output=True, text=True, check=False)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [line for run in pool.map(look, some) for line in run.stderr.splitlines() if "error:" in line]
    print("\n".join(wrong[:50]))
    print(f"{len(files)} files" + (f"; tests/lint/format.py {root} --fix mends what is said above" if wrong else ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
