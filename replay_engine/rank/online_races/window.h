// SPDX-License-Identifier: MIT
// The decision whether a delivery is traced, delayed: Karmarkar, Vaidya and Netzer's open question
// (section 6), as a rank answers it while it runs. replay_engine/races/tracing.h (traceWithWindow) says what is
// decided and why that never traces more than Algorithm B.
#pragma once

#include <cstdint>

#include "replay_engine/rank/online_races/streams.h"
#include "replay_engine/rank/online_races/wildcard_rows.h"

namespace pf::online {

class Window {
 public:
  /// A delivery that is to be traced; `number`: of the message in its stream.
  struct Traced {
    Delivery delivery;
    std::uint32_t number;
  };

  /// Decisions wait for `size` more wildcard receives, at least 1.
  explicit Window(std::uint32_t size) : m_size(size) {}

  /// What it decides is in traced(), until the next call.
  void delivered(const Delivery& delivery, std::uint32_t number, OpenReceives& open);
  /// Nothing comes any more.
  void end(OpenReceives& open);
  [[nodiscard]] const FlatArray<Traced>& traced() const { return m_traced; }
  /// Deliveries traced so far.
  [[nodiscard]] std::uint32_t found() const { return m_found; }

 private:
  struct Undecided {
    Traced what;
    bool tracedByB;
    bool leftOut;             ///< of the trace, by the present plan
    bool mustTrace;           ///< races with one that was left out
    std::uint32_t wildcards;  ///< observed up to it
  };

  void enter(const Undecided& one, OpenReceives& open);
  [[nodiscard]] bool allowed(const Undecided& one, OpenReceives& open);
  [[nodiscard]] bool fits(std::uint32_t number, OpenReceives& open);
  void decideUpTo(std::uint32_t size, OpenReceives& open);
  void decideFirst(OpenReceives& open);
  void decide(const Traced& what, bool traced, OpenReceives& open);
  void improve(OpenReceives& open);
  bool leaveOut(std::uint32_t number, OpenReceives& open);

  std::uint32_t m_size;
  WildcardRows m_ofB;      ///< what Algorithm B has left out
  WildcardRows m_leftOut;  ///< what was left out here, decided
  FlatArray<Undecided> m_undecided;
  std::uint32_t m_first = 0;         ///< those of m_undecided before it are decided
  FlatArray<std::uint32_t> m_moved;  ///< of leaveOut(): what came in
  FlatArray<std::uint32_t> m_added;  ///< and what went out
  FlatArray<Traced> m_traced;
  std::uint32_t m_found = 0;
  std::uint32_t m_wildcards = 0;
  bool m_changed = false;
  bool m_ended = false;
};

}  // namespace pf::online
