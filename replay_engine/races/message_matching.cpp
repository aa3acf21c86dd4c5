// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "replay_engine/base/large_vector.h"
#include "replay_engine/execution/envelope.h"
#include "replay_engine/execution/record_checks.h"
#include "replay_engine/races/races.h"

namespace pf {
namespace {

/// Messages of one envelope that are still to be received, in sending order.
struct Stream {
  std::uint32_t head = kNone;
  std::uint32_t tail = kNone;
};

/// Of one other rank: most messages are of the stream of the one before, which is found without the
/// table.
struct LastStream {
  std::uint32_t comm = kNone;
  Tag tag = kAnyTag;
  Stream* stream = nullptr;  ///< stays where it is in its table

  [[nodiscard]] bool is(std::uint32_t otherComm, Tag otherTag) const {
    return stream != nullptr && comm == otherComm && tag == otherTag;
  }
};

class Matcher {
 public:
  explicit Matcher(Execution& execution)
      : m_execution(execution), m_streams(execution.ranks.size()) {}

  void run() {
    m_execution.messages.clear();
    std::size_t sends = 0;
    for (const RankHistory& history : m_execution.ranks) {
      sends += history.sends.size();
    }
    reserveLarge(m_execution.messages, sends);
    reserveLarge(m_next, sends);
    for (std::size_t rank = 0; rank < m_execution.ranks.size(); ++rank) {
      addSends(static_cast<Rank>(rank));
    }
    for (std::size_t rank = 0; rank < m_execution.ranks.size(); ++rank) {
      receiveAt(rank);
    }
  }

 private:
  void addSends(Rank rank) {
    const RankHistory& history = m_execution.ranks[static_cast<std::size_t>(rank)];
    m_last.assign(m_execution.ranks.size(), LastStream());
    for (std::size_t i = 0; i < history.sends.size(); ++i) {
      const SentMessage& send = history.sends[i];
      if (!isEvent(history, send.event)) {
        continue;
      }
      const auto index = static_cast<std::uint32_t>(m_execution.messages.size());
      Message& message = m_execution.messages.emplace_back();
      message.send = {rank, send.event};
      message.sendIndex = static_cast<std::uint32_t>(i);
      message.dest = send.dest;
      message.comm = send.comm;
      message.tag = send.tag;
      m_next.push_back(kNone);
      if (isRank(m_execution, send.dest)) {
        const auto dest = static_cast<std::size_t>(send.dest);
        LastStream& last = m_last[dest];
        if (!last.is(send.comm, send.tag)) {
          last = {send.comm, send.tag, &m_streams[dest][{rank, send.comm, send.tag}]};
        }
        append(*last.stream, index);
      }
    }
  }

  void append(Stream& stream, std::uint32_t index) {
    (stream.head == kNone ? stream.head : m_next[stream.tail]) = index;
    stream.tail = index;
  }

  /// Up to where receives of each envelope (no wildcards) have taken their message, whether or not
  /// the record says so: a later receive got a message of it, or a probe saw one. Not those posted
  /// before an MPI_Cancel: it could have been theirs.
  void findProvenPosts(const RankHistory& history) {
    m_provenPosts.clear();
    m_lastCancel = 0;
    const bool pending =
        std::any_of(history.receives.begin(), history.receives.end(),
                    [&](const PostedReceive& receive) { return isPending(history, receive); });
    if (!pending) {
      return;
    }
    for (std::size_t i = 0; i < history.events.size(); ++i) {
      m_lastCancel = isCancel(m_execution, history.events[i]) ? i + 1 : m_lastCancel;
    }
    for (std::uint32_t post = 0; post < history.receives.size(); ++post) {
      const PostedReceive& receive = history.receives[post];
      if (isCompleted(history, receive)) {
        m_provenPosts[{receive.source, receive.comm, receive.tag}] = post;
      }
    }
    for (const ProbeHit& probe : history.probes) {
      if (isEvent(history, probe.event)) {
        std::uint32_t& posts = m_provenPosts[{probe.source, probe.comm, probe.tag}];
        posts = std::max(posts, probe.postsBefore);
      }
    }
  }

