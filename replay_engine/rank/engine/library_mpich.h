// SPDX-License-Identifier: MIT
// What is particular to MPICH, and to libraries with its binary interface. As library_open_mpi.h.
#pragma once

#include <cstdint>

#include "replay_engine/base/mpi_version.h"

/// An object of the library, looked up at first use, as those of Open MPI: we are loaded into processes without MPI, too.
#undef MPI_UNWEIGHTED
#define MPI_UNWEIGHTED                                       \
  (*static_cast<int* const*>([]() -> void* {                 \
    static void* known = nullptr; /* several threads ask */  \
    void* found = __atomic_load_n(&known, __ATOMIC_RELAXED); \
    if (found == nullptr) [[unlikely]] {                     \
      found = ::pf::resolveObject("MPI_UNWEIGHTED");         \
      __atomic_store_n(&known, found, __ATOMIC_RELAXED);     \
    }                                                        \
    return found;                                            \
  }()))

namespace pf {

inline constexpr const char* kLibrary = "MPICH";
inline constexpr MpiKind kKind = MpiKind::Mpich;
#define PF_BUILT_FOR "MPICH Version: " MPICH_VERSION
inline constexpr const char* kLibraryFiles[] = {"libmpich.so.12", "libmpi.so.12"};
inline constexpr const char* kForeignLibrary = "Open MPI";
inline constexpr const char* kForeignFiles[] = {"libmpi.so.40"};
/// With what it sends by: UCX (Debian's), or libfabric and what is below it (not tried).
inline constexpr const char* kModuleNames[] = {"libmpi",    "libucp.",   "libuct",    "libucs",
                                               "libucm",    "libpmi",    "libfabric", "libpsm",
                                               "librdmacm", "libibverbs"};
inline constexpr const char* kBindingNames[] = {"libmpichfort", "libmpichcxx", "libmpifort",
                                                "libmpicxx"};

/// MPI_ANY_SOURCE is -2 here, MPI_PROC_NULL -1.
inline constexpr int kNoPeer = -1000;
constexpr int reportedPeer(int peer) {
  return peer >= 0 ? peer : peer == MPI_ANY_SOURCE ? -1 : -2;
}
static_assert(MPI_ANY_TAG == -1);  // NOLINT(misc-redundant-expression)
constexpr int reportedTag(int tag) {
  return tag;
}

/// Whether a request's handle is the address of an object with its status in it, whose source is negative before the match.
inline constexpr bool kRequestsAreObjects = false;
/// Handles are numbers, those of requests one after another; 0 is none of them.
inline void* pointerOf(int handle) {
  return reinterpret_cast<void*>(std::uintptr_t{static_cast<std::uint32_t>(handle)} << 4);
}
inline MPI_Request requestOf(void* pointer) {
  return static_cast<MPI_Request>(reinterpret_cast<std::uintptr_t>(pointer) >> 4);
}
inline std::uintptr_t bitsOf(int handle) {
  return std::uintptr_t{static_cast<std::uint32_t>(handle)} << 4;
}

/// The kind of object is in the upper bits of a handle: without it, it is none of MPI's.
inline MPI_Comm retiredComm(std::uint32_t number, void* /*known*/) {
  return static_cast<MPI_Comm>(number);
}

/// So it is with groups; how they are kept (the top two bits) is not in it, which none of them lacks but MPI_GROUP_NULL.
inline constexpr std::uint32_t kFirstKeptGroup =
    static_cast<std::uint32_t>(MPI_GROUP_NULL) | 0x100000U;
template <typename Place>
MPI_Group keptGroup(const Place* /*places*/, std::uint32_t place) {
  return static_cast<MPI_Group>(kFirstKeptGroup + place);
}
template <typename Place>
std::uint32_t placeOfGroup(const Place* /*places*/, std::uint32_t /*count*/, MPI_Group group) {
  return static_cast<std::uint32_t>(group) - kFirstKeptGroup;
}
/// A handle is its number, of which these are macros.
#define PF_GROUP_NUMBERS(X)

constexpr bool asOpenMpi() {
  return false;
}
constexpr bool asMpich4() {  // 4.0.2 and 4.2.1, not 5.0.2
  return MPICH_NUMVERSION < 50000000;
}
/// For its own errors MPICH takes the handler of MPI_COMM_WORLD where a communicator has none.
constexpr bool worldHasErrors() {
  return true;
}

/// Whether MPI_Wait and MPI_Test tell the error handler of their request's communicator: from 4.1 on; before it, and where
/// they have several requests, MPI_COMM_WORLD's.
inline constexpr bool kLoneHasItsHandler = MPICH_NUMVERSION >= 40100000;

/// Whether MPI_Request_get_status leaves a persistent request as it is. That of MPICH 4.2.1 ends one
/// that is complete: MPI_Wait and MPI_Testany say afterwards that it was not started. 4.0.2 does not.
inline constexpr bool kLooksAreFree = MPICH_NUMVERSION < 40100000;

/// Codes say more than their class: where the error was found.
inline constexpr bool kCodesAreClasses = false;

inline void copyStatus(MPI_Status* to, const MPI_Status& from) {
  to->count_lo = from.count_lo;
  to->count_hi_and_cancelled = from.count_hi_and_cancelled;
  to->MPI_SOURCE = from.MPI_SOURCE;
  to->MPI_TAG = from.MPI_TAG;
  to->MPI_ERROR = from.MPI_ERROR;
}

}  // namespace pf
