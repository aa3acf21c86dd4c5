# SPDX-License-Identifier: GPL-3.0-or-later
"""Long files (over 500 lines) and long functions (over 60): a report, not a verdict.

    sizes.py ROOT
"""
import pathlib
import re
import sys

MOST_LINES, MOST_IN_FUNCTION = 500, 60
FOLDERS = ("app", "mi_bridge", "replay_engine", "views", "db", "plugins", "tests")
# A function's body as clang-format leaves it: opened at the end of a line at column 0, closed by a brace at column 0.
OPENS = re.compile(r"^(?!namespace|extern|struct|class|enum|union|#|using|constexpr|const |static const).*\)[^;]*\{$")


def long_functions(lines):
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and line[:1] not in (" ", "}", "") and OPENS.match(line):
            start = number
        elif start is not None and line.startswith("}"):
            if number - start + 1 > MOST_IN_FUNCTION:
                yield start, number - start + 1
            start = None


def main():
    root = pathlib.Path(sys.argv[1])
    count = 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".c", ".py") or not path.is_file():
                continue
            lines = path.read_text(errors="replace").splitlines()
            name = path.relative_to(root)
            if len(lines) > MOST_LINES:
                count += 1
                print(f"warning: {name}: {len(lines)} lines")
            if path.suffix == ".cpp":
                for start, length in long_functions(lines):
                    count += 1
                    print(f"warning: {name}:{start}: a function of {length} lines")
    print(f"{count} warnings")
    return 0


if __name__ == "__main__":
    sys.exit(main())
