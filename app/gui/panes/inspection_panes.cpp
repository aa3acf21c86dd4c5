// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/inspection_panes.h"

#include <algorithm>

#include <QDockWidget>
#include <QInputDialog>
#include <QLineEdit>

#include "app/session/array_reader.h"
#include "views/models/rank_models.h"
#include "views/panes/array_view.h"
#include "views/panes/rank_strip.h"
#include "views/panes/rows_view.h"
#include "views/panes/stack_tree_view.h"
#include "views/panes/values_across_view.h"

namespace pf::gui {

using session::DebugSession;
using session::Look;

InspectionPanes::InspectionPanes(DebugSession& session, views::RankStrip& ranks, QWidget* window,
                                 const MakeDock& makeDock)
    : QObject(window),
      m_session(session),
      m_ranks(ranks),
      m_window(window),
      m_stacks(new views::StackTreeView),
      m_stacksDock(makeDock(QStringLiteral("stacks"), tr("Parallel stacks"), m_stacks)),
      m_across(new views::ValuesAcrossView),
      m_acrossDock(makeDock(QStringLiteral("across"), tr("Values across ranks"), m_across)),
      m_array(new views::ArrayView),
      m_arrayDock(makeDock(QStringLiteral("array"), tr("Array"), m_array)),
      m_arrayReader(new session::ArrayReader(session, this)) {
  makeRows(makeDock);
  connectStacks();
  connectAcross();
  connectRows();
  connectArray();
  connectGroups();
  connect(&m_session, &DebugSession::settled, this, &InspectionPanes::refresh);
}

void InspectionPanes::makeRows(const MakeDock& makeDock) {
  const auto make = [&](Look look, const QString& name, const QString& title,
                        const QStringList& titles, int compared, const QString& input) {
    auto* view = new views::RowsView(name + QStringLiteral("View"), titles, compared, input);
    m_rows[look] = {view, makeDock(name, title, view)};
  };
  make(Look::Threads, QStringLiteral("threads"), tr("Threads"),
       {tr("Thread"), tr("Name"), tr("State"), tr("Where")}, -1, {});
  make(Look::Registers, QStringLiteral("registers"), tr("Registers"), {tr("Register"), tr("Value")},
       1, {});
  make(Look::Memory, QStringLiteral("memory"), tr("Memory"),
       {tr("Address"), tr("Bytes"), tr("Text")}, 1, tr("Address: &x, buffer, $sp; Enter"));
  make(Look::Instructions, QStringLiteral("instructions"), tr("Disassembly"),
       {tr("Address"), tr("Place"), tr("Instruction")}, -1,
       tr("Function or address; empty: where the rank is; Enter"));
}

void InspectionPanes::fillWhenSeen(QDockWidget* dock, const std::function<void()>& ask) {
  connect(dock, &QDockWidget::visibilityChanged, this, [this, dock, ask](bool visible) {
    if (!visible) {
      m_seen.remove(dock);
    } else if (!m_seen.contains(dock)) {
      m_seen.insert(dock);
      ask();
    }
  });
}

void InspectionPanes::refresh() {
  if (isSeen(m_stacksDock)) {
    askStacks();
  }
  if (isSeen(m_acrossDock) && !m_across->expression().isEmpty()) {
    m_session.across().ask(m_across->expression());
  }
}

namespace {

/// The call that the rank's record ends in, or with, and where the program makes it.
values::RankStack endOf(const views::TraceData& trace, Rank rank) {
  values::RankStack stack;
  stack.rank = rank;
  const auto at = static_cast<std::size_t>(rank);
  const std::vector<Event>& events = trace.execution.ranks[at].events;
  const views::RankEnd& end = trace.ends[at];
  const bool inside = end.text.contains(QLatin1String(" inside "));  // ended, stuck, waiting
  if (events.empty() || !inside) {
    stack.note = end.text.isEmpty() ? InspectionPanes::tr("nothing is recorded") : end.text;
    return stack;
  }
  const Event& last = events.back();
  if (last.site < trace.execution.sites.size()) {
    const CallSite& site = trace.execution.sites[last.site];
    values::StackFrame caller;
    caller.level = 1;
    caller.function = QString::fromStdString(site.function);
    caller.file = QString::fromStdString(site.file);
    caller.line = site.line;
    stack.frames.append(caller);
  }
  if (last.call < trace.execution.callNames.size()) {
    values::StackFrame call;
    call.function = QString::fromStdString(trace.execution.callNames[last.call]);
    stack.frames.prepend(call);
  }
  return stack;
}

}  // namespace

/// No replay runs: where the records end.
void InspectionPanes::showRecordEnds() {
  QList<values::RankStack> ends;
  if (const views::TraceDataPtr& trace = m_session.trace(); trace != nullptr) {
    const std::size_t ranks = std::min(trace->execution.ranks.size(), trace->ends.size());
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      ends.append(endOf(*trace, static_cast<Rank>(rank)));
    }
  }
  m_stacks->showRecordEnds(ends);
}

