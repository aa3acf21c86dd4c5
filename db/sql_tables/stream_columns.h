// SPDX-License-Identifier: GPL-3.0-or-later
// The columns of the tables for SQL over the column store (stream_tables.h).
#pragma once

#include <cstdint>

#include "db/columns/execution_streams.h"

namespace pf::db::tables_over {

/// A column that may be NULL.
struct Cell {
  std::int64_t value = 0;
  bool null = false;
};
inline Cell orNull(std::int64_t value, std::int64_t none) {
  return {value, value == none};
}
template <typename T>
Cell cell(T value) {
  return {static_cast<std::int64_t>(value), false};
}

// ---- The columns: kRankColumn and kKeyColumn, which a query is narrowed by, and the others by
// at().

template <typename T>
struct Columns;

template <>
struct Columns<StoredEvent> {
  static constexpr const char* kText =
      "CREATE TABLE event(rank INTEGER,serial INTEGER,kind INTEGER,call INTEGER,site INTEGER,comm "
      "INTEGER,peer INTEGER,tag INTEGER,bytes INTEGER,step INTEGER,thread INTEGER,time_ns "
      "INTEGER,duration_ns INTEGER)";
  static constexpr int kRankColumn = 0;
  static constexpr int kKeyColumn = 1;
  static constexpr int kTimeColumn = 11;  ///< of another stream: the cursor knows
  static constexpr int kDurationColumn = 12;
  static Cell at(const StoredEvent& v, int column) {
    switch (column) {
      case 2:
        return cell(v.event.kind);
      case 3:
        return cell(v.event.call);
      case 4:
        return orNull(v.event.site, kNone);
      case 5:
        return orNull(v.event.comm, kNone);
      case 6:
        return orNull(v.event.peer, kUnknownRank);
      case 7:
        return cell(v.event.tag);
      case 8:
        return cell(v.event.bytes);
      case 9:
        return orNull(v.step, kNone);
      default:
        return cell(v.event.lane);
    }
  }
};

template <>
struct Columns<StoredReceive> {
  static constexpr const char* kText =
      "CREATE TABLE receive(rank INTEGER,post INTEGER,post_serial INTEGER,completion_serial "
      "INTEGER,comm INTEGER,wanted_source INTEGER,wanted_tag INTEGER,state INTEGER,source "
      "INTEGER,tag INTEGER,message INTEGER)";
  static constexpr int kRankColumn = 0;
  static constexpr int kKeyColumn = 1;
  static Cell at(const StoredReceive& stored, int column) {
    const PostedReceive& v = stored.receive;
    switch (column) {
      case 2:
        return cell(v.post);
      case 3:
        return orNull(static_cast<std::int64_t>(v.completion), 0);
      case 4:
        return orNull(v.comm, kNone);
      case 5:
        return orNull(v.wantedSource, kUnknownRank);
      case 6:
        return cell(v.wantedTag);
      case 7:
        return cell(v.state);
      case 8:
        return orNull(v.source, kUnknownRank);
      case 9:
        return cell(v.tag);
      default:
        return orNull(v.message, kNone);
    }
  }
};

template <>
struct Columns<ProbeHit> {
  static constexpr const char* kText =
      "CREATE TABLE probe(rank INTEGER,ordinal INTEGER,serial INTEGER,comm INTEGER,wanted_source "
      "INTEGER,wanted_tag INTEGER,source INTEGER,tag INTEGER,posts_before INTEGER,message INTEGER)";
  static constexpr int kRankColumn = 0;
  static constexpr int kKeyColumn = 1;
  static Cell at(const ProbeHit& v, int column) {
    switch (column) {
      case 2:
        return cell(v.event);
      case 3:
        return orNull(v.comm, kNone);
      case 4:
        return orNull(v.wantedSource, kUnknownRank);
      case 5:
        return cell(v.wantedTag);
      case 6:
        return orNull(v.source, kUnknownRank);
      case 7:
        return cell(v.tag);
      case 8:
        return cell(v.postsBefore);
      default:
        return orNull(v.message, kNone);
    }
  }
};

template <>
struct Columns<StoredSend> {
  static constexpr const char* kText =
      "CREATE TABLE message(id INTEGER,source INTEGER,send_index INTEGER,send_serial INTEGER,dest "
      "INTEGER,comm INTEGER,tag INTEGER,bytes INTEGER,synchronous INTEGER,sync_completion "
      "INTEGER,post INTEGER,completion_serial INTEGER,arrival_step INTEGER)";
  static constexpr int kRankColumn = 1;
  static constexpr int kKeyColumn = 0;
  static constexpr int kBytesColumn = 7;  ///< of the event: MessageCursor knows
  static constexpr int kIndexColumn = 2;
  static Cell at(const StoredSend& v, int column) {
    switch (column) {
      case 3:
        return cell(v.send.event);
      case 4:
        return orNull(v.send.dest, kUnknownRank);
      case 5:
        return orNull(v.send.comm, kNone);
      case 6:
        return cell(v.send.tag);
      case 8:
        return cell(v.send.synchronous);
      case 9:
        return orNull(static_cast<std::int64_t>(v.send.syncCompletion), 0);
      case 10:
        return orNull(v.post, kNone);
      case 11:
        return orNull(static_cast<std::int64_t>(v.completion), 0);
      default:
        return orNull(v.arrival, kNone);
    }
  }
};

template <>
struct Columns<CollectivePart> {
  static constexpr const char* kText =
      "CREATE TABLE collective(rank INTEGER,part INTEGER,serial INTEGER,completion_serial "
      "INTEGER,comm INTEGER,ordinal INTEGER,flow INTEGER,root INTEGER,contributes INTEGER,takes "
      "INTEGER)";
  static constexpr int kRankColumn = 0;
  static constexpr int kKeyColumn = 1;
  static Cell at(const CollectivePart& v, int column) {
    switch (column) {
      case 2:
        return cell(v.event);
      case 3:
        return orNull(static_cast<std::int64_t>(v.completion), 0);
      case 4:
        return orNull(v.comm, kNone);
      case 5:
        return cell(v.ordinal);
      case 6:
        return cell(v.flow);
      case 7:
        return orNull(v.root, kUnknownRank);
      case 8:
        return cell(v.contributes);
      default:
        return cell(v.takes);
    }
  }
};

template <>
struct Columns<RaceValue> {
  static constexpr const char* kText =
      "CREATE TABLE race(id INTEGER,rank INTEGER,serial INTEGER,probe INTEGER,post INTEGER,message "
      "INTEGER,class TEXT)";
  static constexpr int kRankColumn = 1;
  static constexpr int kKeyColumn = 0;
  static constexpr int kClassColumn = 6;  ///< a text: the tables know
  static Cell at(const RaceValue& v, int column) {
    switch (column) {
      case 2:
        return cell(v.serial);
      case 3:
        return cell(v.probe);
      case 4:
        return cell(v.index);
      default:
        return orNull(v.taken, kNone);
    }
  }
};

}  // namespace pf::db::tables_over
