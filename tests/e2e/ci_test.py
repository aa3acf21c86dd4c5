# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish ci: what fails a build and what does not, its reports, and the script of share/ci in a repository of git."""
import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import SOURCE, BIN, PhotofinishTest, main

MPICC = os.environ.get("PF_MPICC", "mpicc")
SCRIPT = SOURCE / "share" / "ci" / "photofinish-ci.sh"

# Rank 0 takes a part of each other rank; FROM says from whom, and END how it ends.
PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int collect(int ranks) {
  int sum = 0;
  for (int i = 1; i < ranks; ++i) {
    int part = 0;
    MPI_Recv(&part, 1, MPI_INT, FROM, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += part;
  }
  return sum;
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) {
    printf("sum %d\\n", collect(ranks));
  } else {
    MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
  END
  MPI_Finalize();
  return 0;
}
"""
RECEIVE = "MPI_Recv collect: MPI_Recv(&part, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
SEND = "MPI_Send main: MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);"
HANG = "MPI_Recv(&rank, 1, MPI_INT, (rank + 1) % ranks, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"

# What the SARIF standard asks of a file as ours is, in its words of JSON Schema: required properties and their kinds.
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
ARTIFACT = {"type": "object", "required": ["uri"],
            "properties": {"uri": {"type": "string", "pattern": "^[A-Za-z0-9._~/:%-]+$"}, "uriBaseId": {"type": "string"}}}
LOCATION = {"type": "object", "properties": {
    "id": {"type": "integer", "minimum": -1}, "message": TEXT,
    "physicalLocation": {"type": "object", "required": ["artifactLocation"], "properties": {
        "artifactLocation": ARTIFACT,
        "region": {"type": "object", "properties": {"startLine": {"type": "integer", "minimum": 1}}}}},
    "logicalLocations": {"type": "array", "items": {"type": "object"}}}}
SARIF = {
    "type": "object", "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string"}, "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "items": {
            "type": "object", "required": ["tool"],
            "properties": {
                "tool": {"type": "object", "required": ["driver"], "properties": {"driver": {
                    "type": "object", "required": ["name"], "properties": {
                        "name": {"type": "string", "minLength": 1}, "version": {"type": "string"},
                        "rules": {"type": "array", "uniqueItems": True, "items": {
                            "type": "object", "required": ["id"], "properties": {"shortDescription": TEXT, "help": TEXT}}}}}}},
                "invocations": {"type": "array", "items": {"type": "object", "required": ["executionSuccessful"]}},
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "results": {"type": "array", "items": {
                    "type": "object", "required": ["message"],
                    "properties": {
                        "ruleId": {"type": "string"}, "ruleIndex": {"type": "integer", "minimum": 0}, "message": TEXT,
                        "level": {"enum": ["none", "note", "warning", "error"]},
                        "kind": {"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
                        "baselineState": {"enum": ["new", "unchanged", "updated", "absent"]},
                        "locations": {"type": "array", "items": LOCATION},
                        "relatedLocations": {"type": "array", "uniqueItems": True, "items": LOCATION},
                        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                        "suppressions": {"type": "array", "items": {"type": "object", "required": ["kind"], "properties": {
                            "kind": {"enum": ["inSource", "external"]}, "justification": {"type": "string"}}}},
                        "attachments": {"type": "array", "items": {"type": "object", "required": ["artifactLocation"]}}}}}}}}}}


class CiTest(PhotofinishTest):
    def build(self, source="MPI_ANY_SOURCE", end="", change=lambda text: text, flags=("-g", "-O0")):
        self.need("mpirun", MPICC)
        text = change(PROGRAM.replace("FROM", source).replace("END", end))
        (self.dir / "app.c").write_text(text)
        subprocess.run([MPICC, *flags, "-o", self.dir / "app", self.dir / "app.c"], check=True, env=self.env)

    def ci(self, *options, ranks=3, **how):
        return self.photofinish("ci", *options, *self.mpirun(ranks, self.dir / "app"), **how)

    def known(self):
        return (self.dir / "app.races").read_text()

    def names(self):
        return sorted(path.name for path in self.dir.glob("*.pft"))

    def accept(self, *options):
        run = self.ci("--baseline", "app.races", "--update-baseline", *options)
        self.assertEqual(run.status, 0, run)
        return run

    def say(self, what):
        self.assertIn("\n  unknown\n", self.known())
        (self.dir / "app.races").write_text(self.known().replace("  unknown\n", f"  {what}\n"))

    # -- what is new
    def test_a_race_is_new_until_the_file_has_it(self):
        self.build()
        run = self.ci()
        self.assertEqual(run.status, 5, run)
        self.assertIn("\nrace (new)\n    received by MPI_Recv at app.c:9 (collect)\n    sent by     MPI_Send at app.c:23 (main)\n", run.out)
        self.assertIn("sum 3\n", run.out)
        self.assertEqual(self.names(), ["app-1.pft"])
        run = self.ci("--baseline", "app.races")
        self.assert_refused(run, 2, "there is no file of known races app.races")
        self.accept()
        self.assertIn(f"\nreceive {RECEIVE}\n  send {SEND}\n  unknown\n", self.known())
        before = self.known()
        run = self.ci("--baseline", "app.races")
        self.assertEqual(run.status, 0, run)
        self.assertIn("race (unknown)", run.out)
        self.say("benign: the sum does not depend on the order")
        run = self.accept()
        self.assertIn("race (benign: the sum does not depend on the order)", run.out)
        self.assertEqual(self.known(), before.replace("unknown\n\n", "").replace("  unknown\n", "  benign: the sum does not depend on the order\n"))
        self.assertEqual(self.names(), ["app-1.pft", "app-2.pft"], "what has nothing to see is not kept")

    def test_lines_may_move_and_be_indented(self):
        self.build()
        self.accept()
        for what, change in [("moved", lambda text: "/* a\n comment */\n" + text),
                             ("indented", lambda text: text.replace("    MPI_Recv(&part, 1,", "\t\tMPI_Recv(&part,  1,")),
                             ("elsewhere", lambda text: text.replace("int sum = 0;", "int sum = 0;\n  if (ranks < 0) return -1;"))]:
            for flags in (("-g", "-O0"), ("-g", "-O2")):
                with self.subTest(what, flags=flags):
                    self.build(change=change, flags=flags)
                    run = self.ci("--baseline", "app.races")
                    self.assertEqual(run.status, 0, run)
        self.build(change=lambda text: text.replace("MPI_Recv(&part, 1, MPI_INT", "MPI_Recv(&part, 1, MPI_LONG"))
        run = self.ci("--baseline", "app.races")
        self.assertEqual(run.status, 5, f"another line is another place\n{run}")
        self.build(change=lambda text: text.replace("collect", "gather"))
        run = self.ci("--baseline", "app.races")
        self.assertEqual(run.status, 5, f"another function is another place\n{run}")

    def test_the_same_line_twice_is_two_places(self):
        self.build()
        self.accept()
        self.build(change=lambda text: text.replace("    sum += part;\n  }\n", "    sum += part;\n  }\n  int part;\n  MPI_Barrier(MPI_COMM_WORLD);" + """
  for (int i = 1; i < ranks; ++i) {
    MPI_Recv(&part, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
""").replace("    MPI_Send(&rank", "    MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);\n    MPI_Barrier(MPI_COMM_WORLD);\n    MPI_Send(&rank"))
        run = self.ci("--baseline", "app.races", "--sarif", "a.sarif")
        self.assertEqual(run.status, 5, run)
        names = [result["properties"]["name"] for result in json.loads((self.dir / "a.sarif").read_text())["runs"][0]["results"]]
        self.assertEqual(names, [[RECEIVE.replace("collect:", "collect #2:"), SEND.replace("main:", "main #2:")], [RECEIVE, SEND]])

    def test_without_text_of_lines_nothing_is_known(self):
        self.build(flags=("-O0",))
        run = self.ci("--baseline", "app.races", "--update-baseline")
        self.assertEqual(run.status, 5, f"it cannot be named\n{run}")
        self.assertIn("the text of its lines is not known (no debug information, or the source", run.out)
        self.assertNotIn("receive", self.known().split("\n\n", 1)[-1] if "\n\n" in self.known() else "")
        self.build()
        later = os.stat(self.dir / "app").st_mtime + 5
        os.utime(self.dir / "app.c", (later, later))
        run = self.ci("--baseline", "app.races", "--update-baseline")
        self.assertEqual(run.status, 5, f"the source is later than the program\n{run}")
        run = self.ci("--baseline", "app.races", "--update-baseline", "--sources-as-built")
        self.assertEqual(run.status, 0, run)
        self.assertIn(RECEIVE, self.known())

    # -- how a run ends
    def test_outcomes(self):
        for end, outcome, sentence in [("if (rank == 1) exit(3);", "exit 3", "rank 1 ended with exit status 3"),
                                       ("if (rank == 1) abort();", "signal 6", "rank 1 was ended by SIGABRT"),
                                       ("if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 4);", "exit 4", "MPI_Abort"),
                                       (HANG, "deadlock", "deadlock: rank 0 waits in MPI_Recv")]:
            with self.subTest(outcome):
                self.build(source="i", end=end)
                (self.dir / "app.races").write_text("photofinish races 1\n")
                run = self.ci("--baseline", "app.races", "--trace", f"{outcome[0]}.pft")
                self.assertEqual(run.status, 5, run)
                self.assertIn(f"\noutcome {outcome} (new)\n", run.out)
                self.assertIn(sentence, run.out + run.err)
                self.accept()
                self.say("bug: issue 12")
                self.assertIn(f"\noutcome {outcome}\n", self.known())
                run = self.ci("--baseline", "app.races")
                self.assertEqual(run.status, 0, f"it is known, and told\n{run}")
                self.assertIn(f"\noutcome {outcome} (bug: issue 12)\n", run.out)
        self.assertIn(f"  at MPI_Recv main: {HANG}\n", self.known())
        self.build(source="i", end=HANG.replace("9", "8"))
        run = self.ci("--baseline", "app.races")
        self.assertEqual(run.status, 5, f"a hang at another line is another one\n{run}")

    def test_a_check_of_what_it_prints(self):
        self.build(source="i")
        self.assertEqual(self.ci("--check", "grep -q 'sum 3'").status, 0)
        run = self.ci("--check", "grep -q 'sum 4'")
        self.assertEqual(run.status, 5, run)
        self.assertIn("\noutcome wrong output (new)\n", run.out)
        self.assert_refused(self.ci("--check", ""), 2, "--check has no command")

    def test_other_orders_are_looked_at(self):
        """Only where the last rank's part comes first is what it prints wrong."""
        self.build(change=lambda text: text.replace("sum += part;", "sum += i == 1 && part == ranks - 1 ? 100 : part;"))
        run = self.ci("--check", "grep -q 'sum [0-9]$'", "--explore", "20", timeout=120)
        self.assertEqual(run.status, 5, run)
        self.assertIn("\noutcome wrong output (new)\n", run.out)

    def test_what_is_not_the_programs_is_no_finding(self):
        self.build(source="i")
        self.assert_refused(self.photofinish("ci", *self.mpirun(1, "/bin/true")), 2, "no process of '/bin/true' called MPI_Init")
        self.assert_refused(self.photofinish("ci", *self.mpirun(1, "./none")), 2, "not found")
        self.assert_refused(self.ci("--baseline", ""), 2, "--baseline has no name")
        (self.dir / "app.races").write_text("photofinish races 1\n\nreceive r\n  sent s\n")
        self.assert_refused(self.ci("--baseline", "app.races"), 4, "app.races:4: '  sent s' is neither 'send …'")
        self.assert_refused(self.ci("--sarif", "app.c"), 2, "app.c is there, and is no report of 'photofinish ci'")
        self.assert_refused(self.ci("--markdown", "app.races"), 2, "app.races is there")
        self.assertEqual(self.names(), [], "nothing was run")
        self.assertIn("int main", (self.dir / "app.c").read_text())

    # -- what is written
    def test_reports(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("no python3-jsonschema")
        self.build(end="if (rank == 0) exit(3);")
        reports = ["--sarif", "r.sarif", "--junit", "r.xml", "--markdown", "r.md"]
        for known in (False, True):
            run = self.ci(*(["--baseline", "app.races"] if known else []), *reports, "--trace", "kept/", "--replace")
            self.assertEqual(run.status, 0 if known else 5, run)
            document = json.loads((self.dir / "r.sarif").read_text())
            jsonschema.validate(document, SARIF)
            results = document["runs"][0]["results"]
            self.assertEqual([each["ruleId"] for each in results], ["outcome", "message-race"])
            self.assertEqual({each["baselineState"] for each in results}, {"unchanged" if known else "new"})
            race = results[1]
            self.assertEqual(race["locations"][0]["physicalLocation"],
                             {"artifactLocation": {"uri": "app.c", "uriBaseId": "WORKDIR"}, "region": {"startLine": 9}})
            self.assertEqual(race["relatedLocations"][0]["physicalLocation"]["region"], {"startLine": 23})
            self.assertEqual(race.get("suppressions"), [{"kind": "external", "justification": "so it is"}] if known else None)
            self.assertEqual(race["level"], "note" if known else "error")
            suite = xml.parse(self.dir / "r.xml").getroot()
            self.assertEqual((suite.get("tests"), suite.get("failures")), ("2", "0" if known else "2"))
            self.assertEqual(len(suite.findall(".//failure")), 0 if known else 2)
            self.assertEqual([each.get("name") for each in suite.iter("testcase")],
                             ["exit 3", "MPI_Recv at app.c:9 (collect) <- MPI_Send at app.c:23 (main)"])
            text = (self.dir / "r.md").read_text()
            self.assertEqual(text.count("**new**"), 0 if known else 2)
            self.assertTrue((self.dir / "kept" / "app.pft").exists(), run)
            self.accept()
            (self.dir / "app.races").write_text(self.known().replace("  unknown\n", "  benign: so it is\n"))
        told = self.photofinish("races", self.dir / "kept" / "app.pft", "--baseline", "app.races", "--new-only")
        self.assertEqual((told.status, told.out), (0, "no class of races that app.races does not know\n"))
        told = self.photofinish("races", self.dir / "kept" / "app.pft", "--baseline", "app.races")
        self.assertIn("    marked as benign: so it is\n", told.out)

    def test_several_runs(self):
        self.build()
        run = self.ci("--runs", "3", "--trace", "t.pft", "--baseline", "app.races", "--update-baseline")
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.out.count("sum 3\n"), 1, "of the first run")
        self.assertIn("3 runs of 3, first run 1, kept as t-run1.pft", run.out)
        self.assertEqual(self.names(), ["t-run1.pft"])

    def test_known_by_races_of_a_trace(self):
        """The file that 'races' writes is the one that 'ci' reads."""
        self.build()
        self.record("t.pft", self.mpirun(3, self.dir / "app"))
        run = self.photofinish("races", "t.pft", "--write-baseline", "app.races")
        self.assertEqual((run.status, run.out), (0, "app.races: 1 class of races was added, of 1\n"), run)
        self.assertEqual(self.ci("--baseline", "app.races").status, 0)
        (self.dir / "none.races").write_text("photofinish races 1\n")
        run = self.photofinish("races", "t.pft", "--baseline", "none.races", "--new-only", "--json")
        self.assertEqual(run.status, 5, run)
        [told] = run.json()["classes"]
        self.assertEqual((told["name"], told["new"], told["verdict"]), ([RECEIVE, SEND], True, "unknown"))
        self.assertEqual([race["number"] for race in run.json()["races"]], list(range(1, told["races"] + 1)))

    # -- as a project has it
    def test_the_script_fails_on_a_commit_that_adds_a_race(self):
        self.need("git")
        reports = self.dir / "reports"
        env = {"PHOTOFINISH": str(BIN / "photofinish"), "GITHUB_STEP_SUMMARY": str(self.dir / "summary.md")}

        def commit(what):
            for words in (["add", "app.c", "app.races"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", what]):
                subprocess.run(["git", *words], cwd=self.dir, check=True, env=self.env)

        def script():
            return self.run_command("sh", SCRIPT, "-b", "app.races", "-o", "reports", *self.mpirun(3, self.dir / "app"), env=env)

        subprocess.run(["git", "init", "-q"], cwd=self.dir, check=True, env=self.env)
        self.build(source="i")
        self.accept()
        commit("Sums parts")
        run = script()
        self.assertEqual(run.status, 0, run)
        self.build()
        commit("Takes whatever comes first")
        run = script()
        self.assertEqual(run.status, 5, run)
        self.assertIn("--update-baseline", run.err)
        self.assertEqual({path.name for path in reports.iterdir()} & {"races.sarif", "races.xml", "races.md"}, {"races.sarif", "races.xml", "races.md"})
        self.assertTrue(list(reports.glob("*.pft")))
        self.assertIn("**new**", (self.dir / "summary.md").read_text())
        self.accept()
        self.say("benign: the sum does not depend on the order")
        commit("The order of the parts does not matter")
        run = script()
        self.assertEqual(run.status, 0, run)
        self.build(change=lambda text: text.replace("static int collect", "/* Of all\n   ranks. */\nstatic int collect"))
        commit("Says what it does")
        run = script()
        self.assertEqual(run.status, 0, run)
        self.assertIn("at app.c:11 (collect)", run.out)

    def test_examples_call_the_script_as_it_is(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("no python3-yaml")
        for name in ("github-actions.yml", "gitlab-ci.yml"):
            document = yaml.safe_load((SCRIPT.parent / name).read_text())
            self.assertIn("photofinish-ci.sh -b app.races mpirun -n 4", json.dumps(document, default=str))


if __name__ == "__main__":
    main()