void InspectionPanes::askStacks() {
  if (m_session.source() == session::Source::Recording && !m_session.isReplaying()) {
    showRecordEnds();
    return;
  }
  m_stacks->setBusy();
  m_session.stacks().ask();
}

void InspectionPanes::askGroup(const QString& name, const QList<int>& ranks) {
  bool ok = false;
  const QString given =
      QInputDialog::getText(m_window, tr("New group"),
                            tr("Name of the group of ranks %1:").arg(values::rankSetText(ranks)),
                            QLineEdit::Normal, name, &ok);
  if (ok) {
    m_session.groups().add(given, ranks);
  }
}

QList<int> InspectionPanes::ranksOf(const QString& expression, QString* problem) const {
  QList<values::RankGroup> known = m_session.groups().all();
  known += m_session.groups().communicators();
  known += values::groupsByState(m_session.rankStates());
  return values::ranksOfExpression(expression, known,
                                   static_cast<int>(m_session.rankStates().size()), problem);
}

void InspectionPanes::console(int rank, const QString& line) {
  const QString text = line.trimmed();
  if (text.startsWith(QLatin1String("which-message "))) {
    m_session.buffers().ask(
        text.section(QLatin1Char(' '), 1), [this, rank](const session::WhichMessage& answer) {
          Q_EMIT m_session.consoleText(rank, answer.text + QLatin1Char('\n'), answer.problem);
        });
    return;
  }
  if (!text.startsWith(QLatin1Char('@'))) {
    m_session.consoles().send(rank, line);
    return;
  }
  const QString command = text.section(QLatin1Char(' '), 1).trimmed();
  QString problem;
  const QList<int> ranks = ranksOf(text.section(QLatin1Char(' '), 0, 0).mid(1), &problem);
  if (!problem.isEmpty() || command.isEmpty()) {
    Q_EMIT m_session.consoleText(rank,
                                 tr("%1. Write @all, @GROUP or @0,2-4, a blank, and the command.\n")
                                     .arg(problem.isEmpty() ? tr("There is no command") : problem),
                                 true);
    return;
  }
  m_session.consoles().sendToAll(ranks, command, rank);
}

void InspectionPanes::askCombination(const QString& proposal, const QString& problem) {
  QString question =
      tr("Ranks of the new group, for example  workers + 0,  all - 'in MPI_Recv',  a & 2-5:");
  if (!problem.isEmpty()) {
    question += QLatin1String("\n\n") + tr("Not understood: %1.").arg(problem);
  }
  bool ok = false;
  const QString text = QInputDialog::getText(m_window, tr("Combine groups"), question,
                                             QLineEdit::Normal, proposal, &ok);
  if (!ok) {
    return;
  }
  QString wrong;
  const QList<int> ranks = ranksOf(text, &wrong);
  wrong.isEmpty() ? askGroup(text, ranks) : askCombination(text, wrong);
}

void InspectionPanes::connectStacks() {
  fillWhenSeen(m_stacksDock, [this] { askStacks(); });
  connect(m_stacks, &views::StackTreeView::refreshRequested, this, &InspectionPanes::askStacks);
  connect(&m_session.stacks(), &session::AllStacks::arrived, m_stacks,
          &views::StackTreeView::showStacks);
  connect(&m_session.inspector(), &session::Inspector::currentRankChanged, m_stacks,
          &views::StackTreeView::setCurrentRank);
  connect(m_stacks, &views::StackTreeView::rankRequested, &m_session,
          &DebugSession::setCurrentRank);
  connect(m_stacks, &views::StackTreeView::sourceRequested, this,
          &InspectionPanes::sourceRequested);
  connect(m_stacks, &views::StackTreeView::groupRequested, this, &InspectionPanes::askGroup);
}

void InspectionPanes::connectAcross() {
  fillWhenSeen(m_acrossDock, [this] { refresh(); });
  connect(m_across, &views::ValuesAcrossView::evaluateRequested, &m_session.across(),
          &session::AcrossRanks::ask);
  connect(&m_session.across(), &session::AcrossRanks::arrived, m_across,
          &views::ValuesAcrossView::showValues);
  connect(&m_session.inspector(), &session::Inspector::frameChanged, this, [this] {
    if (isSeen(m_acrossDock) && !m_across->expression().isEmpty()) {
      m_session.across().ask(m_across->expression());
    }
  });
  connect(m_across, &views::ValuesAcrossView::rankRequested, &m_session,
          &DebugSession::setCurrentRank);
  connect(m_across, &views::ValuesAcrossView::groupRequested, this, &InspectionPanes::askGroup);
  connect(m_across, &views::ValuesAcrossView::debuggerRequested, this,
          [this](const QList<int>& ranks) {
            const QList<int> focus = m_session.debuggers().focus() + ranks;
            m_ranks.model()->setFocusRanks(QSet<int>(focus.begin(), focus.end()));
            m_session.debuggers().setFocus(focus);
          });
}

