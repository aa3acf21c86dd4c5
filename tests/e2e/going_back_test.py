# SPDX-License-Identifier: GPL-3.0-or-later
"""A rank that runs alone goes back to snapshots of itself: everywhere it has what it had there, in any order of places."""
import os
import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, doctor_says, main

BACK = BIN / "e2e" / "back"
PASSES = 3000
FIRST = 2  # event of pass 0: MPI_Init is 1
PLACES = int(os.environ.get("PF_PLACES", "15"))

# A library that makes a thread while it is loaded.
MAKER = """
#include <pthread.h>
#include <unistd.h>
static void *wait_for_ever(void *nothing) { pause(); return nothing; }
__attribute__((constructor)) static void begin(void) { pthread_t made; pthread_create(&made, 0, wait_for_ever, 0); }
"""


class GoingBackTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("gdb", "mpirun", BACK)

    def script(self, text, *options, status=0):
        file = self.dir / "s.script"
        file.write_text(text)
        run = self.photofinish("debug", "--script", file, *options, self.dir / "t.pft", timeout=120)
        if status is not None:
            self.assertEqual(run.status, status, run)
        return run

    def walk(self, rank):
        """Places in any order, and one event back from some: at each, what there is to be."""
        choose = random.Random(4)
        text, places = "", []

        def look(serial):
            nonlocal text
            text += "print g_total\nprint g_at\nprint g_children\nprint (int)g_heap[7]\n"
            places.append(serial)
        for _ in range(PLACES):
            serial = choose.randrange(FIRST + 10, FIRST + PASSES)
            text += f"replay-to {rank}:{serial}\n"
            look(serial)
            if choose.random() < 0.4:
                text += "previous-event\n"
                look(serial - 1)
        text += "cycles\ncontinue\n"
        expected = []
        for serial in places:
            passes = serial - FIRST
            expected += [sum(range(passes)), 9 * passes, 0, (self.last_at(passes) + 128) % 256 - 128]
        return text, expected

    @staticmethod
    def last_at(passes):
        """The value that g_heap[7] got last."""
        return max((i for i in range(7, passes, 4096)), default=0)

    def test_the_memory_of_snapshots_is_told(self):
        self.record("t.pft", [BACK, PASSES, self.dir / "file"], "--mode", "all")
        run = self.script("snapshots\nreplay-to 0:500\nsnapshots\n")
        self.assertIn("There are none: a rank that is replayed alone has some.", run.out)
        told = re.search(r"^(\d+) snapshots of rank 0 to go back to, before its events \d+ to (\d+)\. (\S+) (\w+) of memory were theirs alone", run.out, re.M)
        self.assertTrue(told, run.out)
        self.assertGreater(int(told[1]), 1)
        self.assertLess(int(told[2]), 500)
        self.assertGreater(float(told[3]), 0)

    def check_walk(self, rank, *options):
        text, expected = self.walk(rank)
        run = self.script(text, *options)
        found = [int(value) for value in re.findall(rf"^\[{rank}\] (-?\d+)$", run.out, re.M)]
        self.assertEqual(found, expected, run)
        self.assertIn(f"total {sum(range(PASSES))}, 0 children, finalized 1", run.out + run.err)
        self.assertEqual((self.dir / f"file.{rank}").read_text(), "".join(f"{i:08d}\n" for i in range(PASSES)))
        return run

    def test_a_program_of_one_rank(self):
        self.record("t.pft", [BACK, PASSES, self.dir / "file"], "--mode", "all")
        run = self.check_walk(0)
        self.assertNotIn("is started again", run.out)

    def test_one_rank_of_four(self):
        self.record("t.pft", self.mpirun(4, BACK, PASSES, self.dir / "file"), "--mode", "all", "--groups", "each")
        self.check_walk(2, "--ranks", "2")

    def test_under_mpich(self):
        self.need("mpiexec.mpich", BIN / "libphotofinish_mpich.so", "mpicc.mpich")
        program = self.dir / "back"
        source = pathlib.Path(__file__).parent / "programs" / "back.c"
        subprocess.run(["mpicc.mpich", "-g", "-pthread", "-o", program, source], check=True, stderr=subprocess.DEVNULL)
        self.record("t.pft", ["mpiexec.mpich", "-n", "3", program, PASSES, self.dir / "file"], "--mode", "all", "--groups", "each")
        run = self.check_walk(1, "--ranks", "1")
        self.assertNotIn("is started again", run.out)

    def test_breakpoints_and_hits(self):
        """Counted from the begin, and hits before a snapshot are not forgotten."""
        self.record("t.pft", [BACK, PASSES, self.dir / "file"], "--mode", "all")
        run = self.script("break back.c:pass if i == 40 || i == 900 || i == 2000\nrun\nprint i\ncontinue\nprint i\ncontinue\nprint i\n"
                          "previous-hit\nprint i\nprevious-hit\nprint i\n"
                          "delete 1\nreplay-to 0:1500\n".replace("back.c:pass", "pass") + ("last-change g_at\n" if doctor_says("watchpoints") else "") +
                          "print g_at\n")
        self.assertEqual([int(value) for value in re.findall(r"^\[0\] (\d+)$", run.out, re.M)],
                         [40, 900, 2000, 900, 40, 9 * (1500 - FIRST)], run)

    def test_threads_go_the_old_way(self):
        self.record("t.pft", [BACK, 300, self.dir / "file", "thread"], "--mode", "all")
        run = self.script("replay-to 0:200\nprint g_total\nprevious-event\nprint g_total\n")
        self.assertEqual([int(value) for value in re.findall(r"^\[0\] (\d+)$", run.out, re.M)], [sum(range(200 - FIRST)), sum(range(199 - FIRST))], run)
        self.assertIn("rank 0 is started again: no snapshots of it are made, as the program has threads of its own", run.out + run.err)

    def test_threads_of_mpi_are_none_of_the_programs(self):
        """UCX makes one while it is loaded, which may be there until after MPI_Init, or not."""
        (self.dir / "maker.c").write_text(MAKER)
        for name, own in (("libucs_maker.so", False), ("libmine.so", True)):
            with self.subTest(library=name):
                subprocess.run(["gcc", "-shared", "-fPIC", "-pthread", "-o", name, "maker.c"], cwd=self.dir, check=True)
                self.env["LD_PRELOAD"] = str(self.dir / name)
                self.record("t.pft", [BACK, 300, self.dir / "file"], "--mode", "all")
                run = self.script("replay-to 0:200\nprint g_total\nprevious-event\nprint g_total\n")
                self.assertEqual([int(value) for value in re.findall(r"^\[0\] (\d+)$", run.out, re.M)], [sum(range(200 - FIRST)), sum(range(199 - FIRST))], run)
                self.assertEqual("as the program has threads of its own" in run.out + run.err, own, run)

    # -- what a copy would not have, or would share: no snapshots while it is there

    OBSTACLES = {
        "pipe": "a pipe, a socket, a directory or the like open",
        "socket": "a pipe, a socket, a directory or the like open",
        "popen": "a pipe, a socket, a directory or the like open",
        "shared": "memory mapped that it shares",
        "child": "child processes",
        "alarm": "a timer",
        "timer": "a timer",
        "many": "more than 64 files open",
        "rw": "a file open to read and write",
        "append": "a file open to read and write",
        "lock": "locked a file",
    }
    TROUBLE = 300  # passes

    def trouble(self, what, text="", passes=TROUBLE):
        self.record("t.pft", [BACK, passes, self.dir / "file", what], "--mode", "all")
        return self.script(text + "continue\n")

    def values(self, run):
        return [int(value) for value in re.findall(r"^\[0\] (-?\d+)$", run.out, re.M)]

    def look(self, *serials):
        """At g_value before these events: as many passes have been begun."""
        return "".join(f"replay-to 0:{serial}\nprint g_value\nprint g_failed\n" for serial in serials)

    def test_what_cannot_be_copied_is_not(self):
        for what, words in self.OBSTACLES.items():
            with self.subTest(what):
                run = self.trouble(what, self.look(250, 120, 200))
                self.assertEqual(self.values(run), [249, 0, 119, 0, 199, 0], run)
                self.assertIn("no snapshots of it are made, as the program has", run.out + run.err)
                self.assertIn(words, run.out + run.err)
                self.assertIn("failed 0, value 300", run.out + run.err)

    def test_obstacles_come_and_go(self):
        for what in ("pipe-later", "popen-later", "shared-later", "child-later", "rw-later", "lock-later", "many-later", "timer-later"):
            with self.subTest(what):
                run = self.trouble(what, self.look(290, 270, 150, 90, 280))
                self.assertEqual(self.values(run)[-2:], [279, 0], run)
                self.assertLessEqual(run.out.count("no snapshots of it are made"), 1, run)  # it may be gone before anybody looks
                self.assertIn("failed 0, value 300", run.out + run.err)

    def test_a_file_that_copies_have_is_unlocked(self):
        run = self.trouble("late-lock", self.look(250, 120))
        self.assertEqual(self.values(run), [249, 0, 119, 0], run)
        self.assertIn("failed 0, value 300", run.out + run.err)

    def test_the_programs_handlers_of_fork_are_not_run(self):
        run = self.trouble("atfork", "replay-to 0:250\nprevious-event\nprint g_atFork\nprint g_value\n")
        self.assertEqual(self.values(run), [0, 248], run)
        self.assertNotIn("no snapshots", run.out + run.err)

    # -- the console of its GDB

    def test_breakpoints_of_the_console_do_not_come_along(self):
        run = self.trouble("plain", "replay-to 0:200\ngdb break event\ngdb watch g_value\nprevious-event\nprint g_value\ngdb info breakpoints\n")
        self.assertEqual(self.values(run), [198], run)
        self.assertIn("No breakpoints", run.out)

    def test_it_goes_back_by_a_cycle_when_its_gdb_has_been_detached(self):
        run = self.trouble("plain", "replay-to 0:200\ngdb detach\nreplay-to 0:150\n")
        self.assertIn("before event 150", run.out)
        self.assertNotIn("cannot attach", run.out + run.err)

    def test_what_would_follow_its_copies_is_refused(self):
        for line in ("set follow-fork-mode child", "set detach-on-fork off", "catch fork"):
            with self.subTest(line):
                self.record("t.pft", [BACK, 100, self.dir / "file", "plain"], "--mode", "all")
                run = self.script(f"replay-to 0:2\ngdb {line}\n", status=None)
                self.assertIn("not sent to GDB: " + line, run.out + run.err)


if __name__ == "__main__":
    main()
