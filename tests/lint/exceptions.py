# SPDX-License-Identifier: GPL-3.0-or-later
"""No exception ends a program: calls of std::filesystem take an error code, each main has a last catch, and work on other threads of Qt too.

    exceptions.py ROOT           exit status 1 and a line for each that does not
    exceptions.py --self-test
"""
import pathlib
import re
import sys

FOLDERS = ("app", "db", "mi_bridge", "plugins", "replay_engine", "views")
THROWING = re.compile(
    r"\b(?:fs|filesystem)::(absolute|canonical|weakly_canonical|relative|proximate|copy|copy_file|copy_symlink|create_\w+|current_path|"
    r"equivalent|exists|file_size|hard_link_count|is_\w+|last_write_time|permissions|read_symlink|remove|remove_all|rename|resize_file|"
    r"space|status|symlink_status|temp_directory_path|(?:recursive_)?directory_iterator)\b(?:\s+\w+)?\(")
IN_RANGE = re.compile(r"for\s*\([^;()]*:\s*(?:std::)?(?:fs|filesystem)::(?:recursive_)?directory_iterator")
CODE = re.compile(r"std::error_code\s+(\w+)")
MAIN = re.compile(r"^int main\(", re.M)
BACKGROUND = re.compile(r"\bQtConcurrent::(run|map|mapped|filter\w*)\b\s*\(")
OWN_BACKGROUND = {"app/session/state/in_background.h", "app/gui/opening.cpp"}  # the latter's promise catches by itself


def arguments(text, start):
    """The arguments of the call whose parenthesis was just opened."""
    depth, from_, out = 1, start, []
    for at in range(start, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0:
                return out + [text[from_:at].strip()]
        elif text[at] == "," and depth == 1:
            out.append(text[from_:at].strip())
            from_ = at + 1
    return out


def wrong_in(name, text):
    codes = set(CODE.findall(text))
    for match in THROWING.finditer(text):
        given = arguments(text, match.end())
        of_status = match[1] == "exists" or match[1].startswith("is_")
        if given[-1] in codes or (of_status and re.match(r"fs::(symlink_)?status\(", given[0])):
            continue
        yield match.start(), f"{match[1]} without an error code throws"
    for match in IN_RANGE.finditer(text):
        yield match.start(), "a range of directory entries throws: use increment()"
    for match in MAIN.finditer(text):
        if "lastCatch(" not in text[match.start():]:
            yield match.start(), "main has no last catch (base/caught.h)"
    for match in BACKGROUND.finditer(text):
        if name not in OWN_BACKGROUND:
            yield match.start(), "use session::inBackground"


def violations(root):
    root = pathlib.Path(root)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in (".h", ".cpp") and "/tests/" not in name and path.is_file():
                text = path.read_text(errors="replace")
                for at, why in wrong_in(name, text):
                    yield f"{name}:{text.count(chr(10), 0, at) + 1}: {why}"


WRONG = ["fs::exists(path);", "std::error_code e; fs::remove(fs::absolute(path), e);", "std::filesystem::current_path();",
         "std::error_code e; for (const auto& x : fs::directory_iterator(path, e)) {}", "fs::directory_iterator at(path);",
         "int main() {}", "QtConcurrent::run([] {});"]
RIGHT = ["std::error_code e; fs::exists(path, e);", "std::error_code e; fs::exists(fs::symlink_status(path, e));", "fs::path(a).parent_path();",
         "std::error_code e;\nfor (fs::directory_iterator at(f(a, b), e), end; !e && at != end; at.increment(e)) {}",
         "int main(int argc, char** argv) {\n  return pf::lastCatch(0, run, argc, argv);\n}"]


def self_test():
    missed = [text for text in WRONG if not list(wrong_in("app/x.cpp", text))]
    wrongly = [text for text in RIGHT if list(wrong_in("app/x.cpp", text))]
    print("\n".join([f"not found: {text}" for text in missed] + [f"found wrongly: {text}" for text in wrongly]))
    return 1 if missed or wrongly else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    lines = list(violations(sys.argv[1]))
    print("\n".join(lines) or "nothing throws to the end of a program")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
