// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/values/dap_stack_answers.h"

#include <algorithm>

#include "app/collation/event_text.h"

namespace pf::headless {

using values::RankActivity;
using values::RankState;

namespace {

constexpr int kMostFrames = 1000;  ///< at once
/// Frames of ours and MPI's above the program's are left out, so more of them are asked for.
constexpr int kOurFrames = 64;

/// Which frames of a stack a request is for.
struct FrameRange {
  explicit FrameRange(const Json& arguments)
      : start(std::clamp<std::int64_t>(number(arguments, "startFrame", 0), 0, 1 << 20)),
        asked(number(arguments, "levels", 0)) {}
  [[nodiscard]] int last() const {
    const std::int64_t levels =
        asked <= 0 ? kMostFrames : std::min<std::int64_t>(asked, kMostFrames);
    return static_cast<int>(start + levels) + kOurFrames;
  }
  [[nodiscard]] std::size_t most() const {
    return asked <= 0 ? kMostFrames : static_cast<std::size_t>(asked);
  }
  std::int64_t start;
  std::int64_t asked;
};

/// A 'StackFrame' without a source.
Json bareFrame(int id, const std::string& name) {
  return {{"id", id}, {"name", name}, {"line", 0}, {"column", 0}};
}

Json scopeJson(const char* name, const char* hint, bool expensive, int reference) {
  return {{"name", name},
          {"presentationHint", hint},
          {"expensive", expensive},
          {"variablesReference", reference}};
}

}  // namespace

void StackAnswers::threads(const Request& request) {
  Json all = Json::array();
  for (const RankState& state : m_threads.all()) {
    if (!m_threads.gone(state) || m_threads.atRest(state)) {
      all.push_back({{"id", Threads::idOf(state.rank)}, {"name", nameOf(state)}});
    }
  }
  m_client.succeed(request, {{"threads", std::move(all)}});
}

std::string StackAnswers::nameOf(const RankState& state) const {
  std::string name = "rank " + std::to_string(state.rank);
  name += state.detail.isEmpty() ? "" : ": " + state.detail.toStdString();
  name += m_session.isRunning() && !state.debugger ? " (no GDB)" : "";
  return name;
}

void StackAnswers::stackTrace(const Request& request) {
  const std::optional<int> rank = m_threads.rankOf(request);
  if (!rank) {
    return;
  }
  mi::GdbSession* gdb = m_session.debugger(*rank);
  const RankState state = m_session.rankStates()[*rank];
  if (gdb == nullptr) {
    sendRecordedFrame(request, state);
    return;
  }
  if (!m_threads.atRest(state)) {
    m_client.failAsRunning(request, *rank);
    return;
  }
  const int thread = gdb->stop().thread;
  const auto answer = [this, request, here = m_references.key(*rank, thread, 0)](
                          const Result<std::vector<mi::Frame>>& frames) {
    if (!frames || !m_references.valid(here)) {
      m_client.fail(request, frames ? "the rank has gone on" : frames.error().message);
      return;
    }
    sendFrames(request, here.rank, *frames);
  };
  gdb->inspect().frames(thread, 0, FrameRange(request.arguments).last(), answer);
}

void StackAnswers::sendFrames(const Request& request, int rank,
                              const std::vector<mi::Frame>& frames) {
  mi::GdbSession* gdb = m_session.debugger(rank);
  const int thread = gdb != nullptr ? gdb->stop().thread : 0;
  // The call that the program is in stays on show; what is in it does not.
  const std::size_t first = mi::firstShownFrame(frames);
  const FrameRange range(request.arguments);
  Json out = Json::array();
  for (std::size_t i = first + static_cast<std::size_t>(range.start);
       i < frames.size() && out.size() < range.most(); ++i) {
    out.push_back(frameJson(rank, thread, frames[i]));
  }
  std::size_t total = frames.size() - first;
  if (gdb != nullptr && !gdb->inspect().pythonProblem().empty()) {
    ++total;
    if (first + static_cast<std::size_t>(range.start) + out.size() == frames.size() &&
        out.size() < range.most()) {
      Json label = bareFrame(m_references.add(m_references.key(rank, 0, -1)),
                             gdb->inspect().pythonProblem());
      label["presentationHint"] = "label";
      out.push_back(std::move(label));
    }
  }
  m_client.succeed(request, {{"stackFrames", std::move(out)}, {"totalFrames", total}});
}

Json StackAnswers::frameJson(int rank, int thread, const mi::Frame& frame) {
  Json out =
      bareFrame(m_references.add(m_references.key(rank, thread, frame.gdbLevel, frame.python)),
                frame.function.empty() ? "??" : frame.function);
  if (mi::isLibraryFrame(frame)) {  // MPI's and our wrapper's: no source to show
    out["presentationHint"] = "subtle";
  } else if (frame.line > 0 && !frame.fullname.empty()) {
    setSource(out, frame.fullname, frame.line);
  }
  return out;
}

/// Where a rank without GDB is, as the recording has it: the call of its present or next event.
void StackAnswers::sendRecordedFrame(const Request& request, const RankState& state) {
  const bool inCall = state.activity == RankActivity::InCall;
  if (!inCall && state.activity != RankActivity::Stopped) {
    m_client.failAsRunning(request, state.rank);
    return;
  }
  const auto& ranks = m_session.trace()->execution.ranks;
  const auto& events = ranks[static_cast<std::size_t>(state.rank)].events;
  const Serial serial = state.serial + (inCall ? 0 : 1);
  Json out = Json::array();
  if (serial >= 1 && serial <= events.size() && number(request.arguments, "startFrame", 0) == 0) {
    out.push_back(recordedFrameJson({state.rank, serial}));
  }
  const std::size_t total = out.size();
  m_client.succeed(request, {{"stackFrames", std::move(out)}, {"totalFrames", total}});
}

Json StackAnswers::recordedFrameJson(const EventRef& event) {
  const Execution& execution = m_session.trace()->execution;
  Json out = bareFrame(m_references.add(m_references.key(event.rank, 0, -1)),
                       app::eventText(execution, event) + " (recorded; no GDB)");
  const auto& events = execution.ranks[static_cast<std::size_t>(event.rank)].events;
  const auto site = events[event.serial - 1].site;
  if (site < execution.sites.size() && !execution.sites[site].file.empty()) {
    setSource(out, execution.sites[site].file, execution.sites[site].line);
  }
  return out;
}

void StackAnswers::setSource(Json& frame, const std::string& path, int line) const {
  const ClientFormat& format = m_client.format();
  frame["source"] = format.source(QString::fromStdString(path));
  frame["line"] = format.lineToClient(line);
  frame["column"] = format.firstColumn();
}

void StackAnswers::scopes(const Request& request) {
  const std::optional<FrameKey> frame = m_references.frame(number(request.arguments, "frameId", 0));
  if (!frame) {
    m_client.fail(request, "there is no such frame",
                  "Its rank has gone on: ask for its stack again.");
    return;
  }
  Json all = Json::array();
  const auto add = [&](const char* name, const char* hint, ContainerKind kind) {
    const int reference = m_references.add(Container{kind, *frame, {}, 0, {}});
    all.push_back(scopeJson(
        name, hint, kind == ContainerKind::Registers || kind == ContainerKind::Globals, reference));
  };
  if (frame->level >= 0) {
    add("Locals", "locals", ContainerKind::Locals);
    add("Arguments", "arguments", ContainerKind::Arguments);
    add("Globals", "globals", ContainerKind::Globals);
    add("Registers", "registers", ContainerKind::Registers);
  }
  m_client.succeed(request, {{"scopes", std::move(all)}});
}

void StackAnswers::exceptionInfo(const Request& request) {
  const std::optional<Threads::Stopped> stopped = m_threads.stoppedOf(request);
  if (!stopped) {
    return;
  }
  const int rank = stopped->rank;
  const mi::StopEvent& stop = stopped->gdb->stop();
  if (m_breakpoints.isMpiError(m_session.breakpointAt(rank))) {
    m_client.succeed(request, {{"exceptionId", "MPI error"},
                               {"description", m_session.rankStates()[rank].detail.toStdString()},
                               {"breakMode", "always"}});
  } else if (stop.reason == mi::StopReason::Signal) {
    m_client.succeed(request, {{"exceptionId", stop.signalName},
                               {"description", stop.signalMeaning},
                               {"breakMode", "always"}});
  } else {
    m_client.fail(request, "rank " + std::to_string(rank) + " was not stopped by a signal");
  }
}

}  // namespace pf::headless
