# SPDX-License-Identifier: MIT
"""The binary interface of the MPI standard (MPI 5.0, chapter 20 and appendix A): what a recorder has to know of it, as tables.

generate.py makes of them, and of the table of routines, the header that libphotofinish_mpi_abi.so is compiled with: no library of this
interface has to be installed for it. `generate.py compare` holds the tables against the header of one that is.
"""

import re

VERSION = (5, 0)  # of MPI
ABI = (1, 0)

# name of the type: (name of what it points to, {name: value}); handles are pointers, and those of the library itself small numbers
HANDLES = {
    "Op": {"OP_NULL": 0x20, "SUM": 0x21, "MIN": 0x22, "MAX": 0x23, "PROD": 0x24, "BAND": 0x28, "BOR": 0x29, "BXOR": 0x2a, "LAND": 0x30, "LOR": 0x31,
           "LXOR": 0x32, "MINLOC": 0x38, "MAXLOC": 0x39, "REPLACE": 0x3c, "NO_OP": 0x3d},
    "Comm": {"COMM_NULL": 0x100, "COMM_WORLD": 0x101, "COMM_SELF": 0x102},
    "Group": {"GROUP_NULL": 0x108, "GROUP_EMPTY": 0x109},
    "Win": {"WIN_NULL": 0x110},
    "File": {"FILE_NULL": 0x118},
    "Session": {"SESSION_NULL": 0x120},
    "Message": {"MESSAGE_NULL": 0x128, "MESSAGE_NO_PROC": 0x129},
    "Info": {"INFO_NULL": 0x130, "INFO_ENV": 0x131},
    "Errhandler": {"ERRHANDLER_NULL": 0x140, "ERRORS_ARE_FATAL": 0x141, "ERRORS_ABORT": 0x142, "ERRORS_RETURN": 0x143},
    "Request": {"REQUEST_NULL": 0x180},
    "Datatype": {
        "DATATYPE_NULL": 0x200, "AINT": 0x201, "COUNT": 0x202, "OFFSET": 0x203, "PACKED": 0x207, "SHORT": 0x208, "INT": 0x209, "LONG": 0x20a,
        "LONG_LONG": 0x20b, "LONG_LONG_INT": 0x20b, "UNSIGNED_SHORT": 0x20c, "UNSIGNED": 0x20d, "UNSIGNED_LONG": 0x20e, "UNSIGNED_LONG_LONG": 0x20f,
        "FLOAT": 0x210, "C_FLOAT_COMPLEX": 0x212, "C_COMPLEX": 0x212, "CXX_FLOAT_COMPLEX": 0x213, "DOUBLE": 0x214, "C_DOUBLE_COMPLEX": 0x216,
        "CXX_DOUBLE_COMPLEX": 0x217, "LOGICAL": 0x218, "INTEGER": 0x219, "REAL": 0x21a, "COMPLEX": 0x21b, "DOUBLE_PRECISION": 0x21c,
        "DOUBLE_COMPLEX": 0x21d, "CHARACTER": 0x21e, "LONG_DOUBLE": 0x220, "C_LONG_DOUBLE_COMPLEX": 0x224, "CXX_LONG_DOUBLE_COMPLEX": 0x225,
        "FLOAT_INT": 0x228, "DOUBLE_INT": 0x229, "LONG_INT": 0x22a, "2INT": 0x22b, "SHORT_INT": 0x22c, "LONG_DOUBLE_INT": 0x22d, "2REAL": 0x230,
        "2DOUBLE_PRECISION": 0x231, "2INTEGER": 0x232, "C_BOOL": 0x238, "CXX_BOOL": 0x239, "WCHAR": 0x23c, "INT8_T": 0x240, "UINT8_T": 0x241,
        "CHAR": 0x243, "SIGNED_CHAR": 0x244, "UNSIGNED_CHAR": 0x245, "BYTE": 0x247, "INT16_T": 0x248, "UINT16_T": 0x249, "INT32_T": 0x250,
        "UINT32_T": 0x251, "INT64_T": 0x258, "UINT64_T": 0x259, "LOGICAL1": 0x2c0, "INTEGER1": 0x2c1, "LOGICAL2": 0x2c8, "INTEGER2": 0x2c9,
        "REAL2": 0x2ca, "LOGICAL4": 0x2d0, "INTEGER4": 0x2d1, "REAL4": 0x2d2, "COMPLEX4": 0x2d3, "LOGICAL8": 0x2d8, "INTEGER8": 0x2d9, "REAL8": 0x2da,
        "COMPLEX8": 0x2db, "LOGICAL16": 0x2e0, "INTEGER16": 0x2e1, "REAL16": 0x2e2, "COMPLEX16": 0x2e3, "COMPLEX32": 0x2eb},
}

