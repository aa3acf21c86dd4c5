# SPDX-License-Identifier: GPL-3.0-or-later
"""A small client of the Debug Adapter Protocol, and what its tests share."""
import json
import os
import subprocess
import threading

from photofinish import BIN, SOURCE, PhotofinishTest
from waiting import Waiting

PATIENCE = 60.0  # seconds
DESK_SOURCE = SOURCE / "tests" / "e2e" / "programs" / "desk.c"


class Client(Waiting):
    """Sends requests, keeps what comes. Every message that comes is checked for its form."""

    def __init__(self, read, write):
        super().__init__()
        self.read, self.write = read, write
        self.seq, self.last_seq = 0, 0
        self.responses, self.events = {}, []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        while True:
            header = b""
            while not header.endswith(b"\r\n\r\n"):
                try:
                    byte = self.read(1)
                except OSError:
                    byte = b""
                if not byte:
                    with self.condition:
                        self.closed = True
                        self.condition.notify_all()
                    return
                header += byte
            length = int(header.split(b":")[1])
            body = b""
            while len(body) < length:
                body += self.read(length - len(body))
            message = json.loads(body)
            with self.condition:
                assert message["seq"] == self.last_seq + 1, message
                self.last_seq = message["seq"]
                if message["type"] == "response":
                    self.responses.setdefault(message["request_seq"], []).append(message)
                else:
                    assert message["type"] == "event", message
                    self.events.append(message)
                self.condition.notify_all()

    def told(self):
        return "last events:\n" + "\n".join(json.dumps(each) for each in self.events[-25:])

    def wait(self, what, patience=PATIENCE):
        return super().wait(what, patience)

    def send_raw(self, data):
        self.write(data)

    def send(self, command, **arguments):
        self.seq += 1
        text = json.dumps({"seq": self.seq, "type": "request", "command": command, "arguments": arguments}).encode()
        self.send_raw(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        return self.seq

    def answer(self, seq, patience=PATIENCE):
        return self.wait(lambda: self.responses.get(seq), patience)[0]

    def ask(self, command, **arguments):
        response = self.answer(self.send(command, **arguments))
        if not response["success"]:
            raise AssertionError(f"{command} failed: {response}")
        return response.get("body")

    def refuse(self, command, **arguments):
        """The error text of a request that must fail."""
        response = self.answer(self.send(command, **arguments))
        assert not response["success"], response
        error = response["body"]["error"]
        return error["format"].replace("{text}", error["variables"]["text"])

    def mark(self):
        with self.condition:
            return len(self.events)

    def event(self, name, since, patience=PATIENCE, **body):
        """The first event of this name behind `since` with these fields in its body."""
        def look():
            for event in self.events[since:]:
                if event["event"] == name and all(event.get("body", {}).get(k) == v for k, v in body.items()):
                    return event
            return None
        return self.wait(look, patience)

    def output(self, category=None):
        with self.condition:
            return "".join(event["body"]["output"] for event in self.events
                           if event["event"] == "output" and category in (None, event["body"]["category"]))


def line_of(source, text):
    return next(number for number, line in enumerate(source.read_text().splitlines(), 1) if text in line)


class DapCase(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", "gdb", BIN / "photofinish-headless")

    def serve(self):
        """A server on pipes, and a client of it."""
        process = subprocess.Popen([BIN / "photofinish", "dap"], cwd=self.dir, env=self.env, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(self.end, process)

        def write(data):
            process.stdin.write(data)
            process.stdin.flush()
        return process, Client(lambda n: os.read(process.stdout.fileno(), n), write)

    def launched(self, trace):
        """A client whose server replays the trace, with no filter of exceptions."""
        _, client = self.serve()
        client.ask("initialize", adapterID="photofinish")
        launch = client.send("launch", trace=str(trace))
        client.event("initialized", 0)
        client.ask("setExceptionBreakpoints", filters=[])
        client.ask("configurationDone")
        self.assertTrue(client.answer(launch)["success"])
        return client

    @staticmethod
    def end(process):
        """As an editor does; a server that goes on is a failure, found by what is left behind."""
        if not process.stdin.closed:
            process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()

    def stack(self, client, rank):
        return client.ask("stackTrace", threadId=rank + 1)["stackFrames"]

    def locals(self, client, frame):
        scopes = {scope["name"]: scope["variablesReference"] for scope in client.ask("scopes", frameId=frame["id"])["scopes"]}
        return scopes["Locals"], {each["name"]: each
                                  for each in client.ask("variables", variablesReference=scopes["Locals"])["variables"]}

    def begin(self, client, kind, **arguments):
        client.ask("initialize", adapterID="photofinish")
        client.ask(kind, **arguments)
        client.event("initialized", 0)

    def step(self, client, command, rank=0):
        since = client.mark()
        client.ask(command, threadId=rank + 1)
        return client.event("stopped", since, threadId=rank + 1)["body"]

    def step_in_desk_and_leave(self, process, client, job):
        """A running desk.c that was attached to: it comes to a breakpoint, steps, and goes on by itself until it is told to stop."""
        turn = line_of(DESK_SOURCE, "MARK turn")
        client.ask("setBreakpoints", source={"path": str(DESK_SOURCE)}, breakpoints=[{"line": turn}])
        since = client.mark()
        client.ask("continue", threadId=1)
        stopped = client.event("stopped", since)["body"]
        self.assertEqual(stopped["reason"], "breakpoint", stopped)
        rank = stopped["threadId"] - 1
        self.step(client, "next", rank)
        frame = self.stack(client, rank)[0]
        self.assertEqual((frame["name"], frame["line"]), ("work", turn + 1))
        client.ask("disconnect")
        self.assertEqual(process.wait(30), 0)
        self.assertIsNone(job.process.poll(), "the job goes on")
        (self.dir / "stop").write_text("")
        self.assertEqual(job.finish(30).status, 0)

    def look_at_desks_core(self, crashed):
        """The core file that rank 1 of `desk crash` has left here."""
        cores = [str(path) for path in self.dir.glob("core*")]
        self.assertEqual(len(cores), 1, crashed)
        process, client = self.serve()
        self.begin(client, "attach", coreFiles=cores)
        client.ask("configurationDone")
        stopped = client.event("stopped", 0)["body"]
        self.assertEqual((stopped["reason"], stopped["threadId"], stopped["text"]), ("exception", 2, "SIGSEGV"), stopped)
        frame = next(each for each in self.stack(client, 1) if each["name"] == "main")
        _, values = self.locals(client, frame)
        self.assertEqual((values["rank"]["value"], values["nowhere"]["value"]), ("1", "0x0"))
        client.ask("disconnect")
        self.assertEqual(process.wait(30), 0)
