// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/prediction/tests/brute_force.h"

#include <algorithm>
#include <iterator>
#include <random>

#include "replay_engine/races/races.h"

namespace pf::prediction::test {
namespace {

bool sends(const Operation& made) {
  return made.what == Do::Send || made.what == Do::Bsend || made.what == Do::Ssend ||
         made.what == Do::Isend || made.what == Do::Issend || made.what == Do::Sendrecv;
}

bool receives(const Operation& made) {
  return made.what == Do::Recv || made.what == Do::Irecv || made.what == Do::Mprobe ||
         made.what == Do::RecvProbed || made.what == Do::Sendrecv;
}

bool isStandard(const Operation& made) {
  return made.what == Do::Send || made.what == Do::Sendrecv;
}

bool isChoice(const Operation& made) {
  return made.what == Do::Waitany || made.what == Do::Waitsome || made.what == Do::Probe;
}

/// Of operation `event` (from 0) of a rank.
struct Place {
  Rank rank = 0;
  std::size_t event = 0;
};

struct State {
  std::vector<std::size_t>
      at;                ///< by rank: the event in which it is; the number of its events: ended
  std::vector<int> got;  ///< by receive: message
  std::vector<int> saw;  ///< by rank: message that its last probe saw
  std::vector<std::vector<int>>
      named;  ///< by receive that names what a probe saw: source, tag, communicator
  std::vector<std::set<std::string>> gone;  ///< by rank: requests that are over
  friend bool operator<(const State& a, const State& b) {
    return std::tie(a.at, a.got, a.saw, a.named, a.gone) <
           std::tie(b.at, b.got, b.saw, b.named, b.gone);
  }
};

struct Step {
  int receive = -1;  ///< gets
  int message = -1;  ///< this; or the probe of `rank` sees it
  Rank rank = -1;    ///< ends its event
  std::vector<std::string> completes;
};

class Machine {
 public:
  /// `waiting`: standard sends that wait for their receives, by number of the message.
  Machine(const Program& program, const std::set<int>& waiting)
      : m_program(program), m_waiting(waiting) {
    m_messageAt.resize(program.ranks.size());
    m_receiveAt.resize(program.ranks.size());
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
      for (std::size_t i = 0; i < program.ranks[rank].size(); ++i) {
        const Operation& made = program.ranks[rank][i];
        m_messageAt[rank].push_back(sends(made) ? static_cast<int>(messages.size()) : -1);
        if (sends(made)) {
          messages.push_back({static_cast<Rank>(rank), i});
        }
        m_receiveAt[rank].push_back(receives(made) ? static_cast<int>(posts.size()) : -1);
        if (receives(made)) {
          posts.push_back({static_cast<Rank>(rank), i});
        }
        numberCollective(rank, i);
      }
    }
  }

  std::vector<Place> messages;
  std::vector<Place> posts;

  [[nodiscard]] const Operation& operation(Place place) const {
    return m_program.ranks[index(place.rank)][place.event];
  }
  [[nodiscard]] int messageAt(Place place) const {
    return m_messageAt[index(place.rank)][place.event];
  }
  [[nodiscard]] int receiveAt(Place place) const {
    return m_receiveAt[index(place.rank)][place.event];
  }
  [[nodiscard]] int ordinalAt(Place place) const {
    return m_ordinals.at({place.rank, place.event});
  }

  [[nodiscard]] State start() const {
    State state;
    state.at.assign(m_program.ranks.size(), 0);
    state.got.assign(posts.size(), -1);
    state.saw.assign(m_program.ranks.size(), -1);
    state.named.resize(posts.size());
    state.gone.resize(m_program.ranks.size());
    settle(state);
    return state;
  }

  /// What a rank does without a choice, it does at once: that takes nothing away from anybody.
  void settle(State& state) const {
    for (bool moved = true; moved;) {
      moved = false;
      for (Rank rank = 0; rank < ranks(); ++rank) {
        while (in(state, rank) && !isChoice(current(state, rank)) && canEnd(state, rank)) {
          end(state, rank);
          moved = true;
        }
      }
    }
  }

  [[nodiscard]] Rank ranks() const { return static_cast<Rank>(m_program.ranks.size()); }
  [[nodiscard]] bool in(const State& state, Rank rank) const {
    return state.at[index(rank)] < m_program.ranks[index(rank)].size();
  }
  [[nodiscard]] const Operation& current(const State& state, Rank rank) const {
    return m_program.ranks[index(rank)][state.at[index(rank)]];
  }
  [[nodiscard]] bool begun(const State& state, Place place) const {
    return state.at[index(place.rank)] >= place.event;
  }
  [[nodiscard]] bool taken(const State& state, int message) const {
    return std::find(state.got.begin(), state.got.end(), message) != state.got.end();
  }

