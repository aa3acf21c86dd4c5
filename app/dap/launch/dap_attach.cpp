// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/launch/dap_attach.h"

#include <algorithm>

#include <QSignalBlocker>

#include "app/session/state/in_background.h"
#include "app/unrecorded_jobs/running_job.h"
#include "views/values/text.h"

namespace pf::headless {

using session::UnrecordedRank;
using session::UnrecordedRanks;

namespace {

constexpr qsizetype kAtOnce = 16;  ///< ranks: each GDB takes some 60 MB

Result<UnrecordedRanks> find(const AttachArguments& arguments, const QStringList& cores,
                             const QString& program) {
  return arguments.pid != 0 ? session::ranksOfJob(arguments.pid)
                            : session::ranksOfCores(cores, program);
}

/// Why the process of a rank cannot be debugged; empty: it can.
std::string whyNot(const AttachArguments& arguments, const UnrecordedRank& rank) {
  const std::string why = arguments.pid != 0 ? app::whyNotTraceable(rank.pid) : std::string();
  return why.empty() ? why
                     : "rank " + std::to_string(rank.rank) + " (process " +
                           std::to_string(rank.pid) + ") cannot be debugged: " + why;
}

/// Usage: a rank is named that is not there.
Status areThere(const std::vector<Rank>& wanted, const UnrecordedRanks& found) {
  for (const Rank rank : wanted) {
    if (std::none_of(found.ranks.begin(), found.ranks.end(),
                     [rank](const UnrecordedRank& each) { return each.rank == rank; })) {
      return Error{ErrorCode::Usage,
                   "'focus' names rank " + std::to_string(rank) + ", which is not here",
                   "'photofinish attach' lists the ranks of jobs on this host."};
    }
  }
  return {};
}

/// Which ranks get a GDB. Usage, System: those that are wanted cannot have one.
Result<QList<int>> focusOf(const AttachArguments& arguments, const UnrecordedRanks& found) {
  const std::vector<Rank> named = arguments.focus.value_or(std::vector<Rank>{});
  QList<int> focus;
  std::string problem;
  for (const UnrecordedRank& rank : found.ranks) {
    const bool wanted = arguments.focus
                            ? std::find(named.begin(), named.end(), rank.rank) != named.end()
                            : focus.size() < kAtOnce;
    if (!wanted) {
      continue;
    }
    if (std::string why = whyNot(arguments, rank); why.empty()) {
      focus << rank.rank;
    } else {
      problem = std::move(why);
    }
  }
  if (Status status = areThere(named, found); !status) {
    return status.error();
  }
  if (focus.isEmpty()) {
    return Error{ErrorCode::System, problem.empty() ? "'focus' names no rank" : problem, ""};
  }
  return focus;
}

}  // namespace

Attach::Attach(session::DebugSession& session, DapClient& client, AttachedRanks& ranks)
    : m_session(session), m_client(client), m_ranks(ranks), m_request(client) {
  connect(&m_finder, &QFutureWatcherBase::finished, this, &Attach::onFound);
}

void Attach::begin(const Request& request, const AttachArguments& arguments) {
  m_request.begin(request);
  m_arguments = arguments;
  QStringList cores;
  for (const std::string& core : arguments.cores) {
    cores << m_client.format().fromClient(core);
  }
  const QString program = m_client.format().fromClient(arguments.program);
  m_finder.setFuture(session::inBackground([arguments, cores, program] {
    return std::make_shared<Result<UnrecordedRanks>>(find(arguments, cores, program));
  }));
}

void Attach::onFound() {
  const std::shared_ptr<Result<UnrecordedRanks>> found = m_finder.result();
  if (!m_request.isPending()) {
    Q_EMIT idle();
  } else if (!found->ok()) {
    fail(found->error());
  } else if (const Result<QList<int>> focus = focusOf(m_arguments, **found); !focus) {
    fail(focus.error());
  } else {
    open(**found, *focus);
  }
}

void Attach::open(const UnrecordedRanks& found, const QList<int>& focus) {
  m_ranks.take(found.ranks, focus, isJob() && !m_arguments.stopOnEntry);
  m_session.debuggers().setTranscripts(QString::fromStdString(m_arguments.transcripts));
  m_session.control().stepOneThread(m_arguments.stepOneThread);
  if (isJob()) {
    const QSignalBlocker quiet(m_session);  // it tells where to tick ranks
    m_session.attachTo(found.title, found.ranks);
  } else {
    m_session.openCores(found.ranks);
  }
  tellWhatIsThere(found);
  m_request.succeed();
  tellCapabilities();
  m_client.tell("initialized");
  Q_EMIT ready();
}

void Attach::tellWhatIsThere(const UnrecordedRanks& found) {
  const QString what = found.about.isEmpty()
                           ? found.title
                           : found.title + QStringLiteral(" (") + found.about + QStringLiteral(")");
  m_client.say(tr("%1: %2. Nothing of it is recorded, so nothing can be replayed.")
                   .arg(what, values::counted(static_cast<std::size_t>(found.ranks.size()),
                                              tr("rank"), tr("ranks"))),
               "console");
  if (!found.note.isEmpty()) {
    m_client.say(found.note, "important");
  }
}

/// What 'initialize' has promised is of recordings.
void Attach::tellCapabilities() {
  Json can = {{"supportsStepBack", false}, {"supportsRestartRequest", false}};
  if (!isJob()) {
    can["supportsGotoTargetsRequest"] = false;
    can["supportsSetVariable"] = false;
  }
  m_client.tell("capabilities", {{"capabilities", std::move(can)}});
}

void Attach::fail(const Error& error) {
  m_request.fail(error);
  Q_EMIT failed();
}

}  // namespace pf::headless

#include "moc_dap_attach.cpp"
