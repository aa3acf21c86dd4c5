# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish payload: contents of messages from outside of a group, by their datatypes, which are kept once each."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from dap_client import DapCase
from photofinish import BIN, PhotofinishTest, main

TYPED = BIN / "e2e" / "typed"
PARTICLE = "3 float64, int32, 4 char"
PARTICLES = ["0.5", "1", "-1e+300", "7", "'a'", "'b'", "'c'", "0x00", "1", "2", "3", "8", "'d'", "'e'", "'f'", "0x00"]
LIST = [("message", None, 0, 5, 12, "int32", "MPI_INT")] \
    + [("message", None, 0, 6, 64, PARTICLE, "Particle"), ("message", None, 0, 7, 6, "int16", "")] * 3 \
    + [("message", None, 0, 8, 8, "float32", ""), ("message", None, 0, 8, 8, "uint32", "")] \
    + [("probe", None, 0, 9, 4000, None, None), ("message", None, 0, 9, 4000, "int32", "MPI_INT")] \
    + [("collective", "MPI_Allreduce", None, None, 8, "float64", "MPI_DOUBLE"),
       ("collective", "MPI_Bcast", None, None, 100000, "byte", "MPI_BYTE")]

PYTHON = "/usr/bin/python3"
OBJECTS = """\
from mpi4py import MPI
import numpy


class Point:
    def __init__(self, x):
        self.x = x


SENT = [(("pay", 7, 10.5), None), ({"a": [1, -2, 3 << 90], 5: (None, True)}, None), ("\\u20ac'", None), (b"\\xff", None),
        (Point("p"), "<__main__.Point x='p'>"), (numpy.arange(3.0), "array([0.0, 1.0, 2.0], dtype=f8)")]
comm = MPI.COMM_WORLD
for value, written in SENT:
    if comm.rank == 0:
        comm.send(value, dest=1)
    else:
        comm.recv(source=0)
        print(written or repr(value), flush=True)
"""


class PayloadTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", TYPED)

    def payload(self, *words, rank=1):
        run = self.photofinish("payload", self.dir / "t.pft", "--rank", rank, *words)
        self.assertEqual(run.status, 0, run)
        return run

    def test_what_mpi4py_has_pickled(self):
        """Its value is what the program has sent; a message that is cut has none."""
        self.need(PYTHON, "/usr/lib/python3/dist-packages/mpi4py", "/usr/lib/python3/dist-packages/numpy")
        (self.dir / "objects.py").write_text(OBJECTS)
        run = self.record("t.pft", ["mpirun", "-n", "2", PYTHON, self.dir / "objects.py"], "--groups", "each", "--mode", "all")
        sent = run.out.splitlines()
        messages = [each for each in self.payload("--json").json()["contents"] if each["kind"] == "message"]
        self.assertEqual(len(messages), len(sent), run)
        for message, value in zip(messages, sent):
            shown = self.payload("--event", message["event"], "--json").json()["contents"][-1]
            self.assertEqual(shown["values"], [value])
            self.assertIn(f"\n  {value}\n", self.payload("--event", message["event"]).out)
        cut = self.payload("--event", messages[0]["event"], "--bytes", "5", "--json").json()["contents"][-1]
        self.assertEqual((cut["values"], cut["cut"]), ([], True))

    def test_contents_by_datatype(self):
        for mode in ("outcomes", "all"):
            with self.subTest(mode=mode):
                self.record("t.pft", self.mpirun(3, TYPED), "--groups", "each", "--mode", mode)
                found = self.payload("--json").json()["contents"]
                self.assertEqual([tuple(each[name] for name in ("kind", "call", "source", "tag", "bytes", "type", "typeName"))
                                  for each in found], [(*each[:6], found[2]["typeName"] if each[6] == "" else each[6]) for each in LIST])
                calls = {each["serial"]: each["call"] for each in self.photofinish("events", self.dir / "t.pft", "--rank", 1, "--json").json()["events"]}
                self.assertEqual([calls[each["event"]] for each in found],
                                 ["MPI_Recv", *["MPI_Wait", "MPI_Recv"] * 3, *["MPI_Recv"] * 2, "MPI_Probe", "MPI_Recv", "MPI_Allreduce", "MPI_Bcast"])
                numbers, particles, shorts = found[0]["event"], found[3]["event"], found[4]["event"]
                first = self.payload("--event", numbers, "--json").json()["contents"][0]
                self.assertEqual((first["hex"], first["values"], first["cut"]), (struct.pack("<3i", 1, -2, 300000).hex(), ["1", "-2", "300000"], False))
                self.assertEqual(self.payload("--event", particles, "--json").json()["contents"][0]["values"], PARTICLES)
                self.assertEqual(self.payload("--event", shorts, "--json").json()["contents"][0]["values"], ["1", "2", "3"])
                text = self.payload("--event", particles).out
                self.assertIn(f"message from rank 0 of its communicator, tag 6: 64 bytes of {PARTICLE} (Particle)\n", text)
                self.assertIn("  00000010  9c 75 00 88 3c e4 37 fe  07 00 00 00 61 62 63 00  .u..<.7.....abc.\n", text)
                self.assertIn("  " + " ".join(PARTICLES) + "\n", text)
                probe = self.payload("--event", found[9]["event"])
                self.assertEqual(probe.out, "probe of a message from rank 0 of its communicator, tag 9: 4000 bytes\n")
                as_json = self.payload("--event", found[9]["event"], "--json").json()["contents"][0]
                self.assertEqual((as_json["bytes"], as_json["hex"], as_json["values"], as_json["cut"]), (4000, "", [], False))
                self.assertRegex(self.payload().out, r"\n +\d+ +4000  probe of a message from rank 0 of its communicator, tag 9\n")
                # Each datatype is in the file once, and is no contents.
                contents = self.photofinish("info", self.dir / "t.pft", "--json").json()["contents"]
                self.assertEqual([each["entries"] for each in contents["perRank"] if each["rank"] == 1], [len(LIST)])
                self.assertEqual(self.replay("t.pft", "--group", 1).status, 0)

    def test_long_ones_are_cut(self):
        self.record("t.pft", self.mpirun(2, TYPED), "--groups", "each")
        event = self.payload("--json").json()["contents"][-1]["event"]
        whole = self.payload("--event", event, "--json", "--bytes", 100000).json()["contents"][0]
        self.assertEqual((whole["hex"], whole["cut"]), ("78" * 100000, False))
        usual = self.payload("--event", event, "--json").json()["contents"][0]
        self.assertEqual((usual["hex"], usual["cut"]), ("78" * 65536, True))
        few = self.payload("--event", event, "--bytes", 20).out
        self.assertIn("  00000010  78 78 78 78" + " " * 39 + "xxxx\n  … 99980 bytes more\n", few)

    def test_bad_use(self):
        self.record("t.pft", self.mpirun(2, TYPED), "--groups", "each")
        trace = self.dir / "t.pft"
        self.assert_refused(self.photofinish("payload", trace, "--rank", 2), 2, "has no rank 2")
        self.assert_refused(self.photofinish("payload", trace, "--rank", 1, "--event", 1), 2, "received nothing", "--event")
        self.assert_refused(self.photofinish("payload", trace, "--rank", 1, "--event", 99999), 2, "rank 1 has no event 99999", "events are 1 to")
        self.assert_refused(self.photofinish("payload", trace, "--rank", 1, "--event", 1), 2, r"outside of its group \(group 1: 1\)")
        self.assertEqual(self.photofinish("redact", trace, self.dir / "r.pft").status, 0)
        self.assert_refused(self.photofinish("payload", self.dir / "r.pft", "--rank", 1), 2, "r.pft is redacted")
        for words in ([], ["--rank", 1, "--bytes", 0], ["--rank", 1, "--event", "x"], ["--rank", "x"]):
            self.assertEqual(self.photofinish("payload", trace, *words).status, 2)
        self.record("plain.pft", self.mpirun(2, TYPED))
        self.assert_refused(self.photofinish("payload", self.dir / "plain.pft", "--rank", 1), 2, "has no contents", "--groups")


    def test_contents_in_a_script(self):
        self.record("t.pft", self.mpirun(2, TYPED), "--groups", "each", "--mode", "all")
        event = self.payload("--json").json()["contents"][0]["event"]
        (self.dir / "s").write_text(f"contents 1:{event}\nexpect 12 bytes of int32\ncontents 0:1\nexpect neither sends nor receives\n"
                                    "contents 1:100000\n")
        run = self.photofinish("debug", "--script", self.dir / "s", self.dir / "t.pft")
        self.assertEqual(run.status, 1, run)
        said = f"[1] event {event} (rank 0): message from rank 0 of its communicator, tag 5: 12 bytes of int32 (MPI_INT)\n"
        self.assertIn(said + "[1]   00000000  01 00 00 00 fe ff ff ff  e0 93 04 00              ............\n[1]   1 -2 300000\n", run.out)
        self.assertRegex(run.out + run.err, "rank 1 has [0-9]+ events in the recording")


