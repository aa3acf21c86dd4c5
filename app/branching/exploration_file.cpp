// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/exploration_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pf::app {
namespace {

constexpr const char* kSchema = R"(
CREATE TABLE exploration(
  id INTEGER PRIMARY KEY,            -- always 1
  format INTEGER NOT NULL,           -- of this file
  trace TEXT NOT NULL,               -- of the first run
  program TEXT NOT NULL,
  build_id TEXT NOT NULL,
  check_command TEXT NOT NULL,       -- empty = none
  ranks INTEGER NOT NULL,
  matchings_only INTEGER NOT NULL    -- 1 = what calls of Waitany's kind give is not varied
);
CREATE TABLE run(
  id INTEGER PRIMARY KEY,
  parent INTEGER NOT NULL,           -- run.id; 0 = it is the first
  flips INTEGER NOT NULL,            -- from the first run to this one
  outcome TEXT NOT NULL,             -- ok, exit N, signal N, deadlock, hang, time limit, wrong
  sentence TEXT NOT NULL,            -- the same for people
  printed TEXT NOT NULL,             -- digest of the lines that it printed
  waits TEXT NOT NULL,               -- of a deadlock: who waited in which call for whom
  flip_rank INTEGER NOT NULL,        -- the receive (event) that took another message than in its parent
  flip_event INTEGER NOT NULL,
  flip_sender INTEGER NOT NULL,      -- and who sent that, in which event
  flip_send INTEGER NOT NULL,
  flip_text TEXT NOT NULL,
  steps BLOB NOT NULL,               -- its choices in an order in which they may have been made
  logs BLOB,                         -- of its ranks; NULL = no branch of it is left
  unvaried INTEGER NOT NULL          -- calls of Waitany's kind not all of whose outcomes are branches
);
CREATE TABLE matchings(
  run INTEGER PRIMARY KEY,           -- run.id
  matching TEXT NOT NULL,            -- what each receive took: docs/other-orders.md
  outcome TEXT NOT NULL,
  given TEXT NOT NULL                -- what each call of Waitany's kind gave
);
CREATE TABLE branch(
  key BLOB NOT NULL,                 -- of the choices that it makes
  run INTEGER NOT NULL,              -- run.id that showed it
  step INTEGER NOT NULL,             -- of its steps, the one that takes another message
  sender INTEGER NOT NULL,
  send INTEGER NOT NULL,             -- the how-manieth of the sender's messages
  flips INTEGER NOT NULL,
  weight INTEGER NOT NULL,           -- of its race in that run: 0 = the last before it failed, 1 = before it failed, 2 = other
  state INTEGER NOT NULL,            -- 0 = left, 1 = made, 2 = could not be
  why TEXT NOT NULL,                 -- it could not be
  PRIMARY KEY(key)
) WITHOUT ROWID;
CREATE INDEX open_branch ON branch(state, weight, flips, run DESC, step DESC);
CREATE TABLE kept(
  outcome TEXT NOT NULL,
  printed TEXT NOT NULL,
  waits TEXT NOT NULL,
  trace TEXT NOT NULL,
  PRIMARY KEY(outcome, printed, waits)
) WITHOUT ROWID;
)";
constexpr std::int64_t kFormat = 4;

Error damaged(const std::string& path) {
  return {ErrorCode::Damaged, path + " is no exploration, or is damaged",
          "Give another name with -o, or move it away."};
}

template <typename T>
void put(std::vector<unsigned char>& to, T value) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

struct PackedStep {
  std::int32_t rank;
  std::uint32_t index;
  std::int32_t sender;
  std::uint32_t send;
  std::uint32_t flags;  ///< 1: probe, 2: open, 4: call of Waitany's kind
};

std::vector<unsigned char> packed(const std::vector<RunStep>& steps) {
  std::vector<unsigned char> bytes;
  for (const RunStep& step : steps) {
    put(bytes, PackedStep{step.choice.rank, step.choice.index, step.took.sender, step.took.send,
                          (step.choice.by == ChosenBy::Probe ? 1U : 0U) | (step.open ? 2U : 0U) |
                              (step.choice.by == ChosenBy::Completion ? 4U : 0U)});
  }
  return bytes;
}

