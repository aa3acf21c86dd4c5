// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/branching/choices.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "replay_engine/execution/record_checks.h"

namespace pf {
namespace {

constexpr std::size_t kMostPlaces = 32;  ///< bits of a GivenCode

}  // namespace

Choices::Choices(const Execution& execution)
    : m_execution(execution),
      m_chains(execution),
      m_sends(execution, m_chains),
      m_order(execution, m_chains, m_sends),
      m_graph(execution, &m_order, LinkSides::Incoming),
      m_ofMessage(execution.messages.size(), kNone),
      m_receives(execution.ranks.size()),
      m_probes(execution.ranks.size()),
      m_completions(execution.ranks.size()),
      m_exits(execution.ranks.size()) {
  for (std::uint32_t rank = 0; rank < execution.ranks.size(); ++rank) {
    const RankHistory& history = execution.ranks[rank];
    m_receives[rank].assign(history.receives.size(), kNone);
    for (std::uint32_t i = 0; i < history.receives.size(); ++i) {
      const PostedReceive& receive = history.receives[i];
      if (receive.wantedSource == kAnySource && receive.message < execution.messages.size() &&
          isCompleted(history, receive)) {
        m_receives[rank][i] = add({static_cast<Rank>(rank), ChosenBy::Receive, i}, receive.message);
        m_ofMessage[receive.message] = m_receives[rank][i];
      }
    }
    m_probes[rank].assign(history.probes.size(), kNone);
    for (std::uint32_t i = 0; i < history.probes.size(); ++i) {
      const ProbeHit& probe = history.probes[i];
      if (probe.wantedSource == kAnySource && probe.message < execution.messages.size() &&
          isEvent(history, probe.event)) {
        m_probes[rank][i] = add({static_cast<Rank>(rank), ChosenBy::Probe, i}, probe.message);
        m_exits[rank].emplace_back(static_cast<std::uint32_t>(probe.event), m_probes[rank][i]);
      }
    }
    addCompletions(rank);
    std::ranges::sort(m_exits[rank]);
  }
}

std::uint32_t Choices::add(const RunChoice& choice, std::uint32_t taken) {
  m_all.push_back(choice);
  m_taken.push_back(taken);
  return count() - 1;
}

std::optional<std::uint32_t> Choices::find(const RunChoice& choice) const {
  if (!isRank(m_execution, choice.rank)) {
    return std::nullopt;
  }
  const auto& numbers = (choice.by == ChosenBy::Probe        ? m_probes
                         : choice.by == ChosenBy::Completion ? m_completions
                                                             : m_receives)[pf::index(choice.rank)];
  const std::uint32_t number = choice.index < numbers.size() ? numbers[choice.index] : kNone;
  return number != kNone ? std::optional(number) : std::nullopt;
}

std::uint32_t Choices::ofExit(std::uint32_t rank, std::uint32_t serial) const {
  const auto& probes = m_exits[rank];
  const auto found = std::ranges::lower_bound(probes, std::pair{serial, 0U});
  return found != probes.end() && found->first == serial ? found->second : kNone;
}

/// Goes as far as it can: each rank does its events in turn, each delivery comes when something waits for it.
class Choices::Walk {
 public:
  Walk(const Choices& choices, std::vector<bool> may)
      : m_choices(choices),
        m_graph(choices.m_graph),
        m_may(std::move(may)),
        m_entered(m_graph.rankCount(), 0),
        m_left(m_graph.rankCount(), 0),
        m_delivered(choices.m_execution.messages.size(), false),
        m_made(choices.count(), false) {}

  /// These may be made, too. Afterwards each is of which all that it needs was made, also where nothing has waited for it.
  void make(std::span<const std::uint32_t> choices) {
    for (const std::uint32_t choice : choices) {
      m_may[choice] = true;
    }
    run();
    bool delivered = false;
    for (const std::uint32_t choice : choices) {
      delivered = (!m_made[choice] && m_choices.m_all[choice].by == ChosenBy::Receive &&
                   deliver(m_choices.m_taken[choice])) ||
                  delivered;
    }
    if (delivered) {
      run();
    }
  }
  /// Events of the rank that are over.
  [[nodiscard]] std::uint32_t left(std::uint32_t rank) const { return m_left[rank]; }
  [[nodiscard]] bool isDelivered(std::uint32_t message) const { return m_delivered[message]; }

