# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs with variables of any type and value, which print each leaf of them: C, C++, Fortran and Python.

program(language, seed, count) is (source, {variable: shape}). A shape is "leaf" or a list of shapes, as a debugger opens them. In
hold(), before its MPI_Barrier, the program prints for each variable its leaves in that order: LEAF, the variable, a kind, the value, with
tabs between."""
import itertools
import random
import string

LEAF = "leaf"
INTEGERS = {"short": (16, True, "%d"), "unsigned short": (16, False, "%u"), "int": (32, True, "%d"), "unsigned int": (32, False, "%u"),
            "long": (64, True, "%ld"), "unsigned long": (64, False, "%lu"), "signed char": (8, True, "%d"), "unsigned char": (8, False, "%u")}


class Made:
    """A variable's type and value. `declared` has {} for the name; `leaves(expression)` are (kind, statement that prints the value)."""

    def __init__(self, declared, literal, shape, leaves):
        self.declared, self.literal, self.shape, self.leaves = declared, literal, shape, leaves


class InC:
    def __init__(self, chance):
        self.chance = chance
        self.types = []  # definitions, in their order

    def number(self, bits, signed):
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        return self.chance.choice([low, high, 0, 1, self.chance.randint(low, high), self.chance.randint(low, high), self.chance.randint(0, 99)])

    def integer(self):
        name = self.chance.choice(list(INTEGERS))
        bits, signed, how = INTEGERS[name]
        value = self.number(bits, signed)
        literal = f"({value + 1}L - 1)" if value == -(1 << 63) else f"{value}L" if signed else f"{value}UL"
        kind = "char" if bits == 8 else "int"
        return Made(f"{name} {{}}", literal if bits > 32 else f"({name})({literal})", LEAF, lambda e: [(kind, f'printf("{how}\\n", {e});')])

    def real(self):
        name = self.chance.choice(["float", "double"])
        value = self.chance.choice([0.0, -0.0, 0.1, 1e16, -2.5, self.chance.uniform(-1e6, 1e6), self.chance.uniform(0, 1) * 1e-30, "1/0."])
        literal = "(1.0 / zero)" if value == "1/0." else repr(value)
        return Made(f"{name} {{}}", f"({name}){literal}", LEAF, lambda e: [(name, f'printf("%.17g\\n", {e});')])

    def boolean(self):
        value = self.chance.randrange(2)
        return Made(f"{self.bool_type} {{}}", str(value), LEAF, lambda e: [("bool", f'printf("%d\\n", (int)({e}));')])

    bool_type = "_Bool"

    def letters(self):
        return "".join(self.chance.choice(string.ascii_letters + string.digits + " _.") for _ in range(self.chance.randint(1, 30)))

    def text(self):
        return Made("const char *{}", f'"{self.letters()}"', LEAF, lambda e: [("text", f'printf("%s\\n", {e});')])

    def enumeration(self):
        number = len(self.types)
        names = [f"E{number}_{i}" for i in range(self.chance.randint(1, 4))]
        self.types.append(f"enum e{number} {{ {', '.join(names)} }};")
        values = ", ".join(f'"{name}"' for name in names)
        self.types.append(f"static const char *const names{number}[] = {{ {values} }};")
        return Made(f"enum e{number} {{}}", self.chance.choice(names), LEAF, lambda e: [("name", f'printf("%s\\n", names{number}[{e}]);')])

    def structure(self, depth):
        members = [self.any(depth + 1) for _ in range(self.chance.randint(1, 4))]
        name = f"s{len(self.types)}"
        body = " ".join(member.declared.format(f"m{i}") + ";" for i, member in enumerate(members))
        self.types.append(f"struct {name} {{ {body} }};")
        return Made(f"struct {name} {{}}", "{ " + ", ".join(member.literal for member in members) + " }", [member.shape for member in members],
                    lambda e: [leaf for i, member in enumerate(members) for leaf in member.leaves(f"{e}.m{i}")])

    def array(self, depth):
        """All elements of one type, each with a value of its own where that is plain."""
        first = self.any(depth + 1)
        count = self.chance.randint(1, 4)
        literals = [first.literal] * count
        return Made(first.declared.format("{}[" + str(count) + "]"), "{ " + ", ".join(literals) + " }", [first.shape] * count,
                    lambda e: [leaf for i in range(count) for leaf in first.leaves(f"{e}[{i}]")])

    def numbers(self):
        """An array of different ints; of two dimensions, too."""
        rows, columns = self.chance.randint(1, 3), self.chance.randint(2, 4)
        values = [[self.number(32, True) for _ in range(columns)] for _ in range(rows)]
        row = ["{ " + ", ".join(f"(int)({value}L)" for value in each) + " }" for each in values]
        return Made("int {}[" + f"{rows}][{columns}]", "{ " + ", ".join(row) + " }", [[LEAF] * columns] * rows,
                    lambda e: [("int", f'printf("%d\\n", {e}[{i}][{j}]);') for i in range(rows) for j in range(columns)])

    def plain(self):
        return self.chance.choice([self.integer, self.integer, self.real, self.boolean, self.text, self.enumeration])()

    def any(self, depth=0):
        if depth >= 3 or self.chance.random() < 0.4:
            return self.plain()
        return self.chance.choice([self.structure, self.array, lambda _: self.numbers()])(depth)

    def program(self, count):
        variables = {f"v{i}": self.any() for i in range(count)}
        lines = []
        for name, made in variables.items():
            lines.append(f"    {made.declared.format(name)} = {made.literal};")
        for name, made in variables.items():
            for kind, statement in made.leaves(name):
                lines.append(f'    printf("LEAF\\t{name}\\t{kind}\\t"); {statement}')
        return "\n".join([self.head, *self.types, "static double zero = 0;", "static void hold(void)", "{", *lines, "    fflush(stdout);",
                          "    MPI_Barrier(MPI_COMM_WORLD);", "}", self.tail]), {name: made.shape for name, made in variables.items()}

    head = "#include <mpi.h>\n#include <stdio.h>"
    tail = "int main(int argc, char **argv)\n{\n    MPI_Init(&argc, &argv);\n    hold();\n    MPI_Finalize();\n    return zero != 0;\n}\n"