Result<std::vector<RunStep>> stepsIn(db::Bytes bytes, const std::string& path) {
  if (bytes.size() % sizeof(PackedStep) != 0) {
    return damaged(path);
  }
  std::vector<RunStep> steps;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(PackedStep)) {
    PackedStep step{};
    std::memcpy(&step, bytes.data() + at, sizeof step);
    const ChosenBy by = (step.flags & 4U) != 0   ? ChosenBy::Completion
                        : (step.flags & 1U) != 0 ? ChosenBy::Probe
                                                 : ChosenBy::Receive;
    steps.push_back(
        {{step.rank, by, step.index}, {step.sender, step.send}, (step.flags & 2U) != 0});
  }
  return steps;
}

db::Bytes bytesOf(const BranchKey& key) {
  return {reinterpret_cast<const std::uint8_t*>(key.data()), sizeof key};
}

}  // namespace

Result<ExplorationFile> ExplorationFile::open(const std::string& path, const Explored& explored,
                                              bool force) {
  ExplorationFile file;
  file.m_lock.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.m_lock.valid()) {
    return systemError("cannot make " + path, errno);
  }
  if (flock(file.m_lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return Error{ErrorCode::Usage, path + " is being explored by another process",
                 "Wait until it has ended, or give another name with -o."};
  }
  const bool fresh = lseek(file.m_lock.get(), 0, SEEK_END) == 0;
  Result<db::Database> database = db::Database::open(path, db::Database::Access::Update);
  if (!database) {
    return database.error();
  }
  file.m_database = std::make_unique<db::Database>(std::move(*database));
  // A journal that is cut short, also by a power cut, is undone: runs of it are made again.
  if (Status set = file.m_database->execute(
          "PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-16000;");
      !set) {
    return fresh ? set.error() : damaged(path);
  }
  const Status ready = fresh ? file.make(explored) : file.compare(explored, force);
  return ready ? Result<ExplorationFile>(std::move(file)) : Result<ExplorationFile>(ready.error());
}

Status ExplorationFile::make(const Explored& explored) {
  Result<db::Transaction> transaction =
      db::Transaction::begin(*m_database, db::Transaction::Kind::Write);
  if (!transaction) {
    return transaction.error();
  }
  if (Status made = m_database->execute(kSchema); !made) {
    return made;
  }
  Result<db::Statement> insert =
      m_database->prepare("INSERT INTO exploration VALUES(1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)");
  if (!insert) {
    return insert.error();
  }
  insert->bindInteger(1, kFormat);
  insert->bindText(2, explored.trace);
  insert->bindText(3, explored.program);
  insert->bindText(4, explored.buildId);
  insert->bindText(5, explored.check);
  insert->bindInteger(6, explored.ranks);
  insert->bindInteger(7, explored.matchingsOnly ? 1 : 0);
  if (Status run = insert->run(); !run) {
    return run;
  }
  return transaction->commit();
}

Status ExplorationFile::compare(const Explored& explored, bool force) {
  Result<db::Statement> format = m_database->prepare("SELECT format FROM exploration");
  if (!format || format->step() != db::Statement::Step::Row) {
    return damaged(m_database->path());
  }
  if (format->integer(0) != kFormat) {
    return Error{ErrorCode::Version, m_database->path() + " is of another version of Photofinish",
                 "Give another name with -o."};
  }
  Result<db::Statement> select = m_database->prepare(
      "SELECT format, trace, program, build_id, check_command, ranks, matchings_only FROM "
      "exploration");
  if (!select || select->step() != db::Statement::Step::Row) {
    return damaged(m_database->path());
  }
  const bool same = select->text(1) == explored.trace && select->text(2) == explored.program &&
                    select->text(4) == explored.check && select->integer(5) == explored.ranks &&
                    (select->integer(6) != 0) == explored.matchingsOnly;
  if (!same) {
    return Error{
        ErrorCode::Usage,
        m_database->path() + " explores something else (program, trace, check or --matchings-only)",
        "Give another name with -o, or the same words as before."};
  }
  if (select->text(3) != explored.buildId && !force) {
    return Error{ErrorCode::Usage,
                 "the program has changed since " + m_database->path() + " was begun",
                 "Explore it anew under another name (-o), or go on all the same with --force."};
  }
  return {};
}

namespace {

/// The statements of file().
struct Filing {
  Result<db::Statement> run;
  Result<db::Statement> matching;
  Result<db::Statement> branch;
  Result<db::Statement> made;