# Classes of errors, in their order from 0.
ERRORS = """
    SUCCESS ERR_BUFFER ERR_COUNT ERR_TYPE ERR_TAG ERR_COMM ERR_RANK ERR_REQUEST ERR_ROOT ERR_GROUP ERR_OP ERR_TOPOLOGY ERR_DIMS ERR_ARG ERR_UNKNOWN
    ERR_TRUNCATE ERR_OTHER ERR_INTERN ERR_PENDING ERR_IN_STATUS ERR_ACCESS ERR_AMODE ERR_ASSERT ERR_BAD_FILE ERR_BASE ERR_CONVERSION ERR_DISP ERR_DUP_DATAREP
    ERR_FILE_EXISTS ERR_FILE_IN_USE ERR_FILE ERR_INFO_KEY ERR_INFO_NOKEY ERR_INFO_VALUE ERR_INFO ERR_IO ERR_KEYVAL ERR_LOCKTYPE ERR_NAME ERR_NO_MEM
    ERR_NOT_SAME ERR_NO_SPACE ERR_NO_SUCH_FILE ERR_PORT ERR_QUOTA ERR_READ_ONLY ERR_RMA_ATTACH ERR_RMA_CONFLICT ERR_RMA_RANGE ERR_RMA_SHARED
    ERR_RMA_SYNC ERR_SERVICE ERR_SIZE ERR_SPAWN ERR_UNSUPPORTED_DATAREP ERR_UNSUPPORTED_OPERATION ERR_WIN ERR_RMA_FLAVOR ERR_PROC_ABORTED
    ERR_VALUE_TOO_LARGE ERR_SESSION ERR_ERRHANDLER ERR_ABI
""".split()

NUMBERS = {
    **{name: number for number, name in enumerate(ERRORS)}, "ERR_LASTCODE": 0x3fff,
    "ANY_SOURCE": -1, "ANY_TAG": -2, "PROC_NULL": -3, "ROOT": -4, "UNDEFINED": -32766,
    "THREAD_SINGLE": 0, "THREAD_FUNNELED": 1024, "THREAD_SERIALIZED": 2048, "THREAD_MULTIPLE": 4096,
    "ORDER_C": 12, "ORDER_FORTRAN": 15,
    **{f"DISTRIBUTE_{name}": 16 + number for number, name in enumerate(("NONE", "BLOCK", "CYCLIC", "DFLT_DARG"))},
    **{f"COMBINER_{name}": 101 + number for number, name in enumerate((
        "NAMED", "DUP", "CONTIGUOUS", "VECTOR", "HVECTOR", "INDEXED", "HINDEXED", "INDEXED_BLOCK", "HINDEXED_BLOCK", "STRUCT", "SUBARRAY", "DARRAY",
        "F90_REAL", "F90_COMPLEX", "F90_INTEGER", "RESIZED", "VALUE_INDEX"))},
    "TYPECLASS_INTEGER": 192, "TYPECLASS_REAL": 193, "TYPECLASS_COMPLEX": 194,
    "IDENT": 201, "CONGRUENT": 202, "SIMILAR": 203, "UNEQUAL": 204, "CART": 211, "GRAPH": 212, "DIST_GRAPH": 213,
    "COMM_TYPE_SHARED": 221, "COMM_TYPE_HW_UNGUIDED": 222, "COMM_TYPE_HW_GUIDED": 223, "COMM_TYPE_RESOURCE_GUIDED": 224,
    "LOCK_EXCLUSIVE": 301, "LOCK_SHARED": 302,
    "WIN_FLAVOR_CREATE": 311, "WIN_FLAVOR_ALLOCATE": 312, "WIN_FLAVOR_DYNAMIC": 313, "WIN_FLAVOR_SHARED": 314, "WIN_UNIFIED": 321, "WIN_SEPARATE": 322,
    "SEEK_CUR": 401, "SEEK_END": 402, "SEEK_SET": 403,
    **{f"MODE_{name}": 1 << bit for bit, name in enumerate((
        "APPEND", "CREATE", "DELETE_ON_CLOSE", "EXCL", "RDONLY", "RDWR", "SEQUENTIAL", "UNIQUE_OPEN", "WRONLY"))},
    "MODE_NOCHECK": 1024, "MODE_NOPRECEDE": 2048, "MODE_NOPUT": 4096, "MODE_NOSTORE": 8192, "MODE_NOSUCCEED": 16384,
    "KEYVAL_INVALID": 0, "TAG_UB": 501, "IO": 502, "HOST": 503, "WTIME_IS_GLOBAL": 504, "APPNUM": 505, "LASTUSEDCODE": 506, "UNIVERSE_SIZE": 507,
    "WIN_BASE": 601, "WIN_DISP_UNIT": 602, "WIN_SIZE": 603, "WIN_CREATE_FLAVOR": 604, "WIN_MODEL": 605,
    "MAX_DATAREP_STRING": 128, "MAX_ERROR_STRING": 512, "MAX_INFO_KEY": 256, "MAX_INFO_VAL": 1024, "MAX_LIBRARY_VERSION_STRING": 8192,
    "MAX_OBJECT_NAME": 128, "MAX_PORT_NAME": 1024, "MAX_PROCESSOR_NAME": 256, "MAX_STRINGTAG_LEN": 1024, "MAX_PSET_NAME_LEN": 1024,
    "BSEND_OVERHEAD": 512,
}

