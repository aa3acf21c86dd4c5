// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/prediction/tests/small_program.h"

#include <algorithm>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>

namespace pf::prediction::test {
namespace {

const std::map<std::string, Do, std::less<>>& verbs() {
  static const std::map<std::string, Do, std::less<>> kVerbs = {{"local", Do::Local},
                                                                {"send", Do::Send},
                                                                {"bsend", Do::Bsend},
                                                                {"ssend", Do::Ssend},
                                                                {"isend", Do::Isend},
                                                                {"issend", Do::Issend},
                                                                {"recv", Do::Recv},
                                                                {"irecv", Do::Irecv},
                                                                {"mprobe", Do::Mprobe},
                                                                {"probe", Do::Probe},
                                                                {"recvprobed", Do::RecvProbed},
                                                                {"sendrecv", Do::Sendrecv},
                                                                {"wait", Do::Wait},
                                                                {"waitall", Do::Waitall},
                                                                {"waitany", Do::Waitany},
                                                                {"waitsome", Do::Waitsome}};
  return kVerbs;
}

const std::map<std::string, CollectiveFlow, std::less<>>& flows() {
  static const std::map<std::string, CollectiveFlow, std::less<>> kFlows = {
      {"barrier", CollectiveFlow::AllToAll},
      {"bcast", CollectiveFlow::FromRoot},
      {"reduce", CollectiveFlow::ToRoot},
      {"scan", CollectiveFlow::FromLower}};
  return kFlows;
}

class Parser {
 public:
  Program parse(std::string_view text) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      const std::size_t colon = line.find(':');
      const std::size_t first = line.find_first_not_of(' ');
      if (first == std::string::npos) {
        continue;
      }
      if (line.compare(first, 5, "comm ") == 0) {
        m_comms.emplace_back(line.substr(first + 5, colon - first - 5), line.substr(colon + 1));
        continue;
      }
      const auto rank = std::stoul(line.substr(first, colon - first));
      m_program.ranks.resize(std::max(m_program.ranks.size(), rank + 1));
      std::istringstream events(line.substr(colon + 1));
      for (std::string event; std::getline(events, event, ';');) {
        m_program.ranks[rank].push_back(operation(event));
      }
    }
    addCommunicators();
    return m_program;
  }

 private:
  void addCommunicators() {
    Communicator world{0, "MPI_COMM_WORLD", {}, {}};
    for (std::size_t rank = 0; rank < m_program.ranks.size(); ++rank) {
      world.group.push_back(static_cast<Rank>(rank));
    }
    m_program.communicators.push_back(world);
    for (const auto& [name, members] : m_comms) {
      Communicator made{m_program.communicators.size(), name, {}, {}};
      std::istringstream words(members);
      for (Rank rank = 0; words >> rank;) {
        made.group.push_back(rank);
      }
      m_program.communicators.push_back(made);
    }
  }

  Operation operation(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
      words.push_back(word);
    }
    if (words.empty()) {
      throw std::runtime_error("an empty event");
    }
    Operation made;
    const std::string verb = words.front();
    words.erase(words.begin());
    for (const std::string& word : words) {
      if (word.front() == '#') {
        made.bytes = std::stoull(word.substr(1));
      }
    }
    std::erase_if(words, [](const std::string& word) { return word.front() == '#'; });
    if (const auto found = verbs().find(verb); found != verbs().end()) {
      made.what = found->second;
      give(made, words);
      return made;
    }
    const bool posted = verb.front() == 'i';
    const auto flow = flows().find(posted ? verb.substr(1) : verb);
    if (flow == flows().end()) {
      throw std::runtime_error("cannot read '" + text + "'");
    }
    made.what = posted ? Do::Icollective : Do::Collective;
    made.flow = flow->second;
    giveCollective(made, words);
    return made;
  }

  void give(Operation& made, const std::vector<std::string>& words) {
    switch (made.what) {
      case Do::Wait:
      case Do::Waitall:
        made.requests = words;
        return;
      case Do::Sendrecv:
        envelope(words.at(0), made.peer, made.tag, made.comm);
        envelope(words.at(1), made.source, made.sourceTag, made.comm);
        return;
      case Do::Local:
      case Do::RecvProbed:
      case Do::Waitany:
      case Do::Waitsome:
        return;
      case Do::Send:
      case Do::Bsend:
      case Do::Ssend:
      case Do::Isend:
      case Do::Issend:
      case Do::Recv:
      case Do::Irecv:
      case Do::Mprobe:
      case Do::Probe:
      case Do::Collective:
      case Do::Icollective:
        break;
    }
    envelope(words.at(0), made.peer, made.tag, made.comm);
    made.request = words.size() > 1 ? words[1] : "";
  }

  void giveCollective(Operation& made, const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      if (word.front() == '@') {
        made.comm = communicator(word.substr(1));
      } else if (word.find_first_not_of("0123456789") == std::string::npos) {
        made.root = std::stoi(word);
      } else {
        made.request = word;
      }
    }
  }

  void envelope(std::string text, Rank& rank, Tag& tag, std::uint32_t& comm) const {
    if (const std::size_t at = text.find('@'); at != std::string::npos) {
      comm = communicator(text.substr(at + 1));
      text.resize(at);
    }
    const std::size_t colon = text.find(':');
    const std::string who = text.substr(0, colon);
    rank = who == "*" ? kAnySource : std::stoi(who);
    if (colon != std::string::npos) {
      const std::string what = text.substr(colon + 1);
      tag = what == "*" ? kAnyTag : std::stoi(what);
    }
  }

  [[nodiscard]] std::uint32_t communicator(const std::string& name) const {
    for (std::uint32_t i = 0; i < m_comms.size(); ++i) {
      if (m_comms[i].first == name) {
        return i + 1;
      }
    }
    throw std::runtime_error("no communicator '" + name + "'");
  }

  Program m_program;
  std::vector<std::pair<std::string, std::string>> m_comms;
};

