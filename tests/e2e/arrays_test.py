# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays of programs in C, C++ and Fortran, as debug --script shows them: the values that the program itself prints.
PF_RANDOM: how many (120), PF_SEED: where to begin (1). tests/support/array_programs.py makes the programs."""
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import time
from decimal import Decimal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import array_programs
from photofinish import BIN, PhotofinishTest, main

COUNT = int(os.environ.get("PF_RANDOM", "120"))
SEED = int(os.environ.get("PF_SEED", "1"))
A_PROGRAM = 40
COMPILERS = {"c": ["mpicc", "-g", "-O0", "-w"], "cpp": ["mpicxx", "-std=c++20", "-g", "-O0", "-w", "-I/usr/include/eigen3"],
             "f90": ["mpif90", "-ffree-line-length-none", "-g", "-O0"]}

HOSTILE = """\
#include <mpi.h>
#include <cstdlib>
#include <vector>
struct cell { int number; double weight; };
struct open_end { int n; double x[]; };
struct Endless { int a[4]; };
struct Mad { int a[4]; };
struct Failing { int a[4]; };
struct Long { int a[4]; };
struct Self { int a[4]; };
void look() { __asm__ volatile(""); }
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int few[3] = {1, 2, 3};
    int one = argc;
    double *nowhere = (double *)16;
    void *void_pointer = few;
    cell cells[2] = {{1, 0.5}, {2, 1.5}};
    std::vector<double> none;
    std::vector<std::vector<double>> nested{{1, 2}, {3}};
    open_end &endless_one = *(open_end *)calloc(1, sizeof(open_end) + 3 * sizeof(double));
    open_end *endless = &endless_one;
    for (int i = 0; i < 3; ++i) endless->x[i] = i + 0.5;
    alignas(std::vector<int>) unsigned char room[sizeof(std::vector<int>)] = {255, 1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<int> &uninitialised = *(std::vector<int> *)room;
    Endless endless_printer{}; Mad mad_printer{}; Failing failing_printer{}; Long long_printer{}; Self self_printer{};
    look();
    MPI_Finalize();
    return (int)(none.size() + nested.size() + cells[0].number) * 0 * (one + few[0]) + (nowhere == void_pointer) + (uninitialised.data() == few)
        + endless_printer.a[0] + mad_printer.a[0] + failing_printer.a[0] + long_printer.a[0] + self_printer.a[0];
}
"""
PRINTERS = """\
import gdb

class Endless:
    def __init__(self, value): self.value = value
    def to_string(self): return 'x' * 100000
    def children(self):
        while True:
            yield '[0]', self.value['a'][0]

class Mad(Endless):
    def children(self): return iter([('a', 'text'), ('b', 7), (None, None), ('c', 1.5), ('d', self.value)] * 3)

class Failing(Endless):
    def children(self):
        yield 'a', 1
        raise RuntimeError('this printer fails')

class Long(Endless):
    def children(self): return iter([('a', 'y' * 100000)] * 20)

class Self(Endless):
    def children(self): return iter([('a', self.value)] * 3)

for name, printer in (('Self', Self), ('Endless', Endless), ('Mad', Mad), ('Failing', Failing), ('Long', Long)):
    gdb.pretty_printers.append(lambda value, name=name, printer=printer: printer(value) if value.type.strip_typedefs().name == name else None)