  explicit Filing(db::Database& database)
      : run(database.prepare(
            "INSERT INTO run(parent, flips, outcome, sentence, printed, flip_rank, flip_event, "
            "flip_sender, flip_send, flip_text, steps, logs, unvaried, waits) "
            "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)")),
        matching(database.prepare("INSERT INTO matchings VALUES(?1, ?2, ?3, ?4)")),
        branch(database.prepare(
            "INSERT OR IGNORE INTO branch VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, '')")),
        made(database.prepare("UPDATE branch SET state = 1 WHERE key = ?1")) {}

  [[nodiscard]] Status ready() const {
    for (const Result<db::Statement>* each : {&run, &matching, &branch, &made}) {
      if (!*each) {
        return each->error();
      }
    }
    return {};
  }
};

/// `hasBranches`: its logs are needed again.
Status fileRun(db::Statement& insert, const FiledRun& run, bool hasBranches) {
  const std::vector<unsigned char> steps = packed(run.steps);
  const TakenInstead flip = run.flip.value_or(TakenInstead{});
  insert.bindInteger(1, run.parent);
  insert.bindInteger(2, run.flips);
  insert.bindText(3, run.outcome.name);
  insert.bindText(4, run.outcome.sentence);
  insert.bindText(5, run.outcome.printed);
  insert.bindInteger(6, flip.receive.rank);
  insert.bindInteger(7, static_cast<std::int64_t>(flip.receive.serial));
  insert.bindInteger(8, flip.send.rank);
  insert.bindInteger(9, static_cast<std::int64_t>(flip.send.serial));
  insert.bindText(10, flip.text);
  insert.bindBlob(11, steps);
  hasBranches ? insert.bindBlob(12, run.logs) : insert.bindNull(12);
  insert.bindInteger(13, static_cast<std::int64_t>(run.unvaried));
  insert.bindText(14, run.outcome.waits);
  return insert.run();
}

Status fileBranch(db::Statement& insert, std::int64_t run, const OpenBranch& open) {
  insert.bindBlob(1, bytesOf(open.branch.key));
  insert.bindInteger(2, run);
  insert.bindInteger(3, open.branch.step);
  insert.bindInteger(4, open.branch.takes.sender);
  insert.bindInteger(5, open.branch.takes.send);
  insert.bindInteger(6, open.flips);
  insert.bindInteger(7, static_cast<std::int64_t>(open.weight));
  return insert.run();
}

}  // namespace

Result<std::int64_t> ExplorationFile::file(const FiledRun& run,
                                           const std::vector<OpenBranch>& branches,
                                           const std::optional<BranchKey>& made) {
  Result<db::Transaction> transaction =
      db::Transaction::begin(*m_database, db::Transaction::Kind::Write);
  Filing filing(*m_database);
  if (Status ready = transaction ? filing.ready() : Status(transaction.error()); !ready) {
    return ready.error();
  }
  if (Status filed = fileRun(*filing.run, run, !branches.empty()); !filed) {
    return filed.error();
  }
  const std::int64_t number = m_database->lastInsertId();
  filing.matching->bindInteger(1, number);
  filing.matching->bindText(2, run.matching);
  filing.matching->bindText(3, run.outcome.name);
  filing.matching->bindText(4, run.given);
  if (Status filed = filing.matching->run(); !filed) {
    return filed.error();
  }
  for (const OpenBranch& each : branches) {
    if (Status filed = fileBranch(*filing.branch, number, each); !filed) {
      return filed.error();
    }
  }
  if (made) {
    filing.made->bindBlob(1, bytesOf(*made));
    if (Status filed = filing.made->run(); !filed) {
      return filed.error();
    }
  }
  if (Status committed = transaction->commit(); !committed) {
    return committed.error();
  }
  return number;
}

Status ExplorationFile::giveUp(const BranchKey& branch, const std::string& why) {
  Result<db::Statement> update =
      m_database->prepare("UPDATE branch SET state = 2, why = ?2 WHERE key = ?1");
  if (!update) {
    return update.error();
  }
  update->bindBlob(1, bytesOf(branch));
  update->bindText(2, why);
  return update->run();
}

