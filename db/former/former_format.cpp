// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/former/former_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "db/former/former_schema_text.h"
#include "db/schema/rows.h"
#include "db/schema/seal.h"
#include "replay_engine/base/percent_text.h"

namespace pf::db {
namespace {

constexpr std::uint32_t kFormat11 = 11;
/// The first of the tables that a format lacks, from format 12 on.
constexpr std::array kFirstNew{TableId::GroupRecording, TableId::PartOfJob, TableId::JudgedRace,
                               TableId::Branch, TableId::Printed};
static_assert(kFormat11 + kFirstNew.size() + 1 == kFormatVersion);

/// Of a former format; of format 11 besides those that are others.
TableId firstNew(std::uint32_t version) {
  return kFirstNew[std::max(version, kFormat11 + 1) - kFormat11 - 1];
}

/// A table that is another one now; its id is of no use.
Table formerTable(const char* name, const char* create, const char* columns, const char* order) {
  return makeTable(TableId::Note, TableKind::Recording, name, create, columns, order);
}

enum Former : std::size_t { kRun, kRank, kCounter, kNote };

const std::array<Table, 4>& changedTables() {
  static const std::array<Table, 4> kTables{
      formerTable("run", kCreateRun11,
                  "id,uuid,created_utc,finished_utc,command,working_directory,launcher,program,"
                  "ranks,mode,mpi_library,host,photofinish_version,exit_status,complete,salt,input,"
                  "messages,wildcard_receives,racing_receives",
                  "id"),
      formerTable("rank", kCreateRank11,
                  "rank,pid,host,executable,build_id,thread_level,exit_status,exit_signal,state,"
                  "last_serial,complete,cut_reason,log_bytes,log_chunks",
                  "rank"),
      formerTable("rank_counter", kCreateRankCounter11, "rank,name,value", "rank,name"),
      formerTable("note", kCreateNote11, "id,rank,serial,text,created_utc,kind", "id"),
  };
  return kTables;
}

std::vector<Table> tablesOf11() {
  const std::array<Table, 4>& changed = changedTables();
  std::vector<Table> all{changed[kRun], changed[kRank], changed[kCounter]};
  for (const Table& each : tables()) {
    if (each.id == TableId::Run) {
      break;  // from here on they are new
    }
    if (each.id == TableId::ColumnDirectory) {
      all.push_back(changed[kNote]);
    }
    all.push_back(each);
  }
  return all;
}

/// Of formats 12 to 16.
std::vector<Table> tablesBefore(std::uint32_t version) {
  const auto end = tables().begin() + static_cast<std::ptrdiff_t>(firstNew(version));
  return {tables().begin(), end};
}

/// Seals tables from `first` on. `isWhole(id)`: what it was made of did verify; else it does not, either.
template <typename IsWhole>
Status sealFrom(Database& database, TableId first, IsWhole&& isWhole) {
  for (auto i = static_cast<std::size_t>(first); i < tables().size(); ++i) {
    const Table& each = tables()[i];
    Result<Seal> seal = computeSeal(database, each);
    if (!seal) {
      return seal.error();
    }
    seal->crc ^= isWhole(each.id) ? 0U : ~0U;
    if (Status status = storeSeal(database, each, *seal); !status) {
      return status;
    }
  }
  return database.execute("PRAGMA user_version=" + std::to_string(kFormatVersion));
}

/// Of a trace of formats 12 to 16.
Status addNewTables(Database& database, std::uint32_t version) {
  const TableId first = firstNew(version);
  std::string sql;
  for (auto id = static_cast<std::size_t>(first); id < tables().size(); ++id) {
    sql += tables()[id].create + ";";
  }
  const Status status = database.execute(sql);
  return status.ok() ? sealFrom(database, first, [](TableId) { return true; }) : status;
}

/// Which of changedTables() verify.
using Whole = std::array<bool, 4>;

Result<Whole> wholeTables(Database& database) {
  Whole whole{};
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const Status status = forEachRow(database, changedTables()[i], [](const Row&) { return true; });
    database.setDeadline({});
    if (!status && status.error().code != ErrorCode::Damaged) {
      return status.error();
    }
    whole[i] = status.ok();
  }
  return whole;
}

/// The same by a connection of its own: one that has seen a damaged page changes no table any more.
Result<Whole> wholeTablesOf(const std::string& path) {
  Result<Database> database = Database::open(path, Database::Access::Read);
  if (!database) {
    return database.error();
  }
  Result<Transaction> transaction = Transaction::begin(*database, Transaction::Kind::Read);
  return transaction ? wholeTables(*database) : Result<Whole>(transaction.error());
}

/// Tables from Run on, made from what the former ones say.
class Rewriting {
 public:
  Rewriting(Database& database, const Whole& whole) : m_database(database), m_whole(whole) {}
  Status run();

