# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish doctor on this machine, and where something is taken away from it."""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

FAKE = 'int PMPI_Init(void) { return 0; }\nint MPI_Get_library_version(char* t, int* n) { const char v[] = "%s"; ' \
       "for (unsigned i = 0; i < sizeof v; ++i) t[i] = v[i]; *n = sizeof v - 1; return 0; }\n"
ABI = "int PMPI_Abi_get_version(int* a, int* i) { *a = 1; *i = 0; return 0; }\n"


class DoctorTest(PhotofinishTest):
    def doctor(self, *options, status=None, before=(), **how):
        run = self.run_command(*before, BIN / "photofinish", "doctor", "--json", *options, **how)
        if status is not None:
            self.assertEqual(run.status, status, run)
        report = run.json()
        self.assertEqual(run.status, 0 if report["works"] else 1, run)
        for check in report["checks"]:
            self.assertIn(check["state"], ("works", "limited", "missing"), run)
            self.assertTrue(check["found"], check)
            if check["state"] != "works":
                self.assertTrue(check["remedy"], check)
        return report["checks"]

    def one(self, checks, name):
        found = [check for check in checks if check["name"] == name]
        self.assertEqual(len(found), 1, checks)
        return found[0]

    def test_this_machine_works(self):
        checks = self.doctor(status=0)
        self.assertEqual({check["name"] for check in checks},
                         {"recorder", "mpi-library", "launcher", "mpi", "gdb", "ptrace", "shared-memory", "session-directory", "disk",
                          "watchpoints", "cycle-counter", "core-files", "user-namespaces", "display"})
        libraries = {check["version"]: check for check in checks if check["name"] == "mpi-library"}
        self.assertTrue(any(check["state"] == "works" for check in libraries.values()), libraries)
        for version, check in libraries.items():
            self.assertRegex(version, r"^(Open MPI v|MPICH Version: +)\d+\.\d+", check)
            self.assertTrue(os.path.exists(check["path"]), check)
        self.assertRegex(self.one(checks, "gdb")["version"], r"^GNU gdb \(.*\) \d+")
        text = self.run_command(BIN / "photofinish", "doctor")
        self.assertEqual(text.status, 0, text)
        self.assertIn("All that Photofinish needs works here.", text.out)
        self.assertFalse([name for name in os.listdir(self.dir) if "doctor" in name])

    def test_what_is_named_is_recorded(self):
        """The libraries that doctor calls works are those that record takes."""
        checks = self.doctor(status=0)
        self.assertIn("are recorded under", self.one(checks, "mpi")["found"])
        self.record("t.pft", self.mpirun(2, BIN / "corpus" / "token_ordered"))

    def test_a_library_without_a_recorder(self):
        self.need("gcc")
        libraries = {"libmpi_abi.so.1": (FAKE % "MPICH Version:\\t5.0.2" + ABI, "MPICH Version: 5.0.2, MPI ABI 1.0", "works"),
                     "libmpi_abi.so.0": (FAKE % "MPICH Version:\\t4.3.0", "MPICH Version: 4.3.0", "missing"),  # as record refuses it
                     "libmpi.so.12": (FAKE % "Intel(R) MPI Library 2021.10", "Intel(R) MPI Library 2021.10", "missing")}
        for name, (code, _, _) in libraries.items():
            (self.dir / "fake.c").write_text(code)
            subprocess.run(["gcc", "-w", "-shared", "-fPIC", "-o", name, "fake.c"], check=True, cwd=self.dir)
        checks = self.doctor(status=0, env={"LD_LIBRARY_PATH": str(self.dir)})
        found = {check["path"]: check for check in checks if check["name"] == "mpi-library"}
        for name, (_, version, state) in libraries.items():
            check = found[str(self.dir / name)]
            self.assertEqual((check["state"], check["version"]), (state, version), check)

    def test_gdb_that_is_none(self):
        """Recording and replaying work; debugging does not, which is said by the status."""
        fake = self.dir / "mygdb"
        fake.write_text("#!/bin/sh\necho usage: mygdb\n")
        fake.chmod(0o755)
        check = self.one(self.doctor("--gdb", fake, status=1), "gdb")
        self.assertEqual((check["state"], check["path"]), ("missing", str(fake)))
        self.assertIn("does not speak GDB/MI", check["found"])
        empty = self.dir / "bin"
        empty.mkdir()
        for name in ("mpirun", "mpiexec"):
            os.symlink(subprocess.run(["which", name], capture_output=True, text=True, check=True).stdout.strip(), empty / name)
        checks = self.doctor(status=1, env={"PATH": str(empty)})
        self.assertIn("no gdb on the search path", self.one(checks, "gdb")["found"])
        self.assertEqual(self.one(checks, "mpi")["state"], "works", checks)
        checks = self.doctor(status=1, env={"PATH": str(self.dir)})
        self.assertEqual(self.one(checks, "mpi")["state"], "missing", checks)
        self.assertIn("PATH", self.one(checks, "mpi")["remedy"])

    def test_little_shared_memory(self):
        self.need("unshare")
        inside = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=1m tmpfs /dev/shm && exec "$@"', "sh"]
        if os.geteuid() != 0 or self.run_command(*inside, "true").status != 0:
            self.skipTest("no mounts here")
        check = self.one(self.doctor(status=1, before=inside), "shared-memory")
        self.assertEqual(check["state"], "missing", check)
        self.assertIn("too little", check["found"])

    def test_a_disk_that_is_full(self):
        self.need("unshare")
        place = self.dir / "full"
        place.mkdir()
        inside = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs -o size=2m tmpfs {place} && cd {place} && exec "$@"', "sh"]
        if os.geteuid() != 0 or self.run_command(*inside, "true").status != 0:
            self.skipTest("no mounts here")
        check = self.one(self.doctor(status=1, before=inside), "disk")
        self.assertEqual((check["state"], check["path"]), ("missing", str(pathlib.Path(place).resolve())), check)

    def test_a_display(self):
        self.assertEqual(self.one(self.doctor(env={"DISPLAY": "", "WAYLAND_DISPLAY": ""}), "display")["state"], "limited")
        if (BIN / "photofinish-gui").exists():
            self.assertEqual(self.one(self.doctor(env={"DISPLAY": ":7"}), "display")["state"], "works")


if __name__ == "__main__":
    main()