"""
LARGE = """\
#include <mpi.h>
#include <vector>
struct cell { double x; long y; };
void look() { __asm__ volatile(""); }
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    std::vector<double> flat(10000000);
    std::vector<cell> strided(10000000);
    int *numbers = new int[10000000];
    for (int i = 0; i < 10000000; ++i) { flat[i] = strided[i].x = 0.5 * i; numbers[i] = i; }
    look();
    MPI_Finalize();
    return numbers[0];
}
"""
LINE = re.compile(r"([(\[][-\d:,\[\]]*[)\]]) (.*)")
COMPLEX = re.compile(r"\((.*),(.*)\)|(.*?) ([+-]) (.*)i")


def printed(out):
    """{array: {index: value}} that a program says."""
    said = {}
    for line in out.splitlines():
        words = line.replace("\r", "").split(" = ", 1)
        if len(words) == 2 and words[0].startswith(array_programs.MARK):
            name, *index = words[0][1:].split()
            said.setdefault(name, {})[tuple(map(int, index))] = words[1].strip()
    return said


def shown(lines, dims):
    """{index: text} of an answer of `array`."""
    out = {}
    for line in lines:
        found = LINE.fullmatch(line)
        if not found:
            raise AssertionError(f"not understood: {line!r}")
        index = re.split(r"[],()[]+", found.group(1))[1:-1]
        across = index.index(":") if ":" in index else 0
        lower, step = dims[across]
        first = lower if ":" in index else int(index[0])
        for k, text in enumerate(elements(found.group(2))):
            at = [int(word) if word != ":" else 0 for word in index]
            at[across] = first + step * k
            out[tuple(at)] = text
    return out


def elements(text):
    """Texts in quotes; or "1 'a', 2, (1,2), 3 + 4i"."""
    return re.findall(r"'(?:[^']|'')*'", text) if text.startswith("'") else re.split(r", (?!')", text)


def number(text):
    return float(text.replace("D", "E").lower().replace("infinity", "inf"))


def same_real(mine, its, digits):
    mine, its = mine.strip().lower(), its.strip().lower()
    if any(each.lstrip("+-")[:3] in ("nan", "inf") for each in (mine, its)):
        a, b = number(mine), number(its)
        return a == b or math.isnan(a) and math.isnan(b)
    if digits == 9:
        return struct.pack("f", number(mine)) == struct.pack("f", number(its))
    if digits == 17:
        return number(mine) == number(its)
    a, b = Decimal(mine), Decimal(its)
    return a == b or abs(a - b) <= abs(b) * Decimal(10) ** (2 - digits)


DIGITS = {"f4": 9, "f8": 17, "f10": 20, "f16": 35, "c4": 9, "c8": 17}


def same(kind, mine, its):
    """What Photofinish shows, and what the program has printed."""
    if kind in ("f4", "f8", "f10", "f16"):
        return same_real(mine, its, DIGITS[kind])
    if kind in ("c4", "c8"):
        real, imaginary, left, sign, right = COMPLEX.fullmatch(mine).groups()
        parts = (real, imaginary) if real is not None else (left, ("-" if sign == "-" else "") + right)
        return all(same_real(a, b, DIGITS[kind]) for a, b in zip(parts, its.split()))
    if kind == "bool":
        return mine.strip(".").lower()[0] == {"1": "t", "0": "f"}.get(its, its.lower())
    if kind == "text":
        return mine[1:-1].replace("''", "'") == its[1:-1].rstrip()
    return int(mine.split(" ")[0]) == int(its)


class ArraysTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", "gdb", BIN / "photofinish-headless")

    def prepared(self, language, source, name="program"):
        """A trace of one rank of it, and what it has printed."""
        compiler = COMPILERS[language]
        self.need(compiler[0])
        (self.dir / f"{name}.{language}").write_text(source)
        subprocess.run([*compiler, "-o", self.dir / name, self.dir / f"{name}.{language}"], check=True, env=self.env, cwd=self.dir)
        trace = f"{name}.pft"
        recorded = self.record(trace, ["mpirun", "-n", "1", self.dir / name])
        return self.dir / trace, recorded.out

    def script(self, trace, commands):
        """The answer to each command, by `echo` lines between them."""
        text = "".join(f"echo -- {n}\n{command}\n" for n, command in enumerate(commands))
        (self.dir / "s.txt").write_text(text)
        run = self.photofinish("debug", "--script", self.dir / "s.txt", trace, timeout=500)
        self.assertEqual(run.status, 0, run)
        answers = re.split(r"^(?:\[all\] )?-- \d+\n", run.out, flags=re.MULTILINE)[1:]
        return [[re.sub(r"^\[\d+\] ", "", line) for line in answer.splitlines()] for answer in answers]

    def compare(self, language, seed, count):
        source, arrays = array_programs.make(language, seed, count)
        trace, out = self.prepared(language, source, f"p{seed}")
        said = printed(out)
        commands = ["break " + {"f90": "arrays::look"}.get(language, "look"), "run"]
        for array in arrays:
            commands += ["up", f"array {array.expression}", "continue"]
        answers = self.script(trace, commands)
        for n, array in enumerate(arrays):
            about, *lines = answers[3 + 3 * n]
            where = f"{language}, PF_SEED={seed}: {array.name}, array {array.expression}: {about}\n"
            its = said[array.name]
            mine = shown(lines, array.dims)
            self.assertEqual(sorted(mine), sorted(its), where)
            for index, value in its.items():
                self.assertTrue(same(array.kind, mine[index], value), f"{where}{index}: shown {mine[index]}, printed {value}")
            self.check_statistics(array, about, its, where)
        return len(arrays)

    def check_statistics(self, array, about, its, where):
        if array.kind not in ("f4", "f8", "f10", "f16"):
            return
        values = [number(value) for value in its.values()]
        for word, count in (("NaN", sum(map(math.isnan, values))), ("infinite", sum(map(math.isinf, values)))):
            found = re.search(rf"(\d+) {word}", about)
            self.assertEqual(int(found.group(1)) if found else 0, count, where)
        finite = [value for value in values if math.isfinite(value)]
        if finite:
            least, most = re.search(r"least (\S+) at \S+, most (\S+) at", about).groups()
            self.assertTrue(math.isclose(float(least), min(finite), rel_tol=1e-6), where)
            self.assertTrue(math.isclose(float(most), max(finite), rel_tol=1e-6), where)

    def test_values_shown_are_values_printed(self):
        done, seed = 0, SEED
        while done < COUNT:
            for language in COMPILERS:
                done += self.compare(language, seed, min(A_PROGRAM, max(1, -(-COUNT // 3))))
            seed += 1
        print(f"{done} arrays: values shown = values printed", file=sys.stderr)

    def answers_to(self, source, expressions, language="cpp", before=(), **how):
        """Of a program that calls look() once; commands may fail: {expression: lines}, or what is said of it."""
        trace, _ = self.prepared(language, source)
        out = {}
        for expression in expressions:
            (self.dir / "s.txt").write_text("break " + ("arrays::look" if language == "f90" else "look") +
                                            f"\nrun\n{''.join(before)}up\narray {expression}\n")
            run = self.photofinish("debug", "--script", self.dir / "s.txt", trace, timeout=120, **how)
            text = run.err if run.status else run.out.rsplit("#", 1)[-1].split("\n", 1)[1]
            out[expression] = [re.sub(r"^\[\d+\] ", "", line) for line in text.splitlines()]
        return out

    def test_what_cannot_be_shown_is_said(self):
        said = self.answers_to(HOSTILE, ["uninitialised", "nowhere@10", "endless.x", "endless->x@3", "one", "none", "few[7]", "few[0:9]", "few.x",
                                         "few@-1", "nested[1][0]@100000000000000000", "cells.nosuch", "void_pointer@3", "main", "few[0][0]"])
        self.assertRegex(" ".join(said["uninitialised"]), r"uninitialised: it is not initialised: it ends before it begins")
        self.assertRegex(" ".join(said["nowhere@10"]), "Cannot access memory at address 0x10")
        self.assertRegex(" ".join(said["endless.x"]), "where it ends is not known")
        self.assertEqual(said["endless->x@3"][1], "[0] 0.5, 1.5, 2.5")
        self.assertRegex(" ".join(said["one"]), "'one' is no array: it is a single value")
        self.assertRegex(" ".join(said["none"]), "none: it has no elements")
        self.assertRegex(" ".join(said["few[7]"]), "index 7 is not one of 0:2")
        self.assertRegex(" ".join(said["few[0:9]"]), "index 9 is not one of 0:2")
        self.assertRegex(" ".join(said["few@-1"]), "no array has -1 elements")
        self.assertRegex(" ".join(said["nested[1][0]@100000000000000000"]), "no array has 100000000000000000 elements")
        self.assertRegex(" ".join(said["cells.nosuch"]), "nosuch")
        self.assertRegex(" ".join(said["void_pointer@3"]), "what void_pointer points to has no size")
        for expression in ("few.x", "main", "few[0][0]"):
            self.assertRegex(" ".join(said[expression]), "photofinish: ", expression)

    def test_printers_that_mean_harm(self):
        """Without end, without sense, or that fail: what they name is bounded, and the rank can still be looked at."""
        (self.dir / "printers.py").write_text(PRINTERS)
        said = self.answers_to(HOSTILE, ["endless_printer", "mad_printer", "self_printer", "failing_printer", "long_printer"], before=[f"gdb python exec(open('{self.dir}/printers.py').read())\n"])
        about = said["endless_printer"][0]
        self.assertRegex(about, r"^\d+ elements of \w+.*was not asked for more")
        self.assertLessEqual(len(said["endless_printer"]), 10000 // 8 + 2)
        self.assertRegex(" ".join(said["failing_printer"]), "printer fails")
        self.assertRegex(" ".join(said["mad_printer"]), r"\[0\] text.*\[1\] 7.*\[2\] None")
        self.assertRegex(" ".join(said["long_printer"]), r"\[19\] y{200} \.\.\.")
        for line in said["mad_printer"] + said["long_printer"] + said["self_printer"]:
            self.assertLess(len(line), 2000)

    def test_a_gdb_without_python_says_so(self):
        """It reads what C's own expressions can."""
        tools = self.dir / "tools"
        tools.mkdir()
        real = shutil.which("gdb")
        (tools / "no_python").write_text("define python\nPython-scripting-is-not-supported\nend\n")
        (tools / "gdb").write_text(f"#!/bin/sh\nexec {real} -iex 'source {tools}/no_python' \"$@\"\n")
        (tools / "gdb").chmod(0o755)
        env = {**self.env, "PATH": f"{tools}:{self.env['PATH']}"}
        said = self.answers_to(HOSTILE, ["few", "nested"], env=env)
        self.assertEqual(said["few"], ["3 elements of int32: least 1 at [0], most 3 at [2], mean 2 (this GDB has no Python: one dimension, of C and C++ only)",
                                       "[0] 1, 2, 3"])
        self.assertRegex(" ".join(said["nested"]), "their numbers lie elsewhere")

    def test_ten_million_at_once(self):
        """Time from the question to the first line of the answer, which has the statistics."""
        trace, _ = self.prepared("cpp", LARGE)
        with self.start([BIN / "photofinish", "debug", "--script", "-", trace], stdin=subprocess.PIPE) as command:
            def ask(line, answer):
                before = command.output().count(answer)
                begin = time.monotonic()
                command.process.stdin.write(f"{line}\n".encode())
                command.process.stdin.flush()
                command.wait_for(lambda: command.output().count(answer) > before, timeout=60)
                return time.monotonic() - begin
            ask("break look", "breakpoint")
            ask("run", "look()")
            ask("up", "main()")
            times = {name: min(ask(f"array {name}", "10000000 elements") for _ in range(3)) for name in ("flat", "strided.x", "numbers@10000000")}
            print("10^7 elements: " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in times.items()), file=sys.stderr)
            self.assertLess(times["flat"], 3.0)  # of a machine that does other things, too; 0.3 s where it does not
            command.process.stdin.close()
            command.finish()


if __name__ == "__main__":
    main()
