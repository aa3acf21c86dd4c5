/* SPDX-License-Identifier: GPL-3.0-or-later
 * Netzer and Miller, Table 1, tycho: a cache simulator on an address trace. Rank 0 deals chunks of the trace
 * to whoever asks first. A worker simulates a chunk with empty caches; rank 0 joins the chunks in their
 * order.
 * cache [CHUNKS=220] [ADDRESSES=12000]: addresses of four bytes a chunk, so 10 MByte in all
 *
 * A chunk is eight messages: ask, header, five pieces, result. Rank 0 takes an ask or a result from anybody;
 * while too many chunks are out, results only, so its receives differ in channels and the races are not
 * transitive.
 */
#include "papers.h"

enum { ASK = 1, RESULT, HEADER, PIECE, MASTER = 0, PIECES = 5 };
enum { CACHES = 3, LINE = 32, NOTHING = -1, SEED = 10 };
enum { SETS = 64 + 256 + 1024, ANSWER = 1 + CACHES + 2 * SETS };

static const int sets_of[CACHES] = {64, 256, 1024};

/* What a chunk does to direct-mapped caches that begin empty: for every set the first line used and the last.
 */
struct effect {
    int chunk, misses[CACHES], first[SETS], last[SETS];
};

static void simulate(const unsigned *addresses, int count, struct effect *effect)
{
    memset(effect->misses, 0, sizeof effect->misses);
    for (int set = 0; set < SETS; ++set)
        effect->first[set] = effect->last[set] = NOTHING;
    for (int i = 0; i < count; ++i) {
        const int line = (int)(addresses[i] / LINE);
        for (int cache = 0, base = 0; cache < CACHES; base += sets_of[cache++]) {
            const int set = base + line % sets_of[cache];
            if (effect->first[set] == NOTHING)
                effect->first[set] = line;
            else
                effect->misses[cache] += effect->last[set] != line;
            effect->last[set] = line;
        }
    }
}

/* The first use of a set in a chunk misses unless the chunks before it left that very line there. */
static void join(const struct effect *effects, int chunks, long misses[CACHES])
{
    int *lines = room(SETS, sizeof *lines);
    for (int set = 0; set < SETS; ++set)
        lines[set] = NOTHING;
    for (int chunk = 0; chunk < chunks; ++chunk)
        for (int cache = 0, base = 0; cache < CACHES; base += sets_of[cache++]) {
            misses[cache] += effects[chunk].misses[cache];
            for (int set = base; set < base + sets_of[cache]; ++set)
                if (effects[chunk].first[set] != NOTHING) {
                    misses[cache] += lines[set] != effects[chunk].first[set];
                    lines[set] = effects[chunk].last[set];
                }
        }
    free(lines);
}

/* Loops over small arrays that move about, and stray references. */
static unsigned *trace_of(int count)
{
    unsigned *trace = room((size_t)count, sizeof *trace);
    uint64_t state = SEED;
    unsigned base = 0, length = 1;
    for (int i = 0; i < count; ++i) {
        const uint64_t chance = next_random(&state);
        if (i % 4000 == 0) {
            base = (unsigned)(chance % (1 << 20)) & ~3u;
            length = 256u << (chance >> 60 & 7);
        }
        trace[i] =
            (chance >> 32) % 16 == 0 ? (unsigned)(chance % (1 << 22)) : base + 4 * ((unsigned)i % length);
    }
    return trace;
}

static void give(const unsigned *trace, int chunk, int addresses, int to)
{
    const unsigned *first = trace + (size_t)chunk * (size_t)addresses;
    MPI_Send(&chunk, 1, MPI_INT, to, HEADER, MPI_COMM_WORLD);
    for (int piece = 0; piece < PIECES; ++piece) {
        const int from = first_of(addresses, PIECES, piece), end = first_of(addresses, PIECES, piece + 1);
        MPI_Send(first + from, end - from, MPI_UNSIGNED, to, PIECE + piece, MPI_COMM_WORLD);
    }
}

static void deal(const unsigned *trace, struct effect *effects, int chunks, int addresses, int workers)
{
    const int most_out = workers * 3 / 4 + 1;
    struct effect answer;
    for (int given = 0, out = 0, stopped = 0; stopped < workers || out > 0;) {
        MPI_Status status;
        const int wanted = out >= most_out ? RESULT : MPI_ANY_TAG;
        MPI_Recv(&answer, ANSWER, MPI_INT, MPI_ANY_SOURCE, wanted, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == RESULT) {
            effects[answer.chunk] = answer;
            --out;
        } else if (given < chunks) {
            give(trace, given++, addresses, status.MPI_SOURCE);
            ++out;
        } else {
            const int none = NOTHING;
            MPI_Send(&none, 1, MPI_INT, status.MPI_SOURCE, HEADER, MPI_COMM_WORLD);
            ++stopped;
        }
    }
}

static void work(int addresses)
{
    unsigned *chunk = room((size_t)addresses, sizeof *chunk);
    struct effect effect;
    for (;;) {
        MPI_Send(NULL, 0, MPI_INT, MASTER, ASK, MPI_COMM_WORLD);
        MPI_Recv(&effect.chunk, 1, MPI_INT, MASTER, HEADER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (effect.chunk == NOTHING)
            break;
        for (int piece = 0; piece < PIECES; ++piece) {
            const int from = first_of(addresses, PIECES, piece);
            const int end = first_of(addresses, PIECES, piece + 1);
            MPI_Recv(chunk + from, end - from, MPI_UNSIGNED, MASTER, PIECE + piece, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
        simulate(chunk, addresses, &effect);
        MPI_Send(&effect, ANSWER, MPI_INT, MASTER, RESULT, MPI_COMM_WORLD);
    }
    free(chunk);
}

int main(int argc, char **argv)
{
    const struct world world = begin(&argc, &argv, 2);
    const int chunks = argument(argc, argv, 1, 220), addresses = argument(argc, argv, 2, 12000);
    long misses[CACHES] = {0}, right[CACHES] = {0};
    int ok = 1;
    if (world.rank == MASTER) {
        unsigned *trace = trace_of(chunks * addresses);
        struct effect *effects = room((size_t)chunks, sizeof *effects), whole;
        deal(trace, effects, chunks, addresses, world.size - 1);
        join(effects, chunks, misses);
        simulate(trace, chunks * addresses, &whole);
        join(&whole, 1, right);
        ok = memcmp(misses, right, sizeof misses) == 0;
        free(trace);
        free(effects);
    } else {
        work(addresses);
    }
    return verdict(world, "cache", ok, "addresses=%d misses=%ld,%ld,%ld", chunks * addresses, misses[0],
                   misses[1], misses[2]);
}
