# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of Fortran and what is in them, where GDB's variable objects are wrong: GDB 13 has the elements of a section by the bounds of the
whole, those of a negative stride elsewhere, and of an array of derived type the components of its first element.

photofinish-value [/FORMAT] EXPRESSION      its value as a text
photofinish-locals                          variables=[...] of the selected frame, as GDB/MI words them
photofinish-object STEPS EXPRESSION         a variable object; STEPS lead from the expression to a part, as 2.0.1; -: to itself
photofinish-parts FROM COUNT FORMAT STEPS EXPRESSION     children=[...] of it; FORMAT may be -
photofinish-path STEPS EXPRESSION           the expression of a part
photofinish-assign STEPS LENGTH EXPRESSION VALUE         LENGTH: of the expression
photofinish-watchable EXPRESSION            nothing, where GDB's watchpoints have it where it lies

In a frame of another language all refuse with ANOTHER, but for formats of values."""
ANOTHER = "this frame is of another language"
MOST_WORDS = 200  # elements in a text
MOST_DEPTH = 8
REPEATS = 10
BY_NAME = re.compile(r"[A-Za-z]\w*(::\w+)*")  # what the compiler has made begins with _ or has a dot


class NoValue:
    """What has a type, and a text in place of a value."""

    def __init__(self, text):
        self.text = "<%s>" % text.strip("<>")


def shaped(value):
    """The elements of an array."""
    if address_of(value) == 0:
        return NoValue(value.format_string())  # <not allocated>
    block = array_block(value, True)
    if any(dim.open_end for dim in block.dims):
        return NoValue("the debugging information does not say where it ends: look at it in the frame that has called")
    return block


def is_text_of_one(kind):
    """CHARACTER(*) is an array for GDB."""
    return is_code(plain(kind).target(), "CHAR")


def settled(thing):
    """Without references, and arrays by their elements."""
    try:
        while isinstance(thing, gdb.Value) and is_code(thing.type, "REF", "RVALUE_REF"):
            thing = thing.referenced_value()
        if is_structure(thing) and not is_named(thing.type):
            return NoValue("GDB knows no type of it")
        return shaped(thing) if isinstance(thing, gdb.Value) and is_code(thing.type, "ARRAY") and not is_text_of_one(thing.type) else thing
    except Refused as why:
        return NoValue(str(why))
    except Exception as problem:
        return NoValue("error: %s" % problem)


def members_of(kind):
    return [field.name for field in plain(kind).fields() if field.name and not re.fullmatch(r"_\w+_length", field.name)]


def is_structure(thing):
    return isinstance(thing, gdb.Value) and is_code(thing.type, "STRUCT", "UNION")


def is_named(kind):
    """GDB 13 ends by itself when it words the type of what gfortran leaves without one."""
    while is_code(kind, "ARRAY", "PTR", "REF"):
        kind = plain(kind).target()
    return not is_code(kind, "STRUCT", "UNION") or plain(kind).name is not None


def type_words(thing):
    if isinstance(thing, gdb.Value):
        return str(thing.type.unqualified()) if is_named(thing.type) else "CHARACTER array"
    if isinstance(thing, Characters):
        return "character(len=%d)" % thing.count
    if isinstance(thing, (Block, Several)):
        bounds = ["%d" % dim.count if (dim.lower, dim.step) == (1, 1) else "%d:%d" % (dim.lower, dim.lower + (dim.count - 1) * dim.step)
                  for dim in thing.dims]
        element = "" if isinstance(thing, Several) else thing.element.name if isinstance(thing.element, Leaf) else \
            str(thing.element.unqualified()) if is_named(thing.element) else "CHARACTER"
        return "%s (%s)" % (element, ",".join(bounds))
    return ""


def single_words(value, form):
    try:
        how = {} if form in ("", "-") else {"format": form}
        return " ".join(value.format_string(**how).split("\n"))
    except Exception as problem:
        return "<error: %s>" % problem


def element_of(block, address, dims):
    if dims:
        return Block(address, dims, block.element, min(block.done, len(dims)))
    if isinstance(block.element, Leaf):
        return Characters(address, block.element.size // block.element.unit, block.element.unit)
    return value_at(address, block.element)


class Node:
    """A value, by the expression `base` with the indices `fixed` behind it; base None: it has none. `raw`: as GDB has it."""

    def __init__(self, label, thing, base, fixed=()):
        self.label, self.raw, self.thing, self.base, self.fixed = label, thing, settled(thing), base, list(fixed)

    def path(self):
        if self.base is None or not self.fixed:
            return self.base
        free = [":"] * len(self.thing.dims) if isinstance(self.thing, Block) else []
        return "%s(%s)" % (self.base, ",".join(free + self.fixed))

    def within(self, text):
        path = self.path()
        return None if path is None else text % path

    def inside(self):
        """What its parts are of: a pointer has those of the structure that it leads to."""
        value = self.thing
        if not isinstance(value, gdb.Value) or not is_code(value.type, "PTR"):
            return value
        target = plain(value.type).target()
        if int(value) == 0 or not is_named(target) or is_code(target, "VOID", "FUNC", "STRING"):
            return None
        return value.dereference() if is_structure(value.dereference()) else value

    def count(self):
        inside = self.inside()
        if isinstance(inside, Block):
            return inside.dims[-1].count
        if isinstance(inside, Several):
            return len(inside.values) if len(inside.dims) == 1 else 0
        if not isinstance(inside, gdb.Value):
            return 0
        return len(members_of(inside.type)) if is_structure(inside) else int(is_code(inside.type, "PTR"))

    def part(self, at):
        inside = self.inside()
        if isinstance(inside, Block):
            dim, dims = inside.dims[-1], inside.dims[:-1]
            index = str(dim.lower + at * dim.step)
            return Node(index, element_of(inside, inside.address + at * dim.stride, dims), self.base, [index, *self.fixed])
        if isinstance(inside, Several):
            return Node(str(inside.dims[0].lower + at * inside.dims[0].step), inside.values[at], None)
        if is_structure(inside):
            name = members_of(inside.type)[at]
            return Node(name, member_of(inside, name), self.within("%s%%" + name))
        return Node("*" + self.label, inside.dereference(), self.within("*%s"))

    def value(self, form=""):
        """In a few words."""
        if isinstance(self.thing, NoValue):
            return self.thing.text
        if isinstance(self.thing, Characters):
            return self.thing.text()
        if is_structure(self.thing):
            return "{...}"
        return single_words(self.thing, form) if isinstance(self.thing, gdb.Value) else "[%d]" % self.thing.dims[-1].count


class Words:
    """A value as one text, as GDB words it, with at most MOST_WORDS elements."""

    def __init__(self, form):
        self.form, self.left = form, MOST_WORDS

    def of(self, node, depth=0):
        if isinstance(node.thing, (Block, Several)) and len(node.thing.dims) and (isinstance(node.thing, Block) or node.count()):
            return self.elements(node, depth) if depth < MOST_DEPTH + MOST_DIMENSIONS else "(...)"
        if not is_structure(node.thing):
            self.left -= 1
            return node.value(self.form)
        if depth > MOST_DEPTH:
            return "( ... )"
        parts = [node.part(at) for at in range(node.count())]
        return "( %s )" % ", ".join("%s = %s" % (part.label, self.of(part, depth + 1)) for part in parts)

    def elements(self, node, depth):
        texts, count = [], node.count()
        if isinstance(node.thing, Block) and any(dim.count == 0 for dim in node.thing.dims):
            return "()"
        for at in range(count):
            if self.left <= 0:
                texts.append("...")
                break
            part = node.part(at)
            texts.append(self.of(part, depth + 1))
        inner = isinstance(node.thing, Block) and len(node.thing.dims) > 1
        return "(%s)" % (" " if inner else ", ").join(texts if inner else self.shortened(texts))

    @staticmethod
    def shortened(texts):
        out = []
        for text, same in itertools.groupby(texts):
            many = len(list(same))
            out += [text] * many if many <= REPEATS else ["%s, <repeats %d times>" % (text, many)]
        return out


def root(text):
    """Of an expression."""
    text = text.strip()
    path, thing = path_of(text, True), evaluated(text, True)
    base = None if isinstance(thing, Several) or (isinstance(thing, Block) and thing.done) else text if path else "(%s)" % text
    return Node(text, thing, base)


def reached(steps, text):
    node = root(text)
    for step in [] if steps == "-" else steps.split("."):
        if int(step) >= node.count():
            raise Refused("'%s' has no such part any more" % text)
        node = node.part(int(step))
    return node


def mi(text):
    """A text of GDB/MI."""
    out = "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else "\\%03o" % byte for byte in text.encode("utf-8", "surrogateescape"))
    return '"%s"' % out


def tuple_of(**fields):
    return ",".join("%s=%s" % (name.replace("_", "-") if name != "has_more" else name, mi(str(value))) for name, value in fields.items())


def object_of(node, form):
    try:
        count = min(node.count(), 1 << 30)
        return tuple_of(exp=node.label, numchild=count, value=node.value(form), type=type_words(node.thing) or type_words(node.raw))
    except Exception as problem:  # of memory that nobody has set up yet
        return tuple_of(exp=node.label, numchild=0, value="<error: %s>" % problem)


def part_of(node, at, form):
    try:
        return object_of(node.part(at), form)
    except Exception as problem:
        return tuple_of(exp=str(at + 1), numchild=0, value="<error: %s>" % problem)


def fortran_only(answer):
    def asked(text):
        if not is_fortran():
            raise Refused(ANOTHER)
        return answer(text)
    return asked


def value_answer(text):
    asked = re.fullmatch(r"\s*/([a-z])\s+(.+)", text, re.DOTALL)
    if is_fortran():
        return Words(asked.group(1) if asked else "").of(root(asked.group(2) if asked else text))
    if not asked:
        raise Refused(ANOTHER)
    return gdb.parse_and_eval(asked.group(2)).format_string(format=asked.group(1), max_elements=200)


def object_answer(text):
    steps, expression = text.split(" ", 1)
    return object_of(reached(steps, expression), "")


def parts_answer(text):
    begin, count, form, steps, expression = text.split(" ", 4)
    node = reached(steps, expression)
    total = node.count()
    end = min(total, int(begin) + int(count))
    children = ["child={%s}" % part_of(node, at, form) for at in range(int(begin), end)]
    return 'children=[%s],has_more="%d"' % (",".join(children), end < total)


def path_answer(text):
    steps, expression = text.split(" ", 1)
    return reached(steps, expression).path() or ""


def assign_answer(text):
    steps, length, rest = text.split(" ", 2)
    node = reached(steps, rest[:int(length)])
    if isinstance(node.thing, Characters):
        raise Refused("GDB cannot change a CHARACTER whose type does not say how long it is")
    if not isinstance(node.thing, gdb.Value) or is_structure(node.thing) or node.thing.address is None:
        raise Refused("it cannot be changed as a whole: open it, and change its parts")
    return single_words(gdb.parse_and_eval("%s = %s" % (PART.text(node.thing), for_gdb(rest[int(length):].strip()))), "")


def watchable_answer(text):
    own, gdbs = evaluated(text, True), gdb.parse_and_eval(text)
    there = own.address if isinstance(own, (gdb.Value, Characters)) else None
    if isinstance(own, (Block, Several)) or (there is not None and gdbs.address is not None and int(there) != int(gdbs.address)):
        raise Refused("GDB cannot watch '%s': it would watch another place, as elements of its array may lie apart" % text)
    return ""


def visible_symbols():
    """Of the selected frame, as far as its function. Of those with one name the innermost."""
    try:
        block, seen = gdb.selected_frame().block(), set()
    except RuntimeError:  # of code without debugging information, where GDB keeps the language of before
        return
    while block is not None:
        for symbol in block:
            if (symbol.is_variable or symbol.is_argument) and BY_NAME.fullmatch(symbol.name) and symbol.name not in seen:
                seen.add(symbol.name)
                yield symbol
        if block.function is not None:
            return
        block = block.superblock


def local_of(symbol):
    """What has parts is asked for by its name later."""
    more = {"arg": 1} if symbol.is_argument else {}
    try:
        node = root(symbol.name)
        if not node.count():
            more["value"] = node.value()
        return tuple_of(name=symbol.name, type=type_words(node.thing) or type_words(node.raw), **more)
    except Exception as problem:
        return tuple_of(name=symbol.name, value="<error: %s>" % problem, **more)


def locals_answer(_):
    return "variables=[%s]" % ",".join("{%s}" % local_of(symbol) for symbol in visible_symbols())


Asked("photofinish-value", value_answer)
for command, answer in (("locals", locals_answer), ("object", object_answer), ("parts", parts_answer), ("path", path_answer),
                        ("assign", assign_answer), ("watchable", watchable_answer)):
    Asked("photofinish-" + command, fortran_only(answer))
