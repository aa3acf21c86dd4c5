// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/values/dap_variable_answers.h"

#include <algorithm>

namespace pf::headless {
namespace {

constexpr int kPage = 200;  ///< children of something whose size only GDB's printer knows

mi::FrameRef frameRef(const FrameKey& frame) {
  return {frame.thread, frame.level, frame.python};
}

/// What a structure or array shows before it is asked for.
bool needsObject(const mi::Variable& variable) {
  return !variable.value || variable.type.find('*') != std::string::npos;
}

Json variablesBody(Json variables) {
  return {{"variables", std::move(variables)}};
}

/// Which children of a container a request is for.
struct ChildRange {
  ChildRange(const Json& arguments, int first) {
    const std::int64_t start = number(arguments, "start", 0);
    const std::int64_t count = number(arguments, "count", 0);
    paged = count > 0;
    from = first + static_cast<int>(std::clamp<std::int64_t>(start, 0, 1 << 30));
    most = paged ? static_cast<int>(std::min<std::int64_t>(count, 10000)) : kPage;
  }
  bool paged = false;
  int from = 0;
  int most = kPage;
};

}  // namespace

void VariableAnswers::variables(const Request& request) {
  const std::int64_t reference = number(request.arguments, "variablesReference", 0);
  const Container* container = m_references.container(reference);
  mi::GdbSession* gdb =
      container != nullptr ? m_objects.stoppedDebugger(container->frame) : nullptr;
  if (gdb == nullptr) {
    m_client.fail(request, "there are no such variables",
                  "Their rank has gone on: ask for its stack again.");
    return;
  }
  const auto id = static_cast<int>(reference);
  switch (container->kind) {
    case ContainerKind::Locals:
    case ContainerKind::Arguments:
    case ContainerKind::Globals:
      listScope(request, id, *gdb);
      return;
    case ContainerKind::Object:
      listChildren(request, id);
      return;
    case ContainerKind::Registers:
      listRegisters(request, container->frame, *gdb);
      return;
    case ContainerKind::Expression:
      listExpression(request, id, *gdb);
      return;
  }
}

void VariableAnswers::listRegisters(const Request& request, const FrameKey& frame,
                                    mi::GdbSession& gdb) {
  const auto answer = [this, request](const Result<std::vector<mi::Register>>& registers) {
    if (!registers) {
      m_client.fail(request, registers.error().message);
      return;
    }
    Json all = Json::array();
    for (const mi::Register& each : *registers) {
      all.push_back({{"name", each.name}, {"value", each.value}, {"variablesReference", 0}});
    }
    m_client.succeed(request, variablesBody(std::move(all)));
  };
  gdb.inspect().registers(frameRef(frame), answer);
}

/// A pointer: GDB's object is made now.
void VariableAnswers::listExpression(const Request& request, int reference, mi::GdbSession& gdb) {
  const Container* container = m_references.container(reference);
  const auto answer = [this, request, reference](const Result<mi::VarObject>& object) {
    Container* made = m_references.container(reference);
    if (!object || made == nullptr) {
      m_client.fail(request, object ? "the rank has gone on" : object.error().message);
      return;
    }
    m_objects.keep(made->frame.rank, object->name);
    made->kind = ContainerKind::Object;
    made->text = object->name;
    listChildren(request, reference);
  };
  gdb.inspect().createVar(frameRef(container->frame), container->text, answer);
}

void VariableAnswers::listScope(const Request& request, int reference, mi::GdbSession& gdb) {
  const Container scope = *m_references.container(reference);
  const auto answer = [this, request, reference,
                       scope](const Result<std::vector<mi::Variable>>& found) {
    if (!found) {
      m_client.fail(request, found.error().message);
      return;
    }
    auto list = std::make_shared<ScopeList>(ScopeList{request, Json::array(), 1});
    for (const mi::Variable& variable : *found) {
      if (scope.kind == ContainerKind::Globals ||
          variable.argument == (scope.kind == ContainerKind::Arguments)) {
        addToScope(variable, scope.frame, reference, list);
      }
    }
    finishScope(list);
  };
  if (scope.kind == ContainerKind::Globals) {
    gdb.inspect().globals(frameRef(scope.frame), answer);
  } else {
    gdb.inspect().variables(frameRef(scope.frame), mi::VariableDetail::SimpleValues, answer);
  }
}

void VariableAnswers::addToScope(const mi::Variable& variable, const FrameKey& frame, int scope,
                                 const std::shared_ptr<ScopeList>& list) {
  const std::size_t index = list->variables.size();
  list->variables.push_back({{"name", variable.name},
                             {"value", variable.value.value_or("")},
                             {"type", variable.type},
                             {"evaluateName", variable.name},
                             {"variablesReference", 0}});
  if (!variable.opened.empty()) {
    list->variables[index]["variablesReference"] =
        m_references.add(Container{ContainerKind::Object, frame, variable.opened, 0, {}});
  }
  if (!needsObject(variable) || !variable.opened.empty()) {
    return;
  }
  if (variable.value) {
    list->variables[index]["variablesReference"] =
        m_references.add(Container{ContainerKind::Expression, frame, variable.name, 0, {}});
    return;
  }
  mi::GdbSession* gdb = m_objects.stoppedDebugger(frame);
  if (gdb == nullptr) {
    return;
  }
  ++list->pending;
  const auto answer = [this, list, index, frame, scope](const Result<mi::VarObject>& object) {
    Json& shown = list->variables[index];
    if (object) {
      m_objects.keep(frame.rank, object->name);
      Json full = m_objects.show(frame, *object, m_references.container(scope));
      full["evaluateName"] = shown["name"];
      shown = std::move(full);
    } else {
      shown["value"] = object.error().message;
    }
    finishScope(list);
  };
  gdb->inspect().createVar(frameRef(frame), variable.name, answer);
}

void VariableAnswers::finishScope(const std::shared_ptr<ScopeList>& list) {
  if (--list->pending == 0) {
    m_client.succeed(list->request, variablesBody(std::move(list->variables)));
  }
}

void VariableAnswers::listChildren(const Request& request, int reference) {
  const Container container = *m_references.container(reference);
  mi::GdbSession* gdb = m_objects.stoppedDebugger(container.frame);
  if (gdb == nullptr) {
    m_client.fail(request, "the rank has gone on");
    return;
  }
  const ChildRange range(request.arguments, container.from);
  const auto answer = [this, request, reference, container,
                       range](const Result<mi::VarPage>& page) {
    Container* parent = m_references.container(reference);
    if (!page || parent == nullptr) {
      m_client.fail(request, page ? "the rank has gone on" : page.error().message);
      return;
    }
    Json all = Json::array();
    for (const mi::VarObject& child : page->children) {
      all.push_back(m_objects.show(container.frame, child, parent));
    }
    if (page->hasMore && !range.paged) {
      const int next = range.from + static_cast<int>(page->children.size());
      const Container more{ContainerKind::Object, container.frame, container.text, next, {},
                           container.format};
      all.push_back({{"name", "…"},
                     {"value", "from " + std::to_string(next) + " on"},
                     {"variablesReference", m_references.add(more)}});
    }
    m_client.succeed(request, variablesBody(std::move(all)));
  };
  gdb->inspect().children(container.text, {range.from, range.most, container.format}, answer);
}

void VariableAnswers::setVariable(const Request& request) {
  const Container* container =
      m_references.container(number(request.arguments, "variablesReference", 0));
  const std::string name = word(request.arguments, "name");
  const std::string value = word(request.arguments, "value");
  mi::GdbSession* gdb =
      container != nullptr ? m_objects.stoppedDebugger(container->frame) : nullptr;
  if (gdb == nullptr || name.empty() || value.empty()) {
    m_client.fail(request, gdb == nullptr
                               ? "there is no such variable any more: its rank has gone on"
                               : "'setVariable' needs a name and a value");
    return;
  }
  const auto done = [this, request](const Result<std::string>& now) { tellChange(request, now); };
  if (const auto child = container->children.find(name); child != container->children.end()) {
    gdb->inspect().assignVar(child->second, value, done);
  } else if (container->kind == ContainerKind::Object) {
    m_client.fail(request, "there is no member '" + name + "' here");
  } else {
    const std::string target = container->kind == ContainerKind::Registers ? "$" + name : name;
    gdb->inspect().evaluate(frameRef(container->frame), target + " = " + value, done);
  }
}

void VariableAnswers::tellChange(const Request& request, const Result<std::string>& now) {
  if (!now) {
    m_client.fail(request, now.error().message);
    return;
  }
  m_client.succeed(request, {{"value", *now}});
  m_client.say(
      QObject::tr(
          "Changed. This cycle is altered from here on; the next one is the recording again."),
      "console");
  m_client.invalidateVariables();
}

}  // namespace pf::headless
