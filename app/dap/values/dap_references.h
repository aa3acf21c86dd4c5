// SPDX-License-Identifier: GPL-3.0-or-later
// What the numbers stand for that a client gets for frames and for things with variables inside.
// They are good until their rank runs on, and never used again. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replay_engine/execution/execution.h"

namespace pf::headless {

/// A frame of a rank. Level -1: the rank has no GDB, the frame is from the recording.
struct FrameKey {
  Rank rank = kUnknownRank;
  int thread = 0;
  int level = -1;            ///< GDB's
  std::uint64_t python = 0;  ///< mi::Frame::python
  std::uint64_t stop = 0;    ///< of the rank: see References::run()
  friend bool operator==(const FrameKey&, const FrameKey&) = default;
};

enum class ContainerKind { Arguments, Locals, Globals, Registers, Object, Expression };

/// Something with variables in it.
struct Container {
  ContainerKind kind = ContainerKind::Locals;
  FrameKey frame;
  std::string text;  ///< Object: GDB's name for it. Expression: not asked of GDB yet
  int from = 0;      ///< first child: a long container goes on in another one
  std::map<std::string, std::string> children;  ///< shown name -> GDB's name
  char format = 0;                              ///< of its parts (mi_bridge/value_format.h)
};

class References {
 public:
  int add(const FrameKey& frame);
  int add(Container container);
  /// Nothing, or null, if there is none or its rank has run on.
  [[nodiscard]] std::optional<FrameKey> frame(std::int64_t id) const;
  [[nodiscard]] Container* container(std::int64_t id);

  [[nodiscard]] FrameKey key(Rank rank, int thread, int level, std::uint64_t python = 0) const;
  [[nodiscard]] bool valid(const FrameKey& frame) const;
  /// The rank runs on: its frames and containers are gone.
  void run(Rank rank);

 private:
  std::map<int, FrameKey> m_frames;
  std::map<int, Container> m_containers;
  std::map<Rank, std::uint64_t> m_stops;
  int m_last = 0;
};

}  // namespace pf::headless
