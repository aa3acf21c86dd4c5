// SPDX-License-Identifier: GPL-3.0-or-later
// Small programs whose calls follow from what they have received: all their matchings, by going through all that can happen, and
// by branches of runs. Each must be found, and none twice.
#include "replay_engine/branching/branches.h"

#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "replay_engine/races/tests/random_execution.h"

namespace pf {
namespace {

using Forced = std::map<std::pair<Rank, std::uint32_t>, MessageName>;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ (value + 0x9E3779B97F4A7C15ULL)) * 0xBF58476D1CE4E5B9ULL;
  return hash ^ hash >> 29U;
}

/// Buffered sends, blocking receives of any source, non-blocking ones and waits for them, barriers.
class World {
 public:
  World(std::uint64_t program, int ranks, int calls) : m_calls(calls) {
    for (int rank = 0; rank < ranks; ++rank) {
      m_ranks.emplace_back().state = mixed(program, static_cast<std::uint64_t>(rank));
    }
    m_execution.ranks.resize(m_ranks.size());
    m_execution.callNames = {"MPI_Call"};
    Communicator world{0, "MPI_COMM_WORLD", {}, {}};
    for (Rank rank = 0; rank < ranks; ++rank) {
      world.group.push_back(rank);
    }
    m_execution.communicators.push_back(world);
  }

  /// Something that can happen: a rank goes on (source: none), or the first of its receives without a message takes the next one of a rank.
  struct Move {
    Rank rank;
    Rank source = kUnknownRank;
  };

  [[nodiscard]] std::vector<Move> moves() const {
    std::vector<Move> all;
    for (Rank rank = 0; rank < count(); ++rank) {
      if (canGoOn(rank)) {
        all.push_back({rank});
      }
      const Rankwise& my = m_ranks[index(rank)];
      for (Rank source = 0; my.taken < posted(rank) && source < count(); ++source) {
        if (!channel(source, rank).empty()) {
          all.push_back({rank, source});
        }
      }
    }
    return all;
  }

  void make(const Move& move) {
    if (move.source == kUnknownRank) {
      goOn(move.rank);
      return;
    }
    Rankwise& my = m_ranks[index(move.rank)];
    std::deque<std::uint32_t>& from = m_channels[{move.source, move.rank}];
    PostedReceive& receive = m_execution.ranks[index(move.rank)].receives[my.taken++];
    receive.source = move.source;
    receive.tag = 0;
    my.got.push_back({move.source, from.front()});
    from.pop_front();
  }

  /// The receive that would take it, and the message.
  [[nodiscard]] std::pair<std::pair<Rank, std::uint32_t>, MessageName> takes(
      const Move& move) const {
    const Rankwise& my = m_ranks[index(move.rank)];
    return {{move.rank, static_cast<std::uint32_t>(my.taken)},
            {move.source, channel(move.source, move.rank).front()}};
  }

  [[nodiscard]] Execution execution() const {
    Execution all = m_execution;
    matchMessages(all);
    return all;
  }

  /// All that what comes depends on.
  [[nodiscard]] std::string key() const {
    std::string text;
    for (Rank rank = 0; rank < count(); ++rank) {
      const Rankwise& my = m_ranks[index(rank)];
      text += std::to_string(my.state) + "/" + std::to_string(my.done) + "/" +
              std::to_string(my.seen) + "/" + std::to_string(posted(rank)) + ":";
      for (const MessageName& each : my.got) {
        text += std::to_string(each.sender) + "." + std::to_string(each.send) + ",";
      }
      text += std::string(my.blocked ? "b" : "") + (my.inBarrier ? "B" : "") + ";";
    }
    return text;
  }

 private:
  struct Rankwise {
    std::uint64_t state = 0;
    int done = 0;
    std::size_t taken = 0;  ///< receives that have their message
    std::size_t seen = 0;   ///< receives that the program has seen complete
    std::vector<MessageName> got;
    bool blocked = false;  ///< in a receive or wait for receive number `seen`
    bool inBarrier = false;
    std::uint32_t barriers = 0;
  };

