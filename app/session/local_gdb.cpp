#include "local_gdb.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

#include <QPointer>
#include <QTimer>

#include "mi_bridge/gdb_command.h"

namespace pf::session {
namespace {

constexpr int kKillAfterMs = 3000;  ///< a GDB that does not end when asked to

class ProcessTransport final : public mi::Transport {
 public:
  explicit ProcessTransport(QProcess* process) : m_process(process) {}
  void send(std::string_view bytes) override {
    if (m_process != nullptr) {
      m_process->write(bytes.data(), static_cast<qint64>(bytes.size()));
    }
  }

 private:
  QPointer<QProcess> m_process;
};

}  // namespace

LocalGdb::LocalGdb(QObject* parent) : QObject(parent), m_process(new QProcess) {
  m_process->setProcessChannelMode(QProcess::SeparateChannels);
  m_process->setStandardErrorFile(QProcess::nullDevice());
  // A session of its own: Ctrl-C in our terminal is not for it. It lets go of its process when we die.
  m_process->setChildProcessModifier([] {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  });
  connect(m_process, &QProcess::readyReadStandardOutput, this,
          [this] { Q_EMIT said(m_process->readAllStandardOutput()); });
  connect(m_process, &QProcess::finished, this, [this](int status) {
    Q_EMIT ended(tr("its process has ended with status %1").arg(status));
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
  // Nobody waits for it here: it goes by itself, or is killed.
  QObject::connect(process, &QProcess::finished, process, &QObject::deleteLater);
  QTimer::singleShot(kKillAfterMs, process, &QProcess::kill);
  process->terminate();
}

void LocalGdb::start() {
  const std::vector<std::string> words = mi::gdbCommandLine();
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

std::unique_ptr<mi::Transport> LocalGdb::transport() {
  return std::make_unique<ProcessTransport>(m_process);
}

}  // namespace pf::session
