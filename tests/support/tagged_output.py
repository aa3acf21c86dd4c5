# SPDX-License-Identifier: GPL-3.0-or-later
"""What `mpirun --tag-output` shows of ranks, told apart again: that of Open MPI 4 (ORTE), and that of Open MPI 5 (PRRTE).

PRRTE reads at most 4 KiB of a rank at once. What is behind the last whole line of such a piece it puts in front of the next piece, whoever's that is
and with that one's tag. So where one rank's lines follow another's, the first of them may begin with words of that other one, or lack its own begin.
How many lines each rank has said, and all others of them, are right."""
import functools
import re
import subprocess

OUTPUT_TAG = re.compile(r"\[\d+,(\d+)\]<stdout>:")
PIECE = 4096  # bytes


@functools.cache
def launches_by_prrte():
    """Whether mpirun is that of Open MPI 5 or later."""
    try:
        said = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return False
    found = re.search(r"\(Open MPI\) (\d+)", said)
    return found is not None and int(found[1]) >= 5


def as_orte_has_it(text):
    """PRRTE puts a blank behind its tags, and after MPI_Abort it adds a null byte to what a rank has said."""
    if not launches_by_prrte():
        return text
    return re.sub(r"(\[\d+,\d+\]<std(?:out|err)>:) \0?", r"\1", text).replace("\0", "")


class Torn(str):
    """A line of which only is known that it is there: it equals any."""

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __hash__ = str.__hash__


def lines_by_rank(text, prrte=None):
    """{rank: its lines in their order}. Of PRRTE's output, lines that are perhaps not whole, or not the rank's alone, are Torn."""
    prrte = launches_by_prrte() if prrte is None else prrte
    pieces = OUTPUT_TAG.split(text.replace("\r", ""))
    said, begins, before = {}, {}, None
    for rank, piece in zip(map(int, pieces[1::2]), pieces[2::2]):
        if before not in (None, rank):
            begins.setdefault(rank, set()).add(len(said.get(rank, "")))
        said[rank] = said.get(rank, "") + piece
        before = rank
    if not prrte or all(len(each.encode()) <= PIECE for each in said.values()):  # each in one piece
        return {rank: each.splitlines() for rank, each in said.items()}
    return {rank: _marked(each, begins.get(rank, ())) for rank, each in said.items()}


def _marked(text, begins):
    lines, at = [], 0
    for line in text.splitlines(keepends=True):
        lines.append(Torn(line.splitlines()[0]) if at in begins else line.splitlines()[0])
        at += len(line)
    return lines
