// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/comparison/aligned_differences.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "replay_engine/comparison/sequence_alignment.h"
#include "replay_engine/comparison/site_place.h"
#include "replay_engine/execution/record_checks.h"

namespace pf {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {  // splitmix64
  hash += value + 0x9E3779B97F4A7C15U;
  hash = (hash ^ (hash >> 30U)) * 0xBF58476D1CE4E5B9U;
  hash = (hash ^ (hash >> 27U)) * 0x94D049BB133111EBU;
  return hash ^ (hash >> 31U);
}

std::uint64_t mixedText(std::uint64_t hash, const std::string& text) {
  return mixed(hash, std::hash<std::string>()(text));
}

/// What calls, places and communicators of an execution are called in both.
class SharedNames {
 public:
  SharedNames(const Execution& execution, bool sites) {
    for (const std::string& call : execution.callNames) {
      m_calls.push_back(mixedText(1, call));
      m_tests.push_back(call.starts_with("MPI_Test") || call == "MPI_Iprobe" ||
                        call == "MPI_Improbe" || call.starts_with("MPI_Request_get_status"));
      m_outcomes.push_back(call.starts_with("MPI_Test") || call.starts_with("MPI_Waitany") ||
                           call.starts_with("MPI_Waitsome") ||
                           call.starts_with("MPI_Request_get_status_"));
    }
    for (const CallSite& site : execution.sites) {
      m_sites.push_back(sites ? hashOf(placeOf(site)) : 0);
    }
    for (const Communicator& communicator : execution.communicators) {
      m_communicators.push_back(mixed(3, communicator.key));
    }
  }
  [[nodiscard]] std::uint64_t call(const Event& event) const { return at(m_calls, event.call); }
  [[nodiscard]] std::uint64_t site(const Event& event) const { return at(m_sites, event.site); }
  [[nodiscard]] std::uint64_t communicator(std::uint32_t number) const {
    return at(m_communicators, number);
  }
  /// It succeeded, or the program would have gone on with another call.
  [[nodiscard]] bool isTest(const Event& event) const {
    return event.kind != EventKind::Local && event.call < m_tests.size() && m_tests[event.call];
  }
  /// Its outcome is a choice of MPI's, whatever was received.
  [[nodiscard]] bool isOutcome(const Event& event) const {
    return event.call < m_outcomes.size() && m_outcomes[event.call];
  }

 private:
  static std::uint64_t hashOf(const SitePlace& place) {
    const std::uint64_t hash = mixed(mixedText(2, place.module), place.offset);
    return place.source.empty() ? hash : mixedText(mixedText(hash, place.source), place.function);
  }
  static std::uint64_t at(const std::vector<std::uint64_t>& values, std::size_t number) {
    return number < values.size() ? values[number] : 0;
  }
  std::vector<std::uint64_t> m_calls;
  std::vector<std::uint64_t> m_sites;
  std::vector<std::uint64_t> m_communicators;
  std::vector<bool> m_outcomes;
  std::vector<bool> m_tests;
};

/// Events of a rank as what they ask for, and what they are with their outcome.
struct RankSymbols {
  std::vector<std::uint64_t> requests;
  std::vector<std::uint64_t> whole;
  std::vector<std::uint64_t> outcomes;  ///< 0: none
  std::vector<bool> choices;
  std::vector<bool> tests;  ///< that succeeded
};

/// A call of the program sees its completion there (else it was freed, say: it counts at its post).
bool isObserved(const RankHistory& history, const PostedReceive& receive) {
  if (!isEvent(history, receive.completion)) {
    return false;
  }
  const EventKind kind = history.events[receive.completion - 1].kind;
  return kind == EventKind::Completion || kind == EventKind::Receive ||
         kind == EventKind::SendReceive;
}

class SymbolMaker {
 public:
  SymbolMaker(const SharedNames& names, const RankHistory& history)
      : m_names(names), m_history(history) {}

