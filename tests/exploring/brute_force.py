# SPDX-License-Identifier: GPL-3.0-or-later
"""A second enumeration of a program's executions, for tests of the model: every interleaving of every step, nothing merged.

It shares no code with model.py and is built differently: it walks the statements, not instructions; each rank is a coroutine, an
execution is run again from its start for each new choice. There are two ways for messages. By the rules: each message may at any
time be taken by a receive that may take it. By arrival, as in a library: the messages of a sender on a communicator travel in
order and arrive one by one; each finds a pending receive or lies there, and a posted receive finds the first that fits of any sender.

By arrival, messages with different tags do not pass one another, which the standard does not promise: executions may be missing.
"""
import itertools


class TooLong(Exception):
    """More interleavings than the caller asked for."""


def enumerate_executions(program, most, arriving=False):
    """(executions, interleavings): the executions are a set of (matching, outcome, choices that are no receives)."""
    found, path, count = set(), [], 0  # path: of each step what could be done, and which of these was
    while True:
        world = _World(program, arriving)
        for steps, chosen in path:
            world.do(steps[chosen])
        while steps := world.steps():
            path.append((steps, 0))
            world.do(steps[0])
        found.add(world.execution())
        count += 1
        if count > most:
            raise TooLong(f"more than {most} interleavings")
        while path and path[-1][1] + 1 == len(path[-1][0]):
            path.pop()
        if not path:
            return found, count
        path[-1] = (path[-1][0], path[-1][1] + 1)


class _Receive:
    def __init__(self, source, tag, comm):
        self.source, self.tag, self.comm, self.message = source, tag, comm, None

    def accepts(self, message):
        return self.comm == message.comm and self.source in ("*", message.sender) and self.tag in ("*", message.tag)


class _Sent:
    """A message, and the send of it."""

    def __init__(self, sender, number, tag, comm, value, synchronous):
        self.sender, self.number, self.tag, self.comm, self.value = sender, number, tag, comm, value
        self.synchronous, self.received = synchronous, False

    def __str__(self):
        return f"{self.sender}.{self.number}"


def _is_done(request):
    return request.message is not None if isinstance(request, _Receive) else request.received or not request.synchronous


