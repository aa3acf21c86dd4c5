/* SPDX-License-Identifier: GPL-3.0-or-later
 * Yan, Tables 1 to 5, N_PUZZLE: the shortest solution of a 10 x 10 puzzle scrambled by 42 moves. The
 * children search a few positions, exchange positions with both neighbours in a ring of children (from named
 * ranks), and send what they have to the parent, which takes it from anybody and answers each.
 * npuzzle [SIDE=10] [MOVES=42] [POSITIONS=4] [SEED=45]: positions that a child searches a round
 *
 * With 8 children a round is 32 messages: 16 among children, 8 reports, which race, and 8 answers.
 */
#include "puzzle.h"

enum { REPORT = 1, ANSWER, TO_LEFT, TO_RIGHT, PARENT = 0, SHARED = 2, GO_ON = 0, STOP = -1 };

struct report {
    int left, next_bound, found, moves;
    uint8_t path[MOST_MOVES];
};

/* What the parent knows of a round; answers of a round carry what the round before it has decided. */
struct tally {
    int reports, left, next_bound, found;
};

struct parent {
    struct world world;
    int changed;            /* whether the last round's decision was a new bound */
    struct report solution; /* the first one found */
};

/* The oldest positions, those with the most below them, but never the last. */
static int surplus(struct search *search, struct node *shared)
{
    const int count = search->count > 3 * SHARED ? SHARED : 0;
    memcpy(shared, search->stack, (size_t)count * sizeof *shared);
    search->count -= count;
    memmove(search->stack, search->stack + count, (size_t)search->count * sizeof *shared);
    return count;
}

/* A round has tags of its own: a neighbour's messages do not race even where their order is not kept. */
static void exchange(struct world world, struct search *search, int round)
{
    const int children = world.size - 1, me = world.rank - 1;
    const int sides[2] = {(me + children - 1) % children + 1, (me + 1) % children + 1};
    struct node out[2][SHARED], in[SHARED];
    MPI_Request sends[2];
    for (int side = 0; side < 2; ++side) {
        const int count = surplus(search, out[side]);
        MPI_Isend(out[side], count * (int)sizeof *out[side], MPI_BYTE, sides[side],
                  (side == 0 ? TO_LEFT : TO_RIGHT) + 2 * round, MPI_COMM_WORLD, &sends[side]);
    }
    for (int side = 0; side < 2; ++side) {
        MPI_Status status;
        int bytes;
        MPI_Recv(in, (int)sizeof in, MPI_BYTE, sides[side], (side == 0 ? TO_RIGHT : TO_LEFT) + 2 * round,
                 MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        for (int i = 0; i < bytes / (int)sizeof *in; ++i)
            push(search, &in[i]);
    }
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
}

static void child(struct world world, const struct node *start, int side, int positions)
{
    struct search search = {.side = side, .bound = start->distance, .next_bound = NEVER};
    search.stack = room(MOST_NODES, sizeof *search.stack);
    if (world.rank == 1)
        push(&search, start);
    for (int answer = GO_ON, round = 0; answer != STOP; ++round) {
        struct report report;
        for (int i = 0; i < positions && search.count > 0 && !search.found; ++i)
            expand(&search);
        exchange(world, &search, round);
        memset(&report, 0, sizeof report);
        report.left = search.count;
        report.next_bound = search.next_bound;
        report.found = search.found;
        report.moves = search.solution.moves;
        memcpy(report.path, search.solution.path, sizeof report.path);
        MPI_Send(&report, (int)sizeof report, MPI_BYTE, PARENT, REPORT, MPI_COMM_WORLD);
        MPI_Recv(&answer, 1, MPI_INT, PARENT, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (answer > GO_ON) {
            search.bound = answer;
            search.next_bound = NEVER;
            if (world.rank == 1)
                push(&search, start);
        }
    }
    free(search.stack);
}

/* A bound is exhausted when nobody has a position left; the round after that was idle and decides nothing. */
static int decide(struct parent *parent, const struct tally *tally)
{
    const int exhausted = tally->left == 0 && !parent->changed;
    parent->changed = 0;
    if (tally->found || (exhausted && tally->next_bound >= NEVER))
        return STOP;
    if (!exhausted)
        return GO_ON;
    parent->changed = 1;
    return tally->next_bound;
}

static int take(struct parent *parent, struct tally *rounds, int *round_of)
{
    struct report report;
    MPI_Status status;
    MPI_Recv(&report, (int)sizeof report, MPI_BYTE, MPI_ANY_SOURCE, REPORT, MPI_COMM_WORLD, &status);
    struct tally *tally = &rounds[round_of[status.MPI_SOURCE]++ % 2];
    ++tally->reports;
    tally->left += report.left;
    tally->next_bound = report.next_bound < tally->next_bound ? report.next_bound : tally->next_bound;
    tally->found |= report.found;
    if (report.found && !parent->solution.found)
        parent->solution = report;
    return status.MPI_SOURCE;
}

/*
 * First come, first served: a report is answered at once, unless the round before it is still incomplete; a
 * child can be one round ahead of the slowest, not more. Returns the number of rounds.
 */
static int serve(struct parent *parent)
{
    const int children = parent->world.size - 1;
    int *round_of = room((size_t)children + 1, sizeof *round_of);
    int *early = room((size_t)children, sizeof *early);
    struct tally rounds[2] = {{0, 0, NEVER, 0}, {0, 0, NEVER, 0}};
    int round = 0, waiting = 0, answer = GO_ON;
    for (int stopped = 0; stopped < children;) {
        const int from = take(parent, rounds, round_of);
        if (round_of[from] - 1 > round) {
            early[waiting++] = from;
            continue;
        }
        MPI_Send(&answer, 1, MPI_INT, from, ANSWER, MPI_COMM_WORLD);
        stopped += answer == STOP;
        if (rounds[round % 2].reports < children)
            continue;
        answer = answer == STOP ? STOP : decide(parent, &rounds[round % 2]);
        rounds[round++ % 2] = (struct tally){0, 0, NEVER, 0};
        while (waiting > 0) {
            MPI_Send(&answer, 1, MPI_INT, early[--waiting], ANSWER, MPI_COMM_WORLD);
            stopped += answer == STOP;
        }
    }
    free(round_of);
    free(early);
    return round;
}

int main(int argc, char **argv)
{
    struct parent parent = {.world = begin(&argc, &argv, 2)};
    const int side = argument(argc, argv, 1, 10), moves = argument(argc, argv, 2, 42);
    const int positions = argument(argc, argv, 3, 4), seed = argument(argc, argv, 4, 45);
    int ok = 1, rounds = 0;
    if (side < 2 || side > MOST_SIDE || moves >= MOST_MOVES)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const struct node start = scrambled(side, moves, (uint64_t)seed);
    if (parent.world.rank == PARENT) {
        rounds = serve(&parent);
        const struct report *solution = &parent.solution;
        ok = solution->found && solves(start, side, solution->path, solution->moves) &&
             solution->moves == least_moves(&start, side);
    } else {
        child(parent.world, &start, side, positions);
    }
    return verdict(parent.world, "npuzzle", ok, "side=%d moves=%d rounds=%d", side, parent.solution.moves,
                   rounds);
}
