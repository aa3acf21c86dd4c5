# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the command line of Photofinish for end-to-end tests, and sees to it that nothing is left behind.

PF_BIN is the directory of the executables (set by CTest; default: build/release/bin of this tree). Every test has a directory of its own (self.dir) that is
also TMPDIR, and marks its processes by a variable in their environment: what runs on after a test is found by it.
PF_KEEP=1 keeps the directories.
"""
import contextlib
import functools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import uuid

from tagged_output import as_orte_has_it, lines_by_rank

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("PF_BIN", SOURCE / "build" / "release" / "bin")).resolve()
if not BIN.is_dir():
    sys.exit(f"{BIN} is not there: build first (./test --build), or give the directory of the programs in PF_BIN")
NAPS = BIN / "e2e" / "libopen-naps.so"
FULL = os.environ.get("PF_FULL", "") not in ("", "0")
JITTERS = (1, 2) if FULL else (1,)  # seeds of the replays of one recording, where one says as much as two
SKIPPED = 77
MARK = "PF_E2E_TEST"
CRASHED = re.compile(r"terminate called|Segmentation fault|Assertion|AddressSanitizer|runtime error:|core dumped|what\(\):")


class Run:
    """A finished command: status (None if it had to be killed), out and err as text, seconds."""

    def __init__(self, command, status, out, err, seconds, launcher_failed=False):
        self.command, self.status, self.out, self.err = command, status, out, err
        self.seconds, self.launcher_failed = seconds, launcher_failed

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise AssertionError(f"no JSON ({error}): {self}") from error

    def by_rank(self):
        """Lines of each rank in their order, from mpirun --tag-output."""
        return lines_by_rank(self.out)

    def __str__(self):
        end = "killed by the test's time limit" if self.status is None else f"exit {self.status}"
        return (f"$ {' '.join(map(str, self.command))}\n{end} after {self.seconds:.1f} s\n"
                f"--- stdout\n{self.out[-4000:]}\n--- stderr\n{self.err[-4000:]}")


def no_message_queues():
    """A limit that nothing depends on but what a test's program asks for it."""
    resource.setrlimit(resource.RLIMIT_MSGQUEUE, (0, resource.getrlimit(resource.RLIMIT_MSGQUEUE)[1]))


