/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws, the hash, the content of messages, and the ways to send and to receive one. */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_program.h"

/* splitmix64 */
uint64_t draw(struct prng *prng)
{
    uint64_t z = prng->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int below(struct prng *prng, int limit)
{
    return (int)(draw(prng) % (uint64_t)limit);
}

int chance(struct prng *prng, int percent)
{
    return below(prng, 100) < percent;
}

void shuffle(struct prng *prng, int *values, int count)
{
    for (int i = count - 1; i > 0; --i) {
        const int other = below(prng, i + 1), value = values[i];
        values[i] = values[other];
        values[other] = value;
    }
}

static void fold(const void *data, int bytes)
{
    const unsigned char *at = data;
    for (int i = 0; i < bytes; ++i)
        g_run.hash = (g_run.hash ^ at[i]) * 0x100000001b3u;
}

/* One write a line; mpirun may still mix ranks, but for its --output-filename. */
void trace(const char *format, ...)
{
    char line[512];
    va_list arguments;
    if (!g_run.trace)
        return;
    int length = snprintf(line, sizeof line, "trace %d program %d step %d event %ld hash %016llx: ", g_run.rank,
                          g_run.program, g_run.step, g_run.events, (unsigned long long)g_run.hash);
    va_start(arguments, format);
    vsnprintf(line + length, sizeof line - (size_t)length, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s\n", line);
}

void note(const char *what, int value)
{
    fold(&value, sizeof value);
    ++g_run.events;
    trace("%s %d", what, value);
}

void note_data(const char *what, const void *data, int bytes)
{
    fold(data, bytes);
    ++g_run.events;
    trace("%s, %d bytes", what, bytes);
}

void note_message(const MPI_Status *status, const void *data, int room)
{
    if (status != NULL) {
        int bytes;
        MPI_Get_count(status, MPI_BYTE, &bytes);
        const int envelope[] = {status->MPI_SOURCE, status->MPI_TAG, bytes};
        fold(envelope, sizeof envelope);
        trace("message from %d tag %d", envelope[0], envelope[1]);
        room = bytes;
    }
    note_data("message", data, room);
}

void note_misses(int count)
{
    if (g_run.count_misses)
        note("misses", count);
}

/* What space() gave, newest first. */
static struct chunk {
    struct chunk *next;
    size_t bytes;
    unsigned char data[];
} *chunks;

unsigned char *space(int bytes)
{
    struct chunk *chunk = calloc(1, sizeof *chunk + (size_t)bytes + 1);
    if (chunk == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    chunk->next = chunks;
    chunk->bytes = (size_t)bytes;
    chunks = chunk;
    return chunk->data;
}

static void note_heap(const void *data, size_t bytes)
{
    for (const unsigned char *at = data; bytes-- > 0; ++at)
        g_run.heap = (g_run.heap ^ *at) * 0x100000001b3u;
}

void free_space(void)
{
    while (chunks != NULL) {
        struct chunk *next = chunks->next;
        note_heap(&chunks, sizeof chunks); /* where it lies, and what is in it: where the next one lies, too */
        note_heap(chunks, sizeof *chunks + chunks->bytes);
        free(chunks);
        chunks = next;
    }
}

unsigned char *content(int bytes)
{
    unsigned char *data = space(bytes);
    struct prng stream = {g_run.hash ^ (++g_run.filled << 32) ^ (uint64_t)g_run.rank};
    for (int at = 0; at < bytes; at += 8) {
        const uint64_t word = draw(&stream);
        memcpy(data + at, &word, bytes - at < 8 ? (size_t)(bytes - at) : 8);
    }
    return data;
}

struct slot *send_message(enum send_how how, unsigned char *data, int bytes, struct envelope to)
{
    MPI_Request request = MPI_REQUEST_NULL;
    trace("send way %d to %d tag %d bytes %d", (int)how, to.peer, to.tag, bytes);
    switch (how) {
    case BSEND:
        MPI_Bsend(data, bytes, MPI_BYTE, to.peer, to.tag, to.comm);
        return NULL;
    case SEND:
        MPI_Send(data, bytes, MPI_BYTE, to.peer, to.tag, to.comm);
        return NULL;
    case SSEND:
        MPI_Ssend(data, bytes, MPI_BYTE, to.peer, to.tag, to.comm);
        return NULL;
    case SENDRECV:
        MPI_Sendrecv(data, bytes, MPI_BYTE, to.peer, to.tag, NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, to.comm,
                     MPI_STATUS_IGNORE);
        return NULL;
    case ISSEND:
        MPI_Issend(data, bytes, MPI_BYTE, to.peer, to.tag, to.comm, &request);
        break;
    case SEND_INIT:
        MPI_Send_init(data, bytes, MPI_BYTE, to.peer, to.tag, to.comm, &request);
        MPI_Start(&request);
        break;
    default:
        MPI_Isend(data, bytes, MPI_BYTE, to.peer, to.tag, to.comm, &request);
    }
    if (how == ISEND_FREE) {
        MPI_Request_free(&request);
        return NULL;
    }
    struct slot *slot = hold(request, SENT, NULL, 0);
    slot->persistent = how == SEND_INIT;
    return slot;
}

/* Of a message that a matched probe found; now, or by a request that is left to complete. */
static void receive_matched(MPI_Message *found, void *in, int room)
{
    MPI_Status status;
    MPI_Request request;
    if (chance(&g_run.own, 50)) {
        MPI_Imrecv(in, room, MPI_BYTE, found, &request);
        hold(request, RECEIVED, in, room);
    } else {
        MPI_Mrecv(in, room, MPI_BYTE, found, &status);
        note_message(&status, in, room);
    }
}

/* Gives whether something is there: always, but for IPROBE_ONCE. */
static int probe(enum receive_how how, struct envelope from, MPI_Message *found, MPI_Status *status)
{
    int flag = 0, misses = 0;
    if (how == PROBE)
        MPI_Probe(from.peer, from.tag, from.comm, status);
    else if (how == MPROBE)
        MPI_Mprobe(from.peer, from.tag, from.comm, found, status);
    if (how == PROBE || how == MPROBE)
        return 1;
    for (;; ++misses) {
        if (how == IMPROBE)
            MPI_Improbe(from.peer, from.tag, from.comm, &flag, found, status);
        else
            MPI_Iprobe(from.peer, from.tag, from.comm, &flag, status);
        if (flag || how == IPROBE_ONCE)
            break;
        sched_yield();
    }
    note_misses(how == IPROBE_ONCE ? !flag : misses);
    return flag;
}

int receive_message(enum receive_how how, void *in, int room, struct envelope from)
{
    MPI_Status status;
    MPI_Message found;
    trace("receive way %d from %d tag %d", (int)how, from.peer, from.tag);
    if (how == RECV_BLIND) {
        MPI_Recv(in, room, MPI_BYTE, from.peer, from.tag, from.comm, MPI_STATUS_IGNORE);
        note_message(NULL, in, room);
        return MPI_ANY_SOURCE;
    }
    if (how == RECV_SENDRECV) {
        MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, in, room, MPI_BYTE, from.peer, from.tag, from.comm, &status);
    } else {
        if (how != RECV && probe(how, from, &found, &status)) {
            note("found", status.MPI_SOURCE);
            from.peer = status.MPI_SOURCE;
            from.tag = status.MPI_TAG;
            MPI_Get_count(&status, MPI_BYTE, &room);
        }
        if (how == MPROBE || how == IMPROBE) {
            receive_matched(&found, in, room);
            return from.peer;
        }
        MPI_Recv(in, room, MPI_BYTE, from.peer, from.tag, from.comm, &status);
    }
    note_message(&status, in, room);
    return status.MPI_SOURCE;
}
