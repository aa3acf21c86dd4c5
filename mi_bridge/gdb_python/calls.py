# SPDX-License-Identifier: GPL-3.0-or-later
"""gdb.photofinish_mpi_call(): the MPI call that a thread stands in, with the arguments that can be read.

MPI libraries come without debugging information, and keep the arguments of a call no longer than they need them. What the
caller has put into the registers for it stands in the caller's instructions: a constant, a variable that is in memory, a
register that a call preserves. From the call backwards to the instruction that has set the register, and so on (System V ABI, AMD64
supplement, 3.2.3). Where a jump may have come in between, or something was computed or stored that is not followed here, the argument is
not known: a wrong one is worse than none."""
ARGUMENT_REGISTERS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
PRESERVED = ("rbx", "rbp", "rsp", "r12", "r13", "r14", "r15")
MOST_INSTRUCTIONS = 400  # before a call
MOST_BEHIND = 2000
MOST_CASES = 2000  # of a switch
FAR = 1 << 22  # bytes, from a function's code to what the compiler has put elsewhere
MOST_STEPS = 24  # from one register to the next
MOST_LOOKS = 500
MOST_FRAMES = 200

# Where the arguments stand, from 0: peer, tag, communicator.
MPI_CALLS = {
    "recv": (3, 4, 5), "probe": (0, 1, 2), "mprobe": (0, 1, 2),
    "send": (3, 4, 5), "ssend": (3, 4, 5), "rsend": (3, 4, 5), "bsend": (3, 4, 5),
    "sendrecv": (8, 9, 10), "sendrecv_replace": (5, 6, 7),
    "wait": (None, None, None), "waitall": (None, None, None), "waitany": (None, None, None), "waitsome": (None, None, None),
    "barrier": (None, None, 0), "bcast": (3, None, 4), "reduce": (5, None, 6), "allreduce": (None, None, 5),
    "gather": (6, None, 7), "gatherv": (7, None, 8), "scatter": (6, None, 7), "scatterv": (7, None, 8),
    "allgather": (None, None, 6), "allgatherv": (None, None, 7), "alltoall": (None, None, 6), "alltoallv": (None, None, 8),
    "alltoallw": (None, None, 8), "reduce_scatter": (None, None, 5), "reduce_scatter_block": (None, None, 5),
    "scan": (None, None, 5), "exscan": (None, None, 5), "comm_dup": (None, None, 0), "comm_split": (None, None, 0),
    "finalize": (None, None, None),
}


def register_of(name):
    """("rdi", bits) of %edi, or None."""
    name = name.lstrip("%")
    wide = {"eax": "rax", "ebx": "rbx", "ecx": "rcx", "edx": "rdx", "esi": "rsi", "edi": "rdi", "ebp": "rbp", "esp": "rsp"}
    if name in wide:
        return wide[name], 32
    if name in wide.values():
        return name, 64
    if re.fullmatch(r"r(8|9|1[0-5])", name):
        return name, 64
    if re.fullmatch(r"r(8|9|1[0-5])d", name):
        return name[:-1], 32
    return None


def register_touched(name):
    """The 64-bit register that a name of any width is a part of, or None."""
    known = register_of(name)
    if known is not None:
        return known[0]
    name = name.lstrip("%")
    if re.fullmatch(r"r(8|9|1[0-5])[wb]", name):
        return name[:-1]
    if re.fullmatch(r"[abcd][lhx]", name):
        return "r" + name[0] + "x"
    if re.fullmatch(r"(si|di|bp|sp)l?", name):
        return "r" + name[:2]
    return None


# What an instruction does beside: nothing but to its last operand, or nothing that is kept.
WRITES_ITS_LAST = re.compile(r"mov[a-z]*|lea[lq]?|add[bwlq]?|sub[bwlq]?|and[bwlq]?|or[bwlq]?|xor[bwlq]?|sh[lr][bwlq]?|sa[lr][bwlq]?|neg[lq]?|not[lq]?|"
                             r"inc[lq]?|dec[lq]?|imul[lq]?|set[a-z]+|cmov[a-z]+|v?mov[a-z0-9]+|v?cvt[a-z0-9]+")