class ContentsInAnEditorTest(DapCase):
    """photofinish/contents of the Debug Adapter Protocol."""

    def setUp(self):
        super().setUp()
        self.need(TYPED)

    def ask(self, groups, *events):
        self.record(f"{len(groups)}.pft", self.mpirun(3, TYPED), "--mode", "all", *groups)
        process, client = self.serve()
        client.ask("initialize", adapterID="photofinish")
        launch = client.send("launch", trace=str(self.dir / f"{len(groups)}.pft"))
        self.assertTrue(client.answer(launch)["success"], client.answer(launch))
        client.event("initialized", 0)
        serials = {}
        for rank in range(3):
            for each in self.photofinish("events", self.dir / f"{len(groups)}.pft", "--rank", rank, "--json").json()["events"]:
                serials.setdefault((rank, each["call"]), each["serial"])
        answers = [client.ask("photofinish/contents", rank=rank, serial=serials[rank, call]) for rank, call in events]
        self.assertIn("no such event", client.refuse("photofinish/contents", rank=1, serial=10 ** 6))
        self.assertIn("no such event", client.refuse("photofinish/contents", rank=7))
        client.ask("disconnect")
        self.assertEqual(process.wait(30), 0)
        return answers

    def test_contents(self):
        received, sent, none, large = self.ask(["--groups", "each"], (1, "MPI_Recv"), (0, "MPI_Send"), (2, "MPI_Init"), (2, "MPI_Bcast"))
        one = received["contents"][0]
        self.assertEqual((one["values"], one["source"], one["sourceRank"], one["tag"], one["bytes"], one["rank"]), (["1", "-2", "300000"], 0, 0, 5, 12, 1))
        self.assertIn("12 bytes of int32 (MPI_INT)\n", one["text"])
        self.assertEqual((received["notes"], sent["contents"]), ([], received["contents"]))
        self.assertEqual((none["contents"], none["notes"]), ([], ["This event neither sends nor receives anything."]))
        self.assertEqual((large["contents"][0]["cut"], len(large["contents"][0]["hex"])), (True, 2 * 65536))
        self.assertIn("At most 64 KiB", large["notes"][0])
        # What the command says of the same event.
        payload = self.photofinish("payload", self.dir / "2.pft", "--rank", 1, "--event", one["event"], "--json").json()["contents"][0]
        self.assertEqual({name: one[name] for name in payload}, payload)

    def test_none(self):
        (within,) = self.ask(["--groups", "all"], (1, "MPI_Recv"))
        self.assertEqual(within["contents"], [])
        self.assertIn("within the group 0-2", within["notes"][0])
        (plain,) = self.ask([], (1, "MPI_Recv"))
        self.assertIn("Record with --groups", plain["notes"][0])


if __name__ == "__main__":
    main()
