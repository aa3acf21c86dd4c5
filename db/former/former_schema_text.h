// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of format 11 that are others now, or are no more, byte for byte.
#pragma once

namespace pf::db {

inline constexpr const char* kCreateRun11 = R"(CREATE TABLE run(
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
  racing_receives INTEGER
))";

inline constexpr const char* kCreateRank11 = R"(CREATE TABLE rank(
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
  log_chunks INTEGER NOT NULL        -- number of its log_chunk rows
))";

inline constexpr const char* kCreateRankCounter11 = R"(CREATE TABLE rank_counter(
  -- Small facts about a rank.
  rank INTEGER NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY(rank, name)
) WITHOUT ROWID)";

inline constexpr const char* kCreateNote11 = R"(CREATE TABLE note(
  id INTEGER PRIMARY KEY,
  rank INTEGER,                      -- NULL = about the run
  serial INTEGER,                    -- NULL = about the rank
  text TEXT NOT NULL,
  created_utc TEXT NOT NULL,
  kind TEXT NOT NULL                 -- bookmark, note or receive-mark
))";

}  // namespace pf::db
