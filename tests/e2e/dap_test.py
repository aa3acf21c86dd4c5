# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish dap: an editor's way through a failing run, with a small client of our own; and bad input."""
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from dap_client import Client, DapCase
from photofinish import BIN, SOURCE, main

HARVEST = SOURCE / "tests" / "corpus" / "harvest.c"


class DapTest(DapCase):
    def begin(self, client, **arguments):
        body = client.ask("initialize", adapterID="photofinish", supportsProgressReporting=True)
        launch = client.send("launch", **arguments)
        self.assertTrue(client.answer(launch)["success"], client.answer(launch))
        client.event("initialized", 0)
        return body

    def line_of(self, text):
        for number, line in enumerate(HARVEST.read_text().splitlines(), 1):
            if text in line:
                return number
        raise AssertionError(text)

    def record_failing_harvest(self):
        for attempt in range(60):
            (self.dir / "t.pft").unlink(missing_ok=True)
            run = self.photofinish("record", "-o", self.dir / "t.pft", *(["--jitter", attempt] if attempt > 5 else []),
                                   *self.mpirun(4, BIN / "corpus" / "harvest"))
            if run.status not in (0, None) and "reports" in run.err and (self.dir / "t.pft").exists():
                return
        self.fail("no run of 60 failed")

    def test_another_order(self):
        """It is run beside what is debugged; what cannot be is said."""
        self.record_failing_harvest()
        process, client = self.serve()
        self.begin(client, trace=str(self.dir / "t.pft"), until="failure")
        wrong = client.answer(client.send("photofinish/flip", race=0))
        self.assertFalse(wrong["success"])
        none = client.answer(client.send("photofinish/flip", race=9999))
        self.assertFalse(none["success"])
        self.assertIn("there is no race 9999", none["message"])
        first = client.send("photofinish/flip", race=1, alternative=1, output=str(self.dir / "other.pft"))
        second = client.answer(client.send("photofinish/flip", race=1))
        self.assertIn("another order is being run", second["message"])
        made = client.answer(first)
        self.assertTrue(made["success"], made)
        self.assertEqual(made["body"]["trace"], str(self.dir / "other.pft"))
        self.assertIn("took the message that rank", " ".join(made["body"]["said"]))
        tree = self.photofinish("runs", "--json", self.dir / "other.pft").json()
        self.assertEqual([os.path.basename(each["file"]) for each in tree["runs"]], ["t.pft", "other.pft"])

    def test_the_way_to_a_bug(self):
        """Breakpoint, failing receive, stack and variables, an event back, again, restart, end."""
        self.record_failing_harvest()
        process, client = self.serve()
        line = self.line_of("trial->kilograms[parcel.number] = parcel.kilograms")
        capabilities = self.begin(client, trace=str(self.dir / "t.pft"), until="failure")
        self.assertTrue(capabilities["supportsStepBack"])
        set_here = client.ask("setBreakpoints", source={"path": str(HARVEST)}, breakpoints=[{"line": line}])
        self.assertEqual(len(set_here["breakpoints"]), 1)
        breakpoint = set_here["breakpoints"][0]["id"]
        client.ask("setFunctionBreakpoints", breakpoints=[])
        client.ask("setExceptionBreakpoints", filters=["failure"])
        client.ask("configurationDone")
        # The breakpoint comes first; it is said to be real once a GDB has it.
        stopped = client.event("stopped", 0)["body"]
        self.assertEqual((stopped["reason"], stopped["threadId"], stopped["hitBreakpointIds"]), ("breakpoint", 1, [breakpoint]))
        self.assertIn("after event", stopped["description"])
        client.event("breakpoint", 0, reason="changed")
        frame = self.stack(client, 0)[0]
        self.assertEqual((frame["name"], frame["line"], frame["source"]["path"]), ("collect_yields", line, str(HARVEST)))
        _, values = self.locals(client, frame)
        parcel = client.ask("variables", variablesReference=values["parcel"]["variablesReference"])["variables"]
        self.assertIn("number", [each["name"] for each in parcel])
        self.assertEqual(client.ask("evaluate", expression="parcel.number", frameId=frame["id"], context="hover")["result"],
                         next(each["value"] for each in parcel if each["name"] == "number"))
        self.assertIn("parcel", client.ask("evaluate", expression="info locals", frameId=frame["id"], context="repl")["result"])
        self.assertIn("No symbol", client.refuse("evaluate", expression="nosuch", frameId=frame["id"], context="watch"))
        # Without it, on to the failing receive: rank 0, before an MPI_Recv of collect_reports.
        client.ask("setBreakpoints", source={"path": str(HARVEST)}, breakpoints=[])
        failing = self.photofinish("replay", self.dir / "t.pft", "--until-failure").err
        serial = int(failing.split("before its event ")[1].split(":")[0])
        since = client.mark()
        client.ask("photofinish/replayTo", rank=0, serial=serial)
        stopped = client.event("stopped", since, threadId=1)["body"]
        self.assertEqual(stopped["reason"], "goto")
        self.assertIn(f"before event {serial}", stopped["description"])
        frames = self.stack(client, 0)
        self.assertEqual((frames[0]["name"], frames[1]["name"]), ("MPI_Recv", "collect_reports"))
        self.assertNotIn("source", frames[0])
        self.assertIn("its rank has gone on", client.refuse("scopes", frameId=frame["id"]).lower())
        names = [thread["name"] for thread in client.ask("threads")["threads"]]
        self.assertEqual([name.split(":")[0] for name in names], [f"rank {rank}" for rank in range(4)])
        # Races, as the command line has them.
        self.assertEqual(client.ask("photofinish/races"), self.photofinish("races", self.dir / "t.pft", "--json").json())
        # A step out of the receive, and the value that is wrong.
        since = client.mark()
        client.ask("next", threadId=1)
        self.assertEqual(client.event("stopped", since, threadId=1)["body"]["reason"], "step")
        frame = self.stack(client, 0)[0]
        self.assertEqual(frame["name"], "collect_reports")
        reference, values = self.locals(client, frame)
        self.assertIn("report", values)
        said = client.ask("evaluate", expression="which-message report", frameId=frame["id"], context="repl")["result"]
        self.assertRegex(said, rf"report was filled last by MPI_Recv at harvest.c:\d+, event {serial}: the message of rank [123] with tag [34], "
                               rf"24 bytes, sent by MPI_Send at harvest.c:\d+, event \d+\.")
        report = client.ask("variables", variablesReference=values["report"]["variablesReference"])["variables"]
        self.assertTrue(all(each["value"] for each in report), report)
        self.assertEqual(client.ask("setVariable", variablesReference=values["report"]["variablesReference"],
                                    name="number", value="77")["value"], "77")
        self.assertEqual(client.ask("evaluate", expression="report.number", frameId=frame["id"], context="watch")["result"], "77")
        # One event back, by a new cycle.
        since = client.mark()
        client.ask("stepBack", threadId=1)
        stopped = client.event("stopped", since, threadId=1)["body"]
        self.assertEqual(stopped["reason"], "step")
        self.assertIn(f"before event {serial}", stopped["description"])
        # The receive before that.
        since = client.mark()
        client.ask("reverseContinue", threadId=1)
        stopped = client.event("stopped", since, threadId=1)["body"]
        self.assertLess(int(stopped["description"].split("before event ")[1].split(",")[0]), serial)
        # Goto: the events on a line are targets.
        receive = self.stack(client, 0)[1]["line"]
        targets = client.ask("gotoTargets", source={"path": str(HARVEST)}, line=receive)["targets"]
        self.assertTrue(any("rank 0 event" in target["label"] for target in targets), targets)
        # Again from the start, and to the end.
        since = client.mark()
        client.ask("restart")
        stopped = client.event("stopped", since, threadId=1)["body"]
        self.assertIn(f"before event {serial}", stopped["description"])
        client.ask("disconnect")
        client.event("terminated", 0)
        self.assertEqual(process.wait(30), 0)
        self.assertTrue(client.event("progressEnd", 0))

    def test_logpoints_and_the_end(self):
        """A logpoint stops nobody; output and exit status come; the run ends the session."""
        recorded = self.record("t.pft", self.mpirun(3, BIN / "corpus" / "any_source_sum"))
        source = SOURCE / "tests" / "corpus" / "any_source_sum.c"
        line = next(n for n, text in enumerate(source.read_text().splitlines(), 1) if "MPI_Recv" in text)
        process, client = self.serve()
        self.begin(client, trace=str(self.dir / "t.pft"))
        client.ask("setBreakpoints", source={"path": str(source)},
                   breakpoints=[{"line": line, "logMessage": "rank {rank} receives"}])
        client.ask("configurationDone")
        self.assertEqual(client.event("exited", 0)["body"]["exitCode"], recorded.status)
        client.event("terminated", 0)
        self.assertIn("rank 0 receives", client.output("console"))
        self.assertNotIn("Traceback", client.output("console"))
        self.assertIn("[0] ", client.output("stdout"))
        self.assertFalse([event for event in client.events if event["event"] == "stopped"])
        self.assertIn("after the end", client.refuse("threads"))
        process.stdin.close()
        self.assertEqual(process.wait(30), 0)

    def test_a_hang_is_told(self):
        """A recorded deadlock happens again, is told, and can be looked at; then a crash by hand, which ends the run."""
        trace, _ = self.record_hang()
        process, client = self.serve()
        self.begin(client, trace=str(trace))
        client.ask("configurationDone")
        stopped = client.event("stopped", 0, threadId=1)["body"]
        self.assertEqual(stopped["reason"], "pause")
        self.assertRegex(stopped["description"], "Deadlock|All ranks wait: |Every rank waits")
        waits = client.ask("photofinish/waits")
        self.assertEqual([(wait["rank"], wait["on"], wait["sure"]) for wait in waits["waits"] if wait["rank"] == 0], [(0, [2], True)])
        self.assertIn("where the replay is", waits["text"])
        self.assertRegex(waits["text"], r"rank 0 waits for rank 2: MPI_Recv from rank 2, tag 1 at deadlock_in_order.c:\d+ \(event 3\)")
        self.assertEqual(waits["stuck"], [0])
        frame = next(frame["id"] for frame in self.stack(client, 0) if frame["name"] == "main")
        since = client.mark()
        client.ask("evaluate", expression="signal SIGSEGV", frameId=frame, context="repl")
        # Open MPI's own handler has it first, and then raises it again.
        stopped = client.event("stopped", since, reason="exception")["body"]
        self.assertIn("SIGSEGV", stopped["text"])
        self.assertEqual(client.ask("exceptionInfo", threadId=1)["exceptionId"], "SIGSEGV")
        client.ask("continue", threadId=1)
        client.event("exited", since)
        client.event("terminated", since)
        process.stdin.close()
        self.assertEqual(process.wait(30), 0)

    def test_records_a_program_first(self):
        process, client = self.serve()
        program = str(BIN / "corpus" / "any_source_sum")
        self.begin(client, program=program, launcher=[str(word) for word in self.mpirun(2, program)[:-1]], cwd=str(self.dir),
                   stopOnEntry=True)
        self.assertTrue((self.dir / "any_source_sum-1.pft").exists())
        client.ask("configurationDone")
        stopped = client.event("stopped", 0)["body"]
        self.assertEqual(stopped["reason"], "entry")
        self.assertTrue(stopped["allThreadsStopped"], stopped)
        for rank in range(2):
            self.assertIn("main", [frame["name"] for frame in self.stack(client, rank)])
        # The end of input is the end of everything: tearDown looks for what is left.
        process.stdin.close()
        self.assertEqual(process.wait(30), 0)

    def test_bad_input(self):
        process, client = self.serve()
        self.assertIn("before 'initialize'", client.refuse("launch", trace="x.pft"))
        self.assertIn("not known", client.refuse("makeCoffee"))
        for noise, text in ((b"Content-Length: 4\r\n\r\nnull", "no JSON object"), (b"Content-Length: 2\r\n\r\n{{", "no JSON"),
                            (b"Content-Length: 15\r\n\r\n{\"type\":\"event\"", "no JSON"), (b"GET / HTTP/1.1\r\n\r\n", "Content-Length"),
                            (b"Content-Length: -1\r\n\r\n", "Content-Length"),
                            (b"Content-Length: 99999999999\r\n\r\n", "too long")):
            with self.subTest(noise=noise):
                before = len(client.responses.get(0, []))
                client.send_raw(noise)
                client.wait(lambda: len(client.responses.get(0, [])) > before)
                self.assertIn(text, client.responses[0][-1]["message"])
        client.ask("initialize", adapterID="photofinish")
        self.assertIn("does not fit", client.refuse("initialize", adapterID="photofinish"))
        self.assertIn("neither a launcher", client.refuse("attach", pid=1))
        for arguments, text in (({}, "nothing to launch"), ({"trace": "a.pft", "program": "b"}, "both"),
                                ({"trace": "nosuch.pft"}, "nosuch.pft"), ({"program": "/bin/true", "args": 3}, "arrays of strings"),
                                ({"trace": "a.pft", "until": "soon"}, "RANK:SERIAL"), ({"trace": "a.pft", "focus": [-1]}, "focus"),
                                ({"program": "/nosuch/program"}, "could not be recorded")):
            with self.subTest(arguments=arguments):
                self.assertIn(text, client.refuse("launch", **arguments))
        self.assertIn("before 'launch'", client.refuse("threads"))
        (self.dir / "bad.pft").write_bytes(b"not a trace")
        self.assertIn("bad.pft", client.refuse("launch", trace=str(self.dir / "bad.pft")))
        self.record("t.pft", self.mpirun(2, BIN / "corpus" / "any_source_sum"))
        launch = client.send("launch", trace=str(self.dir / "t.pft"), focus="failed")
        self.assertTrue(client.answer(launch)["success"])
        self.assertIn("before 'configurationDone'", client.refuse("continue", threadId=1))
        self.assertIn("source.path", client.refuse("setBreakpoints", source=7))
        bad = client.ask("setBreakpoints", source={"path": "/a.c"},
                         breakpoints=[{"line": "x"}, {"line": 3, "hitCondition": "often"}, 5])["breakpoints"]
        self.assertEqual([each["verified"] for each in bad], [False] * 3)
        self.assertIn("no event", client.ask("setFunctionBreakpoints", breakpoints=[{"name": "0:99999"}])["breakpoints"][0]["message"])
        client.ask("setFunctionBreakpoints", breakpoints=[{"name": "1:2"}])
        client.ask("configurationDone")
        stopped = client.event("stopped", 0, reason="function breakpoint")["body"]
        self.assertEqual(stopped["threadId"], 2)
        # Rank 1 has no GDB: its place is that of the recording, and it cannot be stepped.
        frames = self.stack(client, 1)
        self.assertIn("no GDB", frames[0]["name"])
        self.assertEqual(client.ask("scopes", frameId=frames[0]["id"])["scopes"], [])
        self.assertIn("focus", client.refuse("next", threadId=2))
        for command, arguments, text in (("stackTrace", {"threadId": 9}, "no thread"), ("stackTrace", {}, "no thread"),
                                         ("scopes", {"frameId": 2**40}, "no such frame"), ("variables", {"variablesReference": -5}, "no such"),
                                         ("goto", {"threadId": 1, "targetId": 77}, "no such target"),
                                         ("photofinish/replayTo", {"rank": 9, "serial": 1}, "no such event"),
                                         ("source", {"source": {"path": "/nosuch.c"}}, "/nosuch.c"),
                                         ("evaluate", {"expression": "1", "frameId": -1}, "no such frame")):
            with self.subTest(command=command):
                self.assertIn(text, client.refuse(command, **arguments))
        client.ask("terminate")
        client.event("terminated", 0)
        process.stdin.close()
        self.assertEqual(process.wait(30), 0)

    def test_port(self):
        """On a port: one client after another; noise ends a connection, not the server."""
        with self.start([BIN / "photofinish", "dap", "--port", "0"]) as command:
            command.wait_for(lambda: "127.0.0.1:" in command.errors(), 20)
            port = int(command.errors().split("127.0.0.1:")[1].split(",")[0])
            for noise in (False, True, False) * 8:
                with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                    client = Client(connection.recv, connection.sendall)
                    client.ask("initialize", adapterID="photofinish")
                    if noise:
                        connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
                        with client.condition:
                            client.condition.wait_for(lambda c=client: c.closed, 20)
                        self.assertTrue(client.closed)
                    else:
                        client.ask("disconnect")
            os.kill(command.pid, 15)
            self.assertEqual(command.finish(20).status, 0)


if __name__ == "__main__":
    main()
