// SPDX-License-Identifier: GPL-3.0-or-later
// The race list: one row per racing receive, the ones most likely to matter first, and its filter.
// Data in: setTrace(). Nothing out. QtCore only.
#pragma once

#include <cstdint>
#include <vector>

#include <QAbstractTableModel>

#include "views/trace/analyses/race_classes.h"
#include "views/trace/trace_index.h"

namespace pf::views {

/// Of each race a RaceWeight (replay_engine/races/race_weight.h) as a number. `failing`: the event that the user says has
/// failed; not valid: the one that the recording has, if one failed.
[[nodiscard]] std::vector<std::uint8_t> rateRaces(const TraceIndex& trace,
                                                  const EventRef& failing = {});

/// What is worked out of all races; not for the GUI thread where they are many.
struct JudgedRaces {
  std::vector<std::uint8_t> severity;  ///< as rateRaces() has it
  RaceClassesPtr classes;
  bool failed = false;  ///< there is a failing event
};
[[nodiscard]] JudgedRaces judgeRaces(const TraceIndexPtr& trace, const EventRef& failing = {});

/// Who sent the messages that racing receives could have taken. Of one thread: it holds the senders
/// of some races, so that those of one after the other cost little. Reads no chunk.
class AlternativeRanks {
 public:
  explicit AlternativeRanks(const TraceIndex& trace) : m_trace(&trace) {}
  /// Ascending, without repeats; good until the next call.
  [[nodiscard]] const std::vector<Rank>& of(std::size_t race);

 private:
  const TraceIndex* m_trace;
  std::size_t m_block = SIZE_MAX;
  std::vector<Rank> m_senders;  ///< of the block's messages
  std::vector<Rank> m_ranks;
};

/// What a racing receive is.
enum class RaceKind { Probe, Receive, Posted };
[[nodiscard]] RaceKind raceKind(const TraceIndex& trace, std::size_t race);

class RaceListModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column {
    Severity,
    Receiver,
    EventSerial,
    Call,
    Location,
    Taken,
    TakenTag,
    Alternatives,
    FromRanks,
    Class,
    ColumnCount
  };

  explicit RaceListModel(QObject* parent = nullptr);

  void setTrace(TraceIndexPtr trace);
  /// With what judgeRaces() says of it.
  void setTrace(TraceIndexPtr trace, const JudgedRaces& judged);
  [[nodiscard]] const TraceIndexPtr& trace() const { return m_trace; }

  /// As rateRaces() has it.
  [[nodiscard]] int severity(int race) const;
  [[nodiscard]] QString severityText(int race) const;
  /// Null without a trace.
  [[nodiscard]] const RaceClasses* classes() const { return m_classes.get(); }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

  [[nodiscard]] QString text(std::size_t race, int column) const;
  /// Of each race a number, to sort a column by. No chunk is read for it where the races have all
  /// their columns.
  [[nodiscard]] std::vector<std::int64_t> sortKeys(int column) const;

 private:
  [[nodiscard]] std::vector<std::int64_t> placeKeys(int column) const;
  template <typename Key>
  [[nodiscard]] std::vector<std::int64_t> keys(Key&& key) const;

  TraceIndexPtr m_trace;
  std::vector<std::uint8_t> m_severity;
  RaceClassesPtr m_classes;
  bool m_failed = false;
};

}  // namespace pf::views
