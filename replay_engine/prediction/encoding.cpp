// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/prediction/encoding.h"

#include <algorithm>

#include "replay_engine/prediction/order_check.h"

namespace pf::prediction {

Encoding::Encoding(const ProgramModel& model, const MatchSets& sets, Detail detail,
                   Deadline deadline)
    : m_model(model),
      m_detail(detail),
      m_deadline(deadline),
      m_order(model),
      m_streams(streamsOf(model)) {
  m_true = m_solver.newVariable();
  m_solver.add({m_true});
  m_final = m_solver.newVariable();
  m_buffered = m_solver.newVariable();
  makeMatches(sets);
  addEvents();
  addMatches();
  addOrders();
  addFinalMatches();
  addCounts();
  addCollectives();
  addFlips();
  m_seen.resize(model.probes.size());
  for (std::size_t rank = 0; rank < model.ranks.size() && !m_late; ++rank) {
    addRank(static_cast<Rank>(rank));
  }
}

void Encoding::makeMatches(const MatchSets& sets) {
  m_ofReceive.resize(m_model.receives.size());
  m_ofMessage.resize(m_model.messages.size());
  for (std::uint32_t receive = 0; receive < m_model.receives.size(); ++receive) {
    for (const std::uint32_t message : sets.ofReceive[receive]) {
      const bool only = sets.ofReceive[receive].size() == 1 && sets.ofMessage[message].size() == 1;
      if (m_detail == Detail::Matches || only) {
        const Literal literal = m_solver.newVariable();
        m_ofReceive[receive].push_back({message, literal});
        m_ofMessage[message].push_back({receive, literal});
      }
    }
    if (sets.ofReceive[receive].empty() || !m_ofReceive[receive].empty()) {
      continue;
    }
    m_choice.insert(receive);
  }
  for (std::uint32_t message = 0; message < m_model.messages.size(); ++message) {
    if (m_ofMessage[message].empty() && !sets.ofMessage[message].empty()) {
      m_choiceOfMessage.insert(message);
    }
  }
}

Literal Encoding::anyOf(std::span<const Literal> parts) {
  if (parts.empty()) {
    return -m_true;
  }
  const Literal whole = m_solver.newVariable();
  Clause clause{-whole};
  for (const Literal part : parts) {
    implies(part, whole);
    clause.push_back(part);
  }
  m_solver.add(clause);
  return whole;
}

Literal Encoding::allOf(std::span<const Literal> parts) {
  Clause negated;
  for (const Literal part : parts) {
    negated.push_back(-part);
  }
  return -anyOf(negated);
}

std::vector<Literal> Encoding::ladder(const std::vector<Pair>& pairs) {
  std::vector<Literal> upTo;
  for (const Pair& pair : pairs) {
    if (upTo.empty()) {
      upTo.push_back(pair.literal);
      continue;
    }
    const Literal before = upTo.back();
    m_solver.add({-before, -pair.literal});
    const Literal now = m_solver.newVariable();
    implies(before, now);
    implies(pair.literal, now);
    m_solver.add({-now, before, pair.literal});
    upTo.push_back(now);
  }
  return upTo;
}

/// The events of a rank end in their order.
void Encoding::addEvents() {
  for (const std::vector<ModelEvent>& events : m_model.ranks) {
    std::vector<Literal>& ended = m_ended.emplace_back();
    for (std::size_t i = 0; i < events.size(); ++i) {
      ended.push_back(m_solver.newVariable());
      if (i > 0) {
        implies(ended[i], ended[i - 1]);
      }
    }
  }
}

/// A message is taken once, a receive takes one.
void Encoding::addMatches() {
  const auto whole = [this](const std::vector<Literal>& upTo, bool choice) {
    return choice ? m_solver.newVariable() : upTo.empty() ? -m_true : upTo.back();
  };
  for (std::uint32_t message = 0; message < m_ofMessage.size(); ++message) {
    m_takenUpTo.push_back(ladder(m_ofMessage[message]));
    m_taken.push_back(whole(m_takenUpTo.back(), m_choiceOfMessage.contains(message)));
  }
  for (std::uint32_t receive = 0; receive < m_ofReceive.size(); ++receive) {
    m_matched.push_back(whole(ladder(m_ofReceive[receive]), m_choice.contains(receive)));
  }
  for (std::uint32_t receive = 0; receive < m_ofReceive.size() && !m_late; ++receive) {
    m_late = std::chrono::steady_clock::now() >= m_deadline;
    for (const Pair& pair : m_ofReceive[receive]) {
      addMatch(receive, pair);
    }
  }
}

void Encoding::addMatch(std::uint32_t receive, const Pair& pair) {
  const ModelReceive& posted = m_model.receives[receive];
  for (const std::uint32_t earlier : m_order.messagesBefore(pair.other, posted.tag)) {
    implies(pair.literal,
            m_detail == Detail::Matches ? takenBefore(earlier, receive) : m_taken[earlier]);
  }
  for (const std::uint32_t earlier : m_order.receivesBefore(pair.other, receive, posted.post)) {
    implies(pair.literal, m_matched[earlier]);
  }
}

/// Only what is sent is taken, only what is posted takes. Messages of a stream are taken in their order, and receives of a
/// class take in theirs.
void Encoding::addOrders() {
  for (std::uint32_t message = 0; message < m_model.messages.size(); ++message) {
    implies(m_taken[message], sent(message));
    for (const std::uint32_t before :
         m_order.messagesBefore(message, m_model.messages[message].tag)) {
      implies(m_taken[message], m_taken[before]);
    }
  }
  for (std::uint32_t receive = 0; receive < m_model.receives.size(); ++receive) {
    const ModelReceive& posted = m_model.receives[receive];
    implies(m_matched[receive], begun(posted.rank, posted.post));
    if (const std::uint32_t before = m_order.sameBefore(receive); before != kNone) {
      implies(m_matched[receive], m_matched[before]);
    }
  }
}

/// In a final state no receive is left that accepts a message that is left.
void Encoding::addFinalMatches() {
  std::vector<Literal> allTaken;
  for (const Stream& stream : m_streams.streams) {
    allTaken.push_back(m_solver.newVariable());
    for (const std::uint32_t message : stream) {
      m_solver.add({-allTaken.back(), -sent(message), m_taken[message]});
    }
  }
  for (const ReceiveClass& one : m_streams.classes) {
    for (const std::uint32_t receive : one.receives) {
      const ModelReceive& posted = m_model.receives[receive];
      for (const std::uint32_t stream : one.streams) {
        m_solver.add(
            {-m_final, -begun(posted.rank, posted.post), m_matched[receive], allTaken[stream]});
      }
    }
  }
}

/// What follows from the rest, but only by counting, which a solver of clauses does not (the pigeonhole principle): where
/// more messages are sent that a receive accepts than receives before it can take, it gets one in a final state; and as many
/// messages are taken as receives have one.
void Encoding::addCounts() {
  for (const ReceiveClass& one : m_streams.classes) {
    addCount(one);
  }
  for (const ReceiveGroup& group : m_streams.groups) {
    addCount(group);
  }
}

std::vector<Literal> Encoding::leftOf(std::uint32_t stream) const {
  std::vector<Literal> left;
  for (const std::uint32_t message : m_streams.streams[stream]) {
    left.push_back(-m_taken[message]);
  }
  std::ranges::reverse(left);  // the last first: they are left in the reverse order
  return left;
}

/// Where the first receives of the group all have a message, as many are taken.
void Encoding::addCount(const ReceiveGroup& group) {
  std::vector<std::vector<Literal>> areLeft;
  for (const std::uint32_t stream : group.streams) {
    areLeft.push_back(leftOf(stream));
  }
  const std::vector<Literal> left = sumOf(std::move(areLeft));
  Literal allMatched = m_true;
  for (std::size_t i = 0; i < group.receives.size() && i < left.size(); ++i) {
    allMatched = allOf(Clause{allMatched, m_matched[group.receives[i]]});
    m_solver.add({-allMatched, -left[left.size() - 1 - i]});
  }
}

void Encoding::addCount(const ReceiveClass& one) {
  std::vector<std::vector<Literal>> areSent;
  std::vector<std::vector<Literal>> areLeft;
  for (const std::uint32_t stream : one.streams) {
    areLeft.push_back(leftOf(stream));
    areSent.emplace_back();
    for (const std::uint32_t message : m_streams.streams[stream]) {
      areSent.back().push_back(sent(message));
    }
  }
  if (areSent.empty()) {
    return;
  }
  const std::vector<Literal> sum = sumOf(std::move(areSent));
  const std::vector<Literal> left = sumOf(std::move(areLeft));
  for (std::size_t i = 0; i < one.receives.size(); ++i) {
    const ModelReceive& posted = m_model.receives[one.receives[i]];
    const Literal matched = m_matched[one.receives[i]];
    if (one.rivals[i] < sum.size()) {
      m_solver.add({-m_final, -begun(posted.rank, posted.post), matched, -sum[one.rivals[i]]});
    }
    if (i < left.size()) {
      m_solver.add({-matched, -left[left.size() - 1 - i]});
    } else {
      m_solver.add({-matched});
    }
  }
}

/// Of numbers in unary their sum, one way: what is in them is in it (Bailleux and Boufkhad's totalizer, CP 2003).
std::vector<Literal> Encoding::sumOf(std::vector<std::vector<Literal>> numbers) {
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) {
    numbers.push_back(sumOf(numbers[i], numbers[i + 1]));
  }
  return numbers.back();
}

