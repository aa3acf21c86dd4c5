# SPDX-License-Identifier: GPL-3.0-or-later
"""One source for all recorders: what is particular to an MPI library is in a header of it, replay_engine/rank/engine/library_*.h. Counts its
lines, and those that decide by the library or by its version elsewhere: no more than here.

    particular.py ROOT | --self-test
"""
import pathlib
import re
import sys

LIBRARIES = ("open_mpi", "mpich", "abi")
MOST_LINES = 160  # of such a header
# A file: lines in it that decide so. The choice of the header; names that MPI 4.0 has given, and Open MPI 4 has otherwise; types of MPI 4.0.
ELSEWHERE = {"engine/mpi_header.h": 3, "layer/persistent_names.h": 3, "layer/large_names.h": 1, "engine/type_parts.cpp": 1}
DECIDES = re.compile(r"^\s*#\s*(if|elif|ifdef|ifndef)\b.*\b(OPEN_MPI|OMPI_\w+|MPICH\w*|MPI_ABI_\w+|MPI_VERSION|MPI_SUBVERSION)\b")
# What each such header gives to all others.
NEEDED = """
    kLibrary kKind PF_BUILT_FOR kLibraryFiles kForeignLibrary kForeignFiles kModuleNames kBindingNames kNoPeer reportedPeer reportedTag kRequestsAreObjects
    pointerOf requestOf bitsOf retiredComm keptGroup placeOfGroup PF_GROUP_NUMBERS asOpenMpi asMpich4 worldHasErrors kLoneHasItsHandler kLooksAreFree kCodesAreClasses copyStatus
""".split()

def deciding(text):
    """Lines that decide by library or version, continued ones as one."""
    return sum(1 for line in text.replace("\\\n", " ").splitlines() if DECIDES.match(line))


def main(root):
    rank = root / "replay_engine" / "rank"
    wrong = []
    for library in LIBRARIES:
        text = (rank / "engine" / f"library_{library}.h").read_text()
        lines = len(text.splitlines())
        print(f"library_{library}.h: {lines} lines, {len(NEEDED)} names")
        if lines > MOST_LINES:
            wrong.append(f"library_{library}.h has {lines} lines, more than {MOST_LINES}")
        wrong += [f"library_{library}.h has no {name}" for name in NEEDED if not re.search(rf"\b{name}\b", text)]
    for path in sorted(rank.rglob("*")):
        name = str(path.relative_to(rank))
        if path.suffix not in (".h", ".cpp") or "tests/" in name or name.startswith("engine/library_"):
            continue
        count = deciding(path.read_text())
        if count != ELSEWHERE.get(name, 0):
            wrong.append(f"{name}: {count} lines decide by the MPI library, {ELSEWHERE.get(name, 0)} are known: put it into library_*.h, as the others")
    print("\n".join(wrong) or f"{sum(ELSEWHERE.values())} lines elsewhere decide by the library")
    return 1 if wrong else 0


def self_test():
    assert deciding("#if defined(OPEN_MPI)\n#else\n#endif\n#if MPI_VERSION >= 4 || \\\n defined(X)\n") == 2
    assert deciding("int MPICH_x; // if OPEN_MPI\n#if defined(__x86_64__)\n#include <mpi.h>\n") == 0
    return 0


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1:] == ["--self-test"] else main(pathlib.Path(sys.argv[1])))