void InspectionPanes::ask(Look look) {
  const views::RowsView& view = *m_rows.at(look).view;
  switch (look) {
    case Look::Registers:
      m_session.machine().askRegisters();
      break;
    case Look::Memory:
      m_session.machine().askMemory(view.input());
      break;
    case Look::Instructions:
      m_session.machine().askInstructions(view.input());
      break;
    case Look::Threads:
      m_session.machine().askThreads();
      break;
  }
}

void InspectionPanes::connectRows() {
  for (const auto& [key, rows] : m_rows) {
    const Look look = key;
    views::RowsView* view = rows.view;
    fillWhenSeen(rows.dock, [this, look] { ask(look); });
    const auto askIfSeen = [this, look, dock = rows.dock] {
      if (isSeen(dock)) {
        ask(look);
      }
    };
    connect(&m_session.inspector(), &session::Inspector::frameChanged, view, askIfSeen);
    connect(&m_session.inspector(), &session::Inspector::stackChanged, view,
            [askIfSeen](int, const QList<values::StackFrame>& frames, int) {
              if (frames.isEmpty()) {
                askIfSeen();  // to say why there is nothing
              }
            });
    connect(view, &views::RowsView::inputEntered, this, [this, look] { ask(look); });
  }
  connect(&m_session.machine(), &session::MachineInspector::rowsArrived, this,
          [this](Look look, const QList<QStringList>& rows, int current, const QString& problem) {
            views::RowsView& view = this->rows(look);
            problem.isEmpty() ? view.showRows(rows, current) : view.showProblem(problem);
          });
  connect(m_rows.at(Look::Threads).view, &views::RowsView::rowActivated, &m_session,
          [this](const QString& thread) { m_session.inspector().selectThread(thread.toInt()); });
}

void InspectionPanes::connectArray() {
  connect(
      m_array, &views::ArrayView::arrayRequested, this,
      [this](const QString& expression, const QString& ranks, int along, int columns, int halo) {
        QString problem;
        const QList<int> parts = ranks.isEmpty() ? QList<int>() : ranksOf(ranks, &problem);
        if (!problem.isEmpty() || (parts.isEmpty() && !ranks.isEmpty())) {
          m_array->showProblem(
              tr("Which ranks have it? %1.")
                  .arg(problem.isEmpty() ? tr("There is none in '%1'").arg(ranks) : problem));
          return;
        }
        m_arrayReader->read(expression, {parts, along, halo, columns});
      });
  connect(&m_session, &session::DebugSession::settled, this, [this] {
    if (!m_session.isReplaying()) {
      m_array->showProblem({});  // of ranks that are gone
    }
  });
  connect(m_arrayReader, &session::ArrayReader::arrived, m_array, &views::ArrayView::showArray);
  connect(m_arrayReader, &session::ArrayReader::failed, m_array, &views::ArrayView::showProblem);
  const auto again = [this] {
    if (isSeen(m_arrayDock)) {
      m_array->askAgain();
    }
  };
  connect(&m_session.inspector(), &session::Inspector::frameChanged, m_array, again);
  const auto ofPython = [this] {
    m_array->setWhyNot(m_session.inspector().isPython() ? session::ArrayReader::whyNotInPython()
                                                        : QString());
  };
  connect(&m_session.inspector(), &session::Inspector::stackChanged, m_array, ofPython);
  connect(&m_session.inspector(), &session::Inspector::frameChanged, m_array, ofPython);
  fillWhenSeen(m_arrayDock, again);
}

void InspectionPanes::connectGroups() {
  connect(&m_session.groups(), &session::RankGroups::changed, this, [this] {
    m_ranks.setGroups(m_session.groups().all());
    m_ranks.setCommunicators(m_session.groups().communicators());
  });
  connect(&m_session.groupRun(), &session::GroupRun::changed, &m_ranks,
          &views::RankStrip::setRunText);
  connect(&m_ranks, &views::RankStrip::groupRequested, this, &InspectionPanes::askGroup);
  connect(&m_ranks, &views::RankStrip::groupMade, &m_session.groups(), &session::RankGroups::add);
  connect(&m_ranks, &views::RankStrip::combineRequested, this, [this] { askCombination(); });
  connect(&m_ranks, &views::RankStrip::groupRemoved, &m_session.groups(),
          &session::RankGroups::remove);
}

}  // namespace pf::gui

#include "moc_inspection_panes.cpp"
