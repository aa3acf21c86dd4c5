// SPDX-License-Identifier: GPL-3.0-or-later
// Where the kernel puts core files, and which rank an environment is of. Real core files: tests/e2e/desk_test.py.
#include "app/unrecorded_jobs/core_file.h"

#include <fstream>
#include <random>

#include <gtest/gtest.h>

namespace pf::app {
namespace {

using namespace std::string_view_literals;

TEST(CoreFiles, NamesByThePattern) {
  EXPECT_EQ(coreFileName("core\n", false, 7, 11, "/bin/a", "/w"), "/w/core");
  EXPECT_EQ(coreFileName("core", true, 7, 11, "/bin/a", "/w"), "/w/core.7");
  EXPECT_EQ(coreFileName("core.%p", true, 7, 11, "/bin/a", "/w"), "/w/core.7");
  EXPECT_EQ(coreFileName("/var/%e-%s-%%-%P", false, 7, 11, "/bin/a_program_with_a_long_name", "/w"),
            "/var/a_program_with_-11-%-7");
  EXPECT_EQ(coreFileName("|/usr/lib/systemd/systemd-coredump %P %u", false, 7, 11, "a", "/w"),
            "|/usr/lib/systemd/systemd-coredump");
  EXPECT_EQ(coreFileName("core.%t", false, 7, 11, "a", "/w"), "")
      << "the time is not known afterwards";
  EXPECT_EQ(coreFileName("", false, 7, 11, "a", "/w"), "");
}

TEST(CoreFiles, RankOfAnEnvironment) {
  EXPECT_EQ(rankInEnvironment("A=1\0OMPI_COMM_WORLD_RANK=12\0B=2\0"sv), 12);
  EXPECT_EQ(rankInEnvironment("PMI_RANK=3"sv), 3);
  EXPECT_EQ(rankInEnvironment("NOT_PMI_RANK=3\0SLURM_PROCID=4\0"sv), 4);
  EXPECT_EQ(rankInEnvironment("PMI_RANK=x\0PMI_RANK=-1\0PMI_RANK=99999999999\0PMI_RANK=5x\0"sv),
            std::nullopt);
  EXPECT_EQ(rankInEnvironment(""sv), std::nullopt);
  EXPECT_EQ(rankInEnvironment("OMPI_COMM_WORLD_RANK=1048575"sv), kMostRanks - 1);
  EXPECT_EQ(rankInEnvironment("OMPI_COMM_WORLD_RANK=1048576"sv), std::nullopt);
  EXPECT_EQ(rankInEnvironment("OMPI_COMM_WORLD_RANK=2147483647"sv), std::nullopt);
}

/// A header of a core file with anything behind it: an answer or an error, never more.
TEST(CoreFiles, AnyBytesGiveAnAnswer) {
  const std::string path = testing::TempDir() + "pf_core_bytes";
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    std::string bytes(64 + random() % 2000, '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random() % 4 == 0 ? random() : 0);
    }
    const std::string head(
        "\x7f"
        "ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0\x3e\0\1\0\0\0",
        24);
    bytes.replace(0, head.size(), head);
    bytes.replace(32, 8, std::string("\x40\0\0\0\0\0\0\0", 8));  // segments behind the header
    if (round % 2 == 0) {
      bytes[56] = static_cast<char>(random() % 20);
      bytes[57] = 0;
      for (std::size_t at = 64; at + 56 < bytes.size(); at += 56) {
        bytes[at] = static_cast<char>(random() % 2 == 0 ? 4 : 1);  // PT_NOTE, PT_LOAD
        bytes.replace(at + 1, 3, 3, '\0');
      }
    }
    std::ofstream(path, std::ios::binary) << bytes;
    const auto core = readCoreFile(path);
    EXPECT_TRUE(core.ok() || !core.error().message.empty());
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace pf::app
