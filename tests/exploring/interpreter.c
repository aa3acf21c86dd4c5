/* SPDX-License-Identifier: GPL-3.0-or-later
 * Runs a program of the language of language.py with real MPI calls, so that none has to be compiled:
 *     mpirun -n RANKS interpreter PROGRAM | @FILE
 *     mpirun -n RANKS interpreter --times N PROGRAM | @FILE
 *
 * Each rank tells at its end what its receives took, in posting order, as the model does: S.k is the k-th message of rank S to
 * this rank, - is none. The exit status is the program's. With --times, the program is run N times on fresh communicators in one
 * job; each round is told with its status, and the job ends with 0. Exit status 2: no program, or not one for so many ranks.
 *
 * In the environment: INTERPRETER_DELAY=us is the longest sleep before a statement, INTERPRETER_SEED=n draws them
 * and how slow a rank is in a round,
 * INTERPRETER_ALARM=ms tells after that time what was received until then and ends the rank with status 111,
 * INTERPRETER_TOLD=FILE is where it is told, instead of the standard output, of which mpirun mixes the ranks' lines when there are many.
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

enum { MOST_WORDS = 20000, MOST_RANKS = 64, MOST_RECEIVES = 1000, SLOTS = 64, COMMS = 16, VALUES = 64, ALARM_STATUS = 111, AFTER_ALARM = 800000 };

struct message { int sender, number, value; };
struct request { MPI_Request request; struct message in, out; int post, is_receive, is_persistent; };

static char *words[MOST_WORDS];
static int word_count;
static int rank, size, round_number = -1;
static MPI_Comm comms[COMMS];
static struct { int x, s, t, a, w, f; } my;
static int sent[MOST_RANKS]; /* messages to each rank */
static struct { int sender, number; } taken[MOST_RECEIVES];
static int posted, ended, status_of_end, told_to = STDOUT_FILENO;
static struct request requests[SLOTS];
static MPI_Message handles[SLOTS];
static unsigned long long longest_delay, seed;
static int pace; /* of this rank in this round: its sleeps are shorter by that power of two */

static void refuse(const char *what, const char *word)
{
    fprintf(stderr, "interpreter: %s: %s\n", what, word);
    exit(2);
}

/* -- words */
static const char *word(int place)
{
    if (place >= word_count)
        refuse("the program ends too early", "a word is missing");
    return words[place];
}

static int is(int place, const char *text) { return place < word_count && strcmp(words[place], text) == 0; }

static int number(int place) { return atoi(word(place)); }

static int value(int place)
{
    const char *text = word(place);
    return text[0] == 'x' ? my.x : text[0] == 'a' ? my.a : text[0] == 's' ? my.s : atoi(text);
}

static int source(int place)
{
    const char *text = word(place);
    return text[0] == '*' ? MPI_ANY_SOURCE : text[0] == 's' ? my.s : atoi(text);
}

static int tag(int place)
{
    const char *text = word(place);
    return text[0] == '*' ? MPI_ANY_TAG : text[0] == 't' ? my.t : atoi(text);
}

static int destination(int place)
{
    return value(place);
}

static int slot(const char *text)
{
    int at = atoi(text);
    if (at < 0 || at >= SLOTS)
        refuse("no such slot", text);
    return at;
}

static MPI_Comm comm(int place)
{
    int at = number(place);
    if (at < 0 || at >= COMMS || comms[at] == MPI_COMM_NULL)
        refuse("no such communicator", word(place));
    return comms[at];
}

static int slots_of(int place, int at[SLOTS])
{
    int count = 0;
    for (const char *text = word(place); text && count < SLOTS; text = strchr(text, ','), text += text != NULL)
        at[count++] = slot(text);
    return count;
}

/* -- what was received */
static int post(void)
{
    if (posted == MOST_RECEIVES)
        refuse("too many receives", "");
    taken[posted].sender = -1;
    return posted++;
}

static void told(const struct message *message, int at, const MPI_Status *status)
{
    taken[at].sender = message->sender;
    taken[at].number = message->number;
    my.x = message->value;
    my.s = status->MPI_SOURCE;
    my.t = status->MPI_TAG;
    my.a = (3 * my.a + message->value + 1) % VALUES;
}

static void completed(struct request *request, const MPI_Status *status)
{
    if (request->is_receive)
        told(&request->in, request->post, status);
    if (request->is_persistent)
        MPI_Request_free(&request->request);
}

