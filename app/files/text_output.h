// SPDX-License-Identifier: GPL-3.0-or-later
// A file, or standard output, that is written from begin to end. Private to app/files.
#pragma once

#include <string>
#include <string_view>

#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::app {

/// The error of a failed write stays: write() may be called on, finish() tells.
class TextOutput {
 public:
  /// `path` must not be there unless it is a device or a pipe; empty: standard output.
  static Result<TextOutput> open(const std::string& path);
  /// A file that was not finished is removed.
  ~TextOutput();
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;
  TextOutput(TextOutput&&) = default;
  TextOutput& operator=(TextOutput&&) = delete;

  void write(std::string_view text);
  /// Everything is in the file.
  Status finish();

 private:
  TextOutput() = default;
  void flush();

  std::string m_made;  ///< path of a file that is ours; empty once it is whole
  std::string m_name;  ///< for messages
  UniqueFd m_file;
  bool m_terminal = false;  ///< what would steer it is written as shown() has it
  std::string m_buffer;
  int m_failure = 0;  ///< errno
};

/// Usage if something is there already, unless it is a device or a pipe.
Status mayBeMade(const std::string& path);

}  // namespace pf::app
