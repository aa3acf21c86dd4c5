// docs/trace-format.md is true: its queries run in a foreign sqlite3, and it names every table and
// column.
#include "sample.h"
#include "schema.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace pf::db {
namespace {

std::string document() {
  std::ifstream file(PF_DB_DOCUMENT);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> queries(const std::string& text) {
  const std::string fence = "```sql\n";
  std::vector<std::string> all;
  for (std::size_t at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
    at += fence.size();
    all.push_back(text.substr(at, text.find("```", at) - at));
  }
  return all;
}

/// What the sqlite3 command says to `sql`; its exit status.
int foreign(const Directory& directory, const std::string& sql, std::string& output) {
  const std::string script = directory.file("query.sql");
  std::ofstream(script) << sql;
  const std::string command =
      "sqlite3 -readonly -bail " + directory.file("a.pft") + " <" + script + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  output.clear();
  std::array<char, 4096> buffer{};
  while (std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), count);
  }
  return ::pclose(pipe);
}

class Format : public testing::Test {
 protected:
  void SetUp() override {
    std::string version;
    if (foreign(m_directory, "SELECT 1;", version) != 0 &&
        version.find("not found") != std::string::npos) {
      GTEST_SKIP() << "no sqlite3 command";
    }
    ASSERT_TRUE(writeContent(m_directory.file("a.pft"), smallContent()).ok());
  }
  Directory m_directory;
};

TEST_F(Format, examplesRunInAForeignProgram) {
  const std::vector<std::string> all = queries(document());
  EXPECT_GE(all.size(), 9U);
  for (const std::string& sql : all) {
    std::string output;
    EXPECT_EQ(foreign(m_directory, sql, output), 0) << sql << output;
    EXPECT_FALSE(output.empty()) << sql;
  }
  std::string output;
  EXPECT_EQ(foreign(m_directory, all[3], output), 0);
  EXPECT_EQ(output, "0|3|/home/u/main.c|42|2|1\n0|4|/home/u/main.c|42|1|2,2\n");
  EXPECT_EQ(foreign(m_directory,
                    "PRAGMA integrity_check; PRAGMA user_version; PRAGMA journal_mode;", output),
            0);
  EXPECT_EQ(output, "ok\n4\ndelete\n");
}

TEST_F(Format, documentNamesEveryTableAndColumn) {
  const std::string text = document();
  for (const Table& each : tables()) {
    EXPECT_NE(text.find("**`" + each.name + "`**"), std::string::npos) << each.name;
    std::string output;
    ASSERT_EQ(
        foreign(m_directory, "SELECT name FROM pragma_table_info('" + each.name + "');", output),
        0);
    std::istringstream columns(output);
    for (std::string column; std::getline(columns, column);) {
      EXPECT_NE(text.find("`" + column + "`"), std::string::npos) << each.name << "." << column;
    }
  }
}

}  // namespace
}  // namespace pf::db
