// SPDX-License-Identifier: MIT
#include "plugins/queues/queues_widget.h"

#include <algorithm>

#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include "views/panes/item_views.h"
#include "views/trace/analyses/calls_now.h"
#include "views/trace/analyses/waits_text.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::plugins {

using Qt::Literals::StringLiterals::operator""_s;

const PhotofinishPlugin* queuesPlugin() {
  return bundledPane<kQueues, QueuesWidget>();
}

QueuesWidget::QueuesWidget(QWidget* parent)
    : ViewWidget(parent),
      m_moment(new QComboBox),
      m_filter(new QLineEdit),
      m_summary(new QLabel),
      m_waits(new QLabel),
      m_model(new QueuesModel(this)),
      m_proxy(new QSortFilterProxyModel(this)),
      m_table(new QTableView),
      m_canvas(new WaitsCanvas) {
  setObjectName(u"queues"_s);
  m_moment->addItems(
      {tr("Where the replay is"), tr("Just before the selected event"), tr("End of the record")});
  m_moment->setCurrentIndex(End);
  m_moment->setAccessibleName(tr("Moment of the run"));
  m_filter->setPlaceholderText(tr("Filter: words of a row"));
  m_filter->setClearButtonEnabled(true);
  m_filter->setFixedWidth(220);
  m_summary->setTextFormat(Qt::PlainText);
  m_summary->setForegroundRole(QPalette::PlaceholderText);
  m_summary->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_waits->setObjectName(u"waits"_s);
  m_waits->setTextFormat(Qt::PlainText);
  m_waits->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_waits->setContentsMargins(8, 0, 8, 0);
  m_waits->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_waits->hide();
  m_proxy->setSourceModel(m_model);
  m_proxy->setSortRole(values::SortRole);
  m_proxy->setFilterKeyColumn(-1);
  m_proxy->setFilterCaseSensitivity(Qt::CaseInsensitive);
  m_table->setModel(m_proxy);
  views::setUpTable(*m_table);
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(QueuesModel::RankColumn, Qt::AscendingOrder);
  m_table->setColumnWidth(QueuesModel::RankColumn, 50);
  m_table->setColumnWidth(QueuesModel::TagColumn, 70);
  m_table->setColumnWidth(QueuesModel::CommColumn, 150);
  m_table->setColumnWidth(QueuesModel::BytesColumn, 70);
  m_table->setColumnWidth(QueuesModel::EventColumn, 140);
  m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
  auto* csv = new QAction(tr("Copy the queues as CSV"), this);
  auto* dot = new QAction(tr("Copy the waits-for graph as DOT"), this);
  connect(csv, &QAction::triggered, this,
          [this] { copy(m_trace != nullptr ? views::queuesCsv(*m_trace, m_state) : QString()); });
  connect(dot, &QAction::triggered, this, [this] { copy(views::waitsDot(m_state)); });
  m_table->addActions({csv, dot});
  m_canvas->addActions({csv, dot});
  m_canvas->setContextMenuPolicy(Qt::ActionsContextMenu);

  layOut();
  connect(m_moment, &QComboBox::currentIndexChanged, this, &QueuesWidget::refresh);
  connect(m_filter, &QLineEdit::textChanged, m_proxy, &QSortFilterProxyModel::setFilterFixedString);
  connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) {
    Q_EMIT eventSelected(m_model->item(m_proxy->mapToSource(index).row()).event);
  });
  connect(m_canvas, &WaitsCanvas::rankClicked, this, [this](int rank) {
    for (const views::RankWait& wait : m_state.waits) {
      if (wait.rank == rank) {
        Q_EMIT eventSelected(wait.event);
      }
    }
  });
}

void QueuesWidget::layOut() {
  auto* top = new QHBoxLayout;
  top->setContentsMargins(6, 4, 6, 0);
  top->addWidget(m_moment);
  top->addWidget(m_filter);
  top->addWidget(m_summary, 1);
  auto* split = new QSplitter;
  split->addWidget(m_table);
  split->addWidget(m_canvas);
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 1);
  split->setSizes({700, 260});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addLayout(top);
  layout->addWidget(m_waits);
  layout->addWidget(split, 1);
}

void QueuesWidget::copy(const QString& text) {
  QGuiApplication::clipboard()->setText(text);
}

void QueuesWidget::setTrace(const views::TraceIndexPtr& trace) {
  m_trace = trace;
  m_positions.clear();
  m_selected = {};
  m_moment->setCurrentIndex(End);
  refresh();
}

void QueuesWidget::renewTrace(const views::TraceIndexPtr& trace) {
  m_trace = trace;
  refresh();
}

void QueuesWidget::setSelectedEvent(const EventRef& event) {
  m_selected = event;
  if (m_moment->currentIndex() == Selected) {
    refresh();
  }
}

