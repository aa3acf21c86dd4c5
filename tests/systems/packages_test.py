# SPDX-License-Identifier: GPL-3.0-or-later
"""The Debian packages of this build: made, looked at by lintian, installed into a bare Debian, and used there on the bundled program.

Needs root, the network of Debian's packages, debootstrap and lintian, and takes minutes: only with PF_SYSTEMS=1. The system is kept in
build/systems, so that a second time is quick."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, SOURCE, main

BUILD = BIN.parent
SYSTEMS = SOURCE / "build" / "systems"
SUITE = "bookworm"
# In a mount namespace of its own: nothing stays mounted. /proc and /dev are the host's.
ENTER = 'for name in proc dev; do mount --rbind /$name "$0/$name"; done; exec chroot "$0" "$@"'
ENVIRONMENT = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
               "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"]


def run(*words, check=True, **options):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, timeout=900, check=False, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}\n{done.stdout[-4000:]}")
    return done


class PackagesTest(unittest.TestCase):
    def setUp(self):
        if os.environ.get("PF_SYSTEMS", "") in ("", "0"):
            self.skipTest("minutes, and Debian's packages: only with PF_SYSTEMS=1")
        if os.geteuid() != 0:
            self.skipTest("a system in a folder asks for root")
        for tool in ("debootstrap", "lintian", "unshare", "cpack"):
            if shutil.which(tool) is None:
                self.skipTest(f"{tool} is not there")
        self.root = SYSTEMS / SUITE

    def inside(self, *words, check=True):
        return run("unshare", "-m", "--propagation", "private", "sh", "-c", ENTER, self.root, *ENVIRONMENT, *words, check=check)

    def test_built_installed_used(self):
        packages = BUILD / "packages"
        shutil.rmtree(packages, ignore_errors=True)
        run("cpack", "-G", "DEB", cwd=BUILD)
        made = sorted(packages.glob("*.deb"))
        self.assertEqual([path.name.split("_")[0] for path in made], ["photofinish-engine", "photofinish-mpi"])
        complaints = run("lintian", "--fail-on", "error", *made, check=False)
        self.assertEqual(complaints.returncode, 0, complaints.stdout)
        engine = run("dpkg-deb", "-f", made[0], "Depends").stdout
        self.assertNotIn("qt", engine.lower())

        if not (self.root / "etc" / "debian_version").exists():
            SYSTEMS.mkdir(parents=True, exist_ok=True)
            run("debootstrap", "--variant=minbase", SUITE, self.root)
        shutil.copy("/etc/resolv.conf", self.root / "etc" / "resolv.conf")
        place = self.root / "packages"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(packages, place, ignore=shutil.ignore_patterns("_CPack*"))
        self.inside("apt-get", "update", "-q")
        # First the engine alone, as on a node of a cluster.
        self.inside("apt-get", "install", "-q", "-y", "--no-install-recommends", "--reinstall", "openmpi-bin", "gdb",
                    f"/packages/{made[0].name}")
        self.use()
        self.inside("apt-get", "install", "-q", "-y", "--no-install-recommends", "--reinstall", f"/packages/{made[1].name}")
        opened = self.inside("photofinish", "debug", "--offline", "-o", "/tmp/h.html", "/tmp/h.pft", check=False)
        self.assertTrue((self.root / "tmp" / "h.html").exists(), opened.stdout)

    def use(self):
        """The bundled program recorded until it fails, its races, and three jittered replays that end as it did."""
        trace = pathlib.Path(self.root, "tmp", "h.pft")
        program = "/usr/lib/photofinish/corpus/harvest"
        (self.root / "tmp" / "h.html").unlink(missing_ok=True)
        for seed in range(1, 30):
            trace.unlink(missing_ok=True)
            recorded = self.inside("photofinish", "record", "-o", "/tmp/h.pft", "--jitter", seed, "mpirun", "-n", "4", "--oversubscribe",
                                   program, check=False)
            self.assertTrue(trace.exists(), recorded.stdout)
            if recorded.returncode != 0:
                break
        self.assertNotEqual(recorded.returncode, 0, "no run of 30 failed")
        failed = re.search(r"(?m)^harvest: .*", recorded.stdout).group()
        self.assertIn("racing receives", self.inside("photofinish", "races", "/tmp/h.pft").stdout)
        for seed in (1, 2, 3):
            replayed = self.inside("photofinish", "replay", "/tmp/h.pft", "--jitter", seed, check=False)
            self.assertEqual((replayed.returncode, re.search(r"(?m)^harvest: .*", replayed.stdout).group()),
                             (recorded.returncode, failed), replayed.stdout)
        doctor = self.inside("photofinish", "doctor", check=False)
        self.assertEqual(doctor.returncode, 0, doctor.stdout)


if __name__ == "__main__":
    main()
