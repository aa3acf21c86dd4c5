#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""An executable model of MPI's matching: all maximal executions of a small program (language.py), distinct by what its receives took.

    model.py FILE | -t PROGRAM      prints them, a matching a line, with how it ends

The rules are those of MPI 4.0, written without a look at the product:
- A message may be taken by a pending receive if envelope and receive fit (3.2.4), no earlier pending receive of that rank fits the
  message, and no earlier message of that sender on that communicator that is still there fits the receive (3.5, order).
  Messages of different senders, or on different communicators, have no order, not even across barriers, for a message may be
  under way for any time.
- Hence messages of a sender with different tags may pass one another: a wildcard receive that is pending may leave the first and take
  what is sent after the second was received. tags="in order": on one communicator they arrive in order, as in the libraries known
  to us, and find a pending receive at once. It matters rarely; a replay that forces sources can do both.
- A probe sees what a receive in its place could take (3.8.1); Mprobe takes it away at once (3.8.2), Mrecv receives it.
  A wildcard receive after a probe may take another message than the one that was seen.
- Standard sends are buffered and never block. A synchronous send ends when a receive has taken its message (3.4, 3.7.3).
- Barrier and Allreduce end when all have come. Who waits in Bcast is whoever is not the root, for the root; in Reduce the root,
  for all (6.1). collectives="all": each waits for all, as a library may do.
- A rank that ends calls MPI_Finalize: the job ends when all ranks have; if one is blocked it is a deadlock, whatever others' status.
- Abort and the end by a signal: the other ranks are taken to go on as far as they can. What a real run shows is a beginning of that.

An execution is what each receive took, and what the program was told beside: which requests Waitany or Waitsome gave, what a
wildcard probe saw, whether a single Test, Testany or Iprobe had success. Executions that differ in the latter alone have the same matching: `executions` counts
them, `matchings` does not. A single Test, Testany or Iprobe may always fail: messages may be under way for any time.

