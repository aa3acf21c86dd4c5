// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/groups/traffic.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace pf {

std::uint64_t addedUp(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kNoSize : sum;
}

std::uint64_t multiplied(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kNoSize : product;
}

bool CommunicatorTraffic::empty() const {
  const auto none = [](const std::vector<std::uint64_t>& all) {
    return std::ranges::all_of(all, [](std::uint64_t bytes) { return bytes == 0; });
  };
  return none(toEach) && none(whole) && none(wholeOfLower);
}

namespace {

/// Members of one communicator by their groups.
class GroupCounts {
 public:
  explicit GroupCounts(const ReplayGroups& groups) : m_groups(groups), m_counts(groups.count()) {}
  void count(std::span<const Rank> members) {
    for (const Rank rank : members) {
      ++m_counts[m_groups.groupOf(rank)];
    }
  }
  void forget(std::span<const Rank> members) {
    for (const Rank rank : members) {
      m_counts[m_groups.groupOf(rank)] = 0;
    }
  }
  [[nodiscard]] std::size_t with(Rank rank) const { return m_counts[m_groups.groupOf(rank)]; }

 private:
  const ReplayGroups& m_groups;
  std::vector<std::size_t> m_counts;
};

/// Of the members `first` to `last`, who exchange with `others`.
std::uint64_t toLog(const CommunicatorTraffic& traffic, std::size_t first, std::size_t last,
                    std::span<const Rank> others, GroupCounts& counts) {
  counts.count(others);
  const std::size_t self = traffic.inter() ? 0 : 1;  // among the others
  std::uint64_t bytes = 0;
  for (std::size_t member = first; member < last; ++member) {
    const std::size_t outside = others.size() - counts.with(traffic.members[member]);
    bytes = addedUp(bytes, multiplied(traffic.toEach[member], outside));
    if (outside != 0 && others.size() > self) {
      bytes = addedUp(bytes, traffic.whole[member]);
    }
  }
  counts.forget(others);
  return bytes;
}

std::uint64_t lowerToLog(const CommunicatorTraffic& traffic, const ReplayGroups& groups) {
  std::uint64_t bytes = 0;
  bool mixed = false;  // the members before it are of several groups
  for (std::size_t member = 1; member < traffic.members.size(); ++member) {
    const std::uint32_t first = groups.groupOf(traffic.members.front());
    if (mixed || groups.groupOf(traffic.members[member]) != first) {
      bytes = addedUp(bytes, traffic.wholeOfLower[member]);
      mixed = true;
    }
  }
  return bytes;
}

}  // namespace

std::uint64_t Traffic::bytesToLog(const ReplayGroups& groups) const {
  std::uint64_t bytes = 0;
  for (const PairTraffic& pair : pairs) {
    if (groups.groupOf(pair.from) != groups.groupOf(pair.to)) {
      bytes = addedUp(bytes, pair.bytes);
    }
  }
  GroupCounts counts(groups);
  for (const CommunicatorTraffic& each : communicators) {
    const std::span<const Rank> all(each.members);
    const std::size_t first = each.firstGroup;
    const std::span<const Rank> others = each.inter() ? all.subspan(first) : all;
    bytes = addedUp(bytes, toLog(each, 0, first, others, counts));
    if (each.inter()) {
      bytes = addedUp(bytes, toLog(each, first, all.size(), all.first(first), counts));
    } else {
      bytes = addedUp(bytes, lowerToLog(each, groups));
    }
  }
  return bytes;
}

std::vector<std::uint64_t> Traffic::matrix(std::size_t cells,
                                           std::span<const std::size_t> places) const {
  std::vector<std::uint64_t> sums(cells * cells);
  const auto cellOf = [this, cells, places](Rank rank) {
    return (places.empty() ? index(rank) : places[index(rank)]) * cells / ranks;
  };
  const auto add = [&](std::size_t from, std::size_t to, std::uint64_t bytes) {
    sums[from * cells + to] = addedUp(sums[from * cells + to], bytes);
  };
  for (const PairTraffic& pair : pairs) {
    add(cellOf(pair.from), cellOf(pair.to), pair.bytes);
  }
  for (const CommunicatorTraffic& each : communicators) {
    std::vector<std::size_t> first(cells);  // members of each side in each cell
    std::vector<std::size_t> second(cells);
    for (std::size_t member = 0; member < each.members.size(); ++member) {
      ++(member < each.firstGroup ? first : second)[cellOf(each.members[member])];
    }
    for (std::size_t member = 0; member < each.members.size(); ++member) {
      if (each.toEach[member] == 0) {
        continue;
      }
      const std::size_t own = cellOf(each.members[member]);
      const auto& others = each.inter() && member < each.firstGroup ? second : first;
      for (std::size_t cell = 0; cell < cells; ++cell) {
        const std::size_t self = !each.inter() && cell == own ? 1 : 0;
        add(own, cell, multiplied(each.toEach[member], others[cell] - self));
      }
    }
  }
  return sums;
}

