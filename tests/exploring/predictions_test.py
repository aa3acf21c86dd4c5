# SPDX-License-Identifier: GPL-3.0-or-later
"""`photofinish predict` against the model of MPI's matching, on programs whose ranks make the same calls whatever they receive.

From one run that ended well: a deadlock where MPI buffers every standard send is predicted if and only if the model knows an execution that deadlocks.
A prediction that is confirmed has a trace whose run did not end. Where the model has no deadlock, predictions of sends that wait are not judged: its
sends are buffered.

PF_PREDICT: programs (3; 100 in the named full run). PF_SEED: where seeds begin (1).
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from generator import Shape, draw
from photofinish import BIN, PhotofinishTest, main

INTERPRETER = BIN / "exploring" / "interpreter"
COUNT = int(os.environ.get("PF_PREDICT", "3"))
FIRST = int(os.environ.get("PF_SEED", "1"))
TRIES = 6  # recordings of a program until one ends well
PREDICTED = 5
SENDS = ("send", "ssend", "isend", "issend", "sendrecv")


def has_one_path(text):
    """No condition, and no destination that is whoever sent the last message."""
    words = text.split()
    return "if" not in words and not any(word in SENDS and words[place + 1] == "s" for place, word in enumerate(words))


class PredictionsTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", INTERPRETER)

    def programs(self):
        """(seed, what was drawn), of one path and with an execution that ends well."""
        seed, found = FIRST - 1, 0
        while found < COUNT:
            seed += 1
            drawn = draw(seed, Shape(messages=(2, 7), matchings=(2, 30)))
            outcomes = {outcome for _, outcome in drawn.result.executions}
            if has_one_path(drawn.text) and "ok" in outcomes:
                found += 1
                yield seed, drawn, "deadlock" in outcomes

    def record_a_good_run(self, drawn):
        launch = ["mpirun", "--oversubscribe", "-n", str(len(drawn.program)), INTERPRETER, drawn.text]
        for attempt in range(TRIES):
            jitter = ["--jitter", attempt] if attempt else []
            run = self.record("t.pft", launch, "--mode", "all", "--end-stuck=3", *jitter, status=None, timeout=60)
            if run.status == 0:
                return True
        return False

    def check_confirmed(self, prediction):
        """Its trace is of a run that did not end by itself."""
        trace = prediction["confirmation"]["trace"]
        self.assertIsNotNone(trace, prediction)
        self.assertFalse(self.info(trace)["complete"], prediction)
        os.unlink(trace)

    def test_deadlocks_are_those_of_the_model(self):
        begun, counts = time.monotonic(), dict.fromkeys(("programs", "deadlocks", "predicted", "confirmed", "otherwise", "not tried", "no good run"), 0)
        for seed, drawn, deadlocks in self.programs():
            with self.subTest(seed=seed):
                if not self.record_a_good_run(drawn):
                    counts["no good run"] += 1
                    continue
                run = self.photofinish("predict", self.dir / "t.pft", "--confirm", "--json", timeout=300)
                self.assertIn(run.status, (0, PREDICTED), run)
                found = [each for each in run.json()["predictions"] if (each["kind"], each["sends"]) == ("deadlock", "buffered")]
                counts["programs"] += 1
                counts["deadlocks"] += deadlocks
                counts["predicted"] += bool(found)
                states = [each["confirmation"]["state"] for each in found]
                for state in states:
                    counts[state] = counts.get(state, 0) + 1
                self.assertEqual(bool(found), deadlocks, f"{drawn.text}\n{run}")
                for each in found:  # what is behind the flips is free in a forced run: it may come out otherwise
                    if each["confirmation"]["state"] == "confirmed":
                        self.check_confirmed(each)
        print(f"\n{counts}, {time.monotonic() - begun:.0f} s")
        self.assertGreater(counts["programs"], COUNT // 2)


if __name__ == "__main__":
    main()
