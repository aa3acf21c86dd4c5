// SPDX-License-Identifier: GPL-3.0-or-later
// Messages that only their number in a row tells apart, and receives that accept the same ones. Private to
// the prediction.
#pragma once

#include <cstdint>
#include <vector>

#include "replay_engine/prediction/program_model.h"

namespace pf::prediction {

/// Messages of one sender, receiver, communicator and tag, in sending order: they are taken in it.
using Stream = std::vector<std::uint32_t>;

/// Receives of one rank, communicator, source and tag, in posting order: they take in it.
struct ReceiveClass {
  std::vector<std::uint32_t> receives;
  std::vector<std::uint32_t> streams;  ///< that they accept
  /// Of each receive: how many receives posted before it accept some message of these streams.
  std::vector<std::uint32_t> rivals;
};

/// All receives of one rank and communicator, in posting order, and all that comes to them.
struct ReceiveGroup {
  std::vector<std::uint32_t> receives;
  std::vector<std::uint32_t> streams;
};

struct Streams {
  std::vector<Stream> streams;
  std::vector<std::uint32_t> streamOf;  ///< by message
  std::vector<ReceiveClass> classes;
  std::vector<ReceiveGroup> groups;  ///< those of several classes
};

[[nodiscard]] Streams streamsOf(const ProgramModel& model);

}  // namespace pf::prediction