Text of a matching: for each rank, joined by ';', its receives in posting order, joined by ',': S.k for the k-th message (from 0) that
rank S sent to this rank, - for one that took none.
"""
import collections
import itertools
import sys

from language import ANY, BLOCKING, flatten, parse

WIDTH = 12  # bits of one number in an execution
MOST_MESSAGES = 64  # of one sender to one receiver
NONE_TAKEN, FAILED, FIRST_MESSAGE = 1, 1, 2
VALUES = 64


class TooMany(Exception):
    """A program has more executions, or states, than the caller asked for."""


class Result:
    """matchings: {text: set of outcomes}. executions: Counter of (text, outcome). unobserved: in some execution a receive has taken
    a message and the program is not told, as it is blocked elsewhere: only a look into MPI could tell. states: how many there were."""

    def __init__(self):
        self.matchings, self.executions, self.unobserved, self.states = {}, collections.Counter(), False, 0

    def pairs(self):
        """All (matching, outcome)."""
        return set(self.executions)


def enumerate_matchings(program, collectives="must", tags="apart", most=None, most_states=None):
    """All maximal executions of a program. TooMany: more executions than `most`, or states than `most_states`."""
    return _Search(program, collectives, tags, most, most_states).result()


Rank = collections.namedtuple("Rank", "at x s t a w f posted chosen ended entered slots handles")
# posted: receives so far; chosen: choices so far that are no receives; ended: None or (number, None, 'abort' or 'signal'); entered: collectives so
# far, by communicator; slots, handles: sorted pairs of what the program holds.
Message = collections.namedtuple("Message", "number tag value slot")  # slot: of the synchronous send's request, else None
Pending = collections.namedtuple("Pending", "post source tag comm slot")
_SENT, _SENDING, _RECEIVING = ("sent",), ("sending",), ("receiving",)


class _State:
    __slots__ = ("ranks", "channels", "pending", "counts", "meetings")

    def copy(self):
        other = _State()
        other.ranks, other.pending = list(self.ranks), list(self.pending)
        other.channels, other.counts, other.meetings = dict(self.channels), dict(self.counts), dict(self.meetings)
        return other

    def key(self):
        return (tuple(self.ranks), tuple(self.pending), tuple(sorted(self.channels.items())), tuple(sorted(self.counts.items())),
                tuple(sorted(self.meetings.items())))

    def slot(self, rank, slot, held=None):
        """Puts what a slot holds; None empties it."""
        slots = dict(self.ranks[rank].slots)
        slots.pop(slot, None)
        if held is not None:
            slots[slot] = held
        self.ranks[rank] = self.ranks[rank]._replace(slots=tuple(sorted(slots.items())))

    def held(self, rank, slot):
        return dict(self.ranks[rank].slots).get(slot)


def _fits(source, tag, sender, message):
    return source in (ANY, sender) and tag in (ANY, message.tag)


class _Search:
    def __init__(self, program, collectives, tags, most, most_states):
        self.code = [flatten(rank) for rank in program]
        self.size = len(program)
        self.all_wait = {"must": False, "all": True}[collectives]
        self.in_order = {"apart": False, "in order": True}[tags]
        self.most, self.most_states = most, most_states
        self.used = [_variables(code) for code in self.code]
        self.posts = max([1, *(sum(one[0] in ("irecv", "mrecv") for one in code) for code in self.code)])
        self.choices = max(sum(one[0] in _CHOICES for one in code) for code in self.code)
        self.outcomes, self.memo = [], {}

    # -- numbers of an execution: a field for each receive, then one for each other choice, then the outcome
    def receive(self, rank, post, number):
        return number << WIDTH * (rank * self.posts + post)

    def choice(self, rank, chosen, number):
        return number << WIDTH * (self.size * self.posts + rank * self.choices + chosen)

    def outcome(self, text):
        if text not in self.outcomes:
            self.outcomes.append(text)
        return self.outcomes.index(text) << WIDTH * self.size * (self.posts + self.choices)

    def result(self):
        result = Result()
        mask = (1 << WIDTH * self.size * self.posts) - 1
        shift = WIDTH * self.size * (self.posts + self.choices)
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(10000)
        try:
            found = self.futures(self.first())
        finally:
            sys.setrecursionlimit(limit)
        for number, count in collections.Counter((one & mask, one >> shift) for one in found).items():
            ending, unobserved = self.outcomes[number[1]]
            text = self.text(number[0])
            result.matchings.setdefault(text, set()).add(ending)
            result.executions[text, ending] += count
            result.unobserved |= unobserved
        result.states = len(self.memo)
        return result

    def text(self, fields):
        ranks = []
        for _ in range(self.size):
            receives = []
            for _ in range(self.posts):
                number, fields = fields & ((1 << WIDTH) - 1), fields >> WIDTH
                if number:
                    taken = divmod(number - FIRST_MESSAGE, MOST_MESSAGES)
                    receives.append("-" if number == NONE_TAKEN else f"{taken[0]}.{taken[1]}")
            ranks.append(",".join(receives))
        return ";".join(ranks)

    # -- search
    def first(self):
        state = _State()
        state.ranks = [Rank(0, 0, 0, 0, 0, -1, 0, 0, 0, None, (), (), ()) for _ in self.code]
        state.pending, state.channels, state.counts, state.meetings = [()] * self.size, {}, {}, {}
        return state

    def futures(self, state):
        """The executions from here on, as a set of numbers."""
        before = self.settle(state)
        key = state.key()
        found = self.memo.get(key)
        if found is None:
            found = set()
            for following, told in self.branches(state):
                found.update(told + future for future in self.futures(following))
                if self.most is not None and len(found) > self.most:
                    raise TooMany(f"more than {self.most} executions")
            found = found or {self.leaf(state)}
            self.memo[key] = found
            if self.most_states is not None and len(self.memo) > self.most_states:
                raise TooMany(f"more than {self.most_states} states")
        return {before + future for future in found} if before else found

    def settle(self, state):
        """Does all that takes no choice from any execution: it stays possible until it is done, and leads to the same states."""
        told, moved = 0, True
        while moved:
            moved = False
            for rank in range(self.size):
                while (step := self.advance(state, rank)) is not None:
                    told += step
                    moved = True
                for receive in state.pending[rank]:
                    if receive.source != ANY:
                        for sender in self.takable(state, rank, receive.source, receive.tag, receive.comm, receive):
                            told += self.match(state, rank, receive, sender)
                            moved = True
        return told

    def takable(self, state, rank, source, tag, comm, receive=None):
        """Senders whose message a receive may take now; receive None: a probe, that is behind all pending receives."""
        for sender in range(self.size) if source == ANY else (source,):
            for message in state.channels.get((sender, rank, comm), ()):
                first = next((one for one in state.pending[rank] if one.comm == comm and _fits(one.source, one.tag, sender, message)), None)
                if _fits(source, tag, sender, message):
                    if first == receive:
                        yield sender
                    break
                if self.in_order and first is not None:
                    break

    def take(self, state, rank, sender, tag, comm):
        """Removes the first message that fits; gives it."""
        messages = state.channels[sender, rank, comm]
        place = next(at for at, one in enumerate(messages) if tag in (ANY, one.tag))
        left = messages[:place] + messages[place + 1:]
        if left:
            state.channels[sender, rank, comm] = left
        else:
            del state.channels[sender, rank, comm]
        return messages[place]

    def match(self, state, rank, receive, sender):
        message = self.take(state, rank, sender, receive.tag, receive.comm)
        state.pending[rank] = tuple(one for one in state.pending[rank] if one != receive)
        state.slot(rank, receive.slot, ("received", sender, message.tag, message.value))
        self.received(state, sender, message)
        return self.receive(rank, receive.post, self.number(sender, message))

    def number(self, sender, message):
        return FIRST_MESSAGE + sender * MOST_MESSAGES + message.number

    def received(self, state, sender, message):
        if message.slot is not None:
            state.slot(sender, message.slot, _SENT)

    def branches(self, state):
        """What may happen next, one thing after another: the state after it, and its part of the execution's number."""
        for rank in range(self.size):
            for receive in state.pending[rank]:
                if receive.source == ANY:
                    for sender in self.takable(state, rank, ANY, receive.tag, receive.comm, receive):
                        following = state.copy()
                        yield following, self.match(following, rank, receive, sender)
            mine = state.ranks[rank]
            if mine.ended is None and mine.at < len(self.code[rank]):
                word, *arguments = self.code[rank][mine.at]
                if word in ("probe", "iprobe"):
                    yield from self.probes(state, rank, word, *arguments)
                elif word in _CHOICES:
                    yield from getattr(self, "by_" + word)(state, rank, arguments[0])

    def chosen(self, state, rank, number, **changes):
        """A copy of the state in which the rank is behind its instruction and has made a choice."""
        following, mine = state.copy(), state.ranks[rank]
        following.ranks[rank] = mine._replace(at=mine.at + 1, chosen=mine.chosen + 1, **self.kept(rank, changes))
        return following, self.choice(rank, mine.chosen, number)

    def probes(self, state, rank, word, source, tag, comm, handle):
        if word == "iprobe":
            yield self.chosen(state, rank, FAILED, f=0)
        for sender in self.takable(state, rank, source, tag, comm):
            message = next(one for one in state.channels[sender, rank, comm] if tag in (ANY, one.tag))
            following, told = self.chosen(state, rank, self.number(sender, message), s=sender, t=message.tag,
                                          **({"f": 1} if word == "iprobe" else {}))
            if handle is not None:
                self.hold(following, rank, handle, sender, self.take(following, rank, sender, tag, comm))
            yield following, told

    def hold(self, state, rank, handle, sender, message):
        handles = dict(state.ranks[rank].handles)
        if handle in handles:
            raise ValueError(f"rank {rank} probes into a slot that holds a message")
        handles[handle] = (sender, message)
        state.ranks[rank] = state.ranks[rank]._replace(handles=tuple(sorted(handles.items())))

    def done(self, state, rank, slots):
        """Indices of the requests that are done, among these slots."""
        return [index for index, slot in enumerate(slots) if state.held(rank, slot) not in (None, _RECEIVING, _SENDING)]

    def completing(self, state, rank, number, slots, **changes):
        following, told = self.chosen(state, rank, number, **changes)
        for slot in slots:
            self.complete(following, rank, slot)
        return following, told

    def by_waitany(self, state, rank, slots):
        for index in self.done(state, rank, slots):
            yield self.completing(state, rank, 1 + index, [slots[index]], w=index)

    def by_waitsome(self, state, rank, slots):
        if len(slots) >= WIDTH:
            raise ValueError(f"waitsome with more than {WIDTH - 1} requests")
        done = self.done(state, rank, slots)
        for count in range(1, len(done) + 1):
            for some in itertools.combinations(done, count):
                yield self.completing(state, rank, sum(1 << index for index in some), [slots[index] for index in some], w=count)

    def by_testany(self, state, rank, slots):
        yield self.chosen(state, rank, FAILED, f=0)
        for index in self.done(state, rank, slots):
            yield self.completing(state, rank, FAILED + 1 + index, [slots[index]], w=index, f=1)

    def by_test(self, state, rank, slot):
        yield self.chosen(state, rank, FAILED, f=0)
        if self.done(state, rank, [slot]):
            yield self.completing(state, rank, FAILED + 1, [slot], f=1)

    # -- what takes no choice
    def advance(self, state, rank):
        """Does the rank's next instruction if no choice is in it; gives its part of the execution's number, or None if it was not done."""
        mine, code = state.ranks[rank], self.code[rank]
        if mine.ended is not None:
            return None
        if mine.at == len(code):
            state.ranks[rank] = self.end(mine, (0, None))
            return 0
        word, *arguments = code[mine.at]
        return getattr(self, "do_" + word)(state, rank, mine, *arguments)

    def end(self, mine, how):
        return mine._replace(ended=how, x=0, s=0, t=0, a=0, w=-1, f=0, at=0)

    def step(self, state, rank, **changes):
        mine = state.ranks[rank]
        state.ranks[rank] = mine._replace(at=mine.at + 1, **self.kept(rank, changes))

    def kept(self, rank, changes):
        """Without the variables that the rank's program never uses: states that differ in these alone are one."""
        return {name: value for name, value in changes.items() if name not in _VARIABLES or name in self.used[rank]}

    def complete(self, state, rank, slot):
        held = state.held(rank, slot)
        if held is None:
            return
        state.slot(rank, slot)
        if held[0] == "received":
            self.told(state, rank, *held[1:])

    def told(self, state, rank, source, tag, value):
        mine = state.ranks[rank]
        state.ranks[rank] = mine._replace(**self.kept(rank, {"x": value, "s": source, "t": tag, "a": (3 * mine.a + value + 1) % VALUES}))

    def value(self, mine, value):
        return getattr(mine, value) if isinstance(value, str) else value

    def send(self, state, rank, to, tag, comm, value, slot):
        to = self.value(state.ranks[rank], to)
        number = state.counts.get((rank, to), 0)
        if number >= MOST_MESSAGES:
            raise ValueError(f"more than {MOST_MESSAGES} messages from {rank} to {to}")
        state.counts[rank, to] = number + 1
        message = Message(number, tag, self.value(state.ranks[rank], value), slot)
        state.channels[rank, to, comm] = state.channels.get((rank, to, comm), ()) + (message,)

    def do_send(self, state, rank, _, to, tag, comm, value, slot):
        self.send(state, rank, to, tag, comm, value, slot)
        self.step(state, rank)
        return 0

    def do_isend(self, state, rank, _, to, tag, comm, value, slot, synchronous):
        self.free(state, rank, slot)
        self.send(state, rank, to, tag, comm, value, slot if synchronous else None)
        state.slot(rank, slot, _SENDING if synchronous else _SENT)
        self.step(state, rank)
        return 0

    def free(self, state, rank, slot):
        if state.held(rank, slot) is not None:
            raise ValueError(f"rank {rank} uses slot {slot} again before its request is done")

    def do_irecv(self, state, rank, mine, source, tag, comm, slot):
        self.free(state, rank, slot)
        source, tag = mine.s if source == "s" else source, mine.t if tag == "t" else tag
        state.pending[rank] += (Pending(mine.posted, source, tag, comm, slot),)
        state.slot(rank, slot, _RECEIVING)
        self.step(state, rank, posted=mine.posted + 1)
        return 0

    def do_wait(self, state, rank, _, *slots):
        if any(state.held(rank, slot) in (_RECEIVING, _SENDING) for slot in slots):
            return None
        for slot in slots:
            self.complete(state, rank, slot)
        self.step(state, rank)
        return 0

    def do_waitany(self, state, rank, _, slots):
        return self.wait_for_the_only(state, rank, slots, lambda index: index)

    def do_waitsome(self, state, rank, _, slots):
        return self.wait_for_the_only(state, rank, slots, lambda index: 1)

    def wait_for_the_only(self, state, rank, slots, number):
        """One that has no choice, as not more than one request is active."""
        active = [index for index, slot in enumerate(slots) if state.held(rank, slot) is not None]
        if len(active) > 1 or active != self.done(state, rank, slots):
            return None
        for index in active:
            self.complete(state, rank, slots[index])
        self.step(state, rank, w=number(active[0]) if active else -1)
        return 0

    def do_testany(self, state, rank, _, slots):
        if any(state.held(rank, slot) is not None for slot in slots):
            return None
        self.step(state, rank, f=1, w=-1)
        return 0

    def do_test(self, state, rank, _, slot):
        if state.held(rank, slot) is not None:
            return None
        self.step(state, rank, f=1)
        return 0

    def do_iprobe(self, *_):
        return None

    def do_probe(self, state, rank, _, source, tag, comm, handle):
        source = state.ranks[rank].s if source == "s" else source
        if source == ANY:
            return None
        for sender in self.takable(state, rank, source, tag, comm):
            message = next(one for one in state.channels[sender, rank, comm] if tag in (ANY, one.tag))
            if handle is not None:
                self.hold(state, rank, handle, sender, self.take(state, rank, sender, tag, comm))
            self.step(state, rank, s=sender, t=message.tag)
            return 0
        return None

    def do_mrecv(self, state, rank, mine, handle):
        handles = dict(mine.handles)
        self.step(state, rank)
        if handle not in handles:
            return 0
        sender, message = handles.pop(handle)
        state.ranks[rank] = state.ranks[rank]._replace(handles=tuple(sorted(handles.items())), posted=mine.posted + 1)
        self.told(state, rank, sender, message.tag, message.value)
        self.received(state, sender, message)
        return self.receive(rank, mine.posted, self.number(sender, message))

    def do_enter(self, state, rank, mine, kind, comm, root, value):
        entered = dict(mine.entered)
        number = entered.get(comm, 0)
        entered[comm] = number + 1
        (known, known_root), values, left = state.meetings.get((comm, number), ((kind, root), (None,) * self.size, 0))
        if (known, known_root) != (kind, root):
            raise ValueError(f"rank {rank} is in {kind} where others are in {known}")
        values = values[:rank] + (self.value(mine, value),) + values[rank + 1:]
        state.meetings[comm, number] = ((kind, root), values, left)
        state.ranks[rank] = mine._replace(at=mine.at + 1, entered=tuple(sorted(entered.items())))
        return 0

    def do_leave(self, state, rank, mine, kind, comm, root):
        number = dict(mine.entered)[comm] - 1
        what, values, left = state.meetings[comm, number]
        complete = None not in values
        if self.all_wait or kind in ("barrier", "allreduce"):
            may = complete
        elif kind == "bcast":
            may = values[root] is not None
        else:
            may = complete or rank != root
        if not may:
            return None
        if left + 1 == self.size:
            del state.meetings[comm, number]
        else:
            state.meetings[comm, number] = (what, values, left + 1)
        got = {}
        if kind == "allreduce" or (kind == "reduce" and rank == root):
            got = {"x": sum(values) % VALUES}
        elif kind == "bcast":
            got = {"x": values[root]}
        self.step(state, rank, **got)
        return 0

    def do_branch(self, state, rank, mine, condition, otherwise):
        state.ranks[rank] = mine._replace(at=mine.at + 1 if _holds(mine, condition) else otherwise)
        return 0

    def do_jump(self, state, rank, mine, target):
        state.ranks[rank] = mine._replace(at=target)
        return 0

    def do_exit(self, state, rank, mine, number, how):
        state.ranks[rank] = self.end(mine, (number, how))
        return 0

    # -- ends
    def leaf(self, state):
        told = sum(self.receive(rank, one.post, NONE_TAKEN) for rank in range(self.size) for one in state.pending[rank])
        unobserved = any(held[0] == "received" for mine in state.ranks for _, held in mine.slots)
        return told + self.outcome((_ending(state.ranks), unobserved))


