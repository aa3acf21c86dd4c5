# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the seeds of log_fuzzer, usual logs of few records, into a directory."""
import pathlib
import re
import struct
import sys

FORMAT = pathlib.Path(__file__).resolve().parents[2] / "log_format" / "record_kinds.h"
KINDS = re.findall(r"^  X\((\w+),", FORMAT.read_text(), re.MULTILINE)


def varint(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def record(kind, *numbers):
    return bytes([KINDS.index(kind)]) + b"".join(map(varint, numbers))


def log(records):
    comm = bytes([KINDS.index("Comm")]) + struct.pack("<Q", 0) + b"".join(map(varint, (0, 0, 2, 0)))
    return (record("Module", 1) + b"a" + record("Site", 3, 0, 0x1234) + comm + record("CommMembers", 2, 1, 2) + records +
            record("End"))


def run(flags, *logs):
    return bytes([flags]) + b"".join(struct.pack(">H", len(each)) + each for each in logs)


def several(*records):
    return b"".join(record(*each) for each in records)


EVENTS, CLEAN, HEADER, BLOCKS = 0x10, 0x20, 0x40, 0x80
SEEDS = {
    "events": run(EVENTS | CLEAN | 1, log(several(
        ("Clock", 10, 1000, 5000), ("Time", 5, 0), ("Send", 0, 0, 1, 7, 8), ("Time", 5, 3), ("Post", 0, 0, 0, 8), ("Completion", 0),
        ("DoneReceive", 0, 2, 8), ("Choice", 4, 3, 1), ("Collective", 0, 0, 0, 0, 3), ("Clock", 90, 2000, 6000))),
        log(several(("Send", 0, 0, 0, 7, 8), ("Receive", 0, 0, 0, 8, 1, 8), ("CollectivePost", 0, 0, 0, 0, 3), ("Completion", 0),
                    ("DoneCollective", 0)))),
    "choices": run(CLEAN, log(b"\x81\x80" + several(("Wild", 70, 2), ("Choice", 3, 0, 3, 0, 1), ("CancelledPost", 2), ("Note", 0),
                                                    ("Value", 0, 5), ("NextValue", 7), ("Outgoing", 1, 0, 8),
                                                    ("Outgoing", 1, 1, 8, 1, 2, 3, 4, 5, 6, 7, 8), ("OutgoingGiven", 2, 6, 8)))),
    "threads": run(EVENTS | CLEAN | BLOCKS, log(several(
        ("LaneMade", 0, 0, 0), ("LaneMade", 1, 1, 1), ("Lane", 2, 2), ("Local", 0), ("Ordered", 0, 1, 9), ("Lane", 1, 0),
        ("Ordered", 1, 0, 9), ("Local", 0), ("Ordered", 2, 0, 8), ("Ordered", 2, 1, 8), ("Ordered", 3, 0, 8), ("Local", 0)))),
    "traced": run(CLEAN | 1, log(several(("Traced", 0, 0, 1, 7, 1), ("Seen", 0, 0, 1, 7, 1), ("Races", 2, 1, 4), ("Exchanged", 1, 2, 2),
                                         ("Kept", 1, 3))), log(several(("Routed", 0, 0, 7, 2, 1, 0, 1, 2)))),
    "tags": run(CLEAN | 1, log(several(("RoutesOnly", 2), ("Seen", 0, 0, 1, 7, 1))), log(several(("Routed", 0, 0, 7, 2, 1, 0, 1, 2)))),
    "offered": run(EVENTS | CLEAN, log(several(
        ("Post", 0, 0, 0, 8), ("Post", 0, 0, 0, 8), ("Choice", 4, 0, 2), ("Completion", 0), ("Offered", 0, 2, 0, 0, 1, 24),
        ("DoneReceive", 1, 2, 8), ("Choice", 5, 0, 3, 0, 2), ("Completion", 0), ("Offered", 1, 3, 0, 8, 1, 17, 1, 10)))),
    "python": run(EVENTS | CLEAN, log(record("SourceFile", 1) + b"a" + record("SourceLine", 7, 1) + b"f" + record("Site", 3, 0, 16) +
                                      record("SourceLine", 8, 0) + several(("Local", 0), ("Local", 1)))),
    "cut": run(EVENTS | HEADER, log(several(
        ("Start", 0), ("SubPost", 0, 0, 8), ("SubSend", 1, 0, 1, 7, 4), ("Probe", 0, 0, 0, 8, 1, 7),
        ("SendReceive", 0, 0, 2, 7, 8, 1, 8, 2, 8), ("SendSyncPosted", 0, 0, 1, 7, 8), ("DoneSend", 0), ("SendFailed",), ("Refused", 0),
        ("Matched", 0, 2, 8), ("DoneCancelled", 0)))) + struct.pack(">H", 24) + struct.pack("<QQQ", 9, 0, 0),
}

if __name__ == "__main__":
    for name, content in SEEDS.items():
        (pathlib.Path(sys.argv[1]) / name).write_bytes(content)
