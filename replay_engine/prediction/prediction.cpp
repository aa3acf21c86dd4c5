// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/prediction/prediction.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "replay_engine/prediction/encoding.h"
#include "replay_engine/prediction/order_check.h"

namespace pf {
namespace prediction {
namespace {

/// What of the time is spent on taking needless flips out of one prediction, at most.
constexpr std::chrono::seconds kMostForFewFlips{5};

/// Whether some rank can wait, by literals of `encoding`.
class DeadlockQuestion {
 public:
  DeadlockQuestion(const ProgramModel& model, Encoding& encoding)
      : m_model(model), m_encoding(encoding) {}

  /// A state in which a rank has not ended. Of a record that is cut what comes after it is not known: there, every
  /// such rank waits in an event of it, and something is other than in the record.
  Literal someRankWaits() {
    const Literal some = m_encoding.newVariable();
    Clause waits{-some};
    Clause differs{-some};
    bool cut = false;
    for (std::size_t number = 0; number < m_model.ranks.size(); ++number) {
      const auto rank = static_cast<Rank>(number);
      const Serial last = m_model.ranks[number].size();
      cut = cut || m_model.cut[number];
      if (last == 0) {
        if (m_model.cut[number]) {
          m_encoding.add(Clause{-some});
        }
        continue;
      }
      const Literal over = m_encoding.ended(rank, last);
      waits.push_back(-over);
      differs.push_back(-m_encoding.begun(rank, last));
      if (m_model.cut[number]) {
        m_encoding.add(Clause{-some, -over});
      }
    }
    m_encoding.add(waits);
    for (std::uint32_t receive = 0; receive < m_model.receives.size(); ++receive) {
      differs.push_back(m_encoding.flipped(receive));
    }
    if (cut) {
      m_encoding.add(differs);
    }
    return some;
  }

 private:
  const ProgramModel& m_model;
  Encoding& m_encoding;
};

/// By numbers alone. `buffered`: no standard send waits.
bool countingSaysNoDeadlock(const ProgramModel& model, const MatchSets& sets, Deadline deadline) {
  Encoding counts(model, sets, Encoding::Detail::Counts, deadline);
  const Literal waits = DeadlockQuestion(model, counts).someRankWaits();
  const Clause asked{counts.isFinal(), waits};
  return counts.solve(asked, deadline) == Answer::No;
}

class Predictor {
 public:
  Predictor(const Execution& execution, const PredictionFacts& facts,
            const PredictionLimits& limits, const ProgramModel& model, const MatchSets& sets,
            Deadline deadline)
      : m_execution(execution),
        m_facts(facts),
        m_limits(limits),
        m_model(model),
        m_sets(sets),
        m_deadline(deadline) {}

  Predictions run() {
    m_result.messages = m_model.messages.size();
    m_result.matches = m_sets.pairs;
    if (m_sets.pairs < m_limits.countFirst ||
        !countingSaysNoDeadlock(m_model, m_sets, m_deadline)) {
      const Literal deadlock = DeadlockQuestion(m_model, encoding()).someRankWaits();
      findDeadlocks(deadlock, {encoding().isFinal(), encoding().isBuffered(), deadlock});
      findDeadlocks(deadlock, {encoding().isFinal(), deadlock, someStandardSendWaits()});
    }
    findTruncations();
    findUnreceived();
    return std::move(m_result);
  }

 private:
  using SiteKey = std::pair<Rank, std::uint64_t>;

  /// Made when it is asked for the first time: it may be large.
  [[nodiscard]] Encoding& encoding() const {
    if (!m_encoding) {
      m_encoding.emplace(m_model, m_sets, Encoding::Detail::Matches, m_deadline);
    }
    return *m_encoding;
  }
  [[nodiscard]] Serial last(Rank rank) const { return m_model.ranks[index(rank)].size(); }
  [[nodiscard]] Rank ranks() const { return static_cast<Rank>(m_model.ranks.size()); }

