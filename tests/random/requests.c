/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Outstanding requests, and all the ways to complete them. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "random_program.h"

enum { MAX_SLOTS = 512 };
enum way { WAIT, WAITALL, WAITANY, WAITSOME, TEST, TESTANY, TESTSOME, TESTALL, GET_STATUS, WAYS };

static struct slot slots[MAX_SLOTS];
static int used; /* slots beyond were never active in this program */

/* What one completion call is given. */
static struct {
    int count, blind;
    MPI_Request requests[MAX_SLOTS];
    struct slot *members[MAX_SLOTS];
} batch;

struct slot *hold(MPI_Request request, enum slot_kind kind, void *data, int bytes)
{
    int i = 0;
    while (i < used && slots[i].request != MPI_REQUEST_NULL)
        ++i;
    if (i == MAX_SLOTS) {
        fprintf(stderr, "random_program: too many requests\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (i == used)
        ++used;
    slots[i] = (struct slot){.request = request, .kind = kind, .data = data, .bytes = bytes, .due = 1};
    return &slots[i];
}

struct slot *next_slot(const struct pool *owner, const struct slot *after)
{
    for (struct slot *slot = after == NULL ? slots : slots + (after - slots) + 1; slot < slots + used; ++slot)
        if (slot->request != MPI_REQUEST_NULL && (owner == NULL || slot->owner == owner))
            return slot;
    return NULL;
}

void cancel_slot(struct slot *slot, int *vanished)
{
    trace("cancel");
    MPI_Cancel(&slot->request);
    slot->cancelled = slot->due = 1;
    slot->vanished = vanished;
}

void cancel_doomed(int percent)
{
    for (struct slot *slot = next_slot(NULL, NULL); slot != NULL; slot = next_slot(NULL, slot))
        if (slot->doomed && !slot->cancelled && chance(&g_run.own, percent))
            cancel_slot(slot, NULL);
}

static void completed(struct slot *slot, MPI_Request *request, const MPI_Status *status)
{
    int cancelled = 0;
    if (slot->cancelled) {
        MPI_Test_cancelled(status, &cancelled);
        note("cancelled", cancelled);
        if (cancelled && slot->vanished != NULL)
            *slot->vanished = 1;
    }
    if (slot->doomed && !cancelled) {
        fprintf(stderr, "random_program: rank %d received what nobody sent\n", g_run.rank);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (slot->kind == RECEIVED && !cancelled)
        note_message(status, slot->data, slot->bytes);
    else if (slot->kind == COLLECTIVE)
        note_data("collective", slot->data, slot->bytes);
    if (slot->persistent)
        MPI_Request_free(request);
    slot->request = MPI_REQUEST_NULL;
}

static void completed_at(int index, const MPI_Status *status)
{
    completed(batch.members[index], &batch.requests[index], batch.blind ? NULL : status);
}

void finish_slot(struct slot *slot)
{
    MPI_Status status;
    MPI_Wait(&slot->request, &status);
    completed(slot, &slot->request, &status);
}

static void gather_batch(int only_due)
{
    int order[MAX_SLOTS], count = 0, cancelled = 0;
    for (int i = 0; i < used; ++i)
        if (slots[i].request != MPI_REQUEST_NULL && (slots[i].due || !only_due))
            order[count++] = i;
    shuffle(&g_run.own, order, count);
    batch.count = count;
    for (int i = 0; i < count; ++i) {
        batch.members[i] = &slots[order[i]];
        batch.requests[i] = slots[order[i]].request;
        cancelled |= slots[order[i]].cancelled;
    }
    batch.blind = !cancelled && chance(&g_run.own, 20);
}

static int take_all(int test)
{
    MPI_Status statuses[MAX_SLOTS];
    MPI_Status *wanted = batch.blind ? MPI_STATUSES_IGNORE : statuses;
    int flag = 1;
    if (test)
        MPI_Testall(batch.count, batch.requests, &flag, wanted);
    else
        MPI_Waitall(batch.count, batch.requests, wanted);
    for (int i = 0; flag && i < batch.count; ++i)
        completed_at(i, &statuses[i]);
    return flag ? batch.count : 0;
}

static int take_any(int test)
{
    MPI_Status status;
    MPI_Status *wanted = batch.blind ? MPI_STATUS_IGNORE : &status;
    int index, flag = 1;
    if (test)
        MPI_Testany(batch.count, batch.requests, &index, &flag, wanted);
    else
        MPI_Waitany(batch.count, batch.requests, &index, wanted);
    if (!flag)
        return 0;
    note("any", index);
    completed_at(index, &status);
    return 1;
}

static int take_some(int test)
{
    MPI_Status statuses[MAX_SLOTS];
    MPI_Status *wanted = batch.blind ? MPI_STATUSES_IGNORE : statuses;
    int count, indices[MAX_SLOTS];
    if (test)
        MPI_Testsome(batch.count, batch.requests, &count, indices, wanted);
    else
        MPI_Waitsome(batch.count, batch.requests, &count, indices, wanted);
    if (count > 0)
        note("some", count);
    for (int i = 0; i < count; ++i) {
        note("index", indices[i]);
        completed_at(indices[i], &statuses[i]);
    }
    return count;
}

/* The first of the batch that a test finds complete. */
static int take_one(enum way way)
{
    MPI_Status status;
    MPI_Status *wanted = batch.blind ? MPI_STATUS_IGNORE : &status;
    int flag = 0, i;
    for (i = 0; i < batch.count && !flag; ++i) {
        if (way == TEST)
            MPI_Test(&batch.requests[i], &flag, wanted);
        else
            MPI_Request_get_status(batch.requests[i], &flag, wanted);
    }
    if (!flag)
        return 0;
    note("one", --i);
    if (way == GET_STATUS)
        MPI_Wait(&batch.requests[i], wanted);
    completed_at(i, &status);
    return 1;
}

static int take(enum way way)
{
    MPI_Status status;
    switch (way) {
    case WAITALL:
    case TESTALL:
        return take_all(way == TESTALL);
    case WAITANY:
    case TESTANY:
        return take_any(way == TESTANY);
    case WAITSOME:
    case TESTSOME:
        return take_some(way == TESTSOME);
    case TEST:
    case GET_STATUS:
        return take_one(way);
    default:
        MPI_Wait(&batch.requests[0], batch.blind ? MPI_STATUS_IGNORE : &status);
        completed_at(0, &status);
        return 1;
    }
}

void complete_due(void)
{
    for (;;) {
        int due = 0, misses = 0;
        for (struct slot *slot = next_slot(NULL, NULL); slot != NULL; slot = next_slot(NULL, slot))
            due += slot->due;
        if (due == 0)
            return;
        const enum way way = (enum way)below(&g_run.own, WAYS);
        gather_batch(way == WAIT || way == WAITALL || way == TESTALL || chance(&g_run.own, 30));
        trace("complete, way %d, of %d, %d due", (int)way, batch.count, due);
        for (; take(way) == 0; ++misses)
            sched_yield();
        note_misses(misses);
    }
}

void poll_once(void)
{
    MPI_Status status;
    int flag;
    const struct comm *comm = &g_run.comms[below(&g_run.own, COMMS)];
    if (chance(&g_run.own, 20)) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm->handle, &flag, &status);
        if (flag) {
            note("peek", status.MPI_SOURCE);
            note("peek", status.MPI_TAG);
        }
        note_misses(!flag);
        return;
    }
    gather_batch(0);
    if (batch.count > 0)
        note_misses(take((enum way)(TEST + below(&g_run.own, WAYS - TEST))) == 0);
}