  RankSymbols run() {
    for (const Event& event : m_history.events) {
      std::uint64_t hash = mixed(m_names.call(event), static_cast<std::uint64_t>(event.kind));
      hash = mixed(mixed(hash, m_names.site(event)), m_names.communicator(event.comm));
      hash = mixed(hash, static_cast<std::uint32_t>(event.peer));
      m_symbols.requests.push_back(mixed(hash, static_cast<std::uint32_t>(event.tag)));
      m_symbols.choices.push_back(m_names.isOutcome(event));
      m_symbols.tests.push_back(m_names.isTest(event));
    }
    addRequests();
    m_symbols.outcomes.assign(m_history.events.size(), 0);
    addOutcomes();
    for (std::size_t i = 0; i < m_history.events.size(); ++i) {
      m_symbols.whole.push_back(m_symbols.outcomes[i] == 0
                                    ? m_symbols.requests[i]
                                    : mixed(m_symbols.requests[i], m_symbols.outcomes[i]));
    }
    return std::move(m_symbols);
  }

 private:
  void mix(std::vector<std::uint64_t>& symbols, Serial event, std::uint64_t value) const {
    if (isEvent(m_history, event)) {
      symbols[event - 1] = mixed(symbols[event - 1], value);
    }
  }

  std::uint64_t envelope(std::uint32_t comm, Rank rank, Tag tag) const {
    return mixed(mixed(m_names.communicator(comm), static_cast<std::uint32_t>(rank)),
                 static_cast<std::uint32_t>(tag));
  }

  /// What starts several at once says nothing of them itself.
  void addRequests() {
    for (const PostedReceive& each : m_history.receives) {
      mix(m_symbols.requests, each.post,
          mixed(5, envelope(each.comm, each.wantedSource, each.wantedTag)));
    }
    for (const SentMessage& each : m_history.sends) {
      mix(m_symbols.requests, each.event,
          mixed(each.synchronous ? 7 : 6, envelope(each.comm, each.dest, each.tag)));
    }
  }

  void addOutcomes() {
    for (const PostedReceive& each : m_history.receives) {
      if (each.state == ReceiveState::Pending) {
        continue;
      }
      const Serial event = isObserved(m_history, each) ? each.completion : each.post;
      mix(m_symbols.outcomes, event,
          each.state == ReceiveState::Cancelled
              ? 8
              : mixed(9, envelope(each.comm, each.source, each.tag)));
      if (each.wantedSource == kAnySource && isEvent(m_history, event)) {
        m_symbols.choices[event - 1] = true;
      }
    }
    for (const ProbeHit& each : m_history.probes) {
      mix(m_symbols.outcomes, each.event, mixed(10, envelope(each.comm, each.source, each.tag)));
      if (each.wantedSource == kAnySource && isEvent(m_history, each.event)) {
        m_symbols.choices[each.event - 1] = true;
      }
    }
  }

  const SharedNames& m_names;
  const RankHistory& m_history;
  RankSymbols m_symbols;
};

/// The same small number for the same symbol in both.
class Numbering {
 public:
  std::vector<std::uint32_t> of(const std::vector<std::uint64_t>& symbols) {
    std::vector<std::uint32_t> numbers;
    numbers.reserve(symbols.size());
    for (const std::uint64_t symbol : symbols) {
      numbers.push_back(
          m_known.try_emplace(symbol, static_cast<std::uint32_t>(m_known.size())).first->second);
    }
    return numbers;
  }
  [[nodiscard]] std::size_t size() const { return m_known.size(); }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> m_known;
};

/// Where a difference is among those of its rank, and what was taken there: 0: nothing.
struct RowPlace {
  std::size_t row = 0;
  std::uint64_t outcomeA = 0;
  std::uint64_t outcomeB = 0;
};

/// One side of a rank.
struct AlignedSide {
  const RankHistory& history;
  RecordEnd end;
  RankSymbols symbols;
  std::vector<std::uint32_t> requests;
  std::vector<std::uint32_t> whole;
  std::vector<std::uint32_t> outcomes;