  [[nodiscard]] Answer ask(std::span<const Literal> assumed) {
    const Answer answer = encoding().solve(assumed, m_deadline);
    m_result.decided = m_result.decided && answer != Answer::NotDecided;
    return answer;
  }

  Literal someStandardSendWaits() {
    Clause in;
    for (Rank rank = 0; rank < ranks(); ++rank) {
      for (Serial serial = 1; serial <= last(rank); ++serial) {
        if (m_model.ranks[index(rank)][serial - 1].standardSend != kNone) {
          in.push_back(isIn(rank, serial));
        }
      }
    }
    return encoding().anyOf(in);
  }

  Literal isIn(Rank rank, Serial serial) {
    const auto [found, isNew] = m_isIn.try_emplace({rank, serial}, 0);
    if (isNew) {
      const Clause both{encoding().begun(rank, serial), -encoding().ended(rank, serial)};
      found->second = encoding().allOf(both);
    }
    return found->second;
  }

  /// The call site; where that is not known the event itself.
  [[nodiscard]] SiteKey siteOf(Rank rank, Serial serial) const {
    const Event& event = m_execution.ranks[index(rank)].events[serial - 1];
    return {rank, event.site != kNone ? event.site
                                      : (static_cast<std::uint64_t>(rank + 1) << 40U) + serial};
  }

  /// The rank is in an event of this call site.
  Literal isAtSite(const SiteKey& site) {
    const auto [found, isNew] = m_isAtSite.try_emplace(site, 0);
    if (isNew) {
      Clause events;
      for (Serial serial = 1; serial <= last(site.first); ++serial) {
        if (siteOf(site.first, serial) == site) {
          events.push_back(isIn(site.first, serial));
        }
      }
      found->second = encoding().anyOf(events);
    }
    return found->second;
  }

  /// The rank is in an event, and that is no collective.
  Literal waitsByItself(Rank rank) {
    const auto [found, isNew] = m_waitsByItself.try_emplace(rank, 0);
    if (isNew) {
      Clause events;
      for (Serial serial = 1; serial <= last(rank); ++serial) {
        if (!waitsForCollective(rank, serial)) {
          events.push_back(isIn(rank, serial));
        }
      }
      found->second = encoding().anyOf(events);
    }
    return found->second;
  }

  /// One of each class. `deadlock`: what is asked here is assumed with it.
  void findDeadlocks(Literal deadlock, const Clause& asked) {
    for (std::size_t found = 0;; ++found) {
      if (ask(asked) != Answer::Yes) {
        return;
      }
      if (found == m_limits.most) {
        m_result.more = true;
        return;
      }
      Clause assumed = asked;
      Clause others{-deadlock};
      std::set<Rank> waiting;
      for (const SiteKey& site : sitesOfDeadlock()) {
        assumed.push_back(isAtSite(site));
        others.push_back(-isAtSite(site));
        waiting.insert(site.first);
      }
      for (Rank rank = 0; rank < ranks(); ++rank) {
        if (!waiting.contains(rank)) {
          assumed.push_back(-waitsByItself(rank));
        }
      }
      addPrediction(PredictionKind::Deadlock, assumed);
      encoding().add(others);
    }
  }

  /// Of the ranks that wait. Who waits in a collective only waits for the others.
  [[nodiscard]] std::vector<SiteKey> sitesOfDeadlock() const {
    std::vector<SiteKey> sites;
    std::vector<SiteKey> collectives;
    for (Rank rank = 0; rank < ranks(); ++rank) {
      const Serial in = encoding().stoppedIn(rank);
      if (in != 0) {
        (waitsForCollective(rank, in) ? collectives : sites).push_back(siteOf(rank, in));
      }
    }
    return sites.empty() ? collectives : sites;
  }

  [[nodiscard]] bool waitsForCollective(Rank rank, Serial serial) const {
    return m_execution.ranks[index(rank)].events[serial - 1].kind == EventKind::Collective;
  }