  /// Goes through the receives in posting order; each probe looks at what is left before its turn.
  void receiveAt(std::size_t rank) {
    RankHistory& history = m_execution.ranks[rank];
    findProvenPosts(history);
    m_last.assign(m_execution.ranks.size(), LastStream());
    std::vector<std::size_t> probes(history.probes.size());
    std::iota(probes.begin(), probes.end(), std::size_t{0});
    std::stable_sort(probes.begin(), probes.end(), [&](std::size_t a, std::size_t b) {
      return history.probes[a].postsBefore < history.probes[b].postsBefore;
    });
    auto nextProbe = probes.begin();
    for (std::size_t post = 0; post < history.receives.size(); ++post) {
      for (; nextProbe != probes.end() && history.probes[*nextProbe].postsBefore <= post;
           ++nextProbe) {
        look(rank, history.probes[*nextProbe]);
      }
      take(rank, static_cast<std::uint32_t>(post));
    }
    for (; nextProbe != probes.end(); ++nextProbe) {
      look(rank, history.probes[*nextProbe]);
    }
  }

  Stream* find(std::size_t dest, const Envelope& envelope) {
    LastStream none;
    LastStream& last = isRank(m_execution, envelope.source)
                           ? m_last[static_cast<std::size_t>(envelope.source)]
                           : none;
    if (!last.is(envelope.comm, envelope.tag)) {
      const auto found = m_streams[dest].find(envelope);
      if (found == m_streams[dest].end()) {
        return nullptr;
      }
      last = {envelope.comm, envelope.tag, &found->second};
    }
    return last.stream;
  }

  void look(std::size_t rank, ProbeHit& probe) {
    probe.message = kNone;
    if (const Stream* stream = find(rank, {probe.source, probe.comm, probe.tag})) {
      probe.message = stream->head;
    }
  }

  /// What the receive's message is matched by; nothing if it took none that one could tell.
  [[nodiscard]] std::optional<Envelope> takenBy(const RankHistory& history,
                                                std::uint32_t post) const {
    const PostedReceive& receive = history.receives[post];
    if (isCompleted(history, receive)) {
      return Envelope{receive.source, receive.comm, receive.tag};
    }
    const Envelope wanted{receive.wantedSource, receive.comm, receive.wantedTag};
    const auto proven = m_provenPosts.find(wanted);  // no message has a wildcard in its envelope
    if (isPending(history, receive) && receive.post > m_lastCancel &&
        proven != m_provenPosts.end() && post < proven->second) {
      return wanted;
    }
    return std::nullopt;
  }

  void take(std::size_t rank, std::uint32_t post) {
    PostedReceive& receive = m_execution.ranks[rank].receives[post];
    receive.message = kNone;
    const std::optional<Envelope> envelope = takenBy(m_execution.ranks[rank], post);
    if (!envelope) {
      return;
    }
    Stream* stream = find(rank, *envelope);
    if (stream == nullptr || stream->head == kNone) {
      return;
    }
    receive.message = stream->head;
    Message& message = m_execution.messages[stream->head];
    message.post = post;
    message.completion = receive.completion;
    stream->head = m_next[stream->head];
  }

  Execution& m_execution;
  std::vector<std::unordered_map<Envelope, Stream, EnvelopeHash>> m_streams;  ///< by destination
  // Of the rank whose receives are looked at:
  std::unordered_map<Envelope, std::uint32_t, EnvelopeHash> m_provenPosts;
  Serial m_lastCancel = 0;
  std::vector<LastStream> m_last;     ///< of the rank that is looked at, by the other one
  std::vector<std::uint32_t> m_next;  ///< by message: the next one of its stream
};

}  // namespace

void matchMessages(Execution& execution) {
  Matcher(execution).run();
}

}  // namespace pf
