// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/other_order.h"

#include <signal.h>

#include <QDateTime>
#include <QFileInfo>

#include "app/branching/flip.h"
#include "app/job/job.h"
#include "db/store/former_file.h"

namespace pf::session {

OtherOrder::~OtherOrder() {
  drop();
}

QString OtherOrder::freeName(const QString& trace) {
  const std::string name = app::flipName(trace.toStdString());
  return QString::fromStdString(
      QFileInfo::exists(QString::fromStdString(name)) ? db::freeNumberedName(name) : name);
}

void OtherOrder::make(const QStringList& words) {
  m_process = new QProcess(this);
  m_process->setStandardInputFile(QProcess::nullDevice());
  m_process->setProgram(QString::fromStdString(app::programDirectory()) +
                        QStringLiteral("/photofinish"));
  m_process->setArguments(words);
}

void OtherOrder::whenEnded(
    const std::function<void(const QByteArray& out, const QStringList& said)>& then) {
  const auto end = [this, then] {
    const QByteArray out = m_process->readAllStandardOutput();
    const QStringList lines = said();
    m_process->deleteLater();
    m_process = nullptr;
    then(out, lines);
  };
  connect(m_process, &QProcess::finished, this, end);
  connect(m_process, &QProcess::errorOccurred, this, [end](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) {  // finished() does not come
      end();
    }
  });
  m_process->start();
}

void OtherOrder::interrupt() {
  if (m_process != nullptr && m_process->processId() > 0) {
    ::kill(static_cast<pid_t>(m_process->processId()), SIGINT);
  }
}

void OtherOrder::drop() {
  constexpr int kPatienceMs = 5000;
  if (m_process != nullptr) {
    m_process->disconnect(this);
    m_process->terminate();
    m_process->waitForFinished(kPatienceMs);
    m_process->deleteLater();
    m_process = nullptr;
  }
}

/// What it said last on standard error, without our name in front.
QStringList OtherOrder::said() {
  constexpr qsizetype kLines = 2;
  QStringList lines = QString::fromUtf8(m_process->readAllStandardError())
                          .split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  for (QString& line : lines) {
    line.remove(QStringLiteral("photofinish: "));
    line = line.trimmed();
  }
  if (lines.isEmpty()) {
    lines.append(m_process->errorString());
  }
  return lines.mid(std::max<qsizetype>(0, lines.size() - kLines));
}

void OtherOrder::flip(const QString& trace, const QString& what, const QString& to) {
  const QString made = to.isEmpty() ? freeName(trace) : QFileInfo(to).absoluteFilePath();
  const QDateTime before = QFileInfo(made).lastModified();
  make({QStringLiteral("flip"), trace, QStringLiteral("-o"), made, what});
  whenEnded([this, made, before](const QByteArray&, const QStringList& lines) {
    const QFileInfo file(made);
    const bool isMade = file.exists() && file.lastModified() != before;
    Q_EMIT flipped(isMade ? made : QString(), lines);
  });
}

void OtherOrder::blame(const QString& trace) {
  make({QStringLiteral("blame"), QStringLiteral("--json"), trace});
  whenEnded([this](const QByteArray& document, const QStringList& lines) {
    Q_EMIT blamed(document, lines);
  });
}

QString eventWords(int rank, quint64 serial) {
  return QStringLiteral("%1:%2").arg(rank).arg(serial);
}

}  // namespace pf::session

#include "moc_other_order.cpp"
