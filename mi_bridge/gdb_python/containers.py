# SPDX-License-Identifier: GPL-3.0-or-later
"""Containers of which the layout is known, and those that a pretty printer takes apart."""
class Bits:
    """std::vector<bool>"""

    def __init__(self, address, first, count):
        self.address, self.first, self.count = address, first, count


def between(begin, end):
    """Elements from one pointer to another; an uninitialised vector has anything there."""
    size = plain(begin.type).target().sizeof
    low, high = int(begin), int(end)
    if high < low or size == 0 or (high - low) % size or (high != low and low == 0):
        raise Refused("it is not initialised: it ends before it begins, or within an element", "go on to where it is")
    return counted_block(begin, (high - low) // size, "it")


def bits(impl):
    begin, end = impl["_M_start"], impl["_M_finish"]
    count = (int(end["_M_p"]) - int(begin["_M_p"])) * 8 + int(end["_M_offset"]) - int(begin["_M_offset"])
    if count < 0 or count > ADDRESSABLE:
        raise Refused("it is not initialised: it ends before it begins", "go on to where it is")
    return Bits(int(begin["_M_p"]), int(begin["_M_offset"]), count)


def std_vector(value):
    if has_field(plain(value.type), "__begin_"):
        return between(value["__begin_"], value["__end_"])
    impl = value["_M_impl"]
    return bits(impl) if is_code(impl["_M_start"].type, "STRUCT") else between(impl["_M_start"], impl["_M_finish"])


def vector_layout(value):
    """Where in a std::vector, not one of bits, the pointers to its first element and behind its last one lie; its elements."""
    libcpp = has_field(plain(value.type), "__begin_")
    begin, end = (value["__begin_"], value["__end_"]) if libcpp else (value["_M_impl"]["_M_start"], value["_M_impl"]["_M_finish"])
    base = address_of(value)
    return address_of(begin) - base, address_of(end) - base, plain(begin.type).target()


def std_array(value):
    elements = value["__elems_" if has_field(plain(value.type), "__elems_") else "_M_elems"]
    if not is_code(elements.type, "ARRAY"):  # std::array<T, 0>
        return Block(1, [Dimension(0, 0, 0)], plain(value.type).template_argument(0))
    return array_block(elements, False)


def std_valarray(value):
    return counted_block(value["_M_data"], int(value["_M_size"]), "it")


def std_span(value):
    extent = plain(value.type).template_argument(1)
    count = int(value["_M_extent"]["_M_extent_value"]) if int(extent) in (-1, (1 << 64) - 1) else int(extent)
    return counted_block(value["_M_ptr"], count, "it")


def eigen_dense(value):
    """Eigen::Matrix and Eigen::Array: of a fixed or a variable size, by columns or by rows."""
    kind = plain(value.type)
    rows, columns, options = (int(kind.template_argument(i)) for i in (1, 2, 3))
    storage = value["m_storage"]
    rows = int(storage["m_rows"]) if rows < 0 else rows
    columns = int(storage["m_cols"]) if columns < 0 else columns
    data = storage["m_data"]
    element = kind.template_argument(0)
    address = int(data) if is_code(data.type, "PTR") else address_of(data["array"])
    if min(rows, columns) < 0 or rows * columns * element.sizeof > ADDRESSABLE:
        raise Refused("it is not initialised: it says %d times %d" % (rows, columns), "go on to where it is")
    by_rows = options & 1
    size = element.sizeof
    dims = [Dimension(0, rows, columns * size if by_rows else size), Dimension(0, columns, size if by_rows else rows * size)]
    fixed = [int(kind.template_argument(i)) for i in (1, 2)]
    return Block(address if rows * columns else 1, dims[:1] if fixed[1] == 1 else dims[1:] if fixed[0] == 1 else dims, element)


KNOWN = [(re.compile(pattern), reader) for pattern, reader in (
    (r"std::(__\w+::)?vector<", std_vector), (r"std::(__\w+::)?array<", std_array), (r"std::valarray<", std_valarray),
    (r"std::(__\w+::)?span<", std_span), (r"Eigen::(Matrix|Array)<", eigen_dense))]


def known_reader(kind):
    name = plain(kind).name or ""
    return next((reader for pattern, reader in KNOWN if pattern.match(name)), None) if is_code(kind, "STRUCT") else None


def contents(value, fortran):
    """A Block, Bits, or Several; None: it is a single value, or a structure."""
    value = peeled(value, fortran)
    if is_code(value.type, "ARRAY"):
        return array_block(value, fortran)
    if is_code(value.type, "STRING"):
        return None
    reader = known_reader(value.type)
    if reader is not None:
        return reader(value)
    return printed(value) if is_code(value.type, "STRUCT", "UNION") and leaf_of(value.type) is None else None


def printed(value):
    """The children that a pretty printer names."""
    printer = gdb.default_visualizer(value)
    if printer is None or not hasattr(printer, "children"):
        return None
    hint = printer.display_hint() if hasattr(printer, "display_hint") else None
    if hint == "string":
        return None
    end, children, note = time.monotonic() + SECONDS, [], ""
    for _, child in printer.children():
        if len(children) >= MOST_CHILDREN or time.monotonic() > end:
            note = "its pretty printer has named %d elements, and was not asked for more" % len(children)
            break
        children.append(child)
    if hint == "map":
        return Several([Dimension(0, len(children) // 2, 0), Dimension(0, 2, 0)], children[:len(children) // 2 * 2], note)
    return Several([Dimension(0, len(children), 0)], children, note)
