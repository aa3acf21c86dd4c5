// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/expression_menu.h"

#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QFontMetrics>
#include <QMenu>

#include "app/gui/panes/inspection_panes.h"
#include "app/session/array_reader.h"
#include "app/session/debug_session.h"
#include "views/models/watches_model.h"
#include "views/panes/action_tips.h"
#include "views/panes/array_view.h"
#include "views/panes/debug_views.h"
#include "views/panes/values_across_view.h"

namespace pf::gui {

ExpressionMenu::ExpressionMenu(QObject* parent, const WindowViews& views,
                               InspectionPanes& inspection, session::DebugSession& session)
    : QObject(parent), m_session(session) {
  m_ofVariables = {
      {tr("Watch %1"), tr("Watch"),
       [&views = *views.watches](const QString& name) { views.model()->addExpression(name); }},
      {tr("Stop when %1 changes"), tr("Stop when it changes"),
       [&variables = *views.variables](const QString& name) {
         Q_EMIT variables.breakOnChangeRequested(name);
       }},
      {tr("Which message filled %1"),
       {},
       [&variables = *views.variables](const QString& name) {
         Q_EMIT variables.messageRequested(name);
       }},
  };
  m_others = {
      {tr("Back to the last change of %1"),
       {},
       [&session](const QString& name) { session.lastChange(name); }},
      {tr("%1 across ranks"), tr("Across ranks"),
       [&inspection](const QString& name) {
         raise(*inspection.acrossDock());
         inspection.across().ask(name);
       }},
      {tr("%1 as an array"), tr("Array"),
       [&inspection](const QString& name) {
         raise(*inspection.arrayDock());
         inspection.array().ask(name);
       },
       [&session] {
         return session.inspector().isPython() ? session::ArrayReader::whyNotInPython() : QString();
       }},
  };
  for (const Question& question : m_others) {
    const QString text = question.text.arg(tr("it"));
    add(*views.variables->addQuestion(text, question.ask), question, tr("the selected variable"));
    add(*views.watches->addQuestion(text, question.ask), question, tr("the selected watch"));
  }
}

/// A menu of actions shows no tips; the status bar does.
void ExpressionMenu::tellWhyNot(QAction& action, const Question& question) {
  if (question.whyNot) {
    views::setWhyNot(action, question.whyNot());
    action.setStatusTip(views::whyNot(action));
  }
}

/// The item of a view's menu, for what is selected there.
void ExpressionMenu::add(QAction& action, const Question& question, const QString& of) {
  QString name = question.text.arg(of);
  name[0] = name.at(0).toUpper();
  views::setWholeName(action, name);
  const auto tell = [&action, question] { tellWhyNot(action, question); };
  connect(&m_session.inspector(), &session::Inspector::stackChanged, &action, tell);
  connect(&m_session.inspector(), &session::Inspector::frameChanged, &action, tell);
}

void ExpressionMenu::addTo(QMenu& menu, const QString& expression) const {
  if (expression.isEmpty()) {
    return;
  }
  for (const auto* questions : {&m_ofVariables, &m_others}) {
    for (const Question& question : *questions) {
      menu.addAction(make(question, expression, &menu));
    }
  }
}

QList<QAction*> ExpressionMenu::buttonsFor(const QString& expression) const {
  QList<QAction*> all;
  for (const auto* questions : {&m_ofVariables, &m_others}) {
    for (const Question& question : *questions) {
      if (!question.button.isEmpty()) {
        all << make(question, expression, nullptr);
        all.last()->setIconText(question.button);
      }
    }
  }
  return all;
}

QAction* ExpressionMenu::make(const Question& question, const QString& expression,
                              QObject* parent) {
  const QString shown = QFontMetrics(QApplication::font())
                            .elidedText(expression, Qt::ElideMiddle, 240)
                            .replace(QLatin1Char('&'), QLatin1String("&&"));
  auto* const action = new QAction(question.text.arg(shown), parent);
  connect(action, &QAction::triggered, action,
          [ask = question.ask, expression] { ask(expression); });
  tellWhyNot(*action, question);
  return action;
}

void ExpressionMenu::raise(QDockWidget& dock) {
  dock.show();
  dock.raise();
}

}  // namespace pf::gui

#include "moc_expression_menu.cpp"