  /// Until no rank gets on.
  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t rank = 0; rank < m_graph.rankCount(); ++rank) {
        moved = advance(rank) || moved;
      }
    }
  }
  /// Other choices may be made, too.
  void allowAll() { m_may.assign(m_may.size(), true); }

  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return m_inOrder; }
  [[nodiscard]] Reach reach() const {
    Reach reach;
    reach.done.assign(m_left.begin(), m_left.end());
    reach.made = m_made;
    return reach;
  }

 private:
  bool advance(std::uint32_t rank) {
    bool moved = false;
    while (m_left[rank] < m_graph.eventCount(rank)) {
      const Place place{rank, m_left[rank] + 1};
      moved = moved || m_entered[rank] < place.serial;
      m_entered[rank] = place.serial;
      if (!mayLeave(place)) {
        return moved;
      }
      m_left[rank] = place.serial;
      moved = true;
    }
    return moved;
  }

  bool mayLeave(Place place) {
    const bool ready =
        std::ranges::all_of(m_graph.incoming(place), [this](Link link) { return isReady(link); });
    const std::uint32_t choice = ready ? m_choices.ofExit(place.rank, place.serial) : kNone;
    return ready && (choice == kNone || tryMake(choice));
  }

  bool isReady(Link link) {
    if (link.kind == LinkKind::Collective) {
      const CollectiveInstance& instance =
          m_graph.instances()[m_graph.members()[link.index].instance];
      for (std::uint32_t i = instance.begin; i < m_graph.sourcesEnd(link.index); ++i) {
        const CollectiveMember& member = m_graph.members()[i];
        if (member.contributes && !isEntered(member.entry)) {
          return false;
        }
      }
      return true;
    }
    if (link.kind == LinkKind::Message) {
      return isEntered(m_graph.origin(link));
    }
    return deliver(link.index);
  }

  /// Whether this message has been delivered, if need be now.
  bool deliver(std::uint32_t message) {
    if (m_delivered[message]) {
      return true;
    }
    const Message& m = m_choices.m_execution.messages[message];
    if (!isRank(m_choices.m_execution, m.dest)) {
      return false;
    }
    const auto dest = static_cast<std::uint32_t>(m.dest);
    const RankHistory& history = m_choices.m_execution.ranks[dest];
    const std::uint32_t cancel = m_choices.m_order.cancelBefore(message);
    const bool ready = m.post < history.receives.size() &&
                       isEntered({static_cast<std::uint32_t>(m.send.rank),
                                  static_cast<std::uint32_t>(m.send.serial)}) &&
                       m_entered[dest] >= history.receives[m.post].post && m_left[dest] >= cancel &&
                       std::ranges::all_of(m_choices.m_order.before(message),
                                           [this](std::uint32_t each) { return deliver(each); });
    const std::uint32_t choice = m_choices.ofMessage(message);
    m_delivered[message] = ready && (choice == kNone || tryMake(choice));
    return m_delivered[message];
  }

  bool tryMake(std::uint32_t choice) {
    if (m_may[choice] && !m_made[choice]) {
      m_made[choice] = true;
      m_inOrder.push_back(choice);
    }
    return m_made[choice];
  }

  [[nodiscard]] bool isEntered(Place place) const { return m_entered[place.rank] >= place.serial; }

  const Choices& m_choices;
  const EventGraph& m_graph;
  std::vector<bool> m_may;
  std::vector<std::uint32_t> m_entered;
  std::vector<std::uint32_t> m_left;
  std::vector<bool> m_delivered;
  std::vector<bool> m_made;
  std::vector<std::uint32_t> m_inOrder;
};

Reach Choices::reach(const std::vector<bool>& may) const {
  Walk walk(*this, may);
  walk.run();
  return walk.reach();
}

std::vector<std::uint32_t> Choices::inOrder(std::span<const std::uint32_t> first) const {
  std::vector<bool> may(count(), false);
  for (const std::uint32_t number : first) {
    may[number] = true;
  }
  Walk walk(*this, std::move(may));
  walk.run();
  walk.allowAll();
  walk.run();
  std::vector<std::uint32_t> order(first.begin(), first.end());
  std::vector<bool> known(count(), false);
  for (const std::uint32_t number : first) {
    known[number] = true;
  }
  std::ranges::copy_if(walk.order(), std::back_inserter(order),
                       [&](std::uint32_t number) { return !known[number]; });
  return order;
}

