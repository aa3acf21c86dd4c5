# SPDX-License-Identifier: GPL-3.0-or-later
"""on_debian.sh: a command in another Debian, its exit status, and that nothing of it is left when it is interrupted.

What makes a system needs root, the network of Debian's packages and minutes: only with PF_SYSTEMS=1."""
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import SOURCE, main

SCRIPT = SOURCE / "tests" / "systems" / "on_debian.sh"
SUITE = "trixie"


def run(*words, timeout=1500):
    return subprocess.run([SCRIPT, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False)


def command_lines():
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue


class Words(unittest.TestCase):
    def test_system_that_is_not_known(self):
        for words in ((), ("buzz",), ("buzz", "true")):
            done = run(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("trixie|sid", done.stderr)


class Commands(unittest.TestCase):
    def setUp(self):
        if os.environ.get("PF_SYSTEMS", "") in ("", "0"):
            self.skipTest("minutes, and Debian's packages: only with PF_SYSTEMS=1")
        if os.geteuid() != 0:
            self.skipTest("a system in a folder asks for root")

    def test_status_output_and_tree(self):
        done = run(SUITE, "sh", "-c", "cat /etc/debian_version; pwd; df --output=target /dev/shm | tail -n1; exit 7")
        self.assertEqual(done.returncode, 7, done.stderr)
        version, place, shm = done.stdout.splitlines()[-3:]
        self.assertTrue(version.startswith("13."), done.stdout)
        self.assertEqual((place, shm), ("/work/photofinish", "/dev/shm"))
        there = SOURCE / "build" / "systems" / SUITE / "work" / "photofinish"
        for name in ("README.md", "tests/systems/on_debian.sh"):
            self.assertEqual((there / name).stat().st_mtime_ns, (SOURCE / name).stat().st_mtime_ns)

    def test_nothing_is_left_when_it_is_interrupted(self):
        run(SUITE, "true")
        for number in (signal.SIGINT, signal.SIGTERM):
            mark = str(uuid.uuid4())
            started = subprocess.Popen([SCRIPT, SUITE, "sh", "-c", f"echo {mark}; sleep 600; echo {mark}"], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual(started.stdout.readline().strip(), mark)
            started.send_signal(number)
            _, said = started.communicate(timeout=20)
            self.assertEqual(started.returncode, 128 + number)
            self.assertIn("ended before its time", said)
            end = time.monotonic() + 5
            while any(mark in line for line in command_lines()) and time.monotonic() < end:
                time.sleep(0.05)
            self.assertEqual([line for line in command_lines() if mark in line], [])
        mounts = pathlib.Path("/proc/self/mounts").read_text()
        self.assertNotIn(f"systems/{SUITE}/", mounts)


if __name__ == "__main__":
    main()
