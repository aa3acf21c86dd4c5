// SPDX-License-Identifier: MIT
// An execution as the views read it, value by value: all of it is in memory, or chunks of it are
// read when they are asked for. Values come as copies, as a chunk may be gone with the next call.
// QtCore only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

#include "views/trace/chunks/chunk_cache.h"

namespace pf::views {

/// What a page holds for a value of an execution, and the value.
template <typename T>
struct ChunkOf {
  using Stored = T;
  static const T& value(const T& stored) { return stored; }
};
template <>
struct ChunkOf<Event> {
  using Stored = TimedEvent;
  static const Event& value(const TimedEvent& stored) { return stored.event; }
};
template <>
struct ChunkOf<SentMessage> {
  using Stored = SentHere;
  static const SentMessage& value(const SentHere& stored) { return stored.send; }
};

template <>
struct ChunkOf<PostedReceive> {
  using Stored = ReceivedHere;
  static const PostedReceive& value(const ReceivedHere& stored) { return stored.receive; }
};

/// Goes through a sequence; holds on to the page that it is in.
template <typename S>
class SequenceIterator {
 public:
  using value_type = typename S::value_type;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;
  using pointer = void;
  using reference = value_type;

  SequenceIterator(const S& sequence, std::size_t at) : m_sequence(&sequence), m_at(at) {}
  value_type operator*() const { return m_sequence->at(m_at, m_page); }
  SequenceIterator& operator++() {
    ++m_at;
    return *this;
  }
  friend bool operator==(const SequenceIterator& a, const SequenceIterator& b) {
    return a.m_at == b.m_at;
  }

 private:
  const S* m_sequence;
  std::size_t m_at;
  mutable typename S::Page m_page;
};

/// The values of one stream of a rank.
template <typename T>
class Sequence {
 public:
  using value_type = T;
  using Stored = typename ChunkOf<T>::Stored;
  using Page = HeldChunk<Stored>;

  Sequence() = default;
  explicit Sequence(const std::vector<T>& kept) : m_kept(&kept), m_size(kept.size()) {}
  Sequence(const ChunkCache& pages, Rank rank)
      : m_pages(&pages), m_rank(rank), m_size(pages.count<Stored>(rank)) {}

  [[nodiscard]] std::size_t size() const { return m_size; }
  [[nodiscard]] bool empty() const { return m_size == 0; }
  /// A value without anything behind the end, or where a chunk cannot be read.
  [[nodiscard]] T operator[](std::size_t i) const {
    if (m_kept != nullptr) {
      return (*m_kept)[i];
    }
    return i < m_size ? ChunkOf<T>::value(m_pages->value<Stored>(m_rank, i)) : T{};
  }
  [[nodiscard]] T back() const { return (*this)[m_size - 1]; }
  /// The same for many values in a row: looks into `page` first.
  [[nodiscard]] T at(std::size_t i, Page& page) const {
    if (m_kept != nullptr) {
      return (*m_kept)[i];
    }
    const Stored* const stored = i < m_size ? m_pages->in(page, m_rank, i) : nullptr;
    return stored != nullptr ? ChunkOf<T>::value(*stored) : T{};
  }
  [[nodiscard]] SequenceIterator<Sequence> begin() const { return {*this, 0}; }
  [[nodiscard]] SequenceIterator<Sequence> end() const { return {*this, m_size}; }

 private:
  const std::vector<T>* m_kept = nullptr;
  const ChunkCache* m_pages = nullptr;
  Rank m_rank = 0;
  std::size_t m_size = 0;
};

/// The messages of all ranks, as Execution::messages numbers them.
class MessageSequence {
 public:
  using value_type = Message;
  using Page = HeldChunk<SentHere>;

  MessageSequence() = default;
  explicit MessageSequence(const std::vector<Message>& kept) : m_kept(&kept) {}
  explicit MessageSequence(const ChunkCache& pages) : m_pages(&pages) {}

  [[nodiscard]] std::size_t size() const {
    return m_kept != nullptr ? m_kept->size() : m_pages != nullptr ? m_pages->messageCount() : 0;
  }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] Message operator[](std::size_t m) const {
    Page page;
    return at(m, page);
  }
  [[nodiscard]] Message at(std::size_t m, Page& page) const;
  [[nodiscard]] SequenceIterator<MessageSequence> begin() const { return {*this, 0}; }
  [[nodiscard]] SequenceIterator<MessageSequence> end() const { return {*this, size()}; }

 private:
  const std::vector<Message>* m_kept = nullptr;
  const ChunkCache* m_pages = nullptr;
};

/// Times of a rank's events on one axis; they do not fall. Of one thread: it holds a page.
class EventSteps {
 public:
  EventSteps() = default;
  explicit EventSteps(std::span<const std::uint32_t> kept) : m_kept(kept), m_size(kept.size()) {}
  EventSteps(const ChunkCache& pages, Rank rank)
      : m_pages(&pages), m_rank(rank), m_size(pages.count<EventStep>(rank)) {}

  [[nodiscard]] std::size_t size() const { return m_size; }
  [[nodiscard]] bool empty() const { return m_size == 0; }
  [[nodiscard]] std::uint32_t operator[](std::size_t i) const;
  [[nodiscard]] std::uint32_t front() const;  ///< no chunk is read
  [[nodiscard]] std::uint32_t back() const;
  /// How many are less than `time`.
  [[nodiscard]] std::size_t before(double time) const { return below(time, false); }
  /// How many are not more than it.
  [[nodiscard]] std::size_t upTo(double time) const { return below(time, true); }
  /// About how many are in [from, to]; right where they are few. Reads a chunk only where they are.
  [[nodiscard]] std::size_t about(double from, double to, std::size_t few) const;

 private:
  [[nodiscard]] std::size_t below(double time, bool orEqual) const;

  std::span<const std::uint32_t> m_kept;
  const ChunkCache* m_pages = nullptr;
  Rank m_rank = 0;
  std::size_t m_size = 0;
  mutable HeldChunk<EventStep> m_page;
};

/// One rank of an ExecutionView; as RankHistory.
struct RankView {
  Sequence<Event> events;
  Sequence<PostedReceive> receives;
  Sequence<ProbeHit> probes;
  Sequence<SentMessage> sends;
  Sequence<CollectivePart> collectives;
  Sequence<EventTime> times;
};

/// As Execution. What it is made of must outlive it.
struct ExecutionView {
  explicit ExecutionView(const Execution& kept);
  /// The ranks from `pages`, all else from `rest`.
  ExecutionView(const ChunkCache& pages, const Execution& rest);

  std::vector<RankView> ranks;
  MessageSequence messages;
  const std::vector<Communicator>& communicators;
  const std::vector<CallSite>& sites;
  const std::vector<std::string>& callNames;
  TimeOrigin timeOrigin = TimeOrigin::None;
};

}  // namespace pf::views