WRITES_NONE = re.compile(r"cmp[bwlq]?|test[bwlq]?|nop[wl]?|endbr64|v?u?comis[sd]")
WRITES_UNNAMED = {"cltd": ("rdx",), "cqto": ("rdx",), "cltq": ("rax",), "idivl": ("rax", "rdx"), "idiv": ("rax", "rdx")}
WIDTHS = {"movslq": 32, "movzbl": 8, "movzwl": 16, "movsbl": 8, "movswl": 16}
ONE_OPERAND = {"neg": lambda value: -value, "not": lambda value: ~value, "inc": lambda value: value + 1, "dec": lambda value: value - 1}
TWO_OPERANDS = {
    "add": lambda old, by, bits: old + by, "sub": lambda old, by, bits: old - by, "imul": lambda old, by, bits: old * by,
    "and": lambda old, by, bits: old & by, "or": lambda old, by, bits: old | by, "xor": lambda old, by, bits: old ^ by,
    "shl": lambda old, by, bits: old << by % bits, "sal": lambda old, by, bits: old << by % bits, "sar": lambda old, by, bits: old >> by % bits,
    "shr": lambda old, by, bits: (old & (1 << bits) - 1) >> by % bits,
}


class NotKnown(Exception):
    pass


class CallSite:
    """The instructions of a function up to a call that has not returned. `frame`: the caller's."""
    def __init__(self, frame):
        self.frame = frame
        self.looks = 0
        self.pc = int(frame.pc())
        start = self.start_of_function()
        found = frame.architecture().disassemble(start, self.pc - 1) if start < self.pc else []
        self.instructions = [(each["addr"], *self.split(each["asm"])) for each in found][-MOST_INSTRUCTIONS:]
        if not self.instructions or found[-1]["addr"] + found[-1]["length"] != self.pc or not self.instructions[-1][1].startswith("call"):
            raise NotKnown
        all_of_it = [*found, *self.rest_of_function(), *self.cold_part()]  # loops jump back
        jumps = [self.split(each["asm"]) for each in all_of_it]
        self.targets = {int(target, 16) for word, operands in jumps if word.startswith("j") and operands
                        for target in re.findall(r"^0x([0-9a-f]+)", operands[0])}
        for at, (word, operands) in enumerate(jumps):
            if word.startswith("jmp") and operands and operands[0].startswith("*") and "%rip" not in operands[0]:
                self.targets |= self.cases(all_of_it, jumps, at)

    def cases(self, found, jumps, at):
        """Where a switch jumps to: by offsets from the table, or by addresses in it."""
        absolute = re.fullmatch(r"\*(0x[0-9a-f]+)\(,%r[a-z0-9]+,8\)", jumps[at][1][0])
        if absolute:
            table, size, base = int(absolute.group(1), 16), 64, 0
        else:
            for back in range(at - 1, max(at - 12, -1), -1):
                word, operands = jumps[back]
                relative = re.fullmatch(r"(-?0x[0-9a-f]+)\(%rip\)", operands[0]) if operands else None
                if word.startswith("lea") and relative:
                    table = base = found[back]["addr"] + found[back]["length"] + int(relative.group(1), 16)
                    size = 32
                    break
            else:
                raise NotKnown
        targets = set()
        for number in range(MOST_CASES):
            target = base + memory(table + number * size // 8, size)
            if abs(target - self.pc) > FAR:  # behind the table
                break
            targets.add(target)
        return targets

    def start_of_function(self):
        """Of the whole one, in which others may be inlined."""
        start = None
        try:
            block = self.frame.block()
            while block is not None:
                start = int(block.start) if block.function is not None else start
                block = block.superblock
        except RuntimeError:  # it has no debugging information
            pass
        if start is not None:
            return start
        behind = re.search(r" \+ (\d+)", gdb.execute("info symbol %d" % (self.pc - 1), False, True))
        if behind is None:
            raise NotKnown
        return self.pc - 1 - int(behind.group(1))

    def cold_part(self):
        """What the compiler has put elsewhere jumps into the middle of the rest."""
        said = ""
        with contextlib.suppress(gdb.error):
            said = gdb.execute("info address %s.cold" % symbol_at(self.pc - 1).removesuffix(".cold"), False, True)
        found = re.search(r"at (?:address )?(0x[0-9a-f]+)", said)
        if found is None:
            return []
        start, cold = int(found.group(1), 16), []
        for each in self.frame.architecture().disassemble(start, count=MOST_BEHIND):
            if symbol_at(each["addr"]) != symbol_at(start):
                break
            cold.append(each)
        return cold

    def rest_of_function(self):
        """As far as its name goes."""
        rest, name, ends = [], symbol_at(self.pc - 1), False
        for each in self.frame.architecture().disassemble(self.pc, count=MOST_BEHIND):
            if ends and symbol_at(each["addr"]) != name:
                break
            rest.append(each)
            ends = self.split(each["asm"])[0].startswith(("ret", "jmp", "call", "hlt", "ud2"))
        return rest

    @staticmethod
    def split(text):
        text = text.split("#")[0].strip()
        text = re.sub(r"^(bnd|notrack|data16|cs|rep|repz|repnz) +", "", text)
        word, _, rest = text.partition(" ")
        return word.strip(), split_operands(rest.strip())

    def called(self):
        """The name of the function, or None: it is called by a pointer."""
        found = re.search(r"<([A-Za-z_0-9]+)(@plt|@got\.plt)?>", " ".join(self.instructions[-1][2]))
        return found.group(1) if found else None

    def argument(self, number, bits):
        if number < len(ARGUMENT_REGISTERS):
            return narrowed(self.value(ARGUMENT_REGISTERS[number], len(self.instructions) - 1, MOST_STEPS), bits)
        address = int(self.frame.read_register("rsp")) + 8 * (number - len(ARGUMENT_REGISTERS))
        return memory(address, bits)

    def value(self, register, before, steps):
        """What the register holds before instruction number `before`, by what has set it."""
        self.looks += 1
        if steps == 0 or self.looks > MOST_LOOKS or self.instructions[before][0] in self.targets:
            raise NotKnown
        for at in range(before - 1, -1, -1):
            address, word, operands = self.instructions[at]
            if self.sets(word, operands, register):
                return self.result(word, operands, register, at, steps)
            if self.may_set(word, operands, register) or address in self.targets:
                raise NotKnown
        raise NotKnown

    def held(self, register, at, steps):
        """The same before instruction `at`, of a register that may keep that value until the call: then the frame has it."""
        later = self.instructions[at:-1]
        if register == "rsp":
            return int(self.frame.read_register("rsp")) + sum(self.taken_from_stack(word, operands) for _, word, operands in later)
        if register in PRESERVED and not any(self.sets(word, operands, register) or self.may_set(word, operands, register)
                                             for _, word, operands in later):
            return int(self.frame.read_register(register))
        return self.value(register, at, steps - 1)

    def taken_from_stack(self, word, operands):
        """By how many bytes an instruction moves the stack pointer down."""
        moves = {"push": 8, "pushq": 8, "pop": -8, "popq": -8}
        if word in moves and operands[0] != "%rsp":
            return moves[word]
        if word.startswith(("sub", "add")) and operands[-1] == "%rsp" and operands[0].startswith("$"):
            return int(operands[0][1:], 0) * (1 if word.startswith("sub") else -1)
        if self.sets(word, operands, "rsp") or self.may_set(word, operands, "rsp"):
            raise NotKnown
        return 0

    @staticmethod
    def sets(word, operands, register):
        if word in WRITES_UNNAMED and (len(operands) == 1) == word.startswith("idiv"):
            return register in WRITES_UNNAMED[word]
        return bool(operands) and WRITES_ITS_LAST.fullmatch(word) is not None and register_touched(operands[-1]) == register

    @staticmethod
    def may_set(word, operands, register):
        """Beside what its last operand is, or on another way to the call."""
        if any("%es:" in operand for operand in operands):  # a string, and what counts it
            return register not in PRESERVED
        if operands and re.match("%[xyz]mm", operands[-1]):
            return False
        if WRITES_ITS_LAST.fullmatch(word) or WRITES_NONE.fullmatch(word):
            return word.startswith("imul") and len(operands) == 1
        if word in WRITES_UNNAMED and (len(operands) == 1) == word.startswith("idiv"):
            return False
        if word.startswith("push"):
            return register == "rsp"
        if word.startswith("call"):
            return register not in PRESERVED
        if word.startswith("j") and not word.startswith("jmp"):
            return False  # not taken: what is behind it comes next
        return True

    def is_stored_over(self, text, at):
        """Whether something behind instruction `at` may have written what it has read there."""
        base = base_of(text)
        for _, word, operands in self.instructions[at + 1:-1]:
            if word.startswith("call"):
                return True
            if not operands or "(" not in operands[-1] or WRITES_NONE.fullmatch(word) or word.startswith(("lea", "j")):
                continue
            other = base_of(operands[-1])
            of_stack = [each in ("%rsp", "%rbp") for each in (base, other)]
            apart = operands[-1] != text if base == other else of_stack[0] != of_stack[1] and "%rip" in (base, other)
            if not apart:
                return True
        return False

    def result(self, word, operands, register, at, steps):
        """What it leaves in the register, as 64 bits."""
        if word in WRITES_UNNAMED:
            return self.divided(word, operands, register, at, steps)
        into = register_of(operands[-1])
        if into is None:
            raise NotKnown
        return self.computed(word, operands, into, at, steps) & (1 << into[1]) - 1

    def computed(self, word, operands, into, at, steps):
        source, bits = operands[0], into[1]
        if word.startswith("xor") and source == operands[-1]:
            return 0
        if word.startswith("or") and source in ("$0xffffffff", "$0xffffffffffffffff"):
            return -1
        if word.startswith("lea"):
            return self.address(source, at, steps)
        if word in WIDTHS or re.fullmatch(r"mov[lq]?|movabs", word):
            value = self.read(source, WIDTHS.get(word, bits), at, steps)
            return value & (1 << WIDTHS[word]) - 1 if word.startswith("movz") else value
        operation = word if word in TWO_OPERANDS or word in ONE_OPERAND else word.rstrip("lq")
        if operation in ONE_OPERAND and len(operands) == 1:
            return ONE_OPERAND[operation](self.read(source, bits, at, steps))
        if operation == "imul" and len(operands) == 3:
            return self.read(source, bits, at, steps) * self.read(operands[1], bits, at, steps)
        if operation not in TWO_OPERANDS:
            raise NotKnown
        old = self.read(operands[-1], bits, at, steps)
        return TWO_OPERANDS[operation](old, self.read(source, bits, at, steps) if len(operands) == 2 else 1, bits)

    def divided(self, word, operands, register, at, steps):
        """cltd, cltq, cqto and idivl, which name not all of what they use."""
        if word == "cltq":
            return narrowed(self.held("rax", at, steps), 32) & (1 << 64) - 1
        if word in ("cltd", "cqto"):
            bits = 32 if word == "cltd" else 64
            return (1 << bits) - 1 if narrowed(self.held("rax", at, steps), bits) < 0 else 0
        of = register_of(operands[0])
        if word == "idiv" and (of is None or of[1] != 32):
            raise NotKnown
        mask = (1 << 32) - 1
        dividend = narrowed((self.held("rdx", at, steps) & mask) << 32 | self.held("rax", at, steps) & mask, 64)
        divisor = self.read(operands[0], 32, at, steps)
        if divisor == 0:
            raise NotKnown
        quotient = abs(dividend) // abs(divisor) * (1 if (dividend < 0) == (divisor < 0) else -1)
        return (quotient if register == "rax" else dividend - quotient * divisor) & mask

    def read(self, operand, bits, at, steps):
        """A constant, what is in memory, or what a register holds before instruction `at`, as a number with sign."""
        if operand.startswith("$"):
            return narrowed(int(operand[1:], 0), bits)
        if "(" in operand:
            if self.is_stored_over(operand, at):
                raise NotKnown
            return memory(self.address(operand, at, steps), bits)
        of = register_of(operand)
        if of is None or of[1] != bits:
            raise NotKnown
        return narrowed(self.held(of[0], at, steps), bits)

    def address(self, text, at, steps):
        found = re.fullmatch(r"(-?0x[0-9a-f]+)?\((%r[a-z0-9]+)?(?:,(%r[a-z0-9]+),([1248]))?\)", text)
        if found is None:
            raise NotKnown
        value = int(found.group(1) or "0", 16)
        if found.group(2) == "%rip":
            return value + self.instructions[at + 1][0]
        for name, scale in ((found.group(2), 1), (found.group(3), found.group(4))):
            value += self.held(register_of(name)[0], at, steps) * int(scale) if name else 0
        return value


def base_of(text):
    """The register of an address that has no other, or what it is."""
    found = re.fullmatch(r"(-?0x[0-9a-f]+)?\((%r[a-z0-9]+)\)", text)
    return found.group(2) if found else text


def symbol_at(address):
    return gdb.execute("info symbol %d" % address, False, True).split(" ")[0]


def split_operands(text):
    return [each.strip() for each in re.split(r",(?![^(]*\))", text)] if text else []


def narrowed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def memory(address, bits):
    try:
        data = bytes(gdb.selected_inferior().read_memory(address & (1 << 64) - 1, bits // 8))
    except gdb.error as problem:
        raise NotKnown from problem
    return int.from_bytes(data, "little", signed=True)


def mpi_name(frame):
    """("recv", by reference?) of a frame of an MPI routine, as the program calls it."""
    name = frame.name() or ""
    found = re.fullmatch(r"P?MPI_([A-Z][a-z_]*)", name)
    if found:
        return found.group(1).lower(), False
    found = re.fullmatch(r"p?mpi_([a-z_]+?)(_f08)?_*", name)
    ours = found and re.search(r"/lib(mpi|mpich)[^/]*$", gdb.solib_name(frame.pc()) or "")
    return (found.group(1), True) if ours else None  # a program has such names of its own


def outermost_call():
    """The frame of the routine that the program has called, its name, and whether that is Fortran's; None: none."""
    frame, found = gdb.newest_frame(), None
    for _ in range(MOST_FRAMES):
        if frame is None:
            break
        named_so = mpi_name(frame)
        if named_so is not None and frame.older() is not None:
            found = (frame, *named_so)
        frame = frame.older()
    return found


def known_constant(name):
    try:
        return int(gdb.parse_and_eval("(long)&" + name))
    except (gdb.error, ValueError):
        return None


def communicator(value, fortran):
    """world, other, or ? where nothing is known of the library."""
    world = known_constant("ompi_mpi_comm_world")
    if world is not None:
        return "world" if value == (0 if fortran else world) else "other"
    return "world" if narrowed(value, 32) == 0x44000000 else "other"


def mpi_call():
    """Sets $photofinish_mpi_call: "recv PEER TAG COMM PLACE", each ? where it is not known; PEER any or none, TAG any where it is so;
    COMM world or other; or 0: the selected thread is in no call of MPI. Where GDB cannot look, it stays void."""
    gdb.set_convenience_variable("photofinish_mpi_call", None)
    found = outermost_call()
    gdb.set_convenience_variable("photofinish_mpi_call", words_of(*found) if found is not None else 0)


def words_of(frame, name, fortran):
    peer_at, tag_at, comm_at = MPI_CALLS.get(name, (None, None, None))
    site = None
    try:
        if frame.architecture().name().startswith("i386:x86-64"):
            site = CallSite(frame.older())
            called = site.called()
            if called is not None and plain_name(called) != plain_name(frame.name()):
                site = None
    except (NotKnown, gdb.error):
        pass

    def at(number, bits):
        if site is None or number is None:
            return None
        try:
            return memory(site.argument(number, 64), 32) if fortran else site.argument(number, bits)
        except NotKnown:
            return None

    any_source, no_rank = (-1, -2) if known_constant("ompi_mpi_comm_world") is not None else (-2, -1)
    peer, tag, comm = at(peer_at, 32), at(tag_at, 32), at(comm_at, 64)
    peer = "any" if peer == any_source else "none" if peer == no_rank else shown_number(peer)
    tag = "any" if tag == -1 else shown_number(tag)
    return " ".join((name, peer, tag, "?" if comm is None else communicator(comm, fortran), place_of(frame.older())))[:190]


def shown_number(value):
    return str(value) if value is not None and value >= 0 else "?"


def plain_name(name):
    return re.sub("^pmpi_", "mpi_", name.lower()).rstrip("_")


def place_of(frame):
    """FILE:LINE, or ? where it is not known."""
    where = frame.find_sal()
    return "%s:%d" % (os.path.basename(where.symtab.filename), where.line) if where.symtab is not None else "?"


gdb.photofinish_mpi_call = mpi_call
