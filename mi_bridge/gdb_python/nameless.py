# SPDX-License-Identifier: GPL-3.0-or-later
"""gdb.photofinish_unnamed(expression): what GDB itself must not be asked for."""
def leads_to_unnamed(kind, seen):
    """GDB 13 ends by itself when it words the type of what gfortran leaves without one: CHARACTER arrays of deferred length,
    or of that of a dummy argument."""
    kind = plain(kind)
    if is_code(kind, "ARRAY", "PTR", "REF"):
        return leads_to_unnamed(kind.target(), seen)
    if not is_code(kind, "STRUCT", "UNION"):
        return False
    name = kind.name or kind.tag
    if name is None or name in seen:
        return name is None
    seen.add(name)
    return any(leads_to_unnamed(field.type, seen) for field in kind.fields())


def visible_symbols():
    """Of the selected frame, as far as its function."""
    block = gdb.selected_frame().block()
    while block is not None:
        for symbol in block:
            if symbol.is_variable or symbol.is_argument:
                yield symbol
        if block.function is not None:
            return
        block = block.superblock


def unnamed(expression):
    """Sets $photofinish_unnamed: in a frame of Fortran to the names of variables that GDB must not be asked the type of, or to
    the expression, if it is one of them, or has one inside; else to 0."""
    found = []
    try:
        if is_fortran() and expression:
            path = path_of(expression, True)
            kind = named(path[0]).type if path is not None and not path[1] else gdb.parse_and_eval(expression).type
            found = [expression] if leads_to_unnamed(kind, set()) else []
        elif is_fortran():
            found = [symbol.name for symbol in visible_symbols() if plain(symbol.type).name is None and is_code(symbol.type, "STRUCT")]
    except (gdb.error, RuntimeError):  # GDB says it better
        pass
    gdb.set_convenience_variable("photofinish_unnamed", ",".join(found)[:190] if found else 0)


gdb.photofinish_array = array
gdb.photofinish_unnamed = unnamed
