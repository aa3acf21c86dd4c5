// SPDX-License-Identifier: GPL-3.0-or-later
// Watched expressions and what they are on the rank that is looked at, as a tree: what has parts
// opens as a variable does. Data in: setRank(), setExpressions(), setValues() at each stop,
// setChildren() as answer to expandRequested(). Out: expressionsChanged(), expandRequested(),
// editRequested() of parts. QtCore only.
#pragma once

#include <QHash>
#include <QList>
#include <QSet>
#include <QStringList>

#include "views/models/variables_model.h"
#include "views/values/debug_values.h"

namespace pf::views {

class WatchesModel : public VariablesModel {
  Q_OBJECT
 public:
  explicit WatchesModel(QObject* parent = nullptr) : VariablesModel(parent) {}
  /// Whose values are shown; those that others had are kept for when they are looked at again.
  void setRank(int rank);
  void setExpressions(const QStringList& expressions);
  /// No rank has a value of any: those that had are gone.
  void forgetValues();
  /// Values of one expression; ranks that are missing keep theirs.
  void setValues(const QString& expression, const QList<WatchValue>& values);
  [[nodiscard]] const QStringList& expressions() const { return m_expressions; }
  bool addExpression(const QString& expression);  ///< false if empty or there already
  void removeExpression(int row);
  /// False: it is not there, or the other one is.
  bool replaceExpression(const QString& expression, const QString& by);
  /// Whose parts an expandRequested() asks for; empty: those of a part.
  [[nodiscard]] QString expressionOf(const QString& path) const;

  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 Q_SIGNALS:
  void expressionsChanged(const QStringList& expressions);

 private:
  [[nodiscard]] Variable rowOf(const QString& expression);
  [[nodiscard]] WatchValue cell(const QString& expression) const;
  void showAll();

  QStringList m_expressions;
  int m_rank = 0;
  QHash<QString, QHash<int, WatchValue>> m_cells;  ///< of an expression, by rank
  QHash<QString, QString> m_paths;  ///< expression -> path; another one each time that it is added
  int m_added = 0;
  QSet<QString> m_opening;  ///< have been put in the place of open ones, and have no value yet
};

}  // namespace pf::views