  [[nodiscard]] std::size_t size() const { return history.events.size(); }
};

/// The differences of one rank.
class RankAlignment {
 public:
  RankAlignment(Rank rank, AlignedSide a, AlignedSide b)
      : m_rank(rank), m_a(std::move(a)), m_b(std::move(b)) {
    Numbering requests;
    m_a.requests = requests.of(m_a.symbols.requests);
    m_b.requests = requests.of(m_b.symbols.requests);
    Numbering whole;
    m_a.whole = whole.of(m_a.symbols.whole);
    m_b.whole = whole.of(m_b.symbols.whole);
    m_symbols = whole.size();
    Numbering outcomes;
    m_a.outcomes = outcomes.of(m_a.symbols.outcomes);
    m_b.outcomes = outcomes.of(m_b.symbols.outcomes);
    m_outcomes = outcomes.size();
  }

  void run() {
    std::size_t a = 0;
    std::size_t b = 0;
    for (const MatchedRun& run : matched()) {
      addRow(a, run.a, b, run.b);
      for (std::size_t i = 0; i < run.length; ++i) {
        addSize(run.a + i, run.b + i);
      }
      a = run.a + run.length;
      b = run.b + run.length;
    }
    addRow(a, m_a.size(), b, m_b.size());
    const bool atEnd = a < m_a.size() || b < m_b.size();
    joinMoved();
    dropUnknown(atEnd ? m_row : 0);
  }

  /// The first difference, where no symbol says it: another message of the same source, or another index of Waitany's.
  void putFirst(const std::optional<Difference>& first) {
    if (!first || first->onlyFailedPolls || !first->a.there || !first->b.there ||
        (!found.empty() &&
         (found.front().besideA <= first->serial || found.front().besideB <= first->serial))) {
      return;
    }
    AlignedDifference one;
    one.rank = m_rank;
    one.kind = AlignedKind::Delivery;
    one.a = one.b = one.besideA = one.besideB = first->serial;
    one.choice = first->kind == DifferenceKind::Delivery || first->kind == DifferenceKind::Probe ||
                 first->kind == DifferenceKind::Outcome;
    found.insert(found.begin(), one);
    rows.insert(rows.begin(), RowPlace());
  }

  std::vector<AlignedDifference> found;
  std::vector<RowPlace> rows;  ///< of each of them, from 1
  bool exact = true;

 private:
  /// Both did the same calls, as far as both were let: nothing has to be aligned then.
  [[nodiscard]] bool sameRequests() const {
    const std::size_t common = std::min(m_a.size(), m_b.size());
    const auto whole = [common](const AlignedSide& side) {
      return side.size() == common && side.end == RecordEnd::Finished;
    };
    return (m_a.size() == m_b.size() || !(whole(m_a) || whole(m_b))) &&
           std::equal(m_a.requests.begin(),
                      m_a.requests.begin() + static_cast<std::ptrdiff_t>(common),
                      m_b.requests.begin());
  }

  [[nodiscard]] bool sameRequest(std::size_t a, std::size_t b) const {
    return a < m_a.size() && b < m_b.size() && m_a.requests[a] == m_b.requests[b];
  }

  /// Whatever is aligned: where both ask for the same just behind what they have in common, MPI chose. This pair stays in its
  /// row, and what crosses it is aligned no more.
  [[nodiscard]] std::vector<MatchedRun> withLeaders(const std::vector<MatchedRun>& runs) const {
    std::vector<MatchedRun> kept;
    std::size_t a = 0;
    std::size_t b = 0;
    bool led = false;
    for (const MatchedRun& run : runs) {
      const auto skipped = [&] {
        return std::max(a > run.a ? a - run.a : 0, b > run.b ? b - run.b : 0);
      };
      const bool behind = run.a + skipped() != a || run.b + skipped() != b;
      if (behind && !led && skipped() < run.length && sameRequest(a, b)) {
        led = true;
        ++a;
        ++b;
      }
      if (const std::size_t skip = skipped(); skip < run.length) {
        kept.push_back({static_cast<std::uint32_t>(run.a + skip),
                        static_cast<std::uint32_t>(run.b + skip),
                        static_cast<std::uint32_t>(run.length - skip)});
        a = run.a + run.length;
        b = run.b + run.length;
        led = false;
      }
    }
    return kept;
  }

