// SPDX-License-Identifier: MIT
// What is particular to the standard's binary interface (MPI 5.0, chapter 20), whatever implements it. As library_open_mpi.h. The
// header is ours (rank/gen/standard_abi.py).
#pragma once

#include <cstddef>
#include <cstdint>

#include "replay_engine/base/mpi_version.h"

namespace pf {

inline constexpr const char* kLibrary = "library of the MPI standard's binary interface";
inline constexpr MpiKind kKind = MpiKind::Standard;
#define PF_TEXT_OF(number) #number
#define PF_NUMBERS(a, b) PF_TEXT_OF(a) "." PF_TEXT_OF(b)
#define PF_BUILT_FOR "MPI ABI " PF_NUMBERS(MPI_ABI_VERSION, MPI_ABI_SUBVERSION)
inline constexpr const char* kLibraryFiles[] = {"libmpi_abi.so.1", "libmpi_abi.so"};
inline constexpr const char* kForeignLibrary = "an MPI library with a binary interface of its own";
inline constexpr const char* kForeignFiles[] = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12"};
/// Of whatever implements it: those of Open MPI and of MPICH.
inline constexpr const char* kModuleNames[] = {
    "libmpi",    "libopen-", "libopen_mpi", "mca_",      "libmca_", "libpmi",
    "libprrte",  "libucp.",  "libuct",      "libucs",    "libucm",  "libucc",
    "libfabric", "libpsm",   "librdmacm",   "libibverbs"};
inline constexpr const char* kBindingNames[] = {"libmpifort", "libmpichfort", "libmpi_mpifh",
                                                "libmpi_usempi"};

inline constexpr int kNoPeer = -1000;
constexpr int reportedPeer(int peer) {
  return peer >= 0 ? peer : peer == MPI_ANY_SOURCE ? -1 : -2;
}
constexpr int reportedTag(int tag) {
  return tag == MPI_ANY_TAG ? -1 : tag;
}

/// What a handle stands for is the library's own affair: an address, or a number that is one more than the last one.
inline constexpr bool kRequestsAreObjects = false;
template <typename Object>
void* pointerOf(Object* handle) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(handle) << 4);
}
inline MPI_Request requestOf(void* pointer) {
  return reinterpret_cast<MPI_Request>(reinterpret_cast<std::uintptr_t>(pointer) >> 4);
}
template <typename Object>
std::uintptr_t bitsOf(Object* handle) {
  return reinterpret_cast<std::uintptr_t>(handle) << 4;
}

/// The address of memory of ours is neither another object's nor a number.
inline MPI_Comm retiredComm(std::uint32_t /*number*/, void* known) {
  return static_cast<MPI_Comm>(known);
}
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
#define PF_GROUP_NUMBERS(X) X(Group_toint, Group_fromint)

/// Said by MPI_Get_library_version (library_check.h).
extern MpiKind g_implementation;
inline bool asOpenMpi() {
  return g_implementation != MpiKind::Mpich;
}
constexpr bool asMpich4() {  // which had the interface before it was a standard's
  return false;
}
inline bool worldHasErrors() {
  return !asOpenMpi();
}

inline constexpr bool kLoneHasItsHandler = true;
inline constexpr bool kLooksAreFree = false;  ///< not in MPICH 4.2.1, as library_mpich.h says
inline constexpr bool kCodesAreClasses = false;

inline void copyStatus(MPI_Status* to, const MPI_Status& from) {
  to->MPI_SOURCE = from.MPI_SOURCE;
  to->MPI_TAG = from.MPI_TAG;
  to->MPI_ERROR = from.MPI_ERROR;
  for (int i = 0; i < 5; ++i) {
    to->MPI_internal[i] = from.MPI_internal[i];
  }
}

static_assert(sizeof(MPI_Status) == 32 && offsetof(MPI_Status, MPI_internal) == 12);
static_assert(sizeof(MPI_Comm) == sizeof(void*) && sizeof(MPI_Count) == 8);

}  // namespace pf
