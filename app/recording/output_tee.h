// SPDX-License-Identifier: GPL-3.0-or-later
// What launcher and program print, on its way to our standard output and error; its beginning and end are kept beside the logs
// (app/collation/printed_text.h).
#pragma once

#include <sys/types.h>

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::app {

/// Both descriptors lead to the same file, pipe or terminal.
[[nodiscard]] bool areOnePlace(int first, int second);

/// A process of its own carries it, and ends when nobody can write any more: a program goes on when its recorder is killed, and so
/// does what it prints. There are two where the streams go to different places: who does not read one does not hold up the other.
/// Where both go to the same place, one carries them in the order in which they come.
class OutputTee {
 public:
  /// `file`: made here. `output`, `error`: where the streams go; negative: that one is not carried.
  static Result<OutputTee> start(const std::string& file, int output, int error);

  // For the launcher; closed with launched() once that has them. Negative: not carried.
  [[nodiscard]] int outputEnd() const { return m_ends[0].get(); }
  [[nodiscard]] int errorEnd() const { return m_ends[1].get(); }
  void launched();
  /// The launcher has ended: waits until what was printed is where it goes, or nobody wants to wait any more. Who still has a
  /// stream, and says nothing, is not waited for.
  void drain(const std::function<bool()>& givenUp);

 private:
  struct Counters;
  struct Unmap {
    void operator()(Counters* counters) const;
  };

  OutputTee() = default;
  Status carry(const std::array<UniqueFd, 2>& from, const std::array<int, 2>& targets);
  bool reap();

  std::unique_ptr<Counters, Unmap> m_counters;  ///< in memory that the carriers share
  UniqueFd m_file;
  std::array<UniqueFd, 2> m_ends;
  std::array<pid_t, 2> m_carriers{-1, -1};  ///< of each stream
};

}  // namespace pf::app