  [[nodiscard]] Rank count() const { return static_cast<Rank>(m_ranks.size()); }
  [[nodiscard]] std::size_t posted(Rank rank) const {
    return m_execution.ranks[index(rank)].receives.size();
  }
  [[nodiscard]] const std::deque<std::uint32_t>& channel(Rank from, Rank to) const {
    static const std::deque<std::uint32_t> none;
    const auto found = m_channels.find({from, to});
    return found != m_channels.end() ? found->second : none;
  }

  [[nodiscard]] bool canGoOn(Rank rank) const {
    const Rankwise& my = m_ranks[index(rank)];
    if (my.blocked) {
      return my.taken > my.seen;
    }
    if (my.inBarrier) {
      for (const Rankwise& other : m_ranks) {
        if (other.barriers < my.barriers) {
          return false;
        }
      }
      return true;
    }
    return my.done < m_calls;
  }

  void goOn(Rank rank) {
    Rankwise& my = m_ranks[index(rank)];
    RankHistory& history = m_execution.ranks[index(rank)];
    if (my.blocked) {
      my.blocked = false;
      PostedReceive& receive = history.receives[my.seen];
      receive.completion = history.events.size();
      receive.state = ReceiveState::Complete;
      const MessageName& got = my.got[my.seen++];
      my.state = mixed(my.state, static_cast<std::uint64_t>(got.sender) * 64 + got.send);
      return;
    }
    if (my.inBarrier) {
      my.inBarrier = false;
      history.collectives.back().completion = history.events.size();
      return;
    }
    ++my.done;
    my.state = mixed(my.state, 7);
    call(rank, my.state % 16);
  }

  void call(Rank rank, std::uint64_t what) {
    Rankwise& my = m_ranks[index(rank)];
    RankHistory& history = m_execution.ranks[index(rank)];
    Event event;
    event.comm = 0;
    if (what < 8) {
      event.kind = EventKind::Send;
      history.events.push_back(event);
      Rank dest = static_cast<Rank>(my.state / 64 % m_ranks.size());
      dest = dest == rank ? (dest + 1) % count() : dest;
      SentMessage sent;
      sent.event = history.events.size();
      sent.comm = 0;
      sent.dest = dest;
      sent.tag = 0;
      m_channels[{rank, dest}].push_back(static_cast<std::uint32_t>(history.sends.size()));
      history.sends.push_back(sent);
      return;
    }
    if (what == 8) {
      event.kind = EventKind::Collective;
      history.events.push_back(event);
      CollectivePart part;
      part.event = history.events.size();
      part.comm = 0;
      part.ordinal = my.barriers++;
      part.flow = CollectiveFlow::AllToAll;
      history.collectives.push_back(part);
      my.inBarrier = true;
      return;
    }
    const bool waits = my.seen < posted(rank) && what > 11;
    event.kind = waits ? EventKind::Completion : what < 12 ? EventKind::Receive : EventKind::Post;
    history.events.push_back(event);
    my.blocked = event.kind != EventKind::Post;
    if (waits) {
      return;
    }
    if (event.kind == EventKind::Receive && my.seen < posted(rank)) {
      history.events.back().kind = EventKind::Post;  // what was posted before comes first
      my.blocked = false;
    }
    PostedReceive receive;
    receive.post = history.events.size();
    receive.comm = 0;
    history.receives.push_back(receive);
  }

  Execution m_execution;
  std::vector<Rankwise> m_ranks;
  std::map<std::pair<Rank, Rank>, std::deque<std::uint32_t>> m_channels;
  int m_calls;
};

/// A barrier that is not over has no completion.
World worldOf(std::uint64_t program) {
  return {program, 2 + static_cast<int>(program % 3), 4 + static_cast<int>(program / 3 % 5)};
}

constexpr std::size_t kMostMatchings = 200;
constexpr std::size_t kMostStates = 1500;

