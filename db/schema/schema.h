// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of a trace: one list, from which the file is made, checked, sealed, read and
// documented.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf::db {

/// What to do about a trace whose content does not match its checksums.
inline constexpr const char* kSeeCheck =
    "Run 'photofinish check' on the file to see what is lost and what can be saved.";

class Database;

inline constexpr std::uint32_t kApplicationId = 0x50466E31;  // "PFn1"
inline constexpr std::uint32_t kFormatVersion = 17;
inline constexpr std::uint32_t kPageSize = 4096;

enum class TableKind {
  Recording,  ///< written once: run, rank, logs
  Execution,  ///< made from the logs; a later survey may replace all of them together
  Seal,       ///< the seals themselves
  Session,    ///< what the user adds
};

/// Names of the tables, in the order of tables().
enum class TableId : std::size_t {
  Module,
  LogChunk,
  Communicator,
  CallSite,
  Call,
  EventKind,
  SurveyChunk,
  Seal,
  Breakpoint,
  Watch,
  Cycle,
  CycleStop,
  BreakpointHit,
  ColumnDirectory,
  RaceClass,
  ColumnChunk,
  SummaryChunk,
  Run,
  Rank,
  LaunchFact,
  SeenInput,
  NotGuaranteed,
  Note,
  RankGroup,
  RankArrangement,
  BenignRace,
  GroupRecording,
  Payload,
  PayloadChunk,
  PartOfJob,
  JudgedRace,
  Branch,
  BranchFlip,
  Printed,
};

struct Table {
  TableId id;
  TableKind kind;
  std::string name;
  std::string create;  ///< byte for byte as in sqlite_schema
  std::string select;  ///< all sealed columns of all rows, in the order of the primary key
  std::string insert;  ///< INSERT of all rows of the feed (row_source.h)
  std::string clear;   ///< DELETE of all rows
  std::string remove;  ///< DELETE by id, where there is one
};

/// All tables, in the order of their creation.
[[nodiscard]] const std::vector<Table>& tables();
[[nodiscard]] inline const Table& table(TableId id) {
  return tables()[static_cast<std::size_t>(id)];
}

/// A table as one of tables(): `columns` are those that are sealed, `order` those of the primary
/// key.
[[nodiscard]] Table makeTable(TableId id, TableKind kind, const char* name, const char* create,
                              const char* columns, const char* order);

/// Makes all tables in an empty file and marks it as ours.
Status createSchema(Database& database);
/// Damaged unless the file has exactly these tables, as we write them.
Status checkSchema(Database& database, const std::vector<Table>& expected = tables());

}  // namespace pf::db
