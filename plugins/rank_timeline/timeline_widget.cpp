// SPDX-License-Identifier: MIT
#include "plugins/rank_timeline/timeline_widget.h"

#include <utility>

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QTableView>
#include <QVBoxLayout>

#include "views/panes/item_views.h"
#include "views/values/text.h"

namespace pf::plugins {

using values::operator""_s;

const PhotofinishPlugin* rankTimelinePlugin() {
  return bundledPane<kRankTimeline, TimelineWidget>();
}

TimelineWidget::TimelineWidget(QWidget* parent)
    : ViewWidget(parent),
      m_ranks(new QComboBox),
      m_filter(new QLineEdit),
      m_summary(new QLabel),
      m_model(new TimelineModel(this)),
      m_table(new QTableView) {
  setObjectName(u"rankTimeline"_s);
  m_ranks->setAccessibleName(tr("Rank"));
  m_filter->setPlaceholderText(tr("Filter: kind:receive comm:row tag:7 file:a.c line:88 …"));
  m_filter->setToolTip(tr("As the search of the diagram; all words must hold"));
  m_filter->setClearButtonEnabled(true);
  m_filter->setMaximumWidth(420);
  m_summary->setTextFormat(Qt::PlainText);
  m_summary->setForegroundRole(QPalette::PlaceholderText);
  m_summary->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_table->setModel(m_model);
  m_table->setAccessibleName(tr("Events of the rank"));
  views::setUpTable(*m_table);
  m_table->setColumnWidth(TimelineModel::SerialColumn, 70);
  m_table->setColumnWidth(TimelineModel::TimeColumn, 70);
  m_table->setColumnWidth(TimelineModel::CallColumn, 130);
  m_table->setColumnWidth(TimelineModel::PeerColumn, 90);
  m_table->setColumnWidth(TimelineModel::TagColumn, 70);
  m_table->setColumnWidth(TimelineModel::BytesColumn, 70);
  m_table->setColumnWidth(TimelineModel::CommColumn, 150);
  m_table->setColumnWidth(TimelineModel::PlaceColumn, 150);
  auto* top = new QHBoxLayout;
  top->setContentsMargins(6, 4, 6, 0);
  top->addWidget(m_ranks);
  top->addWidget(m_filter, 1);
  top->addWidget(m_summary, 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addLayout(top);
  layout->addWidget(m_table, 1);
  m_pause.setSingleShot(true);
  m_pause.setInterval(150);
  connect(&m_pause, &QTimer::timeout, this, &TimelineWidget::refresh);
  connect(m_filter, &QLineEdit::textChanged, &m_pause, qOverload<>(&QTimer::start));
  connect(m_filter, &QLineEdit::returnPressed, this, &TimelineWidget::refresh);
  connect(m_ranks, &QComboBox::currentIndexChanged, this, &TimelineWidget::refresh);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) {
            if (!m_quiet && current.isValid()) {
              m_selected = m_model->eventAt(current.row());
              m_toBring = false;
              Q_EMIT eventSelected(m_selected);
            }
          });
}

void TimelineWidget::setTrace(const views::TraceIndexPtr& trace) {
  m_trace = trace;
  m_positions.clear();
  m_selected = {};
  m_quiet = true;
  m_shown = {};
  m_model->show(nullptr, -1);  // nobody is to click what is of the former trace
  m_ranks->clear();
  for (std::size_t rank = 0; m_trace != nullptr && rank < m_trace->rankCount(); ++rank) {
    m_ranks->addItem(tr("Rank %1").arg(rank));
  }
  m_quiet = false;
  refresh();
}

void TimelineWidget::renewTrace(const views::TraceIndexPtr& trace) {
  if (m_trace == nullptr || m_trace->rankCount() != trace->rankCount()) {
    setTrace(trace);
    return;
  }
  m_trace = trace;
  refresh();
}

void TimelineWidget::setSelectedEvent(const EventRef& event) {
  if (event == m_selected) {
    return;
  }
  m_selected = event;
  m_toBring = true;
  if (m_trace == nullptr || !m_trace->contains(event)) {
    return;
  }
  if (event.rank != m_ranks->currentIndex()) {
    m_ranks->setCurrentIndex(event.rank);  // shows it
  } else {
    m_toBring = !goTo(event.serial, true);
  }
}

void TimelineWidget::setPositions(const std::vector<values::ReplayPosition>& positions) {
  m_positions = positions;
  markNext();
}

void TimelineWidget::markNext() {
  Serial next = 0;
  for (const values::ReplayPosition& position : m_positions) {
    next = position.rank == m_ranks->currentIndex() ? position.next : next;
  }
  m_model->setNext(next);
}

void TimelineWidget::refresh() {
  m_pause.stop();
  m_stop.request_stop();
  m_search.forget();
  m_stale = !isVisible();
  if (m_quiet || m_stale) {
    return;
  }
  const Rank rank = m_ranks->currentIndex();
  const QString query = m_filter->text();
  if (m_trace == nullptr || query.trimmed().isEmpty()) {
    fill(m_trace, {rank, {}});
  } else if (m_trace->lastSerial(rank) <= views::kFewEvents) {
    fill(m_trace, {rank, query}, views::searchRank(*m_trace, rank, query));
  } else {  // until they are found, the former rows stay, but not those of another rank
    if (m_model->rank() != rank) {
      m_shown = {};
      m_model->show(m_trace, rank, views::EventSearch{});
    }
    m_summary->setText(tr("searching …"));
    m_stop = {};
    m_search.run(
        [trace = m_trace, rank, query, stop = m_stop.get_token()] {
          return views::searchRank(*trace, rank, query, stop);
        },
        [this, trace = m_trace, rank, query](const views::EventSearch& found) {
          fill(trace, {rank, query}, found);
        });
  }
}

void TimelineWidget::fill(const views::TraceIndexPtr& trace, const Rows& rows,
                          const std::optional<views::EventSearch>& found) {
  const Rank rank = rows.rank;
  const bool isThere = trace != nullptr && m_selected.rank == rank && trace->contains(m_selected);
  const bool keep = m_shown == rows && !(isThere && m_toBring);
  m_shown = rows;
  const int scrolled = m_table->verticalScrollBar()->value();
  m_quiet = true;
  m_model->show(trace, rank, found);
  markNext();
  m_quiet = false;
  const auto all = trace != nullptr ? trace->lastSerial(rank) : 0;
  m_summary->setText(!m_model->problem().isEmpty() ? m_model->problem()
                     : std::cmp_equal(m_model->rowCount(), all)
                         ? values::counted(all, tr("event"), tr("events"))
                         : tr("%1 of %2 events").arg(m_model->rowCount()).arg(all));
  if (isThere) {
    goTo(m_selected.serial, !keep);
    m_toBring = false;
  }
  if (keep) {
    m_table->verticalScrollBar()->setValue(scrolled);
  }
}

bool TimelineWidget::goTo(Serial serial, bool bringIntoView) {
  m_quiet = true;
  const QModelIndex index = m_model->index(m_model->rowOf(serial), 0);
  const bool isThere = m_model->eventAt(index.row()).serial == serial;
  m_table->setCurrentIndex(isThere ? index : QModelIndex());
  if (bringIntoView) {
    m_table->scrollTo(index, QAbstractItemView::PositionAtCenter);
  }
  m_quiet = false;
  return isThere;
}

QString TimelineWidget::summary() const {
  return m_summary->text();
}

void TimelineWidget::showEvent(QShowEvent* event) {
  ViewWidget::showEvent(event);
  if (m_stale) {
    refresh();
  }
}

}  // namespace pf::plugins

#include "moc_timeline_widget.cpp"
