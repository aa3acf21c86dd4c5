# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths such as a%b(1:3) and p@3@4: what GDB cannot take apart itself, or takes apart wrongly."""
PATH = re.compile(r"\s*([A-Za-z_$][\w$]*(?:\s*::\s*[A-Za-z_~]\w*)*)")
MEMBER = re.compile(r"\s*(?:%|\.|->)\s*([A-Za-z_]\w*)")
INNER = re.compile(r"(?:'[^']*'\s*::\s*)?[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*")  # a variable within an expression of Fortran
WORD = re.compile(r"\$\w*|\d+(?:\.\d*)?(?:[eEdDqQ][-+]?\d+)?(?:_\w+)?|'[^']*'|\"[^\"]*\"")  # that is none
CLOSING = {"(": ")", "[": "]", "{": "}"}


def closing(text, start):
    """The place of the bracket that closes the one at `start`; -1: there is none."""
    stack, quote = [], ""
    for i in range(start, len(text)):
        c = text[i]
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in CLOSING:
            stack.append(CLOSING[c])
        elif c in ")]}":
            if not stack or stack.pop() != c:
                return -1
            if not stack:
                return i
    return -1


def split_at(text, mark):
    """At `mark` outside of brackets and quotes."""
    parts, start, i, quote = [], 0, 0, ""
    while i < len(text):
        c = text[i]
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in CLOSING:
            end = closing(text, i)
            if end < 0:
                return [text]
            i = end
        elif c == mark and not (mark == ":" and text[i:i + 2] == "::" and parts == [] and text[i + 2:i + 3].isalpha()):
            parts.append(text[start:i])
            start = i + 1
        i += 1
    return parts + [text[start:]]


def steps_from(text, at, fortran):
    """What is done to the name before `at`, and where that ends. Both are None where a bracket does not close."""
    steps = []
    while text[at:].strip():
        member = MEMBER.match(text, at)
        bracket = text[at:].lstrip()[:1]
        if member and not (fortran and OPERATOR.match(text, at)):
            steps.append(("member", member.group(1)))
            at = member.end()
        elif bracket == "[" or (bracket == "(" and fortran):
            start = text.index(bracket, at)
            end = closing(text, start)
            if end < 0:
                return None, None
            steps.append(("index", split_at(text[start + 1:end], ",")))
            at = end + 1
        else:
            break
    return steps, at


OPERATOR = re.compile(r"\s*\.\s*[A-Za-z]+\s*\.")  # .eq.


def path_of(text, fortran):
    """'a%b(1:3)' as a name and what is done to it; None: it is another expression. In Fortran the name may be one in brackets."""
    found = PATH.match(text)
    name, at = (found.group(1), found.end()) if found else ("", 0)
    if fortran and text.lstrip()[:1] == "(":
        at = closing(text, text.index("(")) + 1
        name = text[:at].strip()
    if not name:
        return None
    steps, end = steps_from(text, at, fortran)
    return None if steps is None or text[end:].strip() else (name, steps)


def number(text):
    if re.fullmatch(r"\s*[-+]?\d+\s*", text):
        return int(text)
    value = evaluated(text, is_fortran())
    if not isinstance(value, gdb.Value):
        raise Refused("'%s' is no number" % text.strip(), "write a number")
    return int(value)


