/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The episodes of one step. Each completes, or leaves requests that complete by themselves. */
#include <stdio.h>

#include "random_program.h"

enum { ROOM = 64, MOST_EACH = 3 };

static int pick_small(void)
{
    static const int sizes[] = {0, 1, 8, 24, ROOM};
    return sizes[below(&g_run.own, 5)];
}

/* Who sends how much to a rank; those who will be answered must be free to receive. */
static int draw_clients(int comm, int server, int answered, int *each)
{
    int total = 0;
    for (int rank = 0; rank < g_run.size; ++rank) {
        const int takes_part = chance(&g_run.plan, 75), count = 1 + below(&g_run.plan, g_run.messages < MAX_MESSAGES ? 1 : MOST_EACH);
        const int able = rank != server && connected(comm, rank, server) && !(answered && g_run.any_tag[comm][rank]);
        each[rank] = takes_part && able ? count : 0;
        total += each[rank];
    }
    return total;
}

/* Answers go to whoever asked, sometimes while the next question is awaited. */
static void serve(int total, int tag, MPI_Comm comm)
{
    const int chain = chance(&g_run.own, 35);
    int client = MPI_PROC_NULL, answers = 0;
    for (int i = 0; i < total; ++i) {
        unsigned char *in = space(ROOM);
        if (chain && i > 0) {
            MPI_Status status;
            const int bytes = pick_small();
            MPI_Sendrecv(content(bytes), bytes, MPI_BYTE, client, tag + 1, in, ROOM, MPI_BYTE, MPI_ANY_SOURCE, tag,
                         comm, &status);
            ++answers;
            note_message(&status, in, ROOM);
            client = status.MPI_SOURCE;
        } else {
            client = receive_message((enum receive_how)below(&g_run.own, RECV_BLIND), in, ROOM,
                                     (struct envelope){MPI_ANY_SOURCE, tag, comm});
        }
        if (!chain || i + 1 == total) {
            const int bytes = pick_small();
            send_message((enum send_how)below(&g_run.own, SENDS), content(bytes), bytes,
                         (struct envelope){client, tag + 1, comm});
            ++answers;
        }
    }
    trace("%d answers", answers);
}

static void ask(int server, int tag, MPI_Comm comm)
{
    MPI_Status status;
    unsigned char *in = space(ROOM);
    const int bytes = pick_small(), way = below(&g_run.own, 3);
    const int source = chance(&g_run.own, 50) ? MPI_ANY_SOURCE : server;
    trace("ask, way %d", way);
    if (way == 0) {
        MPI_Sendrecv(content(bytes), bytes, MPI_BYTE, server, tag, in, ROOM, MPI_BYTE, source, tag + 1, comm, &status);
        note_message(&status, in, ROOM);
    } else if (way == 1) {
        in = content(ROOM);
        MPI_Sendrecv_replace(in, ROOM, MPI_BYTE, server, tag, source, tag + 1, comm, &status);
        note_message(&status, in, ROOM);
    } else {
        send_message((enum send_how)below(&g_run.own, SENDS), content(bytes), bytes,
                     (struct envelope){server, tag, comm});
        receive_message((enum receive_how)below(&g_run.own, RECEIVES), in, ROOM,
                        (struct envelope){source, tag + 1, comm});
    }
}

int run_server(int comm, int server)
{
    int each[MAX_RANKS];
    const struct comm *on = &g_run.comms[comm];
    const int total = draw_clients(comm, server, 1, each), tag = g_run.next_tag;
    if (total == 0)
        return 0;
    g_run.next_tag += 2;
    trace("server %d on %d, %d questions", server, comm, total);
    if (g_run.rank == server)
        serve(total, tag, on->handle);
    for (int i = 0; i < each[g_run.rank]; ++i)
        ask(on->rank_of[server], tag, on->handle);
    return 1;
}

enum { PERSISTENT = 3 };

/* One completion of some of the persistent receives: their indices. */
static int take_started(int way, MPI_Request *requests, int *indices, MPI_Status *statuses)
{
    int count = 0, flag = 0, misses = 0;
    switch (way) {
    case 0:
        MPI_Waitany(PERSISTENT, requests, indices, statuses);
        count = 1;
        break;
    case 1:
        MPI_Waitsome(PERSISTENT, requests, &count, indices, statuses);
        break;
    case 2:
        for (; !flag; misses += !flag)
            MPI_Testany(PERSISTENT, requests, indices, &flag, statuses);
        count = 1;
        break;
    default:
        for (; count == 0; misses += count == 0)
            MPI_Testsome(PERSISTENT, requests, &count, indices, statuses);
    }
    note_misses(misses);
    return count;
}

static void receive_persistent(int total, int tag, MPI_Comm comm)
{
    unsigned char *in[PERSISTENT];
    MPI_Request requests[PERSISTENT];
    MPI_Status statuses[PERSISTENT];
    int indices[PERSISTENT], started = total < PERSISTENT ? total : PERSISTENT;
    for (int i = 0; i < PERSISTENT; ++i) {
        in[i] = space(ROOM);
        MPI_Recv_init(in[i], ROOM, MPI_BYTE, MPI_ANY_SOURCE, tag, comm, &requests[i]);
    }
    MPI_Startall(started, requests);
    for (int done = 0; done < total;) {
        const int count = take_started(below(&g_run.own, 4), requests, indices, statuses);
        for (int i = 0; i < count; ++i) {
            note("persistent", indices[i]);
            note_message(&statuses[i], in[indices[i]], ROOM);
            if (started < total) {
                MPI_Start(&requests[indices[i]]);
                ++started;
            }
        }
        done += count;
    }
    for (int i = 0; i < PERSISTENT; ++i)
        MPI_Request_free(&requests[i]);
}

