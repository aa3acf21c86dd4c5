# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs of tests/corpus and ../shared/corpus: how each is run."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, SOURCE

_SOURCES = SOURCE / "tests" / "corpus"
_ENTRIES = json.loads((_SOURCES / "expected.json").read_text())["programs"]
_SHARED = {
    "b1_probe_anytag": {"ranks": 4, "args": ["8"], "fails": "sometimes"},
    "b2_size_then_data": {"ranks": 4, "args": [], "fails": "sometimes", "wrong": "WRONG"},
    "b3_nbx_twice": {"ranks": 4, "args": [], "fails": "sometimes", "wrong": "taken in round"},
    "b4_emigrants": {"ranks": 4, "args": [], "fails": "sometimes"},
    "b5_probe_recv_any": {"ranks": 4, "args": [], "fails": "sometimes"},
    "b6_order_sum": {"ranks": 4, "args": [], "fails": "never"},
}
_SMALL = {"b1_probe_anytag": ["2"], "b3_nbx_twice": ["3"], "b4_emigrants": ["3"], "b6_order_sum": ["4"]}  # steps, so that each race can be flipped
CORPUS, SHARED = tuple(_ENTRIES), tuple(_SHARED)


def chosen(names):
    """Those that PF_ONLY names (NAME,NAME …), if it is set."""
    only = os.environ.get("PF_ONLY")
    return [name for name in names if only is None or name in only.split(",")]


def launch_words(name, small=False):
    """(what is known of it, the words of its command behind the launcher's). small: fewer steps."""
    if name in _SHARED:
        entry = _SHARED[name]
        return entry, [str(BIN / "shared_corpus" / name), *(_SMALL.get(name, entry["args"]) if small else entry["args"])]
    entry = _ENTRIES[name]
    words = [word.replace("{bin}", str(BIN / "corpus")).replace("{source}", str(_SOURCES)) for word in entry.get("program", ["{bin}/" + name])]
    return entry, [*words, *entry["args"]]
