// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/schema/seal.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "replay_engine/base/crc32c.h"

namespace pf::db {
namespace {

static_assert(std::endian::native == std::endian::little, "seals are little endian");

constexpr std::uint8_t kNull = 0;
constexpr std::uint8_t kInteger = 1;
constexpr std::uint8_t kReal = 2;
constexpr std::uint8_t kText = 3;
constexpr std::uint8_t kBlob = 4;

void append(std::string& out, std::uint8_t type, std::uint64_t value) {
  std::array<char, 9> bytes{};
  bytes[0] = static_cast<char>(type);
  std::memcpy(bytes.data() + 1, &value, 8);
  out.append(bytes.data(), bytes.size());
}

void appendValue(std::string& out, const Statement::Value& value) {
  switch (value.type) {
    case Statement::Type::Null:
      out += static_cast<char>(kNull);
      break;
    case Statement::Type::Integer:
      append(out, kInteger, static_cast<std::uint64_t>(value.integer));
      break;
    case Statement::Type::Real:
      append(out, kReal, std::bit_cast<std::uint64_t>(value.real));
      break;
    case Statement::Type::Text:
    case Statement::Type::Blob:
      append(out, value.type == Statement::Type::Text ? kText : kBlob, value.size);
      out += value.text();
      break;
  }
}

/// Puts all columns of the row that `statement` is on into `row` and, as they are sealed, into
/// `encoded`.
void encodeRow(const Statement& statement, Row& row, std::string& encoded) {
  statement.row(row);
  encoded.clear();
  for (const Statement::Value& value : row) {
    appendValue(encoded, value);
  }
}

std::uint32_t crcOf(std::string_view text, std::uint32_t seed = 0) {
  return crc32c(text.data(), text.size(), seed);
}

constexpr std::size_t kRowsAtOnce = 512;
constexpr std::string_view kSealOfSeals = "seal";
constexpr std::string_view kSelectSeal = "SELECT rows, crc32c FROM seal WHERE table_name = ?";

Result<Seal> sealOfSeals(Database& database, std::size_t most) {
  Result<Statement> prepared = database.prepare(
      "SELECT table_name, rows, crc32c FROM seal WHERE table_name <> 'seal' ORDER BY table_name");
  if (!prepared) {
    return prepared.error();
  }
  Seal seal{0, crcOf(kSealOfSeals)};
  Row row;
  std::string encoded;
  while (true) {
    switch (prepared->step()) {
      case Statement::Step::Failed:
        return prepared->error();
      case Statement::Step::Done:
        return seal;
      case Statement::Step::Row:
        break;
    }
    encodeRow(*prepared, row, encoded);
    seal.crc = crcOf(encoded, seal.crc);
    if (++seal.rows > most) {
      return Error{ErrorCode::Damaged, "'" + database.path() + "' has more seals than tables", {}};
    }
  }
}

Status writeSeal(Database& database, std::string_view name, Seal seal) {
  Result<Statement> prepared = database.prepare("INSERT OR REPLACE INTO seal VALUES(?,?,?)");
  if (!prepared) {
    return prepared.error();
  }
  prepared->bindText(1, name);
  prepared->bindInteger(2, static_cast<std::int64_t>(seal.rows));
  prepared->bindInteger(3, seal.crc);
  return prepared->run();
}

Result<Seal> readSeal(Database& database, std::string_view name) {
  Result<Statement> prepared = database.prepare(kSelectSeal);
  if (!prepared) {
    return prepared.error();
  }
  prepared->bindText(1, name);
  const Statement::Step step = prepared->step();
  if (step == Statement::Step::Failed) {
    return prepared->error();
  }
  if (step == Statement::Step::Done || prepared->integer(0) < 0 ||
      !std::in_range<std::uint32_t>(prepared->integer(1))) {
    return Error{
        ErrorCode::Damaged,
        "the seal of table '" + std::string(name) + "' of '" + database.path() + "' is missing",
        "Run 'photofinish check' on the file to see what is lost."};
  }
  return Seal{static_cast<std::uint64_t>(prepared->integer(0)),
              static_cast<std::uint32_t>(prepared->integer(1))};
}

}  // namespace

// ---- RowWriter

Result<RowWriter> RowWriter::start(Database& database, const Table& table) {
  const Result<RowSource*> feed = database.feed();
  if (!feed) {
    return feed.error();
  }
  Result<Statement> insert = database.prepareFed(table.insert);
  if (!insert) {
    return insert.error();
  }
  RowWriter writer;
  writer.m_insert = std::move(insert).value();
  writer.m_feed = *feed;
  writer.m_feed->clear();
  writer.m_feed->setColumns(
      static_cast<int>(1 + std::count(table.insert.begin(), table.insert.end(), ',')));
  writer.m_seal.crc = crcOf(table.name);
  return writer;
}

void RowWriter::null() {
  m_feed->null();
  m_encoded += static_cast<char>(kNull);
}

void RowWriter::integer(std::int64_t value) {
  m_feed->integer(value);
  append(m_encoded, kInteger, static_cast<std::uint64_t>(value));
}

void RowWriter::text(std::string_view value) {
  m_feed->text(value);
  append(m_encoded, kText, value.size());
  m_encoded += value;
}

void RowWriter::blob(std::string_view value) {
  m_feed->blob(value);
  append(m_encoded, kBlob, value.size());
  m_encoded += value;
}

Status RowWriter::end() {
  m_seal.crc = crcOf(m_encoded, m_seal.crc);
  ++m_seal.rows;
  m_encoded.clear();
  return m_feed->rows() >= kRowsAtOnce ? finish() : Status();
}

Status RowWriter::finish() {
  Status status = m_insert.run();
  m_feed->clear();
  return status;
}

// ---- RowReader

std::int64_t RowReader::integer() {
  require(m_row[m_column].type == Statement::Type::Integer);
  return m_row[m_column++].integer;
}

std::string_view RowReader::text() {
  const Statement::Value& value = m_row[m_column++];
  const bool isText = value.type == Statement::Type::Text;
  require(isText);
  return isText ? value.text() : std::string_view();
}

std::string_view RowReader::blob() {
  const Statement::Value& value = m_row[m_column++];
  const bool isBlob = value.type == Statement::Type::Blob;
  require(isBlob);
  return isBlob ? value.text() : std::string_view();
}

// ---- SealedScan

Result<SealedScan> SealedScan::start(Database& database, const Table& table,
                                     std::optional<Seal> expected) {
  if (!expected) {
    const Result<Seal> stored = storedSeal(database, table);
    if (!stored) {
      return stored.error();
    }
    expected = *stored;
  }
  const Result<std::int64_t> size = database.fileSize();
  if (!size) {
    return size.error();
  }
  database.setDeadline(readBudget(*size));
  Result<Statement> select = database.prepare(table.select);
  if (!select) {
    return select.error();
  }
  SealedScan scan;
  scan.m_database = &database;
  scan.m_select = std::move(select).value();
  scan.m_name = table.name;
  scan.m_path = database.path();
  scan.m_seal.crc = crcOf(table.name);
  scan.m_expected = expected;
  scan.m_bytesAllowed = static_cast<std::uint64_t>(*size);
  return scan;
}

Error SealedScan::damaged(const char* how) const {
  return Error{ErrorCode::Damaged, "table '" + m_name + "' of '" + m_path + "' is damaged: " + how,
               kSeeCheck};
}

Result<bool> SealedScan::advance() {
  switch (m_select.step()) {
    case Statement::Step::Failed:
      return m_select.error();
    case Statement::Step::Done:
      return false;
    case Statement::Step::Row:
      break;
  }
  encodeRow(m_select, m_row, m_encoded);
  m_seal.crc = crcOf(m_encoded, m_seal.crc);
  ++m_seal.rows;
  return true;
}

Result<bool> SealedScan::next() {
  Result<bool> more = advance();
  if (!more) {
    return more;
  }
  if (!*more) {
    m_database->setDeadline({});
    return m_seal == *m_expected ? more : damaged("its rows do not match their checksum");
  }
  // A row takes at least a byte of the file, and so does every byte of text.
  const std::size_t numbers = m_row.size() * 9;
  const std::uint64_t content = 1 + m_encoded.size() - std::min(m_encoded.size(), numbers);
  if (m_seal.rows > m_expected->rows || content > m_bytesAllowed) {
    return damaged("it has more rows than it should");
  }
  m_bytesAllowed -= content;
  return more;
}

// ---- Free functions

Result<Seal> computeSeal(Database& database, const Table& table) {
  Result<SealedScan> scan = SealedScan::start(database, table, Seal{});
  if (!scan) {
    return scan.error();
  }
  database.setDeadline({});  // these are our own rows
  while (true) {
    const Result<bool> more = scan->advance();
    if (!more) {
      return more.error();
    }
    if (!*more) {
      return scan->seal();
    }
  }
}

Result<Seal> storedSeal(Database& database, const Table& table) {
  return readSeal(database, table.name);
}

Status storeSeal(Database& database, const Table& table, Seal seal) {
  return writeSeal(database, table.name, seal);
}

Status finishSeals(Database& database) {
  const Result<Seal> seal = sealOfSeals(database, tables().size());
  if (!seal) {
    return seal.error();
  }
  return writeSeal(database, kSealOfSeals, *seal);
}

Status checkSeals(Database& database, std::size_t tableCount) {
  const Result<Seal> stored = readSeal(database, kSealOfSeals);
  if (!stored) {
    return stored.error();
  }
  const Result<Seal> actual = sealOfSeals(database, tableCount);
  if (!actual) {
    return actual.error();
  }
  if (*stored != *actual || stored->rows + 1 != tableCount) {
    return Error{ErrorCode::Damaged,
                 "the seals of '" + database.path() + "' do not match their checksum", kSeeCheck};
  }
  return {};
}

std::chrono::milliseconds readBudget(std::int64_t bytes) {
  return std::chrono::seconds(5) + std::chrono::milliseconds(bytes / 1024);
}

}  // namespace pf::db