/// Programs that mostly end: messages in some order, each with a send and a receive, then a little out of order.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : m_random(seed) {}

  Program make() {
    const int ranks = 2 + below(3);
    m_program.ranks.resize(static_cast<std::size_t>(ranks));
    m_any = chance(25);
    m_wild = 30 + below(60);
    m_tags = 1 + below(2);
    m_comms = chance(20) ? 2 : 1;
    m_synchronous = chance(40) ? 40 : 0;
    m_standard = chance(50);
    m_sized = chance(40);
    m_hub = chance(50);
    m_leftOver = chance(25) ? 20 : 0;
    m_open.resize(m_program.ranks.size());
    const int messages = 3 + below(7);
    for (int i = 0; i < messages; ++i) {
      addMessage();
      if (chance(15)) {
        addCollective();
      }
    }
    for (std::size_t rank = 0; rank < m_program.ranks.size(); ++rank) {
      waitForAll(rank);
    }
    swapSome();
    addCommunicators();
    return m_program;
  }

 private:
  int below(int limit) { return static_cast<int>(m_random() % static_cast<std::uint64_t>(limit)); }
  bool chance(int percent) { return below(100) < percent; }
  Rank anyRank() { return below(static_cast<int>(m_program.ranks.size())); }
  void put(Rank rank, const Operation& made) { m_program.ranks[index(rank)].push_back(made); }

  void addMessage() {
    const Rank source = anyRank();
    Rank dest = m_hub && chance(70) ? 0 : anyRank();
    if (dest == source) {
      dest = (source + 1) % static_cast<Rank>(m_program.ranks.size());
    }
    Operation send;
    const bool nonBlocking = chance(25);
    const bool synchronous = chance(m_synchronous);
    send.what = synchronous ? (nonBlocking ? Do::Issend : Do::Ssend)
                            : (nonBlocking || !m_standard || m_sends >= 4 ? Do::Isend : Do::Send);
    m_sends += send.what == Do::Send ? 1 : 0;
    send.peer = dest;
    send.tag = below(m_tags);
    send.comm = static_cast<std::uint32_t>(below(m_comms));
    send.bytes = m_sized ? std::optional<std::uint64_t>(chance(60) ? 8 : 16) : std::nullopt;
    if (send.what == Do::Issend) {
      open(source, send);
    }
    put(source, send);
    if (!chance(m_leftOver)) {
      addReceive(source, send, dest);
    }
  }

  void open(Rank rank, Operation& made) {
    made.request = "r" + std::to_string(m_requests++);
    m_open[index(rank)].push_back(made.request);
  }

  void addReceive(Rank source, const Operation& send, Rank dest) {
    Operation receive;
    receive.comm = send.comm;
    receive.peer = chance(m_wild) ? kAnySource : source;
    receive.tag = chance(30) ? kAnyTag : send.tag;
    receive.bytes = m_sized ? std::optional<std::uint64_t>(send.bytes == 8 && chance(70) ? 8 : 16)
                            : std::nullopt;
    const int kind = below(10);
    if (kind < 1) {
      receive.what = Do::Probe;
      put(dest, receive);
      receive.what = Do::RecvProbed;
      put(dest, receive);
    } else if (kind < 5) {
      receive.what = Do::Irecv;
      open(dest, receive);
      put(dest, receive);
    } else {
      receive.what = kind < 6 ? Do::Mprobe : Do::Recv;
      put(dest, receive);
    }
    if (chance(25)) {
      waitForOne(index(dest));
    }
  }

  void waitForOne(std::size_t rank) {
    std::vector<std::string>& requests = m_open[rank];
    if (requests.empty()) {
      return;
    }
    Operation wait;
    if (m_any) {
      wait.what = chance(70) ? Do::Waitany : Do::Waitsome;
      m_program.ranks[rank].push_back(wait);
      return;
    }
    const auto which = static_cast<std::size_t>(below(static_cast<int>(requests.size())));
    wait.what = Do::Wait;
    wait.requests = {requests[which]};
    requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(which));
    m_program.ranks[rank].push_back(wait);
  }

  void waitForAll(std::size_t rank) {
    if (m_open[rank].empty() || chance(10)) {
      return;  // some are never waited for
    }
    Operation wait;
    wait.what = Do::Waitall;
    wait.requests = m_open[rank];
    m_program.ranks[rank].push_back(wait);
  }

  void addCollective() {
    static const CollectiveFlow kFlows[] = {CollectiveFlow::AllToAll, CollectiveFlow::AllToAll,
                                            CollectiveFlow::FromRoot, CollectiveFlow::ToRoot,
                                            CollectiveFlow::FromLower};
    Operation made;
    made.what = Do::Collective;
    made.flow = kFlows[below(5)];
    made.root = anyRank();
    const bool posted = chance(20);
    for (std::size_t rank = 0; rank < m_program.ranks.size(); ++rank) {
      Operation mine = made;
      if (posted) {
        mine.what = Do::Icollective;
        open(static_cast<Rank>(rank), mine);
      }
      m_program.ranks[rank].push_back(mine);
    }
  }

  /// Neighbours of which neither waits for what the other makes.
  void swapSome() {
    for (std::vector<Operation>& events : m_program.ranks) {
      for (std::size_t i = 0; i + 1 < events.size(); ++i) {
        if (chance(15) && mayMove(events[i]) && mayMove(events[i + 1])) {
          std::swap(events[i], events[i + 1]);
        }
      }
    }
  }

  static bool mayMove(const Operation& made) {
    return made.what == Do::Send || made.what == Do::Recv || made.what == Do::Isend ||
           made.what == Do::Ssend || made.what == Do::Mprobe;
  }

  void addCommunicators() {
    for (int comm = 0; comm < m_comms; ++comm) {
      Communicator made{
          static_cast<std::uint64_t>(comm), comm == 0 ? "MPI_COMM_WORLD" : "other", {}, {}};
      for (std::size_t rank = 0; rank < m_program.ranks.size(); ++rank) {
        made.group.push_back(static_cast<Rank>(rank));
      }
      m_program.communicators.push_back(made);
    }
  }

  std::mt19937_64 m_random;
  Program m_program;
  std::vector<std::vector<std::string>> m_open;
  int m_requests = 0;
  int m_sends = 0;
  int m_wild = 50;
  int m_tags = 1;
  int m_comms = 1;
  int m_synchronous = 0;
  int m_leftOver = 0;
  bool m_any = false;
  bool m_standard = false;
  bool m_sized = false;
  bool m_hub = false;
};

