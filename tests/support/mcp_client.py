# SPDX-License-Identifier: GPL-3.0-or-later
"""A small client of the Model Context Protocol, and what its tests share."""
import json
import os
import subprocess
import threading

from photofinish import BIN, PhotofinishTest
from waiting import Waiting

PATIENCE = 90.0  # seconds


class Client(Waiting):
    """Sends requests, keeps what comes. Every line that comes is checked for its form."""

    def __init__(self, process):
        super().__init__()
        self.process = process
        self.last = 0
        self.answers, self.notifications, self.wrong = {}, [], []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.process.stdout:
            with self.condition:
                try:
                    message = json.loads(line)
                    for each in message if isinstance(message, list) else [message]:
                        assert each["jsonrpc"] == "2.0"
                        if "id" in each:
                            assert ("result" in each) != ("error" in each)
                            self.answers.setdefault(json.dumps(each["id"]), []).append(each)
                        else:
                            self.notifications.append(each)
                except (ValueError, AssertionError, KeyError, TypeError):
                    self.wrong.append(line)
                self.condition.notify_all()
        with self.condition:
            self.closed = True
            self.condition.notify_all()

    def told(self):
        return f"{self.answers} {self.wrong}"

    def wait(self, what, patience=PATIENCE):
        return super().wait(what, patience)

    def send_raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, method, **parameters):
        self.last += 1
        self.send_raw(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": parameters}).encode() + b"\n")
        return self.last

    def notify(self, method, **parameters):
        self.send_raw(json.dumps({"jsonrpc": "2.0", "method": method, "params": parameters}).encode() + b"\n")

    def answer(self, number, patience=PATIENCE):
        return self.wait(lambda: self.answers.get(json.dumps(number)), patience)[0]

    def faults(self):
        """Errors that are of no request."""
        with self.condition:
            return [each["error"] for each in self.answers.get("null", [])]

    def ask(self, method, **parameters):
        answer = self.answer(self.send(method, **parameters))
        assert "result" in answer, answer
        return answer["result"]

    def initialize(self, version="2025-06-18"):
        result = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "test", "version": "1"})
        self.notify("notifications/initialized")
        return result

    def begin(self, tool, **arguments):
        return self.send("tools/call", name=tool, arguments=arguments)

    def call(self, tool, **arguments):
        """The text of a call that succeeds."""
        result = self.answer(self.begin(tool, **arguments))["result"]
        assert not result["isError"], (tool, arguments, result)
        assert len(result["content"]) == 1 and result["content"][0]["type"] == "text", result
        return result["content"][0]["text"]

    def refuse(self, tool, **arguments):
        """The text of one that fails, which says what to do next."""
        result = self.answer(self.begin(tool, **arguments))["result"]
        assert result["isError"], (tool, arguments, result)
        return result["content"][0]["text"]


class McpCase(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", "gdb", BIN / "photofinish-headless")
        self.errors = open(self.dir / "stderr", "w+b")
        self.addCleanup(self.errors.close)

    def serve(self, *options, before=(), **env):
        """A server on pipes, and a client of it. `before`: words before the program."""
        process = subprocess.Popen([*before, BIN / "photofinish", "mcp", *options], cwd=self.dir, env=dict(self.env, **env), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=self.errors, start_new_session=True)
        self.addCleanup(self.end, process)
        return process, Client(process)

    def end(self, process):
        """As a client does; a server that goes on is a failure, found by what is left behind."""
        if not process.stdin.closed:
            try:
                process.stdin.close()
            except BrokenPipeError:
                pass
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()

    def said(self):
        """What the server has said on standard error."""
        return os.pread(self.errors.fileno(), 1 << 20, 0).decode(errors="replace")
