# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may include whom (design.md, section 3). Arrows go down only.

    layering.py ROOT           exit status 1 and a line for each include that goes the wrong way
    layering.py --self-test    every rule on a small made-up tree
"""
import pathlib
import re
import sys
import tempfile

BASE = "replay_engine/base"
CORE = "replay_engine/core"
PROTOCOL = "replay_engine/protocol"
# A part of the tree, and the parts that it may include from (its own always).
ALLOWED = {
    BASE: set(),
    CORE: {BASE},
    "replay_engine/gen": set(),
    PROTOCOL: {BASE},
    "replay_engine/log": {BASE, CORE, "replay_engine/gen"},
    "replay_engine/online": {BASE, CORE},
    "replay_engine/memory": set(),
    "replay_engine/daemon": {BASE, PROTOCOL},
    "replay_engine/interposer": {BASE, CORE, PROTOCOL, "replay_engine/gen", "replay_engine/online"},
    "db": {BASE, CORE},
    "mi_bridge": {BASE},
    "mi_bridge/agent": {BASE, PROTOCOL, "mi_bridge"},
    "views": {BASE, CORE},
    "plugins/api": {BASE, CORE, "db", "views"},
    "plugins": {BASE, CORE, "db", "views", "plugins/api"},
    "app": {BASE, CORE, "replay_engine/gen", PROTOCOL, "replay_engine/log", "replay_engine/daemon", "db", "mi_bridge", "views",
            "plugins", "plugins/api"},
}
# The first word of a quoted include, and the part that it names.
PUBLIC = {"base": BASE, "core": CORE, "protocol": PROTOCOL, "log": "replay_engine/log", "online": "replay_engine/online", "daemon": "replay_engine/daemon",
          "db": "db", "mi_bridge": "mi_bridge", "views": "views", "plugins": "plugins", "app": "app"}
# Of core, those who draw or store only need the value types.
CORE_VALUES = {"core/clock_checkpoints.h", "core/cut_pyramid.h", "core/execution.h", "core/execution_chunks.h", "core/race_classes.h", "core/races.h"}
ONLY_VALUES = {"views", "plugins", "plugins/api"}

QT = re.compile(r"^(Q[A-Z]\w*|Qt\w+/.*|Qsci/.*)$")
QT_GUI = re.compile(r"^(QtGui|QtWidgets|Qsci)/|^Q(Action|Application|Brush|Clipboard|Color|Cursor|Dialog|Font|FontMetrics|Icon|"
                    r"Image|Label|LineEdit|Menu|Painter|PainterPath|Palette|Pen|Pixmap|PushButton|Svg\w*|ToolBar|Widget|\w+View|\w+Dialog)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.M)
SOURCES = {".h", ".cpp", ".c", ".in"}


def part_of(path):
    """The part of the tree that a file is in; None where no rule is made."""
    words = path.split("/")
    if words[0] == "replay_engine":
        return "/".join(words[:2])
    if words[:2] in (["mi_bridge", "agent"], ["plugins", "api"]):
        return "/".join(words[:2])
    return words[0] if words[0] in ALLOWED else None


def target_of(name):
    """The part that a quoted include names."""
    if name == "plugins/api.h":
        return "plugins/api"
    first = name.split("/")[0]
    return PUBLIC.get(first) if "/" in name else "replay_engine/gen" if name == "mpi_calls.h" else None


def in_tests(path):
    return "/tests/" in f"/{path}"


def wrong_quoted(path, part, name, exists):
    target = target_of(name)
    if target is None or target == part or exists(name):
        return None
    if in_tests(path) and target == "mi_bridge" and part.startswith("mi_bridge"):
        return None
    if target not in ALLOWED[part] and not (part == "mi_bridge/agent" and target == "mi_bridge"):
        return f"{part} must not include {target}"
    if part in ONLY_VALUES and target == CORE and name not in CORE_VALUES:
        return f"{part} may have only the value types of {CORE}"
    return None


def wrong_system(path, part, name):
    if QT.match(name) and not (part in ("views", "plugins", "plugins/api") or path.startswith(("app/gui/", "app/session/", "app/headless/"))):
        return "Qt belongs in views, plugins, app/gui, app/session and app/headless"
    if path.startswith(("views/models/", "app/session/", "app/headless/")) and QT_GUI.match(name):
        return "models, sessions and front ends without a window have QtCore only"
    if name == "sqlite3.h" and part != "db":
        return "SQLite belongs in db"
    if name == "mpi.h" and part != "replay_engine/interposer" and not in_tests(path):
        return "mpi.h belongs in replay_engine/interposer"
    if part == "replay_engine/interposer" and name in ("iostream", "fstream", "sstream", "stdexcept", "thread", "sys/socket.h"):
        return "the interposer is a guest in the user's process: no streams, exceptions, threads, network"
    return None


def violations(root):
    root = pathlib.Path(root)
    folders = sorted({part.split("/")[0] for part in ALLOWED})
    for path in sorted(path for folder in folders for path in (root / folder).rglob("*")):
        name = path.relative_to(root).as_posix()
        part = part_of(name)
        if part is None or path.suffix not in SOURCES or not path.is_file():
            continue
        text = path.read_text(errors="replace")
        for match in INCLUDE.finditer(text):
            quoted, system = match.groups()
            # "agent.h" or "live/live_rank.h" beside the file, or below the module: its own.
            own = lambda include, at=path.parent: (at / include).exists()  # noqa: E731
            wrong = wrong_quoted(name, part, quoted, own) if quoted else wrong_system(name, part, system)
            if wrong:
                yield f"{name}:{text.count(chr(10), 0, match.start(1 if quoted else 2)) + 1}: {quoted or system}: {wrong}"


WRONG = {
    "replay_engine/core/a.cpp": '#include "db/trace_store.h"',
    "replay_engine/base/a.h": '#include "core/execution.h"',
    "replay_engine/core/b.cpp": "#include <QString>",
    "replay_engine/log/a.cpp": "#include <sqlite3.h>",
    "replay_engine/interposer/a.cpp": "#include <iostream>",
    "db/a.cpp": "#include <QtCore/QList>",
    "db/b.cpp": '#include "views/text.h"',
    "db/c.cpp": "#include <mpi.h>",
    "mi_bridge/a.cpp": '#include "protocol/messages.h"',
    "mi_bridge/b.cpp": "#include <QObject>",
    "mi_bridge/agent/a.cpp": '#include "db/trace_store.h"',
    "views/widgets/a.cpp": '#include "db/trace_store.h"',
    "views/widgets/b.cpp": '#include "core/log_format.h"',
    "views/models/a.cpp": "#include <QPainter>",
    "views/models/b.cpp": '#  include "mi_bridge/records.h"',
    "plugins/api/include/plugins/api.h": '#include "app/job.h"',
    "plugins/matrix/a.cpp": '#include "mi_bridge/records.h"',
    "app/core/a.cpp": "#include <QString>",
    "app/session/a.cpp": "#include <QWidget>",
    "app/cli/a.cpp": "#include <sqlite3.h>",
}
RIGHT = {
    "replay_engine/core/c.cpp": '#include <vector>\n#include "base/result.h"\n// #include "db/x.h"',
    "replay_engine/interposer/b.cpp": '#include <mpi.h>\n#include "protocol/rank_page.h"\n#include "mpi_calls.h"',
    "db/d.cpp": '#include <sqlite3.h>\n#include "core/races.h"',
    "mi_bridge/agent/b.cpp": '#include "mi_bridge/lexer.h"\n#include "protocol/messages.h"',
    "mi_bridge/tests/live/rank.cpp": "#include <mpi.h>",
    "views/widgets/c.cpp": '#include <QPainter>\n#include "views/text.h"\n#include "core/execution.h"',
    "plugins/matrix/b.cpp": '#include <QWidget>\n#include "plugins/api.h"\n#include "views/text.h"',
    "app/session/b.cpp": '#include <QObject>\n#include "mi_bridge/fleet.h"',
    "app/gui/a.cpp": '#include <QMainWindow>\n#include "mi_bridge/fleet.h"\n#include "plugins/api.h"',
    "tests/e2e/a.cpp": '#include <mpi.h>\n#include "db/trace_store.h"',
}


def self_test():
    with tempfile.TemporaryDirectory() as root:
        for name, text in (WRONG | RIGHT).items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")
        found = {line.split(":")[0] for line in violations(root)}
    for name in sorted(set(WRONG) - found):
        print(f"not found: {name}: {WRONG[name]}")
    for name in sorted(found - set(WRONG)):
        print(f"found wrongly: {name}")
    return 0 if found == set(WRONG) else 1


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    lines = list(violations(sys.argv[1]))
    print("\n".join(lines) or "every include goes the right way")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
