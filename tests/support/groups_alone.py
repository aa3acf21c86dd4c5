# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups of a recorded job that are replayed alone, and what a recording says that they cannot do so."""
import re

REFUSED = re.compile(r"rank (\d+): (MPI_\w+)(?: of another thread than that of MPI_Init, with ranks outside,)? cannot be replayed by a group alone")


def groups_of(spec, ranks):
    """The groups of a SPEC, by its own words: lists of ranks, in the order of their numbers."""
    if spec in ("each", "all"):
        return [[rank] for rank in range(ranks)] if spec == "each" else [list(range(ranks))]
    groups = []
    for text in spec.split(","):
        group = []
        for piece in text.split("+"):
            first, _, last = piece.partition("-")
            group += range(int(first), int(last or first) + 1)
        groups.append(group)
    named = {rank for group in groups for rank in group}
    groups += [[rank] for rank in range(ranks) if rank not in named]
    return sorted(groups)


def refused(recorded):
    """{rank: routine} that a recording with groups has named as what a group cannot do alone."""
    return {int(rank): routine for rank, routine in REFUSED.findall(recorded.err)}
