// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish diff: what differs between two recordings, for people and as JSON.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "app/collation/event_text.h"
#include "app/replaying/compared_trace.h"
#include "app/replaying/other_contents.h"
#include "app/reports/report.h"
#include "replay_engine/base/text_stream.h"

namespace pf::app {
namespace {

using nlohmann::json;

const char* nameOf(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::Delivery:
      return "delivery";
    case DifferenceKind::Probe:
      return "probe";
    case DifferenceKind::Outcome:
      return "outcome";
    case DifferenceKind::Call:
      return "call";
    case DifferenceKind::End:
      return "end";
  }
  return "";
}

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

std::optional<Taken> takenAt(const Execution& execution, Rank rank, const DifferenceSide& side) {
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

/// The indices that a call returned, from what the log says of it.
std::vector<std::uint64_t> indices(const std::vector<std::uint64_t>& payload, bool some) {
  if (payload.empty() || payload.front() == 0) {
    return {};
  }
  return some ? std::vector<std::uint64_t>(payload.begin() + 1, payload.end())
              : std::vector<std::uint64_t>{payload.front() - 1};
}

/// One of the two recordings at a difference.
class Side {
 public:
  Side(const ComparedTrace& trace, const Difference& difference, const DifferenceSide& side)
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

  void putEvent(json& out) const { putPlace(out, m_execution, m_here); }

  [[nodiscard]] json asJson() const {
    json out = json::object();
    if (m_difference.onlyFailedPolls && !m_side.there) {
      out["failed"] = m_side.failedPolls;
      return out;
    }
    if (!m_side.there) {
      out["ended"] = endText();
      out["exitStatus"] = info().exitStatus ? json(*info().exitStatus) : json(nullptr);
      out["signal"] = info().exitSignal ? json(*info().exitSignal) : json(nullptr);
      return out;
    }
    if (isOtherCall()) {
      putCall(out);
      return out;
    }
    json receive = json::object();
    putPlace(receive, m_execution, m_here);
    receive.erase("rank");
    if (taken && taken->post != 0 && taken->post != m_difference.serial) {
      json posted = json::object();
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

  void putCall(json& out) const {
    putEvent(out);
    out.erase("rank");
    out["kind"] = kindText(event().kind);
    out["peer"] = event().peer;
    out["tag"] = event().tag;
    out["bytes"] = event().bytes;
    out["communicator"] = event().comm < m_execution.communicators.size()
                              ? json(m_execution.communicators[event().comm].name)
                              : json(nullptr);
  }

  void putOutcome(json& out) const {
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

json coneJson(const std::vector<Serial>& a, const std::vector<Serial>& b) {
  const auto list = [](const std::vector<Serial>& cone) {
    json out = json::array();
    for (const Serial serial : cone) {
      out.push_back(serial == 0 ? json(nullptr) : json(serial));
    }
    return out;
  };
  return {{"a", list(a)}, {"b", list(b)}};
}

json differenceJson(const ComparedTraces& traces, const Difference& difference) {
  const Side a(traces.a, difference, difference.a);
  const Side b(traces.b, difference, difference.b);
  json out = {
      {"kind", nameOf(difference.kind)}, {"call", nullptr}, {"file", nullptr}, {"line", nullptr}};
  if (a.there() || b.there()) {
    (a.there() ? a : b).putEvent(out);
  }
  out.erase("rank");
  out["serial"] = difference.serial == 0 ? json(nullptr) : json(difference.serial);
  const Side& named = a.taken ? a : b;
  out["communicator"] = named.taken ? json(named.communicator()) : json(nullptr);
  out["tag"] = named.taken && named.taken->wantedTag != kAnyTag ? json(named.taken->wantedTag)
                                                                : json(nullptr);
  out["k"] = difference.ordinal == 0 ? json(nullptr) : json(difference.ordinal);
  out["a"] = a.asJson();
  out["b"] = b.asJson();
  out["cause"] = difference.cause;
  out["after"] = difference.after;
  if (difference.cause && !difference.coneA.empty()) {
    out["cone"] = coneJson(difference.coneA, difference.coneB);
  }
  return out;
}

json documentOf(const ComparedTraces& traces, const Comparison& comparison) {
  json ranks = json::array();
  for (std::size_t i = 0; i < comparison.ranks.size(); ++i) {
    const auto& failedPolls = comparison.failedPolls[i];
    ranks.push_back(
        {{"rank", i},
         {"events",
          {{"a", traces.a.execution().ranks[i].events.size()},
           {"b", traces.b.execution().ranks[i].events.size()}}},
         {"compared", comparison.compared[i]},
         {"difference",
          comparison.ranks[i] ? differenceJson(traces, *comparison.ranks[i]) : json(nullptr)},
         {"failedTests",
          failedPolls
              ? json{{"serial", failedPolls->event == 0 ? json(nullptr) : json(failedPolls->event)},
                     {"a", failedPolls->a},
                     {"b", failedPolls->b}}
              : json(nullptr)}});
  }
  return {{"same", comparison.same()},
          {"sameBuild", traces.sameBuild},
          {"ranks", ranks},
          {"firstCauses", comparison.firstCauses},
          {"cone", coneJson(comparison.coneA, comparison.coneB)}};
}

/// "rank 2", "ranks 0-3, 7".
std::string rankList(const std::vector<Rank>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
      ++last;
    }
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    text += last > i ? "-" + std::to_string(ranks[last]) : "";
    i = last;
  }
  return text;
}

std::string ordinalText(std::uint32_t n) {
  const std::uint32_t last = n / 10 % 10 == 1 ? 0 : n % 10;
  return std::to_string(n) + (last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

/// ", 2nd receive of any tag on MPI_COMM_WORLD"
std::string receiveText(const Difference& difference, const Side& side) {
  if (!side.taken || difference.ordinal == 0) {
    return {};
  }
  return ", " + ordinalText(difference.ordinal) +
         (difference.kind == DifferenceKind::Probe ? " probe of " : " receive of ") +
         (side.taken->wantedTag == kAnyTag ? "any tag"
                                           : "tag " + std::to_string(side.taken->wantedTag)) +
         " on " + side.communicator();
}

std::string reachText(const Difference& difference) {
  constexpr std::size_t kMost = 6;
  std::string text;
  std::size_t reached = 0;
  for (std::size_t i = 0; i < difference.coneA.size(); ++i) {
    const Serial a = difference.coneA[i];
    const Serial b = difference.coneB[i];
    if (static_cast<Rank>(i) == difference.rank || (a == 0 && b == 0) || ++reached > kMost) {
      continue;
    }
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(i) + " from event ";
    text += a == b   ? std::to_string(a)
            : b == 0 ? std::to_string(a) + " (A only)"
            : a == 0 ? std::to_string(b) + " (B only)"
                     : std::to_string(a) + " (A), " + std::to_string(b) + " (B)";
  }
  return text + (reached > kMost ? " and " + std::to_string(reached - kMost) + " more ranks" : "");
}

/// What differs, without rank and event.
std::string whatText(const Difference& difference, const Side& a, const Side& b) {
  if (difference.otherCall) {
    return difference.kind == DifferenceKind::Call ? "another call" : "another test succeeded";
  }
  if (difference.kind == DifferenceKind::End) {
    return "another end";
  }
  return difference.serial != 0 ? a.place() + receiveText(difference, a.taken ? a : b)
                                : "failed tests";
}

/// What a first cause reaches or why it is one, or what the difference follows from; a line each.
std::vector<std::string> whyTexts(const Comparison& comparison, const Difference& difference) {
  std::vector<std::string> lines;
  const auto& failedPolls = comparison.failedPolls[static_cast<std::size_t>(difference.rank)];
  if (failedPolls && !difference.onlyFailedPolls) {
    lines.push_back("before it tests failed " + std::to_string(failedPolls->a) + " times in A, " +
                    std::to_string(failedPolls->b) + " in B (event " +
                    std::to_string(failedPolls->event) + ")");
  }
  if (difference.cause) {
    if (difference.kind == DifferenceKind::Call && !failedPolls) {
      lines.emplace_back("nothing recorded explains it: time, input or chance");
    }
    if (const std::string reach = reachText(difference); !reach.empty()) {
      lines.push_back("reaches " + reach);
    }
  } else if (!difference.after.empty()) {
    lines.push_back("follows " + rankList(difference.after));
  }
  return lines;
}

void putText(std::ostream& out, const ComparedTraces& traces, const Comparison& comparison,
             const Difference& difference) {
  const Side a(traces.a, difference, difference.a);
  const Side b(traces.b, difference, difference.b);
  out << "rank " << difference.rank;
  if (difference.serial != 0) {
    out << " event " << difference.serial;
  }
  out << ": " << whatText(difference, a, b);
  out << "\n    A  " << a.text() << "\n    B  " << b.text() << "\n";
  for (const std::string& line : whyTexts(comparison, difference)) {
    out << "    " << line << "\n";
  }
}

/// First causes, then what follows, then those of which only failed tests differ.
std::vector<const Difference*> inOrder(const Comparison& comparison) {
  std::vector<const Difference*> differences;
  for (const std::optional<Difference>& each : comparison.ranks) {
    if (each) {
      differences.push_back(&*each);
    }
  }
  const auto section = [](const Difference* each) {
    return each->cause ? 0 : each->onlyFailedPolls ? 2 : 1;
  };
  std::stable_sort(
      differences.begin(), differences.end(),
      [&](const Difference* a, const Difference* b) { return section(a) < section(b); });
  return differences;
}

void putHeader(std::ostream& out, const ComparedTraces& traces) {
  const auto line = [&](const char* name, const ComparedTrace& trace) {
    const db::RunInfo& run = trace.loaded.store.run();
    out << name << "  " << trace.path << ", recorded " << run.createdUtc;
    for (const std::string& word : run.command) {
      out << (&word == run.command.data() ? ": " : " ") << word;
    }
    out << "\n";
  };
  line("A", traces.a);
  line("B", traces.b);
  if (!traces.sameBuild) {
    out << "program or libraries are of different builds: places of calls are not compared\n";
  }
}

std::string textOf(const ComparedTraces& traces, const Comparison& comparison) {
  TextStream out;
  putHeader(out, traces);
  std::vector<Rank> same;
  std::uint64_t events = 0;
  for (std::size_t i = 0; i < comparison.ranks.size(); ++i) {
    events += comparison.compared[i];
    if (!comparison.ranks[i]) {
      same.push_back(static_cast<Rank>(i));
    }
  }
  const std::vector<const Difference*> differences = inOrder(comparison);
  if (differences.empty()) {
    out << "the same: " << comparison.ranks.size() << " ranks, " << events << " events compared\n";
    return out.str();
  }
  out << "differ on " << differences.size() << " of " << comparison.ranks.size() << " ranks\n";
  const char* title = "";
  for (const Difference* each : differences) {
    const char* const needed = each->cause             ? "\nfirst causes\n"
                               : each->onlyFailedPolls ? "\nonly failed tests\n"
                                                       : "\nwhat follows\n";
    if (std::string_view(title) != needed) {
      out << (title = needed);
    }
    putText(out, traces, comparison, *each);
  }
  if (!same.empty()) {
    out << "\nthe same calls and outcomes: " << rankList(same) << "\n";
  }
  return out.str();
}

}  // namespace

Result<DiffReport> diffReport(const std::string& a, const std::string& b, bool asJson) {
  Result<ComparedTraces> traces = loadCompared(a, b);
  if (!traces) {
    return traces.error();
  }
  const Comparison comparison =
      compareExecutions(traces->a.run(), traces->b.run(), traces->sameBuild);
  const Result<std::vector<EventRef>> contents = otherContents(*traces, comparison);
  if (!contents) {
    return contents.error();
  }
  if (!asJson) {
    return DiffReport{
        textOf(*traces, comparison) + otherContentsText(traces->a.execution(), *contents),
        comparison.same()};
  }
  json document = documentOf(*traces, comparison);
  document["otherContents"] = json::array();
  for (const EventRef& event : *contents) {
    putPlace(document["otherContents"].emplace_back(), traces->a.execution(), event);
  }
  return DiffReport{dump(document), comparison.same()};
}

Result<DifferenceTable> differenceTable(const std::string& a, const std::string& b) {
  Result<ComparedTraces> traces = loadCompared(a, b);
  if (!traces) {
    return traces.error();
  }
  Comparison comparison = compareExecutions(traces->a.run(), traces->b.run(), traces->sameBuild);
  DifferenceTable table;
  table.same = comparison.same();
  table.sameBuild = traces->sameBuild;
  for (const Difference* each : inOrder(comparison)) {
    const Side sideA(traces->a, *each, each->a);
    const Side sideB(traces->b, *each, each->b);
    DifferenceLine line{each->rank,   each->serial, each->cause, whatText(*each, sideA, sideB),
                        sideA.text(), sideB.text(), {}};
    for (const std::string& why : whyTexts(comparison, *each)) {
      line.why += (line.why.empty() ? "" : "; ") + why;
    }
    table.lines.push_back(std::move(line));
  }
  table.coneA = std::move(comparison.coneA);
  table.coneB = std::move(comparison.coneB);
  return table;
}

}  // namespace pf::app
