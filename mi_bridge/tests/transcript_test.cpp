// Everything that GDB 13.1 really said in the saved sessions can be read.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "mi_bridge/parser.h"

namespace pf::mi {
namespace {

TEST(Transcripts, EveryLineParses) {
  int files = 0;
  int records = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PF_MI_CORPUS)) {
    if (entry.path().extension() != ".mi") {
      continue;
    }
    ++files;
    std::ifstream file(entry.path());
    std::string line;
    while (std::getline(file, line)) {
      const auto record = parseRecord(line);
      EXPECT_TRUE(record.ok()) << entry.path() << ": " << (record ? "" : record.error().message);
      ++records;
    }
  }
  EXPECT_GE(files, 3);
  EXPECT_GT(records, 300);
}

}  // namespace
}  // namespace pf::mi
