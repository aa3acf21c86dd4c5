// SPDX-License-Identifier: GPL-3.0-or-later
// The text of every table as it stands in the file: `sqlite3 NAME.pft .schema` shows these
// comments. Any change here is a new format: raise kFormatVersion (docs/trace-format.md,
// "Versions").
#pragma once

namespace pf::db {

inline constexpr const char* kCreateRun = R"(CREATE TABLE run(
  -- One row: the recorded run as a whole. Times are UTC, ISO 8601.
  id INTEGER PRIMARY KEY,            -- always 1
  uuid TEXT NOT NULL,                -- of this recording
  created_utc TEXT NOT NULL,
  finished_utc TEXT NOT NULL,
  command TEXT NOT NULL,             -- JSON array: launcher, options, program, arguments as typed
  working_directory TEXT NOT NULL,
  launcher TEXT NOT NULL,            -- path of mpirun, srun ...
  program TEXT NOT NULL,             -- path of the program
  ranks INTEGER NOT NULL,            -- size of MPI_COMM_WORLD
  mode TEXT NOT NULL,                -- outcomes, races or all
  mpi_library TEXT NOT NULL,
  host TEXT NOT NULL,                -- where the launcher ran
  photofinish_version TEXT NOT NULL,
  exit_status INTEGER,               -- of the launcher; NULL = not known
  complete INTEGER NOT NULL,         -- 1 = every rank reached MPI_Finalize
  salt INTEGER NOT NULL,             -- seeds the checksums inside log_chunk.data
  input BLOB,                        -- standard input of the launcher; NULL = not recorded
  messages INTEGER,                  -- totals; NULL = not counted yet
  wildcard_receives INTEGER,
  racing_receives INTEGER,
  same_addresses INTEGER NOT NULL,   -- 1 = its memory lies where it does in each replay
  longest_wait_ms INTEGER,           -- for which every rank was in a call, and then went on; NULL = not known
  redacted INTEGER NOT NULL          -- 1 = made of another trace by 'photofinish redact'
))";

inline constexpr const char* kCreateRank = R"(CREATE TABLE rank(
  -- One row for each process of MPI_COMM_WORLD.
  rank INTEGER PRIMARY KEY,
  pid INTEGER NOT NULL,
  host TEXT NOT NULL,
  executable TEXT NOT NULL,
  build_id TEXT NOT NULL,
  thread_level INTEGER NOT NULL,     -- MPI_THREAD_* provided
  exit_status INTEGER,               -- NULL = not known, or ended by a signal
  exit_signal INTEGER,               -- NULL = not ended by a signal
  state TEXT NOT NULL,               -- what it was doing at the end, in words
  last_serial INTEGER NOT NULL,      -- its last event
  complete INTEGER NOT NULL,         -- 1 = recorded up to MPI_Finalize
  cut_reason TEXT NOT NULL,          -- why the record is cut short; empty = it is not
  log_bytes INTEGER NOT NULL,        -- of its log, not compressed
  log_chunks INTEGER NOT NULL,       -- number of its log_chunk rows
  probes_answered INTEGER,           -- probes that saw a message; NULL = not counted
  tsc_reads INTEGER,                 -- of the time stamp counter; NULL = not recorded
  wildcard_receives INTEGER,         -- counted while it ran (mode races); NULL = not
  races_found_by TEXT NOT NULL,      -- algorithm that looked for races while it ran; empty = none
  races_found INTEGER,               -- deliveries that raced, by it
  sources_kept INTEGER,              -- deliveries that are in the trace by their source
  tags_kept INTEGER                  -- and by a tag
))";

inline constexpr const char* kCreateLaunchFact = R"(CREATE TABLE launch_fact(
  -- What the programs of the ranks were started with.
  id INTEGER PRIMARY KEY,
  rank INTEGER NOT NULL,
  relation TEXT NOT NULL,            -- all: every rank has it (said with the first); also, lacks: this one, against the first
  kind TEXT NOT NULL,                -- argument, environ, variable, digest, limit, library, program, version
  name TEXT NOT NULL,
  value TEXT NOT NULL
))";

