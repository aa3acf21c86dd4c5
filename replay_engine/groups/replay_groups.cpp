// SPDX-License-Identifier: MIT
#include "replay_engine/groups/replay_groups.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

namespace pf {
namespace {

constexpr std::uint32_t kNoGroup = 0xFFFFFFFFU;
constexpr std::size_t kMostQuoted = 40;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string quoted(std::string_view text) {
  return "'" +
         (text.size() > kMostQuoted ? std::string(text.substr(0, kMostQuoted)) + " …"
                                    : std::string(text)) +
         "'";
}

Error noSpec(std::string what, std::string advice = {}) {
  return {ErrorCode::Usage, "no replay groups: " + std::move(what),
          advice.empty() ? "Write 'each', 'all', or groups of ranks and ranges: 0-7,8-15 or "
                           "0-3+12,4-11. Ranks that are not named are a group each."
                         : std::move(advice)};
}

class SpecReader {
 public:
  explicit SpecReader(std::int32_t ranks)
      : m_ranks(ranks), m_groupOf(static_cast<std::size_t>(ranks), kNoGroup) {}

  Status group(std::string_view text) {
    ++m_groups;
    return split(text, "+", [this](std::string_view piece) { return range(piece); });
  }

  /// Calls `each` for every piece between the separators, until it fails.
  template <typename Each>
  static Status split(std::string_view text, std::string_view separators, const Each& each) {
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t to = std::min(text.find_first_of(separators, from), text.size());
      if (Status status = each(trimmed(text.substr(from, to - from))); !status) {
        return status;
      }
      from = to + 1;
    }
    return {};
  }

  std::vector<std::uint32_t> finish() {
    for (std::uint32_t& group : m_groupOf) {
      group = group == kNoGroup ? m_groups++ : group;
    }
    return std::move(m_groupOf);
  }

 private:
  Status range(std::string_view text) {
    if (text.empty()) {
      return noSpec("a rank is missing beside a ',', ';' or '+'");
    }
    const std::size_t dash = text.find('-', 1);
    Result<std::int32_t> first = rank(trimmed(text.substr(0, dash)), text);
    if (!first) {
      return first.error();
    }
    Result<std::int32_t> last =
        dash == std::string_view::npos ? first : rank(trimmed(text.substr(dash + 1)), text);
    if (!last) {
      return last.error();
    }
    if (*last < *first) {
      return noSpec(quoted(text) + " runs backwards",
                    "Write " + std::to_string(*last) + "-" + std::to_string(*first) + " for it.");
    }
    for (std::int32_t each = *first; each <= *last; ++each) {
      std::uint32_t& group = m_groupOf[static_cast<std::size_t>(each)];
      if (group != kNoGroup) {  // hence no rank is looked at more than twice
        return noSpec("rank " + std::to_string(each) + " is named twice",
                      "Name each rank once at most: a rank is in one group.");
      }
      group = m_groups - 1;
    }
    return {};
  }

  Result<std::int32_t> rank(std::string_view text, std::string_view whole) const {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    if (!digits) {
      return noSpec(quoted(whole) + " is neither a rank nor a range of ranks");
    }
    if (error != std::errc() || number >= static_cast<std::uint64_t>(m_ranks)) {
      return noSpec("there is no rank " + quoted(text),
                    m_ranks == 1 ? "The only rank is 0."
                                 : "The ranks are 0 to " + std::to_string(m_ranks - 1) + ".");
    }
    return static_cast<std::int32_t>(number);
  }

  std::int32_t m_ranks;
  std::uint32_t m_groups = 0;
  std::vector<std::uint32_t> m_groupOf;
};

}  // namespace

Result<ReplayGroups> ReplayGroups::parse(std::string_view spec, std::int32_t ranks) {
  const std::string_view text = trimmed(spec);
  if (ranks < 1) {
    return noSpec("there are no ranks");
  }
  if (text.empty()) {
    return noSpec("nothing is written");
  }
  std::vector<std::uint32_t> groupOf(static_cast<std::size_t>(ranks), 0);
  if (text == "each") {
    std::iota(groupOf.begin(), groupOf.end(), 0U);
  } else if (text != "all") {
    SpecReader reader(ranks);
    if (Status status = SpecReader::split(
            text, ",;", [&reader](std::string_view group) { return reader.group(group); });
        !status) {
      return status.error();
    }
    groupOf = reader.finish();
  }
  return of(groupOf);
}

ReplayGroups ReplayGroups::of(std::span<const std::uint32_t> groupOfRank) {
  ReplayGroups groups;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  std::vector<std::size_t> sizes;
  for (const std::uint32_t given : groupOfRank) {
    const auto [number, fresh] =
        numbers.try_emplace(given, static_cast<std::uint32_t>(sizes.size()));
    if (fresh) {
      sizes.push_back(0);
    }
    ++sizes[number->second];
    groups.m_groupOf.push_back(number->second);
  }
  groups.m_begins.assign(1, 0);
  for (const std::size_t size : sizes) {
    groups.m_begins.push_back(groups.m_begins.back() + size);
  }
  std::vector<std::size_t> next(groups.m_begins.begin(), groups.m_begins.end() - 1);
  groups.m_members.resize(groupOfRank.size());
  for (std::size_t rank = 0; rank < groupOfRank.size(); ++rank) {
    groups.m_members[next[groups.m_groupOf[rank]]++] = static_cast<Rank>(rank);
  }
  return groups;
}

std::size_t ReplayGroups::largest() const {
  std::size_t most = 0;
  for (std::uint32_t group = 0; group < count(); ++group) {
    most = std::max(most, members(group).size());
  }
  return most;
}

std::size_t ReplayGroups::smallest() const {
  std::size_t least = ranks();
  for (std::uint32_t group = 0; group < count(); ++group) {
    least = std::min(least, members(group).size());
  }
  return least;
}

std::string ReplayGroups::text() const {
  if (count() == ranks()) {
    return "each";
  }
  if (count() == 1) {
    return "all";
  }
  std::string text;
  for (std::uint32_t group = 0; group < count(); ++group) {
    if (members(group).size() > 1) {
      text += (text.empty() ? "" : ",") + rangesText(members(group));
    }
  }
  return text;
}

std::vector<std::uint32_t> ReplayGroups::missingForUnion(std::span<const Rank> some) const {
  std::vector<bool> among(ranks(), false);
  std::vector<std::size_t> found(count(), 0);
  for (const Rank rank : some) {
    if (rank >= 0 && index(rank) < ranks() && !among[index(rank)]) {
      among[index(rank)] = true;
      ++found[groupOf(rank)];
    }
  }
  std::vector<std::uint32_t> missing;
  for (std::uint32_t group = 0; group < count(); ++group) {
    if (found[group] != 0 && found[group] != members(group).size()) {
      missing.push_back(group);
    }
  }
  return missing;
}

std::string rangesText(std::span<const Rank> ranks) {
  std::string text;
  for (std::size_t from = 0; from < ranks.size();) {
    std::size_t to = from;
    while (to + 1 < ranks.size() && ranks[to + 1] == ranks[to] + 1) {
      ++to;
    }
    text += (text.empty() ? "" : "+") + std::to_string(ranks[from]);
    if (to > from) {
      text += "-" + std::to_string(ranks[to]);
    }
    from = to + 1;
  }
  return text;
}

}  // namespace pf
