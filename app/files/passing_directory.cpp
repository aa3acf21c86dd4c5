// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/files/passing_directory.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace pf::app {

PassingDirectory::PassingDirectory(const std::string& beginning) : m_path(beginning + "XXXXXX") {
  m_made = ::mkdtemp(m_path.data()) != nullptr;
  m_error = m_made ? 0 : errno;
}

PassingDirectory::~PassingDirectory() {
  std::error_code ignored;
  if (m_made) {
    std::filesystem::remove_all(m_path, ignored);
  }
}

Status PassingDirectory::made() const {
  return m_made ? Status() : Status(systemError("cannot make a directory for it", m_error));
}

}  // namespace pf::app
