// SPDX-License-Identifier: GPL-3.0-or-later
// CSV (RFC 4180), one row an event. As a plugin would: of a trace it knows what plugin.h says.
#include "app/export/formats.h"

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
  void add(std::int32_t rank, std::uint64_t serial) {
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
Matched matchedWith(const photofinish::Trace& trace, const photofinish::Event& event) {
  const bool both = event.kind == photofinish::EventKind::SendReceive;
  Matched matched;
  for (const photofinish::Receive& receive : trace.receivedAt(event.at)) {
    if (!receive.cancelled) {
      matched.add(receive.source, trace.message(receive.message).sent.serial);
    }
  }
  if (both && matched.count() == 0) {
    matched.addNothing();
  }
  for (const std::uint64_t sent : trace.sentAt(event.at)) {
    if (const photofinish::Message message = trace.message(sent); message.posted.valid()) {
      matched.add(message.destination, message.received.serial);
    }
  }
  if (both && matched.count() == 1) {
    matched.addNothing();
  }
  return matched;
}

const char* kindName(photofinish::EventKind kind) {
  switch (kind) {
    case photofinish::EventKind::Send:
      return "send";
    case photofinish::EventKind::Receive:
      return "receive";
    case photofinish::EventKind::SendReceive:
      return "send-receive";
    case photofinish::EventKind::Post:
      return "post";
    case photofinish::EventKind::Completion:
      return "completion";
    case photofinish::EventKind::Probe:
      return "probe";
    case photofinish::EventKind::Collective:
      return "collective";
    case photofinish::EventKind::CollectivePost:
      return "collective-post";
    case photofinish::EventKind::Local:
      return "local";
    case photofinish::EventKind::Start:
      return "start";
    case photofinish::EventKind::Unknown:
      break;
  }
  return "";
}

bool hasEnvelope(photofinish::EventKind kind) {
  using enum photofinish::EventKind;
  return kind == Send || kind == Receive || kind == SendReceive || kind == Post || kind == Probe;
}

std::string row(const photofinish::Trace& trace, const photofinish::Event& event) {
  const photofinish::Site site = trace.site(event.site);
  const Matched matched = matchedWith(trace, event);
  const bool envelope = hasEnvelope(event.kind);
  const std::string fields[] = {
      std::to_string(event.at.rank),
      std::to_string(event.at.serial),
      event.call.string(),
      kindName(event.kind),
      trace.communicator(event.communicator).name.string(),
      envelope || event.peer >= 0 ? wildcardOr(event.peer, photofinish::kAny) : "",
      envelope ? wildcardOr(event.tag, photofinish::kAny) : "",
      std::to_string(event.bytes),
      matched.ranks,
      matched.serials,
      site.file.string(),
      site.file.empty() ? "" : std::to_string(site.line),
      event.racing ? "yes" : "no",
      std::to_string(event.logicalTime),
      event.timed ? std::to_string(event.begin) : "",
      event.timed ? std::to_string(event.end - event.begin) : ""};
  std::string line;
  for (const std::string& field : fields) {
    line += (line.empty() ? "" : ",") + quoted(field);
  }
  return line + "\n";
}

}  // namespace

void exportCsv(const photofinish::Trace& trace, photofinish::Output& out) {
  out.write(
      "rank,serial,call,kind,communicator,peer,tag,bytes,matched_rank,matched_serial,file,line,"
      "racing,logical_time,time_ns,duration_ns\n");
  for (std::int32_t rank = 0; rank < trace.ranks(); ++rank) {
    for (std::uint64_t serial = 1; serial <= trace.events(rank); ++serial) {
      out.write(row(trace, trace.event({rank, serial})));
    }
  }
}

}  // namespace pf::app
