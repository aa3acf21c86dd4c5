// SPDX-License-Identifier: MIT
#include "replay_engine/base/mpi_version.h"

#include <gtest/gtest.h>

namespace pf {
namespace {

TEST(MpiVersion, IsReadOfTheTwoThatAreKnown) {
  EXPECT_EQ(mpiVersionOf("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"),
            (MpiVersion{MpiKind::OpenMpi, 4, 1}));
  EXPECT_EQ(mpiVersionOf("Open MPI v5.0.7"), (MpiVersion{MpiKind::OpenMpi, 5, 0}));
  EXPECT_EQ(mpiVersionOf("Open MPI v10.12rc1"), (MpiVersion{MpiKind::OpenMpi, 10, 12}));
  EXPECT_EQ(mpiVersionOf("MPICH Version:\t4.0.2\nMPICH Release date:"),
            (MpiVersion{MpiKind::Mpich, 4, 0}));
  EXPECT_EQ(mpiVersionOf("MPI ABI 1.0"), (MpiVersion{MpiKind::Standard, 1, 0}));
  EXPECT_EQ(mpiVersionOf("MPI ABI"), MpiVersion{});
  EXPECT_EQ(mpiVersionOf("MPICH Version:      4.2.1"), (MpiVersion{MpiKind::Mpich, 4, 2}));
}

TEST(MpiVersion, OfOthersIsNotGuessed) {
  for (const char* text :
       {"", "Open MPI v", "Open MPI v4", "Open MPI vulcan", "Open MPI v99999.1", "Open MPI 4.1",
        "MPICH Version:", "MPICH Version: x", "MPICH Version:\t", "MVAPICH2 Version      :\t2.3.7",
        "MVAPICH Version:\t3.0", "Intel(R) MPI Library 2021.10 for Linux* OS",
        "MPI VERSION    : CRAY MPICH version 8.1.25 (ANL base 3.4a2)", "IBM Spectrum MPI v10.4"}) {
    EXPECT_EQ(mpiVersionOf(text), MpiVersion{}) << text;
  }
}

TEST(MpiVersion, OfTheStandardsInterfaceStandsBehindTheLibrarys) {
  const auto one = MpiVersion{MpiKind::Standard, 1, 0};
  EXPECT_EQ(abiVersionOf("MPICH Version: 5.0.2, MPI ABI 1.0"), one);
  EXPECT_EQ(abiVersionOf("Open MPI v6.0.0rc2, package: x, MPI ABI 2.1, MPI ABI 1.0"), one);
  for (const char* text : {"", "MPICH Version: 5.0.2", "MPI ABI 1.0", "My MPI, MPI ABI x"}) {
    EXPECT_EQ(abiVersionOf(text), MpiVersion{}) << text;
  }
}

TEST(MpiVersion, NamesOfFilesSayLittle) {
  EXPECT_EQ(mpiKindOfName("libmpi.so.40"), MpiKind::OpenMpi);
  EXPECT_EQ(mpiKindOfName("/opt/a b/libmpi.so.40.30.4"), MpiKind::OpenMpi);
  EXPECT_EQ(mpiKindOfName("libmpich.so.12.2.2"), MpiKind::Mpich);
  for (const char* name : {"libmpi.so.12", "libmpi.so", "libmpi.so.400", "libmpi.so.20",
                           "libmpich.so.10", "libmpi_abi.so.1", "libmpi_cray.so.12", "", "libm"}) {
    EXPECT_EQ(mpiKindOfName(name), MpiKind::Other) << name;
  }
  EXPECT_TRUE(hasStandardAbi("/usr/lib/libmpi_abi.so.1"));
  EXPECT_TRUE(hasStandardAbi("/usr/lib/libmpi_abi_mpich.so.1.0.0"));
  EXPECT_FALSE(hasStandardAbi("libmpi_abi_notes.txt"));
  EXPECT_FALSE(hasStandardAbi("/usr/libmpi_abi.so/libmpi.so.40"));
}

}  // namespace
}  // namespace pf