/// All that is before some moment, backwards: as far as what `made` has made, or to the beginning.
class Choices::Past {
 public:
  explicit Past(const Choices& choices, const Walk* made = nullptr)
      : m_choices(choices),
        m_graph(choices.m_graph),
        m_walk(made),
        m_wanted(m_graph.rankCount(), 0),
        m_seen(m_graph.rankCount(), 0),
        m_deliveries(choices.m_execution.messages.size(), false) {}

  /// For another moment.
  void reset() {
    for (const std::uint32_t rank : m_touched) {
      m_wanted[rank] = m_seen[rank] = 0;
    }
    for (const std::uint32_t message : m_looked) {
      m_deliveries[message] = false;
    }
    m_touched.clear();
    m_looked.clear();
    m_found.clear();
  }
  void addEntry(Place place) { addExit({place.rank, place.serial - 1}); }
  void addExit(Place place) {
    const std::uint32_t known = m_walk != nullptr ? m_walk->left(place.rank) : 0;
    if (place.serial > std::max(known, m_wanted[place.rank])) {
      if (m_wanted[place.rank] == 0) {
        m_touched.push_back(place.rank);
        m_seen[place.rank] = known;
      }
      m_wanted[place.rank] = place.serial;
      m_ranks.push_back(place.rank);
    }
  }
  void addDelivery(std::uint32_t message) {
    if (!m_deliveries[message] && (m_walk == nullptr || !m_walk->isDelivered(message))) {
      m_deliveries[message] = true;
      m_looked.push_back(message);
      m_messages.push_back(message);
    }
  }
  /// Ascending.
  std::vector<std::uint32_t> find() {
    while (!m_ranks.empty() || !m_messages.empty()) {
      if (!m_messages.empty()) {
        const std::uint32_t message = m_messages.back();
        m_messages.pop_back();
        lookBehindDelivery(message);
        continue;
      }
      const std::uint32_t rank = m_ranks.back();
      m_ranks.pop_back();
      while (m_seen[rank] < m_wanted[rank]) {
        lookBehindExit({rank, ++m_seen[rank]});
      }
    }
    std::ranges::sort(m_found);
    m_found.erase(std::unique(m_found.begin(), m_found.end()), m_found.end());
    return m_found;
  }
  /// After find(): whether the exit of this event is before the moment.
  [[nodiscard]] bool hasExit(Place place) const { return m_wanted[place.rank] >= place.serial; }

 private:
  void lookBehindExit(Place place) {
    if (const std::uint32_t choice = m_choices.ofExit(place.rank, place.serial); choice != kNone) {
      m_found.push_back(choice);
    }
    for (const Link link : m_graph.incoming(place)) {
      if (link.kind == LinkKind::Message) {
        addEntry(m_graph.origin(link));
      } else if (link.kind == LinkKind::Collective) {
        const CollectiveInstance& instance =
            m_graph.instances()[m_graph.members()[link.index].instance];
        for (std::uint32_t i = instance.begin; i < m_graph.sourcesEnd(link.index); ++i) {
          if (m_graph.members()[i].contributes) {
            addEntry(m_graph.members()[i].entry);
          }
        }
      } else {
        addDelivery(link.index);
      }
    }
  }

  void lookBehindDelivery(std::uint32_t message) {
    const Message& m = m_choices.m_execution.messages[message];
    const auto dest = static_cast<std::uint32_t>(m.dest);
    if (const std::uint32_t choice = m_choices.ofMessage(message); choice != kNone) {
      m_found.push_back(choice);
    }
    addEntry({static_cast<std::uint32_t>(m.send.rank), static_cast<std::uint32_t>(m.send.serial)});
    if (isRank(m_choices.m_execution, m.dest) &&
        m.post < m_choices.m_execution.ranks[dest].receives.size()) {
      addEntry({dest, static_cast<std::uint32_t>(
                          m_choices.m_execution.ranks[dest].receives[m.post].post)});
    }
    for (const std::uint32_t before : m_choices.m_order.before(message)) {
      addDelivery(before);
    }
    if (const std::uint32_t cancel = m_choices.m_order.cancelBefore(message); cancel != 0) {
      addExit({dest, cancel});
    }
  }

