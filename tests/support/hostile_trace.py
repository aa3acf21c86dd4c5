# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes traces that nobody recorded, from a good one and a seed: any field set to extremes, any blob changed, with
seals that fit (docs/trace-format.md, Seals); journals, links and names that mean harm. What it makes is described in
words, so that one can be made again by its seed."""
import os
import random
import shutil
import sqlite3
import struct
import subprocess

TABLE = []
for value in range(256):
    for _ in range(8):
        value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    TABLE.append(value)
MAGIC = bytes.fromhex("d9d505f920a163d7")
CHUNKS = {"log_chunk": ("rank", "ordinal"), "survey_chunk": ("rank", "ordinal"), "payload_chunk": ("rank", "ordinal"),
          "column_chunk": ("rank", "stream", "ordinal"), "summary_chunk": ("kind", "part", "ordinal")}
BY_ID = {"column_chunk": "id", "summary_chunk": "id"}
KEYS = {"rank": "rank", "payload": "rank", "module": "path"}
BLOCK, HEADER = 65536, 8192  # of a log (replay_engine/log_format/log_format.h)
NUMBERS = [0, 1, -1, 7, 255, 65535, 1 << 20, (1 << 31) - 1, 1 << 31, -(1 << 31), (1 << 32) - 1, 1 << 32, 1 << 48, 1 << 62,
           (1 << 63) - 1, -(1 << 63)]
TEXTS = ["", "x", "x" * 70000, "../../victim", "/dev/null", "\x1b]0;title\x07", "a\nb", "[]", "[1", "[" * 5000, "{}", "[-1]",
         "[4294967296]", "%s%n", "'; DROP TABLE run; --", "\udcff\udcfe", "\u202eabc", "$(touch PWNED)"]
BLOBS = [b"", b"\0", b"\xff" * 64, bytes(4096), bytes.fromhex("28b52ffd"), b"SQLite format 3\0"]


def crc32c(data, seed=0):
    value = seed ^ 0xFFFFFFFF
    for byte in data:
        value = TABLE[(value ^ byte) & 255] ^ (value >> 8)
    return value ^ 0xFFFFFFFF


def sealed(value):
    if value is None:
        return b"\0"
    if isinstance(value, int):
        return b"\1" + struct.pack("<q", value)
    if isinstance(value, float):
        return b"\2" + struct.pack("<d", value)
    kind, data = (b"\3", value.encode("utf-8", "surrogateescape")) if isinstance(value, str) else (b"\4", bytes(value))
    return kind + struct.pack("<Q", len(data)) + data


def zstd(data, *options):
    return subprocess.run(["zstd", "-q", "-c", *options], input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False).stdout


def seal_table(connection, name):
    keys = CHUNKS.get(name)
    columns = ", ".join((*keys, "crc32c", "length(data)")) if keys else "*"
    order = BY_ID.get(name) or (", ".join(keys) if keys else KEYS.get(name, "id"))
    value, rows = crc32c(name.encode()), 0
    for row in connection.execute(f"SELECT {columns} FROM {name} ORDER BY {order}"):
        value, rows = crc32c(b"".join(map(sealed, row)), value), rows + 1
    connection.execute("UPDATE seal SET rows = ?, crc32c = ? WHERE table_name = ?", (rows, value, name))


def seal_seals(connection):
    value, rows = crc32c(b"seal"), 0
    for row in connection.execute("SELECT table_name, rows, crc32c FROM seal WHERE table_name <> 'seal' ORDER BY table_name"):
        value, rows = crc32c(b"".join(map(sealed, row)), value), rows + 1
    connection.execute("UPDATE seal SET rows = ?, crc32c = ? WHERE table_name = 'seal'", (rows, value))


class Forger:
    """`random` decides all; `said` tells what was done."""

    def __init__(self, good, seed):
        self.good, self.random, self.said = good, random.Random(seed), []

    def make(self, directory):
        """Writes a trace into `directory`, and returns its path."""
        name = self.random.choice(["bad.pft"] * 6 + ["-x.pft", "a'b \n.pft", "$(touch PWNED).pft", "%s%n.pft"])
        path = os.path.join(directory, name)
        shutil.copyfile(self.good, path)
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            kind = self.random.choice([self.field] * 8 + [self.blob] * 5 + [self.log] * 4 + [self.rows] * 2 + [self.flip, self.schema])
            try:
                kind(path)
            except (sqlite3.DatabaseError, UnicodeError):  # names of what was flipped need not be text
                self.said.append("(which SQLite does not take)")
        if self.random.random() < 0.15:
            self.beside(directory, path)
        return path

    def open(self, path):
        connection = sqlite3.connect(path, isolation_level=None)
        connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        return connection

    def change(self, path, tables, work):
        connection = self.open(path)
        try:
            connection.execute("BEGIN")
            work(connection)
            for table in tables:
                seal_table(connection, table)
            seal_seals(connection)
            connection.execute("COMMIT")
        finally:
            connection.close()

    def table(self, path, of=None):
        connection = self.open(path)
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'seal'")]
        full = [name for name in names if (of is None or name in of) and
                connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] > 0]
        connection.close()
        return self.random.choice(sorted(full) or ["run"])

    def field(self, path):
        """One field of one row, or of all rows."""
        table = self.table(path)

        def work(connection):
            column = self.random.choice([row[1] for row in connection.execute(f"PRAGMA table_info({table})")])
            if table == "run" and column == "command":
                return  # stays what does no harm when it is run
            value = self.random.choice([self.random.choice(NUMBERS)] * 3 + [self.random.choice(TEXTS)] * 2 +
                                       [self.random.choice(BLOBS), None, 0.5, float("inf")])
            if isinstance(value, str):
                value = value.encode("utf-8", "surrogateescape")
                expression = "CAST(? AS TEXT)"
            else:
                expression = "?"
            row = connection.execute(f"SELECT rowid FROM {table} ORDER BY random() LIMIT 1").fetchone() if table not in KEYS and table not in (
                "log_chunk", "payload_chunk", "survey_chunk", "column_chunk", "summary_chunk") else None
            where = f" WHERE rowid = {row[0]}" if row and self.random.random() < 0.7 else ""
            connection.execute(f"UPDATE OR IGNORE {table} SET {column} = {expression}{where}", (value,))
            self.said.append(f"{table}.{column} = {value!r:.60}{where}")
        self.change(path, [table], work)

    def rows(self, path):
        """Rows that are gone."""
        table = self.table(path)

        def work(connection):
            rest = self.random.choice(["", " WHERE random() % 2 = 0"])
            connection.execute(f"DELETE FROM {table}{rest}")
            self.said.append(f"DELETE FROM {table}{rest}")
        self.change(path, [table], work)

    def chunk(self, connection, table):
        keys = CHUNKS.get(table, ())
        rows = connection.execute(f"SELECT {', '.join((*keys, 'data'))} FROM {table}").fetchall()
        whole = [row for row in rows if isinstance(row[-1], bytes) and all(isinstance(key, int) for key in row[:-1])]
        row = self.random.choice(whole) if whole else None  # an earlier change may have left no such row
        return (keys, row[:-1], row[-1]) if row else (keys, (), None)

    def store(self, connection, table, keys, which, data):
        if keys:
            crc = crc32c(data, crc32c(b"".join(struct.pack("<q", key) for key in which)))
            connection.execute(f"UPDATE {table} SET data = ?, crc32c = ? WHERE " + " AND ".join(f"{key} = ?" for key in keys),
                               (data, crc, *which))
        else:
            connection.execute(f"UPDATE {table} SET data = ?", (data,))

    def spoil(self, data):
        """Some bytes changed."""
        data = bytearray(data)
        for _ in range(self.random.choice([1, 1, 2, 8])):
            if data:
                at = self.random.randrange(len(data))
                data[at] = self.random.choice([data[at] ^ 1 << self.random.randrange(8), 0, 0xFF, 0x80, 0x7F])
        if self.random.random() < 0.1:
            data = data[:self.random.randrange(len(data) + 1)]
        return bytes(data)

    def blob(self, path):
        """What a chunk holds, under a checksum that fits."""
        table = self.table(path, ("column_chunk", "summary_chunk", "column_directory", "survey_chunk", "log_chunk"))
        if table == "run":
            return

        def work(connection):
            keys, which, data = self.chunk(connection, table)
            if data is None:
                return
            packed = self.random.random() < 0.2
            new = self.spoil(data) if packed else zstd(self.spoil(zstd(data, "-d")))
            self.store(connection, table, keys, which, new)
            self.said.append(f"{'bytes' if packed else 'content'} of {table} {which}")
        self.change(path, [table], work)

    def log(self, path):
        """Records of a log, under checksums that fit."""
        table = self.table(path, ("log_chunk",))
        if table == "run":
            return

        def work(connection):
            keys, which, data = self.chunk(connection, table)
            if data is None:
                return
            log = bytearray(zstd(data, "-d"))
            if len(log) <= HEADER or which[1] != 0:
                return
            commit, = struct.unpack_from("<Q", log, 1344 if len(log) < 1344 else self.commit_at(log))
            used = min(commit & 0xFFFF, len(log) - HEADER, BLOCK)
            if used == 0:
                return
            part = self.spoil(log[HEADER:HEADER + used]).ljust(used, b"\0")
            log[HEADER:HEADER + used] = part
            salt, = struct.unpack_from("<Q", log, 16)
            seed = ((salt * 0xBF58476D1CE4E5B9) & (1 << 64) - 1) >> 32
            struct.pack_into("<Q", log, self.commit_at(log), crc32c(part, seed) << 32 | (commit & 0xFFFFFFFF))
            self.store(connection, table, keys, which, zstd(bytes(log)))
            self.said.append(f"records of the log of rank {which[0]}")
        self.change(path, [table], work)

    @staticmethod
    def commit_at(_):
        return (16 + 8 + 16 + 16 + 256 + 1024 + 63) // 64 * 64  # offsetof(LogHeader, commit)

    def flip(self, path):
        with open(path, "r+b") as file:
            at = self.random.randrange(os.path.getsize(path))
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1 << self.random.randrange(8)]))
        self.said.append(f"a bit of byte {at}")

    def schema(self, path):
        """Tables, views, triggers and settings that no trace has."""
        statement = self.random.choice([
            "CREATE TABLE more (x)", "CREATE VIEW v AS SELECT * FROM run", "PRAGMA user_version = 2147483647",
            "CREATE TRIGGER t AFTER UPDATE ON note BEGIN DELETE FROM run; END", "PRAGMA journal_mode = WAL",
            "PRAGMA application_id = 0", "DROP TABLE note", "CREATE INDEX i ON rank (pid)", "PRAGMA encoding = 'UTF-16'",
            "ALTER TABLE run ADD COLUMN more TEXT", "PRAGMA schema_version = -1"])
        connection = self.open(path)
        connection.execute(statement)
        connection.close()
        self.said.append(statement)

    def beside(self, directory, path):
        """A file beside the trace that SQLite takes for its own."""
        victim = os.path.join(directory, "victim").encode()
        name = victim + struct.pack(">II", len(victim), sum(victim)) + MAGIC
        content = self.random.choice([
            MAGIC + bytes(20) + name, MAGIC + bytes(20) + bytes(484) + bytes(4104) + name, bytes(512) + name,
            MAGIC + struct.pack(">IIIII", 1, 1, 1, 512, 4096) + bytes(484) + self.random.randbytes(4104),
            self.random.randbytes(self.random.choice([1, 28, 512, 5000])), b"text of a user\n" * 50])
        kind = self.random.choice(["-journal"] * 5 + ["-wal", "-shm"])
        if self.random.random() < 0.2:
            os.symlink(victim, path + kind)
        else:
            with open(path + kind, "wb") as file:
                file.write(content)
        self.said.append(f"{kind} of {len(content)} bytes")
