// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/rank_strip.h"

#include <algorithm>

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QListView>
#include <QMenu>
#include <QPainter>
#include <QStackedWidget>
#include <QTableView>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "views/models/rank_models.h"
#include "views/panes/action_tips.h"
#include "views/panes/icons.h"
#include "views/panes/item_views.h"
#include "views/panes/theme.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

enum Scope { CurrentScope, SelectedScope, FocusScope, AllScope, FirstGroup };

/// A cell of the grid: number, colour and a letter for the state, a frame for the focus set.
class GridDelegate : public PlainDelegate {
 public:
  using PlainDelegate::PlainDelegate;

  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option,
                               const QModelIndex& /*index*/) const override {
    const QFontMetrics metrics(option.font);
    return {metrics.horizontalAdvance(u"0000"_s) + 24, metrics.height() + 10};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const Theme theme = Theme::of(option.palette);
    const auto activity = static_cast<RankActivity>(index.data(RanksModel::ActivityRole).toInt());
    const auto tone =
        static_cast<Tone>(index.siblingAtColumn(RanksModel::StateColumn).data(ToneRole).toInt());
    const QColor ink = tone == Tone::Normal ? theme.muted : theme.tone(tone);
    const QRectF box = QRectF(option.rect).adjusted(2, 2, -2, -2);
    const bool selected = (option.state & QStyle::State_Selected) != 0;
    const bool focus = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(selected ? QPen(theme.selection, 2)
                             : QPen(withAlpha(ink, focus ? 0.9 : 0.35), 1));
    const bool runs = activity != RankActivity::NotStarted && !isAbsent(activity);
    painter->setBrush(mixed(theme.base, ink, runs ? 0.2 : 0.05));
    painter->drawRoundedRect(box, 3, 3);
    painter->setPen(isAbsent(activity) ? theme.muted : theme.text);
    painter->drawText(box.adjusted(6, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                      index.data().toString());
    painter->setPen(ink);
    QFont bold = option.font;
    bold.setBold(true);
    painter->setFont(bold);
    painter->drawText(box.adjusted(0, 0, -5, 0), Qt::AlignVCenter | Qt::AlignRight,
                      letter(activity));
    painter->restore();
  }

 private:
  [[nodiscard]] static QString letter(RankActivity activity) {
    switch (activity) {
      case RankActivity::NotStarted:
        return u"–"_s;
      case RankActivity::Gated:
        return u"g"_s;
      case RankActivity::Running:
        return u"▸"_s;
      case RankActivity::InCall:
        return u"…"_s;
      case RankActivity::Stopped:
        return u"‖"_s;
      case RankActivity::Failed:
        return u"✕"_s;
      case RankActivity::Finished:
        return u"✓"_s;
      case RankActivity::Lost:
        return u"?"_s;
      case RankActivity::NotInReplay:
      case RankActivity::NotHere:
        return {};
    }
    return {};
  }
};

}  // namespace

RankStrip::RankStrip(QWidget* parent)
    : QWidget(parent),
      m_model(new RanksModel(this)),
      m_stack(new QStackedWidget),
      m_table(new QTableView),
      m_grid(new QListView),
      m_scope(new QComboBox),
      m_summary(new QLabel) {
  setObjectName(u"rankStrip"_s);
  makeViews();
  auto* bar = new QToolBar;
  bar->setIconSize({18, 18});
  m_scope->setToolTip(tr("Ranks that the buttons are for"));
  setGroups({});
  bar->addWidget(m_scope);
  makeActions(*bar);
  makeGroupMenu(*bar);
  m_summary->setTextFormat(Qt::PlainText);
  m_summary->setForegroundRole(QPalette::PlaceholderText);
  m_summary->setMargin(4);
  m_summary->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(bar);
  layout->addWidget(m_stack, 1);
  layout->addWidget(m_summary);

  connect(m_model, &RanksModel::focusChanged, this, &RankStrip::focusChanged);
  for (const auto signal : {&QAbstractItemModel::modelReset}) {
    connect(m_model, signal, this, &RankStrip::refreshMode);
  }
  connect(m_model, &QAbstractItemModel::rowsInserted, this, &RankStrip::refreshMode);
  connect(m_model, &QAbstractItemModel::dataChanged, this, [this](const QModelIndex& from) {
    fitWhere();
    const auto activity = static_cast<RankActivity>(from.data(RanksModel::ActivityRole).toInt());
    if (isAbsent(activity)) {
      m_table->setColumnWidth(
          RanksModel::StateColumn,
          std::max(m_table->columnWidth(RanksModel::StateColumn),
                   m_table->fontMetrics().horizontalAdvance(activityText(activity)) + 20));
    }
    refreshActions();
  });
  connect(m_scope, &QComboBox::currentIndexChanged, this, &RankStrip::refreshActions);
  connect(m_selection, &QItemSelectionModel::selectionChanged, this, &RankStrip::refreshActions);
  connect(m_selection, &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            refreshActions();
            if (!m_quiet && now.isValid()) {
              Q_EMIT currentRankChanged(now.data(KeyRole).toInt());
            }
          });
  refreshMode();
}