  /// The events that both have.
  std::vector<MatchedRun> matched() {
    if (!sameRequests()) {
      SequenceAlignment alignment = alignSequences(m_a.whole, m_b.whole);
      exact = exact && alignment.exact;
      return withLeaders(alignment.runs);
    }
    std::vector<MatchedRun> runs;
    for (std::uint32_t i = 0; i < std::min(m_a.size(), m_b.size()); ++i) {
      if (m_a.whole[i] != m_b.whole[i]) {
        continue;
      }
      if (!runs.empty() && runs.back().a + runs.back().length == i) {
        ++runs.back().length;
      } else {
        runs.push_back({i, i, 1});
      }
    }
    return runs;
  }

  void add(AlignedKind kind, std::size_t a, std::size_t b) {
    AlignedDifference& one = found.emplace_back();
    rows.push_back({m_row, kind == AlignedKind::OnlyB ? 0 : m_a.symbols.outcomes[a],
                    kind == AlignedKind::OnlyA ? 0 : m_b.symbols.outcomes[b]});
    one.rank = m_rank;
    one.kind = kind;
    one.besideA = a + 1;
    one.besideB = b + 1;
    one.a = kind == AlignedKind::OnlyB ? 0 : one.besideA;
    one.b = kind == AlignedKind::OnlyA ? 0 : one.besideB;
    one.choice = kind == AlignedKind::Delivery &&  // that it came to a request at all is no choice
                 (m_a.symbols.choices[a] || m_b.symbols.choices[b]);
  }

  /// Both have the event: another size, where both know it.
  void addSize(std::size_t a, std::size_t b) {
    const std::uint64_t bytesA = m_a.history.events[a].bytes;
    const std::uint64_t bytesB = m_b.history.events[b].bytes;
    if (bytesA != bytesB) {
      ++m_row;
      add(AlignedKind::Size, a, b);
    }
  }

  /// Its record ends with this event, which may not have come to its end: what it took is unknown.
  static bool mayLack(const AlignedSide& side, std::size_t event) {
    return side.end != RecordEnd::Finished && event + 1 == side.size();
  }

  void addRow(std::size_t a, std::size_t endA, std::size_t b, std::size_t endB) {
    if (a == endA && b == endB) {
      return;
    }
    ++m_row;
    const bool test =
        (a < m_a.size() && m_a.symbols.tests[a]) || (b < m_b.size() && m_b.symbols.tests[b]);
    const std::size_t firstOfRow = found.size();
    const auto part = [](const std::vector<std::uint32_t>& all, std::size_t begin,
                         std::size_t end) { return std::span(all).subspan(begin, end - begin); };
    const SequenceAlignment pairs =
        alignSequences(part(m_a.requests, a, endA), part(m_b.requests, b, endB));
    exact = exact && pairs.exact;
    const std::size_t beginA = a;
    const std::size_t beginB = b;
    for (const MatchedRun& run : pairs.runs) {
      addAlone(a, beginA + run.a, b, beginB + run.b);
      for (std::size_t i = 0; i < run.length; ++i) {
        const std::size_t p = beginA + run.a + i;
        const std::size_t q = beginB + run.b + i;
        if (!mayLack(m_a, p) && !mayLack(m_b, q)) {
          add(AlignedKind::Delivery, p, q);
        }
      }
      a = beginA + run.a + run.length;
      b = beginB + run.b + run.length;
    }
    addAlone(a, endA, b, endB);
    if (test && firstOfRow < found.size()) {
      found[firstOfRow].choice = true;
    }
  }

  /// Events without one beside them.
  void addAlone(std::size_t a, std::size_t endA, std::size_t b, std::size_t endB) {
    for (std::size_t each = a; each < endA; ++each) {
      add(AlignedKind::OnlyA, each, b);
    }
    for (std::size_t each = b; each < endB; ++each) {
      add(AlignedKind::OnlyB, endA, each);
    }
  }

