// SPDX-License-Identifier: GPL-3.0-or-later
// Our standard input on its way to the launcher of a recording; a copy is kept for the replays.
#pragma once

#include <poll.h>

#include <cstdint>
#include <string>
#include <vector>

#include "app/recording/repeated_input.h"
#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::app {

inline constexpr std::uint64_t kMostInput =
    15U << 20;  ///< bytes; longer input is not kept: a row of the trace takes 16 MiB
/// Beside the logs, where it was longer.
inline constexpr const char* kLeftOut = ".left-out";

class InputTee {
 public:
  /// `copy`: the file to keep it in; there is none once the input is longer than kMostInput. `repeated`: our standard input for
  /// one recording after the other, which outlives the tee; null: as it comes.
  static Result<InputTee> start(const std::string& copy, RepeatedInput* repeated = nullptr);

  /// For the launcher; close it with launched() once that has it.
  [[nodiscard]] int launcherEnd() const { return m_launcherEnd.get(); }
  void launched() { m_launcherEnd.reset(); }

  /// What to poll for before the next pump(); its fd is -1 where there is nothing to wait for.
  [[nodiscard]] pollfd waiting() const;
  /// Reads or writes once, as waiting() says.
  void pump();
  [[nodiscard]] bool tooLong() const { return m_kept > kMostInput; }

 private:
  void read();
  void keep();

  std::string m_path;
  RepeatedInput* m_repeated = nullptr;
  UniqueFd m_copy;
  UniqueFd m_launcherEnd;
  UniqueFd m_pipe;  ///< our end; closed at the end of the input
  std::vector<char> m_pending;
  std::uint64_t m_kept = 0;
};

}  // namespace pf::app
