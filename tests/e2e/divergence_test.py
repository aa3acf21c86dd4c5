"""A program that does something else in its replay: exit status 3, and rank, event, expected, got, within seconds."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, PhotofinishTest, main

STEERED = BIN / "e2e" / "steered"
WITHIN = 10.0


class DivergenceTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.need("mpirun", STEERED)
        self.word = self.dir / "word"
        self.word.write_text("plain\n")
        self.recorded = self.record("t.pft", self.mpirun(3, STEERED, self.word))
        self.survey()

    def survey(self):
        """From then on each call is compared, not only the number of them."""
        run = self.photofinish("replay", self.dir / "t.pft", "--survey")
        self.assertEqual(run.status, 0, run)

    def assert_diverges(self, run, rank, expected, got):
        self.assertEqual(run.status, 3, run)
        self.assertLess(run.seconds, WITHIN, run)
        self.assertRegex(run.err, rf"photofinish: replay divergence at rank {rank}, event \d+", run)
        self.assertRegex(run.err, rf"expected: .*{expected}", run)
        self.assertRegex(run.err, rf"got: .*{got}", run)

    def test_unchanged(self):
        self.assert_same_run(self.recorded, self.replay("t.pft"))

    def test_by_the_environment(self):
        for word, expected, got in (("tag", "MPI_Send.* to rank 0, tag 5", r"MPI_Send.* tag 6"),
                                    ("peer", "MPI_Send.* to rank 0", r"MPI_Send.* 2 tag 5"),
                                    ("call", "MPI_Send ", "MPI_Ssend")):
            with self.subTest(word=word):
                self.assert_diverges(self.replay("t.pft", env={"STEER": word}), 1, expected, got)

    def test_by_a_file(self):
        self.word.write_text("tag\n")
        self.assert_diverges(self.replay("t.pft"), 1, "tag 5", "tag 6")

    def test_one_call_less(self):
        run = self.replay("t.pft", env={"STEER": "less"})
        self.assert_diverges(run, 1, "MPI_Send", "MPI_Finalize")

    def test_one_call_more(self):
        run = self.replay("t.pft", env={"STEER": "more"})
        self.assert_diverges(run, 1, "MPI_Finalize", "MPI_Send")

    def test_without_a_survey(self):
        for word, got in (("less", "MPI_Finalize"), ("more", "MPI_Send")):
            with self.subTest(word=word):
                self.record("choices.pft", self.mpirun(3, STEERED, self.word))
                self.assert_diverges(self.replay("choices.pft", env={"STEER": word}), 1, "MPI_Finalize", got)

    def test_full_recording(self):
        self.record("t.pft", self.mpirun(3, STEERED, self.word), "--mode", "all")
        self.assert_diverges(self.replay("t.pft", env={"STEER": "tag"}), 1, "tag 5", "tag 6")

    def test_expected_names_the_place(self):
        run = self.replay("t.pft", env={"STEER": "tag"})
        self.assertRegex(run.err, r"expected: .* at steered\.c:\d+", run)


if __name__ == "__main__":
    main()
