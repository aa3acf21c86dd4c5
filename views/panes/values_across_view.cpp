// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/values_across_view.h"

#include <algorithm>
#include <cmath>

#include <QAction>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPainter>
#include <QTableView>
#include <QToolTip>
#include <QVBoxLayout>

#include "views/panes/action_tips.h"
#include "views/panes/icons.h"
#include "views/panes/item_views.h"
#include "views/panes/theme.h"
#include "views/values/debug_values.h"
#include "views/values/text.h"

namespace pf::views {

namespace {
constexpr int kLineHeight = 36;
constexpr int kInset = 4;
}  // namespace

Sparkline::Sparkline(QWidget* parent) : QWidget(parent) {
  setFixedHeight(kLineHeight);
  setAccessibleName(tr("Values by rank"));
  hide();
}

void Sparkline::setValues(const QList<RankValue>& values, const ValueSummary& summary) {
  m_bars.clear();
  m_least = std::min(0.0, summary.least);
  m_most = std::max(0.0, summary.most);
  for (const RankValue& value : values) {
    Bar bar;
    bar.rank = value.rank;
    for (const ValueGroup& group : summary.groups) {
      if (group.number && group.ranks.contains(value.rank)) {
        bar.known = true;
        bar.number = *group.number;
        bar.outlier = group.outlier;
      }
    }
    m_bars.append(bar);
  }
  std::sort(m_bars.begin(), m_bars.end(),
            [](const Bar& a, const Bar& b) { return a.rank < b.rank; });
  setVisible(summary.numbers > 1);
  update();
}

void Sparkline::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme theme = Theme::of(palette());
  const QRectF area = QRectF(rect()).adjusted(kInset, kInset, -kInset, -kInset);
  const double span = m_most > m_least ? m_most - m_least : 1.0;
  const double step = area.width() / static_cast<double>(std::max<qsizetype>(1, m_bars.size()));
  const double zero = area.bottom() + m_least / span * area.height();
  painter.setPen(theme.grid);
  painter.drawLine(QPointF(area.left(), zero), QPointF(area.right(), zero));
  painter.setPen(Qt::NoPen);
  for (qsizetype i = 0; i < m_bars.size(); ++i) {
    const Bar& bar = m_bars[i];
    if (!bar.known) {
      continue;
    }
    const double height = std::max(1.0, std::abs(bar.number) / span * area.height());
    const double top = bar.number >= 0 ? zero - height : zero;
    painter.setBrush(bar.outlier ? theme.race : theme.receive);
    painter.drawRect(QRectF(area.left() + static_cast<double>(i) * step, top,
                            std::max(1.0, std::min(step - 1.0, 24.0)), height));
  }
}

const Sparkline::Bar* Sparkline::barAt(double x) const {
  const double width = std::max(1, this->width() - 2 * kInset);
  const auto index =
      static_cast<qsizetype>((x - kInset) / width * static_cast<double>(m_bars.size()));
  return x >= kInset && index >= 0 && index < m_bars.size() ? &m_bars[index] : nullptr;
}

void Sparkline::mouseReleaseEvent(QMouseEvent* event) {
  if (const Bar* bar = barAt(event->position().x()); bar != nullptr) {
    Q_EMIT rankClicked(bar->rank);
  }
}

bool Sparkline::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const Bar* bar = barAt(help->pos().x());
    QToolTip::showText(help->globalPos(),
                       bar == nullptr ? QString()
                       : bar->known   ? tr("rank %1: %2").arg(bar->rank).arg(bar->number)
                                      : tr("rank %1: no number").arg(bar->rank),
                       this);
    return true;
  }
  return QWidget::event(event);
}

