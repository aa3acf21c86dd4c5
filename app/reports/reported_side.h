// SPDX-License-Identifier: GPL-3.0-or-later
// One of two recordings at a difference, in words and as JSON. Private to app/reports.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

#include "app/collation/event_text.h"
#include "app/replaying/compared_trace.h"
#include "replay_engine/comparison/difference.h"

namespace pf::app {

/// What a receive took or a probe saw.
struct Taken {
  std::uint32_t comm = kNone;
  Tag wantedTag = kAnyTag;
  Rank source = kUnknownRank;
  Tag tag = kAnyTag;
  std::uint32_t message = kNone;
  bool cancelled = false;
  Serial post = 0;  ///< event that posted it, for a receive
};

inline std::optional<Taken> takenAt(const Execution& execution, Rank rank,
                                    const DifferenceSide& side) {
  const RankHistory& history = execution.ranks[static_cast<std::size_t>(rank)];
  if (side.receive < history.receives.size()) {
    const PostedReceive& r = history.receives[side.receive];
    return Taken{r.comm, r.wantedTag, r.source,
                 r.tag,  r.message,   r.state == ReceiveState::Cancelled,
                 r.post};
  }
  if (side.probe < history.probes.size()) {
    const ProbeHit& p = history.probes[side.probe];
    return Taken{p.comm, p.wantedTag, p.source, p.tag, p.message, false, 0};
  }
  return std::nullopt;
}

/// "5", "5 (A), 3 (B)", "5 (A only)": a serial of 0 is none.
inline std::string serialsText(Serial a, Serial b) {
  if (a == b) {
    return std::to_string(a);
  }
  if (a == 0 || b == 0) {
    return std::to_string(a + b) + (b == 0 ? " (A only)" : " (B only)");
  }
  return std::to_string(a) + " (A), " + std::to_string(b) + " (B)";
}

/// The indices that a call returned, from what the log says of it.
inline std::vector<std::uint64_t> indices(const std::vector<std::uint64_t>& payload, bool some) {
  if (payload.empty() || payload.front() == 0) {
    return {};
  }
  return some ? std::vector<std::uint64_t>(payload.begin() + 1, payload.end())
              : std::vector<std::uint64_t>{payload.front() - 1};
}

/// One of the two recordings at a difference.
class ReportedSide {
 public:
  ReportedSide(const ComparedTrace& trace, const Difference& difference, const DifferenceSide& side)
      : m_trace(trace),
        m_execution(trace.execution()),
        m_difference(difference),
        m_side(side),
        m_here{difference.rank, difference.serial},
        taken(takenAt(m_execution, difference.rank, side)) {}

  [[nodiscard]] bool there() const { return m_side.there; }
  [[nodiscard]] std::string place() const { return eventText(m_execution, m_here); }
  [[nodiscard]] std::string communicator() const {
    return taken && taken->comm < m_execution.communicators.size()
               ? m_execution.communicators[taken->comm].name
               : "";
  }

  void putEvent(nlohmann::json& out) const { putPlace(out, m_execution, m_here); }

  [[nodiscard]] nlohmann::json asJson() const {
    nlohmann::json out = nlohmann::json::object();
    if (m_difference.onlyFailedPolls && !m_side.there) {
      out["failed"] = m_side.failedPolls;
      return out;
    }
    if (!m_side.there) {
      out["ended"] = endText();
      out["exitStatus"] =
          info().exitStatus ? nlohmann::json(*info().exitStatus) : nlohmann::json(nullptr);
      out["signal"] =
          info().exitSignal ? nlohmann::json(*info().exitSignal) : nlohmann::json(nullptr);
      return out;
    }
    if (isOtherCall()) {
      putCall(out);
      return out;
    }
    nlohmann::json receive = nlohmann::json::object();
    putPlace(receive, m_execution, m_here);
    receive.erase("rank");
    if (taken && taken->post != 0 && taken->post != m_difference.serial) {
      nlohmann::json posted = nlohmann::json::object();
      putPlace(posted, m_execution, {m_difference.rank, taken->post});
      posted.erase("rank");
      receive["posted"] = posted;
    }
    out["receive"] = receive;
    putOutcome(out);
    return out;
  }