namespace {

/// How a collective moves data.
enum class Movement : std::uint8_t {
  None,
  RootToAll,
  RootSplit,  ///< the root's bytes are those of all pieces
  ToRoot,
  ToAll,
  Split,   ///< a member's bytes are those of all pieces
  Spread,  ///< over the others
  ResultAtRoot,
  Result,
  ResultPart,  ///< the bytes are those of all parts
  ResultOfLower,
};

struct MovementOfCall {
  const char* name;
  Movement movement;
  bool estimate;
};

constexpr MovementOfCall kMovements[] = {
    {"Bcast", Movement::RootToAll, false},
    {"Scatter", Movement::RootSplit, false},
    {"Scatterv", Movement::RootSplit, true},
    {"Gather", Movement::ToRoot, false},
    {"Gatherv", Movement::ToRoot, false},
    {"Allgather", Movement::ToAll, false},
    {"Allgatherv", Movement::ToAll, false},
    {"Alltoall", Movement::Split, false},
    {"Alltoallv", Movement::Split, true},
    {"Alltoallw", Movement::Split, true},
    {"Neighbor_allgather", Movement::Spread, true},
    {"Neighbor_allgatherv", Movement::Spread, true},
    {"Neighbor_alltoall", Movement::Spread, true},
    {"Neighbor_alltoallv", Movement::Spread, true},
    {"Neighbor_alltoallw", Movement::Spread, true},
    {"Reduce", Movement::ResultAtRoot, false},
    {"Allreduce", Movement::Result, false},
    {"Reduce_scatter_block", Movement::ResultPart, false},
    {"Reduce_scatter", Movement::ResultPart, true},
    {"Scan", Movement::ResultOfLower, false},
    {"Exscan", Movement::ResultOfLower, false},
};

/// Of "MPI_Iallgather_c", "Allgather".
std::string firstForm(std::string name) {
  if (name.starts_with("MPI_")) {
    name.erase(0, 4);
  }
  if (name.ends_with("_c")) {
    name.resize(name.size() - 2);
  }
  if (name.ends_with("_init")) {  // what its starts do
    name.resize(name.size() - 5);
  }
  if (name.size() > 1 && name[0] == 'I' && name[1] >= 'a' && name[1] <= 'z') {
    name.erase(0, 1);
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
  }
  return name;
}

/// What a rank adds to a communicator.
struct Sums {
  std::uint64_t toEach = 0;
  std::uint64_t split = 0;   ///< over all that are sent to
  std::uint64_t spread = 0;  ///< over the others
  std::uint64_t whole = 0;
  std::uint64_t wholePart = 0;  ///< of all members
  std::uint64_t wholeOfLower = 0;
};

void add(std::uint64_t& sum, std::uint64_t bytes) {
  sum = addedUp(sum, bytes);
}

class TrafficBuilder {
 public:
  TrafficBuilder(const Execution& execution, std::span<const SizesOfRank> sizes)
      : m_execution(execution),
        m_sizes(sizes),
        m_entered(execution.communicators.size(), 0),
        m_sums(execution.communicators.size()) {
    m_traffic.ranks = execution.ranks.size();
    for (const std::string& name : execution.callNames) {
      const std::string first = firstForm(name);
      const auto* found = std::ranges::find_if(
          kMovements, [&first](const MovementOfCall& each) { return first == each.name; });
      m_calls.push_back(found == std::end(kMovements) ? MovementOfCall{"", Movement::None, false}
                                                      : *found);
      m_makes.push_back(name.ends_with("_init") || name.ends_with("_init_c"));
    }
    m_used.resize(m_calls.size());
  }

  Result<Traffic> build() {
    for (std::size_t r = 0; r < m_execution.ranks.size(); ++r) {
      const RankHistory& rank = m_execution.ranks[r];
      if (m_sizes.size() != m_execution.ranks.size() ||
          m_sizes[r].sent.size() != rank.sends.size() ||
          m_sizes[r].given.size() != rank.collectives.size()) {
        return Error{ErrorCode::Damaged,
                     "the log of rank " + std::to_string(r) + " is not that of its events",
                     "'photofinish check' tells what is damaged; or record again."};
      }
    }
    messages();
    countEntered();
    for (std::size_t r = 0; r < m_execution.ranks.size(); ++r) {
      if (Status status = collectives(static_cast<Rank>(r)); !status) {
        return status.error();
      }
    }
    for (std::uint32_t comm = 0; comm < m_sums.size(); ++comm) {
      fold(comm);
    }
    sortPairs();
    nameGaps();
    return std::move(m_traffic);
  }

