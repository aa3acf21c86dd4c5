// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/inputs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "replay_engine/log_format/listing.h"
#include "replay_engine/log_format/system_values.h"
#include "replay_engine/protocol/recorded_environment.h"

namespace pf::app {
namespace {

using protocol::ContextFact;

/// By InputState.
constexpr const char* kStates[] = {"file",   "absent", "listing", "variable",
                                   "exists", "link",   "young",   "written"};

/// One value of the kind Input, as the interposer writes it.
class InputReader {
 public:
  explicit InputReader(const std::vector<unsigned char>& bytes)
      : m_at(bytes.data()), m_end(bytes.data() + bytes.size()) {}

  /// False: no more.
  bool next(std::string& value) {
    value.clear();
    for (std::uint64_t piece = kValueBytes; piece == kValueBytes;) {
      piece = 0;
      unsigned shift = 0;
      do {
        if (m_at == m_end || shift > 28) {
          return false;
        }
        piece |= std::uint64_t{*m_at & 0x7FU} << shift;
        shift += 7;
      } while (*m_at++ >= 0x80);
      if (piece > kValueBytes || piece > static_cast<std::uint64_t>(m_end - m_at)) {
        return false;
      }
      value.append(reinterpret_cast<const char*>(m_at), piece);
      m_at += piece;
    }
    return true;
  }

 private:
  const unsigned char* m_at;
  const unsigned char* m_end;
};

std::optional<db::SeenInput> inputOf(const std::string& value) {
  InputFile file{};
  if (value.size() <= sizeof file + 1) {
    return std::nullopt;  // of a former version: without a name
  }
  std::memcpy(&file, value.data(), sizeof file);
  const auto state = static_cast<unsigned char>(value[sizeof file]);
  if (state >= std::size(kStates)) {
    return std::nullopt;
  }
  return db::SeenInput{kUnknownRank, kStates[state], value.substr(sizeof file + 1),
                       static_cast<std::int64_t>(file.size), file.modified};
}

bool leadsElsewhere(const db::SeenInput& link) {
  std::array<char, kLongestLink> target{};
  const ssize_t length = ::readlink(link.name.c_str(), target.data(), target.size() - 1);
  return length < 0 || static_cast<std::int64_t>(pathHash(target.data())) != link.stamp;
}

/// In what it is another one now; empty: in nothing.
std::string changeOf(const db::SeenInput& input) {
  if (input.kind == "link") {
    return leadsElsewhere(input) ? "leads elsewhere" : "";
  }
  struct stat info {};
  const bool there = ::stat(input.name.c_str(), &info) == 0;
  const bool gone = !there && (errno == ENOENT || errno == ENOTDIR);
  if (input.kind == "absent") {
    return there ? "new" : "";
  }
  if (gone) {
    return "gone";
  }
  if (input.kind == "listing") {
    Listing now;
    const bool same = listingOf(input.name.c_str(), &now) &&
                      static_cast<std::int64_t>(now.names) == input.size &&
                      static_cast<std::int64_t>(now.checksum) == input.stamp;
    return same ? "" : "its listing has changed";
  }
  const bool same = info.st_size == input.size &&
                    info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec == input.stamp;
  return input.kind == "file" && there && !same ? "changed" : "";
}

/// "./in" and "in" are one, "in/." and "in", too.
std::string plainName(const std::string& name) {
  std::string out = name;
  if (out.size() > 2 && out.compare(out.size() - 2, 2, "/.") == 0) {
    out.erase(out.size() - 2);
  }
  for (std::size_t at = 0; (at = out.find("/./", at)) != std::string::npos;) {
    out.erase(at, 2);
  }
  return out;
}

/// A link is looked at besides the file that it leads to.
std::string keyOf(const db::SeenInput& input) {
  return (input.kind == "variable" ? "=" : input.kind == "link" ? "@" : "") + input.name;
}

}  // namespace

std::vector<db::SeenInput> seenInputs(const std::vector<RankLog>& logs) {
  std::vector<db::SeenInput> seen;
  std::map<std::string, std::size_t> known;
  for (const RankLog& log : logs) {
    std::set<std::string> own;  // written by this rank before it looked
    InputReader in(log.values[static_cast<std::size_t>(ValueKind::Input)]);
    for (std::string value; in.next(value);) {
      std::optional<db::SeenInput> input = inputOf(value);
      if (!input || input->kind == "young") {
        continue;
      }
      input->rank = log.rank;
      input->name = input->kind == "variable" ? input->name : plainName(input->name);
      if (input->kind == "written" || (input->kind == "exists" && own.count(input->name) != 0)) {
        own.insert(input->name);
        continue;
      }
      // Of two looks at one file the first counts: the run itself may have changed it since. But
      // who asks whether it is there reads it next.
      const auto [place, isNew] = known.emplace(keyOf(*input), seen.size());
      if (isNew) {
        seen.push_back(std::move(*input));
      } else if (seen[place->second].kind == "exists" &&
                 (input->kind != "absent" || seen[place->second].rank != log.rank)) {
        // Or where another rank has found it absent: then somebody in the run has made it.
        seen[place->second] = std::move(*input);
      }
    }
  }
  return seen;
}

std::vector<std::pair<Rank, std::string>> filesOfOthers(const std::vector<RankLog>& logs) {
  std::set<std::string> written;
  std::set<std::string> told;
  std::vector<std::pair<Rank, std::string>> read;
  for (const RankLog& log : logs) {
    InputReader in(log.values[static_cast<std::size_t>(ValueKind::Input)]);
    for (std::string value; in.next(value);) {
      const std::optional<db::SeenInput> input = inputOf(value);
      const std::string name =
          input ? std::filesystem::path(input->name).lexically_normal().string() : std::string();
      if (input && input->kind == "written") {
        written.insert(name);
      } else if (input && input->kind == "young" && told.insert(name).second) {
        read.emplace_back(log.rank, name);
      }
    }
  }
  read.erase(std::remove_if(read.begin(), read.end(),
                            [&](const auto& file) { return written.count(file.second) != 0; }),
             read.end());
  return read;
}

ChangedInputs changedInputs(const std::vector<db::SeenInput>& inputs,
                            const std::vector<db::RankInfo>& ranks, const std::string& host) {
  std::set<Rank> elsewhere;
  for (const db::RankInfo& rank : ranks) {
    if (!rank.host.empty() && rank.host != host) {
      elsewhere.insert(rank.rank);
    }
  }
  ChangedInputs out;
  for (const db::SeenInput& input : inputs) {
    if (input.kind == "variable") {
      out.asked.insert(input.name);
    } else if (elsewhere.count(input.rank) == 0) {
      if (const std::string change = changeOf(input); !change.empty()) {
        out.names.push_back(input.name + " (" + change + ")");
      }
    }
  }
  return out;
}

EnvironmentNews environmentNews(const protocol::LaunchContext& differences,
                                const std::set<std::string>& asked) {
  EnvironmentNews news;
  for (const ContextFact& fact : differences) {
    const protocol::VariableUse use = protocol::useOf(fact.name);
    const std::string text = fact.name + " (" + fact.value + ")";
    if (fact.kind == "given") {
      news.given.push_back(fact.name + " " + fact.value);
    } else if (asked.count(fact.name) != 0 || use == protocol::VariableUse::Given) {
      news.differ.push_back(text);
    } else if (use != protocol::VariableUse::Todays) {
      news.unasked.push_back(text);
    }
  }
  return news;
}

std::string firstOf(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return text +
         (names.size() > most ? " and " + std::to_string(names.size() - most) + " more" : "");
}

}  // namespace pf::app
