# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs whose threads all call MPI: what each thread received, in its order, is the same in each replay, in both modes
of recording; each event names its thread; a crash in a thread leaves a trace that replays up to there. PF_REPLAYS: how
many replays of each recording (1; 20 with PF_FULL)."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, FULL, PhotofinishTest, main

LANES = BIN / "e2e" / "lanes"
SERIALIZED = BIN / "e2e" / "lanes_serialized"
STUCK = BIN / "e2e" / "lanes_stuck"
REPLAYS = int(os.environ.get("PF_REPLAYS", "20" if FULL else "1"))


# A library that makes a thread while it is loaded, and a program that loads it before MPI_Init, as Python's import does.
MAKER = """
#include <pthread.h>
#include <unistd.h>
static void *wait_for_ever(void *nothing) { pause(); return nothing; }
__attribute__((constructor)) static void begin(void) { pthread_t made; pthread_create(&made, 0, wait_for_ever, 0); }
"""
LOADER = """
#include <dlfcn.h>
#include <mpi.h>
int main(int argc, char **argv) {
    int level;
    if (!dlopen(argv[1], RTLD_NOW)) return 9;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Finalize();
    return 0;
}
"""

# A library that takes a lock of its own when it is called, as UCX does wherever memory is mapped, and a program of two threads.
LOCKER = """
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t both = PTHREAD_RWLOCK_INITIALIZER;
static sem_t once;
void take(void) {
    pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex);
    if (pthread_mutex_trylock(&mutex) == 0) pthread_mutex_unlock(&mutex);
    pthread_rwlock_rdlock(&both); pthread_rwlock_unlock(&both);
    sem_init(&once, 0, 0); sem_post(&once); sem_wait(&once);
}
"""
# A thread that loads a library, whose constructor waits for a lock of the program's, whose holder takes another one meanwhile.
LATE = """
#include <pthread.h>
extern pthread_mutex_t held;
extern volatile int begun;
__attribute__((constructor)) static void begin(void) { begun = 1; pthread_mutex_lock(&held); pthread_mutex_unlock(&held); }
"""
HOLDER = """
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t both = PTHREAD_RWLOCK_INITIALIZER;
volatile int begun;
static void *load(void *name) { return dlopen(name, RTLD_NOW); }
static void *nothing(void *none) { return none; }
int main(int argc, char **argv) {
    int level;
    pthread_t thread, more;
    void *loaded = NULL;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    pthread_mutex_lock(&held);
    pthread_create(&thread, NULL, load, argv[1]);
    while (!begun) usleep(1000);
    pthread_mutex_lock(&other); pthread_mutex_unlock(&other);
    pthread_rwlock_wrlock(&both); pthread_rwlock_unlock(&both);
    pthread_create(&more, NULL, nothing, NULL);
    pthread_mutex_unlock(&held);
    pthread_join(more, NULL);
    pthread_join(thread, &loaded);
    printf("loaded: %d\\n", loaded != NULL);
    MPI_Finalize();
    return 0;
}
"""
TAKER = """
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
static void *run(void *take) {
    for (int i = 0; i < 3; ++i) {
        MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
        for (int n = atoi(getenv("TAKES")); n > 0; --n) ((void (*)(void))take)();
    }
    return NULL;
}
int main(int argc, char **argv) {
    int level, got;
    pthread_t made;
    void *library = dlopen(argv[1], RTLD_NOW);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (!library || pthread_create(&made, NULL, run, dlsym(library, "take"))) return 9;
    for (int i = 0; i < 3; ++i) MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    pthread_join(made, NULL);
    MPI_Finalize();
    return 0;
}
"""


