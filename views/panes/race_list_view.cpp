// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/race_list_view.h"

#include <QAction>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QSplitter>
#include <QTableView>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "views/models/race_filter.h"
#include "views/models/race_list_model.h"
#include "views/panes/fitted_columns.h"
#include "views/panes/icons.h"
#include "views/panes/item_views.h"
#include "views/panes/race_classes_view.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

constexpr int kMessageRole = KeyRole + 1;

/// Of the messages of a race.
enum DetailColumn { kEventColumn = 2, kCallColumn, kTagColumn, kPlaceColumn };

QVariant eventVariant(EventRef ref) {
  return QVariant::fromValue(QPair<int, qulonglong>(ref.rank, static_cast<qulonglong>(ref.serial)));
}

EventRef eventOf(const QTreeWidgetItem& item) {
  const auto pair = item.data(0, KeyRole).value<QPair<int, qulonglong>>();
  return {pair.first, static_cast<Serial>(pair.second)};
}

/// The height of a line of text with what is around it, in pixels.
int lineHeight(const QWidget& widget) {
  return widget.fontMetrics().height() + 7;
}

QTreeWidgetItem* endItem(const TraceIndex& trace, const QString& role, EventRef ref, Tag tag,
                         std::uint32_t message, Tone tone) {
  auto* item = new QTreeWidgetItem(
      {role, u"rank %1"_s.arg(ref.rank), QString::number(ref.serial), callName(trace, ref),
       tag == kAnyTag ? QString() : QString::number(tag), siteText(trace, ref)});
  item->setData(0, KeyRole, eventVariant(ref));
  item->setData(0, kMessageRole, message);
  item->setData(0, ToneRole, static_cast<int>(tone));
  item->setData(0, BoldRole, tone != Tone::Normal);
  for (int column = 0; column < item->columnCount(); ++column) {
    item->setData(column, Qt::ToolTipRole, eventDetails(trace, ref));
  }
  return item;
}

}  // namespace

RaceListView::RaceListView(QWidget* parent)
    : QWidget(parent),
      m_classes(new RaceClassesView),
      m_model(new RaceListModel(this)),
      m_proxy(new RaceFilterModel(this)),
      m_filter(new QLineEdit),
      m_count(new QLabel),
      m_table(new QTableView),
      m_columns(new FittedColumns(*m_table, *m_table->horizontalHeader(),
                                  {{RaceListModel::Call, 60}, {RaceListModel::Location, 90}})),
      m_parts(new QSplitter),
      m_replay(new QAction(icon(Icon::ReplayHere), tr("Replay to this receive"), this)),
      m_take(new QAction(tr("Take this message instead"), this)),
      m_find(new QAction(icon(Icon::Find), tr("Filter races"), this)) {
  setObjectName(u"raceListView"_s);
  m_proxy->setSourceModel(m_model);
  m_filter->setPlaceholderText(
      tr("Filter: words, rank:2, from:1, tag:5, file:master.c, kind:probe"));
  m_filter->setClearButtonEnabled(true);
  m_filter->addAction(icon(Icon::Find), QLineEdit::LeadingPosition);
  m_count->setTextFormat(Qt::PlainText);
  m_table->setModel(m_proxy);
  setUpTable(*m_table);
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(RaceListModel::Severity, Qt::AscendingOrder);
  m_table->setAccessibleName(tr("Races"));
  m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
  m_table->addActions({m_replay, m_take});
  m_take->setToolTip(
      tr("Run the program again: all that this receive does not happen before stays as it was, the "
         "receive takes the "
         "message that is selected below, and what comes of it is recorded"));
  connect(m_take, &QAction::triggered, this, &RaceListView::takeInstead);
  m_replay->setToolTip(tr("Re-execute and stop just before this receive (Enter)"));
  m_find->setShortcut(QKeySequence::Find);
  m_find->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  addAction(m_find);

  layOut();
  connect(m_classes, &RaceClassesView::classSelected, this, [this](const std::vector<int>& races) {
    keepSelection([&] { m_proxy->setRaces(races); });
    updateCount();
  });

  connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
    keepSelection([&] { m_proxy->setFilterText(text); });
    updateCount();
  });
  connect(m_find, &QAction::triggered, m_filter, qOverload<>(&QWidget::setFocus));
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          &RaceListView::onCurrent);
  const auto replay = [this] {
    if (const int race = selectedRace(); race >= 0) {
      Q_EMIT replayToRequested(m_model->trace()->races().eventOf(at(race)));
    }
  };
  connect(m_replay, &QAction::triggered, this, replay);
  connect(m_table, &QTableView::activated, this, replay);
  connect(m_table, &QTableView::clicked, this, [this] {
    if (m_told != selectedRace()) {  // it was selected, but by nobody's hand
      m_told = selectedRace();
      Q_EMIT raceSelected(m_told);
    }
  });
  orderTabs();
  setTrace(nullptr);
}