  /// Of the state that was found last, after as many flips are taken out of it as can be.
  void addPrediction(PredictionKind kind, const Clause& assumed) {
    const std::set<std::uint32_t> flips = fewFlips(assumed);
    Prediction prediction;
    prediction.kind = kind;
    for (const std::uint32_t receive : orderOf(encoding())) {
      prediction.order.push_back(matchOf(receive));
      if (flips.contains(receive) && takesAnySource(receive)) {
        prediction.flips.push_back(matchOf(receive));
      }
    }
    for (Rank rank = 0; kind == PredictionKind::Deadlock && rank < ranks(); ++rank) {
      if (const Serial in = encoding().stoppedIn(rank); in != 0) {
        prediction.blocked.push_back({{rank, in}, waitsAsStandardSend(rank, in)});
      }
    }
    m_result.found.push_back(std::move(prediction));
  }

  /// In MPI_Sendrecv it may be the receive that it waits for.
  [[nodiscard]] bool waitsAsStandardSend(Rank rank, Serial serial) const {
    const ModelEvent& event = m_model.ranks[index(rank)][serial - 1];
    return event.standardSend != kNone &&
           std::ranges::all_of(event.waits, [this](const Wait& wait) {
             return wait.kind != WaitKind::Receive || encoding().messageOf(wait.index) != kNone;
           });
  }

  /// A receive that names its source takes what is left for it: that follows, and cannot be asked for.
  [[nodiscard]] bool takesAnySource(std::uint32_t receive) const {
    const ModelReceive& posted = m_model.receives[receive];
    return (posted.probe != kNone ? m_model.probes[posted.probe].source : posted.source) ==
           kAnySource;
  }

  [[nodiscard]] PredictedMatch matchOf(std::uint32_t receive) const {
    const ModelReceive& posted = m_model.receives[receive];
    const ModelMessage& message = m_model.messages[encoding().messageOf(receive)];
    PredictedMatch match;
    match.probe = posted.probe != kNone;
    match.receive = {posted.rank, match.probe ? m_model.probes[posted.probe].event : posted.post};
    match.send = {message.source, message.event};
    if (posted.taken != kNone) {
      const ModelMessage& recorded = m_model.messages[posted.taken];
      match.recorded = {recorded.source, recorded.event};
    }
    return match;
  }

  [[nodiscard]] std::set<std::uint32_t> flipsOfState() const {
    std::set<std::uint32_t> flips;
    for (std::uint32_t receive = 0; receive < m_model.receives.size(); ++receive) {
      if (encoding().holds(encoding().flipped(receive))) {
        flips.insert(receive);
      }
    }
    return flips;
  }

  /// Leaves out one after the other, for as long as what is assumed is still reached. The state is then such a one.
  std::set<std::uint32_t> fewFlips(const Clause& assumed) {
    const Deadline until = std::min(
        m_deadline, std::chrono::steady_clock::now() + Deadline::duration(kMostForFewFlips));
    std::set<std::uint32_t> flips = flipsOfState();
    std::set<std::uint32_t> needed;
    bool current = true;
    while (needed.size() < flips.size()) {
      const std::uint32_t tried = *std::ranges::find_if(
          flips, [&](std::uint32_t receive) { return !needed.contains(receive); });
      const Answer answer = encoding().solve(keeping(assumed, flips, tried), until);
      if (answer == Answer::NotDecided) {
        break;
      }
      current = answer == Answer::Yes;
      if (current) {
        flips = flipsOfState();
      } else {
        needed.insert(tried);
      }
    }
    if (!current && encoding().solve(keeping(assumed, flips, kNone), m_deadline) != Answer::Yes) {
      m_result.decided = false;
    }
    return flips;
  }

  /// All receives but these have their recorded messages, or none; `also` too.
  [[nodiscard]] Clause keeping(const Clause& assumed, const std::set<std::uint32_t>& flips,
                               std::uint32_t also) const {
    Clause all = assumed;
    for (std::uint32_t receive = 0; receive < m_model.receives.size(); ++receive) {
      if (!flips.contains(receive) || receive == also) {
        all.push_back(-encoding().flipped(receive));
      }
    }
    return all;
  }