std::vector<Literal> Encoding::sumOf(const std::vector<Literal>& a, const std::vector<Literal>& b) {
  std::vector<Literal> sum;
  for (std::size_t i = 0; i < a.size() + b.size(); ++i) {
    sum.push_back(m_solver.newVariable());
  }
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = i == 0 ? 1 : 0; j <= b.size(); ++j) {
      Clause clause{sum[i + j - 1]};
      if (i > 0) {
        clause.push_back(-a[i - 1]);
      }
      if (j > 0) {
        clause.push_back(-b[j - 1]);
      }
      m_solver.add(clause);
    }
  }
  return sum;
}

void Encoding::addCollectives() {
  for (const ModelCollective& collective : m_model.collectives) {
    Clause parts;
    for (const EventRef& part : collective.awaits) {
      parts.push_back(begun(part.rank, part.serial));
    }
    m_collectives.push_back(collective.never ? -m_true : allOf(parts));
  }
}

void Encoding::addFlips() {
  for (std::uint32_t receive = 0; receive < m_model.receives.size(); ++receive) {
    const std::uint32_t recorded = m_model.receives[receive].taken;
    const std::optional<Literal> as = recorded == kNone ? std::nullopt : match(receive, recorded);
    const Clause parts{m_matched[receive], as ? -*as : m_true};
    m_flipped.push_back(allOf(parts));
    if (as) {
      m_solver.prefer(*as);
    }
  }
}

