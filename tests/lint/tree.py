#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is committed: no large or binary file but where these belong, a licence in each source, the MIT licence for all that
the injected library and a plugin include, and subjects of commits that fit a line.

    tree.py ROOT
    tree.py --self-test
"""
import os
import pathlib
import re
import subprocess
import sys

MOST_BYTES = 1 << 20
# Pictures of the documentation, and input of tests.
BINARIES = re.compile(r"^docs/.*\.png$|/tests/(data|corpus|transcripts)/|^share/.*\.(png|svg)$")
SOURCES = {".cpp", ".h", ".c", ".py", ".cmake", ".sh", ".f90", ".map"}
NAMES = {"CMakeLists.txt", "run", "test"}
LICENCE = re.compile(r"SPDX-License-Identifier: (\S+)")
GPL, MIT = "GPL-3.0-or-later", "MIT"
# Roots of what must not bind others: the library that is loaded into the user's process, and what a plugin includes.
FREE = re.compile(r"^replay_engine/(rank|base|log_format|cpython)/|^plugins/")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
LONGEST_SUBJECT = 72
SINCE = "669dfc4"  # subjects before were longer


def committed(root):
    done = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, check=False)
    if done.returncode == 0:
        return [name for name in done.stdout.decode().split("\0") if name and (root / name).is_file()]
    return [str(path.relative_to(root)) for path in root.rglob("*")
            if path.is_file() and path.relative_to(root).parts[0] not in ("build", ".git") and "__pycache__" not in path.parts]


def size_and_kind(name, size, head):
    if size > MOST_BYTES:
        yield f"{name}: {size} bytes; nothing over {MOST_BYTES} is committed"
    if b"\0" in head and not BINARIES.search(name):
        yield f"{name}: a binary file; those are in docs and in data of tests"


def licences(texts):
    """Of each source by name: what is wrong with its licence."""
    found = {}
    for name, text in texts.items():
        match = LICENCE.search(text[:2000])
        found[name] = match.group(1) if match else None
        if found[name] not in (GPL, MIT):
            yield f"{name}: says no licence; write SPDX-License-Identifier: {MIT if FREE.search(name) else GPL}"
        elif FREE.search(name) and "/tests/" not in name and found[name] != MIT:
            yield f"{name}: is loaded into the user's process or into plugins, hence {MIT}"
    # The tests of the libraries may use what they like.
    todo = [name for name in texts if FREE.search(name) and "/tests/" not in name
            and (not name.startswith("plugins/") or name == "plugins/api/plugin.h")]
    seen = set(todo)
    while todo:
        name = todo.pop()
        if found.get(name) == GPL:
            yield f"{name}: {GPL}, and included by what is loaded into the user's process or by plugins"
        for included in INCLUDE.findall(texts[name]):
            if included in texts and included not in seen:  # by its path from the root
                seen.add(included)
                todo.append(included)


def subjects(root):
    log = subprocess.run(["git", "-C", root, "log", "--format=%h %s", f"{SINCE}..HEAD"], capture_output=True, text=True, check=False)
    if log.returncode == 0:  # else: no repository, or a shallow one
        for line in log.stdout.splitlines():
            commit, _, subject = line.partition(" ")
            if len(subject) > LONGEST_SUBJECT:
                yield f"commit {commit}: a subject of {len(subject)} characters; {LONGEST_SUBJECT} fit, the why is for the body"


def findings(root):
    texts = {}
    for name in committed(root):
        path = root / name
        with open(path, "rb") as file:
            head = file.read(8192)
        yield from size_and_kind(name, path.stat().st_size, head)
        if path.suffix in SOURCES or path.name in NAMES:
            texts[name] = path.read_text(errors="replace")
    yield from licences(texts)
    yield from subjects(root)


def self_test():
    assert list(size_and_kind("core", 52_432_896, b"\x7fELF\0"))[0].startswith("core: 52432896 bytes")
    assert list(size_and_kind("app/core", 10, b"\x7fELF\0")) == ["app/core: a binary file; those are in docs and in data of tests"]
    assert not list(size_and_kind("db/tests/data/v10.zst", 10, b"\0"))
    gpl, mit = f"// SPDX-License-Identifier: {GPL}\n", f"// SPDX-License-Identifier: {MIT}\n"
    right = {"replay_engine/rank/calls/a.cpp": mit + '#include "replay_engine/execution/b.h"\n', "replay_engine/execution/b.h": mit,
             "replay_engine/races/c.cpp": gpl + '#include "replay_engine/execution/b.h"\n', "replay_engine/base/tests/d.cpp": gpl}
    assert not list(licences(right)), list(licences(right))
    assert "included by what" in "".join(licences({**right, "replay_engine/execution/b.h": gpl}))
    assert "hence MIT" in "".join(licences({**right, "replay_engine/rank/calls/a.cpp": gpl}))
    assert "no licence" in "".join(licences({**right, "app/e.cpp": "int e;\n"}))
    print("the rules find what they are for")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    found = list(findings(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "nothing to say")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
