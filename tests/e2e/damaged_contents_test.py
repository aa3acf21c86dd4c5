# SPDX-License-Identifier: GPL-3.0-or-later
"""Contents of messages that are damaged in the trace: a rank that is replayed alone gets there, does not pass it, and says so.

Each byte is changed once, in turn: of the chunks as they are stored (their checksums then do not fit), and of the entries
inside of them, under checksums of the chunks and seals that fit. Such contents are not those that were recorded, and a rank is
given them only with --trust. PF_DAMAGED_BYTES=N: every N-th byte (1 with PF_FULL).
"""
import os
import re
import shutil
import sqlite3
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from hostile_trace import crc32c, seal_seals, seal_table, zstd
from photofinish import BIN, FULL, PhotofinishTest, main

STEADY = BIN / "e2e" / "steady"
EVERY = int(os.environ.get("PF_DAMAGED_BYTES", "1" if FULL else "83"))
ROUNDS = 9
HEAD = 32
MESSAGE, DATATYPE = 1, 6  # replay_engine/log_format/payload_format.h
TOLD = "photofinish: the contents that rank {0} received from outside of its group are damaged from byte "
OTHERS = "the contents of messages that rank {0} received from outside of its group are not those that were recorded"
SAID = re.compile(r"rank (\d) cannot go on at event (\d+)\n.*\n.*no more from ranks outside of the group: what follows is damaged")


def unpacked(data):
    return zstd(data, "-d")


def packed(data):
    return zstd(data, f"--stream-size={len(data)}")


def reseal(contents, begin, salt, rank):
    """The checksum of the entry there, made anew (payloadSeed() and payloadCrc() of payload_format.h)."""
    most = (1 << 64) - 1
    seed = (salt & most) ^ ((rank + 1) * 0x9E3779B97F4A7C15 & most)
    seed = ((seed ^ seed >> 31 ^ begin) * 0xBF58476D1CE4E5B9 & most) >> 32
    size, = struct.unpack_from("<Q", contents, begin + 16)
    crc = crc32c(bytes(contents[begin + HEAD:begin + HEAD + size]), seed)
    crc = crc32c(bytes(contents[begin + 8:begin + HEAD]), crc32c(bytes(contents[begin:begin + 4]), crc))
    struct.pack_into("<I", contents, begin + 4, crc)


class DamagedContentsTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", "zstd", STEADY)
        self.recorded = self.record("good.pft", self.mpirun(3, STEADY, ROUNDS), "--groups", "each")
        self.good, self.bad = self.dir / "good.pft", self.dir / "bad.pft"

    def chunk(self, rank):
        """What table payload_chunk has for a rank: all of it."""
        connection = sqlite3.connect(self.good)
        rows = connection.execute("SELECT data FROM payload_chunk WHERE rank = ?", (rank,)).fetchall()
        connection.close()
        self.assertEqual(len(rows), 1)
        return rows[0][0]

    def change(self, rank, data, seals):
        shutil.copyfile(self.good, self.bad)
        connection = sqlite3.connect(self.bad, isolation_level=None)
        connection.execute("UPDATE payload_chunk SET data = ? WHERE rank = ?", (data, rank))
        if seals:
            key = struct.pack("<qq", rank, 0)
            connection.execute("UPDATE payload_chunk SET crc32c = ? WHERE rank = ?", (crc32c(data, crc32c(key)), rank))
            seal_table(connection, "payload_chunk")
            seal_seals(connection)
        connection.close()

    def lines(self, run, rank):
        """What rank 0 prints on its way, and what each prints at its end."""
        return [line for line in run.out.replace("\r", "").splitlines() if "state" in line or f"rank {rank} ends" in line]

    def expected(self, rank):
        lines = self.recorded.by_rank()[rank]
        self.assertEqual(lines[-1][:6], f"rank {rank}")
        return lines

    @staticmethod
    def entries(contents):
        """Where each entry begins, and its kind."""
        found, at = [], 0
        while at < len(contents):
            kind, = struct.unpack_from("<H", contents, at)
            size, = struct.unpack_from("<Q", contents, at + 16)
            found.append((at, kind))
            at += HEAD + (size + 7) // 8 * 8
        return found

    def assert_refused(self, rank):
        """Nothing of changed contents reaches the program."""
        refused = self.replay("bad.pft", "--ranks", rank)
        self.assertEqual(refused.status, 3, refused)
        self.assertIn(OTHERS.format(rank), refused.err, refused)
        self.assertEqual(refused.err.count(OTHERS.format(rank)), 1, refused)
        self.assertIn("--trust", refused.err)
        self.assertEqual(self.lines(refused, rank), [], refused)

    def assert_found(self, rank, first, *trust):
        """The rank's replay gets to event `first`, the first that has no contents any more."""
        self.assertEqual(self.photofinish("check", self.bad).status, 4)
        alone = self.replay("bad.pft", "--ranks", rank, *trust)
        self.assertEqual(alone.status, 4, f"never a good end, and no other program\n{alone}")
        lines, there = self.lines(alone, rank), self.expected(rank)
        self.assertEqual(lines, there[:len(lines)], f"nothing that was not so\n{alone}")
        self.assertNotIn(there[-1], lines)
        self.assertIn(TOLD.format(rank), alone.err, alone)
        said = SAID.search(alone.err)
        self.assertIsNotNone(said, alone)
        self.assertEqual((int(said.group(1)), int(said.group(2))), (rank, first), alone)

    def assert_told(self, rank, messages):
        """`info` knows of the damage where checksums of chunks tell it, and `payload` shows the `messages` before it."""
        shown = self.photofinish("payload", self.bad, "--rank", rank)
        self.assertEqual(shown.status, 4, shown)
        self.assertIn(TOLD.format(rank), shown.err, shown)
        self.assertEqual(shown.out.count("message from rank"), messages, shown)

    def event_of(self, rank, message):
        """Rank 0 receives and sends, the others send and receive; MPI_Init is event 1."""
        return 2 * message + (2 if rank == 0 else 3)

    def test_a_changed_byte_of_an_entry(self):
        print(f"PF_DAMAGED_BYTES={EVERY}")
        flips = 0
        for rank in (1, 0):
            contents = unpacked(self.chunk(rank))
            entries = self.entries(contents)
            for at in range(rank, len(contents), EVERY):
                damaged = bytearray(contents)
                damaged[at] ^= 1 << at % 8
                whole = [kind for begin, kind in entries if begin + HEAD <= at and (begin, kind) != max(entry for entry in entries if entry[0] <= at)]
                with self.subTest(rank=rank, byte=at):
                    self.change(rank, packed(bytes(damaged)), seals=True)
                    self.assert_found(rank, self.event_of(rank, whole.count(MESSAGE)), "--trust")
                flips += 1
        print(f"{flips} bytes of entries", file=sys.stderr)

    def test_a_changed_byte_of_a_chunk(self):
        flips = 0
        for rank in (2, 0):
            data = self.chunk(rank)
            for at in range(rank, len(data), EVERY):
                damaged = bytearray(data)
                damaged[at] ^= 1 << at % 8
                with self.subTest(rank=rank, byte=at):
                    self.change(rank, bytes(damaged), seals=False)
                    self.assert_found(rank, self.event_of(rank, 0))
                flips += 1
        print(f"{flips} bytes of chunks", file=sys.stderr)

    def test_the_others_are_as_good_as_ever(self):
        data = bytearray(self.chunk(1))
        data[len(data) // 2] ^= 4
        self.change(1, bytes(data), seals=False)
        for rank in (0, 2):
            alone = self.replay("bad.pft", "--ranks", rank)
            self.assertEqual((alone.status, self.lines(alone, rank)), (0, self.expected(rank)), alone)
        together = self.replay("bad.pft")
        self.assertEqual((together.status, together.by_rank()), (0, self.recorded.by_rank()), together)
        self.assert_told(1, 0)
        info = self.photofinish("info", self.bad)
        self.assertEqual(info.status, 0, info)
        self.assertRegex(info.out, r"\n  rank 1: damaged: .*\n")
        self.assertNotRegex(info.out, r"\n  rank [02]: damaged")
        each = self.photofinish("info", self.bad, "--json").json()["contents"]["perRank"]
        self.assertEqual([one["rank"] for one in each if one["damage"]], [1], each)
        good = self.photofinish("info", self.good).out
        self.assertNotIn("damaged", good)
        self.assertIn("groups    each\n  each rank is a group, which has the rank's number\n", good)

    def test_contents_that_somebody_has_changed(self):
        """Under checksums of entries, chunks and tables that fit: nothing is damaged."""
        contents = bytearray(unpacked(self.chunk(1)))
        begin = next(begin for begin, kind in self.entries(contents) if kind == MESSAGE)
        contents[begin + HEAD] ^= 1
        connection = sqlite3.connect(self.good)
        salt, = connection.execute("SELECT salt FROM payload WHERE rank = 1").fetchone()
        connection.close()
        reseal(contents, begin, salt, rank=1)
        self.change(1, packed(bytes(contents)), seals=True)
        self.assertEqual(self.photofinish("check", self.bad).status, 0)
        self.assert_refused(1)
        self.assertEqual(self.replay("bad.pft", "--ranks", 0).status, 0, "the others are those that were recorded")
        together = self.replay("bad.pft")
        self.assertEqual((together.status, together.by_rank()), (0, self.recorded.by_rank()), together)
        trusted = self.replay("bad.pft", "--ranks", 1, "--trust")
        self.assertIn("has other contents of messages than were recorded: these count as recorded now", trusted.err)
        again = self.replay("bad.pft", "--ranks", 1)
        self.assertNotIn("not those that were recorded", again.err, again)

    def test_contents_that_are_cut_or_gone(self):
        contents = unpacked(self.chunk(1))
        begins = [begin for begin, kind in self.entries(contents) if kind == MESSAGE]
        for message, cut in ((3, begins[3]), (3, begins[3] + 5), (0, 0)):
            with self.subTest(cut=cut):
                self.change(1, packed(contents[:cut]), seals=True)
                self.assert_found(1, self.event_of(1, message), "--trust")
                self.assert_told(1, message)
        shutil.copyfile(self.good, self.bad)
        connection = sqlite3.connect(self.bad, isolation_level=None)
        connection.execute("DELETE FROM payload_chunk WHERE rank = 1")
        seal_table(connection, "payload_chunk")
        seal_seals(connection)
        connection.close()
        self.assert_found(1, self.event_of(1, 0))


if __name__ == "__main__":
    main()
