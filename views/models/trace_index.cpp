#include "views/trace_index.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace pf::views {

namespace {

constexpr std::size_t kBlock = 256;
const Event kNoEvent{};

std::size_t index(Rank rank) {
  return static_cast<std::size_t>(rank);
}

/// 0 … count - 1 by key, which is at most `last`; equal keys stay in their order.
template <typename Key>
std::vector<std::uint32_t> inOrderOf(std::size_t count, std::uint32_t last, Key&& key) {
  std::vector<std::uint32_t> order(count);
  if (last / 8 > count + 4096) {  // more keys than it is worth to count them
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    return order;
  }
  std::vector<std::uint32_t> next(std::size_t{last} + 2, 0);
  for (std::size_t i = 0; i < count; ++i) {
    ++next[std::size_t{key(i)} + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t i = 0; i < count; ++i) {
    order[next[key(i)]++] = static_cast<std::uint32_t>(i);
  }
  return order;
}

}  // namespace

std::span<const std::uint32_t> TraceIndex::Buckets::at(std::size_t id) const {
  const std::size_t block = id / kEvents;
  if (block + 1 >= first.size()) {
    return {};
  }
  const auto event = static_cast<std::uint8_t>(id % kEvents);
  std::uint32_t from = first[block];
  const std::uint32_t last = first[block + 1];
  while (from < last && within[from] < event) {
    ++from;
  }
  std::uint32_t to = from;
  while (to < last && within[to] == event) {
    ++to;
  }
  return std::span<const std::uint32_t>(items).subspan(from, to - from);
}

TraceIndex::TraceIndex(TraceDataPtr data)
    : m_data(std::move(data)), m_links(std::make_shared<Links>()) {
  m_base.reserve(rankCount());
  for (const RankHistory& history : execution().ranks) {
    m_base.push_back(m_total);
    m_total += history.events.size();
  }
  indexTimes();
  indexMessages();
  indexReceives();
  indexRaces();
  indexCollectives();
  indexWhatFlows();
}

Serial TraceIndex::lastSerial(Rank rank) const {
  return rank >= 0 && index(rank) < rankCount()
             ? Serial{execution().ranks[index(rank)].events.size()}
             : 0;
}

bool TraceIndex::contains(EventRef ref) const {
  return ref.serial != 0 && ref.serial <= lastSerial(ref.rank);
}

const Event& TraceIndex::event(EventRef ref) const {
  return contains(ref) ? execution().ranks[index(ref.rank)].events[ref.serial - 1] : kNoEvent;
}

std::size_t TraceIndex::id(EventRef ref) const {
  return contains(ref) ? m_base[index(ref.rank)] + (ref.serial - 1) : m_total;
}

TraceIndex::Buckets TraceIndex::bucket(Pairs pairs) const {
  std::erase_if(pairs, [this](const auto& pair) { return pair.first >= m_total; });
  Buckets out;
  out.first.assign(m_total / Buckets::kEvents + 2, 0);
  for (const auto& [event, item] : pairs) {
    ++out.first[event / Buckets::kEvents + 1];
  }
  std::partial_sum(out.first.begin(), out.first.end(), out.first.begin());
  out.items.resize(pairs.size());
  out.within.resize(pairs.size());
  std::vector<std::uint32_t> end(out.first.begin(), out.first.end() - 1);
  for (const auto& [event, item] : pairs) {  // in their order at each event
    const std::size_t block = event / Buckets::kEvents;
    const auto within = static_cast<std::uint8_t>(event % Buckets::kEvents);
    std::uint32_t at = end[block]++;
    for (; at > out.first[block] && out.within[at - 1] > within; --at) {
      out.items[at] = out.items[at - 1];
      out.within[at] = out.within[at - 1];
    }
    out.items[at] = item;
    out.within[at] = within;
  }
  return out;
}

void TraceIndex::indexWhatFlows() {
  m_links->takes.assign(m_total, false);
  m_links->gives.assign(m_total, false);
  const auto mark = [](const Buckets& buckets, std::vector<bool>& marks) {
    std::size_t block = 0;
    for (std::size_t i = 0; i < buckets.items.size(); ++i) {
      while (buckets.first[block + 1] <= i) {
        ++block;
      }
      marks[block * Buckets::kEvents + buckets.within[i]] = true;
    }
  };
  for (const Buckets* each : {&m_links->completed, &m_links->syncDone, &m_links->collectivesDone}) {
    mark(*each, m_links->takes);
  }
  for (const Buckets* each : {&m_links->sent, &m_links->posted, &m_links->groupAt}) {
    mark(*each, m_links->gives);
  }
}

// Times that are missing or do not grow along a rank are replaced by serials, so that searches stay
// valid.
void TraceIndex::indexTimes() {
  bool good = data().logicalTimes.size() == rankCount();
  for (std::size_t r = 0; good && r < rankCount(); ++r) {
    const auto& times = data().logicalTimes[r];
    good = times.size() == execution().ranks[r].events.size() &&
           std::is_sorted(times.begin(), times.end());
  }
  if (!good) {
    m_links->fallbackTimes.resize(rankCount());
    for (std::size_t r = 0; r < rankCount(); ++r) {
      for (std::size_t s = 0; s < execution().ranks[r].events.size(); ++s) {
        m_links->fallbackTimes[r].push_back(static_cast<std::uint32_t>(s + 1));
      }
    }
  }
  m_lastTime = hasEvents() ? 1 : data().outline->lastTime;
  for (std::size_t r = 0; r < rankCount(); ++r) {
    const auto t = times(static_cast<Rank>(r));
    m_lastTime = std::max(m_lastTime, t.empty() ? 1U : t.back());
  }
}

std::span<const std::uint32_t> TraceIndex::times(Rank rank) const {
  if (rank < 0 || index(rank) >= rankCount()) {
    return {};
  }
  if (m_axis == TimeAxis::Physical) {
    return m_physicalTimes[index(rank)];
  }
  return m_links->fallbackTimes.empty() ? std::span(data().logicalTimes[index(rank)])
                                        : std::span(m_links->fallbackTimes[index(rank)]);
}

std::uint32_t TraceIndex::time(EventRef ref) const {
  return contains(ref) ? times(ref.rank)[ref.serial - 1] : 0;
}

std::pair<Serial, Serial> TraceIndex::serialsIn(Rank rank, double from, double to) const {
  const auto t = times(rank);
  const auto lower = std::lower_bound(t.begin(), t.end(), from, [](std::uint32_t a, double b) {
    return double{static_cast<double>(a)} < b;
  });
  const auto upper = std::upper_bound(
      lower, t.end(), to, [](double a, std::uint32_t b) { return a < static_cast<double>(b); });
  return {static_cast<Serial>(lower - t.begin()) + 1, static_cast<Serial>(upper - t.begin()) + 1};
}

EventRef TraceIndex::nearest(Rank rank, std::uint32_t time) const {
  const auto t = times(rank);
  if (t.empty()) {
    return {};
  }
  auto it = std::lower_bound(t.begin(), t.end(), time);
  if (it == t.end() || (it != t.begin() && time - *(it - 1) < *it - time)) {
    --it;
  }
  return {rank, static_cast<Serial>(it - t.begin()) + 1};
}

EventRef TraceIndex::arrival(const Message& message) const {
  if (message.completion != 0) {
    return {message.dest, message.completion};
  }
  if (message.post == kNone || message.dest < 0 || index(message.dest) >= rankCount()) {
    return {};
  }
  const auto& receives = execution().ranks[index(message.dest)].receives;
  return message.post < receives.size() ? EventRef{message.dest, receives[message.post].post}
                                        : EventRef{};
}

void TraceIndex::indexMessages() {
  const auto& messages = execution().messages;
  Pairs sent;
  sent.reserve(messages.size());
  for (std::size_t m = 0; m < messages.size(); ++m) {
    sent.emplace_back(shortId(messages[m].send), static_cast<std::uint32_t>(m));
  }
  m_links->sent = bucket(std::move(sent));
  Pairs synced;
  for (std::size_t m = 0; m < messages.size(); ++m) {
    const EventRef from = messages[m].send;
    if (contains(from) &&
        messages[m].sendIndex < execution().ranks[index(from.rank)].sends.size()) {
      const SentMessage& send = execution().ranks[index(from.rank)].sends[messages[m].sendIndex];
      synced.emplace_back(shortId({from.rank, send.syncCompletion}), static_cast<std::uint32_t>(m));
    }
  }
  m_links->syncDone = bucket(std::move(synced));
  orderMessages();
}

void TraceIndex::orderMessages() {
  const auto& messages = execution().messages;
  m_bySendTime =
      inOrderOf(messages.size(), m_lastTime, [&](std::size_t m) { return departure(messages[m]); });
  m_blockEnd.clear();
  for (std::size_t i = 0; i < m_bySendTime.size(); ++i) {
    if (i % kBlock == 0) {
      m_blockEnd.push_back(0);
    }
    const Message& message = messages[m_bySendTime[i]];
    const std::uint32_t end = std::max(time(arrival(message)), departure(message) + 1);
    m_blockEnd.back() = std::max(m_blockEnd.back(), end);
  }
}

void TraceIndex::orderRaces() {
  const auto key = [this](EventRef r) { return std::tuple(time(r), r.rank, r.serial); };
  std::sort(m_racing.begin(), m_racing.end(),
            [&](EventRef a, EventRef b) { return key(a) < key(b); });
  m_racing.erase(std::unique(m_racing.begin(), m_racing.end()), m_racing.end());
}

void TraceIndex::forMessagesIn(double from, double to,
                               const std::function<void(std::uint32_t)>& visit) const {
  const auto& messages = execution().messages;
  for (std::size_t block = 0; block < m_blockEnd.size(); ++block) {
    const std::size_t begin = block * kBlock;
    if (static_cast<double>(departure(messages[m_bySendTime[begin]])) > to) {
      return;
    }
    if (static_cast<double>(m_blockEnd[block]) < from) {
      continue;
    }
    const std::size_t end = std::min(begin + kBlock, m_bySendTime.size());
    for (std::size_t i = begin; i < end; ++i) {
      const Message& message = messages[m_bySendTime[i]];
      const std::uint32_t sent = departure(message);
      const std::uint32_t done = std::max(time(arrival(message)), sent + 1);
      if (static_cast<double>(sent) <= to && static_cast<double>(done) >= from) {
        visit(m_bySendTime[i]);
      }
    }
  }
}

void TraceIndex::indexReceives() {
  Pairs posted;
  Pairs completed;
  Pairs probes;
  for (std::size_t r = 0; r < rankCount(); ++r) {
    const RankHistory& history = execution().ranks[r];
    const Rank rank = static_cast<Rank>(r);
    for (std::size_t i = 0; i < history.receives.size(); ++i) {
      posted.emplace_back(shortId({rank, history.receives[i].post}), static_cast<std::uint32_t>(i));
      completed.emplace_back(shortId({rank, history.receives[i].completion}),
                             static_cast<std::uint32_t>(i));
    }
    for (std::size_t i = 0; i < history.probes.size(); ++i) {
      probes.emplace_back(shortId({rank, history.probes[i].event}), static_cast<std::uint32_t>(i));
    }
  }
  m_links->posted = bucket(std::move(posted));
  m_links->completed = bucket(std::move(completed));
  m_links->probes = bucket(std::move(probes));
}

EventRef TraceIndex::raceEvent(std::size_t race) const {
  const Race& r = data().races[race];
  if (r.rank < 0 || index(r.rank) >= rankCount()) {
    return {};
  }
  const RankHistory& history = execution().ranks[index(r.rank)];
  if (r.probe) {
    return r.index < history.probes.size() ? EventRef{r.rank, history.probes[r.index].event}
                                           : EventRef{};
  }
  return r.index < history.receives.size() ? EventRef{r.rank, history.receives[r.index].post}
                                           : EventRef{};
}

EventRef TraceIndex::raceCompletion(std::size_t race) const {
  const Race& r = data().races[race];
  const EventRef chosen = raceEvent(race);
  if (r.probe || !chosen.valid()) {
    return chosen;
  }
  const Serial done = execution().ranks[index(r.rank)].receives[r.index].completion;
  return done != 0 ? EventRef{r.rank, done} : chosen;
}

void TraceIndex::indexRaces() {
  Pairs races;
  m_links->takenInRace.assign(execution().messages.size(), false);
  for (std::size_t i = 0; i < data().races.size(); ++i) {
    const EventRef chosen = raceEvent(i);
    const EventRef done = raceCompletion(i);
    races.emplace_back(shortId(chosen), static_cast<std::uint32_t>(i));
    if (!(done == chosen)) {
      races.emplace_back(shortId(done), static_cast<std::uint32_t>(i));
    }
    if (contains(chosen)) {
      m_racing.push_back(chosen);
    }
    if (data().races[i].taken < m_links->takenInRace.size()) {
      m_links->takenInRace[data().races[i].taken] = true;
    }
  }
  m_links->races = bucket(std::move(races));
  orderRaces();
}

void TraceIndex::indexCollectives() {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<EventRef>> groups;
  Pairs done;
  for (std::size_t r = 0; r < rankCount(); ++r) {
    const auto& parts = execution().ranks[r].collectives;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const CollectivePart& part = parts[i];
      const EventRef ref{static_cast<Rank>(r), part.event};
      done.emplace_back(shortId({static_cast<Rank>(r), part.completion}),
                        static_cast<std::uint32_t>(i));
      if (contains(ref)) {
        groups[{part.comm, part.ordinal}].push_back(ref);
      }
    }
  }
  m_links->collectivesDone = bucket(std::move(done));
  Pairs grouped;
  for (auto& [key, parts] : groups) {
    CollectiveGroup group{key.first, key.second, m_lastTime, 0, std::move(parts)};
    for (const EventRef part : group.parts) {
      group.firstTime = std::min(group.firstTime, time(part));
      group.lastTime = std::max(group.lastTime, time(part));
      grouped.emplace_back(shortId(part), static_cast<std::uint32_t>(m_groups.size()));
    }
    m_groups.push_back(std::move(group));
  }
  m_links->groupAt = bucket(std::move(grouped));
}

