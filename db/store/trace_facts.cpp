// SPDX-License-Identifier: GPL-3.0-or-later
#include <atomic>
#include <cctype>

#include "db/former/former_format.h"
#include "db/payload/payload_store.h"
#include "db/schema/rows.h"
#include "db/sqlite/file_copy.h"
#include "db/store/open_trace.h"
#include "db/store/origin.h"

namespace pf::db {
namespace {

std::atomic<OriginOf> g_originOf = nullptr;

template <typename T>
Status readAll(Database& database, TableId id, std::vector<T>& values) {
  constexpr bool kKeeps = requires(T value) {
    value.id;
  };
  const bool hasId = kKeeps || id == TableId::LaunchFact;
  return readRows<T>(database, id, hasId, [&values](std::int64_t key, T&& value) {
    if constexpr (kKeeps) {
      value.id = key;
    }
    values.push_back(std::move(value));
    return true;
  });
}

/// Of the present format.
Result<TraceFacts> factsIn(Database& database) {
  for (Status (*check)(Database&) : {&checkIdentity, &checkTables}) {
    if (Status status = check(database); !status) {
      return status.error();
    }
  }
  TraceFacts facts;
  std::vector<RunInfo> runs;
  const Status run =
      readRows<RunInfo>(database, TableId::Run, true, [&](std::int64_t, RunInfo&& row) {
        runs.push_back(std::move(row));
        return runs.size() == 1;
      });
  if (runs.size() != 1) {
    return run ? Error{ErrorCode::Damaged,
                       "'" + database.path() + "' does not say what it is of",
                       {}}
               : run.error();
  }
  // Its totals, and with them its checksum, are what a survey writes just now, perhaps.
  facts.run = std::move(runs.front());
  Result<std::optional<std::string>> groups = readGroups(database);
  if (!groups) {
    return groups.error();
  }
  facts.run.groups = std::move(*groups);
  for (const Status& status : {readAll(database, TableId::Rank, facts.ranks),
                               readAll(database, TableId::LaunchFact, facts.launch),
                               readAll(database, TableId::Module, facts.modules)}) {
    if (!status) {
      return status.error();
    }
  }
  if (!readAll(database, TableId::Breakpoint, facts.breakpoints)) {
    facts.breakpoints.clear();
  }
  if (!readAll(database, TableId::Watch, facts.watches)) {
    facts.watches.clear();
  }
  std::vector<Branch> branches;
  if (readAll(database, TableId::Branch, branches) &&
      readAll(database, TableId::BranchFlip, facts.flips) && branches.size() == 1) {
    facts.branch = std::move(branches.front());
  } else {
    facts.flips.clear();
  }
  return facts;
}

/// SQLite's name of a file that it takes for one that nobody changes.
std::string immutableName(const std::string& path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string name = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '/' || c == '.' || c == '-' || c == '_') {
      name += c;
    } else {
      name += {'%', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
    }
  }
  return name + "?immutable=1";
}

}  // namespace

Result<Database> openAlone(const std::string& path) {
  const std::string name = immutableName(path);
  Result<Database> database = Database::open(name, Database::Access::Read);
  if (database) {
    database->setPath(path);
    return database;
  }
  Error error = database.error();
  if (const std::size_t at = error.message.find(name); at != std::string::npos) {
    error.message.replace(at, name.size(), path);
  }
  return error;
}

void setOriginOf(OriginOf function) {
  g_originOf = function;
}

Origin originOf(const std::string& path) {
  const OriginOf function = g_originOf;
  return function == nullptr ? Origin::Own : function(path);
}

Result<TraceFacts> readFacts(const std::string& path) {
  const Result<std::string> real = locateTrace(path);
  Result<Database> database = real ? openAlone(*real) : Result<Database>(real.error());
  if (!database) {
    return database.error();
  }
  if (!isFormerVersion(versionOf(*database))) {
    return factsIn(*database);
  }
  database = Result<Database>(Database());
  const Result<PrivateCopy> copy = PrivateCopy::make(*real);
  if (!copy) {
    return copy.error();
  }
  if (Status status = bringUpToDate(copy->path()); !status) {
    return status.error();
  }
  database = Database::open(copy->path(), Database::Access::Read);
  return database ? factsIn(*database) : Result<TraceFacts>(database.error());
}

Result<TraceFacts> readPresentFacts(const std::string& path) {
  const Result<std::string> real = locateTrace(path);
  Result<Database> database = real ? openAlone(*real) : Result<Database>(real.error());
  if (!database) {
    return database.error();
  }
  return isFormerVersion(versionOf(*database))
             ? Error{ErrorCode::Version, "'" + path + "' has a former format", {}}
             : factsIn(*database);
}

}  // namespace pf::db
