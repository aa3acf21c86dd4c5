// SPDX-License-Identifier: GPL-3.0-or-later
// CSV (RFC 4180), one row an event.
#include "app/export/exported_trace.h"
#include "app/files/text_output.h"

namespace pf::app {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string result = "\"";
  for (const char letter : text) {
    result += letter == '"' ? "\"\"" : std::string(1, letter);
  }
  return result + "\"";
}

std::string wildcardOr(std::int32_t number, std::int32_t wildcard) {
  return number == wildcard ? "any" : number < 0 ? "" : std::to_string(number);
}

/// The other ends of an event's messages, lists separated by ';'.
class Matched {
 public:
  void add(Rank rank, Serial serial) {
    separate();
    ranks += std::to_string(rank);
    serials += serial == 0 ? "" : std::to_string(serial);
  }
  void addNothing() { separate(); }
  [[nodiscard]] int count() const { return m_count; }

  std::string ranks;
  std::string serials;

 private:
  void separate() {
    ranks += m_count > 0 ? ";" : "";
    serials += m_count > 0 ? ";" : "";
    ++m_count;
  }
  int m_count = 0;
};

/// An MPI_Sendrecv has two: whom it received from, and whom it sent to; either can be nobody.
Matched matchedWith(const ExportedTrace& trace, EventRef ref) {
  const Execution& execution = trace.execution();
  const RankHistory& history = execution.ranks[static_cast<std::size_t>(ref.rank)];
  const RankIndex& index = trace.index[static_cast<std::size_t>(ref.rank)];
  const bool both = trace.event(ref).kind == EventKind::SendReceive;
  Matched matched;
  const auto addSend = [&](Rank source, std::uint32_t message) {
    const bool known = message < execution.messages.size();
    matched.add(source, known ? Serial{execution.messages[message].send.serial} : 0);
  };
  index.completions.each(ref.serial, [&](std::uint32_t i) {
    if (history.receives[i].state == ReceiveState::Complete) {
      addSend(history.receives[i].source, history.receives[i].message);
    }
  });
  index.probes.each(ref.serial, [&](std::uint32_t i) {
    addSend(history.probes[i].source, history.probes[i].message);
  });
  if (both && matched.count() == 0) {
    matched.addNothing();
  }
  index.messages.each(ref.serial, [&](std::uint32_t i) {
    if (const Message& message = execution.messages[i]; message.post != kNone) {
      matched.add(message.dest, message.completion);
    }
  });
  if (both && matched.count() == 1) {
    matched.addNothing();
  }
  return matched;
}

std::string row(const ExportedTrace& trace, EventRef ref) {
  const Event& event = trace.event(ref);
  const CallSite* site = trace.site(event);
  const Matched matched = matchedWith(trace, ref);
  const bool envelope = hasEnvelope(event.kind);
  const std::string fields[] = {
      std::to_string(ref.rank),
      std::to_string(ref.serial),
      trace.callName(event),
      kindText(event.kind),
      trace.communicatorName(event),
      envelope || event.peer >= 0 ? wildcardOr(event.peer, kAnySource) : "",
      envelope ? wildcardOr(event.tag, kAnyTag) : "",
      std::to_string(event.bytes),
      matched.ranks,
      matched.serials,
      site != nullptr ? site->file : "",
      site != nullptr ? std::to_string(site->line) : "",
      trace.races(ref) ? "yes" : "no",
      std::to_string(trace.time(ref)),
      trace.timed() ? std::to_string(trace.span(ref).begin) : "",
      trace.timed() ? std::to_string(trace.span(ref).end - trace.span(ref).begin) : ""};
  std::string line;
  for (const std::string& field : fields) {
    line += (line.empty() ? "" : ",") + quoted(field);
  }
  return line + "\n";
}

}  // namespace

Status exportCsv(const ExportedTrace& trace, TextOutput& out) {
  out.write(
      "rank,serial,call,kind,communicator,peer,tag,bytes,matched_rank,matched_serial,file,line,"
      "racing,logical_time,time_ns,duration_ns\n");
  trace.eachEvent([&](EventRef ref) { out.write(row(trace, ref)); });
  return {};
}

}  // namespace pf::app
