// SPDX-License-Identifier: GPL-3.0-or-later
// What all tables and trees of the views share: literal text only, tones by theme, tidy headers.
#pragma once

#include <QStyledItemDelegate>

class QAbstractItemView;
class QHeaderView;
class QTableView;
class QTreeView;

namespace pf::views {

/// Paints ToneRole, BoldRole and MonospaceRole; shows tool tips literally, never as rich text.
class PlainDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option,
                               const QModelIndex& index) const override;
  bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                 const QModelIndex& index) override;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  friend void setOld(QAbstractItemView& view, bool old);
  bool m_old = false;
};

/// Row selection, no grid, compact rows, PlainDelegate.
void setUpTable(QTableView& view);
void setUpTree(QTreeView& view);
/// All of it is of a stop before: grey, until it is not.
void setOld(QAbstractItemView& view, bool old);
/// The system's fixed-width font at the application's size.
[[nodiscard]] QFont fixedFont();

}  // namespace pf::views
