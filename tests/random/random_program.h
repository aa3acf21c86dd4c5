// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the parts of random_program share: the run's state, the draws, the hash, the outstanding
 * requests, the ways to send and receive one message.
 *
 * Two sources of draws. `plan` gives every rank the same numbers: it is drawn from by all ranks
 * alike, whether they take part or not. `own` belongs to one rank, for what no other rank needs to
 * know. Neither depends on what was received.
 */
#ifndef RANDOM_PROGRAM_H
#define RANDOM_PROGRAM_H

#include <stdint.h>

#include <mpi.h>

enum { MAX_RANKS = 16, MAX_BYTES = 6000, MAX_MESSAGES = 12, MAX_OPEN = 4 };
enum { WORLD, DUP, SPLIT, INTER, COMMS };

struct prng {
  uint64_t state;
};

struct comm {
  MPI_Comm handle;
  int rank_of[MAX_RANKS]; /* what its members call a rank of MPI_COMM_WORLD */
};

struct run {
  int rank, size;
  int count_misses, check, trace, apart, show_heap;
  int messages; /* of a pool, at most */
  int program, step;
  uint64_t hash, filled, heap;
  long events;
  struct prng plan, own;
  struct comm comms[COMMS];
  int side[MAX_RANKS]; /* of SPLIT and INTER */
  int next_tag;
  /* Here a receive of MPI_ANY_TAG may be pending: no other message may go there until a fence. */
  int any_tag[COMMS][MAX_RANKS];
};
extern struct run g_run;

uint64_t draw(struct prng* prng);
int below(struct prng* prng, int limit);
int chance(struct prng* prng, int percent);
void shuffle(struct prng* prng, int* values, int count);

