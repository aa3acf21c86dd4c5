// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/comparison/difference.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "replay_engine/comparison/difference_causes.h"
#include "replay_engine/comparison/site_place.h"
#include "replay_engine/execution/envelope.h"
#include "replay_engine/execution/record_checks.h"

namespace pf {
namespace {

/// Indices by the event that they belong to.
class ByEvent {
 public:
  void add(Serial event, std::size_t index) {
    m_entries.emplace_back(event, static_cast<std::uint32_t>(index));
  }
  void finish() { std::sort(m_entries.begin(), m_entries.end()); }
  [[nodiscard]] std::vector<std::uint32_t> at(Serial event) const {
    std::vector<std::uint32_t> found;
    auto entry = std::lower_bound(m_entries.begin(), m_entries.end(), std::pair(event, 0U));
    for (; entry != m_entries.end() && entry->first == event; ++entry) {
      found.push_back(entry->second);
    }
    return found;
  }

 private:
  std::vector<std::pair<Serial, std::uint32_t>> m_entries;
};

/// One rank of one execution, looked at event by event.
struct RankView {
  explicit RankView(const RankHistory& rankHistory) : history(rankHistory) {
    for (std::size_t i = 0; i < history.receives.size(); ++i) {
      posts.add(history.receives[i].post, i);
      if (history.receives[i].state != ReceiveState::Pending) {
        completions.add(history.receives[i].completion, i);
      }
    }
    for (std::size_t i = 0; i < history.sends.size(); ++i) {
      sends.add(history.sends[i].event, i);
      synchronous.add(history.sends[i].syncCompletion, i);
    }
    for (std::size_t i = 0; i < history.probes.size(); ++i) {
      probes.add(history.probes[i].event, i);
    }
    for (std::size_t i = 0; i < history.collectives.size(); ++i) {
      collectives.add(history.collectives[i].event, i);
      collectiveEnds.add(history.collectives[i].completion, i);
    }
    for (ByEvent* each :
         {&posts, &completions, &sends, &synchronous, &probes, &collectives, &collectiveEnds}) {
      each->finish();
    }
  }

  const RankHistory& history;
  ByEvent posts;
  ByEvent completions;
  ByEvent sends;
  ByEvent synchronous;
  ByEvent probes;
  ByEvent collectives;
  ByEvent collectiveEnds;
};

/// What makes things of two executions comparable.
class Names {
 public:
  Names(const Execution& a, const Execution& b, bool sites)
      : m_a(a), m_b(b), m_sites(sites), m_ordinalsA(ordinals(a)), m_ordinalsB(ordinals(b)) {
    std::map<SitePlace, std::uint32_t> known;
    for (const CallSite& site : a.sites) {
      const auto number = static_cast<std::uint32_t>(m_siteOfA.size());
      m_siteOfA.push_back(known.try_emplace(placeOf(site), number).first->second);
    }
    for (const CallSite& site : b.sites) {
      const auto found = known.find(placeOf(site));
      m_siteOfB.push_back(found == known.end() ? kNone - 1 : found->second);
    }
  }

  [[nodiscard]] bool sameCall(const Event& a, const Event& b) const {
    return name(m_a, a.call) == name(m_b, b.call) && a.kind == b.kind && sameSite(a.site, b.site) &&
           sameComm(a.comm, b.comm) && a.peer == b.peer && a.tag == b.tag && a.bytes == b.bytes;
  }
  /// One of them is a test that succeeded.
  [[nodiscard]] bool areTests(const Event& a, const Event& b) const {
    return isTest(m_a, a) || isTest(m_b, b);
  }
  [[nodiscard]] bool sameComm(std::uint32_t a, std::uint32_t b) const {
    const bool knownA = a < m_a.communicators.size();
    const bool knownB = b < m_b.communicators.size();
    return knownA && knownB ? m_a.communicators[a].key == m_b.communicators[b].key
                            : knownA == knownB;
  }
  /// The n-th of their channel, both of them; one that is not in the record is like any.
  [[nodiscard]] bool sameMessage(std::uint32_t a, std::uint32_t b) const {
    return a >= m_ordinalsA.size() || b >= m_ordinalsB.size() || m_ordinalsA[a] == m_ordinalsB[b];
  }

