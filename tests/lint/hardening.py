# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds every program and library that is built to its hardening: what the linker and the compiler left in the file.

usage: hardening.py [--loaded-into-the-program] FILE...   (the latter: no fortified calls, see cmake/AppTarget.cmake)
"""
import re
import subprocess
import sys


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], check=True, capture_output=True, text=True).stdout


def missing(path, loaded):
    """What is not as it should be, in words."""
    dynamic, headers, symbols = readelf("-d", path), readelf("-h", "-l", path), readelf("--dyn-syms", path)
    if not re.search(r"Type:\s+DYN", headers):
        yield "is not position independent"
    if not re.search(r"BIND_NOW|FLAGS_1.*\bNOW\b", dynamic):
        yield "binds lazily (-z now)"
    if "GNU_RELRO" not in headers:
        yield "has no relocation that is read only (-z relro)"
    if re.search(r"GNU_STACK.*RWE", headers) or "GNU_STACK" not in headers:
        yield "has a stack that can be run"
    if re.search(r"LOAD.*RWE", headers):
        yield "has a segment that can be written and run"
    if re.search(r"RPATH|RUNPATH", dynamic):
        yield "looks for libraries in a path of its own"
    if "__stack_chk_fail" not in symbols:
        yield "has no stack protector"
    if not loaded and not re.search(r"\w+_chk@", symbols.replace("__stack_chk_fail", "")):
        yield "has no fortified call (-D_FORTIFY_SOURCE)"


def main():
    files, loaded = sys.argv[1:], False
    if files and files[0] == "--loaded-into-the-program":
        files, loaded = files[1:], True
    if not files:
        sys.exit(__doc__)
    found = [f"{path}: {what}" for path in files for what in missing(path, loaded)]
    print("\n".join(found) or f"{len(files)} files are hardened")
    sys.exit(1 if found else 0)


main()
