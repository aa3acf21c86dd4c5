# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish debug --script: commands on a replay of a run with racing wildcards, from a file and from standard input."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, doctor_says, main

PROGRAM = """\
#include <mpi.h>
#include <stdio.h>

static int g_total = 0;

static void add(int value)
{
    g_total += value; /* add */
}

int main(int argc, char **argv)
{
    int rank, size, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        for (int i = 1; i < size; ++i) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            add(value); /* call */
        }
        printf("total %d\\n", g_total);
    } else {
        value = 10 * rank;
        MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD); /* send */
    }
    MPI_Finalize();
    return 0;
}
"""

# {0} is the K-th value that rank 0 took, {1} and so on; each 'expect' looks at the answer before it.
WALK = """\
# three ranks at a line, the fourth waits for them
break take.c:@send@ @1-3
run
expect ^\\[0\\] in MPI_Recv, waiting for rank \\d, event 2$
expect ^\\[1-3\\] breakpoint 1 \\(take.c:@send@\\), after event 1: main\\(\\) at take.c:@send@$
print value @1-3
expect ^\\[1\\] 10\\n\\[2\\] 20\\n\\[3\\] 30$
@1-3 print size
expect ^\\[1-3\\] 4$
stacks
expect ^\\[0\\]   MPI_Recv$
next @1
expect ^\\[1\\] end of step, after event 2: main\\(\\) at take.c
delete 1
# the second receive, and what it takes
replay-to 0:3
expect ^\\[0\\] before event 3: MPI_Recv from any source, tag 7 at take.c
print value
expect ^\\[0\\] @value0@$
next
print value
expect ^\\[0\\] @value1@$
which-message value
expect the message of rank @source1@ with tag 7
next-receive
expect ^\\[0\\] before event 4: MPI_Recv
deliver-next
expect before event 5: MPI_Finalize
# back
@last-change@
previous-event
expect ^\\[0\\] before event 4: MPI_Recv
previous-receive
expect ^\\[0\\] before event 3: MPI_Recv
next-event
expect ^\\[0\\] before event 4: MPI_Recv
# hits, from a group that has a name
group home 0
break add if value == @value2@ @home
log take.c:@call@ took {value}
continue
expect ^\\[0\\] breakpoint 2 \\(add\\(\\)\\), after event 4: add\\(\\) at take.c:@add@$
expect log 3, after event 4: took @value2@
gdb @home print g_total
expect ^\\[0\\] @sum1@$
gdb set var g_total = 1000
finish
expect ^\\[0\\] returned
continue
expect the replay has ended, exit status 0
output
expect ^\\[0\\] total @altered@$
expect-not total @sum2@
breakpoints
cycles
expect ^\\[all\\] cycle 1: rank \\d: .*\\n\\[all\\] cycle 2: rank 0: 
races
expect ^\\[0\\] race 1, event 2: .*; took rank @source0@ event 2, .*; or could rank
"""


LAST_CHANGE = """\
last-change g_total
expect ^\\[all\\] last change of g_total on rank 0: was @sum1@, is @sum2@$
stack
expect ^\\[0\\] #0 add\\(\\) at take.c:\\d+\\n\\[0\\] #1 main\\(\\) at take.c:@call@$
up
expect #1 main
print value
expect ^\\[0\\] @value2@$
"""


# One rank of four alone, and what it says must be what it says among all.
ALONE = """\
break take.c:@add@
run
print value
continue
print value
print g_total
previous-hit
print value
delete 1
previous-event
print g_total
replay-to 0:4
next
print g_total
which-message value
previous-receive
where @0
continue
"""


