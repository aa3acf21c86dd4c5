// SPDX-License-Identifier: GPL-3.0-or-later
// An execution that is in memory, in chunks of a size of one's own.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "replay_engine/races/race_classes.h"
#include "views/trace/chunks/chunk_cache.h"
#include "views/trace/trace_index.h"

namespace pf::views::test {

class KeptChunks : public ExecutionChunks {
 public:
  KeptChunks(std::shared_ptr<const TraceData> data, unsigned shift)
      : m_data(std::move(data)), m_shift(shift) {
    for (auto& stream : m_infos) {
      stream.resize(m_data->execution.ranks.size());
    }
    std::size_t m = 0;
    for (std::size_t r = 0; r < m_data->execution.ranks.size(); ++r) {
      const RankHistory& history = m_data->execution.ranks[r];
      std::vector<TimedEvent> events;
      for (std::size_t i = 0; i < history.events.size(); ++i) {
        events.push_back({history.events[i], m_data->logicalTimes[r][i]});
      }
      std::vector<SentHere> sends;
      for (const SentMessage& send : history.sends) {
        sends.push_back(sentHere(send, m_data->execution.messages[m++]));
      }
      add(r, events, [](const TimedEvent&) { return std::pair(Serial{0}, Serial{0}); });
      std::vector<ReceivedHere> receives;
      for (const PostedReceive& receive : history.receives) {
        receives.push_back(receivedHere(receive));
      }
      add(r, receives,
          [](const ReceivedHere& v) { return std::pair(v.receive.post, v.receive.completion); });
      add(r, history.probes, [](const ProbeHit& v) { return std::pair(v.event, Serial{0}); });
      add(r, sends,
          [](const SentHere& v) { return std::pair(v.send.event, v.send.syncCompletion); });
      add(r, history.collectives,
          [](const CollectivePart& v) { return std::pair(v.event, v.completion); });
      m_events.push_back(std::move(events));
      m_sends.push_back(std::move(sends));
      m_receives.push_back(std::move(receives));
    }
  }

  /// Of messages in smaller chunks than the others.
  [[nodiscard]] unsigned shift(ChunkStream stream) const override {
    const bool small = stream == ChunkStream::Send || stream == ChunkStream::Receive;
    return small && m_shift > 0 ? m_shift - 1 : m_shift;
  }
  [[nodiscard]] std::span<const ChunkInfo> chunks(Rank rank, ChunkStream stream) const override {
    return m_infos[static_cast<std::size_t>(stream)][static_cast<std::size_t>(rank)];
  }
  bool read(Rank rank, std::size_t n, std::vector<TimedEvent>& values) const override {
    return copy(m_events[static_cast<std::size_t>(rank)], n, values);
  }
  bool read(Rank rank, std::size_t n, std::vector<ReceivedHere>& values) const override {
    return copy(m_receives[static_cast<std::size_t>(rank)], n, values);
  }
  bool read(Rank rank, std::size_t n, std::vector<EventStep>& values) const override {
    return inPart(
        rank, n, values, +[](const TimedEvent& v) { return EventStep{v.step}; });
  }
  bool read(Rank rank, std::size_t n, std::vector<SendEnds>& values) const override {
    return inPart(
        rank, n, values, +[](const SentHere& v) {
          return SendEnds{v.send.event, v.send.syncCompletion, v.completion, v.send.dest,
                          v.arrival};
        });
  }
  bool read(Rank rank, std::size_t n, std::vector<ReceiveEnds>& values) const override {
    return inPart(
        rank, n, values, +[](const ReceivedHere& v) {
          return ReceiveEnds{v.receive.post, v.receive.completion, v.sent,
                             v.senderDone,   v.receive.source,     v.receive.message};
        });
  }
  bool read(Rank rank, std::size_t n, std::vector<ProbeHit>& values) const override {
    return copy(history(rank).probes, n, values);
  }
  bool read(Rank rank, std::size_t n, std::vector<SentHere>& values) const override {
    return copy(m_sends[static_cast<std::size_t>(rank)], n, values);
  }
  bool read(Rank rank, std::size_t n, std::vector<CollectivePart>& values) const override {
    return copy(history(rank).collectives, n, values);
  }
  bool read(Rank rank, std::size_t n, std::vector<EventTime>& values) const override {
    return copy(history(rank).times, n, values);
  }
  mutable bool broken = false;  ///< no chunk can be read
  mutable std::atomic<int> reads = 0;