# name: (type, value); pointers that stand for something
POINTERS = {
    "BOTTOM": ("void*", 0), "IN_PLACE": ("void*", 1), "BUFFER_AUTOMATIC": ("void*", 2), "ARGV_NULL": ("char**", 0), "ARGVS_NULL": ("char***", 0),
    "ERRCODES_IGNORE": ("int*", 0), "STATUS_IGNORE": ("MPI_Status*", 0), "STATUSES_IGNORE": ("MPI_Status*", 0), "UNWEIGHTED": ("int*", 10),
    "WEIGHTS_EMPTY": ("int*", 11),
    **{f"{kind}{name}": (f"MPI_{kind.capitalize()}_{way}_attr_function*", value) for kind in ("COMM", "TYPE", "WIN")
       for name, way, value in (("_NULL_COPY_FN", "copy", 0), ("_DUP_FN", "copy", 1), ("_NULL_DELETE_FN", "delete", 0))},
}

# Functions that programs give: name of the type: (returns, parameters)
_COPY = "int keyval, void *extra_state, void *attribute_val_in, void *attribute_val_out, int *flag"
_DELETE = "int keyval, void *attribute_val, void *extra_state"
CALLBACKS = {
    "User_function": ("void", "void *invec, void *inoutvec, int *len, MPI_Datatype *datatype"),
    "User_function_c": ("void", "void *invec, void *inoutvec, MPI_Count *len, MPI_Datatype *datatype"),
    "Grequest_query_function": ("int", "void *extra_state, MPI_Status *status"),
    "Grequest_free_function": ("int", "void *extra_state"),
    "Grequest_cancel_function": ("int", "void *extra_state, int complete"),
    "Copy_function": ("int", f"MPI_Comm comm, {_COPY}"), "Delete_function": ("int", f"MPI_Comm comm, {_DELETE}"),
    "Comm_copy_attr_function": ("int", f"MPI_Comm comm, {_COPY}"), "Comm_delete_attr_function": ("int", f"MPI_Comm comm, {_DELETE}"),
    "Type_copy_attr_function": ("int", f"MPI_Datatype datatype, {_COPY}"), "Type_delete_attr_function": ("int", f"MPI_Datatype datatype, {_DELETE}"),
    "Win_copy_attr_function": ("int", f"MPI_Win win, {_COPY}"), "Win_delete_attr_function": ("int", f"MPI_Win win, {_DELETE}"),
    "Datarep_extent_function": ("int", "MPI_Datatype datatype, MPI_Aint *extent, void *extra_state"),
    "Datarep_conversion_function":
        ("int", "void *userbuf, MPI_Datatype datatype, int count, void *filebuf, MPI_Offset position, void *extra_state"),
    "Datarep_conversion_function_c":
        ("int", "void *userbuf, MPI_Datatype datatype, MPI_Count count, void *filebuf, MPI_Offset position, void *extra_state"),
    **{f"{kind}_errhandler_function": ("void", f"MPI_{kind} *object, int *error_code, ...") for kind in ("Comm", "File", "Win", "Session")},
    "T_event_cb_function": ("void", "MPI_T_event_instance event_instance, MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, void *user_data"),
    "T_event_free_cb_function": ("void", "MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, void *user_data"),
    "T_event_dropped_cb_function":
        ("void", "MPI_Count count, MPI_T_event_registration event_registration, int source_index, MPI_T_cb_safety cb_safety, void *user_data"),
}
TOOL_HANDLES = "T_enum T_cvar_handle T_pvar_handle T_pvar_session T_event_registration T_event_instance".split()
TOOL_ENUMS = "T_cb_safety T_source_order".split()