  /// What is alone in both is in both: at another place. What one took and the other took elsewhere is in another order.
  void joinMoved() {
    std::vector<std::vector<std::size_t>> aloneA(m_symbols);
    std::vector<bool> differA(m_outcomes);
    std::vector<bool> differB(m_outcomes);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const AlignedDifference& one = found[i];
      if (one.kind == AlignedKind::Size) {
        continue;
      }
      if (one.a != 0) {
        differA[m_a.outcomes[one.a - 1]] = true;
      }
      if (one.b != 0) {
        differB[m_b.outcomes[one.b - 1]] = true;
      }
      if (one.kind == AlignedKind::OnlyA) {
        aloneA[m_a.whole[one.a - 1]].push_back(i);
      }
    }
    std::vector<std::size_t> next(m_symbols);
    std::vector<bool> joined(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      AlignedDifference& one = found[i];
      if (one.kind == AlignedKind::Delivery) {
        const bool both = differB[m_a.outcomes[one.a - 1]] && differA[m_b.outcomes[one.b - 1]];
        one.kind = both ? AlignedKind::Order : AlignedKind::Delivery;
      } else if (one.kind == AlignedKind::OnlyB) {
        const std::uint32_t symbol = m_b.whole[one.b - 1];
        if (next[symbol] < aloneA[symbol].size()) {
          join(i, aloneA[symbol][next[symbol]++], joined);
        }
      }
    }
    erase(joined);
  }

  /// The one stands where its event comes first; the other goes.
  void join(std::size_t inB, std::size_t inA, std::vector<bool>& joined) {
    AlignedDifference& kept = found[std::min(inA, inB)];
    kept.kind = AlignedKind::Order;
    kept.a = kept.besideA = found[inA].a;
    kept.b = kept.besideB = found[inB].b;
    joined[std::max(inA, inB)] = true;
  }

  void erase(const std::vector<bool>& which) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!which[i]) {
        found[kept] = found[i];
        rows[kept++] = rows[i];
      }
    }
    found.resize(kept);
    rows.resize(kept);
  }

  /// What one did in the row behind the last event that both have, where the other's record is cut: it may have come to
  /// that as well.
  void dropUnknown(std::size_t lastRow) {
    std::vector<bool> unknown;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const AlignedKind kind = found[i].kind;
      unknown.push_back(rows[i].row == lastRow &&
                        ((kind == AlignedKind::OnlyA && m_b.end == RecordEnd::Cut) ||
                         (kind == AlignedKind::OnlyB && m_a.end == RecordEnd::Cut)));
    }
    erase(unknown);
  }

  Rank m_rank;
  AlignedSide m_a;
  AlignedSide m_b;
  std::size_t m_symbols = 0;
  std::size_t m_outcomes = 0;
  std::size_t m_row = 0;
};

/// Which follows from which.
class Following {
 public:
  Following(const Execution& a, const Execution& b, const Comparison& first,
            std::vector<AlignedDifference>& all, const std::vector<RowPlace>& rows)
      : m_a(a), m_b(b), m_first(first), m_all(all), m_rows(rows), m_before(all.size(), kNobody) {}

  void run() {
    m_firstOf.assign(m_first.ranks.size(), kNobody);
    for (std::size_t i = m_all.size(); i-- > 0;) {
      m_firstOf[index(m_all[i].rank)] = i;
    }
    m_visit.assign(m_all.size(), 0);
    listSends();
    for (std::size_t i = 0; i < m_all.size(); ++i) {
      m_before[i] = beforeOf(i);
    }
    for (std::size_t i = 0; i < m_all.size(); ++i) {
      m_all[i].root = rootOf(i);
    }
    for (std::size_t i = 0; i < m_all.size(); ++i) {
      m_all[m_all[i].root].followers += m_all[i].root != i ? 1U : 0U;
    }
  }

 private:
  static constexpr std::size_t kNobody = SIZE_MAX;
  using Place = std::pair<Rank, Serial>;
  struct PlaceHash {
    std::size_t operator()(const Place& place) const {
      return mixed(static_cast<std::uint32_t>(place.first), place.second);
    }
  };
  using Sends = std::unordered_map<Place, std::size_t, PlaceHash>;