inline constexpr const char* kCreateSeenInput = R"(CREATE TABLE seen_input(
  -- What the ranks looked at besides messages, each thing once.
  id INTEGER PRIMARY KEY,
  rank INTEGER NOT NULL,             -- that looked first
  kind TEXT NOT NULL,                -- file, absent, exists, listing, link, variable
  name TEXT NOT NULL,
  size INTEGER NOT NULL,             -- bytes; of a listing its names
  stamp INTEGER NOT NULL             -- last change, ns since 1970; of listing and link a checksum
))";

inline constexpr const char* kCreateNotGuaranteed = R"(CREATE TABLE not_guaranteed(
  -- What a rank used whose outcome is not recorded: a replay may differ there.
  id INTEGER PRIMARY KEY,
  rank INTEGER NOT NULL,
  what TEXT NOT NULL                 -- and where
))";

inline constexpr const char* kCreateModule = R"(CREATE TABLE module(
  -- Executables and libraries that call sites are in.
  path TEXT NOT NULL,
  build_id TEXT NOT NULL,            -- empty = it has none
  PRIMARY KEY(path)
) WITHOUT ROWID)";

inline constexpr const char* kCreateLogChunk = R"(CREATE TABLE log_chunk(
  -- The raw log of each rank in pieces of at most 1 MiB: the record that replays are made from.
  rank INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,          -- from 0
  crc32c INTEGER NOT NULL,           -- of rank and ordinal (8 bytes each, little endian), then data
  data BLOB NOT NULL,                -- a Zstandard frame
  PRIMARY KEY(rank, ordinal)
) WITHOUT ROWID)";

inline constexpr const char* kCreateCommunicator = R"(CREATE TABLE communicator(
  id INTEGER PRIMARY KEY,            -- what column comm of other tables says
  key INTEGER NOT NULL,              -- equal on every rank; 0 = MPI_COMM_WORLD
  name TEXT NOT NULL,
  members TEXT NOT NULL,             -- JSON array of world ranks, in the order of the group
  remote TEXT NOT NULL               -- the same of the remote group; [] unless inter-communicator
))";

inline constexpr const char* kCreateCallSite = R"(CREATE TABLE call_site(
  -- The place in the program that made a call.
  id INTEGER PRIMARY KEY,
  module TEXT NOT NULL,              -- module.path
  offset INTEGER NOT NULL,           -- of the return address in the module's file
  function TEXT NOT NULL,
  file TEXT NOT NULL,                -- empty = no debug information
  line INTEGER NOT NULL
))";

inline constexpr const char* kCreateCall = R"(CREATE TABLE call(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL                 -- MPI_Recv ...
))";

inline constexpr const char* kCreateEventKind = R"(CREATE TABLE event_kind(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL                 -- send, receive, completion ...
))";

inline constexpr const char* kCreateSurveyChunk = R"(CREATE TABLE survey_chunk(
  -- The raw log that each rank wrote in the survey; none if the recording's own log has events.
  rank INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,          -- from 0
  crc32c INTEGER NOT NULL,           -- as in log_chunk
  data BLOB NOT NULL,                -- as in log_chunk
  PRIMARY KEY(rank, ordinal)
) WITHOUT ROWID)";

inline constexpr const char* kCreateSeal = R"(CREATE TABLE seal(
  -- Checksum over all rows of each table: SQLite itself does not notice a flipped bit.
  table_name TEXT NOT NULL,
  rows INTEGER NOT NULL,
  crc32c INTEGER NOT NULL,           -- docs/trace-format.md, "Seals"
  PRIMARY KEY(table_name)
) WITHOUT ROWID)";

inline constexpr const char* kCreateBreakpoint = R"(CREATE TABLE breakpoint(
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  file TEXT NOT NULL,
  line INTEGER NOT NULL,
  function TEXT NOT NULL,
  line_text TEXT NOT NULL,           -- the source line when it was set
  condition TEXT NOT NULL,
  ignore_count INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  ranks TEXT NOT NULL,               -- JSON array; [] = every rank
  expression TEXT NOT NULL,          -- what kind has no column of its own for
  temporary INTEGER NOT NULL,
  commands TEXT NOT NULL,            -- JSON array: GDB commands to run at a stop
  log TEXT NOT NULL,                 -- of a logpoint: what it writes; empty = it stops
  stops TEXT NOT NULL                -- who stops: rank, all, or ranks as in "0, 2-4"
))";

