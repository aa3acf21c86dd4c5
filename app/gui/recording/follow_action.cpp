// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/recording/follow_action.h"

#include <QAction>
#include <QFileInfo>
#include <QInputDialog>
#include <QLabel>

#include "app/gui/commands/command.h"
#include "app/gui/recording/peek_directory.h"
#include "app/gui/recording/record_dialog.h"
#include "app/recording/record.h"

namespace pf::gui {

FollowAction::FollowAction(QWidget& window)
    : QObject(&window),
      m_window(window),
      m_action(makeCommand(
          window, tr("Follow the recordin&g"),
          tr("Show a recording that goes on as it grows; the program goes on undisturbed"), {},
          QKeySequence(tr("Ctrl+Alt+F")), {})),
      m_label(new QLabel(&window)) {
  m_action->setObjectName(QStringLiteral("followRecording"));
  m_action->setCheckable(true);
  m_label->setObjectName(QStringLiteral("followed"));
  m_label->setTextFormat(Qt::PlainText);
  m_label->hide();
  connect(m_action, &QAction::triggered, this, &FollowAction::toggled);
  connect(&m_follower, &RecordingFollower::statusChanged, this, [this](const QString& text) {
    m_label->setText(QLatin1Char(' ') + text + QLatin1Char(' '));
    m_label->setVisible(!text.isEmpty());
  });
  connect(&m_follower, &RecordingFollower::ended, this, [this](const QString& problem) {
    m_action->setChecked(false);
    if (!problem.isEmpty()) {
      Q_EMIT said(tr("%1 What is shown is the last of it.").arg(problem), true);
    }
  });
}

void FollowAction::follow(const QString& trace) {
  m_follower.follow(QFileInfo(trace).absoluteFilePath(), m_shown());
  m_action->setChecked(true);
}

void FollowAction::stop() {
  m_follower.stop();
  m_action->setChecked(false);
}

void FollowAction::toggled(bool on) {
  m_action->setChecked(m_follower.isFollowing());
  const QString own = m_own();
  if (!own.isEmpty()) {
    proposeFollowing(on);
  }
  if (!on) {
    stop();
  } else if (!own.isEmpty()) {
    follow(own);
  } else {
    askWhich();
  }
}

/// One that somebody else has started: in a terminal, or another window.
void FollowAction::askWhich() {
  QStringList traces;
  for (const std::string& trace : app::recordingsThatGoOn()) {
    traces.append(QString::fromStdString(trace));
  }
  if (traces.isEmpty()) {
    Q_EMIT said(tr("Nothing is being recorded here now. Record (Ctrl+R) has a field to show the "
                   "recording while it runs."),
                false);
    return;
  }
  bool ok = true;
  const QString trace = traces.size() == 1
                            ? traces.first()
                            : QInputDialog::getItem(&m_window, tr("Follow a recording"),
                                                    tr("Several go on. Which one is to be shown?"),
                                                    traces, 0, false, &ok);
  if (ok) {
    follow(trace);
  }
}

}  // namespace pf::gui

#include "moc_follow_action.cpp"
