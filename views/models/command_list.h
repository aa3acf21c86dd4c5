// SPDX-License-Identifier: GPL-3.0-or-later
// Commands found by a few letters of their names. Pure functions and a model. QtCore only.
#pragma once

#include <QAbstractTableModel>
#include <QList>
#include <QString>

namespace pf::views {

/// How well `letters` are found in `text`, in this order: 0 = not at all, more is better.
/// Beginnings of words and letters in a row count more; capitals do not matter. No letters fit
/// everything.
[[nodiscard]] int fuzzyScore(const QString& letters, const QString& text);

struct Command {
  QString id;    ///< for ever the same
  QString text;  ///< "Next receive"
  QString menu;  ///< "Replay"
  QString keys;  ///< "F8"
  bool enabled = true;
  friend bool operator==(const Command&, const Command&) = default;
};

/// The commands that fit `letters`, the best first; the enabled ones first where they fit as well.
class CommandListModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { TextColumn, MenuColumn, KeysColumn, ColumnCount };

  using QAbstractTableModel::QAbstractTableModel;
  void setCommands(const QList<Command>& commands);
  void setLetters(const QString& letters);
  [[nodiscard]] const Command* command(const QModelIndex& index) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  void sortShown();

  QList<Command> m_commands;
  QList<Command> m_shown;
  QString m_letters;
};

}  // namespace pf::views
