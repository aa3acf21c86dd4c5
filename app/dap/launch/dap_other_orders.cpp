// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/launch/dap_other_orders.h"

#include <utility>

namespace pf::headless {
namespace {

std::optional<QString> eventOf(const Json& arguments, const char* field) {
  const auto found = arguments.find(field);
  if (found == arguments.end() || !found->is_object()) {
    return std::nullopt;
  }
  const std::int64_t rank = number(*found, "rank", -1);
  const std::int64_t serial = number(*found, "serial", -1);
  return rank >= 0 && rank <= INT32_MAX && serial > 0
             ? std::optional(
                   session::eventWords(static_cast<int>(rank), static_cast<quint64>(serial)))
             : std::nullopt;
}

/// What `photofinish flip` is asked for; nothing: the arguments say it not.
std::optional<QString> wishOf(const Json& arguments) {
  const std::int64_t race = number(arguments, "race", -1);
  const std::int64_t alternative = number(arguments, "alternative", 1);
  if (race > 0 && alternative > 0) {
    return QStringLiteral("%1:%2").arg(race).arg(alternative);
  }
  const auto receive = eventOf(arguments, "receive");
  const auto send = eventOf(arguments, "send");
  return receive && send ? std::optional(*receive + QLatin1Char('=') + *send) : std::nullopt;
}

}  // namespace

OtherOrders::OtherOrders(session::DebugSession& session, DapClient& client)
    : m_session(session), m_client(client) {
  connect(&m_order, &session::OtherOrder::flipped, this, &OtherOrders::endFlip);
  connect(&m_order, &session::OtherOrder::blamed, this, &OtherOrders::endBlame);
}

bool OtherOrders::begins(const Request& request) {
  if (m_request) {
    m_client.fail(request, "another order is being run", "Wait for its answer.");
    return false;
  }
  m_request = request;
  return true;
}

void OtherOrders::flip(const Request& request) {
  const std::optional<QString> wish = wishOf(request.arguments);
  if (!wish) {
    m_client.fail(request, "the request says not which message is to be taken",
                  "Give 'race' and 'alternative', from 1, or 'receive' and 'send', each with "
                  "'rank' and 'serial'.");
    return;
  }
  if (begins(request)) {
    m_order.flip(m_session.path(), *wish,
                 QString::fromStdString(word(request.arguments, "output")));
  }
}

void OtherOrders::blame(const Request& request) {
  if (begins(request)) {
    m_order.blame(m_session.path());
  }
}

void OtherOrders::endFlip(const QString& trace, const QStringList& said) {
  const Request request = *std::exchange(m_request, std::nullopt);
  if (trace.isEmpty()) {
    m_client.fail(request, said.join(QLatin1Char(' ')).toStdString());
    return;
  }
  Json lines = Json::array();
  for (const QString& line : said) {
    lines.push_back(line.toStdString());
  }
  m_client.succeed(request, {{"trace", trace.toStdString()}, {"said", std::move(lines)}});
}

void OtherOrders::endBlame(const QByteArray& document, const QStringList& said) {
  const Request request = *std::exchange(m_request, std::nullopt);
  Json found = Json::parse(document.toStdString(), nullptr, false);
  if (!found.is_object()) {
    m_client.fail(request, said.join(QLatin1Char(' ')).toStdString());
    return;
  }
  m_client.succeed(request, std::move(found));
}

}  // namespace pf::headless

#include "moc_dap_other_orders.cpp"
