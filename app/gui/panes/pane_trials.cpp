// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/pane_trials.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>

#include <QCoreApplication>
#include <QDateTime>
#include <QFileInfo>
#include <QSettings>

namespace pf::gui {
namespace {

const QString kMaking = QStringLiteral("plugins/making");  // by process
const QString kFailed = QStringLiteral("plugins/failed");

/// A file as it is now: another one of its name is tried again.
QString versionOf(const QString& path) {
  const QFileInfo file(path);
  return path + QLatin1Char('\n') + QString::number(file.size()) + QLatin1Char('\n') +
         QString::number(file.lastModified().toMSecsSinceEpoch());
}

bool hasEnded(const QString& process) {
  const int pid = process.toInt();
  return pid <= 0 || (::kill(pid, 0) != 0 && errno == ESRCH);
}

QString ownKey() {
  return kMaking + QLatin1Char('/') + QString::number(QCoreApplication::applicationPid());
}

}  // namespace

PaneTrials::PaneTrials() {
  QSettings settings;
  settings.beginGroup(kMaking);
  const QStringList processes = settings.childKeys();
  settings.endGroup();
  for (const QString& process : processes) {
    if (hasEnded(process)) {
      const QString key = kMaking + QLatin1Char('/') + process;
      QStringList failed = settings.value(kFailed).toStringList();
      failed.removeAll(settings.value(key).toString());
      failed.append(settings.value(key).toString());
      settings.setValue(kFailed, failed);
      settings.remove(key);
    }
  }
}

bool PaneTrials::hasFailed(const QString& path) const {
  return QSettings().value(kFailed).toStringList().contains(versionOf(path));
}

void PaneTrials::begin(const QString& path) {
  QSettings settings;
  settings.setValue(ownKey(), versionOf(path));
  settings.sync();  // it may be the last that this process does
}

void PaneTrials::end() {
  QSettings settings;
  settings.remove(ownKey());
  settings.sync();
}

void PaneTrials::forget() {
  QSettings().remove(kFailed);
}

}  // namespace pf::gui