class ThreadsTest(PhotofinishTest):
    def assert_replays(self, recorded, replays=REPLAYS):
        for seed in range(1, replays + 1):
            with self.subTest(jitter=seed):
                replayed = self.replay("t.pft", "--jitter", seed)
                self.assertEqual(replayed.status, recorded.status, replayed)
                self.assertEqual({rank: sorted(lines) for rank, lines in replayed.by_rank().items()},
                                 {rank: sorted(lines) for rank, lines in recorded.by_rank().items()}, replayed)

    def check_way(self, way):
        self.need("mpirun", LANES)
        for options in (["--mode", "outcomes"], ["--mode", "outcomes", "--jitter", "5"], ["--mode", "all"]):
            with self.subTest(way=way, options=options):
                recorded = self.record("t.pft", self.mpirun(3, LANES, way), *options)
                notes = [line for line in recorded.err.splitlines() if "note:" in line]
                self.assertTrue(all("what threads share without a lock" in note for note in notes) and len(notes) <= 1, recorded)
                self.assert_replays(recorded)
        # The last one has each call: a survey of the same trace must agree with it.
        surveyed = self.photofinish("replay", self.dir / "t.pft", "--survey")
        self.assertEqual(surveyed.status, 0, surveyed)
        return recorded

    def test_wildcards(self):
        self.check_way("wildcard")

    def test_explicit_sources(self):
        self.check_way("explicit")

    def test_senders(self):
        self.check_way("senders")

    def test_tests(self):
        self.check_way("tests")

    def test_waitany(self):
        self.check_way("waitany")

    def test_probes(self):
        self.check_way("probes")

    def test_pool(self):
        self.check_way("pool")

    def test_heartbeat(self):
        self.check_way("heartbeat")

    def test_exchange(self):
        self.check_way("exchange")

    def test_threads_of_iso_c(self):
        program = BIN / "e2e" / "iso_threads"
        self.need("mpirun", program)
        recorded = self.record("t.pft", self.mpirun(1, program, "multiple"))
        self.assertRegex(recorded.out, r"of 1 and 2")
        for seed in (1, 2, 3):
            self.assert_same_run(recorded, self.replay("t.pft", "--jitter", seed))
        recorded = self.record("t.pft", self.mpirun(1, program))
        self.assertRegex(recorded.err, r"note: what threads share without a lock, first thread made at iso_threads\.c:\d+", recorded)

    def test_crash(self):
        self.need("mpirun", LANES)
        recorded = self.record("t.pft", self.mpirun(3, LANES, "crash"), status=None)
        self.assertEqual(recorded.status, 139, recorded)
        self.assert_replays(recorded)
        self.assertEqual(self.photofinish("check", self.dir / "t.pft").status, 0)

    def test_hang(self):
        """All threads wait for messages, and the main one for them: told, and so is the end of the replay."""
        self.need("mpirun", LANES)
        recorded = self.record("t.pft", self.mpirun(2, LANES, "hang", 4, 4), status=None, interrupt_after=9)
        self.assertRegex(recorded.err, "(?i)deadlock|wait", recorded)
        events = self.photofinish("events", self.dir / "t.pft", "--json")
        self.assertEqual(events.status, 0, events)
        self.assertEqual(sum("deliveries" in event for event in events.json()["events"]), 16)
        replayed = self.replay("t.pft")
        self.assertIsNotNone(replayed.status, replayed)
        self.assertRegex(replayed.err, "the recording ends here", replayed)

    def test_taking_turns(self):
        """MPI_THREAD_SERIALIZED: a mutex decides who calls next."""
        self.need("mpirun", SERIALIZED)
        self.assert_replays(self.record("t.pft", self.mpirun(3, SERIALIZED)))

    def test_events_name_their_threads(self):
        self.need("mpirun", LANES)
        self.record("t.pft", self.mpirun(3, LANES, "wildcard", 4))
        for survey in (False, True):  # the second one compares each call with what the first one saw
            with self.subTest(survey=survey):
                if survey:
                    self.assertEqual(self.photofinish("replay", self.dir / "t.pft", "--jitter", 3).status, 0)
                events = self.photofinish("events", self.dir / "t.pft", "--rank", 0, "--json").json()["events"]
                self.assertEqual([event["serial"] for event in events], list(range(1, len(events) + 1)))
                by_thread = {}
                for event in events:
                    by_thread.setdefault(event["thread"], []).append(event)
                self.assertEqual(set(by_thread), {0, 1, 2, 3})
                for thread, own in by_thread.items():
                    self.assertEqual([event["threadSerial"] for event in own], list(range(1, len(own) + 1)))
                    received = [event for event in own if "deliveries" in event]
                    self.assertEqual(len(received), 24, f"thread {thread}")
                    self.assertTrue(all(event["kind"] == "completion" for event in received))

    def test_until_stops_all_threads(self):
        self.need("mpirun", LANES)
        self.record("t.pft", self.mpirun(3, LANES, "wildcard"))
        stopped = self.photofinish("replay", self.dir / "t.pft", "--until", "0:60")
        self.assertEqual(stopped.status, 0, stopped)
        self.assertRegex(stopped.err, r"rank 0.*60", stopped)

    def test_a_thread_that_a_library_of_mpi_makes_while_it_is_loaded(self):
        """UCX makes one. It is none of the program's, which has one thread then; another library's is."""
        self.need("mpirun")
        (self.dir / "maker.c").write_text(MAKER)
        (self.dir / "loader.c").write_text(LOADER)
        subprocess.run([os.environ.get("PF_MPICC", "mpicc"), "-o", "loader", "loader.c", "-ldl"], cwd=self.dir, check=True)
        for name, lanes in (("libucs_maker.so", 0), ("libmine.so", 1)):
            with self.subTest(library=name):
                subprocess.run(["gcc", "-shared", "-fPIC", "-pthread", "-o", name, "maker.c"], cwd=self.dir, check=True)
                self.record("t.pft", self.mpirun(1, "./loader", f"./{name}"))
                dumped = self.run_command(BIN / "pf_log_dump", "t.pft", 0)
                self.assertEqual(dumped.out.count("LaneMade"), lanes, dumped)

    def test_locks_that_a_library_of_mpi_takes(self):
        """How often is a matter of the heap and of time: they are none of the program's. Another library's are."""
        self.need("mpirun")
        (self.dir / "locker.c").write_text(LOCKER)
        (self.dir / "taker.c").write_text(TAKER)
        subprocess.run([os.environ.get("PF_MPICC", "mpicc"), "-o", "taker", "taker.c", "-ldl", "-pthread"], cwd=self.dir, check=True)
        for name, counted in (("libucm_locker.so", False), ("libmine.so", True)):
            with self.subTest(library=name):
                subprocess.run(["gcc", "-shared", "-fPIC", "-pthread", "-o", name, "locker.c"], cwd=self.dir, check=True)
                self.record("t.pft", self.mpirun(1, "./taker", f"./{name}"), "--mode", "all", env={"TAKES": "2"})
                dumped = self.run_command(BIN / "pf_log_dump", "t.pft", 0).out
                self.assertEqual("Choice kind=Lock" in dumped, counted, dumped)
                self.assertEqual("Ordered ordering=0" in dumped, counted, dumped)
                replayed = self.replay("t.pft", env={"TAKES": "5" if not counted else "2"})
                self.assertEqual(replayed.status, 0, replayed)

    def test_a_library_that_waits_while_it_is_loaded(self):
        """Its thread holds the loader's lock: no other thread may need that to take one of the program's."""
        self.need("mpirun")
        (self.dir / "late.c").write_text(LATE)
        (self.dir / "holder.c").write_text(HOLDER)
        subprocess.run(["gcc", "-shared", "-fPIC", "-pthread", "-o", "liblate.so", "late.c"], cwd=self.dir, check=True)
        subprocess.run([os.environ.get("PF_MPICC", "mpicc"), "-rdynamic", "-o", "holder", "holder.c", "-ldl", "-pthread"], cwd=self.dir, check=True)
        recorded = self.record("t.pft", self.mpirun(1, "./holder", "./liblate.so"), timeout=30)
        self.assertIn("loaded: 1", recorded.out, recorded)
        self.assert_same_run(recorded, self.replay("t.pft", timeout=30))

    def test_what_is_not_recorded_is_a_divergence_not_a_hang(self):
        """Here the order of threads hangs on time that no lock shows: a thread that had the turn ends without it."""
        self.need("mpirun", STUCK)
        recorded = self.record("t.pft", self.mpirun(2, STUCK))
        self.assertEqual(recorded.status, 0, recorded)
        replayed = self.replay("t.pft", env={"LANES_STUCK": "1"})
        self.assertEqual(replayed.status, 3, replayed)
        self.assertRegex(replayed.err, r"rank [01].*\n.*expected: the next call of thread 1, which has ended", replayed)


if __name__ == "__main__":
    main()