/// From left to right.
void RaceListView::orderTabs() {
  QWidget* before = nullptr;
  for (QWidget* widget :
       {m_classes->findChild<QWidget*>(u"raceClasses"_s), static_cast<QWidget*>(m_filter),
        static_cast<QWidget*>(m_table), static_cast<QWidget*>(m_details)}) {
    if (before != nullptr) {
      QWidget::setTabOrder(before, widget);
    }
    before = widget;
  }
}

/// Classes, their races, the messages of one beside one another; below them in full width why it could have been otherwise.
void RaceListView::layOut() {
  m_details = new QTreeWidget;
  m_details->setObjectName(u"raceDetails"_s);
  m_details->setHeaderLabels(
      {tr("Message"), tr("Sent by"), tr("Event"), tr("Call"), tr("Tag"), tr("Location")});
  setUpTree(*m_details);
  m_details->setRootIsDecorated(false);
  m_detailColumns =
      new FittedColumns(*m_details, *m_details->header(), {{kCallColumn, 60}, {kPlaceColumn, 80}});
  m_details->setContextMenuPolicy(Qt::ActionsContextMenu);
  m_details->addAction(m_take);
  m_why = new QLabel;
  m_why->setTextFormat(Qt::PlainText);
  m_why->setWordWrap(true);
  m_why->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  m_why->setMargin(8);
  m_why->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* scroll = new QScrollArea;
  scroll->setWidget(m_why);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  auto* beside = new QSplitter;
  int each = 0;
  for (QWidget* part : {static_cast<QWidget*>(m_classes), static_cast<QWidget*>(m_table),
                        static_cast<QWidget*>(m_details)}) {
    part->setMinimumSize(120, 3 * lineHeight(*part));
    beside->addWidget(part);
    beside->setStretchFactor(each++, 1);
  }
  beside->setSizes({458, 532, 376});
  beside->setChildrenCollapsible(false);
  scroll->setMinimumHeight(2 * lineHeight(*scroll));
  m_parts->setOrientation(Qt::Vertical);
  m_parts->addWidget(beside);
  m_parts->addWidget(scroll);
  m_parts->setStretchFactor(0, 1);
  m_parts->setStretchFactor(1, 0);
  m_parts->setSizes({300, 3 * lineHeight(*scroll)});
  m_parts->setChildrenCollapsible(false);
  connect(m_parts, &QSplitter::splitterMoved, this, [this] { m_partsAreTheUsers = true; });
  auto* top = new QHBoxLayout;
  top->setContentsMargins(6, 6, 6, 4);
  top->setSpacing(8);
  top->addWidget(m_filter, 1);
  top->addWidget(m_count);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(top);
  layout->addWidget(m_parts, 1);
  connect(m_details, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
    if (item == nullptr || m_quiet) {
      return;
    }
    showWhy(*item);
    Q_EMIT alternativeSelected(item->data(0, kMessageRole).toUInt());
    Q_EMIT sourceRequested(eventOf(*item));
  });
  connect(m_details, &QTreeWidget::itemActivated, this,
          [this](const QTreeWidgetItem* item) { Q_EMIT eventSelected(eventOf(*item)); });
}

