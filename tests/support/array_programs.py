# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs in C, C++ and Fortran with random arrays, which print their own elements: "@NAME INDEX INDEX = VALUE".

make(language, seed, count) gives the source and its arrays. The program calls look() once for each array, in the function
that has it; `frames` says how many functions further out that is."""
import random

MARK = "@"


class Array:
    """What is asked for, and where it can be seen. `dims`: (lowest index, step) of each dimension that is shown; `kind`: how
    values are compared: "int", "f4", "f8", "f10", "f16", "c4", "c8", "bool", "text"."""

    def __init__(self, name, expression, dims, kind):
        self.name, self.expression, self.dims, self.kind = name, expression, dims, kind


# -- C and C++

C_TYPES = [("signed char", "int", "%d", "(int)"), ("unsigned char", "int", "%d", "(int)"), ("short", "int", "%d", "(int)"),
           ("unsigned short", "int", "%d", "(int)"), ("int", "int", "%d", ""), ("unsigned", "int", "%u", ""), ("long", "int", "%ld", ""),
           ("unsigned long", "int", "%lu", ""), ("float", "f4", "%.9g", "(double)"), ("double", "f8", "%.17g", ""),
           ("long double", "f10", "%.21Lg", ""), ("bool", "bool", "%d", "(int)"), ("char", "char", "%d", "(int)")]

C_HEAD = """\
#include <complex.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
typedef float complex float_complex;
typedef double complex double_complex;
static unsigned long g_seed = %d;
static unsigned long any(void) { g_seed = g_seed * 6364136223846793005UL + 1442695040888963407UL; return g_seed >> 13; }
static double real_one(void)
{
    unsigned long n = any();
    return n %% 31 == 0 ? 0.0 / (double)(n - n) : n %% 37 == 0 ? 1.0 / (double)(n - n) : ((double)(n %% 2000000) - 1000000.0) / 7.0;
}
void look(void) { __asm__ volatile(""); }
"""

CPP_HEAD = """\
#include <array>
#include <complex>
#include <cstdio>
#include <deque>
#include <Eigen/Core>
#include <list>
#include <mpi.h>
#include <set>
#include <span>
#include <valarray>
#include <vector>
static unsigned long g_seed = %d;
static unsigned long any() { g_seed = g_seed * 6364136223846793005UL + 1442695040888963407UL; return g_seed >> 13; }
static double real_one()
{
    unsigned long n = any();
    return n %% 31 == 0 ? 0.0 / (double)(n - n) : n %% 37 == 0 ? 1.0 / (double)(n - n) : ((double)(n %% 2000000) - 1000000.0) / 7.0;
}
void look() { __asm__ volatile(""); }
template <typename T> T one() { return (T)any(); }
template <> float one<float>() { return (float)real_one(); }
template <> double one<double>() { return real_one(); }
template <> bool one<bool>() { return any() %% 2; }
template <> std::complex<float> one<std::complex<float>>() { return {(float)real_one(), (float)real_one()}; }
template <> std::complex<double> one<std::complex<double>>() { return {real_one(), real_one()}; }
static void say(int v) { std::printf("%%d\\n", v); }
static void say(unsigned v) { std::printf("%%u\\n", v); }
static void say(long v) { std::printf("%%ld\\n", v); }
static void say(unsigned long v) { std::printf("%%lu\\n", v); }
static void say(double v) { std::printf("%%.17g\\n", v); }
template <typename T> void say(std::complex<T> v) { std::printf("%%.17g %%.17g\\n", (double)v.real(), (double)v.imag()); }
template <typename T> using vector = std::vector<T>;
"""

CPP_TYPES = [("signed char", "int"), ("short", "int"), ("unsigned short", "int"), ("int", "int"), ("unsigned", "int"), ("long", "int"),
             ("unsigned long", "int"), ("float", "f4"), ("double", "f8"), ("std::complex<float>", "c4"), ("std::complex<double>", "c8")]


class CMaker:
    """One program of C."""

    def __init__(self, seed):
        self.random, self.arrays, self.functions = random.Random(seed), [], []
        self.head = C_HEAD % (self.random.getrandbits(40) | 1)

    def kind(self):
        if self.random.random() < 0.2:
            return self.random.choice([("float_complex", "c4", "%.9g %.9g", None), ("double_complex", "c8", "%.17g %.17g", None)])
        return self.random.choice(C_TYPES)

    def value(self, kind):
        if kind[1] in ("f4", "f8", "f10"):
            return f"({kind[0]})real_one()"
        if kind[1] in ("c4", "c8"):
            return "real_one() + real_one() * I"
        return "any() % 2" if kind[1] == "bool" else f"({kind[0]})any()"

    def said(self, kind, element):
        if kind[1] in ("c4", "c8"):
            return f'"{kind[2]}\\n", (double)creal({element}), (double)cimag({element})'
        return f'"{kind[2]}\\n", {kind[3]}{element}'

    def loops(self, extents, body):
        lines = [f"for (int i{n} = 0; i{n} < {extent}; ++i{n})" for n, extent in enumerate(extents)]
        return " ".join(lines) + " {" + body + "}"

    def fill(self, kind, extents, element):
        return self.loops(extents, f"{element} = {self.value(kind)};")

    def printed(self, name, kind, ranges, element):
        """`ranges`: (first, step, count) of each index that is shown; `element` in terms of j0, j1, …"""
        lines = "".join(f"for (int k{n} = 0; k{n} < {count}; ++k{n}) {{ int j{n} = {first} + {step} * k{n}; "
                        for n, (first, step, count) in enumerate(ranges))
        indices = " ".join("%d" for _ in ranges)
        says = f'printf("{MARK}{name} {indices} = "{"".join(f", j{n}" for n in range(len(ranges)))}); printf({self.said(kind, element)});'
        return lines + says + "}" * len(ranges)

    def add(self, declared, name, expression, ranges, kind, element, after="", before=""):
        self.arrays.append(Array(name, expression, [(first, step) for first, step, _ in ranges], kind[1]))
        self.functions.append(f"{before}void view_{name}(int zero)\n{{\n    (void)zero;\n    {declared}\n    "
                              f"{self.printed(name, kind, ranges, element)}\n    look();\n    {after}\n}}\n")

    def extents(self, most):
        rank = self.random.randint(1, most)
        return [self.random.randint(1, (40, 9, 6, 4)[rank - 1]) for _ in range(rank)]

    @staticmethod
    def brackets(count, letter="i"):
        return "".join(f"[{letter}{n}]" for n in range(count))

    def make(self, name):
        self.random.choice([self.fixed, self.fixed, self.vla, self.part, self.part, self.pointer, self.rows, self.cells, self.inside])(name)

    def fixed(self, name):
        kind, extents = self.kind(), self.extents(4)
        bounds = "".join(f"[{extent}]" for extent in extents)
        self.add(f"{kind[0]} a{bounds}; {self.fill(kind, extents, 'a' + self.brackets(len(extents)))}", name, "a",
                 [(0, 1, extent) for extent in extents], kind, "a" + self.brackets(len(extents), "j"))

    def vla(self, name):
        kind, extents = self.kind(), self.extents(3)
        bounds = "".join(f"[zero + {extent}]" for extent in extents)
        self.add(f"{kind[0]} a{bounds}; {self.fill(kind, extents, 'a' + self.brackets(len(extents)))}", name, "a",
                 [(0, 1, extent) for extent in extents], kind, "a" + self.brackets(len(extents), "j"))

    def part(self, name):
        """a[1:5:2][0][:]"""
        kind, extents = self.kind(), self.extents(4)
        bounds = "".join(f"[{extent}]" for extent in extents)
        ranges, expression, element = [], "a", "a"
        for n, extent in enumerate(extents):
            if n + 1 < len(extents) or ranges:
                if self.random.random() < 0.3:
                    at = self.random.randrange(extent)
                    expression, element = f"{expression}[{at}]", f"{element}[{at}]"
                    continue
            element += f"[j{len(ranges)}]"
            text, chosen = a_range(self.random, 0, extent)
            ranges.append(chosen)
            expression += f"[{text}]"
        if not ranges:
            self.fixed(name)
            return
        self.add(f"{kind[0]} a{bounds}; {self.fill(kind, extents, 'a' + self.brackets(len(extents)))}", name, expression, ranges, kind, element)

    def pointer(self, name):
        kind, extents = self.kind(), self.extents(3)
        flat = " * ".join(map(str, extents))
        place = "j0"
        for n in range(1, len(extents)):
            place = f"({place}) * {extents[n]} + j{n}"
        self.add(f"int n = {extents[0]}; {kind[0]} *p = malloc(sizeof *p * {flat}); {self.fill(kind, [flat], 'p[i0]')}", name,
                 "p@" + "@".join(["n"] + [str(extent) for extent in extents[1:]]), [(0, 1, extent) for extent in extents], kind, f"p[{place}]",
                 "free(p);")

    def rows(self, name):
        kind, rows, columns = self.kind(), self.random.randint(1, 6), self.random.randint(1, 9)
        self.add(f"{kind[0]} *rows[{rows}]; for (int i = 0; i < {rows}; ++i) rows[i] = malloc(sizeof **rows * {columns}); "
                 f"{kind[0]} **p = rows; {self.fill(kind, [rows, columns], 'p[i0][i1]')}", name, f"p@{rows}@{columns}",
                 [(0, 1, rows), (0, 1, columns)], kind, "p[j0][j1]", f"for (int i = 0; i < {rows}; ++i) free(p[i]);")

    def cells(self, name):
        """A member of an array of structures."""
        kind, count, inner = self.kind(), self.random.randint(1, 12), self.random.randint(1, 4)
        own = self.random.random() < 0.5
        member = f"{kind[0]} v[{inner}];" if own else f"{kind[0]} v;"
        before = f"struct {name} {{ char c; {member} int after; }};\n"
        extents = [count] + ([inner] if own else [])
        element = "s[{0}0].v" + ("[{0}1]" if own else "")
        self.add(f"struct {name} s[{count}]; {self.fill(kind, extents, element.format('i'))}", name, "s.v", [(0, 1, extent) for extent in extents], kind,
                 element.format("j"), before=before)

    def inside(self, name):
        kind, extents = self.kind(), self.extents(3)
        bounds = "".join(f"[{extent}]" for extent in extents)
        before = f"struct {name} {{ short c; {kind[0]} v{bounds}; }};\n"
        self.add(f"struct {name} s; struct {name} *p = &s; {self.fill(kind, extents, 's.v' + self.brackets(len(extents)))}", name,
                 self.random.choice(["s.v", "p->v"]), [(0, 1, extent) for extent in extents], kind, "p->v" + self.brackets(len(extents), "j"), before=before)

    def source(self):
        calls = "".join(f"    view_{array.name}(argc - argc);\n" for array in self.arrays)
        return (self.head + "".join(self.functions) +
                f"int main(int argc, char **argv)\n{{\n    MPI_Init(&argc, &argv);\n{calls}    MPI_Finalize();\n    return 0;\n}}\n")


def a_range(chance, lower, extent):
    """A part of a dimension as text, and (first, step, count)."""
    upper = lower + extent - 1
    if chance.random() < 0.3:
        return ":", (lower, 1, extent)
    low, high = sorted((chance.randint(lower, upper), chance.randint(lower, upper)))
    step = chance.choice([1, 1, 2, 3, -1, -2])
    first, last = (low, high) if step > 0 else (high, low)
    count = abs(last - first) // abs(step) + 1
    return f"{first}:{last}" + (f":{step}" if step != 1 or chance.random() < 0.2 else ""), (first, step, count)


class CppMaker:
    """One program of C++: containers, and containers of containers."""

    def __init__(self, seed):
        self.random, self.arrays, self.functions = random.Random(seed), [], []
        self.head = CPP_HEAD % (self.random.getrandbits(40) | 1)

    def add(self, name, expression, rank, kind, declared, printed, before=""):
        self.arrays.append(Array(name, expression, [(0, 1)] * rank, kind))
        self.functions.append(f"{before}void view_{name}()\n{{\n    {declared}\n    {printed}\n    look();\n}}\n")

    def kind(self):
        return self.random.choice(CPP_TYPES)

    @staticmethod
    def printed(name, container, depth):
        """Nested loops over what has a range."""
        lines, inner = "", container
        for n in range(depth):
            lines += f"{{ int j{n} = 0; for (const auto& e{n} : {inner}) {{ "
            inner = f"e{n}"
        indices = " ".join("%d" for _ in range(depth))
        lines += f'std::printf("{MARK}{name} {indices} = "{"".join(f", j{n}" for n in range(depth))}); say({inner}); '
        return lines + "".join(f"++j{n}; }} }} " for n in reversed(range(depth)))

    def nest(self, outer, kind, depth):
        """A type of nested containers, and statements that fill `c` of it."""
        text, parts = kind, []
        for what in reversed(outer):
            size = self.random.randint(1, 5)
            text = f"std::array<{text}, {size}>" if what == "array" else f"vector<{text}>"
            parts.insert(0, (what, size))
        lines, inner = "", "c"
        for n, (what, size) in enumerate(parts):
            if what == "vector":
                lines += f"{inner}.resize({size} + any() % 4 * {0 if n == 0 else 1} - {0 if n == 0 else size} * (any() % 5 == 0)); "
            lines += f"for (auto& e{n} : {inner}) {{ "
            inner = f"e{n}"
        return text, lines + f"{inner} = one<{kind}>(); " + "}" * len(parts)

    def make(self, name):
        self.random.choice([self.nested, self.nested, self.nested, self.linear, self.bits, self.members, self.bags, self.valarray, self.fixed, self.eigen])(name)

    def nested(self, name):
        kind, depth = self.kind(), self.random.randint(1, 4)
        outer = [self.random.choice(["vector", "vector", "array"]) for _ in range(depth)]
        text, fill = self.nest(outer, kind[0], depth)
        reference = self.random.random() < 0.3
        self.add(name, "r" if reference else "c", depth, kind[1], f"{text} c; {fill} auto& r = c; (void)r;", self.printed(name, "c", depth))

    def linear(self, name):
        kind = self.random.choice([each for each in CPP_TYPES if "complex" not in each[0]])
        what, count = self.random.choice(["deque", "list", "set"]), self.random.randint(1, 300)
        if what == "set":
            kind = ("long", "int")
        add = "insert" if what == "set" else "push_back"
        self.add(name, "c", 1, kind[1], f"std::{what}<{kind[0]}> c; for (int i = 0; i < {count}; ++i) c.{add}(one<{kind[0]}>());",
                 self.printed(name, "c", 1))

    def bits(self, name):
        count = self.random.randint(1, 200)
        self.add(name, "c", 1, "bool", f"vector<bool> c; for (int i = 0; i < {count}; ++i) c.push_back(one<bool>());",
                 f'for (int i = 0; i < {count}; ++i) std::printf("{MARK}{name} %d = %d\\n", i, (int)c[i]);')

    def members(self, name):
        kind, count = self.kind(), self.random.randint(1, 9)
        before = f"struct Base_{name} {{ {kind[0]} v; }};\nstruct Cell_{name} : Base_{name} {{ char c; std::array<{kind[0]}, 3> w; }};\n"
        which = self.random.choice(["v", "w"])
        rank = 1 if which == "v" else 2
        loops = f"for (auto& e : c) {{ e.v = one<{kind[0]}>(); for (auto& x : e.w) x = one<{kind[0]}>(); }}"
        says = (f'for (int i = 0; i < {count}; ++i) {{ std::printf("{MARK}{name} %d = ", i); say(c[i].v); }}' if rank == 1 else
                f'for (int i = 0; i < {count}; ++i) for (int j = 0; j < 3; ++j) {{ std::printf("{MARK}{name} %d %d = ", i, j); say(c[i].w[j]); }}')
        self.add(name, f"c.{which}", rank, kind[1], f"vector<Cell_{name}> c({count}); {loops}", says, before)

    def bags(self, name):
        """A vector in each structure: rows of several lengths."""
        kind, count = self.kind(), self.random.randint(1, 7)
        before = f"struct Bag_{name} {{ int k; vector<{kind[0]}> w; }};\n"
        self.add(name, "c.w", 2, kind[1],
                 f"vector<Bag_{name}> c({count}); for (auto& e : c) {{ e.w.resize(any() % 6 + (&e == &c[0])); for (auto& x : e.w) x = one<{kind[0]}>(); }}",
                 f'for (int i = 0; i < {count}; ++i) for (int j = 0; j < (int)c[i].w.size(); ++j) {{ std::printf("{MARK}{name} %d %d = ", i, j); '
                 "say(c[i].w[j]); }", before)

    def valarray(self, name):
        kind, count = self.kind(), self.random.randint(1, 60)
        declared = f"std::valarray<{kind[0]}> c({count}); for (auto& e : c) e = one<{kind[0]}>();"
        if self.random.random() < 0.5:
            declared = f"static vector<{kind[0]}> v({count}); for (auto& e : v) e = one<{kind[0]}>(); std::span<{kind[0]}> c(v);"
        self.add(name, "c", 1, kind[1], declared, self.printed(name, "c", 1))

    def eigen(self, name):
        kind, rows, columns, options = self.kind(), self.random.randint(1, 7), self.random.randint(1, 7), self.random.choice([0, 1])
        of = self.random.choice([(rows, columns), (-1, -1), (-1, columns), (rows, 1), (-1, 1)])
        columns = 1 if of[1] == 1 else columns
        rank = 1 if 1 in of else 2
        if rank == 1:  # a column, or a row
            options = 0 if of[1] == 1 else 1
        each = f"for (int i = 0; i < {rows}; ++i) for (int j = 0; j < {columns}; ++j)"
        flat = "i" if of[1] == 1 else "j" if of[0] == 1 else None
        says = f'std::printf("{MARK}{name} %d = ", {flat})' if flat else f'std::printf("{MARK}{name} %d %d = ", i, j)'
        self.add(name, "c", rank, kind[1], f"Eigen::Matrix<{kind[0]}, {of[0]}, {of[1]}, {options}> c({rows}, {columns}); {each} c(i, j) = one<{kind[0]}>();",
                 f"{each} {{ {says}; say(c(i, j)); }}")

    def fixed(self, name):
        """An array of C of containers, and a row of it."""
        kind, count = self.kind(), self.random.randint(1, 5)
        self.add(name, "c", 2, kind[1],
                 f"vector<{kind[0]}> c[{count}]; for (auto& e : c) {{ e.resize(1 + any() % 6); for (auto& x : e) x = one<{kind[0]}>(); }}",
                 self.printed(name, "c", 2))

    def source(self):
        calls = "".join(f"    view_{array.name}();\n" for array in self.arrays)
        return (self.head + "".join(self.functions) +
                f"int main(int argc, char **argv)\n{{\n    MPI_Init(&argc, &argv);\n{calls}    MPI_Finalize();\n    return 0;\n}}\n")


# -- Fortran

F_HEAD = """\
module arrays
  use iso_c_binding
  implicit none
  integer(8), save :: seed = {seed}_8
  integer, parameter :: any_kind = 4
  interface say
    module procedure say_i1, say_i2, say_i4, say_i8, say_r4, say_r8, say_r10, say_r16, say_c4, say_c8, say_l1, say_l2, say_l4, say_l8, say_s
  end interface
