# SPDX-License-Identifier: MIT
"""Routines of MPI 4.0, and older ones, that MPICH's mpi.h has and Open MPI 4.1's has not. As mpi_calls.py, behind whose
table they stand: numbers of calls in recordings stay what they are. Types and names of parameters are the header's.
"""

import dataclasses

from mpi_calls import CALLS as MPI3
from mpi_calls import CommunicatorConstructor, Completion, Local, NonblockingReceive, PersistentCollective, Session, Unsupported

# With MPI_Count for int. A call that moves messages is handed on as the one without _c (replay_engine/rank/calls/large_counts.h).
LARGE = """
    Accumulate Allgather Allgather_init Allgatherv Allgatherv_init Allreduce Allreduce_init Alltoall Alltoall_init Alltoallv
    Alltoallv_init Alltoallw Alltoallw_init Bcast Bcast_init Bsend Bsend_init Buffer_attach Buffer_detach
    Exscan Exscan_init File_get_type_extent File_iread File_iread_all
    File_iread_at File_iread_at_all File_iread_shared File_iwrite File_iwrite_all File_iwrite_at File_iwrite_at_all
    File_iwrite_shared File_read File_read_all File_read_all_begin File_read_at File_read_at_all File_read_at_all_begin
    File_read_ordered File_read_ordered_begin File_read_shared File_write File_write_all File_write_all_begin File_write_at
    File_write_at_all File_write_at_all_begin File_write_ordered File_write_ordered_begin File_write_shared Gather
    Gather_init Gatherv Gatherv_init Get Get_accumulate Get_count Get_elements Iallgather Iallgatherv Iallreduce Ialltoall
    Ialltoallv Ialltoallw Ibcast Ibsend Iexscan Igather Igatherv Imrecv Ineighbor_allgather Ineighbor_allgatherv
    Ineighbor_alltoall Ineighbor_alltoallv Ineighbor_alltoallw Irecv Ireduce Ireduce_scatter Ireduce_scatter_block Irsend
    Iscan Iscatter Iscatterv Isend Isendrecv Isendrecv_replace Issend Mrecv Neighbor_allgather Neighbor_allgather_init
    Neighbor_allgatherv Neighbor_allgatherv_init Neighbor_alltoall Neighbor_alltoall_init Neighbor_alltoallv
    Neighbor_alltoallv_init Neighbor_alltoallw Neighbor_alltoallw_init Op_create Pack Pack_external Pack_external_size
    Pack_size Put Raccumulate Recv Recv_init Reduce Reduce_init Reduce_local Reduce_scatter Reduce_scatter_block
    Reduce_scatter_block_init Reduce_scatter_init Register_datarep Rget Rget_accumulate Rput Rsend Rsend_init Scan Scan_init
    Scatter Scatter_init Scatterv Scatterv_init Send Send_init Sendrecv Sendrecv_replace Ssend
    Ssend_init Type_contiguous Type_create_darray Type_create_hindexed Type_create_hindexed_block Type_create_hvector
    Type_create_indexed_block Type_create_resized Type_create_struct Type_create_subarray Type_get_contents
    Type_get_envelope Type_get_extent Type_get_true_extent Type_indexed Type_size Type_vector Unpack Unpack_external
    Win_allocate Win_allocate_shared Win_create Win_shared_query
""".split()

# Persistent collectives, MPI_Isendrecv; what the others pass on is not followed: partitioned messages, processes of sessions.
NOT_LOCAL = """
    Allgather_init Allgatherv_init Allreduce_init Alltoall_init Alltoallv_init Alltoallw_init Barrier_init Bcast_init
    Comm_create_from_group Exscan_init Gather_init Gatherv_init Intercomm_create_from_groups Isendrecv Isendrecv_replace
    Neighbor_allgather_init Neighbor_allgatherv_init Neighbor_alltoall_init Neighbor_alltoallv_init Neighbor_alltoallw_init
    Parrived Pready Pready_list Pready_range Precv_init Psend_init Reduce_init Reduce_scatter_block_init Reduce_scatter_init
    Scan_init Scatter_init Scatterv_init
""".split()

