// SPDX-License-Identifier: GPL-3.0-or-later
// What was in the messages of an event: a row for each, and of one of them its values and bytes.
//
// Data in:  showContents(), showBusy(), clear().
#pragma once

#include <QList>
#include <QStringList>
#include <QWidget>

#include "views/values/message_contents.h"

class QLabel;
class QPlainTextEdit;
class QSplitter;
class QTableView;

namespace pf::views {

class RowsModel;

class ContentsView : public QWidget {
  Q_OBJECT
 public:
  explicit ContentsView(QWidget* parent = nullptr);

  /// `notes`: sentences about what is not there.
  void showContents(const QString& title, const QList<MessageContents>& contents,
                    const QStringList& notes);
  void showBusy(const QString& title);
  void clear();

  [[nodiscard]] QString title() const;
  [[nodiscard]] QString note() const;
  [[nodiscard]] const QList<MessageContents>& contents() const { return m_contents; }
  /// Of the row that is chosen.
  [[nodiscard]] QString valuesText() const;
  [[nodiscard]] QString bytesText() const;
  [[nodiscard]] QTableView* table() const { return m_table; }

 private:
  void layOut();
  void choose(int row);
  void setNotes(const QStringList& notes);

  QList<MessageContents> m_contents;
  QLabel* m_title;
  QLabel* m_note;
  RowsModel* m_rows;
  QTableView* m_table;
  QPlainTextEdit* m_values;
  QPlainTextEdit* m_bytes;
  QSplitter* m_parts;
};

}  // namespace pf::views
