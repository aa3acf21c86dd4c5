// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/prediction/match_sets.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace pf::prediction {
namespace {

constexpr int kRounds = 4;  ///< more take little away

/// Of each rank the number of events that it has ended, at least, in every order.
using Ended = std::vector<std::uint32_t>;

class Pruner {
 public:
  Pruner(const ProgramModel& model, MatchSets& sets) : m_model(model), m_sets(sets) {
    for (const std::vector<ModelEvent>& events : model.ranks) {
      m_begin.emplace_back(events.size() + 1, Ended(model.ranks.size(), 0));
    }
  }

  void run() {
    for (int round = 0; round < kRounds; ++round) {
      const std::size_t before = m_sets.pairs;
      learnOrder();
      dropBySending();
      dropByPosting();
      dropByOrder();
      listByMessage();
      if (m_sets.pairs == before && round > 0) {
        return;
      }
    }
  }

 private:
  /// What every order has done when event `serial` of `rank` begins; one beyond its last: when that has ended.
  Ended& begin(Rank rank, Serial serial) { return m_begin[index(rank)][serial - 1]; }

  static void join(Ended& into, const Ended& other) {
    for (std::size_t i = 0; i < into.size(); ++i) {
      into[i] = std::max(into[i], other[i]);
    }
  }

  static void meet(Ended& into, const Ended& other) {
    for (std::size_t i = 0; i < into.size(); ++i) {
      into[i] = std::min(into[i], other[i]);
    }
  }

  /// From nothing upwards: every step stays below what holds in all orders.
  void learnOrder() {
    for (int pass = 0; pass < 3; ++pass) {
      for (std::size_t rank = 0; rank < m_model.ranks.size(); ++rank) {
        for (std::size_t i = 0; i < m_model.ranks[rank].size(); ++i) {
          Ended ended = m_begin[rank][i];
          for (const Wait& wait : m_model.ranks[rank][i].waits) {
            addWait(ended, wait);
          }
          ended[rank] = static_cast<std::uint32_t>(i + 1);
          join(m_begin[rank][i + 1], ended);
        }
      }
    }
  }

  void addWait(Ended& ended, const Wait& wait) {
    switch (wait.kind) {
      case WaitKind::Receive: {
        const std::vector<std::uint32_t>& messages = m_sets.ofReceive[wait.index];
        addAny(ended, messages, [this](std::uint32_t number) -> const Ended& {
          const ModelMessage& message = m_model.messages[number];
          return begin(message.source, message.event);
        });
        break;
      }
      case WaitKind::SynchronousSend: {
        const std::vector<std::uint32_t>& receives = m_sets.ofMessage[wait.index];
        addAny(ended, receives, [this](std::uint32_t number) -> const Ended& {
          const ModelReceive& receive = m_model.receives[number];
          return begin(receive.rank, receive.post);
        });
        break;
      }
      case WaitKind::Collective:
        for (const EventRef& part : m_model.collectives[wait.index].awaits) {
          join(ended, begin(part.rank, part.serial));
        }
        break;
    }
  }

  /// One of `numbers`, it is not known which.
  template <typename BeginOf>
  static void addAny(Ended& ended, const std::vector<std::uint32_t>& numbers,
                     const BeginOf& beginOf) {
    if (numbers.empty()) {
      return;
    }
    Ended common = beginOf(numbers.front());
    for (const std::uint32_t number : numbers) {
      meet(common, beginOf(number));
    }
    join(ended, common);
  }

  /// The k-th message of a sender and tag goes to a later receive than the one before it (MPI 3.1, 3.5).
  void dropBySending() {
    std::map<std::tuple<Rank, Rank, std::uint32_t, Tag>, std::uint32_t> last;
    std::vector<std::uint32_t> first(m_model.messages.size(), 0);
    for (std::uint32_t number = 0; number < m_model.messages.size(); ++number) {
      const ModelMessage& message = m_model.messages[number];
      const auto [before, isFirst] =
          last.try_emplace({message.source, message.dest, message.comm, message.tag}, number);
      if (!isFirst) {
        first[number] = firstReceive(before->second, first[before->second]) + 1;
        before->second = number;
      }
    }
    drop([&](std::uint32_t receive, std::uint32_t message) { return receive < first[message]; });
  }

  /// The first one that can take the message, from `from` on; beyond all if there is none.
  [[nodiscard]] std::uint32_t firstReceive(std::uint32_t message, std::uint32_t from) const {
    for (const std::uint32_t receive : m_sets.ofMessage[message]) {
      if (receive >= from) {
        return receive;
      }
    }
    return static_cast<std::uint32_t>(m_model.receives.size());
  }

  /// What only one receive's only message is, no receive posted after it gets.
  void dropByPosting() {
    std::vector<std::uint32_t> until(m_model.messages.size(), kNone);
    for (std::uint32_t receive = 0; receive < m_model.receives.size(); ++receive) {
      std::vector<std::uint32_t>& messages = m_sets.ofReceive[receive];
      std::erase_if(messages, [&](std::uint32_t message) { return receive > until[message]; });
      if (messages.size() == 1) {
        until[messages.front()] = receive;
      }
    }
  }

  /// A message that is sent after the receive has ended, in every order.
  void dropByOrder() {
    drop([&](std::uint32_t number, std::uint32_t sent) {
      const ModelReceive& receive = m_model.receives[number];
      const ModelMessage& message = m_model.messages[sent];
      return receive.waitedBy != 0 &&
             begin(message.source, message.event)[index(receive.rank)] >= receive.waitedBy;
    });
  }

  template <typename Is>
  void drop(const Is& is) {
    for (std::uint32_t receive = 0; receive < m_model.receives.size(); ++receive) {
      std::erase_if(m_sets.ofReceive[receive],
                    [&](std::uint32_t message) { return is(receive, message); });
    }
  }

  void listByMessage() {
    m_sets.ofMessage.assign(m_model.messages.size(), {});
    m_sets.pairs = 0;
    for (std::uint32_t receive = 0; receive < m_model.receives.size(); ++receive) {
      for (const std::uint32_t message : m_sets.ofReceive[receive]) {
        m_sets.ofMessage[message].push_back(receive);
        ++m_sets.pairs;
      }
    }
  }

  const ProgramModel& m_model;
  MatchSets& m_sets;
  std::vector<std::vector<Ended>> m_begin;  ///< by rank, serial - 1
};

}  // namespace

MatchSets matchSets(const ProgramModel& model, std::size_t most) {
  MatchSets sets;
  sets.ofReceive.resize(model.receives.size());
  sets.ofMessage.resize(model.messages.size());
  std::vector<std::vector<std::uint32_t>> coming(model.ranks.size());
  for (std::uint32_t number = 0; number < model.messages.size(); ++number) {
    coming[index(model.messages[number].dest)].push_back(number);
  }
  for (std::uint32_t number = 0; number < model.receives.size(); ++number) {
    for (const std::uint32_t message : coming[index(model.receives[number].rank)]) {
      if (accepts(model.receives[number], model.messages[message])) {
        sets.ofReceive[number].push_back(message);
        sets.ofMessage[message].push_back(number);
        sets.tooMany = ++sets.pairs > most;
      }
      if (sets.tooMany) {
        return sets;
      }
    }
  }
  Pruner(model, sets).run();
  return sets;
}

}  // namespace pf::prediction
