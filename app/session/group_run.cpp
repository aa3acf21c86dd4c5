// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/group_run.h"

#include <QTimer>

namespace pf::session {
namespace {

constexpr int kFirstReportMs =
    250;  ///< an action that is done by then needs no word about stragglers

}  // namespace

void GroupRun::begin(const QString& action, const QString& who, const QList<int>& ranks,
                     const QList<int>& debugless) {
  m_run.begin({action, who, ranks, QSet<int>(ranks.begin(), ranks.end()), debugless});
  m_told.clear();
  QTimer::singleShot(kFirstReportMs, this, [this, run = m_run.guard()] {
    if (run) {
      tell();
    }
  });
}

void GroupRun::end() {
  m_run.drop();
  m_told.clear();
  Q_EMIT changed({});
}

void GroupRun::arrived(int rank) {
  if (m_run->underWay.remove(rank)) {
    tell();
  }
}

void GroupRun::moved(int rank) {
  if (!m_told.isEmpty() && m_run->underWay.contains(rank)) {
    tell();
  }
}

void GroupRun::tell() {
  const bool alone = m_run->ranks.size() < 2 && m_run->debugless.isEmpty();
  if (m_run->ranks.isEmpty()) {
    return;
  }
  const QString text = alone && m_run->underWay.isEmpty()
                           ? QString()
                           : values::groupRunText(*m_run, m_state.rankStates());
  if (text != m_told) {
    m_told = text;
    Q_EMIT changed(text);
  }
}

}  // namespace pf::session

#include "moc_group_run.cpp"