def in_dimension(dim, text):
    """The first element, and the dimension that is left of it; None: one index."""
    parts = [part.strip() for part in split_at(text, ":")]
    if len(parts) == 1 or "?" in text:
        at, rest = number(text), None
        place = (at - dim.lower) // dim.step
        if (at - dim.lower) % dim.step or place < 0 or (place >= dim.count and not dim.open_end):
            raise Refused("index %d is not one of %s" % (at, bounds_text(dim)), "write one of these")
        return place, rest
    if len(parts) > 3:
        raise Refused("'%s' is no range" % text.strip(), "write FIRST:LAST or FIRST:LAST:STEP, both ends included")
    last = dim.lower + (dim.count - 1) * dim.step
    step = number(parts[2]) if len(parts) == 3 and parts[2] else 1
    if step == 0:
        raise Refused("the step of '%s' is 0" % text.strip(), "write a step that leads on")
    if dim.open_end and not (parts[1] if step > 0 else parts[0]):
        raise Refused(*OPEN_END)
    low = number(parts[0]) if parts[0] else (dim.lower if step > 0 else last)
    high = number(parts[1]) if parts[1] else (last if step > 0 else dim.lower)
    count = max(0, (high - low) // step + 1)
    if dim.step != 1:
        raise Refused("a part of it has been chosen already", "write one range for each dimension")
    for at in ([low, low + (count - 1) * step] if count else []):
        if at < dim.lower or (at >= dim.lower + dim.count and not dim.open_end):
            raise Refused("index %d is not one of %s" % (at, bounds_text(dim)), "write one of these")
    return low - dim.lower, Dimension(low, count, dim.stride * step, step)


def bounds_text(dim):
    if dim.open_end:
        return "%d and above" % dim.lower
    return "%d:%d" % (dim.lower, dim.lower + (dim.count - 1) * dim.step)


def indexed(node, texts, fortran):
    if isinstance(node, gdb.Value):
        node = peeled(node, fortran)
        if not fortran and is_code(node.type, "PTR") and len(texts) == 1:
            return node[number(texts[0])]
        if is_code(node.type, "STRING"):
            return substring(node, texts)
        node = contents(node, fortran)
    if not isinstance(node, Block):
        raise gdb.error("its elements lie apart, and cannot be taken by an index here")
    if len(texts) > len(node.dims) - node.done:
        raise Refused("it has not so many dimensions", "write as many indices as it has")
    if fortran and len(texts) < len(node.dims) - node.done:
        raise Refused("it has %d dimensions" % (len(node.dims) - node.done), "write as many indices, : for all of one")
    address, dims = node.address, [dim.copy() for dim in node.dims]
    kept = dims[:node.done]
    for dim, text in zip(dims[node.done:], texts):
        first, rest = in_dimension(dim, text)
        address += first * dim.stride
        kept += [rest] if rest is not None else []
    done = len(kept)
    kept += dims[node.done + len(texts):]
    if kept:
        return Block(address, kept, node.element, done)
    leaf = node.element
    return Characters(address, leaf.size // leaf.unit, leaf.unit) if isinstance(leaf, Leaf) else value_at(address, leaf)


def substring(value, texts):
    """'name(2:3)' of a CHARACTER."""
    parts = [part.strip() for part in texts[0].split(":")]
    unit = max(1, plain(value.type).target().sizeof)
    length = plain(value.type).sizeof // unit
    if len(texts) != 1 or len(parts) != 2:
        raise Refused("it is one CHARACTER", "write FIRST:LAST for a part of it")
    low, high = number(parts[0]) if parts[0] else 1, number(parts[1]) if parts[1] else length
    if low <= high and (low < 1 or high > length):
        raise Refused("a part of it lies outside of 1:%d" % length, "write one within")
    return Characters(address_of(value) + (low - 1) * unit, max(0, high - low + 1), unit)


def field_of(value, name, fortran):
    """A member, of the structure, of what it points to, or of what it extends."""
    value = peeled(value, fortran)
    if is_code(value.type, "PTR"):
        value = value.dereference()
    kind = plain(value.type)
    if not is_code(kind, "STRUCT", "UNION"):
        raise Refused("it has no members, and no '%s'" % name, "write the name of a member of a structure")
    wanted = name.lower() if fortran else name
    if not fortran or has_field(kind, wanted):
        return member_of(value, wanted) if fortran else value[wanted]
    first = kind.fields()[0] if kind.fields() else None
    if first is not None and is_code(first.type, "STRUCT") and first.name:
        return field_of(value[first.name], name, fortran)
    raise Refused("there is no member '%s'" % name, "write the name of a member of the structure")


def is_deferred(kind):
    return is_code(kind, "PTR") and is_code(plain(kind).target(), "STRING")


def characters(pointer, length):
    """CHARACTER of deferred length; as it is where there is none."""
    unit = max(1, plain(plain(pointer.type).target()).target().sizeof)
    return Characters(int(pointer), int(length), unit) if int(pointer) else pointer


def member_of(value, name):
    """A component, by the length that is in another one if need be."""
    field, length = value[name], "_%s_length" % name
    if not has_field(plain(value.type), length):
        return field
    if is_deferred(field.type):
        return characters(field, value[length])
    found = hidden_member_length(value, name, field)
    return field if found is None else character_block(field, found)


def hidden_member_length(value, name, field):
    hidden = "_%s_length" % name
    empty = is_code(field.type, "STRUCT") and not plain(field.type).fields()
    return int(value[hidden]) if empty and has_field(plain(value.type), hidden) else None


def everywhere(dims, most):
    """Indices of all elements, in row-major order, as offsets in bytes; `most` of them, by whole first dimensions."""
    cut([dims], most)
    return (sum(parts) for parts in itertools.product(*[[i * dim.stride for i in range(dim.read)] for dim in dims]))


def member(node, name, fortran):
    if isinstance(node, gdb.Value):
        value = peeled(node, fortran)
        if not is_code(value.type, "ARRAY") and (known_reader(value.type) is None or has_field(plain(value.type), name)):
            return field_of(value, name, fortran)
        node = contents(value, fortran)
    if not isinstance(node, Block) or not isinstance(node.element, gdb.Type):
        raise Refused("its elements lie apart, or are no structures", "write it without '%s'" % name)
    if any(dim.count == 0 for dim in node.dims):
        raise Refused("it has no elements", "go on to where it has")
    first = value_at(node.address, node.element)
    field = field_of(first, name, fortran)
    if isinstance(field, gdb.Value):
        offset = int(field.address) - node.address
        if 0 <= offset and offset + plain(field.type).sizeof <= plain(node.element).sizeof:
            inner = array_block(field, fortran) if is_code(field.type, "ARRAY") else None
            if inner is None:
                return Block(node.address + offset, node.dims, field.type, len(node.dims))
            return Block(inner.address, node.dims + inner.dims, inner.element, len(node.dims))
    dims = [dim.copy() for dim in node.dims]
    values = [field_of(value_at(node.address + at, node.element), name, fortran) for at in everywhere(dims, MOST_ROWS // 10)]
    return Several(dims, values)


def named(name):
    """A variable. Some names are words of GDB's own grammar, such as `single` in Fortran."""
    if name.startswith("("):
        return evaluated(name[1:-1], True)
    try:
        return gdb.parse_and_eval(name)
    except gdb.error:
        symbol = gdb.lookup_symbol(name.lower() if is_fortran() else name)[0]
        if symbol is None or not symbol.is_variable and not symbol.is_argument:
            raise
        return symbol.value(gdb.selected_frame()) if symbol.needs_frame else symbol.value()


def followed(name, steps, fortran):
    node = named(name)
    length = hidden_length(name, node) if fortran else None
    if length is not None:
        node = explicit_character_block(node, length) if is_code(node.type, "ARRAY") else character_block(node, length)
    elif fortran and isinstance(node, gdb.Value) and is_deferred(node.type):
        length = length_beside(name)
        node = node if length is None else characters(node, length)
    for kind, what in steps:
        node = member(node, what, fortran) if kind == "member" else indexed(node, what, fortran)
    return node


class Part(gdb.Function):
    """$photofinish_part(N): a value in the middle of an expression, where it lies in the program."""

    def __init__(self):
        super().__init__("photofinish_part")
        self.values = []

    def invoke(self, at):
        return self.values[int(at)]

    def text(self, value):
        self.values.append(value)
        return "$photofinish_part(%d)" % (len(self.values) - 1)


PART = Part()


def size_of(thing):
    if not isinstance(thing, Block):
        return thing.count * thing.unit if isinstance(thing, Characters) else thing.type.sizeof
    return product(thing.dims, "count") * (thing.element.size if isinstance(thing.element, Leaf) else thing.element.sizeof)


def is_variable(name):
    try:
        return not is_code(named(name).type, "FUNC") and getattr(gdb, "TYPE_CODE_INTERNAL_FUNCTION", -1) != named(name).type.code
    except gdb.error:
        return False


def in_place(text, at):
    """The variable at `at` with what is done to it, as GDB can take it, and where it ends."""
    name = INNER.match(text, at)
    steps, end = steps_from(text, name.end(), True)
    if not steps:
        return name.group(), name.end()
    if name.group().lower() == "sizeof":
        inner = text.index("(", name.end())
        return str(size_of(evaluated(text[inner + 1:closing(text, inner)], True))), closing(text, inner) + 1
    if not is_variable(name.group()):
        return name.group(), name.end()
    found = followed(name.group(), steps, True)
    if isinstance(found, Several):
        raise Refused("the parts of '%s' lie apart" % text[at:end].strip(), "write one of them")
    return PART.text(found) if isinstance(found, gdb.Value) else text[at:end], end


def for_gdb(text):
    """An expression of Fortran in which GDB need not look for elements of arrays, nor for members of what CLASS has."""
    out, at = "", 0
    while at < len(text):
        found = WORD.match(text, at) if INNER.match(text, at) is None else None
        if found:
            piece, at = found.group(), found.end()
        elif INNER.match(text, at):
            piece, at = in_place(text, at)
        else:
            piece, at = text[at], at + 1
        out += piece
    return out


def evaluated(text, fortran):
    """A path by its steps: GDB takes a member of an array for that of its first element, reads behind the end, and has
    wrong addresses in Fortran's slices, and of elements where a stride is negative. All else is GDB's."""
    path = path_of(text, fortran)
    if path is None:
        return gdb.parse_and_eval(for_gdb(text) if fortran else text)
    if fortran and path[1] and (path[0].lower() == "sizeof" or not path[0].startswith("(") and not is_variable(path[0])):
        return gdb.parse_and_eval(for_gdb(text))
    try:
        return followed(*path, fortran)
    except gdb.error:
        if fortran or not path[1]:
            raise
        return gdb.parse_and_eval(text)  # an operator[], a member of a base


def times(text, fortran):
    """POINTER@COUNT@COUNT"""
    parts = [part.strip() for part in split_at(text, "@")]
    if len(parts) == 1:
        return evaluated(text, fortran)
    base = parts[0][1:] if parts[0].startswith("*") else parts[0]
    counts = [number(part) for part in parts[1:]]
    node = evaluated(base, fortran)
    if isinstance(node, Block):
        node = value_at(node.address, node.element)
    elif not fortran:
        node = peeled(node, False)
    if is_code(node.type, "ARRAY"):
        node = value_at(array_block(node, fortran).address, array_block(node, fortran).element)
    pointer = node if is_code(node.type, "PTR") and not fortran else \
        gdb.Value(address_of(node)).cast(node.type.pointer())
    return counted(pointer, counts, base)


def counted(pointer, counts, what):
    block = counted_block(pointer, counts[0], what)
    if len(counts) == 1:
        return block
    if is_code(block.element, "PTR"):
        dims = block.dims
        rows = [counted(value_at(block.address + at, block.element), counts[1:], what) for at in everywhere(dims, MOST_ROWS // 10)]
        return Several(dims, rows)
    total = 1
    for count in counts:
        total *= count
    counted_block(pointer, total, what)  # refuses what no array has
    size, dims = block.element.sizeof, []
    for count in reversed(counts):
        dims.insert(0, Dimension(0, count, size))
        size *= max(1, count)
    return Block(block.address, dims, block.element)
