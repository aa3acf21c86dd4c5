#include "online/streams.h"

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

ReceiveStreams::Lists& ReceiveStreams::listsOf(Stream& stream) {
  if (stream.list == 0) {
    m_lists.push(
        {new (std::nothrow) FlatArray<std::uint32_t>, new (std::nothrow) FlatArray<ClockRecord>});
    stream.list = m_lists.size();
  }
  return m_lists[stream.list - 1];
}

std::uint32_t ReceiveStreams::take(std::uint64_t stream, int from, std::uint32_t post,
                                   std::uint32_t earlier, std::uint32_t firstPending) {
  Stream& in = of(stream, from);
  const std::uint32_t before = in.taken++;
  if (firstPending > post && in.list == 0) [[likely]] {
    return before + 1;
  }
  FlatArray<std::uint32_t>& posts = *listsOf(in).posts;
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
  return earlier == kUndecided ? kUndecided : before + 1 + earlier - later;
}

std::uint32_t ReceiveStreams::nextOf(std::uint64_t stream, int from, std::uint32_t earlier) {
  return earlier == kUndecided ? kUndecided : of(stream, from).taken + earlier + 1;
}

ClockRecord ReceiveStreams::lastRead(Stream& stream, std::uint32_t number, bool forget) {
  FlatArray<ClockRecord>& records = *m_lists[stream.list - 1].records;
  std::uint32_t due = 0;
  while (due < records.size() && records[due].message <= number) {
    ++due;
  }
  const ClockRecord last = due == 0 ? stream.claimed : records[due - 1];
  if (forget && due != 0) {
    stream.claimed = last;
    records.eraseFront(due);
  }
  return last;
}

ClockRecord ReceiveStreams::claim(ClockBoard& board, std::uint64_t stream, int from,
                                  std::uint32_t number, std::uint32_t earlier) {
  Stream* wanted = &of(stream, from);
  if (number == kUndecided) {
    return wanted->claimed;
  }
  const bool inOrder = earlier == 0;  // none that is not yet observed comes before this one
  std::uint32_t read = wanted->claimed.message;
  for (const ClockRecord* record = board.next(from); record != nullptr && read != number;
       record = board.next(from)) {
    if (record->stream != stream) {
      listsOf(of(record->stream, from)).records->push(*record);
      wanted = &of(stream, from);  // the table may have grown
    } else if (record->message > number) {
      break;
    } else {
      read = record->message;
      if (inOrder && wanted->list == 0) {
        wanted->claimed = *record;
      } else {
        listsOf(*wanted).records->push(*record);
      }
    }
    board.drop(from);
  }
  return wanted->list == 0 ? wanted->claimed : lastRead(*wanted, number, inOrder);
}

}  // namespace pf::online
