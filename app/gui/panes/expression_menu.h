// SPDX-License-Identifier: GPL-3.0-or-later
// What can be asked of an expression on the current rank, in the menus of the source, the variables and the watches.
#pragma once

#include <functional>
#include <vector>

#include <QList>
#include <QObject>
#include <QString>

#include "app/gui/panes/window_views.h"

class QAction;
class QDockWidget;
class QMenu;

namespace pf::session {
class DebugSession;
}

namespace pf::gui {

class InspectionPanes;

class ExpressionMenu : public QObject {
  Q_OBJECT
 public:
  ExpressionMenu(QObject* parent, const WindowViews& views, InspectionPanes& inspection,
                 session::DebugSession& session);

  /// Everything; nothing for an empty expression.
  void addTo(QMenu& menu, const QString& expression) const;
  /// Those that have a button, for who takes them.
  [[nodiscard]] QList<QAction*> buttonsFor(const QString& expression) const;

 private:
  struct Question {
    QString text;
    QString button;  ///< short; empty: it has none
    std::function<void(const QString& expression)> ask;
    std::function<QString()> whyNot = {};  ///< in the selected frame
  };
  static void raise(QDockWidget& dock);
  [[nodiscard]] static QAction* make(const Question& question, const QString& expression,
                                     QObject* parent);
  static void tellWhyNot(QAction& action, const Question& question);
  void add(QAction& action, const Question& question, const QString& of);

  session::DebugSession& m_session;
  std::vector<Question> m_ofVariables;  ///< the views of variables have these themselves
  std::vector<Question> m_others;
};

}  // namespace pf::gui
