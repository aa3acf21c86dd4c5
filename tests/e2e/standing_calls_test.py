# SPDX-License-Identifier: GPL-3.0-or-later
"""Who waits for whom in a job that was not recorded: the arguments of the calls that ranks stand in, read from their callers' code.

Programs are generated, with arguments of many forms, and compiled at several levels: what is told is what was written, or that
it is not known. PF_PROGRAMS: how many (2)."""
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from dap_client import DapCase
from photofinish import main

PROGRAMS = int(os.environ.get("PF_PROGRAMS", "2"))
FIRST = int(os.environ.get("PF_SEED", "1"))
LEVELS = ("-O0", "-O1", "-O2", "-O3 -fno-pic -no-pie", "-Os")
RANKS = 8
HEAD = """#include <mpi.h>
#include <string.h>
struct Where { int peer, tag; MPI_Comm comm; };
static int rank, size, table[16], mine[4], theirs[4];
static MPI_Comm second;
static volatile int seen;
"""


def argument(chance, value, rank):
    """(statements before, expression) of an int that is `value` in this rank."""
    name = f"v{chance.randrange(1000000)}"
    kind = chance.randrange(11)
    if kind == 0:
        return "", str(value)
    if kind == 1:
        return f"int {name} = {value};", name
    if kind == 2:
        return f"volatile int {name} = {value};", name
    if kind == 3:
        at = chance.randrange(16)
        return f"table[{at}] = {value};", f"table[{at}]"
    if kind == 4:
        return f"struct Where {name} = {{{value}, 0, second}};", f"{name}.peer"
    if kind == 5:
        return f"int {name} = {value - 3} + seen; for (int i = 0; i < 3; ++i) {name} += 1;", name
    if kind == 6:
        return f"int {name} = seen ? {value + 1} : {value};", name
    if kind == 7:
        return f"int {name} = rank + {value + RANKS - rank};", f"{name} - size"
    if kind == 8:
        return "", f"{value // RANKS * RANKS} + (rank + {RANKS + value % RANKS - rank}) % size"
    if kind == 9:
        return f"int {name} = {value * 5 + chance.randrange(5)};", f"{name} / 5" if chance.random() < 0.5 else f"({name} / 5 ^ rank) ^ {rank}"
    return f"int {name} = {value}; int* at{name} = &{name}; seen += *at{name} - {value};", f"*at{name}"


def call_of(chance, rank):
    """(source, {call, peer, tag, world}) of a call that never ends where all ranks are in such."""
    others = [each for each in range(RANKS) if each != rank]
    peer, tag, world = chance.choice(others), 100 + chance.randrange(50), chance.random() < 0.7
    before_peer, of_peer = argument(chance, peer, rank)
    before_tag, of_tag = argument(chance, tag, rank)
    comm = "MPI_COMM_WORLD" if world else "second"
    before = f"{before_peer} {before_tag}"
    kind = chance.choice(("recv", "any", "probe", "ssend", "sendrecv", "bcast", "allreduce", "wait", "mprobe"))
    if kind == "recv":
        return f"{before} MPI_Recv(mine, 1, MPI_INT, {of_peer}, {of_tag}, {comm}, MPI_STATUS_IGNORE);", ("MPI_Recv", peer, tag, world)
    if kind == "any":
        return f"{before_tag} MPI_Recv(mine, 1, MPI_INT, MPI_ANY_SOURCE, {of_tag}, {comm}, MPI_STATUS_IGNORE);", ("MPI_Recv", "any", tag, world)
    if kind == "probe":
        return f"{before} MPI_Status s; MPI_Probe({of_peer}, {of_tag}, {comm}, &s); seen = s.MPI_TAG;", ("MPI_Probe", peer, tag, world)
    if kind == "mprobe":
        return f"{before} MPI_Message m; MPI_Mprobe({of_peer}, {of_tag}, {comm}, &m, MPI_STATUS_IGNORE);", ("MPI_Mprobe", peer, tag, world)
    if kind == "ssend":
        return f"{before} MPI_Ssend(mine, 1, MPI_INT, {of_peer}, 200 + ({of_tag}), {comm});", ("MPI_Ssend", peer, 200 + tag, world)
    if kind == "sendrecv":
        return (f"{before} MPI_Sendrecv(mine, 1, MPI_INT, 0, 900, theirs, 1, MPI_INT, {of_peer}, {of_tag}, {comm}, MPI_STATUS_IGNORE);",
                ("MPI_Sendrecv", peer, tag, world))
    if kind == "bcast":
        return f"{before_peer} MPI_Bcast(mine, 1, MPI_INT, {of_peer}, {comm});", ("MPI_Bcast", peer, None, world)
    if kind == "allreduce":
        return f"MPI_Allreduce(mine, theirs, 1, MPI_INT, MPI_SUM, {comm});", ("MPI_Allreduce", None, None, world)
    return f"{before} MPI_Request q; MPI_Irecv(mine, 1, MPI_INT, {of_peer}, {of_tag}, {comm}, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);", ("MPI_Wait", None, None, None)