  const Choices& m_choices;
  const EventGraph& m_graph;
  const Walk* m_walk;
  std::vector<std::uint32_t> m_wanted;
  std::vector<std::uint32_t> m_seen;
  std::vector<bool> m_deliveries;
  std::vector<std::uint32_t> m_found;
  std::vector<std::uint32_t> m_touched;  ///< ranks
  std::vector<std::uint32_t> m_looked;   ///< messages
  std::vector<std::uint32_t> m_ranks;
  std::vector<std::uint32_t> m_messages;
};

std::vector<std::uint32_t> Choices::neededFor(std::uint32_t number, std::uint32_t message,
                                              Past& past, EarlierPosts& earlier) const {
  const RunChoice& choice = m_all[number];
  const auto rank = static_cast<std::uint32_t>(choice.rank);
  const RankHistory& history = m_execution.ranks[rank];
  const Message& m = m_execution.messages[message];
  const bool probe = choice.by == ChosenBy::Probe;
  const Serial begin = askedAt(m_execution, choice);
  const Tag wanted =
      probe ? history.probes[choice.index].wantedTag : history.receives[choice.index].wantedTag;
  past.reset();
  past.addEntry(
      {static_cast<std::uint32_t>(m.send.rank), static_cast<std::uint32_t>(m.send.serial)});
  past.addEntry({rank, static_cast<std::uint32_t>(begin)});
  earlier.advance(postsBefore(choice), begin);
  const Prerequisites& demanded = earlier.of(message, wanted == kAnyTag);
  for (const std::uint32_t delivery : demanded.deliveries) {
    past.addDelivery(delivery);
  }
  if (demanded.cancel != 0) {
    past.addExit({rank, demanded.cancel});
  }
  std::vector<std::uint32_t> needed = past.find();
  std::erase(needed, number);
  return needed;
}

std::uint32_t Choices::postsBefore(const RunChoice& choice) const {
  return choice.by == ChosenBy::Probe
             ? m_execution.ranks[pf::index(choice.rank)].probes[choice.index].postsBefore
             : choice.index;
}

Choices::Made::Made(const Choices& choices)
    : m_choices(choices),
      m_walk(std::make_unique<Walk>(choices, std::vector<bool>(choices.count(), false))),
      m_past(std::make_unique<Past>(choices, m_walk.get())),
      m_earlier(choices.m_execution.ranks.size()) {
  m_walk->run();
}

Choices::Made::~Made() = default;

void Choices::Made::make(std::span<const std::uint32_t> numbers) {
  m_walk->make(numbers);
}

const std::vector<std::uint32_t>& Choices::Made::order() const {
  return m_walk->order();
}

Reach Choices::Made::reach() const {
  return m_walk->reach();
}

std::vector<std::uint32_t> Choices::Made::neededFor(std::uint32_t number, std::uint32_t message) {
  const RunChoice& choice = m_choices.at(number);
  const std::uint32_t posts = m_choices.postsBefore(choice);
  const Serial asked = askedAt(m_choices.m_execution, choice);
  Earlier& known = m_earlier[pf::index(choice.rank)];
  if (known.posts == nullptr || known.count > posts || known.begin > asked) {
    known.posts =
        std::make_unique<EarlierPosts>(m_choices.m_execution, m_choices.m_chains, m_choices.m_sends,
                                       static_cast<std::uint32_t>(choice.rank));
  }
  known.count = posts;
  known.begin = asked;
  return m_choices.neededFor(number, message, *m_past, *known.posts);
}

std::vector<GivenCode> Choices::Made::otherGiven(std::uint32_t number) {
  return m_choices.otherGiven(number, *m_past);
}

std::optional<std::vector<std::uint32_t>> Choices::Made::neededToGive(std::uint32_t number,
                                                                      GivenCode code) {
  return m_choices.neededToGive(number, code, *m_past);
}

ChosenName Choices::chosen(std::uint32_t number) const {
  const RunChoice& choice = m_all[number];
  if (choice.by != ChosenBy::Completion) {
    const Message& m = m_execution.messages[m_taken[number]];
    return {m.send.rank, m.sendIndex};
  }
  const OfferedCompletion& call = callOf(choice);
  GivenCode code = 0;
  for (std::uint32_t place = 0; place < call.requests.size(); ++place) {
    if (call.requests[place].given) {
      code = call.some ? code | 1U << place : place;
    }
  }
  return {choice.rank, code};
}