class InCpp(InC):
    bool_type = "bool"
    head = ("#include <mpi.h>\n#include <cstdio>\n#include <array>\n#include <deque>\n#include <map>\n#include <set>\n#include <string>\n"
            "#include <utility>\n#include <vector>")

    def words(self):
        return Made("std::string {}", f'std::string("{self.letters()}")', LEAF, lambda e: [("text", f'printf("%s\\n", {e}.c_str());')])

    @staticmethod
    def type_of(made):
        return made.declared.format("").strip().removeprefix("struct ").removeprefix("enum ")

    def simple(self, depth):
        """What can be in a container: no array of C's."""
        while True:
            made = self.any(depth + 1)
            if "[" not in made.declared and "{}" == made.declared[-2:]:
                return made

    def sequence(self, depth):
        element = self.simple(depth)
        count = self.chance.randint(1, 4)
        kind = self.chance.choice(["std::vector<{}>", "std::deque<{}>", "std::array<{}, %d>" % count])
        one = (self.type_of(element) if element.literal.startswith("{") else "") + element.literal
        brace = ("{{ %s }}" if "array" in kind else "{ %s }") % ", ".join([one] * count)
        shape = [element.shape] * count
        if "array" in kind:
            shape = [shape]  # its only member
        return Made(kind.format(self.type_of(element)).replace("{", "{{").replace("}", "}}") + " {}", brace, shape,
                    lambda e: [leaf for i in range(count) for leaf in element.leaves(f"{e}[{i}]")])

    def ints(self, _depth):
        values = sorted({self.number(32, True) for _ in range(self.chance.randint(1, 5))})
        kind, brace = self.chance.choice([("std::vector<int>", "{ %s }"), ("std::set<int>", "{ %s }")])
        return Made(kind + " {}", brace % ", ".join(f"(int)({value}L)" for value in values), [LEAF] * len(values),
                    lambda e: [("int", f'printf("%d\\n", *std::next({e}.begin(), {i}));') for i in range(len(values))])

    def pair(self, depth):
        first, second = self.simple(depth), self.simple(depth)
        if first.literal.startswith("{") or second.literal.startswith("{"):
            return self.words()
        return Made(f"std::pair<{self.type_of(first)}, {self.type_of(second)}> {{}}", f"{{ {first.literal}, {second.literal} }}",
                    [first.shape, second.shape], lambda e: first.leaves(f"{e}.first") + second.leaves(f"{e}.second"))

    def mapping(self, depth):
        value = self.simple(depth)
        if value.literal.startswith("{"):
            return self.words()
        keys = sorted({self.chance.randint(-99, 99) for _ in range(self.chance.randint(1, 3))})
        return Made(f"std::map<int, {self.type_of(value)}> {{}}", "{ " + ", ".join(f"{{ {key}, {value.literal} }}" for key in keys) + " }",
                    [LEAF, value.shape] * len(keys),
                    lambda e: [leaf for i, key in enumerate(keys)
                               for leaf in [("int", f'printf("%d\\n", std::next({e}.begin(), {i})->first);'), *value.leaves(f"{e}.at({key})")]])

    def any(self, depth=0):
        if depth >= 3 or self.chance.random() < 0.35:
            return self.chance.choice([self.plain, self.words])()
        return self.chance.choice([self.structure, self.array, self.sequence, self.ints, self.pair, self.mapping])(depth)


