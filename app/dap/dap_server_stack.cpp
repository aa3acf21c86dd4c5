// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks, stacks and values: asked of the GDB of a rank, or of the recording where it has none.
#include <algorithm>

#include <QFile>
#include <QFileInfo>

#include "app/collation/event_text.h"
#include "app/dap/dap_server.h"

namespace pf::headless {

using values::RankState;

namespace {

constexpr int kPage = 200;         ///< children of something whose size only GDB's printer knows
constexpr int kMostFrames = 1000;  ///< at once
constexpr qint64 kMostSource = qint64{8} << 20;

bool isArray(const mi::VarObject& object) {
  return object.displayHint == "array" || (!object.type.empty() && object.type.back() == ']');
}

/// What a structure or array shows before it is asked for.
bool needsObject(const mi::Variable& variable) {
  return !variable.value || variable.type.find('*') != std::string::npos;
}

}  // namespace

void DapServer::threads(const Request& request) {
  Json all = Json::array();
  for (const RankState& state : ranksHere()) {
    if (gone(state) && !atRest(state)) {
      continue;
    }
    std::string name = "rank " + std::to_string(state.rank);
    name += state.detail.isEmpty() ? "" : ": " + state.detail.toStdString();
    name += m_session.isRunning() && !state.debugger ? " (no GDB)" : "";
    all.push_back({{"id", state.rank + 1}, {"name", name}});
  }
  succeed(request, {{"threads", std::move(all)}});
}

void DapServer::stackTrace(const Request& request) {
  const std::optional<int> rank = rankOf(request);
  if (!rank) {
    return;
  }
  mi::GdbSession* gdb = m_session.debugger(*rank);
  const RankState state = m_session.rankStates()[*rank];
  if (gdb == nullptr) {
    sendRecordedFrame(request, state);
    return;
  }
  if (!atRest(state)) {
    send(notStopped(request, "rank " + std::to_string(*rank) + " runs"));
    return;
  }
  const auto start =
      std::clamp<std::int64_t>(number(request.arguments, "startFrame", 0), 0, 1 << 20);
  std::int64_t levels = number(request.arguments, "levels", 0);
  levels = levels <= 0 ? kMostFrames : std::min<std::int64_t>(levels, kMostFrames);
  // Frames of ours and MPI's above the program's are left out, so more of them are asked for.
  constexpr int kOurs = 64;
  const int thread = gdb->stop().thread;
  const FrameKey here = m_references.key(*rank, thread, 0);
  gdb->inspect().frames(thread, 0, static_cast<int>(start + levels) + kOurs,
                        [this, request, here](const Result<std::vector<mi::Frame>>& frames) {
                          if (!frames || !m_references.valid(here)) {
                            fail(request, frames ? "the rank has gone on" : frames.error().message);
                            return;
                          }
                          sendFrames(request, here.rank, *frames);
                        });
}

void DapServer::sendFrames(const Request& request, int rank, const std::vector<mi::Frame>& frames) {
  mi::GdbSession* gdb = m_session.debugger(rank);
  const int user = static_cast<int>(mi::firstUserFrame(frames).value_or(0));
  // The call that the program is in stays on show; what is in it does not.
  const auto first = static_cast<std::size_t>(std::max(0, user - 1));
  const auto start = static_cast<std::size_t>(
      std::clamp<std::int64_t>(number(request.arguments, "startFrame", 0), 0, 1 << 20));
  const std::int64_t asked = number(request.arguments, "levels", 0);
  const std::size_t levels = asked <= 0 ? kMostFrames : static_cast<std::size_t>(asked);
  Json out = Json::array();
  for (std::size_t i = first + start; i < frames.size() && out.size() < levels; ++i) {
    const mi::Frame& frame = frames[i];
    Json one = {{"id", m_references.add(m_references.key(
                           rank, gdb != nullptr ? gdb->stop().thread : 0, frame.level))},
                {"name", frame.function.empty() ? "??" : frame.function},
                {"line", 0},
                {"column", 0}};
    // MPI's and our wrapper's frames have no source to show.
    if (frame.line > 0 && !frame.fullname.empty() && !mi::isLibraryFrame(frame)) {
      const QString path = QString::fromStdString(frame.fullname);
      one["source"] = {{"name", path.section(QLatin1Char('/'), -1).toStdString()},
                       {"path", toClient(path)}};
      one["line"] = lineToClient(frame.line);
      one["column"] = m_columnsFrom1 ? 1 : 0;
    }
    if (mi::isLibraryFrame(frame)) {
      one["presentationHint"] = "subtle";
    }
    out.push_back(std::move(one));
  }
  succeed(request, {{"stackFrames", std::move(out)}, {"totalFrames", frames.size() - first}});
}

/// Where a rank without GDB is, as the recording has it: the call of its present or next event.
void DapServer::sendRecordedFrame(const Request& request, const RankState& state) {
  const bool inCall = state.activity == values::RankActivity::InCall;
  if (!inCall && state.activity != values::RankActivity::Stopped) {
    send(notStopped(request, "rank " + std::to_string(state.rank) + " runs"));
    return;
  }
  const Execution& execution = m_session.trace()->execution;
  const auto& events = execution.ranks[static_cast<std::size_t>(state.rank)].events;
  const Serial serial = state.serial + (inCall ? 0 : 1);
  Json out = Json::array();
  if (serial >= 1 && serial <= events.size() && number(request.arguments, "startFrame", 0) == 0) {
    const Event& event = events[serial - 1];
    Json one = {{"id", m_references.add(m_references.key(state.rank, 0, -1))},
                {"name", app::eventText(execution, {state.rank, serial}) + " (recorded; no GDB)"},
                {"line", 0},
                {"column", 0}};
    if (event.site < execution.sites.size() && !execution.sites[event.site].file.empty()) {
      const CallSite& site = execution.sites[event.site];
      const QString path = QString::fromStdString(site.file);
      one["source"] = {{"name", path.section(QLatin1Char('/'), -1).toStdString()},
                       {"path", toClient(path)}};
      one["line"] = lineToClient(site.line);
      one["column"] = m_columnsFrom1 ? 1 : 0;
    }
    out.push_back(std::move(one));
  }
  const std::size_t total = out.size();
  succeed(request, {{"stackFrames", std::move(out)}, {"totalFrames", total}});
}

void DapServer::scopes(const Request& request) {
  const std::optional<FrameKey> frame = m_references.frame(number(request.arguments, "frameId", 0));
  if (!frame) {
    fail(request, "there is no such frame", "Its rank has gone on: ask for its stack again.");
    return;
  }
  Json all = Json::array();
  const auto add = [&](const char* name, const char* hint, ContainerKind kind) {
    all.push_back({{"name", name},
                   {"presentationHint", hint},
                   {"expensive", kind == ContainerKind::Registers},
                   {"variablesReference", m_references.add(Container{kind, *frame, {}, 0, {}})}});
  };
  if (frame->level >= 0) {
    add("Locals", "locals", ContainerKind::Locals);
    add("Arguments", "arguments", ContainerKind::Arguments);
    add("Registers", "registers", ContainerKind::Registers);
  }
  succeed(request, {{"scopes", std::move(all)}});
}

mi::GdbSession* DapServer::stoppedDebugger(const FrameKey& frame) {
  mi::GdbSession* gdb = m_references.valid(frame) ? m_session.debugger(frame.rank) : nullptr;
  return gdb != nullptr && gdb->state() == mi::SessionState::Stopped ? gdb : nullptr;
}

Json DapServer::variableJson(const FrameKey& frame, const mi::VarObject& object,
                             Container* parent) {
  Json out = {{"name", object.expression},
              {"value", object.value},
              {"type", object.type},
              {"variablesReference", 0}};
  if (parent != nullptr) {
    parent->children[object.expression] = object.name;
  }
  if (object.expandable()) {
    out["variablesReference"] =
        m_references.add(Container{ContainerKind::Object, frame, object.name, 0, {}});
    if (isArray(object) && !object.dynamic) {
      out["indexedVariables"] = object.children;
    }
  }
  return out;
}

void DapServer::variables(const Request& request) {
  const std::int64_t reference = number(request.arguments, "variablesReference", 0);
  const Container* container = m_references.container(reference);
  if (container == nullptr || stoppedDebugger(container->frame) == nullptr) {
    fail(request, "there are no such variables",
         "Their rank has gone on: ask for its stack again.");
    return;
  }
  const FrameKey frame = container->frame;
  mi::GdbSession* gdb = m_session.debugger(frame.rank);
  const auto id = static_cast<int>(reference);
  switch (container->kind) {
    case ContainerKind::Locals:
    case ContainerKind::Arguments:
      listScope(request, id);
      return;
    case ContainerKind::Object:
      listChildren(request, id);
      return;
    case ContainerKind::Registers:
      gdb->inspect().registers({frame.thread, frame.level}, [this, request](
                                                                const Result<std::vector<
                                                                    mi::Register>>& registers) {
        if (!registers) {
          fail(request, registers.error().message);
          return;
        }
        Json all = Json::array();
        for (const mi::Register& each : *registers) {
          all.push_back({{"name", each.name}, {"value", each.value}, {"variablesReference", 0}});
        }
        succeed(request, {{"variables", std::move(all)}});
      });
      return;
    case ContainerKind::Expression:  // a pointer: GDB's object is made now
      gdb->inspect().createVar({frame.thread, frame.level}, container->text,
                               [this, request, id](const Result<mi::VarObject>& object) {
                                 Container* made = m_references.container(id);
                                 if (!object || made == nullptr) {
                                   fail(request,
                                        object ? "the rank has gone on" : object.error().message);
                                   return;
                                 }
                                 m_objects[made->frame.rank].push_back(object->name);
                                 made->kind = ContainerKind::Object;
                                 made->text = object->name;
                                 listChildren(request, id);
                               });
      return;
  }
}

void DapServer::listScope(const Request& request, int reference) {
  const Container scope = *m_references.container(reference);
  const FrameKey frame = scope.frame;
  m_session.debugger(frame.rank)
      ->inspect()
      .variables({frame.thread, frame.level}, mi::VariableDetail::SimpleValues,
                 [this, request, reference, scope](const Result<std::vector<mi::Variable>>& found) {
                   if (!found) {
                     fail(request, found.error().message);
                     return;
                   }
                   auto list = std::make_shared<ScopeList>(ScopeList{request, {}, 1});
                   for (const mi::Variable& variable : *found) {
                     if (variable.argument == (scope.kind == ContainerKind::Arguments)) {
                       addToScope(variable, scope.frame, reference, list);
                     }
                   }
                   finishScope(list);
                 });
}

void DapServer::addToScope(const mi::Variable& variable, const FrameKey& frame, int scope,
                           const std::shared_ptr<ScopeList>& list) {
  const std::size_t index = list->variables.size();
  list->variables.push_back({{"name", variable.name},
                             {"value", variable.value.value_or("")},
                             {"type", variable.type},
                             {"evaluateName", variable.name},
                             {"variablesReference", 0}});
  if (!needsObject(variable)) {
    return;
  }
  if (variable.value) {
    list->variables[index]["variablesReference"] =
        m_references.add(Container{ContainerKind::Expression, frame, variable.name, 0, {}});
    return;
  }
  mi::GdbSession* gdb = stoppedDebugger(frame);
  if (gdb == nullptr) {
    return;
  }
  ++list->pending;
  gdb->inspect().createVar({frame.thread, frame.level}, variable.name,
                           [this, list, index, frame, scope](const Result<mi::VarObject>& object) {
                             Json& shown = list->variables[index];
                             if (object) {
                               m_objects[frame.rank].push_back(object->name);
                               Json full =
                                   variableJson(frame, *object, m_references.container(scope));
                               full["evaluateName"] = shown["name"];
                               shown = std::move(full);
                             } else {
                               shown["value"] = object.error().message;
                             }
                             finishScope(list);
                           });
}

void DapServer::finishScope(const std::shared_ptr<ScopeList>& list) {
  if (--list->pending == 0) {
    succeed(list->request, {{"variables", std::move(list->variables)}});
  }
}

void DapServer::listChildren(const Request& request, int reference) {
  const Container container = *m_references.container(reference);
  mi::GdbSession* gdb = stoppedDebugger(container.frame);
  if (gdb == nullptr) {
    fail(request, "the rank has gone on");
    return;
  }
  const std::int64_t start = number(request.arguments, "start", 0);
  const std::int64_t count = number(request.arguments, "count", 0);
  const bool paged = count > 0;
  const int from = container.from + static_cast<int>(std::clamp<std::int64_t>(start, 0, 1 << 30));
  const int most = paged ? static_cast<int>(std::min<std::int64_t>(count, 10000)) : kPage;
  gdb->inspect().children(
      container.text, from, most,
      [this, request, reference, container, from, paged](const Result<mi::VarPage>& page) {
        Container* parent = m_references.container(reference);
        if (!page || parent == nullptr) {
          fail(request, page ? "the rank has gone on" : page.error().message);
          return;
        }
        Json all = Json::array();
        for (const mi::VarObject& child : page->children) {
          all.push_back(variableJson(container.frame, child, parent));
        }
        if (page->hasMore && !paged) {
          const int next = from + static_cast<int>(page->children.size());
          all.push_back({{"name", "…"},
                         {"value", "from " + std::to_string(next) + " on"},
                         {"variablesReference",
                          m_references.add(Container{
                              ContainerKind::Object, container.frame, container.text, next, {}})}});
        }
        succeed(request, {{"variables", std::move(all)}});
      });
}

void DapServer::setVariable(const Request& request) {
  const Container* container =
      m_references.container(number(request.arguments, "variablesReference", 0));
  const std::string name = word(request.arguments, "name");
  const std::string value = word(request.arguments, "value");
  mi::GdbSession* gdb = container != nullptr ? stoppedDebugger(container->frame) : nullptr;
  if (gdb == nullptr || name.empty() || value.empty()) {
    fail(request, gdb == nullptr ? "there is no such variable any more: its rank has gone on"
                                 : "'setVariable' needs a name and a value");
    return;
  }
  const auto done = [this, request](const Result<std::string>& now) {
    if (!now) {
      fail(request, now.error().message);
      return;
    }
    succeed(request, {{"value", *now}});
    say(tr("Changed. This cycle is altered from here on; the next one is the recording again."),
        "console");
    if (m_clientInvalidates) {
      send(eventMessage("invalidated", {{"areas", {"variables"}}}));
    }
  };
  const mi::FrameRef frame{container->frame.thread, container->frame.level};
  if (const auto child = container->children.find(name); child != container->children.end()) {
    gdb->inspect().assignVar(child->second, value, done);
  } else if (container->kind == ContainerKind::Object) {
    fail(request, "there is no member '" + name + "' here");
  } else {
    const std::string target = container->kind == ContainerKind::Registers ? "$" + name : name;
    gdb->inspect().evaluate(frame, target + " = " + value, done);
  }
}

void DapServer::evaluate(const Request& request) {
  const std::string expression = word(request.arguments, "expression");
  FrameKey frame = m_references.key(m_session.currentRank(), 0, 0);
  if (request.arguments.contains("frameId")) {
    const std::optional<FrameKey> given =
        m_references.frame(number(request.arguments, "frameId", 0));
    if (!given) {
      fail(request, "there is no such frame", "Its rank has gone on: ask for its stack again.");
      return;
    }
    frame = *given;
  }
  if (word(request.arguments, "context") == "repl") {
    console(request, frame);
    return;
  }
  mi::GdbSession* gdb = stoppedDebugger(frame);
  if (gdb == nullptr || frame.level < 0) {
    fail(request,
         "rank " + std::to_string(frame.rank) +
             (gdb == nullptr && m_session.debugger(frame.rank) != nullptr ? " runs"
                                                                          : " has no GDB"));
    return;
  }
  gdb->inspect().createVar({frame.thread, frame.level}, expression,
                           [this, request, frame, expression](const Result<mi::VarObject>& object) {
                             if (!object) {
                               explain(request, frame, expression, object.error().message);
                               return;
                             }
                             Json shown = variableJson(frame, *object, nullptr);
                             Json body = {{"result", shown["value"]},
                                          {"type", shown["type"]},
                                          {"variablesReference", shown["variablesReference"]}};
                             if (shown.contains("indexedVariables")) {
                               body["indexedVariables"] = shown["indexedVariables"];
                             }
                             if (mi::GdbSession* same = stoppedDebugger(frame);
                                 same != nullptr && body["variablesReference"] == 0) {
                               same->inspect().deleteVar(object->name, [](const Status&) {});
                             } else {
                               m_objects[frame.rank].push_back(object->name);
                             }
                             succeed(request, std::move(body));
                           });
}

/// GDB does not say why it makes no object of an expression; the value of it has a reason.
void DapServer::explain(const Request& request, const FrameKey& frame,
                        const std::string& expression, const std::string& message) {
  mi::GdbSession* gdb = stoppedDebugger(frame);
  if (gdb == nullptr) {
    fail(request, message);
    return;
  }
  gdb->inspect().evaluate({frame.thread, frame.level}, expression,
                          [this, request, message](const Result<std::string>& value) {
                            fail(request, value ? message : value.error().message);
                          });
}

/// A line for the rank's GDB. What GDB says until it has carried it out is the result.
void DapServer::console(const Request& request, const FrameKey& frame) {
  const int rank = frame.rank;
  mi::GdbSession* gdb = m_session.debugger(rank);
  if (gdb == nullptr) {
    fail(request, "rank " + std::to_string(rank) + " has no GDB",
         "Name it in 'focus' of the launch arguments.");
    return;
  }
  if (m_consoleOf.contains(rank)) {
    fail(request, "the GDB of rank " + std::to_string(rank) + " is at work on a line before");
    return;
  }
  const QString line = QString::fromStdString(word(request.arguments, "expression")).trimmed();
  if (line.startsWith(QLatin1String("which-message "))) {
    m_session.setCurrentRank(rank);
    m_session.buffers().ask(
        line.section(QLatin1Char(' '), 1), [this, request](const session::WhichMessage& answer) {
          if (answer.problem) {
            fail(request, answer.text.toStdString());
          } else {
            succeed(request, {{"result", answer.text.toStdString()}, {"variablesReference", 0}});
          }
        });
    return;
  }
  m_consoleOf[rank];
  if (stoppedDebugger(frame) != nullptr && frame.thread > 0 && frame.level >= 0) {
    gdb->inspect().selectFrame({frame.thread, frame.level}, [](const Status&) {});
  }
  gdb->console(word(request.arguments, "expression"), [this, request, rank](const Status& status) {
    std::string said = std::move(m_consoleOf[rank]);
    m_consoleOf.erase(rank);
    while (!said.empty() && said.back() == '\n') {
      said.pop_back();
    }
    if (!status) {
      fail(request, said.empty() ? status.error().message : said);
      return;
    }
    succeed(request, {{"result", said}, {"variablesReference", 0}});
  });
}

/// Sources have paths here, so clients read them themselves; this is for one that cannot.
void DapServer::source(const Request& request) {
  const QString path = fromClient(word(request.arguments.value("source", Json::object()), "path"));
  const QFileInfo info(path);
  QFile file(path);
  if (path.isEmpty() || !info.isFile() || info.size() > kMostSource ||
      !file.open(QIODevice::ReadOnly)) {
    fail(request, "there is no source " + path.toStdString() + " that could be read");
    return;
  }
  succeed(request, {{"content", file.readAll().toStdString()}});
}

}  // namespace pf::headless
