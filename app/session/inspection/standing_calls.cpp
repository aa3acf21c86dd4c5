// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/inspection/standing_calls.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "app/session/state/frame_values.h"
#include "mi_bridge/gdb_session.h"

namespace pf::session {
namespace {

using Kind = views::CallNow::Kind;

Kind kindOf(std::string_view call) {
  static constexpr std::array<std::string_view, 6> kReceives{
      "MPI_Recv", "MPI_Probe", "MPI_Mprobe", "MPI_Mrecv", "MPI_Sendrecv", "MPI_Sendrecv_replace"};
  static constexpr std::array<std::string_view, 4> kSends{"MPI_Send", "MPI_Ssend", "MPI_Rsend",
                                                          "MPI_Bsend"};
  static constexpr std::array<std::string_view, 4> kCompletions{"MPI_Wait", "MPI_Waitall",
                                                                "MPI_Waitany", "MPI_Waitsome"};
  static constexpr std::array<std::string_view, 20> kCollectives{
      "MPI_Barrier",    "MPI_Bcast",          "MPI_Reduce",
      "MPI_Allreduce",  "MPI_Gather",         "MPI_Gatherv",
      "MPI_Scatter",    "MPI_Scatterv",       "MPI_Allgather",
      "MPI_Allgatherv", "MPI_Alltoall",       "MPI_Alltoallv",
      "MPI_Alltoallw",  "MPI_Reduce_scatter", "MPI_Reduce_scatter_block",
      "MPI_Scan",       "MPI_Exscan",         "MPI_Comm_dup",
      "MPI_Comm_split", "MPI_Finalize"};
  const auto isIn = [call](const auto& names) {
    return std::find(names.begin(), names.end(), call) != names.end();
  };
  return isIn(kReceives)      ? Kind::Receive
         : isIn(kSends)       ? Kind::Send
         : isIn(kCompletions) ? Kind::Completion
         : isIn(kCollectives) ? Kind::Collective
                              : Kind::Other;
}

views::CallNow callOf(int rank, const std::optional<mi::StandingCall>& standing) {
  views::CallNow call;
  call.rank = rank;
  if (!standing) {
    return call;
  }
  call.kind = kindOf(standing->name);
  call.call = toText(standing->name);
  call.peer = standing->peer;
  call.anySource = standing->anySource && call.kind == Kind::Receive;
  call.nobody = standing->nobody;
  call.tag = standing->tag;
  call.anyTag = standing->anyTag;
  if (standing->comm != mi::StandingCall::Comm::Unknown) {
    call.ofWorld = standing->comm == mi::StandingCall::Comm::World;
  } else if (standing->name == "MPI_Finalize") {
    call.ofWorld = true;
  }
  call.place = toText(standing->place);
  return call;
}

}  // namespace

void StandingCalls::refresh() {
  const bool recorded = m_state.source == Source::Recording;
  const auto goneOn = [&](const auto& rank) {
    return recorded || m_state.stoppedDebugger(rank.first) == nullptr;
  };
  std::erase_if(m_asked, goneOn);
  std::erase_if(m_calls, goneOn);
  for (const auto& [rank, now] : m_state.now) {
    mi::GdbSession* gdb = recorded ? nullptr : m_state.stoppedDebugger(rank);
    if (gdb != nullptr && !m_calls.contains(rank) && !m_asked.contains(rank)) {
      ask(rank, *gdb);
    }
  }
  publish();
}

void StandingCalls::ask(int rank, mi::GdbSession& gdb) {
  const std::uint64_t question = m_asked[rank] = ++m_question;
  gdb.inspect().taught().standingCall(
      {gdb.stop().thread, 0},
      [this, rank, question](const Result<std::optional<mi::StandingCall>>& call) {
        const auto asked = m_asked.find(rank);
        if (asked == m_asked.end() || asked->second != question) {
          return;
        }
        m_asked.erase(asked);
        m_calls[rank] = call ? std::optional(callOf(rank, *call)) : std::nullopt;
        publish();
      });
}

void StandingCalls::whenKnown(std::function<void()> then) {
  if (m_asked.empty()) {
    then();
  } else {
    m_waiting.push_back(std::move(then));
  }
}

/// The trace of a job that was not recorded has no more than this.
void StandingCalls::publish() {
  std::vector<views::CallNow> calls;
  for (const auto& [rank, call] : m_calls) {
    if (call) {
      calls.push_back(*call);
    }
  }
  if (m_state.source != Source::Recording && m_state.trace != nullptr &&
      calls != m_state.trace->calls) {
    auto data = std::make_shared<views::TraceData>(*m_state.trace);
    data->calls = std::move(calls);
    m_state.trace = std::move(data);
    Q_EMIT changed();
  }
  if (m_asked.empty()) {
    for (const auto& then : std::exchange(m_waiting, {})) {
      then();
    }
  }
}

}  // namespace pf::session

#include "moc_standing_calls.cpp"
