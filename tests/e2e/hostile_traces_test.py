"""Traces that mean harm: every command that reads gives an answer or a clear error, in one gigabyte, without a crash,
and leaves everything beside the trace as it was. PF_HOSTILE=N makes N traces (10,000 for a release), PF_SEED the first."""
import os
import random
import resource
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from hostile_trace import Forger, seal_seals, seal_table
from photofinish import BIN, CRASHED, FULL, PhotofinishTest, main

PROGRAM = BIN / "e2e" / "steady"
TRACES = int(os.environ.get("PF_HOSTILE", "10000" if FULL else "100"))
FLIPS = 3000 if FULL else 30
FIRST = int(os.environ.get("PF_SEED", "1"))
GIGABYTE = 1 << 30


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTE, GIGABYTE))


class HostileTracesTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", "zstd", PROGRAM)
        self.record("good.pft", self.mpirun(3, PROGRAM, 60, 0), "--mode", "all")
        self.good = self.dir / "good.pft"
        connection = sqlite3.connect(self.good, isolation_level=None)
        connection.execute("""UPDATE run SET command = '["/bin/false"]', program = '/bin/false'""")
        seal_table(connection, "run")
        seal_seals(connection)
        connection.close()
        self.assertEqual(self.photofinish("check", self.good).status, 0, "the seals that we make fit")
        self.place = self.dir / "place"
        self.place.mkdir()

    def read(self, *words):
        return subprocess.run([BIN / "photofinish", *map(str, words)], cwd=self.place, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120, preexec_fn=limits, check=False)

    def commands(self, trace, choose):
        out = self.dir / "out"
        some = [["info", "--json", trace], ["info", trace], ["races", "--json", trace], ["races", trace], ["events", trace],
                ["sql", trace, "SELECT * FROM event"], ["sql", "--json", trace, "SELECT * FROM race_alternative"],
                ["sql", trace, "SELECT * FROM message"], ["sql", trace, "SELECT * FROM receive"],
                ["diff", self.good, trace], ["diff", trace, trace],
                *(["export", "--format", kind, "-o", out, trace] for kind in ("csv", "chrome", "shiviz"))]
        return [["check", trace], *choose.sample(some, 2)]

    def beside(self):
        return {entry.name: (entry.lstat().st_mode, entry.is_symlink() or entry.read_bytes()) for entry in self.place.iterdir()
                if entry.suffix != ".pft"}

    def test_answers_or_errors(self):
        statuses = {}
        for seed in range(FIRST, FIRST + TRACES):
            for entry in self.place.iterdir():
                entry.unlink()
            (self.place / "victim").write_text("thesis")
            forger = Forger(self.good, seed)
            trace = forger.make(str(self.place))
            before = self.beside()
            for command in self.commands("./" + os.path.basename(trace), random.Random(seed)):
                with self.subTest(seed=seed, made=forger.said, command=command):
                    run = self.read(*command)
                    err = run.stderr.decode(errors="replace")
                    statuses[run.returncode] = statuses.get(run.returncode, 0) + 1
                    self.assertIn(run.returncode, (0, 1, 2, 3, 4), err[-2000:])
                    self.assertIsNone(CRASHED.search(err), err[-2000:])
                    if run.returncode != 0 and command[0] != "check":
                        self.assertTrue("photofinish" in err or run.stdout, err)
                    self.assertEqual(self.beside(), before, "what is beside the trace stays as it was")
        print("exit statuses:", dict(sorted(statuses.items())))

    def test_a_flipped_bit_is_seen_or_harmless(self):
        """What check does not find changes nothing that any command prints."""
        choose = random.Random(FIRST)
        trace = self.place / "bad.pft"
        printing = [["info", "--json", trace], ["races", trace], ["events", trace], ["sql", trace, "SELECT * FROM message"],
                    ["sql", trace, "SELECT * FROM communicator"]]
        whole = bytearray(self.good.read_bytes())
        trace.write_bytes(whole)
        right = [self.read(*command).stdout for command in printing]
        for _ in range(FLIPS):
            at, bit = choose.randrange(len(whole)), choose.randrange(8)
            with self.subTest(byte=at, bit=bit):
                whole[at] ^= 1 << bit
                trace.write_bytes(whole)
                whole[at] ^= 1 << bit
                status = self.read("check", trace).returncode
                self.assertIn(status, (0, 4))
                if status == 0:
                    for command, expected in zip(printing, right):
                        run = self.read(*command)
                        self.assertEqual((run.returncode, run.stdout), (0, expected), command)


if __name__ == "__main__":
    main()
