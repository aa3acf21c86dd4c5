#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random programs of the language (language.py), drawn from a seed, with the model's answer.

    generator.py SEED [COUNT=1]     prints them, and how many matchings they have

Messages and receives are put at random times, a receive after its message, so that one order of events gets through; what else a
wildcard takes may then leave a receive without a message. What was received decides about sends, exits and later receives.
Seeds take turns: any program, one with a deadlock in some executions, one with a failing exit in some, one with both if it comes.
Refused, since a run could not be judged: programs whose executions depend on whether a collective waits for more than it must
or messages with different tags pass one another, that end with two statuses, or that have a receive that took a message without the program being told.
"""
import random
import sys

from language import ANY, render
from model import TooMany, enumerate_matchings


class Shape:
    """How large programs are, and whether single tests and probes (`tries`), or MPI_Abort and signals (`aborts`), are among them."""

    def __init__(self, ranks=(2, 4), messages=(2, 10), matchings=(2, 60), tries=False, aborts=False, states=20000):
        self.ranks, self.messages, self.matchings, self.states = ranks, messages, matchings, states
        self.tries, self.aborts = tries, aborts


TINY = Shape(ranks=(2, 3), messages=(1, 3), matchings=(1, 12), tries=True)
TINY_AND_RACY = Shape(ranks=(2, 3), messages=(1, 3), matchings=(2, 12), tries=True)
WANTED = (None, "deadlock", "exit", None)


class Drawn:
    """A program, its text, and the model's result."""

    def __init__(self, program, result):
        self.program, self.text, self.result = program, render(program), result


def draw(seed, shape=Shape()):
    """The program of a seed: the same for ever, for this version of the file."""
    chance = random.Random(seed)
    wanted = ("abort", "signal")[seed % 2] if shape.aborts else WANTED[seed % len(WANTED)]
    for attempt in range(10000):
        program = _Maker(chance, shape).program()
        result = _accepted(program, shape, wanted if attempt < 300 or shape.aborts else None)
        if result is not None:
            return Drawn(program, result)
    raise RuntimeError(f"seed {seed} gives no program")


def _accepted(program, shape, wanted):
    fewest, most = shape.matchings
    try:
        result = enumerate_matchings(program, most=4 * most, most_states=shape.states)
        if not fewest <= len(result.matchings) <= most or result.unobserved:
            return None
        outcomes = {outcome for _, outcome in result.executions}
        if wanted and not any(outcome.startswith(wanted) for outcome in outcomes) or any("|" in outcome for outcome in outcomes):
            return None
        for other in ({"collectives": "all"}, {"tags": "in order"}):
            if enumerate_matchings(program, **other, most=4 * most, most_states=shape.states).executions != result.executions:
                return None
    except TooMany:
        return None
    return result


