# SPDX-License-Identifier: GPL-3.0-or-later
"""kill -9 of rank, agent, daemon, recorder, launcher, window, or all: what MPI chose in a call that had returned is in the trace.

The program keeps a count of its own, and whom each message was from, on pages that no kill takes (programs/counted.c).
PF_COUNTED_KILLS=N: so many kills (default 16), going round over whom and in which mode. PF_SEED repeats the moments.
"""
import collections
import mmap
import os
import pathlib
import random
import shutil
import signal
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main, processes, shared_files

COUNTED = BIN / "e2e" / "counted"
RANKS, SERVERS, PAUSE = 5, 2, 20
KILLS = int(os.environ.get("PF_COUNTED_KILLS", "16"))
SEED = int(os.environ.get("PF_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 31)
AGENT, DAEMON, RECORDER, LAUNCHER, WINDOW = "photofinish-agent", "photofinish-daemon", "photofinish", "mpirun", "recording_window"
DEBUGGER = "photofinish-gui"  # a window that shows the trace, and replays it
VICTIMS = ("rank", AGENT, DAEMON, RECORDER, LAUNCHER, WINDOW, DEBUGGER, "all")
MODES = ("outcomes", "races", "all")
LONGEST = 0.2  # seconds from the first deliveries to a kill
# Of what the trace has the program need not have known: it was killed before a call had returned, or had been counted. That
# is one call, which may be a wait for two messages.
AHEAD = 2

# What the servers chose, in the order of their calls. Messages that MPI_Mprobe saw are in the receives.
CHOICES = f"""SELECT rank, source FROM (
    SELECT rank, completion_serial AS serial, post, source FROM receive WHERE rank < {SERVERS} AND wanted_source = -1 AND state = 1
    UNION ALL SELECT rank, serial, -1, source FROM probe WHERE rank < {SERVERS} AND wanted_source = -1) ORDER BY rank, serial, post"""


class CountedKillsTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", COUNTED)
        self.choose = random.Random(SEED)
        self.kills, self.counted, self.beyond, self.lost = collections.Counter(), 0, 0, 0

    def page(self, server):
        return self.dir / f"page.{server}"

    def no_pages(self):
        for server in range(SERVERS):
            self.page(server).unlink(missing_ok=True)

    def count(self, server):
        try:
            with open(self.page(server), "rb") as file:
                return struct.unpack("=Q", file.read(8))[0]
        except (OSError, struct.error):
            return 0

    def records(self, server):
        """[(source, form, missed)] that the program has counted."""
        with open(self.page(server), "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as page:
            (count,) = struct.unpack_from("=Q", page)
            return list(struct.iter_unpack("=BBH", page[8:8 + 4 * count]))

    def alive(self):
        return {pid: name for pid, (_, state, name) in processes(self.mark).items() if state != "Z"}

    def gone(self, seconds):
        """Whether nothing runs any more."""
        end = time.monotonic() + seconds
        while self.alive() and time.monotonic() < end:
            time.sleep(0.02)
        return not self.alive()

    def kill(self, pids):
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def recording(self, trace, victim, mode):
        """Words that record."""
        launch = [*self.mpirun(RANKS, COUNTED, self.dir / "page", SERVERS, PAUSE)]
        if victim == WINDOW:
            return [BIN / WINDOW, self.dir, "follow" if mode == "all" else "choices", " ".join(map(str, launch))]
        return [BIN / "photofinish", "record", "--mode", mode, "-o", trace, *launch]

    def record_and_kill(self, trace, victim, mode):
        """Until nothing of it runs."""
        if victim == DEBUGGER:
            victim, debugged = "rank", True
        else:
            debugged = False
        with self.start(self.recording(trace, victim, mode)) as command:
            command.wait_for(lambda: all(self.count(server) > 0 for server in range(SERVERS)), 60)
            shared = shared_files(command.find("counted"))
            time.sleep(self.choose.random() * LONGEST)
            pids = list(self.alive()) if victim == "all" else command.find("counted" if victim == "rank" else victim)
            self.choose.shuffle(pids)
            self.kill(pids if victim == "all" else pids[:1])
            if victim == DAEMON:  # the recording goes on
                time.sleep(self.choose.random() * LONGEST)
                self.kill(self.choose.sample(command.find("counted"), 1))
            elif victim in (RECORDER, WINDOW):  # the job goes on
                time.sleep(self.choose.random() * LONGEST)
                self.kill(command.find("counted"))
            ended = self.gone(120)
            going = self.alive()
            run = command.finish(5)
            self.assertTrue(ended, f"{going} go on\n{run}")
        if debugged:
            self.debug_and_kill(trace)
        for path in shared:
            pathlib.Path(path).unlink(missing_ok=True)
        for path in self.dir.glob("ompi.*"):
            shutil.rmtree(path, ignore_errors=True)
        return run

    def debug_and_kill(self, trace):
        """The program counts anew in a replay: what it had counted is put back."""
        counted = {server: self.page(server).read_bytes() for server in range(SERVERS)}
        with self.start([BIN / DEBUGGER, trace, "--replay-to", "failing"]) as command:
            command.wait_for(lambda: command.find("counted"), 60)
            time.sleep(self.choose.random() * 2)
            self.kill([command.pid])
            self.assertTrue(self.gone(60), f"{self.alive()} go on\n{command.errors()}")
        for server, page in counted.items():
            self.page(server).write_bytes(page)

    def sources(self, trace):
        """What the trace has for the servers; of choices only, the program is run once more for it."""
        rows = self.photofinish("sql", trace, CHOICES, "--json", timeout=120)
        self.assertEqual(rows.status, 0, rows)
        found = [[] for _ in range(SERVERS)]
        for row in rows.json():
            found[row["rank"]].append(row["source"])
        return found

    def check(self, trace, run, mode, surveyed):
        before = [self.records(server) for server in range(SERVERS)]
        self.counted += sum(map(len, before))
        info = self.photofinish("info", trace, "--json")
        self.assertEqual(info.status, 0, f"{run}\n{info}")
        self.assertFalse(pathlib.Path(f"{trace}.d").exists(), f"{run}\n{info}")
        check = self.photofinish("check", trace)
        self.assertEqual(check.status, 0, f"{run}\n{check}")
        self.no_pages()
        for server, (records, kept) in enumerate(zip(before, self.sources(trace))):
            counted = [source for source, _, _ in records]
            same = next((k for k, pair in enumerate(zip(counted, kept)) if pair[0] != pair[1]), min(len(counted), len(kept)))
            self.lost += len(counted) - same
            self.beyond += max(0, len(kept) - len(counted))
            self.assertEqual(same, len(counted), f"rank {server} took {len(counted)} messages, the trace has {len(kept)}, {same} "
                                                 f"of them the same\n{run}")
            self.assertLessEqual(len(kept), len(counted) + AHEAD, f"rank {server}\n{run}")
        # Run again up to there, by the survey or here, the program has the same on its pages, failed tests too.
        if mode == "all":
            replayed = self.photofinish("replay", trace, "--stop-at-end", timeout=300)
            self.assertIsNotNone(replayed.status, f"{run}\n{replayed}")
            self.assertNotEqual(replayed.status, 3, f"{run}\n{replayed}")
        for server, records in enumerate(before):
            if surveyed and mode != "all":  # nobody has run it since
                continue
            self.assertEqual(self.records(server)[:len(records)], records, f"rank {server}\n{run}")

    def test_nothing_that_was_counted_is_lost(self):
        print(f"PF_SEED={SEED}")
        for number in range(KILLS):
            which, turn = number % len(VICTIMS), number // len(VICTIMS)
            victim, mode = VICTIMS[which], MODES[(which + turn) % len(MODES)]
            trace = self.dir / ("counted-1.pft" if victim == WINDOW else f"{number}.pft")
            with self.subTest(kill=number, victim=victim, mode=mode, seed=SEED):
                self.no_pages()
                try:
                    run = self.record_and_kill(trace, victim, mode)
                    self.kills[victim] += 1
                    self.check(trace, run, mode, victim == DEBUGGER)
                except AssertionError as wrong:
                    print(f"kill {number}, {victim}, {mode}: {wrong}", flush=True)
                    raise
                finally:
                    for left in self.dir.glob(f"{trace.name}*"):
                        shutil.rmtree(left) if left.is_dir() else left.unlink()
        print(f"PF_SEED={SEED}: {sum(self.kills.values())} kills ({', '.join(f'{n} {name}' for name, n in self.kills.items())}), "
              f"{self.counted} deliveries counted, {self.lost} lost, {self.beyond} more in the traces")


if __name__ == "__main__":
    main()
