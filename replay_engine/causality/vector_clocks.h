// SPDX-License-Identifier: GPL-3.0-or-later
// Vector clocks of a recorded execution, computed forward, deliveries included. Private to the analysis.
//
// A clock says for each chain up to which event it is known to have finished. No clock is kept
// for longer than something still to come needs it, and sends between two changes of a chain's
// clock share one, as does a delivery that waits for nothing but its send.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "replay_engine/causality/chains.h"
#include "replay_engine/causality/delivery_order.h"
#include "replay_engine/causality/event_graph.h"
#include "replay_engine/causality/traversal.h"

namespace pf {

/// What is known at one moment: a clock, and that an event is over.
struct Knowledge {
  std::span<const std::uint32_t> clock;
  Step left;
  [[nodiscard]] bool includes(Step step) const { return of(step.chain) >= step.serial; }
  [[nodiscard]] std::uint32_t of(std::uint32_t chain) const {
    return left.chain == chain ? std::max(clock[chain], left.serial) : clock[chain];
  }
};

/// Who is told what is known as the clocks advance.
struct ClockObserver {
  virtual ~ClockObserver() = default;
  /// Just before the message is sent.
  virtual void onSend(std::uint32_t message, const Knowledge& known) = 0;
  /// When the message is delivered, but for what its receiver knew from others at the post (unless
  /// that has several threads).
  virtual void onDelivery(std::uint32_t message, const Knowledge& known) = 0;
  /// When the event is over.
  virtual void onLeave(Place place, const Knowledge& known) = 0;
};

class VectorClocks {
 public:
  /// `graph` must have been made with `order`.
  VectorClocks(const Execution& execution, const Chains& chains, const EventGraph& graph,
               const DeliveryOrder& order, ClockObserver& observer);
  void run();

  bool tryEnter(Place place);
  bool tryLeave(Place place);
  void resolveStall(const std::vector<std::uint32_t>& ranks);

 private:
  using SnapshotId = std::uint32_t;

  [[nodiscard]] std::span<std::uint32_t> clock(std::uint32_t chain);
  [[nodiscard]] std::span<std::uint32_t> snapshot(SnapshotId id);
  SnapshotId allocate();
  /// The chain's clock as it is now, with `uses` more holders.
  SnapshotId hold(std::uint32_t chain, std::uint32_t uses);
  void release(SnapshotId& id);
  void forgetCurrent(std::uint32_t chain);

  void contribute(std::uint32_t member);
  [[nodiscard]] bool isReady(std::uint32_t rank, Link link);
  [[nodiscard]] bool isReadyCollective(std::uint32_t member) const;
  void leave(Place place);
  void followThreads(Place place);
  void listPosts();
  void holdPosts(Place place);
  void follow(Place place, Link link);
  void take(std::uint32_t chain, std::uint32_t member);
  void join(std::uint32_t chain, SnapshotId from, Step known);

  bool tryDeliver(std::uint32_t rank, std::uint32_t message);
  [[nodiscard]] bool canArrive(std::uint32_t rank, std::uint32_t message);
  void deliver(std::uint32_t message);
  [[nodiscard]] SnapshotId merge(std::uint32_t message);
  void followDelivery(Place place, std::uint32_t message);
  void useDelivery(std::uint32_t message);
  [[nodiscard]] Step beforeSend(std::uint32_t message) const;
  [[nodiscard]] Step posted(std::uint32_t message) const;

  const Execution& m_execution;
  const Chains& m_chains;
  const EventGraph& m_graph;
  const DeliveryOrder& m_order;
  ClockObserver& m_observer;
  Progress m_progress;
  std::size_t m_width;
  std::vector<std::uint32_t> m_clocks;  ///< chains x chains
  std::vector<SnapshotId>
      m_current;  ///< by chain: snapshot equal to its clock, kNone if changed since
  std::vector<std::size_t> m_waitingAt;  ///< by rank: incoming links of its event found ready
  std::vector<std::uint32_t> m_pool;     ///< snapshots, m_width each
  std::vector<std::uint32_t> m_holders;  ///< by snapshot
  std::vector<SnapshotId> m_free;
  std::vector<SnapshotId> m_sent;  ///< by message: clock at the send
  std::vector<SnapshotId>
      m_posted;  ///< by message: clock at the post of its receive, synchronous only
  std::vector<std::uint32_t> m_messageUses;   ///< by message: links that are still to use m_sent,
                                              ///< and its delivery
  std::vector<SnapshotId> m_delivered;        ///< by message: clock at the delivery
  std::vector<std::uint32_t> m_deliveryUses;  ///< by message: links and later deliveries to come
  std::vector<bool> m_isDelivered;            ///< by message
  // Of ranks with several threads: another one may wait for a delivery to a receive of this one.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>>
      m_posts;  ///< by place: messages that the receives posted there took
  std::vector<SnapshotId> m_receivePosted;  ///< by message: clock at the post
  std::vector<Place> m_missing;        ///< by rank: what a delivery that it waits for still needs
  std::vector<std::uint32_t> m_stack;  ///< of tryDeliver()
  std::map<std::pair<std::uint32_t, std::uint32_t>, SnapshotId>
      m_cancelled;  ///< by place: clock after a cancellation
  struct ThreadLeft {
    SnapshotId clock;
    std::uint32_t uses;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, ThreadLeft>
      m_threadLeft;                       ///< by place: clock that other threads go on from
  std::vector<SnapshotId> m_contributed;  ///< by member, in FromLower only
  std::vector<SnapshotId> m_joined;       ///< by instance: what its contributors knew, other flows
  std::vector<std::uint32_t> m_contributors;  ///< by instance: still to come
  std::vector<std::uint32_t> m_takers;        ///< by instance: still to come
};

}  // namespace pf