  [[nodiscard]] std::string text() const {
    if (m_difference.onlyFailedPolls) {
      return std::to_string(m_side.failedPolls) + " failed tests" +
             (m_side.there ? " before it" : " at the end");
    }
    if (!m_side.there) {
      return endText();
    }
    if (isOtherCall()) {
      return (m_difference.kind == DifferenceKind::End ? "goes on with " : "") + callText();
    }
    std::string words = m_side.payload.empty() ? "" : indexText();
    if (taken) {
      words += (words.empty() ? "" : ": ") + takenText();
    }
    return words.empty() ? "completed none of these" : words;
  }

 private:
  [[nodiscard]] bool isOtherCall() const {
    return m_difference.otherCall || m_difference.kind == DifferenceKind::End;
  }
  [[nodiscard]] const db::RankInfo& info() const {
    return m_trace.loaded.store.ranks()[static_cast<std::size_t>(m_difference.rank)];
  }
  [[nodiscard]] const Event& event() const {
    return m_execution.ranks[static_cast<std::size_t>(m_difference.rank)]
        .events[m_difference.serial - 1];
  }
  [[nodiscard]] bool some() const { return m_execution.callNames[event().call].ends_with("some"); }

  [[nodiscard]] std::string endText() const {
    const auto events =
        m_execution.ranks[static_cast<std::size_t>(m_difference.rank)].events.size();
    std::string words = info().complete ? "finished" : info().state;
    if (words.empty() || words.find("event") == std::string::npos) {
      words +=
          (words.empty() ? "ended" : "") + std::string(" after event ") + std::to_string(events);
    }
    if (info().exitSignal) {
      words += ", signal " + std::to_string(*info().exitSignal);
    } else if (info().exitStatus) {
      words += ", exit status " + std::to_string(*info().exitStatus);
    }
    return words;
  }

  [[nodiscard]] std::string callText() const {
    const Event& e = event();
    std::string words = place();
    if (e.kind == EventKind::Collective || e.kind == EventKind::CollectivePost) {
      words += e.peer >= 0 ? ", root rank " + std::to_string(e.peer) : "";
    }
    if (e.bytes != 0) {
      words += ", " + std::to_string(e.bytes) + " bytes";
    }
    if (e.comm < m_execution.communicators.size() && m_execution.communicators[e.comm].key != 0) {
      words += ", on " + m_execution.communicators[e.comm].name;
    }
    return words;
  }

  [[nodiscard]] std::string indexText() const {
    std::string words = "returned";
    for (const std::uint64_t index : indices(m_side.payload, some())) {
      words += " " + std::to_string(index);
    }
    return words == "returned" ? "returned no index" : words;
  }

  [[nodiscard]] std::string takenText() const {
    if (taken->cancelled) {
      return "was cancelled";
    }
    std::string words = m_side.probe != kNone ? "saw" : "took";
    words += " rank " + std::to_string(taken->source) + "'s tag " + std::to_string(taken->tag);
    if (taken->message >= m_execution.messages.size()) {
      return words + ", whose send is not in the record";
    }
    const EventRef send = m_execution.messages[taken->message].send;
    return words + ": its event " + std::to_string(send.serial) + ", " +
           eventText(m_execution, send);
  }

  void putCall(nlohmann::json& out) const {
    putEvent(out);
    out.erase("rank");
    out["kind"] = kindText(event().kind);
    out["peer"] = event().peer;
    out["tag"] = event().tag;
    out["bytes"] = event().bytes;
    out["communicator"] = event().comm < m_execution.communicators.size()
                              ? nlohmann::json(m_execution.communicators[event().comm].name)
                              : nlohmann::json(nullptr);
  }

  void putOutcome(nlohmann::json& out) const {
    if (m_difference.onlyFailedPolls) {
      out["failed"] = m_side.failedPolls;
    }
    if (!m_side.payload.empty()) {
      out["indices"] = indices(m_side.payload, some());
    }
    if (taken && taken->cancelled) {
      out["cancelled"] = true;
    } else if (taken) {
      if (taken->message < m_execution.messages.size()) {
        putPlace(out, m_execution, m_execution.messages[taken->message].send);
        out.erase("rank");
      } else {
        out["serial"] = nullptr;
      }
      out["source"] = taken->source;
      out["tag"] = taken->tag;
    }
  }

  const ComparedTrace& m_trace;
  const Execution& m_execution;
  const Difference& m_difference;
  const DifferenceSide& m_side;
  EventRef m_here;

 public:
  std::optional<Taken> taken;
};

}  // namespace pf::app
