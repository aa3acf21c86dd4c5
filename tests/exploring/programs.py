# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of the language (language.py) whose number of matchings is known."""
from language import ANY


def senders(count, each, receive="recv", send="send"):
    """`count` ranks send `each` messages to rank 0, which receives all with wildcards: (count * each)! / each!^count matchings."""
    total = count * each
    forms = {
        "recv": [("recv", ANY, ANY, 0)] * total,
        "irecv": [*(("irecv", ANY, ANY, 0, slot) for slot in range(total)), ("waitall", tuple(range(total)))],
        "probe": [("probe", ANY, ANY, 0), ("recv", "s", "t", 0)] * total,
        "mprobe": [("mprobe", ANY, ANY, 0, 0), ("mrecv", 0)] * total,
    }
    return [forms[receive]] + [[(send, 0, 0, 0, rank)] * each for rank in range(1, count + 1)]


def ring(size, times):
    """A token goes round: 1 matching."""
    ranks = []
    for rank in range(size):
        receive, send = ("recv", (rank - 1) % size, 0, 0), ("send", (rank + 1) % size, 0, 0, "x")
        ranks.append([send, receive] * times if rank == 0 else [receive, send] * times)
    return ranks


def tree(size):
    """A sum up a binary tree, each child by its rank: 1 matching."""
    ranks = []
    for rank in range(size):
        children = [child for child in (2 * rank + 1, 2 * rank + 2) if child < size]
        up = [("send", (rank - 1) // 2, 0, 0, "a")] if rank else []
        ranks.append([("recv", child, 0, 0) for child in children] + up)
    return ranks


def two_receivers(count):
    """`count` ranks send a message each to two ranks, which receive with wildcards: count!^2 matchings."""
    receive = [("recv", ANY, ANY, 0)] * count
    return [receive, receive] + [[("send", 0, 0, 0, rank), ("send", 1, 0, 0, rank)] for rank in range(2, count + 2)]
