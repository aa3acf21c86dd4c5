// The race list: one row per racing receive, the ones most likely to matter first, and its filter.
// Data in: setTrace(). Nothing out. QtCore only.
#pragma once

#include <vector>

#include <QAbstractTableModel>
#include <QList>

#include "views/trace_index.h"

namespace pf::views {

/// Of each race: 0 = last racing receive of the failing rank before it failed, 1 = in the causal
/// past of the failure, 2 = other.
[[nodiscard]] std::vector<int> rateRaces(const TraceIndex& trace);
/// Of each race a number to sort by: by how it was rated, and within that the nearest to the end
/// first.
[[nodiscard]] std::vector<std::int64_t> raceWeights(const TraceIndex& trace,
                                                    const std::vector<int>& severity);
/// Who sent the messages that a racing receive could have taken, ascending.
[[nodiscard]] std::vector<Rank> alternativeRanks(const TraceIndex& trace, std::size_t race);

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
  /// With what rateRaces() and raceWeights() say of it.
  void setTrace(TraceIndexPtr trace, std::vector<int> severity, std::vector<std::int64_t> weights);
  [[nodiscard]] const TraceIndexPtr& trace() const { return m_trace; }

  /// As rateRaces() has it.
  [[nodiscard]] int severity(int race) const;
  [[nodiscard]] QString severityText(int race) const;
  [[nodiscard]] const std::vector<int>& severities() const { return m_severity; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

  [[nodiscard]] QString text(std::size_t race, int column) const;
  /// Of each race a number, to sort a column by.
  [[nodiscard]] std::vector<std::int64_t> sortKeys(int column) const;

 private:
  [[nodiscard]] std::vector<std::int64_t> placeKeys(int column) const;

  TraceIndexPtr m_trace;
  std::vector<int> m_severity;
  std::vector<std::int64_t> m_weights;
};

}  // namespace pf::views
