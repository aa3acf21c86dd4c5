// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/compare_window.h"

#include <QAction>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QScreen>
#include <QSplitter>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "app/gui/panes/physical_pyramid.h"
#include "views/diagram/space_time_view.h"
#include "views/panes/item_views.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::gui {

using values::fromUtf8;
using values::operator""_s;

namespace {

constexpr int kRankRole = values::KeyRole;
constexpr int kSerialRole = values::KeyRole + 1;  ///< of A
constexpr int kSerialBRole = values::KeyRole + 2;

/// A diagram under its name.
QWidget* named(const QString& letter, const QString& path, QWidget* diagram) {
  auto* box = new QWidget;
  auto* label = new QLabel(letter + u"   "_s + QFileInfo(path).fileName());
  label->setToolTip(values::plainToolTip(path));
  label->setTextFormat(Qt::PlainText);
  label->setContentsMargins(8, 3, 8, 3);
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(label);
  layout->addWidget(diagram, 1);
  return box;
}

}  // namespace

Result<LoadedComparison> loadComparison(const QString& a, views::TraceIndexPtr indexA,
                                        const QString& b) {
  Result<app::DifferenceTable> table = app::differenceTable(a.toStdString(), b.toStdString());
  if (!table) {
    return table.error();
  }
  Result<session::LoadedTrace> other = session::loadTrace(b);
  if (!other) {
    return other.error();
  }
  return LoadedComparison{std::move(indexA), views::makeIndex(other->data), std::move(*table)};
}

