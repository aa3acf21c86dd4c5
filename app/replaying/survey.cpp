// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replaying/survey.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "app/collation/logs_of_trace.h"

namespace pf::app {
namespace {

constexpr off_t kWordsKept = 2000;  ///< bytes
constexpr std::size_t kRanksNamed = 8;
/// The end of a survey of a run that was cut: how long a rank may take to it that seems to wait.
constexpr std::chrono::seconds kOnItsWayFor(20);
constexpr int kLookAgainMs = 100;

/// What is missing, a line a rank; empty: nothing.
std::string shortfall(const std::vector<db::RankInfo>& ranks, const std::vector<RankLog>& seen,
                      const std::vector<Rank>& ran) {
  std::string text;
  std::size_t missing = 0;
  for (std::size_t i = 0; i < ranks.size() && i < seen.size(); ++i) {
    const bool part = !ran.empty() && std::ranges::find(ran, ranks[i].rank) == ran.end();
    if (part || seenAgain(seen[i].serials, ranks[i].lastSerial, ranks[i].complete) ||
        ++missing > kRanksNamed) {
      continue;
    }
    text += "\n  rank " + std::to_string(ranks[i].rank) +
            (seen[i].serials == 0 ? " did nothing"
                                  : " ended after event " + std::to_string(seen[i].serials)) +
            ", of " + std::to_string(ranks[i].lastSerial) + " recorded";
  }
  if (missing > kRanksNamed) {
    text += "\n  and " + std::to_string(missing - kRanksNamed) + " ranks more";
  }
  return text;
}

}  // namespace

std::string lastWords(int fd) {
  const off_t size = lseek(fd, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - kWordsKept);
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - from)), '\0');
  const ssize_t n = pread(fd, text.data(), text.size(), from);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  if (from > 0) {
    text.erase(0, text.find('\n') + 1);
  }
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  std::string indented;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    indented += "\n    " + text.substr(at, end - at);
    at = end + 1;
  }
  return indented;
}

namespace {

/// `ran`: empty: all. What each rank logged.
Result<std::vector<RankLog>> logsOf(db::TraceStore& store, const LogFiles& files,
                                    const std::vector<Rank>& ran, const std::string& words) {
  std::vector<RankLog> seen;
  for (const db::RankInfo& rank : store.ranks()) {
    const auto file = files.find(rank.rank);
    if (file == files.end()) {
      seen.push_back(emptyLog(rank.rank, store.run().ranks, rank.cutReason));
      continue;
    }
    Result<RankLog> log = readLog(file->second);
    if (!log) {
      return log.error();
    }
    seen.push_back(std::move(*log));
  }
  if (const std::string missing = shortfall(store.ranks(), seen, ran); !missing.empty()) {
    return Error{ErrorCode::Divergence,
                 "the program was run once more to see its events, and did not come as far as the "
                 "recorded run:" +
                     missing + (words.empty() ? "" : "\n  it or its launcher said:" + words),
                 "Nothing of this is kept: which receives raced is not known. Give the program "
                 "what it had when it was "
                 "recorded (input files, environment, the right to start mpirun), and ask again; "
                 "'record --mode all' "
                 "keeps the events themselves."};
  }
  return seen;
}

/// All ranks have been surveyed, and have logged this.
Status keepAll(db::TraceStore& store, const LogFiles& files, const std::vector<RankLog>& seen) {
  Result<Analysis> analysis = analyse(seen);
  if (!analysis) {
    return analysis.error();
  }
  useRecordedTimes(store, analysis->execution);
  return store.replaceExecution(analysis->execution, analysis->races, analysis->logicalTimes,
                                analysis->raceClasses, files);
}

/// Of these ranks alone: the others have no events.
Result<Execution> executionOf(const std::vector<RankLog>& seen) {
  Result<Analysis> analysis = analyse(seen);
  return analysis ? Result<Execution>(std::move(analysis->execution))
                  : Result<Execution>(analysis.error());
}

/// Those of the trace that have been surveyed, in parts of the job, while its execution is not known.
Result<LogFiles> keptParts(db::TraceStore& store) {
  const Result<bool> known = store.hasExecution();
  if (!known) {
    return known.error();
  }
  return *known ? Result<LogFiles>(LogFiles()) : logFilesOf(store, db::TraceStore::Log::Survey);
}

/// Who is not among them, and did something.
std::vector<Rank> missingIn(const LogFiles& files, const std::vector<db::RankInfo>& ranks) {
  std::vector<Rank> missing;
  for (const db::RankInfo& rank : ranks) {
    if (!files.contains(rank.rank) && (rank.complete || rank.lastSerial != 0)) {
      missing.push_back(rank.rank);
    }
  }
  return missing;
}

}  // namespace

