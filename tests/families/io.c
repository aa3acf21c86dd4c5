/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MPI-IO by one rank at a time: explicit offsets, own file pointers, views, and what a file can be asked. */
#include "families.h"

enum { MODE = MPI_MODE_CREATE | MPI_MODE_RDWR };

MPI_File open_file(const char *name)
{
    MPI_File file = MPI_FILE_NULL;
    if (my_rank == 0)
        MPI_File_delete(name, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    const int code = MPI_File_open(MPI_COMM_WORLD, name, MODE, MPI_INFO_NULL, &file);
    CHECK(code == MPI_SUCCESS);
    if (code != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return file;
}

void close_file(MPI_File *file, const char *name)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_close(file);
    CHECK(*file == MPI_FILE_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (my_rank == 0)
        CHECK(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void settle(MPI_File file)
{
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
}

static MPI_Offset place(int rank) { return (MPI_Offset)rank * COUNT * (MPI_Offset)sizeof(int); }

/* Each rank writes its part and reads the next one's. */
static void at(int later)
{
    int out[COUNT], in[COUNT] = {0}, count = 0;
    MPI_File file = open_file("families_at.tmp");
    MPI_Request request;
    MPI_Status status;
    make(out, COUNT, my_rank);
    if (later) {
        MPI_File_iwrite_at(file, place(my_rank), out, COUNT, MPI_INT, &request);
        MPI_Wait(&request, &status);
    } else {
        MPI_File_write_at(file, place(my_rank), out, COUNT, MPI_INT, &status);
    }
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == COUNT);
    settle(file);
    if (later) {
        MPI_File_iread_at(file, place(right_of(1)), in, COUNT, MPI_INT, &request);
        MPI_Wait(&request, &status);
    } else {
        MPI_File_read_at(file, place(right_of(1)), in, COUNT, MPI_INT, &status);
    }
    take_made(in, COUNT, right_of(1));
    close_file(&file, "families_at.tmp");
}

static void pointer(int later)
{
    int out[COUNT], in[COUNT] = {0};
    MPI_File file = open_file("families_pointer.tmp");
    MPI_Offset position = -1;
    MPI_Request request;
    MPI_Status status;
    make(out, COUNT, my_rank);
    MPI_File_seek(file, place(my_rank), MPI_SEEK_SET);
    if (later) {
        MPI_File_iwrite(file, out, COUNT, MPI_INT, &request);
        MPI_Wait(&request, &status);
    } else {
        MPI_File_write(file, out, COUNT, MPI_INT, &status);
    }
    MPI_File_get_position(file, &position);
    CHECK(position == place(my_rank + 1));
    settle(file);
    MPI_File_seek(file, place(left_of(1)), MPI_SEEK_SET);
    if (later) {
        MPI_File_iread(file, in, COUNT, MPI_INT, &request);
        MPI_Wait(&request, &status);
    } else {
        MPI_File_read(file, in, COUNT, MPI_INT, &status);
    }
    take_made(in, COUNT, left_of(1));
    close_file(&file, "families_pointer.tmp");
}

/* Every rank sees only its column of the file. */
static void view(int unused)
{
    int out[COUNT], in[COUNT] = {0}, all[MAX_RANKS * COUNT];
    char representation[MPI_MAX_DATAREP_STRING] = "";
    MPI_File file = open_file("families_view.tmp");
    MPI_Datatype column, etype, filetype;
    MPI_Offset displacement = -1, offset = -1;
    MPI_Aint extent = 0;
    MPI_Status status;
    (void)unused;
    MPI_Type_vector(COUNT, 1, ranks, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_File_set_view(file, my_rank * (MPI_Offset)sizeof(int), MPI_INT, column, "native", MPI_INFO_NULL);
    MPI_File_get_view(file, &displacement, &etype, &filetype, representation);
    CHECK(displacement == my_rank * (MPI_Offset)sizeof(int) && strcmp(representation, "native") == 0);
    MPI_File_get_byte_offset(file, 1, &offset);
    CHECK(offset == (my_rank + ranks) * (MPI_Offset)sizeof(int));
    MPI_File_get_type_extent(file, MPI_INT, &extent);
    CHECK(extent == sizeof(int));
    make(out, COUNT, my_rank);
    MPI_File_write(file, out, COUNT, MPI_INT, &status);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_read(file, in, COUNT, MPI_INT, &status);
    take_made(in, COUNT, my_rank);
    settle(file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, all, ranks * COUNT, MPI_INT, &status);
    for (int i = 0; i < ranks * COUNT; ++i)
        CHECK(all[i] == element(i % ranks, i / ranks));
    take(all, (size_t)(ranks * COUNT) * sizeof *all);
    MPI_Type_free(&column);
    close_file(&file, "families_view.tmp");
}

static void questions(int unused)
{
    MPI_File file = open_file("families_questions.tmp");
    MPI_Offset size = -1;
    MPI_Group group;
    MPI_Info info;
    int mode = 0, atomic = 1, members = 0;
    (void)unused;
    MPI_File_get_amode(file, &mode);
    CHECK(mode == MODE);
    MPI_File_get_group(file, &group);
    MPI_Group_size(group, &members);
    CHECK(members == ranks);
    MPI_Group_free(&group);
    MPI_File_set_size(file, 1000);
    MPI_File_get_size(file, &size);
    CHECK(size == 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Within the file's size: Open MPI 4.1's root grows a file past the size asked for and cuts it down later, with nothing
       between that holds the other ranks, who may see any of it. */
    MPI_File_preallocate(file, 500);
    MPI_File_get_size(file, &size);
    CHECK(size == 1000);
    MPI_File_get_atomicity(file, &atomic);
    CHECK(!atomic);
    MPI_File_set_atomicity(file, 1);
    MPI_File_set_atomicity(file, 0);
    MPI_Info_create(&info);
    MPI_Info_set(info, "access_style", "read_once");
    MPI_File_set_info(file, info);
    MPI_Info_free(&info);
    MPI_File_get_info(file, &info);
    CHECK(info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    take_int(size);
    close_file(&file, "families_questions.tmp");
}

static int handled;

static void on_file(MPI_File *file, int *code, ...)
{
    int class = -1, rank = -1;
    (void)file;
    MPI_Error_class(*code, &class);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(rank == my_rank && class != MPI_SUCCESS);
    ++handled;
}

static void errors(int unused)
{
    MPI_File file = MPI_FILE_NULL;
    MPI_Errhandler mine, got;
    int class = -1;
    (void)unused;
    handled = 0;
    /* Files return their errors unless told otherwise. */
    MPI_Error_class(MPI_File_open(MPI_COMM_SELF, "no_such_folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), &class);
    CHECK(class == MPI_ERR_NO_SUCH_FILE || class == MPI_ERR_FILE || class == MPI_ERR_IO);
    file = open_file("families_errors.tmp");
    MPI_File_create_errhandler(on_file, &mine);
    MPI_File_set_errhandler(file, mine);
    MPI_File_get_errhandler(file, &got);
    CHECK(got == mine);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine);
    MPI_File_call_errhandler(file, MPI_ERR_OTHER);
    CHECK(handled == 1);
    take_int(handled);
    close_file(&file, "families_errors.tmp");
}

const struct family io_families[] = {{"file_at", at, 0},           {"file_iat", at, 1},
                                     {"file_pointer", pointer, 0}, {"file_ipointer", pointer, 1},
                                     {"file_view", view, 0},       {"file_questions", questions, 0},
                                     {"file_errors", errors, 0},   {NULL, NULL, 0}};
