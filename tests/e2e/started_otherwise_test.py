# SPDX-License-Identifier: GPL-3.0-or-later
"""A replay of a run that was started otherwise: libraries, arguments, environment. Refused before the first instruction
behind MPI_Init, with what differs, recorded and now; --force goes on."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import PhotofinishTest, main

MPICC = os.environ.get("PF_MPICC", "mpicc")
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
int edition(void);
int main(int argc, char **argv)
{
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    printf("began, edition %d\n", edition());
    MPI_Finalize();
    return 0;
}
"""


class StartedOtherwiseTest(PhotofinishTest):
    naps = False

    def setUp(self):
        super().setUp()
        self.need("mpirun", MPICC)
        for name, text in (("app.c", PROGRAM), ("part.c", "int edition(void) { return EDITION; }\n"),
                           ("extra.c", "int nobody_calls_this;\n")):
            (self.dir / name).write_text(text)
        self.make_library(1)
        self.app = self.dir / "app"
        self.compile("-o", self.app, self.dir / "app.c", f"-L{self.dir}", "-lpart", f"-Wl,-rpath,{self.dir}")
        self.wrapper = self.dir / "wrapped"  # the launcher's command of a trace cannot be changed, what is behind it can
        self.wrapper.write_text(f'#!/bin/sh\n[ -z "$PF_TEST_TZ" ] || export TZ="$PF_TEST_TZ"\nexec {self.app} a $PF_TEST_ARGUMENT\n')
        self.wrapper.chmod(0o755)

    def compile(self, *words):
        subprocess.run([MPICC, "-g", "-O0", *map(str, words)], check=True)

    def make_library(self, edition, build_id=True):
        self.compile("-shared", "-fPIC", f"-DEDITION={edition}", "-Wl,--build-id" if build_id else "-Wl,--build-id=none",
                     "-o", self.dir / "libpart.so", self.dir / "part.c")

    def record_it(self, *options, program=None, **how):
        return self.record("t.pft", ["mpirun", "--tag-output", "--oversubscribe", *options, "-n", "2", str(program or self.app)], **how)

    def assert_refused_and_forced(self, *fragments, **how):
        run = self.replay("t.pft", timeout=30, **how)
        self.assertEqual(run.status, 3, run)
        for fragment in (*fragments, "--force"):
            self.assertRegex(run.err, fragment, run)
        self.assertNotIn("began", run.out, "the program must not run beyond MPI_Init")
        forced = self.replay("t.pft", "--force", **how)
        self.assertEqual(forced.status, 0, forced)
        self.assertIn("began", forced.out)

    def test_the_same(self):
        recorded = self.record_it(env={"TZ": "UTC", "OMP_NUM_THREADS": "2", "PF_TEST_ARGUMENT": "caf\u00e9 100%"}, program=self.wrapper)
        self.assert_same_run(recorded, self.replay("t.pft", env={"TZ": "UTC", "OMP_NUM_THREADS": "2",
                                                                 "PF_TEST_ARGUMENT": "caf\u00e9 100%"}))

    def test_a_library(self):
        self.record_it()
        self.make_library(2)
        self.assert_refused_and_forced(r"/libpart\.so is build-id [0-9a-f]{16}, recorded: build-id [0-9a-f]{16}")

    def test_a_library_without_a_build_id(self):
        self.make_library(1, build_id=False)
        self.record_it()
        self.make_library(2, build_id=False)
        self.assert_refused_and_forced(r"/libpart\.so is crc32c [0-9a-f]{8}, recorded: crc32c [0-9a-f]{8}")

    def test_a_program_without_a_build_id(self):
        link = ["-Wl,--build-id=none", "-o", self.app, self.dir / "app.c", f"-L{self.dir}", "-lpart", f"-Wl,-rpath,{self.dir}"]
        self.compile(*link)
        self.record_it()
        self.compile("-O1", *link)
        self.assert_refused_and_forced(r"/app is not the build that was recorded \(crc32c [0-9a-f]{8}, recorded: crc32c [0-9a-f]{8}\)")

    def test_an_argument(self):
        self.record_it(program=self.wrapper, env={"PF_TEST_ARGUMENT": "b"})
        self.assert_refused_and_forced("argument 2 is 'c', recorded: 'b'", env={"PF_TEST_ARGUMENT": "c"})
        self.assert_refused_and_forced("argument 2 is not there, recorded: 'b'")

    def test_variables(self):
        self.record_it(env={"OMP_NUM_THREADS": "2", "LC_NUMERIC": "C"})
        self.assert_refused_and_forced("not started as it was recorded", "OMP_NUM_THREADS is '3', recorded: '2'",
                                       "TZ is 'UTC', recorded: not set", "LC_NUMERIC is not set, recorded: 'C'",
                                       env={"OMP_NUM_THREADS": "3", "TZ": "UTC"})

    def test_a_variable_that_a_script_sets(self):
        self.record_it(program=self.wrapper)
        self.assert_refused_and_forced("TZ is 'UTC', recorded: not set", env={"PF_TEST_TZ": "UTC"})

    def test_a_survey_takes_the_recorded_variables(self):
        """Who asks for the races did not ask for another run."""
        self.record_it("-x", "PF_TEST_WORD", env={"OMP_NUM_THREADS": "2", "PF_TEST_WORD": "one"})
        run = self.photofinish("races", self.dir / "t.pft", "--json", env={"TZ": "UTC", "PF_TEST_WORD": "two"})
        self.assertEqual(run.status, 0, run)

    def test_a_preloaded_library(self):
        self.compile("-shared", "-fPIC", "-o", self.dir / "libextra.so", self.dir / "extra.c")
        self.record_it()
        self.assert_refused_and_forced(r"LD_PRELOAD is '.*/libextra\.so', recorded: not set",
                                       env={"LD_PRELOAD": str(self.dir / "libextra.so")})

    def test_what_the_launcher_passes_on(self):
        self.record_it("-x", "PF_TEST_WORD", env={"PF_TEST_WORD": "one", "PF_TEST_OTHER": "one"})
        self.assert_refused_and_forced("PF_TEST_WORD is 'two', recorded: 'one'", env={"PF_TEST_WORD": "two"})
        self.assert_same_run(*[self.replay("t.pft", env={"PF_TEST_WORD": "one", "PF_TEST_OTHER": word}) for word in ("1", "2")])

    def test_a_trace_that_knows_nothing_of_it(self):
        """As those of former versions: the agents' files are taken away before they are read."""
        self.wrapper.write_text(f'#!/bin/sh\n{self.app} a\nstatus=$?\nrm -f {self.dir}/t.pft.d/*.world\nexit $status\n')
        self.record_it(program=self.wrapper)
        replayed = self.replay("t.pft", env={"TZ": "UTC"})
        self.assertEqual(replayed.status, 0, replayed)


if __name__ == "__main__":
    main()
