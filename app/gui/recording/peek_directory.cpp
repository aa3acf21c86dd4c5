// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/recording/peek_directory.h"

#include <unistd.h>

#include <QDir>
#include <QFileInfo>

namespace pf::gui {
namespace {

constexpr int kPatience = 2000;  // ms, for a shell to end

}  // namespace

PeekDirectory::PeekDirectory()
    : m_directory(QDir::tempPath() + QStringLiteral("/photofinish-peek-XXXXXX")) {
  if (!m_directory.isValid()) {
    return;
  }
  m_guard.setChildProcessModifier([] { setsid(); });  // the terminal's Ctrl-C is for the window
  m_guard.start(QStringLiteral("/bin/sh"),
                {QStringLiteral("-c"), QStringLiteral("cat > /dev/null; rm -rf -- \"$1\""),
                 QStringLiteral("sh"), m_directory.path()});
}

PeekDirectory::~PeekDirectory() {
  m_guard.closeWriteChannel();
  if (m_guard.state() != QProcess::NotRunning && !m_guard.waitForFinished(kPatience)) {
    m_guard.kill();
    m_guard.waitForFinished(kPatience);
  }
}

QString PeekDirectory::newFile(const QString& name) {
  const QString directory = m_directory.filePath(QString::number(++m_number));
  return m_directory.isValid() && QDir().mkpath(directory) ? directory + QLatin1Char('/') + name
                                                           : QString();
}

void PeekDirectory::remove(const QString& file) {
  QDir(QFileInfo(file).absolutePath()).removeRecursively();
}

bool PeekDirectory::holds(const QString& file) const {
  return m_directory.isValid() && file.startsWith(m_directory.path() + QLatin1Char('/'));
}

QString PeekDirectory::problem() const {
  return QObject::tr(
             "No directory can be made in %1: %2. Set TMPDIR to a place that can be written.")
      .arg(QDir::tempPath(), m_directory.errorString());
}

}  // namespace pf::gui