void RankStrip::makeViews() {
  m_table->setModel(m_model);
  setUpTable(*m_table);
  m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
  m_selection = m_table->selectionModel();
  m_table->horizontalHeader()->setMinimumSectionSize(36);
  m_grid->setModel(m_model);
  m_grid->setSelectionModel(m_selection);
  m_grid->setItemDelegate(new GridDelegate(m_grid));
  m_grid->setSelectionMode(QAbstractItemView::ExtendedSelection);
  m_grid->setFlow(QListView::LeftToRight);
  m_grid->setWrapping(true);
  m_grid->setResizeMode(QListView::Adjust);
  m_grid->setUniformItemSizes(true);
  m_grid->setFrameShape(QFrame::NoFrame);
  m_stack->addWidget(m_table);
  m_stack->addWidget(m_grid);
}

void RankStrip::makeActions(QToolBar& bar) {
  struct Spec {
    RankAction action;
    const char* name;
    Icon icon;
    QKeySequence keys;
  };
  const Spec specs[] = {
      {RankAction::Continue, "continueRanks", Icon::Continue, QKeySequence(Qt::Key_F5)},
      {RankAction::Pause, "pauseRanks", Icon::Pause, QKeySequence(Qt::Key_F6)},
      {RankAction::Next, "nextLine", Icon::StepOver, QKeySequence(Qt::Key_F10)},
      {RankAction::Step, "stepIn", Icon::StepInto, QKeySequence(Qt::Key_F11)},
      {RankAction::Finish, "stepOut", Icon::StepOut, QKeySequence(Qt::SHIFT | Qt::Key_F11)}};
  for (const Spec& spec : specs) {
    auto* made = new QAction(icon(spec.icon), actionText(spec.action), this);
    made->setObjectName(QString::fromLatin1(spec.name));
    made->setShortcut(spec.keys);
    made->setToolTip(
        u"%1 (%2)"_s.arg(actionText(spec.action), spec.keys.toString(QKeySequence::NativeText)));
    bar.addAction(made);
    m_actions[spec.action] = made;
    connect(made, &QAction::triggered, this, [this, action = spec.action] {
      if (const QList<int> ranks = scopeRanks(); !ranks.isEmpty()) {
        Q_EMIT actionRequested(action, ranks, scopeName());
      }
    });
  }
}

void RankStrip::makeGroupMenu(QToolBar& bar) {
  m_makeGroup = new QAction(icon(Icon::Add), tr("Make a group of the selected ranks …"), this);
  connect(m_makeGroup, &QAction::triggered, this, [this] {
    const QList<int> ranks = selectedRanks();
    if (!ranks.isEmpty()) {
      Q_EMIT groupRequested(
          (ranks.size() == 1 ? tr("rank %1") : tr("ranks %1")).arg(rankSetText(ranks)), ranks);
    }
  });
  for (QWidget* view : {static_cast<QWidget*>(m_table), static_cast<QWidget*>(m_grid)}) {
    view->setContextMenuPolicy(Qt::ActionsContextMenu);
    view->addAction(m_makeGroup);
  }
  m_groupMenu = new QMenu(this);
  connect(m_groupMenu, &QMenu::aboutToShow, this, &RankStrip::fillGroupMenu);
  auto* button = new QToolButton;
  button->setText(tr("Groups"));
  button->setToolTip(tr("Make and remove groups of ranks"));
  button->setPopupMode(QToolButton::InstantPopup);
  button->setMenu(m_groupMenu);
  bar.addSeparator();
  bar.addWidget(button);
}

