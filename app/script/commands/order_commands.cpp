// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/commands/order_commands.h"

#include <QJsonDocument>
#include <QJsonObject>

#include "views/values/text.h"

namespace pf::headless {

OrderCommands::OrderCommands(session::DebugSession& session, ScriptAnswer& answer)
    : m_session(session), m_answer(answer) {
  connect(&m_order, &session::OtherOrder::flipped, this, &OrderCommands::endFlip);
  connect(&m_order, &session::OtherOrder::blamed, this, &OrderCommands::endBlame);
}

void OrderCommands::addTo(CommandTable& table) {
  table["flip"] = handlerOf(this, &OrderCommands::flip);
  table["blame"] = handlerOf(this, &OrderCommands::blame);
}

void OrderCommands::flip(const ScriptCommand& command, const QList<int>&) {
  const QString text = QString::fromStdString(command.text).simplified();
  m_order.flip(m_session.path(), text.section(QLatin1Char(' '), 0, 0),
               text.section(QLatin1Char(' '), 1));
}

void OrderCommands::blame(const ScriptCommand&, const QList<int>&) {
  m_order.blame(m_session.path());
}

void OrderCommands::sayAll(const QStringList& said) {
  for (const QString& line : said) {
    m_answer.sayForAll(values::oneLine(line));
  }
}

void OrderCommands::endFlip(const QString& trace, const QStringList& said) {
  if (trace.isEmpty()) {
    m_answer.fail(values::oneLine(said.join(QLatin1Char(' '))));
    return;
  }
  sayAll(said);
  m_answer.done();
}

void OrderCommands::endBlame(const QByteArray& document, const QStringList& said) {
  const QJsonObject found = QJsonDocument::fromJson(document).object();
  const QString sentence = found.value(QStringLiteral("sentence")).toString();
  if (sentence.isEmpty()) {
    m_answer.fail(values::oneLine(said.join(QLatin1Char(' '))));
    return;
  }
  sayAll({sentence, QObject::tr("a run that ends well: %1")
                        .arg(found.value(QStringLiteral("good")).toString())});
  m_answer.done();
}

}  // namespace pf::headless

#include "moc_order_commands.cpp"