# What the interface has not: Fortran's numbers of handles and statuses, and what MPI has removed.
NOT_THERE = set("""
    Address Errhandler_create Errhandler_get Errhandler_set Type_extent Type_hindexed Type_hvector Type_lb Type_struct Type_ub Session_set_info
    Session_c2f Session_f2c Status_c2f08 Status_f082c Status_f082f Status_f2f08
""".split()) | {f"{kind}_{way}" for kind in "Comm Errhandler File Group Info Message Op Request Status Type Win".split() for way in ("c2f", "f2c")}
# Deprecated ones, and MPICH's, which not every library of the interface has.
MAY_LACK = "Attr_delete Attr_get Attr_put Keyval_create Keyval_free Precv_init_c Psend_init_c".split()
# MPICH 5.0's have an int for the count; they are passed on as they come, in registers that hold both.
MAY_DIFFER = "Precv_init Psend_init".split()

# Parameters of the routines whose rows in mpi4_calls.py leave them to the header: "name: parameters", "returns name: parameters". Those of
# MPI_X_init and MPI_X_c are worked out of those of MPI_X.
ROUTINES = """
MPI_Aint Aint_add: MPI_Aint base, MPI_Aint disp
MPI_Aint Aint_diff: MPI_Aint addr1, MPI_Aint addr2
Abi_get_fortran_booleans: int logical_size, void *logical_true, void *logical_false, int *is_set
Abi_get_fortran_info: MPI_Info *info
Abi_get_info: MPI_Info *info
Abi_get_version: int *abi_major, int *abi_minor
Abi_set_fortran_booleans: int logical_size, void *logical_true, void *logical_false
Abi_set_fortran_info: MPI_Info info
Buffer_flush: void
Buffer_iflush: MPI_Request *request
Comm_attach_buffer: MPI_Comm comm, void *buffer, int size
Comm_create_from_group: MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newcomm
Comm_detach_buffer: MPI_Comm comm, void *buffer_addr, int *size
Comm_flush_buffer: MPI_Comm comm
Comm_idup_with_info: MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request
Comm_iflush_buffer: MPI_Comm comm, MPI_Request *request
Get_hw_resource_info: MPI_Info *hw_info
Group_from_session_pset: MPI_Session session, const char *pset_name, MPI_Group *newgroup
Info_create_env: int argc, char *argv[], MPI_Info *info
Info_get_string: MPI_Info info, const char *key, int *buflen, char *value, int *flag
Intercomm_create_from_groups: MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newintercomm
Isendrecv: const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request
Isendrecv_replace: void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request
Parrived: MPI_Request request, int partition, int *flag
Pready: int partition, MPI_Request request
Pready_list: int length, const int array_of_partitions[], MPI_Request request
Pready_range: int partition_low, int partition_high, MPI_Request request
Precv_init: void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request
Psend_init: const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request
Remove_error_class: int errorclass
Remove_error_code: int errorcode
Remove_error_string: int errorcode
Request_get_status_all: int count, const MPI_Request array_of_requests[], int *flag, MPI_Status *array_of_statuses
Request_get_status_any: int count, const MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status
Request_get_status_some: int incount, const MPI_Request array_of_requests[], int *outcount, int array_of_indices[], MPI_Status *array_of_statuses
Session_attach_buffer: MPI_Session session, void *buffer, int size
Session_call_errhandler: MPI_Session session, int errorcode
Session_create_errhandler: MPI_Session_errhandler_function *session_errhandler_fn, MPI_Errhandler *errhandler
Session_detach_buffer: MPI_Session session, void *buffer_addr, int *size
Session_finalize: MPI_Session *session
Session_flush_buffer: MPI_Session session
Session_get_errhandler: MPI_Session session, MPI_Errhandler *errhandler
Session_get_info: MPI_Session session, MPI_Info *info_used
Session_get_nth_pset: MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name
Session_get_num_psets: MPI_Session session, MPI_Info info, int *npset_names
Session_get_pset_info: MPI_Session session, const char *pset_name, MPI_Info *info
Session_iflush_buffer: MPI_Session session, MPI_Request *request
Session_init: MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session
Session_set_errhandler: MPI_Session session, MPI_Errhandler errhandler
Status_get_error: const MPI_Status *status, int *error
Status_get_source: const MPI_Status *status, int *source
Status_get_tag: const MPI_Status *status, int *tag
Status_set_elements_c: MPI_Status *status, MPI_Datatype datatype, MPI_Count count
Status_set_error: MPI_Status *status, int error
Status_set_source: MPI_Status *status, int source
Status_set_tag: MPI_Status *status, int tag
T_category_get_events: int cat_index, int len, int indices[]
T_category_get_num_events: int cat_index, int *num_events
T_event_callback_get_info: MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info *info_used
T_event_callback_set_info: MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info
T_event_copy: MPI_T_event_instance event_instance, void *buffer
T_event_get_index: const char *name, int *event_index
T_event_get_info: int event_index, char *name, int *name_len, int *verbosity, MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[], int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc, int *desc_len, int *bind
T_event_get_num: int *num_events
T_event_get_source: MPI_T_event_instance event_instance, int *source_index
T_event_get_timestamp: MPI_T_event_instance event_instance, MPI_Count *event_timestamp
T_event_handle_alloc: int event_index, void *obj_handle, MPI_Info info, MPI_T_event_registration *event_registration
T_event_handle_free: MPI_T_event_registration event_registration, void *user_data, MPI_T_event_free_cb_function free_cb_function
T_event_handle_get_info: MPI_T_event_registration event_registration, MPI_Info *info_used
T_event_handle_set_info: MPI_T_event_registration event_registration, MPI_Info info
T_event_read: MPI_T_event_instance event_instance, int element_index, void *buffer
T_event_register_callback: MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info, void *user_data, MPI_T_event_cb_function event_cb_function
T_event_set_dropped_handler: MPI_T_event_registration event_registration, MPI_T_event_dropped_cb_function dropped_cb_function
T_source_get_info: int source_index, char *name, int *name_len, char *desc, int *desc_len, MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info
T_source_get_num: int *num_sources
T_source_get_timestamp: int source_index, MPI_Count *timestamp
Type_get_contents_c: MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[]
Type_get_envelope_c: MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses, MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner
Type_get_value_index: MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type
"""
# Handles as numbers, for other languages (MPI 5.0, 19.3).
AS_NUMBERS = {"Comm": "Comm", "Errhandler": "Errhandler", "File": "File", "Group": "Group", "Info": "Info", "Message": "Message", "Op": "Op",
              "Request": "Request", "Session": "Session", "Type": "Datatype", "Win": "Win"}


