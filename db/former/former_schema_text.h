// SPDX-License-Identifier: GPL-3.0-or-later
// Tables that former trace formats had and this one has no more, byte for byte: five of format 4,
// two of the formats up to 7, and those that were others: one up to format 8, two up to format 10.
#pragma once

namespace pf::db {

inline constexpr const char* kCreateEvent = R"(CREATE TABLE event(
  -- One MPI call of one rank.
  rank INTEGER NOT NULL,
  serial INTEGER NOT NULL,           -- from 1; what --until RANK:SERIAL names
  kind INTEGER NOT NULL,             -- event_kind.id
  call INTEGER NOT NULL,             -- call.id
  site INTEGER,                      -- call_site.id
  comm INTEGER,                      -- communicator.id
  peer INTEGER,                      -- destination, or source asked for; -1 = any; NULL = none
  tag INTEGER NOT NULL,              -- -1 = any, or none
  bytes INTEGER NOT NULL,            -- send: size of the message where known
  step INTEGER,                      -- logical time; every message goes forward in it
  PRIMARY KEY(rank, serial)
) WITHOUT ROWID)";

inline constexpr const char* kCreateReceive = R"(CREATE TABLE receive(
  -- One posted receive.
  rank INTEGER NOT NULL,
  post INTEGER NOT NULL,             -- n-th receive that the rank posted, from 0
  post_serial INTEGER NOT NULL,      -- event that posted it
  completion_serial INTEGER,         -- event that saw its completion; NULL = never
  comm INTEGER,
  wanted_source INTEGER,             -- -1 = MPI_ANY_SOURCE
  wanted_tag INTEGER NOT NULL,       -- -1 = MPI_ANY_TAG
  state INTEGER NOT NULL,            -- 0 pending, 1 complete, 2 cancelled
  source INTEGER,                    -- of the message that it took
  tag INTEGER NOT NULL,
  message INTEGER,                   -- message.id; NULL = none, or its send is not in the record
  PRIMARY KEY(rank, post)
) WITHOUT ROWID)";

inline constexpr const char* kCreateProbe = R"(CREATE TABLE probe(
  -- One successful probe.
  rank INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,          -- n-th of the rank, from 0
  serial INTEGER NOT NULL,
  comm INTEGER,
  wanted_source INTEGER,             -- -1 = MPI_ANY_SOURCE
  wanted_tag INTEGER NOT NULL,       -- -1 = MPI_ANY_TAG
  source INTEGER,                    -- of the message that it saw
  tag INTEGER NOT NULL,
  posts_before INTEGER NOT NULL,     -- receives posted by the rank before the probe
  message INTEGER,
  PRIMARY KEY(rank, ordinal)
) WITHOUT ROWID)";

inline constexpr const char* kCreateMessage = R"(CREATE TABLE message(
  -- One message sent; a delivery where completion_serial is not NULL.
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL,
  send_index INTEGER NOT NULL,       -- n-th message that the source sent, from 0
  send_serial INTEGER NOT NULL,
  dest INTEGER,
  comm INTEGER,
  tag INTEGER NOT NULL,
  bytes INTEGER NOT NULL,            -- where known, else 0
  synchronous INTEGER NOT NULL,      -- 1 = MPI_Ssend, MPI_Issend
  sync_completion INTEGER,           -- event at the source that saw a synchronous send complete
  post INTEGER,                      -- receive.post at dest; NULL = never received
  completion_serial INTEGER          -- event at dest that saw it received
))";

inline constexpr const char* kCreateCollective = R"(CREATE TABLE collective(
  -- One rank's part in one collective call.
  rank INTEGER NOT NULL,
  part INTEGER NOT NULL,             -- n-th of the rank, from 0
  serial INTEGER NOT NULL,
  completion_serial INTEGER,         -- NULL = never seen complete
  comm INTEGER,
  ordinal INTEGER NOT NULL,          -- n-th on this communicator, the same on every rank
  flow INTEGER NOT NULL,             -- 0 none, 1 all to all, 2 from root, 3 to root, 4 from lower ranks
  root INTEGER,
  contributes INTEGER NOT NULL,      -- 0 = sends nothing (zero count)
  takes INTEGER NOT NULL,            -- 0 = receives nothing
  PRIMARY KEY(rank, part)
) WITHOUT ROWID)";

inline constexpr const char* kCreateRace = R"(CREATE TABLE race(
  -- One racing receive or probe: it could have taken another message.
  id INTEGER PRIMARY KEY,
  rank INTEGER NOT NULL,
  serial INTEGER NOT NULL,           -- event of its completion, or of the probe
  probe INTEGER NOT NULL,            -- 1 = a probe
  post INTEGER NOT NULL,             -- receive.post, or probe.ordinal where probe = 1
  message INTEGER,                   -- the message taken
  class TEXT                         -- NULL = not classified
))";

inline constexpr const char* kCreateRaceAlternative = R"(CREATE TABLE race_alternative(
  -- A message that could have been taken instead.
  race INTEGER NOT NULL,
  position INTEGER NOT NULL,         -- from 0, in the order of the sends
  message INTEGER NOT NULL,
  PRIMARY KEY(race, position)
) WITHOUT ROWID)";

inline constexpr const char* kCreateFormerSummaryChunk = R"(CREATE TABLE summary_chunk(
  -- What is worked out once of the execution, so that views need not look at each event.
  kind INTEGER NOT NULL,             -- 0 outline, 1 clocks of the past, 2 of the future, 3 cells of the pyramid, 4 its lines
  part INTEGER NOT NULL,             -- of clocks the rank, of cells the level
  ordinal INTEGER NOT NULL,          -- from 0
  crc32c INTEGER NOT NULL,           -- of kind, part and ordinal (8 bytes each, little endian), then data
  data BLOB NOT NULL,                -- columns, in a Zstandard frame: docs/trace-format.md, "Summaries"
  PRIMARY KEY(kind, part, ordinal)
) WITHOUT ROWID)";

inline constexpr const char* kCreateColumnChunk10 = R"(CREATE TABLE column_chunk(
  -- What a rank did: up to 4,096 events, receives, probes, messages or parts of collectives.
  rank INTEGER NOT NULL,
  stream INTEGER NOT NULL,           -- 0 events, 1 receives, 2 probes, 3 messages sent, 4 collectives
  ordinal INTEGER NOT NULL,          -- from 0
  crc32c INTEGER NOT NULL,           -- of rank, stream and ordinal (8 bytes each, little endian), then data
  data BLOB NOT NULL,                -- columns, in a Zstandard frame: docs/trace-format.md, "Columns"
  PRIMARY KEY(rank, stream, ordinal)
) WITHOUT ROWID)";

inline constexpr const char* kCreateSummaryChunk10 = R"(CREATE TABLE summary_chunk(
  -- What is worked out once of the execution, so that views need not look at each event.
  kind INTEGER NOT NULL,             -- 0 outline, 1 clocks of the past, 2 of the future, 3 tiles of the pyramid, 4 its lines
  part INTEGER NOT NULL,             -- of clocks the rank, of tiles the level
  ordinal INTEGER NOT NULL,          -- from 0
  crc32c INTEGER NOT NULL,           -- of kind, part and ordinal (8 bytes each, little endian), then data
  data BLOB NOT NULL,                -- columns, in a Zstandard frame: docs/trace-format.md, "Summaries"
  PRIMARY KEY(kind, part, ordinal)
) WITHOUT ROWID)";

}  // namespace pf::db
