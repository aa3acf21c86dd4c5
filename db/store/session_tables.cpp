// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/store/session_tables.h"

#include "db/schema/rows.h"
#include "db/schema/schema.h"
#include "db/schema/seal.h"

namespace pf::db {
namespace {

template <typename T>
constexpr TableId kTableOf = TableId::Note;
template <>
constexpr TableId kTableOf<Breakpoint> = TableId::Breakpoint;
template <>
constexpr TableId kTableOf<Watch> = TableId::Watch;
template <>
constexpr TableId kTableOf<Cycle> = TableId::Cycle;
template <>
constexpr TableId kTableOf<CycleStop> = TableId::CycleStop;
template <>
constexpr TableId kTableOf<BreakpointHit> = TableId::BreakpointHit;
template <>
constexpr TableId kTableOf<RankGroup> = TableId::RankGroup;
template <>
constexpr TableId kTableOf<RankArrangement> = TableId::RankArrangement;
template <>
constexpr TableId kTableOf<BenignRace> = TableId::BenignRace;
template <>
constexpr TableId kTableOf<PartOfJob> = TableId::PartOfJob;
template <>
constexpr TableId kTableOf<JudgedRace> = TableId::JudgedRace;
template <>
constexpr TableId kTableOf<Branch> = TableId::Branch;
template <>
constexpr TableId kTableOf<BranchFlip> = TableId::BranchFlip;

Status checkSeal(Database& database, const Table& table) {
  return forEachRow(database, table, [](const Row&) { return true; });
}

Status reseal(Database& database, const Table& table) {
  const Result<Seal> seal = computeSeal(database, table);
  if (!seal) {
    return seal.error();
  }
  return storeSeal(database, table, *seal);
}

/// One transaction: verifies the tables, changes them, seals them.
template <typename Change>
Status changeTables(Database& database, const std::vector<TableId>& ids, Change&& change) {
  Result<Transaction> transaction = Transaction::begin(database, Transaction::Kind::Write);
  if (!transaction) {
    return transaction.error();
  }
  for (const TableId id : ids) {
    if (Status status = checkSeal(database, table(id)); !status) {
      return status;
    }
  }
  database.setDeadline({});
  if (Status status = change(); !status) {
    return status;
  }
  for (const TableId id : ids) {
    if (Status status = reseal(database, table(id)); !status) {
      return status;
    }
  }
  if (Status status = finishSeals(database); !status) {
    return status;
  }
  return transaction->commit();
}

template <typename T>
Status writeOne(RowWriter& writer, const T& value) {
  value.id == 0 ? writer.null() : writer(value.id);
  columns(writer, value);
  const Status status = writer.end();
  return status.ok() ? writer.finish() : status;  // at once, for its id
}

Status deleteWhere(Database& database, std::string_view sql, std::int64_t key) {
  Result<Statement> statement = database.prepare(sql);
  if (!statement) {
    return statement.error();
  }
  statement->bindInteger(1, key);
  return statement->run();
}

/// Deletes one row, which must be there.
Status deleteRow(Database& database, const Table& table, std::int64_t id) {
  if (Status status = deleteWhere(database, table.remove, id); !status) {
    return status;
  }
  if (database.rowsChanged() != 1) {
    return Error{ErrorCode::NotFound,
                 "there is no " + table.name + " " + std::to_string(id) + " in the trace",
                 {}};
  }
  return {};
}

}  // namespace

template <typename T>
Result<std::vector<T>> SessionTables::all() {
  Result<Transaction> transaction = Transaction::begin(*m_database, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  std::vector<T> values;
  const Status status =
      readRows<T>(*m_database, kTableOf<T>, true, [&](std::int64_t id, T&& value) {
        value.id = id;
        values.push_back(std::move(value));
        return true;
      });
  if (!status) {
    return status.error();
  }
  return values;
}

template <typename T>
Result<std::int64_t> SessionTables::add(const T& value) {
  std::vector<T> one{value};
  if (Status status = addAll(one); !status) {
    return status.error();
  }
  return one.front().id;
}

template <typename T>
Status SessionTables::addAll(std::vector<T>& values) {
  return changeTables(*m_database, {kTableOf<T>}, [&]() -> Status {
    Result<RowWriter> writer = RowWriter::start(*m_database, table(kTableOf<T>));
    if (!writer) {
      return writer.error();
    }
    for (T& value : values) {
      if (Status status = writeOne(*writer, value); !status) {
        return status;
      }
      value.id = m_database->lastInsertId();
    }
    return {};
  });
}

template <typename T>
Status SessionTables::update(const T& value) {
  return changeTables(*m_database, {kTableOf<T>}, [&]() -> Status {
    if (Status status = deleteRow(*m_database, table(kTableOf<T>), value.id); !status) {
      return status;
    }
    Result<RowWriter> writer = RowWriter::start(*m_database, table(kTableOf<T>));
    if (!writer) {
      return writer.error();
    }
    return writeOne(*writer, value);
  });
}

Status SessionTables::replaceCycle(const Cycle& cycle, std::vector<CycleStop>& stops) {
  return changeTables(*m_database, {TableId::Cycle, TableId::CycleStop}, [&]() -> Status {
    for (const std::string_view sql :
         {std::string_view(table(TableId::Cycle).remove),
          std::string_view("DELETE FROM cycle_stop WHERE cycle = ?")}) {
      if (Status status = deleteWhere(*m_database, sql, cycle.id); !status) {
        return status;
      }
    }
    Result<RowWriter> writer = RowWriter::start(*m_database, table(TableId::Cycle));
    if (!writer) {
      return writer.error();
    }
    if (Status status = writeOne(*writer, cycle); !status) {
      return status;
    }
    Result<RowWriter> stopWriter = RowWriter::start(*m_database, table(TableId::CycleStop));
    if (!stopWriter) {
      return stopWriter.error();
    }
    for (const CycleStop& stop : stops) {
      if (Status status = writeOne(*stopWriter, stop); !status) {
        return status;
      }
    }
    return {};
  });
}

template <typename T>
Status SessionTables::remove(std::int64_t id) {
  std::vector<TableId> changed{kTableOf<T>};
  std::vector<std::string_view> dependants;
  if constexpr (std::same_as<T, Cycle>) {
    changed = {TableId::Cycle, TableId::CycleStop, TableId::BreakpointHit};
    dependants = {"DELETE FROM cycle_stop WHERE cycle = ?",
                  "DELETE FROM breakpoint_hit WHERE cycle = ?"};
  } else if constexpr (std::same_as<T, Breakpoint>) {
    changed = {TableId::Breakpoint, TableId::BreakpointHit};
    dependants = {"DELETE FROM breakpoint_hit WHERE breakpoint = ?"};
  }
  return changeTables(*m_database, changed, [&]() -> Status {
    for (const std::string_view sql : dependants) {
      if (Status status = deleteWhere(*m_database, sql, id); !status) {
        return status;
      }
    }
    return deleteRow(*m_database, table(kTableOf<T>), id);
  });
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type is in no need of them
#define PF_SESSION_TABLE(T)                                      \
  template Result<std::vector<T>> SessionTables::all<T>();       \
  template Result<std::int64_t> SessionTables::add<T>(const T&); \
  template Status SessionTables::addAll<T>(std::vector<T>&);     \
  template Status SessionTables::update<T>(const T&);            \
  template Status SessionTables::remove<T>(std::int64_t)
// NOLINTEND(bugprone-macro-parentheses)
PF_SESSION_TABLE(Breakpoint);
PF_SESSION_TABLE(Watch);
PF_SESSION_TABLE(Cycle);
PF_SESSION_TABLE(CycleStop);
PF_SESSION_TABLE(BreakpointHit);
PF_SESSION_TABLE(Note);
PF_SESSION_TABLE(RankGroup);
PF_SESSION_TABLE(RankArrangement);
PF_SESSION_TABLE(BenignRace);
PF_SESSION_TABLE(PartOfJob);
PF_SESSION_TABLE(JudgedRace);
PF_SESSION_TABLE(Branch);
PF_SESSION_TABLE(BranchFlip);
#undef PF_SESSION_TABLE

}  // namespace pf::db