 private:
  void messages() {
    for (const Message& message : m_execution.messages) {
      if (message.completion == 0 || !isThere(message.send.rank)) {
        continue;  // nobody has got it
      }
      const auto& sent = m_sizes[index(message.send.rank)].sent;
      if (message.sendIndex < sent.size()) {
        pair(message.send.rank, message.dest, sent[message.sendIndex]);
      } else {
        ++m_traffic.gaps.unknownSends;
      }
    }
    for (const RankHistory& rank : m_execution.ranks) {
      for (const PostedReceive& receive : rank.receives) {
        m_traffic.gaps.unknownSends +=
            receive.state == ReceiveState::Complete && receive.message == kNone ? 1U : 0U;
      }
    }
  }

  [[nodiscard]] bool isThere(Rank rank) const {
    return rank >= 0 && index(rank) < m_execution.ranks.size();
  }

  void pair(Rank from, Rank to, std::uint64_t bytes) {
    if (from != to && isThere(from) && isThere(to) && bytes != 0) {
      add(m_pairs[static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to)], bytes);
    }
  }

  /// How many collectives of each communicator all its members have entered.
  void countEntered() {
    std::vector<std::size_t> ranks(m_entered.size());
    std::unordered_map<std::uint32_t, std::uint32_t> parts;
    for (const RankHistory& rank : m_execution.ranks) {
      parts.clear();
      for (const CollectivePart& part : rank.collectives) {
        parts[part.comm] += isStart(callOf(rank, part)) ? 0U : 1U;
      }
      for (const auto& [comm, count] : parts) {
        if (comm < m_entered.size()) {
          m_entered[comm] = ranks[comm]++ == 0 ? count : std::min(m_entered[comm], count);
        }
      }
    }
    countStarted();
    for (std::uint32_t c = 0; c < m_entered.size(); ++c) {
      const Communicator& comm = m_execution.communicators[c];
      if (!isSound(c) || ranks[c] < comm.group.size() + comm.remote.size()) {
        m_entered[c] = 0;
      }
    }
  }

  /// Whether it is known, and has members, all of them ranks.
  [[nodiscard]] bool isSound(std::uint32_t number) const {
    if (number >= m_execution.communicators.size()) {
      return false;
    }
    const Communicator& comm = m_execution.communicators[number];
    const auto there = [this](Rank rank) { return isThere(rank); };
    return !comm.group.empty() && std::ranges::all_of(comm.group, there) &&
           std::ranges::all_of(comm.remote, there);
  }

  /// Whether these are its members.
  [[nodiscard]] bool startedBy(const std::map<Rank, std::uint32_t>& ranks,
                               std::uint32_t number) const {
    const Communicator& comm = m_execution.communicators[number];
    std::set<Rank> members(comm.group.begin(), comm.group.end());
    members.insert(comm.remote.begin(), comm.remote.end());
    return members.size() == comm.group.size() + comm.remote.size() &&  // no one is twice
           members.size() == ranks.size() &&
           std::ranges::all_of(members, [&ranks](Rank rank) { return ranks.contains(rank); });
  }

