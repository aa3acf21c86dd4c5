// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/sqlite/row_source.h"

#include <memory>

#include <sqlite3.h>

namespace pf::db {
namespace {
namespace feeds {  // files compiled together have more of such names

// SQLite's structures come first in ours, and SQLite hands us pointers to them.
struct FeedTable {
  sqlite3_vtab base;
  RowSource* feed;
};

struct FeedCursor {
  sqlite3_vtab_cursor base;
  RowSource* feed;
  std::size_t row;
};

FeedCursor* cursorOf(sqlite3_vtab_cursor* base) {
  return reinterpret_cast<FeedCursor*>(base);
}

int connect(sqlite3* connection, void* feed, int, const char* const*, sqlite3_vtab** table,
            char**) {
  std::string text = "CREATE TABLE feed(c0";
  for (int column = 1; column < kFeedColumns; ++column) {
    text += ",c" + std::to_string(column);
  }
  if (const int rc = sqlite3_declare_vtab(connection, (text + ")").c_str()); rc != SQLITE_OK) {
    return rc;
  }
  auto made = std::make_unique<FeedTable>(FeedTable{{}, static_cast<RowSource*>(feed)});
  *table = &made.release()->base;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  const std::unique_ptr<FeedTable> owner(reinterpret_cast<FeedTable*>(table));
  return SQLITE_OK;
}

int bestIndex(sqlite3_vtab*, sqlite3_index_info*) {
  return SQLITE_OK;
}

int open(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
  auto made =
      std::make_unique<FeedCursor>(FeedCursor{{}, reinterpret_cast<FeedTable*>(table)->feed, 0});
  *cursor = &made.release()->base;
  return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) {
  const std::unique_ptr<FeedCursor> owner(cursorOf(cursor));
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) {
  cursorOf(cursor)->row = 0;
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* cursor) {
  ++cursorOf(cursor)->row;
  return SQLITE_OK;
}

int eof(sqlite3_vtab_cursor* cursor) {
  return cursorOf(cursor)->row >= cursorOf(cursor)->feed->rows() ? 1 : 0;
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* result, int number) {
  const RowSource& feed = *cursorOf(cursor)->feed;
  const RowSource::Cell& cell = feed.cell(cursorOf(cursor)->row, number);
  switch (cell.type) {
    case RowSource::Cell::Type::Null:
      break;
    case RowSource::Cell::Type::Integer:
      sqlite3_result_int64(result, cell.integer);
      break;
    case RowSource::Cell::Type::Text: {
      const std::string& text = feed.textOf(cell);
      sqlite3_result_text64(result, text.data(), text.size(), nullptr, SQLITE_UTF8);
      break;
    }
    case RowSource::Cell::Type::Blob: {
      const std::string& content = feed.textOf(cell);
      sqlite3_result_blob64(result, content.data(), content.size(), nullptr);
      break;
    }
  }
  return SQLITE_OK;
}

int rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
  *id = static_cast<sqlite3_int64>(cursorOf(cursor)->row);
  return SQLITE_OK;
}

constexpr sqlite3_module makeFeedModule() {
  sqlite3_module module{};
  module.xConnect = &connect;
  module.xBestIndex = &bestIndex;
  module.xDisconnect = &disconnect;
  module.xOpen = &open;
  module.xClose = &close;
  module.xFilter = &filter;
  module.xNext = &next;
  module.xEof = &eof;
  module.xColumn = &column;
  module.xRowid = &rowid;
  return module;
}
constexpr sqlite3_module kFeedModule = makeFeedModule();

}  // namespace feeds
}  // namespace

bool RowSource::attach(sqlite3* connection) {
  return sqlite3_create_module_v2(connection, std::string(kFeedName).c_str(), &feeds::kFeedModule,
                                  this, nullptr) == SQLITE_OK;
}

}  // namespace pf::db