class ScriptTest(PhotofinishTest):
    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(tempfile.mkdtemp(prefix="pf-script."))
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)

    def setUp(self):
        super().setUp()
        self.need("mpirun", "gdb", BIN / "photofinish-headless")
        compiler = os.environ.get("PF_MPICC", "mpicc")
        self.need(compiler)
        program = self.shared / "take"
        self.launch = ["mpirun", "--oversubscribe", "-n", "4", program]
        if not program.exists():  # one recording for all tests
            (self.shared / "take.c").write_text(PROGRAM)
            subprocess.run([compiler, "-g", "-O0", "-o", program, self.shared / "take.c"], check=True, env=self.env)
            self.record("t.pft", self.launch, cwd=self.shared)
            self.photofinish("races", self.dir / "t.pft")
            shutil.copy(self.dir / "t.pft", self.shared / "t.pft")
        shutil.copy(self.shared / "t.pft", self.dir / "t.pft")

    def line_of(self, mark):
        return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if f"/* {mark} */" in line)

    def script(self, text, *words, name="s.txt", **how):
        (self.dir / name).write_text(text)
        return self.photofinish("debug", "--script", self.dir / name, *(words or (self.dir / "t.pft",)), timeout=150, **how)

    def filled_in(self):
        """WALK with what this recording has."""
        events = self.photofinish("events", self.dir / "t.pft", "--rank", 0, "--json").json()["events"]
        sources = [event["deliveries"][0]["source"] for event in events if event["call"] == "MPI_Recv"]
        sums = [10 * sum(sources[:k + 1]) for k in range(3)]
        words = {"send": self.line_of("send"), "call": self.line_of("call"), "add": self.line_of("add"), "altered": 1000 + 10 * sources[2]}
        for k in range(3):
            words |= {f"value{k}": 10 * sources[k], f"source{k}": sources[k], f"sum{k}": sums[k]}
        return re.sub(r"@(\w+)@", lambda found: str(words[found.group(1)]),
                      WALK.replace("@last-change@\n", LAST_CHANGE if doctor_says("watchpoints") else ""))

    def test_a_walk_and_the_same_again(self):
        first = self.script(self.filled_in())
        self.assertEqual(first.status, 0, first)
        self.assertNotIn("took", first.err)
        self.assertRegex(first.err, r"\[rank 0\] total ")
        again = self.script(self.filled_in().split("# back")[0])
        self.assertEqual(again.out, first.out[:len(again.out)], "answers differ from run to run")
        self.assertIn("before event 5", again.out)

    def test_who_waits_in_a_replayed_deadlock(self):
        """A rank that stands inside of a call has not done it: it waits, in what, for whom."""
        trace, _ = self.record_hang()
        waits = r"rank 0 waits for rank 2: MPI_Recv from rank 2, tag 1 at deadlock_in_order\.c:\d+ \(event 3\)"
        text = f"waits\nexpect at the end of the record: 1 receives posted.*1 of 3 ranks wait\nexpect {waits}\n" \
               f"run\nwaits\nexpect where the replay is: 1 receives posted.*1 of 3 ranks wait\nexpect {waits}\n" \
               "expect rank 0 cannot go on, whatever the others do\n"
        run = self.script(text, trace)
        self.assertEqual(run.status, 0, run)

    def test_what_fails(self):
        wrong = self.script("run\n\nexpect no such answer\necho never said\n")
        self.assertEqual(wrong.status, 1, wrong)
        self.assertRegex(wrong.err, r"s\.txt:3: expected /no such answer/, got:\n  \[0-3\] ended with status 0\n  \[all\] ")
        self.assertNotIn("never", wrong.out)
        # A rank that cannot get on: the sender is held by its GDB.
        late = self.script(f"break take.c:{self.line_of('send')}\nrun\npause @0\ntimeout 1.5\nuntil take.c:{self.line_of('call')} @0\n")
        self.assertEqual(late.status, 1, late)
        self.assertRegex(late.err, r"s\.txt:5: not done within 1\.5 s: rank 0 runs in MPI_Recv, waiting for rank \d \(event 2\)")
        for text, why in (("print 1", "no replay runs"), ("replay-to 0:99", "rank 0 has 5 events"), ("replay-to 9:1", "ranks 0 to 3"),
                          ("break receive 0#9", "no receive 9 of rank 0"), ("break ??", "names no place"), ("group a nobody", "neither a group"),
                          ("replay-to 0:2\nprint nosuch", "No symbol"), ("to-failure", "No rank failed"), ("expect (", "no regular expression")):
            run = self.script(text)
            self.assertEqual(run.status, 1, run)
            self.assertIn(why, run.err)

    def test_main_stops_where_a_replay_begins(self):
        run = self.script("break main\nrun\nwhere\ndelete 1\ncontinue\n")
        self.assertEqual(run.status, 0, run)
        self.assertRegex(run.out, r"breakpoint 1: start of main; behind MPI_Init")
        self.assertRegex(run.out, r"\[0-3\] (breakpoint 1.*|before event 1: MPI_Init.*)", run)

    def test_a_breakpoint_that_never_gets_a_place(self):
        """That it is not hit would look like an answer."""
        run = self.script("break nosuch.c:10\nrun\n")
        self.assertEqual(run.status, 1, run)
        self.assertRegex(run.err, r"breakpoint 1 \(nosuch\.c:10\) was never set: no code has been found for it")
        for text in ("break nosuch.c:10\nrun\ndelete 1\n", "break nosuch.c:10\ndisable 1\nrun\n", f"break take.c:{self.line_of('send')}\nrun\n"):
            self.assertEqual(self.script(text).status, 0, text)

    def test_a_gdb_that_dies_is_told(self):
        """With its signal, or what it found wrong in itself; and it leaves no core file where the user works."""
        line = "print 1"
        with self.core_files() as limits, \
                self.start([BIN / "photofinish", "debug", "--script", "-", self.dir / "t.pft"], stdin=subprocess.PIPE, limits=limits) as command:
            def ask(*lines):
                command.process.stdin.write("".join(f"{line}\n" for line in lines).encode())
                command.process.stdin.flush()
            ask("replay-to 0:2", "echo there")
            command.wait_for(lambda: "there" in command.output(), 60)
            gdbs = command.find("gdb")
            self.assertGreaterEqual(len(gdbs), 1)
            os.kill(gdbs[0], signal.SIGSEGV)
            command.wait_for(lambda: re.search(r"The debugger of rank \d is gone \(gdb was ended by signal 11 \(Segmentation fault\)", command.errors()), 20)
            command.process.stdin.close()
            command.finish(60)
        with self.core_files() as limits:
            run = self.script(f"replay-to 0:2\ngdb maintenance internal-error no thread\n{line}\n", limits=limits)
        self.assertRegex(run.err, r"The debugger of rank 0 is gone \(gdb ended with status 1: maint\.c:\d+: internal-error: no thread\)")
        self.assertEqual([path.name for path in self.dir.iterdir() if path.name.startswith("core")], [])

    def test_another_gdb(self):
        """A path with a blank in it, a name that is searched, the variable; and what is none runs nothing."""
        other = self.dir / "my gdb"
        other.write_text(f"#!/bin/sh\necho used >> '{self.dir}/used'\nexec gdb \"$@\"\n")
        other.chmod(0o755)
        where = "replay-to 0:2\ngdb print 40 + 2\n"
        run = self.script(where, "--gdb", other, self.dir / "t.pft")
        self.assertEqual(run.status, 0, run)
        self.assertIn("42", run.out)
        self.assertEqual((self.dir / "used").read_text(), "used\n" * 4)
        env = {"PATH": f"{self.dir}:{os.environ['PATH']}", "PHOTOFINISH_GDB": "my gdb"}
        run = self.script(where, self.dir / "t.pft", env=env)
        self.assertEqual((run.status, (self.dir / "used").read_text().count("used")), (0, 8), run)
        for words, env in ((("--gdb", "/no/such"), {}), (("--gdb", self.dir), {}), ((), {"PHOTOFINISH_GDB": "no-such-gdb"})):
            run = self.script(where, *words, self.dir / "t.pft", env=env)
            self.assertNotEqual(run.status, 0, run)
            self.assertIn("is no program that can be started as GDB", run.err)
            self.assertNotIn("total", run.out + run.err, "nothing ran")

    def test_one_rank_alone_says_what_it_says_among_all(self):
        self.record("g.pft", self.launch, "--groups", "0,1-2,3", "--mode", "outcomes", cwd=self.shared)
        text = re.sub(r"@add@", str(self.line_of("add")), ALONE)

        def of_rank_0(run):
            self.assertEqual(run.status, 0, run)
            self.assertIn("[all] the replay has ended, exit status 0\n", run.out)
            return [line for line in run.out.splitlines() if line.startswith("[0]") and "ended with status" not in line]
        alone = self.script(text, "--ranks", "0", self.dir / "g.pft")
        self.assertIn("all ranks run once before", alone.err)
        self.assertNotRegex(alone.out, r"(?m)^\[[1-3]")
        self.assertEqual(of_rank_0(alone), of_rank_0(self.script(text, self.dir / "g.pft")))
        group = self.script("run\nwhere\n", "--group", "1", self.dir / "g.pft")
        self.assertIn("[1-2] ended with status 0\n", group.out)
        self.assertNotIn("all ranks run", group.err)
        # No launcher, no other rank, no other GDB.
        with self.start([BIN / "photofinish", "debug", "--script", "-", "--ranks", "3", self.dir / "g.pft"], stdin=subprocess.PIPE) as command:
            command.process.stdin.write(b"replay-to 3:2\necho there\n")
            command.process.stdin.flush()
            command.wait_for(lambda: "there" in command.output(), 60)
            self.assertEqual([len(command.find(name)) for name in ("take", "gdb", "mpirun")], [2, 1, 0], "the rank, its snapshot at event 1")
            command.process.stdin.close()
            self.assertEqual(command.finish(60).status, 0)
        for words, status, why in ((("--ranks", "1", "g.pft"), 2, "Take the whole of it: 1-2"), (("--ranks", "1,2", "--group", "1", "g.pft"), 2, "excludes"),
                                   (("--group", "7", "g.pft"), 2, "no group 7"), (("--ranks", "0", "t.pft"), 2, "Record with --groups"),
                                   (("--ranks", "0", "--", *self.launch), 2, "photofinish record --groups")):
            run = self.script("run\n", *(self.dir / word if str(word).endswith(".pft") else word for word in words))
            self.assertEqual(run.status, status, run)
            self.assertIn(why, run.err)
        outside = self.script("run\nreplay-to 1:2\n", "--ranks", "0,3", self.dir / "g.pft")
        self.assertEqual(outside.status, 1, outside)
        self.assertIn("Rank 1 is not in this replay, which runs ranks 0, 3 alone. To debug it too, debug all ranks.", outside.err)

    def test_bad_use_runs_nothing(self):
        run = self.script("run\nrnu\nreplay-to 3\n", *self.launch)
        self.assertEqual(run.status, 2, run)
        self.assertRegex(run.err, r"s\.txt:2: there is no command 'rnu'\. Is it 'run'\?")
        self.assertRegex(run.err, r"s\.txt:3: '3' is not understood\. Write: replay-to RANK:SERIAL")
        self.assertEqual([path.name for path in self.dir.glob("*.pft")], ["t.pft"], "nothing was recorded")
        self.assertEqual(self.photofinish("debug", "--script", "nosuch.txt", *self.launch).status, 2)
        self.assertEqual(self.script("run\n", "nosuch.pft").status, 2)
        self.assertEqual(self.photofinish("debug", "--script", self.dir / "s.txt").status, 2)

    def test_from_standard_input_line_by_line(self):
        with self.start([BIN / "photofinish", "debug", "--script", "-", "--", *self.launch], stdin=subprocess.PIPE) as command:
            def ask(line):
                before = command.output()
                command.process.stdin.write(f"{line}\necho asked {line}\n".encode())
                command.process.stdin.flush()
                command.wait_for(lambda: f"asked {line}\n" in command.output(), 60)
                return command.output()[len(before):]
            self.assertRegex(ask("replay-to 0:2"), r"^\[0\] before event 2: MPI_Recv")
            self.assertRegex(ask("next"), r"\[0\] end of step, after event 2: ")
            self.assertRegex(ask("print value"), r"^\[0\] [123]0\n")
            command.process.stdin.close()
            run = command.finish(60)
        self.assertEqual(run.status, 0, run)
        self.assertNotIn("total", run.out)
        self.assertIn("total", run.err)

    def test_a_mistake_does_not_end_a_session_that_goes_on(self):
        with self.start([BIN / "photofinish", "debug", "--script", "-", "--keep-going", self.dir / "t.pft"], stdin=subprocess.PIPE) as command:
            command.process.stdin.write(b"replay-to 0:2\nwatch value\nprint nosuch\nbreak nosuch.c:10\nnext\nprint value\n")
            command.process.stdin.close()
            run = command.finish(60)
        self.assertEqual(run.status, 1, run)
        self.assertRegex(run.err, r"standard input:2: there is no command 'watch'")
        self.assertRegex(run.err, r"standard input:3: .*No symbol")
        self.assertRegex(run.err, r"breakpoint 1 \(nosuch\.c:10\) was never set")
        self.assertRegex(run.out, r"\n\[0\] [123]0\n$")

    def test_a_signal_ends_it_all(self):
        (self.dir / "s.txt").write_text("replay-to 0:3\necho here\ntimeout 300\n@0 gdb shell sleep 200\n")
        for when in ("here", ""):  # ranks under GDB, and a job that is being started
            with self.start([BIN / "photofinish", "debug", "--script", self.dir / "s.txt", self.dir / "t.pft"]) as command:
                command.wait_for(lambda: when in command.output() and command.find("mpirun"), 60)
                os.kill(command.pid, signal.SIGTERM)
                run = command.finish(30)
            self.assertEqual(run.status, 128 + signal.SIGTERM, run)

    def stops(self):
        with contextlib.closing(sqlite3.connect(f"file:{self.dir}/t.pft?mode=ro", uri=True)) as trace:
            return str(trace.execute("SELECT reason FROM cycle_stop").fetchall())

    def test_a_killed_front_end_is_taken_up_again(self):
        with self.start([BIN / "photofinish", "debug", "--script", "-", self.dir / "t.pft"], stdin=subprocess.PIPE) as command:
            command.process.stdin.write(b"replay-to 0:3\necho here\n")
            command.process.stdin.flush()
            command.wait_for(lambda: "here" in command.output(), 60)
            command.wait_for(lambda: "before event 3" in self.stops(), 20)
            os.kill(command.pid, signal.SIGKILL)
            until = time.monotonic() + 60
            while command.find("take") or command.find("mpirun"):
                self.assertLess(time.monotonic(), until, "its ranks outlive it")
                time.sleep(0.1)
            command.process.stdin.close()
            command.finish(30)
        self.assertEqual(self.photofinish("check", self.dir / "t.pft").status, 0)
        run = self.script("repeat-cycle\nexpect ^\\[0\\] before event 3: MPI_Recv\nrun\n")
        self.assertEqual(run.status, 0, run)
        self.assertRegex(run.err, r"Cycle 1 has not ended: .* goes there again \(rank 0 before its event 3\)", run)
        run = self.script("run\n")
        self.assertNotIn("has not ended", run.err, "the cycles since have")


if __name__ == "__main__":
    main()
