// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/item_views.h"

#include <algorithm>

#include <QAbstractItemView>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHeaderView>
#include <QHelpEvent>
#include <QRegularExpression>
#include <QTableView>
#include <QToolTip>
#include <QTreeView>

#include "views/panes/theme.h"
#include "views/values/text.h"

namespace pf::views {

QFont fixedFont() {
  QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  const QFont application = QGuiApplication::font();
  if (application.pointSizeF() > 0) {
    font.setPointSizeF(application.pointSizeF());
  }
  return font;
}

QSize PlainDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const QSize size = QStyledItemDelegate::sizeHint(option, index);
  return {size.width() + 6, std::max(size.height(), option.fontMetrics.height() + 7)};
}

bool PlainDelegate::helpEvent(QHelpEvent* event, QAbstractItemView* view,
                              const QStyleOptionViewItem& option, const QModelIndex& index) {
  if (event->type() != QEvent::ToolTip) {
    return QStyledItemDelegate::helpEvent(event, view, option, index);
  }
  const QString tip = index.data(Qt::ToolTipRole).toString();
  QToolTip::showText(event->globalPos(), plainToolTip(tip), view);
  return true;
}

void PlainDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  const auto tone = m_old ? Tone::Muted : static_cast<Tone>(index.data(ToneRole).toInt());
  if (tone != Tone::Normal) {
    option->palette.setColor(QPalette::Text, Theme::of(option->palette).tone(tone));
  }
  if (index.data(MonospaceRole).toBool()) {
    option->font = fixedFont();
  }
  if (index.data(BoldRole).toBool()) {
    option->font.setBold(true);
  }
  option->fontMetrics = QFontMetrics(option->font);
  static const QRegularExpression kPlace(QStringLiteral(":[0-9]+$"));
  if (option->text.contains(kPlace)) {
    option->textElideMode = Qt::ElideMiddle;  // the line is what says most
  }
}

void setOld(QAbstractItemView& view, bool old) {
  auto* const delegate = qobject_cast<PlainDelegate*>(view.itemDelegate());
  if (delegate != nullptr && delegate->m_old != old) {
    delegate->m_old = old;
    view.viewport()->update();
  }
}

void setUpTable(QTableView& view) {
  view.setItemDelegate(new PlainDelegate(&view));
  view.setSelectionBehavior(QAbstractItemView::SelectRows);
  view.setSelectionMode(QAbstractItemView::SingleSelection);
  view.setShowGrid(false);
  view.setAlternatingRowColors(true);
  view.setWordWrap(false);
  view.setTextElideMode(Qt::ElideRight);
  view.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  view.setTabKeyNavigation(false);
  view.setFrameShape(QFrame::NoFrame);
  view.verticalHeader()->hide();
  view.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  view.verticalHeader()->setDefaultSectionSize(view.fontMetrics().height() + 7);
  view.horizontalHeader()->setStretchLastSection(true);
  view.horizontalHeader()->setHighlightSections(false);
  view.horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

void setUpTree(QTreeView& view) {
  view.setItemDelegate(new PlainDelegate(&view));
  view.setUniformRowHeights(true);
  view.setAlternatingRowColors(true);
  view.setAllColumnsShowFocus(true);
  view.setFrameShape(QFrame::NoFrame);
  view.setTextElideMode(Qt::ElideRight);
  view.header()->setStretchLastSection(true);
}

}  // namespace pf::views

#include "moc_item_views.cpp"