 private:
  Status makeTables();
  Status moveRunAndRanks();
  Status moveFacts();
  Status moveNotes();
  Status moveArrangement();
  Status sealTables();
  void readCounter(Rank rank, std::string_view name);
  [[nodiscard]] bool isWhole(TableId id) const;

  Database& m_database;
  const Whole& m_whole;
  std::vector<LaunchFact> m_launch;
  std::vector<SeenInput> m_inputs;
  std::vector<NotGuaranteed> m_notGuaranteed;
};

Status Rewriting::makeTables() {
  std::string sql;
  for (const Table& each : changedTables()) {
    sql += "ALTER TABLE " + each.name + " RENAME TO former_" + each.name + ";";
  }
  for (auto id = static_cast<std::size_t>(TableId::Run); id < tables().size(); ++id) {
    sql += tables()[id].create + ";";
  }
  return m_database.execute(sql);
}

Status Rewriting::moveRunAndRanks() {
  const auto counter = [this](const std::string& rank, const std::string& test,
                              const std::string& column = "value") {
    return !m_whole[kCounter]  // nothing of it is believed
               ? std::string("NULL")
               : "(SELECT " + column + " FROM former_rank_counter WHERE rank = " + rank + " AND " +
                     test + ")";
  };
  const auto named = [&counter](const char* name) {
    return counter("r.rank", std::string("name = '") + name + "'");
  };
  const auto flag = [&counter](const char* name) {
    return "ifnull(" + counter("0", std::string("name = '") + name + "'") + ", 0) <> 0";
  };
  const std::string found = "substr(name, 1, 27) = 'racing deliveries found by '";
  const std::string run = "INSERT INTO run SELECT *, " + flag("same addresses") + ", " +
                          counter("0", "name = 'longest wait, ms' AND value >= 0") + ", " +
                          flag("redacted") + " FROM former_run;";
  const std::string ranks = "INSERT INTO rank SELECT *, " + named("probes answered") + ", " +
                            named("rdtsc") + ", " + named("wildcard receives") + ", ifnull(" +
                            counter("r.rank", found, "substr(name, 28)") + ", ''), " +
                            counter("r.rank", found) + ", " + named("wildcard sources kept") +
                            ", " + named("deliveries kept as tags") + " FROM former_rank AS r";
  return m_database.execute((m_whole[kRun] ? run : "") + (m_whole[kRank] ? ranks : ""));
}

/// "KIND NAME VALUE" as protocol::factText() writes it.
std::optional<std::array<std::string, 3>> wordsOf(std::string_view text) {
  std::array<std::string, 3> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t end = i + 1 < words.size() ? text.find(' ') : text.size();
    std::optional<std::string> word =
        end == std::string_view::npos ? std::nullopt : percentDecoded(text.substr(0, end));
    if (!word) {
      return std::nullopt;
    }
    words[i] = std::move(*word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// "SIZE/STAMP"
bool numbersOf(std::string_view text, SeenInput& input) {
  const std::size_t slash = text.find('/');
  const auto read = [](std::string_view digits, std::int64_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  return slash != std::string_view::npos && read(text.substr(0, slash), input.size) &&
         read(text.substr(slash + 1), input.stamp);
}

void Rewriting::readCounter(Rank rank, std::string_view name) {
  const auto behind = [&name](std::string_view prefix) {
    return name.starts_with(prefix) ? std::optional(name.substr(prefix.size())) : std::nullopt;
  };
  for (const auto& [prefix, relation] : {std::pair{"started with: ", LaunchFact::kAll},
                                         {"started also with: ", LaunchFact::kAlso},
                                         {"started without: ", LaunchFact::kLacks}}) {
    if (const auto text = behind(prefix)) {
      if (auto words = wordsOf(*text)) {
        auto& [kind, called, value] = *words;
        m_launch.push_back({rank, relation, std::move(kind), std::move(called), std::move(value)});
      }
      return;
    }
  }
  if (const auto text = behind("not guaranteed: ")) {
    m_notGuaranteed.push_back({rank, std::string(*text)});
  } else if (const auto seen = behind("input: ")) {
    SeenInput input;
    auto words = wordsOf(*seen);
    if (words && numbersOf((*words)[2], input)) {
      input.rank = rank;
      input.kind = std::move((*words)[0]);
      input.name = std::move((*words)[1]);
      m_inputs.push_back(std::move(input));
    }
  }
}

Status Rewriting::moveFacts() {
  for (const Status& status :
       {writeNumberedRows(m_database, TableId::LaunchFact, m_launch),
        writeNumberedRows(m_database, TableId::SeenInput, m_inputs),
        writeNumberedRows(m_database, TableId::NotGuaranteed, m_notGuaranteed)}) {
    if (!status) {
      return status;
    }
  }
  return {};
}

/// Groups and benign races had two fields, in lines of the text.
Status Rewriting::moveNotes() {
  const std::string first = "substr(text, 1, instr(text || char(10), char(10)) - 1)";
  const std::string second = "substr(text, instr(text || char(10), char(10)) + 1)";
  if (!m_whole[kNote]) {
    return {};
  }
  return m_database.execute(
      "INSERT INTO note SELECT id, rank, serial, text, created_utc, kind = 'receive-mark' OR text "
      "= 'failing receive' FROM former_note WHERE kind NOT IN ('group', 'ranks shown', "
      "'benign-race');"
      "INSERT INTO rank_group SELECT id, " +
      second + ", " + first +
      " FROM former_note WHERE kind = 'group';"
      "INSERT INTO benign_race SELECT id, " +
      first + ", " + second + ", created_utc FROM former_note WHERE kind = 'benign-race'");
}

/// The last one, which counts, was JSON. Each of its rows is found by a look at all of it.
Status Rewriting::moveArrangement() {
  constexpr std::int64_t kMostRows = 4096;
  if (!m_whole[kNote]) {
    return {};
  }
  Result<Statement> found = m_database.prepare(
      "SELECT id, ifnull(json_extract(text, '$.hidden'), ''), ifnull(json_extract(text, "
      "'$.order'), 'number') FROM former_note WHERE kind = 'ranks shown' AND "
      "length(CAST(text AS BLOB)) < 65536 AND json_valid(text) ORDER BY id DESC LIMIT 1");
  Result<Statement> lane = m_database.prepare(
      "SELECT json_extract(text, '$.lanes[' || ?2 || '].name'), json_extract(text, '$.lanes[' || "
      "?2 || '].ranks') FROM former_note WHERE id = ?1");
  if (!found || !lane) {
    return found ? lane.error() : found.error();
  }
  const Statement::Step step = found->step();
  if (step != Statement::Step::Row) {
    return step == Statement::Step::Failed ? Status(found->error()) : Status();
  }
  RankArrangement all{
      found->integer(0), std::string(found->text(1)), std::string(found->text(2)), {}};
  *found = Statement();
  for (std::int64_t number = 0; number < kMostRows; ++number) {
    lane->reset();
    lane->bindInteger(1, all.id);
    lane->bindInteger(2, number);
    if (lane->step() == Statement::Step::Failed) {
      return lane->error();
    }
    if (lane->type(0) != Statement::Type::Text || lane->type(1) != Statement::Type::Text) {
      break;
    }
    all.sharedRows.emplace_back(lane->text(0));
    all.sharedRows.emplace_back(lane->text(1));
  }
  *lane = Statement();
  Result<RowWriter> writer = RowWriter::start(m_database, table(TableId::RankArrangement));
  if (!writer) {
    return writer.error();
  }
  writer->integer(all.id);
  columns(*writer, all);
  const Status status = writer->end();
  return status.ok() ? writer->finish() : status;
}

/// Whether what it was made of did verify.
bool Rewriting::isWhole(TableId id) const {
  const bool facts =
      id == TableId::LaunchFact || id == TableId::SeenInput || id == TableId::NotGuaranteed;
  return id >= firstNew(kFormat11) || (id == TableId::Run    ? m_whole[kRun]
                                       : id == TableId::Rank ? m_whole[kRank]
                                       : facts               ? m_whole[kCounter]
                                                             : m_whole[kNote]);
}

Status Rewriting::sealTables() {
  std::string sql;
  for (std::size_t i = 0; i < m_whole.size(); ++i) {
    const std::string& name = changedTables()[i].name;
    // One that does not verify cannot even be dropped, perhaps, and stays aside.
    sql += m_whole[i] ? "DROP TABLE former_" + name + ";" : std::string();
    sql += "DELETE FROM seal WHERE table_name = '" + name + "';";
  }
  if (Status status = m_database.execute(sql); !status) {
    return status;
  }
  return sealFrom(m_database, TableId::Run, [this](TableId id) { return isWhole(id); });
}

Status Rewriting::run() {
  Status status;
  if (m_whole[kCounter]) {
    status = forEachRow(m_database, changedTables()[kCounter], [this](const Row& row) {
      RowReader cells(row);
      Rank rank = kUnknownRank;
      cells(rank);
      readCounter(rank, cells.text());
      return cells.ok();
    });
    m_database.setDeadline({});
  }
  for (Status (Rewriting::*step)() :
       {&Rewriting::makeTables, &Rewriting::moveRunAndRanks, &Rewriting::moveFacts,
        &Rewriting::moveNotes, &Rewriting::moveArrangement, &Rewriting::sealTables}) {
    status = status.ok() ? (this->*step)() : status;
  }
  const bool odd = !status && status.error().code == ErrorCode::Internal;
  return odd ? Error{ErrorCode::Damaged,
                     "'" + m_database.path() + "' has rows that make no sense (" +
                         status.error().message + ")",
                     "The file was not written by Photofinish as it is; run 'photofinish check' "
                     "on it."}
             : status;
}

}  // namespace

bool isFormerVersion(std::uint32_t version) {
  return version >= kFormat11 && version < kFormatVersion;
}

std::string whoReads(std::uint32_t version) {
  if (version > kFormatVersion) {
    return "Open it with the newer Photofinish that recorded it.";
  }
  constexpr std::uint32_t kOldestOf02 = 4;
  return version >= kOldestOf02 ? "Photofinish 0.2 (commit 927d35f) opens it, and brings it to "
                                  "format 11, which this one "
                                  "reads."
                                : "Record the program again with this Photofinish.";
}

const std::vector<Table>& formerTables(std::uint32_t version) {
  static const std::vector<std::vector<Table>> kFormer = [] {
    std::vector<std::vector<Table>> all{tablesOf11()};
    for (std::uint32_t each = kFormat11 + 1; each < kFormatVersion; ++each) {
      all.push_back(tablesBefore(each));
    }
    return all;
  }();
  return isFormerVersion(version) ? kFormer[version - kFormat11] : tables();
}

Status readFormerRanks(Database& database, std::uint32_t version, std::vector<RankInfo>& ranks) {
  if (version != kFormat11) {
    return readRows<RankInfo>(database, TableId::Rank, false,
                              [&ranks](std::int64_t, RankInfo&& rank) {
                                ranks.push_back(std::move(rank));
                                return true;
                              });
  }
  return forEachRow(database, changedTables()[kRank], [&ranks](const Row& row) {
    constexpr int kBeforeLog = 11;  // columns between the number and the size of the log
    RowReader cells(row);
    RankInfo rank;
    cells(rank.rank);
    for (int i = 0; i < kBeforeLog; ++i) {
      cells.skip();
    }
    cells(rank.logBytes);
    cells(rank.logChunks);
    ranks.push_back(std::move(rank));
    return cells.ok();
  });
}

namespace {

Result<std::uint32_t> versionIn(Database& database) {
  Result<Statement> found = database.prepare("PRAGMA user_version");
  if (!found || found->step() != Statement::Step::Row) {
    return found ? found->error() : found.error();
  }
  return static_cast<std::uint32_t>(found->integer(0));
}

/// By a connection of its own, as wholeTablesOf().
Result<std::uint32_t> versionInFile(const std::string& path) {
  Result<Database> database = Database::open(path, Database::Access::Read);
  return database ? versionIn(*database) : Result<std::uint32_t>(database.error());
}

Status checkFormer(Database& database, std::uint32_t version) {
  Status status = checkSeals(database, formerTables(version).size());
  for (const Table& each : changedTables()) {
    if (version == kFormat11 && status.ok()) {
      status = forEachRow(database, each, [](const Row&) { return true; });
    }
    database.setDeadline({});
  }
  return status;
}

}  // namespace

Status bringUpToDate(const std::string& path, FormerSeals seals) {
  Whole whole{true, true, true, true};
  if (seals == FormerSeals::Mended) {
    const Result<std::uint32_t> version = versionInFile(path);
    const Result<Whole> known = version && *version != kFormat11 ? whole : wholeTablesOf(path);
    if (!known) {
      return known.error();
    }
    whole = *known;
  }
  Result<Database> database = Database::open(path, Database::Access::Update);
  if (!database) {
    return Error{ErrorCode::Version,
                 "'" + path + "' has a former trace format and cannot be brought to format " +
                     std::to_string(kFormatVersion) + ": " + database.error().message,
                 "Copy it to where it can be written, and open the copy."};
  }
  Result<Transaction> transaction = Transaction::begin(*database, Transaction::Kind::Write);
  if (!transaction) {
    return transaction.error();
  }
  const Result<std::uint32_t> version = versionIn(*database);
  if (!version) {
    return version.error();
  }
  if (!isFormerVersion(*version)) {
    return {};  // another process was quicker
  }
  Status status = checkSchema(*database, formerTables(*version));
  if (status.ok() && seals == FormerSeals::Checked) {
    status = checkFormer(*database, *version);
  }
  if (status.ok()) {
    status = *version == kFormat11 ? Rewriting(*database, whole).run()
                                   : addNewTables(*database, *version);
  }
  status = status.ok() ? finishSeals(*database) : status;
  return status.ok() ? transaction->commit() : status;
}

}  // namespace pf::db
