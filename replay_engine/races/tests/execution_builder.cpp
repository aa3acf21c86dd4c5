// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/races/tests/execution_builder.h"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace pf::test {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  return std::string(text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in{std::string(text)};
  for (std::string part; std::getline(in, part, separator);) {
    if (const std::string word = trimmed(part); !word.empty()) {
      parts.push_back(word);
    }
  }
  return parts;
}

struct Envelope {
  Rank rank = kAnySource;
  Tag tag = 0;
  std::uint32_t comm = 0;
};

/// What a request name stands for.
struct Request {
  enum class Kind { Receive, Send, Collective } kind;
  std::size_t index;
};

class Parser {
 public:
  explicit Parser(std::string_view text) {
    m_execution.communicators.push_back({0, "MPI_COMM_WORLD", {}, {}});
    m_execution.callNames = {"MPI_Call", "MPI_Cancel"};
    for (const std::string& line : split(text, '\n')) {
      line.starts_with("comm ") ? addComm(line.substr(5)) : addLine(line);
    }
    for (std::size_t rank = 0; rank < m_execution.ranks.size(); ++rank) {
      m_execution.communicators[0].group.push_back(static_cast<Rank>(rank));
    }
  }

  Execution take() {
    matchMessages(m_execution);
    return std::move(m_execution);
  }

 private:
  void addComm(const std::string& text) {
    const std::size_t colon = text.find(':');
    const std::size_t bar = text.find('|');
    Communicator comm{m_execution.communicators.size(), trimmed(text.substr(0, colon)), {}, {}};
    comm.group = ranks(text.substr(colon + 1, bar == std::string::npos ? bar : bar - colon - 1));
    if (bar != std::string::npos) {
      comm.remote = ranks(text.substr(bar + 1));
    }
    m_execution.communicators.push_back(comm);
  }

  static std::vector<Rank> ranks(const std::string& text) {
    std::vector<Rank> result;
    for (const std::string& word : split(text, ' ')) {
      result.push_back(std::stoi(word));
    }
    return result;
  }

