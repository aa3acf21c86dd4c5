# SPDX-License-Identifier: GPL-3.0-or-later
"""What is inside of Python's values, against what the program says of them itself: NumPy's arrays, objects, containers."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from dap_client import DapCase
from photofinish import SOURCE, main

PYTHON = "/usr/bin/python3"
PROGRAM = SOURCE / "tests" / "e2e" / "programs" / "python_values.py"


class PythonValuesTest(DapCase):
    def setUp(self):
        super().setUp()
        self.need(PYTHON, "/usr/lib/python3/dist-packages/mpi4py", "/usr/lib/python3/dist-packages/numpy")
        run = self.record("t.pft", self.mpirun(2, PYTHON, PROGRAM, self.dir / "told"))
        self.told = {rank: [json.loads(line) for line in (self.dir / f"told.{rank}").read_text().splitlines()] for rank in (0, 1)}
        self.assertEqual([len(self.told[rank]) for rank in (0, 1)], [2, 2], run)

    def frame_at(self, client, rank, serial):
        """The innermost frame of Python, with its scopes."""
        since = client.mark()
        client.ask("photofinish/replayTo", rank=rank, serial=serial)
        client.event("stopped", since, threadId=rank + 1)
        frames = client.ask("stackTrace", threadId=rank + 1)["stackFrames"]
        frame = next(frame["id"] for frame in frames if frame.get("source", {}).get("path", "").endswith(".py"))
        return frame, {scope["name"]: scope["variablesReference"] for scope in client.ask("scopes", frameId=frame)["scopes"]}

    def open(self, client, reference):
        """All parts, and those behind "…" too."""
        found = client.ask("variables", variablesReference=reference)["variables"]
        more = found.pop()["variablesReference"] if found and found[-1]["name"] == "…" else 0
        return found + (self.open(client, more) if more else [])

    def test_an_editor(self):
        client = self.launched(self.dir / "t.pft")
        for rank in (0, 1):
            for number, told in enumerate(self.told[rank]):
                frame, scopes = self.frame_at(client, rank, 2 + number)
                self.compare(client, frame, told)
                self.open_from_scopes(client, scopes, told)
        self.refused(client, frame)
        client.ask("disconnect")

    def compare(self, client, frame, told):
        for path, value in told["values"].items():
            if value is None:
                self.assertNotEqual(client.refuse("evaluate", expression=path, frameId=frame, context="watch"), "", path)
            else:
                self.assertEqual(client.ask("evaluate", expression=path, frameId=frame, context="watch")["result"], value, path)
        for path, parts in told["parts"].items():
            opened = client.ask("evaluate", expression=path, frameId=frame, context="watch")
            found = [[part["name"], part["value"]] for part in self.open(client, opened["variablesReference"])]
            self.assertEqual(found, parts, path)

    def open_from_scopes(self, client, scopes, told):
        """The same from the variables of the frame, without any expression."""
        shown = {}
        for name in ("Locals", "Arguments", "Globals"):
            shown |= {each["name"]: each for each in client.ask("variables", variablesReference=scopes[name])["variables"]}
        self.assertEqual(shown["COMM"]["variablesReference"], 0)
        for name, parts in told["parts"].items():
            if name in shown:
                found = self.open(client, shown[name]["variablesReference"])
                self.assertEqual([[part["name"], part["value"]] for part in found], parts, name)
        if "grid" in shown:
            rows = self.open(client, shown["grid"]["variablesReference"])
            numbers = self.open(client, rows[1]["variablesReference"])
            self.assertEqual([[each["name"], each["value"]] for each in numbers], told["parts"]["grid[1]"])
            self.assertEqual(client.ask("variables", variablesReference=shown["many"]["variablesReference"], start=990, count=5)["variables"][0]["value"],
                             "990")

    def refused(self, client, frame):
        for path, words in (("box.area", "is a property of its class, and nothing is called"), ("box.nothing", "no __getattr__ is called"),
                            ("many[1000]", "many has no part [1000]: it has 1000"), ("found['no']", "['no'] is no key of found"),
                            ("grid[0] + 1", "is no name")):
            self.assertIn(words, client.refuse("evaluate", expression=path, frameId=frame, context="watch"))
        reference = client.ask("evaluate", expression="few", frameId=frame, context="watch")["variablesReference"]
        client.ask("variables", variablesReference=reference)
        self.assertIn("cannot be changed", client.refuse("setVariable", variablesReference=reference, name="[0]", value="1"))
        since = client.mark()
        client.ask("photofinish/replayTo", rank=1, serial=2)
        client.event("stopped", since, threadId=2)
        client.refuse("variables", variablesReference=reference)

    def test_a_script(self):
        """`print` of ways to parts, in all ranks."""
        (self.dir / "s.txt").write_text("rank 1\nreplay-to 1:3\nprint grid[1][2]\nprint found['few'] @1\n")
        run = self.photofinish("debug", "--script", self.dir / "s.txt", self.dir / "t.pft", timeout=120)
        self.assertEqual(run.status, 0, run)
        number = dict(self.told[1][1]["parts"]["grid[1]"])["[2]"]
        self.assertIn(f"[1] {number}\n", run.out)
        self.assertIn("[1] ndarray int32 (3,)\n", run.out)


if __name__ == "__main__":
    main()
