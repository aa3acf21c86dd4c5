// SPDX-License-Identifier: MIT
// What is particular to Open MPI. Of each MPI library there is such a header with the same names
// (library_mpich.h), and an interposer of its own: nothing is decided between them in a running
// rank.
#pragma once

#include <cstdint>

#include "replay_engine/base/mpi_version.h"

/// Its predefined handles are objects of the library, looked up at first use: to refer to them
/// would keep us from being loaded into processes without MPI, which get the preload as well (sh,
/// or python3 before it imports mpi4py).
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global)                 \
  (static_cast<type>([]() -> void* {                         \
    static void* known = nullptr; /* several threads ask */  \
    void* found = __atomic_load_n(&known, __ATOMIC_RELAXED); \
    if (found == nullptr) [[unlikely]] {                     \
      found = ::pf::resolveObject(#global);                  \
      __atomic_store_n(&known, found, __ATOMIC_RELAXED);     \
    }                                                        \
    return found;                                            \
  }()))

namespace pf {

inline constexpr const char* kLibrary = "Open MPI";
inline constexpr MpiKind kKind = MpiKind::OpenMpi;
#define PF_TEXT_OF(number) #number
#define PF_NUMBERS(a, b, c) PF_TEXT_OF(a) "." PF_TEXT_OF(b) "." PF_TEXT_OF(c)
/// As the library itself would say it (MPI_Get_library_version): of the header.
#define PF_BUILT_FOR \
  "Open MPI v" PF_NUMBERS(OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION)
/// Names to ask the loader for.
inline constexpr const char* kLibraryFiles[] = {"libmpi.so.40", "libmpi.so"};
/// Another MPI library, whose programs are not for this interposer.
inline constexpr const char* kForeignLibrary = "MPICH";
inline constexpr const char* kForeignFiles[] = {"libmpich.so.12", "libmpi.so.12"};
/// Begins of the names of its files, and of what it sends by (Open MPI 5 takes UCX where that is there); of them, of the bindings of other languages (libmpi_mpifh,
/// libmpi_usempif08, libmpi_cxx …).
inline constexpr const char* kModuleNames[] = {
    "libmpi", "libopen-", "mca_",   "libmca_",   "libpmi", "libprrte",  "libucp.",
    "libuct", "libucs",   "libucm", "libfabric", "libpsm", "librdmacm", "libibverbs"};
inline constexpr const char* kBindingNames[] = {"libmpi_"};

/// Neither a rank nor MPI_ANY_SOURCE, where a peer is asked for.
inline constexpr int kNoPeer = -2;
/// A peer as the page and the log have it: a rank, -1 any, -2 none.
constexpr int reportedPeer(int peer) {
  return peer;
}
// NOLINTNEXTLINE(misc-redundant-expression): mpi.h says so
static_assert(MPI_ANY_SOURCE == -1 && MPI_PROC_NULL == -2 && MPI_ANY_TAG == -1);
/// A tag, likewise: -1 is any.
constexpr int reportedTag(int tag) {
  return tag;
}

/// Whether a request's handle is the address of an object with its status in it, whose source is negative before the match.
inline constexpr bool kRequestsAreObjects = true;
/// Handles are pointers. As such, and as a number whose low four bits say nothing.
template <typename Object>
void* pointerOf(Object* handle) {
  return handle;
}
inline MPI_Request requestOf(void* pointer) {
  return static_cast<MPI_Request>(pointer);
}
template <typename Object>
std::uintptr_t bitsOf(Object* handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

/// A handle that MPI does not give: `known` is memory of ours, `number` how manieth.
inline MPI_Comm retiredComm(std::uint32_t /*number*/, void* known) {
  return static_cast<MPI_Comm>(known);
}

/// A group that MPI does not give, by the `place` of `places` that it is kept in, of which there are `count`; and which place
/// that is, `count` or more of a group of MPI's.
template <typename Place>
MPI_Group keptGroup(const Place* places, std::uint32_t place) {
  return reinterpret_cast<MPI_Group>(reinterpret_cast<std::uintptr_t>(&places[place]));
}
template <typename Place>
std::uint32_t placeOfGroup(const Place* places, std::uint32_t count, MPI_Group group) {
  const std::uintptr_t offset =
      reinterpret_cast<std::uintptr_t>(group) - reinterpret_cast<std::uintptr_t>(places);
  return offset < sizeof *places * count ? static_cast<std::uint32_t>(offset / sizeof *places)
                                         : count;
}
/// Groups as numbers, which the library counts from 0: where they are not the handles themselves. X(routine to, routine from).
#define PF_GROUP_NUMBERS(X) X(Group_c2f, Group_f2c)

/// Whether the library is Open MPI: where the standard leaves open which error it is, or when.
constexpr bool asOpenMpi() {
  return true;
}
/// Or MPICH before version 5.
constexpr bool asMpich4() {
  return false;
}
/// MPI_COMM_SELF has the error handler that it was given only; MPI_COMM_WORLD has to be told where it was given none.
constexpr bool worldHasErrors() {
  return false;
}

/// Each call with a request tells the error handler of its communicator.
inline constexpr bool kLoneHasItsHandler = true;

/// Whether MPI_Request_get_status leaves a persistent request as it is.
inline constexpr bool kLooksAreFree = true;

/// Whether the codes that MPI returns for its own errors are their classes.
inline constexpr bool kCodesAreClasses = true;

/// Member by member: a wide load behind the narrow stores of MPI would wait for them.
inline void copyStatus(MPI_Status* to, const MPI_Status& from) {
  to->MPI_SOURCE = from.MPI_SOURCE;
  to->MPI_TAG = from.MPI_TAG;
  to->MPI_ERROR = from.MPI_ERROR;
  to->_cancelled = from._cancelled;
  to->_ucount = from._ucount;
}

}  // namespace pf
