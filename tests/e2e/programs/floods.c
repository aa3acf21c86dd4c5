/* SPDX-License-Identifier: GPL-3.0-or-later */
// Rank 0 takes messages of any source; PF_SLOW names who sleeps before each: sender or receiver.
// At the end rank 0 says on standard error how many messages at most had come before they were asked for.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMessages = 60, kTag = 5 };

static MPI_T_pvar_session g_session;
static MPI_T_pvar_handle g_handle;
static int g_count = 0;

/* Of Open MPI: how long the queue of unexpected messages of each peer is. */
static void openCounter(void) {
    int provided, number, found = -1;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_get_num(&number);
    for (int i = 0; i < number && found < 0; ++i) {
        char name[128], text[512];
        int nameSize = sizeof name, textSize = sizeof text, verbosity, class, bind, readonly, continuous, atomic;
        MPI_Datatype type;
        MPI_T_enum values;
        if (MPI_T_pvar_get_info(i, name, &nameSize, &verbosity, &class, &type, &values, text, &textSize, &bind, &readonly, &continuous,
                                &atomic) == MPI_SUCCESS && strcmp(name, "pml_ob1_unexpected_msgq_length") == 0)
            found = i;
    }
    MPI_Comm world = MPI_COMM_WORLD;
    if (found < 0 || MPI_T_pvar_session_create(&g_session) != MPI_SUCCESS ||
        MPI_T_pvar_handle_alloc(g_session, found, &world, &g_handle, &g_count) != MPI_SUCCESS)
        g_count = 0;
    else
        MPI_T_pvar_start(g_session, g_handle);
}

static unsigned waiting(void) {
    unsigned lengths[256] = {0}, sum = 0;
    if (g_count > 0 && g_count <= 256 && MPI_T_pvar_read(g_session, g_handle, lengths) == MPI_SUCCESS)
        for (int i = 0; i < g_count; ++i)
            sum += lengths[i];
    return sum;
}

int main(int argc, char** argv) {
    int rank, size;
    const char* slow = getenv("PF_SLOW");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        openCounter();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        unsigned hash = 0, most = 0;
        for (int i = 0; i < kMessages * (size - 1); ++i) {
            int value;
            MPI_Status status;
            if (slow != NULL && strcmp(slow, "receiver") == 0)
                usleep(2000);
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &status);
            hash = hash * 31 + (unsigned)(value * 10 + status.MPI_SOURCE);
            const unsigned now = waiting();
            most = now > most ? now : most;
        }
        printf("rank 0 hash %x\n", hash);
        fprintf(stderr, "unexpected %s %u\n", g_count > 0 ? "most" : "unknown", most);
    } else {
        for (int i = 0; i < kMessages; ++i) {
            if (slow != NULL && strcmp(slow, "sender") == 0)
                usleep(3000);
            MPI_Send(&i, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
