# SPDX-License-Identifier: GPL-3.0-or-later
"""The papers' figures as MPI programs: their races, what each algorithm traces of them, and their replays under adversarial
orders of arrival.

    figures_test.py [NAME …]

Each figure is recorded as the paper has it, by the choices alone and by algorithms that run with it (Meehan's and one other in
turn; PF_FULL=1: each). What races and what the algorithms trace is compared with the paper, and with the algorithms run on the
whole execution (pf_online_check). Then the traces that hold all sources, the one that Meehan's algorithm has reduced (sources
of racing receives), and those that hold what another has traced (messages, replayed by tags) are replayed with the racing
messages sent in other orders, all before the first is received where that can be: some orders (PF_FULL=1: all).
All orders of all figures are tried on a model (races_tracing_test, PaperTraces).
"""
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, FULL, PhotofinishTest, main

HERE = pathlib.Path(__file__).resolve().parent
FIGURES = HERE / "figures.txt"
PROGRAM = BIN / "papers_figures"
ALGORITHMS = ("netzer-miller", "algorithm-a", "algorithm-b", "meehan")
MOST_ORDERS = 1000 if FULL else 2


class Figure:
    def __init__(self, name):
        self.name, self.races, self.traced, self.ranks = name, [], [], {}

    def add(self, line):
        if line.startswith("races"):
            self.races = [tuple(map(int, word.split("."))) for word in line.split()[1:]]
        elif line.startswith("traced"):
            *traced, self.optimum = map(int, line.split()[1:])
            self.traced = dict(zip(ALGORITHMS, traced))
        else:
            rank, operations = line.split(":", 1)
            self.ranks[int(rank)] = [each.split() for each in operations.split(";") if each.strip()]

    def taken_from(self, operation):
        return int(operation[3] if "=" in operation else operation[1].split(":")[0])

    def recorded_order(self):
        """Messages as (rank, number of its send), each one received before the next is sent; and who receives what."""
        at, sent, order, source = {r: 0 for r in self.ranks}, {r: 0 for r in self.ranks}, [], {}
        while any(at[r] < len(self.ranks[r]) for r in self.ranks):
            for receiver, operations in self.ranks.items():
                if at[receiver] == len(operations) or operations[at[receiver]][0] != "recv":
                    continue
                sender = self.taken_from(operations[at[receiver]])
                theirs = self.ranks[sender]
                if at[sender] < len(theirs) and theirs[at[sender]][0] == "send" and int(theirs[at[sender]][1].split(":")[0]) == receiver:
                    source[receiver, at[receiver]] = (sender, sent[sender])
                    order.append((sender, sent[sender]))
                    sent[sender] += 1
                    at[sender] += 1
                    at[receiver] += 1
                    break
            else:
                raise AssertionError(f"{self.name}: its receives cannot be as printed")
        return order, source

    def arrival_orders(self):
        """All orders in which a replay may send, and how many messages of each can be sent before anything is received."""
        order, source = self.recorded_order()
        before, late = {}, set()
        for rank, operations in self.ranks.items():
            wild = any(operation[0] == "recv" and operation[1].startswith("*") for operation in operations)
            known, sends, depends = set(), 0, False
            for index, operation in enumerate(operations):
                if operation[0] == "recv":
                    known.add(source[rank, index])
                    depends = depends or wild
                else:
                    before[rank, sends] = set(known)
                    if depends:
                        late.add((rank, sends))
                    known.add((rank, sends))
                    sends += 1
        changed = True
        while changed:
            more = {m for m, earlier in before.items() if m not in late and earlier & late}
            late |= more
            changed = bool(more)

        def extend(prefix):
            if len(prefix) == len(order):
                yield prefix
            for message in sorted(before):
                if message not in prefix and before[message] <= set(prefix):
                    yield from extend(prefix + [message])
        for each in extend([]):
            hold = next((i for i, message in enumerate(each) if message in late), len(each))
            yield each, hold


