# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish export: each format parsed back and held against `photofinish events --json` and `races --json`."""
import collections
import csv
import io
import json
import os
import re
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, SOURCE, PhotofinishTest, main

CORPUS = BIN / "corpus"
PROGRAMS = ("any_source_sum", "irecv_any_waitall", "sendrecv_any", "subcommunicators", "ibarrier_nbx", "cancel_pending",
            "probe_then_recv", "persistent_any", "reduce_orders_root", "harvest", "mpi_abort_in_order")
COLLECTIVES = {"MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Comm_split", "MPI_Comm_dup"}


class Facts:
    """What the commands with a contract say of a trace."""

    def __init__(self, test):
        self.events = {(e["rank"], e["serial"]): e for e in test.photofinish("events", test.trace, "--json").json()["events"]}
        self.ranks = max(rank for rank, _ in self.events) + 1
        self.racing, self.observed_racing = set(), set()
        for race in test.photofinish("races", test.trace, "--json").json()["races"]:
            at = race["receive"]
            self.racing.add((at["rank"], at["serial"]))
            self.observed_racing.add((at["rank"], at.get("completion", at)["serial"]))
        self.messages = set()  # (send, receive), each (rank, serial)
        for (rank, serial), event in self.events.items():
            for one in event.get("deliveries", []):
                if "sendSerial" in one:
                    self.messages.add(((one["source"], one["sendSerial"]), (rank, serial)))


class ExportTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.trace = self.dir / "t.pft"

    def record_program(self, name, *options):
        self.need("mpirun", CORPUS / name)
        self.record("t.pft", self.mpirun(4, CORPUS / name), *options, status=None)

    def test_every_format_of_every_program(self):
        for name in PROGRAMS:
            self.record_program(name, "--mode", "all")
            facts = Facts(self)
            for check in (self.check_csv, self.check_chrome, self.check_shiviz, self.check_otf2):
                with self.subTest(program=name, check=check.__name__):
                    check(name, facts)

    def export(self, form, *options, **how):
        return self.photofinish("export", self.trace, "--format", form, *options, **how)

    def text(self, form):
        run = self.export(form)
        self.assertEqual((run.status, run.err), (0, ""), run)
        return run.out

    # -- csv
    def check_csv(self, _, facts):
        rows = list(csv.DictReader(io.StringIO(self.text("csv"), newline="")))
        self.assertEqual([(int(row["rank"]), int(row["serial"])) for row in rows], list(facts.events))
        matched = set()
        for row in rows:
            self.check_row(row, facts, matched)
        self.assertEqual(matched, facts.messages)
        self.check_times(rows, facts)

    def check_row(self, row, facts, matched):
        here = (int(row["rank"]), int(row["serial"]))
        event = facts.events[here]
        for name in ("call", "kind"):
            self.assertEqual(row[name], event[name])
        self.assertEqual(row["communicator"], event["communicator"] or "")
        self.assertEqual((row["file"], row["line"]), (event["file"] or "", str(event["line"] or "")))
        self.assertEqual(int(row["bytes"]), event["bytes"])
        self.assertEqual(row["racing"], "yes" if here in facts.racing else "no")
        if event["kind"] in ("send", "receive", "post", "probe"):
            self.assertEqual(row["peer"], "any" if event["peer"] == -1 else str(event["peer"]))
            self.assertEqual(row["tag"], "any" if event["tag"] == -1 else str(event["tag"]))
        ends = [(int(rank), int(serial)) if serial else None
                for rank, serial in zip(row["matched_rank"].split(";"), row["matched_serial"].split(";"))]
        if event["kind"] == "send-receive":
            received, sent = ends
            if received:
                matched.add((received, here))
            self.assertEqual(sent is not None, any(send == here for send, _ in facts.messages))
        ends = [end for end in ends if end]
        if event["kind"] in ("send", "start"):
            for end in ends:
                self.assertIn((here, end), facts.messages)
        elif event["kind"] not in ("probe", "send-receive"):
            matched.update((end, here) for end in ends)

    def check_times(self, rows, facts):
        times = {(int(row["rank"]), int(row["serial"])): int(row["logical_time"]) for row in rows}
        for (rank, serial), time in times.items():
            if serial > 1:
                self.assertGreater(time, times[rank, serial - 1])
        for send, receive in facts.messages:
            if facts.events[send]["kind"] != "send-receive":  # one event has one time
                self.assertLess(times[send], times[receive])
        for row in rows:
            event = facts.events[int(row["rank"]), int(row["serial"])]
            self.assertEqual((int(row["time_ns"]), int(row["duration_ns"])), (event["timeNs"], event["durationNs"]))

    # -- chrome
    def check_chrome(self, _, facts):
        document = json.loads(self.text("chrome"))
        events = document["traceEvents"]
        by_phase = collections.defaultdict(list)
        for event in events:
            self.assertIsInstance(event["pid"], int)
            self.assertIn(event["tid"], range(facts.ranks))
            by_phase[event["ph"]].append(event)
        self.assertEqual(set(by_phase) - {"s", "f"}, {"M", "X"})
        names = {event["tid"]: event["args"]["name"] for event in by_phase["M"] if event["name"] == "thread_name"}
        self.assertEqual(names, {rank: f"rank {rank}" for rank in range(facts.ranks)})
        self.assertNotIn(by_phase["X"][0]["pid"], range(facts.ranks), "would make a rank the main thread")
        self.assertEqual(document["otherData"]["time"], "of the recording")
        self.check_slices(by_phase["X"], facts)
        self.check_flows(by_phase, facts)

    def check_slices(self, slices, facts):
        racing = set()
        last = {}
        for one in slices:
            here = (one["tid"], one["args"]["serial"])
            event = facts.events[here]
            self.assertEqual(one["name"], event["call"])
            self.assertEqual(one["cat"].split(",")[0], event["kind"])
            self.assertEqual((one["args"].get("file"), one["args"].get("line")), (event["file"], event["line"]))
            self.assertGreater(one["ts"], last.get(one["tid"], -1), "slices of a rank overlap")
            self.assertGreater(one["dur"], 0)
            self.assertAlmostEqual(one["ts"] * 1000, event["timeNs"], delta=1)
            self.assertLessEqual(abs(one["dur"] * 1000 - event["durationNs"]), 101)
            last[one["tid"]] = one["ts"] + one["dur"]
            self.assertEqual("racing" in one["cat"].split(","), "cname" in one)
            if "cname" in one:
                racing.add(here)
        self.assertEqual(len(slices), len(facts.events))
        self.assertEqual(racing, facts.racing | facts.observed_racing)

    def check_flows(self, by_phase, facts):
        def slice_at(flow):
            found = [one for one in by_phase["X"]
                     if one["tid"] == flow["tid"] and one["ts"] <= flow["ts"] <= one["ts"] + one["dur"]]
            self.assertEqual(len(found), 1, flow)
            return found[0]["tid"], found[0]["args"]["serial"]
        starts = {flow["id"]: flow for flow in by_phase["s"]}
        ends = {flow["id"]: flow for flow in by_phase["f"]}
        self.assertEqual(len(starts), len(by_phase["s"]), "a flow begins twice")
        self.assertEqual(starts.keys(), ends.keys())
        for number, end in ends.items():
            self.assertEqual((end["bp"], end["name"], end["cat"]), ("e", starts[number]["name"], starts[number]["cat"]))
            if facts.events[slice_at(starts[number])]["kind"] != "send-receive":
                self.assertLess(starts[number]["ts"], end["ts"])
        self.assertEqual({(slice_at(starts[number]), slice_at(ends[number])) for number in starts}, facts.messages)

    def test_a_trace_without_times(self):
        """One of an older version."""
        self.need("zstd")
        old = SOURCE / "db" / "tests" / "data" / "format11.pft.zst"
        self.assertEqual(self.run_command("zstd", "-dq", old, "-o", self.trace).status, 0)
        events = self.photofinish("events", self.trace, "--json").json()
        self.assertEqual((events["times"], {event["timeNs"] for event in events["events"]}), (None, {None}))
        document = json.loads(self.text("chrome"))
        self.assertIn("logical", document["otherData"]["time"])
        self.assertEqual({one["dur"] for one in document["traceEvents"] if one["ph"] == "X"}, {8})
        self.assertEqual({row["time_ns"] for row in csv.DictReader(io.StringIO(self.text("csv"), newline=""))}, {""})
        self.assertRegex(self.photofinish("info", self.trace).out, "(?m)^times +none")
        nulls = self.photofinish("sql", self.trace, "SELECT count(*), count(time_ns), count(duration_ns) FROM event", "--json").out
        self.assertIn(str(len(events["events"])), nulls)

    # -- shiviz
    def check_shiviz(self, _, facts):
        parser, delimiter, log = self.text("shiviz").split("\n", 2)
        self.assertEqual(delimiter, "", "there is one execution")
        found = list(re.finditer(parser.replace("(?<", "(?P<"), log))
        self.assertEqual(re.sub(parser.replace("(?<", "(?P<"), "", log).strip(), "", "the parser leaves nothing out")
        steps, places, of_event = {}, {}, collections.defaultdict(list)
        for match in found:
            host, clock, text = match["host"], json.loads(match["clock"]), match["event"]
            self.assertEqual(clock[host], steps.get(host, 0) + 1, "a host's own component goes up by one")
            steps[host] = clock[host]
            places[host, clock[host]] = clock
            serial, call = re.match(r"(\d+) (\w+)", text).groups()
            here = (int(host.removeprefix("rank")), int(serial))
            self.assertEqual(call, facts.events[here]["call"])
            self.assertEqual("(racing)" in text, here in facts.racing and not text.endswith(", sends"))
            of_event[here].append((host, clock[host]))
        self.assertEqual(set(of_event), set(facts.events))
        self.check_clocks(places)
        for send, receive in facts.messages:
            self.assertTrue(self.before(places[of_event[send][0]], places[of_event[receive][-1]]), (send, receive))
        two = {here for here, lines in of_event.items() if len(lines) == 2}
        self.assertLessEqual({facts.events[here]["kind"] for here in two}, {"send-receive"})

    @staticmethod
    def before(a, b):
        return all(b.get(host, 0) >= count for host, count in a.items())

    def check_clocks(self, places):
        """Whatever a clock names has happened before: so clocks are an order, and have no circles."""
        for (host, _), clock in places.items():
            for other, count in clock.items():
                if other != host:
                    self.assertTrue(self.before(places[other, count], clock))
                    self.assertFalse(self.before(clock, places[other, count]))

    # -- otf2
    def print_archive(self, archive):
        run = self.run_command("otf2-print", "-A", archive / "traces.otf2")
        self.assertEqual(run.status, 0, run)
        self.assertNotIn("error", run.err.lower(), run)
        self.assertNotIn("warning", run.err.lower(), run)
        definitions = run.out[run.out.index("=== Global Definitions"):run.out.index("=== Events")] \
            if run.out.index("=== Global Definitions") < run.out.index("=== Events") else run.out
        return definitions, run.out

    def check_otf2(self, name, facts):
        self.need("otf2-print")
        archive = self.dir / f"{name}.otf2"
        run = self.export("otf2", "-o", archive)
        if "cannot write OTF2" in run.err:
            self.skipTest("built without OTF2")
        self.assertEqual((run.status, run.out, run.err), (0, "", ""), run)
        definitions, text = self.print_archive(archive)
        self.check_definitions(definitions, facts)
        self.check_events(text, facts)

    def check_definitions(self, text, facts):
        groups = re.findall(r'^LOCATION_GROUP +(\d+) +Name: "MPI Rank (\d+)"', text, re.M)
        self.assertEqual(groups, [(str(rank), str(rank)) for rank in range(facts.ranks)])
        self.assertEqual(len(re.findall(r"^LOCATION +\d+ .*CPU_THREAD", text, re.M)), facts.ranks)
        self.assertRegex(text, r'(?m)^GROUP .*COMM_LOCATIONS.*' + f"{facts.ranks} Members")
        self.assertRegex(text, r'(?m)^COMM +0 +Name: "MPI_COMM_WORLD"')
        names = set(re.findall(r'^(?:INTER_)?COMM +\d+ +[Nn]ame: "([^"]*)"', text, re.M))
        used = {event["communicator"] for event in facts.events.values() if event["communicator"]}
        self.assertLessEqual(used, names)
        places = set(re.findall(r'^SOURCE_CODE_LOCATION +\d+ +File: "([^"]*)" <\d+>, Line Number: (\d+)', text, re.M))
        self.assertLessEqual({(event["file"], str(event["line"])) for event in facts.events.values() if event["file"]}, places)
        regions = set(re.findall(r'^REGION +\d+ +Name: "([^"]*)"', text, re.M))
        self.assertEqual(regions, {event["call"] for event in facts.events.values()})

    def records(self, text, facts):
        """(kind, rank, serial of the call around it, rest) of each record, rank by rank."""
        ranks = collections.defaultdict(list)
        for line in re.findall(r"^(?:[A-Z_]+ +\d+ +\d+ +.*(?:\n +ADDITIONAL ATTRIBUTES:.*)?)", text, re.M):
            kind, location, time, rest = re.match(r"([A-Z_]+) +(\d+) +(\d+) +((?:.|\n)*)", line).groups()
            ranks[int(location)].append((kind, int(time), rest))
        for rank in range(facts.ranks):
            serial, last = 0, 0
            for kind, time, rest in ranks[rank]:
                if kind == "ENTER":
                    serial = int(re.search(r'"serial" <\d+>; UINT64; (\d+)', rest).group(1))
                self.assertGreaterEqual(time, last)
                last = time
                yield kind, rank, serial, rest

    def check_events(self, text, facts):
        sends, receives = collections.Counter(), collections.Counter()
        entered, left, collectives = [], [], []
        for kind, rank, serial, rest in self.records(text[text.index("=== Events"):], facts):
            event = facts.events.get((rank, serial))
            if kind == "ENTER":
                entered.append((rank, serial))
                self.assertIn(f'Region: "{event["call"]}"', rest)
                self.assertEqual('"racing" <2>; UINT8; 1' in rest, (rank, serial) in facts.racing)
                if event["file"]:
                    self.assertIn(f'"{event["file"]}:{event["line"]}"', rest)
            elif kind == "LEAVE":
                left.append((rank, serial))
            elif kind == "MPI_SEND":
                comm = re.search(r'Communicator: "([^"]*)"', rest).group(1)
                self.assertEqual(comm, event["communicator"] or comm)
                sends[(rank, serial), int(re.search(r"Tag: (\d+)", rest).group(1))] += 1
            elif kind in ("MPI_RECV", "MPI_IRECV"):
                receives[(rank, serial), int(re.search(r"Tag: (\d+)", rest).group(1))] += 1
                if kind == "MPI_RECV":
                    self.assertIn(event["kind"], ("receive", "send-receive"))
            elif kind == "MPI_COLLECTIVE_END":
                collectives.append((rank, serial))
                self.assertEqual(event["kind"], "collective")
        self.assertEqual(entered, list(facts.events))
        self.assertEqual(left, list(facts.events))
        self.assertEqual(collectives, [here for here, event in facts.events.items() if event["call"] in COLLECTIVES])
        delivered = collections.Counter()
        for here, event in facts.events.items():
            for one in event.get("deliveries", []):
                delivered[here, one["tag"]] += 1
                if "sendSerial" in one:
                    self.assertGreater(sends[(one["source"], one["sendSerial"]), one["tag"]], 0)
        self.assertEqual(receives, delivered)

    def test_ranks_in_otf2_are_those_of_the_communicator(self):
        self.need("otf2-print")
        self.record_program("subcommunicators", "--mode", "all")
        facts = Facts(self)
        run = self.export("otf2", "-o", self.dir / "archive")
        if "cannot write OTF2" in run.err:
            self.skipTest("built without OTF2")
        definitions, text = self.print_archive(self.dir / "archive")
        members = {}
        for name, group in re.findall(r'^COMM +\d+ +Name: "([^"]*)" <\d+>, Group: "" <(\d+)>', definitions, re.M):
            line = re.search(rf"^GROUP +{group} .*Members?: (.*)", definitions, re.M).group(1)
            members[name] = [int(rank) for rank in re.findall(r'(\d+) \("', line)]
        seen = 0
        for kind, rank, serial, rest in self.records(text[text.index("=== Events"):], facts):
            if kind == "MPI_RECV":
                name = re.search(r'Communicator: "([^"]*)"', rest).group(1)
                sender = int(re.search(r"Sender: (\d+)", rest).group(1))
                self.assertIn(rank, members[name])
                self.assertEqual([members[name][sender]], [one["source"] for one in facts.events[rank, serial]["deliveries"]])
                seen += name != "MPI_COMM_WORLD"
        self.assertGreater(seen, 0)

    # -- the rest
    def test_a_light_recording_is_surveyed(self):
        self.record_program("any_source_sum")
        run = self.export("csv", "-o", self.dir / "out.csv")
        self.assertEqual((run.status, run.out), (0, ""), run)
        self.assertIn("once more", run.err)
        self.assertEqual((self.dir / "out.csv").read_text(), self.text("csv"))

    def test_what_is_there_is_left_alone(self):
        self.record_program("any_source_sum", "--mode", "all")
        (self.dir / "there").write_text("mine")
        (self.dir / "directory").mkdir()
        for form, output in (("csv", "there"), ("chrome", "directory"), ("otf2", "there"), ("otf2", "directory")):
            with self.subTest(format=form, output=output):
                self.assert_refused(self.export(form, "-o", self.dir / output), 2, f"{output} is there already", "another name")
        self.assertEqual((self.dir / "there").read_text(), "mine")
        self.assertEqual(list((self.dir / "directory").iterdir()), [])

    def test_a_full_disk(self):
        self.record_program("harvest", "--mode", "all")
        self.assert_refused(self.export("csv", "-o", "/dev/full"), 1, "cannot write /dev/full", "No space left")

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
        for form in ("csv", "chrome", "shiviz", "otf2"):
            with self.subTest(format=form):
                run = self.export(form, "-o", self.dir / "out", limits=small_files)
                if "cannot write OTF2" in run.err:
                    continue
                self.assert_refused(run, 1, "cannot write", "out", "Make room")
                self.assertFalse((self.dir / "out").exists(), "half a file is left")

    def test_bad_use(self):
        self.record_program("any_source_sum", "--mode", "all")
        self.assertEqual(self.photofinish("export", self.trace).status, 2)
        self.assertEqual(self.export("xml").status, 2)
        self.assert_refused(self.export("otf2"), 2, "-o DIRECTORY|libotf2-trace-dev")
        self.assert_refused(self.export("csv", "-o", self.dir / "no" / "out"), 1, "no/out")
        self.assert_refused(self.photofinish("export", self.dir / "none.pft", "--format", "csv", "-o", self.dir / "out"), 2, "none.pft")
        self.assertFalse((self.dir / "out").exists())
        self.trace.write_bytes(self.trace.read_bytes()[:5000])
        for form in ("csv", "otf2"):
            run = self.export(form, "-o", self.dir / "out")
            self.assertIn(run.status, (4, 2) if form == "otf2" else (4,), run)
            self.assertFalse((self.dir / "out").exists())


if __name__ == "__main__":
    main()