  void countStarted() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<Rank, std::uint32_t>> starts;
    for (std::size_t rank = 0; rank < m_sizes.size(); ++rank) {
      for (const auto& [part, number] : m_sizes[rank].started) {
        if (part < m_execution.ranks[rank].collectives.size()) {
          ++starts[{m_execution.ranks[rank].collectives[part].comm, number}]
                  [static_cast<Rank>(rank)];
        }
      }
    }
    for (const auto& [which, ofRanks] : starts) {
      std::uint32_t all = kNone;
      for (const auto& [rank, count] : ofRanks) {
        all = std::min(all, count);
      }
      m_started[which] = isSound(which.first) && startedBy(ofRanks, which.first) ? all : 0;
    }
  }

  /// Of a persistent collective. Starts have no order among the others, which have one.
  [[nodiscard]] bool isStart(std::uint16_t call) const {
    return call < m_calls.size() && m_execution.callNames[call].starts_with("MPI_Start");
  }
  static std::uint16_t callOf(const RankHistory& rank, const CollectivePart& part) {
    return part.event >= 1 && part.event <= rank.events.size() ? rank.events[part.event - 1].call
                                                               : static_cast<std::uint16_t>(0xFFFF);
  }

  /// Calls that made persistent collectives of each communicator, in their order.
  using Made = std::unordered_map<std::uint32_t, std::vector<std::uint16_t>>;

  /// Part `i` of a rank is a start.
  void start(Rank rank, std::size_t i, const Made& made,
             std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>& before,
             std::unordered_map<std::uint32_t, Sums>& sums) {
    const CollectivePart& part = m_execution.ranks[index(rank)].collectives[i];
    const SizesOfRank& sizes = m_sizes[index(rank)];
    const auto found = sizes.started.find(i);
    const std::uint32_t number = found == sizes.started.end() ? 0 : found->second;
    const auto ofComm = made.find(part.comm);
    if (number == 0 || ofComm == made.end() || number > ofComm->second.size()) {
      ++m_traffic.gaps.persistent;
      return;
    }
    const std::uint16_t call = ofComm->second[number - 1];
    const Movement movement = m_calls[call].movement;
    if (movement == Movement::None) {
      return;
    }
    if (before[{part.comm, number}]++ >= m_started[{part.comm, number}]) {
      ++m_traffic.gaps.notEntered;
      return;
    }
    const std::uint64_t bytes = sizes.given[i];
    if (bytes != kNoSize) {
      m_used[call] = true;
      count(rank, part, movement, bytes, sums[part.comm]);
    } else if (hasToSay(rank, part, movement)) {
      ++m_traffic.gaps.persistent;
    }
  }

  Status collectives(Rank rank) {
    const RankHistory& history = m_execution.ranks[index(rank)];
    std::unordered_map<std::uint32_t, Sums> sums;
    std::unordered_map<std::uint32_t, std::uint32_t> before;
    Made made;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> startsBefore;
    for (std::size_t i = 0; i < history.collectives.size(); ++i) {
      const CollectivePart& part = history.collectives[i];
      const std::uint16_t call = callOf(history, part);
      if (isStart(call)) {
        start(rank, i, made, startsBefore, sums);
        continue;
      }
      const std::uint32_t number = before[part.comm]++;
      if (call < m_calls.size() && m_makes[call]) {
        made[part.comm].push_back(call);
        continue;
      }
      if (call >= m_calls.size() || m_calls[call].movement == Movement::None) {
        continue;
      }
      if (part.comm >= m_entered.size() || number >= m_entered[part.comm]) {
        ++m_traffic.gaps.notEntered;
        continue;
      }
      m_used[call] = true;
      const std::uint64_t bytes = m_sizes[index(rank)].given[i];
      if (bytes != kNoSize) {
        count(rank, part, m_calls[call].movement, bytes, sums[part.comm]);
      } else if (hasToSay(rank, part, m_calls[call].movement)) {
        return Error{ErrorCode::Version,
                     "the trace has no size of " + m_execution.callNames[call] + " of rank " +
                         std::to_string(rank) + " (event " + std::to_string(part.event) +
                         "): an older Photofinish has recorded it",
                     "Record again with --mode all."};
      }
    }
    for (const auto& [comm, each] : sums) {
      m_sums[comm].emplace_back(rank, each);
    }
    return {};
  }

  [[nodiscard]] const Communicator& communicator(const CollectivePart& part) const {
    return m_execution.communicators[part.comm];
  }

  /// Whether each log since sizes are kept has that of this part.
  [[nodiscard]] bool hasToSay(Rank rank, const CollectivePart& part, Movement movement) const {
    if (!communicator(part).remote.empty()) {
      return false;  // half of the ranks give nothing
    }
    return movement == Movement::RootSplit ? part.root == rank
           : movement == Movement::ToRoot  ? part.root != rank
                                           : true;
  }

  void count(Rank rank, const CollectivePart& part, Movement movement, std::uint64_t bytes,
             Sums& sums) {
    const bool inter = !communicator(part).remote.empty();
    // The root of an inter-communicator names none: the ranks of the other group name it.
    const bool root = inter ? part.root == kUnknownRank : part.root == rank;
    switch (movement) {
      case Movement::None:
        break;
      case Movement::RootToAll:
        add(sums.toEach, root ? bytes : 0);
        break;
      case Movement::RootSplit:
        add(sums.split, root ? bytes : 0);
        break;
      case Movement::ToRoot:
        pair(rank, part.root, bytes);
        break;
      case Movement::ToAll:
        add(sums.toEach, bytes);
        break;
      case Movement::Split:
        add(sums.split, bytes);
        break;
      case Movement::Spread:
        add(sums.spread, bytes);
        break;
      case Movement::ResultAtRoot:
        if (!inter) {
          add(sums.whole, root ? bytes : 0);
        } else if (isFirst(rank, part)) {
          add(m_resultsOfOthers[{part.comm, part.root}], bytes);
        }
        break;
      case Movement::Result:
        add(sums.whole, bytes);
        break;
      case Movement::ResultPart:
        add(sums.wholePart, bytes);
        break;
      case Movement::ResultOfLower:
        add(sums.wholeOfLower, bytes);
        break;
    }
  }

  /// Of its group.
  [[nodiscard]] bool isFirst(Rank rank, const CollectivePart& part) const {
    const Communicator& comm = communicator(part);
    return rank == comm.group.front() || rank == comm.remote.front();
  }

  /// What the ranks added to a communicator, by its members.
  void fold(std::uint32_t number) {
    std::vector<std::pair<Rank, Sums>>& sums = m_sums[number];  // ascending: ranks came so
    const Communicator& comm = m_execution.communicators[number];
    if (sums.empty()) {
      return;
    }
    CommunicatorTraffic traffic;
    traffic.firstGroup = comm.group.size();
    traffic.members = comm.group;
    traffic.members.insert(traffic.members.end(), comm.remote.begin(), comm.remote.end());
    for (std::size_t member = 0; member < traffic.members.size(); ++member) {
      const auto found = std::ranges::lower_bound(sums, traffic.members[member], {},
                                                  &std::pair<Rank, Sums>::first);
      const Sums each =
          found != sums.end() && found->first == traffic.members[member] ? found->second : Sums();
      const bool first = member < traffic.firstGroup;
      const std::size_t ownGroup = first ? comm.group.size() : comm.remote.size();
      const std::size_t sentTo =
          first && !comm.remote.empty() ? comm.remote.size() : comm.group.size();
      const std::size_t others =
          comm.remote.empty() ? std::max<std::size_t>(1, sentTo - 1) : sentTo;
      traffic.toEach.push_back(
          addedUp(each.toEach, addedUp(each.split / sentTo, each.spread / others)));
      traffic.whole.push_back(addedUp(each.whole, each.wholePart / ownGroup));
      traffic.wholeOfLower.push_back(each.wholeOfLower);
    }
    for (auto result = m_resultsOfOthers.lower_bound({number, kUnknownRank});
         result != m_resultsOfOthers.end() && result->first.first == number; ++result) {
      const auto root = std::ranges::find(traffic.members, result->first.second);
      if (root != traffic.members.end()) {
        add(traffic.whole[static_cast<std::size_t>(root - traffic.members.begin())],
            result->second);
      }
    }
    if (!traffic.empty()) {
      m_traffic.communicators.push_back(std::move(traffic));
    }
    sums.clear();
    sums.shrink_to_fit();
  }

  void sortPairs() {
    for (const auto& [key, bytes] : m_pairs) {
      m_traffic.pairs.push_back(
          {static_cast<Rank>(key >> 32), static_cast<Rank>(key & 0xFFFFFFFFU), bytes});
    }
    std::ranges::sort(m_traffic.pairs, [](const PairTraffic& a, const PairTraffic& b) {
      return a.from != b.from ? a.from < b.from : a.to < b.to;
    });
  }

  void nameGaps() {
    for (std::size_t call = 0; call < m_calls.size(); ++call) {
      if (m_used[call] && m_calls[call].estimate) {
        m_traffic.gaps.estimated.push_back(m_execution.callNames[call]);
      }
    }
  }

  const Execution& m_execution;
  std::span<const SizesOfRank> m_sizes;
  std::vector<MovementOfCall> m_calls;  ///< by number
  std::vector<bool> m_makes;            ///< a persistent one, and moves nothing itself
  std::vector<bool> m_used;
  /// Starts that all members have made, by communicator and which one it is.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> m_started;
  std::vector<std::uint32_t> m_entered;  ///< by communicator
  std::vector<std::vector<std::pair<Rank, Sums>>> m_sums;
  /// By communicator and root: results at roots of the other group.
  std::map<std::pair<std::uint32_t, Rank>, std::uint64_t> m_resultsOfOthers;
  std::unordered_map<std::uint64_t, std::uint64_t> m_pairs;
  Traffic m_traffic;
};

}  // namespace

Result<Traffic> trafficOf(const Execution& execution, std::span<const SizesOfRank> sizes) {
  return TrafficBuilder(execution, sizes).build();
}

}  // namespace pf