CompareWindow::CompareWindow(const QString& pathA, const QString& pathB,
                             const LoadedComparison& loaded, QWidget* parent)
    : QDialog(parent),
      m_summary(new QLabel),
      m_differences(new QTreeWidget),
      m_a(new views::SpaceTimeView),
      m_b(new views::SpaceTimeView) {
  const QString nameA = QFileInfo(pathA).fileName();
  const QString nameB = QFileInfo(pathB).fileName();
  setWindowTitle(tr("%1 and %2 — Photofinish").arg(nameA, nameB));
  setWindowFlag(Qt::WindowMaximizeButtonHint);
  resize(QSize(1400, 900).boundedTo(screen()->availableSize()));
  m_summary->setTextFormat(Qt::PlainText);
  m_summary->setContentsMargins(8, 6, 8, 4);
  m_differences->setObjectName(u"differences"_s);
  m_differences->setHeaderLabels(
      {tr("Rank"), tr("Event"), tr("Part"), tr("What differs"), tr("A"), tr("B"), tr("Why")});
  views::setUpTree(*m_differences);
  m_differences->setRootIsDecorated(false);
  m_a->viewActions().last()->setChecked(false);  // one legend is enough
  m_a->setPyramidMaker(physicalPyramid);
  m_b->setPyramidMaker(physicalPyramid);
  m_a->setTrace(loaded.a);
  m_b->setTrace(loaded.b);
  if (!loaded.table.same) {
    m_a->setDifferent(loaded.table.coneA);
    m_b->setDifferent(loaded.table.coneB);
  }
  auto* split = new QSplitter(Qt::Vertical);
  split->addWidget(m_differences);
  split->addWidget(named(u"A"_s, pathA, m_a));
  split->addWidget(named(u"B"_s, pathB, m_b));
  split->setSizes({200, 340, 340});
  split->setChildrenCollapsible(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(m_summary);
  layout->addWidget(split, 1);
  fill(loaded.table);
  connect(m_differences, &QTreeWidget::currentItemChanged, this, &CompareWindow::onCurrent);
  connect(m_a, &views::SpaceTimeView::eventSelected, this, &CompareWindow::eventSelected);
  connect(m_a, &views::SpaceTimeView::replayToRequested, this, &CompareWindow::replayToRequested);
  connect(m_differences, &QTreeWidget::itemActivated, m_a, qOverload<>(&QWidget::setFocus));
  m_differences->setFocus();
  if (m_differences->topLevelItemCount() > 0) {
    m_differences->setCurrentItem(m_differences->topLevelItem(0));
  }
}

void CompareWindow::addRow(const Row& row, QStringList cells) {
  for (qsizetype column = 3; column < cells.size(); ++column) {
    cells[column] = values::oneLine(cells[column]);
  }
  auto* item = new QTreeWidgetItem(cells);
  item->setData(0, kRankRole, row.rank);
  item->setData(0, kSerialRole, static_cast<qulonglong>(row.serialA));
  item->setData(0, kSerialBRole, static_cast<qulonglong>(row.serialB));
  for (int column = 0; column < item->columnCount(); ++column) {
    item->setToolTip(column, values::plainToolTip(item->text(column)));
    item->setData(column, values::BoldRole, row.bold);
  }
  item->setData(2, values::ToneRole,
                static_cast<int>(row.suspect ? values::Tone::Race : values::Tone::Muted));
  m_differences->addTopLevelItem(item);
}

/// What leads to the failure comes first: then where ranks begin to differ, which may mean nothing.
void CompareWindow::fill(const app::DifferenceTable& table) {
  fillAligned(table, true);
  std::size_t causes = 0;
  for (const app::DifferenceLine& line : table.lines) {
    causes += line.cause ? 1U : 0U;
    addRow({line.rank, line.serial, line.serial, line.cause, line.cause},
           {QString::number(line.rank), line.serial != 0 ? QString::number(line.serial) : QString(),
            line.cause ? tr("first cause") : tr("follows"), fromUtf8(line.what), fromUtf8(line.a),
            fromUtf8(line.b), fromUtf8(line.why)});
  }
  fillAligned(table, false);
  for (int column = 0; column < m_differences->columnCount(); ++column) {
    m_differences->resizeColumnToContents(column);
    m_differences->setColumnWidth(column, std::min(m_differences->columnWidth(column), 380));
  }
  QString text = table.same
                     ? tr("The same calls and outcomes on every rank.")
                     : tr("%1 with a difference, %2.")
                           .arg(values::counted(table.lines.size(), tr("rank"), tr("ranks")),
                                values::counted(causes, tr("first cause"), tr("first causes")));
  if (!table.aligned.empty()) {
    text += tr(" %1 in all that follow from no other, those before the failure first.")
                .arg(values::counted(table.aligned.size() + table.alignedLeftOut, tr("difference"),
                                     tr("differences")));
  }
  if (table.alignedLeftOut != 0) {
    text += tr(" %1 of them are not shown.").arg(table.alignedLeftOut);
  }
  if (!table.sameBuild) {
    text += tr(" The builds are not the same: places of calls are not compared.");
  }
  m_summary->setText(text);
}

void CompareWindow::fillAligned(const app::DifferenceTable& table, bool beforeFailure) {
  for (const app::AlignedLine& line : table.aligned) {
    if ((line.weight != "other") != beforeFailure) {
      continue;
    }
    const QString a = line.serialA != 0 ? QString::number(line.serialA) : u"–"_s;
    const QString b = line.serialB != 0 ? QString::number(line.serialB) : u"–"_s;
    addRow({line.rank, line.serialA, line.serialB, line.weight == "first", line.weight != "other"},
           {QString::number(line.rank), a == b ? a : a + u" / "_s + b,
            line.weight == "other" ? tr("later") : fromUtf8(line.weight), fromUtf8(line.what),
            fromUtf8(line.a), fromUtf8(line.b), fromUtf8(line.why)});
  }
}

void CompareWindow::onCurrent() {
  const QTreeWidgetItem* item = m_differences->currentItem();
  if (item == nullptr) {
    return;
  }
  const Rank rank = item->data(0, kRankRole).toInt();
  if (const Serial serial = item->data(0, kSerialRole).toULongLong(); serial != 0) {
    m_a->selectEvent({rank, serial});
  }
  if (const Serial serial = item->data(0, kSerialBRole).toULongLong(); serial != 0) {
    m_b->selectEvent({rank, serial});
  }
}

QString CompareWindow::summary() const {
  return m_summary->text();
}

}  // namespace pf::gui

#include "moc_compare_window.cpp"
