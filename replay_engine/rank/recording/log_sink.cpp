// SPDX-License-Identifier: MIT
#include "replay_engine/rank/recording/log_sink.h"

#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/lanes.h"
#include "replay_engine/rank/engine/records.h"

namespace pf {
namespace {

constexpr std::uint64_t kNoFailedPolls = std::uint64_t{0xFFFFFFFFU} << 32;

/// Starts a Choice record: the payload is to be appended, and it is to be committed.
unsigned char* beginChoice(ChoiceKind kind) {
  const auto k = static_cast<std::size_t>(kind);
  LaneChoices& lane = g_engine.choices.mine();
  unsigned char* const p = putRecord<RecordKind::Choice>(
      g_engine.log.reserve(), {static_cast<std::uint32_t>(kind), lane.failedPollsLogged[k]});
  if (lane.failedPollsLogged[k] != 0) {
    lane.failedPollsLogged[k] = 0;
    if (lane.inHeader != nullptr) {
      lane.inHeader[k].store(kNoFailedPolls, std::memory_order_relaxed);
    }
  }
  return p;
}

}  // namespace

void LogSink::note(const CallPlace& place) {
  commitSite(RecordKind::Note, place);
  g_engine.log.publish();
}

void LogSink::chose(ChoiceKind kind, std::initializer_list<std::uint32_t> payload) {
  unsigned char* p = beginChoice(kind);
  for (const std::uint32_t value : payload) {
    p = putVarint(p, value);
  }
  g_engine.log.commit(p);
}

void LogSink::choseSome(ChoiceKind kind, int count, const int* indices) {
  unsigned char* p = putVarint(beginChoice(kind),
                               count == MPI_UNDEFINED ? 0 : static_cast<std::uint32_t>(count) + 1);
  for (int i = 0; count != MPI_UNDEFINED && i < count; ++i) {
    if (i != 0 &&
        i % 32 ==
            0) {  // more than a record holds: the payload goes on in a Choice of the same kind
      g_engine.log.commit(p);
      p = beginChoice(kind);
    }
    p = putVarint(p, static_cast<std::uint32_t>(indices[i]));
  }
  g_engine.log.commit(p);
}

void LogSink::missed(ChoiceKind kind) {
  const auto k = static_cast<std::size_t>(kind);
  LaneChoices& lane = g_engine.choices.mine();
  const std::uint64_t all = ++lane.failedPollsLogged[k];
  if (lane.inHeader != nullptr) {
    const auto n = static_cast<std::uint32_t>(all < kMostFailedPolls ? all : kMostFailedPolls);
    lane.inHeader[k].store(n | std::uint64_t{~n} << 32, std::memory_order_relaxed);
  }
  if (g_engine.jitter && !g_engine.threads) [[unlikely]] {
    jitterMissed();
  }
}

void LogSink::requestDone(const Request& entry, const MPI_Status* status, int error) {
  switch (entry.kind) {
    case RequestKind::Receive:
    case RequestKind::PersistentReceive:
      if (isReceive(entry)) {
        receiveDone(entry, status, error);
      }
      break;
    case RequestKind::SynchronousSend:
      sendDone(entry);
      break;
    case RequestKind::PersistentSend:
      if (entry.mode == SendMode::Synchronous && entry.active) {
        sendDone(entry);
      }
      break;
    case RequestKind::Collective:
      collectiveRequestDone(entry);
      break;
    case RequestKind::PersistentCollective:
      if (entry.active) {
        collectiveRequestDone(entry);
      }
      break;
    case RequestKind::None:
    case RequestKind::RoutedMessage:
      break;
  }
}

void LogSink::receiveDone(const Request& entry, const MPI_Status* status, int error) {
  int cancelled = 0;
  if (entry.cancelled && status != nullptr) {
    PF_REAL(Test_cancelled)(status, &cancelled);
  }
  if (cancelled != 0 || !hasStatus(error)) {
    tookNothing(entry, cancelled != 0);
    return;
  }
  const bool asked = status != nullptr && needsStatus(entry);
  took(entry, asked ? status->MPI_SOURCE : reportedPeer(entry.peer),
       asked ? status->MPI_TAG : reportedTag(entry.tag));
}

Request* LogSink::keepCollective(MPI_Request request, std::uint32_t number, MPI_Comm comm) {
  Request entry;
  entry.handle = request;
  entry.kind = RequestKind::Collective;
  entry.number = number;
  entry.comm = comm;
  return g_engine.requests.insert(entry);
}

void LogSink::told() {
  g_engine.log.publish();
  forgetStatuses();
}

void LogSink::publish() {
  g_engine.log.publish();
}

}  // namespace pf
