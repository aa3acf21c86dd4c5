// SPDX-License-Identifier: GPL-3.0-or-later
// Which event of a recorded execution waits for which, checked once: every link here joins events
// that exist, whatever a damaged record says. Private to the analysis; needs matchMessages() first.
//
// An event has two moments, its entry and its exit. What it sends, posts and contributes leaves at
// entry; what it waits for (its incoming links) holds back its exit only. So two ranks that
// exchange messages by MPI_Sendrecv, or meet in a collective, are not a cycle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay_engine/base/large_vector.h"
#include "replay_engine/execution/execution.h"

namespace pf {

enum class LinkKind : std::uint8_t {
  Message,      ///< send -> completion of its receive, or probe that saw it; index of the message
  Delivery,     ///< delivery of a message -> what proves it, see delivery_order.h; its index
  Synchronous,  ///< post of the receive -> completion of its synchronous send; index of the message
  Collective,   ///< the parts that a part takes from -> its completion; index of the member
};

struct Link {
  Link() = default;
  Link(LinkKind of, std::uint32_t number) : kind(of), index(number) {}

  LinkKind kind = LinkKind::Message;
  bool leaves = false;  ///< at the entry of the event that has it; else its exit waits for it
  std::uint32_t index = 0;
};

/// An event, in the form that arrays are indexed by. `serial` counts from 1.
struct Place {
  std::uint32_t rank = 0;
  std::uint32_t serial = 0;
};

/// A rank's part in a collective, with the flow already applied: `contributes` and `takes` say what
/// really leaves and reaches this rank.
struct CollectiveMember {
  Place entry;
  std::uint32_t completion = 0;  ///< serial, 0 = never observed
  std::uint32_t instance = 0;
  bool contributes = false;
  bool takes = false;
};

/// One collective operation: members [begin, end), in the order of the group when flow is
/// FromLower.
struct CollectiveInstance {
  CollectiveFlow flow = CollectiveFlow::None;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t contributors = 0;
  std::uint32_t takers = 0;
};

/// Links of one rank's events while they are gathered. To be used for one rank after another: of
/// all at once they would take more room than the graph.
class LinkList {
 public:
  struct Entry {
    std::uint32_t serial;
    Link link;
  };
  void addLeaving(std::uint32_t serial, Link link) {
    link.leaves = true;
    m_leaving.push_back({serial, link});
  }
  void addAwaited(std::uint32_t serial, Link link) { m_awaited.push_back({serial, link}); }
  void clear() {
    m_leaving.clear();
    m_awaited.clear();
  }
  [[nodiscard]] const std::vector<Entry>& leaving() const { return m_leaving; }
  [[nodiscard]] const std::vector<Entry>& awaited() const { return m_awaited; }

 private:
  std::vector<Entry> m_leaving;
  std::vector<Entry> m_awaited;
};

/// Links of every event, by event (compressed rows), what leaves before what is waited for: who
/// looks at the one looks at the other soon.
class LinkTable {
 public:
  LinkTable() = default;
  /// All that is in the lists.
  LinkTable(std::size_t events, const LinkList& own, const LinkList& others);
  [[nodiscard]] std::span<const Link> leaving(std::uint32_t serial) const {
    return {begin(serial), endOfLeaving(serial)};
  }
  [[nodiscard]] std::span<const Link> awaited(std::uint32_t serial) const {
    return {endOfLeaving(serial), begin(serial + 1)};
  }
  [[nodiscard]] std::span<const Link> all() const { return m_links; }

 private:
  [[nodiscard]] const Link* begin(std::uint32_t serial) const {
    return m_links.data() + m_first[serial - 1];
  }
  [[nodiscard]] const Link* endOfLeaving(std::uint32_t serial) const {
    return std::find_if_not(begin(serial), begin(serial + 1),
                            [](const Link& link) { return link.leaves; });
  }

  std::vector<std::uint32_t> m_first;
  std::vector<Link> m_links;
};

class DeliveryOrder;

/// Who looks only backward has no use for what leaves at entries.
enum class LinkSides : std::uint8_t { Both, Incoming };

class EventGraph {
 public:
  /// With a delivery order, deliveries are nodes: links of kind Delivery take the place of those of
  /// kind Message that lead to completions, and are added where the order says so.
  explicit EventGraph(const Execution& execution, const DeliveryOrder* order = nullptr,
                      LinkSides sides = LinkSides::Both);

  [[nodiscard]] std::uint32_t rankCount() const {
    return static_cast<std::uint32_t>(m_events.size());
  }
  [[nodiscard]] std::uint32_t eventCount(std::uint32_t rank) const { return m_events[rank]; }
  /// What the exit of this event waits for.
  [[nodiscard]] std::span<const Link> incoming(Place place) const {
    return m_links[place.rank].awaited(place.serial);
  }
  /// What leaves at the entry of this event. Not with LinkSides::Incoming.
  [[nodiscard]] std::span<const Link> outgoing(Place place) const {
    return m_links[place.rank].leaving(place.serial);
  }
  /// The event that a Message or Synchronous link comes from; the send, for a Delivery link.
  [[nodiscard]] Place origin(Link link) const;
  /// A blocking synchronous send taken by a blocking receive: each waits for the other's entry.
  [[nodiscard]] bool isRendezvous(Link link) const;

  [[nodiscard]] const std::vector<CollectiveMember>& members() const { return m_members; }
  [[nodiscard]] const std::vector<CollectiveInstance>& instances() const { return m_instances; }
  /// The members that `member` takes from lie in [begin of its instance, this) and contribute.
  [[nodiscard]] std::uint32_t sourcesEnd(std::uint32_t member) const;
  /// In how many links of this kind, Message or Delivery, each message is waited for.
  [[nodiscard]] std::vector<std::uint32_t> uses(LinkKind kind) const;
  [[nodiscard]] std::size_t messageCount() const { return m_execution.messages.size(); }

 private:
  /// Of a rank, while the graph is made.
  struct Making {
    std::uint32_t firstMessage = kNone;  ///< that it sent
    std::uint32_t endOfMessages = 0;
    LinkList others;  ///< links that are found when another rank is looked at
  };
  void addMessages(std::vector<Making>& ranks);
  void addSynchronous(std::uint32_t message, std::vector<Making>& ranks);
  void addCollectives(std::vector<Making>& ranks);
  void addOwn(std::uint32_t rank, const Making& making, LinkList& links) const;
  void addLeaving(Serial serial, Link link, LinkList& links) const;
  [[nodiscard]] bool exists(Rank rank, Serial serial) const;
  [[nodiscard]] bool validMessage(std::uint32_t index) const {
    return index < m_execution.messages.size() && (m_allSent || isSent(index));
  }
  [[nodiscard]] bool isSent(std::uint32_t message) const;

  const Execution& m_execution;
  const DeliveryOrder* m_order;
  const LinkSides m_sides;
  bool m_allSent = false;  ///< known of all: receives then need not look at their messages, which
                           ///< are all over the memory
  std::vector<std::uint32_t> m_events;
  std::vector<LinkTable> m_links;  ///< by rank
  std::vector<CollectiveMember> m_members;
  std::vector<CollectiveInstance> m_instances;
};

}  // namespace pf
