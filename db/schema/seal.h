// SPDX-License-Identifier: GPL-3.0-or-later
// Seals: a CRC32C over all rows of a table, so that no damaged row is ever given out as good.
//
// The checksum starts from the CRC32C of the table's name and goes on over each row in the order of
// the primary key, each column in the order of Table::select: one byte for its type (0 NULL, 1
// integer, 2 real, 3 text, 4 blob), then integer and real: 8 bytes; text and blob: size (8 bytes)
// and content. Little endian.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/schema/schema.h"
#include "db/schema/trace_types.h"
#include "db/sqlite/database.h"
#include "db/sqlite/json_text.h"
#include "db/sqlite/row_source.h"
#include "replay_engine/base/result.h"

namespace pf::db {

struct Seal {
  std::uint64_t rows = 0;
  std::uint32_t crc = 0;
  friend bool operator==(const Seal&, const Seal&) = default;
};

/// Writes the rows of one table, in the order of its primary key, and computes its seal on the way.
/// Add the columns in order, then end() the row; finish() after the last. One writer at a time.
class RowWriter {
 public:
  [[nodiscard]] static Result<RowWriter> start(Database& database, const Table& table);

  void null();
  void integer(std::int64_t value);
  void text(std::string_view value);
  void blob(std::string_view value);
  Status end();
  /// All rows are in the table when this has succeeded.
  Status finish();

  // By C++ type, for rows.h.
  void operator()(const std::string& value) { text(value); }
  void operator()(const std::vector<std::string>& value) { text(jsonOf(value)); }
  void operator()(const std::vector<Rank>& value) { text(jsonOf(value)); }
  void operator()(const std::optional<RawBytes>& value) { value ? blob(value->bytes) : null(); }
  template <std::integral T>
  void operator()(T value) {
    integer(static_cast<std::int64_t>(value));
  }
  template <typename T>
  void operator()(const std::optional<T>& value) {
    value.has_value() ? integer(static_cast<std::int64_t>(*value)) : null();
  }

  [[nodiscard]] Seal seal() const { return m_seal; }

 private:
  Statement m_insert;
  RowSource* m_feed = nullptr;
  Seal m_seal;
  std::string m_encoded;
};

using Row = std::vector<Statement::Value>;

/// Reads the columns of one row in order. Values out of range are remembered in ok().
class RowReader {
 public:
  explicit RowReader(const Row& row) : m_row(row) {}

  [[nodiscard]] bool isNull() const { return m_row[m_column].type == Statement::Type::Null; }
  void skip() { ++m_column; }
  std::int64_t integer();
  std::string_view text();
  std::string_view blob();
  [[nodiscard]] bool ok() const { return m_ok; }
  void require(bool condition) { m_ok = m_ok && condition; }

  void operator()(std::string& value) { value = text(); }
  void operator()(std::vector<std::string>& value) { require(fromJson(text(), value)); }
  void operator()(std::vector<Rank>& value) { require(fromJson(text(), value)); }
  void operator()(std::optional<RawBytes>& value) {
    if (isNull()) {
      skip();
      value.reset();
    } else {
      value = RawBytes{std::string(blob())};
    }
  }
  void operator()(bool& value) {
    const std::int64_t stored = integer();
    require(stored == 0 || stored == 1);
    value = stored != 0;
  }
  template <std::integral T>
  void operator()(T& value) {
    const std::int64_t stored = integer();
    if constexpr (sizeof(T) < sizeof(std::int64_t)) {
      require(std::in_range<T>(stored));
    }
    value = static_cast<T>(stored);
  }
  template <typename T>
  void operator()(std::optional<T>& value) {
    if (isNull()) {
      skip();
      value.reset();
    } else {
      (*this)(value.emplace());
    }
  }

 private:
  const Row& m_row;
  std::size_t m_column = 0;
  bool m_ok = true;
};

/// Steps through all rows of a table and checks its seal at the end. What the rows said must be
/// thrown away unless next() came to Done.
class SealedScan {
 public:
  /// Needs an open transaction. `expected`: the seal to hold the table against, else that in table
  /// `seal`.
  [[nodiscard]] static Result<SealedScan> start(Database& database, const Table& table,
                                                std::optional<Seal> expected = std::nullopt);
  /// True: a row is in row(). False: the end, and the seal fits.
  [[nodiscard]] Result<bool> next();
  [[nodiscard]] const Row& row() const { return m_row; }
  [[nodiscard]] Seal seal() const { return m_seal; }

 private:
  friend Result<Seal> computeSeal(Database& database, const Table& table);
  [[nodiscard]] Error damaged(const char* how) const;
  [[nodiscard]] Result<bool> advance();  ///< next row into the checksum; nothing is checked

  Database* m_database = nullptr;
  Statement m_select;
  Row m_row;
  std::string m_name;
  std::string m_path;
  Seal m_seal;
  std::optional<Seal> m_expected;
  std::uint64_t m_bytesAllowed = 0;
  std::string m_encoded;
};

/// Calls `onRow(const Row&) -> bool` for every row of a table; false means that the row makes no
/// sense.
template <typename OnRow>
Status forEachRow(Database& database, const Table& table, OnRow&& onRow) {
  Result<SealedScan> scan = SealedScan::start(database, table);
  if (!scan) {
    return scan.error();
  }
  while (true) {
    const Result<bool> more = scan->next();
    if (!more) {
      return more.error();
    }
    if (!*more) {
      return {};
    }
    if (!onRow(scan->row())) {
      return Error{
          ErrorCode::Damaged,
          "table '" + table.name + "' of '" + database.path() + "' has a row that makes no sense",
          "The file was not written by Photofinish as it is; run 'photofinish check' on it."};
    }
  }
}

/// The seal that the rows of a table have now.
[[nodiscard]] Result<Seal> computeSeal(Database& database, const Table& table);
/// The seal that is written down for a table.
[[nodiscard]] Result<Seal> storedSeal(Database& database, const Table& table);
/// Writes a seal down. finishSeals() must follow in the same transaction.
Status storeSeal(Database& database, const Table& table, Seal seal);
/// Seals the seals.
Status finishSeals(Database& database);
/// Checks the seal of the seals. `tableCount`: with the table of seals.
Status checkSeals(Database& database, std::size_t tableCount = tables().size());

/// Deadline for one operation on a file of `bytes`: far more than an honest file needs.
[[nodiscard]] std::chrono::milliseconds readBudget(std::int64_t bytes);

}  // namespace pf::db
