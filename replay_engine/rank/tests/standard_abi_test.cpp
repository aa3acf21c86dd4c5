// SPDX-License-Identifier: GPL-3.0-or-later
// Facts of the standard's binary interface (MPI 5.0, chapter 20), as they are written there, against the header that is made of
// gen/standard_abi.py; and what the engine makes of them.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include "replay_engine/rank/engine/library_check.h"
#include "replay_engine/rank/engine/mpi_header.h"
#include "replay_engine/rank/tests/fake_objects.h"

namespace pf {
namespace {

template <typename Handle>
std::uintptr_t number(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

TEST(StandardAbi, AStatusHasEightInts) {
  EXPECT_EQ(sizeof(MPI_Status), 8 * sizeof(int));
  EXPECT_EQ(offsetof(MPI_Status, MPI_SOURCE), 0U);
  EXPECT_EQ(offsetof(MPI_Status, MPI_TAG), 4U);
  EXPECT_EQ(offsetof(MPI_Status, MPI_ERROR), 8U);
  EXPECT_EQ(offsetof(MPI_Status, MPI_internal), 12U);
}

TEST(StandardAbi, IntegersAreAsWideAsAnAddressOrAFile) {
  EXPECT_TRUE((std::is_same_v<MPI_Aint, std::intptr_t>));
  EXPECT_EQ(sizeof(MPI_Offset), 8U);
  EXPECT_EQ(sizeof(MPI_Count), 8U);
}

TEST(StandardAbi, HandlesAreNumbersOfTheirKind) {
  EXPECT_EQ(number(MPI_COMM_NULL), 0x100U);
  EXPECT_EQ(number(MPI_COMM_WORLD), 0x101U);
  EXPECT_EQ(number(MPI_GROUP_EMPTY), 0x109U);
  EXPECT_EQ(number(MPI_WIN_NULL), 0x110U);
  EXPECT_EQ(number(MPI_FILE_NULL), 0x118U);
  EXPECT_EQ(number(MPI_MESSAGE_NO_PROC), 0x129U);
  EXPECT_EQ(number(MPI_ERRORS_RETURN), 0x143U);
  EXPECT_EQ(number(MPI_REQUEST_NULL), 0x180U);
  EXPECT_EQ(number(MPI_DATATYPE_NULL), 0x200U);
  EXPECT_EQ(number(MPI_SUM), 0x21U);
  // A type of fixed size says which, as the power of two in bits 3 to 5.
  const auto sizeOf = [](MPI_Datatype type) { return 1U << (number(type) >> 3U & 7U); };
  EXPECT_EQ(sizeOf(MPI_BYTE), 1U);
  EXPECT_EQ(sizeOf(MPI_UINT16_T), 2U);
  EXPECT_EQ(sizeOf(MPI_INT32_T), 4U);
  EXPECT_EQ(sizeOf(MPI_INT64_T), 8U);
}

TEST(StandardAbi, WhatStandsForNoRankOrTagIsNegative) {
  EXPECT_EQ(MPI_ANY_SOURCE, -1);
  EXPECT_EQ(MPI_ANY_TAG, -2);
  EXPECT_EQ(MPI_PROC_NULL, -3);
  EXPECT_EQ(MPI_ROOT, -4);
  EXPECT_EQ(MPI_UNDEFINED, -32766);
  EXPECT_EQ(MPI_ERR_TRUNCATE, 15);
  EXPECT_EQ(MPI_ERR_PENDING, 18);
  EXPECT_EQ(MPI_ERR_IN_STATUS, 19);
  EXPECT_LT(MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED);
  EXPECT_LT(MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE);
}

/// As a log has them, whose readers know no MPI library.
TEST(StandardAbi, PeersAndTagsAreWrittenAsThoseOfOtherLibraries) {
  EXPECT_EQ(reportedPeer(3), 3);
  EXPECT_EQ(reportedPeer(MPI_ANY_SOURCE), -1);
  EXPECT_EQ(reportedPeer(MPI_PROC_NULL), -2);
  EXPECT_EQ(reportedPeer(kNoPeer), -2);
  EXPECT_EQ(reportedTag(0), 0);
  EXPECT_EQ(reportedTag(MPI_ANY_TAG), -1);
}

/// Those of MPICH are one after another, those of Open MPI addresses.
TEST(StandardAbi, HandlesStayApartInTables) {
  std::set<std::uintptr_t> bits;
  for (std::uintptr_t i = 0; i < 64; ++i) {
    for (const std::uintptr_t first :
         {std::uintptr_t{0x98000000}, std::uintptr_t{0x7f0000001000}}) {
      const auto handle = reinterpret_cast<MPI_Request>(first + i);
      EXPECT_EQ(requestOf(pointerOf(handle)), handle);
      bits.insert(bitsOf(handle) >> 4);
    }
  }
  EXPECT_EQ(bits.size(), 128U);
}

TEST(StandardAbi, GroupsOfOursAreKnownAgain) {
  static std::uintptr_t places[4];
  EXPECT_EQ(placeOfGroup(places, 4, keptGroup(places, 0)), 0U);
  EXPECT_EQ(placeOfGroup(places, 4, keptGroup(places, 3)), 3U);
  EXPECT_EQ(placeOfGroup(places, 4, MPI_GROUP_EMPTY), 4U);
  EXPECT_EQ(placeOfGroup(places, 4, reinterpret_cast<MPI_Group>(std::uintptr_t{0x88000003})), 4U);
}

/// What a trace has of its library: native ones and those of the standard's interface are told apart by it.
TEST(StandardAbi, ATracesLibrarySaysItsInterface) {
  const auto put = [](const std::string& said, MpiVersion abi) {
    char text[64];
    putLibrary(text, sizeof text, said.c_str(), abi);
    return std::string(text);
  };
  const MpiVersion one{MpiKind::Standard, 1, 0};
  EXPECT_EQ(put("MPICH Version:\t5.0.2\nMPICH Release date:", one),
            "MPICH Version: 5.0.2, MPI ABI 1.0");
  EXPECT_EQ(put("MPICH Version:\t5.0.2\n", MpiVersion{}), "MPICH Version: 5.0.2");
  EXPECT_EQ(put(std::string(49, 'x'), one), std::string(49, 'x') + ", MPI ABI 1.0");
  EXPECT_EQ(put(std::string(300, 'x'), one), std::string(50, 'x') + ", MPI ABI 1.0");
  EXPECT_EQ(put(std::string(300, 'x'), MpiVersion{}), std::string(63, 'x'));
  EXPECT_EQ(put("", one), ", MPI ABI 1.0");
}

TEST(StandardAbi, AStatusIsCopiedWhole) {
  MPI_Status from{1, 2, 3, {4, 5, 6, 7, 8}};
  MPI_Status to{};
  copyStatus(&to, from);
  EXPECT_EQ(to.MPI_SOURCE, 1);
  EXPECT_EQ(to.MPI_internal[0], 4);
  EXPECT_EQ(to.MPI_internal[4], 8);
}

}  // namespace
}  // namespace pf