inline constexpr const char* kCreateWatch = R"(CREATE TABLE watch(
  id INTEGER PRIMARY KEY,
  expression TEXT NOT NULL
))";

inline constexpr const char* kCreateCycle = R"(CREATE TABLE cycle(
  -- One re-execution of the run.
  id INTEGER PRIMARY KEY,
  started_utc TEXT NOT NULL,
  finished_utc TEXT NOT NULL,        -- empty = still running, or cut off
  build_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  jitter_seed INTEGER,               -- NULL = without jitter
  matched_recording INTEGER,         -- 1 = no divergence; NULL = not known
  exit_status INTEGER
))";

inline constexpr const char* kCreateCycleStop = R"(CREATE TABLE cycle_stop(
  -- Where a rank stopped in a cycle.
  id INTEGER PRIMARY KEY,
  cycle INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  serial INTEGER NOT NULL,
  reason TEXT NOT NULL,
  file TEXT NOT NULL,
  line INTEGER NOT NULL
))";

inline constexpr const char* kCreateBreakpointHit = R"(CREATE TABLE breakpoint_hit(
  id INTEGER PRIMARY KEY,
  cycle INTEGER NOT NULL,
  breakpoint INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  serial INTEGER NOT NULL,
  hits INTEGER NOT NULL,
  watched TEXT NOT NULL              -- JSON array: expression, value, expression, value ...
))";

inline constexpr const char* kCreateNote = R"(CREATE TABLE note(
  id INTEGER PRIMARY KEY,
  rank INTEGER,                      -- NULL = about the run
  serial INTEGER,                    -- NULL = about the rank
  text TEXT NOT NULL,
  created_utc TEXT NOT NULL,
  failing INTEGER NOT NULL           -- 1 = the receive that "Failing receive" goes to
))";

inline constexpr const char* kCreateRankGroup = R"(CREATE TABLE rank_group(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  ranks TEXT NOT NULL                -- as in "0, 2-4"
))";

inline constexpr const char* kCreateRankArrangement = R"(CREATE TABLE rank_arrangement(
  -- Which ranks the diagram shows, and how; the last row counts.
  id INTEGER PRIMARY KEY,
  hidden TEXT NOT NULL,              -- ranks, as in "0, 2-4"
  row_order TEXT NOT NULL,           -- number, waiting, racing, host
  shared_rows TEXT NOT NULL          -- JSON array: name, ranks, name, ranks ...
))";

inline constexpr const char* kCreateBenignRace = R"(CREATE TABLE benign_race(
  -- Classes of races that somebody has judged to be harmless.
  id INTEGER PRIMARY KEY,
  class TEXT NOT NULL,               -- race_class.text
  reason TEXT NOT NULL,
  created_utc TEXT NOT NULL
))";

inline constexpr const char* kCreateColumnDirectory = R"(CREATE TABLE column_directory(
  -- What is in which column_chunk.
  id INTEGER PRIMARY KEY,            -- 1
  data BLOB NOT NULL                 -- columns, in a Zstandard frame
))";

inline constexpr const char* kCreateRaceClass = R"(CREATE TABLE race_class(
  -- What races are told apart by: where they receive, and where what they could take is sent.
  id INTEGER PRIMARY KEY,            -- what the stream of races says
  text TEXT NOT NULL
))";

inline constexpr const char* kCreateColumnChunk = R"(CREATE TABLE column_chunk(
  -- What a rank did: up to 4,096 events, receives, probes, messages or parts of collectives.
  id INTEGER PRIMARY KEY,            -- (8 * rank + stream) * 4294967296 + ordinal
  rank INTEGER NOT NULL,
  stream INTEGER NOT NULL,           -- 0 events, 1 receives, 2 probes, 3 messages sent, 4 collectives
  ordinal INTEGER NOT NULL,          -- from 0
  crc32c INTEGER NOT NULL,           -- of rank, stream and ordinal (8 bytes each, little endian), then data
  data BLOB NOT NULL                 -- columns, in Zstandard frames: docs/trace-format.md, "Columns"
))";