static struct message message(int to, int what)
{
    if (to < 0 || to >= size)
        refuse("no such rank", "");
    struct message made = {rank, sent[to]++, what};
    return made;
}

static struct request *fresh(int at)
{
    if (requests[at].request != MPI_REQUEST_NULL)
        refuse("a slot is used again before its request is done", "");
    requests[at].is_receive = requests[at].is_persistent = 0;
    return &requests[at];
}

static struct request *receiving(int at)
{
    struct request *request = fresh(at);
    request->is_receive = 1;
    request->post = post();
    return request;
}

static int statement(int at); /* gives the place behind it */

/* -- point to point: each kind of statement is a call site of its own */
static int do_send(int at)
{
    struct message out = message(destination(at), value(at + 3));
    MPI_Send(&out, 3, MPI_INT, destination(at), number(at + 1), comm(at + 2));
    return at + 4;
}

static int do_ssend(int at)
{
    struct message out = message(destination(at), value(at + 3));
    MPI_Ssend(&out, 3, MPI_INT, destination(at), number(at + 1), comm(at + 2));
    return at + 4;
}

static int do_isend(int at)
{
    struct request *request = fresh(slot(word(at + 4)));
    request->out = message(destination(at), value(at + 3));
    MPI_Isend(&request->out, 3, MPI_INT, destination(at), number(at + 1), comm(at + 2), &request->request);
    return at + 5;
}

static int do_issend(int at)
{
    struct request *request = fresh(slot(word(at + 4)));
    request->out = message(destination(at), value(at + 3));
    MPI_Issend(&request->out, 3, MPI_INT, destination(at), number(at + 1), comm(at + 2), &request->request);
    return at + 5;
}

static int do_recv(int at)
{
    struct message in;
    MPI_Status status;
    int mine = post();
    MPI_Recv(&in, 3, MPI_INT, source(at), tag(at + 1), comm(at + 2), &status);
    told(&in, mine, &status);
    return at + 3;
}

static int do_irecv(int at)
{
    struct request *request = receiving(slot(word(at + 3)));
    MPI_Irecv(&request->in, 3, MPI_INT, source(at), tag(at + 1), comm(at + 2), &request->request);
    return at + 4;
}

static int do_precv(int at)
{
    struct request *request = receiving(slot(word(at + 3)));
    request->is_persistent = 1;
    MPI_Recv_init(&request->in, 3, MPI_INT, source(at), tag(at + 1), comm(at + 2), &request->request);
    MPI_Start(&request->request);
    return at + 4;
}

static int do_sendrecv(int at)
{
    struct message out = message(destination(at), value(at + 2)), in;
    MPI_Status status;
    int mine = post();
    MPI_Sendrecv(&out, 3, MPI_INT, destination(at), number(at + 1), &in, 3, MPI_INT, source(at + 3), tag(at + 4), comm(at + 5), &status);
    told(&in, mine, &status);
    return at + 6;
}

/* -- completions */
static int do_wait(int at)
{
    struct request *request = &requests[slot(word(at))];
    int active = request->request != MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Wait(&request->request, &status);
    if (active)
        completed(request, &status);
    return at + 1;
}

static int do_testloop(int at)
{
    struct request *request = &requests[slot(word(at))];
    int active = request->request != MPI_REQUEST_NULL, flag = 0;
    MPI_Status status;
    while (!flag)
        MPI_Test(&request->request, &flag, &status);
    if (active)
        completed(request, &status);
    return at + 1;
}

static int do_test(int at)
{
    struct request *request = &requests[slot(word(at))];
    int active = request->request != MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Test(&request->request, &my.f, &status);
    if (active && my.f)
        completed(request, &status);
    return at + 1;
}

static int do_waitall(int at)
{
    int places[SLOTS], active[SLOTS], count = slots_of(at, places);
    MPI_Request all[SLOTS];
    MPI_Status statuses[SLOTS];
    for (int i = 0; i < count; ++i) {
        all[i] = requests[places[i]].request;
        active[i] = all[i] != MPI_REQUEST_NULL;
    }
    MPI_Waitall(count, all, statuses);
    for (int i = 0; i < count; ++i) {
        requests[places[i]].request = all[i];
        if (active[i])
            completed(&requests[places[i]], &statuses[i]);
    }
    return at + 1;
}