 private:
  static const std::string& name(const Execution& execution, std::uint16_t call) {
    static const std::string none;
    return call < execution.callNames.size() ? execution.callNames[call] : none;
  }
  static bool isTest(const Execution& execution, const Event& event) {
    const std::string& call = name(execution, event.call);
    return event.kind != EventKind::Local &&
           (call.starts_with("MPI_Test") || call == "MPI_Iprobe" || call == "MPI_Improbe" ||
            call.starts_with("MPI_Request_get_status"));
  }
  [[nodiscard]] bool sameSite(std::uint32_t a, std::uint32_t b) const {
    const bool knownA = a < m_siteOfA.size();
    const bool knownB = b < m_siteOfB.size();
    return !m_sites || (knownA && knownB ? m_siteOfA[a] == m_siteOfB[b] : knownA == knownB);
  }

  /// Of each message, how many of its channel were sent before it.
  static std::vector<std::uint32_t> ordinals(const Execution& execution) {
    std::vector<std::unordered_map<Envelope, std::uint32_t, EnvelopeHash>> sent(
        execution.ranks.size());
    std::vector<std::uint32_t> result;
    result.reserve(execution.messages.size());
    for (const Message& message : execution.messages) {
      result.push_back(isRank(execution, message.dest)
                           ? sent[static_cast<std::size_t>(message.dest)]
                                 [{message.send.rank, message.comm, message.tag}]++
                           : 0);
    }
    return result;
  }

  const Execution& m_a;
  const Execution& m_b;
  bool m_sites;
  std::vector<std::uint32_t> m_siteOfA;  ///< by site: the first one of a that is the same place
  std::vector<std::uint32_t> m_siteOfB;  ///< by site of b: that of a
  std::vector<std::uint32_t> m_ordinalsA;
  std::vector<std::uint32_t> m_ordinalsB;
};

/// Finds the first difference of one rank.
class RankComparison {
 public:
  RankComparison(const Names& names, Rank rank, const RankHistory& a, const RankHistory& b,
                 const RankFacts& factsA, const RankFacts& factsB)
      : m_names(names), m_rank(rank), m_a(a), m_b(b), m_factsA(factsA), m_factsB(factsB) {}

  void run() {
    const std::size_t shorter = std::min(m_a.history.events.size(), m_b.history.events.size());
    for (m_serial = 1; m_serial <= shorter && !found; ++m_serial) {
      compareEvent();
    }
    if (found) {
      --m_serial;
    } else {
      compareEnds();
    }
    compareUnobserved();
    compareChoices();
    same = found ? found->serial - 1 : shorter;
    if (!found && failedPolls) {
      Difference& difference = add(DifferenceKind::Outcome);
      difference.serial = failedPolls->event;
      difference.onlyFailedPolls = true;
      difference.a.failedPolls = failedPolls->a;
      difference.b.failedPolls = failedPolls->b;
    }
    if (found) {
      found->a.there = isEvent(m_a.history, found->serial);
      found->b.there = isEvent(m_b.history, found->serial);
    }
  }

  std::optional<Difference> found;
  std::optional<PollsDifference> failedPolls;
  Serial same = 0;

 private:
  Difference& add(DifferenceKind kind) {
    found.emplace();
    found->rank = m_rank;
    found->serial = m_serial;
    found->kind = kind;
    return *found;
  }

  /// The record ends with this event, which may not have come to its end: what it lacks is unknown.
  [[nodiscard]] bool mayLack(const RankView& view, const RankFacts& facts) const {
    return facts.end != RecordEnd::Finished && m_serial == view.history.events.size();
  }

