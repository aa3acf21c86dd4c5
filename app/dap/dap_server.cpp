// SPDX-License-Identifier: GPL-3.0-or-later
// What comes in and goes out: frames, requests in their states, capabilities.
#include "app/dap/dap_server.h"

#include <limits>

#include <QUrl>

namespace pf::headless {

DapServer::DapServer(DapChannel& channel, bool strict, QObject* parent)
    : QObject(parent), m_channel(channel), m_strict(strict) {
  connect(&channel, &DapChannel::received, this, &DapServer::receive);
  connect(&channel, &DapChannel::closed, this, &DapServer::finish);
  connect(&m_loader, &QFutureWatcherBase::finished, this, &DapServer::loaded);
  connect(&m_finder, &QFutureWatcherBase::finished, this, &DapServer::attached);
  m_publishSoon.setSingleShot(true);
  m_publishSoon.setInterval(30);
  connect(&m_publishSoon, &QTimer::timeout, this, &DapServer::publish);
  connectSession();
}

void DapServer::receive(const QByteArray& bytes) {
  m_frames.feed({bytes.constData(), static_cast<std::size_t>(bytes.size())});
  while (!m_finishing) {
    std::optional<Result<std::string>> next = m_frames.next();
    if (!next) {
      return;
    }
    if (next->ok()) {
      dispatch(**next);
      continue;
    }
    send(errorResponse(0, "", next->error()));
    if (m_strict) {
      finish();
    }
  }
}

const std::map<std::string, DapServer::Entry>& DapServer::handlers() {
  using S = State;
  using N = Needs;
  static const std::map<std::string, Entry> all = {
      {"initialize", {&DapServer::initialize, S::Fresh, S::Fresh}},
      {"launch", {&DapServer::launch, S::Initialized, S::Initialized}},
      {"attach", {&DapServer::attach, S::Initialized, S::Initialized}},
      {"setBreakpoints", {&DapServer::setBreakpoints, S::Configuring, S::Live}},
      {"setFunctionBreakpoints", {&DapServer::setFunctionBreakpoints, S::Configuring, S::Live}},
      {"setExceptionBreakpoints", {&DapServer::setExceptionBreakpoints, S::Configuring, S::Live}},
      {"configurationDone", {&DapServer::configurationDone, S::Configuring, S::Configuring}},
      {"threads", {&DapServer::threads, S::Configuring, S::Live}},
      {"stackTrace", {&DapServer::stackTrace, S::Live, S::Live}},
      {"scopes", {&DapServer::scopes, S::Live, S::Live}},
      {"variables", {&DapServer::variables, S::Live, S::Live}},
      {"setVariable", {&DapServer::setVariable, S::Live, S::Live, N::Process}},
      {"evaluate", {&DapServer::evaluate, S::Live, S::Live}},
      {"exceptionInfo", {&DapServer::exceptionInfo, S::Live, S::Live}},
      {"continue", {&DapServer::continueRanks, S::Live, S::Live, N::Process}},
      {"next", {&DapServer::next, S::Live, S::Live, N::Process}},
      {"stepIn", {&DapServer::stepIn, S::Live, S::Live, N::Process}},
      {"stepOut", {&DapServer::stepOut, S::Live, S::Live, N::Process}},
      {"pause", {&DapServer::pause, S::Live, S::Live, N::Process}},
      {"stepBack", {&DapServer::stepBack, S::Live, S::Live, N::Recording}},
      {"reverseContinue", {&DapServer::reverseContinue, S::Live, S::Live, N::Recording}},
      {"gotoTargets", {&DapServer::gotoTargets, S::Configuring, S::Live, N::Process}},
      {"goto", {&DapServer::goTo, S::Live, S::Live, N::Process}},
      {"restart", {&DapServer::restart, S::Live, S::Live, N::Recording}},
      {"source", {&DapServer::source, S::Initialized, S::Over}},
      {"terminate", {&DapServer::terminate, S::Initialized, S::Live}},
      {"disconnect", {&DapServer::disconnect, S::Fresh, S::Over}},
      {"photofinish/races", {&DapServer::races, S::Configuring, S::Live, N::Recording}},
      {"photofinish/replayTo", {&DapServer::replayTo, S::Live, S::Live, N::Recording}},
  };
  return all;
}

void DapServer::dispatch(const std::string& content) {
  std::int64_t seq = 0;
  const Result<Request> request = parseRequest(content, seq);
  if (!request) {
    send(errorResponse(seq, "", request.error()));
    return;
  }
  const auto found = handlers().find(request->command);
  if (found == handlers().end()) {
    fail(*request, "the request '" + request->command + "' is not known here",
         "See the capabilities in the response to 'initialize'.");
    return;
  }
  const Entry& entry = found->second;
  if (m_state < entry.from || m_state > entry.to) {
    static const std::map<State, std::string> now = {
        {State::Fresh, "before 'initialize'"},
        {State::Initialized, "before 'launch'"},
        {State::Launching, "while the launch is under way"},
        {State::Configuring, "before 'configurationDone'"},
        {State::Live, "in a session that has begun"},
        {State::Over, "after the end of the session"}};
    fail(*request, "the request '" + request->command + "' does not fit " + now.at(m_state));
    return;
  }
  if (has(entry.needs, *request)) {
    (this->*entry.handler)(*request);
  }
}

void DapServer::initialize(const Request& request) {
  const Json& arguments = request.arguments;
  m_linesFrom1 = !arguments.contains("linesStartAt1") || flag(arguments, "linesStartAt1");
  m_columnsFrom1 = !arguments.contains("columnsStartAt1") || flag(arguments, "columnsStartAt1");
  m_pathsAreUris = word(arguments, "pathFormat") == "uri";
  m_clientShowsProgress = flag(arguments, "supportsProgressReporting");
  m_clientInvalidates = flag(arguments, "supportsInvalidatedEvent");
  Json can = Json::object();
  for (const char* what :
       {"supportsConfigurationDoneRequest", "supportsFunctionBreakpoints",
        "supportsConditionalBreakpoints", "supportsHitConditionalBreakpoints", "supportsLogPoints",
        "supportsEvaluateForHovers", "supportsSetVariable", "supportsStepBack",
        "supportsGotoTargetsRequest", "supportsRestartRequest", "supportsTerminateRequest",
        "supportsDelayedStackTraceLoading", "supportsExceptionInfoRequest",
        "supportsSingleThreadExecutionRequests"}) {
    can[what] = true;
  }
  can["exceptionBreakpointFilters"] = {
      {{"filter", "failure"},
       {"label", "Signals and aborts"},
       {"description", "A rank that crashes or aborts is always stopped."},
       {"default", true}},
      {{"filter", kMpiErrorFilter},
       {"label", "MPI errors"},
       {"description",
        "An MPI call that fails stops, before its error is returned or ends the job."},
       {"default", false}}};
  m_state = State::Initialized;
  succeed(request, std::move(can));
}

void DapServer::send(Json message) {
  message["seq"] = ++m_seq;
  m_channel.write(frame(toText(message)));
}

void DapServer::succeed(const Request& request, Json body) {
  send(response(request, std::move(body)));
}

void DapServer::fail(const Request& request, const std::string& message,
                     const std::string& advice) {
  send(errorResponse(request.seq, request.command, {ErrorCode::Usage, message, advice}));
}

void DapServer::say(const QString& text, const char* category) {
  send(eventMessage("output", {{"category", category}, {"output", text.toStdString() + "\n"}}));
}

void DapServer::showProgress(const QString& task) {
  if (!m_clientShowsProgress) {
    return;
  }
  if (task.isEmpty()) {
    if (m_progress != 0) {
      send(eventMessage("progressEnd", {{"progressId", std::to_string(m_progress)}}));
      m_progress = 0;
    }
    return;
  }
  Json body = {{"progressId", std::to_string(m_progress != 0 ? m_progress : m_progresses + 1)},
               {"message", task.toStdString()}};
  if (m_progress != 0) {
    send(eventMessage("progressUpdate", std::move(body)));
    return;
  }
  m_progress = ++m_progresses;
  body["title"] = "Photofinish";
  send(eventMessage("progressStart", std::move(body)));
}

std::string DapServer::toClient(const QString& path) const {
  return (m_pathsAreUris ? QUrl::fromLocalFile(path).toString(QUrl::FullyEncoded) : path)
      .toStdString();
}

int DapServer::lineFromClient(std::int64_t line) const {
  const std::int64_t ours = line + (m_linesFrom1 ? 0 : 1);
  return line >= 0 && ours <= std::numeric_limits<int>::max() ? static_cast<int>(ours) : 0;
}

QString DapServer::fromClient(const std::string& path) const {
  const QString text = QString::fromStdString(path);
  return m_pathsAreUris ? QUrl(text).toLocalFile() : text;
}

}  // namespace pf::headless
