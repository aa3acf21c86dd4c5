// SPDX-License-Identifier: GPL-3.0-or-later
// Records of what was chosen, by MPI, the system and the order of threads, of what raced, and of what messages hold.
#include "mpi_calls.h"

#include <algorithm>

#include "replay_engine/log/decoder.h"
#include "replay_engine/log/varint.h"

namespace pf {

void Decoder::choice(RecordReader& in) {
  const auto [kind, failedPolls] = fieldsOf<RecordKind::Choice>(in);
  RecordedChoice recorded;
  recorded.failedPolls = failedPolls;
  if (kind >= kChoiceKinds) {
    return;
  }
  switch (static_cast<ChoiceKind>(kind)) {
    case ChoiceKind::Testany:
    case ChoiceKind::Waitany:
    case ChoiceKind::Lock:
      recorded.payload.push_back(in.number());
      break;
    case ChoiceKind::Testsome:
    case ChoiceKind::Waitsome: {
      // The writer continues after each 32 indices in a Choice of its own, which starts with no failed poll.
      auto& stream = choicesOf(kind);
      const bool continues = !stream.empty() && !stream.back().payload.empty() &&
                             stream.back().payload[0] > stream.back().payload.size();
      const std::size_t done = continues ? stream.back().payload.size() - 1 : 0;
      std::uint64_t left = 0;
      if (continues) {
        left = stream.back().payload[0] - 1 - done;
      } else {
        recorded.payload.push_back(in.number());
        left = recorded.payload[0] == 0 ? 0 : recorded.payload[0] - 1;
      }
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(left, 32) && !in.bad(); ++i) {
        (continues ? stream.back() : recorded).payload.push_back(in.number());
      }
      if (continues) {
        return;
      }
      break;
    }
    case ChoiceKind::Iprobe:
    case ChoiceKind::Improbe:
    case ChoiceKind::Probe:
    case ChoiceKind::Mprobe:
      recorded.payload.push_back(in.number());
      recorded.payload.push_back(in.number());
      break;
    case ChoiceKind::Test:
    case ChoiceKind::Testall:
    case ChoiceKind::GetStatus:
      break;
  }
  choicesOf(kind).push_back(std::move(recorded));
}

void Decoder::unfinished(RecordReader& in) {
  const auto [key, n] = fieldsOf<RecordKind::Unfinished>(in);
  if (log.failed.empty() || log.failed.back().key != key) {
    log.failed.emplace_back().key = key;
  }
  for (std::uint32_t left = std::min(n, kMostUnfinished); left > 0 && !in.bad(); --left) {
    log.failed.back().unfinished.push_back(in.number32());
  }
}

bool Decoder::offered(RecordReader& in) {
  constexpr std::uint64_t kGiven = 8;
  const auto [some, n] = fieldsOf<RecordKind::Offered>(in);
  if (in.bad() || last() == 0 || n > kMostOffered) {
    return refuse("requests that no call was offered");
  }
  std::vector<OfferedCompletion>& offers = log.history.offers;
  if (offers.empty() || offers.back().event != last()) {
    offers.push_back({last(), some != 0, {}});
  }
  std::vector<OfferedRequest>& requests = offers.back().requests;
  std::uint64_t index = requests.empty() ? 0 : requests.back().index;
  for (std::uint32_t left = n; left > 0 && !in.bad(); --left) {
    const std::uint64_t further = in.number();
    const std::uint64_t what = in.number();
    const auto kind = static_cast<std::uint8_t>(what % kGiven);
    const bool follows = requests.empty() || further > 0;
    index += further;
    if (!follows || index >= kNone || what / (2 * kGiven) > kNone || kind >= kOfferedKinds) {
      return refuse("an offered request that cannot be");
    }
    requests.push_back({static_cast<std::uint32_t>(index),
                        static_cast<std::uint32_t>(what / (2 * kGiven)),
                        static_cast<OfferedKind>(kind), (what & kGiven) != 0});
  }
  return !in.bad();
}

