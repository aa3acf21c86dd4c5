# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands whose answers are texts of any length: photofinish-globals, and those of fortran.py.

GDB/MI has what a console command prints come apart from the command, and cuts the strings of variables. The text of an error comes back
whole, and with its command: these say what they have found as an error of one line that begins with ANSWER, and why they have not as one that
begins with PROBLEM. GDB prints errors as well, which GdbSession keeps from the user by these words."""
ANSWER, PROBLEM = "photofinish answer: ", "photofinish problem: "
MOST_GLOBALS = 1000


class Asked(gdb.Command):
    """A question of Photofinish's own."""

    def __init__(self, name, answer):
        super().__init__(name, gdb.COMMAND_DATA)
        self.answer = answer

    def invoke(self, text, from_tty):
        self.dont_repeat()
        PART.values.clear()
        try:
            said = ANSWER + self.answer(text)
        except Exception as problem:  # GDB's words, or those of a pretty printer
            said = PROBLEM + (str(problem) or type(problem).__name__)
        raise gdb.GdbError(said.replace("\n", "\t").encode("ascii", "backslashreplace").decode())


def is_of_the_system(symbol, file):
    """Of a header that the program has not brought along: <iostream> has a variable in each file."""
    name = symbol.symtab.fullname()
    return name != file and name.startswith("/usr/")


def global_expression(symbol, frame):
    """How the variable is written in the frame, where others may have its name; None: not at all."""
    try:
        address = (symbol.value(frame) if symbol.needs_frame else symbol.value()).address
    except (gdb.error, TypeError):
        return None
    name = symbol.print_name.replace("(anonymous namespace)::", "")
    for text in (name, "'%s'::%s" % (os.path.basename(symbol.symtab.filename), name)):
        with contextlib.suppress(gdb.error):
            if address is not None and gdb.parse_and_eval(text).address == address:
                return text
    return None


def global_variables(_):
    """Of the source file of the selected frame, in its order, with tabs between."""
    frame = gdb.selected_frame()
    symtab = frame.find_sal().symtab
    if symtab is None:
        return ""
    file = symtab.fullname()
    found = [symbol for block in (symtab.global_block(), symtab.static_block()) for symbol in block
             if symbol.is_variable and symbol.line > 0 and not is_of_the_system(symbol, file)]
    found.sort(key=lambda symbol: (symbol.symtab.fullname() != file, symbol.symtab.fullname(), symbol.line))
    texts = [global_expression(symbol, frame) for symbol in found[:MOST_GLOBALS]]
    return "\t".join(text for text in texts if text is not None)


Asked("photofinish-globals", global_variables)