 private:
  [[nodiscard]] const RankHistory& history(Rank rank) const {
    return m_data->execution.ranks[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::uint32_t step(std::size_t rank, Serial serial) const {
    return m_data->logicalTimes[rank][serial - 1];
  }
  [[nodiscard]] SentHere sentHere(const SentMessage& send, const Message& message) const {
    SentHere out{send, message.post, message.completion, kNone};
    const auto dest = static_cast<std::size_t>(message.dest);
    if (message.completion != 0) {
      out.arrival = step(dest, message.completion);
    } else if (message.post != kNone) {
      out.arrival = step(dest, m_data->execution.ranks[dest].receives[message.post].post);
    }
    return out;
  }
  /// Of some messages it is not known where they were sent.
  [[nodiscard]] ReceivedHere receivedHere(const PostedReceive& receive) const {
    ReceivedHere out{receive, 0, 0};
    if (receive.message != kNone && receive.message % 7 != 6) {
      const Message& message = m_data->execution.messages[receive.message];
      out.sent = message.send.rank == receive.source ? Serial{message.send.serial} : 0;
      out.senderDone =
          out.sent == 0 ? 0 : history(message.send.rank).sends[message.sendIndex].syncCompletion;
    }
    return out;
  }
  template <typename Whole, typename Part>
  bool inPart(Rank rank, std::size_t n, std::vector<Part>& values,
              Part (*partOf)(const Whole&)) const {
    std::vector<Whole> whole;
    const bool good = read(rank, n, whole);
    for (const Whole& each : whole) {
      values.push_back(partOf(each));
    }
    return good;
  }
  static std::uint32_t lastStep(const SentHere& value, std::uint32_t at) {
    return value.arrival == kNone ? at : std::max(at, value.arrival);
  }
  template <typename T>
  static std::uint32_t lastStep(const T& /*value*/, std::uint32_t at) {
    return at;
  }
  template <typename T, typename Serials>
  void add(std::size_t rank, const std::vector<T>& values, Serials&& serials) {
    std::vector<ChunkInfo>& infos = m_infos[static_cast<std::size_t>(kStreamOf<T>)][rank];
    for (std::size_t i = 0; i < values.size(); ++i) {
      auto [serial, done] = serials(values[i]);
      serial = kStreamOf<T> == ChunkStream::Event ? i + 1 : serial;
      const std::uint32_t at = step(rank, serial);
      if (i % (std::size_t{1} << shift(kStreamOf<T>)) == 0) {
        infos.push_back({0, serial, serial, at, lastStep(values[i], at), done, done});
      }
      ChunkInfo& info = infos.back();
      ++info.values;
      info.firstSerial = std::min(info.firstSerial, serial);
      info.lastSerial = std::max(info.lastSerial, serial);
      info.firstStep = std::min(info.firstStep, at);
      info.lastStep = std::max(info.lastStep, lastStep(values[i], at));
      info.firstCompletion = info.firstCompletion == 0 ? done
                             : done == 0               ? info.firstCompletion
                                                       : std::min(info.firstCompletion, done);
      info.lastCompletion = std::max(info.lastCompletion, done);
    }
  }
  template <typename T>
  bool copy(const std::vector<T>& all, std::size_t n, std::vector<T>& values) const {
    const std::size_t first = n << shift(kStreamOf<T>);
    const std::size_t last = std::min(all.size(), first + (std::size_t{1} << shift(kStreamOf<T>)));
    values.assign(all.begin() + static_cast<std::ptrdiff_t>(first),
                  all.begin() + static_cast<std::ptrdiff_t>(last));
    ++reads;
    return !broken;
  }

  std::shared_ptr<const TraceData> m_data;
  unsigned m_shift;
  std::array<std::vector<std::vector<ChunkInfo>>, kChunkStreams> m_infos;
  std::vector<std::vector<TimedEvent>> m_events;
  std::vector<std::vector<SentHere>> m_sends;
  std::vector<std::vector<ReceivedHere>> m_receives;
};

/// The same trace in chunks.
inline std::shared_ptr<TraceData> inChunks(const TraceDataPtr& whole, unsigned shift) {
  auto data = std::make_shared<TraceData>(*whole);
  data->chunks = std::make_shared<const KeptChunks>(whole, shift);
  for (RankHistory& rank : data->execution.ranks) {
    rank = {};
  }
  data->execution.messages.clear();
  data->logicalTimes.clear();
  const TraceIndexPtr index = makeIndex(whole);
  const std::vector<Race> races = whole->races.list();
  const std::vector<std::uint32_t> classes = classesOfRaces(whole->execution, races);
  data->races = RaceTable();
  for (std::size_t i = 0; i < races.size(); ++i) {
    const EventRef chosen = index->races().eventOf(i);
    const EventRef observed = index->races().completionOf(i);
    RaceFacts facts;
    facts.rank = races[i].rank;
    facts.probe = races[i].probe;
    facts.index = races[i].index;
    facts.taken = races[i].taken;
    facts.alternatives = races[i].alternatives;
    facts.place = {chosen.serial, observed.serial, index->time(chosen), index->time(observed)};
    facts.message = index->races().takenIn(i).value_or(TakenMessage());
    facts.raceClass = classes[i];
    data->races.add(facts);
  }
  data->whole = [whole] { return whole; };
  return data;
}

}  // namespace pf::views::test