void Choices::addCompletions(std::uint32_t rank) {
  const RankHistory& history = m_execution.ranks[rank];
  m_completions[rank].assign(history.offers.size(), kNone);
  for (std::uint32_t i = 0; i < history.offers.size(); ++i) {
    const OfferedCompletion& call = history.offers[i];
    const auto given = std::ranges::count(call.requests, true, &OfferedRequest::given);
    const bool choice =
        call.requests.size() > 1 && isEvent(history, call.event) &&
        (call.some ? given >= 1 && call.requests.size() <= kMostPlaces : given == 1);
    if (choice) {
      m_completions[rank][i] = add({static_cast<Rank>(rank), ChosenBy::Completion, i}, kNone);
      m_exits[rank].emplace_back(static_cast<std::uint32_t>(call.event), m_completions[rank][i]);
    }
  }
}

bool Choices::addEndOfCollective(Rank rank, std::uint32_t number, Past& past) const {
  const RankHistory& history = m_execution.ranks[pf::index(rank)];
  std::uint32_t left = number;
  const auto part = std::ranges::find_if(history.collectives, [&](const CollectivePart& each) {
    return isEvent(history, each.event) &&
           history.events[each.event - 1].kind == EventKind::CollectivePost && left-- == 0;
  });
  if (part == history.collectives.end()) {
    return false;
  }
  const auto& members = m_graph.members();
  const auto member = std::ranges::find_if(members, [&](const CollectiveMember& each) {
    return each.entry.rank == pf::index(rank) && each.entry.serial == part->event;
  });
  if (member == members.end() || part->comm >= m_execution.communicators.size()) {
    return false;
  }
  const CollectiveInstance& instance = m_graph.instances()[member->instance];
  const Communicator& comm = m_execution.communicators[part->comm];
  if (member->completion == 0 &&
      instance.end - instance.begin < comm.group.size() + comm.remote.size()) {
    return false;  // some have not come
  }
  const auto end = m_graph.sourcesEnd(static_cast<std::uint32_t>(member - members.begin()));
  for (std::uint32_t i = instance.begin; member->takes && i < end; ++i) {
    if (members[i].contributes) {
      past.addEntry(members[i].entry);
    }
  }
  return true;
}

bool Choices::addEndOf(const RunChoice& choice, const OfferedRequest& request, Past& past) const {
  const RankHistory& history = m_execution.ranks[pf::index(choice.rank)];
  if (request.kind == OfferedKind::Send) {
    return true;
  }
  if (request.kind == OfferedKind::Collective) {
    return addEndOfCollective(choice.rank, request.number, past);
  }
  std::uint32_t message = kNone;
  if (request.kind == OfferedKind::Receive && request.number < history.receives.size() &&
      hasMessage(m_execution, history, history.receives[request.number])) {
    message = history.receives[request.number].message;
  } else if (request.kind == OfferedKind::SynchronousSend) {
    message = messageNamed(m_execution, {choice.rank, request.number});
    if (message != kNone && m_execution.messages[message].post == kNone) {
      return false;  // nobody took it
    }
  }
  if (message == kNone) {
    return false;
  }
  past.addDelivery(message);
  return true;
}

std::optional<std::vector<std::uint32_t>> Choices::neededToGive(std::uint32_t number,
                                                                GivenCode code) const {
  Past past(*this);
  return neededToGive(number, code, past);
}

std::optional<std::vector<std::uint32_t>> Choices::neededToGive(std::uint32_t number,
                                                                GivenCode code, Past& past) const {
  const RunChoice& choice = m_all[number];
  const OfferedCompletion& call = callOf(choice);
  const std::vector<std::uint32_t> places = placesIn(call, code);
  const Place event{static_cast<std::uint32_t>(choice.rank),
                    static_cast<std::uint32_t>(call.event)};
  past.reset();
  past.addEntry(event);
  bool ends = !places.empty();
  for (const std::uint32_t place : places) {
    ends = ends && (call.requests[place].given || addEndOf(choice, call.requests[place], past));
    if (ends && call.requests[place].given) {
      addEndOf(choice, call.requests[place], past);
    }
  }
  if (!ends) {
    return std::nullopt;
  }
  std::vector<std::uint32_t> needed = past.find();
  return past.hasExit(event) ? std::nullopt : std::optional(std::move(needed));
}

