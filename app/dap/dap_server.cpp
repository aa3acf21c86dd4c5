// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/dap_server.h"

#include "app/dap/values/dap_file_answers.h"
#include "app/dap/wire/dap_capabilities.h"

namespace pf::headless {
namespace {

constexpr int kDrainMs = 500;

}  // namespace

DapServer::DapServer(ByteChannel& channel, bool strict, QObject* parent)
    : QObject(parent),
      m_client(channel, strict),
      m_session(std::make_unique<session::DebugSession>()),
      m_breakpoints(*m_session, m_client),
      m_threads(*m_session, m_client, m_breakpoints.logpoints()),
      m_teller(*m_session, m_client, m_threads, m_breakpoints),
      m_inspection(*m_session, m_client, m_threads, m_breakpoints),
      m_moves(*m_session, m_client, m_threads, m_teller),
      m_debuggee(*m_session, m_client, m_threads, m_teller),
      m_orders(*m_session, m_client),
      m_contents(*m_session, m_client) {
  m_session->breakpoints().stopAtAborts();
  addRequests();
  connectParts();
  connectSession();
}

DapServer::~DapServer() {
  m_session.reset();
}

template <typename Part>
void DapServer::add(const char* command, Part& part, void (Part::*answer)(const Request&),
                    DapState from, DapState to, Needs needs) {
  m_requests.add(command, from, to, needs,
                 [&part, answer](const Request& request) { (part.*answer)(request); });
}

void DapServer::addRequests() {
  using S = DapState;
  using N = Needs;
  using B = BreakpointAnswers;
  StackAnswers& stack = m_inspection.stack();
  VariableAnswers& variables = m_inspection.variables();
  ExpressionAnswers& expressions = m_inspection.expressions();

  add("initialize", *this, &DapServer::initialize, S::Fresh, S::Fresh);
  add("launch", m_debuggee, &Debuggee::launch, S::Initialized, S::Initialized);
  add("attach", m_debuggee, &Debuggee::attach, S::Initialized, S::Initialized);
  add("setBreakpoints", m_breakpoints, &B::setBreakpoints, S::Configuring, S::Live);
  add("setFunctionBreakpoints", m_breakpoints, &B::setFunctionBreakpoints, S::Configuring, S::Live);
  add("setExceptionBreakpoints", m_breakpoints, &B::setExceptionBreakpoints, S::Configuring,
      S::Live);
  add("configurationDone", *this, &DapServer::configurationDone, S::Configuring, S::Configuring);
  add("threads", stack, &StackAnswers::threads, S::Configuring, S::Live);
  add("stackTrace", stack, &StackAnswers::stackTrace, S::Live, S::Live);
  add("scopes", stack, &StackAnswers::scopes, S::Live, S::Live);
  add("variables", variables, &VariableAnswers::variables, S::Live, S::Live);
  add("setVariable", variables, &VariableAnswers::setVariable, S::Live, S::Live, N::Process);
  add("evaluate", expressions, &ExpressionAnswers::evaluate, S::Live, S::Live);
  add("exceptionInfo", stack, &StackAnswers::exceptionInfo, S::Live, S::Live);
  add("continue", m_moves, &Moves::continueRanks, S::Live, S::Live, N::Process);
  add("next", m_moves, &Moves::next, S::Live, S::Live, N::Process);
  add("stepIn", m_moves, &Moves::stepIn, S::Live, S::Live, N::Process);
  add("stepOut", m_moves, &Moves::stepOut, S::Live, S::Live, N::Process);
  add("pause", m_moves, &Moves::pause, S::Live, S::Live, N::Process);
  add("stepBack", m_moves, &Moves::stepBack, S::Live, S::Live, N::Recording);
  add("reverseContinue", m_moves, &Moves::reverseContinue, S::Live, S::Live, N::Recording);
  add("gotoTargets", m_moves, &Moves::gotoTargets, S::Configuring, S::Live, N::Process);
  add("goto", m_moves, &Moves::goTo, S::Live, S::Live, N::Process);
  add("restart", m_debuggee, &Debuggee::restart, S::Live, S::Live, N::Recording);
  add("source", *this, &DapServer::source, S::Initialized, S::Over);
  add("terminate", *this, &DapServer::terminate, S::Initialized, S::Live);
  add("disconnect", *this, &DapServer::disconnect, S::Fresh, S::Over);
  add("photofinish/races", m_debuggee, &Debuggee::races, S::Configuring, S::Live, N::Recording);
  add("photofinish/events", m_debuggee, &Debuggee::events, S::Configuring, S::Live, N::Recording);
  add("photofinish/contents", m_contents, &ContentsAnswers::contents, S::Configuring, S::Live,
      N::Recording);
  add("photofinish/snapshots", m_moves, &Moves::snapshots, S::Live, S::Live, N::Recording);
  add("photofinish/waits", m_moves, &Moves::waits, S::Live, S::Live);
  add("photofinish/flip", m_orders, &OtherOrders::flip, S::Configuring, S::Live, N::Recording);
  add("photofinish/blame", m_orders, &OtherOrders::blame, S::Configuring, S::Live, N::Recording);
  add("photofinish/replayTo", m_moves, &Moves::replayTo, S::Live, S::Live, N::Recording);
}

void DapServer::connectParts() {
  connect(&m_client, &DapClient::requested, this, &DapServer::dispatch);
  connect(&m_client, &DapClient::left, this, &DapServer::finish);
  connect(&m_teller, &StopTeller::elsewhere, this,
          [this] { m_breakpoints.logpoints().dropLines(); });
  connect(&m_teller, &StopTeller::resumed, this, [this](int rank) { m_inspection.resumed(rank); });
  connect(&m_teller, &StopTeller::allGone, this, [this] {
    over(std::nullopt);
    m_session->endReplay();
  });
  connect(&m_debuggee, &Debuggee::underWay, this,
          [this] { m_requests.enter(DapState::Launching); });
  connect(&m_debuggee, &Debuggee::ready, this, [this] { m_requests.enter(DapState::Configuring); });
  connect(&m_debuggee, &Debuggee::failed, this,
          [this] { m_requests.enter(DapState::Initialized); });
  connect(&m_debuggee, &Debuggee::ran, this, [this](int status) { over(status); });
  connect(&m_debuggee, &Debuggee::idle, this, &DapServer::finishStep);
}

void DapServer::connectSession() {
  using S = session::DebugSession;
  m_session->setStopFilter([this](int rank, int breakpoint) {
    return m_requests.state() == DapState::Live &&
           m_breakpoints.logpoints().takes(rank, breakpoint);
  });
  connect(m_session.get(), &S::message, this, [this](const QString& text, bool problem) {
    m_client.say(text, problem ? "important" : "console");
  });
  connect(m_session.get(), &S::progress, &m_client, &DapClient::showProgress);
  connect(m_session.get(), &S::settled, this, &DapServer::onSettled);
  connect(m_session.get(), &S::output, this,
          [this](int rank, values::OutputStream stream, const QByteArray& bytes) {
            m_client.rankOutput(rank, stream == values::OutputStream::Err, bytes);
          });
  connect(m_session.get(), &S::consoleText, this, &DapServer::onConsoleText);
}

void DapServer::dispatch(const Request& request) {
  const Result<Requests::Handler> handler = m_requests.find(request, whatIsThere());
  if (handler) {
    (*handler)(request);
  } else {
    m_client.fail(request, handler.error());
  }
}

Needs DapServer::whatIsThere() const {
  switch (m_session->source()) {
    case session::Source::Recording:
      return Needs::Recording;
    case session::Source::Job:
      return Needs::Process;
    case session::Source::Cores:
      break;
  }
  return Needs::Nothing;
}

void DapServer::initialize(const Request& request) {
  m_client.introduce(request.arguments);
  m_requests.enter(DapState::Initialized);
  m_client.succeed(request, capabilities());
}

void DapServer::configurationDone(const Request& request) {
  m_requests.enter(DapState::Live);
  m_client.succeed(request);
  m_teller.begin();
  m_debuggee.begin();
}

void DapServer::source(const Request& request) {
  answerSource(m_client, request);
}

void DapServer::terminate(const Request& request) {
  m_client.succeed(request);
  m_debuggee.terminateRecording();
  over(std::nullopt);
  m_session->endReplay();
}

void DapServer::disconnect(const Request& request) {
  m_client.succeed(request);
  if (m_requests.state() != DapState::Over) {
    over(std::nullopt);
  }
  finish();
}

void DapServer::onSettled() {
  if (isFinishing()) {
    finishStep();
  } else if (m_requests.state() != DapState::Live) {
    return;
  } else if (m_session->isReplaying()) {
    m_teller.settled();
  } else if (!m_debuggee.beginsAgain()) {
    over(m_teller.exitStatus());
  }
}

void DapServer::onConsoleText(int rank, const QString& text, bool error) {
  const bool answers = m_inspection.expressions().takes(rank, text);
  // What is no error is of stops, which are told otherwise.
  if (!answers && error && m_requests.state() == DapState::Live) {
    m_client.output(text.toStdString(), "console");
  }
}

void DapServer::over(std::optional<int> exitStatus) {
  m_client.endRankOutput();
  m_client.showProgress({});
  m_requests.enter(DapState::Over);
  m_teller.end();
  m_debuggee.abandon();
  if (exitStatus) {
    m_client.tell("exited", {{"exitCode", *exitStatus}});
  }
  m_client.tell("terminated");
}

void DapServer::finish() {
  if (isFinishing()) {
    return;
  }
  m_requests.enter(DapState::Finishing);
  m_client.stopListening();
  m_teller.end();
  m_debuggee.abandon();
  m_debuggee.endRecording();
  m_session->endReplay();
  // Not inside of a message: the owner of the server may delete it.
  QMetaObject::invokeMethod(this, &DapServer::finishStep, Qt::QueuedConnection);
}

/// Once nothing of ours runs any more.
void DapServer::finishStep() {
  if (isFinishing() && !m_finished && !m_debuggee.isBusy() && !m_session->isReplaying()) {
    m_finished = true;
    m_client.drain(kDrainMs);
    Q_EMIT finished();
  }
}

}  // namespace pf::headless

#include "moc_dap_server.cpp"
