// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <map>

#include "db/columns/execution_rows.h"
#include "db/columns/log_chunks.h"
#include "db/columns/race_columns.h"
#include "db/payload/payload_store.h"
#include "db/schema/rows.h"
#include "db/store/open_trace.h"
#include "db/store/session_tables.h"
#include "db/store/trace_store.h"
#include "db/store/trace_writer.h"
#include "db/store/verify.h"

namespace pf::db {
namespace {

constexpr Rank kMostSilentRanks = 64;  // where the number of ranks is lost

/// Copies from a damaged file piece by piece and keeps the books.
class Salvage {
 public:
  Salvage(Database& from, TraceWriter& to) : m_from(from), m_to(to) {}

  Status copyRecording();
  Status copyPayloads();
  void copyExecution();
  Status finishRecording();
  Status copySession(const std::string& to);
  [[nodiscard]] SalvageReport report() && { return std::move(m_report); }
  [[nodiscard]] bool anything() const { return !m_report.kept.empty(); }

 private:
  bool note(TableId id, const Status& status);
  template <typename V>
  bool read(TableId id, bool hasId, std::vector<V>& values);
  Status copyLog(LogChunkReader& reader, RankInfo& rank, std::optional<std::uint64_t> expected);
  template <typename V>
  Status copySessionTable(Database& to, TableId id);

