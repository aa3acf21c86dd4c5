// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/part_actions.h"

#include <algorithm>

#include <QAction>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>

#include "app/gui/commands/command.h"
#include "app/session/debug_session.h"
#include "views/diagram/space_time_view.h"
#include "views/panes/rank_strip.h"

namespace pf::gui {
namespace {

QString ranksWord(const QList<int>& ranks) {
  return (ranks.size() == 1 ? QObject::tr("rank %1") : QObject::tr("ranks %1"))
      .arg(values::rankSetText(ranks));
}

}  // namespace

PartActions::PartActions(QWidget& window, const WindowViews& views, session::DebugSession& session)
    : QObject(&window),
      m_window(window),
      m_views(views),
      m_session(session),
      m_only(makeCommand(window, tr("Debug &only these ranks"),
                         tr("Replay the ranks that are selected in the list without the others"),
                         {}, {}, [this] { debugOnly(m_views.ranks->selectedRanks()); })),
      m_all(makeCommand(window, tr("Debug &all ranks"), tr("Replay all ranks again"), {}, {},
                        [this] { debugAll(); })) {
  m_only->setObjectName(QStringLiteral("debugOnly"));
  m_all->setObjectName(QStringLiteral("debugAll"));
  m_views.ranks->addCommands(actions());
  m_views.diagram->setRankCommands(
      [this](QMenu& menu, const QList<int>& ranks) { addTo(menu, ranks); });
}

void PartActions::refresh() {
  const bool recording = m_session.isOpen() && m_session.source() == session::Source::Recording;
  m_only->setEnabled(recording && m_session.rankStates().size() > 1);
  m_all->setEnabled(recording && !m_session.part().empty());
}

void PartActions::restore() {
  const Status status = m_session.restorePart();
  if (!status) {
    QString text = QString::fromStdString(status.error().text());
    text[0] = text.at(0).toUpper();
    Q_EMIT said(text, true);
  } else if (const std::vector<Rank>& part = m_session.part(); !part.empty()) {
    Q_EMIT said(tr("Cycles run %1 alone, as when this trace was last open. Debug all ranks (menu "
                   "Replay) ends that.")
                    .arg(ranksWord(QList<int>(part.begin(), part.end()))),
                false);
  }
  refresh();
}

QList<int> PartActions::withGroups(const QList<int>& ranks) const {
  QList<int> whole;
  for (const int rank : ranks) {
    for (const Rank member : m_session.groupOf(rank)) {
      whole.append(member);
    }
  }
  std::sort(whole.begin(), whole.end());
  whole.erase(std::unique(whole.begin(), whole.end()), whole.end());
  return whole;
}

void PartActions::addTo(QMenu& menu, const QList<int>& ranks) {
  if (!m_only->isEnabled()) {
    return;
  }
  const QList<int> whole = withGroups(ranks);
  const QString text = whole.isEmpty()  ? tr("Debug only %1 …").arg(ranksWord(ranks))
                       : whole == ranks ? tr("Debug only %1").arg(ranksWord(ranks))
                                        : tr("Debug only %1, with its group").arg(ranksWord(whole));
  menu.addAction(text, this, [this, ranks, whole] { debugOnly(whole.isEmpty() ? ranks : whole); })
      ->setObjectName(QStringLiteral("debugOnlyHere"));
  if (m_all->isEnabled()) {
    menu.addAction(m_all);
  }
}

void PartActions::debugOnly(const QList<int>& ranks) {
  const QList<int> whole = withGroups(ranks);
  if (ranks.isEmpty()) {
    Q_EMIT said(tr("Select ranks in the ranks' list first."), false);
  } else if (!whole.isEmpty() && whole != ranks) {
    offerGroups(ranks, whole);
  } else {
    begin(ranks);
  }
}

/// To the selected event, else to where the last cycle was sent; else the first event behind MPI_Init.
void PartActions::begin(const QList<int>& ranks) {
  if (const Status status = m_session.debugOnly({{}, {ranks.begin(), ranks.end()}}); !status) {
    offerAll(status.error());
    return;
  }
  const EventRef selected = m_views.diagram->selectedEvent();
  if (selected.serial > 1 && m_session.runs(selected.rank)) {
    m_session.replayTo(selected);
  } else if (m_session.control().goal().event.valid()) {
    m_session.repeatCycle();
  } else {
    m_session.replayTo({m_session.currentRank(), 2});
  }
}

void PartActions::debugAll() {
  const bool again = m_session.isReplaying();
  m_session.debugAll();
  if (again) {
    m_session.repeatCycle();
  }
}

void PartActions::offerGroups(const QList<int>& ranks, const QList<int>& whole) {
  offer(tr("What %1 got from others of the same group was not kept.").arg(ranksWord(ranks)),
        tr("The whole group can be replayed without the other ranks."),
        tr("Debug %1").arg(ranksWord(whole)), [this, whole] { begin(whole); });
}

void PartActions::offerAll(const Error& why) {
  offer(QString::fromStdString(why.message), QString::fromStdString(why.advice),
        tr("Replay all ranks"), [this] {
          m_session.debugAll();
          m_session.restartCycle();
        });
}

void PartActions::offer(const QString& text, const QString& advice, const QString& button,
                        const std::function<void()>& does) {
  QString shown = text;
  shown[0] = shown.at(0).toUpper();
  auto* box =
      new QMessageBox(QMessageBox::Information, tr("Debug only these ranks"), shown, {}, &m_window);
  box->setObjectName(QStringLiteral("debugOnlyOffer"));
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextFormat(Qt::PlainText);
  box->setInformativeText(advice);
  const auto* yes = box->addButton(button, QMessageBox::AcceptRole);
  box->setEscapeButton(box->addButton(QMessageBox::Cancel));
  connect(box, &QMessageBox::buttonClicked, this, [yes, does](const QAbstractButton* pressed) {
    if (pressed == yes) {
      does();
    }
  });
  box->open();
}

}  // namespace pf::gui

#include "moc_part_actions.cpp"