Result<Execution> seenOfPart(db::TraceStore& store, const std::string& logs,
                             const std::vector<Rank>& ran, const std::string& words) {
  const auto files = readLogFiles(logs);
  if (!files) {
    return files.error();
  }
  Result<std::vector<RankLog>> seen = logsOf(store, *files, ran, words);
  return seen ? executionOf(*seen) : Result<Execution>(seen.error());
}

Result<std::optional<Execution>> knownOfPart(db::TraceStore& store, const std::vector<Rank>& ran) {
  const Result<LogFiles> kept = keptParts(store);
  if (!kept) {
    return kept.error();
  }
  if (std::ranges::any_of(ran, [&kept](Rank rank) { return !kept->contains(rank); })) {
    return std::optional<Execution>();
  }
  const Result<std::vector<RankLog>> seen = logsOf(store, *kept, ran, {});
  if (!seen) {
    return seen.error();
  }
  Result<Execution> execution = executionOf(*seen);
  return execution ? Result<std::optional<Execution>>(std::move(*execution))
                   : Result<std::optional<Execution>>(execution.error());
}

Result<std::vector<Rank>> ranksNotSurveyed(db::TraceStore& store) {
  const Result<bool> known = store.hasExecution();
  const Result<LogFiles> kept = keptParts(store);
  if (!known || !kept) {
    return known ? kept.error() : known.error();
  }
  return *known ? std::vector<Rank>() : missingIn(*kept, store.ranks());
}

Status keepSurvey(db::TraceStore& store, const std::string& logs, const std::string& words) {
  auto files = readLogFiles(logs);
  if (!files) {
    return files.error();
  }
  Result<std::vector<RankLog>> seen = logsOf(store, *files, {}, words);
  return seen ? keepAll(store, *files, *seen) : Status(seen.error());
}

namespace {

/// Beside those of other ranks that are kept; with the last of them, the events of all. Surveys of other parts may end meanwhile.
Status keepBesideOthers(db::TraceStore& store, const LogFiles& files) {
  if (Status kept = store.keepPartSurveyed(files); !kept) {
    return kept;
  }
  const Result<bool> known = store.hasExecution();
  const Result<LogFiles> all = keptParts(store);
  if (!known || !all) {
    return known ? all.error() : known.error();
  }
  if (*known || !missingIn(*all, store.ranks()).empty()) {
    return {};
  }
  const Result<std::vector<RankLog>> seen = logsOf(store, *all, {}, {});
  return seen ? keepAll(store, *all, *seen) : Status(seen.error());
}

}  // namespace

Result<Execution> keepSurveyOfPart(db::TraceStore& store, const std::string& logs,
                                   const std::vector<Rank>& ran, const std::string& words) {
  const auto files = readLogFiles(logs);
  if (!files) {
    return files.error();
  }
  const Result<std::vector<RankLog>> part = logsOf(store, *files, ran, words);
  if (!part) {
    return part.error();
  }
  Result<Execution> seen = executionOf(*part);
  if (!seen) {
    return seen;
  }
  const Status kept = keepBesideOthers(store, *files);
  return kept ? std::move(seen) : Result<Execution>(kept.error());
}

bool SurveyEnd::isThere(const std::vector<db::RankInfo>& ranks) {
  if (std::exchange(goesOn, false)) {
    return false;
  }
  const bool someAreOnTheirWay = std::ranges::any_of(ranks, [this](const db::RankInfo& rank) {
    const auto known = begun.find(rank.rank);
    return known != begun.end() && !seenAgain(known->second, rank.lastSerial, rank.complete);
  });
  const auto now = std::chrono::steady_clock::now();
  m_waitsUntil = m_waitsUntil.value_or(now + kOnItsWayFor);
  if (!someAreOnTheirWay || now >= *m_waitsUntil) {
    return true;
  }
  poll(nullptr, 0, kLookAgainMs);
  return false;
}

}  // namespace pf::app
