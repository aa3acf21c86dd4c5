// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/targets/replay_target.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>
#include <variant>

#include <QFutureWatcher>
#include <QThreadPool>

#include "app/job/debugger_program.h"
#include "app/replaying/part_of_job.h"
#include "app/replaying/replay.h"
#include "app/session/state/in_background.h"

namespace pf::session {
namespace {

constexpr std::size_t kMostOfLauncher = 2000;  ///< bytes of its output that are shown

}  // namespace

Result<std::unique_ptr<Target>> ReplayTarget::make(const ReplayRequest& request) {
  protocol::SessionConfig config;
  config.pty = true;
  config.echo = false;
  config.watchIntervalMs = 30;
  if (const Status there = app::namedGdbIsThere(); !there) {
    return there.error();
  }
  config.gdb = app::gdbProgram();
  Result<app::JobOptions> options =
      app::replayJob(*request.store, config, 0, {}, request.allowRebuilt);
  Result<app::RecordedUse> used = app::recordedUse(*request.store);
  if (!options || !used) {
    return options ? used.error() : options.error();
  }
  if (!request.ranks.empty()) {
    if (const Status few = app::startFew(*options, *request.store, request.ranks); !few) {
      return few.error();
    }
  }
  if (request.ranks.size() == 1 || request.store->run().ranks == 1) {  // it can go back alone
    options->session.mode |= kSnapshots;
  }
  std::unique_ptr<ReplayTarget> target(new ReplayTarget);
  target->m_options = std::move(*options);
  target->m_used = std::move(*used);
  target->m_ending = request.ending;
  return std::unique_ptr<Target>(std::move(target));
}

ReplayTarget::~ReplayTarget() {
  m_daemonNotifier.reset();
  m_launcherNotifier.reset();
}

void ReplayTarget::start() {
  m_starting = true;
  auto changed = std::make_shared<app::ReplayInputs::Lines>();
  auto job = std::make_shared<Result<std::unique_ptr<app::Job>>>(Error{});
  auto* watcher = new QFutureWatcher<void>(this);
  connect(watcher, &QFutureWatcher<void>::finished, this, [this, watcher, job, changed] {
    watcher->deleteLater();
    m_starting = false;
    if (!m_closing) {
      tellInputs(*changed);
    }
    adopt(job);
  });
  m_launcherOutput = std::make_shared<UniqueFd>(memfd_create("photofinish-launcher", MFD_CLOEXEC));
  watcher->setFuture(
      inBackground([job, changed, said = m_launcherOutput, options = std::move(m_options),
                    inputs = m_inputs, used = std::move(m_used)]() mutable {
        *changed = inputs->look(used);
        const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
        if (!null.valid()) {
          *job = systemError("cannot open /dev/null", errno);
          return;
        }
        options.input = null.get();
        options.output = options.error = said->valid() ? said->get() : null.get();
        *job = caught([&options] { return app::Job::start(std::move(options)); });
      }));
}

void ReplayTarget::adopt(const StartedJob& job) {
  if (!job->ok()) {
    if (m_closing) {
      Q_EMIT closed();
    } else {
      Q_EMIT failed(QString::fromStdString(job->error().text()));
    }
    return;
  }
  m_job = std::move(job->value());
  if (m_closing) {
    endJob();
    return;
  }
  m_daemonNotifier =
      std::make_unique<QSocketNotifier>(m_job->connection()->fd(), QSocketNotifier::Read);
  connect(m_daemonNotifier.get(), &QSocketNotifier::activated, this, &ReplayTarget::readDaemon);
  m_launcherNotifier =
      std::make_unique<QSocketNotifier>(m_job->launcherFd(), QSocketNotifier::Read);
  connect(m_launcherNotifier.get(), &QSocketNotifier::activated, this, &ReplayTarget::look);
  Q_EMIT started();
  readDaemon();
}

void ReplayTarget::tellInputs(const app::ReplayInputs::Lines& lines) {
  QStringList words;
  for (const std::string& line : lines) {
    words << QString::fromStdString(line);
  }
  Q_EMIT inputsChanged(words, QString::fromStdString(m_inputs->atEnd()));
}

void ReplayTarget::send(const protocol::Message& message) {
  if (m_job != nullptr) {
    if (Status status = m_job->send(message); !status) {
      Q_EMIT noticed(QString::fromStdString(status.error().text()), true);
    }
  }
}

void ReplayTarget::readDaemon() {
  if (m_job == nullptr) {
    return;
  }
  const app::Job::Heard heard = m_job->listen([this](const protocol::Message& message) {
    if (const auto* launched = std::get_if<protocol::RankLaunched>(&message)) {
      tellInputs(m_inputs->launched(*launched, false));
    }
    Q_EMIT said(message);
    return m_job != nullptr;  // what was said may have closed this
  });
  if (heard == app::Job::Heard::DaemonGone && m_job != nullptr) {
    m_daemonNotifier->setEnabled(false);
    Q_EMIT lost();
  }
}

void ReplayTarget::tick() {
  for (const std::string& text : m_job != nullptr ? m_job->notices() : std::vector<std::string>()) {
    Q_EMIT noticed(QString::fromStdString(text), false);
  }
  look();
}

void ReplayTarget::look() {
  readDaemon();
  const std::optional<int> status = m_job != nullptr ? m_job->launcherStatus() : std::nullopt;
  if (status) {
    m_launcherNotifier->setEnabled(false);
    Q_EMIT ended(*status, launcherSaid());
  }
}

/// What the launcher printed itself (the ranks have terminals of their own), on one line.
QString ReplayTarget::launcherSaid() const {
  std::array<char, kMostOfLauncher> text;
  const ssize_t n = m_launcherOutput == nullptr
                        ? 0
                        : ::pread(m_launcherOutput->get(), text.data(), text.size(), 0);
  QStringList lines;
  const QString all = QString::fromLocal8Bit(text.data(), std::max<ssize_t>(n, 0));
  for (const QString& line : all.split(QLatin1Char('\n'))) {
    const QString words = line.simplified();
    if (words.count(QLatin1Char('-')) < words.size()) {  // no ruled line
      lines << words;
    }
  }
  return lines.join(QLatin1Char(' '));
}

QString ReplayTarget::advice() const {
  return QString::fromStdString(m_inputs->advice({}));
}

void ReplayTarget::close() {
  if (std::exchange(m_closing, true)) {
    return;
  }
  m_daemonNotifier.reset();
  m_launcherNotifier.reset();
  if (!m_starting) {
    endJob();
  }
}

void ReplayTarget::endJob() {
  std::shared_ptr<app::Job> job = std::move(m_job);
  auto* watcher = new QFutureWatcher<void>(this);
  connect(watcher, &QFutureWatcher<void>::finished, this, &Target::closed);
  watcher->setFuture(inBackground(m_ending, [job = std::move(job)]() mutable { job.reset(); }));
}

}  // namespace pf::session
