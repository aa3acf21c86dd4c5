// SPDX-License-Identifier: GPL-3.0-or-later
// Our standard input, for one recording after the other: each reads it from its beginning.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::app {

/// A file is read again. What comes by a pipe is kept in memory, up to kMostInput bytes. What is typed at a terminal is for the
/// recording that reads it.
class RepeatedInput {
 public:
  /// System: there is no memory for it.
  static Result<RepeatedInput> start();

  /// Before each recording. Usage: there was more of it than is kept.
  Status rewind();

  /// The descriptor to poll before the next read().
  [[nodiscard]] int source() const;
  /// As read(2).
  ssize_t read(char* bytes, std::size_t size);

 private:
  void keep(const char* bytes, std::size_t size);

  off_t m_begin = -1;  ///< of a file
  UniqueFd m_kept;     ///< of a pipe
  off_t m_size = 0;    ///< of what is kept
  off_t m_at = 0;      ///< what of it has been read again
  bool m_tooLong = false;
};

}  // namespace pf::app