  void end(State& state, Rank rank) const {
    const Operation made = current(state, rank);
    for (const std::string& request : made.requests) {
      state.gone[index(rank)].insert(request);
    }
    ++state.at[index(rank)];
    if (in(state, rank) && current(state, rank).what == Do::RecvProbed) {
      const Place seen = messages[static_cast<std::size_t>(state.saw[index(rank)])];
      const int receive = receiveAt({rank, state.at[index(rank)]});
      const Operation& sent = operation(seen);
      state.named[static_cast<std::size_t>(receive)] = {seen.rank, sent.tag,
                                                        static_cast<int>(sent.comm)};
    }
  }

  [[nodiscard]] bool accepts(const State& state, int receive, int message) const {
    const Place post = posts[static_cast<std::size_t>(receive)];
    const Place sent = messages[static_cast<std::size_t>(message)];
    const Operation& asked = operation(post);
    const Operation& made = operation(sent);
    if (made.peer != post.rank) {
      return false;
    }
    if (asked.what == Do::RecvProbed) {
      const std::vector<int>& named = state.named[static_cast<std::size_t>(receive)];
      return named == std::vector<int>{sent.rank, made.tag, static_cast<int>(made.comm)};
    }
    const bool both = asked.what == Do::Sendrecv;
    return fits(both ? asked.source : asked.peer, both ? asked.sourceTag : asked.tag, asked.comm,
                sent);
  }

  [[nodiscard]] bool fits(Rank source, Tag tag, std::uint32_t comm, Place sent) const {
    const Operation& made = operation(sent);
    return comm == made.comm && (source == kAnySource || source == sent.rank) &&
           (tag == kAnyTag || tag == made.tag);
  }

  [[nodiscard]] bool pending(const State& state, int message) const {
    return begun(state, messages[static_cast<std::size_t>(message)]) && !taken(state, message);
  }
  [[nodiscard]] bool open(const State& state, int receive) const {
    return begun(state, posts[static_cast<std::size_t>(receive)]) &&
           state.got[static_cast<std::size_t>(receive)] < 0;
  }

  [[nodiscard]] bool sameWay(int a, int b) const {
    const Place first = messages[static_cast<std::size_t>(a)];
    const Place second = messages[static_cast<std::size_t>(b)];
    return first.rank == second.rank && operation(first).peer == operation(second).peer &&
           operation(first).comm == operation(second).comm;
  }

  /// MPI 3.1, 3.5: "if a sender sends two messages in succession to the same destination, and both match the same
  /// receive, then this operation cannot receive the second message if the first one is still pending. If a
  /// receiver posts two receives in succession, and both match the same message, then the second receive
  /// operation cannot be satisfied by this message, if the first one is still pending."
  [[nodiscard]] bool canMatch(const State& state, int receive, int message) const {
    if (!open(state, receive) || !pending(state, message) || !accepts(state, receive, message)) {
      return false;
    }
    for (int earlier = 0; earlier < message; ++earlier) {
      if (sameWay(earlier, message) && pending(state, earlier) &&
          accepts(state, receive, earlier)) {
        return false;
      }
    }
    for (int earlier = 0; earlier < receive; ++earlier) {
      if (open(state, earlier) && accepts(state, earlier, message)) {
        return false;
      }
    }
    return true;
  }

