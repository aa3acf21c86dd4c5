# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish mcp: a client's way through a failing run and a hang, consent, and bad input."""
import json
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mcp_client import McpCase
from photofinish import BIN, SOURCE, gdb_calls_functions, main, processes

HARVEST = SOURCE / "tests" / "corpus" / "harvest.c"
TOOLS = {"open", "close", "info", "races", "events", "replay_to", "move", "breakpoints", "where", "stacks", "values", "which_message",
         "last_change", "waits", "contents", "output", "focus", "compare", "console"}


class McpTest(McpCase):
    def line_of(self, text):
        return next(number for number, line in enumerate(HARVEST.read_text().splitlines(), 1) if text in line)

    def record_failing_harvest(self):
        run = self.photofinish("record", "--until-failure", "--runs", "60", "--replace", "-o", self.dir / "t.pft",
                               *self.mpirun(4, BIN / "corpus" / "harvest"), timeout=240)
        self.assertNotIn(run.status, (0, None), run)
        self.assertTrue((self.dir / "t.pft").exists(), run)

    def assert_clean(self, client):
        """Nothing but messages has come."""
        self.assertEqual(client.wrong, [])

    def test_the_way_to_a_bug(self):
        """What an assistant does: open, races, the failing receive, stacks, values, which message, back, output, end."""
        self.record_failing_harvest()
        process, client = self.serve()
        told = client.initialize()
        self.assertEqual((told["protocolVersion"], told["serverInfo"]["name"]), ("2025-06-18", "photofinish"))
        self.assertIn("replay_to", told["instructions"])
        self.assertEqual({tool["name"] for tool in client.ask("tools/list")["tools"]}, TOOLS)
        opened = client.call("open", trace="t.pft")
        self.assertIn(f"opened {self.dir}/t.pft", opened)
        # The sentence of what failed is that of info.
        self.assertIn(self.info()["failed"]["text"], opened)
        # Races as the command line ranks them.
        ranked = self.photofinish("races", self.dir / "t.pft").out
        races = client.call("races", limit=20)
        self.assertEqual(races.splitlines()[0], ranked.splitlines()[0])
        self.assertEqual([line for line in races.splitlines() if line.startswith("class ")],
                         [line for line in ranked.splitlines() if line.startswith("class ")])
        first = client.call("races", limit=1)
        self.assertEqual(len(re.findall(r"(?m)^class ", first)), 1, first)
        if len(re.findall(r"(?m)^class ", ranked)) > 1:
            self.assertRegex(first, r"and \d+ more class.*; a larger 'limit' shows more classes")
        # The failing receive.
        failing = self.photofinish("replay", self.dir / "t.pft", "--until-failure").err
        serial = int(failing.split("before its event ")[1].split(":")[0])
        events = client.call("events", rank=0, first=serial, limit=1)
        self.assertIn(f"event {serial}", events.splitlines()[0])
        self.assertIn("no replay runs", client.refuse("stacks"))
        there = client.call("replay_to", to="failure")
        self.assertIn(f"[0] before event {serial}: MPI_Recv from any source", there)
        stacks = client.call("stacks", ranks="0")
        self.assertIn("MPI_Recv", stacks)
        self.assertIn("collect_reports() at harvest.c", stacks)
        self.assertIn("main() at harvest.c", client.call("stacks"))
        # One step: what was received, and by which message.
        self.assertIn("[0] end of step", client.call("move", how="next", rank=0))
        report = client.call("values", expressions=["report", "report.number", "nosuch"], rank=0)
        self.assertRegex(report, r"report:\n\[0\] \{")
        self.assertRegex(report, r"report\.number:\n\[0\] -?\d+")
        self.assertRegex(report, r"nosuch:\n(\[0\] error: )?.*No symbol")
        self.assertRegex(client.call("which_message", expression="report"),
                         rf"report was filled last by MPI_Recv at harvest.c:\d+, event {serial}: the message of rank [123] with tag [34]")
        # Back, by another run; and to a breakpoint.
        self.assertIn(f"[0] before event {serial}", client.call("move", how="previous_event"))
        line = self.line_of("trial->kilograms[parcel.number] = parcel.kilograms")
        stopped = client.call("replay_to", to="breakpoint", place=f"harvest.c:{line}", ranks="0")
        self.assertRegex(stopped, rf"\[0\] breakpoint 1 \(harvest.c:{line}\), after event \d+: collect_yields\(\) at harvest.c:{line}")
        self.assertIn(f"breakpoint 1: harvest.c:{line}", client.call("breakpoints", action="list"))
        client.call("breakpoints", action="delete", number=1)
        nowhere = client.refuse("replay_to", to="breakpoint", place="nosuch.c:7")
        self.assertIn("nosuch.c:7", nowhere)
        self.assertIn("'breakpoints' deletes this one", nowhere)
        client.call("breakpoints", action="delete", number=2)
        self.assertIn("before event", client.call("replay_to", to="receive", rank=0, number=2))
        self.assertIn("before event", client.call("replay_to", to="race", number=1))
        self.assertIn("where the replay is", client.call("waits"))
        # To the end: what is printed is an answer.
        end = client.call("move", how="continue")
        output = client.call("output")
        self.assertIn("[0] ", output, end)
        self.assert_clean(client)
        self.assertEqual(client.call("close"), "closed")
        process.stdin.close()
        self.assertEqual(process.wait(30), 0)
        self.assertNotIn("[rank ", self.said())

    def test_the_console_looks_only(self):
        """Nothing that changes the program or runs another gets to GDB; with --allow-console all does."""
        self.record("t.pft", self.mpirun(2, BIN / "corpus" / "any_source_sum"))
        spoilt = self.dir / "spoilt"
        for allowed in (False, True):
            process, client = self.serve(*(["--allow-console"] if allowed else []))
            client.initialize("2025-03-26")
            client.call("open", trace=str(self.dir / "t.pft"))
            client.call("replay_to", to="receive", rank=0, number=1)
            self.assertIn("any_source_sum", client.call("console", command="info inferiors", rank=0))
            self.assertIn("main", client.call("console", command="bt"))
            with self.subTest(allowed=allowed):
                if not allowed:
                    client.refuse("console", command=f'print $_shell("touch {spoilt}")')
                calls = gdb_calls_functions()
                for command in (f"python open('{spoilt}', 'w')", "set var size = 77", *(["call (int)toupper(97)"] if calls or not allowed else [])):
                    if allowed:
                        client.call("console", command=command)
                    else:
                        refused = client.refuse("console", command=command)
                        self.assertIn("photofinish mcp --allow-console", refused)
                self.assertEqual(spoilt.exists(), allowed)
                values = client.begin("values", expressions=["(int)toupper(97)"], rank=0)
                text = client.answer(values)["result"]["content"][0]["text"]
                (self.assertIn if allowed and calls else self.assertNotIn)("[0] 65", text)
                if not allowed:
                    self.assertIn("may-call-functions is off", text)
                self.assertEqual(client.call("values", expressions=["size"], rank=0), "size:\n[0] " + ("77" if allowed else "2"))
            self.assert_clean(client)
            process.stdin.close()
            self.assertEqual(process.wait(30), 0)

    def test_a_hang(self):
        """Who waits for whom, at the end of the record and in the replay."""
        trace, _ = self.record_hang()
        process, client = self.serve()
        client.initialize()
        client.call("open", trace=str(trace))
        waits = client.call("waits")
        self.assertIn("at the end of the record", waits)
        self.assertRegex(waits, r"(?m)^rank \d waits for (one of )?ranks? ")
        self.assertIn("cannot go on, whatever the others do", waits)
        answer = client.answer(client.begin("replay_to", to="breakpoint"))["result"]
        self.assertRegex(answer["content"][0]["text"], "waits? for|wait|eadlock")
        self.assertIn("cannot go on, whatever the others do", client.call("waits"))
        self.assertIn("main()", client.call("stacks"))
        # A client that goes away ends all of it: tearDown looks for what is left.
        process.stdin.close()
        self.assertEqual(process.wait(30), 0)

    def test_a_client_that_is_killed(self):
        """A signal, or the end of input in the middle of a call, ends the replay."""
        self.record("t.pft", self.mpirun(2, BIN / "corpus" / "any_source_sum"))
        for end in (signal.SIGTERM, signal.SIGINT, "pipe"):
            with self.subTest(end=end):
                process, client = self.serve()
                client.initialize()
                client.call("open", trace="t.pft")
                client.call("replay_to", to="receive", rank=0, number=1)
                self.assertGreater(len(processes(self.mark)), 3)
                if end == "pipe":
                    client.begin("replay_to", to="receive", rank=0, number=2)
                    process.stdin.close()
                else:
                    process.send_signal(end)
                self.assertEqual(process.wait(30), 0)
                deadline = time.monotonic() + 10
                while processes(self.mark) and time.monotonic() < deadline:
                    time.sleep(0.05)
                self.assertEqual(processes(self.mark), {})

    def test_whose_trace(self):
        """Of somebody else's nothing is run, whatever a client says; the person who starts the server can allow it."""
        program = BIN / "e2e" / "steady"
        theirs = {"XDG_STATE_HOME": str(self.dir / "theirs")}
        self.record("few.pft", self.mpirun(2, program, 20, 0), env=theirs)
        self.record("all.pft", self.mpirun(2, program, 20, 0), "--mode", "all", env=theirs)
        mine = {"XDG_STATE_HOME": str(self.dir / "mine")}
        process, client = self.serve(**mine)
        client.initialize()
        few = client.refuse("open", trace="few.pft")
        for shown in (r"not recorded by you", r"program +\S*steady", r"command +mpirun", r"photofinish mcp --trust"):
            self.assertRegex(few, shown)
        self.assertIn("no argument 'trust'", client.refuse("open", trace="few.pft", trust=True))
        opened = client.call("open", trace="all.pft")
        self.assertIn("nothing of it is run", opened)
        self.assertIn("racing receive", client.call("races"))
        self.assertIn("event 1", client.call("events", rank=0, limit=1))
        for tool, arguments in (("replay_to", {"to": "failure"}), ("replay_to", {"to": "breakpoint"}), ("move", {"how": "continue"})):
            self.assertIn("not recorded by you", client.refuse(tool, **arguments))
        self.assertEqual([entry[2] for entry in processes(self.mark).values()], ["photofinish-hea"])
        process.stdin.close()
        self.assertEqual(process.wait(30), 0)
        process, client = self.serve("--trust", **mine)
        client.initialize()
        client.call("open", trace="few.pft")
        self.assertIn("before event 2", client.call("replay_to", to="event", rank=0, number=2))
        process.stdin.close()
        self.assertEqual(process.wait(30), 0)

    def test_cancelled(self):
        self.record("t.pft", self.mpirun(2, BIN / "corpus" / "any_source_sum"))
        process, client = self.serve()
        client.initialize()
        client.call("open", trace="t.pft")
        going = client.begin("replay_to", to="receive", rank=0, number=2)
        client.notify("notifications/cancelled", requestId=going, reason="changed my mind")
        self.assertIn("no replay runs", client.refuse("where"))
        self.assertNotIn(json.dumps(going), client.answers)
        self.assertIn("before event", client.call("replay_to", to="receive", rank=0, number=2))
        process.stdin.close()
        self.assertEqual(process.wait(30), 0)

    def test_bad_input(self):
        """Every line has an answer or is none of a request; the server goes on."""
        process, client = self.serve()
        early = client.answer(client.send("tools/call", name="info"))
        self.assertIn("before 'initialize'", early["error"]["message"])
        for noise, text in ((b"null", "no JSON object"), (b"{", "no JSON"), (b"\xff\xfe", "no JSON"), (b"GET / HTTP/1.1", "no JSON"),
                            (b"Content-Length: 17", "no JSON"), (b"[" * 100000, "in one another"), (b"x" * (3 << 20), "longer than"),
                            (b"{\"a\":" * 70 + b"1" + b"}" * 70, "in one another"), (b"[]", "empty"), (b"[" + b"1," * 99 + b"1]", "too long"),
                            (b'{"jsonrpc":"2.0","id":[],"method":"ping"}', "id"), (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', "id")):
            with self.subTest(noise=noise[:40]):
                before = len(client.faults())
                client.send_raw(noise + b"\n")
                client.wait(lambda: len(client.faults()) > before)
                self.assertIn(text, client.faults()[-1]["message"])
                self.assertTrue(client.faults()[-1]["data"]["next"])
        client.send_raw(b'\n  \r\n{"jsonrpc":"2.0","id":"late","res')
        time.sleep(0.1)
        client.send_raw(b'ult":{}}\n{"jsonrpc":"2.0","method":"nosuch"}\n')
        client.initialize("1789-07-14")
        self.assertEqual(client.ask("ping"), {})
        for parameters, code in (({}, -32602), ({"name": 3}, -32602), ({"name": "nosuch"}, -32602)):
            self.assertEqual(client.answer(client.send("tools/call", **parameters))["error"]["code"], code)
        for tool, arguments in (("open", {}), ("open", {"trace": 3}), ("open", {"trace": "x" * 5000}), ("open", {"trace": "/etc/passwd"}),
                                ("open", {"trace": "/dev/null"}), ("open", {"trace": str(self.dir)}), ("open", {"trace": "../nowhere.pft"}),
                                ("events", {"rank": "0"}), ("events", {"rank": 0, "limit": 10 ** 30}), ("events", {"rank": -1}),
                                ("values", {"expressions": ["a"] * 21}), ("values", {"expressions": {}}), ("info", {"x": None})):
            with self.subTest(tool=tool, arguments=str(arguments)[:60]):
                self.assertRegex(client.refuse(tool, **arguments), r"(?s)error: .+\nnext: .+")
        self.assertEqual(client.answer(client.send("tools/call", name="info", arguments=[1]))["result"]["isError"], True)
        self.assertEqual(client.ask("ping"), {})
        self.assert_clean(client)
        client.send_raw(b'{"jsonrpc":"2.0","id":77,"method":"ping"')  # and no end of it
        process.stdin.close()
        self.assertEqual(process.wait(30), 0)


if __name__ == "__main__":
    main()
