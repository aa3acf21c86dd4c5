# SPDX-License-Identifier: GPL-3.0-or-later
"""kill -9 at random moments of a recording with groups: each group is replayed alone to where its ranks were cut, and every
call that had returned before brings the same. The program keeps hashes of all that it received on pages that no kill takes
(programs/cut_off.c). PF_APART_KILLS=N: so many kills (6; 100 with PF_FULL), of one rank, all ranks, an agent, the recorder or
all. PF_SEED repeats the moments.
"""
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from groups_alone import groups_of
from photofinish import BIN, FULL, PhotofinishTest, main, processes, shared_files

CUT_OFF = BIN / "e2e" / "cut_off"
RANKS, LONGEST = 4, 0.4
KILLS = int(os.environ.get("PF_APART_KILLS", "100" if FULL else "6"))
SEED = int(os.environ.get("PF_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 31)
SPECS = ("each", "0-1,2-3", "1-2", "0+2,1+3", "0-2")
VICTIMS = ("a rank", "all ranks", "photofinish-agent", "photofinish", "everything")


class ApartKilledTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", CUT_OFF)
        self.choose = random.Random(SEED)

    def hashes(self, rank):
        try:
            data = (self.dir / f"page.{rank}").read_bytes()
        except OSError:
            return []
        if not data:
            return []
        count, = struct.unpack_from("=Q", data)
        return list(struct.unpack_from(f"={count}Q", data, 8))

    def alive(self):
        return {pid: name for pid, (_, state, name) in processes(self.mark).items() if state != "Z"}

    @staticmethod
    def kill(pids):
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def record_and_kill(self, victim, spec, mode):
        """Until nothing of it runs."""
        words = [BIN / "photofinish", "record", "--mode", mode, "--groups", spec, "-o", self.dir / "t.pft",
                 *self.mpirun(RANKS, CUT_OFF, self.dir / "page", 20)]
        with self.start(words) as command:
            command.wait_for(lambda: all(self.hashes(rank) for rank in range(RANKS)), 60)
            ranks = command.find("cut_off")
            shared = shared_files(ranks)
            time.sleep(self.choose.random() * LONGEST)
            if victim == "a rank":
                self.kill([self.choose.choice(ranks)])
            elif victim == "all ranks":
                self.choose.shuffle(ranks)
                self.kill(ranks)
            elif victim == "everything":
                self.kill(self.alive())
            else:
                self.kill(command.find(victim)[:1])
                time.sleep(self.choose.random() * LONGEST)
                self.kill(ranks)
            command.wait_for(lambda: not self.alive() or command.process.poll() is not None, 120)
            end = time.monotonic() + 60
            while self.alive() and time.monotonic() < end:
                time.sleep(0.02)
            run = command.finish(5)
        for path in shared:
            pathlib.Path(path).unlink(missing_ok=True)
        for path in self.dir.glob("ompi.*"):
            shutil.rmtree(path, ignore_errors=True)
        return run

    def all_have(self, before, group):
        return all(len(self.hashes(rank)) >= len(before[rank]) for rank in group)

    def replay_to_cut(self, number, before, group):
        """Ranks are held in the last call that they did, unless all wait in one; then they may go on, and count it."""
        words = [BIN / "photofinish", "replay", self.dir / "t.pft", "--group", number, "--stop-at-end"]
        with self.start(words, stdin=subprocess.PIPE) as replay:
            replay.wait_for(lambda: "the recording ends here" in replay.errors(), 120)
            replay.wait_for(lambda: "attach a debugger" in replay.errors() or replay.process.poll() is not None, 60)
            if replay.process.poll() is None:
                for rank in group:
                    here = len(self.hashes(rank))
                    self.assertLessEqual(abs(here - len(before[rank])), 1, f"rank {rank} is not held at its cut")
                replay.process.stdin.write(b"\n")
                replay.process.stdin.flush()
                end = time.monotonic() + 30
                while not self.all_have(before, group) and replay.process.poll() is None and time.monotonic() < end:
                    time.sleep(0.02)
                self.kill(replay.find("cut_off"))
            replay.process.stdin.close()
            return replay.finish(60)

    def check(self, run, spec):
        before = [self.hashes(rank) for rank in range(RANKS)]
        checked = self.photofinish("check", self.dir / "t.pft")
        self.assertEqual(checked.status, 0, f"{run}\n{checked}")
        for number, group in enumerate(groups_of(spec, RANKS)):
            with self.subTest(group=group):
                alone = self.replay_to_cut(number, before, group)
                self.assertNotIn("replay divergence", alone.err, f"{run}\n{alone}")
                for rank in group:
                    self.assertRegex(alone.err, rf"rank {rank}(:| waits in) ", alone)
                    here = self.hashes(rank)
                    self.assertGreaterEqual(len(here), len(before[rank]), f"rank {rank} does not get to its cut\n{run}\n{alone}")
                    same = next((i for i, pair in enumerate(zip(before[rank], here)) if pair[0] != pair[1]), len(before[rank]))
                    self.assertEqual(same, len(before[rank]), f"rank {rank} received something else\n{run}\n{alone}")
                self.counted += sum(len(before[rank]) for rank in group)
                self.replays += 1

    def test_each_group_replays_to_its_cut(self):
        print(f"PF_SEED={SEED}", file=sys.stderr)
        self.counted = self.replays = 0
        for number in range(KILLS):
            victim, spec, mode = VICTIMS[number % len(VICTIMS)], SPECS[number % 7 % len(SPECS)], ("outcomes", "all")[number % 3 % 2]
            with self.subTest(kill=number, victim=victim, spec=spec, mode=mode, seed=SEED):
                run = self.record_and_kill(victim, spec, mode)
                self.check(run, spec)
            for left in [*self.dir.glob("t.pft*"), *self.dir.glob("page.*")]:
                shutil.rmtree(left) if left.is_dir() else left.unlink()
        print(f"PF_SEED={SEED}: {KILLS} kills, {self.replays} replays of groups to their cuts, {self.counted} receives and collectives compared",
              file=sys.stderr)


if __name__ == "__main__":
    main()
