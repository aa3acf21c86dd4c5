// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/targets/local_gdb.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include <QElapsedTimer>
#include <QPointer>
#include <QTimer>

#include "app/job/debugger_program.h"
#include "mi_bridge/gdb_command.h"

namespace pf::session {
namespace {

/// A GDB that does not end when asked to.
constexpr int kTerminateAfterMs = 2000;
constexpr int kKillAfterMs = 4000;

/// Asked to end, and not gone yet.
QList<QPointer<QProcess>>& ending() {
  static QList<QPointer<QProcess>> processes;
  return processes;
}

}  // namespace

LocalGdb::LocalGdb(QObject* parent) : QObject(parent), m_process(new QProcess) {
  m_process->setProcessChannelMode(QProcess::SeparateChannels);
  m_process->setStandardErrorFile(QProcess::nullDevice());
  // A session of its own: Ctrl-C in our terminal is not for it. It lets go of its process when we
  // die. It leaves no core file where the user works.
  m_process->setChildProcessModifier([] {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
  });
  connect(m_process, &QProcess::readyReadStandardOutput, this,
          [this] { Q_EMIT said(m_process->readAllStandardOutput()); });
  connect(m_process, &QProcess::finished, this, [this](int status, QProcess::ExitStatus how) {
    Q_EMIT ended(how == QProcess::CrashExit  // then it is the signal's number
                     ? tr("gdb was ended by signal %1 (%2)")
                           .arg(status)
                           .arg(QString::fromLocal8Bit(::strsignal(status)))
                     : tr("gdb ended with status %1").arg(status));
  });
  connect(m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) {
      Q_EMIT ended(tr("gdb cannot be started (%1): install it (apt-get install gdb)")
                       .arg(m_process->errorString()));
    }
  });
}

LocalGdb::~LocalGdb() {
  QProcess* process = m_process;
  process->disconnect(this);
  if (process->state() == QProcess::NotRunning) {
    delete process;
    return;
  }
  // By a command, at a moment that suits GDB: a signal might catch it half way through a stop, or
  // through letting go, and its process would be left with a breakpoint's trap, or stopped for
  // ever.
  QObject::connect(process, &QProcess::finished, process, &QObject::deleteLater);
  QTimer::singleShot(kTerminateAfterMs, process, &QProcess::terminate);
  QTimer::singleShot(kKillAfterMs, process, &QProcess::kill);
  // The signal of a pause may still be on its way: it has to reach GDB, or it ends the process.
  process->write("-interpreter-exec console \"shell sleep 0.2\"\n-gdb-exit\n");
  process->closeWriteChannel();
  ending().removeIf([](const QPointer<QProcess>& each) { return each.isNull(); });
  ending().append(process);
}

EndOfLocalGdbs::~EndOfLocalGdbs() {
  const QList<QPointer<QProcess>> processes = std::exchange(ending(), {});
  QElapsedTimer since;
  since.start();
  const auto within = [&](const QPointer<QProcess>& process, int ms) {
    const auto left = static_cast<int>(std::max<qint64>(1, ms - since.elapsed()));
    return process.isNull() || process->state() == QProcess::NotRunning ||
           process->waitForFinished(left);
  };
  for (const QPointer<QProcess>& process : processes) {
    if (within(process, kTerminateAfterMs)) {
      continue;
    }
    process->terminate();
    if (!within(process, kKillAfterMs)) {
      process->kill();
      (void)process->waitForFinished(kTerminateAfterMs);
    }
  }
}

void LocalGdb::start() {
  const std::vector<std::string> words = mi::gdbCommandLine(app::gdbProgram());
  QStringList arguments;
  for (std::size_t i = 1; i < words.size(); ++i) {
    arguments << QString::fromStdString(words[i]);
  }
  m_process->start(QString::fromStdString(words.front()), arguments);
}

void LocalGdb::interrupt() {
  if (const qint64 pid = m_process->processId(); pid > 0) {
    ::kill(static_cast<pid_t>(pid), SIGINT);
  }
}

void LocalGdb::terminate() {
  m_process->terminate();
}

void LocalGdb::send(std::string_view bytes) {
  m_process->write(bytes.data(), static_cast<qint64>(bytes.size()));
}

}  // namespace pf::session

#include "moc_local_gdb.cpp"
