# SPDX-License-Identifier: GPL-3.0-or-later
"""Breakpoints and steps by lines of Python, against the lines that Python itself tells of the same program."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from dap_client import DapCase
from photofinish import SOURCE, main

PYTHON = "/usr/bin/python3"
PROGRAM = SOURCE / "tests" / "e2e" / "programs" / "python_lines.py"
TOP = re.compile(r"#\d+ (.+)\(\) at python_lines\.py:(\d+)")


def line_of(text):
    return next(i for i, line in enumerate(PROGRAM.read_text().splitlines(), 1) if text in line)


FIRST = line_of("# the first line")


class PythonLinesTest(DapCase):
    def setUp(self):
        super().setUp()
        self.need(PYTHON, "/usr/lib/python3/dist-packages/mpi4py")

    def told(self):
        """[function, line, "line" or "return", frame, caller's frame] of rank 0, of a run that nobody debugs."""
        out = self.dir / "lines.json"
        subprocess.run(self.mpirun(2, PYTHON, PROGRAM), check=True, timeout=60, env={**os.environ, "PF_LINES": str(out)},
                       stdout=subprocess.DEVNULL)
        return [json.loads(line) for line in out.read_text().splitlines()]

    def script(self, lines, status=0):
        (self.dir / "s.txt").write_text("\n".join(lines) + "\n")
        run = self.photofinish("debug", "--script", self.dir / "s.txt", self.dir / "t.pft", timeout=200)
        self.assertEqual(run.status, status, run)
        return run

    def tops(self, lines):
        """The innermost frame of each answer to `stack`."""
        out = self.script(lines).out
        return [[match[1], int(match[2])] for match in map(TOP.search, out.split("STOP\n")[1:]) if match]

    def walk(self, command, count):
        return ["rank 0", f"tbreak {PROGRAM}:{FIRST} @0", "run", "echo STOP", "stack @0"] + \
            [word for _ in range(count) for word in (command, "echo STOP", "stack @0")]

    def test_steps(self):
        """step, next and finish stop where Python's own tracing says, through calls, generators, exceptions and MPI."""
        self.record("t.pft", self.mpirun(2, PYTHON, PROGRAM))
        told = self.told()
        begin = next(i for i, event in enumerate(told) if event[1] == FIRST)
        steps = [event for event in told[begin:] if event[2] == "line"][:64]
        self.assertEqual(self.tops(self.walk("step", len(steps) - 1)), [event[:2] for event in steps])

        def after(at, frame):
            """The next line of this frame, or of what it returns to."""
            for i in range(at + 1, len(told)):
                name, _, kind, own, caller = told[i]
                if own == frame and kind == "line":
                    return i
                if own == frame and name not in ("parts", "exchange.<locals>.<genexpr>"):
                    frame = caller
            return None

        over = [begin]
        while len(over) < 14:  # to the line behind the loop of main()
            over.append(after(over[-1], told[over[-1]][3]))
        self.assertIn("main", [told[i][0] for i in over])
        self.assertEqual(self.tops(self.walk("next", len(over) - 1)), [told[i][:2] for i in over])
        # Out of leaf(), then out of work().
        deep = next(i for i in range(begin, len(told)) if told[i][:3] == [*steps[3][:2], "line"])
        self.assertEqual(told[deep][0], "leaf")
        out = after(deep, told[deep][4])
        caller = after(out, told[out][4])
        tops = self.tops(self.walk("step", 3) + ["finish", "echo STOP", "stack @0", "finish", "echo STOP", "stack @0"])
        self.assertEqual(tops[-2:], [told[out][:2], told[caller][:2]])

    def test_breakpoints(self):
        """Each is hit as often as Python executes its line, in each rank and each cycle; conditions are Python's."""
        self.record("t.pft", self.mpirun(2, PYTHON, PROGRAM))
        adds = line_of("total += i")
        hits = sum(1 for event in self.told() if event[1:3] == [adds, "line"])
        every = self.script(["rank 0", f"break python_lines.py:{adds} @0", "run"] +
                            [word for _ in range(hits) for word in ("echo STOP", "stack @0", "print i @0", "continue")] + ["where"]).out.split("STOP\n")
        self.assertEqual([int(TOP.search(stop)[2]) for stop in every[1:]], [adds] * hits)
        self.assertRegex(every[-1], r"(?m)^\[0-1\] ended with status 0\n\Z")
        some = f"break {PROGRAM}:{adds} if count == 4 and i > 1 @0"
        out = self.script(["rank 0", some, "run", "print i @0", "print count @0", "continue", "print i @0",
                           "run", "print i @0", "delete 1", "continue", "where"]).out
        self.assertEqual(re.findall(r"(?m)^\[0\] (\d+)$", out), ["2", "4", "3", "2"], out)
        both = self.script(["rank 0", f"tbreak python_lines.py:{line_of('return 41')}", "run", "stack @1", "continue"]).out
        self.assertRegex(both, r"exchange\(\) at python_lines\.py")
        wrong = self.script(["rank 0", f"break {PROGRAM}:{adds} if nothing > 1 @0", "run", "stack @0"])
        self.assertIn("cannot be worked out: nothing > 1", wrong.err)
        self.assertRegex(wrong.out, TOP)

    def test_until_and_outer_frames(self):
        """until goes to a line; next and finish are those of the frame that is selected."""
        self.record("t.pft", self.mpirun(2, PYTHON, PROGRAM))
        body = line_of("total += i")
        tops = self.tops(["rank 0", f"tbreak {PROGRAM}:{body} @0", "run", "echo STOP", "stack @0", "up", "next", "echo STOP", "stack @0",
                          f"until {PROGRAM}:{line_of('five = ')}", "echo STOP", "stack @0"])
        self.assertEqual(tops, [["leaf", body], ["work", FIRST + 1], ["work", line_of("five = ")]])

    def test_steps_without_a_look(self):
        """Steps that follow at once, a breakpoint that is off, one that is changed, and one at a path with dots."""
        self.record("t.pft", self.mpirun(2, PYTHON, PROGRAM))
        dotted = PROGRAM.parent / ".." / "programs" / PROGRAM.name
        out = self.script(["rank 0", f"break {dotted}:{line_of('four = ')} @0", f"break {PROGRAM}:{line_of('total += i')} @0", "disable 2", "run", "next", "next", "next", "where",
                           "enable 2", "step", "continue", "where", "delete 1", "delete 2", "continue"]).out
        wheres = re.findall(r"at python_lines\.py:(\d+)", out)
        self.assertIn(str(line_of("six = ")), wheres, out)  # a comprehension has as many lines as turns, from Python 3.12 on
        self.assertIn(str(line_of("total += i")), wheres, out)
        self.assertIn("ended with status 0", out)

    def test_an_offline_report(self):
        """Hits are at the line of Python, and values are Python's."""
        self.record("t.pft", self.mpirun(2, PYTHON, PROGRAM))
        place = f"{PROGRAM}:{line_of('total += i')}"
        self.photofinish("debug", "--offline", "-o", self.dir / "r.txt", "--break", place, "--log", f"{place} i", self.dir / "t.pft", timeout=200)
        text = (self.dir / "r.txt").read_text()
        self.assertIn("leaf()", text)
        self.assertNotIn("pf_python_line", text)
        self.assertNotIn("No symbol", text)

    def test_own_trace_function(self):
        """A program that traces itself keeps that, and it is said."""
        self.record("t.pft", self.mpirun(2, PYTHON, PROGRAM, "own"))
        run = self.script(["rank 0", f"break {PROGRAM}:{FIRST} @0", "run", "where"])
        self.assertNotIn("after event", run.out)
        self.assertIn("breakpoints and steps by lines of Python do nothing here", run.err)

    def test_an_editor(self):
        """setBreakpoints, stopped, next and stepOut in a .py file."""
        self.record("t.pft", self.mpirun(2, PYTHON, PROGRAM))
        _, client = self.serve()
        client.ask("initialize", adapterID="photofinish")
        launch = client.send("launch", trace=str(self.dir / "t.pft"))
        client.event("initialized", 0)
        made = client.ask("setBreakpoints", source={"path": str(PROGRAM)}, breakpoints=[{"line": FIRST}])["breakpoints"]
        self.assertEqual([each.get("line", FIRST) for each in made], [FIRST])
        client.ask("setExceptionBreakpoints", filters=[])
        client.ask("configurationDone")
        self.assertTrue(client.answer(launch)["success"])
        since = client.mark()
        client.ask("continue", threadId=1)
        client.event("stopped", since, reason="breakpoint", threadId=1)
        self.assertEqual([self.stack(client, 0)[0][key] for key in ("name", "line")], ["work", FIRST])
        since = client.mark()
        client.ask("next", threadId=1)
        client.event("stopped", since, threadId=1)
        self.assertEqual([self.stack(client, 0)[0][key] for key in ("name", "line")], ["work", FIRST + 1])
        client.ask("disconnect")


if __name__ == "__main__":
    main()