static void one_of(const int *places, const MPI_Request *all, int index, const MPI_Status *status)
{
    my.w = index == MPI_UNDEFINED ? -1 : index;
    if (index == MPI_UNDEFINED)
        return;
    requests[places[index]].request = all[index];
    completed(&requests[places[index]], status);
}

static int do_waitany(int at)
{
    int places[SLOTS], count = slots_of(at, places), index;
    MPI_Request all[SLOTS];
    MPI_Status status;
    for (int i = 0; i < count; ++i)
        all[i] = requests[places[i]].request;
    MPI_Waitany(count, all, &index, &status);
    one_of(places, all, index, &status);
    return at + 1;
}

static int do_testany(int at)
{
    int places[SLOTS], count = slots_of(at, places), index;
    MPI_Request all[SLOTS];
    MPI_Status status;
    for (int i = 0; i < count; ++i)
        all[i] = requests[places[i]].request;
    MPI_Testany(count, all, &index, &my.f, &status);
    if (my.f)
        one_of(places, all, index, &status);
    return at + 1;
}

static int compare(const void *left, const void *right) { return *(const int *)left - *(const int *)right; }

/* Tells them by their index, in whatever order MPI has. */
static int do_waitsome(int at)
{
    int places[SLOTS], count = slots_of(at, places), done, indices[SLOTS], order[SLOTS];
    MPI_Request all[SLOTS];
    MPI_Status statuses[SLOTS], by_index[SLOTS];
    for (int i = 0; i < count; ++i)
        all[i] = requests[places[i]].request;
    MPI_Waitsome(count, all, &done, indices, statuses);
    my.w = done == MPI_UNDEFINED ? -1 : done;
    for (int i = 0; i < my.w; ++i) {
        order[i] = indices[i];
        by_index[indices[i]] = statuses[i];
    }
    if (my.w > 0)
        qsort(order, my.w, sizeof *order, compare);
    for (int i = 0; i < my.w; ++i) {
        requests[places[order[i]]].request = all[order[i]];
        completed(&requests[places[order[i]]], &by_index[order[i]]);
    }
    return at + 1;
}

/* -- probes */
static void seen(const MPI_Status *status)
{
    my.s = status->MPI_SOURCE;
    my.t = status->MPI_TAG;
}

static int do_probe(int at)
{
    MPI_Status status;
    MPI_Probe(source(at), tag(at + 1), comm(at + 2), &status);
    seen(&status);
    return at + 3;
}

static int do_probeloop(int at)
{
    MPI_Status status;
    int flag = 0;
    while (!flag)
        MPI_Iprobe(source(at), tag(at + 1), comm(at + 2), &flag, &status);
    seen(&status);
    return at + 3;
}

static int do_iprobe(int at)
{
    MPI_Status status;
    MPI_Iprobe(source(at), tag(at + 1), comm(at + 2), &my.f, &status);
    if (my.f)
        seen(&status);
    return at + 3;
}

static MPI_Message *handle(int at)
{
    MPI_Message *found = &handles[slot(word(at))];
    if (*found != MPI_MESSAGE_NULL)
        refuse("a slot holds a message already", word(at));
    return found;
}

static int do_mprobe(int at)
{
    MPI_Status status;
    MPI_Mprobe(source(at), tag(at + 1), comm(at + 2), handle(at + 3), &status);
    seen(&status);
    return at + 4;
}

static int do_mprobeloop(int at)
{
    MPI_Status status;
    int flag = 0;
    while (!flag)
        MPI_Improbe(source(at), tag(at + 1), comm(at + 2), &flag, handle(at + 3), &status);
    seen(&status);
    return at + 4;
}

static int do_improbe(int at)
{
    MPI_Status status;
    MPI_Improbe(source(at), tag(at + 1), comm(at + 2), &my.f, handle(at + 3), &status);
    if (my.f)
        seen(&status);
    return at + 4;
}

static int do_mrecv(int at)
{
    MPI_Message *held = &handles[slot(word(at))];
    if (*held != MPI_MESSAGE_NULL) {
        struct message in;
        MPI_Status status;
        int mine = post();
        MPI_Mrecv(&in, 3, MPI_INT, held, &status);
        told(&in, mine, &status);
    }
    return at + 1;
}

/* -- collectives */
static int do_barrier(int at)
{
    MPI_Barrier(comm(at));
    return at + 1;
}

