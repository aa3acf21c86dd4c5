# SPDX-License-Identifier: GPL-3.0-or-later
"""Each capability once, in the same way with every MPI library: what docs/systems.md says of a library is what this test has seen.

    capabilities_test.py openmpi|mpich|abi-openmpi|abi-mpich [-k CAPABILITY]

Programs are built with the library's own compiler, and started by its own launcher."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from dap_client import DESK_SOURCE, DapCase, line_of
import standard_abi
from photofinish import BIN, SOURCE, main

CORPUS, PROGRAMS = SOURCE / "tests" / "corpus", SOURCE / "tests" / "e2e" / "programs"
LIBRARIES = {  # compiler, launcher, recorder, how it is called in a trace
    "openmpi": ("mpicc.openmpi", ["mpirun.openmpi", "--oversubscribe"], "libphotofinish_mpi.so", "Open MPI v"),
    "mpich": ("mpicc.mpich", ["mpiexec.mpich"], "libphotofinish_mpich.so", "MPICH Version:"),
    # Of the standard's binary interface: no compiler of its own
    "abi-openmpi": ("gcc", standard_abi.LIBRARIES["abi-openmpi"][2], "libphotofinish_mpi_abi.so", "Open MPI v"),
    "abi-mpich": ("gcc", standard_abi.LIBRARIES["abi-mpich"][2], "libphotofinish_mpi_abi.so", "MPICH Version:"),
}
JITTERS = (3, 5, 7)


class CapabilitiesTest(DapCase):
    library = "openmpi"

    def setUp(self):
        super(DapCase, self).setUp()  # not all of this needs a GDB
        self.compiler, self.launcher, recorder, self.called = LIBRARIES[self.library]
        self.need(self.compiler, self.launcher[0])
        self.before, self.behind = [self.compiler], []
        if self.library in standard_abi.LIBRARIES:
            if standard_abi.found(self.library) is None:
                self.skipTest(f"{self.library} is not there")
            self.before, self.behind = standard_abi.compiler(self.library, str(self.dir))
        if not (BIN / recorder).exists():
            self.skipTest(f"built without {self.library}")

    def build(self, source):
        target = self.dir / source.stem
        subprocess.run([*self.before, "-g", "-O0", "-o", target, source, *self.behind], check=True, stderr=subprocess.DEVNULL)
        return target

    def launch(self, ranks, *program):
        return [*self.launcher, "-n", str(ranks), *map(str, program)]

    def record_failing(self, status):
        """flipped harvest, in which rank 2's message was the first."""
        program = self.build(PROGRAMS / "flipped.c")
        for seed in range(1, 40):
            run = self.record("t.pft", self.launch(4, program, "harvest"), *(["--jitter", seed] if seed > 4 else []), status=None)
            self.assertIn(run.status, (0, status), run)
            if run.status == status:
                return run
        self.fail(f"no run of 40 failed\n{run}")

    def record_stuck(self):
        program = self.build(CORPUS / "deadlock_in_order.c")
        for seed in range(1, 60):
            run = self.record("t.pft", self.launch(3, program), "--end-stuck", "--jitter", seed, status=None)
            if "it is ended" in run.err:
                return run
        self.fail("no run of 60 hung")

    def serve(self):
        self.need("gdb", BIN / "photofinish-headless")
        return super().serve()

    def test_record(self):
        """Output and status are the program's own; the trace says which library it was."""
        launch = self.launch(4, self.build(PROGRAMS / "flipped.c"), "always")
        native = self.run_command(*launch)
        for mode in ("outcomes", "races", "all"):
            recorded = self.record("t.pft", launch, "--mode", mode, status=native.status)
            self.assertNotEqual(recorded.status, 0, recorded)
            self.assertEqual(len(recorded.out.splitlines()), len(native.out.splitlines()), recorded)
            info = self.info()
            self.assertTrue(info["mpi"].startswith(self.called), info["mpi"])
            self.assertEqual((info["ranks"], info["wildcardReceives"]), (4, 3), info)

    def test_replay(self):
        recorded = self.record_failing(3)
        for seed in JITTERS:
            replayed = self.replay("t.pft", "--jitter", seed)
            self.assertEqual((replayed.status, sorted(replayed.out.splitlines())), (3, sorted(recorded.out.splitlines())), replayed)

    def test_survey(self):
        self.record("t.pft", self.launch(4, self.build(CORPUS / "any_source_sum.c")))
        survey = self.photofinish("replay", self.dir / "t.pft", "--survey")
        self.assertEqual(survey.status, 0, survey)
        events = self.photofinish("events", self.dir / "t.pft", "--json").json()["events"]
        self.assertIn("MPI_Recv", {event["call"] for event in events})

    def test_races(self):
        """The races are the oracle's."""
        self.need(BIN / "pf_oracle_check")
        for mode in ("outcomes", "races", "all"):
            self.record("t.pft", self.launch(4, self.build(CORPUS / "any_source_sum.c")), "--mode", mode)
            races = self.photofinish("races", self.dir / "t.pft", "--json").json()["races"]
            self.assertTrue(races)
            self.assertEqual({race["receive"]["call"] for race in races}, {"MPI_Recv"})
            oracle = self.run_command(BIN / "pf_oracle_check", self.dir / "t.pft", timeout=300)
            self.assertEqual(oracle.status, 0, oracle)

    def test_attach(self):
        """A job that runs: found by its launcher, looked at, moved, and left alone."""
        with self.start(self.launch(3, self.build(DESK_SOURCE), "run", self.dir / "stop")) as job:
            job.wait_for(lambda: re.search(rf"^{job.pid}  3 ranks", self.photofinish("attach").out, re.M))
            process, client = self.serve()
            self.begin(client, "attach", processId=job.pid)
            client.ask("configurationDone")
            client.event("stopped", 0, allThreadsStopped=True)
            self.step_in_desk_and_leave(process, client, job)

    def test_cores(self):
        with self.core_files() as limits, self.start(self.launch(2, self.build(DESK_SOURCE), "crash"), limits=limits) as job:
            crashed = job.finish(30)
        self.look_at_desks_core(crashed)

    def test_deadlock(self):
        recorded = self.record_stuck()
        self.assertRegex(recorded.err, r"rank 0 waits? .*rank 2", recorded)
        replayed = self.replay("t.pft", "--jitter", 3)
        self.assertRegex(replayed.err, r"photofinish: .*(makes no progress|recording ends)", replayed)
        self.assertRegex(replayed.err, "MPI_Recv", replayed)

    def test_gdb(self):
        """At the failing receive, by commands: the stack and a variable, and over the receive."""
        self.need("gdb", BIN / "photofinish-headless")
        self.record_failing(3)
        source = PROGRAMS / "flipped.c"
        receive = line_of(source, "MPI_Recv(&value")
        script = self.dir / "look.script"
        script.write_text(f"break flipped.c:{receive} @0\nrun\nexpect \\[0\\] breakpoint 1\n@0 print source\nexpect -[12]$\n@0 next\n@0 print status.MPI_SOURCE\n"
                          "expect 2$\n")
        run = self.photofinish("debug", "--script", script, self.dir / "t.pft", timeout=120)
        self.assertEqual(run.status, 0, run)

    def test_window(self):
        """Opened at the failing receive, as ./run does without a display."""
        self.need(BIN / "photofinish-gui")
        self.record_failing(3)
        picture = self.dir / "window.png"
        words = [BIN / "photofinish-gui", self.dir / "t.pft", "--replay-to", "failing", "--screenshot", picture]
        display = not os.environ.get("QT_QPA_PLATFORM") and shutil.which("xvfb-run")
        run = self.run_command(*(["xvfb-run", "-a", "-s", "-screen 0 1680x1050x24"] if display else []), *words, timeout=120,
                               env={} if display else {"QT_QPA_PLATFORM": "offscreen"})
        self.assertEqual(run.status, 0, run)
        self.assertGreater(picture.stat().st_size, 20000)

    def test_dap(self):
        """Recorded first; a breakpoint, a step over a wildcard receive, one event back."""
        process, client = self.serve()
        source = CORPUS / "any_source_sum.c"
        receive = line_of(source, "MPI_Recv(")
        self.begin(client, "launch", program=str(self.build(source)), launcher=self.launch(4), cwd=str(self.dir))
        client.ask("setBreakpoints", source={"path": str(source)}, breakpoints=[{"line": receive}])
        client.ask("configurationDone")
        stopped = client.event("stopped", 0)["body"]
        self.assertEqual((stopped["reason"], stopped["threadId"]), ("breakpoint", 1), stopped)
        client.ask("setBreakpoints", source={"path": str(source)}, breakpoints=[])
        self.assertEqual(self.step(client, "next")["reason"], "step")
        value = self.locals(client, self.stack(client, 0)[0])[1]["value"]["value"]
        self.assertIn("before event 2", self.step(client, "stepBack")["description"])
        self.assertEqual([each["name"] for each in self.stack(client, 0)[:2]], ["MPI_Recv", "main"])
        self.step(client, "next")
        self.assertEqual(self.locals(client, self.stack(client, 0)[0])[1]["value"]["value"], value)
        client.ask("disconnect")
        self.assertEqual(process.wait(30), 0)

    def test_report(self):
        """A crash, without a window: the stacks are the program's."""
        self.need("gdb", BIN / "photofinish-headless")
        desk = PROGRAMS / "desk.c"
        run = self.photofinish("debug", "--offline", "-o", "r.txt", *self.launch(3, self.build(desk), "crash"), timeout=120)
        text = (self.dir / "r.txt").read_text()
        self.assertNotEqual(run.status, 0, run)
        self.assertRegex(text, rf"rank 1 was ended by SIGSEGV[\s\S]*MPI +{self.called}")
        self.assertRegex(text, rf"rank 1\n +#0 main\(\) at desk.c:{line_of(desk, 'MARK crash')}")

    def test_explore(self):
        program = self.build(PROGRAMS / "flipped.c")
        run = self.photofinish("explore", "--json", "-o", "t.explore", *self.launch(4, program, "harvest"), timeout=200)
        found = run.json()
        self.assertEqual((run.status, found["runs"], found["all_orders_seen"]), (5, 6, True), run)
        outcomes = {}
        for each in found["outcomes"]:
            outcomes[each["outcome"]] = outcomes.get(each["outcome"], 0) + each["runs"]
        self.assertEqual(outcomes, {"exit 3": 2, "ok": 4})

    def test_flip(self):
        self.record_failing(3)
        run = self.photofinish("flip", self.dir / "t.pft", "1", "-o", "b.pft", timeout=60)
        self.assertEqual(run.status, 0, run)
        self.assertIn("took the message that rank", run.err)
        again = self.photofinish("replay", "b.pft", "--jitter", "5")
        self.assertEqual((again.status, sorted(again.out.splitlines())), (0, sorted(run.out.splitlines())), again)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in LIBRARIES:
        sys.exit(f"which MPI library: {' or '.join(LIBRARIES)}?")
    CapabilitiesTest.library = sys.argv.pop(1)
    main()