class _Process:
    """A rank: its coroutine yields a function that gives the ways to go on, each a function; none: it waits."""

    def __init__(self, world, rank, statements):
        self.world, self.rank = world, rank
        self.seen = {"x": 0, "s": 0, "t": 0, "a": 0, "w": -1, "f": 0}
        self.posted, self.lying, self.log, self.choices = [], [], [], []  # log: all receives in posting order
        self.slots, self.handles, self.entered, self.ended = {}, {}, {}, None
        self.coroutine = self.run(statements)
        self.ways = None
        self.go_on()

    def go_on(self):
        """To the next statement: what is between two is no step."""
        self.ways = next(self.coroutine, None)
        if self.ways is None and self.ended is None:
            self.ended = (0, False)

    def run(self, statements):
        for word, *rest in statements:
            if self.ended is not None:
                return
            if word == "if":
                yield from self.run(rest[1] if self.holds(rest[0]) else rest[2])
            elif word == "loop":
                for _ in range(rest[0]):
                    yield from self.run(rest[1])
            else:
                yield from getattr(self, word)(*rest)

    def holds(self, condition):
        if condition == "f":
            return bool(self.seen["f"])
        name, sign, number = condition[0], condition[1], int(condition[2:])
        return self.seen[name] % 2 == 1 if sign == "%" else self.seen[name] == number

    def value(self, value):
        return self.seen[value] if isinstance(value, str) and value != "*" else value

    def tell(self, message):
        self.seen.update(x=message.value, s=message.sender, t=message.tag, a=(3 * self.seen["a"] + message.value + 1) % 64)

    # -- messages
    def out(self, to, tag, comm, value, synchronous):
        to = self.value(to)
        number = self.world.numbers.get((self.rank, to), 0)
        self.world.numbers[self.rank, to] = number + 1
        message = _Sent(self.rank, number, tag, comm, self.value(value), synchronous)
        if self.world.arriving:
            self.world.travelling.setdefault((self.rank, to, comm), []).append(message)
        else:
            self.world.processes[to].lying.append(message)
        return message

    def takes(self, receive, message):
        receive.message, message.received = message, True

    def matches(self):
        """By the rules: what pending receives may take now."""
        found = []
        for place, receive in enumerate(self.posted):
            for message in self.first_of_senders(receive):
                if not any(earlier.accepts(message) for earlier in self.posted[:place]):
                    found.append((receive, message))
        return found

    def match(self, receive, message):
        self.posted.remove(receive)
        self.lying.remove(message)
        self.takes(receive, message)

    def arrives(self, message):
        for receive in self.posted:
            if receive.accepts(message):
                self.posted.remove(receive)
                self.takes(receive, message)
                return
        self.lying.append(message)

    def findable(self, receive):
        """Of each sender, what a receive could take that is behind all that are pending."""
        return [message for message in self.first_of_senders(receive) if not any(one.accepts(message) for one in self.posted)]

    def first_of_senders(self, receive):
        first = {}
        if not self.lying:
            return []
        for message in self.lying:
            if receive.accepts(message):
                first.setdefault(message.sender, message)
        return list(first.values())

    def post(self, receive):
        """As ways: each message that it may find, or else it is pending."""
        def found(message=None):
            self.log.append(receive)
            if message is None:
                self.posted.append(receive)
            else:
                self.lying.remove(message)
                self.takes(receive, message)
        if not self.world.arriving:
            return [found]
        return [lambda message=message: found(message) for message in self.findable(receive)] or [found]

    def one(self, action):
        return lambda: [action]

    def when(self, condition, action=lambda: None):
        return lambda: [action] if condition() else []

    def send(self, to, tag, comm, value):
        yield self.one(lambda: self.out(to, tag, comm, value, False))

    def ssend(self, to, tag, comm, value):
        made = []
        yield self.one(lambda: made.append(self.out(to, tag, comm, value, True)))
        yield self.when(lambda: made[0].received)

    def isend(self, to, tag, comm, value, slot, synchronous=False):
        yield self.one(lambda: self.slots.update({slot: self.out(to, tag, comm, value, synchronous)}))

    def issend(self, to, tag, comm, value, slot):
        yield from self.isend(to, tag, comm, value, slot, True)

    def receive(self, source, tag, comm):
        return _Receive(self.value(source), self.value(tag), comm)

    def recv(self, source, tag, comm):
        receive = self.receive(source, tag, comm)
        yield lambda: self.post(receive)
        yield self.when(lambda: _is_done(receive), lambda: self.tell(receive.message))

    def irecv(self, source, tag, comm, slot):
        receive = self.receive(source, tag, comm)
        self.slots[slot] = receive
        yield lambda: self.post(receive)

    precv = irecv

    def sendrecv(self, to, tag, value, source, other_tag, comm):
        receive = self.receive(source, other_tag, comm)
        yield lambda: self.post(receive)
        yield from self.send(to, tag, comm, value)
        yield self.when(lambda: _is_done(receive), lambda: self.tell(receive.message))

    # -- completions
    def finish(self, slot):
        request = self.slots.pop(slot, None)
        if isinstance(request, _Receive):
            self.tell(request.message)

    def waitall(self, slots):
        yield self.when(lambda: all(_is_done(self.slots[slot]) for slot in slots if slot in self.slots),
                        lambda: [self.finish(slot) for slot in slots])

    def wait(self, slot):
        yield from self.waitall((slot,))

    testloop = wait

    def waitany(self, slots):
        active = [slot for slot in slots if slot in self.slots]

        def take(slot):
            self.seen["w"] = slots.index(slot)
            if len(active) > 1:
                self.choices.append(slots.index(slot))
            self.finish(slot)
        if active:
            yield lambda: [lambda slot=slot: take(slot) for slot in active if _is_done(self.slots[slot])]
        else:
            self.seen["w"] = -1

    def waitsome(self, slots):
        active = [slot for slot in slots if slot in self.slots]

        def take(some):
            self.seen["w"] = len(some)
            if len(active) > 1:
                self.choices.append(some)
            for slot in some:
                self.finish(slot)

        def ways():
            done = [slot for slot in active if _is_done(self.slots[slot])]
            return [lambda some=some: take(some) for count in range(len(done)) for some in itertools.combinations(done, count + 1)]
        if active:
            yield ways
        else:
            self.seen["w"] = -1

    def testany(self, slots):
        def succeeds(slot):
            self.flag(True)
            self.seen["w"] = slots.index(slot)
            self.choices.append(slot)
            self.finish(slot)

        def ways():
            done = [slot for slot in slots if slot in self.slots and _is_done(self.slots[slot])]
            return [lambda: self.flag(False), *(lambda slot=slot: succeeds(slot) for slot in done)]
        if any(slot in self.slots for slot in slots):
            yield ways
        else:
            self.flag(True)
            self.seen["w"] = -1

    def flag(self, success):
        self.seen["f"] = int(success)
        if not success:
            self.choices.append("no")

    def test(self, slot):
        def succeeds():
            self.flag(True)
            self.choices.append("yes")
            self.finish(slot)
        if slot not in self.slots:
            self.flag(True)
        else:
            yield lambda: [lambda: self.flag(False)] + ([succeeds] if _is_done(self.slots[slot]) else [])

    # -- probes
    def look(self, receive, handle, single):
        def sees(message):
            self.seen.update(s=message.sender, t=message.tag)
            if receive.source == "*" or single:
                self.choices.append(str(message))
            if single:
                self.flag(True)
            if handle is not None:
                self.lying.remove(message)
                self.handles[handle] = message
        return [lambda message=message: sees(message) for message in self.findable(receive)]

    def probe(self, source, tag, comm):
        yield lambda: self.look(self.receive(source, tag, comm), None, False)

    probeloop = probe

    def mprobe(self, source, tag, comm, handle):
        yield lambda: self.look(self.receive(source, tag, comm), handle, False)

    mprobeloop = mprobe

    def improbe(self, source, tag, comm, handle):
        yield lambda: [lambda: self.flag(False), *self.look(self.receive(source, tag, comm), handle, True)]

    def iprobe(self, source, tag, comm):
        yield from self.improbe(source, tag, comm, None)

    def mrecv(self, handle):
        message = self.handles.pop(handle, None)
        if message is not None:
            receive = _Receive(message.sender, message.tag, message.comm)

            def take():
                self.takes(receive, message)
                self.log.append(receive)
                self.tell(message)
            yield self.one(take)

    # -- collectives and ends
    def meet(self, comm, value, needed, result):
        number = self.entered[comm] = self.entered.get(comm, -1) + 1
        values = self.world.meetings.setdefault((comm, number), {})
        yield self.one(lambda: values.update({self.rank: self.value(value)}))
        yield self.when(lambda: needed(values), lambda: self.seen.update(result(values)))

    def all_there(self, values):
        return len(values) == len(self.world.processes)

    def barrier(self, comm):
        yield from self.meet(comm, 0, self.all_there, lambda _: {})

    def allreduce(self, comm, value):
        yield from self.meet(comm, value, self.all_there, lambda values: {"x": sum(values.values()) % 64})

    def bcast(self, comm, root, value):
        yield from self.meet(comm, value, lambda values: root in values, lambda values: {"x": values[root]})

    def reduce(self, comm, root, value):
        at_root = self.rank == root
        yield from self.meet(comm, value, lambda values: not at_root or self.all_there(values),
                             lambda values: {"x": sum(values.values()) % 64} if at_root else {})

    def exit(self, status):
        self.ended = (status, False)
        return iter(())

    def abort(self, status):
        self.ended = (f"abort {status}", True)
        return iter(())

    def kill(self, number):
        self.ended = (f"signal {number}", True)
        return iter(())