def figures():
    found = []
    for line in FIGURES.read_text().splitlines():
        if line.startswith("figure "):
            found.append(Figure(line.split()[1]))
        elif line.strip() and not line.startswith("#"):
            found[-1].add(line)
    return found


class FiguresTest(PhotofinishTest):
    names = []

    def gate(self, order, **more):
        path = self.dir / "gate"
        path.write_bytes(bytes(8))
        return {"FIGURE_GATE": str(path), "FIGURE_ORDER": " ".join(f"{rank}.{send}" for rank, send in order), **more}

    def record_figure(self, figure, *options):
        order, source = figure.recorded_order()
        launch = self.mpirun(len(figure.ranks), PROGRAM, FIGURES, figure.name)
        recorded = self.record("t.pft", launch, *options, env=self.gate(order, FIGURE_STRICT="1"))
        took = {}
        for receiver, index in sorted(source):
            took.setdefault(receiver, []).append(source[receiver, index][0])
        printed = {rank: [int(word.split(":")[0]) for word in line.split()[2:]] for rank, lines in recorded.by_rank().items() for line in lines}
        self.assertEqual(printed, took, f"{figure.name} was not recorded as the paper has it\n{recorded}")
        return recorded

    def check_replays(self, figure, recorded, how):
        orders = list(figure.arrival_orders())
        step = max(1, len(orders) // MOST_ORDERS)
        chosen = orders[::step][:MOST_ORDERS - 1] + [orders[-1]] if len(orders) > MOST_ORDERS else orders
        for order, hold in chosen:
            with self.subTest(figure=figure.name, trace=how, order=order):
                self.assert_same_run(recorded, self.replay("t.pft", env=self.gate(order, FIGURE_HOLD=str(hold))))
        return len(chosen), len(orders)

    def check_races(self, figure):
        races = self.photofinish("races", self.dir / "t.pft", "--json").json()["races"]
        racing = sorted((race["receive"]["rank"], race["receive"]["serial"]) for race in races)
        expected = []
        for rank, number in figure.races:
            receives = [index for index, operation in enumerate(figure.ranks[rank]) if operation[0] == "recv"]
            expected.append((rank, receives[number] + 2))  # event 1 is MPI_Init
        self.assertEqual(racing, sorted(expected))

    def check_traced(self, figure):
        tracing = self.photofinish("info", self.dir / "t.pft", "--tracing", "--json").json()["tracing"]
        self.assertEqual({name: tracing["algorithms"][name]["asPrinted"] for name in ALGORITHMS}, figure.traced, tracing)
        self.assertEqual(tracing["optimum"], {"lower": figure.optimum, "upper": figure.optimum, "exact": True})

    def test_figures(self):
        self.need("mpirun", PROGRAM)
        known = figures()
        self.assertTrue(set(self.names) <= {figure.name for figure in known}, self.names)
        for figure in known:
            if self.names and figure.name not in self.names:
                continue
            with self.subTest(figure=figure.name):
                recorded = self.record_figure(figure)
                self.check_races(figure)
                self.check_traced(figure)
                tried, orders = self.check_replays(figure, recorded, "outcomes")
                for algorithm in ALGORITHMS if FULL else (ALGORITHMS[known.index(figure) % 3], "meehan"):
                    recorded = self.record_figure(figure, "--algorithm", algorithm)
                    self.check_replays(figure, recorded, algorithm)
                    self.photofinish("replay", self.dir / "t.pft", "--survey")
                    same = self.run_command(BIN / "pf_online_check", self.dir / "t.pft")
                    self.assertEqual(same.status, 0, f"{figure.name}, {algorithm}\n{same}")
                traced = " ".join(f"{name} {count}" for name, count in figure.traced.items())
                print(f"  {figure.name:22} racing receives {len(figure.races)}; traced as printed: {traced}, optimum {figure.optimum}; "
                      f"3 x {tried} of {orders} orders replayed")


if __name__ == "__main__":
    FiguresTest.names = sys.argv[1:]
    del sys.argv[1:]
    main()
