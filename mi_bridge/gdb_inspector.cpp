// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/gdb_inspector.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "mi_bridge/python_handle.h"
#include "mi_bridge/value_format.h"

namespace pf::mi {
namespace {

constexpr int kGeneralRegisters = 24;  // of x86-64 and AArch64: the integer ones, pc and flags

/// A function of Python takes several native frames.
constexpr int kLastWithPython = 511;

bool isCutInPython(const std::vector<Frame>& frames, int last) {
  return static_cast<int>(frames.size()) > last &&
         std::any_of(frames.begin(), frames.end(), executesPython);
}

std::string number(int value) {
  return std::to_string(value);
}

std::vector<Instruction> instructionsOf(const Value& results) {
  std::vector<Instruction> out;
  for (const auto& field : results["asm_insns"].fields()) {
    const Value& each = field.value;
    out.push_back({each.str("address"), each.str("func-name"), each.toInt32Or(0, "offset"),
                   each.str("inst")});
  }
  return out;
}

bool isOfFortran(const Frame& frame) {
  return isFortranSource(frame.file);
}

/// Fortran's values are shown by Python; `instead` where that cannot, or the frame is none of Fortran.
template <class T, class Instead>
Callback<T> unlessOfFortran(Callback<T> done, Instead instead) {
  return [done = std::move(done), instead = std::move(instead)](Result<T> result) {
    if (result || !isForGdb(result.error())) {
      done(std::move(result));
    } else {
      instead(result.error(), done);
    }
  };
}

Completion statusOnly(Done done) {
  return [done = std::move(done)](const Result<ResultRecord>& reply) {
    if (done) {
      done(reply ? Status() : Status(reply.error()));
    }
  };
}

}  // namespace

void GdbInspector::frames(int thread, int first, int last, Callback<std::vector<Frame>> done) {
  std::string text = "-stack-list-frames ";
  if (thread > 0) {
    text += "--thread " + number(thread) + " ";
  }
  text += number(std::max(0, first)) + " " + number(std::max(0, last));
  const auto mixed = [this, thread, first, last,
                      done = std::move(done)](Result<std::vector<Frame>> frames) {
    m_fortran = m_fortran || (frames && std::any_of(frames->begin(), frames->end(), isOfFortran));
    if (!frames || first > 0) {
      done(std::move(frames));
    } else if (last < kLastWithPython && isCutInPython(*frames, last)) {
      this->frames(thread, 0, kLastWithPython, done);
    } else {
      m_python.mix(thread, std::move(*frames), done);
    }
  };
  m_queue.push({std::move(text), CommandFlag::Discardable,
                extracting<std::vector<Frame>>(mixed, [filter = m_filter](const Value& results) {
                  std::vector<Frame> frames = framesOf(results["stack"]);
                  std::for_each(frames.begin(), frames.end(), filter);
                  return frames;
                })});
}

void GdbInspector::selectFrame(FrameRef frame, Done done) {
  if (frame.thread > 0) {
    m_queue.push({"-thread-select " + number(frame.thread), CommandFlag::None, {}});
  }
  m_queue.push({"-stack-select-frame " + number(std::max(0, frame.level)), CommandFlag::None,
                statusOnly(std::move(done))});
}

void GdbInspector::threads(Callback<std::vector<ThreadInfo>> done) {
  m_queue.push({"-thread-info", CommandFlag::Discardable,
                extracting<std::vector<ThreadInfo>>(
                    std::move(done), [filter = m_filter](const Value& results) {
                      std::vector<ThreadInfo> threads = threadsOf(results["threads"]);
                      for (ThreadInfo& thread : threads) {
                        filter(thread.frame);
                      }
                      return threads;
                    })});
}

void GdbInspector::variables(FrameRef frame, VariableDetail detail,
                             Callback<std::vector<Variable>> done) {
  if (frame.python != 0) {
    m_python.locals(frame.python, done);
  } else if (!m_fortran || detail == VariableDetail::NamesOnly) {
    listVariables(frame, detail, std::move(done));
  } else {
    m_values.locals(frame, unlessOfFortran<std::vector<Variable>>(
                               std::move(done), [this, frame, detail](const Error&, auto finish) {
                                 listVariables(frame, detail, std::move(finish));
                               }));
  }
}

void GdbInspector::listVariables(FrameRef frame, VariableDetail detail,
                                 Callback<std::vector<Variable>> done) {
  m_queue.push({"-stack-list-variables " + frameOptions(frame) +
                    (detail == VariableDetail::NamesOnly ? "--no-values" : "--simple-values"),
                CommandFlag::Discardable,
                extracting<std::vector<Variable>>(std::move(done), [](const Value& results) {
                  return variablesOf(results["variables"]);
                })});
}

void GdbInspector::globals(FrameRef frame, Callback<std::vector<Variable>> done) {
  if (frame.python != 0) {
    m_python.globals(frame.python, done);
  } else {
    m_taught.globals(frame, std::move(done));
  }
}

void GdbInspector::evaluate(FrameRef frame, const std::string& expression,
                            Callback<std::string> done) {
  if (frame.python != 0) {
    m_python.evaluate(frame.python, expression, done);
    return;
  }
  if (askedValue(expression).format != 0) {
    m_taught.value(frame, expression, std::move(done));
  } else if (!m_fortran) {
    evaluateInGdb(frame, expression, std::move(done));
  } else {
    m_taught.value(frame, expression,
                   unlessOfFortran<std::string>(
                       std::move(done), [this, frame, expression](const Error&, auto finish) {
                         evaluateInGdb(frame, expression, std::move(finish));
                       }));
  }
}

void GdbInspector::evaluateInGdb(FrameRef frame, const std::string& expression,
                                 Callback<std::string> done) {
  const auto quoted = quote(expression);
  if (!quoted) {
    done(quoted.error());
    return;
  }
  m_queue.push({"-data-evaluate-expression " + frameOptions(frame) + *quoted,
                CommandFlag::Discardable,
                extracting<std::string>(std::move(done),
                                        [](const Value& results) { return results.str("value"); }),
                kValuePatience});
}

namespace {

/// Parts of arrays would be wrong. "real(kind=8) (6)", "PTR TO -> ( Type cell )", "Type cell".
Callback<VarObject> refusingFortran(Callback<VarObject> done) {
  return [done = std::move(done)](Result<VarObject> object) {
    if (object && object->expandable() &&
        (object->type.ends_with(')') || object->type.starts_with("Type "))) {
      done(Error{ErrorCode::Peer, std::string(kNoPython), "Take a GDB with Python: --gdb."});
    } else {
      done(std::move(object));
    }
  };
}

}  // namespace

void GdbInspector::createVar(FrameRef frame, const std::string& expression,
                             Callback<VarObject> done) {
  if (frame.python != 0) {
    m_python.object(frame.python, expression, done);
    return;
  }
  if (!m_fortran) {
    createNamedVar(frame, expression, std::move(done));
    return;
  }
  m_values.object(frame, expression,
                  unlessOfFortran<VarObject>(
                      std::move(done), [this, frame, expression](const Error& why, auto finish) {
                        createNamedVar(frame, expression,
                                       why.message == kNoPython
                                           ? Callback<VarObject>(refusingFortran(finish))
                                           : std::move(finish));
                      }));
}

void GdbInspector::createNamedVar(FrameRef frame, const std::string& expression,
                                  Callback<VarObject> done) {
  const auto quoted = quote(expression);
  if (!quoted) {
    done(quoted.error());
    return;
  }
  m_queue.push({"-var-create " + frameOptions(frame) + "- * " + *quoted, CommandFlag::None,
                extracting<VarObject>(std::move(done),
                                      [expression](const Value& results) {
                                        VarObject object = varObjectOf(results);
                                        object.expression = expression;
                                        return object;
                                      }),
                kValuePatience});
}

namespace {

/// In C++ GDB has the members of a class in groups, by who may use them.
bool isAccessGroup(const VarObject& child) {
  return child.type.empty() && (child.expression == "public" || child.expression == "protected" ||
                                child.expression == "private");
}

}  // namespace

void GdbInspector::children(const std::string& name, const ChildRange& range,
                            Callback<VarPage> done) {
  if (FortranValues::owns(name)) {
    m_values.parts(name, range, std::move(done));
    return;
  }
  if (PythonHandle::from(name)) {
    m_python.parts(name, std::max(0, range.from), std::clamp(range.count, 0, 10000), done);
    return;
  }
  const auto quoted = quote(name);
  if (!quoted) {
    done(quoted.error());
    return;
  }
  const int first = std::max(0, range.from);
  const int end = first + std::clamp(range.count, 0, 10000);
  // Without this range an update of a container would send all of it.
  m_queue.push({"-var-set-update-range " + *quoted + " 0 " + number(end), CommandFlag::None, {}});
  const auto arrived = [this, format = range.format, done = std::move(done)](Result<VarPage> page) {
    if (!page || varFormat(format).empty()) {
      done(std::move(page));
    } else {
      formatChildren(std::move(*page), format, done);
    }
  };
  m_queue.push(
      {"-var-list-children --simple-values " + *quoted + " " + number(first) + " " + number(end),
       CommandFlag::None,
       extracting<VarPage>(
           [this, arrived](Result<VarPage> page) {
             if (page && std::ranges::any_of(page->children, isAccessGroup)) {
               openGroups(std::move(*page), arrived);
             } else {
               arrived(std::move(page));
             }
           },
           varPageOf),
       kValuePatience});
}

/// The members of the groups in their place.
void GdbInspector::openGroups(VarPage page, Callback<VarPage> done) {
  struct Opening {
    VarPage page;
    std::vector<std::vector<VarObject>> parts;  ///< of each child: itself, or what is in it
    std::size_t left = 1;
  };
  const auto opening = std::make_shared<Opening>();
  opening->page = std::move(page);
  opening->parts.resize(opening->page.children.size());
  const auto finish = [opening, done = std::move(done)] {
    if (--opening->left > 0) {
      return;
    }
    opening->page.children.clear();
    for (std::vector<VarObject>& part : opening->parts) {
      std::ranges::move(part, std::back_inserter(opening->page.children));
    }
    done(std::move(opening->page));
  };
  for (std::size_t i = 0; i < opening->parts.size(); ++i) {
    const VarObject& child = opening->page.children[i];
    const auto quoted = quote(child.name);
    if (!quoted || !isAccessGroup(child)) {
      opening->parts[i] = {child};
      continue;
    }
    ++opening->left;
    m_queue.push({"-var-list-children --simple-values " + *quoted, CommandFlag::None,
                  extracting<VarPage>(
                      [opening, i, child, finish](Result<VarPage> members) {
                        opening->parts[i] =
                            members ? std::move(members->children) : std::vector<VarObject>{child};
                        finish();
                      },
                      varPageOf),
                  kValuePatience});
  }
  finish();
}

/// A format is of one variable object, and not of its parts.
void GdbInspector::formatChildren(VarPage page, char format, Callback<VarPage> done) {
  const auto shown = std::make_shared<VarPage>(std::move(page));
  const auto left = std::make_shared<std::size_t>(shown->children.size() + 1);
  const auto finish = [shown, left, done = std::move(done)] {
    if (--*left == 0) {
      done(std::move(*shown));
    }
  };
  for (VarObject& child : shown->children) {
    const auto quoted = quote(child.name);
    if (!quoted || child.expandable()) {
      finish();
      continue;
    }
    m_queue.push({"-var-set-format " + *quoted + " " + std::string(varFormat(format)),
                  CommandFlag::None, [shown, &child, finish](const Result<ResultRecord>& reply) {
                    if (reply) {
                      child.value = reply->results.str("value");
                    }
                    finish();
                  }});
  }
  finish();
}

void GdbInspector::updateVar(const std::string& name, Callback<std::vector<VarChange>> done) {
  if (PythonHandle::from(name)) {
    done(std::vector<VarChange>());
    return;
  }
  const auto quoted = quote(name);
  if (!quoted) {
    done(quoted.error());
    return;
  }
  m_queue.push({"-var-update --all-values " + *quoted, CommandFlag::Discardable,
                extracting<std::vector<VarChange>>(
                    std::move(done),
                    [](const Value& results) { return varChangesOf(results["changelist"]); }),
                kValuePatience});
}

void GdbInspector::assignVar(const std::string& name, const std::string& value,
                             Callback<std::string> done) {
  if (FortranValues::owns(name)) {
    m_values.assign(name, value, std::move(done));
    return;
  }
  if (PythonHandle::from(name)) {
    done(Error{ErrorCode::Usage, "values of Python cannot be changed", "change the program"});
    return;
  }
  const auto quotedName = quote(name);
  const auto quotedValue = quote(value);
  if (!quotedName || !quotedValue) {
    done(quotedName ? quotedValue.error() : quotedName.error());
    return;
  }
  m_queue.push({"-var-assign " + *quotedName + " " + *quotedValue, CommandFlag::None,
                extracting<std::string>(std::move(done),
                                        [](const Value& results) { return results.str("value"); }),
                kValuePatience});
}

void GdbInspector::deleteVar(const std::string& name, Done done) {
  if (FortranValues::owns(name)) {  // GDB has none
    done({});
    return;
  }
  if (PythonHandle::from(name)) {
    done(Status());
    return;
  }
  const auto quoted = quote(name);
  if (!quoted) {
    done(quoted.error());
    return;
  }
  m_queue.push({"-var-delete " + *quoted, CommandFlag::None, statusOnly(std::move(done))});
}

void GdbInspector::pathOf(const std::string& name, Callback<std::string> done) {
  if (FortranValues::owns(name)) {
    m_values.path(name, std::move(done));
    return;
  }
  if (const auto ofPython = PythonHandle::from(name)) {
    done(ofPython->path);
    return;
  }
  const auto quoted = quote(name);
  if (!quoted) {
    done(quoted.error());
    return;
  }
  m_queue.push({"-var-info-path-expression " + *quoted, CommandFlag::Discardable,
                extracting<std::string>(std::move(done), [](const Value& results) {
                  return results.str("path_expr");
                })});
}

void GdbInspector::watchable(const std::string& expression, const Done& done) {
  if (m_fortran) {
    m_values.watchable(expression, done);
  } else {
    done({});
  }
}

void GdbInspector::readMemory(const std::string& address, std::uint32_t count,
                              Callback<std::string> done) {
  const auto quoted = quote(address);
  if (!quoted) {
    done(quoted.error());
    return;
  }
  constexpr std::uint32_t kMost = 1U << 20U;
  m_queue.push({"-data-read-memory-bytes " + *quoted + " " + std::to_string(std::min(count, kMost)),
                CommandFlag::Discardable,
                extracting<std::string>(std::move(done), [](const Value& results) {
                  return results["memory"].at(0).str("contents");
                })});
}

void GdbInspector::registers(FrameRef frame, Callback<std::vector<Register>> done) {
  std::string numbers;
  for (int i = 0; i < kGeneralRegisters; ++i) {
    numbers += " " + number(i);
  }
  const auto names = std::make_shared<std::vector<std::string>>();
  m_queue.push({"-data-list-register-names" + numbers, CommandFlag::Discardable,
                [names](const Result<ResultRecord>& reply) {
                  if (reply) {
                    for (const auto& field : reply->results["register-names"].fields()) {
                      names->push_back(field.value.text());
                    }
                  }
                }});
  m_queue.push({"-data-list-register-values " + frameOptions(frame) + "x" + numbers,
                CommandFlag::Discardable,
                extracting<std::vector<Register>>(std::move(done), [names](const Value& results) {
                  std::vector<Register> registers;
                  for (const auto& field : results["register-values"].fields()) {
                    const auto index = static_cast<std::size_t>(field.value.toInt32Or(0, "number"));
                    registers.push_back(
                        {index < names->size() ? (*names)[index] : "", field.value.str("value")});
                  }
                  return registers;
                })});
}

void GdbInspector::instructions(FrameRef frame, const std::string& address,
                                Callback<std::vector<Instruction>> done) {
  const auto quoted = quote(address);
  const auto end = quote(address + " + 128");
  if (!quoted || !end) {
    done(quoted ? end.error() : quoted.error());
    return;
  }
  const std::string begin = "-data-disassemble " + frameOptions(frame);
  m_queue.push({begin + "-a " + *quoted + " -- 0", CommandFlag::Discardable,
                [this, begin, from = *quoted, to = *end,
                 done = std::move(done)](const Result<ResultRecord>& reply) {
                  if (reply) {
                    done(instructionsOf(reply->results));
                    return;
                  }
                  m_queue.push(
                      {begin + "-s " + from + " -e " + to + " -- 0", CommandFlag::Discardable,
                       extracting<std::vector<Instruction>>(done, instructionsOf), kValuePatience});
                },
                kValuePatience});
}

void GdbInspector::substitutePath(const std::string& from, const std::string& to, Done done) {
  const auto quotedFrom = quote(from);
  const auto quotedTo = quote(to);
  if (!quotedFrom || !quotedTo) {
    done(quotedFrom ? quotedTo.error() : quotedFrom.error());
    return;
  }
  const auto line = quote("set substitute-path " + *quotedFrom + " " + *quotedTo);
  m_queue.push(
      {"-interpreter-exec console " + *line, CommandFlag::None, statusOnly(std::move(done))});
}

}  // namespace pf::mi
