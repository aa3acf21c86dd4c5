# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranks that all wait: what may be right is told and goes on, what cannot get on is ended; helpers that are stopped."""
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

PATIENT = BIN / "e2e" / "patient"
STUCK = BIN / "e2e" / "stuck"
STEADY = BIN / "e2e" / "steady"
SLOW_NETWORK = ["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo",
                "--mca", "btl_tcp_sndbuf", "2048", "--mca", "btl_tcp_rcvbuf", "2048"]


class PatienceTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", PATIENT)

    def test_a_long_operation(self):
        """Longer than it takes until a stall is told of: the recording is left alone, the replay and the survey get through."""
        recorded = self.record("t.pft", self.mpirun(2, PATIENT, "operation", 3), "--end-stuck", "--stall-after", "1")
        self.assertIn("every rank waits", recorded.err)
        self.assertNotIn("it is ended", recorded.err)
        replayed = self.replay("t.pft")
        self.assert_same_run(recorded, replayed)
        self.assertNotIn("gets on", replayed.err, "the recorded run took as long")
        told = self.replay("t.pft", "--stall-after", "1")
        self.assert_same_run(recorded, told)
        self.assertRegex(told.err, r"nothing gets on in the replay, which may be right(.|\n)*MPI_Allreduce", told)
        races = self.photofinish("races", self.dir / "t.pft")
        self.assertEqual(races.status, 0, races)

    def test_data_that_move(self):
        """Each receives from the other, which has sent before: no deadlock, but a slow network."""
        launch = self.mpirun(2, PATIENT, "exchange", 2)
        launch[1:1] = SLOW_NETWORK
        recorded = self.record("t.pft", launch, "--end-stuck", "--stall-after", "3", timeout=120)
        self.assertNotIn("deadlock", recorded.err)
        replayed = self.replay("t.pft", "--stall-after", "3", timeout=120)
        self.assert_same_run(recorded, replayed)
        self.assertNotIn("deadlock", replayed.err)

    def test_a_limit(self):
        recorded = self.record("t.pft", self.mpirun(2, PATIENT, "operation", 60), "--end-stuck=4", status=None)
        self.assertNotIn(recorded.status, (0, None), recorded)
        self.assertIn("it is left alone", recorded.err)
        self.assertIn("it is ended", recorded.err)

    def test_a_deadlock_is_ended_and_has_failed(self):
        for _ in range(3):
            recorded = self.record("t.pft", self.mpirun(3, STUCK), "--end-stuck", status=None, env={"STUCK": "deadlock"})
            self.assertNotIn(recorded.status, (0, None), recorded)
            self.assertRegex(recorded.err, r"deadlock: rank 0 waits in MPI_Ssend(.|\n)*it is ended", recorded)
        replayed = self.replay("t.pft", env={"STUCK": "deadlock"})
        self.assertEqual(replayed.status, recorded.status, replayed)

    def test_deadlocks_with_collectives_and_several_requests(self):
        for word, mode, said in (("barrier", "outcomes", r"rank 0 waits in MPI_Recv .* for rank 1, tag 9; rank 1 waits in MPI_Barrier .* for all ranks"),
                                 ("barrier", "all", r"rank 1 waits in MPI_Barrier .* for all ranks; rank 2 waits"),
                                 ("gone", "outcomes", r"rank 1 waits in MPI_Allreduce .* for all ranks; .*rank 0 (waits in|has called) MPI_Finalize"),
                                 ("root", "outcomes", r"rank 0 waits in MPI_Bcast .* for rank 1; rank 1 waits in MPI_Recv .* for rank 0, tag 9"),
                                 ("root", "all", r"rank 0 waits in MPI_Bcast .* for rank 1; rank 1 waits in MPI_Recv .* for rank 0, tag 9"),
                                 ("several", "all", r"rank 0 waits in MPI_Waitall .* for rank 1; rank 1 waits in MPI_Recv .* for rank 0, tag 9")):
            with self.subTest(word=word, mode=mode):
                trace = f"{word}-{mode}.pft"
                recorded = self.record(trace, self.mpirun(3, STUCK), "--end-stuck", "--mode", mode, "--stall-after", "1", status=None, env={"STUCK": word})
                self.assertNotIn(recorded.status, (0, None), recorded)
                self.assertRegex(recorded.err, f"deadlock: (.|\n)*{said}(.|\n)*it is ended", recorded)
                replayed = self.replay(trace, "--stall-after", "1", env={"STUCK": word})
                self.assertEqual(replayed.status, recorded.status, replayed)

    def test_a_launcher_that_does_not_end(self):
        """Open MPI's may lock up when it is asked to: its ranks and it are killed then, and the trace is made."""
        with self.start([BIN / "photofinish", "record", "-o", self.dir / "t.pft", *self.mpirun(3, STUCK)],
                        env={"STUCK": "deadlock"}) as command:
            command.wait_for(lambda: "it is left alone" in command.errors(), 60)
            os.kill(command.find("mpirun")[0], signal.SIGSTOP)
            os.kill(command.pid, signal.SIGTERM)
            run = command.finish(60)
        self.assertNotIn(run.status, (0, None), run)
        self.assertIn("what is left of it is killed", run.err)
        self.assertTrue((self.dir / "t.pft").exists(), run)

    def test_bad_times(self):
        for words in (["--stall-after", "0"], ["--stall-after", "soon"], ["--end-stuck=-1"]):
            run = self.photofinish("record", *words, "true")
            self.assertEqual(run.status, 2, run)


