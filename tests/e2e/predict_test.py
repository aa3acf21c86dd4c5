# SPDX-License-Identifier: GPL-3.0-or-later
"""photofinish predict: what hangs in another order is predicted from a run that did not, and nothing where no order does."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, SOURCE, PhotofinishTest, main

PROGRAM = BIN / "e2e" / "predicted"
CORPUS = BIN / "corpus"
EXPECTED = json.loads((SOURCE / "tests" / "corpus" / "expected.json").read_text())
PREDICTED = 5


class PredictTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", PROGRAM)

    def predict(self, *words):
        return self.photofinish("predict", self.dir / "t.pft", "--no-confirm", *words)

    def predicted(self, what, *options):
        (self.dir / "t.pft").unlink(missing_ok=True)
        self.record("t.pft", self.mpirun(4, PROGRAM, what), *options)
        return self.predict("--json")

    def check_deadlock(self, run):
        self.assertEqual(run.status, PREDICTED, run)
        found = run.json()["predictions"]
        self.assertEqual([(each["kind"], each["sends"]) for each in found], [("deadlock", "buffered")], run)
        flip = found[0]["flips"]
        self.assertEqual([(each["receive"]["rank"], each["takes"]["rank"], each["recorded"]["rank"]) for each in flip], [(1, 2, 0)], run)
        self.assertEqual(found[0]["flip"], f"1:{flip[0]['receive']['serial']}=2:{flip[0]['takes']['serial']}", run)
        self.assertIn(1, [each["rank"] for each in found[0]["blocked"]])
        self.assertEqual(found[0]["confirmation"]["state"], "not tried")

    def test_deadlocks_are_predicted(self):
        self.check_deadlock(self.predicted("named", "--mode", "all"))
        self.check_deadlock(self.predicted("collective", "--mode", "all"))

    def test_what_follows_is_no_flip(self):
        """A receive that names its source takes another message then, too, but it cannot be asked to."""
        self.check_deadlock(self.predicted("follows", "--mode", "all"))
        run = self.photofinish("predict", self.dir / "t.pft", "--confirm", "--json", timeout=90)
        self.assertEqual([each["confirmation"]["state"] for each in run.json()["predictions"]], ["confirmed"], run)

    def test_a_trace_of_choices_is_surveyed_first(self):
        self.check_deadlock(self.predicted("named"))

    def test_a_message_that_does_not_fit(self):
        """Rank 2's has two numbers, and only the first receive room for them."""
        self.photofinish("explore", "-o", "s.explore", *self.mpirun(4, BIN / "e2e" / "flipped", "short"), timeout=60)
        run = self.photofinish("predict", "s.explore.d/ok.pft", "--confirm", "--json", timeout=90)
        self.assertEqual(run.status, PREDICTED, run)
        self.assertTrue(run.json()["truncationLooked"], run)
        self.assertEqual(run.json()["receivesWithoutRoom"], 0, run)
        found = run.json()["predictions"]
        self.assertEqual([(each["kind"], each["bytes"], each["room"], each["confirmation"]["state"]) for each in found], [("truncation", 8, 4, "confirmed")], run)
        text = self.photofinish("predict", "s.explore.d/ok.pft", "--no-confirm").out
        self.assertRegex(text, r"8 bytes for 4: rank 0 event [34] MPI_Recv .*\n    takes rank 2 event 2 MPI_Send")

    def test_a_recording_that_hangs_itself_is_said_to(self):
        """Nothing is predicted of another order, and that it hangs as it was recorded comes first."""
        self.photofinish("explore", "-o", "d.explore", *self.mpirun(3, CORPUS / "deadlock_in_order"), timeout=60)
        run = self.photofinish("predict", "d.explore.d/deadlock.pft", "--no-confirm")
        self.assertEqual(run.status, PREDICTED, run)
        self.assertRegex(run.out.splitlines()[0], "^this recording itself hangs: .*rank 0 is in MPI_Recv at deadlock_in_order.c:18")
        run = self.photofinish("predict", "d.explore.d/deadlock.pft", "--no-confirm", "--json")
        self.assertTrue(run.json()["recordedHang"], run)
        self.assertFalse(self.photofinish("predict", "d.explore.d/ok.pft", "--no-confirm", "--json").json()["recordedHang"])

    def test_what_waits_for_a_collective_cannot_overtake(self):
        run = self.predicted("ordered", "--mode", "all")
        self.assertEqual((run.status, run.json()["predictions"]), (0, []), run)
        self.assertIn("nothing predicted", self.predict().out)

    def test_a_message_that_nobody_receives(self):
        run = self.predicted("left", "--mode", "all")
        self.assertEqual(run.status, PREDICTED, run)
        found = run.json()["predictions"]
        self.assertEqual([(each["kind"], each["send"]["rank"]) for each in found], [("unreceived", 0)], run)

    def test_sends_that_may_wait_are_told(self):
        run = self.predicted("unbuffered", "--mode", "all")
        self.assertEqual(run.status, PREDICTED, run)
        self.assertEqual({each["sends"] for each in run.json()["predictions"]}, {"synchronous"}, run)
        text = self.predict().out
        self.assertIn("deadlock where these sends wait for their receives", text)
        self.assertIn("for its receive", text)

    def test_as_text(self):
        self.predicted("named", "--mode", "all")
        run = self.predict()
        self.assertEqual(run.status, PREDICTED, run)
        for part in ("1 prediction", "makes the same calls whatever it receives", "deadlock, also where MPI buffers every standard send",
                     "waits for ever: rank 1 event", "predicted.c:", "not tried: --no-confirm", "photofinish flip"):
            self.assertIn(part, run.out)

    def test_one_sided_communication_is_refused(self):
        run = self.predicted("onesided", "--mode", "all")
        self.assertEqual(run.status, 2, run)
        self.assertIn("MPI_Put", run.err)
        self.assertIn("not modelled", run.err)

    def test_bad_words(self):
        self.predicted("named", "--mode", "all")
        self.assertEqual(self.predict("--time", "0").status, 2)
        self.assertEqual(self.photofinish("predict", self.dir / "none.pft").status, 2)

    def test_threads_are_refused(self):
        self.need(CORPUS / "two_threads")
        self.record("t.pft", self.mpirun(4, CORPUS / "two_threads"), "--mode", "all")
        run = self.predict()
        self.assertEqual(run.status, 2, run)
        self.assertIn("several threads", run.err)

    def test_programs_without_races_have_nothing_predicted(self):
        programs = EXPECTED.get("programs", EXPECTED)
        looked = 0
        for name, facts in programs.items():
            if facts.get("racy") is False and facts.get("fails") in (None, "never", False) and (CORPUS / name).is_file():
                (self.dir / "t.pft").unlink(missing_ok=True)
                self.record("t.pft", self.mpirun(facts["ranks"], CORPUS / name, *facts.get("args", [])), "--mode", "all")
                run = self.predict()
                self.assertEqual(run.status, 0, run)
                looked += 1
        self.assertGreater(looked, 5)

    def test_a_deadlock_of_the_corpus(self):
        self.need(CORPUS / "deadlock_in_order")
        for _ in range(20):
            (self.dir / "t.pft").unlink(missing_ok=True)
            self.record("t.pft", self.mpirun(3, CORPUS / "deadlock_in_order"), "--mode", "all", "--end-stuck", status=None)
            run = self.predict("--json")
            self.assertEqual(run.status, PREDICTED, run)
            if not run.json()["recordedHang"]:
                break
        self.assertEqual([each["kind"] for each in run.json()["predictions"]], ["deadlock"], run)


if __name__ == "__main__":
    main()
