// SPDX-License-Identifier: GPL-3.0-or-later
// Which deliveries wait for which, and what a delivery shows in. Private to the analysis; needs
// matchMessages() first.
//
// MPI delivers a message to its receive at a moment that no rank's record holds: after the send,
// the post and the prerequisites (prerequisites.h), before whatever proves it. So a delivery D(m)
// is a node of its own beside the entries and exits of events, and happens before
//   - the exit of the event that completed its receive,
//   - the exit of the event that completed its send, if that was synchronous,
//   - the exit of a probe of which it is a prerequisite,
//   - another delivery D(n) of which it is a prerequisite, and all that D(n) is before.
// An event is reached from D(m) only through one of these exits: they are what this class works
// out, per delivery, from the last posted receive back to the first. On m's receiving rank the
// earliest exit stands for all (shownAt). Elsewhere the exits of synchronous sends count
// (synchronousExits), the earliest of each rank, but not those of a D(n) whose receive was posted
// after shownAt(m): these follow from that event. So the lists are as long as the rank had receives
// in hand at once. Where the receiving rank has several threads (chains.h), no exit stands for
// those of other threads: there is no shownAt, all exits are in synchronousExits, the earliest of
// each chain.
//
// All that is asked then is whether some event or delivery x is reached: it is, if and only if x's
// vector clock contains one of the exits. (Could D(m) reach a delivery x by prerequisites alone?
// Only one of a receive posted later. Races ask for receives posted earlier.)
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "replay_engine/causality/chains.h"
#include "replay_engine/causality/prerequisites.h"
#include "replay_engine/causality/send_order.h"
#include "replay_engine/execution/execution.h"

namespace pf {

struct NoDeliveries {};

class DeliveryOrder {
 public:
  DeliveryOrder(const Execution& execution, const Chains& chains, const SendOrder& sends);
  /// For clocks that leave deliveries out.
  DeliveryOrder(const Execution& execution, NoDeliveries none);

  /// The deliveries that this message's waits for.
  [[nodiscard]] std::span<const std::uint32_t> before(std::uint32_t message) const {
    const Delivery& delivery = m_deliveries[message];
    return {m_before.data() + delivery.before, delivery.count};
  }
  /// The event of the receiving rank (an MPI_Cancel) that it waits for; 0 = none.
  [[nodiscard]] std::uint32_t cancelBefore(std::uint32_t message) const;
  [[nodiscard]] bool isCancelBefore(std::uint32_t rank, std::uint32_t serial) const;

  /// The first event of the receiving rank that shows the delivery, kNone if there is none, or if
  /// the rank has several threads.
  [[nodiscard]] std::uint32_t shownAt(std::uint32_t message) const {
    return m_deliveries[message].shownAt;
  }

  /// The end of a synchronous send (with threads, of any event that shows the delivery).
  struct Exit {
    Step step;
    Serial post;  ///< of the receive that it went to
  };
  /// Other ranks' exits after the delivery (with threads, all exits). Else empty for a blocking
  /// receive: there the exit of the send and that of the receive tell the same, and VectorClocks
  /// takes the one for the other.
  [[nodiscard]] std::span<const Exit> synchronousExits(std::uint32_t message) const;

  /// A probe that waits for a delivery.
  struct ProbeWait {
    std::uint32_t rank;
    Serial event;
    std::uint32_t message;
  };
  [[nodiscard]] const std::vector<ProbeWait>& probeWaits() const { return m_probeWaits; }

 private:
  /// Together, because who asks for the one asks for the other.
  struct Delivery {
    std::size_t before = 0;  ///< into m_before
    std::uint32_t count = 0;
    std::uint32_t shownAt = kNone;
  };

  void addRank(const Chains& chains, const SendOrder& sends, std::uint32_t rank);
  void addReceive(EarlierPosts& earlier, std::uint32_t rank, std::uint32_t index);
  void addProbe(EarlierPosts& earlier, std::uint32_t rank, const ProbeHit& probe);
  void findExits(std::uint32_t rank);
  void addOwnExits(std::uint32_t rank, const PostedReceive& receive);
  void showAt(std::uint32_t message, std::uint32_t event);
  void addExit(std::uint32_t message, const Exit& exit);
  void addExitsOf(std::uint32_t later, std::uint32_t message);

  const Execution& m_execution;
  const Chains* m_chains = nullptr;
  bool m_synchronous = false;  ///< some send was synchronous, and known to be matched
  std::vector<std::uint32_t> m_before;
  std::vector<Delivery> m_deliveries;  ///< by message
  std::unordered_map<std::uint32_t, std::uint32_t> m_cancelBefore;
  std::vector<std::vector<std::uint32_t>> m_cancels;  ///< by rank: those in m_cancelBefore, sorted
  std::unordered_map<std::uint32_t, std::vector<Exit>> m_exits;
  std::vector<ProbeWait> m_probeWaits;
};

}  // namespace pf
