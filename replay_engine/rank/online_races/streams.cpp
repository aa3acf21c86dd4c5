// SPDX-License-Identifier: MIT
#include "replay_engine/rank/online_races/streams.h"

#include <new>

namespace pf::online {

PendingReceive* PendingReceives::find(std::uint32_t post) {
  std::uint32_t low = m_first;  // posts ascend
  std::uint32_t high = m_receives.size();
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (m_receives[middle].post < post) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const bool found =
      low < m_receives.size() && m_receives[low].post == post && m_receives[low].open;
  return found ? &m_receives[low] : nullptr;
}

void PendingReceives::remove(std::uint32_t post) {
  PendingReceive* found = find(post);
  if (found == nullptr) {
    return;
  }
  found->open = false;
  --m_open;
  m_wild -= found->source == kAny ? 1U : 0U;
  while (m_first < m_receives.size() && !m_receives[m_first].open) {
    ++m_first;
  }
  if (m_open == 0) {
    m_receives.resize(0);
    m_first = 0;
  } else if (m_first > 64 && m_first > m_receives.size() / 2) {
    m_receives.eraseFront(m_first);
    m_first = 0;
  }
}

bool AssignedReceives::take(void* handle, AssignedReceive* out) {
  if (m_count == 0) {
    return false;
  }
  std::uint32_t hole = slotOf(handle);
  if (m_slots[hole].handle == nullptr) {
    return false;
  }
  *out = m_slots[hole];
  // Backward-shift deletion keeps every probe sequence whole.
  const std::uint32_t mask = m_capacity - 1;
  for (std::uint32_t next = (hole + 1) & mask; m_slots[next].handle != nullptr;
       next = (next + 1) & mask) {
    if (((next - home(m_slots[next].handle)) & mask) >= ((next - hole) & mask)) {
      m_slots[hole] = m_slots[next];
      hole = next;
    }
  }
  m_slots[hole].handle = nullptr;
  --m_count;
  return true;
}

std::uint32_t AssignedReceives::first() const {
  std::uint32_t first = kUndecided;
  for (std::uint32_t i = 0; m_count != 0 && i < m_capacity; ++i) {
    if (m_slots[i].handle != nullptr && m_slots[i].post < first) {
      first = m_slots[i].post;
    }
  }
  return first;
}

void AssignedReceives::grow() {
  AssignedReceive* const old = m_slots;
  const std::uint32_t size = m_capacity;
  m_capacity = size == 0 ? 256 : size * 2;
  m_slots = static_cast<AssignedReceive*>(std::calloc(m_capacity, sizeof(AssignedReceive)));
  if (m_slots == nullptr) {
    std::abort();  // the program cannot go on without memory either
  }
  for (std::uint32_t i = 0; i < size; ++i) {
    if (old[i].handle != nullptr) {
      m_slots[slotOf(old[i].handle)] = old[i];
    }
  }
  std::free(old);
}

ReceiveStreams::~ReceiveStreams() {
  for (std::uint32_t i = 0; i < m_lists.size(); ++i) {
    const Lists& lists = m_lists[i];
    delete lists.posts;
    delete lists.ahead;
    delete lists.cancelled;
    delete lists.records;
  }
}

ReceiveStreams::Lists& ReceiveStreams::listsOf(std::uint32_t stream) {
  std::uint32_t& lists = m_streams[stream].lists;
  if (lists == 0) {
    m_lists.push(
        {new (std::nothrow) FlatArray<std::uint32_t>, new (std::nothrow) FlatArray<std::uint32_t>,
         new (std::nothrow) FlatArray<std::uint32_t>, new (std::nothrow) FlatArray<ClockRecord>});
    lists = m_lists.size();
  }
  return m_lists[lists - 1];
}

/// `number` has been observed, or was cancelled.
void ReceiveStreams::advance(std::uint32_t stream, std::uint32_t number) {
  Stream& in = m_streams[stream];
  if (number == in.through + 1) [[likely]] {
    ++in.through;
    if (in.lists == 0) [[likely]] {
      return;
    }
  } else {
    if (number <= in.through) {
      return;  // no longer waited for
    }
    listsOf(stream).ahead->push(number);
  }
  FlatArray<std::uint32_t>& ahead = *listsOf(stream).ahead;
  for (std::uint32_t i = 0; i < ahead.size();) {
    if (ahead[i] == in.through + 1) {
      ++in.through;
      ahead[i] = ahead[ahead.size() - 1];
      ahead.resize(ahead.size() - 1);
      i = 0;
    } else {
      ++i;
    }
  }
  if (ahead.size() > kMostOutOfOrder) {  // one will never be observed: no longer waited for
    for (std::uint32_t i = 0; i < ahead.size(); ++i) {
      in.through = ahead[i] > in.through ? ahead[i] : in.through;
    }
    ahead.resize(0);
    in.inexact = 0;
  }
}

bool ReceiveStreams::settle(std::uint32_t stream) {
  Stream& in = m_streams[stream];
  if (in.inexact == 0) [[likely]] {
    return true;
  }
  FlatArray<std::uint32_t>& ahead = *listsOf(stream).ahead;
  if (in.through + ahead.size() + in.inexact != in.issued) {
    return false;
  }
  in.through = in.issued;
  in.inexact = 0;
  ahead.resize(0);
  return true;
}

void ReceiveStreams::cancel(std::uint32_t stream, std::uint32_t number) {
  listsOf(stream).cancelled->push(number);
  advance(stream, number);
}

std::uint32_t ReceiveStreams::messageOf(std::uint32_t stream, std::uint32_t number) {
  const Stream& in = m_streams[stream];
  if (in.lists == 0) [[likely]] {
    return number;
  }
  const FlatArray<std::uint32_t>& cancelled = *m_lists[in.lists - 1].cancelled;
  std::uint32_t before = 0;
  for (std::uint32_t i = 0; i < cancelled.size(); ++i) {
    before += cancelled[i] < number ? 1U : 0U;
  }
  return number - before;
}

MessageNumber ReceiveStreams::take(std::uint32_t stream, std::uint32_t post, MessageNumber earlier,
                                   std::uint32_t firstPending) {
  Stream& in = m_streams[stream];
  const std::uint32_t before = in.issued++;
  if (firstPending > post && in.lists == 0) [[likely]] {
    return {before + 1, true};
  }
  FlatArray<std::uint32_t>& posts = *listsOf(stream).posts;
  std::uint32_t kept = 0;
  std::uint32_t later = 0;
  for (std::uint32_t i = 0; i < posts.size(); ++i) {
    later += posts[i] > post ? 1U : 0U;
    if (posts[i] > firstPending) {  // one posted before it may still turn out to be of this stream
      posts[kept++] = posts[i];
    }
  }
  posts.resize(kept);
  if (firstPending < post) {
    posts.push(post);
  }
  return {before + 1 + earlier.least - later, earlier.exact};
}

const ClockRecord& ReceiveStreams::lastRead(std::uint32_t stream, std::uint32_t message,
                                            bool forget) {
  Stream& in = m_streams[stream];
  FlatArray<ClockRecord>& records = *m_lists[in.lists - 1].records;
  std::uint32_t due = 0;
  while (due < records.size() && records[due].message <= message) {
    ++due;
  }
  m_last = due == 0 ? in.claimed : records[due - 1];
  if (due != 0 && (forget || records.size() > kMostOutOfOrder)) {
    in.claimed = m_last;
    records.eraseFront(due);
  }
  return m_last;
}

const ClockRecord& ReceiveStreams::claim(ClockBoard& board, std::uint32_t stream,
                                         std::uint32_t message, bool inOrder) {
  const std::uint64_t id = m_streams[stream].id;
  const int from = m_streams[stream].peer;
  std::uint32_t read = m_streams[stream].claimed.message;
  while (read != message) {  // no look at what comes after: its writer may be at it
    const ClockRecord* const record = board.next(from);
    if (record == nullptr || (record->stream == id && record->message > message)) {
      break;
    }
    if (record->stream != id) {
      listsOf(indexOf(record->stream, from)).records->push(*record);
    } else {
      read = record->message;
      if (inOrder && m_streams[stream].lists == 0) {
        m_streams[stream].claimed = *record;
      } else {
        listsOf(stream).records->push(*record);
      }
    }
    board.drop(from);
  }
  const ClockRecord& last =
      m_streams[stream].lists == 0 ? m_streams[stream].claimed : lastRead(stream, message, inOrder);
  return last.message <= message ? last : kNothing;  // more than its sender knew is unsound
}

// Who sends a later message of a stream knows no less: the record of the least number is sound.
const ClockRecord& ReceiveStreams::observe(ClockBoard& board, std::uint32_t stream,
                                           MessageNumber number, bool silent) {
  const ClockRecord& record = silent ? kNothing : see(board, stream, number);
  if (number.exact) {
    advance(stream, number.least);
  } else {
    listsOf(stream);
    ++m_streams[stream].inexact;
  }
  return record;
}

const ClockRecord& ReceiveStreams::see(ClockBoard& board, std::uint32_t stream,
                                       MessageNumber number) {
  const bool inOrder = number.exact && number.least == m_streams[stream].through + 1;
  return claim(board, stream, messageOf(stream, number.least), inOrder);
}

}  // namespace pf::online
