// SPDX-License-Identifier: GPL-3.0-or-later
// What predefined handles of the fake MPI library stand for. Those of Open MPI are the addresses of these objects, which the
// interposer asks the loader for; those of the standard's binary interface are numbers.
#include "replay_engine/rank/tests/fake_objects.h"

#if defined(OPEN_MPI)

struct ompi_predefined_communicator_t : ompi_communicator_t {};
struct ompi_predefined_datatype_t : ompi_datatype_t {};
struct ompi_predefined_request_t : ompi_request_t {};
struct ompi_predefined_message_t : ompi_message_t {};
struct ompi_predefined_group_t : ompi_group_t {};
struct ompi_predefined_op_t {
  char none = 0;
};
struct ompi_predefined_errhandler_t {
  char none = 0;
};
struct ompi_predefined_info_t {
  char none = 0;
};
struct ompi_predefined_win_t {
  char none = 0;
};

ompi_predefined_communicator_t ompi_mpi_comm_world;
ompi_predefined_communicator_t ompi_mpi_comm_self;
ompi_predefined_communicator_t ompi_mpi_comm_null;
ompi_predefined_group_t ompi_mpi_group_null;
ompi_predefined_group_t ompi_mpi_group_empty;
ompi_predefined_request_t ompi_request_null;
ompi_predefined_message_t ompi_message_null;
ompi_predefined_message_t ompi_message_no_proc;
ompi_predefined_errhandler_t ompi_mpi_errors_return;
ompi_predefined_info_t ompi_mpi_info_null;
ompi_predefined_win_t ompi_mpi_win_null;

ompi_predefined_datatype_t ompi_mpi_datatype_null;
ompi_predefined_datatype_t ompi_mpi_byte{{sizeof(char)}};
ompi_predefined_datatype_t ompi_mpi_packed{{sizeof(char)}};
ompi_predefined_datatype_t ompi_mpi_int{{sizeof(int)}};
ompi_predefined_datatype_t ompi_mpi_long_double{{sizeof(long double)}};
ompi_predefined_datatype_t ompi_mpi_c_long_double_complex{{2 * sizeof(long double)}};
ompi_predefined_datatype_t ompi_mpi_longdbl_int{{sizeof(long double) + sizeof(int)}};
// Of these only the handles count, but for the sizes of those that a script moves.
ompi_predefined_datatype_t ompi_mpi_2int{};
ompi_predefined_datatype_t ompi_mpi_aint{};
ompi_predefined_datatype_t ompi_mpi_char{};
ompi_predefined_datatype_t ompi_mpi_character{};
ompi_predefined_datatype_t ompi_mpi_cplex{};
ompi_predefined_datatype_t ompi_mpi_complex16{};
ompi_predefined_datatype_t ompi_mpi_complex8{};
ompi_predefined_datatype_t ompi_mpi_count{};
ompi_predefined_datatype_t ompi_mpi_c_bool{};
ompi_predefined_datatype_t ompi_mpi_c_double_complex{};
ompi_predefined_datatype_t ompi_mpi_c_float_complex{};
ompi_predefined_datatype_t ompi_mpi_double{};
ompi_predefined_datatype_t ompi_mpi_dblcplex{};
ompi_predefined_datatype_t ompi_mpi_double_int{};
ompi_predefined_datatype_t ompi_mpi_dblprec{};
ompi_predefined_datatype_t ompi_mpi_float{};
ompi_predefined_datatype_t ompi_mpi_float_int{};
ompi_predefined_datatype_t ompi_mpi_int16_t{};
ompi_predefined_datatype_t ompi_mpi_int32_t{};
ompi_predefined_datatype_t ompi_mpi_int64_t{};
ompi_predefined_datatype_t ompi_mpi_int8_t{};
ompi_predefined_datatype_t ompi_mpi_integer{};
ompi_predefined_datatype_t ompi_mpi_integer1{};
ompi_predefined_datatype_t ompi_mpi_integer2{};
ompi_predefined_datatype_t ompi_mpi_integer4{};
ompi_predefined_datatype_t ompi_mpi_integer8{};
ompi_predefined_datatype_t ompi_mpi_logical{};
ompi_predefined_datatype_t ompi_mpi_long{};
ompi_predefined_datatype_t ompi_mpi_long_int{};
ompi_predefined_datatype_t ompi_mpi_long_long_int{};
ompi_predefined_datatype_t ompi_mpi_offset{};
ompi_predefined_datatype_t ompi_mpi_real{};
ompi_predefined_datatype_t ompi_mpi_real16{};
ompi_predefined_datatype_t ompi_mpi_real4{};
ompi_predefined_datatype_t ompi_mpi_real8{};
ompi_predefined_datatype_t ompi_mpi_short{};
ompi_predefined_datatype_t ompi_mpi_short_int{};
ompi_predefined_datatype_t ompi_mpi_signed_char{};
ompi_predefined_datatype_t ompi_mpi_uint16_t{};
ompi_predefined_datatype_t ompi_mpi_uint32_t{};
ompi_predefined_datatype_t ompi_mpi_uint64_t{};
ompi_predefined_datatype_t ompi_mpi_uint8_t{};
ompi_predefined_datatype_t ompi_mpi_unsigned{};
ompi_predefined_datatype_t ompi_mpi_unsigned_char{};
ompi_predefined_datatype_t ompi_mpi_unsigned_long{};
ompi_predefined_datatype_t ompi_mpi_unsigned_long_long{};
ompi_predefined_datatype_t ompi_mpi_unsigned_short{};