def _ending(ranks):
    sudden = sorted({f"{mine.ended[1]} {mine.ended[0]}" for mine in ranks if mine.ended and mine.ended[1]})
    if sudden:
        return "|".join(sudden)
    if any(mine.ended is None for mine in ranks):
        return "deadlock"
    statuses = sorted({mine.ended[0] for mine in ranks} - {0})
    return "exit " + "|".join(map(str, statuses)) if statuses else "ok"


_CHOICES = frozenset(("waitany", "waitsome", "testany", "test", "probe", "iprobe"))  # instructions that may have one
_VARIABLES = frozenset("xstawf")


def _variables(code):
    """What of its state a rank's program looks at."""
    used = set()
    for one in code:
        if one[0] == "branch":
            used.add(one[1][0])
        elif one[0] not in ("enter", "leave") or one[0] == "enter":
            used.update(word for word in one[1:] if isinstance(word, str) and word in _VARIABLES)
    return used


def _holds(mine, condition):
    if condition == "f":
        return mine.f == 1
    value = getattr(mine, condition[0])
    return value % 2 == 1 if condition[1:] == "%2" else value == int(condition[2:])


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "-t":
        text = sys.argv[2]
    elif len(sys.argv) == 2:
        with open(sys.argv[1], encoding="ascii") as file:
            text = file.read()
    else:
        sys.exit(__doc__)
    result = enumerate_matchings(parse(text))
    for (matching, outcome), count in sorted(result.executions.items()):
        print(f"{matching or '(no receive)'}  {outcome}" + (f"  {count} executions" if count > 1 else ""))
    print(f"{len(result.matchings)} matchings, {sum(result.executions.values())} executions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
