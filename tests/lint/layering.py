# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may include whom. Each folder is a part; arrows go down only, but for those of KNOWN, which may only become fewer.
Every include names its file from the root of the tree, so none escapes.

    layering.py ROOT           exit status 1 and a line for each include that goes the wrong way
    layering.py --table ROOT   the table of docs/architecture.md
    layering.py --self-test    every rule on a small made-up tree
"""
import pathlib
import re
import sys
import tempfile

GENERATED = {"mpi_calls.h": "replay_engine/rank/gen", "app/version.h": "app"}
BASE = "replay_engine/base"
VALUES = {"replay_engine/execution", "replay_engine/causality", "replay_engine/races"}  # views and plugins: headers of values only
RANK = {f"replay_engine/rank/{room}" for room in ("calls", "clocks", "engine", "forcing", "inputs", "recording", "threads", "online_races", "gen",
                                                       "payload", "layer", "group_recording", "partial_job", "snapshots")}
ANALYSIS = {*VALUES, "replay_engine/steering", "replay_engine/comparison"}
DB = {f"db/{room}" for room in ("sqlite", "schema", "columns", "payload", "sql_tables", "former", "store", "repair")}
# What others may know of the store: how it is opened, what is in it, and values.
STORE = {"db/store", "db/schema"}
VIEWS = {"views/trace", "views/trace/chunks", "views/trace/analyses", "views/values", "views/models"}
PLUGINS = {"plugins/api", "plugins/host"}
DIAGRAM = {"views/diagram", "views/diagram/painting", "views/diagram/canvas", "views/diagram/tools"}
FORMAT = "replay_engine/log_format"
COMMANDS = {"app", "app/files", "app/job", "app/traces", "app/collation"}

# A folder: what it is about, and which others it may include from.
PARTS = {
    BASE: ("errors, files, checksums", set()),
    "replay_engine/execution": ("what happened: events, messages, requests", {BASE}),
    "replay_engine/causality": ("what is before what: graph, clocks, cuts", {BASE, "replay_engine/execution"}),
    "replay_engine/races": ("which messages race, which deliveries to trace", {BASE, "replay_engine/execution", "replay_engine/causality"}),
    "replay_engine/steering": ("where a replay stops", {BASE, *VALUES}),
    "replay_engine/comparison": ("in what two executions differ", {BASE, *VALUES}),
    "replay_engine/branching": ("other runs: which choices stay, which are made otherwise", {BASE, *VALUES}),
    "replay_engine/groups": ("replay groups, and what they leave to log", {BASE, "replay_engine/execution"}),
    "replay_engine/prediction": ("what another order of the messages leads to", {BASE, *VALUES}),
    "replay_engine/rank/gen": ("the table of MPI routines, and what is made of it", set()),
    FORMAT: ("records of a rank's log, values of its schedule", {BASE}),
    "replay_engine/log": ("reads logs, makes schedules", {BASE, FORMAT, *ANALYSIS, "replay_engine/rank/gen"}),
    "replay_engine/protocol": ("messages between front end, daemon, agent; the page of a rank", {BASE}),
    "replay_engine/daemon": ("the control daemon: who may go on", {BASE, "replay_engine/protocol"}),
    "replay_engine/agent": ("starts a rank, its GDB, reads its page", {BASE, "replay_engine/cpython", "replay_engine/groups", "replay_engine/protocol", "mi_bridge"}),
    "replay_engine/rank/online_races": ("clocks and tracing of deliveries, without MPI", {BASE, "replay_engine/execution"}),
    "replay_engine/rank/fixed_heap": ("memory at the recorded addresses", set()),
    "replay_engine/rank/engine": ("state of a rank: its log, its schedule, its requests", {BASE, FORMAT, "replay_engine/cpython", "replay_engine/protocol", "replay_engine/rank/gen",
                                  "replay_engine/execution", "replay_engine/steering"}),
    "replay_engine/rank/forcing": ("deliveries forced by tags, jitter", {BASE, FORMAT, "replay_engine/rank/engine"}),
    "replay_engine/rank/inputs": ("what the system tells the program", {BASE, FORMAT, "replay_engine/rank/engine"}),
    "replay_engine/rank/clocks": ("vector clocks of a job", {BASE, "replay_engine/rank/engine", "replay_engine/rank/online_races"}),
    "replay_engine/rank/payload": ("contents that come from outside of a group", {BASE, FORMAT, "replay_engine/rank/engine"}),
    "replay_engine/rank/layer": ("what lies between engine and MPI library: ranks of a group, parts of memory",
                                 {BASE, FORMAT, "replay_engine/rank/engine", "replay_engine/rank/gen", "replay_engine/rank/payload"}),
    "replay_engine/rank/group_recording": ("keeps what a rank receives from outside of its group",
                                           {BASE, FORMAT, "replay_engine/protocol", "replay_engine/rank/engine", "replay_engine/rank/gen",
                                            "replay_engine/rank/payload", "replay_engine/rank/layer"}),
    "replay_engine/rank/partial_job": ("few ranks of a recorded job, without the others",
                                       {BASE, FORMAT, "replay_engine/protocol", "replay_engine/rank/engine", "replay_engine/rank/gen",
                                        "replay_engine/rank/payload", "replay_engine/rank/layer"}),
    "replay_engine/rank/snapshots": ("copies of a rank that is replayed alone, to go back to",
                                     {"replay_engine/protocol", "replay_engine/rank/engine", "replay_engine/rank/inputs"}),
    "replay_engine/rank/recording": ("ways to record a run", {BASE, FORMAT, "replay_engine/rank/engine", "replay_engine/rank/clocks"}),
    "replay_engine/rank/threads": ("locks and threads of the program", {BASE, "replay_engine/rank/engine", "replay_engine/rank/inputs"}),
    "replay_engine/rank/calls": ("MPI routines, by family", {BASE, FORMAT, "replay_engine/protocol", *RANK}),
    "db/sqlite": ("SQLite, and files", {BASE, *VALUES}),
    "db/schema": ("tables, seals, types of a trace", {BASE, *VALUES, "db/sqlite"}),
    "db/columns": ("columns of events in chunks", {BASE, *VALUES, "db/sqlite", "db/schema"}),
    "db/payload": ("contents from outside of groups, in pieces", {BASE, *VALUES, FORMAT, "db/sqlite", "db/schema", "db/columns"}),
    "db/former": ("formats of former versions", {BASE, *VALUES, "db/sqlite", "db/schema", "db/columns"}),
    "db/store": ("opens, writes and checks a trace", {BASE, *VALUES, "db/sqlite", "db/schema", "db/columns", "db/payload", "db/former"}),
    "db/sql_tables": ("the columns as tables, for queries", {BASE, *VALUES, "db/sqlite", "db/schema", "db/columns", "db/store"}),
    "db/repair": ("salvage, repaired copies", {BASE, *VALUES, *DB}),
    "replay_engine/cpython": ("where CPython keeps what", {BASE}),
    "replay_engine/python_text": ("Python's values and pickles, as text", {BASE, "replay_engine/cpython"}),
    "mi_bridge/python": ("CPython's frames, out of a rank's memory", {BASE, "replay_engine/cpython", "replay_engine/python_text"}),
    "mi_bridge/gdb_python": ("what GDB's own Python is told", set()),
    "mi_bridge": ("GDB/MI: lexer to fleet", {BASE, "mi_bridge/python"}),
    "views/values": ("values of a session: ranks, cycles, breakpoints", {BASE, *VALUES}),
    "views/trace/chunks": ("what a view has of a trace, part by part", {BASE, *VALUES, "views/values"}),
    "views/trace": ("a trace on a time axis", {BASE, *VALUES, "views/values", "views/trace/chunks"}),
    "views/trace/analyses": ("what is worked out over such a trace", {BASE, *VALUES, "views/values", "views/trace", "views/trace/chunks"}),
    "views/models": ("Qt's item models", {BASE, *VALUES, *VIEWS}),
    "views/panes": ("lists and panes", {BASE, *VALUES, *VIEWS}),
    "views/diagram/painting": ("events, messages and time as pixels", {BASE, *VALUES, *VIEWS, "views/panes"}),
    "views/diagram/canvas": ("what the diagram is drawn on; mouse and keys", {BASE, *VALUES, *VIEWS, "views/panes", "views/diagram/painting"}),
    "views/diagram/tools": ("what lies around the canvas", {BASE, *VALUES, *VIEWS, "views/panes", "views/diagram/painting", "views/diagram/canvas"}),
    "views/diagram": ("the space-time diagram", {BASE, *VALUES, *VIEWS, "views/panes", *DIAGRAM}),
    "plugins/api": ("the interface of plugins, which is installed", set()),
    "plugins/host": ("finds, loads and lists plugins", {BASE, "replay_engine/execution", "plugins/api"}),
    "plugins/bundled": ("what bundled panes have in common", {BASE, *VALUES, *VIEWS, *PLUGINS}),
    "plugins": ("bundled panes", {BASE, *VALUES, *VIEWS, "views/panes", *PLUGINS, "plugins/bundled"}),
    "app": ("the version", set()),
    "app/files": ("paths, private files, output", {BASE}),
    "app/job": ("launchers and their jobs", {BASE, "app/files", *ANALYSIS, "replay_engine/protocol", *STORE}),
    "app/unrecorded_jobs": ("running jobs and core files of others", {BASE, *ANALYSIS, "app/files", "app/job"}),
    "app/collation": ("makes a trace of logs", {BASE, FORMAT, *ANALYSIS, "replay_engine/groups", "replay_engine/log", "replay_engine/protocol", "replay_engine/rank/gen", *DB, "app",
                      "app/files", "app/job", "app/unrecorded_jobs"}),
    "app/traces": ("whose a trace is, where it lies, copies to give away", {BASE, *ANALYSIS, "replay_engine/protocol", *DB, "app/files", "app/job",
                   "app/collation"}),
    "app/recording": ("photofinish record", {BASE, FORMAT, *ANALYSIS, "replay_engine/groups", *STORE, *COMMANDS, "app/unrecorded_jobs"}),
    "app/replaying": ("photofinish replay, surveys", {BASE, FORMAT, *ANALYSIS, "replay_engine/groups", "replay_engine/log", "replay_engine/protocol", "replay_engine/rank/gen", *DB,
                      *COMMANDS, "app/recording", "app/unrecorded_jobs"}),
    "app/branching": ("other orders of a recorded run: flip, explore, blame",
                      {BASE, FORMAT, *ANALYSIS, "replay_engine/branching", "replay_engine/log", "replay_engine/protocol", "replay_engine/rank/gen", *STORE, "db/sqlite", *COMMANDS,
                       "app/recording", "app/replaying"}),
    "app/plugins": ("a trace as plugins read it, what is called of them", {BASE, *ANALYSIS, *DB, *COMMANDS, *PLUGINS, "app/replaying"}),
    "app/reports": ("info, races, events, groups, predict, payload, diff, sql", {BASE, FORMAT, *ANALYSIS, "replay_engine/groups", "replay_engine/python_text",
                    "replay_engine/prediction", *DB, *COMMANDS, *PLUGINS,
                    "app/replaying", "app/plugins", "replay_engine/rank/gen"}),
    "app/ci": ("photofinish ci", {BASE, *ANALYSIS, *STORE, *COMMANDS, "app/branching", "app/recording", "app/replaying", "app/reports"}),
    "app/export": ("other tools' formats", {BASE, *ANALYSIS, *DB, *COMMANDS, *PLUGINS, "app/replaying", "app/plugins", "app/reports"}),
    "app/doctor": ("what works on a machine, and what to do", {BASE, "app", "app/files", "app/job", "replay_engine/agent", "replay_engine/protocol"}),
    "app/tutorial": ("lessons, and what has to be installed for them", {BASE, "app/files", "app/job"}),
}
ALL_COMMANDS = {part for part in PARTS if part.startswith("app")}
SESSION = {BASE, *ANALYSIS, "replay_engine/protocol", "replay_engine/agent", *STORE, *VIEWS, "mi_bridge", *ALL_COMMANDS}
SESSION_PARTS = {"app/session/state", "app/session/targets", "app/session/inspection", "app/session/records"}
FRONT_END = {*SESSION, "app/session", *SESSION_PARTS, "app/trace_loading", "app/front_end"}
PARTS |= {
    "app/trace_loading": ("a trace for views, part by part", SESSION),
    "app/session/state": ("what all parts of a session go by", {BASE, *ANALYSIS, "replay_engine/groups", "replay_engine/protocol", *STORE, *VIEWS, "mi_bridge"}),
    "app/session/targets": ("what a session debugs: replays, jobs, core files",
                            {BASE, "replay_engine/protocol", "replay_engine/agent", *STORE, "mi_bridge", "app/job", "app/replaying",
                             "app/unrecorded_jobs", "app/session/state"}),
    "app/session/inspection": ("stacks, variables, consoles of ranks", {BASE, *ANALYSIS, *VIEWS, "mi_bridge", "app/collation", "app/session/state"}),
    "app/session/records": ("what a session keeps", {BASE, *ANALYSIS, *STORE, *VIEWS, "mi_bridge", "app/collation", "app/files", "app/reports", "app/traces",
                                                     "app/trace_loading", "app/session/state"}),
    "app/session": ("a debugging session", {*SESSION, "replay_engine/groups", "app/trace_loading", *SESSION_PARTS}),
    "app/front_end": ("signals and lines of front ends", {BASE}),
    "app/dap/wire": ("requests and answers of the protocol", FRONT_END),
    "app/dap/breakpoints": ("breakpoints and logpoints of an editor", {*FRONT_END, "app/dap/wire"}),
    "app/dap/ranks": ("ranks as threads: sent on, told as stopped", {*FRONT_END, "app/dap/wire", "app/dap/breakpoints"}),
    "app/dap/values": ("stacks, scopes, variables, expressions", {*FRONT_END, "app/dap/wire", "app/dap/breakpoints", "app/dap/ranks"}),
    "app/dap/launch": ("what is launched, attached to, recorded", {*FRONT_END, "app/dap/wire", "app/dap/breakpoints", "app/dap/ranks", "app/dap/values"}),
    "app/dap": ("a server for editors", {*FRONT_END, "app/dap/wire", "app/dap/breakpoints", "app/dap/ranks", "app/dap/values", "app/dap/launch"}),
    "app/script/language": ("what may be written, and how it is answered", FRONT_END),
    "app/script/ranks": ("ranks of a script: sent on, awaited, put in words", {*FRONT_END, "app/script/language"}),
    "app/script/commands": ("what each command does", {*FRONT_END, "app/script/language", "app/script/ranks"}),
    "app/script": ("debug --script", {*FRONT_END, "app/script/language", "app/script/ranks", "app/script/commands"}),
    "app/mcp/wire": ("messages and tools of that protocol", {BASE}),
    "app/mcp": ("a server of tools for assistants", {*FRONT_END, "app/mcp/wire", "app/script", "app/script/language"}),
    "app/offline_report": ("debug --offline", FRONT_END),
    "app/headless": ("the program `photofinish-headless`: dap, mcp, script, report", {BASE, "app/session", *SESSION_PARTS, "app/dap", "app/mcp", "app/script", "app/offline_report"}),
    "app/gui/panes": ("what the window shows, and where", {*SESSION, "app/session", *SESSION_PARTS, "views/panes", *DIAGRAM, "plugins", *PLUGINS, "plugins/bundled"}),
    "app/gui/commands": ("what one does in the window", {*SESSION, *PLUGINS, "app/session", *SESSION_PARTS, "app/trace_loading", "views/panes", *DIAGRAM,
                                                         "app/gui/panes"}),
    "app/gui/recording": ("recordings that the window starts or follows", {BASE, *STORE, *VIEWS, "app/job", "app/recording", "app/traces", "app/tutorial", "app/session/state",
                                                                          "app/session/records", "app/trace_loading", "views/panes",
                                                                          "app/gui/panes", "app/gui/commands"}),
    "app/gui": ("the window", {*SESSION, "app/session", *SESSION_PARTS, "app/trace_loading", "views/panes", *DIAGRAM, "plugins", *PLUGINS,
                               "app/gui/panes", "app/gui/commands", "app/gui/recording"}),
    "app/daemon": ("the program of the daemon", {BASE, *ANALYSIS, "replay_engine/groups", "replay_engine/protocol", "replay_engine/daemon", "replay_engine/log",
                   "replay_engine/rank/gen", *ALL_COMMANDS}),
    "app/cli": ("the program photofinish", {BASE, "replay_engine/groups", "replay_engine/races", "replay_engine/prediction", *ALL_COMMANDS, *PLUGINS}),
}
# Includes that go up. None may be added.
KNOWN = {
    ("app/collation/collate.cpp", "app/recording/input_tee.h"),
    ("app/job/job.cpp", "app/traces/own_traces.h"),
    ("app/traces/own_traces.cpp", "app/recording/record.h"),
    ("app/traces/own_traces.cpp", "app/replaying/replay.h"),
    ("app/traces/redact.cpp", "app/replaying/report_parts.h"),
    ("db/sqlite/database.cpp", "db/store/open_trace.h"),
    ("replay_engine/causality/consistent_cut.cpp", "replay_engine/races/races.h"),
    ("replay_engine/causality/density_pyramid.h", "replay_engine/races/races.h"),
    ("replay_engine/causality/logical_time.cpp", "replay_engine/races/races.h"),
    ("replay_engine/rank/engine/event_times.cpp", "replay_engine/rank/inputs/system_values.h"),
    ("replay_engine/rank/engine/lanes.cpp", "replay_engine/rank/inputs/system_values.h"),
    ("replay_engine/rank/engine/rank_link.cpp", "replay_engine/rank/calls/shown_requests.h"),
    ("replay_engine/rank/engine/rank_link.cpp", "replay_engine/rank/clocks/clocks.h"),
    ("replay_engine/rank/engine/rank_link.cpp", "replay_engine/rank/forcing/shadow.h"),
    ("replay_engine/rank/engine/rank_link.cpp", "replay_engine/rank/inputs/system_values.h"),
}
WITH_QT = ("views/", "plugins", "app/gui", "app/session", "app/trace_loading", "app/dap", "app/mcp", "app/script", "app/offline_report", "app/headless", "app/front_end")  # but for PLUGINS
QT = re.compile(r"^(Q[A-Z]\w*|Qt\w+/.*|Qsci/.*)$")
QT_GUI = re.compile(r"^(QtGui|QtWidgets|Qsci)/|^Q(Action|Application|Brush|Clipboard|Color|Cursor|Dialog|Font|FontMetrics|Icon|"
                    r"Image|Label|LineEdit|Menu|Painter|PainterPath|Palette|Pen|Pixmap|PushButton|Svg\w*|ToolBar|Widget|\w+View|\w+Dialog)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.M)
SOURCES = {".h", ".cpp", ".c", ".in"}




def part_of(path):
    """The part of the tree that a file is in; None where no rule is made."""
    folder = path.rsplit("/", 1)[0]
    if "/tests/" in path:
        folder = path.split("/tests/", 1)[0]
    if folder.startswith("plugins/") and folder not in PARTS:
        return "plugins"
    return folder if folder in PARTS else None


def wrong_quoted(path, part, name):
    moc = f"moc_{path.rsplit('/', 1)[-1]}"  # what moc makes of the header of the same name
    if "/tests/" in path or name.endswith(".moc") or name == moc:
        return None
    target = GENERATED.get(name) or part_of(name)
    if target is None:
        return "write the path from the root of the tree" if "/" not in name else "there is no such part of the tree"
    if target != part and target not in PARTS[part][1] and (path, name) not in KNOWN:
        return f"{part} must not include {target}"
    return None


def wrong_system(path, part, name):
    if QT.match(name) and (not part.startswith(WITH_QT) or part in PLUGINS):
        return "Qt belongs in views, plugins and the front ends"
    if part.startswith(("views/models", "views/trace", "views/values", *(front for front in WITH_QT if front.startswith("app") and front != "app/gui"))) \
            and QT_GUI.match(name):
        return "models, sessions and front ends without a window have QtCore only"
    if name == "sqlite3.h" and not part.startswith("db/"):
        return "SQLite belongs in db"
    if name == "mpi.h" and not part.startswith("replay_engine/rank/") and "/tests/" not in path:
        return "mpi.h belongs in replay_engine/rank"
    if part.startswith("replay_engine/rank/") and name in ("iostream", "fstream", "sstream", "stdexcept", "thread", "sys/socket.h") and "/tests/" not in path:
        return "a guest in the user's process: no streams, exceptions, threads, network"
    return None


def violations(root):
    root = pathlib.Path(root)
    folders = sorted({part.split("/")[0] for part in PARTS})
    for path in sorted(path for folder in folders for path in (root / folder).rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in SOURCES or not path.is_file():
            continue
        part = part_of(name)
        if part is None and "/tests/" not in name:
            yield f"{name}: a folder that is no part: add it to tests/lint/layering.py"
        if part is None:
            continue
        text = path.read_text(errors="replace")
        for match in INCLUDE.finditer(text):
            quoted, system = match.groups()
            wrong = wrong_quoted(name, part, quoted) if quoted else wrong_system(name, part, system)
            if wrong:
                yield f"{name}:{text.count(chr(10), 0, match.start(1 if quoted else 2)) + 1}: {quoted or system}: {wrong}"


def no_longer(root):
    """Those of KNOWN that are gone."""
    for path, name in sorted(KNOWN):
        file = pathlib.Path(root, path)
        if not file.exists() or f'"{name}"' not in file.read_text(errors="replace"):
            yield f"{path}: no longer includes {name}: take it out of KNOWN"


def used_by(part):
    """The line of a folder's page that says who may include it."""
    users = sorted(other for other, (_, allowed) in PARTS.items() if part in allowed and other != part)
    return f"- **May be used by**: {'nobody' if not users else 'most of the tree' if len(users) > 10 else ', '.join(users)}."


