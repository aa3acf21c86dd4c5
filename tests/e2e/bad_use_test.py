# SPDX-License-Identifier: GPL-3.0-or-later
"""Bad use: one clear message, what to do next, exit status 2, and nothing left behind."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

PROGRAM = BIN / "corpus" / "any_source_sum"


class BadUseTest(PhotofinishTest):
    def assert_no_trace(self):
        self.assertEqual([path.name for path in self.dir.iterdir() if ".pft" in path.name], [])

    def test_the_window_says_its_words_without_a_display(self):
        self.need(BIN / "photofinish-gui")
        for option, words in (("--help", "Trace or session to open"), ("--version", "photofinish")):
            run = self.run_command("env", "-u", "DISPLAY", "-u", "WAYLAND_DISPLAY", "-u", "QT_QPA_PLATFORM", BIN / "photofinish-gui", option)
            self.assertEqual((run.status, run.err), (0, ""), run)
            self.assertIn(words, run.out)

    def test_no_mpirun_in_path(self):
        empty = self.dir / "empty"
        empty.mkdir()
        run = self.photofinish("record", "-o", "t.pft", "mpirun", "-n", "2", PROGRAM, env={"PATH": str(empty)})
        self.assert_refused(run, 2, "mpirun", "Install Open MPI")
        self.assert_no_trace()

    def test_an_answer_that_is_cut_off(self):
        """By a disk that is full: it looks like a shorter one."""
        self.need("mpirun", "/dev/full")
        self.record("t.pft", self.mpirun(2, PROGRAM), "--mode", "all")
        for words in (["info"], ["info", "--json"], ["races"], ["events"], ["groups"], ["check"], ["sql", "SELECT * FROM rank"]):
            with self.subTest(words=words), open("/dev/full", "wb") as full:
                run = subprocess.run([BIN / "photofinish", words[0], self.dir / "t.pft", *words[1:]], stdout=full, stderr=subprocess.PIPE,
                                     env=self.env, timeout=60)
                self.assertEqual(run.returncode, 1, run)
                self.assertRegex(run.stderr.decode(), r"photofinish: .*No space left")

    def test_a_query_that_is_not_one_select(self):
        """A second statement would be left out, and the first one's rows look like the answer."""
        self.need("mpirun")
        self.record("t.pft", self.mpirun(2, PROGRAM))
        one = "SELECT count(*) FROM rank"
        for query in (one, one + ";", f" /* ranks */ {one}; -- all\n ;"):
            self.assertRegex(self.photofinish("sql", self.dir / "t.pft", query).out, r"2\n$", query)
        for query, said in ((f"{one}; {one}", "more than one SQL statement"), ("", "no SQL statement"), (" ; --", "no SQL statement"),
                            (f"{one}; SELEC", "syntax error"), ("DELETE FROM rank", "not a SELECT"), ("PRAGMA user_version = 3", "cannot be run|not a SELECT")):
            self.assert_refused(self.photofinish("sql", self.dir / "t.pft", query), 2, said, "Give one SELECT")

    def test_program_not_found(self):
        for name in ("no-such-program", "./no-such-program", "/no/such/program"):
            with self.subTest(program=name):
                run = self.photofinish("record", "-o", "t.pft", "mpirun", "-n", "2", name)
                self.assert_refused(run, 2, name, "PATH|[Cc]heck the path")
        self.assert_no_trace()

    def test_program_not_executable(self):
        (self.dir / "data").write_text("no program\n")
        run = self.photofinish("record", "-o", "t.pft", "mpirun", "-n", "2", "./data")
        self.assert_refused(run, 2, "./data", "execut")

    def test_no_program_behind_the_launcher(self):
        self.assert_refused(self.photofinish("record", "mpirun", "-n", "2"), 2, "no program", "For example")

    def test_not_an_mpi_program(self):
        self.need("mpirun")
        (self.dir / "there").write_text("")
        run = self.photofinish("record", "-o", self.dir / "t.pft", "mpirun", "--oversubscribe", "-n", "2", "/bin/ls", self.dir / "there")
        self.assertEqual(run.out.splitlines(), [str(self.dir / "there")] * 2, "the program's output is its own")
        self.assert_refused(run, 2, "MPI_Init", "Is it an MPI program")
        self.assert_no_trace()

    def test_a_failing_program_that_is_no_mpi_program(self):
        self.need("mpirun")
        run = self.photofinish("record", "-o", self.dir / "t.pft", "mpirun", "--oversubscribe", "-n", "2", "/bin/false")
        self.assertEqual(run.status, 1, "its own exit status")
        self.assertRegex(run.err, "nothing was recorded(.|\n)*ended with status 1 before that", run)
        self.assert_no_trace()

    def test_a_script_that_starts_ranks_itself(self):
        """It looks like a program of one rank."""
        self.need("mpirun")
        script = self.dir / "start"
        script.write_text(f"#!/bin/sh\nexec mpirun --oversubscribe -n 2 {BIN}/e2e/steady 100000 1000\n")
        script.chmod(0o755)
        run = self.photofinish("record", "-o", self.dir / "t.pft", script)
        self.assert_refused(run, 2, "but is 2 ranks; the run is ended", "in front of mpirun: .* in the script")
        self.assert_no_trace()

    def test_unknown_option_and_command(self):
        for words in (["record", "--no-such-option", "x"], ["replay"], ["info"], ["races", "--jsn", "t.pft"], ["--no-such"]):
            with self.subTest(words=words):
                self.assertEqual(self.photofinish(*words).status, 2)

    def test_an_option_that_is_another_is_no_program(self):
        launch = ["mpirun", "-n", "2", PROGRAM]
        for words, said in ((["record", "--group", "0-1", *launch], "'photofinish record' has no option --group\n  Did you mean --groups\\?"),
                            (["record", "--no-such", *launch], "has no option --no-such\n  'photofinish record --help'"),
                            (["debug", "--scrpt", "s", *launch], "has no option --scrpt\n  Did you mean --script\\?"),
                            (["debug", "t.pft", "--ranks", "3"], "'--ranks' stands behind the trace t.pft\n  .*: photofinish debug … --ranks 3 t.pft"),
                            (["debug", "t.pft", "u.pft"], "'u.pft' stands behind the trace t.pft\n  Give one trace"),
                            (["payload", "t.pft", "--ranks", "3"], "'photofinish payload' has no option --ranks\n  Did you mean --rank\\?"),
                            (["replay", "t.pft", "--group", "abc"], "'abc' is no value for --group\n"),
                            (["replay", "t.pft", "--grup", "1"], "'photofinish replay' has no option --grup\n  Did you mean --group\\?"),
                            (["replay", "t.pft", "--np", "2", "--group=1"], "--group stands behind options of the launcher"),
                            (["info"], "FILE is required\n  'photofinish info --help'"), (["--no-such"], "photofinish has no option --no-such")):
            with self.subTest(words=words):
                self.assert_refused(self.photofinish(*words), 2, said)
        self.assert_no_trace()

    def test_a_reader_that_has_enough(self):
        """As of other programs, an answer that nobody reads to its end is no failure to be told."""
        self.need("mpirun")
        self.record("t.pft", self.mpirun(2, PROGRAM), "--mode", "all")
        for words in (["info"], ["events", "--json"], ["groups"]):
            with self.subTest(words=words):
                reader, writer = os.pipe()
                os.close(reader)
                run = subprocess.run([BIN / "photofinish", words[0], self.dir / "t.pft", *words[1:]], stdout=writer, stderr=subprocess.PIPE,
                                     env=self.env, timeout=60)
                os.close(writer)
                self.assertEqual((run.returncode, run.stderr), (128 + 13, b""))

    def test_two_dashes_before_the_launcher(self):
        run = self.photofinish("record", "-o", "t.pft", "--", *self.mpirun(2, PROGRAM), "--")
        self.assertEqual(run.status, 0, run)
        run = self.photofinish("replay", "t.pft", "--jitter", "1", "--", "--tag-output")
        self.assertEqual(run.status, 0, run)
        self.assertIn("[1,0]<stdout>", run.out)

    def test_help_of_every_command(self):
        for command in ([], ["record"], ["replay"], ["info"], ["races"], ["events"], ["check"], ["salvage"], ["peek"], ["diff"], ["export"], ["command"], ["debug"], ["attach"], ["core"]):
            with self.subTest(command=command):
                run = self.photofinish(*command, "--help")
                self.assertEqual(run.status, 0, run)
                self.assertIn("--help", run.out)

    def test_no_such_trace(self):
        for command in ("info", "races", "events", "check", "replay"):
            with self.subTest(command=command):
                self.assert_refused(self.photofinish(command, self.dir / "none.pft"), 2, "none.pft")
        self.assert_no_trace()

    def test_trace_in_a_directory_that_is_not_there(self):
        run = self.photofinish("record", "-o", self.dir / "no" / "t.pft", "mpirun", "--oversubscribe", "-n", "2", PROGRAM)
        self.assert_refused(run, 1, "cannot make", "-o FILE")
        self.assertEqual(run.out, "", "the program is not started when its trace has no place")

    def test_an_algorithm_for_a_mode_without_one(self):
        self.assert_refused(self.photofinish("record", "--mode", "all", "--algorithm", "naive", "mpirun", "true"), 2,
                            "--mode races")

    def test_until_what_is_not_there(self):
        self.need("mpirun", PROGRAM)
        self.record("t.pft", self.mpirun(4, PROGRAM))
        for until, message in (("9:1", "no rank 9"), ("0:9999", "no event 9999"), ("0:0", "no event 0"), ("zero", "not an event"),
                               ("0", "not an event"), ("0:1x", "not an event"), ("-1:1", "no rank -1|not an event")):
            with self.subTest(until=until):
                run = self.photofinish("replay", self.dir / "t.pft", f"--until={until}")
                self.assert_refused(run, 2, message)

    def test_rank_that_is_not_there(self):
        self.need("mpirun", PROGRAM)
        self.record("t.pft", self.mpirun(4, PROGRAM))
        self.assert_refused(self.photofinish("events", self.dir / "t.pft", "--rank", "4"), 2, "no rank 4")


if __name__ == "__main__":
    main()
