# SPDX-License-Identifier: GPL-3.0-or-later
"""What a record-and-replay tool for MPI is asked: each probe is replayed exactly, or refused with a reason. Prints a table.

The probes are those that a study of other tools was made with. "exact": under jitter, each rank prints what it
printed and the exit status is the recorded one. "explained": a replay cannot be exact, and says so, with the place.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

PROGRAM = BIN / "corpus" / "capability"
F08 = BIN / "corpus" / "fortran_mpi_f08"
SEEDS = (1, 2, 3)
ROWS = []


class CapabilityTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", PROGRAM)

    @classmethod
    def tearDownClass(cls):
        width = max((len(row[0]) for row in ROWS), default=0)
        print("\n".join(f"  {what:{width}}  {verdict:9}  {how}" for what, verdict, how in ROWS))

    def launch(self, probe, ranks=3, program=PROGRAM):
        return self.mpirun(ranks, program, probe)

    def row(self, what, verdict, how=""):
        ROWS.append((what, verdict, how))

    def exact(self, what, probe, ranks=3, status=0, program=PROGRAM, note=""):
        recorded = self.record("t.pft", self.launch(probe, ranks, program), status=status)
        self.assertTrue(any(recorded.by_rank().values()), recorded)
        for seed in SEEDS:
            with self.subTest(jitter=seed):
                self.assert_same_run(recorded, self.replay("t.pft", "--jitter", seed))
        self.row(what, "exact", note)
        return recorded

    def refused(self, what, run, *fragments):
        self.assertEqual(run.status, 3, run)
        for fragment in fragments:
            self.assertRegex(run.err, fragment, run)
        self.row(what, "refused", next(line for line in run.err.splitlines() if line.startswith("photofinish: "))[13:])

    def test_mprobe(self):
        self.exact("MPI_Mprobe, MPI_Mrecv", "mprobe")

    def test_receives(self):
        self.exact("MPI_Recv from any source", "plain")

    def test_probe(self):
        self.exact("MPI_Probe", "probe")

    def test_iprobe(self):
        self.exact("MPI_Iprobe, polled", "iprobe")

    def test_waitany(self):
        self.exact("MPI_Waitany of wildcards", "waitany")

    def test_testsome(self):
        self.exact("MPI_Testsome, polled", "testsome")

    def test_isends(self):
        self.exact("small MPI_Isend and MPI_PROC_NULL in an MPI_Waitall", "isends")

    def test_improbe(self):
        self.exact("MPI_Improbe", "improbe")

    def test_sendrecv(self):
        self.exact("MPI_Sendrecv from any source", "sendrecv")

    def test_wtime(self):
        self.exact("MPI_Wtime", "wtime")

    def test_request_get_status(self):
        self.exact("MPI_Request_get_status", "get_status")

    def test_persistent(self):
        self.exact("persistent receives", "persistent")

    def test_waitall_ibarrier(self):
        self.exact("MPI_Waitall of receives and MPI_Ibarrier", "waitall_ibarrier")

    def test_request_free(self):
        self.exact("MPI_Request_free of a receive", "request_free")

    def test_two_threads(self):
        self.exact("two receiving threads", "threads")

    def test_mpi_f08(self):
        if not F08.exists():
            self.row("use mpi_f08", "skipped", "no gfortran")
            self.skipTest("no Fortran compiler")
        self.exact("use mpi_f08", "", program=F08)

    def test_one_sided(self):
        """What is fetched is given back; the order of updates is not recorded: named in the recording, the trace and each replay."""
        recorded = self.record("t.pft", self.launch("rma"))
        replayed = self.replay("t.pft", "--jitter", 1)
        self.assert_same_run(recorded, replayed)
        for run in (recorded, replayed):
            self.assertRegex(run.err, r"note: .*MPI_Win_lock\w* at capability\.c:\d+.*not recorded.*may differ", run)
        self.assertTrue(self.photofinish("info", self.dir / "t.pft", "--json").json()["notGuaranteed"])
        self.row("MPI_Fetch_and_op", "exact", "the order of locks and updates: " + next(line for line in replayed.err.splitlines() if "Win_lock" in line)[13:])

    def test_spawn(self):
        """What the parents receive is given back; what the children do among themselves is not recorded, and that is said."""
        recorded = self.record("t.pft", self.launch("spawn", 2))
        replayed = self.replay("t.pft", "--jitter", 1)
        self.assert_same_run(recorded, replayed)
        for run in (recorded, replayed):
            self.assertRegex(run.err, r"note: .*MPI_Comm_spawn at capability\.c:\d+.*not recorded.*may differ", run)
        self.row("MPI_Comm_spawn", "explained", next(line for line in replayed.err.splitlines() if "Comm_spawn" in line)[13:])

    def test_segfault(self):
        self.exact("a program that crashes", "segfault", status=139, note="up to the crash, and the crash")

    def test_segfault_with_threads(self):
        self.exact("a crash after MPI_Init_thread", "segfault_threads", status=139)

    def test_abort(self):
        self.exact("MPI_Abort", "abort", status=17, note="exit status 17 as well")

    def test_deadlock(self):
        recorded = self.record_stuck("t.pft", self.launch("deadlock"))
        replayed = self.replay("t.pft")
        self.assertIsNotNone(replayed.status, replayed)
        for run in (recorded, replayed):
            self.assertRegex(run.err, r"deadlock: rank \d waits in MPI_Recv \(event \d+\) at capability\.c:\d+ \(deadlock\) for rank \d, tag 3", run)
        self.assertEqual(replayed.by_rank(), recorded.by_rank(), f"{recorded}\n{replayed}")
        self.row("a program that deadlocks", "exact", "and the cycle is named")

    def test_more_receives(self):
        self.record("t.pft", self.launch("steered"))
        self.refused("more receives than recorded", self.replay("t.pft", env={"STEER": "more"}), "divergence", "MPI_Recv")

    def test_fewer_sends(self):
        self.record("t.pft", self.launch("steered"))
        self.refused("fewer sends than recorded", self.replay("t.pft", env={"STEER": "less"}), "divergence")

    def test_another_program(self):
        """What the launcher starts is behind a link; the command of a trace cannot be changed."""
        link = self.dir / "app"
        link.symlink_to(PROGRAM)
        self.record("t.pft", self.launch("plain", program=link))
        link.unlink()
        link.symlink_to(BIN / "corpus" / "any_source_sum")
        self.refused("another program", self.photofinish("replay", self.dir / "t.pft"), "not the build that was recorded|not the program")

    def test_other_rank_counts(self):
        real = "/usr/bin/mpirun"
        wrapper = self.dir / "bin" / "mpirun"
        wrapper.parent.mkdir()
        wrapper.write_text(f'#!/bin/sh\nfor word; do shift; [ "$word" = 4 ] && word="${{PF_TEST_RANKS:-4}}"; set -- "$@" "$word"; done\n'
                           f'exec {real} "$@"\n')
        wrapper.chmod(0o755)
        self.need(real)
        path = {"PATH": f"{wrapper.parent}:{self.env['PATH']}"}
        self.record("t.pft", self.launch("plain", 4), env=path)
        for ranks in ("5", "3"):
            self.refused(f"{ranks} ranks instead of 4", self.photofinish("replay", self.dir / "t.pft", env=dict(path, PF_TEST_RANKS=ranks)),
                         f"recording has 4 ranks, this run has {ranks}")


if __name__ == "__main__":
    main()
