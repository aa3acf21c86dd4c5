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

using Forced = std::map<std::pair<Rank, std::uint32_t>, ChosenName>;

/// What a run is forced to choose.
struct ForcedChoices {
  Forced receives;
  Forced completions;
};

/// All that runs of a program can differ in.
std::string orderText(const Execution& execution) {
  return matchingText(execution) + "|" + givenTexts(execution);
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ (value + 0x9E3779B97F4A7C15ULL)) * 0xBF58476D1CE4E5B9ULL;
  return hash ^ hash >> 29U;
}

/// Buffered sends, blocking receives of any source, non-blocking ones and waits for them, barriers. With `completions`: also
/// non-blocking synchronous sends, and calls of Waitany's kind for all requests in hand.
class World {
 public:
  World(std::uint64_t program, int ranks, int calls, bool completions)
      : m_calls(calls), m_completions(completions) {
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
  /// Or a call of Waitany's kind gives something.
  struct Move {
    Rank rank;
    Rank source = kUnknownRank;
    GivenCode given = kNone;
  };

  [[nodiscard]] std::vector<Move> moves() const {
    std::vector<Move> all;
    for (Rank rank = 0; rank < count(); ++rank) {
      if (canGoOn(rank)) {
        all.push_back({rank});
      }
      for (const GivenCode code : canGive(rank)) {
        all.push_back({rank, kUnknownRank, code});
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
    if (move.given != kNone) {
      give(move.rank, move.given);
      return;
    }
    if (move.source == kUnknownRank) {
      goOn(move.rank);
      return;
    }
    m_ranks[index(move.source)].matched.insert(channel(move.source, move.rank).front());
    Rankwise& my = m_ranks[index(move.rank)];
    std::deque<std::uint32_t>& from = m_channels[{move.source, move.rank}];
    PostedReceive& receive = m_execution.ranks[index(move.rank)].receives[my.taken++];
    receive.source = move.source;
    receive.tag = 0;
    my.got.push_back({move.source, from.front()});
    from.pop_front();
  }

  /// The receive that would take it, and the message.
  [[nodiscard]] std::pair<std::pair<Rank, std::uint32_t>, ChosenName> takes(
      const Move& move) const {
    const Rankwise& my = m_ranks[index(move.rank)];
    return {{move.rank, static_cast<std::uint32_t>(my.taken)},
            {move.source, channel(move.source, move.rank).front()}};
  }

  /// The call that gives something.
  [[nodiscard]] std::pair<Rank, std::uint32_t> gives(const Move& move) const {
    return {move.rank,
            static_cast<std::uint32_t>(m_execution.ranks[index(move.rank)].offers.size())};
  }

  [[nodiscard]] Execution execution() const {
    Execution all = m_execution;
    for (Rank rank = 0; m_completions && rank < count(); ++rank) {  // as MPI_Finalize sees it
      RankHistory& history = all.ranks[index(rank)];
      for (std::size_t i = 0; i < m_ranks[index(rank)].taken; ++i) {
        if (history.receives[i].state == ReceiveState::Pending) {
          history.receives[i].state = ReceiveState::Complete;
          history.receives[i].completion = history.events.size();
        }
      }
    }
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
      for (const ChosenName& each : my.got) {
        text += std::to_string(each.sender) + "." + std::to_string(each.send) + ",";
      }
      text += std::string(my.blocked ? "b" : "") + (my.inBarrier ? "B" : "") + ";";
      for (const Held& each : my.held) {
        text += std::to_string(each.number) + (each.send ? "s" : "r");
      }
      for (const std::uint32_t send : my.matched) {
        text += "m" + std::to_string(send);
      }
      text += std::string(my.in == Call::Any    ? "A"
                          : my.in == Call::Some ? "S"
                                                : "") +
              std::to_string(my.waitsFor);
    }
    return text + givenTexts(m_execution);
  }

 private:
  enum class Call { None, Wait, Any, Some };
  struct Held {
    bool send = false;
    std::uint32_t number = 0;
  };
  struct Rankwise {
    std::uint64_t state = 0;
    int done = 0;
    std::size_t taken = 0;  ///< receives that have their message
    std::size_t seen = 0;   ///< receives that the program has seen complete
    std::vector<ChosenName> got;
    bool blocked = false;  ///< in a receive or wait for receive number `seen`
    bool inBarrier = false;
    std::uint32_t barriers = 0;
    std::vector<Held> held;  ///< requests in hand, with `completions`
    Call in = Call::None;
    std::size_t waitsFor = 0;         ///< request in `held`, in MPI_Wait
    std::set<std::uint32_t> matched;  ///< sends that have been taken
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

  [[nodiscard]] bool isDone(Rank rank, const Held& held) const {
    const Rankwise& my = m_ranks[index(rank)];
    return held.send ? my.matched.contains(held.number) : my.taken > held.number;
  }

  /// What the call of Waitany's kind that the rank is in can give.
  [[nodiscard]] std::vector<GivenCode> canGive(Rank rank) const {
    const Rankwise& my = m_ranks[index(rank)];
    std::vector<GivenCode> codes;
    if (my.in != Call::Any && my.in != Call::Some) {
      return codes;
    }
    GivenCode done = 0;
    for (std::uint32_t place = 0; place < my.held.size(); ++place) {
      done |= isDone(rank, my.held[place]) ? 1U << place : 0U;
      if (my.in == Call::Any && isDone(rank, my.held[place])) {
        codes.push_back(place);
      }
    }
    for (GivenCode some = 1; my.in == Call::Some && some <= done; ++some) {
      if ((some & ~done) == 0) {
        codes.push_back(some);
      }
    }
    return codes;
  }

  void give(Rank rank, GivenCode code) {
    Rankwise& my = m_ranks[index(rank)];
    RankHistory& history = m_execution.ranks[index(rank)];
    OfferedCompletion call{history.events.size(), my.in == Call::Some, {}};
    std::vector<Held> left;
    my.state = mixed(my.state, 100 + code);
    for (std::uint32_t place = 0; place < my.held.size(); ++place) {
      const Held held = my.held[place];
      const bool given = call.some ? (code >> place & 1U) != 0 : place == code;
      call.requests.push_back({place, held.number,
                               held.send ? OfferedKind::SynchronousSend : OfferedKind::Receive,
                               given});
      given ? end(rank, held) : left.push_back(held);
    }
    history.offers.push_back(std::move(call));
    my.held = std::move(left);
    my.in = Call::None;
  }

  /// The program is told.
  void end(Rank rank, const Held& held) {
    Rankwise& my = m_ranks[index(rank)];
    RankHistory& history = m_execution.ranks[index(rank)];
    if (held.send) {
      history.sends[held.number].syncCompletion = history.events.size();
      return;
    }
    PostedReceive& receive = history.receives[held.number];
    receive.completion = history.events.size();
    receive.state = ReceiveState::Complete;
    const ChosenName& got = my.got[held.number];
    my.state = mixed(my.state, static_cast<std::uint64_t>(got.sender) * 64 + got.send);
  }

  [[nodiscard]] bool canGoOn(Rank rank) const {
    const Rankwise& my = m_ranks[index(rank)];
    if (my.in != Call::None) {
      return my.in == Call::Wait && isDone(rank, my.held[my.waitsFor]);
    }
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
    if (my.in == Call::Wait) {
      end(rank, my.held[my.waitsFor]);
      my.held.erase(my.held.begin() + static_cast<std::ptrdiff_t>(my.waitsFor));
      my.in = Call::None;
      return;
    }
    if (my.blocked) {
      my.blocked = false;
      PostedReceive& receive = history.receives[my.seen];
      receive.completion = history.events.size();
      receive.state = ReceiveState::Complete;
      const ChosenName& got = my.got[my.seen++];
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
    m_completions ? callWithRequests(rank, my.state % 20) : call(rank, my.state % 16);
  }

  void callWithRequests(Rank rank, std::uint64_t what) {
    Rankwise& my = m_ranks[index(rank)];
    RankHistory& history = m_execution.ranks[index(rank)];
    if (what < 6 || what == 8) {
      call(rank, what);
    } else if (what < 8) {
      call(rank, 0);
      history.sends.back().synchronous = true;
      my.held.push_back({true, static_cast<std::uint32_t>(history.sends.size() - 1)});
    } else if (what < 13 || my.held.empty()) {
      Event event;
      event.comm = 0;
      event.kind = what % 2 == 0 ? EventKind::Receive : EventKind::Post;
      history.events.push_back(event);
      PostedReceive receive;
      receive.post = history.events.size();
      receive.comm = 0;
      my.held.push_back({false, static_cast<std::uint32_t>(history.receives.size())});
      history.receives.push_back(receive);
      my.in = event.kind == EventKind::Receive ? Call::Wait : Call::None;
      my.waitsFor = my.held.size() - 1;
    } else {
      Event event;
      event.kind = EventKind::Completion;
      history.events.push_back(event);
      my.in = what < 15 ? Call::Wait : what < 18 ? Call::Any : Call::Some;
      my.waitsFor = my.state / 32 % my.held.size();
    }
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
  bool m_completions;
};

/// A barrier that is not over has no completion.
World worldOf(std::uint64_t program) {
  return {program, 2 + static_cast<int>(program % 3), 4 + static_cast<int>(program / 3 % 5),
          program % 2 == 1};
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
    if (std::ranges::any_of(moves, [](const World::Move& each) {
          return each.given != kNone && each.given >= 1U << kMostInSets;
        })) {
      return std::nullopt;  // more sets than are varied
    }
    if (moves.empty()) {
      found.insert(orderText(world.execution()));
    }
    for (const World::Move& move : moves) {
      left.push_back(world);
      left.back().make(move);
    }
  }
  return found;
}

/// Goes on at random, but for what is forced.
Execution run(std::uint64_t program, const ForcedChoices& forced, std::mt19937_64& random) {
  World world = worldOf(program);
  while (true) {
    std::vector<World::Move> moves = world.moves();
    std::erase_if(moves, [&](const World::Move& move) {
      if (move.given != kNone) {
        const auto wanted = forced.completions.find(world.gives(move));
        return wanted != forced.completions.end() && wanted->second.send != move.given;
      }
      if (move.source == kUnknownRank) {
        return false;
      }
      const auto [receive, message] = world.takes(move);
      const auto wanted = forced.receives.find(receive);
      return wanted != forced.receives.end() && wanted->second != message;
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
    const Result<std::vector<RunStep>> steps = stepsOf(choices, first);
    ASSERT_TRUE(steps) << steps.error().text();
    for (const Branch& branch : branchesOf(*execution, choices, findRaces(*execution), *steps)) {
      if (known.insert(branch.key).second) {
        left.push_back({execution, *steps, branch});
      }
    }
    matchings.push_back(orderText(*execution));
  };
  file(run(program, {}, random), {});
  while (!left.empty() && matchings.size() <= 2 * kMostMatchings) {
    std::swap(left[random() % left.size()], left.back());
    const Left next = std::move(left.back());
    left.pop_back();
    const Choices choices(*next.parent);
    const Result<BranchStart> start = startOf(*next.parent, choices, next.steps, next.branch);
    EXPECT_TRUE(start);
    ForcedChoices forced;
    for (const RunStep& step : start->steps) {
      const bool completion = step.choice.by == ChosenBy::Completion;
      (completion ? forced.completions : forced.receives)[{step.choice.rank, step.choice.index}] =
          step.took;
    }
    file(run(program, forced, random), start->steps);
  }
  return matchings;
}

/// Sanitizers make it slow: of the programs, one part.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kParts = 5;
#else
constexpr std::uint64_t kParts = 1;
#endif

TEST(BranchesTest, EachMatchingHasOneRun) {
  std::uint64_t programs = 0;
  std::uint64_t all = 0;
  for (std::uint64_t program = 1; programs < oracle::runs(500) / kParts; ++program) {
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
  for (std::uint64_t program = 1; program <= 40 / kParts; ++program) {
    const std::optional<std::set<std::string>> expected = allMatchings(program);
    for (std::uint64_t seed = 1; expected && seed <= 5; ++seed) {
      ASSERT_EQ(explored(program, 1000 + seed).size(), expected->size()) << "program " << program;
    }
  }
}

}  // namespace
}  // namespace pf