  void findTruncations() {
    m_result.truncationLooked = !m_facts.sizes.empty() && !m_facts.rooms.empty();
    std::set<std::pair<SiteKey, SiteKey>> seen;
    std::size_t found = 0;
    for (std::uint32_t receive = 0; m_result.truncationLooked && receive < m_model.receives.size();
         ++receive) {
      m_result.receivesWithoutRoom += roomOf(receive) ? 0U : 1U;
      for (const std::uint32_t message : m_sets.ofReceive[receive]) {
        if (message == m_model.receives[receive].taken || fits(receive, message)) {
          continue;
        }
        const auto classes = std::pair(siteOfReceive(receive), siteOfMessage(message));
        if (seen.contains(classes) || !tryTruncation(receive, message, found)) {
          continue;
        }
        seen.insert(classes);
      }
    }
  }

  /// Whether it is one.
  bool tryTruncation(std::uint32_t receive, std::uint32_t message, std::size_t& found) {
    const Clause assumed{*encoding().match(receive, message)};
    if (ask(assumed) != Answer::Yes) {
      return false;
    }
    if (found++ >= m_limits.most) {
      m_result.more = true;
      return true;
    }
    addPrediction(PredictionKind::Truncation, assumed);
    const ModelReceive& posted = m_model.receives[receive];
    const ModelMessage& sent = m_model.messages[message];
    Prediction& prediction = m_result.found.back();
    prediction.receive = {posted.rank, posted.post};
    prediction.send = {sent.source, sent.event};
    prediction.bytes = sizeOf(message).value_or(0);
    prediction.room = roomOf(receive).value_or(0);
    return true;
  }

  [[nodiscard]] bool fits(std::uint32_t receive, std::uint32_t message) const {
    const auto room = roomOf(receive);
    const auto size = sizeOf(message);
    return !room || !size || *size <= *room;
  }

  [[nodiscard]] std::optional<std::uint64_t> roomOf(std::uint32_t receive) const {
    const ModelReceive& posted = m_model.receives[receive];
    const auto rank = index(posted.rank);
    return rank < m_facts.rooms.size() && posted.number < m_facts.rooms[rank].size()
               ? m_facts.rooms[rank][posted.number]
               : std::nullopt;
  }

  [[nodiscard]] std::optional<std::uint64_t> sizeOf(std::uint32_t message) const {
    const ModelMessage& sent = m_model.messages[message];
    if (sent.recorded == kNone) {
      return std::nullopt;
    }
    const std::uint32_t number = m_execution.messages[sent.recorded].sendIndex;
    const auto rank = index(sent.source);
    return rank < m_facts.sizes.size() && number < m_facts.sizes[rank].size()
               ? std::optional(m_facts.sizes[rank][number])
               : std::nullopt;
  }

  [[nodiscard]] SiteKey siteOfReceive(std::uint32_t receive) const {
    const ModelReceive& posted = m_model.receives[receive];
    return {0, siteOf(posted.rank, posted.post).second};
  }
  [[nodiscard]] SiteKey siteOfMessage(std::uint32_t message) const {
    const ModelMessage& sent = m_model.messages[message];
    return {0, siteOf(sent.source, sent.event).second};
  }

  [[nodiscard]] Clause allEnd() const {
    Clause all{encoding().isFinal(), encoding().isBuffered()};
    for (Rank rank = 0; rank < ranks(); ++rank) {
      if (last(rank) != 0) {
        all.push_back(encoding().ended(rank, last(rank)));
      }
    }
    return all;
  }

