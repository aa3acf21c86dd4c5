// SPDX-License-Identifier: GPL-3.0-or-later
// docs/trace-format.md is true: its queries run, a foreign sqlite3 reads the file, and every table
// and column is named.
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "db/schema/schema.h"
#include "db/sql_tables/query.h"
#include "db/tests/sample.h"

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

/// What queryTrace() says, as the sqlite3 command would; the error if there is one.
std::string ours(const Directory& directory, const std::string& sql) {
  std::string text;
  const Status status = queryTrace(
      directory.file("a.pft"), sql, [](const std::vector<std::string>&) {},
      [&](const QueryRow& row) {
        for (std::size_t i = 0; i < row.size(); ++i) {
          text += i == 0 ? "" : "|";
          if (row[i].type != Statement::Type::Null) {
            text += row[i].type == Statement::Type::Integer ? std::to_string(row[i].integer)
                                                            : std::string(row[i].text());
          }
        }
        text += "\n";
      });
  return status.ok() ? text : status.error().text();
}

TEST_F(Format, examplesRun) {
  const std::vector<std::string> all = queries(document());
  EXPECT_GE(all.size(), 9U);
  for (const std::string& sql : all) {
    EXPECT_TRUE(sql.ends_with(";\n")) << sql;
    for (std::size_t from = 0, end = 0; (end = sql.find(";\n", from)) != std::string::npos;
         from = end + 2) {  // of several in one example each
      const std::string one = sql.substr(from, end + 1 - from);
      const std::string output = ours(m_directory, one);
      EXPECT_FALSE(output.empty()) << one;
      EXPECT_EQ(output.find("the query"), std::string::npos) << one << output;
    }
  }
  EXPECT_EQ(ours(m_directory, all[3]), "0|3|/home/u/main.c|42|2|1\n0|4|/home/u/main.c|42|1|2,2\n");
}

TEST_F(Format, aForeignProgramReadsWhatIsNotInColumns) {
  std::string output;
  EXPECT_EQ(foreign(m_directory,
                    "SELECT text FROM race_class; SELECT name FROM call WHERE id = 1; PRAGMA "
                    "integrity_check; PRAGMA user_version; PRAGMA journal_mode;",
                    output),
            0);
  EXPECT_EQ(output, "benign\nMPI_Send\nok\n17\ndelete\n");
}

TEST_F(Format, tablesOverTheColumnsAreWhatTheColumnsHold) {
  EXPECT_EQ(ours(m_directory,
                 "SELECT rank, serial, kind, call, site, comm, peer, tag FROM event "
                 "WHERE rank = 0 AND serial BETWEEN 2 AND 3"),
            "0|2|3|3|0|0|-1|-1\n0|3|4|4|0|0||-1\n");
  EXPECT_EQ(ours(m_directory, "SELECT count(*), min(serial), max(serial) FROM event"), "15|1|7\n");
  EXPECT_EQ(ours(m_directory, "SELECT rank, serial FROM event WHERE serial = 6"), "0|6\n");
  EXPECT_EQ(ours(m_directory, "SELECT count(*) FROM event WHERE rank = 1 AND serial > 2"), "2\n");
  EXPECT_EQ(ours(m_directory, "SELECT count(*) FROM event WHERE serial < 3 AND serial >= 2.5"),
            "0\n");
  EXPECT_EQ(ours(m_directory, "SELECT count(*) FROM event WHERE rank = 9 OR rank = NULL"), "0\n");
  EXPECT_EQ(ours(m_directory, "SELECT rank, serial FROM event WHERE serial = 6.0"), "0|6\n");
  EXPECT_EQ(ours(m_directory, "SELECT serial FROM event WHERE serial = 2.0 AND rank = round(1.2)"),
            "2\n");
  EXPECT_EQ(ours(m_directory, "SELECT count(*) FROM event WHERE serial = 2.5 OR rank = 1e300"),
            "0\n");
  EXPECT_EQ(ours(m_directory,
                 "SELECT id, source, send_index, send_serial, dest, bytes, "
                 "synchronous, post, completion_serial FROM message"),
            "0|1|0|2|0|0|1|1|5\n1|1|1|4|0|0|0||\n2|2|0|2|0|0|0|0|3\n3|2|1|4|0|0|0||\n");
  EXPECT_EQ(ours(m_directory, "SELECT source, send_index FROM message WHERE id = 3"), "2|1\n");
  EXPECT_EQ(ours(m_directory, "SELECT post, source, message, completion_serial FROM receive"),
            "0|2|2|3\n1|1|0|5\n2|||\n");
  EXPECT_EQ(ours(m_directory, "SELECT rank, serial, source, message FROM probe"), "0|4|1|0\n");
  EXPECT_EQ(ours(m_directory, "SELECT rank, completion_serial, contributes FROM collective"),
            "0|6|1\n1|3|0\n2||1\n");
  EXPECT_EQ(ours(m_directory, "SELECT * FROM race"), "0|0|3|0|0|2|benign\n1|0|4|1|0|0|\n");
  EXPECT_EQ(ours(m_directory, "SELECT serial FROM race WHERE id = 1"), "4\n");
  EXPECT_EQ(ours(m_directory, "SELECT count(*) FROM race WHERE rank = 1 OR id > 1"), "0\n");
  EXPECT_EQ(ours(m_directory, "SELECT * FROM race_alternative"), "0|0|0\n1|0|2\n1|1|3\n");
  EXPECT_EQ(ours(m_directory, "SELECT message FROM race_alternative WHERE race = 1.0"), "2\n3\n");
  EXPECT_EQ(ours(m_directory, "SELECT race FROM race_alternative WHERE race < 1"), "0\n");
  EXPECT_EQ(ours(m_directory, "SELECT race FROM race_alternative WHERE race > 1 OR race = -1"), "");
  EXPECT_NE(ours(m_directory, "DELETE FROM note").find("not a SELECT"), std::string::npos);
  EXPECT_NE(ours(m_directory, "SELECT x FROM event").find("no such column"), std::string::npos);
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
