// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/launch/dap_recorder.h"

#include <sys/stat.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QProcessEnvironment>
#include <QTimer>

#include "app/job/job.h"

namespace pf::headless {
namespace {

constexpr int kMostSaid = 4096;
constexpr int kPatienceMs = 15000;  ///< with a recording that is to end

/// PROGRAM-N.pft in `directory`, as 'photofinish record' names its traces.
QString freeTraceName(const QString& directory, const std::string& program) {
  const QString base = QFileInfo(QString::fromStdString(program)).fileName();
  for (int i = 1;; ++i) {
    const QString name = QDir(directory).filePath(QStringLiteral("%1-%2.pft").arg(base).arg(i));
    if (!QFile::exists(name) && !QFile::exists(name + QStringLiteral(".d"))) {
      return name;
    }
  }
}

/// Which file (inode) has this name; 0: none.
quint64 fileAt(const QString& path) {
  struct stat info {};
  return ::stat(QFile::encodeName(path).constData(), &info) == 0 ? quint64{info.st_ino} : 0;
}

QStringList recordWords(const LaunchArguments& arguments, const QString& trace) {
  QStringList words = {QStringLiteral("record"), QStringLiteral("--end-stuck"),
                       QStringLiteral("-o"), trace};
  if (arguments.jitter > 0) {
    words << QStringLiteral("--jitter") << QString::number(arguments.jitter);
  }
  for (const std::string& each : arguments.command) {
    words << QString::fromStdString(each);
  }
  return words;
}

QProcessEnvironment environmentOf(const LaunchArguments& arguments) {
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const auto& [name, value] : arguments.environment) {
    environment.insert(QString::fromStdString(name), QString::fromStdString(value));
  }
  return environment;
}

}  // namespace

void Recorder::record(const LaunchArguments& arguments, const std::string& program) {
  const ClientFormat& format = m_client.format();
  const QString directory =
      arguments.directory.empty() ? QDir::currentPath() : format.fromClient(arguments.directory);
  m_trace = arguments.output.empty()
                ? freeTraceName(directory, program)
                : QDir(directory).filePath(format.fromClient(arguments.output));
  m_formerFile = fileAt(m_trace);
  m_process = std::make_unique<QProcess>();
  follow();
  start(arguments, directory);
}

void Recorder::start(const LaunchArguments& arguments, const QString& directory) {
  m_process->setProcessEnvironment(environmentOf(arguments));
  m_process->setWorkingDirectory(directory);
  m_process->setStandardInputFile(QProcess::nullDevice());
  m_process->start(QString::fromStdString(app::programDirectory() + "/photofinish"),
                   recordWords(arguments, m_trace));
}

void Recorder::follow() {
  connect(m_process.get(), &QProcess::readyReadStandardOutput, this,
          [this] { m_client.output(m_process->readAllStandardOutput().toStdString(), "stdout"); });
  connect(m_process.get(), &QProcess::readyReadStandardError, this, [this] {
    const QByteArray bytes = m_process->readAllStandardError();
    m_said = (m_said + bytes).right(kMostSaid);
    m_client.output(bytes.toStdString(), "stderr");
  });
  connect(m_process.get(), &QProcess::finished, this, [this](int status, QProcess::ExitStatus how) {
    finish(how == QProcess::NormalExit ? status : 128 + status);
  });
  connect(m_process.get(), &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) {
      m_said = m_process->errorString().toUtf8();
      finish(1);
    }
  });
}

void Recorder::finish(int status) {
  m_process.release()->deleteLater();
  Q_EMIT recorded(status);
}

void Recorder::terminate() {
  if (m_process != nullptr) {
    m_process->terminate();
  }
}

void Recorder::end() {
  if (m_process != nullptr) {
    m_process->terminate();
    QTimer::singleShot(kPatienceMs, m_process.get(), &QProcess::kill);
  }
}

bool Recorder::hasRecorded() const {
  const quint64 file = fileAt(m_trace);
  return file != 0 && file != m_formerFile;
}

Error Recorder::whyNot() const {
  const QString said = QString::fromUtf8(m_said).trimmed();
  return {ErrorCode::System, "the program could not be recorded",
          said.isEmpty() ? "Try the command in a terminal." : said.toStdString()};
}

}  // namespace pf::headless

#include "moc_dap_recorder.cpp"
