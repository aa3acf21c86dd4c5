/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One-sided communication: the ways to open and close an epoch, and what hangs on a window. */
#include "families.h"

static MPI_Win make_window(long **cell)
{
    MPI_Win win;
    MPI_Win_allocate(sizeof **cell, sizeof **cell, MPI_INFO_NULL, MPI_COMM_WORLD, cell, &win);
    **cell = my_rank;
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

/* Each rank under an exclusive lock of rank 0: reads, adds one, writes. */
static void locks(int unused)
{
    long *cell, value = 0;
    MPI_Win win = make_window(&cell);
    (void)unused;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    ++value;
    MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_flush_local(0, win);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    CHECK(value == ranks);
    take_int(value);
    MPI_Win_free(&win);
}

static void lock_all(int unused)
{
    long *cell, one = 1;
    MPI_Win win = make_window(&cell);
    (void)unused;
    MPI_Win_lock_all(0, win);
    for (int rank = 0; rank < ranks; ++rank)
        MPI_Accumulate(&one, 1, MPI_LONG, rank, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush_local_all(win);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    MPI_Win_unlock_all(win);
    MPI_Win_lock(MPI_LOCK_SHARED, my_rank, 0, win);
    CHECK(*cell == my_rank + ranks);
    take_int(*cell);
    MPI_Win_unlock(my_rank, win);
    MPI_Win_free(&win);
}

/* Post, start, complete and wait between neighbours in the ring; with Test instead of Wait the second time. */
static void post_start(int test)
{
    const int left = left_of(1), right = right_of(1);
    long *cell, mine = my_rank + 500;
    MPI_Win win = make_window(&cell);
    MPI_Group world, sources, targets;
    int done = 0;
    MPI_Win_get_group(win, &world);
    MPI_Group_incl(world, 1, &left, &sources);
    MPI_Group_incl(world, 1, &right, &targets);
    MPI_Win_post(sources, 0, win);
    MPI_Win_start(targets, 0, win);
    MPI_Put(&mine, 1, MPI_LONG, right, 0, 1, MPI_LONG, win);
    MPI_Win_complete(win);
    if (test)
        while (!done)
            MPI_Win_test(win, &done);
    else
        MPI_Win_wait(win);
    CHECK(*cell == left + 500);
    take_int(*cell);
    MPI_Group_free(&sources);
    MPI_Group_free(&targets);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
}

static void about_windows(int unused)
{
    long *cell;
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0, found = 0;
    MPI_Aint *size = NULL;
    MPI_Info info;
    MPI_Win win = make_window(&cell);
    (void)unused;
    MPI_Win_set_name(win, "window");
    MPI_Win_get_name(win, name, &length);
    CHECK(length == 6 && strcmp(name, "window") == 0);
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "false");
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
    MPI_Win_get_info(win, &info);
    CHECK(info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &found);
    CHECK(found && *size == sizeof *cell);
    take(name, 6);
    MPI_Win_free(&win);
}

static int deletes, handled;

static int delete_attribute(MPI_Win win, int key, void *value, void *extra)
{
    int rank = -1;
    (void)win;
    (void)key;
    (void)value;
    (void)extra;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(rank == my_rank);
    ++deletes;
    return MPI_SUCCESS;
}

static void on_window(MPI_Win *win, int *code, ...)
{
    int rank = -1;
    (void)win;
    (void)code;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(rank == my_rank);
    ++handled;
}

static void callbacks(int unused)
{
    long *cell;
    int key, mark = 3, found = 0, *value = NULL;
    MPI_Errhandler mine, got;
    MPI_Win win = make_window(&cell);
    (void)unused;
    deletes = handled = 0;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_attribute, &key, NULL);
    MPI_Win_set_attr(win, key, &mark);
    MPI_Win_get_attr(win, key, &value, &found);
    CHECK(found && value == &mark);
    MPI_Win_delete_attr(win, key);
    CHECK(deletes == 1);
    MPI_Win_set_attr(win, key, &mark);
    MPI_Win_create_errhandler(on_window, &mine);
    MPI_Win_set_errhandler(win, mine);
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == mine);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine);
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    CHECK(handled == 1);
    MPI_Win_free(&win);
    CHECK(deletes == 2);
    MPI_Win_free_keyval(&key);
    take_int(deletes * 10 + handled);
}

const struct family rma_epoch_families[] = {{"win_lock", locks, 0},
                                            {"win_lock_all", lock_all, 0},
                                            {"win_post_start", post_start, 0},
                                            {"win_post_test", post_start, 1},
                                            {"win_about", about_windows, 0},
                                            {"win_callbacks", callbacks, 0},
                                            {NULL, NULL, 0}};