def processes(mark):
    """{pid: (parent, state, name)} of all processes that carry the mark; zombies by their parents."""
    found, zombies = {}, {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            stat = pathlib.Path("/proc", entry, "stat").read_text()
            environment = pathlib.Path("/proc", entry, "environ").read_bytes()
        except OSError:
            continue
        name = stat[stat.index("(") + 1:stat.rindex(")")]
        state, parent = stat[stat.rindex(")") + 2:].split()[:2]
        if state == "Z":
            zombies[int(entry)] = (int(parent), state, name)
        elif mark.encode() in environment:
            found[int(entry)] = (int(parent), state, name)
    return found | {pid: entry for pid, entry in zombies.items() if entry[0] in found}


def launcher_is_stuck(mark):
    """After an abort mpirun 4.1.4 now and then locks up in PMIx_server_finalize: no child of it lives."""
    all_of_it = processes(mark)
    for pid, (_, state, name) in all_of_it.items():
        if name in ("mpirun", "orterun", "prterun") and state != "Z":
            below = [entry for entry in all_of_it.values() if entry[0] == pid]
            return pid if all(entry[1] == "Z" for entry in below) else None
    return None


class Command:
    """A running command. Use as `with test.start(...) as command`."""

    def __init__(self, words, *, cwd, env, mark, stdin=subprocess.DEVNULL, limits=None):
        self.words, self.mark, self.start = words, mark, time.monotonic()
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen(words, cwd=cwd, env=env, stdin=stdin, stdout=self.out, stderr=self.err,
                                        start_new_session=True, preexec_fn=limits)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            end_all(self.mark)
            self.process.wait()
        self.out.close()
        self.err.close()

    def errors(self):
        """Standard error so far."""
        return self._text(self.err)

    def output(self):
        return self._text(self.out)

    @staticmethod
    def _text(file):
        return as_orte_has_it(os.pread(file.fileno(), 1 << 24, 0).decode(errors="replace"))

    def find(self, name):
        """Processes of this command called `name`, by age. mpirun of Open MPI 5 becomes prterun."""
        names = {name[:15]} | ({"prterun"} if name == "mpirun" else set())
        return sorted(pid for pid, entry in processes(self.mark).items() if entry[2] in names and entry[1] != "Z")

    def wait_for(self, what, timeout=20.0):
        """Until what() is true; AssertionError if that takes too long or the command ends."""
        end = time.monotonic() + timeout
        while True:
            value = what()
            if value:
                return value
            if self.process.poll() is not None and not what():
                raise AssertionError("ended before what the test waits for\n" + str(self.finish(1)))
            if time.monotonic() > end:
                raise AssertionError("did not happen in time\n" + str(self.finish(0)))
            time.sleep(0.02)

    def finish(self, timeout=60.0, interrupt_after=None):
        """Waits for the end. interrupt_after: Ctrl-C to mpirun after that many seconds."""
        stuck_since, failed, end = None, False, time.monotonic() + timeout
        interrupt_at = time.monotonic() + interrupt_after if interrupt_after is not None else None
        next_look = time.monotonic() + 1.5
        while self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
            now = time.monotonic()
            if interrupt_at is not None and now > interrupt_at:
                interrupt_at = None
                for pid in self.find("mpirun"):
                    os.kill(pid, signal.SIGINT)
            if now < next_look:
                continue
            next_look = now + 0.5
            stuck = launcher_is_stuck(self.mark)
            stuck_since = (stuck_since or now) if stuck else None
            if stuck and now - stuck_since > 15.0:
                os.kill(stuck, signal.SIGKILL)
                failed, stuck_since = True, None
        status = self.process.poll()
        if status is None:
            end_all(self.mark)
            self.process.wait()
        elif status < 0:
            status = 128 - status
        return Run(self.words, status, self.output(), self.errors(), time.monotonic() - self.start, failed)


def end_all(mark):
    for _ in range(3):
        for pid, entry in processes(mark).items():
            if entry[1] != "Z":
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        time.sleep(0.05)


def shared_memory():
    return {name for name in os.listdir("/dev/shm") if "photofinish" in name}

def shared_files(pids):
    """Files by which ranks pass messages to each other: killed, they leave them behind."""
    found = set()
    for pid in pids:
        try:
            lines = pathlib.Path("/proc", str(pid), "maps").read_text().splitlines()
        except OSError:
            continue
        found.update(line.split()[5] for line in lines if " /dev/shm/" in line and not line.endswith("(deleted)"))
    return found



class PhotofinishTest(unittest.TestCase):
    """A test with a directory, the command line, and a look at what is left at the end."""

    maxDiff = 4000
    naps = True  # ranks that wait sleep (naps.c); not where it matters what is preloaded

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="pf-e2e."))
        self.mark = f"{MARK}={uuid.uuid4().hex}"
        self._shared_memory = shared_memory()
        self.env = dict(os.environ, TMPDIR=str(self.dir), LC_ALL="C.UTF-8", OMPI_ALLOW_RUN_AS_ROOT="1",
                        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **dict([self.mark.split("=")]))
        self.env.pop("XDG_RUNTIME_DIR", None)
        self.env.pop("LD_PRELOAD", None)
        if self.naps and NAPS.exists():
            self.env["LD_PRELOAD"] = str(NAPS)
        self.addCleanup(self._leave_nothing)

    def _leave_nothing(self):
        def ours():
            return {pid: entry for pid, entry in processes(self.mark).items() if entry[1] != "Z"}
        def sessions_left():
            return [path for path in self.dir.glob("photofinish-*") if path.is_dir()]
        end = time.monotonic() + 20.0
        while (ours() or sessions_left()) and time.monotonic() < end:
            time.sleep(0.05)
        left, sessions = ours(), sessions_left()
        end_all(self.mark)
        shared = shared_memory() - self._shared_memory
        if os.environ.get("PF_KEEP"):
            print(f"kept: {self.dir}", file=sys.stderr)
        else:
            shutil.rmtree(self.dir, ignore_errors=True)
        self.assertFalse(left, "processes go on after the test")
        self.assertFalse(sessions, "session directories are left behind")
        self.assertFalse(shared, "shared memory is left behind")

    # -- running
    def start(self, words, *, cwd=None, env=None, stdin=subprocess.DEVNULL, limits=None):
        return Command([str(word) for word in words], cwd=cwd or self.dir, env=dict(self.env, **(env or {})),
                       mark=self.mark, stdin=stdin, limits=limits)

    @contextlib.contextmanager
    def core_files(self):
        """Gives the limits of processes that leave their core files where they run; skips where that cannot be."""
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
        if pattern.startswith("|") or "/" in pattern:
            self.skipTest("core files go elsewhere here")
        try:
            yield lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except (ValueError, subprocess.SubprocessError):
            self.skipTest("core files may not be written here")

    def run_command(self, *words, timeout=60.0, interrupt_after=None, **options):
        with self.start(words, **options) as command:
            return command.finish(timeout, interrupt_after)

    def photofinish(self, *words, **options):
        run = self.run_command(BIN / "photofinish", *words, **options)
        # What the recorded program itself says when it crashes is no crash of ours.
        ours = "\n".join(line for line in run.err.splitlines() if line.startswith("photofinish"))
        self.assertIsNone(CRASHED.search(ours), run)
        return run

    def mpirun(self, ranks, *program):
        """Words of a launch whose output can be told apart by rank."""
        return ["mpirun", "--tag-output", "--oversubscribe", "-n", str(ranks), *map(str, program)]

    def record(self, trace, launch, *options, status=0, **how):
        """Records; again if mpirun itself failed. status None: any."""
        for _ in range(3):
            target = self.dir / trace
            target.unlink(missing_ok=True)
            run = self.photofinish("record", "-o", target, *options, *launch, **how)
            if not run.launcher_failed:
                break
        self.assertFalse(run.launcher_failed, f"mpirun failed three times\n{run}")
        if status is not None:
            self.assertEqual(run.status, status, run)
        self.assertTrue(target.exists(), f"no trace was made\n{run}")
        return run

    def record_hang(self):
        """A run of three ranks that hung and was ended: its trace, and how recording it went. Right runs are quick; one whose wildcard
        takes the message of rank 2 hangs."""
        for seed in range(1, 60):
            trace = self.dir / f"{seed}.pft"
            run = self.photofinish("record", "--end-stuck", "--jitter", seed, "-o", trace,
                                   *self.mpirun(3, BIN / "corpus" / "deadlock_in_order"), timeout=60)
            if "it is ended" in run.err:
                return trace, run
        self.fail("no run of 60 hung")

    def record_stuck(self, trace, launch, *options, **how):
        """Records a program that does not end: until that is said, and a little longer; then it is ended."""
        words = [BIN / "photofinish", "record", "-o", self.dir / trace, *options, *launch]
        with self.start(words, **how) as command:
            command.wait_for(lambda: "makes no progress" in command.errors(), 60)
            self.assertIsNone(command.process.poll(), "the job is left alone")
            os.kill(command.pid, signal.SIGTERM)
            return command.finish(60)

    def replay(self, trace, *options, timeout=60.0, **how):
        """env: the ranks get it, in the place of the recorded environment."""
        if how.get("env"):
            options = (*options, "--environment", "now")
        for _ in range(3):
            run = self.photofinish("replay", self.dir / trace, *options, timeout=timeout, **how)
            if not run.launcher_failed or run.status == 3:
                break
        return run

    def info(self, trace="t.pft"):
        return self.photofinish("info", self.dir / trace, "--json").json()

    # -- asserting
    def assert_as_offline(self, *options):
        """What t.pft's ranks traced while they ran is what the same algorithm traces of its survey."""
        survey = self.photofinish("replay", self.dir / "t.pft", "--survey")
        self.assertEqual(survey.status, 0, survey)
        online = self.run_command(BIN / "pf_online_check", *options, self.dir / "t.pft")
        self.assertEqual(online.status, 0, online)

    def assert_same_run(self, recorded, replayed):
        self.assertIsNotNone(replayed.status, f"the replay does not end\n{replayed}")
        self.assertEqual(replayed.by_rank(), recorded.by_rank(), f"output differs\n{recorded}\n{replayed}")
        self.assertEqual(replayed.status, recorded.status, f"exit status differs\n{recorded}\n{replayed}")

    def assert_refused(self, run, status, *fragments):
        """One clear message of ours, the documented exit status, no crash."""
        self.assertEqual(run.status, status, run)
        messages = [line for line in run.err.splitlines() if line.startswith("photofinish: ")]
        self.assertEqual(len(messages), 1, f"not one message\n{run}")
        for fragment in fragments:
            self.assertRegex(run.err, fragment, run)
        self.assertIsNone(CRASHED.search(run.err), run)
        return messages[0]

    def need(self, *paths):
        for path in paths:
            if not (shutil.which(str(path)) if os.sep not in str(path) else os.path.exists(path)):
                self.skipTest(f"{path} is not there")


@functools.lru_cache(maxsize=None)
def doctor_says(name):
    """Whether a thing works on this machine, by doctor's word: watchpoints, cycle-counter …"""
    said = subprocess.run([BIN / "photofinish", "doctor", "--json"], capture_output=True, text=True, timeout=60, check=False)
    return next(each["state"] for each in json.loads(said.stdout)["checks"] if each["name"] == name) == "works"


def gdb_calls_functions():
    """GDB 13 calls no function of a program where the processor has registers that it does not know (AMX)."""
    said = subprocess.run(["gdb", "-nx", "-batch", "-ex", "starti", "-ex", "set var $xmm0.v4_int32[0] = 1", "/bin/true"], capture_output=True, text=True,
                          timeout=60, check=False)
    return "Couldn't write extended state" not in said.stderr


def on_thread(function):
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


def main():
    """unittest.main(), but a file whose tests were all skipped exits 77."""
    program = unittest.main(module="__main__", exit=False, verbosity=2)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if result.testsRun and len(result.skipped) == result.testsRun else 0)
