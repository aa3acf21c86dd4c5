// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/debug_panes.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QTableView>
#include <QTreeView>

#include "app/gui/panes/expression_menu.h"
#include "app/gui/panes/inspection_panes.h"
#include "app/session/debug_session.h"
#include "app/session/records/line_text.h"
#include "mi_bridge/value_format.h"
#include "views/diagram/space_time_view.h"
#include "views/models/rank_models.h"
#include "views/models/variables_model.h"
#include "views/models/watches_model.h"
#include "views/panes/debug_views.h"
#include "views/panes/item_views.h"
#include "views/panes/log_view.h"
#include "views/panes/rank_strip.h"
#include "views/panes/session_views.h"
#include "views/panes/source_view.h"
#include "views/panes/text_views.h"

namespace pf::gui {

using session::DebugSession;
using session::Inspector;

DebugPanes::DebugPanes(QWidget& window, const WindowViews& views, InspectionPanes& inspection,
                       DebugSession& session)
    : QObject(&window),
      m_window(window),
      m_views(views),
      m_inspection(inspection),
      m_session(session),
      m_expressions(new ExpressionMenu(this, m_views, inspection, session)) {
  connectSession();
  connectRanks();
  connectStack();
  connectVariables();
  connectWatches();
  connectSource();
}

void DebugPanes::refreshRanks() {
  m_views.ranks->setLooksOnly(m_session.source() == session::Source::Cores
                                  ? tr("Core files can only be looked at: nothing runs.")
                                  : QString());
  m_views.ranks->model()->setRanks(m_session.rankStates());
  std::vector<values::RankHeader> headers;
  for (const values::RankState& state : m_session.rankStates()) {
    if (state.activity == values::RankActivity::NotStarted) {
      headers.push_back({});
      continue;
    }
    const bool bad = state.activity == values::RankActivity::Failed ||
                     state.activity == values::RankActivity::Lost;
    headers.push_back({values::activityText(state.activity),
                       bad ? values::Tone::Bad : values::Tone::Muted,
                       values::isAbsent(state.activity)});
  }
  m_views.diagram->setRankHeaders(std::move(headers));
}

void DebugPanes::showPrinted(const std::vector<db::Printed>& printed) {
  for (const db::Printed& each : printed) {
    const auto stream = each.stream == 2 ? values::OutputStream::Err : values::OutputStream::Out;
    const auto show = [&](const QByteArray& bytes) { m_views.output->append(-1, stream, bytes); };
    show(each.stream == 2 ? tr("(when it was recorded, to standard error)\n").toUtf8()
                          : tr("(when it was recorded)\n").toUtf8());
    show(each.beginning ? QByteArray::fromStdString(each.beginning->bytes) : QByteArray());
    if (each.leftOut > 0) {
      show(tr("\n(%1 bytes are not kept)\n").arg(each.leftOut).toUtf8());
    }
    show(each.end ? QByteArray::fromStdString(each.end->bytes) : QByteArray());
    m_views.output->flush();
  }
}

void DebugPanes::connectSession() {
  connect(&m_session, &DebugSession::ranksChanged, this, &DebugPanes::refreshRanks);
  connect(&m_session, &DebugSession::output, m_views.output, &views::OutputView::append);
  connect(&m_session.cycles(), &session::Cycles::changed, this,
          [this] { m_views.cycles->setCycles(m_session.cycles().all()); });
  connect(&m_session, &DebugSession::consoleText, this,
          [this](int rank, const QString& text, bool error) {
            m_views.console->appendOutput(
                rank, text, error ? views::ConsoleText::Error : views::ConsoleText::Output);
          });
  connect(&m_session, &DebugSession::settled, this, [this] {
    m_views.output->flush();
    refreshRanks();
    if (!m_session.isReplaying()) {
      m_views.source->setStopLocation({}, 0);
    }
    noteSource();
  });
  connect(m_views.cycles, &views::CyclesView::stopActivated, &m_session, &DebugSession::replayTo);
  connect(&m_session, &DebugSession::logged, m_views.log, &views::LogView::append);
  connect(m_views.log, &views::LogView::eventActivated, &m_session, &DebugSession::replayTo);
  connect(m_views.console, &views::ConsoleView::commandEntered, this,
          [this](int rank, const QString& line) { m_inspection.console(rank, line); });
}

void DebugPanes::connectRanks() {
  connect(&m_session.inspector(), &Inspector::currentRankChanged, this, [this](int rank) {
    m_views.ranks->setCurrentRank(rank);
    m_views.console->setRank(rank);
    m_views.watches->model()->setRank(rank);
  });
  connect(m_views.ranks, &views::RankStrip::currentRankChanged, &m_session,
          &DebugSession::setCurrentRank);
  connect(m_views.ranks, &views::RankStrip::focusChanged, &m_session.debuggers(),
          &session::Debuggers::setFocus);
  connect(m_views.ranks, &views::RankStrip::actionRequested, &m_session, &DebugSession::act);
  connect(&m_session.debuggers(), &session::Debuggers::focusChanged, this,
          [this](const QList<int>& ranks) {
            m_views.ranks->model()->setFocusRanks({ranks.begin(), ranks.end()});
          });
  connect(m_views.output, &views::OutputView::rankClicked, &m_session,
          &DebugSession::setCurrentRank);
}

void DebugPanes::connectStack() {
  connect(&m_session.inspector(), &Inspector::stackChanged, this,
          [this](int, const QList<values::StackFrame>& frames, int current) {
            m_views.stack->setFrames(frames, current);
            showFrame(current);
            if (frames.isEmpty()) {
              m_views.variables->model()->clear();
            }
            m_views.console->setReady(!frames.isEmpty(),
                                      tr("the rank is running, or has no debugger"));
          });
  // While ranks run, what it was at the stop before is still wanted.
  connect(&m_session, &DebugSession::ranksChanged, this, [this] {
    const mi::GdbSession* const gdb = m_session.debugger(m_session.currentRank());
    const bool old = gdb == nullptr || gdb->state() != mi::SessionState::Stopped;
    views::setOld(*m_views.stack->table(), old);
    views::setOld(*m_views.variables->tree(), old);
    views::setOld(*m_views.watches->tree(), old);
  });
  connect(&m_session, &DebugSession::settled, this, [this] {
    if (!m_session.isReplaying()) {
      m_views.watches->model()->forgetValues();
    }
  });
  connect(m_views.stack, &views::StackView::frameSelected, this, [this](int level) {
    m_session.inspector().selectFrame(level);
    showFrame(level);
  });
}

void DebugPanes::connectVariables() {
  views::VariablesModel* model = m_views.variables->model();
  Inspector* inspector = &m_session.inspector();
  connect(inspector, &Inspector::variablesChanged, model, &views::VariablesModel::setVariables);
  connect(inspector, &Inspector::childrenArrived, model, &views::VariablesModel::setChildren);
  connect(model, &views::VariablesModel::expandRequested, inspector,
          [inspector](const QString& path, int from) { inspector->expand(path, from, {}); });
  m_views.variables->setExpressionOf(
      [inspector](const QString& path, const views::AskExpression& then) {
        inspector->expressionOf(path, then);
      });
  connect(model, &views::VariablesModel::editRequested, inspector, &Inspector::edit);
  connect(m_views.variables, &views::VariablesView::watchRequested, this,
          [this](const QString& name) { m_views.watches->model()->addExpression(name); });
  connect(m_views.variables, &views::VariablesView::breakOnChangeRequested, this,
          [this](const QString& name) {
            values::Breakpoint watch;
            watch.kind = values::BreakpointKind::Watch;
            watch.expression = name;
            watch.ranks = QString::number(m_session.currentRank());
            m_session.breakpoints().add(watch);
          });
}

void DebugPanes::connectWatches() {
  views::WatchesModel* model = m_views.watches->model();
  session::Watches* watches = &m_session.watches();
  connect(m_views.watches, &views::WatchesView::expressionsChanged, watches,
          &session::Watches::set);
  connect(watches, &session::Watches::changed, model, &views::WatchesModel::setExpressions);
  connect(watches, &session::Watches::arrived, model, &views::WatchesModel::setValues);
  Inspector* inspector = &m_session.inspector();
  connect(inspector, &Inspector::childrenArrived, model, &views::VariablesModel::setChildren);
  connect(model, &views::VariablesModel::editRequested, inspector, &Inspector::edit);
  connect(model, &views::VariablesModel::expandRequested, inspector,
          [model, inspector](const QString& path, int from) {
            inspector->expand(path, from, model->expressionOf(path));
          });
  connect(m_views.watches, &views::WatchesView::formatRequested, model,
          [model](const QString& expression, char format) {
            const std::string value = mi::askedValue(expression.toStdString()).expression;
            model->replaceExpression(
                expression,
                (format != 0 ? QStringLiteral("/%1 ").arg(QLatin1Char(format)) : QString()) +
                    QString::fromStdString(value));
          });
  m_views.watches->setExpressionOf(
      [model, inspector](const QString& path, const views::AskExpression& then) {
        const QString expression = model->expressionOf(path);
        if (expression.isEmpty()) {
          inspector->expressionOf(path, then);
        } else {
          then(QString::fromStdString(mi::askedValue(expression.toStdString()).expression));
        }
      });
}

void DebugPanes::connectSource() {
  views::SourceView* source = m_views.source;
  connect(source, &views::SourceView::currentFileChanged, this, &DebugPanes::noteSource);
  connect(source, &views::SourceView::hoverRequested, this,
          [this](const QString& expression, const QPoint& at) {
            m_session.inspector().evaluate(
                expression, [this, expression, at](const QString& value) {
                  m_views.source->showTip(expression + QLatin1String(" = ") + value, at,
                                          m_expressions->buttonsFor(expression));
                });
          });
  connect(
      source, &views::SourceView::menuWanted, m_expressions,
      [this](QMenu* menu, const QString& expression) { m_expressions->addTo(*menu, expression); });
  connect(source, &views::SourceView::runToLineRequested, this,
          [this](const QString& file, int line) {
            m_session.control().runToLine(file, line, m_views.ranks->scopeRanks(),
                                          m_views.ranks->scopeName());
          });
  connect(source, &views::SourceView::locateSourceRequested, this, &DebugPanes::locateSource);
  connect(&m_inspection, &InspectionPanes::sourceRequested, source,
          &views::SourceView::showLocation);
}

/// The source that is shown may have been changed after the program was built.
void DebugPanes::noteSource() {
  m_views.source->setNotice(session::sourceNotice(
      m_views.source->currentLocalFile(), QString::fromStdString(m_session.run().program),
      QString::fromStdString(m_session.run().workingDirectory)));
}

void DebugPanes::showFrame(int level) {
  for (const values::StackFrame& frame : m_views.stack->model()->frames()) {
    if (frame.level == level && !frame.file.isEmpty()) {
      m_views.source->setStopLocation(frame.file, frame.line);
      return;
    }
  }
  m_views.source->setStopLocation({}, 0);
}

void DebugPanes::locateSource(const QString& path) {
  const QString local = QFileDialog::getOpenFileName(&m_window, tr("Where is %1?").arg(path));
  if (!local.isEmpty()) {
    m_views.source->setPathMapping(path, local);
    m_session.debuggers().mapSource(QFileInfo(path).path(), QFileInfo(local).path());
  }
}

}  // namespace pf::gui

#include "moc_debug_panes.cpp"
