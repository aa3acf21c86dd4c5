# SPDX-License-Identifier: GPL-3.0-or-later
"""record --until-failure: again and again until a run fails; that run and a good one are kept, and nothing else."""
import os
import re
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

TALLY = BIN / "e2e" / "tally"
RIGHT = BIN / "corpus" / "two_rank_wildcard"


class UntilFailureTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", TALLY)

    def until_failure(self, *words, ranks=4, program=TALLY, **how):
        return self.photofinish("record", "--until-failure", "-o", self.dir / "t.pft", *words, *self.mpirun(ranks, program), timeout=120, **how)

    def traces(self):
        return sorted(path.name for path in self.dir.iterdir() if ".pft" in path.name)

    def test_a_wrong_answer_is_found_and_replayed(self):
        for _ in range(12):  # the first run may fail
            run = self.until_failure(ranks=3)
            self.assertEqual(run.status, 1, run)
            if "t-good.pft" in self.traces():
                break
            (self.dir / "t.pft").unlink()
        ends = re.findall(r"^photofinish: run (\d+) \((native timing|jitter \d+), [0-9.]+ s\): (.*)$", run.err, re.M)
        self.assertEqual([(int(number), timing) for number, timing, _ in ends],
                         [(n, f"jitter {n // 2}" if n % 2 == 0 else "native timing") for n in range(1, len(ends) + 1)])
        self.assertTrue(all(how == "ended well" for _, _, how in ends[:-1]), run)
        self.assertEqual(ends[-1][2], "rank 0 ended with exit status 1 after event 4")
        self.assertEqual(run.out.count("WRONG ANSWER"), 1, "of the run that failed only")
        self.assertEqual(self.photofinish("info", self.dir / "t.pft", "--json").json()["exitStatus"], 1)
        self.assertEqual(self.traces(), ["t-good.pft", "t.pft"])
        self.assertEqual(self.photofinish("info", self.dir / "t-good.pft", "--json").json()["exitStatus"], 0)
        failing = f"run {len(ends)} of at most 100 failed and is {self.dir}/t.pft: 'photofinish {self.dir}/t.pft' opens it"
        self.assertIn(failing, run.err)
        self.assertIn(f"'photofinish diff {self.dir}/t-good.pft {self.dir}/t.pft' says", run.err)
        self.assertEqual(self.replay("t.pft", timeout=60).status, 1)

    def test_none_fails(self):
        run = self.until_failure("--runs", 3, ranks=2, program=RIGHT)
        self.assertEqual((run.status, self.traces()), (0, ["t-good.pft"]), run)
        self.assertEqual(re.findall(r"run \d \((native timing|jitter \d)", run.err), ["native timing", "jitter 1", "native timing"])
        self.assertIn("none of 3 runs failed; the last one is", run.err)
        self.assertEqual(self.replay("t-good.pft").status, 0)

    def test_a_run_that_takes_too_long(self):
        """What polls or computes hangs for nobody to see."""
        long = self.mpirun(2, BIN / "e2e" / "steady", 100000, 10000)
        run = self.photofinish("record", "--run-time", 8, "-o", self.dir / "t.pft", *long, timeout=60)
        self.assertNotEqual(run.status, 0, run)
        self.assertIn("it had not ended after 8 s, and was ended", run.err)
        self.assertEqual(self.photofinish("info", self.dir / "t.pft").status, 0, "its trace is there")
        words = ("record", "--until-failure", "--replace", "-o", self.dir / "t.pft")
        run = self.photofinish(*words, "--run-time", 8, *long, timeout=60)
        self.assertNotEqual(run.status, 0, run)
        self.assertRegex(run.err, r"run 1 \(native timing, [0-9.]+ s\): it had not ended after 8 s, and was ended")
        run = self.photofinish(*words, "--time", 8, *long, timeout=60)
        self.assertEqual(run.status, 0, "no run has failed")
        self.assertRegex(run.err, r"the time of the search was up in run 1, before one had failed")
        self.assertRegex(run.err, rf"what that run had done until then is {self.dir}/t\.pft")

    def test_a_check_finds_what_the_program_does_not(self):
        run = self.until_failure("--check", "! grep -q .", "--runs", 5, ranks=2, program=RIGHT)
        self.assertEqual((run.status, self.traces()), (1, ["t.pft"]), run)
        self.assertIn("it ended well, and '! grep -q .' says that it is wrong", run.err)
        self.assertTrue(run.out, "what it printed")
        (self.dir / "t.pft").unlink()
        self.assert_refused(self.until_failure("--check", "/no/such/command", ranks=2, program=RIGHT), 2, "the check .* cannot be run")
        self.assertEqual(self.traces(), [], "a run that nobody has judged")

    def test_a_hang_is_ended_and_is_one(self):
        run = self.until_failure("--jitter", 1, ranks=3, program=BIN / "corpus" / "deadlock_in_order")
        self.assertNotEqual(run.status, 0, run)
        self.assertRegex(run.err, r"run \d+ \(jitter \d+, [0-9.]+ s\): no rank could get on: rank 0 is in MPI_Recv at deadlock_in_order\.c:\d+ \(main\) for rank 2")
        self.assertRegex(run.err, "ranks? 0.*: the rank ended without MPI_Finalize", "as 'record' tells it")

    def test_ctrl_c_ends_the_search(self):
        words = [BIN / "photofinish", "record", "--until-failure", "-o", self.dir / "t.pft", *self.mpirun(2, BIN / "e2e" / "steady", 400, 4000)]
        with self.start(words) as command:
            command.wait_for(lambda: "run 1 (" in command.errors() and command.find("steady"), 60)
            for pid in (command.process.pid, *command.find("mpirun")):  # as a terminal does
                os.kill(pid, signal.SIGINT)
            run = command.finish(60)
        self.assertNotEqual(run.status, 0, run)
        self.assertRegex(run.err, r"ended in run \d+, before one had failed; the last good one is .*t-good.pft")
        self.assertRegex(run.err, "what that run had done until then is .*t.pft")
        self.assertEqual(self.traces(), ["t-good.pft", "t.pft"], "who ends a run may have seen it hang")
        self.assertEqual(self.photofinish("info", self.dir / "t.pft").status, 0)

    def test_ctrl_c_ends_a_check_and_is_no_failure(self):
        words = [BIN / "photofinish", "record", "--until-failure", "-o", self.dir / "t.pft", "--check", "sleep 77", *self.mpirun(2, RIGHT)]
        with self.start(words) as command:
            command.wait_for(lambda: command.find("sleep"), 60)
            for pid in (command.process.pid, *command.find("sleep")):
                os.kill(pid, signal.SIGINT)
            run = command.finish(60)
        self.assertEqual((run.status, self.traces()), (130, ["t.pft"]), run)
        self.assertIn("the search was ended in run 1", run.err)
        self.assertTrue(run.out, "what it printed")

    def test_each_run_has_the_whole_input(self):
        (self.dir / "input").write_text("7\n")
        read, write = os.pipe()
        os.write(write, b"7\n")
        with open(self.dir / "input") as file:
            for given in (file.fileno(), read):  # the pipe goes on: nobody closes it before the end
                run = self.until_failure("--runs", 3, "--replace", ranks=2, program=RIGHT, stdin=given)
                self.assertEqual((run.status, self.traces()), (0, ["t-good.pft"]), run)
                kept = self.photofinish("sql", self.dir / "t-good.pft", "SELECT hex(input) AS input FROM run", "--json")
                self.assertIn('"370A"', kept.out)
        os.close(read)
        os.close(write)

    def test_an_output_that_no_check_can_have(self):
        script = self.dir / "prints"
        script.write_text(f"#!/bin/sh\necho begins\nhead -c 70000000 /dev/zero\nexec {BIN}/corpus/any_source_sum\n")
        script.chmod(0o755)
        words = ("record", "--until-failure", "--runs", 1, "-o", self.dir / "t.pft")
        run = self.photofinish(*words, "--check", "grep -q begins", script)
        self.assert_refused(run, 2, "printed more than 64 MiB", "write to a file")
        self.assertEqual(self.traces(), [])
        self.assertEqual(self.photofinish(*words, script).status, 0)

    def test_names_without_o(self):
        for number in (1, 2):
            run = self.photofinish("record", "--until-failure", "--runs", 1, *self.mpirun(2, RIGHT), timeout=60)
            self.assertEqual((run.status, self.traces()[-1]), (0, f"two_rank_wildcard-{number}-good.pft"), run)
        self.assertEqual(len(self.traces()), 2)

    def test_bad_use(self):
        (self.dir / "t-good.pft").write_text("mine")
        self.assert_refused(self.until_failure(), 2, "t-good.pft is there", "--replace")
        self.assert_refused(self.until_failure("--replace"), 2, "t-good.pft is there already and is no trace")
        self.assertEqual((self.dir / "t-good.pft").read_text(), "mine")
        (self.dir / "t-good.pft").rename(self.dir / "t.pft")
        self.assert_refused(self.until_failure(), 2, "t.pft is there", "--replace")
        self.assertEqual((self.dir / "t.pft").read_text(), "mine")
        (self.dir / "t.pft").unlink()
        launch = self.mpirun(2, RIGHT)
        for words in (["--runs", 3], ["--time", 3], ["--check", "true"], ["--until-failure", "--runs", 0], ["--until-failure", "--time", 0],
                      ["--until-failure", "--time", "nan"], ["--until-failure", "--check", ""]):
            self.assertEqual(self.photofinish("record", *words, *launch).status, 2, words)
        self.assert_refused(self.photofinish("record", "--until-failure", "mpirun", "-n", "2", "/no/such"), 2)
        self.assertEqual(self.traces(), [])


if __name__ == "__main__":
    main()
