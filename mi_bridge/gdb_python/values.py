# SPDX-License-Identifier: GPL-3.0-or-later
"""Where values lie, arrays by their types, and CHARACTER arrays whose type gfortran leaves out."""
def value_at(address, kind):
    return gdb.Value(address).cast(kind.pointer()).dereference()


def address_of(value):
    """Of what lies in memory; only as a number, see name_of()."""
    address = value.address
    if address is None:
        if value.is_optimized_out:
            raise Refused("the compiler has left it out here", "look at it in another frame, or compile with -O0")
        raise Refused("it does not lie in memory", "look at it in Variables")
    return int(address)


def peeled(value, fortran):
    """Without references, and in Fortran without pointers, and from a CLASS to its data."""
    for _ in range(8):
        kind = plain(value.type)
        if is_code(kind, "REF", "RVALUE_REF"):
            value = value.referenced_value()
        elif fortran and is_code(kind, "PTR") and not is_code(kind.target(), "VOID", "FUNC"):
            if int(value) == 0:
                raise Refused("it is not allocated, or not associated", "go on to where it is")
            value = value.dereference()
        elif fortran and is_code(kind, "STRUCT") and has_field(kind, "_vptr") and has_field(kind, "_data"):
            value = value["_data"]
        else:
            break
    return value


def has_field(kind, name):
    return any(field.name == name for field in kind.fields())


def array_block(value, fortran):
    """Of nested array types. GDB has the first dimension of Fortran innermost, and gives the lowest address where strides
    are negative. The element's type is the declared one: what GDB makes of it holds for one element."""
    address, dims, step, kind = address_of(value), [], value, plain(value.type)
    if fortran and is_empty(kind):
        return empty_block(kind, dims, fortran)
    while is_code(kind, "ARRAY") and len(dims) < MOST_DIMENSIONS:
        lower, upper = kind.range()
        count, element = upper - lower + 1, kind.target()
        if count > ADDRESSABLE:
            raise Refused("no array has %d elements" % count, "it may not have been set up here")
        open_end = count <= 1 and has_open_end(kind)
        if count < 1 and not open_end:
            return empty_block(kind, dims, fortran)
        if open_end:
            dims.append(Dimension(lower, 0, plain(element).sizeof, open_end=True))
            step = value_at(address, element)
        else:
            stride = int(step[lower + 1].address) - int(step[lower].address) if count > 1 else plain(element).sizeof
            dims.append(Dimension(lower, count, stride))
            step = step[lower]
        kind = plain(step.type)
    if address == 0:
        raise Refused("it is not allocated, or not associated", "go on to where it is")
    lowest = address
    for dim in dims:
        if dim.stride < 0:
            lowest -= dim.stride * (dim.count - 1)
    return Block(lowest, dims[::-1] if fortran else dims, element)


def is_empty(kind):
    """Whether a dimension has no element: GDB takes none of the others then."""
    while is_code(kind, "ARRAY"):
        lower, upper = kind.range()
        if upper < lower and not has_open_end(kind):
            return True
        kind = plain(kind.target())
    return False


def has_open_end(kind):
    """REAL A(*), double a[]: where it ends is not known."""
    inner = kind
    while is_code(inner, "ARRAY"):
        inner = plain(inner.target())
    return inner.name is not None and re.search(r"\*\)$|\[\]", str(kind)) is not None


def empty_block(kind, dims, fortran):
    while is_code(kind, "ARRAY"):
        try:
            lower, upper = kind.range()
        except (gdb.error, RuntimeError):
            lower, upper = 1, 0
        if upper - lower >= ADDRESSABLE:
            raise Refused("no array has %d elements" % (upper - lower + 1), "it may not have been set up here")
        dims.append(Dimension(lower, upper - lower + 1, 0))
        kind = plain(kind.target())
    return Block(1, dims[::-1] if fortran else dims, kind)


def counted_block(pointer, count, what):
    """What begins at a pointer."""
    element = plain(pointer.type).target()
    if is_code(element, "VOID", "FUNC") or element.sizeof == 0:
        raise Refused("what %s points to has no size" % what, "cast it, for example (double*)%s" % what)
    if count < 0 or count * element.sizeof > ADDRESSABLE:
        raise Refused("no array has %d elements" % count, "write POINTER@COUNT with a count that is set here")
    return Block(int(pointer), [Dimension(0, count, element.sizeof)], element)


def hidden_length(name, value):
    """The length that gfortran keeps beside a CHARACTER of no known one."""
    if (is_code(value.type, "STRUCT") and not value.type.fields()) or has_no_length(value.type):
        return length_beside(name)
    return None


def length_beside(name):
    """That of a dummy (_name), of one of deferred length (.name), or of that in a module."""
    frame, own = gdb.selected_frame(), gdb.lookup_symbol(name.lower())[0]
    linked = own.linkage_name if own is not None else ""
    for hidden in ("_F." + linked[2:] if linked.startswith("__") else "", "." + name.lower(), "_" + name.lower()):
        symbol = gdb.lookup_symbol(hidden)[0] if hidden else None
        if symbol is not None:
            length = symbol.value(frame) if symbol.needs_frame else symbol.value()
            return int(length.dereference() if is_code(length.type, "PTR") else length)
    return None


def has_no_length(kind):
    """CHARACTER(*) D(3): GDB has no length of its elements."""
    while is_code(kind, "ARRAY"):
        kind = plain(kind).target()
        if is_code(kind, "STRING"):
            return plain(kind).sizeof == 0
    return False


def explicit_character_block(value, length):
    """One element behind the other."""
    kind, dims = plain(value.type), []
    while is_code(kind, "ARRAY"):
        lower, upper = kind.range()
        dims.insert(0, Dimension(lower, upper - lower + 1, 0, open_end=upper < lower and has_open_end(kind)))
        kind = plain(kind.target())
    unit = max(1, plain(kind.target()).sizeof)
    size = length * unit
    for dim in dims:
        dim.stride = size
        size *= dim.count
    return Block(address_of(value), dims, Leaf("text", length * unit, "character(len=%d)" % length, unit=unit))


def character_block(value, length):
    """By gfortran's array descriptor: base, offset, element length, rank, type, span; stride and bounds of each dimension."""
    address, memory = address_of(value), gdb.selected_inferior()
    base, _, element, _, rank, kind, _, span = struct.unpack("=QqQiBbhq", bytes(memory.read_memory(address, 40)))
    if not 1 <= rank <= MOST_DIMENSIONS or kind != 6 or length < 0 or element not in (length, 4 * length):
        raise Refused("GDB knows no type of it", "look at one element in the frame that has called")
    if base == 0:
        raise Refused("it is not allocated, or not associated", "go on to where it is")
    dims = []
    for stride, lower, upper in struct.iter_unpack("=qqq", bytes(memory.read_memory(address + 40, 24 * rank))):
        dims.append(Dimension(lower, upper - lower + 1, stride * (span or element)))
        if dims[-1].count > ADDRESSABLE:
            raise Refused("no array has %d elements" % dims[-1].count, "it may not have been set up here")
    unit = element // length if length else 1
    return Block(base, dims, Leaf("text", element, "character(len=%d)" % length, unit=unit))
