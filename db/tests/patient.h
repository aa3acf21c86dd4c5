// SPDX-License-Identifier: GPL-3.0-or-later
// A trace to be damaged.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "db/tests/sample.h"

namespace pf::db {

/// A trace in /dev/shm whose bytes can be changed and put back.
class Patient {
 public:
  explicit Patient(const Content& content) : m_path(m_directory.file("a.pft")) {
    const Status status = writeContent(m_path, content);
    EXPECT_TRUE(status.ok()) << status.error().text();
    m_bytes = readFile(m_path);
    m_file = ::open(m_path.c_str(), O_RDWR | O_CLOEXEC);
  }
  ~Patient() { ::close(m_file); }
  Patient(const Patient&) = delete;
  Patient& operator=(const Patient&) = delete;

  void put(std::size_t offset, std::uint8_t byte) const {
    ASSERT_EQ(::pwrite(m_file, &byte, 1, static_cast<off_t>(offset)), 1);
  }
  void flip(std::size_t bit) const {
    put(bit / 8, static_cast<std::uint8_t>(m_bytes[bit / 8] ^ (1U << (bit % 8))));
  }
  void heal(std::size_t bit) const { put(bit / 8, m_bytes[bit / 8]); }
  void cut(std::size_t size) const { ASSERT_EQ(::ftruncate(m_file, static_cast<off_t>(size)), 0); }
  /// Runs our own SQL in the file, as someone else's program would.
  void change(const std::string& sql) const {
    const std::string command = "sqlite3 " + m_path + " \"" + sql + "\"";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(concurrency-mt-unsafe)
  }
  [[nodiscard]] const std::string& path() const { return m_path; }
  [[nodiscard]] std::string file(const std::string& name) const { return m_directory.file(name); }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return m_bytes; }

 private:
  Directory m_directory;
  std::string m_path;
  std::vector<std::uint8_t> m_bytes;
  int m_file = -1;
};

}  // namespace pf::db
