# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish debug --offline: a report of a run that crashes, of one that is right, and of one that hangs."""
import html.parser
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, SOURCE, PhotofinishTest, main

VOID = {"meta", "br"}


class Page(html.parser.HTMLParser):
    """The text of a page by its second-level headings; every tag must be closed where it was opened."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.parts, self.part, self.outside = [], [], {"": ""}, "", []
        self.feed(text)
        self.close()
        if self.open:
            self.wrong.append(f"never closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        self.outside += [value for name, value in attributes if name in ("src", "href", "action", "data")]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "h2":
            self.part = None
        elif self.part is not None:
            self.parts[self.part] += " "

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        if self.part is None:
            self.part = data
            self.parts[data] = ""
        elif "style" not in self.open:
            self.parts[self.part] += data


class OfflineTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", "gdb", BIN / "photofinish-headless")

    def debug(self, *words, report="r.html", **how):
        return self.photofinish("debug", "--offline", "-o", report, *words, timeout=120, **how)

    def page(self, name="r.html"):
        text = (self.dir / name).read_text()
        page = Page(text)
        self.assertEqual(page.wrong, [])
        self.assertEqual(page.outside, [])
        self.assertIsNone(re.search(r"https?:|@import|url\(", text))
        return page.parts

    def record_crash(self, *options):
        """A recording of segfault_in_order in which the message of rank 2 overtakes that of rank 1."""
        program = BIN / "corpus" / "segfault_in_order"
        for seed in range(1, 60):
            (self.dir / "t.pft").unlink(missing_ok=True)
            run = self.photofinish("record", "-o", self.dir / "t.pft", "--jitter", seed, *options, *self.mpirun(4, program))
            if run.status not in (0, None) and not run.launcher_failed and "signal 11" in run.err + run.out:
                return run
        self.fail("no run of 60 failed")

    def line_of(self, name, text):
        lines = (SOURCE / "tests" / "corpus" / name).read_text().splitlines()
        return next(number for number, line in enumerate(lines, 1) if text in line)

    def test_a_crash(self):
        recorded = self.record_crash()
        received = self.line_of("segfault_in_order.c", "arrived(")
        crash = self.line_of("segfault_in_order.c", "list->items[")
        run = self.debug("--log", f"segfault_in_order.c:{received} sources[i]", "--log", f"segfault_in_order.c:{received} nosuch",
                         "--break", f"segfault_in_order.c:{crash}", self.dir / "t.pft")
        self.assertEqual(run.status, recorded.status, run)
        parts = self.page()
        self.assertIn("SIGSEGV", parts[""])
        self.assertIn("segfault_in_order", parts[""])
        self.assertIn("MPI_Recv", parts["The failing receive"])
        stacks = parts["Stacks at the failure"]
        self.assertIn(f"segfault_in_order.c:{crash}", stacks)
        self.assertRegex(stacks, r"Variables of rank 0 in apply\(\)[\s\S]*list +struct list \* +0x0[\s\S]*source +int +2")
        ranks = set()
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", " ".join(re.findall(r"\n *Ranks? ([\d, -]+)", stacks))):
            ranks |= set(range(int(first), int(last or first) + 1))
        self.assertEqual(ranks, set(range(4)), stacks)
        self.assertIn("MPI_Finalize", stacks)
        hits = parts["Breakpoints and logpoints"]
        self.assertIn(f"segfault_in_order.c:{received} sources[i]: 3 hits", hits)
        self.assertIn("No symbol", hits)
        # Each logged value with the event after which it was: the receives of rank 0, in their order.
        events = self.photofinish("events", self.dir / "t.pft", "--json").json()["events"]
        taken = [(event["serial"], event["deliveries"][0]["source"]) for event in events
                 if event["rank"] == 0 and event["call"] == "MPI_Recv"]
        logged = re.findall(rf"sources\[i\] +0 +(\d+) +main\(\) segfault_in_order\.c:{received} +(\d+)", hits)
        self.assertEqual([(int(serial), int(value)) for serial, value in logged], taken)
        races = parts["Races before the failure"]
        self.assertIn("or could", races)
        self.assertIn("MPI_Recv(&sources[i]", races)
        self.assertIn("rank 0:", parts["Output of the program"])

    def test_a_part_of_the_job(self):
        """Ranks that run alone, and the failing one among them; then another one, which sees the rest in the recording."""
        recorded = self.record_crash("--groups", "each")
        crash = self.line_of("segfault_in_order.c", "list->items[")
        run = self.debug("--ranks", "0", "--snapshot-every", "0.1", self.dir / "t.pft")
        self.assertEqual(run.status, recorded.status, run)
        parts = self.page()
        self.assertIn("SIGSEGV", parts[""])
        stacks = parts["Stacks at the failure"]
        self.assertIn(f"segfault_in_order.c:{crash}", stacks)
        self.assertRegex(stacks, r"Variables of rank 0 in apply\(\)[\s\S]*source +int +2")
        self.assertEqual(re.findall(r"\n *Ranks? ([\d, -]+)", stacks), ["0"])
        page = (self.dir / "r.html").read_text()
        self.assertIn("Only rank 0 ran again. What is said of others is from the recording.", page)
        run = self.debug("--group", "2", "--break", f"segfault_in_order.c:{crash}", self.dir / "t.pft", report="r.txt")
        self.assertEqual(run.status, recorded.status, run)
        text = (self.dir / "r.txt").read_text()
        self.assertIn("Only rank 2 ran again.", text)
        self.assertIn("Rank 0, which failed, is none of them.", text)
        self.assertIn(f"segfault_in_order.c:{crash}: 0 hits", text)
        self.assertNotIn("Stacks at the failure", text)

    def test_a_part_that_cannot_be(self):
        self.need(BIN / "corpus" / "two_rank_wildcard")
        launch = self.mpirun(2, BIN / "corpus" / "two_rank_wildcard")
        self.record("t.pft", launch, "--groups", "0-1")
        self.assert_refused(self.debug("--group", "9", self.dir / "t.pft"), 2, "group")
        self.assert_refused(self.debug("--ranks", "1", self.dir / "t.pft"), 2, "0-1")
        self.assert_refused(self.debug("--ranks", "1", *launch), 2, "a part of a recorded job", "record --groups")
        self.assert_refused(self.photofinish("debug", "--ranks", "1", self.dir / "t.pft"), 2, "want --script or --offline")
        self.assertFalse((self.dir / "r.html").exists())

    def test_a_clean_run_is_recorded_first(self):
        program = BIN / "corpus" / "two_rank_wildcard"
        run = self.debug(*self.mpirun(2, program), report="r.txt")
        self.assertEqual(run.status, 0, run)
        self.assertIn("report in r.txt", run.err)
        text = (self.dir / "r.txt").read_text()
        self.assertIn("The program ran to its end.", text)
        self.assertIn("No receive could have taken another message.", text)
        self.assertNotIn("Stacks", text)
        self.assertTrue((self.dir / "two_rank_wildcard-1.pft").exists())
        again = self.debug(self.dir / "two_rank_wildcard-1.pft")
        self.assertEqual(again.status, 0, again)
        parts = self.page()
        self.assertIn("The program ran to its end.", parts[""])
        self.assertIn("finished", parts["Ranks"])

    def test_a_deadlock_is_ended_and_explained(self):
        trace, run = self.record_hang()
        report = self.debug(trace)
        self.assertEqual(report.status, run.status, report)
        parts = self.page()
        self.assertRegex(parts[""], r"Deadlock: |All ranks wait: (?!every rank waits)|Every rank waits")
        second = self.line_of("deadlock_in_order.c", "MPI_INT, 2, 1")
        self.assertIn(f"deadlock_in_order.c:{second}", parts["Stacks at the failure"])
        self.assertIn("or could", parts["Races before the failure"])
        self.assertIn("first from 2", parts["Output of the program"])

    def test_snapshots(self):
        """By time and by signal; what the ranks print is not changed by it. A signal while it still records is nothing."""
        steady = BIN / "e2e" / "steady"
        self.need(steady)
        words = ["debug", "--offline", "-o", "r.txt", "--snapshot-every", "0.4", *self.mpirun(3, steady, 400, 2000)]
        with self.start([BIN / "photofinish", *words]) as command:
            command.wait_for(lambda: list(self.dir.glob("*.pft.d/*.log")), 30)  # before, it does not know the signal
            while command.process.poll() is None:
                command.process.send_signal(signal.SIGUSR1)
                time.sleep(0.15)
            run = command.finish(60)
        self.assertEqual(run.status, 0, run)
        text = (self.dir / "r.txt").read_text()
        self.assertIn("Every 0.4 s of the replay: ", text)
        snapshots = text.split("\nRaces\n")[0].split(" s after the beginning of the replay")[1:]
        asked = [each for each in snapshots if each.startswith(", asked for by SIGUSR1")]
        self.assertTrue(asked and len(asked) < len(snapshots), text)
        served = [int(each.split("rank 0 after event ")[1].split()[0].strip(",")) for each in snapshots]
        self.assertEqual(served, sorted(served))
        self.assertRegex("".join(snapshots), r"rank 0\n( +#.*\n)* +#\d+ serve\(\) at steady\.c:\d+")  # it was paused for it
        self.assertRegex("".join(snapshots), r"#0 MPI_Recv\(\)\n +#1 ask\(\) at steady\.c:\d+")
        ends = set(re.findall(r"rank \d ends with \w+", run.out))
        self.assertEqual((len(ends), ends), (3, set(re.findall(r"rank \d ends with \w+", text.split("Output of the program")[1]))))

    def test_a_launcher_that_fails(self):
        """The replay did not start: neither the report nor the cycle takes that for an end."""
        launcher = self.dir / "mpirun"
        launcher.write_text("#!/bin/sh\ntest -e full && { echo no room for $1 >&2; exit 7; }\nexec /usr/bin/mpirun \"$@\"\n")
        launcher.chmod(0o755)
        self.record("t.pft", [launcher, *self.mpirun(2, BIN / "corpus" / "two_rank_wildcard")[1:]])
        self.assertEqual(self.photofinish("races", self.dir / "t.pft").status, 0)  # surveyed, while there is room
        (self.dir / "full").touch()
        self.debug(self.dir / "t.pft", report="r.txt")
        text = (self.dir / "r.txt").read_text()
        self.assertIn("ended with status 7 before all ranks had called MPI_Init. It said: no room for --tag-output", text)

    def test_bad_use(self):
        program = self.mpirun(2, BIN / "corpus" / "two_rank_wildcard")
        for words, text in (((), "--output|-o"), (("-o", "r.pdf"), "r.html|NAME.html"), (("-o", "no/such/r.html"), "cannot write"),
                            (("-o", "r.html", "--break", "a.c"), "FILE:LINE"), (("-o", "r.html", "--log", "a.c:3"), "EXPRESSION")):
            with self.subTest(words=words):
                run = self.photofinish("debug", "--offline", *words, *program)
                self.assertEqual(run.status, 2, run)
                self.assertRegex(run.err + run.out, text)
        run = self.photofinish("debug", "--break", "a.c:3", *program)
        self.assertEqual(run.status, 2, run)
        run = self.debug("nosuch.pft")
        self.assertEqual(run.status, 2, run)
        self.assertFalse(list(self.dir.glob("*.pft")), "nothing was recorded")


if __name__ == "__main__":
    main()