void Encoding::addRank(Rank rank) {
  Gone gone;
  for (Serial serial = 1; serial <= m_model.ranks[index(rank)].size(); ++serial) {
    addEvent(rank, serial, gone);
  }
}

/// It ends only after what it waits for. In a final state a rank is in an event only where it waits.
void Encoding::addEvent(Rank rank, Serial serial, Gone& gone) {
  const ModelEvent& event = m_model.ranks[index(rank)][serial - 1];
  const Literal isEnded = ended(rank, serial);
  Clause blocked{-m_final, -begun(rank, serial), isEnded};
  for (const Wait& wait : event.waits) {
    implies(isEnded, satisfied(wait));
    blocked.push_back(-satisfied(wait));
  }
  addStandardSend(event, blocked);
  if (event.probe != kNone && m_detail == Detail::Matches) {
    addProbe(event.probe, isEnded, blocked);
  }
  if (event.completes != Completes::All) {
    addChoice(rank, serial, gone, blocked);
  }
  if (event.probe == kNone || m_detail == Detail::Matches) {
    m_solver.add(blocked);
  }
}

void Encoding::addStandardSend(const ModelEvent& event, Clause& blocked) {
  if (event.standardSend == kNone) {
    return;
  }
  const Literal waits = m_solver.newVariable();
  implies(waits, -m_buffered);
  implies(waits, -m_taken[event.standardSend]);
  blocked.push_back(waits);
}

void Encoding::addProbe(std::uint32_t probe, Literal ended, Clause& blocked) {
  const Literal nothing = m_solver.newVariable();
  blocked.push_back(nothing);
  Clause some{-ended};
  for (std::uint32_t message = 0; message < m_model.messages.size(); ++message) {
    if (!accepts(m_model.probes[probe], m_model.messages[message])) {
      continue;
    }
    const Seen seen{message, m_solver.newVariable()};
    m_seen[probe].push_back(seen);
    some.push_back(seen.literal);
    addSeen(probe, seen);
    m_solver.add({-nothing, -sent(message), m_taken[message]});
  }
  m_solver.add(some);
}

/// What a receive would take that is posted where the probe is.
void Encoding::addSeen(std::uint32_t probe, const Seen& seen) {
  const std::uint32_t limit = m_order.limitOf(probe);
  const ModelProbe& asked = m_model.probes[probe];
  implies(seen.literal, sent(seen.message));
  implies(seen.literal, -takenBefore(seen.message, limit));
  for (const std::uint32_t earlier : m_order.messagesBefore(seen.message, asked.tag)) {
    implies(seen.literal, takenBefore(earlier, limit));
  }
  for (const std::uint32_t earlier : m_order.receivesBefore(seen.message, limit, asked.event)) {
    implies(seen.literal, m_matched[earlier]);
  }
}