  void listSends() {
    for (std::size_t i = 0; i < m_all.size(); ++i) {
      const AlignedDifference& one = m_all[i];
      if (one.kind == AlignedKind::OnlyA) {
        m_onlyA.emplace(Place{one.rank, one.a}, i);
      } else if (one.kind == AlignedKind::OnlyB) {
        m_onlyB.emplace(Place{one.rank, one.b}, i);
      }
    }
    listTaken(m_a, m_onlyA, m_takenA);
    listTaken(m_b, m_onlyB, m_takenB);
  }

  /// Of events that took messages of events of this execution alone: the difference that sent one.
  static void listTaken(const Execution& execution, const Sends& only, Sends& taken) {
    if (only.empty()) {
      return;
    }
    for (const Message& message : execution.messages) {
      if (message.completion == 0) {
        continue;
      }
      const auto sender = only.find({message.send.rank, message.send.serial});
      if (sender != only.end()) {
        taken.try_emplace(Place{message.dest, message.completion}, sender->second);
      }
    }
  }

  [[nodiscard]] bool sameSite(std::size_t i, std::size_t j) const {
    const auto siteOf = [this](const AlignedDifference& one) {
      const Event& event = one.b != 0 ? m_b.ranks[index(one.rank)].events[one.b - 1]
                                      : m_a.ranks[index(one.rank)].events[one.a - 1];
      return std::tuple(one.b != 0, event.site, event.call);
    };
    return siteOf(m_all[i]) == siteOf(m_all[j]);
  }

  /// It took what the earlier one left: what that took in the other execution.
  [[nodiscard]] bool isLeft(std::size_t i, std::size_t earlier) const {
    const RowPlace& one = m_rows[i];
    const RowPlace& before = m_rows[earlier];
    return (one.outcomeB != 0 && one.outcomeB == before.outcomeA) ||
           (one.outcomeA != 0 && one.outcomeA == before.outcomeB);
  }

  /// The difference that this one follows from at once, kNobody: none.
  [[nodiscard]] std::size_t beforeOf(std::size_t i) const {
    const AlignedDifference& one = m_all[i];
    const bool isFirst = i == 0 || m_all[i - 1].rank != one.rank;
    const std::optional<Difference>& first = m_first.ranks[index(one.rank)];
    if (isFirst && (!first || first->cause)) {
      return kNobody;
    }
    if (!one.choice) {
      return isFirst ? beforeFirst(*first) : i - 1;
    }
    if (const std::size_t sender = senderOf(one); sender != kNobody) {
      return sender;
    }
    for (std::size_t j = i;
         j-- > 0 && m_all[j].rank == one.rank && m_rows[j].row == m_rows[i].row;) {
      if (m_all[j].choice && (sameSite(i, j) || isLeft(i, j))) {
        return j;
      }
      if (i - j > kLookBack) {
        break;
      }
    }
    return kNobody;
  }

  /// The sender's difference that the message is of, which was taken in one of the executions alone.
  [[nodiscard]] std::size_t senderOf(const AlignedDifference& one) const {
    if (one.kind == AlignedKind::Order) {
      return kNobody;
    }
    const auto inB = one.b != 0 ? m_takenB.find({one.rank, one.b}) : m_takenB.end();
    if (inB != m_takenB.end()) {
      return inB->second;
    }
    const auto inA = one.a != 0 ? m_takenA.find({one.rank, one.a}) : m_takenA.end();
    return inA != m_takenA.end() ? inA->second : kNobody;
  }

  [[nodiscard]] std::size_t beforeFirst(const Difference& first) const {
    std::size_t found = kNobody;
    for (const Rank other : first.after) {
      const auto& theirs = m_first.ranks[index(other)];
      if (theirs && theirs->cause && m_firstOf[index(other)] != kNobody) {
        return m_firstOf[index(other)];
      }
      found = m_firstOf[index(other)] != kNobody ? m_firstOf[index(other)] : found;
    }
    return found;
  }

