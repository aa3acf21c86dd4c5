// SPDX-License-Identifier: GPL-3.0-or-later
// What SQLite calls of a table over a stream of values (stream_tables.h).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sqlite3.h>

#include "db/sql_tables/stream_columns.h"
#include "db/sql_tables/stream_tables.h"

namespace pf::db::tables_over {

// Bits of what xBestIndex tells xFilter; the values come in this order.
inline constexpr int kRankIs = 1;
inline constexpr int kKeyIs = 2;
inline constexpr int kKeyFrom = 4;  ///< at least
inline constexpr int kKeyTo = 8;    ///< at most

// ---- SQLite's structures come first in ours, and SQLite hands us pointers to them.

struct StreamTable {
  sqlite3_vtab base;
  StreamTables* tables;
};

/// The chunk of a stream that was read last.
template <typename T>
struct ReadChunk {
  std::vector<T> values;
  Rank rank = -1;
  std::size_t ordinal = 0;

  /// Value `number` of a rank's stream, which has so many. Good until the next call.
  Result<const T*> value(ColumnReader& reader, Rank of, std::uint64_t number) {
    const unsigned shift = reader.shift(StreamOf<T>::kStream);
    if (rank != of || ordinal != number >> shift) {
      values.clear();
      rank = of;
      ordinal = number >> shift;
      if (Status status = reader.read(rank, ordinal, values); !status) {
        rank = -1;
        return status.error();
      }
    }
    return &values[number - (std::uint64_t{ordinal} << shift)];
  }
};

template <typename T>
struct Cursor {
  sqlite3_vtab_cursor base{};
  StreamTables* tables = nullptr;
  Rank rank = 0;
  Rank lastRank = -1;
  std::int64_t keyFrom = 0;
  std::int64_t keyTo = 0;
  std::int64_t at = 0;   ///< number of the value in the stream of its rank, from 0
  std::int64_t end = 0;  ///< of the range of this rank
  ReadChunk<T> chunk;
  const T* current = nullptr;     ///< value `at`
  ReadChunk<StoredEvent> events;  ///< of messages: with their sends
  ReadChunk<StoredTime> times;    ///< of events: beside theirs

  static constexpr Stream kStream = StreamOf<T>::kStream;

  /// The key of a rank's first value.
  [[nodiscard]] std::int64_t base0(Rank of) const {
    if constexpr (kStream == Stream::Event) {
      return 1;
    } else if constexpr (kStream == Stream::Send) {
      return tables->firstMessage(static_cast<std::size_t>(of));
    } else if constexpr (kStream == Stream::Race) {
      return tables->firstRace(static_cast<std::size_t>(of));
    } else {
      return 0;
    }
  }
  [[nodiscard]] bool done() const { return rank > lastRank; }
  [[nodiscard]] const T& value() const { return *current; }

  /// Value `number` of the present rank's stream of `chunks`; 0: SQLITE_OK.
  template <typename V>
  int read(ReadChunk<V>& chunks, std::int64_t number, const V*& value) {
    Result<const V*> found =
        chunks.value(tables->reader(), rank, static_cast<std::uint64_t>(number));
    if (!found) {
      tables->problem() = found.error();
      return SQLITE_CORRUPT;
    }
    value = *found;
    return SQLITE_OK;
  }
  /// Goes on to the first value of the range at or behind `at`, perhaps of a later rank.
  int settle() {
    while (!done() && at >= end) {
      ++rank;
      enter();
    }
    return done() ? SQLITE_OK : read(chunk, at, current);
  }
  /// To the range's begin in this rank.
  void enter() {
    if (done()) {
      return;
    }
    const auto count = static_cast<std::int64_t>(tables->reader().count(rank, kStream));
    const std::int64_t first = base0(rank);
    at = std::clamp(keyFrom, first, first + count) - first;
    end = std::clamp(keyTo, first - 1, first + count - 1) - first + 1;
  }
  /// The time of the event; null where the trace has none.
  int timed(const StoredTime*& time) {
    if (static_cast<std::uint64_t>(at) >= tables->reader().count(rank, Stream::Time)) {
      return SQLITE_OK;
    }
    return read(times, at, time);
  }
  /// The event that sent the message.
  int sent(const StoredEvent*& event) {
    if constexpr (kStream == Stream::Send) {
      const auto number = static_cast<std::int64_t>(value().send.event) - 1;
      if (number < 0 ||
          number >= static_cast<std::int64_t>(tables->reader().count(rank, Stream::Event))) {
        return SQLITE_CORRUPT;
      }
      return read(events, number, event);
    }
    return SQLITE_OK;
  }
};

template <typename T>
Cursor<T>& cursorOf(sqlite3_vtab_cursor* base) {
  return *reinterpret_cast<Cursor<T>*>(base);
}

template <typename T>
int connectTo(sqlite3* connection, void* tables, int, const char* const*, sqlite3_vtab** table,
              char**) {
  if (const int rc = sqlite3_declare_vtab(connection, Columns<T>::kText); rc != SQLITE_OK) {
    return rc;
  }
  auto made = std::make_unique<StreamTable>(StreamTable{{}, static_cast<StreamTables*>(tables)});
  *table = &made.release()->base;
  return SQLITE_OK;
}

inline int disconnect(sqlite3_vtab* table) {
  const std::unique_ptr<StreamTable> owner(reinterpret_cast<StreamTable*>(table));
  return SQLITE_OK;
}

/// Which bound a constraint on the key is; 0: none that narrows.
inline int boundOf(unsigned char operation) {
  switch (operation) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      return kKeyIs;
    case SQLITE_INDEX_CONSTRAINT_GE:
    case SQLITE_INDEX_CONSTRAINT_GT:  // one value too many, which SQLite drops
      return kKeyFrom;
    case SQLITE_INDEX_CONSTRAINT_LE:
    case SQLITE_INDEX_CONSTRAINT_LT:
      return kKeyTo;
    default:
      return 0;
  }
}