void QueuesWidget::setPositions(const std::vector<values::ReplayPosition>& positions) {
  const bool began = m_positions.empty() && !positions.empty();
  const bool ended = !m_positions.empty() && positions.empty();
  m_positions = positions;
  if (began && m_moment->currentIndex() == End) {
    m_moment->setCurrentIndex(Present);
  } else if (ended && m_moment->currentIndex() == Present) {
    m_moment->setCurrentIndex(End);
  } else if (m_moment->currentIndex() == Present) {
    refresh();
  }
}

/// Of the moment that is chosen; holds what it looks at.
std::function<views::JobState()> QueuesWidget::question() const {
  return [trace = m_trace, moment = m_moment->currentIndex(), positions = m_positions,
          selected = m_selected] {
    const views::JobCut cut = moment == Present    ? views::cutOf(*trace, positions)
                              : moment == Selected ? views::cutJustBefore(*trace, selected)
                                                   : views::cutAtEnd(*trace);
    return views::jobStateAt(*trace, cut);
  };
}

void QueuesWidget::refresh() {
  m_stale = !isVisible();
  if (m_stale) {
    return;
  }
  m_working.forget();
  if (m_trace != nullptr && m_trace->pages() != nullptr) {
    m_summary->setText(tr("looking through the messages …"));
    m_working.run(question(), [this](const views::JobState& state) { showState(state); });
  } else {
    showState(m_trace != nullptr ? question()() : views::JobState{});
  }
}

namespace {

/// Every recorded rank has at least its MPI_Init.
bool isRecorded(const views::TraceIndex& trace) {
  return trace.pages() != nullptr || trace.eventCount() > 0;
}

}  // namespace

void QueuesWidget::showState(views::JobState state) {
  const QModelIndex current = m_proxy->mapToSource(m_table->currentIndex());
  const views::QueueItem chosen =
      current.isValid() ? m_model->item(current.row()) : views::QueueItem();
  m_state = std::move(state);
  m_model->set(m_trace, m_state.items);
  for (std::size_t row = 0; chosen.event.valid() && row < m_state.items.size(); ++row) {
    if (m_state.items[row].event == chosen.event && m_state.items[row].kind == chosen.kind) {
      m_table->setCurrentIndex(m_proxy->mapFromSource(m_model->index(static_cast<int>(row), 0)));
      break;
    }
  }
  const bool recorded = m_trace == nullptr || isRecorded(*m_trace);
  m_moment->setEnabled(recorded);
  m_canvas->setState(&m_state, recorded || !m_trace->data().calls.empty());
  std::size_t unexpected = 0;
  for (const views::QueueItem& item : m_state.items) {
    unexpected += item.kind == views::QueueItem::Kind::Unexpected ? 1U : 0U;
  }
  QString text = m_trace == nullptr ? QString()
                                    : tr("%1 posted, %2 unexpected, %3 of %4 ranks wait")
                                          .arg(m_state.items.size() - unexpected)
                                          .arg(unexpected)
                                          .arg(m_state.waits.size())
                                          .arg(m_trace->rankCount());
  if (!m_state.stuck.empty()) {
    text += tr("; %1 cannot go on").arg(m_state.stuck.size());
  }
  if (m_trace != nullptr && m_moment->currentIndex() == Selected &&
      !m_trace->contains(m_selected)) {
    text = tr("No event is selected");
  }
  if (!recorded) {
    text = tr("Not known of a job that was not recorded: which messages and receives there are; "
              "where %1 of %2 ranks stand is")
               .arg(m_trace->data().calls.size())
               .arg(m_trace->rankCount());
  }
  m_summary->setText(text);
  showWaits();
}

/// Who waits in what, for whom: of many the first, and all of them in the tip.
void QueuesWidget::showWaits() {
  constexpr qsizetype kShown = 4;
  constexpr qsizetype kInTip = 40;
  QStringList lines;
  if (m_trace != nullptr && !m_trace->data().calls.empty()) {
    lines = views::remarksOnCalls(m_trace->data().calls, m_trace->rankCount());
  }
  const qsizetype remarks = lines.size();
  for (const views::RankWait& wait : m_state.waits) {
    lines << views::waitText(*m_trace, wait);
    if (lines.size() > kInTip) {
      break;
    }
  }
  const auto all = remarks + static_cast<qsizetype>(m_state.waits.size());
  const auto firstOf = [&](qsizetype count) {
    QString text = lines.first(std::min(count, lines.size())).join(u'\n');
    return all > count ? text + tr("\n… and %1 more").arg(all - count) : text;
  };
  m_waits->setText(firstOf(kShown));
  m_waits->setToolTip(all > kShown ? values::plainToolTip(firstOf(kInTip)) : QString());
  m_waits->setVisible(!lines.isEmpty());
}

QString QueuesWidget::summary() const {
  return m_summary->text();
}

QString QueuesWidget::waitsText() const {
  return m_waits->text();
}

void QueuesWidget::showEvent(QShowEvent* event) {
  ViewWidget::showEvent(event);
  if (m_stale) {
    refresh();
  }
}

}  // namespace pf::plugins

#include "moc_queues_widget.cpp"
