# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that were not written for us, from Debian's packages: recorded, and replayed under jitter."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, FULL, SOURCE, PhotofinishTest, main

SEEDS = range(1, 21) if FULL else range(1, 4)
MUMPS = "/usr/lib/mumps/dsimpletest"
MUMPS_INPUT = "/usr/lib/mumps/input_simpletest_real"
# Seconds and megabytes that a program prints are its clock's, not its deliveries'.
MEASURED = re.compile(r"(?i)time|elapsed|seconds|Mbytes|MB\b")


class RealProgramTest(PhotofinishTest):
    def comparable(self, run):
        """What a program prints, by rank, without what it measures."""
        return {rank: [line.rstrip() for line in lines if not MEASURED.search(line)] for rank, lines in run.by_rank().items()}

    def assert_replays(self, trace, recorded, **how):
        for seed in SEEDS:
            with self.subTest(jitter=seed):
                replayed = self.replay(trace, "--jitter", seed, timeout=120, **how)
                self.assertEqual(replayed.status, recorded.status, f"{recorded}\n{replayed}")
                self.assertEqual(self.comparable(replayed), self.comparable(recorded), replayed)

    def test_mpi4py_any_source(self):
        """comm.recv(source=ANY_SOURCE) of Python objects: MPI_Mprobe and MPI_Mrecv, MPI loaded after the start."""
        self.need("mpirun", "/usr/bin/python3", "/usr/lib/python3/dist-packages/mpi4py")
        recorded = self.record("t.pft", self.mpirun(4, "/usr/bin/python3", SOURCE / "tests" / "corpus" / "mpi4py_any.py"))
        self.assertTrue(recorded.out.strip())
        races = self.photofinish("races", self.dir / "t.pft", "--json").json()["races"]
        self.assertTrue(races)
        self.assertEqual({race["receive"]["call"] for race in races}, {"MPI_Mprobe"})
        self.assert_replays("t.pft", recorded)

    def test_mpi4py_in_other_modes(self):
        self.need("mpirun", "/usr/bin/python3", "/usr/lib/python3/dist-packages/mpi4py")
        program = self.mpirun(4, "/usr/bin/python3", SOURCE / "tests" / "corpus" / "mpi4py_any.py")
        for mode in ("all", "races"):
            recorded = self.record("t.pft", program, "--mode", mode)
            self.assert_replays("t.pft", recorded)

    def test_mumps_races_found_while_it_runs(self):
        self.need("mpirun", MUMPS, MUMPS_INPUT)
        with open(MUMPS_INPUT, "rb") as matrix:
            recorded = self.record("t.pft", self.mpirun(4, MUMPS), "--mode", "races", stdin=matrix, timeout=120)
        found = self.photofinish("info", self.dir / "t.pft", "--json").json()["foundWhileRecording"]
        self.assertGreater(found["racingDeliveries"], 0)
        survey = self.photofinish("replay", self.dir / "t.pft", "--survey", timeout=120)
        self.assertEqual(survey.status, 0, survey)
        online = self.run_command(BIN / "pf_online_check", self.dir / "t.pft")
        self.assertEqual(online.status, 0, online)
        self.assert_replays("t.pft", recorded)

    def test_mumps_dsimpletest(self):
        """A sparse solver in Fortran: wildcard probes and receives, packed messages, its own communicators."""
        self.need("mpirun", MUMPS, MUMPS_INPUT)
        with open(MUMPS_INPUT, "rb") as matrix:
            recorded = self.record("t.pft", self.mpirun(4, MUMPS), stdin=matrix, timeout=120)
        self.assertIn("Solution is", recorded.out, recorded)
        info = self.photofinish("info", self.dir / "t.pft", "--json").json()
        self.assertTrue(info["complete"], info)
        # The matrix is in the trace: neither the survey nor a replay asks for it again.
        races = self.photofinish("races", self.dir / "t.pft", "--json")
        self.assertEqual(races.status, 0, races)
        self.assertGreater(self.photofinish("info", self.dir / "t.pft", "--json").json()["messages"], 20)
        self.assert_replays("t.pft", recorded)

    def test_a_shell_script_that_starts_the_program(self):
        """Processes without MPI in the rank's place: silent and harmless."""
        self.need("mpirun", "/usr/bin/python3", "/usr/lib/python3/dist-packages/mpi4py")
        script = self.dir / "start.sh"
        script.write_text("#!/bin/sh\nls / > /dev/null\nexec /usr/bin/python3 "
                          f"{SOURCE / 'tests' / 'corpus' / 'mpi4py_any.py'}\n")
        script.chmod(0o755)
        recorded = self.record("t.pft", self.mpirun(4, script))
        self.assertNotIn("photofinish:", recorded.err.replace("photofinish: 4 ranks", ""), recorded)
        self.assert_replays("t.pft", recorded)


if __name__ == "__main__":
    main()