  Database& m_from;
  TraceWriter& m_to;
  SalvageReport m_report;
  std::vector<RunInfo> m_run;
  std::optional<std::string> m_groups;
  std::vector<RankInfo> m_ranks;
  std::vector<LaunchFact> m_launch;
  std::vector<SeenInput> m_inputs;
  std::vector<Printed> m_printed;
  std::vector<NotGuaranteed> m_notGuaranteed;
  std::vector<ModuleInfo> m_modules;
};

bool Salvage::note(TableId id, const Status& status) {
  const std::string where = "table " + table(id).name;
  if (status.ok()) {
    m_report.kept.push_back(where);
  } else {
    m_report.lost.push_back({status.error().message, where, lostWith(id)});
  }
  return status.ok();
}

template <typename V>
bool Salvage::read(TableId id, bool hasId, std::vector<V>& values) {
  const Status status = readRows<V>(m_from, id, hasId, [&](std::int64_t, V&& value) {
    values.push_back(std::move(value));
    return true;
  });
  if (!status) {
    values.clear();
  }
  return note(id, status);
}

/// A log is of use only up to its first hole.
Status Salvage::copyLog(LogChunkReader& reader, RankInfo& rank,
                        std::optional<std::uint64_t> expected) {
  const std::string where = "log of rank " + std::to_string(rank.rank);
  std::uint64_t ordinal = 0;
  for (; !expected || ordinal < *expected; ++ordinal) {
    const Result<Bytes> data = reader.read(rank.rank, ordinal);
    if (!data) {
      if (expected || data.error().code != ErrorCode::NotFound) {
        rank.complete = false;
        rank.cutReason =
            "the trace was damaged; its log is saved up to chunk " + std::to_string(ordinal);
        m_report.lost.push_back(
            {data.error().message, where + ", from chunk " + std::to_string(ordinal),
             "replays of rank " + std::to_string(rank.rank) + " beyond this piece"});
      }
      break;
    }
    if (Status status = m_to.addLogChunk(rank.rank, ordinal, *data); !status) {
      return status;
    }
  }
  if (ordinal > 0) {
    m_report.kept.push_back(where + ", " + std::to_string(ordinal) + " chunks");
  }
  return {};
}

Status Salvage::copyRecording() {
  read(TableId::Run, true, m_run);
  if (Result<std::optional<std::string>> groups = readGroups(m_from);
      note(TableId::GroupRecording, groups ? Status() : Status(groups.error()))) {
    m_groups = std::move(*groups);
  }
  const bool ranksKnown = read(TableId::Rank, false, m_ranks);
  read(TableId::LaunchFact, true, m_launch);
  read(TableId::SeenInput, true, m_inputs);
  read(TableId::Printed, true, m_printed);
  read(TableId::NotGuaranteed, true, m_notGuaranteed);
  read(TableId::Module, false, m_modules);
  Result<LogChunkReader> reader = LogChunkReader::start(m_from);
  if (!reader) {
    return reader.error();
  }
  if (ranksKnown) {
    for (RankInfo& rank : m_ranks) {
      if (Status status = copyLog(*reader, rank, rank.logChunks); !status) {
        return status;
      }
    }
    return {};
  }
  const Rank known = m_run.empty() ? 0 : m_run.front().ranks;
  for (Rank number = 0, silent = 0; number < known || (known == 0 && silent < kMostSilentRanks);
       ++number) {
    RankInfo rank;
    rank.rank = number;
    rank.cutReason = "the trace was damaged; what became of this rank is lost";
    const std::size_t before = m_report.kept.size();
    if (Status status = copyLog(*reader, rank, std::nullopt); !status) {
      return status;
    }
    const bool found = m_report.kept.size() > before;
    silent = found ? 0 : silent + 1;
    if (found || number < known) {
      m_ranks.push_back(rank);
    }
  }
  return {};
}

/// Contents are of use up to their first hole, too.
Status Salvage::copyPayloads() {
  const Result<std::vector<PayloadInfo>> payloads = readPayloads(m_from);
  if (!note(TableId::Payload, payloads ? Status() : Status(payloads.error()))) {
    return {};
  }
  for (const PayloadInfo& known : *payloads) {
    const Status whole = checkPayload(m_from, known);
    const Result<PayloadInfo> saved = m_to.addPayload(m_from, known);
    if (!saved) {
      return saved.error();
    }
    const std::string number = std::to_string(known.rank);
    const std::string where = "contents for rank " + number;
    if (!whole) {
      m_report.lost.push_back({whole.error().message, where,
                               "replays of the group of rank " + number + " alone, beyond this"});
    }
    m_report.kept.push_back(where + ", " + std::to_string(saved->entries) + " entries");
  }
  return {};
}

void Salvage::copyExecution() {
  LogicalTimes times;
  const Result<Execution> execution = readExecutionRows(m_from, &times);
  RaceClasses classes;
  Result<std::vector<std::string>> texts =
      execution ? readRaceClasses(m_from, &classes.exact)
                : Result<std::vector<std::string>>(execution.error());
  std::vector<Race> races;
  const Status read =
      texts ? forEachRaceColumn(
                  m_from, execution->ranks.size(), texts->size(),
                  [&](const RaceRecord& race) {
                    races.push_back({race.rank,
                                     race.probe,
                                     race.index,
                                     race.taken,
                                     {race.alternatives.begin(), race.alternatives.end()}});
                    classes.of.push_back(race.raceClass);
                  })
            : Status(texts.error());
  if (!read) {
    m_report.lost.push_back({read.error().message, "execution", lostWith(TableId::ColumnChunk)});
    return;
  }
  classes.texts = std::move(*texts);
  if (m_to.writeExecution(*execution, races, times, classes).ok()) {
    m_report.kept.emplace_back("execution (events, messages, races)");
  }
}

Status Salvage::finishRecording() {
  RunInfo run = m_run.empty() ? RunInfo() : m_run.front();
  if (m_run.empty()) {
    run.ranks = m_ranks.empty() ? 0 : m_ranks.back().rank + 1;
  }
  run.groups = m_groups;
  run.complete = run.complete && !m_ranks.empty() &&
                 std::all_of(m_ranks.begin(), m_ranks.end(),
                             [](const RankInfo& rank) { return rank.complete; });
  m_to.setRun(run);
  for (const RankInfo& rank : m_ranks) {
    m_to.addRank(rank);
  }
  for (LaunchFact& fact : m_launch) {
    m_to.addLaunchFact(std::move(fact));
  }
  for (SeenInput& input : m_inputs) {
    m_to.addSeenInput(std::move(input));
  }
  for (Printed& printed : m_printed) {
    m_to.addPrinted(std::move(printed));
  }
  for (NotGuaranteed& use : m_notGuaranteed) {
    m_to.addNotGuaranteed(std::move(use));
  }
  for (const ModuleInfo& module : m_modules) {
    if (Status status = m_to.addModule(module); !status) {
      return status;
    }
  }
  return m_to.finish();
}

template <typename V>
Status Salvage::copySessionTable(Database& to, TableId id) {
  std::vector<V> values;
  const Status status = readRows<V>(m_from, id, true, [&](std::int64_t key, V&& value) {
    value.id = key;
    values.push_back(std::move(value));
    return true;
  });
  if (!note(id, status) || values.empty()) {
    return {};
  }
  return SessionTables(to).addAll(values);
}

Status Salvage::copySession(const std::string& to) {
  Result<Database> made = openTrace(to, Database::Access::Update, Origin::Own);
  if (!made) {
    return made.error();
  }
  for (const Status& status : {copySessionTable<Breakpoint>(*made, TableId::Breakpoint),
                               copySessionTable<Watch>(*made, TableId::Watch),
                               copySessionTable<Cycle>(*made, TableId::Cycle),
                               copySessionTable<CycleStop>(*made, TableId::CycleStop),
                               copySessionTable<BreakpointHit>(*made, TableId::BreakpointHit),
                               copySessionTable<Note>(*made, TableId::Note),
                               copySessionTable<RankGroup>(*made, TableId::RankGroup),
                               copySessionTable<RankArrangement>(*made, TableId::RankArrangement),
                               copySessionTable<BenignRace>(*made, TableId::BenignRace),
                               copySessionTable<PartOfJob>(*made, TableId::PartOfJob),
                               copySessionTable<JudgedRace>(*made, TableId::JudgedRace),
                               copySessionTable<Branch>(*made, TableId::Branch),
                               copySessionTable<BranchFlip>(*made, TableId::BranchFlip)}) {
    if (!status) {
      return status;
    }
  }
  return {};
}

}  // namespace

Result<SalvageReport> salvageTrace(const std::string& from, const std::string& to) {
  const Result<std::string> source = locateTrace(from);
  if (!source) {
    return source.error();
  }
  const Result<std::string> existing = locateTrace(to);
  if (existing.ok() || existing.error().code != ErrorCode::NotFound) {
    return Error{ErrorCode::Usage, "'" + to + "' is there already",
                 "Give a new name for what can be saved."};
  }
  const std::size_t slash = to.rfind('/');
  Result<RepairedCopy> copy = RepairedCopy::make(
      *source, slash == std::string::npos ? "." : to.substr(0, std::max<std::size_t>(slash, 1)));
  if (!copy) {
    return copy.error();
  }
  Result<TraceWriter> writer = TraceWriter::create(to);
  if (!writer) {
    return writer.error();
  }
  Salvage salvage(copy->database(), *writer);
  if (Status status = salvage.copyRecording(); !status) {
    return status.error();
  }
  if (Status status = salvage.copyPayloads(); !status) {
    return status.error();
  }
  salvage.copyExecution();
  if (!salvage.anything()) {
    return Error{ErrorCode::Damaged, "nothing in '" + from + "' can be saved", {}};
  }
  if (Status status = salvage.finishRecording(); !status) {
    return status.error();
  }
  if (Status status = salvage.copySession(to); !status) {
    return status.error();
  }
  SalvageReport report = std::move(salvage).report();
  for (Finding& lost : report.lost) {
    lost.what = copy->ofOriginal(std::move(lost.what));
  }
  return report;
}

}  // namespace pf::db
