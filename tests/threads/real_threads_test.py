# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs with threads under mpirun, recorded and replayed with the interposer instrumented by the thread sanitizer.

Only under the tsan preset: program and interposer are instrumented, Open MPI is not, and what is called from inside of it is
left out (ignore_noninstrumented_modules). A report ends a rank with status 66. The command line is PF_TOOLS', a release build's.
"""
import os
import pathlib
import shutil
import sys
import tempfile

TOOLS, BUILT = pathlib.Path(os.environ["PF_TOOLS"]), pathlib.Path(os.environ["PF_BIN"])
NAMES = ("photofinish", "photofinish-daemon", "photofinish-agent")
if not all((TOOLS / name).exists() for name in NAMES):
    print(f"no command line in {TOOLS}: build the release preset first")
    sys.exit(77)
bin_directory = tempfile.TemporaryDirectory(prefix="pf-tsan.")  # an agent preloads what is beside it
for name in NAMES:
    shutil.copy2(TOOLS / name, bin_directory.name)
os.symlink(BUILT / "libphotofinish_mpi.so", pathlib.Path(bin_directory.name, "libphotofinish_mpi.so"))
os.environ["PF_BIN"] = bin_directory.name

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import PhotofinishTest, main  # noqa: E402

LANES = ("wildcard", "explicit", "senders", "tests", "waitany", "probes", "pool", "exchange", "heartbeat")


class RealThreadsTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.env["TSAN_OPTIONS"] = "halt_on_error=1:second_deadlock_stack=1:ignore_noninstrumented_modules=1"
        # These write their own code over libc's, and the sanitizer's, functions: Open MPI 4, and UCX, which Open MPI 5 loads.
        self.env["OMPI_MCA_memory"] = "^patcher"
        self.env["UCX_MEM_EVENTS"] = "n"
        self.need("mpirun")

    def record_and_replay(self, mode, ranks, *words):
        with self.subTest(program=words, mode=mode):
            recorded = self.record("t.pft", self.mpirun(ranks, *words), "--mode", mode)
            self.assert_same_run(recorded, self.replay("t.pft", "--jitter", 1))

    def test_two_threads(self):
        for way in ("any", "mutex", "handshake", "barrier", "semaphore", "joined"):
            self.record_and_replay("all", 2, BUILT / "threads_two_threads", way)

    def test_lanes(self):
        for number, way in enumerate(LANES):
            self.record_and_replay(("outcomes", "races", "all")[number % 3], 3, BUILT / "threads_lanes", way, 3, 6)


if __name__ == "__main__":
    main()
