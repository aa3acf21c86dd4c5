// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/columns/execution_rows.h"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <unordered_map>

#include "db/columns/execution_columns.h"
#include "db/columns/summary_store.h"
#include "db/schema/rows.h"
#include "db/schema/schema.h"

namespace pf::db {
namespace {

constexpr std::array kEventKindNames{"send",       "receive", "send-receive", "post",
                                     "completion", "probe",   "collective",   "collective-post",
                                     "local",      "start"};
static_assert(kEventKindNames.size() == static_cast<std::size_t>(EventKind::Start) + 1);
constexpr std::int32_t kMostRanks = 1 << 24;
constexpr std::string_view kExactMark;  ///< last row of race_class where classes are exact

// ---- Writing

/// Writes one table: `rows(writer)` writes all rows of it.
Status writeTable(Database& database, TableId id, const std::function<Status(RowWriter&)>& rows) {
  Result<RowWriter> writer = RowWriter::start(database, table(id));
  if (!writer) {
    return writer.error();
  }
  if (Status status = rows(*writer); !status) {
    return status;
  }
  if (Status status = writer->finish(); !status) {
    return status;
  }
  return storeSeal(database, table(id), writer->seal());
}

/// A table whose rows are the elements of a vector in Execution; the key is the index.
template <typename V>
Status writeList(Database& database, TableId id, const std::vector<V>& values) {
  return writeTable(database, id, [&](RowWriter& writer) -> Status {
    for (std::size_t i = 0; i < values.size(); ++i) {
      writer(i);
      if constexpr (std::same_as<V, std::string>) {
        writer(values[i]);
      } else {
        columns(writer, values[i]);
      }
      if (Status status = writer.end(); !status) {
        return status;
      }
    }
    return {};
  });
}

Status firstFailure(std::initializer_list<std::function<Status()>> steps) {
  for (const auto& step : steps) {
    if (Status status = step(); !status) {
      return status;
    }
  }
  return {};
}

// ---- Reading

template <typename V>
Status readList(Database& database, TableId id, std::vector<V>& values) {
  return readRows<V>(database, id, true, [&](std::int64_t key, V&& value) {
    values.push_back(std::move(value));
    return key == static_cast<std::int64_t>(values.size()) - 1;
  });
}

Status readTexts(Database& database, TableId of, std::vector<std::string>& texts) {
  return forEachRow(database, table(of), [&](const Row& row) {
    RowReader reader(row);
    std::size_t id = 0;
    reader(id), reader(texts.emplace_back());
    return reader.ok() && id == texts.size() - 1;
  });
}

}  // namespace

RaceClasses::RaceClasses(const std::vector<std::string>& textOfEach) {
  std::unordered_map<std::string_view, std::uint32_t> known;
  of.reserve(textOfEach.size());
  for (const std::string& each : textOfEach) {
    if (each.empty()) {
      of.push_back(kNone);
      continue;
    }
    const auto [found, added] = known.try_emplace(each, static_cast<std::uint32_t>(known.size()));
    if (added) {
      texts.push_back(each);
    }
    of.push_back(found->second);
  }
}

Status writeRaceClasses(Database& database, const RaceClasses& classes, std::size_t races) {
  const auto isThere = [&](std::uint32_t number) {
    return number == kNone ? !classes.exact : number < classes.texts.size();
  };
  if ((!classes.of.empty() && classes.of.size() != races) ||
      !std::ranges::all_of(classes.of, isThere) || std::ranges::count(classes.texts, "") != 0) {
    return Error{ErrorCode::Usage, "the classes are not those of the races", {}};
  }
  std::vector<std::string> texts = classes.texts;
  if (classes.exact && !classes.of.empty()) {
    texts.emplace_back(kExactMark);
  }
  return writeList(database, TableId::RaceClass, texts);
}

Result<std::vector<std::uint32_t>> writeRaceClasses(Database& database,
                                                    const std::vector<std::string>& classes) {
  RaceClasses byText(classes);
  const Status status = writeRaceClasses(database, byText, classes.size());
  return status.ok() ? Result(std::move(byText.of))
                     : Result<std::vector<std::uint32_t>>(status.error());
}

Status writeExecutionRows(Database& database, const ExecutionParts& parts) {
  const Execution& execution = parts.execution;
  if (Status status = checkExecution(execution); !status) {
    return status;
  }
  if (Status status = checkRaces(execution, parts.races); !status) {
    return status;
  }
  const std::vector<std::string> kinds(kEventKindNames.begin(), kEventKindNames.end());
  return firstFailure({
      [&] { return writeRaceClasses(database, parts.raceClasses, parts.races.size()); },
      [&] { return writeList(database, TableId::Communicator, execution.communicators); },
      [&] { return writeList(database, TableId::CallSite, execution.sites); },
      [&] { return writeList(database, TableId::Call, execution.callNames); },
      [&] { return writeList(database, TableId::EventKind, kinds); },
      [&] {
        return writeExecutionColumns(database, execution, parts.logicalTimes,
                                     {parts.races, parts.raceClasses.of});
      },
      [&] { return writeSummaries(database, execution, parts.races, parts.logicalTimes); },
  });
}

bool tooManyRanks(Database& database, std::int32_t ranks) {
  const Result<std::int64_t> size = database.fileSize();
  return !size || ranks > std::min<std::int64_t>(kMostRanks, *size);
}

Status readNameRows(Database& database, Execution& execution) {
  return firstFailure({
      [&] {
        return readRows<RunInfo>(database, TableId::Run, true, [&](std::int64_t, RunInfo&& run) {
          if (run.ranks < 0 || tooManyRanks(database, run.ranks)) {
            return false;
          }
          execution.ranks.resize(static_cast<std::size_t>(run.ranks));
          return true;
        });
      },
      [&] { return readList(database, TableId::Communicator, execution.communicators); },
      [&] { return readList(database, TableId::CallSite, execution.sites); },
      [&] { return readTexts(database, TableId::Call, execution.callNames); },
  });
}

Result<Execution> readExecutionRows(Database& database, LogicalTimes* logicalTimes,
                                    std::span<const std::uint32_t> begun) {
  Execution execution;
  Status status = readNameRows(database, execution);
  if (status.ok()) {
    status = readExecutionColumns(database, execution, logicalTimes, begun);
  }
  if (!status) {
    return status.error();
  }
  if (const Status check = checkExecution(execution); !check) {
    return Error{ErrorCode::Damaged, "'" + database.path() + "': " + check.error().message,
                 "The file was not written by Photofinish as it is."};
  }
  return execution;
}

Result<std::vector<CallSite>> readCallSiteRows(Database& database) {
  std::vector<CallSite> sites;
  if (Status status = readList(database, TableId::CallSite, sites); !status) {
    return status.error();
  }
  return sites;
}

Result<std::vector<std::string>> readRaceClasses(Database& database, bool* exact) {
  std::vector<std::string> texts;
  if (Status status = readTexts(database, TableId::RaceClass, texts); !status) {
    return status.error();
  }
  const bool marked = !texts.empty() && texts.back() == kExactMark;
  if (marked) {
    texts.pop_back();
  }
  if (exact != nullptr) {
    *exact = marked;
  }
  return texts;
}

Result<std::vector<StoredRace>> readRaces(Database& database, std::size_t ranks) {
  const Result<std::vector<std::string>> classes = readRaceClasses(database);
  return classes ? readRaceColumns(database, ranks, *classes)
                 : Result<std::vector<StoredRace>>(classes.error());
}

Status forEachRace(Database& database, std::size_t ranks,
                   const std::function<void(const RaceRecord&)>& visit) {
  bool exact = false;
  const Result<std::vector<std::string>> classes = readRaceClasses(database, &exact);
  if (!classes) {
    return classes.error();
  }
  return forEachRaceColumn(database, ranks, classes->size(), [&](RaceRecord race) {
    race.raceClass = exact ? race.raceClass : kNone;
    visit(race);
  });
}

Status writeRun(Database& database, const RunInfo& run) {
  Result<RowWriter> writer = RowWriter::start(database, table(TableId::Run));
  if (!writer) {
    return writer.error();
  }
  writer->integer(1);
  columns(*writer, run);
  const Status status = writer->end();
  return status.ok() ? writer->finish() : status;
}

void setTotals(RunInfo& run, const Execution& execution, const std::vector<Race>& races) {
  std::uint64_t wildcards = 0;
  for (const RankHistory& history : execution.ranks) {
    for (const PostedReceive& receive : history.receives) {
      wildcards += receive.wantedSource == kAnySource ? 1U : 0U;
    }
  }
  run.messages = execution.messages.size();
  run.wildcardReceives = wildcards;
  run.racingReceives = races.size();
}

}  // namespace pf::db
