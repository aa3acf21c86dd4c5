// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks with their state and the check mark "in the focus set"; and the stack of one rank.
// Data in: setRanks(), updateRank(), setFrames(). Out: focusChanged(). QtCore only.
#pragma once

#include <QAbstractTableModel>
#include <QList>
#include <QSet>

#include "views/values/debug_values.h"

namespace pf::views {

class RanksModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { RankColumn, StateColumn, SerialColumn, WhereColumn, DetailColumn, ColumnCount };
  enum ExtraRole { ActivityRole = 0x200 };

  explicit RanksModel(QObject* parent = nullptr);

  void setRanks(QList<RankState> ranks);
  /// Replaces the state of one rank; a rank not known yet is added.
  void updateRank(const RankState& state);
  [[nodiscard]] const QList<RankState>& ranks() const { return m_ranks; }
  [[nodiscard]] const RankState* state(int rank) const;
  [[nodiscard]] int rowOf(int rank) const;

  /// Ranks that have, or shall get, a debugger.
  void setFocusRanks(const QSet<int>& ranks);
  [[nodiscard]] QList<int> focusRanks() const;
  /// "3 stopped, 1 running".
  [[nodiscard]] QString summary() const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 Q_SIGNALS:
  void focusChanged(const QList<int>& ranks);

 private:
  QList<RankState> m_ranks;  ///< by rank
  QSet<int> m_focus;
};

class StackModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { LevelColumn, FunctionColumn, LocationColumn, ColumnCount };

  explicit StackModel(QObject* parent = nullptr);
  /// Frames of the current rank; `current` is the selected level.
  void setFrames(QList<StackFrame> frames, int current = 0);
  void setCurrent(int level);
  [[nodiscard]] const QList<StackFrame>& frames() const { return m_frames; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  QList<StackFrame> m_frames;
  int m_current = 0;
};

}  // namespace pf::views