  /// What the open probe of the rank can see.
  [[nodiscard]] bool canSee(const State& state, Rank rank, int message) const {
    const Operation& asked = current(state, rank);
    const Place sent = messages[static_cast<std::size_t>(message)];
    if (!pending(state, message) || operation(sent).peer != rank ||
        !fits(asked.peer, asked.tag, asked.comm, sent)) {
      return false;
    }
    for (int earlier = 0; earlier < message; ++earlier) {
      if (sameWay(earlier, message) && pending(state, earlier) &&
          fits(asked.peer, asked.tag, asked.comm, messages[static_cast<std::size_t>(earlier)])) {
        return false;
      }
    }
    for (int receive = 0; receive < static_cast<int>(posts.size()); ++receive) {
      if (open(state, receive) && accepts(state, receive, message)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool done(const State& state, Rank rank, const std::string& request) const {
    if (state.gone[index(rank)].contains(request)) {
      return true;
    }
    for (std::size_t i = 0; i < m_program.ranks[index(rank)].size(); ++i) {
      const Place place{rank, i};
      const Operation& made = operation(place);
      if (made.request != request) {
        continue;
      }
      if (made.what == Do::Icollective) {
        return collectiveDone(state, place);
      }
      return made.what == Do::Issend ? taken(state, messageAt(place))
                                     : state.got[static_cast<std::size_t>(receiveAt(place))] >= 0;
    }
    return false;
  }

  [[nodiscard]] std::vector<std::string> openRequests(const State& state, Rank rank) const {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < state.at[index(rank)]; ++i) {
      const Operation& made = m_program.ranks[index(rank)][i];
      if (!made.request.empty() && !state.gone[index(rank)].contains(made.request)) {
        found.push_back(made.request);
      }
    }
    return found;
  }

  [[nodiscard]] bool collectiveDone(const State& state, Place mine) const {
    const Operation& made = operation(mine);
    const int ordinal = ordinalAt(mine);
    bool lower = true;
    for (const Rank other : m_program.communicators[made.comm].group) {
      lower = lower && other != mine.rank;
      const bool needs = made.flow == CollectiveFlow::AllToAll ||
                         (made.flow == CollectiveFlow::FromRoot && other == made.root) ||
                         (made.flow == CollectiveFlow::ToRoot && mine.rank == made.root) ||
                         (made.flow == CollectiveFlow::FromLower && lower);
      if (needs && other != mine.rank && !hasEntered(state, other, made.comm, ordinal)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool hasEntered(const State& state, Rank rank, std::uint32_t comm,
                                int ordinal) const {
    for (std::size_t i = 0; i < m_program.ranks[index(rank)].size(); ++i) {
      const auto found = m_ordinals.find({rank, i});
      if (found != m_ordinals.end() && found->second == ordinal &&
          operation({rank, i}).comm == comm) {
        return begun(state, {rank, i});
      }
    }
    return false;
  }

  [[nodiscard]] bool canEnd(const State& state, Rank rank) const {
    const Place place{rank, state.at[index(rank)]};
    const Operation& made = operation(place);
    if (receives(made) && made.what != Do::Irecv &&
        state.got[static_cast<std::size_t>(receiveAt(place))] < 0) {
      return false;
    }
    const bool waits =
        made.what == Do::Ssend || (isStandard(made) && m_waiting.contains(messageAt(place)));
    if (waits && !taken(state, messageAt(place))) {
      return false;
    }
    if (made.what == Do::Collective) {
      return collectiveDone(state, place);
    }
    return std::all_of(made.requests.begin(), made.requests.end(),
                       [&](const std::string& request) { return done(state, rank, request); });
  }

  [[nodiscard]] std::vector<Step> steps(const State& state) const {
    std::vector<Step> found;
    for (int receive = 0; receive < static_cast<int>(posts.size()); ++receive) {
      for (int message = 0; message < static_cast<int>(messages.size()); ++message) {
        if (canMatch(state, receive, message)) {
          found.push_back({receive, message, -1, {}});
        }
      }
    }
    for (Rank rank = 0; rank < ranks(); ++rank) {
      if (in(state, rank) && isChoice(current(state, rank))) {
        addChoices(state, rank, found);
      }
    }
    return found;
  }

  void apply(State& state, const Step& step) const {
    if (step.receive >= 0) {
      state.got[static_cast<std::size_t>(step.receive)] = step.message;
    } else {
      if (step.message >= 0) {
        state.saw[index(step.rank)] = step.message;
      }
      state.gone[index(step.rank)].insert(step.completes.begin(), step.completes.end());
      end(state, step.rank);
    }
    settle(state);
  }

 private:
  void numberCollective(std::size_t rank, std::size_t i) {
    const Operation& made = m_program.ranks[rank][i];
    if (made.what == Do::Collective || made.what == Do::Icollective) {
      m_ordinals[{static_cast<Rank>(rank), i}] = m_next[{rank, made.comm}]++;
    }
  }

  void addChoices(const State& state, Rank rank, std::vector<Step>& found) const {
    const Operation& made = current(state, rank);
    if (made.what == Do::Probe) {
      for (int message = 0; message < static_cast<int>(messages.size()); ++message) {
        if (canSee(state, rank, message)) {
          found.push_back({-1, message, rank, {}});
        }
      }
      return;
    }
    const std::vector<std::string> requests = openRequests(state, rank);
    if (requests.empty()) {
      found.push_back({-1, -1, rank, {}});
      return;
    }
    std::vector<std::string> ready;
    std::copy_if(requests.begin(), requests.end(), std::back_inserter(ready),
                 [&](const std::string& request) { return done(state, rank, request); });
    for (std::size_t some = 1; some < (std::size_t{1} << ready.size()); ++some) {
      std::vector<std::string> completes;
      for (std::size_t i = 0; i < ready.size(); ++i) {
        if (((some >> i) & 1U) != 0) {
          completes.push_back(ready[i]);
        }
      }
      if (made.what == Do::Waitsome || completes.size() == 1) {
        found.push_back({-1, -1, rank, completes});
      }
    }
  }

  const Program& m_program;
  std::set<int> m_waiting;
  std::vector<std::vector<int>> m_messageAt;
  std::vector<std::vector<int>> m_receiveAt;
  std::map<std::pair<Rank, std::size_t>, int> m_ordinals;
  std::map<std::pair<std::size_t, std::uint32_t>, int> m_next;
};

std::string placeText(Place place) {
  return std::to_string(place.rank) + "@" + std::to_string(place.event + 1);
}

class Explorer {
 public:
  Explorer(const Machine& machine, Outcomes& outcomes, std::set<std::string>& deadlocks,
           std::size_t most)
      : m_machine(machine), m_outcomes(outcomes), m_deadlocks(deadlocks), m_most(most) {}

  void run() {
    std::vector<State> open{m_machine.start()};
    std::set<State> known{open.front()};
    while (!open.empty()) {
      const State state = open.back();
      open.pop_back();
      const std::vector<Step> steps = m_machine.steps(state);
      for (const Step& step : steps) {
        noteTruncation(step);
        State next = state;
        m_machine.apply(next, step);
        if (known.insert(next).second) {
          open.push_back(next);
        }
      }
      if (steps.empty()) {
        finish(state);
      }
      if (known.size() > m_most) {
        m_outcomes.whole = false;
        return;
      }
    }
  }

 private:
  void noteTruncation(const Step& step) {
    if (step.receive < 0) {
      return;
    }
    const Place post = m_machine.posts[static_cast<std::size_t>(step.receive)];
    const Place sent = m_machine.messages[static_cast<std::size_t>(step.message)];
    const auto room = m_machine.operation(post).bytes;
    const auto bytes = m_machine.operation(sent).bytes;
    if (room && bytes && *bytes > *room) {
      m_outcomes.truncations.insert(placeText(post) + "<" + placeText(sent));
    }
  }

  void finish(const State& state) {
    std::string waiting;
    std::string collectives;
    for (Rank rank = 0; rank < m_machine.ranks(); ++rank) {
      if (m_machine.in(state, rank)) {
        (m_machine.current(state, rank).what == Do::Collective ? collectives : waiting) +=
            placeText({rank, state.at[index(rank)]}) + " ";
      }
    }
    if (!waiting.empty() || !collectives.empty()) {
      m_deadlocks.insert(waiting.empty() ? collectives : waiting);
      return;
    }
    for (int message = 0; message < static_cast<int>(m_machine.messages.size()); ++message) {
      if (!m_machine.taken(state, message)) {
        m_outcomes.unreceived.insert(
            placeText(m_machine.messages[static_cast<std::size_t>(message)]));
      }
    }
  }

  const Machine& m_machine;
  Outcomes& m_outcomes;
  std::set<std::string>& m_deadlocks;
  std::size_t m_most;
};

/// A run, written down as the events of each rank.
class Recorder {
 public:
  Recorder(const Program& program, std::uint64_t seed)
      : m_program(program), m_machine(program, {}), m_random(seed), m_first(seed == 0) {}

  Recording run() {
    m_state = m_machine.start();
    noteEnds();
    for (auto steps = m_machine.steps(m_state); !steps.empty(); steps = m_machine.steps(m_state)) {
      const Step step = steps[m_first ? 0 : m_random() % steps.size()];
      noteStep(step);
      m_machine.apply(m_state, step);
      noteEnds();
    }
    m_made.ended = true;
    Execution& execution = m_made.execution;
    execution.communicators = m_program.communicators;
    execution.callNames = {
        "MPI_Send",    "MPI_Bsend",    "MPI_Ssend",   "MPI_Isend",    "MPI_Issend", "MPI_Recv",
        "MPI_Irecv",   "MPI_Mprobe",   "MPI_Probe",   "MPI_Sendrecv", "MPI_Wait",   "MPI_Waitall",
        "MPI_Waitany", "MPI_Waitsome", "MPI_Barrier", "MPI_Ibarrier", "MPI_Init"};
    execution.ranks.resize(m_program.ranks.size());
    m_made.facts.sizes.resize(m_program.ranks.size());
    m_made.facts.rooms.resize(m_program.ranks.size());
    for (Rank rank = 0; rank < m_machine.ranks(); ++rank) {
      const std::size_t at = m_state.at[index(rank)];
      const bool ended = !m_machine.in(m_state, rank);
      m_made.ended = m_made.ended && ended;
      m_made.facts.cut.push_back(!ended);
      for (std::size_t i = 0; i < at + (ended ? 0 : 1); ++i) {
        write(rank, i, i < at);
      }
    }
    matchMessages(execution);
    return std::move(m_made);
  }

 private:
  /// Which event a request was over at.
  void noteEnds() {
    for (Rank rank = 0; rank < m_machine.ranks(); ++rank) {
      for (std::size_t i = 0; i < m_state.at[index(rank)]; ++i) {
        const std::vector<std::string>& requests = m_program.ranks[index(rank)][i].requests;
        bool before = false;
        bool listed = false;
        for (const std::string& request : requests) {
          const bool here = m_overAt.try_emplace({rank, request}, i + 1).first->second == i + 1;
          before = before || !here;
          listed = listed || (here && m_listed.contains({rank, request}));
        }
        m_made.idle = m_made.idle || (before && !listed);
      }
    }
  }

  void noteStep(const Step& step) {
    if (step.receive >= 0) {
      return;
    }
    const Serial serial = m_state.at[index(step.rank)] + 1;
    for (const std::string& request : m_machine.openRequests(m_state, step.rank)) {
      if (step.message < 0) {
        m_listed.insert({step.rank, request});
      }
    }
    m_made.idle = m_made.idle || (step.message < 0 && step.completes.empty());
    for (const std::string& request : step.completes) {
      m_overAt[{step.rank, request}] = serial;
    }
    if (step.message >= 0) {
      m_seen[{step.rank, serial}] = step.message;
    }
  }

  [[nodiscard]] Serial overAt(Rank rank, const std::string& request) const {
    const auto found = m_overAt.find({rank, request});
    return found == m_overAt.end() ? 0 : found->second;
  }

  void write(Rank rank, std::size_t i, bool ended) {
    const Operation& made = m_program.ranks[index(rank)][i];
    RankHistory& history = m_made.execution.ranks[index(rank)];
    Event& event = history.events.emplace_back();
    event.comm = made.comm;
    event.call = callOf(made);
    event.kind = kindOf(made);
    const Serial serial = history.events.size();
    if (sends(made)) {
      history.sends.push_back({serial, made.comm, made.peer, made.tag,
                               made.what == Do::Ssend || made.what == Do::Issend,
                               made.what == Do::Ssend    ? serial
                               : made.what == Do::Issend ? overAt(rank, made.request)
                                                         : 0});
      m_made.facts.sizes[index(rank)].push_back(made.bytes.value_or(0));
    }
    if (receives(made)) {
      writeReceive(rank, i, serial, ended);
    }
    if (made.what == Do::Probe && ended) {
      writeProbe(rank, serial, made);
    }
    if (made.what == Do::Collective || made.what == Do::Icollective) {
      CollectivePart part;
      part.event = serial;
      part.completion = made.what == Do::Collective ? serial : overAt(rank, made.request);
      part.comm = made.comm;
      part.ordinal = static_cast<std::uint32_t>(m_machine.ordinalAt({rank, i}));
      part.flow = made.flow;
      part.root = made.root;
      history.collectives.push_back(part);
    }
  }

  void writeReceive(Rank rank, std::size_t i, Serial serial, bool ended) {
    const Operation& made = m_program.ranks[index(rank)][i];
    const int number = m_machine.receiveAt({rank, i});
    const int message = m_state.got[static_cast<std::size_t>(number)];
    PostedReceive receive;
    receive.post = serial;
    receive.comm = made.comm;
    receive.wantedSource = made.what == Do::Sendrecv ? made.source : made.peer;
    receive.wantedTag = made.what == Do::Sendrecv ? made.sourceTag : made.tag;
    if (made.what == Do::RecvProbed) {
      const std::vector<int>& named = m_state.named[static_cast<std::size_t>(number)];
      receive.wantedSource = named[0];
      receive.wantedTag = named[1];
      receive.comm = static_cast<std::uint32_t>(named[2]);
    }
    receive.completion = made.what == Do::Irecv ? overAt(rank, made.request) : (ended ? serial : 0);
    if (receive.completion != 0) {
      const Place sent = m_machine.messages[static_cast<std::size_t>(message)];
      receive.state = ReceiveState::Complete;
      receive.source = sent.rank;
      receive.tag = m_machine.operation(sent).tag;
    }
    m_made.execution.ranks[index(rank)].receives.push_back(receive);
    m_made.facts.rooms[index(rank)].push_back(made.bytes);
  }

  void writeProbe(Rank rank, Serial serial, const Operation& made) {
    const Place sent = m_machine.messages[static_cast<std::size_t>(m_seen.at({rank, serial}))];
    RankHistory& history = m_made.execution.ranks[index(rank)];
    ProbeHit hit;
    hit.event = serial;
    hit.comm = made.comm;
    hit.wantedSource = made.peer;
    hit.wantedTag = made.tag;
    hit.source = sent.rank;
    hit.tag = m_machine.operation(sent).tag;
    hit.postsBefore = static_cast<std::uint32_t>(history.receives.size());
    history.probes.push_back(hit);
  }

  static std::uint16_t callOf(const Operation& made) {
    static const std::map<Do, std::uint16_t> kCalls = {
        {Do::Send, 0},         {Do::Bsend, 1},      {Do::Ssend, 2},     {Do::Isend, 3},
        {Do::Issend, 4},       {Do::Recv, 5},       {Do::Irecv, 6},     {Do::Mprobe, 7},
        {Do::Probe, 8},        {Do::RecvProbed, 5}, {Do::Sendrecv, 9},  {Do::Wait, 10},
        {Do::Waitall, 11},     {Do::Waitany, 12},   {Do::Waitsome, 13}, {Do::Collective, 14},
        {Do::Icollective, 15}, {Do::Local, 16}};
    return kCalls.at(made.what);
  }

  static EventKind kindOf(const Operation& made) {
    if (made.what == Do::Sendrecv) {
      return EventKind::SendReceive;
    }
    if (sends(made)) {
      return EventKind::Send;
    }
    if (receives(made)) {
      return made.what == Do::Irecv ? EventKind::Post : EventKind::Receive;
    }
    if (made.what == Do::Probe) {
      return EventKind::Probe;
    }
    if (made.what == Do::Collective || made.what == Do::Icollective) {
      return made.what == Do::Collective ? EventKind::Collective : EventKind::CollectivePost;
    }
    return made.what == Do::Local ? EventKind::Local : EventKind::Completion;
  }

  const Program& m_program;
  Machine m_machine;
  std::mt19937_64 m_random;
  bool m_first;
  State m_state;
  std::map<std::pair<Rank, std::string>, Serial> m_overAt;
  std::map<std::pair<Rank, Serial>, int> m_seen;
  std::set<std::pair<Rank, std::string>>
      m_listed;  ///< requests that an MPI_Waitany or MPI_Waitsome might complete
  Recording m_made;
};

}  // namespace

Outcomes bruteForce(const Program& program, std::size_t mostStates) {
  Outcomes outcomes;
  const Machine buffered(program, {});
  Explorer(buffered, outcomes, outcomes.deadlocks, mostStates).run();
  std::vector<int> standard;
  for (std::size_t i = 0; i < buffered.messages.size(); ++i) {
    if (isStandard(buffered.operation(buffered.messages[i]))) {
      standard.push_back(static_cast<int>(i));
    }
  }
  Outcomes others;  // what is left over, and what does not fit, is looked at with buffers only
  for (std::size_t some = 1; some < (std::size_t{1} << standard.size()) && outcomes.whole; ++some) {
    std::set<int> waiting;
    for (std::size_t i = 0; i < standard.size(); ++i) {
      if (((some >> i) & 1U) != 0) {
        waiting.insert(standard[i]);
      }
    }
    const Machine machine(program, waiting);
    Explorer(machine, others, outcomes.synchronousDeadlocks, mostStates).run();
    outcomes.whole = others.whole;
  }
  std::erase_if(outcomes.synchronousDeadlocks,
                [&](const std::string& state) { return outcomes.deadlocks.contains(state); });
  return outcomes;
}

Recording record(const Program& program, std::uint64_t seed) {
  return Recorder(program, seed).run();
}

}  // namespace pf::prediction::test