  void addLine(const std::string& line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
      throw std::runtime_error("no rank in '" + line + "'");
    }
    m_rank = std::stoul(line.substr(0, colon));
    m_execution.ranks.resize(std::max(m_execution.ranks.size(), m_rank + 1));
    m_requests.resize(m_execution.ranks.size());
    m_ordinals.resize(m_execution.ranks.size());
    for (const std::string& event : split(line.substr(colon + 1), ';')) {
      addEvent(event);
    }
  }

  void addEvent(const std::string& text) {
    history().events.emplace_back();
    const std::vector<std::string> calls = split(text, '&');
    for (const std::string& call : calls) {
      addCall(call);
    }
    if (calls.size() > 1) {
      history().events.back().kind = EventKind::Start;
    }
  }

  void addCall(const std::string& text) {
    const std::size_t space = text.find(' ');
    const std::string verb = text.substr(0, space);
    const std::string rest = space == std::string::npos ? "" : trimmed(text.substr(space));
    if (verb == "wait") {
      wait(rest);
      return;
    }
    const std::vector<std::string> halves = split(rest, '=');
    std::vector<std::string> words = halves.empty() ? halves : split(halves[0], ' ');
    const std::string outcome = halves.size() > 1 ? halves[1] : "";
    if (verb == "send" || verb == "isend" || verb == "ssend" || verb == "issend") {
      send(verb, words);
    } else if (verb == "recv" || verb == "mprobe") {
      kind(EventKind::Receive);
      receive(words.at(0), outcome);
    } else if (verb == "sendrecv") {
      send("send", {words.at(0)});
      kind(EventKind::SendReceive);
      receive(words.at(1), outcome);
    } else if (verb == "irecv") {
      kind(EventKind::Post);
      post(words.at(0));
      m_requests[m_rank][words.at(1)] = {Request::Kind::Receive, history().receives.size() - 1};
    } else if (verb == "cancel") {
      history().events.back().call = 1;
    } else if (verb == "probe") {
      probe(words.at(0), outcome);
    } else if (verb != "local" && !collective(verb, words)) {
      throw std::runtime_error("cannot read '" + text + "'");
    }
  }

  void send(const std::string& verb, const std::vector<std::string>& words) {
    kind(EventKind::Send);
    const Envelope to = envelope(words.at(0));
    SentMessage message{serial(), to.comm, to.rank, to.tag, verb == "ssend" || verb == "issend", 0};
    message.syncCompletion = verb == "ssend" ? serial() : 0;
    history().sends.push_back(message);
    if (words.size() > 1) {
      m_requests[m_rank][words[1]] = {Request::Kind::Send, history().sends.size() - 1};
    }
  }

  PostedReceive& post(const std::string& wanted) {
    const Envelope asked = envelope(wanted);
    PostedReceive receive;
    receive.post = serial();
    receive.comm = asked.comm;
    receive.wantedSource = asked.rank;
    receive.wantedTag = asked.tag;
    return history().receives.emplace_back(receive);
  }

  void receive(const std::string& wanted, const std::string& outcome) {
    complete(post(wanted), outcome);
  }

  void complete(PostedReceive& receive, const std::string& outcome) {
    const Envelope came =
        outcome.empty() ? Envelope{receive.wantedSource, receive.wantedTag, 0} : envelope(outcome);
    receive.completion = serial();
    receive.state = ReceiveState::Complete;
    receive.source = came.rank;
    receive.tag = came.tag;
  }

  void probe(const std::string& wanted, const std::string& outcome) {
    kind(EventKind::Probe);
    const Envelope asked = envelope(wanted);
    const Envelope came = outcome.empty() ? asked : envelope(outcome);
    history().probes.push_back({serial(), asked.comm, asked.rank, asked.tag, came.rank, came.tag,
                                static_cast<std::uint32_t>(history().receives.size()), kNone});
  }

  void wait(const std::string& requests) {
    kind(EventKind::Completion);
    for (const std::string& text : split(requests, ',')) {
      const std::vector<std::string> halves = split(text, '=');
      const std::vector<std::string> words = split(halves.at(0), ' ');
      const auto found = m_requests[m_rank].find(words.at(0));
      if (found == m_requests[m_rank].end()) {
        throw std::runtime_error("no request '" + words[0] + "'");
      }
      const Request request = found->second;
      if (request.kind == Request::Kind::Send) {
        history().sends[request.index].syncCompletion = serial();
      } else if (request.kind == Request::Kind::Collective) {
        history().collectives[request.index].completion = serial();
      } else if (words.size() > 1 && words[1] == "cancelled") {
        history().receives[request.index].state = ReceiveState::Cancelled;
        history().receives[request.index].completion = serial();
      } else {
        complete(history().receives[request.index], halves.size() > 1 ? halves[1] : "");
      }
    }
  }

  bool collective(const std::string& verb, const std::vector<std::string>& words) {
    static const std::map<std::string, CollectiveFlow> kFlows = {
        {"barrier", CollectiveFlow::AllToAll}, {"allreduce", CollectiveFlow::AllToAll},
        {"bcast", CollectiveFlow::FromRoot},   {"reduce", CollectiveFlow::ToRoot},
        {"scan", CollectiveFlow::FromLower},   {"free", CollectiveFlow::None}};
    const bool posted = verb.starts_with('i') && kFlows.contains(verb.substr(1));
    const auto flow = kFlows.find(posted ? verb.substr(1) : verb);
    if (flow == kFlows.end()) {
      return false;
    }
    kind(posted ? EventKind::CollectivePost : EventKind::Collective);
    CollectivePart part;
    part.event = serial();
    part.completion = posted ? 0 : serial();
    part.flow = flow->second;
    part.comm = 0;
    for (const std::string& word : words) {
      if (word.starts_with('@')) {
        part.comm = communicator(word.substr(1));
      } else if (word == "-give") {
        part.contributes = false;
      } else if (word == "-take") {
        part.takes = false;
      } else if (word.find_first_not_of("0123456789") == std::string::npos) {
        part.root = std::stoi(word);
      } else {
        m_requests[m_rank][word] = {Request::Kind::Collective, history().collectives.size()};
      }
    }
    part.ordinal = m_ordinals[m_rank][part.comm]++;
    history().collectives.push_back(part);
    return true;
  }

  Envelope envelope(std::string text) const {
    Envelope result;
    if (const std::size_t at = text.find('@'); at != std::string::npos) {
      result.comm = communicator(text.substr(at + 1));
      text.resize(at);
    }
    const std::vector<std::string> parts = split(text, ':');
    result.rank = parts.at(0) == "*" ? kAnySource : std::stoi(parts[0]);
    if (parts.size() > 1) {
      result.tag = parts[1] == "*" ? kAnyTag : std::stoi(parts[1]);
    }
    return result;
  }

  std::uint32_t communicator(const std::string& name) const {
    for (std::size_t i = 0; i < m_execution.communicators.size(); ++i) {
      if (m_execution.communicators[i].name == name) {
        return static_cast<std::uint32_t>(i);
      }
    }
    throw std::runtime_error("no communicator '" + name + "'");
  }

  RankHistory& history() { return m_execution.ranks[m_rank]; }
  Serial serial() { return history().events.size(); }
  void kind(EventKind kind) { history().events.back().kind = kind; }

  Execution m_execution;
  std::size_t m_rank = 0;
  std::vector<std::map<std::string, Request>> m_requests;
  std::vector<std::map<std::uint32_t, std::uint32_t>> m_ordinals;
};

}  // namespace

Execution parseExecution(std::string_view text) {
  return Parser(text).take();
}

std::string messageText(const Execution& execution, std::uint32_t message) {
  if (message >= execution.messages.size()) {
    return "-";
  }
  const EventRef send = execution.messages[message].send;
  return std::to_string(send.rank) + '@' + std::to_string(send.serial);
}

std::string toText(const Execution& execution, const std::vector<Race>& races) {
  std::string text;
  for (const Race& race : races) {
    const RankHistory& history = execution.ranks.at(static_cast<std::size_t>(race.rank));
    const Serial serial =
        race.probe ? history.probes.at(race.index).event : history.receives.at(race.index).post;
    text += race.probe ? "probe " : "";
    text += std::to_string(race.rank) + '@' + std::to_string(serial) + ": " +
            messageText(execution, race.taken) + " |";
    for (const std::uint32_t alternative : race.alternatives) {
      text += ' ' + messageText(execution, alternative);
    }
    text += '\n';
  }
  return text;
}

}  // namespace pf::test
