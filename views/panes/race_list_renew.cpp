// SPDX-License-Identifier: GPL-3.0-or-later
// The race list takes a newer version of the run that it shows: what is selected stays, by what it
// is.
#include <algorithm>
#include <utility>

#include <QHeaderView>
#include <QScrollBar>
#include <QTableView>
#include <QTreeWidget>

#include "views/models/race_list_model.h"
#include "views/panes/race_classes_view.h"
#include "views/panes/race_list_view.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {
namespace {

/// The race that is at the same events; -1: none.
int sameRace(const TraceIndex& trace, int race, const TraceIndex& newer) {
  if (race < 0) {
    return -1;
  }
  const EventRef chosen = trace.races().eventOf(at(race));
  const EventRef observed = trace.races().completionOf(at(race));
  if (!newer.contains(chosen)) {
    return -1;
  }
  for (const std::uint32_t other : newer.races().at(chosen)) {
    if (newer.races().eventOf(other) == chosen && newer.races().completionOf(other) == observed) {
      return static_cast<int>(other);
    }
  }
  return -1;
}

}  // namespace

void RaceListView::renewTrace(const TraceIndexPtr& trace) {
  if (m_model->trace() == nullptr) {
    setTrace(trace);
    return;
  }
  m_judging.forget();
  m_wanted = selectedRace() >= 0 ? sameRace(*m_model->trace(), selectedRace(), *trace) : -1;
  if (trace->data().races.size() > kFewEvents) {  // until it is judged, the former version stays
    m_judging.run([trace, failing = m_failing] { return judgeRaces(trace, failing); },
                  [this, trace](const JudgedRaces& judged) { showNewer(trace, judged); });
  } else {
    showNewer(trace, judgeRaces(trace, m_failing));
  }
}

void RaceListView::setFailing(const EventRef& event) {
  if (event == m_failing) {
    return;
  }
  m_failing = event;
  if (const TraceIndexPtr shown = m_model->trace(); shown != nullptr) {
    renewTrace(shown);
  }
}

void RaceListView::showNewer(const TraceIndexPtr& trace, const JudgedRaces& judged) {
  const RaceClass* known = m_classes->model()->classAt(m_classes->selectedRow());
  const QString key = known != nullptr ? known->key : QString();
  const QByteArray columns = m_table->horizontalHeader()->saveState();
  const int scrolled = m_table->verticalScrollBar()->value();
  const QTreeWidgetItem* item = m_details->currentItem();
  const QVariant end = item != nullptr ? item->data(0, KeyRole) : QVariant();
  const bool empty = m_model->rowCount() == 0;
  const std::vector<RaceClass>& classes = judged.classes->all();
  const auto row = std::ranges::find(classes, key, &RaceClass::key);
  const int classRow =
      key.isEmpty() || row == classes.end() ? 0 : static_cast<int>(row - classes.begin()) + 1;
  showTrace(trace, judged);
  m_quiet = true;
  m_classes->selectRow(classRow);
  m_quiet = false;
  if (!empty) {
    m_table->horizontalHeader()->restoreState(columns);
  }
  selectRace(std::exchange(m_wanted, -1));
  for (int i = 0; end.isValid() && i < m_details->topLevelItemCount(); ++i) {
    if (m_details->topLevelItem(i)->data(0, KeyRole) == end) {
      selectMessage(m_details->topLevelItem(i)->data(0, KeyRole + 1).toUInt());
      break;
    }
  }
  m_table->verticalScrollBar()->setValue(scrolled);
}

}  // namespace pf::views
