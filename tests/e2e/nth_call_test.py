# SPDX-License-Identifier: GPL-3.0-or-later
"""The first, second, third … call of a kind fails, until a run passes: a clear error and nothing lost, or the right answer; no crash, no hang.
Or none fails, and the disk takes its time.

PF_NTH=1 lets every single call fail, PF_NTH=N every N-th; without it, some of them. PF_NTH_CALLS=malloc,open: of these kinds only.
"""
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, CRASHED, PhotofinishTest, main

STEADY = BIN / "e2e" / "steady"
FAULT = BIN / "e2e" / "fault_at.so"
ALL = int(os.environ.get("PF_NTH", "") or 0)
ERRNO = {"malloc": 12, "mmap": 12, "write": 28, "room": 28, "fsync": 5, "rename": 5, "link": 28, "unlink": 13, "open": 24, "socket": 24, "fork": 11}
KINDS = [call for call in os.environ.get("PF_NTH_CALLS", "").split(",") if call] or list(ERRNO)
OURS = ("photofinish", "photofinish-dae", "photofinish-age")
SLOW = (2000, 300000)  # µs that a write to a file takes more, and what waits for the disk (fsync, room)
MOST = 100000


def numbers(few):
    """1, 2, 3, 4, 6, 9, 13 … or all of them."""
    number = 1
    while number < MOST:
        yield number
        number += ALL or max(1, number // (1 if few else 2))


class NthCallTest(PhotofinishTest):
    naps = False

    def setUp(self):
        super().setUp()
        self.need("mpirun", STEADY)
        self.failed = 0

    def fault(self, process, call, number):
        log = self.dir / "failed"
        log.unlink(missing_ok=True)
        return {"LD_PRELOAD": str(FAULT), "FAULT_IN": process, "FAULT_CALL": call, "FAULT_AT": str(number), "FAULT_WITH": str(ERRNO[call]),
                "FAULT_LOG": str(log)}

    def each(self, words, call, check, process="photofinish", few=False):
        """check(run) after each run in which a call failed; the first in which none did has to be right."""
        for number in numbers(few):
            with self.start([BIN / "photofinish", *words], env=self.fault(process, call, number)) as command:
                run = command.finish(60)
            said = f"{process}: {call} {number} failed\n{run}"
            self.assertIsNotNone(run.status, f"it hangs: {said}")
            self.assertLess(run.status, 128, said)
            ours = "\n".join(line for line in run.err.splitlines() if line.startswith(("photofinish", "terminate", "  what")))
            self.assertIsNone(CRASHED.search(ours), said)
            if not (self.dir / "failed").exists():
                self.assertEqual(run.status, 0, said)
                return
            self.failed += 1
            if run.status != 0:
                self.assertRegex(run.err, "photofinish: ", said)
            check(run, said)
        self.fail(f"{process}: {call} failed {MOST} times")

    def test_reading(self):
        """Exit status 0 only with the whole right answer."""
        self.record("t.pft", self.mpirun(2, STEADY, 3, 1), "--mode", "all")
        for words in (["info"], ["races"], ["events", "--json"], ["check"]):
            line = [words[0], self.dir / "t.pft", *words[1:]]
            right = self.photofinish(*line)
            self.assertEqual(right.status, 0, right)

            def check(run, said):
                if run.status == 0:
                    self.assertEqual(run.out, right.out, said)
            for call in set(KINDS) & {"malloc", "mmap", "open"}:
                if words[0] in ("info", "races") or ALL:
                    self.each(line, call, check)
        self.assertEqual(self.photofinish("check", self.dir / "t.pft").status, 0)

    def recorded(self, run, said):
        """What was recorded before is there; the new run is a trace, or logs that become one, or was not begun, and that was said."""
        former = [path for path in self.dir.glob("t*.pft") if path.read_bytes() == self.former]
        self.assertTrue(former, f"the former trace is gone: {said}")
        if "rank 0 ends with" in run.out and not (run.status != 0 and "photofinish:" in run.err):
            info = self.photofinish("info", self.dir / "t.pft", "--json")
            self.assertEqual(info.status, 0, f"{said}\n{info}")
            if "recording stopped" not in run.err and "photofinish: " not in run.err:
                self.assertEqual(info.json()["command"][-2], "2", said)
        for path in self.dir.glob("t*.pft*"):
            (shutil.rmtree if path.is_dir() else os.unlink)(path)
        (self.dir / "t.pft").write_bytes(self.former)

    def test_recording(self):
        self.record("t.pft", [STEADY, 1, 1])
        self.former = (self.dir / "t.pft").read_bytes()
        line = ["record", "-o", self.dir / "t.pft", STEADY, "2", "1"]
        for process in OURS if ALL else OURS[:1]:
            for call in KINDS:
                with self.subTest(process=process, call=call):
                    self.each(line, call, self.recorded, process, few=True)

    def test_surveys_and_replays(self):
        self.record("light.pft", self.mpirun(2, STEADY, 3, 1))
        light = (self.dir / "light.pft").read_bytes()
        shutil.copy(self.dir / "light.pft", self.dir / "t.pft")
        right = self.photofinish("races", self.dir / "t.pft").out

        def surveyed(run, said):
            if run.status == 0:
                self.assertEqual(run.out, right, said)
            self.assertEqual(self.photofinish("check", self.dir / "t.pft").status, 0, said)
            (self.dir / "t.pft").write_bytes(light)

        def replayed(run, said):
            if run.status == 0:
                self.assertIn("rank 0 ends with", run.out, said)
        for call in KINDS if ALL else ("write", "rename", "fork", "socket"):
            with self.subTest(call=call):
                self.each(["races", self.dir / "t.pft"], call, surveyed, few=True)
                self.each(["replay", self.dir / "light.pft"], call, replayed, few=True)
        if ALL:
            for process in OURS[1:]:
                for call in KINDS:
                    with self.subTest(process=process, call=call):
                        self.each(["replay", self.dir / "light.pft"], call, replayed, process, few=True)

    def test_a_slow_disk(self):
        """For all processes of ours and the ranks, whose logs grow in calls of theirs: right answers, and nobody is said to be stuck."""
        self.need(FAULT)
        log = self.dir / "waited"
        slow = {"LD_PRELOAD": str(FAULT), "FAULT_IN": ",".join((*OURS, "steady")), "FAULT_SLOW": "%d %d" % SLOW, "FAULT_LOG": str(log)}
        begun = time.monotonic()

        def right(run, *waits):
            self.assertEqual(run.status, 0, run)
            self.assertNotRegex(run.err, "makes no progress|no answer|does not answer|is stopped|recording stopped|is gone", run)
            self.assertGreaterEqual(set(log.read_text().splitlines()), set(waits), run)
            self.assertEqual(self.photofinish("check", self.dir / "t.pft").status, 0, run)
            log.unlink()
        # Many events: room for more is asked for while the program runs. Few choices, and a survey.
        for mode, rounds in (("all", 10000), ("outcomes", 1000)):
            recorded = self.record("t.pft", self.mpirun(3, STEADY, rounds, 0), "--mode", mode, env=slow)
            right(recorded, "photofinish write", "photofinish fsync", "photofinish name", "photofinish-age write", "steady room",
                  *(["photofinish-age fsync"] if mode == "all" else []))
            info = self.info()
            self.assertEqual((info["complete"], info["wildcardReceives"]), (True, 2 * rounds), info)
            if mode == "all":
                self.assertGreater(max(rank["bytes"] for rank in info["perRank"]), 1 << 19, info)
                replayed = self.photofinish("replay", self.dir / "t.pft", env=slow)
                right(replayed, "photofinish name")
                self.assert_same_run(recorded, replayed)
        races = self.photofinish("races", self.dir / "t.pft", "--json", env=slow)
        right(races, "photofinish write", "photofinish fsync", "steady room")
        self.assertEqual(races.json(), self.photofinish("races", self.dir / "t.pft", "--json").json())
        print(f"a slow disk: {time.monotonic() - begun:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