void RaceListView::takeInstead() {
  const int race = selectedRace();
  if (race < 0) {
    return;
  }
  const TraceIndex& trace = *m_model->trace();
  const Race& r = trace.data().races[at(race)];
  const QTreeWidgetItem* item = m_details->currentItem();
  std::uint32_t message = item != nullptr ? item->data(0, kMessageRole).toUInt() : kNone;
  if (message == r.taken || message >= trace.execution().messages.size()) {
    message = r.alternatives.empty() ? kNone : r.alternatives.front();
  }
  if (message < trace.execution().messages.size()) {
    Q_EMIT takeInsteadRequested(trace.races().eventOf(at(race)),
                                trace.execution().messages[message].send);
  }
}

void RaceListView::showWhy(const QTreeWidgetItem& item) {
  const int race = selectedRace();
  const auto message = item.data(0, kMessageRole).toUInt();
  if (race >= 0 && message != kNone) {
    const bool taken = message == m_model->trace()->data().races.taken(at(race));
    m_why->setText(taken ? tr("This is the message that the receive took in this run.")
                         : whyConcurrent(*m_model->trace(), at(race), message));
    fitWhy();
  }
}

/// All of the explanation is seen, where that leaves half of the height to the lists.
void RaceListView::fitWhy() {
  const int height = m_parts->height() - m_parts->handleWidth();
  if (m_partsAreTheUsers || height <= 0) {
    return;
  }
  const int text = m_why->heightForWidth(m_parts->width());
  const int why = std::min(std::max(text, 3 * lineHeight(*m_why)), height / 2);
  m_parts->setSizes({height - why, why});
}

void RaceListView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitWhy();
}

void RaceListView::selectMessage(std::uint32_t message) {
  for (int row = 0; row < m_details->topLevelItemCount(); ++row) {
    QTreeWidgetItem* item = m_details->topLevelItem(row);
    if (item->data(0, kMessageRole).toUInt() == message) {
      m_quiet = true;
      m_details->setCurrentItem(item);
      m_quiet = false;
      showWhy(*item);
      return;
    }
  }
}

void RaceListView::setTrace(const TraceIndexPtr& trace) {
  m_judging.forget();
  m_wanted = -1;
  if (trace && trace->data().races.size() > kFewEvents) {
    showTrace(nullptr, {});
    m_count->setText(tr("working …"));
    m_judging.run([trace, failing = m_failing] { return judgeRaces(trace, failing); },
                  [this, trace](const JudgedRaces& judged) {
                    showTrace(trace, judged);
                    selectRace(std::exchange(m_wanted, -1));
                  });
    return;
  }
  showTrace(trace, judgeRaces(trace, m_failing));
}

/// What is selected stays so while the list is filtered, if it is still shown.
void RaceListView::keepSelection(const std::function<void()>& change) {
  const int race = selectedRace();
  change();
  if (race < 0) {
    return;
  }
  const QModelIndex index = m_proxy->mapFromSource(m_model->index(race, 0));
  const bool quiet = std::exchange(m_quiet, true);
  m_table->setCurrentIndex(index);
  m_quiet = quiet;
  if (!index.isValid()) {
    onCurrent();
  }
}

void RaceListView::showTrace(const TraceIndexPtr& trace, const JudgedRaces& judged) {
  m_quiet = true;
  m_model->setTrace(trace, judged);
  m_classes->setTrace(trace, judged.severity, judged.classes);
  showDetails(-1);
  m_quiet = false;
  updateCount();
  if (m_model->rowCount() > 0) {
    m_table->horizontalHeader()->setResizeContentsPrecision(100);
    m_columns->fit({RaceListModel::Class, RaceListModel::FromRanks, RaceListModel::TakenTag,
                    RaceListModel::Alternatives, RaceListModel::Call});
  }
}

