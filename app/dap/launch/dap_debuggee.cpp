// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/launch/dap_debuggee.h"

#include "app/dap/values/dap_file_answers.h"
#include "app/job/debugger_program.h"

namespace pf::headless {

Debuggee::Debuggee(session::DebugSession& session, DapClient& client, Threads& threads,
                   StopTeller& teller)
    : m_session(session),
      m_client(client),
      m_threads(threads),
      m_teller(teller),
      m_launch(session, client),
      m_attach(session, client, threads.attached()),
      m_start(session, client, teller) {
  connect(&m_launch, &Launch::ready, this, &Debuggee::ready);
  connect(&m_launch, &Launch::failed, this, &Debuggee::failed);
  connect(&m_launch, &Launch::ran, this, &Debuggee::ran);
  connect(&m_launch, &Launch::idle, this, &Debuggee::idle);
  connect(&m_attach, &Attach::ready, this, &Debuggee::ready);
  connect(&m_attach, &Attach::failed, this, &Debuggee::failed);
  connect(&m_attach, &Attach::idle, this, &Debuggee::idle);
}

/// False: it cannot be, and that is answered.
bool Debuggee::usesGdb(const Request& request, const std::string& gdb) {
  const Status used =
      gdb.empty() ? Status() : app::useGdb(m_client.format().fromClient(gdb).toStdString());
  if (!used) {
    m_client.fail(request, used.error());
  }
  return used.ok();
}

void Debuggee::launch(const Request& request) {
  Result<LaunchArguments> arguments = parseLaunchArguments(request.arguments);
  if (!arguments) {
    m_client.fail(request, arguments.error());
    return;
  }
  if (arguments->noDebug && !arguments->trace.empty()) {
    m_client.fail(request, "a trace is replayed to be debugged, and 'noDebug' is set",
                  "Launch 'program' without debugging, or the trace with it.");
    return;
  }
  if (!usesGdb(request, arguments->gdb)) {
    return;
  }
  Q_EMIT underWay();
  m_start.setGoal(*arguments);
  m_launch.begin(request, std::move(*arguments));
}

void Debuggee::attach(const Request& request) {
  const Result<AttachArguments> arguments = parseAttachArguments(request.arguments);
  if (!arguments) {
    m_client.fail(request, arguments.error());
    return;
  }
  if (!usesGdb(request, arguments->gdb)) {
    return;
  }
  Q_EMIT underWay();
  m_attach.begin(request, *arguments);
}

void Debuggee::races(const Request& request) {
  answerRaces(m_client, request, m_launch.trace());
}

void Debuggee::events(const Request& request) {
  std::vector<std::size_t> count;
  for (const RankHistory& rank : m_session.trace()->execution.ranks) {
    count.push_back(rank.events.size());
  }
  answerEvents(m_client, request, m_launch.trace(), count);
}

void Debuggee::begin() {
  if (m_session.source() == session::Source::Recording) {
    m_start.start();
  } else {
    beginAttached();
  }
}

/// The ranks get their GDBs, which stop them.
void Debuggee::beginAttached() {
  m_teller.sent("entry");
  m_threads.attached().begin();
  m_teller.publish();
}

void Debuggee::abandon() {
  m_launch.abandon();
  m_attach.abandon();
}

}  // namespace pf::headless

#include "moc_dap_debuggee.cpp"