void Decoder::raceRecord(RecordReader& in, RecordKind kind) {
  if (kind == RecordKind::Traced) {
    const auto [post, comm, source, tag, number] = fieldsOf<RecordKind::Traced>(in);
    log.traced.push_back({post, comm, source, tag, number});
    return;
  }
  if (kind == RecordKind::Races || !log.races) {
    log.races.emplace();
  }
  LoggedRaces& races = *log.races;
  if (kind == RecordKind::Races) {
    const auto [algorithm, found, wildcards] = fieldsOf<RecordKind::Races>(in);
    races.algorithm = algorithm;
    races.found = found;
    races.wildcards = wildcards;
  } else if (kind == RecordKind::Exchanged) {
    const auto [rank, sent, observed] = fieldsOf<RecordKind::Exchanged>(in);
    races.exchanged[rank] = {sent, observed};
  } else {
    const auto [without, held] = fieldsOf<RecordKind::Kept>(in);
    for (const std::uint32_t run : {without, held}) {
      const std::uint64_t room =
          races.wildcards - std::min<std::uint64_t>(races.wildcards, races.kept.size());
      races.kept.add(static_cast<std::uint32_t>(std::min<std::uint64_t>(run, room)));
    }
  }
}

void Decoder::tagRecord(RecordReader& in, RecordKind kind) {
  if (kind == RecordKind::RoutesOnly) {
    log.routesOnly = fieldsOf<RecordKind::RoutesOnly>(in).number;
  } else if (kind == RecordKind::Seen) {
    const auto [probe, comm, source, tag, number] = fieldsOf<RecordKind::Seen>(in);
    log.seen.push_back({probe, comm, source, tag, number});
  } else {
    const auto [comm, dest, tag, n] = fieldsOf<RecordKind::Routed>(in);
    RoutedStream& stream = log.routed.emplace_back();
    stream.comm = comm;
    stream.dest = dest;
    stream.tag = tag;
    std::uint32_t number = 0;
    std::uint32_t post = 0;
    for (std::uint32_t left = std::min(n, kMostTagged); left > 0 && !in.bad(); --left) {
      number += in.number32();
      const std::uint32_t zigzag = in.number32();
      post += (zigzag >> 1) ^ (0U - (zigzag & 1U));
      stream.messages.emplace_back(number, post);
    }
  }
}

bool Decoder::value(RecordReader& in, std::uint8_t kind) {
  m_valueKind = kind;
  if (kind >= kValueKinds) {
    for (std::size_t k = 0; kind == kValuesJoin && k < kValueKinds; ++k) {
      log.earlyValues[k] = log.values[k].size();
    }
    return kind == kValuesJoin;
  }
  std::vector<unsigned char>& stream = log.values[kind];
  const ValueShape shape = shapeOf(static_cast<ValueKind>(kind));
  const std::uint64_t first = in.number();
  const std::string bytes = shape == ValueShape::Bytes ? in.text(first) : std::string();
  const bool second = shape == ValueShape::Seconds && (first & 3U) == kSecondsBits;
  const std::uint64_t bits = second ? in.number() : 0;
  if (in.bad()) {
    return false;
  }
  putVarint(stream, first);
  stream.insert(stream.end(), bytes.begin(), bytes.end());
  if (second) {
    putVarint(stream, bits);
  }
  return true;
}

bool Decoder::laneMade(RecordReader& in) {
  constexpr std::size_t kShortest = 4;  // bytes of such a record
  const auto [number, parent, ordinal] = fieldsOf<RecordKind::LaneMade>(in);
  if (in.bad()) {
    return false;
  }
  if (number > m_bytes / kShortest) {
    return refuse("a thread that the log has no room for");
  }
  log.lanes.resize(std::max<std::size_t>(log.lanes.size(), number + 1U));
  log.lanes[number].parent = parent;
  log.lanes[number].ordinal = ordinal;
  return m_threads.made(number, parent, ordinal, last()) ||
         refuse("more orderings of threads than the log has room for");
}

