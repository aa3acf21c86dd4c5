# SPDX-License-Identifier: GPL-3.0-or-later
"""Elements that lie apart from one another, as rows of several lengths."""
def product(dims, field="read"):
    out = 1
    for dim in dims:
        out *= getattr(dim, field)
    return out


def cut(groups, most):
    """Reads no more than `most` elements: less of the dimensions of the largest stride, or of the first ones."""
    dims = [dim for group in groups for dim in group]
    order = sorted(range(len(dims)), key=lambda i: (-abs(dims[i].stride), i))
    for i in order:
        total = product(dims)
        if total > most:
            dims[i].read = max(1, dims[i].read * most // total)


def inline(block, fortran):
    """With the dimensions of std::array and of arrays within its elements."""
    if any(dim.open_end for dim in block.dims):
        raise Refused(*OPEN_END)
    for _ in range(MOST_DIMENSIONS):
        if not isinstance(block.element, gdb.Type) or not block.dims or product(block.dims, "count") == 0:
            return block
        reader = known_reader(block.element)
        if is_code(block.element, "ARRAY"):
            inner = array_block(value_at(block.address, block.element), fortran)
        elif reader is std_array or (reader is eigen_dense and not is_code(
                value_at(block.address, block.element)["m_storage"]["m_data"].type, "PTR")):
            inner = reader(value_at(block.address, block.element))
        else:
            return block
        block = Block(inner.address, block.dims + inner.dims, inner.element)
    return block


class Row:
    """Elements one behind the other: pieces of memory (address, count, stride) or bytes."""

    def __init__(self, pieces, count):
        self.pieces, self.count = pieces, count


class Nested:
    """Rows in row-major order of all dimensions but the last."""

    def __init__(self, dims, rows, leaf):
        self.dims, self.rows, self.leaf = dims, rows, leaf


def unpacked_bits(found, most):
    count = min(found.count, most)
    memory = bytes(gdb.selected_inferior().read_memory(found.address, (found.first + count + 7) // 8)) if count else b""
    table = [bytes((byte >> bit) & 1 for bit in range(8)) for byte in range(256)]
    text = b"".join(table[byte] for byte in memory)[found.first:found.first + count]
    dim = Dimension(0, found.count, 1)
    dim.read = count
    return Nested([dim], [Row([text], count)], Leaf("bool", 1, "bool"))


def packed(value, leaf):
    """The bytes of a number that lies nowhere: a pretty printer has made it."""
    if leaf.kind == "float" and leaf.size in (4, 8):
        return struct.pack("=f" if leaf.size == 4 else "=d", float(value))
    if leaf.kind in ("signed", "unsigned", "char", "bool") and leaf.size in (1, 2, 4, 8):
        return (int(value) & ((1 << (8 * leaf.size)) - 1)).to_bytes(leaf.size, "little")
    raise Refused("its elements lie nowhere", "look at it in Variables")


def scattered(values, leaf):
    """One row of single values, neighbours together."""
    pieces = []
    for value in values:
        if value.address is None:
            pieces.append(packed(value, leaf))
            continue
        at = int(value.address)
        if pieces and isinstance(pieces[-1], list) and pieces[-1][0] + pieces[-1][1] * leaf.size == at:
            pieces[-1][1] += 1
        else:
            pieces.append([at, 1, leaf.size])
    return Row(pieces, len(values))


def vectors(block, reader):
    """A block for which are_vectors() holds, by its memory and not value by value; None: it is empty."""
    first, last, element = reader.layout(block.element, block.address)
    count = min(block.dims[0].count, MOST_ROWS)
    size, each = plain(element).sizeof, plain(block.element).sizeof
    memory, spans = bytes(reader.memory.read_memory(block.address, count * each)), []
    for at in range(0, count * each, each):
        low, high = struct.unpack_from("=Q", memory, at + first)[0], struct.unpack_from("=Q", memory, at + last)[0]
        if high < low or (high - low) % size or high - low > ADDRESSABLE or (high != low and low == 0):
            raise Refused("it is not initialised: one of its parts ends before it begins", "go on to where it is")
        spans.append((low, (high - low) // size))
    outer = Dimension(0, block.dims[0].count, each)
    outer.read = count
    leaf = reader.leaf(element)
    if leaf is None:
        children = [vectors(Block(low, [Dimension(0, n, size)], element), reader) if n else None for low, n in spans]
        return joined([outer], children)
    widest = max(n for _, n in spans)
    if widest == 0:
        return None
    return Nested([outer, Dimension(0, widest, size)], [Row([[low, n, size]], n) for low, n in spans], leaf)


def are_vectors(block, reader):
    """vectors() can read it: all the way down there are vectors, and single values at last."""
    kind = block.element
    for _ in range(MOST_DIMENSIONS):
        if not isinstance(kind, gdb.Type) or known_reader(kind) is not std_vector:
            return False
        kind = plain(kind).template_argument(0)
        if reader.leaf(kind) is not None:
            return len(block.dims) == 1 and block.dims[0].stride == plain(block.element).sizeof and not is_code(kind, "BOOL")
    return False


def nested_of(thing, fortran, reader):
    """None: it is empty."""
    if isinstance(thing, gdb.Value):
        thing = contents(thing, fortran)
    if isinstance(thing, Bits):
        return unpacked_bits(thing, reader.most_elements)
    if isinstance(thing, Several):
        return nested_values(thing, fortran, reader)
    if not isinstance(thing, Block):
        raise Refused("its elements are no numbers", "")
    block = inline(thing, fortran)
    if product(block.dims, "count") == 0:
        return None
    if are_vectors(block, reader):
        return vectors(block, reader)
    leaf = reader.leaf(block.element)
    if leaf is None:
        dims = [dim.copy() for dim in block.dims]
        values = [value_at(block.address + at, block.element) for at in everywhere(dims, MOST_ROWS // 10)]
        return nested_values(Several(dims, values), fortran, reader)
    outer = [dim.copy() for dim in block.dims[:-1]]
    last = block.dims[-1]
    rows = [Row([[block.address + at, last.count, last.stride]], last.count) for at in everywhere(outer, MOST_ROWS)]
    return Nested(outer + [last.copy()], rows, leaf)


def is_single(value, reader):
    return isinstance(value, gdb.Value) and reader.leaf(value.type) is not None


def nested_values(several, fortran, reader):
    if not all(isinstance(value, (gdb.Value, Block, Several, int, float)) for value in several.values):
        raise Refused("its elements are no numbers", "")
    values = [value if isinstance(value, (gdb.Value, Block, Several)) else gdb.Value(value) for value in several.values]
    reader.note(several.note)
    if not values:
        return None
    if all(is_single(value, reader) for value in values):
        leaf = reader.leaf(values[0].type)
        if not all(leaf.same(reader.leaf(value.type)) for value in values):
            raise Refused("its elements are of several types", "")
        width = several.dims[-1].read
        rows = [scattered(values[i:i + width], leaf) for i in range(0, len(values), width)]
        return Nested(several.dims, rows, leaf)
    with reader.deeper():
        return joined(several.dims, nested_children(several, values, fortran, reader))


def nested_children(several, values, fortran, reader):
    """One after the other, as long as there is time."""
    children = []
    for value in values:
        if reader.late():
            reader.note("%d of %d elements are read, which took long" % (len(children), len(values)))
            for dim in several.dims:
                dim.read = 1
            several.dims[-1].read = len(children)
            if len(several.dims) > 1:
                raise Refused("to read it takes too long", "write a part of it")
            break
        children.append(nested_of(value, fortran, reader))
    return children


def joined(outer, children):
    """Children of different lengths side by side."""
    full = [child for child in children if child is not None]
    if not full:
        return None
    rank, leaf = len(full[0].dims), full[0].leaf
    if any(len(child.dims) != rank or not child.leaf.same(leaf) for child in full):
        raise Refused("its elements are of several types", "")
    inner = []
    for place in range(rank):
        dims = [child.dims[place] for child in full]
        widest = max(dims, key=lambda dim: dim.count)
        dim = widest.copy()
        dim.read = max(each.read for each in dims)
        inner.append(dim)
        if any((each.lower, each.step) != (dim.lower, dim.step) for each in dims):
            raise Refused("its parts have other bounds each", "write one of them")
    if product(outer) * product(inner[:-1]) > MOST_ROWS:
        raise Refused("it has too many rows", "write a part of it")
    rows = []
    for child in children:
        rows += padded(child, inner)
    return Nested(outer + inner, rows, leaf)


def padded(child, dims):
    """The rows of a child among those of the largest."""
    empty = Row([], 0)
    if child is None:
        return [empty] * product(dims[:-1])
    if all(have.read == want.read for have, want in zip(child.dims[:-1], dims[:-1])):
        return child.rows
    rows, at = [], iter(child.rows)
    for index in itertools.product(*[range(dim.read) for dim in dims[:-1]]):
        inside = all(i < have.read for i, have in zip(index, child.dims[:-1]))
        rows.append(next(at) if inside else empty)
    return rows