/// It completes one, or some, of the requests that are open and that none of its kind has completed
/// before; where there are none, it ends at once (MPI_UNDEFINED; MPI 3.1, 3.7.5).
void Encoding::addChoice(Rank rank, Serial serial, Gone& gone, Clause& blocked) {
  const ModelEvent& event = m_model.ranks[index(rank)][serial - 1];
  const Literal nothing = m_solver.newVariable();
  std::vector<Consumed>& choice = m_consumed[{rank, serial}];
  Clause some{-ended(rank, serial)};
  Clause allGone;
  for (const Wait& wait : event.open) {
    Literal& goneBefore = gone.try_emplace({wait.kind, wait.index}, -m_true).first->second;
    const Literal literal = m_solver.newVariable();
    choice.push_back({wait, literal});
    some.push_back(literal);
    allGone.push_back(goneBefore);
    implies(literal, satisfied(wait));
    implies(literal, -goneBefore);
    implies(literal, begun(rank, serial));
    m_solver.add({-nothing, -satisfied(wait), goneBefore});
    goneBefore = anyOf(Clause{goneBefore, literal});
  }
  const Literal noneLeft = allOf(allGone);
  some.push_back(noneLeft);
  m_solver.add(some);
  m_solver.add({-nothing, -noneLeft});
  blocked.push_back(nothing);
  if (event.completes == Completes::One) {
    atMostOne(choice);
  }
}

void Encoding::atMostOne(const std::vector<Consumed>& choice) {
  std::vector<Pair> pairs;
  pairs.reserve(choice.size());
  for (const Consumed& each : choice) {
    pairs.push_back({kNone, each.literal});
  }
  (void)ladder(pairs);
}

Literal Encoding::satisfied(const Wait& wait) const {
  switch (wait.kind) {
    case WaitKind::Receive:
      return m_matched[wait.index];
    case WaitKind::SynchronousSend:
      return m_taken[wait.index];
    case WaitKind::Collective:
      break;
  }
  return m_collectives[wait.index];
}

Literal Encoding::takenBefore(std::uint32_t message, std::uint32_t receive) const {
  const std::vector<Pair>& pairs = m_ofMessage[message];
  const auto after =
      std::lower_bound(pairs.begin(), pairs.end(), receive,
                       [](const Pair& pair, std::uint32_t limit) { return pair.other < limit; });
  return after == pairs.begin()
             ? -m_true
             : m_takenUpTo[message][static_cast<std::size_t>(after - pairs.begin()) - 1];
}

std::optional<Literal> Encoding::match(std::uint32_t receive, std::uint32_t message) const {
  for (const Pair& pair : m_ofReceive[receive]) {
    if (pair.other == message) {
      return pair.literal;
    }
  }
  return std::nullopt;
}

const std::vector<Encoding::Consumed>& Encoding::consumedBy(Rank rank, Serial serial) const {
  static const std::vector<Consumed> kNothing;
  const auto found = m_consumed.find({rank, serial});
  return found == m_consumed.end() ? kNothing : found->second;
}

Serial Encoding::stoppedIn(Rank rank) const {
  for (Serial serial = 1; serial <= m_ended[index(rank)].size(); ++serial) {
    if (!holds(ended(rank, serial))) {
      return serial;
    }
  }
  return 0;
}

Answer Encoding::solve(std::span<const Literal> assumed, Deadline deadline) {
  if (m_late) {
    return Answer::NotDecided;
  }
  for (;;) {
    const Answer answer = m_solver.solve(assumed, deadline);
    if (answer != Answer::Yes || m_detail == Detail::Counts) {
      return answer;
    }
    m_found.assign(m_model.receives.size(), Pair());
    for (std::uint32_t receive = 0; receive < m_ofReceive.size(); ++receive) {
      for (const Pair& pair : m_ofReceive[receive]) {
        m_found[receive] = holds(pair.literal) ? pair : m_found[receive];
      }
    }
    const std::vector<Clause> circles = circlesOf(*this);
    if (circles.empty()) {
      return Answer::Yes;
    }
    for (const Clause& circle : circles) {
      m_solver.add(circle);
    }
  }
}

}  // namespace pf::prediction