inline constexpr const char* kCreateSummaryChunk = R"(CREATE TABLE summary_chunk(
  -- What is worked out once of the execution, so that views need not look at each event.
  id INTEGER PRIMARY KEY,            -- (16777216 * kind + part) * 4294967296 + ordinal
  kind INTEGER NOT NULL,             -- 0 outline, 1 clocks of the past, 2 of the future, 3 tiles of the pyramid, 4 its lines
  part INTEGER NOT NULL,             -- of clocks the rank, of tiles the level
  ordinal INTEGER NOT NULL,          -- from 0
  crc32c INTEGER NOT NULL,           -- of kind, part and ordinal (8 bytes each, little endian), then data
  data BLOB NOT NULL                 -- columns, in a Zstandard frame: docs/trace-format.md, "Summaries"
))";

inline constexpr const char* kCreateGroupRecording = R"(CREATE TABLE group_recording(
  -- One row where groups of ranks were recorded so that each can be replayed alone; else none.
  id INTEGER PRIMARY KEY,            -- 1
  spec TEXT NOT NULL                 -- which groups, as 'photofinish record --groups' takes them
))";

inline constexpr const char* kCreatePayload = R"(CREATE TABLE payload(
  -- What a rank received from ranks outside of its group, and how far it is kept.
  rank INTEGER PRIMARY KEY,
  salt INTEGER NOT NULL,             -- seeds the checksums inside payload_chunk.data
  entries INTEGER NOT NULL,          -- messages, probes, results of collectives ...
  bytes INTEGER NOT NULL,            -- of them with their heads, not compressed
  packed_bytes INTEGER NOT NULL,     -- the same, compressed
  chunks INTEGER NOT NULL,           -- number of its payload_chunk rows
  ending TEXT NOT NULL,              -- complete, cut, stopped or damaged
  detail INTEGER                     -- stopped: errno; damaged: first byte that is lost
))";

inline constexpr const char* kCreatePayloadChunk = R"(CREATE TABLE payload_chunk(
  -- The entries of each rank, one behind another, in pieces of at most 1 MiB.
  rank INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,          -- from 0
  crc32c INTEGER NOT NULL,           -- as in log_chunk
  data BLOB NOT NULL,                -- as in log_chunk
  PRIMARY KEY(rank, ordinal)
) WITHOUT ROWID)";

inline constexpr const char* kCreatePartOfJob = R"(CREATE TABLE part_of_job(
  -- Which ranks are debugged without the others; the last row counts. None: all are.
  id INTEGER PRIMARY KEY,
  ranks TEXT NOT NULL                -- as in "0, 2-4"
))";

inline constexpr const char* kCreateJudgedRace = R"(CREATE TABLE judged_race(
  -- Classes of races that somebody has judged, by names that survive edits of the program.
  id INTEGER PRIMARY KEY,
  class TEXT NOT NULL,               -- race_class.text
  verdict TEXT NOT NULL,             -- benign, bug or unknown
  reason TEXT NOT NULL,
  created_utc TEXT NOT NULL
))";

inline constexpr const char* kCreateBranch = R"(CREATE TABLE branch(
  -- One row where this run is another one with other choices (flip, explore, blame); else none.
  id INTEGER PRIMARY KEY,
  parent_uuid TEXT NOT NULL,         -- run.uuid of the other one
  parent_file TEXT NOT NULL,         -- where it was
  made_by TEXT NOT NULL              -- flip, explore or blame
))";

inline constexpr const char* kCreateBranchFlip = R"(CREATE TABLE branch_flip(
  -- What this run took, and its parent did not.
  id INTEGER PRIMARY KEY,
  rank INTEGER NOT NULL,
  serial INTEGER NOT NULL,           -- the event that posts the receive, or is the probe
  send_rank INTEGER NOT NULL,        -- -1 = a call of MPI_Waitany's kind that gave other requests
  send_serial INTEGER NOT NULL,      -- the event that sends what it took
  text TEXT NOT NULL                 -- the same in words, with the line
))";

inline constexpr const char* kCreatePrinted = R"(CREATE TABLE printed(
  -- What launcher and program wrote to a standard stream, in the order in which it came.
  id INTEGER PRIMARY KEY,
  stream INTEGER NOT NULL,           -- 1: standard output, 2: standard error
  beginning BLOB,                    -- all of it, where it was short
  left_out INTEGER NOT NULL,         -- bytes between beginning and end
  ending BLOB
))";

}  // namespace pf::db