class _World:
    def __init__(self, program, arriving):
        self.arriving, self.travelling, self.numbers, self.meetings, self.processes = arriving, {}, {}, {}, []
        for rank, statements in enumerate(program):
            self.processes.append(_Process(self, rank, statements))

    def steps(self):
        """What can be done: (process, which of its ways), (process, "match", which), or of whom the next message arrives."""
        found = []
        for process in self.processes:
            if process.ways is not None:
                found.extend([(process.rank, way) for way in range(len(process.ways()))])
            found.extend([(process.rank, "match", place) for place in range(len(process.matches()))] if not self.arriving else ())
        found.extend([("arrives", *key) for key, messages in self.travelling.items() if messages])
        return found

    def do(self, step):
        if step[0] == "arrives":
            self.processes[step[2]].arrives(self.travelling[step[1:]].pop(0))
        elif step[1] == "match":
            process = self.processes[step[0]]
            process.match(*process.matches()[step[2]])
        else:
            process = self.processes[step[0]]
            process.ways()[step[1]]()
            process.go_on()

    def execution(self):
        text = ";".join(",".join("-" if one.message is None else str(one.message) for one in process.log) for process in self.processes)
        ends = [process.ended for process in self.processes]
        aborts = sorted({end[0] for end in ends if end and end[1]})
        statuses = sorted({end[0] for end in ends if end and not end[1]} - {0})
        if aborts:
            outcome = "|".join(aborts)
        elif None in ends:
            outcome = "deadlock"
        else:
            outcome = "exit " + "|".join(map(str, statuses)) if statuses else "ok"
        return text, outcome, tuple(tuple(process.choices) for process in self.processes)
