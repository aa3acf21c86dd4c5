// SPDX-License-Identifier: GPL-3.0-or-later
// Decodes the records of a rank's log, one after another.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "replay_engine/log/contents_stream.h"
#include "replay_engine/log/event_times.h"
#include "replay_engine/log/rank_log.h"
#include "replay_engine/log/record_reader.h"
#include "replay_engine/log/thread_links.h"

namespace pf {

class Decoder {
 public:
  /// `blocks`: all that will be read. `contents`: fills RankLog::sent, ::given, ::outgoing and ::outgoingGiven.
  Decoder(const LogHeader& header, const std::vector<std::span<const unsigned char>>& blocks,
          bool contents = false);

  /// Room for what the blocks hold, so that long logs are not copied as they grow.
  void reserve();
  /// Takes the next record. False: there is none, or one that is none.
  bool record(RecordReader& in);
  /// Why there is none.
  [[nodiscard]] const std::string& refusal() const { return m_refusal; }
  /// After the last one: what the header says about the end.
  void finish();
  RankLog log;
  bool sawEnd = false;

 private:
  void event(EventKind kind, std::uint32_t site, std::uint32_t comm = kNone, std::int32_t peer = -2,
             std::int32_t tag = -1);
  [[nodiscard]] Rank world(std::uint32_t comm, std::int32_t peer) const;
  std::uint32_t post(std::uint32_t comm, std::int32_t source, std::int32_t tag, bool forcible);
  void take(std::uint32_t post, std::int32_t source, std::int32_t tag, Serial at);
  void send(std::uint32_t comm, std::int32_t dest, std::int32_t tag, bool synchronous,
            bool completesHere);
  void sourceLine(RecordReader& in);
  void sendEvent(RecordReader& in, RecordKind kind);
  void receiveEvent(RecordReader& in);
  void sendReceiveEvent(RecordReader& in);
  void subPost(RecordReader& in);
  void subSend(RecordReader& in);
  void sentBytes(std::uint64_t bytes, std::uint32_t check);
  [[nodiscard]] std::uint32_t checkOfSent(std::uint32_t comm, std::int32_t dest,
                                          std::int32_t tag) const;
  void contentsRecord(RecordReader& in, RecordKind kind);
  void outgoingRecord(RecordReader& in, std::vector<unsigned char>& stream);
  void collectiveEvent(RecordReader& in, RecordKind kind);
  void choice(RecordReader& in);
  void unfinished(RecordReader& in);
  bool offered(RecordReader& in);
  void raceRecord(RecordReader& in, RecordKind kind);
  void tagRecord(RecordReader& in, RecordKind kind);
  bool wild(std::uint64_t number, std::int32_t source);
  bool refuse(const char* why);
  bool value(RecordReader& in, std::uint8_t kind);
  bool laneMade(RecordReader& in);
  void laneRun(RecordReader& in);
  bool ordered(RecordReader& in);
  std::vector<RecordedChoice>& choicesOf(std::uint32_t kind) {
    return m_lane == 0 ? log.choices[kind] : log.lanes[m_lane].choices[kind];
  }
  void begunEvent();
  void survivingStatuses(const BegunCall& begun);
  void matchedReceives();
  [[nodiscard]] std::uint32_t callOf(std::uint32_t site) const {
    return site < log.sites.size() ? log.sites[site].call : 0;
  }
  [[nodiscard]] Serial last() const { return log.history.events.size(); }

  const LogHeader& m_header;
  std::size_t m_bytes = 0;  // of all records: bounds the numbers that they may say
  std::string m_refusal = "record of unknown kind";
  std::uint8_t m_valueKind = kValuesJoin;   // of the last Value record
  std::uint64_t m_nextWild = 0;             // wildcard number that a kNextWild byte stands for
  std::vector<std::uint32_t> m_wildOfPost;  // wildcard number of each post, or kNone
  std::vector<std::uint32_t> m_ordinals;    // collectives so far, by communicator
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>
      m_starts;                       // of persistent collectives, by communicator and number
  std::vector<std::size_t> m_posted;  // index of each non-blocking collective
  std::uint32_t m_lane = 0;           // whose records these are
  ThreadLinks m_threads;
  EventTimes m_times;
  bool m_keepsContents;
  ContentsStream m_sent;
  ContentsStream m_given;
};

}  // namespace pf
