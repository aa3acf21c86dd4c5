// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/schema/schema.h"

#include <algorithm>
#include <array>

#include "db/schema/schema_text.h"
#include "db/sqlite/database.h"
#include "db/sqlite/row_source.h"

namespace pf::db {
namespace {

struct Entry {
  TableId id;
  TableKind kind;
  const char* name;
  const char* create;
  const char* columns;  // as sealed; the same number as the table has
  const char* order;
};

constexpr std::array kEntries{
    Entry{TableId::Module, TableKind::Recording, "module", kCreateModule, "path,build_id", "path"},
    Entry{TableId::LogChunk, TableKind::Recording, "log_chunk", kCreateLogChunk,
          "rank,ordinal,crc32c,length(data)", "rank,ordinal"},
    Entry{TableId::Communicator, TableKind::Execution, "communicator", kCreateCommunicator,
          "id,key,name,members,remote", "id"},
    Entry{TableId::CallSite, TableKind::Execution, "call_site", kCreateCallSite,
          "id,module,offset,function,file,line", "id"},
    Entry{TableId::Call, TableKind::Execution, "call", kCreateCall, "id,name", "id"},
    Entry{TableId::EventKind, TableKind::Execution, "event_kind", kCreateEventKind, "id,name",
          "id"},
    Entry{TableId::SurveyChunk, TableKind::Execution, "survey_chunk", kCreateSurveyChunk,
          "rank,ordinal,crc32c,length(data)", "rank,ordinal"},
    Entry{TableId::Seal, TableKind::Seal, "seal", kCreateSeal, "table_name,rows,crc32c",
          "table_name"},
    Entry{TableId::Breakpoint, TableKind::Session, "breakpoint", kCreateBreakpoint,
          "id,kind,file,line,function,line_text,condition,ignore_count,enabled,ranks,"
          "expression,temporary,commands,log,stops",
          "id"},
    Entry{TableId::Watch, TableKind::Session, "watch", kCreateWatch, "id,expression", "id"},
    Entry{TableId::Cycle, TableKind::Session, "cycle", kCreateCycle,
          "id,started_utc,finished_utc,build_id,reason,jitter_seed,matched_recording,exit_status",
          "id"},
    Entry{TableId::CycleStop, TableKind::Session, "cycle_stop", kCreateCycleStop,
          "id,cycle,rank,serial,reason,file,line", "id"},
    Entry{TableId::BreakpointHit, TableKind::Session, "breakpoint_hit", kCreateBreakpointHit,
          "id,cycle,breakpoint,rank,serial,hits,watched", "id"},
    Entry{TableId::ColumnDirectory, TableKind::Execution, "column_directory",
          kCreateColumnDirectory, "id,data", "id"},
    Entry{TableId::RaceClass, TableKind::Execution, "race_class", kCreateRaceClass, "id,text",
          "id"},
    Entry{TableId::ColumnChunk, TableKind::Execution, "column_chunk", kCreateColumnChunk,
          "rank,stream,ordinal,crc32c,length(data)", "id"},
    Entry{TableId::SummaryChunk, TableKind::Execution, "summary_chunk", kCreateSummaryChunk,
          "kind,part,ordinal,crc32c,length(data)", "id"},
    Entry{TableId::Run, TableKind::Recording, "run", kCreateRun,
          "id,uuid,created_utc,finished_utc,command,working_directory,launcher,program,ranks,mode,"
          "mpi_library,host,photofinish_version,exit_status,complete,salt,input,messages,"
          "wildcard_receives,racing_receives,same_addresses,longest_wait_ms,redacted",
          "id"},
    Entry{TableId::Rank, TableKind::Recording, "rank", kCreateRank,
          "rank,pid,host,executable,build_id,thread_level,exit_status,exit_signal,state,"
          "last_serial,complete,cut_reason,log_bytes,log_chunks,probes_answered,tsc_reads,"
          "wildcard_receives,races_found_by,races_found,sources_kept,tags_kept",
          "rank"},
    Entry{TableId::LaunchFact, TableKind::Recording, "launch_fact", kCreateLaunchFact,
          "id,rank,relation,kind,name,value", "id"},
    Entry{TableId::SeenInput, TableKind::Recording, "seen_input", kCreateSeenInput,
          "id,rank,kind,name,size,stamp", "id"},
    Entry{TableId::NotGuaranteed, TableKind::Recording, "not_guaranteed", kCreateNotGuaranteed,
          "id,rank,what", "id"},
    Entry{TableId::Note, TableKind::Session, "note", kCreateNote,
          "id,rank,serial,text,created_utc,failing", "id"},
    Entry{TableId::RankGroup, TableKind::Session, "rank_group", kCreateRankGroup, "id,name,ranks",
          "id"},
    Entry{TableId::RankArrangement, TableKind::Session, "rank_arrangement", kCreateRankArrangement,
          "id,hidden,row_order,shared_rows", "id"},
    Entry{TableId::BenignRace, TableKind::Session, "benign_race", kCreateBenignRace,
          "id,class,reason,created_utc", "id"},
    Entry{TableId::GroupRecording, TableKind::Recording, "group_recording", kCreateGroupRecording,
          "id,spec", "id"},
    Entry{TableId::Payload, TableKind::Recording, "payload", kCreatePayload,
          "rank,salt,entries,bytes,packed_bytes,chunks,ending,detail", "rank"},
    Entry{TableId::PayloadChunk, TableKind::Recording, "payload_chunk", kCreatePayloadChunk,
          "rank,ordinal,crc32c,length(data)", "rank,ordinal"},
    Entry{TableId::PartOfJob, TableKind::Session, "part_of_job", kCreatePartOfJob, "id,ranks",
          "id"},
    Entry{TableId::JudgedRace, TableKind::Session, "judged_race", kCreateJudgedRace,
          "id,class,verdict,reason,created_utc", "id"},
    Entry{TableId::Branch, TableKind::Session, "branch", kCreateBranch,
          "id,parent_uuid,parent_file,made_by", "id"},
    Entry{TableId::BranchFlip, TableKind::Session, "branch_flip", kCreateBranchFlip,
          "id,rank,serial,send_rank,send_serial,text", "id"},
    Entry{TableId::Printed, TableKind::Recording, "printed", kCreatePrinted,
          "id,stream,beginning,left_out,ending", "id"},
};

std::string insertText(const char* name, std::string_view columns) {
  std::string text = std::string("INSERT OR FAIL INTO ") + name + " SELECT c0";
  const auto count = std::count(columns.begin(), columns.end(), ',') + 1;
  for (int column = 1; column < count; ++column) {
    text += ",c" + std::to_string(column);
  }
  return text + " FROM " + std::string(kFeedName);
}

}  // namespace

Table makeTable(TableId id, TableKind kind, const char* name, const char* create,
                const char* columns, const char* order) {
  const std::string of = name;
  return {id,
          kind,
          of,
          create,
          std::string("SELECT ") + columns + " FROM " + of + " ORDER BY " + order,
          insertText(name, columns),
          "DELETE FROM " + of,
          "DELETE FROM " + of + " WHERE id = ?"};
}

const std::vector<Table>& tables() {
  static const std::vector<Table> kTables = [] {
    std::vector<Table> all;
    all.reserve(std::size(kEntries));
    for (const Entry& entry : kEntries) {
      all.push_back(
          makeTable(entry.id, entry.kind, entry.name, entry.create, entry.columns, entry.order));
    }
    return all;
  }();
  return kTables;
}

Status createSchema(Database& database) {
  for (const Table& each : tables()) {
    if (Status status = database.execute(each.create); !status) {
      return status;
    }
  }
  return database.execute("PRAGMA application_id=" + std::to_string(kApplicationId) +
                          "; PRAGMA user_version=" + std::to_string(kFormatVersion));
}

Status checkSchema(Database& database, const std::vector<Table>& expected) {
  const Error changed{
      ErrorCode::Damaged,
      "'" + database.path() +
          "' does not have the tables of a Photofinish trace as they are written",
      "The file is damaged or was changed by another program; 'photofinish check' says what "
      "is left of it."};
  Result<Statement> prepared =
      database.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid");
  if (!prepared) {
    return prepared.error();
  }
  Statement& rows = *prepared;
  for (const Table& each : expected) {
    const Statement::Step step = rows.step();
    if (step == Statement::Step::Failed) {
      return rows.error();
    }
    if (step == Statement::Step::Done || rows.text(0) != "table" || rows.text(1) != each.name ||
        rows.text(2) != each.name || rows.text(3) != each.create) {
      return changed;
    }
  }
  switch (rows.step()) {
    case Statement::Step::Done:
      return {};
    case Statement::Step::Failed:
      return rows.error();
    case Statement::Step::Row:
      break;
  }
  return changed;
}

}  // namespace pf::db
