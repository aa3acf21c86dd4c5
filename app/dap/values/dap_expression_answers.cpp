// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/values/dap_expression_answers.h"

namespace pf::headless {
namespace {

mi::FrameRef refOf(const FrameKey& frame) {
  return {frame.thread, frame.level, frame.python};
}

Json resultBody(const std::string& result) {
  return {{"result", result}, {"variablesReference", 0}};
}

}  // namespace

std::optional<FrameKey> ExpressionAnswers::frameOf(const Request& request) const {
  if (!request.arguments.contains("frameId")) {
    return m_references.key(m_session.currentRank(), 0, 0);
  }
  const std::optional<FrameKey> given = m_references.frame(number(request.arguments, "frameId", 0));
  if (!given) {
    m_client.fail(request, "there is no such frame",
                  "Its rank has gone on: ask for its stack again.");
  }
  return given;
}

void ExpressionAnswers::evaluate(const Request& request) {
  const std::optional<FrameKey> frame = frameOf(request);
  if (!frame) {
    return;
  }
  if (word(request.arguments, "context") == "repl") {
    console(request, *frame);
  } else {
    valueOf(request, *frame);
  }
}

void ExpressionAnswers::valueOf(const Request& request, const FrameKey& frame) {
  mi::GdbSession* gdb = m_objects.stoppedDebugger(frame);
  if (gdb == nullptr || frame.level < 0) {
    const bool runs = gdb == nullptr && m_session.debugger(frame.rank) != nullptr;
    m_client.fail(request, "rank " + std::to_string(frame.rank) + (runs ? " runs" : " has no GDB"));
    return;
  }
  const std::string expression = word(request.arguments, "expression");
  if (frame.python == 0 && mi::askedValue(expression).format != 0) {
    valueAsText(request, frame, *gdb);
    return;
  }
  const auto answer = [this, request, frame](const Result<mi::VarObject>& object) {
    if (object) {
      show(request, frame, *object);
    } else if (frame.python != 0) {
      m_client.fail(request, object.error().message, object.error().advice);
    } else {
      explain(request, frame, object.error().message);
    }
  };
  gdb->inspect().createVar(refOf(frame), expression, answer);
}

/// The expression is evaluated once; what a format shows parts of becomes an object when it is opened.
void ExpressionAnswers::valueAsText(const Request& request, const FrameKey& frame,
                                    mi::GdbSession& gdb) {
  const std::string expression = word(request.arguments, "expression");
  gdb.inspect().evaluate(
      refOf(frame), expression,
      [this, request, frame, asked = mi::askedValue(expression)](const Result<std::string>& value) {
        if (!value) {
          m_client.fail(request, value.error().message, value.error().advice);
          return;
        }
        Json body = resultBody(*value);
        if (value->find('{') != std::string::npos) {
          body["variablesReference"] = m_references.add(
              Container{ContainerKind::Expression, frame, asked.expression, 0, {}, asked.format});
        }
        m_client.succeed(request, std::move(body));
      });
}

void ExpressionAnswers::show(const Request& request, const FrameKey& frame,
                             const mi::VarObject& object) {
  const Json shown = m_objects.show(frame, object, nullptr);
  Json body = {{"result", shown["value"]},
               {"type", shown["type"]},
               {"variablesReference", shown["variablesReference"]}};
  if (shown.contains("indexedVariables")) {
    body["indexedVariables"] = shown["indexedVariables"];
  }
  mi::GdbSession* gdb = m_objects.stoppedDebugger(frame);
  if (gdb != nullptr && body["variablesReference"] == 0) {
    gdb->inspect().deleteVar(object.name, [](const Status&) {});
  } else {
    m_objects.keep(frame.rank, object.name);
  }
  m_client.succeed(request, std::move(body));
}

/// GDB does not say why it makes no object of an expression; the value of it has a reason.
void ExpressionAnswers::explain(const Request& request, const FrameKey& frame,
                                const std::string& message) {
  mi::GdbSession* gdb = m_objects.stoppedDebugger(frame);
  if (gdb == nullptr) {
    m_client.fail(request, message);
    return;
  }
  gdb->inspect().evaluate(refOf(frame), word(request.arguments, "expression"),
                          [this, request, message](const Result<std::string>& value) {
                            m_client.fail(request, value ? message : value.error().message);
                          });
}

void ExpressionAnswers::console(const Request& request, const FrameKey& frame) {
  const int rank = frame.rank;
  mi::GdbSession* gdb = m_session.debugger(rank);
  if (gdb == nullptr) {
    m_client.fail(request, "rank " + std::to_string(rank) + " has no GDB",
                  "Name it in 'focus' of the launch arguments.");
    return;
  }
  if (m_said.contains(rank)) {
    m_client.fail(request,
                  "the GDB of rank " + std::to_string(rank) + " is at work on a line before");
    return;
  }
  const QString line = QString::fromStdString(word(request.arguments, "expression")).trimmed();
  if (line.startsWith(QLatin1String("which-message "))) {
    whichMessage(request, rank, line.section(QLatin1Char(' '), 1));
  } else {
    giveToGdb(request, frame, *gdb);
  }
}

void ExpressionAnswers::whichMessage(const Request& request, int rank, const QString& expression) {
  m_session.setCurrentRank(rank);
  m_session.buffers().ask(expression, [this, request](const session::WhichMessage& answer) {
    const std::string text = answer.text.toStdString();
    if (answer.problem) {
      m_client.fail(request, text);
    } else {
      m_client.succeed(request, resultBody(text));
    }
  });
}

/// What GDB says until it has carried the line out is the result.
void ExpressionAnswers::giveToGdb(const Request& request, const FrameKey& frame,
                                  mi::GdbSession& gdb) {
  m_said[frame.rank].clear();
  if (m_objects.stoppedDebugger(frame) != nullptr && frame.thread > 0 && frame.level >= 0) {
    gdb.inspect().selectFrame(refOf(frame), [](const Status&) {});
  }
  gdb.console(word(request.arguments, "expression"),
              [this, request, rank = frame.rank](const Status& status) {
                endConsole(request, rank, status);
              });
}

void ExpressionAnswers::endConsole(const Request& request, int rank, const Status& status) {
  std::string said = std::move(m_said[rank]);
  m_said.erase(rank);
  while (!said.empty() && said.back() == '\n') {
    said.pop_back();
  }
  if (status) {
    m_client.succeed(request, resultBody(said));
  } else {
    m_client.fail(request, said.empty() ? status.error().message : said);
  }
}

bool ExpressionAnswers::takes(int rank, const QString& consoleText) {
  const auto asked = m_said.find(rank);
  if (asked == m_said.end()) {
    return false;
  }
  asked->second += consoleText.toStdString();
  return true;
}

}  // namespace pf::headless