  void findUnreceived() {
    m_result.unreceivedLooked = std::ranges::find(m_model.cut, true) == m_model.cut.end();
    if (!m_result.unreceivedLooked) {
      return;
    }
    const std::vector<bool> canBeLeft = messagesThatCanBeLeft();
    std::set<SiteKey> seen;
    for (std::uint32_t message = 0; message < m_model.messages.size(); ++message) {
      const ModelMessage& sent = m_model.messages[message];
      if (sent.taker == kNone || !canBeLeft[message] || seen.contains(siteOfMessage(message))) {
        continue;
      }
      Clause assumed = allEnd();
      assumed.push_back(-encoding().taken(message));
      if (ask(assumed) != Answer::Yes) {
        continue;
      }
      seen.insert(siteOfMessage(message));
      if (seen.size() > m_limits.most) {
        m_result.more = true;
        return;
      }
      addPrediction(PredictionKind::Unreceived, assumed);
      m_result.found.back().send = {sent.source, sent.event};
    }
  }

  /// Where the receives that can take some messages and no others are as many, and are all waited for, each of the messages
  /// is taken in every order in which all ranks end.
  [[nodiscard]] std::vector<bool> messagesThatCanBeLeft() const {
    std::vector<std::uint32_t> parent(m_model.messages.size());
    std::iota(parent.begin(), parent.end(), 0U);
    const auto root = [&](std::uint32_t message) {
      while (parent[message] != message) {
        message = parent[message] = parent[parent[message]];
      }
      return message;
    };
    for (const std::vector<std::uint32_t>& messages : m_sets.ofReceive) {
      for (const std::uint32_t message : messages) {
        parent[root(message)] = root(messages.front());
      }
    }
    std::vector<std::int64_t> left(m_model.messages.size(), 0);
    for (std::uint32_t message = 0; message < m_model.messages.size(); ++message) {
      ++left[root(message)];
    }
    for (std::uint32_t receive = 0; receive < m_model.receives.size(); ++receive) {
      if (m_model.receives[receive].waitedBy != 0 && !m_sets.ofReceive[receive].empty()) {
        --left[root(m_sets.ofReceive[receive].front())];
      }
    }
    std::vector<bool> can;
    for (std::uint32_t message = 0; message < m_model.messages.size(); ++message) {
      can.push_back(left[root(message)] > 0);
    }
    return can;
  }

  const Execution& m_execution;
  const PredictionFacts& m_facts;
  const PredictionLimits& m_limits;
  const ProgramModel& m_model;
  const MatchSets& m_sets;
  Deadline m_deadline;
  mutable std::optional<Encoding> m_encoding;
  Predictions m_result;
  std::map<std::pair<Rank, Serial>, Literal> m_isIn;
  std::map<SiteKey, Literal> m_isAtSite;
  std::map<Rank, Literal> m_waitsByItself;
};

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

Error tooLarge(const std::string& what, std::size_t has, std::size_t most) {
  return {ErrorCode::Usage,
          "this recording is too large to predict from: " + std::to_string(has) + " " + what +
              ", and at most " + std::to_string(most) + " are looked at",
          "Record a smaller run of the program: fewer ranks, or fewer steps."};
}

}  // namespace
}  // namespace prediction

Result<Predictions> predict(const Execution& execution, const PredictionFacts& facts,
                            const PredictionLimits& limits) {
  const prediction::Deadline deadline = std::chrono::steady_clock::now() + limits.time;
  std::size_t events = 0;
  for (const RankHistory& rank : execution.ranks) {
    events += rank.events.size();
  }
  if (events > limits.events) {
    return prediction::tooLarge("events", events, limits.events);
  }
  const prediction::ProgramModel model = prediction::modelOf(execution, facts.cut);
  if (!model.notModelled.empty()) {
    return Error{ErrorCode::Usage,
                 "nothing can be predicted from this recording: the program used " +
                     prediction::listed(model.notModelled) +
                     ", whose part in the order of messages is not modelled",
                 "'photofinish races' lists what each receive could have taken instead."};
  }
  const prediction::MatchSets sets = prediction::matchSets(model, limits.matches);
  if (sets.tooMany) {
    return prediction::tooLarge("pairs of a receive and a message, or more", sets.pairs,
                                limits.matches);
  }
  return prediction::Predictor(execution, facts, limits, model, sets, deadline).run();
}

}  // namespace pf
