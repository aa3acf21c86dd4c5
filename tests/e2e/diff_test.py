# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish diff: recordings of real runs, their first differences held against `photofinish events --json`."""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, SOURCE, PhotofinishTest, main

CORPUS = BIN / "corpus"
STEERED = SOURCE / "tests" / "e2e" / "programs" / "steered.c"
MPICC = os.environ.get("PF_MPICC", "mpicc")
SEEDS = 40
# Rank 0 answers whoever is first, ROUNDS times a worker; then it takes what each has in the end, and fails if that of rank 2
# comes first. FIRST and LAST are whose first and last message comes first.
MASTER = """#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank, value = 0, other = 0, i;
  int first = atoi(getenv("FIRST")), last = atoi(getenv("LAST"));
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (i = 0; i < ROUNDS && rank != 0; i++) {
    if (i == 0 && rank != first) usleep(300000);
    MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (i = 0; i < 2 * ROUNDS && rank == 0; i++) {
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status); /* harmless */
    MPI_Send(&value, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
  }
  if (rank != 0) {
    if (rank != last) usleep(600000);
    MPI_Send(&rank, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* culprit */
    MPI_Recv(&other, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return rank == 0 && value == 2;
}
"""


class DiffTest(PhotofinishTest):
    def diff(self, a, b, *options):
        return self.photofinish("diff", self.dir / a, self.dir / b, *options)

    def record_program(self, trace, name, ranks, *options, **how):
        self.need("mpirun", CORPUS / name)
        return self.record(trace, self.mpirun(ranks, CORPUS / name), *options, **how)

    def events(self, trace):
        """Events of each rank, in order."""
        ranks = {}
        for event in self.photofinish("events", self.dir / trace, "--json").json()["events"]:
            ranks.setdefault(event["rank"], []).append(event)
        return ranks

    def record_until(self, trace, name, ranks, wanted, *options):
        """Records with jitter, seed after seed, until wanted(run)."""
        for seed in range(1, SEEDS + 1):
            run = self.record_program(trace, name, ranks, "--jitter", str(seed), *options, status=None)
            if wanted(run):
                return run
        self.fail(f"{SEEDS} runs of {name} did not do what the test needs")

    def differing_pair(self, name, ranks, *options):
        """a.pft and b.pft, of two runs with other deliveries; what diff says of them."""
        self.record_program("a.pft", name, ranks, "--jitter", "1", *options, status=None)
        said = []

        def differs(_):
            said.append(self.diff("a.pft", "b.pft", "--json"))
            self.assertIn(said[-1].status, (0, 1), said[-1])
            return said[-1].status == 1
        self.record_until("b.pft", name, ranks, differs, *options)
        return said[-1].json()

    @staticmethod
    def taken(event):
        """What a recv of the events' list took: source, tag, serial of the send."""
        return [(each["source"], each["tag"], each.get("sendSerial")) for each in event.get("deliveries", [])]

    @staticmethod
    def request(event):
        return [event[what] for what in ("call", "file", "line", "peer", "tag", "bytes", "kind")]

    def check_against_events(self, document):
        """The first difference of each rank is where the lists of its events part."""
        a, b = self.events("a.pft"), self.events("b.pft")
        sends = {}  # n-th message of (source, dest, tag) by its send, for the identity of a message
        for side, events in (("a", a), ("b", b)):
            for rank, each in events.items():
                count = {}
                for event in each:
                    if event["kind"] == "send":
                        key = (event["peer"], event["tag"])
                        count[key] = count.get(key, 0) + 1
                        sends[side, rank, event["serial"]] = count[key]
        for entry in document["ranks"]:
            rank, difference = entry["rank"], entry["difference"]
            first = next((p["serial"] for p, q in zip(a[rank], b[rank])
                          if self.request(p) != self.request(q) or
                          [(s, t, sends.get(("a", s, n))) for s, t, n in self.taken(p)] !=
                          [(s, t, sends.get(("b", s, n))) for s, t, n in self.taken(q)]), None)
            if difference is None and first == min(entry["events"].values()):
                first = None  # a rank that was ended inside its last call: no outcome to compare
            self.assertEqual(difference and difference["serial"], first, entry)
            if difference and difference["kind"] == "delivery":
                for side, events in (("a", a), ("b", b)):
                    event = events[rank][first - 1]
                    said = difference[side]
                    self.assertIn((said["source"], said["tag"], said["serial"]), self.taken(event))
                    sender = events[said["source"]][said["serial"] - 1]
                    self.assertEqual((said["call"], said["file"], said["line"]),
                                     (sender["call"], sender["file"], sender["line"]))
                    self.assertEqual((said["receive"]["serial"], said["receive"]["line"]), (first, event["line"]))
                self.assertEqual((difference["call"], difference["line"]),
                                 (a[rank][first - 1]["call"], a[rank][first - 1]["line"]))
        return a, b

    # -- the same
    def test_a_deterministic_program_does_the_same(self):
        for number in ("a", "b"):
            self.record_program(f"{number}.pft", "token_ordered", 4, "--jitter", str(ord(number)))
        run = self.diff("a.pft", "b.pft", "--json")
        self.assertEqual(run.status, 0, run)
        document = run.json()
        self.assertTrue(document["same"])
        self.assertTrue(document["sameBuild"])
        self.assertEqual(document["firstCauses"], [])
        self.assertEqual([entry["difference"] for entry in document["ranks"]], [None] * 4)
        self.assertEqual(document["cone"], {"a": [None] * 4, "b": [None] * 4})
        text = self.diff("a.pft", "b.pft")
        self.assertEqual(text.status, 0, text)
        self.assertRegex(text.out, r"the same: 4 ranks, \d+ events")

    def test_a_trace_and_itself(self):
        self.record_program("a.pft", "harvest", 4, status=None)
        shutil.copy(self.dir / "a.pft", self.dir / "b.pft")
        self.assertEqual(self.diff("a.pft", "b.pft").status, 0)

    def test_a_survey_of_the_same_run(self):
        """What the replay saw is what the recording held, whichever calls there are."""
        for program in (BIN / "families" / "families", CORPUS / "harvest"):
            with self.subTest(program=program.name):
                self.need("mpirun", program)
                self.record("a.pft", self.mpirun(4, program), "--mode", "all", status=None)
                shutil.copy(self.dir / "a.pft", self.dir / "b.pft")
                self.photofinish("replay", self.dir / "b.pft", "--survey", "--ignore-contents", "--jitter", "9")
                run = self.diff("a.pft", "b.pft")
                self.assertEqual(run.status, 0, run)

    # -- deliveries
    def test_one_receive_took_another_message(self):
        document = self.differing_pair("any_source_sum", 4)
        self.assertFalse(document["same"])
        self.assertEqual(document["firstCauses"], [0])
        difference = document["ranks"][0]["difference"]
        self.assertEqual(difference["kind"], "delivery")
        self.assertTrue(difference["cause"])
        self.assertNotEqual((difference["a"]["source"], difference["a"]["serial"]),
                            (difference["b"]["source"], difference["b"]["serial"]))
        self.assertEqual(difference["communicator"], "MPI_COMM_WORLD")
        a, _ = self.check_against_events(document)
        receives = [event["serial"] for event in a[0] if event["kind"] == "receive" and event["tag"] == difference["tag"]]
        self.assertEqual(difference["k"], receives.index(difference["serial"]) + 1)
        text = self.diff("a.pft", "b.pft")
        self.assertEqual(text.status, 1, text)
        self.assertIn("differ on 1 of 4 ranks", text.out)
        self.assertRegex(text.out, rf"first causes\nrank 0 event {difference['serial']}: MPI_Recv from any source.* at any_source_sum.c:\d+")
        self.assertRegex(text.out, rf"\n +A  took rank {difference['a']['source']}'s tag .*: its event {difference['a']['serial']}, MPI_Send")

    def test_what_follows_from_a_first_cause(self):
        """harvest: rank 0 answers whoever was first, so the others come to differ after it."""
        document = self.differing_pair("harvest", 4)
        self.check_against_events(document)
        self.assertEqual(document["firstCauses"], [0])
        cone = document["cone"]
        for entry in document["ranks"]:
            difference = entry["difference"]
            if difference is None:
                continue
            self.assertEqual(difference["cause"], entry["rank"] in document["firstCauses"])
            self.assertEqual(difference["cause"], difference["after"] == [])
            for side in ("a", "b"):
                self.assertLessEqual(cone[side][entry["rank"]], difference["serial"])
        self.assertEqual(document["ranks"][0]["difference"]["cone"], cone, "there is one cause only")
        self.assertEqual(cone["a"][0], document["ranks"][0]["difference"]["serial"])

    def test_a_cone_is_what_messages_lead_to(self):
        """Worked out once more from the events: from the difference along messages."""
        document = self.differing_pair("harvest", 4)
        for side, trace in (("a", "a.pft"), ("b", "b.pft")):
            events = self.events(trace)
            cone = {0: document["ranks"][0]["difference"]["serial"]}
            if any(event["kind"].startswith("collective") for each in events.values() for event in each):
                self.skipTest("harvest has collectives now")
            changed = True
            while changed:
                changed = False
                for rank, each in events.items():
                    for event in each:
                        for source, _, serial in self.taken(event):
                            reached = source in cone and serial is not None and (
                                serial > cone[source] or (serial == cone[source] and source != 0))
                            if reached and event["serial"] < cone.get(rank, 1 << 60):
                                cone[rank], changed = event["serial"], True
            self.assertEqual(document["cone"][side], [cone.get(rank) for rank in range(4)])

    def test_receives_that_do_not_block(self):
        """The difference is where the message is observed; where its receive was posted is said as well."""
        document = self.differing_pair("irecv_any_waitall", 4)
        difference = next(entry["difference"] for entry in document["ranks"] if entry["difference"])
        self.assertEqual(difference["kind"], "delivery")
        self.assertIn("MPI_Wait", difference["call"])
        self.assertEqual(difference["a"]["receive"]["posted"]["call"], "MPI_Irecv")
        self.assertLess(difference["a"]["receive"]["posted"]["serial"], difference["serial"])

    def test_probes_and_outcomes(self):
        for name, kinds in (("probe_then_recv", {"probe"}), ("waitany_workers", {"outcome", "delivery"}),
                            ("testsome_poll", {"outcome", "delivery"}), ("ibarrier_nbx", {"probe", "outcome"}),
                            ("iprobe_loop", {"probe", "outcome"})):
            with self.subTest(program=name):
                document = self.differing_pair(name, 4)
                causes = [document["ranks"][rank]["difference"] for rank in document["firstCauses"]]
                self.assertTrue(causes)
                self.assertLessEqual({cause["kind"] for cause in causes}, kinds, "what a test came to is no call out of nothing")
                self.assertEqual(self.diff("a.pft", "b.pft").status, 1)

    def test_recordings_of_both_modes(self):
        document = self.differing_pair("any_source_sum", 4, "--mode", "all")
        self.check_against_events(document)

    # -- all differences
    def record_master(self, rounds=40):
        """a.pft passes, b.pft fails: the first receives of both differ, and the last ones."""
        self.need("mpirun", MPICC)
        source = self.dir / "master.c"
        source.write_text(MASTER)
        subprocess.run([MPICC, "-g", "-O0", f"-DROUNDS={rounds}", "-o", self.dir / "master", source], check=True, env=self.env)
        for trace, first, last in (("a.pft", 1, 1), ("b.pft", 2, 2)):
            self.record(trace, self.mpirun(3, self.dir / "master"), "--mode", "all", env={"FIRST": str(first), "LAST": str(last)},
                        status=last - 1)
        return {mark: next(number for number, line in enumerate(MASTER.splitlines(), 1) if f"/* {mark} */" in line)
                for mark in ("harmless", "culprit")}

    def test_the_culprit_is_listed_first(self):
        lines = self.record_master()
        culprit = next(event["serial"] for event in self.events("b.pft")[0] if event["line"] == lines["culprit"])
        run = self.diff("a.pft", "b.pft")
        self.assertEqual(run.status, 1, run)
        self.assertRegex(run.out, rf"differ on \d of 3 ranks\n\nbefore the failure of B: rank 0 ended with exit status 1 after event \d+\n"
                         rf"rank 0 event {culprit}: MPI_Recv from any source, tag 9 at master.c:{lines['culprit']}: in another order\n"
                         rf"    A  took rank 1's tag 9: its event \d+, MPI_Send to rank 0, tag 9 at master.c:\d+\n"
                         rf"    B  took rank 2's tag 9: its event \d+, MPI_Send .*\n"
                         r"    look here first: the last of the rank that failed before it failed\n")
        # What is harmless comes behind it, and is at one place.
        self.assertRegex(run.out.split("\nfirst causes\n")[0], rf"look here first.*\n(?:.*\n)*?rank 0 event 2\b.* at master.c:{lines['harmless']}: in another order\n")
        self.assertRegex(run.out, r"\nfirst causes\nrank 0 event 2: MPI_Recv")
        self.assertLess(len(run.out.splitlines()), 60, run)

    def test_all_differences_in_json(self):
        lines = self.record_master()
        document = self.diff("a.pft", "b.pft", "--json").json()
        self.assertEqual((document["failure"]["run"], document["failure"]["rank"]), ("b", 0))
        self.assertTrue(document["exactlyAligned"])
        self.assertEqual(document["differencesLeftOut"], 0)
        first = document["differences"][0]
        self.assertEqual((first["rank"], first["weight"], first["kind"]), (0, "first", "order"))
        self.assertEqual((first["a"]["source"], first["b"]["source"], first["b"]["receive"]["line"]), (1, 2, lines["culprit"]))
        others = document["differences"][1:]
        self.assertTrue(others)
        self.assertEqual(min(each["serialA"] or each["serialB"] for each in others if each["rank"] == 0), 2)
        self.assertEqual({each["b"]["receive"]["line"] for each in others if each["rank"] == 0}, {lines["harmless"]}, "the rest follows from these")
        # Every receive of rank 0 that took another message than in A, counted by position, is told or follows; and so does what was sent.
        every = self.diff("a.pft", "b.pft", "--json", "--all").json()["differences"]
        self.assertEqual([each["following"] for each in every], [len(each.get("follows", [])) for each in every])
        self.assertEqual([{key: value for key, value in each.items() if key != "follows"} for each in every], document["differences"])
        text = self.diff("a.pft", "b.pft", "--all").out
        for each in every:
            for one in [each, *each.get("follows", [])]:
                place = f"rank {one['rank']} event {one['serialA'] or one['serialB']}"
                self.assertRegex(text, rf"(?m)^(?:      follows: )?{place}\b")

    def test_a_run_and_itself_differ_in_nothing(self):
        self.record_master(3)
        document = self.diff("b.pft", "b.pft", "--json").json()
        self.assertEqual((document["same"], document["differences"]), (True, []))
        self.assertIn("the same: 3 ranks", self.diff("b.pft", "b.pft").out)

    # -- calls and ends
    def test_a_call_that_no_delivery_explains(self):
        program = self.build_steered()
        self.record("a.pft", self.mpirun(2, program), "--mode", "all")
        self.record("b.pft", self.mpirun(2, program), "--mode", "all", env={"STEER": "call"})
        run = self.diff("a.pft", "b.pft", "--json")
        self.assertEqual(run.status, 1, run)
        document = run.json()
        difference = document["ranks"][1]["difference"]
        self.assertEqual((difference["kind"], difference["cause"]), ("call", True))
        self.assertEqual((difference["a"]["call"], difference["b"]["call"]), ("MPI_Send", "MPI_Ssend"))
        self.assertIsNone(document["ranks"][0]["difference"], "rank 0 took the same messages")
        self.assertIsNotNone(document["cone"]["b"][0])
        self.assertIn("time, input or chance", self.diff("a.pft", "b.pft").out)

    def test_a_run_that_fails_and_one_that_does_not(self):
        for name in ("segfault_in_order", "mpi_abort_in_order"):
            with self.subTest(program=name):
                self.record_until("a.pft", name, 4, lambda run: run.status == 0)
                self.record_until("b.pft", name, 4, lambda run: run.status not in (0, None))
                run = self.diff("a.pft", "b.pft", "--json")
                self.assertEqual(run.status, 1, run)
                document = run.json()
                self.assertEqual(document["firstCauses"], [0])
                self.assertEqual(document["ranks"][0]["difference"]["kind"], "delivery")
                for entry in document["ranks"][1:]:
                    self.assertIsNone(entry["difference"], "the launcher ended it")

    def test_a_crash_is_another_end(self):
        """The same deliveries, but one of the two goes on: told from the record of a rank that was killed."""
        program = self.build_steered()
        source = STEERED.read_text()
        at = "int odd = rank == 1;"
        self.assertIn(at, source)
        (self.dir / "crash.c").write_text(source.replace(at, at + ' if (odd && steered("crash")) __builtin_trap();'))
        subprocess.run([MPICC, "-g", "-O0", "-o", program, self.dir / "crash.c"], check=True)
        self.record("a.pft", self.mpirun(2, program), "--mode", "all")
        self.record("b.pft", self.mpirun(2, program), "--mode", "all", env={"STEER": "crash"}, status=None)
        run = self.diff("a.pft", "b.pft", "--json")
        self.assertEqual(run.status, 1, run)
        document = run.json()
        difference = document["ranks"][1]["difference"]
        self.assertEqual(difference["kind"], "end", run)
        self.assertEqual(difference["a"]["call"], "MPI_Send")
        self.assertEqual(difference["b"]["signal"], 4)
        self.assertTrue(difference["cause"])
        self.assertIsNone(document["ranks"][0]["difference"], "rank 0 was ended: its record is compared up to there")
        self.assertLess(document["ranks"][0]["compared"], document["ranks"][0]["events"]["a"])
        self.assertRegex(self.diff("a.pft", "b.pft").out, r"another end\n +A  goes on with MPI_Send.*\n +B  .*signal 4")

    # -- bad use
    def build_steered(self, *options):
        self.need("mpirun", MPICC)
        program = self.dir / "app"
        subprocess.run([MPICC, "-g", "-O0", "-Wl,--build-id", *options, "-o", program, STEERED], check=True)
        return program

    def test_another_build_is_told(self):
        program = self.build_steered()
        self.record("a.pft", self.mpirun(2, program), "--mode", "all")
        self.build_steered("-DEDITION=2", "-O1")
        self.record("b.pft", self.mpirun(2, program), "--mode", "all")
        run = self.diff("a.pft", "b.pft", "--json")
        self.assertEqual(run.status, 0, run)
        self.assertFalse(run.json()["sameBuild"])
        self.assertIn("different builds", self.diff("a.pft", "b.pft").out)

    def test_what_cannot_be_compared(self):
        self.record_program("a.pft", "any_source_sum", 4)
        self.record_program("three.pft", "any_source_sum", 3)
        self.record_program("other.pft", "token_ordered", 4)
        before = pathlib.Path(self.dir / "a.pft").read_bytes()
        self.assert_refused(self.diff("a.pft", "three.pft"), 2, "4 ranks", "3")
        self.assert_refused(self.diff("a.pft", "other.pft"), 2, "any_source_sum", "token_ordered")
        self.assert_refused(self.diff("a.pft", "none.pft"), 2, "none.pft")
        self.assertEqual(pathlib.Path(self.dir / "a.pft").read_bytes(), before, "nothing is surveyed in vain")
        self.assertEqual(self.photofinish("diff", self.dir / "a.pft").status, 2)

    def test_a_damaged_trace(self):
        self.record_program("a.pft", "any_source_sum", 4, "--mode", "all")
        whole = (self.dir / "a.pft").read_bytes()
        for place in (0, 40, len(whole) // 2):
            with self.subTest(cut=place):
                (self.dir / "b.pft").write_bytes(whole[:place])
                self.assert_refused(self.diff("a.pft", "b.pft"), 4, "b.pft")
                self.assert_refused(self.diff("b.pft", "a.pft"), 4, "b.pft")


if __name__ == "__main__":
    main()