contains
  function any_one() result(n)
    integer(8) :: n
    seed = iand(seed * 1103515245_8 + 12345_8, 2147483647_8)
    n = seed / 8
  end function
  function real_one() result(x)
    real(8) :: x
    integer(8) :: n
    n = any_one()
    x = real(mod(n, 2000000_8) - 1000000, 8) / 7
    if (mod(n, 31_8) == 0) x = transfer(int(z'7ff8000000000000', 8), x)
    if (mod(n, 37_8) == 0) x = transfer(int(z'7ff0000000000000', 8), x)
  end function
  subroutine look()
    if (seed < 0) print *, 'never'
  end subroutine
"""

# Kind, how it is compared, how it is written.
F_TYPES = [("integer(1)", "int", "i1"), ("integer(2)", "int", "i2"), ("integer(4)", "int", "i4"), ("integer(8)", "int", "i8"),
           ("real(4)", "f4", "r4"), ("real(8)", "f8", "r8"), ("real(10)", "f10", "r10"), ("real(16)", "f16", "r16"),
           ("complex(4)", "c4", "c4"), ("complex(8)", "c8", "c8"), ("logical(1)", "bool", "l1"), ("logical(2)", "bool", "l2"),
           ("logical(4)", "bool", "l4"), ("logical(8)", "bool", "l8")]
F_FORMATS = {"int": "(i0)", "f4": "(es20.9e4)", "f8": "(es28.17e4)", "f10": "(es32.21e5)", "f16": "(es48.36e5)", "c4": "(es20.9e4,1x,es20.9e4)",
             "c8": "(es28.17e4,1x,es28.17e4)", "bool": "(l1)"}
F_ONE = {"int": "int(mod(any_one(), 250_8) - 125, kind(x))", "f4": "real(real_one(), kind(x))", "f8": "real_one()", "f10": "real(real_one(), kind(x)) / 3",
         "f16": "real(real_one(), kind(x)) / 3", "c4": "cmplx(real_one(), real_one(), kind(x))", "c8": "cmplx(real_one(), real_one(), kind(x))",
         "bool": "mod(any_one(), 2_8) == 0"}


class FortranMaker:
    """One program of Fortran."""

    def __init__(self, seed):
        self.random, self.arrays, self.functions, self.calls, self.types = random.Random(seed), [], [], [], []
        self.seed = self.random.randrange(1, 1 << 30)

    def kind(self):
        if self.random.random() < 0.15:
            length = self.random.randint(1, 9)
            return (f"character({length})", "text", "s")
        return self.random.choice(F_TYPES)

    def bounds(self, most=4):
        rank = self.random.randint(1, most)
        most_extent = (30, 8, 5, 4)[rank - 1]
        return [(lower, self.random.randint(1, most_extent)) for lower in (self.random.choice([1, 1, 0, -3, 5]) for _ in range(rank))]

    @staticmethod
    def shape(bounds):
        return ",".join(f"{lower}:{lower + extent - 1}" for lower, extent in bounds)

    @staticmethod
    def text_value():
        return "achar(97 + int(mod(any_one(), 26_8))) // achar(97 + int(mod(any_one(), 26_8))) // achar(48 + int(mod(any_one(), 10_8)))"

    def value(self, kind):
        return self.text_value() if kind[1] == "text" else f"one_{kind[2]}()"

    def filled(self, element, bounds, kind):
        """`element` in terms of j1, j2, …"""
        opening = "".join(f"do j{n} = {lower}, {lower + extent - 1}\n" for n, (lower, extent) in reversed(list(enumerate(bounds, 1))))
        return opening + f"{element} = {self.value(kind)}\n" + "end do\n" * len(bounds)

    @staticmethod
    def printed(name, element, ranges, kind):
        opening = "".join(f"do k{n} = 0, {count - 1}\nj{n} = {first} + ({step}) * k{n}\n" for n, (first, step, count) in enumerate(ranges, 1))
        indices = "".join(f", j{n}" for n in range(1, len(ranges) + 1))
        says = f"write(*, '(a,{len(ranges)}(1x,i0),a)', advance='no') '{MARK}{name}'{indices}, ' = '\ncall say({element})\n"
        return opening + says + "end do\n" * len(ranges)

    @staticmethod
    def indices(count):
        return ",".join(f"j{n}" for n in range(1, count + 1))

    LOCALS = "integer :: j1, j2, j3, j4, j5, k1, k2, k3, k4, k5, i\n"

    def add(self, name, expression, ranges, kind, declared, body, printed, after=""):
        self.arrays.append(Array(name, expression, [(first, step) for first, step, _ in ranges], kind[1]))
        self.functions.append(f"subroutine view_{name}()\n{declared}{self.LOCALS}{body}{printed}call look()\n{after}end subroutine\n")
        self.calls.append(f"call view_{name}()")

    def make(self, name):
        self.random.choice([self.fixed, self.allocated, self.part, self.part, self.pointed, self.passed, self.passed, self.sized, self.member, self.member,
                            self.ragged, self.deferred, self.assumed_length, self.polymorphic])(name)

    def fixed(self, name, how=""):
        kind, bounds = self.kind(), self.bounds()
        element = f"a({self.indices(len(bounds))})"
        declared = f"{kind[0]}, save :: a({self.shape(bounds)})\n"
        body = self.filled(element, bounds, kind)
        if how == "allocatable":
            declared = f"{kind[0]}, allocatable :: a({','.join(':' for _ in bounds)})\n"
            body = f"allocate(a({self.shape(bounds)}))\n" + body
        self.add(name, "a", [(lower, 1, extent) for lower, extent in bounds], kind, declared, body,
                 self.printed(name, element, [(lower, 1, extent) for lower, extent in bounds], kind))

    def allocated(self, name):
        self.fixed(name, "allocatable")

    def parts(self, bounds):
        """A part of an array: text, ranges that are shown, element in terms of j1, …"""
        texts, ranges, element = [], [], []
        for n, (lower, extent) in enumerate(bounds):
            if (n + 1 < len(bounds) or ranges) and self.random.random() < 0.3:
                at = self.random.randrange(lower, lower + extent)
                texts.append(str(at))
                element.append(str(at))
                continue
            text, chosen = a_range(self.random, lower, extent)
            texts.append(text)
            ranges.append(chosen)
            element.append(f"j{len(ranges)}")
        return ",".join(texts), ranges, ",".join(element)

    def part(self, name):
        kind, bounds = self.kind(), self.bounds()
        text, ranges, element = self.parts(bounds)
        allocatable = self.random.random() < 0.5
        declared = f"{kind[0]}, {'allocatable' if allocatable else 'save'} :: a({','.join(':' for _ in bounds) if allocatable else self.shape(bounds)})\n"
        body = (f"allocate(a({self.shape(bounds)}))\n" if allocatable else "") + self.filled(f"a({self.indices(len(bounds))})", bounds, kind)
        self.add(name, f"a({text})", ranges, kind, declared, body, self.printed(name, f"a({element})", ranges, kind))

    def pointed(self, name):
        """A pointer to a part, with lower bounds of 1, or its own."""
        kind, bounds = self.kind(), self.bounds()
        text, ranges, _ = self.parts(bounds)
        lower = self.random.choice([1, 1, -2])
        shown = [(lower, 1, count) for _, _, count in ranges]
        to = f"p => a({text})\n" if lower == 1 else f"p({','.join('-2:' for _ in shown)}) => a({text})\n"
        self.add(name, "p", shown, kind, f"{kind[0]}, target, save :: a({self.shape(bounds)})\n{kind[0]}, pointer :: p({','.join(':' for _ in shown)})\n",
                 self.filled(f"a({self.indices(len(bounds))})", bounds, kind) + to, self.printed(name, f"p({self.indices(len(shown))})", shown, kind))

    def callee(self, name, kind, dummy, inner, shown, expression, actual, declared, body):
        """A part of `a` is passed to a subroutine that shows its dummy argument d."""
        self.arrays.append(Array(name, expression, [(first, step) for first, step, _ in shown], kind[1]))
        printed = self.printed(name, inner, shown, kind)
        self.functions.append(f"subroutine taken_{name}(d)\n{dummy}{self.LOCALS}{printed}call look()\nend subroutine\n"
                              f"subroutine view_{name}()\n{declared}{self.LOCALS}{body}call taken_{name}({actual})\nend subroutine\n")
        self.calls.append(f"call view_{name}()")

    def passed(self, name):
        """Assumed shape: of a part with strides, forwards and backwards."""
        kind, bounds = self.random.choice(F_TYPES), self.bounds()
        text, ranges, _ = self.parts(bounds)
        lower = self.random.choice([1, 1, 1, 0, -4])
        shown = [(lower, 1, count) for _, _, count in ranges]
        shape = ",".join(":" if lower == 1 else f"{lower}:" for _ in shown)
        expression, element, printed = "d", f"d({self.indices(len(shown))})", shown
        if self.random.random() < 0.4:
            inner, printed, inside = self.parts([(lower, count) for _, _, count in ranges])
            expression, element = f"d({inner})", f"d({inside})"
        self.callee(name, kind, f"{kind[0]}, intent(in) :: d({shape})\n", element, printed, expression, f"a({text})",
                    f"{kind[0]}, save :: a({self.shape(bounds)})\n", self.filled(f"a({self.indices(len(bounds))})", bounds, kind))

    def sized(self, name):
        """Assumed size: it has no last bound."""
        kind, rows, columns = self.random.choice(F_TYPES), self.random.randint(1, 5), self.random.randint(1, 6)
        self.callee(name, kind, f"{kind[0]}, intent(in) :: d({rows},*)\n", "d(j1,j2)", [(1, 1, rows), (1, 1, columns)], f"d(:,1:{columns})", "a",
                    f"{kind[0]}, save :: a({rows},{columns})\n", self.filled("a(j1,j2)", [(1, rows), (1, columns)], kind))

    def member(self, name):
        """A component of an array of derived type."""
        kind, bounds, own = self.kind(), self.bounds(2), self.random.random() < 0.5
        inner = self.bounds(2) if own else []
        extends = self.random.random() < 0.3
        component = f"{kind[0]} :: v" + (f"({self.shape(inner)})" if own else "")
        if extends:
            self.types.append(f"type base_{name}\n{component}\nend type\ntype, extends(base_{name}) :: type_{name}\ninteger(2) :: after\nend type\n")
        else:
            self.types.append(f"type type_{name}\ninteger(1) :: before\n{component}\ninteger(2) :: after\nend type\n")
        total = bounds + inner
        element = f"a({self.indices(len(bounds))})%v" + (f"({','.join(f'j{n}' for n in range(len(bounds) + 1, len(total) + 1))})" if own else "")
        allocatable = self.random.random() < 0.5
        declared = f"type(type_{name}), {'allocatable' if allocatable else 'save'} :: a({','.join(':' for _ in bounds) if allocatable else self.shape(bounds)})\n"
        body = (f"allocate(a({self.shape(bounds)}))\n" if allocatable else "") + self.filled(element, total, kind)
        ranges = [(lower, 1, extent) for lower, extent in total]
        self.add(name, "a%v", ranges, kind, declared, body, self.printed(name, element, ranges, kind))

    def ragged(self, name):
        """An allocatable component in each: rows that lie apart."""
        kind, lower, extent = self.random.choice(F_TYPES), self.random.choice([1, 0, -2]), self.random.randint(1, 5)
        self.types.append(f"type type_{name}\n{kind[0]}, allocatable :: v(:)\nend type\n")
        body = (f"do i = {lower}, {lower + extent - 1}\nallocate(a(i)%v(0:i + {2 - lower}))\ndo j2 = 0, i + {2 - lower}\n"
                f"a(i)%v(j2) = one_{kind[2]}()\nend do\nend do\n")
        says = (f"do i = {lower}, {lower + extent - 1}\ndo j2 = 0, i + {2 - lower}\n"
                f"write(*, '(a,2(1x,i0),a)', advance='no') '{MARK}{name}', i, j2, ' = '\ncall say(a(i)%v(j2))\nend do\nend do\n")
        self.add(name, "a%v", [(lower, 1, extent), (0, 1, extent)], kind, f"type(type_{name}), save :: a({lower}:{lower + extent - 1})\n", body, says)

    def deferred(self, name):
        """A length that is not known before it is allocated."""
        kind, lower, extent = ("character(:)", "text", "s"), self.random.choice([1, 0, -2]), self.random.randint(1, 6)
        ranges = [(lower, 1, extent)]
        body = f"allocate(character({self.random.randint(1, 7)}) :: a({lower}:{lower + extent - 1}))\n"
        how = self.random.choice(["local", "passed", "component"])
        if how == "passed":
            self.callee(name, kind, "character(:), allocatable, intent(in) :: d(:)\n", "d(j1)", ranges, "d", "a", "character(:), allocatable :: a(:)\n",
                        body + self.filled("a(j1)", [(lower, extent)], kind))
        elif how == "component":
            self.types.append(f"type type_{name}\ninteger(1) :: before\ncharacter(:), allocatable :: v(:)\nend type\n")
            self.add(name, "x%v", ranges, kind, f"type(type_{name}), save :: x\n", body.replace(":: a(", ":: x%v(") +
                     self.filled("x%v(j1)", [(lower, extent)], kind), self.printed(name, "x%v(j1)", ranges, kind))
        else:
            self.add(name, "a", ranges, kind, "character(:), allocatable :: a(:)\n", body + self.filled("a(j1)", [(lower, extent)], kind),
                     self.printed(name, "a(j1)", ranges, kind))

    def assumed_length(self, name):
        kind, extent = (f"character({self.random.randint(1, 8)})", "text", "s"), self.random.randint(1, 9)
        text, (_, _, count) = a_range(self.random, 1, extent)
        shape = self.random.choice([":", str(count)])
        self.callee(name, kind, f"character(*), intent(in) :: d({shape})\n", "d(j1)", [(1, 1, count)], "d", f"a({text})",
                    f"{kind[0]}, save :: a({extent})\n", self.filled("a(j1)", [(1, extent)], kind))

    def polymorphic(self, name):
        kind, lower, extent = self.random.choice(F_TYPES), self.random.choice([1, 0, -2]), self.random.randint(1, 6)
        self.types.append(f"type type_{name}\ninteger(1) :: before\n{kind[0]} :: v\nend type\n")
        ranges = [(lower, 1, extent)]
        body = f"allocate(a({lower}:{lower + extent - 1}))\n" + self.filled("a(j1)%v", [(lower, extent)], kind)
        self.add(name, "a%v", ranges, kind, f"class(type_{name}), allocatable :: a(:)\n", body, self.printed(name, "a(j1)%v", ranges, kind))

    def source(self):
        helpers = ""
        for text, compared, short in F_TYPES:
            helpers += f"function one_{short}() result(x)\n{text} :: x\nx = {F_ONE[compared]}\nend function\n"
            helpers += f"subroutine say_{short}(x)\n{text}, intent(in) :: x\nwrite(*, '{F_FORMATS[compared]}') x\nend subroutine\n"
        helpers += "subroutine say_s(x)\ncharacter(*), intent(in) :: x\nwrite(*, '(3a)') '|', x, '|'\nend subroutine\n"
        head = F_HEAD.format(seed=self.seed).replace("contains\n", "".join(self.types) + "contains\n", 1)
        calls = "\n".join(self.calls)
        return (head + helpers + "".join(self.functions) + "end module\n"
                f"program main\nuse mpi\nuse arrays\nimplicit none\ninteger :: failed\ncall MPI_Init(failed)\n{calls}\ncall MPI_Finalize(failed)\nend program\n")


MAKERS = {"c": CMaker, "cpp": CppMaker, "f90": FortranMaker}


def make(language, seed, count):
    """The source of a program in `language` (c, cpp, f90), and its arrays in the order in which it looks at them."""
    maker = MAKERS[language](seed)
    for i in range(count):
        maker.make(f"x{i}")
    return maker.source(), maker.arrays
