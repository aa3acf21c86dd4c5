// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/mcp/tools.h"

#include <QFileInfo>

#include "app/collation/collate.h"
#include "app/mcp/waits_text.h"
#include "app/reports/report.h"
#include "app/session/part_of_trace.h"
#include "app/session/state/in_background.h"
#include "app/traces/own_traces.h"
#include "mi_bridge/looking_words.h"
#include "replay_engine/steering/logical_stops.h"

namespace pf::headless {
namespace {

constexpr const char* kSmaller = "ask for fewer ranks, or for less";
constexpr int kDefaultSeconds = 60;
constexpr std::size_t kMostNotes = 20;

const ScriptVerb& verbNamed(std::string_view name) {
  for (const ScriptVerb& verb : scriptVerbs()) {
    if (verb.name == name) {
      return verb;
    }
  }
  return scriptVerbs().front();  // tests hold that all names are known
}

/// Words of a script for those that a client has.
std::string inToolWords(std::string text) {
  static const std::map<std::string, std::string> kWords{
      {"'stack' lists", "'stacks' with 'ranks' lists"},
      {"'breakpoints' lists them", "'breakpoints' with the action 'list' lists them"},
      {"'pause @", "'move' with how 'pause' and ranks '"},
      {"'pause' stops it", "'move' with how 'pause' stops it"},
      {"'focus RANKS' gives", "'focus' gives"},
  };
  for (const auto& [script, tool] : kWords) {
    for (std::size_t at = text.find(script); at != std::string::npos;
         at = text.find(script, at + tool.size())) {
      text.replace(at, script.size(), tool);
    }
  }
  return text;
}

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
  m_said = BoundedText();
  m_left.clear();
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

Status ToolDesk::looksOnly(const std::string& expression) const {
  if (m_options.console) {
    return {};
  }
  Status looks = mi::onlyLooksAt(expression);
  if (looks) {
    return looks;
  }
  Error error = looks.error();
  error.advice += " The person who starts the server can allow it: photofinish mcp --allow-console";
  return error;
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
      return std::make_shared<Result<Opened>>(reads ? withConsent(loaded.error()) : loaded.error());
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
    const Error error = part.error();
    m_run.reset();
    fail(error);
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

// -- reports

void ToolDesk::info(const Given&) {
  if (!needsTrace()) {
    return;
  }
  inBackground([trace = m_path.toStdString(), said = m_said] {
    BoundedText text = said;
    const Result<std::string> report = app::infoReport(trace, false);
    if (!report) {
      return ToolResult{text.take(""), report.error()};
    }
    text.add(*report);
    return ToolResult{text.take("'photofinish info' prints all"), {}};
  });
}

void ToolDesk::races(const Given& given) {
  if (!needsTrace()) {
    return;
  }
  app::RacesText shown;
  shown.classes = static_cast<std::size_t>(given.number("limit", 10));
  shown.moreClasses = "a larger 'limit' shows more classes";
  shown.moreRaces = "'events' of a rank shows all its receives";
  inBackground([trace = m_path.toStdString(), shown] {
    BoundedText text;
    const Status made = app::racesReport(
        trace, app::RacesForm::Classes,
        [&text, line = std::string()](std::string_view piece, app::TextStyle) mutable {
          line += piece;
          if (const std::size_t end = line.rfind('\n'); end != std::string::npos) {
            text.add(std::string_view(line).substr(0, end + 1));
            line.erase(0, end + 1);
          }
        },
        shown);
    return made ? ToolResult{text.take("a smaller 'limit' leaves fewer"), {}}
                : ToolResult{{}, made.error()};
  });
}

void ToolDesk::events(const Given& given) {
  if (!needsTrace()) {
    return;
  }
  const auto rank = static_cast<Rank>(given.number("rank", 0));
  const auto& ranks = m_run->session().trace()->execution.ranks;
  if (static_cast<std::size_t>(rank) >= ranks.size()) {
    failNext("the recording has ranks 0 to " + std::to_string(ranks.size() - 1),
             "Name one of them.");
    return;
  }
  const Serial last = ranks[static_cast<std::size_t>(rank)].events.size();
  const auto first = static_cast<Serial>(given.number("first", 1));
  const auto most = static_cast<std::uint64_t>(given.number("limit", 50));
  if (first > last) {
    failNext("rank " + std::to_string(rank) + " has " + std::to_string(last) +
                 " events in the recording",
             "Give a 'first' of " + std::to_string(last) + " or less.");
    return;
  }
  inBackground([trace = m_path.toStdString(), choice = app::EventChoice{rank, first, most}, last] {
    BoundedText text;
    const Status made =
        app::eventsReport(trace, choice, false, [&text](std::string_view line) { text.add(line); });
    if (!made) {
      return ToolResult{{}, made.error()};
    }
    if (const Serial shown = choice.first + choice.most - 1; shown < last) {
      text.add("… of " + std::to_string(last) + " events; 'first' " + std::to_string(shown + 1) +
               " shows the next");
    }
    return ToolResult{text.take("a smaller 'limit' shows whole answers"), {}};
  });
}

/// Nothing: no replay runs.
std::optional<views::JobCut> ToolDesk::presentCut() const {
  const session::DebugSession& session = m_run->session();
  if (!session.isRunning()) {
    return {};
  }
  views::JobCut cut{session.eventsDone(), {}};
  for (std::size_t rank = 0; rank < cut.done.size(); ++rank) {
    cut.inside.push_back(cut.done[rank] < session.serialOf(static_cast<int>(rank)));
  }
  return cut;
}

void ToolDesk::waits(const Given&) {
  if (!needsTrace()) {
    return;
  }
  inBackground([trace = m_run->session().trace(), index = m_index, cut = presentCut()] {
    if (*index == nullptr) {  // one call at a time: nobody else makes it now
      *index = views::makeIndex(trace);
    }
    BoundedText text;
    text.add(waitsText(**index, cut));
    return ToolResult{text.take("'where' says it of single ranks"), {}};
  });
}

void ToolDesk::compare(const Given& given) {
  if (!needsTrace()) {
    return;
  }
  const QString other = QFileInfo(QString::fromStdString(given.text("other"))).absoluteFilePath();
  inBackground([a = m_path.toStdString(), b = other.toStdString()] {
    const Result<app::DiffReport> report = app::diffReport(a, b, false);
    if (!report) {
      return ToolResult{{}, report.error()};
    }
    BoundedText text;
    text.add("A is " + a + ", B is " + b);
    text.add(report->text);
    return ToolResult{text.take("'photofinish diff A B' prints all"), {}};
  });
}

// -- commands, one after the other

ToolDesk::Step ToolDesk::step(std::string_view verb, const std::string& text) const {
  Step step;
  step.command.verb = &verbNamed(verb);
  step.command.text = text;
  return step;
}

ToolDesk::Step ToolDesk::ofRanks(Step step, const Given& given) const {
  step.command.group = given.text("ranks");
  return step;
}

void ToolDesk::addRank(std::deque<Step>& steps, const Given& given) const {
  if (const auto rank = given.number("rank")) {
    Step choose = step("rank");
    choose.command.number = static_cast<int>(*rank);
    choose.shown = false;
    steps.push_back(std::move(choose));
  }
}

void ToolDesk::carryOut(std::deque<Step> steps, const Given& given, const std::string& left) {
  m_steps = std::move(steps);
  m_left = left;
  m_some = false;
  m_run->setTimeout(1000 * static_cast<int>(given.number("timeout_seconds", kDefaultSeconds)));
  next();
}

/// The same for steps that send ranks on.
void ToolDesk::go(std::deque<Step> steps, const Given& given) {
  m_moves = true;
  carryOut(std::move(steps), given, kSmaller);
}

void ToolDesk::next() {
  if (m_steps.empty()) {
    if (m_present.mayFail && !m_some) {
      failNext(
          "none of these has a value here",
          "'stacks' with 'ranks' lists the frames; 'console' with 'info locals' the variables.");
      return;
    }
    end({m_said.take(m_left), {}});
    return;
  }
  m_present = std::move(m_steps.front());
  m_steps.pop_front();
  m_run->carryOut(std::optional(m_present.command));
}

void ToolDesk::takeAnswer() {
  if (!m_present.title.empty()) {
    m_said.add(m_present.title);
  }
  if (m_present.shown) {
    for (const QString& line : m_run->answer().lines()) {
      m_said.add(inToolWords(line.toStdString()));
    }
  }
}

void ToolDesk::stepEnded(const std::optional<QString>& failure) {
  if (m_cancelled) {
    return;
  }
  takeAnswer();
  if (!failure) {
    m_some = true;
  } else {
    const std::string why =
        inToolWords(m_run->handlers().sayable(failure->trimmed()).toStdString());
    if (!m_present.mayFail) {
      m_steps.clear();
      failNext(why.empty() ? "that did not succeed" : why,
               m_run->session().isRunning()
                   ? "'where' says where the ranks are, 'waits' who waits for whom."
                   : "'replay_to' begins another replay.");
      return;
    }
    m_said.add("error: " + why);
  }
  // Not from within the command that ends.
  QMetaObject::invokeMethod(
      this,
      [this] {
        if (m_busy && !m_cancelled) {
          next();
        }
      },
      Qt::QueuedConnection);
}

// -- moving

Result<EventRef> ToolDesk::raceOf(std::int64_t number) {
  const views::TraceDataPtr trace = m_run->session().trace();
  std::int64_t at = 0;
  for (const Race race : trace->races) {
    if (++at == number) {
      return app::raceEvent(trace->execution, race);
    }
  }
  return Error{ErrorCode::Usage, "the recording has " + std::to_string(at) + " races",
               "'races' lists them."};
}

Result<EventRef> ToolDesk::receiveOf(int rank, std::int64_t number) {
  const auto& ranks = m_run->session().trace()->execution.ranks;
  if (static_cast<std::size_t>(rank) >= ranks.size()) {
    return Error{ErrorCode::Usage,
                 "the recording has ranks 0 to " + std::to_string(ranks.size() - 1),
                 "Name one of them."};
  }
  const std::vector<Serial> receives = receivesOf(ranks[static_cast<std::size_t>(rank)]);
  if (number < 1 || static_cast<std::size_t>(number) > receives.size()) {
    return Error{ErrorCode::Usage,
                 "rank " + std::to_string(rank) + " takes " + std::to_string(receives.size()) +
                     " messages in the recording",
                 "'number' counts from 1; 'events' lists them."};
  }
  return EventRef{rank, receives[static_cast<std::size_t>(number) - 1]};
}

Result<EventRef> ToolDesk::eventOf(const Given& given) {
  const std::string to = given.text("to");
  const auto number = given.number("number");
  if (!number) {
    return Error{ErrorCode::Usage, "'number' is missing, which '" + to + "' needs",
                 "'event' and 'receive' go by 'rank' and 'number', 'race' by 'number'."};
  }
  if (to == "race") {
    return raceOf(*number);
  }
  const auto rank = static_cast<int>(given.number("rank", m_run->session().currentRank()));
  return to == "receive" ? receiveOf(rank, *number)
                         : Result<EventRef>(EventRef{rank, static_cast<Serial>(*number)});
}

void ToolDesk::replayTo(const Given& given) {
  if (!mayReplay()) {
    return;
  }
  const std::string to = given.text("to");
  std::deque<Step> steps;
  if (to == "failure" && !m_run->session().trace()->failure.event.valid()) {
    failNext("no rank failed in this recording",
             "'races' lists the suspects; to 'event' or 'receive' leads to where it went wrong.");
    return;
  }
  if (to == "failure") {
    steps.push_back(step("to-failure"));
  } else if (to == "breakpoint") {
    if (given.has("place")) {
      Step set = ofRanks(step("break", given.text("place")), given);
      set.command.condition = given.text("condition");
      for (const std::string& words : {set.command.text, set.command.condition}) {
        if (const Status looks = words.empty() ? Status() : looksOnly(words); !looks) {
          fail(looks.error());
          return;
        }
      }
      steps.push_back(std::move(set));
    }
    steps.push_back(step("run"));
  } else {
    const Result<EventRef> event = eventOf(given);
    if (!event) {
      fail(event.error());
      return;
    }
    Step go = step("replay-to");
    go.command.event = *event;
    steps.push_back(std::move(go));
  }
  go(std::move(steps), given);
}

void ToolDesk::move(const Given& given) {
  static const std::map<std::string, std::string_view> kVerbs{
      {"next_receive", "next-receive"},
      {"next_event", "next-event"},
      {"deliver_next", "deliver-next"},
      {"deliver_next_anywhere", "deliver-next"},
      {"next_racing_receive", "next-racing-receive"},
      {"previous_event", "previous-event"},
      {"previous_receive", "previous-receive"},
      {"previous_hit", "previous-hit"}};
  if (!mayReplay() || !needsReplay()) {
    return;
  }
  const std::string how = given.text("how");
  std::deque<Step> steps;
  addRank(steps, given);
  const auto found = kVerbs.find(how);
  if (found == kVerbs.end()) {
    steps.push_back(ofRanks(step(verbNamed(how).name), given));
  } else if (given.has("ranks")) {
    failNext("'" + how + "' is of one rank", "Give 'rank' instead of 'ranks'.");
    return;
  } else {
    steps.push_back(step(found->second, how == "deliver_next_anywhere" ? "anywhere" : ""));
  }
  go(std::move(steps), given);
}

void ToolDesk::lastChange(const Given& given) {
  if (!mayReplay() || !needsReplay()) {
    return;
  }
  const std::string expression = given.text("expression");
  if (const Status looks = looksOnly(expression); !looks) {
    fail(looks.error());
    return;
  }
  std::deque<Step> steps;
  addRank(steps, given);
  steps.push_back(step("last-change", expression));
  go(std::move(steps), given);
}

void ToolDesk::focus(const Given& given) {
  if (!mayReplay()) {
    return;
  }
  go({step("focus", given.text("ranks"))}, given);
}

void ToolDesk::breakpoints(const Given& given) {
  if (!mayReplay()) {
    return;
  }
  const std::string action = given.text("action");
  std::deque<Step> steps;
  if (action == "set") {
    if (!given.has("place")) {
      failNext("'place' is missing", "FILE:LINE, FUNCTION, 'receive 0#2' …");
      return;
    }
    Step set = ofRanks(step("break", given.text("place")), given);
    set.command.condition = given.text("condition");
    for (const std::string& words : {set.command.text, set.command.condition}) {
      if (const Status looks = words.empty() ? Status() : looksOnly(words); !looks) {
        fail(looks.error());
        return;
      }
    }
    steps.push_back(std::move(set));
  } else if (action != "list") {
    if (!given.has("number")) {
      failNext("'number' is missing", "'breakpoints' with the action 'list' lists them.");
      return;
    }
    Step change = step(action);
    change.command.number = static_cast<int>(given.number("number", 0));
    change.shown = false;
    steps.push_back(std::move(change));
  }
  Step list = step("breakpoints");
  list.shown = action != "set";
  steps.push_back(std::move(list));
  carryOut(std::move(steps), given, kSmaller);
}

// -- looking

void ToolDesk::where(const Given& given) {
  if (needsReplay()) {
    carryOut({ofRanks(step("where"), given)}, given, kSmaller);
  }
}

void ToolDesk::stacks(const Given& given) {
  if (needsReplay()) {
    carryOut({given.has("ranks") ? ofRanks(step("stack"), given) : step("stacks")}, given,
             kSmaller);
  }
}

void ToolDesk::values(const Given& given) {
  if (!needsReplay()) {
    return;
  }
  std::deque<Step> steps;
  addRank(steps, given);
  if (const auto frame = given.number("frame")) {
    Step choose = step("frame");
    choose.command.number = static_cast<int>(*frame);
    steps.push_back(std::move(choose));
  }
  for (const std::string& expression : given.texts("expressions")) {
    if (const Status looks = looksOnly(expression); !looks) {
      fail(looks.error());
      return;
    }
    Step print = ofRanks(step("print", expression), given);
    print.mayFail = true;
    print.title = expression + ":";
    steps.push_back(std::move(print));
  }
  carryOut(std::move(steps), given, "ask for fewer ranks, or for parts, as a[0]@10");
}

void ToolDesk::whichMessage(const Given& given) {
  if (!needsReplay()) {
    return;
  }
  const std::string expression = given.text("expression");
  if (const Status looks = looksOnly(expression); !looks) {
    fail(looks.error());
    return;
  }
  std::deque<Step> steps;
  addRank(steps, given);
  steps.push_back(step("which-message", expression));
  carryOut(std::move(steps), given, kSmaller);
}

void ToolDesk::contents(const Given& given) {
  if (!needsTrace()) {
    return;
  }
  Step look = step("contents");
  look.command.event = {static_cast<Rank>(given.number("rank", 0)),
                        static_cast<Serial>(given.number("event", 1))};
  carryOut({std::move(look)}, given, "'photofinish payload' prints all");
}

void ToolDesk::output(const Given& given) {
  if (needsTrace()) {
    carryOut({ofRanks(step("output"), given)}, given, "ask for fewer ranks");
  }
}

void ToolDesk::console(const Given& given) {
  if (!needsReplay()) {
    return;
  }
  const std::string command = given.text("command");
  if (!m_options.console) {
    if (const Status looks = mi::onlyLooks(command); !looks) {
      Error error = looks.error();
      error.advice +=
          " The person who starts the server can allow all: photofinish mcp --allow-console";
      fail(std::move(error));
      return;
    }
  }
  std::deque<Step> steps;
  addRank(steps, given);
  steps.push_back(ofRanks(step("gdb", command), given));
  carryOut(std::move(steps), given, kSmaller);
}

}  // namespace pf::headless
