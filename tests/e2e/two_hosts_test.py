# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranks on two hosts under one mpirun: a network namespace with a name of its own is the other one. Needs root and iproute2."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

NAME = f"pf{os.getpid() % 100000}"
NETWORK = f"10.{200 + os.getpid() % 50}.{os.getpid() // 50 % 250}"
SUM = BIN / "corpus" / "any_source_sum"
PARTS = BIN / "corpus" / "large_messages"


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)


class TwoHostsTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", "ip", "unshare", SUM)
        self.addCleanup(lambda: (ip("link", "del", NAME), ip("netns", "del", NAME)))
        for words in (("netns", "add", NAME), ("link", "add", NAME, "type", "veth", "peer", "name", NAME + "b", "netns", NAME),
                      ("addr", "add", f"{NETWORK}.1/24", "dev", NAME), ("link", "set", NAME, "up"),
                      ("-n", NAME, "addr", "add", f"{NETWORK}.2/24", "dev", NAME + "b"), ("-n", NAME, "link", "set", NAME + "b", "up"),
                      ("-n", NAME, "link", "set", "lo", "up")):
            done = ip(*words)
            if done.returncode != 0:
                self.skipTest(f"no network namespaces here: ip {' '.join(words)}: {done.stderr.strip()}")
        shell = self.dir / "shell"
        shell.write_text(f"#!/bin/sh\nshift\nexec ip netns exec {NAME} unshare -u sh -c 'hostname {NAME}; exec sh -c \"$*\"' sh \"$@\"\n")
        shell.chmod(0o755)
        networks = [word for kind in ("oob", "btl") for word in ("--mca", f"{kind}_tcp_if_include", f"{NETWORK}.0/24")]
        self.hosts = ["mpirun", "--mca", "plm_rsh_agent", str(shell), *networks, "--tag-output", "--oversubscribe",
                      "-H", f"{os.uname().nodename}:2,{NETWORK}.2:2", "-n", "4"]

    def test_record_and_replay(self):
        """In each mode (clocks between hosts are messages of our own), both ways to force deliveries."""
        for mode in ("outcomes", "races", "all"):
            for program in (SUM, PARTS):
                with self.subTest(mode=mode, program=program.name):
                    recorded = self.record("t.pft", [*self.hosts, str(program)], "--mode", mode)
                    for options in ((), ("--force", "tagged"), ("--bounded-buffers",)):
                        self.assert_same_run(recorded, self.replay("t.pft", "--jitter", "1", *options))
        sites = self.photofinish("sql", self.dir / "t.pft", "SELECT group_concat(DISTINCT host) FROM rank")
        self.assertIn(f"{os.uname().nodename},{NAME}", sites.out)

    def test_races_found_while_it_runs(self):
        """What comes late makes more of a race, never less."""
        for algorithm in ("netzer-miller", "meehan"):
            with self.subTest(algorithm=algorithm):
                recorded = self.record("t.pft", [*self.hosts, str(SUM)], "--mode", "races", "--algorithm", algorithm)
                self.assert_same_run(recorded, self.replay("t.pft", "--jitter", "2"))
                self.assertEqual(self.photofinish("races", self.dir / "t.pft").status, 0)  # surveyed
                check = self.run_command(BIN / "pf_online_check", "--at-least", self.dir / "t.pft")
                self.assertEqual(check.status, 0, check)

    def test_a_session(self):
        """GDB on the ranks of both hosts."""
        self.need("gdb", BIN / "photofinish-headless")
        self.record("t.pft", [*self.hosts, str(SUM)], "--mode", "all")
        events = self.photofinish("events", self.dir / "t.pft", "--rank", "0", "--json").json()["events"]
        # Who has sent before event 4 of rank 0, and so is out of MPI_Init: it depends on who won.
        first = next(event["deliveries"][0]["source"] for event in events if event["serial"] == 3)
        script = self.dir / "script"
        script.write_text("replay-to 2:3\nexpect \\[2\\] before event 3\nprint rank @2\nexpect ^\\[2\\] 2$\n"
                          f"replay-to 0:4\nexpect \\[0\\] before event 4\nprint rank @{first}\nexpect ^\\[{first}\\] {first}$\n"
                          "previous-event\nexpect \\[0\\] before event 3\nstacks\n")
        run = self.photofinish("debug", "--script", script, self.dir / "t.pft", timeout=120)
        self.assertEqual(run.status, 0, run)


if __name__ == "__main__":
    main()
