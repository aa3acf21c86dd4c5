// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs that run without having been recorded, and core files: looked at, not replayed.
#include <algorithm>

#include <QFutureWatcher>

#include "app/dap/dap_server.h"
#include "app/session/state/in_background.h"
#include "app/unrecorded_jobs/running_job.h"

namespace pf::headless {

using session::Source;
using values::RankState;

namespace {

constexpr qsizetype kAtOnce = 16;  ///< ranks: each GDB takes some 60 MB

Result<session::UnrecordedRanks> find(const AttachArguments& arguments, const QStringList& cores,
                                      const QString& program) {
  return arguments.pid != 0 ? session::ranksOfJob(arguments.pid)
                            : session::ranksOfCores(cores, program);
}

QString tellWhatIsThere(const session::UnrecordedRanks& found) {
  const QString what = found.about.isEmpty()
                           ? found.title
                           : found.title + QStringLiteral(" (") + found.about + QStringLiteral(")");
  return QObject::tr("%1: %n rank(s). Nothing of it is recorded, so nothing can be replayed.",
                     nullptr, static_cast<int>(found.ranks.size()))
      .arg(what);
}

}  // namespace

void DapServer::attach(const Request& request) {
  Result<AttachArguments> arguments = parseAttachArguments(request.arguments);
  if (!arguments) {
    fail(request, arguments.error().message, arguments.error().advice);
    return;
  }
  m_attach = std::move(*arguments);
  m_launch = request;
  m_state = State::Launching;
  QStringList cores;
  for (const std::string& core : m_attach.cores) {
    cores << fromClient(core);
  }
  const QString program = fromClient(m_attach.program);
  m_finder.setFuture(session::inBackground([arguments = m_attach, cores, program] {
    return std::make_shared<Result<session::UnrecordedRanks>>(find(arguments, cores, program));
  }));
}

/// Which ranks get a GDB. Usage, System: those that are wanted cannot have one.
Result<QList<int>> DapServer::unrecordedFocus(const session::UnrecordedRanks& found) const {
  QList<int> focus;
  std::string whyNot;
  for (const session::UnrecordedRank& rank : found.ranks) {
    const bool wanted = m_attach.focus ? std::find(m_attach.focus->begin(), m_attach.focus->end(),
                                                   rank.rank) != m_attach.focus->end()
                                       : focus.size() < kAtOnce;
    if (!wanted) {
      continue;
    }
    const std::string why = m_attach.pid != 0 ? app::whyNotTraceable(rank.pid) : std::string();
    if (why.empty()) {
      focus << rank.rank;
    } else {
      whyNot = "rank " + std::to_string(rank.rank) + " (process " + std::to_string(rank.pid) +
               ") cannot be debugged: " + why;
    }
  }
  for (const Rank rank : m_attach.focus.value_or(std::vector<Rank>{})) {
    if (std::none_of(found.ranks.begin(), found.ranks.end(),
                     [&](const auto& each) { return each.rank == rank; })) {
      return Error{ErrorCode::Usage,
                   "'focus' names rank " + std::to_string(rank) + ", which is not here",
                   "'photofinish attach' lists the ranks of jobs on this host."};
    }
  }
  if (focus.isEmpty()) {
    return Error{ErrorCode::System, whyNot.empty() ? "'focus' names no rank" : whyNot, ""};
  }
  return focus;
}

void DapServer::attached() {
  const std::shared_ptr<Result<session::UnrecordedRanks>> found = m_finder.result();
  if (m_finishing) {
    finishStep();
    return;
  }
  if (m_state == State::Over) {
    return;  // terminated meanwhile
  }
  if (!found->ok()) {
    launchFails(found->error());
    return;
  }
  Result<QList<int>> focus = unrecordedFocus(**found);
  if (!focus) {
    launchFails(focus.error());
    return;
  }
  m_unrecorded.clear();
  for (const session::UnrecordedRank& rank : (*found)->ranks) {
    m_unrecorded[rank.rank] = rank;
  }
  m_unrecordedFocus = std::move(*focus);
  m_session.debuggers().setTranscripts(QString::fromStdString(m_attach.transcripts));
  m_session.control().stepOneThread(m_attach.stepOneThread);
  if (m_attach.pid != 0) {
    const QSignalBlocker quiet(m_session);  // it tells where to tick ranks
    m_session.attachTo((*found)->title, (*found)->ranks);
  } else {
    m_session.openCores((*found)->ranks);
  }
  say(tellWhatIsThere(**found), "console");
  if (!(*found)->note.isEmpty()) {
    say((*found)->note, "important");
  }
  m_state = State::Configuring;
  succeed(*m_launch);
  // What 'initialize' has promised is of recordings.
  Json can = {{"supportsStepBack", false}, {"supportsRestartRequest", false}};
  if (m_attach.pid == 0) {
    can["supportsGotoTargetsRequest"] = false;
    can["supportsSetVariable"] = false;
  }
  send(eventMessage("capabilities", {{"capabilities", std::move(can)}}));
  send(eventMessage("initialized", nullptr));
}

/// Breakpoints are known: now the ranks get their GDBs, which stop them.
void DapServer::startUnrecorded() {
  moving("entry");
  m_lettingGo = m_pauseThen = false;
  m_session.debuggers().setFocus(m_unrecordedFocus);
  publish();
}

/// Its rank, or the GDB itself, has come to its end meanwhile.
bool DapServer::hasEnded(const mi::GdbSession* gdb) {
  return gdb != nullptr &&
         (gdb->state() == mi::SessionState::Exited || gdb->state() == mi::SessionState::Lost);
}

/// True once each rank of the focus has its GDB, or cannot have one, and goes on if it is to.
bool DapServer::unrecordedArrived() {
  const QList<int> withGdb = m_session.debuggers().focus();
  QList<int> here;
  for (const int rank : std::as_const(m_unrecordedFocus)) {
    mi::GdbSession* gdb = m_session.debugger(rank);
    const bool stopped = gdb != nullptr && gdb->state() == mi::SessionState::Stopped;
    if (stopped && (!m_lettingGo || gdb->stop().reason == mi::StopReason::Attached)) {
      here << rank;
    } else if (!stopped && !m_lettingGo && withGdb.contains(rank) && !hasEnded(gdb)) {
      return false;  // on its way
    }
  }
  if (m_lettingGo) {
    return here.isEmpty();
  }
  if (here.isEmpty()) {
    over(std::nullopt);  // why has been said of each
    m_session.endReplay();
    return false;
  }
  m_lettingGo = !m_attach.stopOnEntry && m_attach.pid != 0;
  if (m_lettingGo) {
    m_session.act(values::RankAction::Continue, here);
  }
  return !m_lettingGo;
}

QList<RankState> DapServer::ranksHere() const {
  QList<RankState> states = m_session.rankStates();
  if (m_session.source() != Source::Recording) {  // a job may have ranks on other hosts
    states.removeIf([this](const RankState& state) { return !m_unrecorded.contains(state.rank); });
  }
  return states;
}

void DapServer::unrecordedStop(int rank, const mi::StopEvent& stop, Json& body) const {
  const session::UnrecordedRank& outside = m_unrecorded.at(rank);
  const std::string who = "rank " + std::to_string(rank) + ": ";
  if (!outside.core.isEmpty()) {
    const bool crashed = !outside.end.isEmpty();
    body["reason"] = crashed ? "exception" : "entry";
    body["description"] =
        who + "core file" + (crashed ? ", " + outside.end.toStdString() : std::string());
    if (crashed) {
      body["text"] = outside.end.toStdString();
    }
  } else if (stop.reason == mi::StopReason::Attached) {
    body["reason"] = m_goalReason;
    body["description"] = who + "attached to process " + std::to_string(outside.pid);
  }
}

/// Whether the session has what a request needs; answers with an error if not.
bool DapServer::has(Needs needs, const Request& request) {
  const Source source = m_session.source();
  if (needs == Needs::Nothing || source == Source::Recording) {
    return true;
  }
  if (needs == Needs::Recording) {
    fail(request, "'" + request.command + "' needs a recording, and there is none of this job",
         "Record the program ('launch' with 'program') to step back and to see its races.");
    return false;
  }
  if (source == Source::Cores) {
    fail(request, "core files can only be looked at: nothing runs",
         "Record the program ('launch' with 'program') to run it.");
    return false;
  }
  return true;
}

}  // namespace pf::headless