def pages(root):
    """Folders whose page says something else."""
    for part in PARTS:
        page = pathlib.Path(root, part, "README.md")
        if part != "app" and (not page.exists() or used_by(part) not in page.read_text()):
            yield f"{part}/README.md: write in it: {used_by(part)}"


def table():
    yield "| folder | what is in it |"
    yield "|---|---|"
    for part, (about, _) in sorted(PARTS.items()):
        yield f"| `{part}` | {about} |"


WRONG = {
    "replay_engine/races/a.cpp": '#include "db/store/trace_store.h"',
    "replay_engine/base/a.h": '#include "replay_engine/execution/execution.h"',
    "replay_engine/races/b.cpp": "#include <QString>",
    "replay_engine/races/c.cpp": '#include "races.h"',
    "replay_engine/log/a.cpp": "#include <sqlite3.h>",
    "replay_engine/rank/engine/a.cpp": "#include <iostream>",
    "replay_engine/rank/engine/b.cpp": '#include "replay_engine/rank/calls/fast_path.h"',
    "replay_engine/nowhere/a.cpp": "int a;",
    "db/store/a.cpp": "#include <QtCore/QList>",
    "db/store/b.cpp": '#include "views/values/text.h"',
    "db/store/c.cpp": "#include <mpi.h>",
    "db/sqlite/d.cpp": '#include "db/store/trace_store.h"',
    "mi_bridge/a.cpp": '#include "replay_engine/protocol/messages.h"',
    "mi_bridge/b.cpp": "#include <QObject>",
    "replay_engine/agent/a.cpp": '#include "db/store/trace_store.h"',
    "views/panes/a.cpp": '#include "db/store/trace_store.h"',
    "views/panes/b.cpp": '#include "replay_engine/log_format/log_format.h"',
    "views/models/a.cpp": "#include <QPainter>",
    "views/models/b.cpp": '#  include "mi_bridge/records.h"',
    "plugins/api/plugin.h": '#include "replay_engine/execution/execution.h"',
    "plugins/host/a.cpp": "#include <QString>",
    "plugins/matrix/a.cpp": '#include "mi_bridge/records.h"',
    "app/recording/a.cpp": "#include <QString>",
    "app/recording/b.cpp": '#include "app/gui/main_window.h"',
    "app/session/a.cpp": "#include <QWidget>",
    "app/cli/a.cpp": "#include <sqlite3.h>",
}
RIGHT = {
    "replay_engine/races/d.cpp": '#include <vector>\n#include "replay_engine/base/result.h"\n// #include "db/x.h"',
    "replay_engine/rank/calls/b.cpp": '#include <mpi.h>\n#include "replay_engine/protocol/rank_page.h"\n#include "mpi_calls.h"',
    "db/store/d.cpp": '#include "db/sqlite/database.h"\n#include "replay_engine/races/races.h"',
    "db/sqlite/e.cpp": "#include <sqlite3.h>",
    "replay_engine/agent/b.cpp": '#include "mi_bridge/gdb_command.h"\n#include "replay_engine/protocol/messages.h"',
    "mi_bridge/tests/live/rank.cpp": "#include <mpi.h>",
    "views/panes/c.cpp": '#include <QPainter>\n#include "views/values/text.h"\n#include "replay_engine/execution/execution.h"',
    "plugins/matrix/b.cpp": '#include <QWidget>\n#include "plugins/api/plugin.h"\n#include "views/values/text.h"',
    "app/session/b.cpp": '#include <QObject>\n#include "mi_bridge/fleet.h"',
    "app/gui/a.cpp": '#include <QMainWindow>\n#include "mi_bridge/fleet.h"\n#include "plugins/api/plugin.h"',
    "tests/e2e/a.cpp": '#include <mpi.h>\n#include "db/store/trace_store.h"',
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
    if sys.argv[1:2] == ["--table"]:
        print("\n".join(table()))
        return 0
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    lines = [*violations(sys.argv[1]), *no_longer(sys.argv[1]), *pages(sys.argv[1])]
    page = pathlib.Path(sys.argv[1], "docs", "architecture.md").read_text()
    if "\n".join(table()) not in page:
        lines.append("docs/architecture.md: its table of folders is another one: layering.py --table")
    print("\n".join(lines) or "every include goes the right way")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
