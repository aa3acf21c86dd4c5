// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/transcripts_action.h"

#include <QAction>
#include <QFileDialog>
#include <QFileInfo>

#include "app/gui/commands/command.h"
#include "app/gui/panes/shown_trace.h"
#include "app/session/debug_session.h"

namespace pf::gui {

QAction* makeTranscriptsAction(QWidget& window, const ShownTrace& shown,
                               session::DebugSession& session,
                               const std::function<void(const QString& text, bool problem)>& said) {
  QAction* action =
      makeCommand(window, QObject::tr("Save GDB &transcripts …"),
                  QObject::tr("Write what passes between the window and each GDB into files, from "
                              "the next cycle on"),
                  {}, {}, {});
  action->setObjectName(QStringLiteral("transcripts"));
  action->setCheckable(true);
  const auto keep = [&window, &shown, &session, action, said](bool on) {
    const QString directory = on ? QFileDialog::getExistingDirectory(
                                       &window, QObject::tr("Where to save the transcripts"),
                                       QFileInfo(shown.path()).absolutePath())
                                 : QString();
    action->setChecked(!directory.isEmpty());
    session.debuggers().setTranscripts(directory);
    said(directory.isEmpty() ? QObject::tr("GDB transcripts are no longer saved.")
                             : QObject::tr("From the next cycle on, %1 gets a GDB transcript of "
                                           "each rank that has a debugger.")
                                   .arg(directory),
         false);
  };
  QObject::connect(action, &QAction::triggered, &window, keep);
  return action;
}

}  // namespace pf::gui
