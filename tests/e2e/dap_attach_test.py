# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish dap on what was not recorded: a job that runs, and core files of ranks."""
import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from dap_client import DESK_SOURCE, DapCase, line_of
from photofinish import BIN, main

DESK = BIN / "e2e" / "desk"
TURN = line_of(DESK_SOURCE, "MARK turn")


class DapAttachTest(DapCase):
    def job(self):
        return self.start(self.mpirun(3, DESK, "run", self.dir / "stop"))

    def pids(self, job):
        """{rank: process} of a job whose ranks are all in MPI_Init, or past it."""
        def look():
            found = re.search(rf"^{job.pid}  3 ranks.*\n((?:    rank .*\n)+)", self.photofinish("attach").out, re.M)
            pids = {int(rank): int(pid) for rank, pid in re.findall(r"rank (\d): process (\d+)", found.group(1))} if found else {}
            # Open MPI 5 has its components in one library: what ranks share is mapped in MPI_Init.
            maps = [pathlib.Path(f"/proc/{pid}/maps").read_text() for pid in pids.values()]
            begun = ["/mca_btl_" in text or "/sm_segment." in text for text in maps]
            return len(begun) == 3 and all(begun) and pids
        return job.wait_for(look)

    def begin(self, client, **arguments):
        super().begin(client, "attach", **arguments)
        promised = client.event("capabilities", 0)["body"]["capabilities"]
        self.assertEqual((promised["supportsStepBack"], promised["supportsRestartRequest"]), (False, False))

    def all_at_a_breakpoint(self, client):
        """A rank that was past the line when it was attached to waits for the others first, which have to go on once more."""
        for _ in range(3):
            since = client.mark()
            client.ask("continue", threadId=1)
            try:
                return client.event("stopped", since, 10, allThreadsStopped=True)["body"]
            except AssertionError:
                pass
        self.fail("the ranks do not come to their breakpoint")

    def frame(self, client, rank, function):
        return next(frame for frame in self.stack(client, rank) if frame["name"] == function)

    def check_no_recording(self, client):
        for command, arguments in (("stepBack", {"threadId": 1}), ("reverseContinue", {"threadId": 1}), ("restart", {}),
                                   ("photofinish/races", {}), ("photofinish/replayTo", {"rank": 0, "serial": 3})):
            self.assertRegex(client.refuse(command, **arguments), "needs a recording.*Record the program")

    def let_end(self, job):
        (self.dir / "stop").write_text("")
        self.assertEqual(job.finish(30).status, 0)

    def test_a_job_that_runs(self):
        """Stopped, looked at, a breakpoint, a step, on, paused, and left alone."""
        with self.job() as job:
            self.pids(job)
            process, client = self.serve()
            self.begin(client, processId=str(job.pid))  # as editors have it that let one pick a process
            here = client.ask("setBreakpoints", source={"path": str(DESK_SOURCE)}, breakpoints=[{"line": TURN}])["breakpoints"][0]["id"]
            never = client.ask("setFunctionBreakpoints", breakpoints=[{"name": "1:2"}])["breakpoints"][0]
            self.assertIn("recordings only", never["message"])
            client.ask("configurationDone")
            stopped = client.event("stopped", 0)["body"]
            self.assertEqual((stopped["reason"], stopped["allThreadsStopped"]), ("entry", True), stopped)
            self.assertIn("attached to process", stopped["description"])
            self.assertEqual([thread["id"] for thread in client.ask("threads")["threads"]], [1, 2, 3])
            self.frame(client, 2, "main")
            self.check_no_recording(client)
            # To the breakpoint, and a step.
            stopped = self.all_at_a_breakpoint(client)
            self.assertEqual((stopped["reason"], stopped["hitBreakpointIds"]), ("breakpoint", [here]))
            self.assertNotIn("event", stopped["description"])
            for rank in range(3):
                _, values = self.locals(client, self.frame(client, rank, "main"))
                self.assertEqual((values["rank"]["value"], values["size"]["value"]), (str(rank), "3"))
            thread = stopped["threadId"]
            frame = self.stack(client, thread - 1)[0]
            self.assertEqual((frame["name"], frame["line"], frame["source"]["path"]), ("work", TURN, str(DESK_SOURCE)))
            self.assertRegex(client.ask("evaluate", expression="turn", frameId=frame["id"], context="watch")["result"], r"^\d+$")
            self.assertIn("in a replay only", client.refuse("evaluate", expression="which-message value", frameId=frame["id"], context="repl"))
            since = client.mark()
            client.ask("next", threadId=thread)
            self.assertEqual(client.event("stopped", since, threadId=thread)["body"]["reason"], "step")
            self.assertEqual(self.stack(client, thread - 1)[0]["line"], TURN + 1)
            # On, paused, and let go of.
            client.ask("setBreakpoints", source={"path": str(DESK_SOURCE)}, breakpoints=[])
            client.ask("continue", threadId=1)
            since = client.mark()
            client.ask("pause", threadId=1)
            self.assertEqual(client.event("stopped", since, allThreadsStopped=True)["body"]["reason"], "pause")
            # And once more while the signals of a pause are under way.
            client.ask("continue", threadId=1)
            client.ask("pause", threadId=1)
            client.ask("disconnect")
            client.event("terminated", 0)
            self.assertEqual(process.wait(30), 0)
            self.assertIsNone(job.process.poll(), "the job goes on")
            self.let_end(job)

    def test_one_rank_and_the_end_of_the_job(self):
        """By the process of a rank; the others are left alone, and nobody is stopped at first."""
        with self.job() as job:
            pids = self.pids(job)
            process, client = self.serve()
            self.begin(client, pid=pids[1], focus=[1], stopOnEntry=False)
            client.ask("configurationDone")
            client.wait(lambda: client.ask("threads")["threads"][0]["name"].endswith("(no GDB)"))
            self.assertIn("runs", client.refuse("stackTrace", threadId=1))
            self.assertIn("focus", client.refuse("next", threadId=3))
            client.wait(lambda: "(no GDB)" not in client.ask("threads")["threads"][1]["name"])
            self.assertFalse([event for event in client.events if event["event"] == "stopped"])
            since = client.mark()
            client.ask("pause", threadId=2)
            stopped = client.event("stopped", since)["body"]
            self.assertEqual((stopped["threadId"], stopped["reason"], stopped["allThreadsStopped"]), (2, "pause", False))
            self.frame(client, 1, "main")
            client.ask("continue", threadId=2)
            self.let_end(job)
            client.event("thread", since, reason="exited", threadId=2)
            client.event("terminated", since)
            process.stdin.close()
            self.assertEqual(process.wait(30), 0)

    def test_core_files(self):
        with self.core_files() as limits, self.start(self.mpirun(2, DESK, "crash"), limits=limits) as job:
            crashed = job.finish(30)
        cores = [str(path) for path in self.dir.glob("core*")]
        self.assertEqual(len(cores), 1, crashed)
        process, client = self.serve()
        client.ask("initialize", adapterID="photofinish")
        for arguments, text in (({"coreFiles": ["nosuch"]}, "cannot read nosuch"), ({"coreFile": str(DESK)}, "it is a program"),
                                ({"coreFiles": cores, "pid": 1}, "both"), ({"coreFiles": 3}, "array"), ({}, "nothing to attach to"),
                                ({"coreFiles": cores, "until": "failure"}, "belongs to a recording"),
                                ({"coreFiles": cores, "focus": [0]}, "rank 0, which is not here"),
                                ({"pid": 99999999}, "there is no process"), ({"pid": -5}, "nothing to attach to")):
            with self.subTest(arguments=arguments):
                self.assertIn(text, client.refuse("attach", **arguments))
        self.assertIn("before 'launch'", client.refuse("threads"))
        client.ask("attach", coreFiles=cores)
        client.event("initialized", 0)
        client.ask("configurationDone")
        stopped = client.event("stopped", 0)["body"]
        self.assertEqual((stopped["reason"], stopped["threadId"], stopped["text"]), ("exception", 2, "SIGSEGV"), stopped)
        self.assertTrue(stopped["allThreadsStopped"])
        self.assertEqual([thread["id"] for thread in client.ask("threads")["threads"]], [2])
        frame = self.frame(client, 1, "main")
        _, values = self.locals(client, frame)
        self.assertEqual((values["rank"]["value"], values["nowhere"]["value"]), ("1", "0x0"))
        self.assertEqual(client.ask("evaluate", expression="cells[3].number", frameId=frame["id"], context="watch")["result"], "13")
        self.check_no_recording(client)
        waits = client.ask("photofinish/waits")
        self.assertEqual(waits["waits"], [])
        self.assertRegex(waits["text"], r"rank 1 is in no call of MPI\nof rank 0 nothing is known")
        for command in ("continue", "next", "stepIn", "stepOut", "pause"):
            self.assertIn("only be looked at", client.refuse(command, threadId=2))
        self.assertIn("no thread 1", client.refuse("stackTrace", threadId=1))
        client.ask("disconnect")
        client.event("terminated", 0)
        self.assertEqual(process.wait(30), 0)


if __name__ == "__main__":
    main()
