// SPDX-License-Identifier: GPL-3.0-or-later
#include <sstream>

#include "replay_engine/races/tests/oracle.h"

namespace pf::oracle {
namespace {

const char* nameOf(EventKind kind) {
  switch (kind) {
    case EventKind::Send:
      return "Send";
    case EventKind::Receive:
      return "Receive";
    case EventKind::SendReceive:
      return "SendReceive";
    case EventKind::Post:
      return "Post";
    case EventKind::Completion:
      return "Completion";
    case EventKind::Probe:
      return "Probe";
    case EventKind::Collective:
      return "Collective";
    case EventKind::CollectivePost:
      return "CollectivePost";
    case EventKind::Local:
      return "Local";
    case EventKind::Start:
      return "Start";
  }
  return "?";
}

const char* nameOf(CollectiveFlow flow) {
  switch (flow) {
    case CollectiveFlow::None:
      return "none";
    case CollectiveFlow::AllToAll:
      return "all-to-all";
    case CollectiveFlow::FromRoot:
      return "from-root";
    case CollectiveFlow::ToRoot:
      return "to-root";
    case CollectiveFlow::FromLower:
      return "from-lower";
  }
  return "?";
}

std::string number(std::int64_t value) {
  return value == -1 ? "*" : value == -2 ? "?" : std::to_string(value);
}

std::string messageText(const Execution& execution, std::uint32_t index) {
  if (index >= execution.messages.size()) {
    return "m?";
  }
  const Message& m = execution.messages[index];
  std::ostringstream out;
  out << 'm' << index << '(' << m.send.rank << ':' << m.send.serial << "->" << m.dest << " tag "
      << m.tag << " comm " << m.comm << ')';
  return out.str();
}

void sendsOf(const Execution& execution, std::size_t rank, Serial serial, std::ostream& out) {
  for (std::uint32_t m = 0; m < execution.messages.size(); ++m) {
    const Message& message = execution.messages[m];
    if (message.send.rank != static_cast<Rank>(rank)) {
      continue;
    }
    const SentMessage& sent = execution.ranks[rank].sends[message.sendIndex];
    if (sent.event == serial) {
      out << "  sends " << messageText(execution, m) << (sent.synchronous ? " sync" : "");
    }
    if (sent.syncCompletion == serial) {
      out << "  sync-completes m" << m;
    }
  }
}

void receivesOf(const Execution& execution, const RankHistory& history, Serial serial,
                std::ostream& out) {
  for (std::size_t index = 0; index < history.receives.size(); ++index) {
    const PostedReceive& r = history.receives[index];
    if (r.post == serial) {
      out << "  posts r" << index << "(source " << number(r.wantedSource) << " tag "
          << number(r.wantedTag) << " comm " << r.comm << ")"
          << (r.state == ReceiveState::Pending ? " never completes" : "");
    }
    if (r.completion == serial) {
      out << (r.state == ReceiveState::Cancelled ? "  cancelled r" : "  completes r") << index;
      out << (r.state == ReceiveState::Cancelled ? ""
                                                 : " with " + messageText(execution, r.message));
    }
  }
  for (std::size_t index = 0; index < history.probes.size(); ++index) {
    const ProbeHit& p = history.probes[index];
    if (p.event == serial) {
      out << "  p" << index << "(source " << number(p.wantedSource) << " tag "
          << number(p.wantedTag) << " comm " << p.comm << ") after " << p.postsBefore
          << " posts sees " << messageText(execution, p.message);
    }
  }
}

void threadOf(const RankHistory& history, Serial serial, std::ostream& out) {
  if (history.events[serial - 1].lane != 0) {
    out << "  by thread " << history.events[serial - 1].lane;
  }
  for (const ThreadLink& link : history.threadLinks) {
    if (link.after == serial) {
      out << "  after " << link.before;
    }
  }
}

void collectivesOf(const RankHistory& history, Serial serial, std::ostream& out) {
  for (const CollectivePart& part : history.collectives) {
    if (part.event == serial) {
      out << "  enters " << part.comm << "#" << part.ordinal << " " << nameOf(part.flow) << " root "
          << number(part.root) << (part.contributes ? "" : " gives nothing")
          << (part.takes ? "" : " takes nothing");
    }
    if (part.completion == serial) {
      out << "  leaves " << part.comm << "#" << part.ordinal;
    }
  }
}

/// A message by its send, and which one if the event sends several.
std::string sendName(const Execution& execution, std::uint32_t index) {
  if (index >= execution.messages.size()) {
    return "?";
  }
  const Message& message = execution.messages[index];
  int before = 0;
  for (const Message& other : execution.messages) {
    before += other.send == message.send && other.sendIndex < message.sendIndex ? 1 : 0;
  }
  std::ostringstream out;
  out << message.send.rank << ':' << message.send.serial;
  if (before > 0) {
    out << '+' << before;
  }
  return out.str();
}

}  // namespace

std::set<std::string> toLines(const Execution& execution, const std::vector<Race>& races) {
  std::set<std::string> lines;
  for (const Race& race : races) {
    std::string line = std::to_string(race.rank) + (race.probe ? " p" : " r") +
                       std::to_string(race.index) + ": " + sendName(execution, race.taken) + " |";
    std::set<std::string> others;
    for (const std::uint32_t m : race.alternatives) {
      others.insert(sendName(execution, m));
    }
    for (const std::string& other : others) {
      line += ' ' + other;
    }
    lines.insert(line);
  }
  return lines;
}

std::string toText(const Execution& execution) {
  std::ostringstream out;
  for (std::size_t comm = 0; comm < execution.communicators.size(); ++comm) {
    out << "comm " << comm << ":";
    for (const Rank rank : execution.communicators[comm].group) {
      out << ' ' << rank;
    }
    out << '\n';
  }
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    const RankHistory& history = execution.ranks[rank];
    for (Serial serial = 1; serial <= history.events.size(); ++serial) {
      const Event& event = history.events[serial - 1];
      out << rank << ':' << serial << ' '
          << (event.call < execution.callNames.size() ? execution.callNames[event.call]
                                                      : nameOf(event.kind));
      sendsOf(execution, rank, serial, out);
      receivesOf(execution, history, serial, out);
      collectivesOf(history, serial, out);
      threadOf(history, serial, out);
      out << '\n';
    }
  }
  return out.str();
}

std::string toText(const Execution& execution, const std::vector<Race>& races) {
  std::ostringstream out;
  for (const Race& race : races) {
    out << "rank " << race.rank << (race.probe ? " p" : " r") << race.index << " took "
        << messageText(execution, race.taken) << ", could have taken";
    for (const std::uint32_t m : race.alternatives) {
      out << ' ' << messageText(execution, m);
    }
    out << '\n';
  }
  return races.empty() ? "no races\n" : out.str();
}

}  // namespace pf::oracle
