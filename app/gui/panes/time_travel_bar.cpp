// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/time_travel_bar.h"

#include <QAction>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include "views/values/text.h"

namespace pf::gui {
namespace {

constexpr int kSoonMs = 50;

QString barText(const char* text) {
  return QCoreApplication::translate("pf::gui::TimeTravelBar", text);
}

/// How it ended, without its name, which stands before it.
QString bare(const values::RankState& rank) {
  const QString name = barText("rank %1").arg(rank.rank) + QLatin1Char(' ');
  return rank.detail.startsWith(name) ? rank.detail.mid(name.size()) : rank.detail;
}

/// What the rank is at, among its events.
QString momentOf(const values::RankState& rank) {
  using values::RankActivity;
  const QString event = QString::number(rank.serial);
  switch (rank.activity) {
    case RankActivity::NotStarted:
    case RankActivity::Gated:
      return barText("starting");
    case RankActivity::Running:
      return rank.serial == 0 ? barText("running") : barText("running, after event %1").arg(event);
    case RankActivity::InCall:
      return barText("in event %1").arg(event);
    case RankActivity::Finished:
    case RankActivity::Failed:
      return rank.detail.isEmpty() ? barText("ended after event %1").arg(event)
                                   : barText("after event %1, %2").arg(event, bare(rank));
    case RankActivity::Lost:
      return barText("lost");
    case RankActivity::NotInReplay:
      return barText("not in this replay");
    case RankActivity::NotHere:
      return barText("not here");
    case RankActivity::Stopped:
      break;
  }
  return rank.inside        ? barText("in event %1").arg(event)
         : rank.serial == 0 ? barText("before event 1")
                            : barText("after event %1").arg(event);
}

/// "tally.c:53" of "main() at tally.c:53"; empty: no line is known.
QString lineOf(const QString& where) {
  const QString at = barText(" at ");
  const qsizetype from = where.lastIndexOf(at);
  return from < 0 ? QString() : where.mid(from + at.size());
}

/// Of a rank that runs without being recorded, or of a core file.
QString unrecordedMoment(const values::RankState& rank, session::Source source) {
  if (source == session::Source::Cores) {
    return barText("core file");
  }
  return rank.activity == values::RankActivity::Stopped ? barText("attached, stopped")
         : rank.debugger                                ? barText("attached, running")
                                                        : barText("running");
}

}  // namespace

QString positionText(const values::RankState& rank, session::Source source, bool replays, int run) {
  QStringList parts{barText("rank %1").arg(rank.rank)};
  const bool recorded = source == session::Source::Recording;
  // Of ranks that have ended by themselves it is known where.
  const bool stands = replays || rank.activity == values::RankActivity::Finished ||
                      rank.activity == values::RankActivity::Failed;
  if (!recorded) {
    parts << unrecordedMoment(rank, source);
  } else if (!stands) {
    parts << barText("no replay runs");
  } else {
    parts << momentOf(rank) << barText("cycle %1").arg(run);
  }
  if (const QString line = lineOf(rank.where); stands && !line.isEmpty()) {
    parts << line;
  }
  return parts.join(QStringLiteral(" · "));
}

QString backCostText(const std::optional<session::DebugSession::BackCost>& cost, int nextRun) {
  if (!cost) {
    return {};
  }
  const double seconds = static_cast<double>(cost->milliseconds) / 1000;
  const QString time = QString::number(seconds, 'f', seconds < 10 ? 1 : 0);
  return cost->snapshot ? barText("back: about %1 s, from a snapshot").arg(time)
                        : barText("back: starts cycle %1, about %2 s").arg(nextRun).arg(time);
}

TimeTravelBar::TimeTravelBar(const Ways& ways, session::DebugSession& session)
    : m_session(session), m_position(new QLabel), m_cost(new QLabel) {
  setWindowTitle(tr("Time travel"));
  setObjectName(QStringLiteral("timeTravelBar"));
  setToolButtonStyle(Qt::ToolButtonTextOnly);
  add(ways.back);
  addSeparator();
  add(ways.on);
  addSeparator();
  add({ways.failing});
  addSeparator();
  m_position->setObjectName(QStringLiteral("position"));
  m_cost->setObjectName(QStringLiteral("backCost"));
  m_cost->setForegroundRole(QPalette::PlaceholderText);
  auto* const words = new QWidget;
  auto* const lines = new QVBoxLayout(words);
  lines->setContentsMargins(6, 0, 6, 0);
  lines->setSpacing(0);
  for (QLabel* const label : {m_position, m_cost}) {
    label->setTextFormat(Qt::PlainText);
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    lines->addWidget(label);
  }
  m_cost->hide();
  words->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  words->setMinimumWidth(fontMetrics().horizontalAdvance(
      QStringLiteral("rank 00 · after event 0000 · cycle 00 · program.c:000")));
  addWidget(words);
  m_soon.setSingleShot(true);
  m_soon.setInterval(kSoonMs);
  connect(&m_soon, &QTimer::timeout, this, &TimeTravelBar::refresh);
  using session::DebugSession;
  connect(&m_session, &DebugSession::ranksChanged, &m_soon, qOverload<>(&QTimer::start));
  connect(&m_session, &DebugSession::snapshotsChanged, &m_soon, qOverload<>(&QTimer::start));
  connect(&m_session.cycles(), &session::Cycles::changed, &m_soon, qOverload<>(&QTimer::start));
  connect(&m_session, &DebugSession::settled, this, &TimeTravelBar::refresh);
  connect(&m_session.inspector(), &session::Inspector::currentRankChanged, this,
          &TimeTravelBar::refresh);
}

void TimeTravelBar::add(const QList<QAction*>& actions) {
  for (QAction* const action : actions) {
    addAction(action);
    widgetForAction(action)->setObjectName(action->objectName());
  }
}

void TimeTravelBar::refresh() {
  m_soon.stop();
  const QList<values::RankState> ranks = m_session.rankStates();
  const int current = m_session.currentRank();
  if (!m_session.isOpen() || current < 0 || current >= ranks.size()) {
    m_position->clear();
    showCost({});
    return;
  }
  const int run = m_session.cycles().lastNumber();
  m_position->setText(values::oneLine(
      positionText(ranks.at(current), m_session.source(), m_session.isReplaying(), run)));
  m_position->setToolTip(values::plainToolTip(m_position->text()));
  showCost(backCostText(m_session.backCost(), run + 1));
}

/// Where nothing is known of it there is no line for it.
void TimeTravelBar::showCost(const QString& text) {
  m_cost->setText(text);
  m_cost->setToolTip(values::plainToolTip(text));
  m_cost->setVisible(!text.isEmpty());
}

QString TimeTravelBar::position() const {
  return m_position->text();
}

QString TimeTravelBar::cost() const {
  return m_cost->text();
}

}  // namespace pf::gui

#include "moc_time_travel_bar.cpp"
