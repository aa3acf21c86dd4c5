// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/launch/dap_launch.h"

#include <QCoreApplication>
#include <QFileInfo>

#include "app/session/part_of_trace.h"
#include "app/session/records/trusted_trace.h"
#include "app/session/state/in_background.h"

namespace pf::headless {
namespace {

constexpr std::size_t kFocusAllUpTo = 16;  ///< ranks: each GDB takes some 60 MB

bool hasEvent(const session::LoadedTrace& trace, const EventRef& event) {
  const auto rank = static_cast<std::size_t>(event.rank);
  return rank < trace.ranks.size() &&
         event.serial <= trace.data->execution.ranks[rank].events.size();
}

/// Usage: what the arguments name is not in the trace.
Status fits(const LaunchArguments& arguments, const session::LoadedTrace& trace) {
  const auto ranks = static_cast<int>(trace.ranks.size());
  for (const Rank rank : arguments.focus.value_or(std::vector<Rank>{})) {
    if (rank >= ranks) {
      return Error{ErrorCode::Usage,
                   "'focus' names rank " + std::to_string(rank) + ", and the recording has " +
                       std::to_string(ranks) + " ranks",
                   ""};
    }
  }
  if (arguments.until && !hasEvent(trace, *arguments.until)) {
    return Error{ErrorCode::Usage, "'until' names an event that the recording does not have",
                 "'photofinish events' lists them."};
  }
  return {};
}

app::PartOfJob partOf(const LaunchArguments& arguments) {
  return {arguments.group, arguments.ranks};
}

/// Which ranks get a GDB, where they run.
QList<int> focusOf(const LaunchArguments& arguments, const session::LoadedTrace& trace) {
  if (arguments.focus) {
    return QList<int>(arguments.focus->begin(), arguments.focus->end());
  }
  if (arguments.focusFailed || trace.ranks.size() > kFocusAllUpTo) {
    const EventRef failing = trace.data->failure.event;
    return {failing.valid() ? failing.rank : 0};
  }
  QList<int> all;
  for (int rank = 0; rank < static_cast<int>(trace.ranks.size()); ++rank) {
    all << rank;
  }
  return all;
}

}  // namespace

Launch::Launch(session::DebugSession& session, DapClient& client)
    : m_session(session), m_client(client), m_request(client), m_recorder(client) {
  connect(&m_recorder, &Recorder::recorded, this, &Launch::onRecorded);
  connect(&m_loader, &QFutureWatcherBase::finished, this, &Launch::onLoaded);
}

void Launch::begin(const Request& request, LaunchArguments arguments) {
  m_request.begin(request);
  m_arguments = std::move(arguments);
  if (!m_arguments.trace.empty()) {
    load(m_client.format().fromClient(m_arguments.trace));
    return;
  }
  m_client.showProgress(tr("Recording …"));
  m_recorder.record(m_arguments, word(request.arguments, "program"));
}

void Launch::onRecorded(int status) {
  if (!m_request.isPending()) {
    Q_EMIT idle();
  } else if (!m_recorder.hasRecorded()) {
    fail(m_recorder.whyNot());
  } else if (m_arguments.noDebug) {
    m_client.showProgress({});
    m_request.succeed();
    Q_EMIT ran(status);
  } else {
    load(m_recorder.trace());
  }
}

/// What has been recorded just now is one's own.
bool Launch::isTrusted() const {
  const Json& arguments = m_request.arguments();
  const auto consent = arguments.find("trust");
  return qApp->property(session::kTrusted).toBool() || m_arguments.trace.empty() ||
         (consent != arguments.end() && *consent == true);
}

void Launch::load(const QString& trace) {
  m_trace = QFileInfo(trace).absoluteFilePath();
  m_client.showProgress(
      (partOf(m_arguments).isWhole()
           ? tr("Opening %1; a trace that holds choices only is surveyed first …")
           : tr("Opening %1; of a trace that holds choices only, all ranks run once first, for its "
                "events …"))
          .arg(QFileInfo(trace).fileName()));
  m_loader.setFuture(
      session::inBackground([path = m_trace, trusted = isTrusted(), part = partOf(m_arguments)] {
        return std::make_shared<Result<session::LoadedTrace>>(
            session::loadPartToReplay(path, trusted, part));
      }));
}

void Launch::onLoaded() {
  const std::shared_ptr<Result<session::LoadedTrace>> trace = m_loader.result();
  if (!m_request.isPending()) {
    Q_EMIT idle();
  } else if (!trace->ok()) {
    fail(trace->error());
  } else if (const Status status = fits(m_arguments, **trace); !status) {
    fail(status.error());
  } else {
    open(std::move(**trace));
  }
}

/// Usage: what the arguments name is not in the part of the job that runs.
Status Launch::fitsPart() const {
  const auto outside = [this](Rank rank) {
    return Error{ErrorCode::Usage, m_session.notInReplay(rank).toStdString(),
                 "'ranks' of the launch arguments says which run."};
  };
  for (const Rank rank : m_arguments.focus.value_or(std::vector<Rank>{})) {
    if (!m_session.runs(rank)) {
      return outside(rank);
    }
  }
  return m_arguments.until && !m_session.runs(m_arguments.until->rank)
             ? Status(outside(m_arguments.until->rank))
             : Status();
}

void Launch::open(session::LoadedTrace trace) {
  QList<int> focus = focusOf(m_arguments, trace);
  m_session.open(m_trace, std::move(trace));
  Status status = m_session.debugOnly(partOf(m_arguments));
  status = status ? fitsPart() : status;
  if (!status) {
    fail(status.error());
    return;
  }
  if (!m_arguments.focus && !m_session.part().empty()) {
    focus = m_session.debuggers().focus();
  }
  m_session.breakpoints().setAside();
  m_session.debuggers().setTranscripts(QString::fromStdString(m_arguments.transcripts));
  m_session.control().stepOneThread(m_arguments.stepOneThread);
  m_session.debuggers().setFocus(focus);
  m_client.showProgress({});
  m_request.succeed();
  m_client.tell("initialized");
  Q_EMIT ready();
}

void Launch::fail(const Error& error) {
  m_request.fail(error);
  Q_EMIT failed();
}

}  // namespace pf::headless

#include "moc_dap_launch.cpp"