def program(chance):
    calls = [call_of(chance, rank) for rank in range(RANKS)]
    switch = chance.random() < 0.5
    functions = "".join(f"static {'' if chance.random() < 0.5 else '__attribute__((noinline)) '}void f{rank}(void) {{ {source} }}\n"
                        for rank, (source, _) in enumerate(calls))
    if switch:
        choose = "switch (rank) {" + "".join(f" case {rank}: f{rank}(); break;" for rank in range(RANKS)) + " }"
    else:
        choose = " ".join(f"if (rank == {rank}) f{rank}();" for rank in range(RANKS))
    text = (HEAD + functions + "int main(int argc, char** argv) {\n  MPI_Init(&argc, &argv);\n  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
            "  MPI_Comm_size(MPI_COMM_WORLD, &size);\n  MPI_Comm_dup(MPI_COMM_WORLD, &second);\n  MPI_Barrier(second);\n"
            f"  {choose}\n  MPI_Finalize();\n  return seen;\n}}\n")
    return text, [wanted for _, wanted in calls]


class StandingCallsTest(DapCase):
    def compiled(self, text, options):
        source, binary = self.dir / "standing.c", self.dir / "standing"
        source.write_text(text)
        subprocess.run(["mpicc", "-g", "-w", *options.split(), "-o", binary, source], check=True)
        return binary

    def waits_of(self, binary, known):
        """What the request says once all ranks stand in their calls, for which `known` is asked."""
        with self.start(self.mpirun(RANKS, binary)) as job:
            job.wait_for(lambda: re.search(rf"^{job.pid}  {RANKS} ranks", self.photofinish("attach").out, re.M))
            for _ in range(10):  # ranks may be on their way
                process, client = self.serve()
                self.begin(client, "attach", pid=job.pid, focus=list(range(RANKS)))
                client.ask("configurationDone")
                client.event("stopped", 0)
                said = client.ask("photofinish/waits")
                client.ask("disconnect")
                client.event("terminated", 0)
                process.wait(30)
                if known(said):
                    break
            os.kill(job.pid, 15)
            job.finish(30)
        return said

    def check(self, said, wanted, text):
        """How many arguments are told of how many. None is wrong."""
        waits = {wait["rank"]: wait for wait in said["waits"]}
        told = asked = 0
        for rank, (call, peer, tag, world) in enumerate(wanted):
            why = waits[rank]["why"]
            self.assertEqual(re.match(r"MPI_\w+", why).group(), call, f"{said}\n{text}")
            other = "another communicator" in why
            found_tag = re.search(r", tag (\d+)", why)
            found_peer = re.search(r"(?:from|to|root) (?:rank )?(\d+|any source)", why)
            for value, found in ((peer, found_peer and found_peer.group(1).replace("any source", "any")), (tag, found_tag and found_tag.group(1))):
                asked += value is not None
                if found is not None:
                    self.assertEqual(found, str(value), f"rank {rank}: {why}\n{text}")
                    told += 1
            if world:
                self.assertFalse(other, f"rank {rank}: {why}\n{text}")
                asked_on = [peer] if isinstance(peer, int) and call != "MPI_Bcast" and found_peer else None
                if asked_on and waits[rank]["on"]:
                    self.assertEqual(waits[rank]["on"], asked_on, f"rank {rank}: {why}\n{text}")
            self.assertFalse(waits[rank]["sure"])
        return told, asked

    def test_generated_programs(self):
        told = asked = 0
        for seed in range(FIRST, FIRST + PROGRAMS):
            for level in LEVELS if PROGRAMS > 2 else (LEVELS[(2 * seed) % 5], LEVELS[(2 * seed + 1) % 5]):
                text, wanted = program(random.Random(seed))
                with self.subTest(seed=seed, level=level):
                    def stand(said, calls=[call for call, *_ in wanted]):
                        return [wait["why"].split(" ")[0].rstrip(",") for wait in said["waits"]] == calls

                    said = self.waits_of(self.compiled(text, level), stand)
                    told_here, asked_here = self.check(said, wanted, text)
                    told, asked = told + told_here, asked + asked_here
        print(f"\n{told} of {asked} arguments told")
        self.assertGreater(told, asked // 2)


if __name__ == "__main__":
    main()