Result<std::optional<OpenBranch>> ExplorationFile::next(std::uint32_t mostFlips,
                                                        const std::vector<BranchKey>& taken,
                                                        bool farthestFirst) {
  Result<db::Statement> select = m_database->prepare(
      farthestFirst
          ? "SELECT key, run, step, sender, send, branch.flips FROM branch JOIN run ON run.id = "
            "branch.run WHERE state = 0 AND branch.flips <= ?1 ORDER BY length(run.steps) DESC, "
            "weight, branch.flips, run DESC, step DESC LIMIT ?2"
          : "SELECT key, run, step, sender, send, flips FROM branch WHERE state = 0 AND flips <= "
            "?1 ORDER BY weight, flips, run DESC, step DESC LIMIT ?2");
  if (!select) {
    return select.error();
  }
  select->bindInteger(1, mostFlips);
  select->bindInteger(2, static_cast<std::int64_t>(taken.size()) + 1);
  db::Statement::Step step = db::Statement::Step::Done;
  while ((step = select->step()) == db::Statement::Step::Row) {
    OpenBranch open;
    const db::Bytes key = select->blob(0);
    if (key.size() != sizeof open.branch.key) {
      return damaged(m_database->path());
    }
    std::memcpy(open.branch.key.data(), key.data(), key.size());
    if (std::ranges::find(taken, open.branch.key) != taken.end()) {
      continue;
    }
    open.run = select->integer(1);
    open.branch.step = static_cast<std::uint32_t>(select->integer(2));
    open.branch.takes = {static_cast<Rank>(select->integer(3)),
                         static_cast<std::uint32_t>(select->integer(4))};
    open.flips = static_cast<std::uint32_t>(select->integer(5));
    return std::optional(open);
  }
  return step == db::Statement::Step::Failed ? Result<std::optional<OpenBranch>>(select->error())
                                             : std::optional<OpenBranch>();
}

Result<FiledRun> ExplorationFile::run(std::int64_t number) {
  Result<db::Statement> select = m_database->prepare(
      "SELECT parent, flips, outcome, sentence, printed, steps, logs, waits FROM run WHERE id = "
      "?1");
  if (!select) {
    return select.error();
  }
  select->bindInteger(1, number);
  if (select->step() != db::Statement::Step::Row) {
    return damaged(m_database->path());
  }
  FiledRun run;
  run.number = number;
  run.parent = select->integer(0);
  run.flips = static_cast<std::uint32_t>(select->integer(1));
  run.outcome = {std::string(select->text(2)), std::string(select->text(3)),
                 std::string(select->text(4)), std::string(select->text(7))};
  Result<std::vector<RunStep>> steps = stepsIn(select->blob(5), m_database->path());
  if (!steps) {
    return steps.error();
  }
  run.steps = std::move(*steps);
  const db::Bytes logs = select->blob(6);
  run.logs.assign(logs.begin(), logs.end());
  return run;
}

Result<std::vector<TakenInstead>> ExplorationFile::flipsTo(std::int64_t number) {
  Result<db::Statement> select = m_database->prepare(
      "SELECT parent, flip_rank, flip_event, flip_sender, flip_send, flip_text FROM run "
      "WHERE id = ?1");
  if (!select) {
    return select.error();
  }
  std::vector<TakenInstead> flips;
  for (std::int64_t at = number; at != 0;) {
    select->bindInteger(1, at);
    if (select->step() != db::Statement::Step::Row || select->integer(0) >= at) {
      return damaged(m_database->path());
    }
    const std::int64_t parent = select->integer(0);
    if (parent != 0) {
      flips.push_back(
          {{static_cast<Rank>(select->integer(1)), static_cast<Serial>(select->integer(2))},
           {static_cast<Rank>(select->integer(3)), static_cast<Serial>(select->integer(4))},
           std::string(select->text(5))});
    }
    select->reset();
    at = parent;
  }
  std::ranges::reverse(flips);
  return flips;
}