static void send_persistent(int times, int receiver, int tag, MPI_Comm comm)
{
    MPI_Request request;
    const int bytes = pick_small(), synchronous = chance(&g_run.own, 30);
    unsigned char *out = space(ROOM);
    if (synchronous)
        MPI_Ssend_init(out, bytes, MPI_BYTE, receiver, tag, comm, &request);
    else
        MPI_Send_init(out, bytes, MPI_BYTE, receiver, tag, comm, &request);
    for (int i = 0; i < times; ++i) {
        const unsigned char *fresh = content(ROOM);
        for (int byte = 0; byte < bytes; ++byte)
            out[byte] = fresh[byte];
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
}

int run_persistent(int comm, int receiver)
{
    int each[MAX_RANKS];
    const struct comm *on = &g_run.comms[comm];
    const int total = draw_clients(comm, receiver, 0, each), tag = g_run.next_tag++;
    if (total == 0)
        return 0;
    trace("persistent on %d to %d, %d messages", comm, receiver, total);
    if (g_run.rank == receiver)
        receive_persistent(total, tag, on->handle);
    else if (each[g_run.rank] > 0)
        send_persistent(each[g_run.rank], on->rank_of[receiver], tag, on->handle);
    return 1;
}

/*
 * Every member sends `rounds` messages, and receives as many from anybody. All but the last pair are
 * posted before anybody blocks, so the last, a Sendrecv, cannot be left without a receive.
 */
static void exchange(const int *members, int count, int at, const int *shifts, int rounds, int tag, const struct comm *comm)
{
    MPI_Status status;
    MPI_Request request;
    const int last = shifts[rounds - 1], bytes = pick_small();
    const int to = comm->rank_of[members[(at + last) % count]];
    int source = comm->rank_of[members[(at + count - last) % count]];
    unsigned char *in = space(ROOM);
    for (int i = 0; i + 1 < rounds; ++i) {
        unsigned char *into = space(ROOM);
        MPI_Irecv(into, ROOM, MPI_BYTE, MPI_ANY_SOURCE, tag, comm->handle, &request);
        hold(request, RECEIVED, into, ROOM);
    }
    for (int i = 0; i + 1 < rounds; ++i)
        send_message((enum send_how)below(&g_run.own, SENDS_AT_ONCE), content(ROOM), pick_small(),
                     (struct envelope){comm->rank_of[members[(at + shifts[i]) % count]], tag, comm->handle});
    if (rounds > 1 || chance(&g_run.own, 50))
        source = MPI_ANY_SOURCE;
    if (chance(&g_run.own, 50)) {
        in = content(ROOM);
        MPI_Sendrecv_replace(in, ROOM, MPI_BYTE, to, tag, source, tag, comm->handle, &status);
    } else {
        MPI_Sendrecv(content(bytes), bytes, MPI_BYTE, to, tag, in, ROOM, MPI_BYTE, source, tag, comm->handle, &status);
    }
    note_message(&status, in, ROOM);
}

int run_exchange(void)
{
    int members[MAX_RANKS], shifts[4], count = 0, at = -1;
    struct prng *plan = &g_run.plan;
    const int comm = below(plan, INTER), side = below(plan, 2), rounds = 1 + below(plan, 4), tag = g_run.next_tag++;
    for (int rank = 0; rank < g_run.size; ++rank)
        if (chance(plan, 80) && !g_run.any_tag[comm][rank] && (comm != SPLIT || g_run.side[rank] == side))
            members[count++] = rank;
    if (count < 2)
        return 0;
    shuffle(plan, members, count);
    for (int i = 0; i < rounds; ++i)
        shifts[i] = below(plan, count);
    trace("exchange on %d, %d ranks, %d rounds", comm, count, rounds);
    for (int i = 0; i < count; ++i)
        if (members[i] == g_run.rank)
            at = i;
    if (at >= 0)
        exchange(members, count, at, shifts, rounds, tag, &g_run.comms[comm]);
    return 1;
}

/* A receive that nobody will ever serve. */
void run_never(void)
{
    const int comm = below(&g_run.plan, COMMS), rank = below(&g_run.plan, g_run.size), tag = g_run.next_tag++;
    if (g_run.rank != rank)
        return;
    MPI_Request request;
    unsigned char *in = space(ROOM);
    trace("never");
    MPI_Irecv(in, ROOM, MPI_BYTE, chance(&g_run.own, 50) ? MPI_ANY_SOURCE : 0, tag, g_run.comms[comm].handle, &request);
    struct slot *slot = hold(request, RECEIVED, in, ROOM);
    slot->doomed = 1;
    slot->due = 0;
}

void run_proc_null(void)
{
    const int rank = below(&g_run.plan, g_run.size), comm = below(&g_run.plan, COMMS), times = 1 + below(&g_run.plan, 4);
    const struct envelope nobody = {MPI_PROC_NULL, 1, g_run.comms[comm].handle};
    for (int i = 0; i < times && g_run.rank == rank; ++i) {
        MPI_Request request;
        const int what = below(&g_run.own, 3);
        unsigned char *in = space(ROOM);
        if (what == 0) {
            send_message((enum send_how)below(&g_run.own, SENDS), content(8), 8, nobody);
        } else if (what == 1) {
            receive_message((enum receive_how)below(&g_run.own, RECEIVES), in, ROOM, nobody);
        } else {
            MPI_Irecv(in, ROOM, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, nobody.comm, &request);
            hold(request, RECEIVED, in, ROOM);
        }
    }
}
