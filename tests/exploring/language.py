# SPDX-License-Identifier: GPL-3.0-or-later
"""The language of small MPI programs that the model enumerates and interpreter.c runs.

A program is a list of ranks, a rank a list of statements, a statement a tuple: its word, then its arguments. As text, these
are words with spaces between them; `rank` begins a rank, braces hold the body of `if`, `else` and `loop`.

Of a rank's state, a program sees: x, s, t (value, source and tag of the last message received; a probe sets s and t), a
(a number that all values received so far are mixed into, so that their order counts), w (index that Waitany or Testany gave, or
how many Waitsome gave; -1: no request was active), f (flag of the last Test, Testany, Iprobe or Improbe). All begin with 0, w with -1.

    send D T C V        MPI_Send of the value V to rank D (s: the last source) with tag T on communicator C (0: MPI_COMM_WORLD, else a
                        duplicate of it)
    ssend D T C V       MPI_Ssend
    isend D T C V Q     MPI_Isend; Q is the slot of its request, issend alike
    recv S T C          MPI_Recv; S a rank, * for any, s for the last source; T a tag, * for any, t for the last one
    irecv S T C Q, precv S T C Q (by a persistent request, which is freed when it is done)
    sendrecv D T V S U C    sends V to D with tag T, receives from S with tag U
    wait Q, waitall Q,Q waitany Q,Q waitsome Q,Q
    testloop Q          MPI_Test until it succeeds
    test Q, testany Q,Q once
    probe S T C, probeloop S T C (MPI_Iprobe until it succeeds), iprobe S T C (once)
    mprobe S T C M, mprobeloop S T C M, improbe S T C M     M is the slot of the message
    mrecv M             nothing if the slot is empty
    barrier C, allreduce C V, bcast C R V, reduce C R V     x becomes the sum of V or, in bcast, that of R; of reduce at R only
    if COND { } else { }    COND: s=N, t=N, w=N, x%2, a%2 (is it odd?), f
    loop N { }
    exit N              the rank calls MPI_Finalize and ends with status N
    abort N             MPI_Abort
    kill N              the rank ends by signal N

V: 0 to 63, or x, a, s.
"""
ANY = "*"
ARGUMENTS = {
    "send": 4, "ssend": 4, "isend": 5, "issend": 5, "recv": 3, "irecv": 4, "precv": 4, "sendrecv": 6,
    "wait": 1, "waitall": 1, "waitany": 1, "waitsome": 1, "testany": 1, "testloop": 1, "test": 1,
    "probe": 3, "probeloop": 3, "iprobe": 3, "mprobe": 4, "mprobeloop": 4, "improbe": 4, "mrecv": 1,
    "barrier": 1, "allreduce": 2, "bcast": 3, "reduce": 3, "exit": 1, "abort": 1, "kill": 1,
}
BLOCKING = -1  # slot of the request of a blocking call


def render(program):
    """The text of a program."""
    return " ".join(word for rank in program for word in ["rank", *_words(rank)])


def _words(statements):
    for statement in statements:
        if statement[0] == "if":
            _, condition, then, otherwise = statement
            yield from ("if", condition, "{", *_words(then), "}")
            if otherwise:
                yield from ("else", "{", *_words(otherwise), "}")
        elif statement[0] == "loop":
            yield from ("loop", str(statement[1]), "{", *_words(statement[2]), "}")
        else:
            yield statement[0]
            for argument in statement[1:]:
                yield ",".join(map(str, argument)) if isinstance(argument, (tuple, list)) else str(argument)


def parse(text):
    """The program that a text is. ValueError: it is none."""
    words = text.split()
    if not words or words[0] != "rank":
        raise ValueError("a program begins with the word 'rank'")
    program, place = [], 0
    while place < len(words):
        if words[place] != "rank":
            raise ValueError(f"'{words[place]}' where a statement was expected (word {place + 1})")
        statements, place = _parse_block(words, place + 1)
        program.append(statements)
    return program


