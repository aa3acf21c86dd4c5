// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/records/line_text.h"

#include <cmath>
#include <cstdlib>

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>

namespace pf::session {
namespace {

constexpr qint64 kMostSource = 16 << 20;

}  // namespace

QStringList linesOf(const QString& file) {
  QFile source(file);
  if (!source.open(QIODevice::ReadOnly) || source.size() > kMostSource) {
    return {};
  }
  return QString::fromUtf8(source.readAll()).split(QLatin1Char('\n'));
}

int findLine(const QStringList& lines, int line, const QString& text) {
  const QString wanted = text.trimmed();
  int best = 0;
  for (int number = 1; !wanted.isEmpty() && number <= lines.size(); ++number) {
    if (lines[number - 1].trimmed() == wanted &&
        (best == 0 || std::abs(number - line) < std::abs(best - line))) {
      best = number;
    }
  }
  return best;
}

bool isNewer(const QString& file, const QString& program) {
  const QFileInfo source(file);
  const QFileInfo built(program);
  return built.exists() && source.lastModified() > built.lastModified();
}

QString sourceNotice(const QString& file, const QString& program, const QString& directory) {
  if (file.isEmpty() || file.endsWith(QLatin1String(".py")) ||
      !isNewer(file, QDir(directory).filePath(program))) {
    return {};
  }
  return QCoreApplication::translate(
             "Session",
             "%1 is newer than the program: its lines may not be those that run. Build the "
             "program again; then record it, or replay with Replay, Allow a program that was "
             "rebuilt ….")
      .arg(file.section(QLatin1Char('/'), -1));
}

}  // namespace pf::session
