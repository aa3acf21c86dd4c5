# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm's srun as the launcher, on a Slurm of one machine that the test sets up for itself."""
import getpass
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, end_all, main, processes
from slurm import NoSlurm, Slurm

MPICC = os.environ.get("PF_MPICC", "mpicc")
CORPUS = BIN / "corpus"
E2E = BIN / "e2e"
LABEL = re.compile(r"^(\d+): ", re.M)
# Reads its input; then rank 0 takes a message of each, and aborts if it is told to.
READER = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char line[80] = "nothing\n";
    int rank, size, value;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (fgets(line, sizeof line, stdin) != NULL)
        printf("reads %s", line);
    if (rank != 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    else
        for (int i = 1; i < size; ++i) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("hears of %d\n", value);
        }
    if (argc > 1 && rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""


def by_rank(text):
    """Lines of each rank in their order, from srun --label."""
    pieces = LABEL.split(text)
    lines = {}
    for rank, line in zip(pieces[1::2], pieces[2::2]):
        lines.setdefault(int(rank), []).append(line.rstrip("\n"))
    return lines


class SrunTest(PhotofinishTest):
    slurm = why_not = None

    @classmethod
    def start_slurm(cls):
        """Once for all tests."""
        cls.home = pathlib.Path(tempfile.mkdtemp(prefix="pf-e2e-slurm."))
        cls.slurm_mark = f"SLURM_CONF={cls.home}/"  # slurmstepd has no other variable
        try:
            cls.slurm = Slurm(cls.home / "slurm", os.environ)
        except NoSlurm as why:
            cls.why_not = str(why)
            shutil.rmtree(cls.home, ignore_errors=True)

    @classmethod
    def tearDownClass(cls):
        if cls.slurm is None:
            return
        gently = cls.slurm.stop()
        cls.end_stuck_step_daemons()
        left = {pid: entry for pid, entry in processes(cls.slurm_mark).items() if entry[1] != "Z"}
        end_all(cls.slurm_mark)
        socket = (cls.home / "slurm" / "munge.socket").exists()
        shutil.rmtree(cls.home, ignore_errors=True)
        assert gently, "Slurm does not end by itself"
        assert not left and not socket, f"left of Slurm: {left}, socket: {socket}"

    @classmethod
    def end_stuck_step_daemons(cls):
        """After an abort slurmstepd may lock up in PMIx_server_finalize, as mpirun does: no child of it lives."""
        time.sleep(0.2)
        all_of_it = processes(cls.slurm_mark)
        for pid, (_, state, name) in all_of_it.items():
            if name == "slurmstepd" and state != "Z" and not any(entry[0] == pid and entry[1] != "Z" for entry in all_of_it.values()):
                os.kill(pid, signal.SIGKILL)

    def setUp(self):
        super().setUp()
        if self.slurm is None and self.why_not is None:
            self.start_slurm()
        if self.slurm is None:
            self.skipTest(f"no Slurm here: {self.why_not}")
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):  # no window is opened here
            self.env.pop(name, None)
        self.env["SLURM_CONF"] = self.slurm.environment["SLURM_CONF"]
        mpi = self.run_command("srun", "--mpi=list")
        if "pmix" not in mpi.out + mpi.err:
            self.skipTest("this Slurm has no PMIx, which Open MPI needs")
        self.addCleanup(self.no_job_goes_on)

    def no_job_goes_on(self):
        end = time.monotonic() + 10.0
        while (busy := self.slurm.ask("squeue", "-h")) and time.monotonic() < end:
            time.sleep(0.1)
        if busy:
            self.slurm.ask("scancel", "-f", "-s", "KILL", "-u", getpass.getuser())
        self.assertEqual(busy, "", "a job of Slurm goes on after the test")

    def srun(self, ranks, *program, options=()):
        return ["srun", "--mpi=pmix", "--label", *options, "-n", str(ranks), *map(str, program)]

    def reader(self):
        (self.dir / "reader.c").write_text(READER)
        subprocess.run([MPICC, "-g", "-o", self.dir / "reader", self.dir / "reader.c"], check=True)
        return self.dir / "reader"

    def assert_same(self, recorded, replayed):
        self.assertEqual(replayed.status, recorded.status, f"{recorded}\n{replayed}")
        self.assertEqual(by_rank(replayed.out), by_rank(recorded.out), f"{recorded}\n{replayed}")
        complaints = [[line for line in run.err.splitlines() if " harvest: " in line] for run in (recorded, replayed)]
        self.assertEqual(complaints[0], complaints[1], f"{recorded}\n{replayed}")

    def test_recorded_and_replayed(self):
        recorded = self.record("t.pft", self.srun(4, CORPUS / "harvest"), "--end-stuck", status=None)
        self.assertTrue(recorded.status != 0 or by_rank(recorded.out), recorded)
        for seed in ("1", "2"):
            self.assert_same(recorded, self.replay("t.pft", "--jitter", seed))
        info = self.info()
        self.assertEqual((info["ranks"], info["command"][0]), (4, "srun"))
        races = self.photofinish("races", self.dir / "t.pft", "--json").json()["races"]
        self.assertGreater(len(races), 10)
        # Stopped on the way, and let go of.
        stopped = self.photofinish("replay", self.dir / "t.pft", "--until", "0:9")
        self.assertRegex(stopped.err, "rank 0 is stopped just before its event 9: MPI_", stopped)
        self.assertEqual(len(re.findall(r"rank \d is process \d+ on", stopped.err)), 4, stopped)

    def test_same_addresses(self):
        recorded = self.record("t.pft", self.srun(3, E2E / "addresses"), "--same-addresses")
        self.assert_same(recorded, self.replay("t.pft"))

    def test_crash_and_abort(self):
        """srun's status, as it is without us; the other ranks, which wait for the one that crashed, are ended by Slurm."""
        for program, status, said in (([E2E / "desk", "crash"], 139, r"ranks? [-0-9, ]+: .*without MPI_Finalize, after events? \d"),
                                      ([self.reader(), "abort"], 7, r"ranks? 0.*: .*without MPI_Finalize, after events? \d")):
            with self.subTest(program=program):
                recorded = self.record("t.pft", self.srun(3, *program), status=status)
                self.assertRegex(recorded.err, said, recorded)
                self.assert_same(recorded, self.replay("t.pft", "--jitter", "3"))

    def test_deadlock(self):
        recorded = self.record("t.pft", self.srun(2, E2E / "stuck"), "--end-stuck", status=None, env={"STUCK": "deadlock"})
        self.assertRegex(recorded.err, "makes no progress: .*wait", recorded)
        self.assertRegex(recorded.err, "rank 0 waits in MPI_Ssend .*stuck.c:", recorded)
        self.assertNotEqual(recorded.status, 0)
        replayed = self.replay("t.pft", env={"STUCK": "deadlock"})
        self.assertRegex(replayed.err, "the recording ends here, too", replayed)
        self.assertEqual(replayed.status, recorded.status, replayed)

    def test_another_rank_count(self):
        launch = ["srun", "--mpi=pmix", CORPUS / "any_source_sum"]
        self.record("t.pft", launch, env={"SLURM_NTASKS": "4"})
        run = self.photofinish("replay", self.dir / "t.pft", env={"SLURM_NTASKS": "3"})
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.err, "recording has 4 ranks, this run has 3", run)

    def test_no_variable_is_passed_on(self):
        launch = self.srun(3, CORPUS / "any_source_sum", options=["--export=HOME"])  # Open MPI 5 does not begin without
        recorded = self.record("t.pft", launch)
        self.assert_same(recorded, self.replay("t.pft", "--jitter", "2"))

    def test_standard_input(self):
        """srun gives it to all ranks, or to one."""
        self.reader()
        (self.dir / "input").write_text("one\ntwo\n")
        read = ["reads one", "reads two"]
        for options, expected in (((), [read, read, read]), (("--input=0",), [read, [], []])):
            with self.subTest(options=options), open(self.dir / "input", "rb") as given:
                recorded = self.record("t.pft", self.srun(3, "./reader", options=options), stdin=given)
                lines = by_rank(recorded.out)
                self.assertEqual([[line for line in lines.get(rank, []) if "reads" in line] for rank in range(3)], expected)
                self.assert_same(recorded, self.replay("t.pft"))

    def test_the_recorder_is_ended(self):
        """It ends srun, which ends the job, and makes the trace."""
        words = [BIN / "photofinish", "record", "-o", self.dir / "t.pft", *self.srun(3, E2E / "steady", 4000, 500)]
        with self.start(words) as command:
            command.wait_for(lambda: " messages, state" in command.output())
            os.kill(command.pid, signal.SIGTERM)
            ended = command.finish(30)
        self.assertIsNotNone(ended.status, ended)
        self.assertTrue(self.info()["cut"], ended)

    def test_attach(self):
        """srun's tasks are no children of it."""
        with self.start(self.srun(2, E2E / "desk", "run", self.dir / "stop")) as job:
            job.wait_for(lambda: len(job.find("desk")) == 2)
            listed = job.wait_for(lambda: re.findall(rf"^{job.pid}  2 ranks.*\n.*\n.*", self.photofinish("attach").out, re.M))
            self.assertEqual(sorted(re.findall(r"rank (\d): process \d+, \S*desk", listed[0])), ["0", "1"], listed)
            for pid in (job.pid, job.find("desk")[1]):
                told = self.photofinish("attach", pid)
                self.assertIn("there is no display to open", told.err, told)
            (self.dir / "stop").write_text("")
            self.assertEqual(job.finish().status, 0)

    def test_what_cannot_be(self):
        program = CORPUS / "any_source_sum"
        self.assert_refused(self.photofinish("record", *self.srun(2, program, options=["--multi-prog"])), 2, "--multi-prog", "SLURM_PROCID")
        self.assert_refused(self.photofinish("record", *self.srun(2, program, options=["--bcast"])), 2, "--bcast", "sbcast")
        # Without PMIx, Open MPI 4 says itself what it needs. With 5 each process is a program of one rank.
        run = self.photofinish("record", "-o", "t.pft", "srun", "--mpi=none", "-n", "2", program)
        if run.status == 0:
            self.assertIn("a second process says that it is rank 0", run.err, run)
            return
        self.assertNotEqual(run.status, 0, run)
        self.assertIn("PMIx", run.err, run)
        self.assertIn("MPI_Init", run.err, run)

    def test_mpirun_in_an_allocation(self):
        launch = ["salloc", "-n", "4", BIN / "photofinish", "record", "-o", self.dir / "t.pft", *self.mpirun(3, CORPUS / "any_source_sum")]
        recorded = self.run_command(*launch)
        self.assertEqual(recorded.status, 0, recorded)
        self.assertEqual(self.info()["ranks"], 3)
        self.assertEqual(self.replay("t.pft").by_rank(), recorded.by_rank())


if __name__ == "__main__":
    main()
