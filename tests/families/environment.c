/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a program asks about its surroundings, memory, statuses that it makes itself, and info objects. */
#include "families.h"

static void clocks(int unused)
{
    const double before = MPI_Wtime();
    int *global = NULL, found = 0;
    (void)unused;
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1);
    CHECK(before >= 0 && MPI_Wtime() >= before);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &found);
    CHECK(!found || *global == 0 || *global == 1);
    take_int(1);
}

/* A loop until a time has come: its number of turns is not in the hash. */
static void until(int unused)
{
    const double end = MPI_Wtime() + 0.001;
    long long turns = 0;
    (void)unused;
    while (MPI_Wtime() < end)
        ++turns;
    chose(turns);
    CHECK(turns >= 0);
    take_int(1);
}

static void surroundings(int unused)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "", library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0, version = 0, subversion = -1, level = -1, main_thread = 0, flag = 0;
    (void)unused;
    MPI_Get_processor_name(name, &length);
    CHECK(length > 0 && (int)strlen(name) == length);
    MPI_Get_library_version(library, &length);
    /* Open MPI counts the closing zero. */
    CHECK(length > 0 && (int)strlen(library) <= length && (int)strlen(library) >= length - 1);
    MPI_Get_version(&version, &subversion);
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    MPI_Query_thread(&level);
    CHECK(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE);
    MPI_Is_thread_main(&main_thread);
    CHECK(main_thread);
    MPI_Initialized(&flag);
    CHECK(flag);
    MPI_Finalized(&flag);
    CHECK(!flag);
    MPI_Pcontrol(1);
    take_int(version);
}

static void memory(int unused)
{
    int *data = NULL, in = 0;
    MPI_Status status;
    (void)unused;
    MPI_Alloc_mem(COUNT * sizeof *data, MPI_INFO_NULL, &data);
    CHECK(data != NULL);
    make(data, COUNT, my_rank);
    MPI_Sendrecv(data, 1, MPI_INT, right_of(1), 1, &in, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
    take_made(&in, 1, left_of(1));
    MPI_Free_mem(data);
}

static void statuses(int unused)
{
    MPI_Status status;
    int cancelled = 1, count = 0;
    MPI_Count count_x = 0;
    (void)unused;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements(&status, MPI_DOUBLE, 11);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    CHECK(count == 11);
    MPI_Status_set_elements_x(&status, MPI_CHAR, 5000000000LL);
    MPI_Get_elements_x(&status, MPI_CHAR, &count_x);
    CHECK(count_x == 5000000000LL);
    MPI_Status_set_cancelled(&status, 0);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(!cancelled);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled);
    take_int(count);
    take_int(count_x);
}

static void info(int unused)
{
    MPI_Info first, second;
    char key[MPI_MAX_INFO_KEY + 1] = "", value[32] = "";
    int keys = 0, length = 0, found = 0;
    (void)unused;
    MPI_Info_create(&first);
    MPI_Info_set(first, "colour", "blue");
    MPI_Info_set(first, "shape", "round");
    MPI_Info_set(first, "colour", "green");
    MPI_Info_get_nkeys(first, &keys);
    CHECK(keys == 2);
    MPI_Info_dup(first, &second);
    MPI_Info_delete(first, "colour");
    MPI_Info_get(first, "colour", 31, value, &found);
    CHECK(!found);
    MPI_Info_get_nthkey(first, 0, key);
    CHECK(strcmp(key, "shape") == 0);
    MPI_Info_get_valuelen(second, "colour", &length, &found);
    CHECK(found && length == 5);
    MPI_Info_get(second, "colour", 31, value, &found);
    CHECK(found && strcmp(value, "green") == 0);
    take(value, 5);
    take(key, 5);
    MPI_Info_free(&first);
    MPI_Info_free(&second);
    CHECK(second == MPI_INFO_NULL);
}

const struct family environment_families[] = {{"wtime", clocks, 0},   {"wtime_loop", until, 0},
                                              {"environment", surroundings, 0}, {"alloc_mem", memory, 0},
                                              {"status_set", statuses, 0}, {"info", info, 0},
                                              {NULL, NULL, 0}};
