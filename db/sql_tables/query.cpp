// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/sql_tables/query.h"

#include "db/sql_tables/stream_tables.h"
#include "db/store/open_trace.h"
#include "db/store/trace_store.h"

namespace pf::db {

Status queryTrace(const std::string& path, const std::string& sql,
                  const std::function<void(const std::vector<std::string>&)>& onColumns,
                  const std::function<void(const QueryRow&)>& onRow) {
  const Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  Result<Database> database = openTrace(path, Database::Access::Read);
  if (!database) {
    return database.error();
  }
  Result<std::unique_ptr<StreamTables>> tables =
      StreamTables::open(*database, static_cast<std::size_t>(store->run().ranks));
  if (!tables) {
    return tables.error();
  }
  if (!(*tables)->attach(database->handle())) {
    return Error{ErrorCode::Internal, "SQLite refused the tables over the columns", {}};
  }
  constexpr const char* kAdvice =
      "Give one SELECT; docs/trace-format.md has the tables and their columns.";
  Result<Statement> statement = database->prepareFed(sql);
  if (!statement) {
    return Error{ErrorCode::Usage, "the query cannot be run: " + statement.error().message,
                 kAdvice};
  }
  if (!statement->isReadOnly() || statement->columnCount() == 0) {
    return Error{ErrorCode::Usage, "the query is not a SELECT", kAdvice};
  }
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(statement->columnCount()));
  for (int column = 0; column < statement->columnCount(); ++column) {
    names.push_back(statement->columnName(column));
  }
  onColumns(names);
  QueryRow row;
  while (true) {
    switch (statement->step()) {
      case Statement::Step::Failed:
        return (*tables)->problem().message.empty() ? statement->error() : (*tables)->problem();
      case Statement::Step::Done:
        return {};
      case Statement::Step::Row:
        statement->row(row);
        onRow(row);
        break;
    }
  }
}

}  // namespace pf::db
