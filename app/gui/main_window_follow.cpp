// SPDX-License-Identifier: GPL-3.0-or-later
// A recording that goes on is shown as it grows.
#include <QAction>
#include <QApplication>
#include <QFileInfo>
#include <QInputDialog>
#include <QLabel>
#include <QPointer>
#include <QSettings>
#include <QStatusBar>

#include "app/gui/main_window.h"
#include "app/gui/peek_directory.h"
#include "app/gui/recording_follower.h"
#include "app/recording/record.h"
#include "views/diagram/space_time_view.h"
#include "views/panes/race_list_view.h"
#include "views/panes/source_view.h"

namespace pf::gui {

void MainWindow::makeFollower() {
  m_followed = new QLabel;
  m_followed->setObjectName(QStringLiteral("followed"));
  m_followed->setTextFormat(Qt::PlainText);
  m_followed->hide();
  statusBar()->addPermanentWidget(m_followed);
  m_follower = new RecordingFollower(this);
  m_follower->setMayShow([this] {
    return !m_session->isReplaying() && m_session->cycles().isKept() &&
           QApplication::mouseButtons() == Qt::NoButton &&
           QApplication::activePopupWidget() == nullptr;
  });
  m_follower->setWantsPhysical(
      [this] { return m_diagram->wantedAxis() == views::TimeAxis::Physical; });
  connect(m_follower, &RecordingFollower::statusChanged, this, [this](const QString& text) {
    m_followed->setText(QLatin1Char(' ') + text + QLatin1Char(' '));
    m_followed->setVisible(!text.isEmpty());
  });
  connect(m_follower, &RecordingFollower::newer, this,
          [this](const RecordingFollower::VersionPtr& version) {
            const bool known =
                m_session->isOpen() && version->carriedFrom == m_path && !m_path.isEmpty();
            if (known && m_session->renew(version->path, version->trace, version->carried,
                                          version->sameIds)) {
              m_index = version->index;
              showNewer(version->path, version->last, version->physical);
            } else {
              m_index = version->index;
              showTrace(version->path, version->trace);
              Q_EMIT opened(true);
            }
          });
  connect(m_follower, &RecordingFollower::ended, this, [this](const QString& problem) {
    m_follow->setChecked(false);
    if (!problem.isEmpty()) {
      say(tr("%1 What is shown is the last of it.").arg(problem), true);
    }
  });
}

QAction* MainWindow::makeFollowAction() {
  m_follow =
      command(tr("Follow the recordin&g"),
              tr("Show a recording that goes on as it grows; the program goes on undisturbed"), {},
              QKeySequence(tr("Ctrl+Alt+F")), {});
  m_follow->setObjectName(QStringLiteral("followRecording"));
  m_follow->setCheckable(true);
  connect(m_follow, &QAction::triggered, this, [this](bool on) {
    m_follow->setChecked(m_follower->isFollowing());
    if (m_recording != nullptr) {
      QSettings().setValue(QStringLiteral("record/follow"), on);
    }
    if (!on) {
      stopFollowing();
    } else if (m_recording != nullptr) {
      followRecording(m_recordedTrace);
    } else {
      askFollowed();
    }
  });
  return m_follow;
}

/// One that somebody else has started: in a terminal, or another window.
void MainWindow::askFollowed() {
  QStringList traces;
  for (const std::string& trace : app::recordingsThatGoOn()) {
    traces.append(QString::fromStdString(trace));
  }
  if (traces.isEmpty()) {
    say(tr("Nothing is being recorded here now. Record (Ctrl+R) has a field to show the recording "
           "while it runs."),
        false);
    return;
  }
  bool ok = true;
  const QString trace = traces.size() == 1
                            ? traces.first()
                            : QInputDialog::getItem(this, tr("Follow a recording"),
                                                    tr("Several go on. Which one is to be shown?"),
                                                    traces, 0, false, &ok);
  if (ok) {
    followRecording(trace);
  }
}

void MainWindow::followRecording(const QString& trace) {
  m_follower->follow(QFileInfo(trace).absoluteFilePath(), m_path);
  m_follow->setChecked(true);
}

void MainWindow::stopFollowing() {
  m_follower->stop();
  m_follow->setChecked(false);
}

/// The session has it already.
void MainWindow::showNewer(const QString& path, bool last, const views::TraceIndexPtr& physical) {
  m_path = path;
  const EventRef selected = m_diagram->selectedEvent();
  m_diagram->renewTrace(m_index, physical);
  m_races->renewTrace(m_index);
  for (plugins::ViewWidget* view : m_pluginViews) {
    view->renewTrace(m_index);
    view->setSelectedEvent(selected);
  }
  tellOfDamage();
  showCallSites();
  refreshRanks();
  if (last) {
    setWindowTitle(tr("%1 — Photofinish").arg(QFileInfo(path).fileName()));
    tellOutcome();
    applySession();
    remember(path);
    setActionsEnabled();
  }
}

/// How the run that is open ended, and what to do next.
void MainWindow::tellOutcome() {
  const views::TraceData& shown = m_index->data();
  say(shown.failure.event.valid()
          ? tr("%1. Failing receive (F4) replays to it.").arg(shown.failure.reason)
          : tr("%n racing receive(s). Select one; Enter replays to it.", nullptr,
               static_cast<int>(shown.races.size())),
      false);
}

void MainWindow::showCallSites() {
  QHash<QString, QList<int>> sites;
  for (const CallSite& site : m_index->data().execution.sites) {
    if (!site.file.empty()) {
      sites[QString::fromStdString(site.file)].append(site.line);
    }
  }
  m_source->setCallSites(sites);
}

/// Of chunks that cannot be read, when they are asked for.
void MainWindow::tellOfDamage() {
  if (const auto& chunks = m_index->data().chunks; chunks != nullptr) {
    chunks->whenItFails([window = QPointer<MainWindow>(this)](const QString& problem) {
      QMetaObject::invokeMethod(
          qApp, [window, problem] { window ? window->say(problem, true) : void(); },
          Qt::QueuedConnection);
    });
  }
}

}  // namespace pf::gui
