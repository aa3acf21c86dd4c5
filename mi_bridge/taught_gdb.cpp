// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/taught_gdb.h"

#include <sstream>
#include <string_view>
#include <utility>

namespace pf::mi {
namespace {

/// "Python scripting is not supported in this copy of GDB.", "Error while executing Python code."
bool isOfPython(const Error& error) {
  return error.code == ErrorCode::Peer && error.message.find("Python") != std::string::npos;
}

std::string consoleCommand(FrameRef frame, const std::string& quoted) {
  return "-interpreter-exec " + frameOptions(frame) + "console " + quoted;
}

}  // namespace

void TaughtGdb::teach(Done then) {
  if (m_taught) {
    then({});
    return;
  }
  const auto setup = quote(arraySetup());
  m_queue.push({"-interpreter-exec console " + *setup, CommandFlag::None,
                [this, then = std::move(then)](const Result<ResultRecord>& reply) {
                  m_taught = reply.ok();
                  then(reply ? Status() : Status(reply.error()));
                }});
}

void TaughtGdb::readArray(FrameRef frame, const ArrayRequest& request,
                          Callback<ArrayQueryEnd> done) {
  teach([this, frame, request, done = std::move(done)](const Status& taught) {
    if (taught) {
      askArray(frame, request, done);
    } else if (isOfPython(taught.error())) {
      done(ArrayQueryEnd::NoPython);
    } else {
      done(taught.error());
    }
  });
}

void TaughtGdb::ask(FrameRef frame, const std::string& line, Callback<std::string> done) {
  const auto quoted = quote(line);
  if (!quoted) {
    done(quoted.error());
    return;
  }
  const auto answered = [done](const Result<ResultRecord>& reply) {
    if (reply) {
      done(Error{ErrorCode::Peer, "GDB has not answered", {}});
    } else if (reply.error().message.starts_with(kAnswer)) {
      done(reply.error().message.substr(kAnswer.size()));
    } else if (reply.error().message.starts_with(kProblem)) {
      done(Error{ErrorCode::Peer, reply.error().message.substr(kProblem.size()), {}});
    } else {
      done(reply.error());
    }
  };
  teach([this, text = consoleCommand(frame, *quoted), answered, done](const Status& taught) {
    if (taught) {
      m_queue.push({text, CommandFlag::Discardable, answered, kValuePatience});
    } else {
      done(isOfPython(taught.error())
               ? Error{ErrorCode::Peer, std::string(kNoPython), "Take a GDB with Python: --gdb."}
               : taught.error());
    }
  });
}

void TaughtGdb::askArray(FrameRef frame, const ArrayRequest& request,
                         Callback<ArrayQueryEnd> done) {
  const auto command = quote(arrayCommand(request));
  if (!command) {
    done(command.error());
    return;
  }
  m_queue.push({consoleCommand(frame, *command), CommandFlag::Discardable,
                extracting<ArrayQueryEnd>(std::move(done),
                                          [](const Value&) { return ArrayQueryEnd::Answered; })});
}

void TaughtGdb::standingCall(FrameRef frame, Callback<std::optional<StandingCall>> done) {
  teach([this, frame, done = std::move(done)](const Status& taught) {
    if (!taught) {
      done(taught.error());
      return;
    }
    m_queue.push(
        {consoleCommand(frame, *quote(kStandingCallCommand)), CommandFlag::Discardable, {}});
    m_queue.push({std::string("-data-evaluate-expression ") + kStandingCall,
                  CommandFlag::Discardable,
                  extracting<std::optional<StandingCall>>(
                      done, [](const Value& results) -> Result<std::optional<StandingCall>> {
                        const std::string& value = results.str("value");
                        if (value == "void") {
                          return Error{ErrorCode::Peer, "GDB cannot look at the stack", {}};
                        }
                        return standingCallIn(value);
                      })});
  });
}

void TaughtGdb::globals(FrameRef frame, Callback<std::vector<Variable>> done) {
  ask(frame, "photofinish-globals", [done = std::move(done)](const Result<std::string>& answer) {
    if (!answer) {
      done(answer.error());
      return;
    }
    std::vector<Variable> found;
    std::istringstream names(*answer);
    for (std::string name; std::getline(names, name, '\t');) {
      found.emplace_back().name = name;
    }
    done(std::move(found));
  });
}

void TaughtGdb::value(FrameRef frame, const std::string& expression, Callback<std::string> done) {
  ask(frame, "photofinish-value " + expression, std::move(done));
}

}  // namespace pf::mi