class StoppedTest(PhotofinishTest):
    """SIGSTOP: whoever waits says for whom, within seconds, and all goes on afterwards."""

    def setUp(self):
        super().setUp()
        self.need("mpirun", STEADY)

    def start_recording(self, rounds=150):
        command = self.start([BIN / "photofinish", "record", "-o", self.dir / "t.pft", *self.mpirun(3, STEADY, rounds, 10000)])
        command.wait_for(lambda: "messages, state" in command.output())
        return command

    def stop_one(self, command, name, told):
        victim = command.find(name)[-1]
        os.kill(victim, signal.SIGSTOP)
        command.wait_for(lambda: re.search(told, command.errors()))
        return victim

    def test_rank_of_a_recording(self):
        with self.start_recording() as command:
            victim = self.stop_one(command, "steady", r"rank \d \(process \d+\) is stopped by a signal")
            os.kill(victim, signal.SIGCONT)
            run = command.finish(60)
        self.assertEqual(run.status, 0, run)
        self.assertRegex(run.err, r"rank \d goes on", run)
        self.assertNotIn("get on", run.err)

    def test_program_before_mpi_init(self):
        with self.start([BIN / "photofinish", "record", "-o", self.dir / "t.pft", *self.mpirun(2, "sleep", 60)]) as command:
            command.wait_for(lambda: len(command.find("sleep")) == 2)
            victim = self.stop_one(command, "sleep", r"'sleep' \(process \d+\), which has not come to MPI_Init yet, does not go on: it is stopped")
            os.kill(victim, signal.SIGCONT)
            os.kill(command.pid, signal.SIGTERM)
            run = command.finish(60)
        self.assertNotIn(run.status, (0, None), run)

    def test_agent_of_a_recording(self):
        with self.start_recording() as command:
            victim = self.stop_one(command, "photofinish-agent", r"agent of rank \d \(process \d+\) does not answer: it is stopped")
            os.kill(victim, signal.SIGCONT)
            run = command.finish(60)
        self.assertEqual(run.status, 0, run)
        self.assertTrue(self.info()["complete"])

    def test_daemon_of_a_replay(self):
        self.record("t.pft", self.mpirun(3, STEADY, 150, 10000))
        with self.start([BIN / "photofinish", "replay", self.dir / "t.pft"]) as command:
            command.wait_for(lambda: command.find("steady"))
            self.stop_one(command, "photofinish-daemon", r"control daemon \(process \d+\) does not answer: it is stopped")
            self.assertNotIn("waiting for MPI_Init", command.errors())
            os.kill(command.find("photofinish-daemon")[0], signal.SIGCONT)
            run = command.finish(60)
        self.assertEqual(run.status, 0, run)
        self.assertIn("answers again", run.err)

    def test_processes_of_a_replay_killed(self):
        self.record("t.pft", self.mpirun(3, STEADY, 150, 10000))
        for name, told in (("photofinish-agent", r"ended from outside, together with what started it"), ("steady", r"rank \d was ended by signal 9 .*: nothing in the recorded run")):
            with self.subTest(name=name), self.start([BIN / "photofinish", "replay", self.dir / "t.pft"]) as command:
                command.wait_for(lambda: "messages, state" in command.output())
                os.kill(command.find(name)[-1], signal.SIGKILL)
                run = command.finish(60)
                self.assertEqual(run.status, 1, run)
                self.assertRegex(run.err, told, run)


class JitterTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", PATIENT)

    def test_a_message_that_was_shown_is_there(self):
        """Of many looks in a run that provokes orders, none may show less than the one before (MPI 3.1, 3.8.1)."""
        for seed in range(1, 9):
            run = self.record("t.pft", self.mpirun(3, PATIENT, "looks", 20), "--jitter", seed)
            self.assertIn("rank 0: 0", run.out, f"seed {seed}\n{run}")

    def test_a_long_run_with_jitter_ends(self):
        """The delays of all calls together are bounded."""
        recorded = self.record("t.pft", self.mpirun(2, PATIENT, "calls", 10000))
        self.assert_same_run(recorded, self.replay("t.pft", "--jitter", 5, timeout=120))


if __name__ == "__main__":
    main()
