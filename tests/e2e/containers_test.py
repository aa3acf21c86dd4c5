# SPDX-License-Identifier: GPL-3.0-or-later
"""Containers, as far as namespaces of users make them: a whole job in one, each rank in one with process numbers of its own, and
little shared memory. docs/containers.md says what is shown here."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

PROGRAM = BIN / "corpus" / "any_source_sum"
MAKE = ["unshare", "--user", "--map-root-user", "--mount"]
OWN_NUMBERS = [*MAKE, "--pid", "--fork", "--mount-proc"]
SCRIPT = "break any_source_sum.c:25\nrun\nstack @1\n"


class ContainersTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", PROGRAM)
        if subprocess.run([*OWN_NUMBERS, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no namespaces of users here")
        (self.dir / "s.txt").write_text(SCRIPT)

    def assert_debugged(self, run):
        self.assertEqual(run.status, 0, run)
        self.assertRegex(run.out, r"\[1-2\] breakpoint 1 \(any_source_sum\.c:25\)")
        self.assertRegex(run.out, r"\[1\] #0 main\(\) at any_source_sum\.c:2\d")

    def test_a_job_in_one(self):
        words = " ".join(map(str, [BIN / "photofinish", "record", "-o", self.dir / "t.pft", *self.mpirun(3, PROGRAM)]))
        again = f"{BIN / 'photofinish'} replay {self.dir / 't.pft'}"
        debug = f"{BIN / 'photofinish'} debug --script {self.dir / 's.txt'} {self.dir / 't.pft'}"
        run = self.run_command(*OWN_NUMBERS, "sh", "-c", f"{words} && {again} && {debug}", timeout=150)
        self.assert_debugged(run)

    def test_each_rank_in_one(self):
        """Open MPI itself finds no way through shared memory there."""
        self.env["OMPI_MCA_btl"] = "self,tcp"
        recorded = self.record("t.pft", [*self.mpirun(3), *OWN_NUMBERS, PROGRAM])
        self.assert_same_run(recorded, self.replay("t.pft", "--jitter", 3))
        self.assert_debugged(self.photofinish("debug", "--script", self.dir / "s.txt", self.dir / "t.pft", timeout=150))

    def test_little_shared_memory(self):
        doctor = f"mount -t tmpfs -o size=64k tmpfs /dev/shm && {BIN / 'photofinish'} doctor; true"
        run = self.run_command(*MAKE, "sh", "-c", doctor, timeout=60)
        self.assertRegex(run.out, r"(?s)MISSING shared-memory.*--shm-size", run)


if __name__ == "__main__":
    main()
