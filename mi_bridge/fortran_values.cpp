// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/fortran_values.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <sstream>
#include <utility>
#include <variant>

#include "mi_bridge/parser.h"
#include "mi_bridge/value_format.h"

namespace pf::mi {
namespace {

constexpr std::string_view kAnotherLanguage = "this frame is of another language";
constexpr std::string_view kPrefix = "fortran ";
constexpr std::string_view kItself = "-";  ///< in place of steps

/// "fortran THREAD LEVEL STEPS EXPRESSION"
struct PartName {
  FrameRef frame;
  std::string steps;
  std::string expression;

  [[nodiscard]] std::string text() const {
    return std::string(kPrefix) + std::to_string(frame.thread) + " " + std::to_string(frame.level) +
           " " + steps + " " + expression;
  }
  [[nodiscard]] std::string child(int at) const {
    PartName part = *this;
    part.steps = (steps == kItself ? std::string() : steps + ".") + std::to_string(at);
    return part.text();
  }
};

std::optional<PartName> partNameOf(const std::string& name) {
  PartName part;
  std::istringstream in(name.substr(std::min(kPrefix.size(), name.size())));
  in >> part.frame.thread >> part.frame.level >> part.steps;
  in.ignore();
  return std::getline(in, part.expression) ? std::optional(part) : std::nullopt;
}

Error noPart() {
  return {ErrorCode::NotFound, "there is no such value", "ask for it again"};
}

/// An answer in the words of GDB/MI.
Result<Value> resultsIn(const std::string& answer) {
  Result<Record> record = parseRecord("^done," + answer);
  if (!record) {
    return record.error();
  }
  auto* const found = std::get_if<ResultRecord>(&*record);
  return found != nullptr ? Result<Value>(std::move(found->results)) : noPart();
}

template <class T, class Read>
Callback<std::string> reading(Callback<T> done, Read read) {
  return [done = std::move(done), read = std::move(read)](const Result<std::string>& answer) {
    const Result<Value> results = answer ? resultsIn(*answer) : answer.error();
    results ? done(read(*results)) : done(results.error());
  };
}

/// In characters, as Python counts them.
std::size_t lengthOf(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

bool isForGdb(const Error& error) {
  return error.message == kAnotherLanguage || error.message == kNoPython;
}

bool FortranValues::owns(std::string_view name) {
  return name.starts_with(kPrefix);
}

void FortranValues::locals(FrameRef frame, Callback<std::vector<Variable>> done) {
  m_taught.ask(frame, "photofinish-locals", reading(std::move(done), [](const Value& results) {
                 return variablesOf(results["variables"]);
               }));
}

void FortranValues::object(FrameRef frame, const std::string& expression,
                           Callback<VarObject> done) {
  m_taught.ask(frame, "photofinish-object " + std::string(kItself) + " " + expression,
               reading(std::move(done), [frame, expression](const Value& results) {
                 VarObject object = varObjectOf(results);
                 object.name = PartName{frame, std::string(kItself), expression}.text();
                 object.expression = expression;
                 return object;
               }));
}

void FortranValues::parts(const std::string& name, const ChildRange& range,
                          Callback<VarPage> done) {
  const std::optional<PartName> part = partNameOf(name);
  if (!part) {
    done(noPart());
    return;
  }
  const int from = std::max(0, range.from);
  const std::string format = varFormat(range.format).empty() ? "-" : std::string(1, range.format);
  const std::string asked =
      std::to_string(from) + " " + std::to_string(std::clamp(range.count, 0, 10000)) + " " + format;
  m_taught.ask(part->frame,
               "photofinish-parts " + asked + " " + part->steps + " " + part->expression,
               reading(std::move(done), [part = *part, from](const Value& results) {
                 VarPage page = varPageOf(results);
                 int at = from;
                 for (VarObject& child : page.children) {
                   child.name = part.child(at++);
                 }
                 return page;
               }));
}

void FortranValues::path(const std::string& name, Callback<std::string> done) {
  const std::optional<PartName> part = partNameOf(name);
  if (!part) {
    done(noPart());
    return;
  }
  m_taught.ask(part->frame, "photofinish-path " + part->steps + " " + part->expression,
               std::move(done));
}

void FortranValues::assign(const std::string& name, const std::string& value,
                           Callback<std::string> done) {
  const std::optional<PartName> part = partNameOf(name);
  if (!part) {
    done(noPart());
    return;
  }
  m_taught.ask(part->frame,
               "photofinish-assign " + part->steps + " " +
                   std::to_string(lengthOf(part->expression)) + " " + part->expression + " " +
                   value,
               std::move(done));
}

void FortranValues::watchable(const std::string& expression, const Done& done) {
  m_taught.ask({}, "photofinish-watchable " + expression,
               [done](const Result<std::string>& answer) {
                 done(answer || isForGdb(answer.error()) ? Status() : Status(answer.error()));
               });
}

}  // namespace pf::mi
