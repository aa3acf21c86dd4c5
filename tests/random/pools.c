/* SPDX-License-Identifier: GPL-3.0-or-later
 * A pool: messages from several ranks to one receiver that race for its receives.
 *
 * Why every receive completes: receives match in posting order, so a message that receive r accepts
 * can miss it only by way of an earlier receive that accepts the same message, and each of those
 * takes one. Where more messages that r accepts are sent than there are such rivals, r completes,
 * whatever MPI chooses. There are as many receives as messages, so none is left over.
 */
#include "random_program.h"

static int accepts(const struct receive *receive, const struct message *message)
{
    return (receive->source == MPI_ANY_SOURCE || receive->source == message->from) &&
           (receive->tag == MPI_ANY_TAG || receive->tag == message->tag);
}

static int rivals(const struct pool *pool, int a, int b)
{
    for (int i = 0; i < pool->count; ++i)
        if (accepts(&pool->receives[a], &pool->messages[i]) && accepts(&pool->receives[b], &pool->messages[i]))
            return 1;
    return 0;
}

/* Whether a receive completes, of the first `sent` messages, if all receives before it are posted. */
static int guaranteed(const struct pool *pool, int index, int sent)
{
    int accepted = 0, taken = 0;
    for (int i = 0; i < sent; ++i)
        accepted += accepts(&pool->receives[index], &pool->messages[i]);
    for (int i = 0; i < index; ++i)
        taken += rivals(pool, i, index);
    return accepted > taken;
}

/* Mostly small; the largest do not fit what MPI sends unasked. */
static int draw_bytes(void)
{
    static const int sizes[] = {0, 0, 1, 4, 8, 8, 8, 8, 24, 24, 24, 100, 100, 1000, 1000, MAX_BYTES};
    return sizes[below(&g_run.plan, sizeof sizes / sizeof *sizes)];
}

static void draw_messages(struct pool *pool)
{
    int senders[MAX_RANKS], count = 0, first = -1;
    struct prng *plan = &g_run.plan;
    const int tags = pool->exclusive || chance(plan, 30) ? 1 + below(plan, 3) : 1;
    for (int rank = 0; rank < g_run.size; ++rank) {
        if (!connected(pool->comm, rank, pool->receiver))
            continue;
        const int takes_part = chance(plan, rank == pool->receiver ? 15 : 75);
        if (rank != pool->receiver && first < 0)
            first = rank;
        if (takes_part)
            senders[count++] = rank;
    }
    if (count == 0)
        senders[count++] = first;
    pool->count = 2 + below(plan, g_run.messages - 1);
    pool->room = 1;
    for (int i = 0; i < pool->count; ++i) {
        struct message *message = &pool->messages[i];
        message->from = senders[below(plan, count)];
        message->tag = g_run.next_tag + below(plan, tags);
        message->bytes = draw_bytes();
        if (message->bytes > pool->room)
            pool->room = message->bytes;
    }
    g_run.next_tag += tags;
}

/* Posting kinds of receives; the others are those of enum receive_how. */
enum { IRECV = RECEIVES, RECV_INIT };

static void draw_receives(struct pool *pool)
{
    int order[MAX_MESSAGES];
    struct prng *plan = &g_run.plan;
    const int all_wild = chance(plan, 40), any_tag = pool->exclusive ? 60 : 0;
    for (int i = 0; i < pool->count; ++i)
        order[i] = i;
    shuffle(plan, order, pool->count);
    for (int i = 0; i < pool->count; ++i) {
        struct receive *receive = &pool->receives[i];
        const struct message *message = &pool->messages[order[i]];
        receive->source = all_wild || chance(plan, 65) ? MPI_ANY_SOURCE : message->from;
        receive->tag = (all_wild && any_tag) || chance(plan, any_tag) ? MPI_ANY_TAG : message->tag;
        if (!guaranteed(pool, i, pool->count)) {
            /* With its own tag, a wildcard's rivals are the receives of the other such messages. */
            receive->source = MPI_ANY_SOURCE;
            receive->tag = pool->exclusive ? MPI_ANY_TAG : message->tag;
        }
        receive->how = chance(plan, 45) ? IRECV : chance(plan, 15) ? RECV_INIT : below(plan, RECEIVES);
    }
    pool->to_cancel = chance(plan, 35) ? below(plan, pool->count) : -1;
    if (pool->to_cancel >= 0)
        pool->receives[pool->to_cancel].how = IRECV;
}

void open_pool(struct pool *pool, int comm, int receiver, int exclusive)
{
    *pool = (struct pool){.open = 1, .comm = comm, .receiver = receiver, .exclusive = exclusive, .uniform = 1};
    draw_messages(pool);
    draw_receives(pool);
    for (int i = 0; i < pool->count; ++i)
        if (pool->receives[i].source != MPI_ANY_SOURCE || pool->receives[i].tag != pool->receives[0].tag)
            pool->uniform = 0;
    trace("pool on %d to %d, %d messages%s%s", comm, receiver, pool->count, exclusive ? ", any tag" : "",
          pool->uniform ? ", uniform" : "");
}

static struct envelope envelope(const struct pool *pool, int peer, int tag)
{
    const struct comm *comm = &g_run.comms[pool->comm];
    return (struct envelope){peer == MPI_ANY_SOURCE ? peer : comm->rank_of[peer], tag, comm->handle};
}

