// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/commands/answer_commands.h"

#include <QObject>
#include <QRegularExpression>

namespace pf::headless {
namespace {

void echo(const ScriptCommand& command, ScriptAnswer& answer) {
  answer.keepLast();
  answer.sayPlain(QString::fromStdString(command.text));
  answer.done();
}

void expect(const ScriptCommand& command, ScriptAnswer& answer) {
  answer.keepLast();
  const QRegularExpression wanted(QString::fromStdString(command.text),
                                  QRegularExpression::MultilineOption);
  if (!wanted.isValid()) {
    answer.fail(QObject::tr("'%1' is no regular expression: %2")
                    .arg(wanted.pattern(), wanted.errorString()));
    return;
  }
  const QString last = answer.last().join(QLatin1Char('\n'));
  const bool found = wanted.match(last).hasMatch();
  if (found == (command.verb->name == "expect")) {
    answer.done();
    return;
  }
  const QString got = answer.last().isEmpty() ? QObject::tr(" nothing") : QLatin1Char('\n') + last;
  answer.fail(
      (found ? QObject::tr("did not expect /%1/, got:%2") : QObject::tr("expected /%1/, got:%2"))
          .arg(wanted.pattern(), got));
}

void help(const ScriptCommand&, ScriptAnswer& answer) {
  answer.sayPlain(QString::fromStdString(scriptHelp()).trimmed());
  answer.done();
}

}  // namespace

void addAnswerCommands(CommandTable& table, ScriptAnswer& answer) {
  const auto handler = [&answer](void (*handle)(const ScriptCommand&, ScriptAnswer&)) {
    return [&answer, handle](const ScriptCommand& command, const QList<int>&) {
      handle(command, answer);
    };
  };
  table["echo"] = handler(echo);
  table["expect"] = table["expect-not"] = handler(expect);
  table["help"] = handler(help);
}

}  // namespace pf::headless
