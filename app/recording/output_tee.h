// SPDX-License-Identifier: GPL-3.0-or-later
// What launcher and program print, on its way to our standard output and error; its beginning and end are kept beside the logs
// (app/collation/printed_text.h).
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <string>

#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::app {

/// A process of its own carries each stream, and ends when nobody can write to it any more: a program goes on when its recorder
/// is killed, and so does what it prints.
class OutputTee {
 public:
  /// `file`: made here. `output`, `error`: where the streams go; negative: that one is not carried.
  static Result<OutputTee> start(const std::string& file, int output, int error);

  // For the launcher; closed with launched() once that has them. Negative: not carried.
  [[nodiscard]] int outputEnd() const { return m_ends[0].get(); }
  [[nodiscard]] int errorEnd() const { return m_ends[1].get(); }
  void launched();
  /// The launcher has ended: waits until what was printed is where it goes. Who still has a stream is not waited for.
  void drain();

 private:
  OutputTee() = default;
  Status carry(std::size_t stream, int target);
  bool reap();

  UniqueFd m_file;
  std::array<UniqueFd, 2> m_ends;
  std::array<pid_t, 2> m_carriers{-1, -1};
};

}  // namespace pf::app
