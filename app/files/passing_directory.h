// SPDX-License-Identifier: GPL-3.0-or-later
// A directory of one's own, for a while.
#pragma once

#include <string>

#include "replay_engine/base/result.h"

namespace pf::app {

/// Made (0700) by this, and gone with it, whatever is in it then.
class PassingDirectory {
 public:
  /// `beginning`: of its path; six characters are added.
  explicit PassingDirectory(const std::string& beginning);
  ~PassingDirectory();
  PassingDirectory(const PassingDirectory&) = delete;
  PassingDirectory& operator=(const PassingDirectory&) = delete;

  /// System: it could not be made.
  [[nodiscard]] Status made() const;
  [[nodiscard]] const std::string& path() const { return m_path; }
  [[nodiscard]] std::string file(const std::string& name) const { return m_path + "/" + name; }

 private:
  std::string m_path;
  bool m_made = false;
  int m_error = 0;
};

}  // namespace pf::app
