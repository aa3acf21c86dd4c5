# SPDX-License-Identifier: GPL-3.0-or-later
"""A Slurm of one machine, private to a test: its own munged, slurmctld and slurmd, all that they write in one directory.

Debian: packages munge, slurmctld, slurmd, slurm-client; Open MPI there speaks PMIx with Slurm, no PMI-1 or PMI-2.
"""
import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sinfo")
STARTS_WITHIN = 20.0  # seconds
ENDS_WITHIN = 10.0
CONFIGURATION = """\
ClusterName=photofinish
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={dir}/munge.socket
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/slurmd.log
TmpFS={dir}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SchedulerType=sched/builtin
MpiDefault=none
ReturnToService=2
KillWait=2
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class NoSlurm(Exception):
    """Why there is none."""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def search_path(path):
    """The daemons are in /usr/sbin, which not everybody has in PATH."""
    return os.pathsep.join([path, "/usr/sbin", "/sbin"])


class Slurm:
    """Running from the constructor to stop(). `environment` is for the daemons and for who uses srun."""

    def __init__(self, directory, environment):
        self.dir = pathlib.Path(directory)
        self.environment = dict(environment, SLURM_CONF=str(self.dir / "slurm.conf"))
        path = search_path(environment.get("PATH", os.defpath))
        missing = [name for name in NEEDED if not shutil.which(name, path=path)]
        if missing:
            raise NoSlurm(f"{', '.join(missing)} not installed (Debian: munge slurmctld slurmd slurm-client)")
        self._daemons = []
        self._path = path
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self):
        for name in ("state", "spool"):
            (self.dir / name).mkdir(parents=True)
        host = socket.gethostname().split(".")[0]
        text = CONFIGURATION.format(host=host, user=getpass.getuser(), dir=self.dir, ports=free_ports(2))
        (self.dir / "slurm.conf").write_text(text)
        key = self.dir / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        here = [f"--{name}-file={self.dir}/munge.{ending}" for name, ending in (("pid", "pid"), ("log", "log"), ("seed", "seed"))]
        # --force: the directory is nobody's but ours, which munged takes for a mistake.
        self._run("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.dir}/munge.socket", *here)
        self._wait("the socket of munged", (self.dir / "munge.socket").exists)
        self._run("slurmctld", "-D")
        self._run("slurmd", "-D")
        self._wait("an idle node", lambda: self.ask("sinfo", "-h", "-o", "%T") == "idle")

    def _run(self, name, *options):
        with open(self.dir / f"{name}.out", "wb") as out:
            self._daemons.append((name, subprocess.Popen(
                [shutil.which(name, path=self._path), *options], env=self.environment, cwd=self.dir, stdin=subprocess.DEVNULL,
                stdout=out, stderr=out, start_new_session=True)))

    def _wait(self, what, there):
        end = time.monotonic() + STARTS_WITHIN
        while not there():
            for name, process in self._daemons:
                if process.poll() is not None:
                    raise NoSlurm(f"{name} ended with status {process.returncode}: {self._last_words(name)}")
            if time.monotonic() > end:
                raise NoSlurm(f"no {what} within {STARTS_WITHIN:.0f} s: {self._last_words(self._daemons[-1][0])}")
            time.sleep(0.05)

    def _last_words(self, name):
        return " / ".join((self.dir / f"{name}.out").read_text(errors="replace").splitlines()[-3:])

    def ask(self, *command):
        """What one of Slurm's own commands prints."""
        return subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=STARTS_WITHIN).stdout.strip()

    def stop(self):
        """Slurm's own end, in the order of its need for one another; True if none had to be killed."""
        gently = True
        for _, process in reversed(self._daemons):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(ENDS_WITHIN)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                gently = False
        self._daemons = []
        return gently