def told():
    """{name: (returns, parameters)} of ROUTINES and AS_NUMBERS."""
    out = {}
    for line in ROUTINES.strip().splitlines():
        name, parameters = line.split(": ", 1)
        returns, _, name = name.rpartition(" ")
        out[name] = (returns or "int", parameters)
    for name, handle in AS_NUMBERS.items():
        out[f"{name}_toint"] = ("int", f"MPI_{handle} handle")
        out[f"{name}_fromint"] = (f"MPI_{handle}", "int number")
    return out


# What is wider in MPI_X_c than in MPI_X, by the parameter's name; of types, more.
_COUNTS = ("count", "sendcount", "recvcount", "incount", "outcount", "origin_count", "target_count", "result_count")
_OF_TYPES = ("blocklength", "stride", "lb", "extent", "true_lb", "true_extent", "position", "size", "insize", "outsize")


def _large(name, declaration):
    parameter = declaration.replace("[]", "").split()[-1].lstrip("*")
    if name.startswith("Win_"):
        return declaration.replace("int ", "MPI_Aint ") if parameter == "disp_unit" else declaration
    if name == "Type_create_darray" and parameter in ("size", "rank"):
        return declaration
    if "[]" in declaration and not re.search(r"MPI_Datatype|distrib|darg|psize", declaration):
        kept = name in ("Neighbor_alltoallw", "Ineighbor_alltoallw", "Neighbor_alltoallw_init") and "displs" in parameter
        wide = "MPI_Aint" if "displs" in parameter else "MPI_Count"
        return declaration if kept else re.sub(r"\b(int|MPI_Aint)\b", wide, declaration)
    if parameter in _COUNTS or (parameter in _OF_TYPES and re.match(r"Type_|Pack|Unpack|File_get_type|Buffer_|Comm_|Session_", name)):
        return re.sub(r"\b(int|MPI_Aint)\b", "MPI_Count", declaration)
    return re.sub(r"(MPI_User_function|MPI_Datarep_conversion_function)\b", r"\1_c", declaration)


