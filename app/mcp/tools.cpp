// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/mcp/tools.h"

#include <QFileInfo>

#include "app/session/part_of_trace.h"
#include "app/session/state/in_background.h"
#include "app/traces/own_traces.h"

namespace pf::headless {
namespace {

constexpr std::size_t kMostNotes = 20;

/// How a person allows what a client cannot.
Error withConsent(Error error) {
  error.advice =
      "Only the person who has started this server can allow that, after a look at what would be "
      "run: by 'photofinish mcp --trust', or once by 'photofinish info --trust FILE'. Until then "
      "'info', and, where the trace has events, 'races', 'events', 'waits' and 'compare' work.";
  return error;
}

}  // namespace

ToolDesk::ToolDesk(McpOptions options, Prepare prepare)
    : m_options(options), m_prepare(std::move(prepare)) {
  using T = ToolDesk;
  m_tools = {{"open", &T::open},
             {"close", &T::close},
             {"info", &T::info},
             {"races", &T::races},
             {"events", &T::events},
             {"replay_to", &T::replayTo},
             {"move", &T::move},
             {"breakpoints", &T::breakpoints},
             {"where", &T::where},
             {"stacks", &T::stacks},
             {"values", &T::values},
             {"which_message", &T::whichMessage},
             {"last_change", &T::lastChange},
             {"waits", &T::waits},
             {"contents", &T::contents},
             {"output", &T::output},
             {"focus", &T::focus},
             {"compare", &T::compare},
             {"console", &T::console}};
  connect(&m_loader, &QFutureWatcherBase::finished, this, &ToolDesk::takeLoaded);
  connect(&m_worker, &QFutureWatcherBase::finished, this, [this] { end(*m_worker.result()); });
}

ToolDesk::~ToolDesk() {
  m_loader.disconnect(this);
  m_worker.disconnect(this);
}

// -- how a call goes on, and ends

void ToolDesk::call(const mcp::Tool& tool, const Given& given) {
  m_busy = true;
  m_cancelled = false;
  m_moves = false;
  m_toPlace = false;
  m_said = BoundedText();
  m_left.clear();
  m_ifNothing = "done";
  (this->*m_tools.at(tool.name))(given);
}

/// What the session says, goes with the next result.
void ToolDesk::note(const QString& text) {
  m_notes.push_back("note: " + text.toStdString());
  if (m_notes.size() > kMostNotes) {
    m_notes.pop_front();
  }
}

void ToolDesk::end(ToolResult result) {
  for (const std::string& each : std::exchange(m_notes, {})) {
    result.text += (result.text.empty() ? "" : "\n") + each.substr(0, kMostOfLine);
  }
  QMetaObject::invokeMethod(
      this,
      [this, result = std::move(result)] {
        m_busy = false;
        if (!m_cancelled) {
          Q_EMIT ended(result);
        } else {
          Q_EMIT ended({{}, Error{ErrorCode::Usage, "it was given up", {}}});
        }
        if (m_finishing) {
          letGo();
        }
      },
      Qt::QueuedConnection);
}

void ToolDesk::fail(Error error) {
  end({m_said.take(m_left), std::move(error)});
}

void ToolDesk::cancel() {
  if (!m_busy || m_cancelled) {
    return;
  }
  m_cancelled = true;
  if (!m_steps.empty() || (m_run != nullptr && m_run->isBusy())) {
    m_steps.clear();
    m_run->drop();
    if (m_moves && m_run->session().isReplaying()) {
      m_run->session().endReplay();
    }
    end({});
  }  // else it is in the background, which ends by itself
}

void ToolDesk::finish() {
  m_finishing = true;
  cancel();
  if (!m_busy) {
    letGo();
  }
}

/// Of the trace that is open, with its replay. closed() follows.
void ToolDesk::letGo() {
  if (m_run == nullptr) {
    QMetaObject::invokeMethod(this, &ToolDesk::closed, Qt::QueuedConnection);
    return;
  }
  m_run->leave();
}

void ToolDesk::closed() {
  m_run.reset();
  m_index.reset();
  m_foreign.reset();
  if (m_finishing) {
    if (!m_busy && !std::exchange(m_finished, true)) {
      Q_EMIT finished();
    }
  } else if (std::exchange(m_opens, false)) {
    load();
  } else {
    end({"closed", {}});
  }
}

void ToolDesk::inBackground(Work work) {
  m_worker.setFuture(session::inBackground([work = std::move(work)] {
    try {
      return std::make_shared<ToolResult>(work());
    } catch (...) {
      return std::make_shared<ToolResult>(ToolResult{{}, caughtError()});
    }
  }));
}

bool ToolDesk::needsTrace() {
  if (m_run == nullptr) {
    failNext("no trace is open", "Call 'open' with the path of a .pft file first.");
  }
  return m_run != nullptr;
}

bool ToolDesk::needsReplay() {
  if (!needsTrace()) {
    return false;
  }
  const bool runs = m_run->session().isRunning();
  if (!runs) {
    failNext(
        "no replay runs",
        "Call 'replay_to' first, for example with to 'failure'. 'events' and 'waits' need none.");
  }
  return runs;
}

bool ToolDesk::mayReplay() {
  if (needsTrace() && m_foreign) {
    fail(*m_foreign);
    return false;
  }
  return m_run != nullptr;
}

// -- the open trace

void ToolDesk::open(const Given& given) {
  const Result<std::vector<Rank>> ranks = given.has("ranks")
                                              ? app::ranksOfText(given.text("ranks"))
                                              : Result<std::vector<Rank>>(std::vector<Rank>{});
  if (!ranks) {
    fail(ranks.error());
    return;
  }
  if (given.has("ranks") && given.has("group")) {
    failNext("'ranks' and 'group' name two parts of the job", "Give one of them.");
    return;
  }
  m_part = {};
  m_part.ranks = *ranks;
  if (const auto group = given.number("group")) {
    m_part.group = static_cast<std::uint32_t>(*group);
  }
  m_path = QFileInfo(QString::fromStdString(given.text("trace"))).absoluteFilePath();
  m_opens = true;
  letGo();
}

void ToolDesk::load() {
  Q_EMIT progress(
      tr("Opening %1; a trace that holds choices only is run once more for its events …")
          .arg(QFileInfo(m_path).fileName()));
  m_loader.setFuture(session::inBackground([path = m_path, part = m_part,
                                            trusted = m_options.trusted]() -> OpenedPtr {
    const Status may = app::mayRun(path.toStdString());
    const bool reads = !may && !trusted && may.error().code == ErrorCode::Usage;
    Result<session::LoadedTrace> loaded =
        reads ? session::loadTrace(path) : session::loadPartToReplay(path, trusted, part);
    if (!loaded) {
      const bool asks = reads && loaded.error().code == ErrorCode::Usage;
      return std::make_shared<Result<Opened>>(asks ? withConsent(loaded.error()) : loaded.error());
    }
    Opened opened{std::move(*loaded), {}};
    if (reads) {
      opened.foreign = withConsent(may.error());
    }
    return std::make_shared<Result<Opened>>(std::move(opened));
  }));
}

void ToolDesk::takeLoaded() {
  const OpenedPtr opened = m_loader.result();
  if (m_cancelled || m_finishing) {
    end({});
    return;
  }
  if (!opened->ok()) {
    fail(opened->error());
    return;
  }
  m_foreign = (*opened)->foreign;
  m_index = std::make_shared<views::TraceIndexPtr>();
  m_run = std::make_unique<CommandRun>(
      m_path, std::move((*opened)->loaded),
      ScriptAnswer::Besides{[this](const QString& text) { note(text); },
                            [](const std::string&) {}});
  connect(m_run.get(), &CommandRun::ended, this, &ToolDesk::stepEnded);
  connect(m_run.get(), &CommandRun::left, this, &ToolDesk::closed, Qt::QueuedConnection);
  session::DebugSession& session = m_run->session();
  if (m_prepare) {
    m_prepare(session);
  }
  if (!m_options.console) {
    session.forbidCalls();
  }
  connect(&session, &session::DebugSession::progress, this, [this](const QString& text) {
    if (m_busy && !text.isEmpty()) {
      Q_EMIT progress(text);
    }
  });
  if (const Status part = m_run->debugOnly(m_part); !part) {
    m_run.reset();
    fail(part.error());
    return;
  }
  m_said.add("opened " + m_path.toStdString());
  if (m_foreign) {
    m_said.add("It was not recorded by this user: it is read, and nothing of it is run. " +
               m_foreign->advice);
  }
  info({});
}

void ToolDesk::close(const Given&) {
  if (needsTrace()) {
    letGo();
  }
}

}  // namespace pf::headless

#include "moc_tools.cpp"