class _Maker:
    def __init__(self, chance, shape):
        self.chance, self.shape = chance, shape
        self.size = chance.randint(*shape.ranks)
        self.events = [[] for _ in range(self.size)]  # of each rank: (time, statements)
        self.slots, self.handles = [0] * self.size, [[] for _ in range(self.size)]
        self.any_share = chance.choice((0.5, 0.75, 0.95))
        self.tags = chance.choice((1, 1, 2))
        self.comms = chance.choice((1, 1, 1, 2))
        self.status = chance.randint(1, 9)
        self.received = [[] for _ in range(self.size)]  # times of receives

    def likely(self, share):
        return self.chance.random() < share

    def program(self):
        messages = self.chance.randint(*self.shape.messages)
        if messages > 3 and self.likely(0.4):
            messages -= 3
            self.chance.choice((self.master_and_workers, self.relay, self.whom_first, self.server))()
        for _ in range(messages):
            self.message()
        for _ in range(self.chance.choice((0, 0, 0, 1, 1, 2))):
            self.collective()
        for rank in range(self.size):
            self.ending(rank)
        return [[one for _, statements in sorted(events, key=lambda event: event[0]) for one in statements] for events in self.events]

    def put(self, rank, time, *statements):
        self.events[rank].append((time, statements))

    def slot(self, rank):
        self.slots[rank] += 1
        return self.slots[rank] - 1

    def message(self):
        receiver = self.chance.choice((0, 0, self.chance.randrange(self.size)))
        sender = self.chance.choice(self.others(receiver))
        tag, comm = self.chance.randrange(self.tags), self.chance.randrange(self.comms)
        sent, taken = sorted((self.chance.random(), self.chance.random()))
        self.send(sender, sent, receiver, tag, comm)
        if self.likely(0.95):
            source = ANY if self.likely(self.any_share) else sender
            self.receive(receiver, taken, source, self.chance.choice((tag, ANY)), comm)

    # -- sends
    def value(self):
        return self.chance.choice((self.chance.randrange(8), self.chance.randrange(8), "x", "a"))

    def send(self, rank, time, to, tag, comm):
        word = self.chance.choice(("send", "send", "send", "ssend", "isend", "issend"))
        arguments = [to, tag, comm, self.value()]
        behind = []
        if word[0] == "i":
            arguments.append(self.slot(rank))
            behind = [("wait", arguments[-1])]
        statement = (word, *arguments)
        earlier = [one for one in self.received[rank] if one < time]
        if earlier and self.likely(0.4):
            self.put(rank, time, self.depending(rank, statement))
        else:
            self.put(rank, time, statement)
        if behind:
            self.put(rank, time + self.chance.random() * (1 - time), *behind)

    def depending(self, rank, statement):
        """A send that happens, or happens otherwise, by what was received."""
        other = list(statement)
        kind = self.chance.randrange(4)
        if kind == 0:
            return ("if", self.condition(rank), [statement], [])
        if kind == 1:
            other[1] = self.chance.choice(self.others(rank))
        elif kind == 2:
            other[2] = self.chance.randrange(self.tags)
        else:
            other[4] = self.chance.randrange(8)
        return ("if", self.condition(rank), [statement], [tuple(other)])

    def condition(self, rank):
        other = self.chance.choice(self.others(rank))
        return self.chance.choice((f"s={other}", f"s={other}", "x%2", "a%2", "a%2", "t=1" if self.tags > 1 else "a%2"))

    # -- receives
    def receive(self, rank, time, source, tag, comm):
        self.received[rank].append(time)
        form = self.chance.choice(("recv", "recv", "recv", "irecv", "irecv", "pair", "sendrecv", "probe", "probeloop", "mprobe",
                                   "mprobeloop", "testloop", *(("iprobe", "improbe", "test") * 2 if self.shape.tries else ())))
        getattr(self, "by_" + form)(rank, time, source, tag, comm)

    def by_recv(self, rank, time, *envelope):
        self.put(rank, time, ("recv", *envelope))

    def by_irecv(self, rank, time, *envelope):
        slot = self.slot(rank)
        self.put(rank, time * self.chance.random(), (self.chance.choice(("irecv", "irecv", "precv")), *envelope, slot))
        self.put(rank, time, ("wait", slot))

    def by_testloop(self, rank, time, *envelope):
        slot = self.slot(rank)
        self.put(rank, time * self.chance.random(), ("irecv", *envelope, slot))
        self.put(rank, time, ("testloop", slot))

    def by_pair(self, rank, time, *envelope):
        """Two receives pending at the same time, for which a second message is sent; waited for in some way."""
        _, tag, comm = envelope
        first, second = self.slot(rank), self.slot(rank)
        sender = self.chance.choice(self.others(rank))
        self.put(sender, time * self.chance.random(), ("send", rank, 0 if tag == ANY else tag, comm, self.chance.randrange(8)))
        posts = [("irecv", *envelope, first), ("irecv", self.chance.choice((ANY, sender)), tag, comm, second)]
        self.chance.shuffle(posts)
        self.put(rank, time * self.chance.random(), *posts)
        if self.likely(0.5):
            self.put(rank, time, ("waitall", (first, second)))
            return
        word = self.chance.choice(("waitany", "waitany", "waitsome", *(("testany",) * 2 if self.shape.tries else ())))
        self.put(rank, time, (word, (first, second)))
        if self.likely(0.3):
            self.put(rank, time, ("if", "w=1", [("send", sender, 0, comm, 1)], []))
            self.put(sender, time + (1 - time) * self.chance.random(), ("recv", rank, 0, comm))
        if word == "testany":
            self.put(rank, time + (1 - time) * self.chance.random(), ("waitall", (first, second)))
        else:
            self.put(rank, time + (1 - time) * self.chance.random(), (word, (first, second)))

    def by_sendrecv(self, rank, time, source, tag, comm):
        to = self.chance.choice(self.others(rank))
        self.put(rank, time, ("sendrecv", to, 0, self.value(), source, tag, comm))
        self.by_recv(to, time + (1 - time) * self.chance.random(), self.chance.choice((ANY, rank)), 0, comm)

    def by_probe(self, rank, time, *envelope, word="probe"):
        self.put(rank, time, (word, *envelope), ("recv", "s", "t", envelope[2]))

    def by_probeloop(self, rank, time, *envelope):
        self.by_probe(rank, time, *envelope, word="probeloop")

    def by_mprobe(self, rank, time, *envelope, word="mprobe"):
        slot = self.slot(rank)
        self.handles[rank].append(slot)
        self.put(rank, time, (word, *envelope, slot))
        self.put(rank, time + (1 - time) * self.chance.random() * self.chance.randrange(2), ("mrecv", slot))

    def by_mprobeloop(self, rank, time, *envelope):
        self.by_mprobe(rank, time, *envelope, word="mprobeloop")

    # -- single tests and probes, which may fail
    def by_iprobe(self, rank, time, *envelope):
        otherwise = [("recv", *envelope)] if self.likely(0.7) else []
        self.put(rank, time, ("iprobe", *envelope), ("if", "f", [("recv", "s", "t", envelope[2])], otherwise))

    def by_improbe(self, rank, time, *envelope):
        slot = self.slot(rank)
        self.handles[rank].append(slot)
        otherwise = [("recv", self.chance.randrange(self.size), *envelope[1:])] if self.likely(0.5) else []
        self.put(rank, time, ("improbe", *envelope, slot), ("if", "f", [("mrecv", slot)], otherwise))

    def by_test(self, rank, time, *envelope):
        slot = self.slot(rank)
        self.put(rank, time * self.chance.random(), ("irecv", *envelope, slot))
        later = [("send", self.chance.choice(self.others(rank)), 0, envelope[2], 3)] if self.likely(0.3) else []
        self.put(rank, time, ("test", slot), ("if", "f", [], later))
        self.put(rank, time + (1 - time) * self.chance.random(), ("wait", slot))

    # -- well-known shapes, between whose statements others may come
    def sequence(self, rank, *statements):
        self.received[rank].append(0.5)
        for time, statement in zip(sorted(self.chance.random() for _ in statements), statements):
            self.put(rank, time, statement)

    def others(self, rank):
        return [one for one in range(self.size) if one != rank]

    def master_and_workers(self):
        """Who asks gets an answer, in the order of asking; what was received until then is in it."""
        master, jobs, comm = self.chance.randrange(self.size), self.chance.randint(1, 2), self.chance.randrange(self.comms)
        answer = (self.chance.choice(("send", "send", "ssend")), "s", 0, comm, "a")
        self.sequence(master, ("loop", jobs * (self.size - 1), [("recv", ANY, ANY, comm), answer]))
        for worker in self.others(master):
            self.sequence(worker, *[("send", master, 0, comm, worker), ("recv", master, 0, comm)] * jobs)

    def relay(self):
        """Each rank passes on what it received, whoever sent it."""
        ranks = list(range(self.size))
        self.chance.shuffle(ranks)
        word = self.chance.choice(("send", "ssend"))
        for before, rank, after in zip([None, *ranks], ranks, [*ranks[1:], None]):
            receive = [("recv", self.chance.choice((ANY, before)), ANY, 0)] if before is not None else []
            self.sequence(rank, *receive, *([(word, after, 0, 0, "a")] if after is not None else []))

    def whom_first(self):
        """Who comes first decides who is asked for next: right for one order, or for both."""
        receiver = self.chance.randrange(self.size)
        first, second = self.chance.sample(self.others(receiver), 2) if self.size > 2 else self.others(receiver) * 2
        then, otherwise = ("recv", second, ANY, 0), ("recv", self.chance.choice((first, second)), ANY, 0)
        self.sequence(receiver, ("recv", ANY, ANY, 0), ("if", f"s={first}", [then], [otherwise]))
        for sender in (first, second):
            self.sequence(sender, (self.chance.choice(("send", "ssend")), receiver, 0, 0, self.chance.randrange(8)))

    def server(self):
        """Looks who is there, then receives from that rank; one of them is answered."""
        receiver, comm = self.chance.randrange(self.size), self.chance.randrange(self.comms)
        answered = self.chance.choice(self.others(receiver))
        look = (self.chance.choice(("probe", "probeloop")), ANY, 0, comm)
        self.sequence(receiver, ("loop", self.size - 1, [look, ("recv", "s", "t", comm), ("if", f"s={answered}", [("send", "s", 0, comm, "a")], [])]))
        for sender in self.others(receiver):
            self.sequence(sender, ("send", receiver, 0, comm, sender), *([("recv", receiver, 0, comm)] if sender == answered else []))

    # -- what is not a message
    def collective(self):
        time, comm = self.chance.random(), self.chance.randrange(self.comms)
        word, root = self.chance.choice(("barrier", "barrier", "allreduce", "bcast", "reduce")), self.chance.randrange(self.size)
        for rank in range(self.size):
            rooted = (root,) if word in ("bcast", "reduce") else ()
            value = () if word == "barrier" else (self.chance.choice(("x", "a", rank)),)
            self.put(rank, time, (word, comm, *rooted, *value))

    def ending(self, rank):
        """Now and then what was received decides how the rank ends."""
        if not self.received[rank] or self.likely(0.5):
            return
        time = self.chance.choice((2.0, 2.0, self.chance.random()))
        word, status = "exit", self.status
        if self.shape.aborts:
            word, status = self.chance.choice((("abort", self.status), ("abort", self.status), ("kill", 6), ("kill", 11)))
        if time < 1 and word == "exit":
            slots = tuple(range(self.slots[rank]))
            leaves = [("mrecv", slot) for slot in self.handles[rank]] + ([("waitall", slots)] if slots else [])
            self.put(rank, time, ("if", self.condition(rank), [*leaves, ("exit", self.status)], []))
        else:
            self.put(rank, time, ("if", self.condition(rank), [(word, status)], []))


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    first = int(sys.argv[1])
    for seed in range(first, first + int((sys.argv[2:] or ["1"])[0])):
        drawn = draw(seed)
        outcomes = sorted({outcome for _, outcome in drawn.result.executions})
        print(f"{seed}: {len(drawn.result.matchings)} matchings, {sum(drawn.result.executions.values())} executions, {', '.join(outcomes)}\n{drawn.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