ompi_predefined_op_t ompi_mpi_op_max;
ompi_predefined_op_t ompi_mpi_op_min;
ompi_predefined_op_t ompi_mpi_op_sum;
ompi_predefined_op_t ompi_mpi_op_prod;
ompi_predefined_op_t ompi_mpi_op_land;
ompi_predefined_op_t ompi_mpi_op_band;
ompi_predefined_op_t ompi_mpi_op_lor;
ompi_predefined_op_t ompi_mpi_op_bor;
ompi_predefined_op_t ompi_mpi_op_lxor;
ompi_predefined_op_t ompi_mpi_op_bxor;
ompi_predefined_op_t ompi_mpi_op_maxloc;
ompi_predefined_op_t ompi_mpi_op_minloc;
ompi_predefined_op_t ompi_mpi_op_replace;
ompi_predefined_op_t ompi_mpi_op_no_op;

namespace pf::fake {

CommObject& objectOf(MPI_Comm comm) {
  return *comm;
}
TypeObject& objectOf(MPI_Datatype type) {
  return *type;
}
GroupObject& objectOf(MPI_Group group) {
  return *group;
}

}  // namespace pf::fake

#else

namespace pf::fake {
namespace {

template <typename Object>
Object& objectFor(Object* handle, std::map<Object*, Object>& predefined) {
  constexpr std::uintptr_t kNumbers = 0x1000;
  return reinterpret_cast<std::uintptr_t>(handle) < kNumbers ? predefined[handle] : *handle;
}

}  // namespace

CommObject& objectOf(MPI_Comm comm) {
  static std::map<MPI_Comm, CommObject> predefined;
  return objectFor(comm, predefined);
}

/// Of the others only the handles count.
TypeObject& objectOf(MPI_Datatype type) {
  static std::map<MPI_Datatype, TypeObject> predefined = [] {
    std::map<MPI_Datatype, TypeObject> made;
    const auto put = [&](MPI_Datatype handle, std::size_t size) {
      made[handle].size = static_cast<int>(size);
    };
    put(MPI_BYTE, sizeof(char));
    put(MPI_PACKED, sizeof(char));
    put(MPI_INT, sizeof(int));
    put(MPI_LONG_DOUBLE, sizeof(long double));
    put(MPI_C_LONG_DOUBLE_COMPLEX, 2 * sizeof(long double));
    put(MPI_LONG_DOUBLE_INT, sizeof(long double) + sizeof(int));
    return made;
  }();
  return objectFor(type, predefined);
}

GroupObject& objectOf(MPI_Group group) {
  static std::map<MPI_Group, GroupObject> predefined;
  return objectFor(group, predefined);
}

}  // namespace pf::fake

#endif
