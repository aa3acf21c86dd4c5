// SPDX-License-Identifier: GPL-3.0-or-later
// What questions to a GDB have in common: of which frame, and who hears the answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "mi_bridge/command.h"
#include "replay_engine/base/result.h"

namespace pf::mi {

template <typename T>
using Callback = std::function<void(Result<T>)>;
using Done = std::function<void(Status)>;

/// A frame of a thread. Thread 0: the one that GDB has selected.
struct FrameRef {
  int thread = 0;
  int level = 0;             ///< GDB's
  std::uint64_t python = 0;  ///< Frame::python: variables, and values of expressions, are Python's
};

/// Values may come from an endless printer or an endless call: GDB is interrupted early.
inline constexpr Duration kValuePatience = std::chrono::seconds(5);

/// `--thread T --frame L `, or "" for what GDB has selected.
[[nodiscard]] inline std::string frameOptions(FrameRef frame) {
  return frame.thread <= 0 ? std::string()
                           : "--thread " + std::to_string(frame.thread) + " --frame " +
                                 std::to_string(frame.level) + " ";
}

/// A completion that turns GDB's results into a T.
template <typename T, typename Extract>
Completion extracting(Callback<T> done, Extract extract) {
  return [done = std::move(done), extract = std::move(extract)](const Result<ResultRecord>& reply) {
    if (!reply) {
      done(reply.error());
    } else {
      done(extract(reply->results));
    }
  };
}

}  // namespace pf::mi
