// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/sql_tables/alternative_table.h"

#include "db/sql_tables/stream_cursor.h"

namespace pf::db {
namespace {

using tables_over::StreamTable;

/// Goes over races, and over the alternatives of each.
struct AlternativeCursor {
  sqlite3_vtab_cursor base{};
  StreamTables* tables = nullptr;
  std::int64_t race = 0;
  std::int64_t end = 0;  ///< of the races
  std::size_t position = 0;
  Rank rank = -1;  ///< of the race
  RaceBlock block;
  Rank blockRank = -1;
  std::size_t blockOrdinal = 0;
  std::span<const std::uint32_t> messages;  ///< alternatives of the race

  [[nodiscard]] bool done() const { return race >= end; }

  /// Reads the alternatives of `race`.
  int load() {
    while (race >= tables->firstRace(static_cast<std::size_t>(rank) + 1)) {
      ++rank;
    }
    const auto number =
        static_cast<std::size_t>(race - tables->firstRace(static_cast<std::size_t>(rank)));
    const std::size_t ordinal = number / kChunkValues;
    if (blockRank != rank || blockOrdinal != ordinal) {
      blockRank = -1;
      if (Status status = block.load(tables->reader(), tables->owners(), rank, ordinal); !status) {
        tables->problem() = status.error();
        return SQLITE_CORRUPT;
      }
      blockRank = rank;
      blockOrdinal = ordinal;
    }
    messages = block.alternatives(number % kChunkValues);
    return SQLITE_OK;
  }
  /// Goes on to the next race that has an alternative at or behind `position`.
  int settle() {
    int rc = done() ? SQLITE_OK : load();
    while (rc == SQLITE_OK && !done() && position >= messages.size()) {
      ++race;
      position = 0;
      rc = done() ? SQLITE_OK : load();
    }
    return rc;
  }
};

AlternativeCursor& cursorOf(sqlite3_vtab_cursor* base) {
  return *reinterpret_cast<AlternativeCursor*>(base);
}

int connect(sqlite3* connection, void* tables, int, const char* const*, sqlite3_vtab** table,
            char**) {
  if (const int rc = sqlite3_declare_vtab(
          connection,
          "CREATE TABLE race_alternative(race INTEGER,position INTEGER,message INTEGER)");
      rc != SQLITE_OK) {
    return rc;
  }
  auto made = std::make_unique<StreamTable>(StreamTable{{}, static_cast<StreamTables*>(tables)});
  *table = &made.release()->base;
  return SQLITE_OK;
}

/// `race` is what a query is narrowed by.
int bestIndex(sqlite3_vtab*, sqlite3_index_info* info) {
  std::array<int, 9> constraint{};
  constraint.fill(-1);
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& each = info->aConstraint[i];
    if (each.usable != 0 && each.iColumn == 0) {
      constraint[static_cast<std::size_t>(tables_over::boundOf(each.op))] = i;
    }
  }
  int arguments = 0;
  for (const int bit : {tables_over::kKeyIs, tables_over::kKeyFrom, tables_over::kKeyTo}) {
    if (const int i = constraint[static_cast<std::size_t>(bit)]; i >= 0) {
      info->idxNum |= bit;
      info->aConstraintUsage[i].argvIndex = ++arguments;
    }
  }
  const double rows = (info->idxNum & tables_over::kKeyIs) != 0 ? 4 : info->idxNum != 0 ? 1e6 : 4e6;
  info->estimatedRows = static_cast<sqlite3_int64>(rows);
  info->estimatedCost = rows + 100;
  return SQLITE_OK;
}

int open(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
  auto made = std::make_unique<AlternativeCursor>();
  made->tables = reinterpret_cast<StreamTable*>(table)->tables;
  *cursor = &made.release()->base;
  return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) {
  const std::unique_ptr<AlternativeCursor> owner(&cursorOf(cursor));
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* base, int bits, const char*, int, sqlite3_value** values) {
  AlternativeCursor& cursor = cursorOf(base);
  tables_over::KeyRange range;
  const bool any = tables_over::narrow(range, bits, values);
  const std::int64_t races = cursor.tables->firstRace(cursor.tables->ranks());
  cursor.race = any ? std::clamp<std::int64_t>(range.from, 0, races) : races;
  cursor.end = any && range.to < races ? range.to + 1 : races;
  cursor.position = 0;
  cursor.rank = 0;
  return cursor.settle();
}

int next(sqlite3_vtab_cursor* base) {
  AlternativeCursor& cursor = cursorOf(base);
  ++cursor.position;
  return cursor.position < cursor.messages.size() ? SQLITE_OK : cursor.settle();
}

int eof(sqlite3_vtab_cursor* base) {
  return cursorOf(base).done() ? 1 : 0;
}

int column(sqlite3_vtab_cursor* base, sqlite3_context* result, int number) {
  const AlternativeCursor& cursor = cursorOf(base);
  sqlite3_result_int64(result, number == 0   ? cursor.race
                               : number == 1 ? static_cast<std::int64_t>(cursor.position)
                                             : cursor.messages[cursor.position]);
  return SQLITE_OK;
}

int rowid(sqlite3_vtab_cursor* base, sqlite3_int64* id) {
  const AlternativeCursor& cursor = cursorOf(base);
  *id = (cursor.race << 24U) + static_cast<std::int64_t>(cursor.position);
  return SQLITE_OK;
}

constexpr sqlite3_module makeAlternativeModule() {
  sqlite3_module module{};
  module.xConnect = &connect;
  module.xBestIndex = &bestIndex;
  module.xDisconnect = &tables_over::disconnect;
  module.xOpen = &open;
  module.xClose = &close;
  module.xFilter = &filter;
  module.xNext = &next;
  module.xEof = &eof;
  module.xColumn = &column;
  module.xRowid = &rowid;
  return module;
}
constexpr sqlite3_module kAlternativeModule = makeAlternativeModule();

}  // namespace

bool attachAlternatives(sqlite3* connection, StreamTables& tables) {
  return sqlite3_create_module_v2(connection, "race_alternative", &kAlternativeModule, &tables,
                                  nullptr) == SQLITE_OK;
}

}  // namespace pf::db
