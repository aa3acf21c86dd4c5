# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths such as a%b(1:3) and p@3@4: what GDB cannot take apart itself, or takes apart wrongly."""
PATH = re.compile(r"\s*([A-Za-z_$][\w$]*(?:\s*::\s*[A-Za-z_~]\w*)*)")
MEMBER = re.compile(r"\s*(?:%|\.|->)\s*([A-Za-z_]\w*)")
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


def path_of(text, fortran):
    """'a%b(1:3)' as a name and what is done to it; None: it is another expression."""
    found = PATH.match(text)
    if not found:
        return None
    name, at, steps = found.group(1), found.end(), []
    while text[at:].strip():
        member = MEMBER.match(text, at)
        bracket = text[at:].lstrip()[:1]
        if member:
            steps.append(("member", member.group(1)))
            at = member.end()
        elif bracket == "[" or (bracket == "(" and fortran):
            start = text.index(bracket, at)
            end = closing(text, start)
            if end < 0:
                return None
            steps.append(("index", split_at(text[start + 1:end], ",")))
            at = end + 1
        else:
            return None
    return name, steps


def number(text):
    return int(gdb.parse_and_eval(text))


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
            raise Refused("a part of a CHARACTER is not taken here", "look at it in Variables")
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
    return value_at(address, node.element) if not kept and isinstance(node.element, gdb.Type) else \
        Block(address, kept, node.element, done)


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
        field = value[wanted]
        length = hidden_member_length(value, wanted, field) if fortran else None
        return field if length is None else character_block(field, length)
    first = kind.fields()[0] if kind.fields() else None
    if first is not None and is_code(first.type, "STRUCT") and first.name:
        return field_of(value[first.name], name, fortran)
    raise Refused("there is no member '%s'" % name, "write the name of a member of the structure")


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
    for kind, what in steps:
        node = member(node, what, fortran) if kind == "member" else indexed(node, what, fortran)
    return node


def evaluated(text, fortran):
    """A path by its steps: GDB takes a member of an array for that of its first element, reads behind the end, and has
    wrong addresses in Fortran's slices. All else is GDB's."""
    path = path_of(text, fortran)
    if path is None:
        return gdb.parse_and_eval(text)
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