  void compareEvent() {
    if (!sameRequest()) {
      const bool tests =
          m_names.areTests(m_a.history.events[m_serial - 1], m_b.history.events[m_serial - 1]);
      add(tests ? DifferenceKind::Outcome : DifferenceKind::Call).otherCall = true;
    } else if (!compareCompletions()) {
      compareProbes();
    }
  }

  template <typename Equal>
  static bool alike(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b,
                    Equal equal) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal);
  }

  /// The call and all that it asks for.
  [[nodiscard]] bool sameRequest() const {
    const RankHistory& a = m_a.history;
    const RankHistory& b = m_b.history;
    return m_names.sameCall(a.events[m_serial - 1], b.events[m_serial - 1]) &&
           alike(m_a.posts.at(m_serial), m_b.posts.at(m_serial),
                 [&](std::uint32_t i, std::uint32_t j) {
                   const PostedReceive& p = a.receives[i];
                   const PostedReceive& q = b.receives[j];
                   return i == j && m_names.sameComm(p.comm, q.comm) &&
                          p.wantedSource == q.wantedSource && p.wantedTag == q.wantedTag;
                 }) &&
           alike(m_a.sends.at(m_serial), m_b.sends.at(m_serial),
                 [&](std::uint32_t i, std::uint32_t j) {
                   const SentMessage& p = a.sends[i];
                   const SentMessage& q = b.sends[j];
                   return m_names.sameComm(p.comm, q.comm) && p.dest == q.dest && p.tag == q.tag &&
                          p.synchronous == q.synchronous;
                 }) &&
           alike(m_a.collectives.at(m_serial), m_b.collectives.at(m_serial),
                 [&](std::uint32_t i, std::uint32_t j) {
                   const CollectivePart& p = a.collectives[i];
                   const CollectivePart& q = b.collectives[j];
                   return m_names.sameComm(p.comm, q.comm) && p.flow == q.flow &&
                          p.root == q.root && p.contributes == q.contributes && p.takes == q.takes;
                 });
  }

  [[nodiscard]] bool sameDelivery(std::uint32_t post) const {
    const PostedReceive& a = m_a.history.receives[post];
    const PostedReceive& b = m_b.history.receives[post];
    return a.state == b.state &&
           (a.state == ReceiveState::Cancelled ||
            (a.source == b.source && a.tag == b.tag &&
             (m_names.sameMessage(a.message, b.message) || mayBeAnother(m_a.history, post, a) ||
              mayBeAnother(m_b.history, post, b))));
  }

  /// Which message of its source this receive or probe got cannot be told: one posted earlier,
  /// whose completion is not in the record, may have got one.
  template <typename Taken>
  static bool mayBeAnother(const RankHistory& history, std::uint32_t posts, const Taken& taken) {
    return std::any_of(
        history.receives.begin(), history.receives.begin() + posts, [&](const PostedReceive& each) {
          return isPending(history, each) && each.message == kNone && each.comm == taken.comm &&
                 (each.wantedSource == kAnySource || each.wantedSource == taken.source) &&
                 (each.wantedTag == kAnyTag || each.wantedTag == taken.tag);
        });
  }

  /// Of what the one completed, the first that the other did not; kNone if there is none, or if the
  /// other's record may lack it.
  static std::uint32_t missing(const std::vector<std::uint32_t>& here,
                               const std::vector<std::uint32_t>& there, bool mayLackThere) {
    for (const std::uint32_t each : here) {
      if (!mayLackThere && !std::binary_search(there.begin(), there.end(), each)) {
        return each;
      }
    }
    return kNone;
  }