  /// In a circle (each took what the other would not have sent), the first choice that is met.
  [[nodiscard]] std::size_t rootOf(std::size_t i) {
    std::vector<std::size_t> path;
    for (; m_before[i] != kNobody && m_visit[i] != m_visits; i = m_before[i]) {
      m_visit[i] = m_visits;
      path.push_back(i);
    }
    if (m_before[i] != kNobody) {
      const auto circle = std::find(path.begin(), path.end(), i);
      const auto choice =
          std::find_if(circle, path.end(), [this](std::size_t each) { return m_all[each].choice; });
      i = choice == path.end() ? i : *choice;
    }
    ++m_visits;
    for (const std::size_t each : path) {
      m_before[each] = each == i ? kNobody : i;
    }
    return i;
  }

  static constexpr std::size_t kLookBack = 64;

  const Execution& m_a;
  const Execution& m_b;
  const Comparison& m_first;
  std::vector<AlignedDifference>& m_all;
  const std::vector<RowPlace>& m_rows;
  std::vector<std::size_t> m_before;
  std::vector<std::size_t> m_firstOf;  ///< by rank
  std::vector<std::size_t> m_visit;    ///< by difference: the search that has met it
  std::size_t m_visits = 1;
  Sends m_onlyA;
  Sends m_onlyB;
  Sends m_takenA;  ///< by event
  Sends m_takenB;
};

/// Those of a run that failed go by what is before its end.
void weigh(const ComparedRun& a, const ComparedRun& b, const FailedRun& failed,
           AlignedDifferences& differences) {
  const Execution& execution = failed.inB ? b.execution : a.execution;
  std::vector<std::size_t> roots;
  for (std::size_t i = 0; i < differences.all.size(); ++i) {
    if (differences.all[i].root == i) {
      roots.push_back(i);
    }
  }
  std::vector<RaceWeight> weights(roots.size(), RaceWeight::Other);
  if (failed.any && isRank(execution, failed.rank)) {
    const EventRef end{failed.rank, execution.ranks[index(failed.rank)].events.size() + 1};
    weights = weighRaces(end, cutBefore(execution, end), roots.size(), [&](std::size_t i) {
      const AlignedDifference& one = differences.all[roots[i]];
      const Serial beside = failed.inB ? one.besideB : one.besideA;
      return EventRef{one.rank, std::min(beside, execution.ranks[index(one.rank)].events.size())};
    });
  }
  for (std::size_t i = 0; i < roots.size(); ++i) {
    differences.all[roots[i]].weight = weights[i];
  }
  std::stable_sort(roots.begin(), roots.end(), [&](std::size_t i, std::size_t j) {
    return differences.all[i].weight < differences.all[j].weight;
  });
  differences.roots = std::move(roots);
}

}  // namespace

AlignedDifferences alignDifferences(const ComparedRun& a, const ComparedRun& b, bool sites,
                                    const Comparison& first, const FailedRun& failed) {
  const SharedNames namesA(a.execution, sites);
  const SharedNames namesB(b.execution, sites);
  AlignedDifferences differences;
  std::vector<RowPlace> rows;
  const auto side = [](const ComparedRun& run, const SharedNames& names, std::size_t rank) {
    const RankHistory& history = run.execution.ranks[rank];
    return AlignedSide{history,
                       rank < run.ranks.size() ? run.ranks[rank].end : RecordEnd::Finished,
                       SymbolMaker(names, history).run(),
                       {},
                       {},
                       {}};
  };
  for (std::size_t rank = 0; rank < first.ranks.size(); ++rank) {
    if (!first.ranks[rank] || first.ranks[rank]->onlyFailedPolls) {
      continue;  // it did the same
    }
    RankAlignment each(static_cast<Rank>(rank), side(a, namesA, rank), side(b, namesB, rank));
    each.run();
    each.putFirst(first.ranks[rank]);
    differences.exact = differences.exact && each.exact;
    differences.all.insert(differences.all.end(), each.found.begin(), each.found.end());
    rows.insert(rows.end(), each.rows.begin(), each.rows.end());
  }
  Following(a.execution, b.execution, first, differences.all, rows).run();
  weigh(a, b, failed, differences);
  return differences;
}

}  // namespace pf
