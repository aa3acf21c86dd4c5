// SPDX-License-Identifier: GPL-3.0-or-later
// Rows from memory as a table that SQLite can select from: INSERT … SELECT of many rows costs half
// of as many INSERT … VALUES. For connections that write; there is one feed for each, used by one
// statement at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;

namespace pf::db {

inline constexpr std::string_view kFeedName = "pf_feed";
inline constexpr int kFeedColumns = 24;  ///< c0 … c23

class RowSource {
 public:
  struct Cell {
    enum class Type : std::uint8_t { Null, Integer, Text, Blob } type = Type::Null;
    std::int64_t integer = 0;  ///< or index of a text or blob
  };

  /// Makes the feed known to a connection, which must not outlive it. False: SQLite refused.
  [[nodiscard]] bool attach(sqlite3* connection);

  /// Columns are added in order, row after row; texts are copied.
  void setColumns(int columns) { m_columns = static_cast<std::size_t>(columns); }
  void null() { m_cells.push_back({}); }
  void integer(std::int64_t value) { m_cells.push_back({Cell::Type::Integer, value}); }
  void text(std::string_view value) {
    m_cells.push_back({Cell::Type::Text, static_cast<std::int64_t>(m_texts.size())});
    m_texts.emplace_back(value);
  }
  void blob(std::string_view value) {
    text(value);
    m_cells.back().type = Cell::Type::Blob;
  }
  void clear() {
    m_cells.clear();
    m_texts.clear();
  }

  [[nodiscard]] std::size_t rows() const { return m_cells.size() / m_columns; }
  [[nodiscard]] const Cell& cell(std::size_t row, int column) const {
    return m_cells[row * m_columns + static_cast<std::size_t>(column)];
  }
  [[nodiscard]] const std::string& textOf(const Cell& cell) const {
    return m_texts[static_cast<std::size_t>(cell.integer)];
  }

 private:
  std::size_t m_columns = 1;
  std::vector<Cell> m_cells;
  std::deque<std::string> m_texts;
};

}  // namespace pf::db