std::vector<std::uint32_t> Choices::couldEnd(const RunChoice& choice, Past& past) const {
  const OfferedCompletion& call = callOf(choice);
  const std::uint32_t number = *find(choice);
  std::vector<std::uint32_t> places;
  for (std::uint32_t place = 0; place < call.requests.size(); ++place) {
    if (call.requests[place].given || neededToGive(number, call.some ? 1U << place : place, past)) {
      places.push_back(place);
    }
  }
  return places;
}

std::vector<GivenCode> Choices::otherGiven(std::uint32_t number, Past& past) const {
  const RunChoice& choice = m_all[number];
  const bool some = callOf(choice).some;
  const std::vector<std::uint32_t> places = couldEnd(choice, past);
  std::vector<GivenCode> codes;
  codes.reserve(places.size());
  for (const std::uint32_t place : places) {
    codes.push_back(some ? 1U << place : place);
  }
  if (some && places.size() <= kMostInSets) {
    const std::vector<GivenCode> single = std::exchange(codes, {});
    for (std::uint32_t chosen = 1; chosen < 1U << single.size(); ++chosen) {
      GivenCode code = 0;
      for (std::size_t i = 0; i < single.size(); ++i) {
        code |= (chosen >> i & 1U) != 0 ? single[i] : 0;
      }
      codes.push_back(code);
    }
  } else if (some) {
    codes.push_back(std::accumulate(codes.begin(), codes.end(), GivenCode{0}));
  }
  std::erase(codes, chosen(number).send);
  std::ranges::sort(codes);
  return codes;
}

std::uint64_t Choices::unvaried() const {
  Past past(*this);
  std::uint64_t calls = 0;
  for (std::uint32_t rank = 0; rank < m_execution.ranks.size(); ++rank) {
    const RankHistory& history = m_execution.ranks[rank];
    for (std::uint32_t i = 0; i < history.offers.size(); ++i) {
      const OfferedCompletion& call = history.offers[i];
      const std::uint32_t number = m_completions[rank][i];
      const bool unknown =
          std::ranges::count(call.requests, OfferedKind::Other, &OfferedRequest::kind) > 0;
      const bool tooMany = number == kNone
                               ? call.some && call.requests.size() > kMostPlaces
                               : call.some && couldEnd(m_all[number], past).size() > kMostInSets;
      calls += call.requests.size() > 1 && (unknown || tooMany) ? 1U : 0U;
    }
  }
  return calls;
}

std::vector<std::uint32_t> placesIn(const OfferedCompletion& call, GivenCode code) {
  std::vector<std::uint32_t> places;
  for (std::uint32_t place = 0; place < call.requests.size(); ++place) {
    const bool in = call.some ? place < kMostPlaces && (code >> place & 1U) != 0 : place == code;
    if (in) {
      places.push_back(place);
    }
  }
  return places;
}

std::string givenText(const OfferedCompletion& call, GivenCode code) {
  std::string text;
  for (const std::uint32_t place : placesIn(call, code)) {
    text += (text.empty() ? "" : "+") + std::to_string(call.requests[place].index);
  }
  return text;
}

Serial shownAt(const Execution& execution, const RunChoice& choice) {
  return choice.by == ChosenBy::Receive
             ? execution.ranks[index(choice.rank)].receives[choice.index].completion
             : askedAt(execution, choice);
}

Serial askedAt(const Execution& execution, const RunChoice& choice) {
  const RankHistory& history = execution.ranks[index(choice.rank)];
  return choice.by == ChosenBy::Probe        ? history.probes[choice.index].event
         : choice.by == ChosenBy::Completion ? history.offers[choice.index].event
                                             : history.receives[choice.index].post;
}

std::uint32_t messageNamed(const Execution& execution, const ChosenName& name) {
  // Messages lie in the order of ranks and sends.
  const auto found = std::ranges::lower_bound(execution.messages, std::pair{name.sender, name.send},
                                              {}, [](const Message& m) {
                                                return std::pair{Rank{m.send.rank}, m.sendIndex};
                                              });
  const bool there = found != execution.messages.end() && found->send.rank == name.sender &&
                     found->sendIndex == name.send;
  return there ? static_cast<std::uint32_t>(found - execution.messages.begin()) : kNone;
}

}  // namespace pf
