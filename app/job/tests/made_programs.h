// SPDX-License-Identifier: GPL-3.0-or-later
// A directory with programs for tests of launchers: shell scripts, under the names that matter.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pf::app::test {

class MadePrograms {
 public:
  MadePrograms() {
    m_path = testing::TempDir() + "made-programs.XXXXXX";
    EXPECT_NE(mkdtemp(m_path.data()), nullptr);
  }
  ~MadePrograms() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }
  MadePrograms(const MadePrograms&) = delete;
  MadePrograms& operator=(const MadePrograms&) = delete;

  /// Returns its path.
  std::string make(const std::string& name, const std::string& script = {},
                   mode_t mode = 0755) const {
    std::ofstream(at(name)) << "#!/bin/bash\n" << script << "\n";
    EXPECT_EQ(chmod(at(name).c_str(), mode), 0);
    return at(name);
  }
  [[nodiscard]] std::string at(const std::string& name) const { return m_path + "/" + name; }
  [[nodiscard]] const std::string& path() const { return m_path; }
  /// What a program has written there; empty: nothing yet.
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(at(name));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  std::string m_path;
};

}  // namespace pf::app::test
