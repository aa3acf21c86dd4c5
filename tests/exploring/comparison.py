# SPDX-License-Identifier: GPL-3.0-or-later
"""What an exploration's table `matchings` has, beside what the model knows."""
import collections


class Comparison:
    """missed: (matching, outcome) that the model knows and no run had. wrong: of runs, and unknown to the model. twice: runs too many,
    by (matching, outcome). again: runs whose matching was there, and that may differ in a choice that is no receive."""

    def __init__(self, result, rows, text=""):
        known = collections.Counter()
        for (matching, outcome), count in result.executions.items():
            known[named(matching, text), told(outcome)] += count
        runs = collections.Counter((named(matching, text), ended(outcome)) for matching, outcome in rows)
        self.missed = sorted(set(known) - set(runs))
        self.wrong = sorted(set(runs) - set(known))
        self.twice = {pair: count - known[pair] for pair, count in runs.items() if pair in known and count > known[pair]}
        self.again = sum(runs.values()) - len(runs)

    def is_right(self):
        return not (self.missed or self.wrong or self.twice)

    def __str__(self):
        def some(pairs):
            return "".join(f"\n    {matching or '(no receive)'}  {outcome}" for matching, outcome in list(pairs)[:6]) + (
                f"\n    and {len(pairs) - 6} more" if len(pairs) > 6 else "")
        return (f"{len(self.missed)} missed{some(self.missed)}\n{sum(self.twice.values())} twice{some(self.twice)}\n"
                f"{len(self.wrong)} that the model does not know{some(self.wrong)}")


def named(matching, text):
    """A message that MPI_Mprobe has matched counts with its receive in the model, and where it was matched in an exploration: where a program has
    such, the order of a rank's receives is left out."""
    if "mprobe" not in text and "improbe" not in text:
        return matching
    return ";".join(",".join(sorted(rank.split(","))) for rank in matching.split(";"))


def ended(outcome):
    """A rank that polls, or waits for one of several, is in no call of which it can be proven that it never ends: its time is up some day."""
    return "deadlock" if outcome in ("time limit", "hang") else outcome


def told(outcome):
    """An outcome of the model as an exploration tells it: MPI_Abort gives the job its status."""
    return outcome.replace("abort ", "exit ")


def begins(partial, whole, text=""):
    """Whether a matching that was looked at before the end can become the other: of each rank it has the first receives, and what
    these took or nothing. Where a program has MPI_Mprobe the order is left out (named()), and what such a call has matched may
    not have been received in the other one yet."""
    matched = text.count("mprobe") + text.count("improbe")

    def of_rank(mine, other):
        mine, other = mine.split(",") if mine else [], other.split(",") if other else []
        if matched:
            more = collections.Counter(one for one in mine if one != "-") - collections.Counter(other)
            return sum(more.values()) <= matched
        return len(mine) <= len(other) and all(one in ("-", two) for one, two in zip(mine, other))
    return partial.count(";") == whole.count(";") and all(of_rank(*pair) for pair in zip(partial.split(";"), whole.split(";")))


def aborts_missed(result, aborting, rows):
    """What the aborting ranks' receives took before MPI_Abort, by the model, and no run that ended by it shows."""
    def parts(pairs, outcome):
        return {tuple(matching.split(";")[rank] for rank in aborting) for matching, ending in pairs if ending == outcome}
    missed = set()
    for outcome in {ending for _, ending in result.executions if ending.startswith(("abort", "signal"))}:
        missed |= parts(result.executions, outcome) - parts(rows, told(outcome))
    return missed
