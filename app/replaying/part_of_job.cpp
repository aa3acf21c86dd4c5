// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replaying/part_of_job.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "app/collation/launch_context.h"
#include "replay_engine/groups/replay_groups.h"
#include "replay_engine/protocol/place_in_job.h"
#include "replay_engine/protocol/rank_page.h"

namespace pf::app {
namespace {

/// "0-7, 8-15"
std::string groupsText(const ReplayGroups& groups, const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (const std::uint32_t number : numbers) {
    text += (text.empty() ? "" : ", ") + rangesText(groups.members(number));
  }
  return text;
}

using Environments = decltype(protocol::SessionConfig::recordedEnvironment);

/// Of these ranks, with what the launcher of the recorded job said of each.
Environments withPlaces(const Environments& all,
                        const std::map<Rank, protocol::LaunchContext>& contexts,
                        const std::vector<Rank>& ranks) {
  Environments out;
  for (const Rank rank : ranks) {
    const auto context = contexts.find(rank);
    if (context == contexts.end()) {
      continue;
    }
    const auto own = all.find(rank);
    const auto like = own != all.end() ? own : all.begin();  // as SessionConfig has it
    std::vector<std::string>& lines = out[rank];
    lines = like != all.end() ? like->second : std::vector<std::string>();
    for (const protocol::ContextFact& fact : context->second) {
      if (fact.kind == "place") {
        lines.push_back(protocol::factText(fact));
      }
    }
  }
  return out;
}

/// What a rank's program was started with.
std::vector<std::string> argumentsOf(const protocol::LaunchContext& context) {
  std::map<std::size_t, std::string> words;
  for (const protocol::ContextFact& fact : context) {
    std::size_t number = 0;
    if (fact.kind == "argument" &&
        std::from_chars(fact.name.data(), fact.name.data() + fact.name.size(), number).ec ==
            std::errc()) {
      words[number] = fact.value;
    }
  }
  std::vector<std::string> out;
  for (auto& [number, word] : words) {
    out.push_back(std::move(word));
  }
  return out;
}

/// The launcher's words before program `which`, behind those of the one before, without the number of its processes.
std::vector<std::string> optionsBefore(const LaunchCommand& command, std::size_t which) {
  std::size_t at = 1;
  if (which > 0) {
    at = command.programs[which - 1] + wordsOfProgram(command, which - 1).size() + 1;
  }
  std::vector<std::string> out;
  for (; at < command.programs[which]; ++at) {
    const std::string& word = command.words[at];
    if (word == "-n" || word == "-np" || word == "--np" || word == "--n" || word == "-c") {
      ++at;
    } else {
      out.push_back(word);
    }
  }
  return out;
}

Error notKnownWhich(const std::string& why) {
  return Error{
      ErrorCode::Usage,
      "the job is of several programs, and which of them its ranks ran is not known: " + why,
      "Replay all ranks. Or record again with the programs themselves in the launcher's "
      "command, or with one script for all ranks, that asks by its rank."};
}

/// Which of several programs these ranks run, in their order: the one whose words a rank has. Usage: that does not say it. A
/// script that ends in another of the programs has that one's words: so each program must have been run by some rank, in
/// the launcher's order, and by a rank of no other.
Result<std::vector<SoMany>> programsOf(const LaunchCommand& command,
                                       const std::map<Rank, protocol::LaunchContext>& contexts,
                                       std::int32_t rankCount, const std::vector<Rank>& ranks) {
  std::map<std::vector<std::string>, std::size_t> byWords;
  for (std::size_t i = 0; i < command.programs.size(); ++i) {
    const auto [known, isNew] = byWords.emplace(wordsOfProgram(command, i), i);
    if (!isNew && optionsBefore(command, known->second) != optionsBefore(command, i)) {
      return notKnownWhich("two have the same words, and other options of the launcher");
    }
  }
  std::vector<std::size_t> ofRanks;
  for (Rank rank = 0; rank < rankCount; ++rank) {
    const auto context = contexts.find(rank);
    const auto found = byWords.find(context != contexts.end() ? argumentsOf(context->second)
                                                              : std::vector<std::string>());
    if (found == byWords.end()) {
      return notKnownWhich("rank " + std::to_string(rank) +
                           " was started by a script, or has changed its words: the launcher's "
                           "command has others");
    }
    ofRanks.push_back(found->second);
  }
  const std::set<std::size_t> claimed(ofRanks.begin(), ofRanks.end());
  if (claimed.size() != byWords.size() || !std::ranges::is_sorted(ofRanks)) {
    return notKnownWhich("a script has started one of them");
  }
  std::vector<SoMany> parts;
  for (const Rank rank : ranks) {
    const std::size_t which = ofRanks[static_cast<std::size_t>(rank)];
    if (parts.empty() || parts.back().which != which) {
      parts.push_back({which, 0});
    }
    ++parts.back().processes;
  }
  return parts;
}

}  // namespace

Result<std::vector<Rank>> ranksOfText(std::string_view text) {
  constexpr Rank kHighest = 1 << 20;
  std::vector<Rank> ranks;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto read = [&at, end](Rank* rank) {
    const auto found = std::from_chars(at, end, *rank);
    const bool isOne = found.ec == std::errc() && *rank >= 0 && *rank < kHighest;
    at = found.ptr;
    return isOne;
  };
  while (true) {
    Rank first = 0;
    bool good = read(&first);
    Rank last = first;
    if (good && at != end && *at == '-') {
      ++at;
      good = read(&last) && first <= last;
    }
    const bool more =
        good && at != end && std::string_view(",;+").find(*at) != std::string_view::npos;
    if (!good || (at != end && !more) || ranks.size() > static_cast<std::size_t>(kHighest)) {
      return Error{ErrorCode::Usage, "'" + std::string(text.substr(0, 60)) + "' names no ranks",
                   "Write ranks and ranges of them, as 3 or 0-7,12."};
    }
    for (Rank rank = first; rank <= last; ++rank) {
      ranks.push_back(rank);
    }
    if (!more) {
      return ranks;
    }
    ++at;
  }
}

Result<std::vector<Rank>> ranksOfPart(const db::TraceStore& store, const PartOfJob& part) {
  const std::optional<std::string>& spec = store.run().groups;
  if (!spec) {
    return Error{ErrorCode::Usage,
                 "the trace holds no contents of messages, so none of its ranks can be replayed "
                 "without the others",
                 "Record with --groups ('photofinish groups' finds some), or replay all ranks."};
  }
  const Result<ReplayGroups> groups = ReplayGroups::parse(*spec, store.run().ranks);
  if (!groups) {
    return groups.error();
  }
  if (part.group) {
    if (*part.group >= groups->count()) {
      return Error{ErrorCode::Usage, "the trace has no group " + std::to_string(*part.group),
                   groups->count() == 1
                       ? "It has group 0 only."
                       : "Its groups are 0 to " + std::to_string(groups->count() - 1) +
                             "; --ranks RANK names one by its ranks."};
    }
    const auto members = groups->members(*part.group);
    return std::vector<Rank>(members.begin(), members.end());
  }
  std::vector<Rank> all = part.ranks;
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (const Rank rank : all) {
    if (rank < 0 || rank >= store.run().ranks) {
      return Error{ErrorCode::Usage, "the trace has no rank " + std::to_string(rank),
                   "Its ranks are 0 to " + std::to_string(store.run().ranks - 1) + "."};
    }
  }
  if (const auto missing = groups->missingForUnion(all); !missing.empty()) {
    return Error{ErrorCode::Usage,
                 "these ranks are no groups of the trace: what they get from others of their group "
                 "was not kept",
                 "Take the whole of it: " + groupsText(*groups, missing) + "."};
  }
  return all;
}

Status startFew(JobOptions& job, db::TraceStore& store, const std::vector<Rank>& ranks) {
  const db::RunInfo& run = store.run();
  const Result<std::vector<db::LaunchFact>> launch = store.launchFacts();
  if (!launch) {
    return launch.error();
  }
  const std::map<Rank, protocol::LaunchContext> contexts = contextsOf(*launch, run.ranks);
  Result<std::vector<SoMany>> parts = std::vector<SoMany>{{0, ranks.size()}};
  if (job.command.programs.size() > 1) {
    parts = programsOf(job.command, contexts, run.ranks, ranks);
    if (!parts) {
      return parts.error();
    }
  }
  job.session.recordedEnvironment = withPlaces(job.session.recordedEnvironment, contexts, ranks);
  job.session.running.assign(ranks.begin(), ranks.end());
  job.session.mode |= kReplayGroup;
  if (ranks.front() != 0) {  // launchers give their input to rank 0
    job.givenInput = std::string();
  }
  const bool openMpi = run.mpiLibrary.starts_with("Open MPI");
  if (ranks.size() == 1) {
    job.command = alone(job.command, parts->front().which);
    if (openMpi) {  // else it starts a daemon of its own
      job.session.environment.emplace_back("OMPI_MCA_ess_singleton_isolated=1");
    }
    return {};
  }
  job.command = ofSo(job.command, *parts);
  if (openMpi && !job.command.launcher.empty()) {
    job.launcherOptions.emplace_back("--oversubscribe");
  }
  return {};
}

}  // namespace pf::app