static void owned(struct slot *slot, const struct pool *pool, int index)
{
    slot->owner = pool;
    slot->index = index;
    slot->due = 0;
}

static void send_next(struct pool *pool, enum send_how how)
{
    const int index = pool->sent++;
    const struct message *message = &pool->messages[index];
    if (message->from != g_run.rank)
        return;
    struct slot *slot = send_message(how, content(message->bytes), message->bytes,
                                     envelope(pool, pool->receiver, message->tag));
    if (slot != NULL)
        owned(slot, pool, index);
}

static void receive_next(struct pool *pool)
{
    const int index = pool->posted++;
    const struct receive *receive = &pool->receives[index];
    if (pool->receiver != g_run.rank)
        return;
    MPI_Request request;
    unsigned char *in = space(pool->room);
    const struct envelope from = envelope(pool, receive->source, receive->tag);
    if (receive->how < RECEIVES) {
        receive_message((enum receive_how)receive->how, in, pool->room, from);
        return;
    }
    trace("post from %d tag %d", from.peer, from.tag);
    if (receive->how == IRECV) {
        MPI_Irecv(in, pool->room, MPI_BYTE, from.peer, from.tag, from.comm, &request);
    } else {
        MPI_Recv_init(in, pool->room, MPI_BYTE, from.peer, from.tag, from.comm, &request);
        MPI_Start(&request);
    }
    struct slot *slot = hold(request, RECEIVED, in, pool->room);
    owned(slot, pool, index);
    slot->persistent = receive->how == RECV_INIT;
}

static struct slot *slot_to_cancel(const struct pool *pool)
{
    for (struct slot *slot = next_slot(pool, NULL); slot != NULL; slot = next_slot(pool, slot))
        if (slot->kind == RECEIVED && slot->index == pool->to_cancel)
            return slot;
    return NULL;
}

static void cancel(struct pool *pool)
{
    pool->cancel_called = 1;
    if (pool->receiver != g_run.rank)
        return;
    struct slot *slot = slot_to_cancel(pool);
    if (slot != NULL)
        cancel_slot(slot, &pool->vanished);
}

/* What the cancelled receive did not take, or any other message in its stead, is still to come. */
static void make_up_for_cancelled(struct pool *pool)
{
    struct slot *slot = slot_to_cancel(pool);
    if (slot != NULL)
        finish_slot(slot);
    if (!pool->vanished)
        return;
    const int tag = pool->exclusive ? MPI_ANY_TAG : pool->receives[pool->to_cancel].tag;
    receive_message((enum receive_how)below(&g_run.own, RECEIVES), space(pool->room), pool->room,
                    envelope(pool, MPI_ANY_SOURCE, tag));
}

/*
 * Whether the next message's sender may block until it is taken. Where every receive takes any
 * message: yes. Else only with its last, since the receiver may want that one first.
 */
static int may_block(const struct pool *pool)
{
    const int from = pool->messages[pool->sent].from;
    int later = 0;
    for (int i = pool->sent + 1; i < pool->count; ++i)
        later += pool->messages[i].from == from;
    return from != pool->receiver && (pool->uniform || later == 0);
}

/* The rest of the sends, then the rest of the receives: the only step in which senders block. */
static void close_pool(struct pool *pool)
{
    trace("close pool");
    while (pool->sent < pool->count) {
        const int block = chance(&g_run.plan, 60) && may_block(pool);
        const int how = block ? SENDS_AT_ONCE + below(&g_run.plan, SENDS - SENDS_AT_ONCE)
                              : below(&g_run.plan, SENDS_AT_ONCE);
        send_next(pool, (enum send_how)how);
    }
    while (pool->posted < pool->count)
        receive_next(pool);
    if (pool->to_cancel >= 0 && !pool->cancel_called)
        cancel(pool);
    if (pool->receiver == g_run.rank && pool->cancel_called)
        make_up_for_cancelled(pool);
    for (struct slot *slot = next_slot(pool, NULL); slot != NULL; slot = next_slot(pool, slot)) {
        slot->due = 1;
        slot->owner = NULL;
    }
    pool->open = 0;
}

static void mark_due(const struct pool *pool)
{
    for (struct slot *slot = next_slot(pool, NULL); slot != NULL; slot = next_slot(pool, slot))
        slot->due = slot->cancelled || (slot->kind == RECEIVED && guaranteed(pool, slot->index, pool->sent));
}

void advance_pool(struct pool *pool)
{
    struct prng *plan = &g_run.plan;
    const int what = below(plan, 100), times = 1 + below(plan, 4);
    if (what >= 85) {
        close_pool(pool);
        return;
    }
    for (int i = 0; i < times; ++i) {
        if (what < 35 && pool->sent < pool->count)
            send_next(pool, (enum send_how)below(plan, SENDS_AT_ONCE));
        else if (what >= 35 && what < 70 && pool->posted < pool->count &&
                 (pool->receives[pool->posted].how >= RECEIVES || guaranteed(pool, pool->posted, pool->sent)))
            receive_next(pool);
    }
    if (what >= 70 && pool->to_cancel >= 0 && pool->posted > pool->to_cancel && !pool->cancel_called)
        cancel(pool);
    mark_due(pool);
}