static int do_allreduce(int at)
{
    int mine = value(at + 1), sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm(at));
    my.x = sum % VALUES;
    return at + 2;
}

static int do_bcast(int at)
{
    int shared = value(at + 2);
    MPI_Bcast(&shared, 1, MPI_INT, number(at + 1), comm(at));
    my.x = shared;
    return at + 3;
}

static int do_reduce(int at)
{
    int mine = value(at + 2), sum = 0;
    MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, number(at + 1), comm(at));
    if (rank == number(at + 1))
        my.x = sum % VALUES;
    return at + 3;
}

/* -- ends and control flow */
static void tell(void)
{
    static char line[MOST_RECEIVES * 8 + 100];
    int length = round_number < 0 ? sprintf(line, "rank %d took ", rank) : sprintf(line, "round %d rank %d status %d took ", round_number, rank, status_of_end);
    for (int i = 0; i < posted; ++i)
        length += taken[i].sender < 0 ? sprintf(line + length, i ? ",-" : "-")
                                      : sprintf(line + length, i ? ",%d.%d" : "%d.%d", taken[i].sender, taken[i].number);
    line[length++] = '\n';
    if (write(told_to, line, length) != length)
        _exit(2);
}

static volatile sig_atomic_t has_told;

static void on_alarm(int unused)
{
    (void)unused;
    if (!has_told)
        tell();
    usleep(AFTER_ALARM); /* the first rank that ends takes the others with it */
    _exit(ALARM_STATUS);
}

static int do_exit(int at)
{
    status_of_end = number(at);
    ended = 1;
    return at + 1;
}

static int do_abort(int at)
{
    tell();
    MPI_Abort(MPI_COMM_WORLD, number(at));
    return at + 1;
}

static int do_kill(int at)
{
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    tell();
    signal(number(at), SIG_DFL);
    raise(number(at));
    return at + 1;
}

static int body_end(int at) /* of a body that begins at the brace */
{
    if (!is(at, "{"))
        refuse("a brace was expected", word(at));
    for (int depth = 0;; ++at) {
        const char *text = word(at);
        depth += strcmp(text, "{") == 0 ? 1 : strcmp(text, "}") == 0 ? -1 : 0;
        if (depth == 0)
            return at;
    }
}

static void run_to(int at, int end)
{
    while (at < end && !ended)
        at = statement(at);
}

static int holds(const char *condition)
{
    char name = condition[0];
    if (name == 'f')
        return my.f;
    int it = name == 'x' ? my.x : name == 's' ? my.s : name == 't' ? my.t : name == 'a' ? my.a : my.w;
    return condition[1] == '%' ? it % 2 == 1 : it == atoi(condition + 2);
}

static int do_if(int at)
{
    int yes = holds(word(at)), end = body_end(at + 1);
    if (yes)
        run_to(at + 2, end);
    if (!is(end + 1, "else"))
        return end + 1;
    int other_end = body_end(end + 2);
    if (!yes)
        run_to(end + 3, other_end);
    return other_end + 1;
}

static int do_loop(int at)
{
    int times = number(at), end = body_end(at + 1);
    for (int i = 0; i < times && !ended; ++i)
        run_to(at + 2, end);
    return end + 1;
}

static const struct { const char *word; int (*run)(int at); } statements[] = {
    {"send", do_send}, {"ssend", do_ssend}, {"isend", do_isend}, {"issend", do_issend}, {"recv", do_recv}, {"irecv", do_irecv}, {"precv", do_precv},
    {"sendrecv", do_sendrecv}, {"wait", do_wait}, {"waitall", do_waitall}, {"waitany", do_waitany}, {"waitsome", do_waitsome}, {"testany", do_testany}, {"testloop", do_testloop},
    {"test", do_test}, {"probe", do_probe}, {"probeloop", do_probeloop}, {"iprobe", do_iprobe}, {"mprobe", do_mprobe},
    {"mprobeloop", do_mprobeloop}, {"improbe", do_improbe}, {"mrecv", do_mrecv}, {"barrier", do_barrier}, {"allreduce", do_allreduce},
    {"bcast", do_bcast}, {"reduce", do_reduce}, {"if", do_if}, {"loop", do_loop}, {"exit", do_exit}, {"abort", do_abort}, {"kill", do_kill},
};

static unsigned draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33;
}

static void maybe_sleep(void)
{
    if (longest_delay == 0)
        return;
    if (draw() & 1)
        usleep(draw() % longest_delay >> pace);
}