void RankStrip::fillGroupMenu() {
  m_groupMenu->clear();
  m_groupMenu->addAction(m_makeGroup);
  const auto offer = [this](QMenu* menu, const RankGroup& group) {
    menu->addAction(u"%1 (%2)"_s.arg(oneLine(group.name), rankSetText(group.ranks)), this,
                    [this, group] { Q_EMIT groupMade(group.name, group.ranks); });
  };
  m_groupMenu->addAction(tr("Combine groups …"), this, &RankStrip::combineRequested);
  QMenu* diagram = m_groupMenu->addMenu(tr("By selection in the diagram"));
  diagram->setEnabled(!m_diagramGroups.isEmpty());
  for (const RankGroup& group : std::as_const(m_diagramGroups)) {
    offer(diagram, group);
  }
  QMenu* states = m_groupMenu->addMenu(tr("By state"));
  for (const RankGroup& group : groupsByState(m_model->ranks())) {
    offer(states, group);
  }
  QMenu* communicators = m_groupMenu->addMenu(tr("By communicator"));
  communicators->setEnabled(!m_communicators.isEmpty());
  for (const RankGroup& group : std::as_const(m_communicators)) {
    offer(communicators, group);
  }
  QMenu* remove = m_groupMenu->addMenu(tr("Remove"));
  remove->setEnabled(!m_groups.isEmpty());
  for (const RankGroup& group : std::as_const(m_groups)) {
    remove->addAction(oneLine(group.name), this,
                      [this, name = group.name] { Q_EMIT groupRemoved(name); });
  }
}

QAction* RankStrip::action(RankAction action) const {
  return m_actions.at(action);
}

void RankStrip::addCommands(const QList<QAction*>& commands) {
  m_table->addActions(commands);
  m_grid->addActions(commands);
}

bool RankStrip::isCompact() const {
  return m_stack->currentWidget() == m_grid;
}

void RankStrip::refreshMode() {
  QWidget* wanted = m_model->rowCount() > kTableLimit ? static_cast<QWidget*>(m_grid) : m_table;
  m_stack->setCurrentWidget(wanted);
  if (wanted == m_table && m_model->rowCount() > 0) {
    m_table->resizeColumnsToContents();
    for (int column = 0; column + 1 < RanksModel::ColumnCount; ++column) {
      m_table->setColumnWidth(column, m_table->columnWidth(column) + 10);
    }
  }
  if (!m_selection->currentIndex().isValid() && m_model->rowCount() > 0) {
    setCurrentRank(m_model->ranks().first().rank);
  }
  refreshActions();
}

void RankStrip::setGroups(const QList<RankGroup>& groups) {
  const int before = m_scope->currentIndex();
  const QString chosen = scopeName();
  const QSignalBlocker block(m_scope);
  m_groups = groups;
  m_scope->clear();
  m_scope->addItems({tr("Current rank"), tr("Selected ranks"), tr("Focus set"), tr("All ranks")});
  for (const RankGroup& group : groups) {
    m_scope->addItem(u"%1 (%2)"_s.arg(oneLine(group.name), rankSetText(group.ranks)));
  }
  int now = before >= 0 && before < FirstGroup ? before : AllScope;
  for (qsizetype i = 0; i < groups.size(); ++i) {
    now = !chosen.isEmpty() && groups[i].name == chosen ? FirstGroup + toInt(i) : now;
  }
  m_scope->setCurrentIndex(now);
  refreshActions();
}

QString RankStrip::scopeName() const {
  const int group = m_scope->currentIndex() - FirstGroup;
  return group >= 0 && group < m_groups.size() ? m_groups[group].name : QString();
}

void RankStrip::setRunText(const QString& text) {
  m_runText = text;
  refreshActions();
}

void RankStrip::setLooksOnly(const QString& why) {
  if (m_looksOnly != why) {
    m_looksOnly = why;
    refreshActions();
  }
}

QString RankStrip::summary() const {
  return m_summary->text();
}