bool Decoder::ordered(RecordReader& in) {
  const auto [kind, lane, what] = fieldsOf<RecordKind::Ordered>(in);
  if (in.bad() || kind > static_cast<std::uint32_t>(ThreadOrdering::Joined)) {
    return false;
  }
  if (lane < log.lanes.size()) {
    return m_threads.ordered(static_cast<ThreadOrdering>(kind), lane, what) ||
           refuse("more orderings of threads than the log has room for");
  }
  return true;
}

void Decoder::laneRun(RecordReader& in) {
  const auto [turns, code] = fieldsOf<RecordKind::Lane>(in);
  if (!log.laneRuns.empty()) {
    log.laneRuns.back().turns = turns;
  }
  m_lane = code / 2 < log.lanes.size() ? code / 2 : 0;
  log.laneRuns.push_back({code, 0});
}

void Decoder::subPost(RecordReader& in) {
  const auto [comm, source, tag] = fieldsOf<RecordKind::SubPost>(in);
  const Event* const event = log.history.events.empty() ? nullptr : &log.history.events.back();
  const bool exchanges = event != nullptr && event->kind == EventKind::Start &&
                         event->call != kCallStart && event->call != kCallStartall;
  if (exchanges) {  // its envelope is that of its receive
    log.checks.back() =
        eventCheck(event->call, comm < log.communicators.size() ? log.communicators[comm].key : 0,
                   world(comm, source), tag);
  }
  post(comm, source, tag, true);
}

void Decoder::subSend(RecordReader& in) {
  const auto [synchronous, comm, dest, tag, bytes] = fieldsOf<RecordKind::SubSend>(in);
  if (std::vector<Event>& events = log.history.events; !events.empty()) {
    const std::vector<SentMessage>& sends = log.history.sends;
    const bool first = sends.empty() || sends.back().event != last();
    events.back().bytes = first ? bytes : 0;  // an event says the size of one message
  }
  send(comm, dest, tag, synchronous != 0, false);
  sentBytes(bytes, checkOfSent(comm, dest, tag));
}

std::uint32_t Decoder::checkOfSent(std::uint32_t comm, std::int32_t dest, std::int32_t tag) const {
  return sentCheck(comm < log.communicators.size() ? log.communicators[comm].key : 0,
                   world(comm, dest), tag);
}

void Decoder::sentBytes(std::uint64_t bytes, std::uint32_t check) {
  if (m_keepsContents) {
    m_sent.next(true, bytes, check);
  }
}

void Decoder::contentsRecord(RecordReader& in, RecordKind kind) {
  if (kind == RecordKind::Contents) {
    m_sent.digest(fieldsOf<RecordKind::Contents>(in).digest);
    return;
  }
  if (kind == RecordKind::Room) {
    const auto [post, bytes] = fieldsOf<RecordKind::Room>(in);
    if (m_keepsContents && !in.bad()) {
      log.rooms.emplace_back(post, bytes);
    }
    return;
  }
  const auto [operation, bytes, digested] = fieldsOf<RecordKind::Given>(in);
  m_given.say(bytes, operation);
  if (digested != 0) {
    m_given.digest(in.fixed64());
  }
}

void Decoder::outgoingRecord(RecordReader& in, std::vector<unsigned char>& stream) {
  const auto [skipped, form, bytes] = fieldsOf<RecordKind::Outgoing>(in);
  const bool digested = (form & 1U) != 0;
  const std::uint64_t digest = digested ? in.fixed64() : 0;
  if (!m_keepsContents || in.bad()) {
    return;
  }
  putVarint(stream, skipped);
  putContents(stream, true, bytes, form >> 1, digested ? std::optional(digest) : std::nullopt);
}

}  // namespace pf
