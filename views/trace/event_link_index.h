// SPDX-License-Identifier: MIT
// What of an execution belongs to an event: messages, receives, probes and collectives that begin
// or end there. Without time, so that the axes share it. QtCore only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "views/trace/trace_events.h"

namespace pf::views {

/// Items of an event. They stay while this does.
class LinkedItems {
 public:
  LinkedItems() = default;
  LinkedItems(std::shared_ptr<const EventLinks> keep, std::span<const std::uint32_t> items)
      : m_keep(std::move(keep)), m_items(items) {}
  [[nodiscard]] auto begin() const { return m_items.begin(); }
  [[nodiscard]] auto end() const { return m_items.end(); }
  [[nodiscard]] bool empty() const { return m_items.empty(); }
  [[nodiscard]] std::size_t size() const { return m_items.size(); }
  [[nodiscard]] std::uint32_t front() const { return m_items.front(); }
  [[nodiscard]] std::uint32_t operator[](std::size_t i) const { return m_items[i]; }
  /// The first ones of them.
  [[nodiscard]] LinkedItems first(std::size_t n) const { return {m_keep, m_items.first(n)}; }

 private:
  std::shared_ptr<const EventLinks> m_keep;
  std::span<const std::uint32_t> m_items;
};

class EventLinkIndex {
 public:
  explicit EventLinkIndex(const TraceEvents& events);
  ~EventLinkIndex() = default;
  EventLinkIndex(const EventLinkIndex&) = delete;
  EventLinkIndex& operator=(const EventLinkIndex&) = delete;

  [[nodiscard]] LinkedItems sentAt(EventRef ref) const;       ///< messages that leave here
  [[nodiscard]] LinkedItems postedAt(EventRef ref) const;     ///< receives posted here
  [[nodiscard]] LinkedItems completedAt(EventRef ref) const;  ///< receives completed here
  [[nodiscard]] LinkedItems probesAt(EventRef ref) const;     ///< probe hits of this event
  [[nodiscard]] LinkedItems synchronousDoneAt(
      EventRef ref) const;  ///< messages sent synchronously, known here to have been matched
  [[nodiscard]] LinkedItems collectivesDoneAt(
      EventRef ref) const;  ///< collective parts of its rank that end here
  [[nodiscard]] bool isWildcard(EventRef ref) const;  ///< posts, or probes for, any source

  // Of events that are in memory, by their id:
  /// Something comes in from other ranks.
  [[nodiscard]] bool takes(std::size_t event) const { return m_links.takes[event]; }
  /// Something may go out, but by a collective.
  [[nodiscard]] bool gives(std::size_t event) const { return m_links.gives[event]; }
  /// With chunks: a message was sent synchronously, and known to be matched.
  [[nodiscard]] bool hasSynchronous() const { return m_synchronous; }

 private:
  void indexMessages();
  void indexReceives();
  void indexCollectives();
  void lookForSynchronous();
  [[nodiscard]] LinkedItems items(EventRef ref, const EventItems EventLinks::*which) const;

  const TraceEvents& m_events;
  EventLinks m_links;  ///< of all events; empty where chunks are read when they are asked for
  bool m_synchronous = false;
};

}  // namespace pf::views