template <typename T>
int bestIndex(sqlite3_vtab* table, sqlite3_index_info* info) {
  std::array<int, 9> constraint{};
  constraint.fill(-1);
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& each = info->aConstraint[i];
    const bool onRank = each.iColumn == Columns<T>::kRankColumn;
    const int bit = each.usable == 0 ? 0
                    : onRank         ? (each.op == SQLITE_INDEX_CONSTRAINT_EQ ? kRankIs : 0)
                    : each.iColumn == Columns<T>::kKeyColumn ? boundOf(each.op)
                                                             : 0;
    if (bit != 0 && constraint[static_cast<std::size_t>(bit)] < 0) {
      constraint[static_cast<std::size_t>(bit)] = i;
    }
  }
  int arguments = 0;
  for (const int bit : {kRankIs, kKeyIs, kKeyFrom, kKeyTo}) {
    if (const int i = constraint[static_cast<std::size_t>(bit)]; i >= 0) {
      info->idxNum |= bit;
      info->aConstraintUsage[i].argvIndex = ++arguments;
    }
  }
  const StreamTables& all = *reinterpret_cast<StreamTable*>(table)->tables;
  const auto ranks = static_cast<double>(std::max<std::size_t>(1, all.ranks()));
  const bool named = Columns<T>::kKeyColumn == 0;  // its key alone says the rank
  const bool oneRank = (info->idxNum & kRankIs) != 0;
  const bool oneKey = (info->idxNum & kKeyIs) != 0;
  double rows = 1e6;
  rows /= oneRank ? ranks : 1;
  rows = oneKey ? (oneRank || named ? 1 : ranks) : rows;
  rows /= (info->idxNum & (kKeyFrom | kKeyTo)) != 0 ? 4 : 1;
  info->estimatedRows = static_cast<sqlite3_int64>(rows) + 1;
  info->estimatedCost = rows + 100;  // a chunk is decoded for the first one
  return SQLITE_OK;
}

template <typename T>
int open(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
  auto made = std::make_unique<Cursor<T>>();
  made->tables = reinterpret_cast<StreamTable*>(table)->tables;
  *cursor = &made.release()->base;
  return SQLITE_OK;
}

template <typename T>
int close(sqlite3_vtab_cursor* cursor) {
  const std::unique_ptr<Cursor<T>> owner(&cursorOf<T>(cursor));
  return SQLITE_OK;
}

/// Whether an integer of SQLite equals it.
inline bool isWhole(double value) {
  constexpr double kEnd = 9223372036854775808.0;  // 2^63
  return value >= -kEnd && value < kEnd && value == std::floor(value);
}

/// What a query asks for.
struct KeyRange {
  std::int64_t rank = -1;  ///< of one rank; -1: of all
  std::int64_t from = 0;
  std::int64_t to = std::numeric_limits<std::int64_t>::max();
};

