// Records of what was chosen, by MPI, the system and the order of threads, and of what raced.
#include <algorithm>

#include "decoder.h"
#include "varint.h"

namespace pf {

void Decoder::choice(RecordReader& in) {
  const std::uint32_t kind = in.number32();
  RecordedChoice recorded;
  recorded.misses = in.number32();
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
      // The writer continues after each 32 indices in a Choice of its own, which starts with misses = 0.
      auto& stream = choicesOf(kind);
      const bool continues = !stream.empty() && !stream.back().payload.empty() && stream.back().payload[0] > stream.back().payload.size();
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
  const std::uint64_t key = in.number();
  if (log.failed.empty() || log.failed.back().key != key) {
    log.failed.emplace_back().key = key;
  }
  for (std::uint32_t n = std::min(in.number32(), kMostUnfinished); n > 0 && !in.bad(); --n) {
    log.failed.back().unfinished.push_back(in.number32());
  }
}

void Decoder::raceRecord(RecordReader& in, RecordKind kind) {
  if (kind == RecordKind::Traced) {
    TracedDelivery& traced = log.traced.emplace_back();
    traced.post = in.number32();
    traced.comm = in.number32();
    traced.source = static_cast<std::int32_t>(in.number32());
    traced.tag = static_cast<Tag>(in.number32());
    traced.number = in.number32();
    return;
  }
  if (kind == RecordKind::Races || !log.races) {
    log.races.emplace();
  }
  LoggedRaces& races = *log.races;
  if (kind == RecordKind::Races) {
    races.algorithm = in.number32();
    races.found = in.number32();
    races.wildcards = in.number32();
  } else if (kind == RecordKind::Exchanged) {
    const std::uint32_t rank = in.number32();
    if (rank >= races.exchanged.size() && rank < (1U << 24)) {
      races.exchanged.resize(rank + 1U);
    }
    const std::uint32_t sent = in.number32();
    const std::uint32_t observed = in.number32();
    if (rank < races.exchanged.size()) {
      races.exchanged[rank] = {sent, observed};
    }
  } else {
    for (const bool kept : {false, true}) {
      const std::uint32_t run = in.number32();
      const std::size_t room = races.wildcards - std::min<std::size_t>(races.wildcards, races.kept.size());
      races.kept.insert(races.kept.end(), std::min<std::size_t>(run, room), kept);
    }
  }
}

void Decoder::tagRecord(RecordReader& in, RecordKind kind) {
  if (kind == RecordKind::TagsOnly) {
    log.tagsOnly = in.number32();
  } else if (kind == RecordKind::Seen) {
    SeenMessage& seen = log.seen.emplace_back();
    seen.probe = in.number32();
    seen.comm = in.number32();
    seen.source = static_cast<std::int32_t>(in.number32());
    seen.tag = static_cast<Tag>(in.number32());
    seen.number = in.number32();
  } else {
    TaggedStream& stream = log.tagged.emplace_back();
    stream.comm = in.number32();
    stream.dest = static_cast<Rank>(in.number32());
    stream.tag = static_cast<Tag>(in.number32());
    std::uint32_t number = 0;
    std::uint32_t post = 0;
    for (std::uint32_t n = std::min(in.number32(), kMostTagged); n > 0 && !in.bad(); --n) {
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

void Decoder::laneMade(RecordReader& in) {
  const std::uint32_t number = in.number32();
  if (number < log.lanes.size() + 65536) {
    log.lanes.resize(std::max<std::size_t>(log.lanes.size(), number + 1U));
    log.lanes[number].parent = in.number32();
    log.lanes[number].ordinal = in.number32();
    m_threads.made(number, log.lanes[number].parent, log.lanes[number].ordinal, last());
  }
}

bool Decoder::ordered(RecordReader& in) {
  const std::uint32_t kind = in.number32();
  const std::uint32_t lane = in.number32();
  const std::uint64_t what = in.number();
  if (in.bad() || kind > static_cast<std::uint32_t>(ThreadOrdering::Joined)) {
    return false;
  }
  if (lane < log.lanes.size()) {
    m_threads.ordered(static_cast<ThreadOrdering>(kind), lane, what);
  }
  return true;
}

void Decoder::laneRun(RecordReader& in) {
  const std::uint32_t turns = in.number32();
  if (!log.laneRuns.empty()) {
    log.laneRuns.back().turns = turns;
  }
  const std::uint32_t code = in.number32();
  m_lane = code / 2 < log.lanes.size() ? code / 2 : 0;
  log.laneRuns.push_back({code, 0});
}

}  // namespace pf