def routines(calls):
    """{name: (returns, parameters)} of all that the interface has, by the table of `calls`."""
    known = told()
    rows = {call.name: call for call in calls}

    def of(name):
        if name in known:
            return known[name]
        if rows[name].parameters:
            return rows[name].returns, rows[name].parameters
        if name.endswith("_c"):
            return "int", ", ".join(_large(name[:-2], each.strip()) for each in of(name[:-2])[1].split(","))
        return "int", of(name.removesuffix("_init"))[1] + ", MPI_Info info, MPI_Request *request"
    return {name: of(name) for name in rows if name not in NOT_THERE}


def header(calls):
    """The header, as text."""
    out = ["// Made by replay_engine/rank/gen/generate.py of standard_abi.py. Do not edit.", "#pragma once", "#include <stdint.h>", "#ifdef __cplusplus",
           'extern "C" {', "#endif"]
    out += [f"#define MPI_VERSION {VERSION[0]}", f"#define MPI_SUBVERSION {VERSION[1]}", f"#define MPI_ABI_VERSION {ABI[0]}", f"#define MPI_ABI_SUBVERSION {ABI[1]}",
            "typedef intptr_t MPI_Aint;", "typedef int64_t MPI_Offset;", "typedef int64_t MPI_Count;",
            "typedef struct {\n  int MPI_SOURCE;\n  int MPI_TAG;\n  int MPI_ERROR;\n  int MPI_internal[5];\n} MPI_Status;"]
    for kind, values in HANDLES.items():
        out.append(f"typedef struct MPI_ABI_{kind}* MPI_{kind};")
        out += [f"#define MPI_{name} ((MPI_{kind}){value:#x})" for name, value in values.items()]
    out += [f"typedef struct MPI_ABI_{name}* MPI_{name};" for name in TOOL_HANDLES] + [f"typedef int MPI_{name};" for name in TOOL_ENUMS]
    out += [f"#define MPI_{name} ({value})" for name, value in NUMBERS.items()] + ["#define MPI_DISPLACEMENT_CURRENT ((MPI_Offset)-1)"]
    out += [f"typedef {returns} (MPI_{name})({parameters});" for name, (returns, parameters) in CALLBACKS.items()]
    out += [f"#define MPI_{name} (({kind}){value})" for name, (kind, value) in POINTERS.items()]
    for name, (returns, parameters) in sorted(routines(calls).items()):
        more = ", ..." if name == "Pcontrol" and "..." not in parameters else ""
        out += [f"{returns} {prefix}MPI_{name}({parameters}{more});" for prefix in ("", "P")]
    return "\n".join(out + ["#ifdef __cplusplus", "}", "#endif", ""])