class InFortran:
    def __init__(self, chance):
        self.chance = chance
        self.types = []

    def leaf(self):
        kind = self.chance.randrange(7)
        if kind <= 1:
            size = self.chance.choice([1, 2, 4, 8])
            value = self.chance.choice([0, 1, self.chance.randint(-(1 << 8 * size - 1) + 1, (1 << 8 * size - 1) - 1)])
            return f"integer({size})", f"{value}_{size}", lambda e: [("int", f"print '(i0)', {e}")]
        if kind <= 3:
            size = self.chance.choice([4, 8])
            value = self.chance.choice([0.0, 0.1, -2.5, self.chance.uniform(-1e6, 1e6)])
            name = "float" if size == 4 else "double"
            return f"real({size})", f"{value!r}_{size}", lambda e: [(name, f"print '(es26.17e3)', {e}")]
        if kind == 4:
            value = self.chance.choice([".true.", ".false."])
            return "logical", value, lambda e: [("bool", f"print '(i0)', merge(1, 0, {e})")]
        if kind == 5:
            re, im = round(self.chance.uniform(-9, 9), 3), round(self.chance.uniform(-9, 9), 3)
            return "complex(8)", f"({re}_8, {im}_8)", lambda e: [("complex", f"print '(es26.17e3, 1x, es26.17e3)', real({e}), aimag({e})")]
        value = "".join(self.chance.choice(string.ascii_letters + " ") for _ in range(self.chance.randint(1, 12)))
        return f"character({len(value)})", f"'{value}'", lambda e: [("text", f"print '(a)', {e}")]

    def variable(self, name):
        """(declaration, statements that give it its value, shape, leaves)"""
        kind = self.chance.randrange(5)
        of, value, leaves = self.leaf()
        if kind <= 1:
            return f"{of} :: {name}", [f"{name} = {value}"], LEAF, leaves(name)
        if kind == 2:
            low, count = self.chance.randint(-3, 3), self.chance.randint(1, 4)
            allocated = self.chance.randrange(2)
            declared = f"{of}, allocatable :: {name}(:)" if allocated else f"{of} :: {name}({low}:{low + count - 1})"
            begin = [f"allocate({name}({low}:{low + count - 1}))"] if allocated else []
            return declared, [*begin, f"{name} = {value}"], [LEAF] * count, [one for i in range(count) for one in leaves(f"{name}({low + i})")]
        if kind == 3:
            rows, columns = self.chance.randint(1, 3), self.chance.randint(1, 3)
            values = [f"{name}({i + 1}, {j + 1}) = {self.chance.randint(-999, 999)}" for j in range(columns) for i in range(rows)]
            return (f"integer :: {name}({rows}, {columns})", values, [[LEAF] * rows] * columns,
                    [("int", f"print '(i0)', {name}({i + 1}, {j + 1})") for j in range(columns) for i in range(rows)])
        members = [self.leaf() for _ in range(self.chance.randint(1, 4))]
        self.types.append("\n".join([f"type :: t_{name}", *(f"  {each[0]} :: m{i}" for i, each in enumerate(members)), f"end type t_{name}"]))
        return (f"type(t_{name}) :: {name}", [f"{name}%m{i} = {each[1]}" for i, each in enumerate(members)], [LEAF] * len(members),
                [one for i, each in enumerate(members) for one in each[2](f"{name}%m{i}")])

    def bounds(self, rank):
        return [(self.chance.choice([1, 1, 0, -3, 2]), self.chance.randint(1, 5)) for _ in range(rank)]

    def section(self, bounds):
        """(text, [the indices of each dimension that is left])"""
        texts, left = [], []
        for low, count in bounds:
            high, step = low + count - 1, self.chance.choice([1, 1, 2, -1, -2, 3])
            kind = self.chance.randrange(5)
            if kind == 0 and len(bounds) > 1 and (left or len(texts) + 1 < len(bounds)):
                texts.append(str(self.chance.randint(low, high)))
            elif kind == 1:
                texts.append(":")
                left.append(list(range(low, high + 1)))
            else:
                first, last = sorted([self.chance.randint(low, high), self.chance.randint(low, high)], reverse=step < 0)
                if self.chance.random() < 0.05:
                    first, last = last + (1 if step > 0 else -1), last  # no element
                texts.append(f"{first}:{last}:{step}")
                left.append(list(range(first, last + (1 if step > 0 else -1), step)))
        return ", ".join(texts), left

    @staticmethod
    def shape_of(counts, inner):
        """As it is opened: the last dimension first."""
        shape = inner
        for count in counts:
            shape = [shape] * count
        return shape

    @staticmethod
    def indices(lows, counts):
        """Of all elements, as they are opened."""
        ranges = [range(low, low + count) for low, count in zip(lows, counts)]
        return [index[::-1] for index in itertools.product(*ranges[::-1])]

    def element(self, name):
        """(type, what follows an element, value of the element number {n}, shape of it, what it prints, attributes): a number, or a structure."""
        if self.chance.random() < 0.6:
            size, real = self.chance.choice([4, 8]), self.chance.randrange(2)
            kind = f"real({size})" if real else f"integer({size})"
            shown = [("float" if size == 4 else "double", "print '(es26.17e3)', {e}")] if real else [("int", "print '(i0)', {e}")]
            return kind, (lambda e: [f"{e} = number * 7 - 20"]), LEAF, lambda e: [(each, line.format(e=e)) for each, line in shown]
        inner = self.chance.randint(0, 3)
        self.types.append(f"type :: t_{name}\n  integer :: m0\n  real(8), allocatable :: m1(:)\n  character(3) :: m2\n  integer, pointer :: m3(:)\n"
                          f"end type t_{name}")
        give = ["m0 = number", "m2 = achar(65 + mod(number, 26))//'bc'"]
        values = lambda e: [*(f"{e}%{each}" for each in give), f"allocate({e}%m1({inner}:{inner + 1}))", f"{e}%m1 = [number + 0.5d0, number * 2d0]",
                            f"{e}%m3 => pool(mod(number, 20) + 9:mod(number, 20) + 1:-4)"]
        leaves = lambda e: [("int", f"print '(i0)', {e}%m0"), *(("double", f"print '(es26.17e3)', {e}%m1({inner + i})") for i in range(2)),
                            ("text", f"print '(a)', {e}%m2"), *(("int", f"print '(i0)', {e}%m3({i})") for i in (1, 2, 3))]
        return f"type(t_{name})", values, [LEAF, [LEAF] * 2, LEAF, [LEAF] * 3], leaves

    def filled(self, name, bounds, values):
        """Each element has a value of its own."""
        lines = ["number = 0"] + [f"do i{n} = {low}, {low + count - 1}" for n, (low, count) in enumerate(bounds)]
        lines += ["number = number + 1", *values(f"{name}({', '.join(f'i{n}' for n in range(len(bounds)))})")]
        return lines + ["end do"] * len(bounds)

    def array_of(self, name):
        """An array, a pointer to a section of one, or a dummy argument of assumed shape that is given one."""
        kind, values, inner, leaves = self.element(name)
        bounds = self.bounds(self.chance.choice([1, 1, 2, 2, 3]))
        how = self.chance.choice(["pointer", "pointer", "dummy", "dummy", "allocatable"])
        text, left = self.section(bounds)
        base = name if how == "allocatable" else f"base_{name}"
        counts, lows = [len(each) for each in left], [1] * len(left)
        declared = f"{kind}, {'allocatable' if how == 'allocatable' else 'target, allocatable'} :: {base}({', '.join(':' for _ in bounds)})"
        given = [f"allocate({base}({', '.join(f'{low}:{low + count - 1}' for low, count in bounds)}))", *self.filled(base, bounds, values)]
        shape = ", ".join(":" for _ in counts)
        if how == "allocatable":
            lows, counts = [low for low, _ in bounds], [count for _, count in bounds]
        elif how == "pointer":
            if self.chance.randrange(2):
                lows = [self.chance.randint(-2, 2) for _ in counts]
            declared += f"\n    {kind}, pointer :: {name}({shape})"
            remap = ", ".join(f"{low}:" for low in lows)
            given.append(f"{name}({remap}) => {base}({text})" if lows != [1] * len(lows) else f"{name} => {base}({text})")
        else:
            lows = [self.chance.choice([1, 1, 0, -4]) for _ in counts]
            shape = ", ".join(":" if low == 1 else f"{low}:" for low in lows)
            self.dummies.append(f"    {kind} :: {name}({shape})")
            self.arguments.append((name, f"{base}({text})"))
        printed = [one for index in self.indices(lows, counts) for one in leaves(f"{name}({', '.join(map(str, index))})")]
        return declared, given, self.shape_of(counts, inner), printed

    def program(self, count):
        self.dummies, self.arguments, self.given_outer = [], [], []
        declared, given, printed, shapes = [], [], [], {}
        for i in range(count):
            name = f"v{i}"
            declaration, values, shapes[name], leaves = (self.array_of if self.chance.random() < 0.35 else self.variable)(name)
            declared.append("    " + declaration)
            passed = bool(self.arguments) and self.arguments[-1][0] == name
            (self.given_outer if passed else given).extend("    " + value for value in values)
            for kind, statement in leaves:
                printed += [f"    write(*, '(a)', advance='no') 'LEAF'//tab//'{name}'//tab//'{kind}'//tab", "    " + statement]
        # What is given a value and passed stands in outer(), all that is shown and printed in hold(): its variables are found there.
        made = {name: None for name, _ in self.arguments}
        names = ", ".join(made)
        both = [(declaration, name) for declaration, name in zip(declared, shapes)]
        outer = [declaration for declaration, name in both if name in made]
        own = [declaration for declaration, name in both if name not in made]
        pass_on = ", &\n      ".join(text for _, text in self.arguments)
        loops = ["    integer :: number, i0, i1, i2"]
        return "\n".join(["module kinds", "  implicit none", "  character, parameter :: tab = char(9)", *self.types,
                          "  integer, private :: k", "  integer, target :: pool(40) = [(k, k = 1, 40)]", "contains",
                          "  subroutine outer()", *loops, *outer, *self.given_outer, f"    call hold({pass_on})", "  end subroutine outer",
                          f"  subroutine hold({names})", "    use mpi", "    integer :: ierr", *loops, *self.dummies, *own, *given, *printed, "    flush(6)",
                          "    call MPI_Barrier(MPI_COMM_WORLD, ierr)", "  end subroutine hold", "end module kinds", "program values", "  use mpi",
                          "  use kinds", "  implicit none", "  integer :: error", "  call MPI_Init(error)", "  call outer()",
                          "  call MPI_Finalize(error)", "end program values", ""]), shapes


