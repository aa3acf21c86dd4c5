// SPDX-License-Identifier: GPL-3.0-or-later
// One expression on all ranks: equal values together, statistics, what is out of line. Pure
// functions and a model. QtCore only.
#pragma once

#include <optional>

#include <QAbstractTableModel>
#include <QList>
#include <QString>

#include "replay_engine/execution/execution.h"
#include "views/values/namespaces.h"

namespace pf::values {

struct RankValue {
  Rank rank = 0;
  QString value;
  QString error;         ///< instead of a value
  bool debugger = true;  ///< false: nobody there to ask
  friend bool operator==(const RankValue&, const RankValue&) = default;
};

struct ValueGroup {
  QString text;  ///< the value, or the error
  bool isError = false;
  bool debugger = true;
  QList<int> ranks;
  std::optional<double> number;
  bool outlier = false;
};

struct ValueSummary {
  QList<ValueGroup> groups;  ///< values first, larger groups before smaller ones
  int numbers = 0;           ///< ranks whose value is a number
  double least = 0;
  double most = 0;
  double mean = 0;
  int leastRank = -1;
  int mostRank = -1;
};

/// The number that GDB shows: "42", "-1.5e-7", "65 'A'", "true"; nothing for pointers and the rest.
[[nodiscard]] std::optional<double> numberOf(const QString& value);

/// Numbers are outliers when they are further from the median than 5 times the median of all such
/// distances (any distance, where more than half of the ranks agree); other values, when more than
/// half of the ranks agree on another one.
[[nodiscard]] ValueSummary summarize(const QList<RankValue>& values);

/// "4 ranks: least 1.5 (rank 0), most 9 (rank 3), mean 4.2".
[[nodiscard]] QString summaryText(const ValueSummary& summary);

class ValuesAcrossModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { ValueColumn, CountColumn, RanksColumn, NoteColumn, ColumnCount };

  using QAbstractTableModel::QAbstractTableModel;
  void setValues(const QList<RankValue>& values);
  [[nodiscard]] const QList<RankValue>& values() const { return m_values; }
  [[nodiscard]] const ValueSummary& summary() const { return m_summary; }
  [[nodiscard]] const ValueGroup* group(const QModelIndex& index) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  QList<RankValue> m_values;
  ValueSummary m_summary;
};

}  // namespace pf::values
