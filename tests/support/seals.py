# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes a trace by SQL and makes its seals fit again, as somebody could who wants to be believed.

docs/trace-format.md, "Seals": the CRC-32C of a table's name and rows, of chunks of data only what names them, and one of
all seals together.
"""
import sqlite3
import struct

CHUNKS = {"log_chunk": ("rank, ordinal, crc32c, length(data)", "rank, ordinal"),
          "survey_chunk": ("rank, ordinal, crc32c, length(data)", "rank, ordinal"),
          "payload_chunk": ("rank, ordinal, crc32c, length(data)", "rank, ordinal"),
          "column_chunk": ("rank, stream, ordinal, crc32c, length(data)", "id"),
          "summary_chunk": ("kind, part, ordinal, crc32c, length(data)", "id")}
KEYS = {"rank": "rank", "payload": "rank", "module": "path"}


def _table():
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        yield byte


TABLE = list(_table())


def crc32c(data, before=0):
    state = before ^ 0xFFFFFFFF
    for byte in data:
        state = TABLE[(state ^ byte) & 0xFF] ^ (state >> 8)
    return state ^ 0xFFFFFFFF


def _encoded(value):
    if value is None:
        return b"\0"
    if isinstance(value, int):
        return b"\1" + struct.pack("<q", value)
    if isinstance(value, float):
        return b"\2" + struct.pack("<d", value)
    kind, content = (b"\3", value.encode()) if isinstance(value, str) else (b"\4", bytes(value))
    return kind + struct.pack("<Q", len(content)) + content


def _seal(rows, start):
    count, crc = 0, crc32c(start.encode())
    for row in rows:
        count, crc = count + 1, crc32c(b"".join(map(_encoded, row)), crc)
    return count, crc


def change(trace, *statements):
    """Each statement: SQL, or (SQL, parameters)."""
    with sqlite3.connect(trace, isolation_level=None) as database:
        database.execute("BEGIN IMMEDIATE")
        for statement in statements:
            database.execute(*([statement] if isinstance(statement, str) else statement))
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        for name in names:
            if name != "seal":
                columns, order = CHUNKS.get(name, ("*", KEYS.get(name, "id")))
                rows = database.execute(f"SELECT {columns} FROM {name} ORDER BY {order}")
                database.execute("UPDATE seal SET rows = ?, crc32c = ? WHERE table_name = ?", (*_seal(rows, name), name))
        seals = database.execute("SELECT table_name, rows, crc32c FROM seal WHERE table_name <> 'seal' ORDER BY table_name")
        database.execute("UPDATE seal SET rows = ?, crc32c = ? WHERE table_name = 'seal'", _seal(seals, "seal"))
        database.execute("COMMIT")
    database.close()