ValuesAcrossView::ValuesAcrossView(QWidget* parent)
    : QWidget(parent),
      m_model(new ValuesAcrossModel(this)),
      m_input(new QLineEdit),
      m_line(new Sparkline),
      m_summary(new QLabel),
      m_table(new QTableView) {
  setObjectName(u"valuesAcrossView"_s);
  m_input->setPlaceholderText(tr("An expression, for every stopped rank with a debugger; Enter"));
  m_input->addAction(icon(Icon::Find), QLineEdit::LeadingPosition);
  m_summary->setTextFormat(Qt::PlainText);
  m_summary->setForegroundRole(QPalette::PlaceholderText);
  m_summary->setMargin(4);
  m_summary->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_table->setModel(m_model);
  setUpTable(*m_table);
  m_table->setColumnWidth(ValuesAcrossModel::ValueColumn, 180);
  m_table->setColumnWidth(ValuesAcrossModel::CountColumn, 52);
  m_table->setColumnWidth(ValuesAcrossModel::RanksColumn, 110);
  makeActions();
  auto* top = new QVBoxLayout;
  top->setContentsMargins(6, 6, 6, 4);
  top->addWidget(m_input);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(top);
  layout->addWidget(m_line);
  layout->addWidget(m_summary);
  layout->addWidget(m_table, 1);
  connect(m_input, &QLineEdit::returnPressed, this, [this] {
    if (!expression().isEmpty()) {
      Q_EMIT evaluateRequested(expression());
    }
  });
  connect(m_line, &Sparkline::rankClicked, this, &ValuesAcrossView::rankRequested);
}

void ValuesAcrossView::makeActions() {
  m_group = new QAction(icon(Icon::Add), tr("Make a group of these ranks …"), this);
  setWholeName(*m_group, tr("Make a group of the ranks with the selected value"));
  m_debugger = new QAction(tr("Give these ranks a debugger"), this);
  auto* show = new QAction(tr("Go to the first of these ranks"), this);
  m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
  m_table->addActions({m_group, show, m_debugger});
  const auto current = [this] { return m_model->group(m_table->currentIndex()); };
  const auto go = [this, current] {
    if (const ValueGroup* group = current(); group != nullptr) {
      if (group->debugger) {
        Q_EMIT rankRequested(group->ranks.first());
      } else {
        Q_EMIT debuggerRequested(group->ranks);
      }
    }
  };
  connect(show, &QAction::triggered, this, [this, current] {
    if (const ValueGroup* group = current(); group != nullptr) {
      Q_EMIT rankRequested(group->ranks.first());
    }
  });
  connect(m_table, &QTableView::activated, this, go);
  connect(m_group, &QAction::triggered, this, [this, current] {
    if (const ValueGroup* group = current(); group != nullptr) {
      Q_EMIT groupRequested(group->isError ? group->text : expression() + u" = "_s + group->text,
                            group->ranks);
    }
  });
  connect(m_debugger, &QAction::triggered, this, [this, current] {
    if (const ValueGroup* group = current(); group != nullptr && !group->debugger) {
      Q_EMIT debuggerRequested(group->ranks);
    }
  });
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this, current] {
            const ValueGroup* group = current();
            m_debugger->setEnabled(group != nullptr && !group->debugger);
          });
  m_debugger->setEnabled(false);
}

void ValuesAcrossView::showValues(const QString& expression, const QList<RankValue>& values,
                                  qint64 milliseconds) {
  if (expression != this->expression()) {
    return;  // of what was asked before
  }
  m_model->setValues(values);
  m_line->setValues(values, m_model->summary());
  const QString numbers = summaryText(m_model->summary());
  m_summary->setText(values.isEmpty()    ? tr("No replay runs.")
                     : numbers.isEmpty() ? tr("%1 ms").arg(milliseconds)
                                         : tr("%1; %2 ms").arg(numbers).arg(milliseconds));
  m_summary->setToolTip(plainToolTip(m_summary->text()));
}

void ValuesAcrossView::ask(const QString& expression) {
  m_input->setText(expression);
  if (!this->expression().isEmpty()) {
    Q_EMIT evaluateRequested(this->expression());
  }
}

QString ValuesAcrossView::expression() const {
  return m_input->text().trimmed();
}

QString ValuesAcrossView::summary() const {
  return m_summary->text();
}

}  // namespace pf::views

#include "moc_values_across_view.cpp"
