// SPDX-License-Identifier: GPL-3.0-or-later
// RAII over SQLite: a connection, a prepared statement, a transaction. sqlite3.h stays in
// database.cpp. A connection and all that is made from it belong to one thread; each thread opens
// its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replay_engine/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace pf::db {

class Database;
class RowSource;

using Bytes = std::span<const std::uint8_t>;

/// A prepared statement. Text and blobs that are bound must outlive the next step() or run(); text
/// and blobs that are read are good until the next step(). A failed bind shows as a failed step.
class Statement {
 public:
  enum class Step { Row, Done, Failed };
  enum class Type { Null, Integer, Real, Text, Blob };
  struct Value {
    Type type = Type::Null;
    std::int64_t integer = 0;
    double real = 0;
    const char* data = nullptr;  ///< of a text or blob
    std::size_t size = 0;

    [[nodiscard]] std::string_view text() const { return {data, size}; }
  };

  Statement() = default;

  /// Parameters count from 1.
  void bindInteger(int parameter, std::int64_t value);
  void bindText(int parameter, std::string_view value);
  void bindBlob(int parameter, Bytes value);
  void bindNull(int parameter);

  [[nodiscard]] Step step();
  /// Makes the statement ready to be stepped again; keeps what is bound.
  void reset();
  /// Steps to the end and resets.
  Status run();
  /// Why the last step failed.
  [[nodiscard]] Error error() const;

  /// Columns count from 0.
  [[nodiscard]] int columnCount() const;
  [[nodiscard]] std::string columnName(int column) const;
  /// It only reads.
  [[nodiscard]] bool isReadOnly() const;
  [[nodiscard]] Type type(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] Bytes blob(int column) const;
  /// All columns at once: the fastest way. `values` keeps its size from row to row.
  void row(std::vector<Value>& values) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> m_handle;
  int m_failure = 0;  ///< SQLite's code of a failed bind or step
};

/// A connection to one file.
class Database {
 public:
  enum class Access {
    Read,    ///< hardened for files of strangers; nothing can be written
    Update,  ///< hardened in the same way, writes in transactions that are rolled back by a crash
    Build,  ///< a new file that nobody else sees yet: fast, no way back; throw it away on any error
  };

  Database() = default;

  /// Opens `path`, which must exist. Reads nothing of it yet. Symbolic links anywhere in `path` are
  /// refused.
  [[nodiscard]] static Result<Database> open(const std::string& path, Access access);

  /// `sql` must be text of this program, never made from data.
  [[nodiscard]] Result<Statement> prepare(std::string_view sql);
  /// A statement that may select from feed(), or other tables that are not in the file.
  [[nodiscard]] Result<Statement> prepareFed(std::string_view sql);
  [[nodiscard]] Result<RowSource*> feed();
  /// For modules of tables that are not in the file; null without a connection.
  [[nodiscard]] sqlite3* handle() { return m_handle.get(); }
  Status execute(std::string_view sql);
  /// Closes, and says whether that worked. All statements must be gone.
  Status close();

  /// Every later step fails with ErrorCode::Damaged once `budget` has passed; zero: no deadline.
  void setDeadline(std::chrono::milliseconds budget);

  /// Size of the file in bytes, and the bytes at its beginning, through the connection's own
  /// descriptor (to open and close another one would drop the locks of every connection of this
  /// process).
  [[nodiscard]] Result<std::int64_t> fileSize();
  Status readStart(std::span<std::uint8_t> bytes);

  [[nodiscard]] const std::string& path() const { return m_path; }
  /// What path() and errors say from now on; the file stays the one that was opened.
  void setPath(std::string path) { m_path = std::move(path); }
  [[nodiscard]] std::int64_t lastInsertId() const;
  [[nodiscard]] std::int64_t rowsChanged() const;  ///< by the last INSERT, UPDATE or DELETE

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  struct Deadline;
  Status harden(Access access);
  [[nodiscard]] Result<Statement> prepareWith(std::string_view sql, unsigned flags);

  std::string m_path;
  std::shared_ptr<Deadline> m_deadline;
  std::shared_ptr<RowSource> m_feed;
  std::unique_ptr<sqlite3, Close> m_handle;
};

/// Rolls back at its end unless commit() succeeded.
class Transaction {
 public:
  enum class Kind { Read, Write };
  [[nodiscard]] static Result<Transaction> begin(Database& database, Kind kind);
  ~Transaction();
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  Status commit();

 private:
  explicit Transaction(Database* database) : m_database(database) {}
  Database* m_database = nullptr;
};

}  // namespace pf::db
