// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/log/decoder.h"

#include "mpi_calls.h"

#include <algorithm>
#include <cstring>

#include "replay_engine/base/large_vector.h"

namespace pf {

Decoder::Decoder(const LogHeader& header, const std::vector<std::span<const unsigned char>>& blocks,
                 bool contents)
    : m_header(header), m_keepsContents(contents) {
  for (const auto& block : blocks) {
    m_bytes += block.size();
  }
  m_threads.allow(m_bytes);
}

bool Decoder::refuse(const char* why) {
  m_refusal = why;
  return false;
}

Rank Decoder::world(std::uint32_t comm, std::int32_t peer) const {
  if (peer < 0) {
    return peer == kAnySource ? kAnySource : kUnknownRank;
  }
  if (comm >= log.communicators.size()) {
    return kUnknownRank;
  }
  const LoggedCommunicator& c = log.communicators[comm];
  const std::size_t index = (c.inter ? c.groupSize : 0U) + static_cast<std::size_t>(peer);
  return index < c.members.size() ? c.members[index] : kUnknownRank;
}

void Decoder::event(EventKind kind, std::uint32_t site, std::uint32_t comm, std::int32_t peer,
                    std::int32_t tag) {
  Event e;
  e.kind = kind;
  e.call = static_cast<std::uint16_t>(callOf(site));
  e.site = site;
  e.comm = comm;
  e.peer = world(comm, peer);
  e.tag = tag;
  e.lane = m_lane;
  log.history.events.push_back(e);
  m_threads.event(m_lane, last(), log.history.threadLinks);
  log.checks.push_back(eventCheck(
      e.call, comm < log.communicators.size() ? log.communicators[comm].key : 0, e.peer, tag));
}

std::uint32_t Decoder::post(std::uint32_t comm, std::int32_t source, std::int32_t tag,
                            bool forcible) {
  PostedReceive receive;
  receive.post = last();
  receive.comm = comm;
  receive.wantedSource = world(comm, source);
  receive.wantedTag = tag;
  const bool wild = forcible && source == kAnySource;
  m_wildOfPost.push_back(wild ? static_cast<std::uint32_t>(log.wildSources.size()) : kNone);
  if (wild) {
    log.wildSources.add(kPinUnknown);
  }
  log.history.receives.push_back(receive);
  return static_cast<std::uint32_t>(log.history.receives.size() - 1);
}

void Decoder::take(std::uint32_t postNumber, std::int32_t source, std::int32_t tag, Serial at) {
  if (postNumber >= log.history.receives.size()) {
    return;
  }
  PostedReceive& receive = log.history.receives[postNumber];
  receive.completion = at;
  if (source < 0) {
    return;  // it failed before it took a message
  }
  receive.state = ReceiveState::Complete;
  receive.source = world(receive.comm, source);
  receive.tag = tag;
  if (m_wildOfPost[postNumber] != kNone) {
    log.wildSources.set(m_wildOfPost[postNumber], source);
  }
}

void Decoder::send(std::uint32_t comm, std::int32_t dest, std::int32_t tag, bool synchronous,
                   bool completesHere) {
  SentMessage message;
  message.event = last();
  message.comm = comm;
  message.dest = world(comm, dest);
  message.tag = tag;
  message.synchronous = synchronous;
  message.syncCompletion = completesHere ? last() : 0;
  log.history.sends.push_back(message);
}

/// Of the last site.
void Decoder::sourceLine(RecordReader& in) {
  const auto [line, length] = fieldsOf<RecordKind::SourceLine>(in);
  std::string function = in.text(length);
  if (!in.bad() && !log.sites.empty() && !log.sourceFiles.empty()) {
    LoggedSite& site = log.sites.back();
    site.file = static_cast<std::uint32_t>(log.sourceFiles.size() - 1);
    site.line = line;
    site.function = std::move(function);
  }
}

void Decoder::sendEvent(RecordReader& in, RecordKind kind) {
  const auto [site, comm, dest, tag, bytes] = fieldsOf<RecordKind::Send>(in);
  event(EventKind::Send, site, comm, dest, tag);
  log.history.events.back().bytes = bytes;
  send(comm, dest, tag, kind != RecordKind::Send, kind == RecordKind::SendSync);
  sentBytes(bytes, 0);
}

void Decoder::receiveEvent(RecordReader& in) {
  const auto [site, comm, wantedSource, wantedTag, source, tag] = fieldsOf<RecordKind::Receive>(in);
  event(EventKind::Receive, site, comm, wantedSource, wantedTag);
  const std::uint32_t call = callOf(site);
  take(post(comm, wantedSource, wantedTag, call != kCallMprobe && call != kCallImprobe), source,
       tag, last());
}

void Decoder::sendReceiveEvent(RecordReader& in) {
  const auto [site, comm, dest, sendTag, bytes, wantedSource, wantedTag, source, tag] =
      fieldsOf<RecordKind::SendReceive>(in);
  event(EventKind::SendReceive, site, comm, wantedSource, wantedTag);
  log.history.events.back().bytes = bytes;
  if (dest >= 0) {
    send(comm, dest, sendTag, false, false);
    sentBytes(bytes, checkOfSent(comm, dest, sendTag));
  }
  if (wantedSource != -2) {
    take(post(comm, wantedSource, wantedTag, true), source, tag, last());
  }
}

void Decoder::collectiveEvent(RecordReader& in, RecordKind kind) {
  const auto [site, comm, flow, root, takes] = fieldsOf<RecordKind::Collective>(in);
  event(kind == RecordKind::Collective ? EventKind::Collective : EventKind::CollectivePost, site,
        comm, root >= 0 ? root : -2, 0);
  if (comm < log.communicators.size() && comm >= m_ordinals.size()) {
    m_ordinals.resize(log.communicators.size());
  }
  CollectivePart part;
  part.event = last();
  part.completion = kind == RecordKind::Collective ? last() : 0;
  part.comm = comm;
  if (const std::uint32_t persistent = takes >> 2; persistent != 0) {
    part.ordinal = m_starts[{comm, persistent}]++;
    log.startedCollectives.push_back({log.history.collectives.size(), persistent});
  } else if (comm < m_ordinals.size()) {  // of one that was not declared: of none
    part.ordinal = m_ordinals[comm]++;
  }
  part.flow = flow <= static_cast<std::uint32_t>(CollectiveFlow::FromLower)
                  ? static_cast<CollectiveFlow>(flow)
                  : CollectiveFlow::None;
  part.root = root >= 0 ? world(comm, root) : kUnknownRank;
  part.contributes = (takes & 1U) != 0;
  part.takes = (takes & 2U) != 0;
  if (kind == RecordKind::CollectivePost) {
    m_posted.push_back(log.history.collectives.size());
  }
  log.history.collectives.push_back(part);
  if (m_keepsContents) {
    m_given.next(false, 0, 0);
  }
}

void Decoder::reserve() {
  constexpr std::size_t kBytesAnEvent = 6;  // few are shorter, most are longer
  if (m_header.events == 0) {
    return;
  }
  reserveLarge(log.history.events, m_bytes / kBytesAnEvent);
  reserveLarge(log.checks, m_bytes / kBytesAnEvent);
  reserveLarge(log.history.sends, m_bytes / kBytesAnEvent / 2);
  reserveLarge(log.history.receives, m_bytes / kBytesAnEvent / 2);
}

bool Decoder::wild(std::uint64_t number, std::int32_t source) {
  if (number >= kNone) {  // numbers have 32 bits, in schedules and in the rank that counts them
    return refuse("a wildcard receive beyond the 4294967295th");
  }
  log.wildSources.set(static_cast<std::uint32_t>(number), source);
  m_nextWild = number + 1;
  return true;
}

// NOLINTNEXTLINE(readability-function-size): a case a kind
bool Decoder::record(RecordReader& in) {
  const RecordKind kind = in.kind();
  if (const auto byte = static_cast<std::uint8_t>(kind); (byte & kNextWild) != 0) {
    return wild(m_nextWild, static_cast<std::int32_t>(byte & (kNextWild - 1U)));
  }
  switch (kind) {
    case RecordKind::Padding:
      return false;
    case RecordKind::Module:
      log.modules.push_back(in.text(fieldsOf<RecordKind::Module>(in).length));
      break;
    case RecordKind::Site: {
      const auto [call, module, address] = fieldsOf<RecordKind::Site>(in);
      log.sites.push_back({call, module, address});
      break;
    }
    case RecordKind::SourceFile:
      log.sourceFiles.push_back(in.text(fieldsOf<RecordKind::SourceFile>(in).length));
      break;
    case RecordKind::SourceLine:
      sourceLine(in);
      break;
    case RecordKind::Comm: {
      const auto [key, madeBy, inter, groupSize, remoteSize] = fieldsOf<RecordKind::Comm>(in);
      log.communicators.push_back({key, madeBy, inter != 0, groupSize, remoteSize, {}});
      break;
    }
    case RecordKind::CommMembers:
      for (std::uint32_t n = fieldsOf<RecordKind::CommMembers>(in).n;
           n > 0 && !in.bad() && !log.communicators.empty(); --n) {
        log.communicators.back().members.push_back(in.shifted(1));
      }
      break;
    case RecordKind::Choice:
      choice(in);
      break;
    case RecordKind::Wild: {
      const auto [number, source] = fieldsOf<RecordKind::Wild>(in);
      return !in.bad() && wild(number, source);
    }
    case RecordKind::CancelledPost:
      log.cancelledPosts.push_back(fieldsOf<RecordKind::CancelledPost>(in).post);
      break;
    case RecordKind::Note:
      log.notes.push_back(fieldsOf<RecordKind::Note>(in).site);
      break;
    case RecordKind::Send:
    case RecordKind::SendSync:
    case RecordKind::SendSyncPosted:
      sendEvent(in, kind);
      break;
    case RecordKind::SendFailed:
      if (!log.history.sends.empty()) {
        log.history.sends.back().dest = kUnknownRank;
      }
      break;
    case RecordKind::Receive:
      receiveEvent(in);
      break;
    case RecordKind::SendReceive:
      sendReceiveEvent(in);
      break;
    case RecordKind::Post: {
      const auto [site, comm, source, tag] = fieldsOf<RecordKind::Post>(in);
      event(EventKind::Post, site, comm, source, tag);
      post(comm, source, tag, true);
      break;
    }
    case RecordKind::Completion:
      event(EventKind::Completion, fieldsOf<RecordKind::Completion>(in).site);
      break;
    case RecordKind::Start:
      event(EventKind::Start, fieldsOf<RecordKind::Start>(in).site);
      break;
    case RecordKind::SubPost:
      subPost(in);
      break;
    case RecordKind::SubSend:
      subSend(in);
      break;
    case RecordKind::Contents:
    case RecordKind::Given:
    case RecordKind::Room:
      contentsRecord(in, kind);
      break;
    case RecordKind::Outgoing:
      outgoingRecord(in, log.outgoing);
      break;
    case RecordKind::OutgoingGiven:
      outgoingRecord(in, log.outgoingGiven);
      break;
    case RecordKind::DoneReceive:
    case RecordKind::Matched: {
      const auto [number, source, tag] = fieldsOf<RecordKind::DoneReceive>(in);
      take(number, source, tag, last());
      break;
    }
    case RecordKind::DoneCancelled: {
      const std::uint32_t number = fieldsOf<RecordKind::DoneCancelled>(in).post;
      log.cancelledPosts.push_back(number);
      if (number < log.history.receives.size()) {
        log.history.receives[number].state = ReceiveState::Cancelled;
        log.history.receives[number].completion = last();
      }
      break;
    }
    case RecordKind::DoneSend: {
      const std::uint32_t number = fieldsOf<RecordKind::DoneSend>(in).number;
      if (number < log.history.sends.size()) {
        log.history.sends[number].syncCompletion = last();
      }
      break;
    }
    case RecordKind::DoneCollective: {
      const std::uint32_t number = fieldsOf<RecordKind::DoneCollective>(in).number;
      if (number < m_posted.size()) {
        log.history.collectives[m_posted[number]].completion = last();
      }
      break;
    }
    case RecordKind::Probe: {
      const auto [site, comm, wantedSource, wantedTag, source, tag] =
          fieldsOf<RecordKind::Probe>(in);
      event(EventKind::Probe, site, comm, wantedSource, wantedTag);
      ProbeHit hit;
      hit.comm = comm;
      hit.wantedTag = wantedTag;
      hit.event = last();
      hit.wantedSource = world(comm, wantedSource);
      hit.source = world(comm, source);
      hit.tag = tag;
      hit.postsBefore = static_cast<std::uint32_t>(log.history.receives.size());
      log.history.probes.push_back(hit);
      break;
    }
    case RecordKind::Collective:
    case RecordKind::CollectivePost:
      collectiveEvent(in, kind);
      break;
    case RecordKind::Local:
      event(EventKind::Local, fieldsOf<RecordKind::Local>(in).site);
      break;
    case RecordKind::Refused:
      event(EventKind::Local, fieldsOf<RecordKind::Refused>(in).site);
      log.checks.back() = 0;  // its arguments are not in the record
      break;
    case RecordKind::LaneMade:
      return laneMade(in);
    case RecordKind::Lane:
      laneRun(in);
      break;
    case RecordKind::Ordered:
      return ordered(in);
    case RecordKind::Clock:
      m_times.clock(in);
      break;
    case RecordKind::Time:
      m_times.time(in);
      break;
    case RecordKind::End:
      sawEnd = true;
      break;
    case RecordKind::Value:
      return value(in, fieldsOf<RecordKind::Value>(in).kind);
    case RecordKind::NextValue:
      return value(in, m_valueKind);
    case RecordKind::Seen:
    case RecordKind::Routed:
    case RecordKind::RoutesOnly:
      tagRecord(in, kind);
      break;
    case RecordKind::Unfinished:
      unfinished(in);
      break;
    case RecordKind::Offered:
      return offered(in);
    case RecordKind::Traced:
    case RecordKind::Races:
    case RecordKind::Exchanged:
    case RecordKind::Kept:
      raceRecord(in, kind);
      break;
    case RecordKind::Count:
    default:
      return false;
  }
  return !in.bad();
}

void Decoder::survivingStatuses(const BegunCall& begun) {
  const std::uint32_t n = std::min<std::uint32_t>(begun.statuses, kStatusSlots);
  const std::size_t stride = std::min<std::size_t>(m_header.statusStride, kStatusSize);
  for (std::uint32_t i = 0; i < n; ++i) {
    const unsigned char* const status =
        &m_header.status[0][0] + i * stride;  // one behind another, as MPI has them
    std::int32_t source = 0;
    std::int32_t tag = 0;
    std::memcpy(&source, status + std::min<std::size_t>(m_header.statusSource, kStatusSize - 4), 4);
    std::memcpy(&tag, status + std::min<std::size_t>(m_header.statusTag, kStatusSize - 4), 4);
    if (source < 0 || m_header.posts[i] == kNone) {
      continue;
    }
    if (log.hasEvents) {
      take(m_header.posts[i], source, tag, last());
    } else {
      wild(m_header.posts[i], source);
    }
  }
}

/// Receives that had taken their messages, as far as the agent saw it: the rank never told the program.
void Decoder::matchedReceives() {
  log.unseenMatches = MatchedReceives::opened(m_header.matched.unseen.load());
  const std::uint32_t count = MatchedReceives::opened(m_header.matched.count.load());
  if (count > MatchedReceives::kMost) {
    return;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const MatchedReceive& matched = m_header.matched.receives[i];
    if (matched.source < 0) {
      continue;
    }
    if (!log.hasEvents) {
      wild(matched.wild, matched.source);
    } else if (matched.post < log.history.receives.size() &&
               log.history.receives[matched.post].state == ReceiveState::Pending) {
      take(matched.post, matched.source, matched.tag, last());
    }
  }
}

/// The event that had begun when the record ends: its call is in the header.
void Decoder::begunEvent() {
  const BegunCall& begun = m_header.begun;
  const auto kind = static_cast<RecordKind>(begun.kind);
  if (!log.hasEvents) {
    const std::uint32_t inside = m_header.inside.load();
    log.insideLast = inside > 0 && inside <= kCallCount;
    log.lastCall = log.insideLast ? inside - 1 : 0;
    survivingStatuses(begun);
    return;
  }
  if (kind == RecordKind::Padding) {
    log.insideLast = begun.check == kBegunInside && begun.serial == last();
    return;
  }
  if (begun.check == 0 || begun.check != begunCheck(begun)) {
    return;
  }
  if (begun.serial != last() + 1) {
    return;
  }
  log.insideLast = true;
  if (kind == RecordKind::Receive || kind == RecordKind::SendReceive) {
    event(kind == RecordKind::Receive ? EventKind::Receive : EventKind::SendReceive, begun.site,
          begun.comm, begun.source, begun.tag);
    const std::uint32_t call = callOf(begun.site);
    if (begun.source != -2) {
      post(begun.comm, begun.source, begun.tag, call != kCallMprobe && call != kCallImprobe);
    }
  } else if (kind == RecordKind::Completion) {
    event(EventKind::Completion, begun.site);
  } else if (kind == RecordKind::Probe) {
    event(EventKind::Probe, begun.site, begun.comm, begun.source, begun.tag);
  } else {
    log.insideLast = false;
    return;
  }
  survivingStatuses(begun);
}

void Decoder::finish() {
  log.rank = m_header.rank;
  log.size = m_header.size;
  log.pid = m_header.pid;
  log.threadLevel = m_header.threadLevel;
  log.executable.assign(m_header.executable,
                        strnlen(m_header.executable, sizeof m_header.executable));
  log.mpiLibrary.assign(m_header.mpiLibrary,
                        strnlen(m_header.mpiLibrary, sizeof m_header.mpiLibrary));
  log.hasEvents = m_header.events != 0;
  log.complete = sawEnd && log.cut.empty();
  if (!log.complete && log.cut.empty()) {
    begunEvent();
    matchedReceives();
  }
  const auto failedPollsOf = [](std::uint64_t word) {
    const auto count = static_cast<std::uint32_t>(word);
    return static_cast<std::uint32_t>(word >> 32) == ~count ? count : 0;
  };
  for (std::size_t k = 0; k < kChoiceKinds; ++k) {
    log.finalFailedPolls[k] = failedPollsOf(m_header.failedPolls[k].load());
    for (std::size_t lane = 1; lane < std::min(log.lanes.size(), kLanesInHeader + 1); ++lane) {
      log.lanes[lane].finalFailedPolls[k] =
          failedPollsOf(m_header.laneFailedPolls[lane - 1][k].load());
    }
  }
  if (!log.laneRuns
           .empty()) {  // a rank that dies between the two stores has begun its run at least
    const std::uint64_t word = m_header.laneTurns.load();
    log.laneRuns.back().turns =
        word >> 32 == log.laneRuns.size() ? static_cast<std::uint32_t>(word) : 1;
  }
  log.serials = log.hasEvents ? last() : m_header.serial.load();
  log.history.times = m_times.finish(log.history.events.size());
  log.realTimeAhead = m_times.realTimeAhead();
  if (!log.history.events.empty()) {
    log.lastCall = log.history.events.back().call;
  }
  std::sort(log.cancelledPosts.begin(), log.cancelledPosts.end());
  log.sent = m_sent.finish();
  log.given = m_given.finish();
  if (!log.complete && log.cut.empty()) {
    log.cut = (m_header.failed.load() != 0
                   ? std::string("the log could not grow: ") +
                         std::strerror(static_cast<int>(m_header.failed.load() >> 32))
                   : std::string("the rank ended without MPI_Finalize")) +
              ", after event " + std::to_string(log.serials);
  }
}

}  // namespace pf