class InPython:
    def __init__(self, chance):
        self.chance = chance

    def leaf(self):
        return self.chance.choice([None, True, False, self.chance.randint(-(1 << 70), 1 << 70), self.chance.randint(-9, 99), self.chance.uniform(-1e6, 1e6),
                                   self.chance.random() * 1e-9, 1e22, "".join(self.chance.choice("ab\n'\"\\\u00e4\u20ac") for _ in range(8)),
                                   bytes(self.chance.randrange(256) for _ in range(6))])

    def value(self):
        few = [self.leaf() for _ in range(self.chance.randint(0, 5))]
        return self.chance.choice([self.leaf(), self.leaf(), few, tuple(few), dict(enumerate(few))])

    def program(self, count):
        lines = [f"    v{i} = {self.value()!r}" for i in range(count)]
        lines += [f"    print('LEAF', 'v{i}', 'repr', repr(v{i}), sep='\\t')" for i in range(count)]
        return "\n".join(["import sys", "from mpi4py import MPI", "", "def hold():", *lines, "    sys.stdout.flush()",
                          "    MPI.COMM_WORLD.Barrier()", "", "hold()", ""]), {f"v{i}": LEAF for i in range(count)}


LANGUAGES = {"c": InC, "cpp": InCpp, "f90": InFortran, "py": InPython}


def program(language, seed, count):
    return LANGUAGES[language](random.Random(seed)).program(count)
