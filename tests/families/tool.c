/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tool interface: variables, categories, performance variables. What they say is the installation's. */
#include "families.h"

enum { TEXT = 512 };

static void open_tool(void)
{
    int provided = -1;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK(provided >= MPI_THREAD_SINGLE);
}

static void control_variables(int unused)
{
    int count = 0, read = 0;
    (void)unused;
    open_tool();
    CHECK(MPI_T_cvar_get_num(&count) == MPI_SUCCESS && count > 0);
    for (int i = 0; i < count && read < 3; ++i) {
        char name[TEXT], description[TEXT];
        int name_length = TEXT, text_length = TEXT, verbosity, bind, scope, index = -1, values = 0, value = 0;
        MPI_Datatype type;
        MPI_T_enum names;
        MPI_T_cvar_handle handle;
        if (MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &names, description, &text_length, &bind,
                                &scope) != MPI_SUCCESS ||
            type != MPI_INT || bind != MPI_T_BIND_NO_OBJECT || (int)strlen(name) + 1 >= TEXT)
            continue;
        CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS && index == i);
        if (MPI_T_cvar_handle_alloc(i, NULL, &handle, &values) != MPI_SUCCESS)
            continue;
        CHECK(values == 1 && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS);
        /* What is in it already, so that nothing changes; it may be refused. */
        MPI_T_cvar_write(handle, &value);
        CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS);
        ++read;
    }
    CHECK(read == 3);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    take_int(read);
}

static void enumerations(int unused)
{
    int count = 0, checked = 0;
    (void)unused;
    open_tool();
    MPI_T_cvar_get_num(&count);
    for (int i = 0; i < count && !checked; ++i) {
        char name[TEXT], description[TEXT];
        int name_length = TEXT, text_length = TEXT, verbosity, bind, scope, items = 0, value;
        MPI_Datatype type;
        MPI_T_enum names = MPI_T_ENUM_NULL;
        if (MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &names, description, &text_length, &bind,
                                &scope) != MPI_SUCCESS ||
            names == MPI_T_ENUM_NULL)
            continue;
        name_length = TEXT;
        CHECK(MPI_T_enum_get_info(names, &items, name, &name_length) == MPI_SUCCESS);
        name_length = TEXT;
        CHECK(items == 0 || MPI_T_enum_get_item(names, 0, &value, name, &name_length) == MPI_SUCCESS);
        checked = 1;
    }
    MPI_T_finalize();
    take_int(1);
}

static void categories(int unused)
{
    int count = 0, stamp = 0, index = -1, cvars = 0, pvars = 0, children = 0, members[1];
    int name_length = TEXT, text_length = TEXT;
    char name[TEXT], description[TEXT];
    (void)unused;
    open_tool();
    CHECK(MPI_T_category_get_num(&count) == MPI_SUCCESS && count > 0);
    CHECK(MPI_T_category_changed(&stamp) == MPI_SUCCESS);
    CHECK(MPI_T_category_get_info(0, name, &name_length, description, &text_length, &cvars, &pvars, &children) ==
          MPI_SUCCESS);
    CHECK(MPI_T_category_get_index(name, &index) == MPI_SUCCESS && index == 0);
    CHECK(MPI_T_category_get_cvars(0, 1, members) == MPI_SUCCESS);
    CHECK(MPI_T_category_get_pvars(0, 1, members) == MPI_SUCCESS);
    CHECK(MPI_T_category_get_categories(0, 1, members) == MPI_SUCCESS);
    MPI_T_finalize();
    take_int(1);
}

/* One variable of the session, with everything that can be done to it; some of it may be refused. */
static int use_pvar(MPI_T_pvar_session session, int which)
{
    char name[TEXT], description[TEXT];
    int name_length = TEXT, text_length = TEXT, verbosity, class, bind, read_only, continuous, atomic, index = -1;
    int values = 0;
    unsigned long long value[64] = {0};
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Datatype type;
    MPI_T_enum names;
    MPI_T_pvar_handle handle;
    if (MPI_T_pvar_get_info(which, name, &name_length, &verbosity, &class, &type, &names, description, &text_length,
                            &bind, &read_only, &continuous, &atomic) != MPI_SUCCESS ||
        (bind != MPI_T_BIND_NO_OBJECT && bind != MPI_T_BIND_MPI_COMM) ||
        /* Those of a network that is not there may crash (psm2 in Open MPI 4.1). */
        strncmp(name, "pml_ob1", 7) != 0)
        return 0;
    CHECK(MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS && index == which);
    if (MPI_T_pvar_handle_alloc(session, which, bind == MPI_T_BIND_MPI_COMM ? &comm : NULL, &handle, &values) !=
            MPI_SUCCESS ||
        values > 64)
        return 0;
    /* What runs on by itself cannot be started, what is only read cannot be written: refused, not fatal. */
    CHECK((MPI_T_pvar_start(session, handle) == MPI_SUCCESS) == !continuous);
    MPI_T_pvar_read(session, handle, value);
    CHECK(!read_only || MPI_T_pvar_write(session, handle, value) != MPI_SUCCESS);
    CHECK(!read_only || MPI_T_pvar_readreset(session, handle, value) != MPI_SUCCESS);
    CHECK(!read_only || MPI_T_pvar_reset(session, handle) != MPI_SUCCESS);
    CHECK((MPI_T_pvar_stop(session, handle) == MPI_SUCCESS) == !continuous);
    CHECK(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS);
    return 1;
}

static void performance_variables(int unused)
{
    int count = 0, used = 0;
    MPI_T_pvar_session session;
    (void)unused;
    open_tool();
    CHECK(MPI_T_pvar_get_num(&count) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    for (int i = 0; i < count && used < 4; ++i)
        used += use_pvar(session, i);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
    MPI_T_finalize();
    take_int(1);
}

const struct family tool_families[] = {{"tool_cvars", control_variables, 0},
                                       {"tool_enums", enumerations, 0},
                                       {"tool_categories", categories, 0},
                                       {"tool_pvars", performance_variables, 0},
                                       {NULL, NULL, 0}};