std::string envelopeText(Rank rank, Tag tag, std::uint32_t comm) {
  std::string text = rank == kAnySource ? "*" : std::to_string(rank);
  text += ":" + (tag == kAnyTag ? std::string("*") : std::to_string(tag));
  return text + (comm == 0 ? "" : "@other");
}

std::string operationText(const Operation& made) {
  std::string text;
  for (const auto& [name, what] : verbs()) {
    text = what == made.what ? name : text;
  }
  for (const auto& [name, flow] : flows()) {
    if (made.flow == flow && made.flow != CollectiveFlow::None) {
      text = (made.what == Do::Icollective ? "i" : "") + name;
    }
  }
  const bool collective = made.what == Do::Collective || made.what == Do::Icollective;
  const bool bare = collective || made.what == Do::Waitany || made.what == Do::Waitsome ||
                    made.what == Do::Wait || made.what == Do::Waitall ||
                    made.what == Do::RecvProbed || made.what == Do::Local;
  text += bare ? "" : " " + envelopeText(made.peer, made.tag, made.comm);
  text +=
      made.what == Do::Sendrecv ? " " + envelopeText(made.source, made.sourceTag, made.comm) : "";
  text += collective && made.root >= 0 ? " " + std::to_string(made.root) : "";
  text += made.request.empty() ? "" : " " + made.request;
  for (const std::string& request : made.requests) {
    text += " " + request;
  }
  return text + (made.bytes ? " #" + std::to_string(*made.bytes) : "");
}

}  // namespace

Program parseProgram(std::string_view text) {
  return Parser().parse(text);
}

Program randomProgram(std::uint64_t seed) {
  return Maker(seed).make();
}

std::string toText(const Program& program) {
  std::string text;
  if (program.communicators.size() > 1) {
    text += "comm other:";
    for (const Rank rank : program.communicators[1].group) {
      text += " " + std::to_string(rank);
    }
    text += "\n";
  }
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    text += std::to_string(rank) + ":";
    for (std::size_t i = 0; i < program.ranks[rank].size(); ++i) {
      text += (i == 0 ? " " : "; ") + operationText(program.ranks[rank][i]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace pf::prediction::test