void RankStrip::setCurrentRank(int rank) {
  m_quiet = true;
  const QModelIndex index = m_model->index(m_model->rowOf(rank), 0);
  m_selection->setCurrentIndex(index,
                               QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  m_quiet = false;
  showCurrent();
  refreshActions();
}

/// In a list that is too short for all.
void RankStrip::showCurrent() {
  if (const QModelIndex index = m_selection->currentIndex(); index.isValid()) {
    m_table->scrollTo(index);
    m_grid->scrollTo(index);
  }
}

void RankStrip::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  QMetaObject::invokeMethod(this, &RankStrip::showCurrent, Qt::QueuedConnection);
}

int RankStrip::currentRank() const {
  const QModelIndex index = m_selection->currentIndex();
  return index.isValid() ? index.data(KeyRole).toInt() : -1;
}

QList<int> RankStrip::selectedRanks() const {
  QList<int> out;
  for (const QModelIndex& index : m_selection->selectedRows()) {
    out << index.data(KeyRole).toInt();
  }
  if (isCompact()) {  // a list selects items of one column only
    for (const QModelIndex& index : m_selection->selectedIndexes()) {
      out << index.data(KeyRole).toInt();
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

QList<int> RankStrip::scopeRanks() const {
  const int scope = m_scope->currentIndex();
  if (scope == CurrentScope) {
    return currentRank() < 0 ? QList<int>{} : QList<int>{currentRank()};
  }
  if (scope == SelectedScope) {
    return selectedRanks();
  }
  if (scope == FocusScope) {
    return m_model->focusRanks();
  }
  if (scope >= FirstGroup) {
    return m_groups[scope - FirstGroup].ranks;
  }
  QList<int> all;
  for (const RankState& state : m_model->ranks()) {
    all << state.rank;
  }
  return all;
}

/// Wider as it gets longer, within bounds.
void RankStrip::fitWhere() {
  constexpr int kWidest = 150;
  if (m_stack->currentWidget() == m_table) {
    const int before = m_table->columnWidth(RanksModel::WhereColumn);
    m_table->resizeColumnToContents(RanksModel::WhereColumn);
    const int wanted = std::min(m_table->columnWidth(RanksModel::WhereColumn), kWidest);
    m_table->setColumnWidth(RanksModel::WhereColumn, std::max(before, wanted));
  }
}

QString RankStrip::whyNot(RankAction action) const {
  if (!m_looksOnly.isEmpty()) {
    return m_looksOnly;
  }
  bool stopped = false;
  bool moving = false;
  bool canStep = false;
  for (const int rank : scopeRanks()) {
    if (const RankState* state = m_model->state(rank); state != nullptr) {
      const bool runs =
          state->activity == RankActivity::Running || state->activity == RankActivity::InCall;
      const bool halted =
          state->activity == RankActivity::Stopped || state->activity == RankActivity::Gated;
      stopped = stopped || halted;
      canStep = canStep || (halted && state->debugger);
      moving = moving || runs;
    }
  }
  if (!stopped && !moving) {
    return tr("None of these ranks runs or is stopped (%1).").arg(m_scope->currentText());
  }
  switch (action) {
    case RankAction::Pause:
      return moving ? QString() : tr("None of these ranks runs (%1).").arg(m_scope->currentText());
    case RankAction::Continue:
      return stopped ? QString()
                     : tr("None of these ranks is stopped (%1).").arg(m_scope->currentText());
    case RankAction::Step:
    case RankAction::Next:
    case RankAction::Finish:
      break;
  }
  return canStep   ? QString()
         : stopped ? tr("Stepping needs a debugger on the rank: tick it in the pane Ranks.")
                   : tr("The ranks run: pause them first.");
}

void RankStrip::refreshActions() {
  if (m_actions.empty()) {
    return;  // being made
  }
  for (const auto& [which, action] : m_actions) {
    const QString why = whyNot(which);
    why.isEmpty() ? setPossible(*action, tr("For: %1").arg(m_scope->currentText()))
                  : setWhyNot(*action, why);
  }
  m_summary->setText(m_runText.isEmpty() ? m_model->summary() : oneLine(m_runText));
  m_summary->setToolTip(plainToolTip(m_summary->text()));
}

}  // namespace pf::views

#include "moc_rank_strip.cpp"