std::uint32_t TraceIndex::collectiveAt(EventRef ref) const {
  const auto group = m_links->groupAt.at(id(ref));
  return contains(ref) && !group.empty() ? group.front() : kNone;
}

std::span<const std::uint32_t> TraceIndex::sentAt(EventRef ref) const {
  return m_links->sent.at(id(ref));
}
std::span<const std::uint32_t> TraceIndex::postedAt(EventRef ref) const {
  return m_links->posted.at(id(ref));
}
std::span<const std::uint32_t> TraceIndex::completedAt(EventRef ref) const {
  return m_links->completed.at(id(ref));
}
std::span<const std::uint32_t> TraceIndex::synchronousDoneAt(EventRef ref) const {
  return contains(ref) ? m_links->syncDone.at(id(ref)) : std::span<const std::uint32_t>{};
}

std::span<const std::uint32_t> TraceIndex::collectivesDoneAt(EventRef ref) const {
  return contains(ref) ? m_links->collectivesDone.at(id(ref)) : std::span<const std::uint32_t>{};
}

std::span<const std::uint32_t> TraceIndex::probesAt(EventRef ref) const {
  return m_links->probes.at(id(ref));
}
std::span<const std::uint32_t> TraceIndex::racesAt(EventRef ref) const {
  return m_links->races.at(id(ref));
}

bool TraceIndex::isWildcard(EventRef ref) const {
  for (const std::uint32_t r : postedAt(ref)) {
    if (execution().ranks[index(ref.rank)].receives[r].wantedSource == kAnySource) {
      return true;
    }
  }
  for (const std::uint32_t p : probesAt(ref)) {
    if (execution().ranks[index(ref.rank)].probes[p].wantedSource == kAnySource) {
      return true;
    }
  }
  return false;
}

bool TraceIndex::takenInRace(std::uint32_t message) const {
  return message < m_links->takenInRace.size() && m_links->takenInRace[message];
}

std::uint32_t TraceIndex::messageCount() const {
  return static_cast<std::uint32_t>(execution().messages.size());
}

TraceIndexPtr makeIndex(TraceDataPtr data) {
  return data ? std::make_shared<const TraceIndex>(std::move(data)) : nullptr;
}

}  // namespace pf::views
