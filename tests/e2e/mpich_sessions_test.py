# SPDX-License-Identifier: GPL-3.0-or-later
"""Debugging programs of MPICH: reports without a window, an editor's session, a job that runs, a core file."""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from dap_client import DESK_SOURCE, DapCase, line_of
from photofinish import BIN, SOURCE, main

CORPUS = BIN / "corpus_mpich"
# Functions of MPICH, of what it sends by, of our wrappers: none of a program's stack.
INSIDE = re.compile(r"\?\?|ucp_|ucs_|uct_|MPIR_|MPID|internal_|\brest[A-Z]|epoll|pf::|__GI_")


class MpichSessionsTest(DapCase):
    def setUp(self):
        super().setUp()
        self.need("mpiexec.mpich", "mpicc.mpich")
        if not (BIN / "libphotofinish_mpich.so").exists():
            self.skipTest("built without MPICH")

    def mpiexec(self, ranks, *program):
        return ["mpiexec.mpich", "-n", str(ranks), *map(str, program)]

    def desk(self):
        subprocess.run(["mpicc.mpich", "-g", "-O0", "-o", self.dir / "desk", DESK_SOURCE], check=True, stderr=subprocess.DEVNULL)
        return self.dir / "desk"

    def report(self, *words):
        """The exit status of a run, and its report with the stacks apart."""
        run = self.photofinish("debug", "--offline", "-o", "r.txt", *words, timeout=120)
        text = (self.dir / "r.txt").read_text()
        (self.dir / "r.txt").unlink()
        stacks = text[text.index("Stacks at the failure"):].split("\n\n")[0] if "Stacks" in text else ""
        self.assertIsNone(INSIDE.search(stacks), stacks)
        return run.status, text, stacks

    def test_reports(self):
        """A crash, a run that is right, a deadlock: stacks of all ranks, of the program's frames only."""
        status, text, stacks = self.report(*self.mpiexec(3, self.desk(), "crash"))
        self.assertEqual(status, 11)
        self.assertRegex(text, r"rank 1 was ended by SIGSEGV[\s\S]*MPI +MPICH Version")
        crash, barrier = line_of(DESK_SOURCE, "MARK crash"), line_of(DESK_SOURCE, "MPI_Barrier")
        self.assertRegex(stacks, rf"rank 1\n +#0 main\(\) at desk.c:{crash}")
        waits = rf"\n +#0 MPI_Barrier\(\)\n +#1 main\(\) at desk.c:{barrier}"
        if re.search(r"rank 2\n +#0 MPI_Bcast\(\)\n +#1 goes_on\(\)", stacks):  # still on its way when rank 1 crashed
            self.assertRegex(stacks, "rank 0" + waits)
        else:
            self.assertRegex(stacks, "ranks 0, 2" + waits)
        self.assertRegex(text, r"nowhere = 0x0")
        status, text, stacks = self.report(*self.mpiexec(2, CORPUS / "two_rank_wildcard"))
        self.assertEqual((status, stacks), (0, ""), text)
        self.assertIn("The program ran to its end.", text)
        for seed in range(1, 40):
            run = self.record("hang.pft", self.mpiexec(3, CORPUS / "deadlock_in_order"), "--end-stuck", "--jitter", seed, status=None)
            if "makes no progress" in run.err:
                break
        else:
            self.fail(f"no run of 40 hung\n{run}")
        status, text, stacks = self.report(self.dir / "hang.pft")
        self.assertRegex(text, r"rank 0 waits? in MPI_Recv .* message from rank 2")
        self.assertRegex(stacks, r"rank 0\n +#0 MPI_Recv\(\)\n +#1 main\(\) at deadlock_in_order.c:\d+")
        self.assertRegex(stacks, r"ranks 1, 2\n +#0 MPI_Finalize\(\)")

    def test_an_editors_session(self):
        """Recorded first; a breakpoint, a step over a wildcard receive, which message it was, one event back."""
        process, client = self.serve()
        source, program = SOURCE / "tests" / "corpus" / "any_source_sum.c", str(CORPUS / "any_source_sum")
        receive = line_of(source, "MPI_Recv(")
        self.begin(client, "launch", program=program, launcher=["mpiexec.mpich", "-n", "4"], cwd=str(self.dir))
        client.ask("setBreakpoints", source={"path": str(source)}, breakpoints=[{"line": receive}])
        client.ask("configurationDone")
        stopped = client.event("stopped", 0)["body"]
        self.assertEqual((stopped["reason"], stopped["threadId"]), ("breakpoint", 1), stopped)
        frames = self.stack(client, 0)
        self.assertEqual((frames[0]["name"], frames[0]["line"], frames[0]["source"]["path"]), ("main", receive, str(source)))
        client.ask("setBreakpoints", source={"path": str(source)}, breakpoints=[])
        self.assertEqual(self.step(client, "next")["reason"], "step")
        frame = self.stack(client, 0)[0]
        self.assertEqual((frame["name"], frame["line"]), ("main", receive + 1), frame)
        _, values = self.locals(client, frame)
        value = float(values["value"]["value"])
        self.assertIn(round(3 * value) % 3, (0, 1, 2))
        said = client.ask("evaluate", expression="which-message value", frameId=frame["id"], context="repl")["result"]
        self.assertRegex(said, rf"value was filled last by MPI_Recv at any_source_sum.c:{receive}, event 2: the message of rank [123] with tag 1")
        # Back before the receive, and over it again: the same message.
        stopped = self.step(client, "stepBack")
        self.assertIn("before event 2", stopped["description"])
        frames = self.stack(client, 0)
        self.assertEqual([(each["name"], each["line"]) for each in frames[:2]], [("MPI_Recv", 0), ("main", receive)])
        self.step(client, "next")
        _, values = self.locals(client, self.stack(client, 0)[0])
        self.assertEqual(float(values["value"]["value"]), value)
        since = client.mark()
        client.ask("pause", threadId=1)
        client.event("stopped", since, allThreadsStopped=True)
        for rank in range(4):
            self.assertIsNone(INSIDE.search(" ".join(each["name"] for each in self.stack(client, rank))))
        client.ask("disconnect")
        self.assertEqual(process.wait(30), 0)

    def test_mpi_errors(self):
        """With the filter for it, an MPI call that fails stops: call and error are named, in the program's own words."""
        self.record("t.pft", self.mpiexec(2, self.desk(), "errors"))
        process, client = self.serve()
        self.begin(client, "launch", trace=str(self.dir / "t.pft"))
        client.ask("setExceptionBreakpoints", filters=["failure", "mpi"])
        client.ask("configurationDone")
        stopped = client.event("stopped", 0)["body"]
        self.assertEqual((stopped["reason"], stopped["threadId"], stopped["text"]),
                         ("exception", 2, "an MPI call has failed"), stopped)
        client.wait(lambda: "MPI_Recv: MPI_ERR_TRUNCATE" in client.output("console"))
        self.assertEqual(client.ask("exceptionInfo", threadId=2)["description"], "MPI_Recv: MPI_ERR_TRUNCATE")
        frames = self.stack(client, 1)
        self.assertEqual([each["name"] for each in frames[:2]], ["MPI_Recv", "overflow"])
        # Without it the run goes to its end.
        client.ask("setExceptionBreakpoints", filters=["failure"])
        client.ask("continue", threadId=1)
        self.assertEqual(client.event("exited", 0)["body"]["exitCode"], 0)
        process.stdin.close()
        self.assertEqual(process.wait(30), 0)

    def test_a_job_that_runs(self):
        """Found by mpiexec's process; looked at, moved, and left alone."""
        with self.start(self.mpiexec(3, self.desk(), "run", self.dir / "stop")) as job:
            listed = job.wait_for(lambda: re.search(rf"^{job.pid}  3 ranks.*mpiexec", self.photofinish("attach").out, re.M))
            self.assertNotIn("hydra_pmi_proxy", listed.group(0))
            for pid in job.find("desk"):  # past MPI_Init
                job.wait_for(lambda: "libuct_" in pathlib.Path(f"/proc/{pid}/maps").read_text())
            process, client = self.serve()
            self.begin(client, "attach", processId=job.pid)
            client.ask("configurationDone")
            client.event("stopped", 0, allThreadsStopped=True)
            for rank in range(3):
                names = [each["name"] for each in self.stack(client, rank)]
                self.assertIn("main", names)
                self.assertIsNone(INSIDE.search(" ".join(names)), names)
            self.step_in_desk_and_leave(process, client, job)

    def test_a_core_file(self):
        """Its rank is read from the file, as MPICH's launcher has it."""
        with self.core_files() as limits, self.start(self.mpiexec(2, self.desk(), "crash"), limits=limits) as job:
            crashed = job.finish(30)
        self.look_at_desks_core(crashed)


if __name__ == "__main__":
    main()