/// Nothing: they are too many.
std::optional<std::set<std::string>> allMatchings(std::uint64_t program) {
  std::set<std::string> found;
  std::set<std::string> seen;
  std::vector<World> left{worldOf(program)};
  while (!left.empty()) {
    const World world = std::move(left.back());
    left.pop_back();
    if (!seen.insert(world.key()).second) {
      continue;
    }
    if (seen.size() > kMostStates || found.size() > kMostMatchings) {
      return std::nullopt;
    }
    const auto moves = world.moves();
    if (moves.empty()) {
      found.insert(matchingText(world.execution()));
    }
    for (const World::Move& move : moves) {
      left.push_back(world);
      left.back().make(move);
    }
  }
  return found;
}

/// Goes on at random, but for what is forced.
Execution run(std::uint64_t program, const Forced& forced, std::mt19937_64& random) {
  World world = worldOf(program);
  while (true) {
    std::vector<World::Move> moves = world.moves();
    std::erase_if(moves, [&](const World::Move& move) {
      if (move.source == kUnknownRank) {
        return false;
      }
      const auto [receive, message] = world.takes(move);
      const auto wanted = forced.find(receive);
      return wanted != forced.end() && wanted->second != message;
    });
    if (moves.empty()) {
      return world.execution();
    }
    world.make(moves[random() % moves.size()]);
  }
}

struct Left {
  std::shared_ptr<const Execution> parent;
  std::vector<RunStep> steps;
  Branch branch;
};

/// Explores a program: the matching of each run, in the order of the runs.
std::vector<std::string> explored(std::uint64_t program, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> matchings;
  std::set<BranchKey> known;
  std::vector<Left> left;
  const auto file = [&](Execution made, const std::vector<RunStep>& first) {
    auto execution = std::make_shared<Execution>(std::move(made));
    const Choices choices(*execution);
    const Result<std::vector<RunStep>> steps = stepsOf(*execution, choices, first);
    ASSERT_TRUE(steps) << steps.error().text();
    for (const Branch& branch : branchesOf(*execution, choices, findRaces(*execution), *steps)) {
      if (known.insert(branch.key).second) {
        left.push_back({execution, *steps, branch});
      }
    }
    matchings.push_back(matchingText(*execution));
  };
  file(run(program, {}, random), {});
  while (!left.empty() && matchings.size() <= 2 * kMostMatchings) {
    std::swap(left[random() % left.size()], left.back());
    const Left next = std::move(left.back());
    left.pop_back();
    const Choices choices(*next.parent);
    const Result<BranchStart> start = startOf(*next.parent, choices, next.steps, next.branch);
    EXPECT_TRUE(start);
    Forced forced;
    for (const RunStep& step : start->steps) {
      forced[{step.choice.rank, step.choice.index}] = step.took;
    }
    file(run(program, forced, random), start->steps);
  }
  return matchings;
}

TEST(BranchesTest, EachMatchingHasOneRun) {
  std::uint64_t programs = 0;
  std::uint64_t all = 0;
  for (std::uint64_t program = 1; programs < oracle::runs(500); ++program) {
    const std::optional<std::set<std::string>> expected = allMatchings(program);
    if (!expected || expected->size() < 2) {
      continue;
    }
    ++programs;
    all += expected->size();
    const std::vector<std::string> found = explored(program, program);
    const std::set<std::string> distinct(found.begin(), found.end());
    ASSERT_EQ(distinct, *expected) << "program " << program;
    ASSERT_EQ(found.size(), distinct.size()) << "program " << program << ": some twice";
  }
  std::printf("%llu programs, %llu matchings\n", static_cast<unsigned long long>(programs),
              static_cast<unsigned long long>(all));
}

/// The key of a branch does not depend on the order in which choices are listed.
TEST(BranchesTest, AnyOrderOfRunsComesToTheSame) {
  for (std::uint64_t program = 1; program <= 40; ++program) {
    const std::optional<std::set<std::string>> expected = allMatchings(program);
    for (std::uint64_t seed = 1; expected && seed <= 5; ++seed) {
      ASSERT_EQ(explored(program, 1000 + seed).size(), expected->size()) << "program " << program;
    }
  }
}

}  // namespace
}  // namespace pf
