# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a recorded run can depend on what one receive took: told from the tables of a trace, and too much rather than too little.

Lamport's order (1978) of events, one number a rank: the first event that depends. A message carries it from its send to the event that saw it
received, and to each probe that saw it; a synchronous send, back; a collective, to all of its members. On the receive's own rank it begins where the
receive is posted. By MPI's order of matching (4.0, 3.5) a message is delivered after those of earlier receives that would have taken it, and after
earlier ones of its sender that its receive would have taken.
"""
import collections

NEVER = 1 << 60
COLLECTIVE = (6, 7)  # event_kind.id: a collective, and one that begins without blocking; what an MPI_Wait gets of the latter counts from its begin on


class Recording:
    """A trace's events, receives, probes, messages and races. test: has photofinish()."""

    def __init__(self, test, trace):
        self.test, self.trace = test, trace
        self.races = self._json("races", trace, "--all", "--json")["races"]  # surveyed first, where it holds choices only
        self.events = collections.defaultdict(list)  # of a rank, by serial from 1
        for row in self._rows("SELECT e.rank, e.serial, c.name AS call, e.kind, e.comm, e.peer, e.tag, e.bytes FROM event e JOIN call c ON c.id = e.call ORDER BY 1, 2"):
            self.events[row["rank"]].append(row)
        self.receives = {(row["rank"], row["post"]): row for row in self._rows("SELECT * FROM receive")}
        self.probes = {(row["rank"], row["ordinal"]): row for row in self._rows("SELECT * FROM probe")}
        self.messages = {row["id"]: row for row in self._rows("SELECT * FROM message")}
        self.collectives = self._collectives()

    def _json(self, *words):
        run = self.test.photofinish(*words)
        self.test.assertEqual(run.status, 0, run)
        return run.json()

    def _rows(self, query):
        return self._json("sql", self.trace, query, "--json")

    def _collectives(self):
        """[{rank: serial}]: the n-th of a communicator on each of its ranks."""
        found = collections.defaultdict(dict)
        for rank, events in self.events.items():
            counts = collections.Counter()
            for event in events:
                if event["kind"] in COLLECTIVE:
                    found[event["comm"], counts[event["comm"]]][rank] = event["serial"]
                    counts[event["comm"]] += 1
        return list(found.values())

    def taker(self, race):
        """The row of the racing receive or probe."""
        receive = race["receive"]
        if not receive["probe"]:
            return self.receives[receive["rank"], receive["post"]]
        return next(row for row in self.probes.values() if (row["rank"], row["serial"]) == (receive["rank"], receive["serial"]))

    def sent_at(self, end, dest):
        """Messages to `dest` that are sent at the place that a race names."""
        return [row for row in self.messages.values() if (row["source"], row["send_serial"], row["dest"]) == (end["rank"], end["serial"], dest)]

    def taken_by(self, taker):
        """(sender, number among its sends) of what this receive or probe has taken; None."""
        row = self.messages.get(taker["message"])
        return row and (row["source"], row["send_index"])

    @staticmethod
    def accepts(taker, message):
        return (taker["comm"] == message["comm"] and taker["wanted_source"] in (-1, message["source"]) and taker["wanted_tag"] in (-1, message["tag"]))

    def needed(self, rank, taker, message, posts):
        """Messages that are delivered before this one can be: those of earlier receives that would have taken it, and earlier ones of its sender."""
        found = [self.receives[rank, post]["message"] for post in posts if (rank, post) in self.receives and self.accepts(self.receives[rank, post], message)]
        found += [row["id"] for row in self.messages.values() if (row["source"], row["dest"]) == (message["source"], rank)
                  and row["send_index"] < message["send_index"] and self.accepts(taker, row)]
        return [each for each in found if each is not None]

    def first_dependent(self, rank, serial):
        """{rank: serial of its first event that can depend on what the one of `rank` at `serial` takes}; NEVER."""
        cut, late = collections.defaultdict(lambda: NEVER, {rank: serial}), set()  # late: messages whose delivery can depend on it
        orders = {message["id"]: self.needed(message["dest"], self.receives[message["dest"], message["post"]], message, range(message["post"]))
                  for message in self.messages.values() if (message["dest"], message["post"]) in self.receives}
        while True:
            before = dict(cut), len(late)
            for number, message in self.messages.items():
                done, back = message["completion_serial"], message["sync_completion"]
                receive = self.receives.get((message["dest"], message["post"]))
                asked = receive is not None and receive["post_serial"] >= cut[message["dest"]]  # a synchronous send waits for that
                if asked or message["send_serial"] >= cut[message["source"]] or late.intersection(orders.get(number, ())):
                    late.add(number)
                if number in late:
                    if done is not None:
                        cut[message["dest"]] = min(cut[message["dest"]], done)
                    if back is not None:
                        cut[message["source"]] = min(cut[message["source"]], back)
            for (of, _), probe in self.probes.items():
                message = self.messages.get(probe["message"])
                if message and (message["send_serial"] >= cut[message["source"]]
                                or late.intersection(self.needed(of, probe, message, range(probe["posts_before"])))):
                    cut[of] = min(cut[of], probe["serial"])
            for members in self.collectives:
                if any(at >= cut[member] for member, at in members.items()):
                    for member, at in members.items():
                        cut[member] = min(cut[member], at)
            if before == (dict(cut), len(late)):
                return cut

    def is_whole(self, rank):
        """Whether its record goes up to MPI_Finalize."""
        return self.events[rank][-1]["call"] == "MPI_Finalize"

    def ends(self, cut):
        """{rank: the first event that depends, or of which nothing is known}: where a rank was ended, its last call may not have come back."""
        return {rank: min(cut[rank], len(events) + (1 if self.is_whole(rank) else 0)) for rank, events in self.events.items()}

    def prefix(self, rank, end):
        """What the rank did before its event `end`: its calls, and what was taken."""
        calls = [tuple(event[key] for key in ("call", "kind", "peer", "tag", "bytes")) for event in self.events[rank] if event["serial"] < end]
        took = sorted((row["completion_serial"], row["post"], self.taken_by(row)) for (of, _), row in self.receives.items()
                      if of == rank and row["completion_serial"] is not None and row["completion_serial"] < end)
        saw = sorted((row["serial"], self.taken_by(row)) for (of, _), row in self.probes.items() if of == rank and row["serial"] < end)
        return calls, took, saw

    def may_come_first(self, taker, message, cut):
        """Messages of the same sender that come before `message`, that the taker accepts, and that are not taken before it whatever it takes: the
        argument that it cannot take `message` (MPI 4.0, 3.5)."""
        rank = taker["rank"]
        posted = taker.get("post_serial", taker.get("serial"))
        found = []
        for row in self.messages.values():
            ahead = (row["source"], row["dest"], row["comm"]) == (message["source"], rank, message["comm"]) and row["send_index"] < message["send_index"]
            if not ahead or taker["wanted_tag"] not in (-1, row["tag"]):
                continue
            by = self.receives.get((rank, row["post"])) if row["post"] is not None else None
            gone = by is not None and (by["post_serial"] < posted and row["completion_serial"] is not None and row["completion_serial"] < cut[rank])
            if not gone:
                found.append(row)
        return found