Result<ExplorationFile::Counts> ExplorationFile::counts(std::uint32_t mostFlips) {
  Counts counts;
  Result<db::Statement> runs =
      m_database->prepare("SELECT flips, count(*), sum(unvaried > 0) FROM run GROUP BY flips");
  Result<db::Statement> branches = m_database->prepare(
      "SELECT state, flips, count(*) FROM branch WHERE state IN (0, 2) GROUP BY state, flips");
  if (!runs || !branches) {
    return runs ? branches.error() : runs.error();
  }
  const auto add = [](std::vector<std::uint64_t>& by, std::int64_t at, std::int64_t n) {
    constexpr std::size_t kMost = 1U << 20U;
    const auto place = std::min(static_cast<std::size_t>(std::max<std::int64_t>(at, 0)), kMost);
    by.resize(std::max(by.size(), place + 1));
    by[place] += static_cast<std::uint64_t>(n);
  };
  while (runs->step() == db::Statement::Step::Row) {
    counts.runs += static_cast<std::uint64_t>(runs->integer(1));
    counts.unvaried += static_cast<std::uint64_t>(runs->integer(2));
    add(counts.runsByFlips, runs->integer(0), runs->integer(1));
  }
  while (branches->step() == db::Statement::Step::Row) {
    const auto n = static_cast<std::uint64_t>(branches->integer(2));
    if (branches->integer(0) == 2) {
      counts.givenUp += n;
      continue;
    }
    counts.open += n;
    counts.beyond += branches->integer(1) > static_cast<std::int64_t>(mostFlips) ? n : 0;
    add(counts.openByFlips, branches->integer(1), branches->integer(2));
  }
  return counts;
}

Result<std::vector<OutcomeClass>> ExplorationFile::outcomes() {
  // Of a class, SQLite takes the other columns from the row of the minimum.
  Result<db::Statement> select = m_database->prepare(
      "SELECT run.outcome, run.printed, run.sentence, count(*), min(run.flips), run.id, "
      "coalesce(kept.trace, ''), run.waits FROM run LEFT JOIN kept "
      "USING(outcome, printed, waits) GROUP BY run.outcome, run.printed, run.waits "
      "ORDER BY run.outcome = 'ok', min(run.flips), run.id");
  if (!select) {
    return select.error();
  }
  std::vector<OutcomeClass> classes;
  while (select->step() == db::Statement::Step::Row) {
    classes.push_back({{std::string(select->text(0)), std::string(select->text(2)),
                        std::string(select->text(1)), std::string(select->text(7))},
                       static_cast<std::uint64_t>(select->integer(3)),
                       static_cast<std::uint32_t>(select->integer(4)),
                       select->integer(5),
                       std::string(select->text(6))});
  }
  return classes;
}

Result<std::vector<std::string>> ExplorationFile::reasonsGivenUp() {
  Result<db::Statement> select = m_database->prepare(
      "SELECT why, count(*) FROM branch WHERE state = 2 GROUP BY why ORDER BY 2 DESC LIMIT 5");
  if (!select) {
    return select.error();
  }
  std::vector<std::string> reasons;
  while (select->step() == db::Statement::Step::Row) {
    reasons.push_back(std::to_string(select->integer(1)) + " × " + std::string(select->text(0)));
  }
  return reasons;
}

Result<bool> ExplorationFile::isKept(const Outcome& outcome) {
  Result<db::Statement> select =
      m_database->prepare("SELECT 1 FROM kept WHERE outcome = ?1 AND printed = ?2 AND waits = ?3");
  if (!select) {
    return select.error();
  }
  select->bindText(1, outcome.name);
  select->bindText(2, outcome.printed);
  select->bindText(3, outcome.waits);
  const db::Statement::Step step = select->step();
  return step == db::Statement::Step::Failed ? Result<bool>(select->error())
                                             : step == db::Statement::Step::Row;
}

Result<std::size_t> ExplorationFile::keptTraces() {
  Result<db::Statement> select = m_database->prepare("SELECT count(*) FROM kept");
  if (!select || select->step() != db::Statement::Step::Row) {
    return select ? select->error() : select.error();
  }
  return static_cast<std::size_t>(select->integer(0));
}

Status ExplorationFile::keep(const Outcome& outcome, const std::string& trace) {
  Result<db::Statement> insert =
      m_database->prepare("INSERT OR REPLACE INTO kept VALUES(?1, ?2, ?3, ?4)");
  if (!insert) {
    return insert.error();
  }
  insert->bindText(1, outcome.name);
  insert->bindText(2, outcome.printed);
  insert->bindText(3, outcome.waits);
  insert->bindText(4, trace);
  return insert->run();
}

Status ExplorationFile::dropLogs() {
  return m_database->execute(
      "UPDATE run SET logs = NULL WHERE logs IS NOT NULL AND NOT EXISTS "
      "(SELECT 1 FROM branch WHERE branch.run = run.id AND branch.state = 0)");
}

}  // namespace pf::app