static int statement(int at)
{
    maybe_sleep();
    for (size_t i = 0; i < sizeof statements / sizeof *statements; ++i)
        if (is(at, statements[i].word))
            return statements[i].run(at + 1);
    refuse("no statement", word(at));
    return at;
}

/* -- the job */
static void read_program(const char *argument)
{
    char *text = strdup(argument);
    if (argument[0] == '@') {
        FILE *file = fopen(argument + 1, "r");
        if (!file || !(text = calloc(1, 1 << 20)) || fread(text, 1, (1 << 20) - 1, file) == 0)
            refuse("cannot be read", argument + 1);
        fclose(file);
    }
    for (char *one = strtok(text, " \t\r\n"); one; one = strtok(NULL, " \t\r\n")) {
        if (word_count == MOST_WORDS)
            refuse("too many words", argument);
        words[word_count++] = one;
    }
}

/* Gives the first word of this rank's part; its end is in *end. */
static int my_part(int *end)
{
    int seen_ranks = 0, begin = -1;
    *end = word_count;
    for (int at = 0; at < word_count; ++at) {
        if (!is(at, "rank"))
            continue;
        if (seen_ranks == rank)
            begin = at + 1;
        if (seen_ranks == rank + 1)
            *end = at;
        ++seen_ranks;
    }
    if (seen_ranks != size || size > MOST_RANKS)
        refuse("the program is for another number of ranks", "see mpirun -n");
    return begin;
}

static int most_comms(void)
{
    int most = 0;
    for (int at = 0; at < word_count; ++at) {
        int place = is(at, "send") || is(at, "ssend") || is(at, "isend") || is(at, "issend") ? at + 3
            : is(at, "barrier") || is(at, "allreduce") || is(at, "bcast") || is(at, "reduce") ? at + 1
            : is(at, "sendrecv") ? at + 6
            : is(at, "recv") || is(at, "irecv") || is(at, "precv") || strstr(words[at], "probe") ? at + 3 : -1;
        if (place >= 0 && number(place) > most)
            most = number(place);
    }
    if (most >= COMMS)
        refuse("too many communicators", "");
    return most;
}

static void begin_round(int most, int fresh_world)
{
    memset(&my, 0, sizeof my);
    my.w = -1;
    memset(sent, 0, sizeof sent);
    posted = ended = status_of_end = 0;
    for (int at = 0; at < SLOTS; ++at)
        requests[at].request = MPI_REQUEST_NULL;
    for (int at = 0; at < SLOTS; ++at)
        handles[at] = MPI_MESSAGE_NULL;
    for (int at = 0; at < COMMS; ++at)
        comms[at] = MPI_COMM_NULL;
    comms[0] = MPI_COMM_WORLD;
    for (int at = fresh_world ? 0 : 1; at <= most; ++at)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[at]);
}

static void read_environment(void)
{
    const char *delay = getenv("INTERPRETER_DELAY"), *from = getenv("INTERPRETER_SEED"), *alarm_at = getenv("INTERPRETER_ALARM"),
               *told = getenv("INTERPRETER_TOLD");
    if (told && (told_to = open(told, O_WRONLY | O_APPEND | O_CREAT, 0600)) < 0)
        refuse("cannot write", told);
    longest_delay = delay ? strtoul(delay, NULL, 10) : 0;
    seed = (from ? strtoul(from, NULL, 10) : 0) * 1000 + rank;
    if (alarm_at) {
        long ms = atol(alarm_at);
        struct itimerval when = {{0, 0}, {ms / 1000, ms % 1000 * 1000}};
        signal(SIGALRM, on_alarm);
        setitimer(ITIMER_REAL, &when, NULL);
    }
}

int main(int argc, char **argv)
{
    int times = 0, end;
    if (argc == 4 && strcmp(argv[1], "--times") == 0)
        times = atoi(argv[2]);
    else if (argc != 2)
        refuse("usage", "interpreter [--times N] PROGRAM | @FILE");
    read_program(argv[argc - 1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int begin = my_part(&end), most = most_comms();
    read_environment();
    for (int i = 0; i < (times ? times : 1); ++i) {
        round_number = times ? i : -1;
        pace = draw() % 4 * 2;
        begin_round(most, times > 0);
        run_to(begin, end);
        tell();
        has_told = 1;
        if (times)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return times ? 0 : status_of_end;
}