LOCAL = """
    Address Aint_add Aint_diff Errhandler_create Errhandler_get Errhandler_set Group_from_session_pset Info_create_env
    Info_get_string Session_call_errhandler Session_create_errhandler Session_finalize Session_get_errhandler
    Session_get_info Session_get_nth_pset Session_get_num_psets Session_get_pset_info Session_set_errhandler Status_c2f08
    Status_f082c Status_f082f Status_f2f08 T_category_get_events T_category_get_num_events T_event_callback_get_info
    T_event_callback_set_info T_event_copy T_event_get_index T_event_get_info T_event_get_num T_event_get_source
    T_event_get_timestamp T_event_handle_alloc T_event_handle_free T_event_handle_get_info T_event_handle_set_info
    T_event_read T_event_register_callback T_event_set_dropped_handler T_source_get_info T_source_get_num
    T_source_get_timestamp Type_extent Type_hindexed Type_hvector Type_lb Type_struct Type_ub
""".split()


def not_local(name):
    """The row of a routine; of one that makes a persistent collective, as the blocking one."""
    if name in ("Isendrecv", "Isendrecv_replace"):
        return NonblockingReceive(name, since="0.3")
    base = next((call for call in MPI3 if call.kind == "Collective" and f"{call.name}_init" == name), None)
    if base is None:
        return Unsupported(name)
    return PersistentCollective(name, flow=base.flow, root=base.root, contributes=base.contributes, takes=base.takes, since="0.3")


CALLS = [not_local(name) for name in NOT_LOCAL] + [Local(name) for name in LOCAL] + [
    Session("Session_init"),
    CommunicatorConstructor("Comm_idup_with_info", new="newcomm"),
]


def large(name):
    """The row of MPI_<name>_c."""
    base = next(call for call in MPI3 + CALLS if call.name == name)
    kind = Unsupported if base.kind in ("Fetch", "EpochEnd", "WindowLock") else type(base)
    fields = {field.name: getattr(base, field.name) for field in dataclasses.fields(base)}
    return kind(**dict(fields, name=f"{name}_c", parameters="", base=name))


CALLS += [large(name) for name in LARGE]

# Of MPI 4.1, and what Open MPI 5 and MPICH 4.2 have besides. Behind all others, as their numbers are.
UNSUPPORTED_LATER = """
    Buffer_iflush Comm_iflush_buffer Request_get_status_all Request_get_status_any Request_get_status_some
    Session_iflush_buffer
""".split()
LOCAL_LATER = """
    Buffer_flush Comm_attach_buffer Comm_attach_buffer_c Comm_detach_buffer Comm_detach_buffer_c Comm_flush_buffer
    Get_hw_resource_info Remove_error_class Remove_error_code Remove_error_string Session_attach_buffer
    Session_attach_buffer_c Session_c2f Session_detach_buffer Session_detach_buffer_c Session_f2c Session_flush_buffer
    Session_set_info Status_get_error Status_get_source Status_get_tag Status_set_elements_c Status_set_error
    Status_set_source Status_set_tag Type_get_value_index
""".split()

# Of MPI 5.0: its binary interface, and handles as numbers.
LOCAL_OF_5 = """
    Abi_get_fortran_booleans Abi_get_fortran_info Abi_get_info Abi_get_version Abi_set_fortran_booleans Abi_set_fortran_info Comm_fromint
    Comm_toint Errhandler_fromint Errhandler_toint File_fromint File_toint Group_fromint Group_toint Info_fromint Info_toint Message_fromint
    Message_toint Op_fromint Op_toint Request_fromint Request_toint Session_fromint Session_toint Type_fromint Type_toint Win_fromint Win_toint
""".split()

FOLLOWED_LATER = ("Request_get_status_all", "Request_get_status_any", "Request_get_status_some")
CALLS += [(Completion if name in FOLLOWED_LATER else Unsupported)(name, since="0.3") for name in UNSUPPORTED_LATER] + [Local(name, since="0.3") for name in LOCAL_LATER + LOCAL_OF_5]

# With MPI_Count twice, of partitioned messages: MPICH 5 has them.
CALLS += [dataclasses.replace(large(name), since="0.3") for name in ("Precv_init", "Psend_init")]
