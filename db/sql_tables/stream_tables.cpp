// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/sql_tables/stream_tables.h"

#include <utility>

#include "db/columns/execution_rows.h"
#include "db/sql_tables/alternative_table.h"
#include "db/sql_tables/stream_cursor.h"

namespace pf::db {
namespace {

template <typename T>
bool attachOne(sqlite3* connection, StreamTables* tables) {
  static constexpr sqlite3_module kModule = tables_over::makeModule<T>();
  return sqlite3_create_module_v2(connection, streamName(StreamOf<T>::kStream), &kModule, tables,
                                  nullptr) == SQLITE_OK;
}

}  // namespace

StreamTables::StreamTables(ColumnReader reader, std::size_t ranks)
    : m_reader(std::move(reader)),
      m_ranks(ranks),
      m_owners(messageOwners(m_reader, ranks)),
      m_firstMessage(ranks + 1),
      m_firstRace(ranks + 1) {
  for (std::size_t i = 0; i < ranks; ++i) {
    const auto rank = static_cast<Rank>(i);
    m_firstMessage[i + 1] =
        m_firstMessage[i] + static_cast<std::int64_t>(m_reader.count(rank, Stream::Send));
    m_firstRace[i + 1] =
        m_firstRace[i] + static_cast<std::int64_t>(m_reader.count(rank, Stream::Race));
  }
}

const std::string* StreamTables::raceClass(std::uint32_t id) {
  if (!m_classes) {
    m_problem = m_classes.error();
    return nullptr;
  }
  if (id >= m_classes->size()) {
    m_problem = Error{ErrorCode::Damaged, "a race has a class that is not there", {}};
    return nullptr;
  }
  return &(*m_classes)[id];
}

Result<std::unique_ptr<StreamTables>> StreamTables::open(Database& database, std::size_t ranks) {
  Result<ColumnReader> reader = ColumnReader::start(database, ranks);
  if (!reader) {
    return reader.error();
  }
  std::unique_ptr<StreamTables> made(new StreamTables(std::move(reader).value(), ranks));
  made->m_classes = readRaceClasses(database);  // who asks for no class need not know of damage
  return made;
}

bool StreamTables::attach(sqlite3* connection) {
  return attachOne<StoredEvent>(connection, this) && attachOne<StoredReceive>(connection, this) &&
         attachOne<ProbeHit>(connection, this) && attachOne<StoredSend>(connection, this) &&
         attachOne<CollectivePart>(connection, this) && attachOne<RaceValue>(connection, this) &&
         attachAlternatives(connection, *this);
}

}  // namespace pf::db
