# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish tutorial: each lesson as its reader goes through it. The commands are those of README.md and solution.md,
and what is quoted there is what they print."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, SOURCE, PhotofinishTest, doctor_says, main

MOST_RUNS = 20  # until a lesson's program fails
# What differs from run to run in a line that is quoted: numbers but those of source lines, addresses, how a run was timed,
# the words of lesson 1.
VARIES = re.compile(r"(?P<line>\.(?:c|cpp|f90|py):\d+)|(?P<cut>…)|(?P<any>0x[0-9a-f]+|\b(?:who|comes|first)\b(?=[ \"]|$)|native timing|jitter \d+|"
                    r"\d+(?:\.\d+)?| +)|(?P<other>.)", re.S)


def commands_of(text):
    """[(command, [line that it prints])] of the indented blocks of a page."""
    found = []
    for line in text.splitlines():
        match = re.match(r"( {4,8})(\$ )?(.*)", line)
        if match and match.group(2):
            found.append((match.group(3), [], match.group(1)))
        elif match and found and line.startswith(found[-1][2]):
            found[-1][1].append(line[len(found[-1][2]):])
    return [(command, [line for line in lines if line.strip(" …")]) for command, lines, _ in found]


def pattern_of(quoted):
    """What a line that is quoted so may be."""
    parts = {"line": lambda text: re.escape(text) + r"\b", "cut": lambda _: ".*", "other": re.escape,
             "any": lambda text: " +" if text.isspace() else r"(?:0x[0-9a-f]+|who|comes|first|native timing|jitter \d+|\d+(?:\.\d+)?)"}
    return "".join(parts[match.lastgroup](match.group()) for match in VARIES.finditer(quoted.strip()))


class TutorialTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", "gdb", "patch", BIN / "photofinish-headless")
        # Debian's python3 has mpi4py.
        self.env["PATH"] = f"{BIN}:/usr/bin:{self.env['PATH']}"
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            self.env.pop(name, None)

    def shell(self, command, where):
        return self.run_command("bash", "-c", command, cwd=where, timeout=240)

    def carry_out(self, page, where):
        """Each command of the page; what it quotes is there."""
        for command, quoted in commands_of(page):
            searches = "--until-failure" in command and "--runs" not in command
            if searches:
                command = command.replace("--until-failure", f"--until-failure --replace --runs {MOST_RUNS}")
            for _ in range(4):
                run = self.shell(command, where)
                if not searches or "bug-good.pft" not in page or (where / "bug-good.pft").exists():
                    break  # else the first run failed, and the page says to record again
            if searches:
                self.assertNotEqual(run.status, 0, f"none of {MOST_RUNS} runs failed\n{run}")
            said = [line.strip() for line in (run.out + run.err).splitlines()]
            for line in quoted:
                if re.match(r"photofinish: run \d+ \(.*ended well", line):
                    continue  # how many do so is not said
                self.assertTrue(any(re.fullmatch(pattern_of(line), each) for each in said), f"not printed: {line}\n{run}")
            # A start by hand may fail, seldom; of bug.pft there is the status of the run that failed.
            if not searches and not command.startswith("mpirun") and "bug.pft" not in command:
                self.assertEqual(run.status, 0, run)

    def lesson(self, number):
        begun = self.photofinish("tutorial", number, "lesson", timeout=60)
        self.assertEqual(begun.status, 0, begun)
        self.assertIn("$ cd lesson", begun.out)
        where = self.dir / "lesson"
        page = (where / "README.md").read_text()
        self.assertIn(page.split("## What fails\n")[1].split("\n## ")[0], begun.out)
        self.assertIn(f"photofinish tutorial {number} --solution", page)
        self.carry_out(page, where)
        solution = self.photofinish("tutorial", number, "--solution")
        self.assertEqual(solution.status, 0, solution)
        self.assertIn("--jitter 1 --runs", solution.out, "that it fails no more is seen")
        self.carry_out(solution.out, where)
        self.assertEqual([path.name for path in where.glob("*.rej")], [])

    def test_1_first_come(self):
        self.lesson(1)

    def test_2_everybody_sends(self):
        self.lesson(2)

    def test_3_one_left_early(self):
        self.need("mpicxx")
        self.lesson(3)

    def test_4_any_of_them(self):
        self.lesson(4)

    def test_5_swapped_rows(self):
        self.need("mpifort")
        self.lesson(5)

    def test_6_closed_too_soon(self):
        self.need("mpicxx")
        if not doctor_says("watchpoints"):
            self.skipTest("this machine's watchpoints do not work: photofinish doctor")
        self.lesson(6)

    def test_7_not_yet_open(self):
        if self.run_command("python3", "-c", "import mpi4py.MPI").status != 0:
            self.skipTest("mpi4py is not there")
        self.lesson(7)

    def test_8_probed_another(self):
        self.lesson(8)

    def test_each_lesson_has_its_test(self):
        lessons = sorted(path.name for path in (SOURCE / "share" / "tutorial").iterdir())
        tests = sorted(name for name in dir(self) if re.match(r"test_\d_", name))
        self.assertEqual([f"test_{name[1:].replace('-', '_')}" for name in lessons], tests)

    def test_list(self):
        listed = self.photofinish("tutorial")
        self.assertEqual(listed.status, 0, listed)
        heads = re.findall(r"^(\d)  (.+) \((C|C\+\+|Fortran|Python), (\d+) minutes\)\n   \S", listed.out, re.M)
        self.assertEqual([head[0] for head in heads], [str(n) for n in range(1, 9)], listed)
        self.assertIn(f"about {sum(int(head[3]) for head in heads)} minutes", listed.out)

    def test_bad_use(self):
        for number in ("9", "0", "first"):
            self.assert_refused(self.photofinish("tutorial", number), 2, f"no lesson '{number}'", "There are 1 to 8")
        self.assert_refused(self.photofinish("tutorial", "--solution"), 2, "of which lesson", "tutorial 1 --solution")
        self.assert_refused(self.photofinish("tutorial", 1, "here", "--solution"), 2, "writes nothing to here")
        self.assert_refused(self.photofinish("tutorial", 1, "--solutions"), 2, "no option --solutions", "mean --solution")
        self.assertEqual([path.name for path in self.dir.iterdir()], [])

    def test_nothing_is_overwritten(self):
        home = self.dir / "home"
        home.mkdir()
        self.assertEqual(self.photofinish("tutorial", 1, cwd=home).status, 0)
        source = home / "photofinish-tutorial" / "1-first-come" / "sentence.c"
        source.write_text("mine\n")
        self.assert_refused(self.photofinish("tutorial", 1, cwd=home), 2, "is there already", "photofinish tutorial 1 DIRECTORY")
        self.assertEqual(source.read_text(), "mine\n")
        self.assert_refused(self.photofinish("tutorial", 1, "/proc/here"), 1, "cannot write /proc/here", "that you may write to")

    def test_what_is_not_installed(self):
        bare = self.dir / "bare"
        bare.mkdir()
        for name in ("mpirun", "gdb", "mpicc"):
            (bare / name).symlink_to(shutil.which(name))
        for number, said in ((3, "apt-get install libopenmpi-dev g\\+\\+"), (5, "gfortran"), (7, "python3-mpi4py")):
            run = self.photofinish("tutorial", number, env={"PATH": str(bare)})
            self.assert_refused(run, 2, "is not there", said)
        self.assertEqual([path.name for path in self.dir.iterdir()], ["bare"])

    def test_installed(self):
        """The data are found from where the program is installed."""
        self.need("cmake")
        root = self.dir / "root"
        run = self.run_command("cmake", "--install", BIN.parent, "--prefix", root, "--component", "engine", timeout=120)
        self.assertEqual(run.status, 0, run)
        self.assertTrue((root / "share" / "photofinish" / "tutorial" / "01-first-come" / "lesson.txt").is_file())
        program = root / "bin" / "photofinish"
        self.assertEqual(self.run_command(program, "tutorial").out, self.photofinish("tutorial").out)
        shutil.rmtree(root / "share" / "photofinish")
        self.assert_refused(self.run_command(program, "tutorial"), 2, "the tutorial is not installed", "Install Photofinish again")


if __name__ == "__main__":
    main()