void RaceListView::setVerdicts(const RaceBaseline& verdicts) {
  m_classes->setVerdicts(verdicts);
  updateCount();
}

void RaceListView::updateCount() {
  const int all = m_model->rowCount();
  const int shown = m_proxy->rowCount();
  m_count->setText(!m_model->trace() ? QString()
                   : all == 0        ? tr("no races")
                   : shown == all    ? counted(at(all), tr("race"), tr("races"))
                                     : tr("%1 of %2 races").arg(shown).arg(all));
  if (const int benign = m_classes->model()->benignRaces(); benign > 0) {
    m_count->setText(tr("%1, %2 benign").arg(m_count->text()).arg(benign));
  }
}

int RaceListView::selectedRace() const {
  const QModelIndex current = m_table->currentIndex();
  return current.isValid() ? m_proxy->mapToSource(current).row() : -1;
}

void RaceListView::selectRace(int race) {
  if (m_judging.isBusy()) {
    m_wanted = race;
    return;
  }
  if (race == selectedRace()) {
    return;
  }
  m_quiet = true;
  if (race >= 0 && m_classes->selectedRow() != 0) {
    m_classes->selectRow(m_classes->model()->rowOf(race));  // of another class: it shows that one
  }
  const QModelIndex index = m_proxy->mapFromSource(m_model->index(race, 0));
  if (index.isValid()) {
    m_table->setCurrentIndex(index);
    m_table->scrollTo(index);
  } else {
    m_table->setCurrentIndex({});
  }
  showDetails(selectedRace());
  m_told = -1;
  m_quiet = false;
}

void RaceListView::onCurrent() {
  const int race = selectedRace();
  m_replay->setEnabled(race >= 0);
  m_take->setEnabled(race >= 0);
  if (m_quiet) {
    return;
  }
  m_quiet = true;
  showDetails(race);
  m_quiet = false;
  m_told = race;
  Q_EMIT raceSelected(race);
}

void RaceListView::showDetails(int race) {
  m_details->clear();
  m_why->clear();
  if (race < 0) {
    if (m_model->rowCount() > 0) {
      m_why->setText(
          tr("Select a race: the messages that it could have taken instead are listed, and why."));
    }
    return;
  }
  const TraceIndex& trace = *m_model->trace();
  const Race& r = trace.data().races[at(race)];
  const auto& messages = trace.execution().messages;
  if (r.taken < messages.size()) {
    m_details->addTopLevelItem(endItem(trace, tr("taken"), messages[r.taken].send,
                                       messages[r.taken].tag, r.taken, Tone::Race));
  }
  int number = 0;
  for (const std::uint32_t m : r.alternatives) {
    ++number;
    if (m < messages.size()) {
      m_details->addTopLevelItem(endItem(trace, tr("alternative %1").arg(number), messages[m].send,
                                         messages[m].tag, m, Tone::Normal));
    }
  }
  m_detailColumns->fit({kTagColumn, kEventColumn});
  QString text =
      tr("%1 of rank %2 at %3 accepts %4. ")
          .arg(callName(trace, trace.races().eventOf(at(race))))
          .arg(r.rank)
          .arg(siteText(trace, trace.races().eventOf(at(race))), raceEnvelope(trace, at(race)));
  if (!r.alternatives.empty()) {
    text += tr("Alternative 1: ") + whyConcurrent(trace, at(race), r.alternatives.front());
  }
  text += QLatin1Char('\n') + m_model->severityText(race);
  for (const QString& line : m_judges ? m_judges(race) : QStringList()) {
    text += QLatin1Char('\n') + line;
  }
  m_why->setText(text);
  fitWhy();
}

}  // namespace pf::views

#include "moc_race_list_view.cpp"