def _parse_block(words, place):
    statements = []
    while place < len(words) and words[place] not in ("}", "rank"):
        word = words[place]
        if word in ("if", "loop"):
            argument = words[place + 1]
            body, place = _parse_body(words, place + 2)
            if word == "loop":
                statements.append(("loop", int(argument), body))
                continue
            otherwise = []
            if place < len(words) and words[place] == "else":
                otherwise, place = _parse_body(words, place + 1)
            statements.append(("if", argument, body, otherwise))
        elif word in ARGUMENTS:
            count = ARGUMENTS[word]
            given = words[place + 1:place + 1 + count]
            if len(given) != count:
                raise ValueError(f"'{word}' needs {count} arguments")
            statements.append((word, *(_argument(word, one) for one in given)))
            place += 1 + count
        else:
            raise ValueError(f"'{word}' is no statement (word {place + 1})")
    return statements, place


def _parse_body(words, place):
    if words[place:place + 1] != ["{"]:
        raise ValueError(f"a brace was expected (word {place + 1})")
    body, place = _parse_block(words, place + 1)
    if words[place:place + 1] != ["}"]:
        raise ValueError("a brace is missing at the end")
    return body, place + 1


def _argument(word, text):
    if word in ("waitall", "waitany", "waitsome", "testany"):
        return tuple(int(one) for one in text.split(","))
    return int(text) if text.isdigit() else text


def flatten(statements):
    """A rank's statements as instructions with jumps; loops are unrolled, blocking calls are made of a start and a wait."""
    code = []
    _flatten(statements, code)
    return code


def _flatten(statements, code):
    for word, *arguments in statements:
        if word == "if":
            condition, then, otherwise = arguments
            branch = len(code)
            code.append(None)
            _flatten(then, code)
            jump = len(code)
            code.append(None)
            code[branch] = ("branch", condition, len(code))
            _flatten(otherwise, code)
            code[jump] = ("jump", len(code))
        elif word == "loop":
            for _ in range(arguments[0]):
                _flatten(arguments[1], code)
        else:
            code.extend(_INSTRUCTIONS[word](*arguments))


_INSTRUCTIONS = {
    "send": lambda d, t, c, v: [("send", d, t, c, v, None)],
    "ssend": lambda d, t, c, v: [("isend", d, t, c, v, BLOCKING, True), ("wait", BLOCKING)],
    "isend": lambda d, t, c, v, q: [("isend", d, t, c, v, q, False)],
    "issend": lambda d, t, c, v, q: [("isend", d, t, c, v, q, True)],
    "recv": lambda s, t, c: [("irecv", s, t, c, BLOCKING), ("wait", BLOCKING)],
    "irecv": lambda s, t, c, q: [("irecv", s, t, c, q)],
    "precv": lambda s, t, c, q: [("irecv", s, t, c, q)],
    "sendrecv": lambda d, t, v, s, u, c: [("irecv", s, u, c, BLOCKING), ("send", d, t, c, v, None), ("wait", BLOCKING)],
    "wait": lambda q: [("wait", q)],
    "testloop": lambda q: [("wait", q)],
    "waitall": lambda q: [("wait", *q)],
    "waitany": lambda q: [("waitany", tuple(q))],
    "waitsome": lambda q: [("waitsome", tuple(q))],
    "testany": lambda q: [("testany", tuple(q))],
    "test": lambda q: [("test", q)],
    "probe": lambda s, t, c: [("probe", s, t, c, None)],
    "probeloop": lambda s, t, c: [("probe", s, t, c, None)],
    "iprobe": lambda s, t, c: [("iprobe", s, t, c, None)],
    "mprobe": lambda s, t, c, m: [("probe", s, t, c, m)],
    "mprobeloop": lambda s, t, c, m: [("probe", s, t, c, m)],
    "improbe": lambda s, t, c, m: [("iprobe", s, t, c, m)],
    "mrecv": lambda m: [("mrecv", m)],
    "barrier": lambda c: [("enter", "barrier", c, None, 0), ("leave", "barrier", c, None)],
    "allreduce": lambda c, v: [("enter", "allreduce", c, None, v), ("leave", "allreduce", c, None)],
    "bcast": lambda c, r, v: [("enter", "bcast", c, r, v), ("leave", "bcast", c, r)],
    "reduce": lambda c, r, v: [("enter", "reduce", c, r, v), ("leave", "reduce", c, r)],
    "exit": lambda n: [("exit", n, None)],
    "abort": lambda n: [("exit", n, "abort")],
    "kill": lambda n: [("exit", n, "signal")],
}