/// Narrows it by the values that xBestIndex chose; false: nothing is equal to one of them.
inline bool narrow(KeyRange& range, int bits, sqlite3_value** values) {
  for (const int bit : {kRankIs, kKeyIs, kKeyFrom, kKeyTo}) {
    if ((bits & bit) == 0) {
      continue;
    }
    sqlite3_value* value = *values++;
    int type = sqlite3_value_numeric_type(value);
    const std::int64_t number = sqlite3_value_int64(value);
    if (type == SQLITE_FLOAT && isWhole(sqlite3_value_double(value))) {
      type = SQLITE_INTEGER;
    }
    if (type == SQLITE_NULL || (type != SQLITE_INTEGER && (bit & (kRankIs | kKeyIs)) != 0) ||
        (bit == kRankIs && number < 0)) {
      return false;
    }
    if (bit == kRankIs) {
      range.rank = number;
    }
    if (type == SQLITE_INTEGER && (bit == kKeyIs || bit == kKeyFrom)) {
      range.from = std::max(range.from, number);
    }
    if (type == SQLITE_INTEGER && (bit == kKeyIs || bit == kKeyTo)) {
      range.to = std::min(range.to, number);
    }
  }
  return true;
}

template <typename T>
int filter(sqlite3_vtab_cursor* base, int bits, const char*, int, sqlite3_value** values) {
  Cursor<T>& cursor = cursorOf<T>(base);
  const auto ranks = static_cast<std::int64_t>(cursor.tables->ranks());
  KeyRange range;
  cursor.rank = 0;
  cursor.lastRank = -1;
  if (!narrow(range, bits, values) || range.rank >= ranks) {
    return SQLITE_OK;
  }
  cursor.rank = static_cast<Rank>(std::max<std::int64_t>(range.rank, 0));
  cursor.lastRank = static_cast<Rank>(range.rank < 0 ? ranks - 1 : range.rank);
  cursor.keyFrom = range.from;
  cursor.keyTo = range.to;
  cursor.enter();
  return cursor.settle();
}

template <typename T>
int next(sqlite3_vtab_cursor* base) {
  Cursor<T>& cursor = cursorOf<T>(base);
  ++cursor.at;
  return cursor.settle();
}

template <typename T>
int eof(sqlite3_vtab_cursor* base) {
  return cursorOf<T>(base).done() ? 1 : 0;
}

inline int raceClass(StreamTables& tables, const RaceValue& race, sqlite3_context* result) {
  if (race.raceClass == kNone) {
    return SQLITE_OK;
  }
  const std::string* text = tables.raceClass(race.raceClass);
  if (text == nullptr) {
    return SQLITE_CORRUPT;
  }
  sqlite3_result_text64(result, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return SQLITE_OK;
}

template <typename T>
int column(sqlite3_vtab_cursor* base, sqlite3_context* result, int number) {
  Cursor<T>& cursor = cursorOf<T>(base);
  if constexpr (StreamOf<T>::kStream == Stream::Event) {
    if (number == Columns<T>::kTimeColumn || number == Columns<T>::kDurationColumn) {
      const StoredTime* time = nullptr;
      const int rc = cursor.timed(time);
      if (time != nullptr) {
        sqlite3_result_int64(
            result, static_cast<std::int64_t>(number == Columns<T>::kTimeColumn ? time->begin
                                                                                : time->duration));
      }
      return rc;
    }
  }
  if constexpr (StreamOf<T>::kStream == Stream::Send) {
    if (number == Columns<T>::kIndexColumn) {
      sqlite3_result_int64(result, cursor.at);
      return SQLITE_OK;
    }
    if (number == Columns<T>::kBytesColumn) {
      const StoredEvent* event = nullptr;
      const int rc = cursor.sent(event);
      if (rc == SQLITE_OK) {
        sqlite3_result_int64(result, static_cast<std::int64_t>(event->event.bytes));
      }
      return rc;
    }
  }
  if constexpr (StreamOf<T>::kStream == Stream::Race) {
    if (number == Columns<T>::kClassColumn) {
      return raceClass(*cursor.tables, cursor.value(), result);
    }
  }
  const Cell value = number == Columns<T>::kRankColumn ? cell(cursor.rank)
                     : number == Columns<T>::kKeyColumn
                         ? cell(cursor.base0(cursor.rank) + cursor.at)
                         : Columns<T>::at(cursor.value(), number);
  if (!value.null) {
    sqlite3_result_int64(result, value.value);
  }
  return SQLITE_OK;
}

template <typename T>
int rowid(sqlite3_vtab_cursor* base, sqlite3_int64* id) {
  *id = (std::int64_t{cursorOf<T>(base).rank} << 40U) + cursorOf<T>(base).at;
  return SQLITE_OK;
}

template <typename T>
constexpr sqlite3_module makeModule() {
  sqlite3_module module{};
  module.xConnect = &connectTo<T>;
  module.xBestIndex = &bestIndex<T>;
  module.xDisconnect = &disconnect;
  module.xOpen = &open<T>;
  module.xClose = &close<T>;
  module.xFilter = &filter<T>;
  module.xNext = &next<T>;
  module.xEof = &eof<T>;
  module.xColumn = &column<T>;
  module.xRowid = &rowid<T>;
  return module;
}

}  // namespace pf::db::tables_over