  /// A call of the program observed the receive's completion. The record can have it at any event
  /// else: at the one before the request was freed, or at MPI_Finalize.
  [[nodiscard]] static bool observed(const RankHistory& history, std::uint32_t post) {
    const Serial completion = history.receives[post].completion;
    if (!isEvent(history, completion)) {
      return true;  // not complete
    }
    const EventKind kind = history.events[completion - 1].kind;
    return kind == EventKind::Completion || kind == EventKind::Receive ||
           kind == EventKind::SendReceive;
  }
  [[nodiscard]] bool observedInBoth(std::uint32_t post) const {
    return post >= m_a.history.receives.size() || post >= m_b.history.receives.size() ||
           (observed(m_a.history, post) && observed(m_b.history, post));
  }

  [[nodiscard]] std::vector<std::uint32_t> completionsIn(const RankView& view) const {
    std::vector<std::uint32_t> posts = view.completions.at(m_serial);
    std::erase_if(posts, [&](std::uint32_t post) { return !observedInBoth(post); });
    return posts;
  }

  /// Receives that nobody observed count where they were posted.
  void compareUnobserved() {
    const std::size_t posts = std::min(m_a.history.receives.size(), m_b.history.receives.size());
    for (std::uint32_t post = 0; post < posts; ++post) {
      const PostedReceive& a = m_a.history.receives[post];
      const PostedReceive& b = m_b.history.receives[post];
      if (found && a.post >= found->serial) {
        return;
      }
      const bool complete =
          a.state != ReceiveState::Pending && b.state != ReceiveState::Pending && a.post == b.post;
      if (complete && !observedInBoth(post) && !sameDelivery(post)) {
        m_serial = a.post;
        addDelivery(post);
        return;
      }
    }
  }

  void addDelivery(std::uint32_t post) {
    const bool cancelled = m_a.history.receives[post].state != m_b.history.receives[post].state;
    Difference& difference = add(cancelled ? DifferenceKind::Outcome : DifferenceKind::Delivery);
    difference.a.receive = difference.b.receive = post;
    difference.ordinal = ordinal(post);
  }

  bool compareCompletions() {
    const auto a = completionsIn(m_a);
    const auto b = completionsIn(m_b);
    const bool lackA = mayLack(m_a, m_factsA);
    const bool lackB = mayLack(m_b, m_factsB);
    for (const std::uint32_t post : a) {
      if (std::binary_search(b.begin(), b.end(), post) && !sameDelivery(post)) {
        addDelivery(post);
        return true;
      }
    }
    const std::uint32_t onlyA = missing(a, b, lackB);
    const std::uint32_t onlyB = missing(b, a, lackA);
    if (onlyA != kNone || onlyB != kNone) {
      Difference& difference = add(DifferenceKind::Outcome);
      difference.a.receive = onlyA;
      difference.b.receive = onlyB;
      difference.ordinal = ordinal(onlyA != kNone ? onlyA : onlyB);
      return true;
    }
    if (othersDiffer(m_a.synchronous, m_b.synchronous, lackA || lackB) ||
        othersDiffer(m_a.collectiveEnds, m_b.collectiveEnds, lackA || lackB)) {
      add(DifferenceKind::Outcome);
      return true;
    }
    return false;
  }

  [[nodiscard]] bool othersDiffer(const ByEvent& a, const ByEvent& b, bool lack) const {
    return !lack && a.at(m_serial) != b.at(m_serial);
  }

  void compareProbes() {
    const auto a = m_a.probes.at(m_serial);
    const auto b = m_b.probes.at(m_serial);
    if (a.empty() || b.empty()) {  // the record ends within the probe
      return;
    }
    const ProbeHit& p = m_a.history.probes[a.front()];
    const ProbeHit& q = m_b.history.probes[b.front()];
    const bool sameSight =
        p.source == q.source && p.tag == q.tag &&
        (m_names.sameMessage(p.message, q.message) || mayBeAnother(m_a.history, p.postsBefore, p) ||
         mayBeAnother(m_b.history, q.postsBefore, q));
    if (!sameSight) {
      Difference& difference = add(DifferenceKind::Probe);
      difference.a.probe = a.front();
      difference.b.probe = b.front();
      for (std::uint32_t i = 0; i <= a.front(); ++i) {
        const ProbeHit& earlier = m_a.history.probes[i];
        difference.ordinal += earlier.comm == p.comm && earlier.wantedTag == p.wantedTag ? 1U : 0U;
      }
    }
  }