/* Everything that the hash is made of; the number of failed tests only where it is asked for. */
void note(const char* what, int value);
void note_data(const char* what, const void* data, int bytes);
/* Without a status, the whole of the buffer. */
void note_message(const MPI_Status* status, const void* data, int room);
void note_misses(int count);
void trace(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* With --trace, each call that is an event of a recording is told before it is made: tests count them. */
#define TOLD(call, ...) (trace("call %s", #call), call(__VA_ARGS__))
/* clang-format off */
#define MPI_Allreduce(...) TOLD(MPI_Allreduce, __VA_ARGS__)
#define MPI_Alltoall(...) TOLD(MPI_Alltoall, __VA_ARGS__)
#define MPI_Barrier(...) TOLD(MPI_Barrier, __VA_ARGS__)
#define MPI_Bcast(...) TOLD(MPI_Bcast, __VA_ARGS__)
#define MPI_Bsend(...) TOLD(MPI_Bsend, __VA_ARGS__)
#define MPI_Cancel(...) TOLD(MPI_Cancel, __VA_ARGS__)
#define MPI_Comm_dup(...) TOLD(MPI_Comm_dup, __VA_ARGS__)
#define MPI_Comm_free(...) TOLD(MPI_Comm_free, __VA_ARGS__)
#define MPI_Comm_split(...) TOLD(MPI_Comm_split, __VA_ARGS__)
#define MPI_Finalize(...) TOLD(MPI_Finalize, __VA_ARGS__)
#define MPI_Gather(...) TOLD(MPI_Gather, __VA_ARGS__)
#define MPI_Iallreduce(...) TOLD(MPI_Iallreduce, __VA_ARGS__)
#define MPI_Ibarrier(...) TOLD(MPI_Ibarrier, __VA_ARGS__)
#define MPI_Ibcast(...) TOLD(MPI_Ibcast, __VA_ARGS__)
#define MPI_Improbe(...) TOLD(MPI_Improbe, __VA_ARGS__)
#define MPI_Imrecv(...) TOLD(MPI_Imrecv, __VA_ARGS__)
#define MPI_Intercomm_create(...) TOLD(MPI_Intercomm_create, __VA_ARGS__)
#define MPI_Iprobe(...) TOLD(MPI_Iprobe, __VA_ARGS__)
#define MPI_Irecv(...) TOLD(MPI_Irecv, __VA_ARGS__)
#define MPI_Isend(...) TOLD(MPI_Isend, __VA_ARGS__)
#define MPI_Issend(...) TOLD(MPI_Issend, __VA_ARGS__)
#define MPI_Mprobe(...) TOLD(MPI_Mprobe, __VA_ARGS__)
#define MPI_Mrecv(...) TOLD(MPI_Mrecv, __VA_ARGS__)
#define MPI_Probe(...) TOLD(MPI_Probe, __VA_ARGS__)
#define MPI_Recv(...) TOLD(MPI_Recv, __VA_ARGS__)
#define MPI_Reduce(...) TOLD(MPI_Reduce, __VA_ARGS__)
#define MPI_Request_get_status(...) TOLD(MPI_Request_get_status, __VA_ARGS__)
#define MPI_Scan(...) TOLD(MPI_Scan, __VA_ARGS__)
#define MPI_Scatter(...) TOLD(MPI_Scatter, __VA_ARGS__)
#define MPI_Send(...) TOLD(MPI_Send, __VA_ARGS__)
#define MPI_Sendrecv(...) TOLD(MPI_Sendrecv, __VA_ARGS__)
#define MPI_Sendrecv_replace(...) TOLD(MPI_Sendrecv_replace, __VA_ARGS__)
#define MPI_Ssend(...) TOLD(MPI_Ssend, __VA_ARGS__)
#define MPI_Start(...) TOLD(MPI_Start, __VA_ARGS__)
#define MPI_Startall(...) TOLD(MPI_Startall, __VA_ARGS__)
#define MPI_Test(...) TOLD(MPI_Test, __VA_ARGS__)
#define MPI_Testall(...) TOLD(MPI_Testall, __VA_ARGS__)
#define MPI_Testany(...) TOLD(MPI_Testany, __VA_ARGS__)
#define MPI_Testsome(...) TOLD(MPI_Testsome, __VA_ARGS__)
#define MPI_Wait(...) TOLD(MPI_Wait, __VA_ARGS__)
#define MPI_Waitall(...) TOLD(MPI_Waitall, __VA_ARGS__)
#define MPI_Waitany(...) TOLD(MPI_Waitany, __VA_ARGS__)
#define MPI_Waitsome(...) TOLD(MPI_Waitsome, __VA_ARGS__)
/* clang-format on */

/* Zeroed memory that lives until the program's end: freed sends and late receives need no care. Freed, its addresses and
   what is in it go into g_run.heap. */
unsigned char* space(int bytes);
void free_space(void);
/* Memory with content that follows from all that this rank has received so far. */
unsigned char* content(int bytes);

enum slot_kind { SENT, RECEIVED, COLLECTIVE };

struct pool;

/* A request that is not complete. It is `due` when it completes whatever anybody does next. */
struct slot {
  MPI_Request request;
  enum slot_kind kind;
  void* data;
  int bytes;
  int due, persistent;
  int doomed;    /* nothing will ever match it: it is cancelled some time */
  int cancelled; /* MPI_Cancel was called */
  int* vanished; /* set if that succeeded */
  const struct pool* owner;
  int index;
};

struct slot* hold(MPI_Request request, enum slot_kind kind, void* data, int bytes);
/* The next active slot of an owner (any if NULL) after one (NULL for the first). */
struct slot* next_slot(const struct pool* owner, const struct slot* after);
void cancel_slot(struct slot* slot, int* vanished);
void cancel_doomed(int percent);
void finish_slot(struct slot* slot);
/* All due requests, in any of MPI's ways, maybe with some that are not due. */
void complete_due(void);
/* One test of some kind, which may well fail. */
void poll_once(void);

struct envelope {
  int peer, tag;
  MPI_Comm comm;
};

/* Those up to SENDS_AT_ONCE return before anybody receives. */
enum send_how {
  ISEND,
  ISSEND,
  BSEND,
  ISEND_FREE,
  SEND_INIT,
  SENDS_AT_ONCE,
  SEND = SENDS_AT_ONCE,
  SSEND,
  SENDRECV,
  SENDS
};
/* The slot, where a request is left to complete. */
struct slot* send_message(enum send_how how, unsigned char* data, int bytes, struct envelope to);

enum receive_how {
  RECV,
  RECV_SENDRECV,
  PROBE,
  IPROBE,
  IPROBE_ONCE,
  MPROBE,
  IMPROBE,
  RECV_BLIND,
  RECEIVES
};
/* Takes one message; gives its source, which is unknown (MPI_ANY_SOURCE) after RECV_BLIND. */
int receive_message(enum receive_how how, void* in, int room, struct envelope from);

/* communicators.c */
void make_communicators(void);
void free_communicators(void);
/* Whether one rank may send to the other there. */
int connected(int comm, int a, int b);
void run_collective(void);

/*
 * Messages to one receiver that race for its receives, in flight over many steps (pools.c). An
 * `exclusive` pool may receive with MPI_ANY_TAG.
 */
struct message {
  int from, tag, bytes;
};
struct receive {
  int source, tag; /* a rank of MPI_COMM_WORLD, or MPI_ANY_SOURCE */
  int how;
};
struct pool {
  int open, comm, receiver, count, exclusive, uniform, room;
  int sent, posted; /* so many of the messages and receives, by the plan */
  int to_cancel, cancel_called, vanished;
  struct message messages[MAX_MESSAGES];
  struct receive receives[MAX_MESSAGES];
};
void open_pool(struct pool* pool, int comm, int receiver, int exclusive);
void advance_pool(struct pool* pool);

/* One step each (episodes.c); 0 where ranks are lacking. */
int run_server(int comm, int server);
int run_persistent(int comm, int receiver);
int run_exchange(void);
void run_never(void);
void run_proc_null(void);

#endif
