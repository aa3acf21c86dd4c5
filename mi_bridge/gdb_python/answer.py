# SPDX-License-Identifier: GPL-3.0-or-later
"""What gdb.photofinish_array(expression, directory, most_elements, most_bytes) says: mi_bridge/array_query.h describes it."""
def text_of(value):
    text = value.format_string(max_elements=20, max_depth=3) if isinstance(value, gdb.Value) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + " ..."


def texts(dims, values):
    """Elements that are no numbers, in GDB's words; of more than MOST_TEXTS the first rows."""
    out, end = [], time.monotonic() + SECONDS
    for value in values:
        if len(out) >= MOST_TEXTS or time.monotonic() > end:
            break
        out.append(text_of(value))
    inner = product(dims[1:])
    dims[0].read = min(dims[0].read, len(out) // max(1, inner))
    if dims[0].read == 0:
        raise Refused("one row of it takes too long to read", "write a part of it")
    return out[:dims[0].read * inner]


def fields_text(kind):
    names = [field.name for field in plain(kind).fields() if field.name and not field.name.startswith("_")][:6]
    return ", ".join(names)


def is_text(kind):
    return plain(plain(kind).target()).name in ("char", "wchar_t", "char16_t", "char32_t")


def is_empty_struct(kind):
    return is_code(kind, "STRUCT") and not plain(kind).fields()


def answer_of(expression, reader):
    fortran = reader.fortran
    node = times(expression, fortran)
    if isinstance(node, gdb.Value):
        value = peeled(node, fortran)
        node = contents(value, fortran)
        if node is None:
            raise single(expression, value, fortran)
    if isinstance(node, Characters):
        raise Refused("'%s' is no array: it is a single value" % expression, "look at it in Variables")
    if isinstance(node, Block):
        node = inline(node, fortran)
        if product(node.dims, "count") == 0:
            raise Refused("it has no elements", "go on to where it has")
        leaf = reader.leaf(node.element)
        if leaf is not None and leaf.kind == "pointer" and not fortran and is_text(node.element):
            return described_texts(node, reader)
        if leaf is not None:
            offset = reader.block(node, leaf)
            return described(leaf, node.dims, {"offset": offset}, reader)
    try:
        nested = nested_of(node, fortran, reader)
        if nested is None:
            raise Refused("it has no elements", "go on to where it has")
    except Refused as refused:
        if refused.advice:
            raise
        return described_texts(node, reader)
    reader.rows(nested)
    return described(nested.leaf, nested.dims, {"rows": product(nested.dims[:-1])}, reader)


def single(expression, value, fortran):
    if is_code(value.type, "PTR"):
        return Refused("%s is a pointer: say how many elements, for example %s@100" % (expression, expression), "")
    if fortran and is_empty_struct(value.type):
        return Refused("GDB knows no type of it", "look at it in the frame that has called")
    return Refused("'%s' is no array: it is a single value" % expression,
                   "write an array, POINTER@COUNT or a container; single values are in Variables")


def described(leaf, dims, more, reader):
    found = {"kind": leaf.kind, "size": leaf.size, "unit": leaf.unit, "type": leaf.name, "quad": leaf.quad,
             "fortran": reader.fortran, "dims": [[dim.lower, dim.step, dim.count, dim.read, dim.stride] for dim in dims],
             "note": "; ".join(reader.notes)}
    found.update(more)
    return found


def described_texts(node, reader):
    if isinstance(node, Block):
        dims = [dim.copy() for dim in node.dims]
        names = fields_text(node.element) if is_code(node.element, "STRUCT", "UNION") else ""
        if names:
            reader.note("members have tables and plots of their own: " + names)
        ask = (value_at(node.address + at, node.element) for at in everywhere(dims, MOST_ROWS))
        name = name_of(node.element)
    else:
        dims, ask, name = node.dims, iter(node.values), "value"
        reader.note(node.note)
    found = texts(dims, ask)
    more = {"texts": found}
    return described(Leaf("words", 0, name or "structure"), dims, more, reader)


def is_fortran():
    return "fortran" in gdb.execute("show language", to_string=True).lower()


def array(expression, directory, most_elements, most_bytes):
    PART.values.clear()
    try:
        answer = answer_of(expression, Reader(directory, most_elements, most_bytes, is_fortran()))
    except OSError as problem:  # no room for it: that can be said
        os.truncate(os.path.join(directory, "bytes"), 0)
        answer = {"error": "the array cannot be written: %s" % problem, "advice": "set TMPDIR to a place with more room"}
    except Refused as refused:
        why = str(refused)
        answer = {"error": "%s: %s" % (expression, why) if why.startswith("it") else why, "advice": refused.advice}
    except Exception as problem:  # GDB's words, or those of a pretty printer
        answer = {"error": " ".join(str(problem).split())[:1000] or type(problem).__name__, "advice": ""}
    with open(os.path.join(directory, "answer"), "w", encoding="utf-8", errors="replace") as file:
        json.dump(answer, file)


gdb.photofinish_array = array