  [[nodiscard]] std::uint32_t ordinal(std::uint32_t post) const {
    const auto& receives = m_a.history.receives;
    std::uint32_t result = 0;
    for (std::uint32_t i = 0; i <= post; ++i) {
      result += receives[i].comm == receives[post].comm &&
                        receives[i].wantedTag == receives[post].wantedTag
                    ? 1U
                    : 0U;
    }
    return result;
  }

  void compareEnds() {
    const std::size_t a = m_a.history.events.size();
    const std::size_t b = m_b.history.events.size();
    const RecordEnd end = a < b ? m_factsA.end : m_factsB.end;
    const bool otherEnds =
        a == b && m_factsA.end != RecordEnd::Cut && m_factsB.end != RecordEnd::Cut &&
        (m_factsA.end != m_factsB.end || (m_factsA.exitStatus && m_factsB.exitStatus &&
                                          *m_factsA.exitStatus != *m_factsB.exitStatus));
    if (otherEnds || (a != b && end != RecordEnd::Cut)) {
      add(DifferenceKind::End);
    }
  }

  void compareChoices() {
    const std::size_t streams = std::min(m_factsA.choices.size(), m_factsB.choices.size());
    for (std::size_t stream = 0; stream < streams; ++stream) {
      const auto& a = m_factsA.choices[stream];
      const auto& b = m_factsB.choices[stream];
      for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (a[i].event == 0 || b[i].event == 0 ? found.has_value() : isLater(a[i].event)) {
          break;
        }
        compareChoice(a[i], b[i]);
      }
    }
  }

  [[nodiscard]] bool isLater(Serial event) const {
    return found && (event > found->serial || (event == found->serial && found->otherCall));
  }

  void compareChoice(const ObservedChoice& a, const ObservedChoice& b) {
    if (a.failedPolls != b.failedPolls &&
        (!failedPolls || failedPolls->event == 0 || a.event < failedPolls->event)) {
      failedPolls = PollsDifference{a.event, a.failedPolls, b.failedPolls};
    }
    if (a.payload == b.payload) {
      return;
    }
    if (!found || a.event < found->serial) {
      m_serial = a.event;
      add(DifferenceKind::Outcome);
    }
    if (found->serial == a.event && !found->otherCall) {
      found->a.payload = a.payload;
      found->b.payload = b.payload;
    }
  }

  const Names& m_names;
  Rank m_rank;
  RankView m_a;
  RankView m_b;
  const RankFacts& m_factsA;
  const RankFacts& m_factsB;
  Serial m_serial = 0;
};

}  // namespace

bool Comparison::same() const {
  return std::none_of(ranks.begin(), ranks.end(),
                      [](const auto& each) { return each.has_value(); });
}

Comparison compareExecutions(const ComparedRun& a, const ComparedRun& b, bool sites) {
  const Names names(a.execution, b.execution, sites);
  const RankFacts finished;
  Comparison comparison;
  const std::size_t ranks = std::min(a.execution.ranks.size(), b.execution.ranks.size());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    RankComparison each(names, static_cast<Rank>(rank), a.execution.ranks[rank],
                        b.execution.ranks[rank], rank < a.ranks.size() ? a.ranks[rank] : finished,
                        rank < b.ranks.size() ? b.ranks[rank] : finished);
    each.run();
    comparison.ranks.push_back(std::move(each.found));
    comparison.failedPolls.push_back(each.failedPolls);
    comparison.compared.push_back(each.same);
  }
  findCauses(a.execution, b.execution, comparison);
  return comparison;
}

}  // namespace pf
