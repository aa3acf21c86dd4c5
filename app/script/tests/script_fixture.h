// SPDX-License-Identifier: GPL-3.0-or-later
// Commands of a script on a session whose replays, ranks and GDBs are made up
// (app/session/tests/fake_target.h).
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <QTest>

#include "app/script/script_handlers.h"
#include "app/script/tests/plain_lines.h"
#include "app/session/tests/session_fixture.h"

namespace pf::headless {

class ScriptFixture : public session::test::SessionFixture {
 protected:
  using Replies = std::vector<session::test::FakeTarget::Reply>;
  static constexpr int kPatienceMs = 30000;

  ScriptFixture() {
    // The session's words are handed on by ScriptRun.
    QObject::connect(&session(), &session::DebugSession::message,
                     [this](const QString& text, bool problem) { m_handlers.hear(text, problem); });
    m_handlers.begin();
  }
  /// Before what has asked its GDBs, as in ScriptRun.
  ~ScriptFixture() override { m_session.reset(); }

  void begin(const std::string& line) {
    m_failure.reset();
    m_answer.begin();
    m_handlers.carryOut(**parseScriptLine(line));
  }
  /// The answer to a command that is done at once.
  PlainLines ask(const std::string& line) {
    begin(line);
    EXPECT_FALSE(m_answer.isOpen()) << line;
    return plain(m_answer.lines());
  }
  std::string failure(const std::string& line) {
    ask(line);
    return plain(m_failure.value_or(QStringLiteral("it has not failed")));
  }
  /// Until the present command has ended.
  void await() {
    EXPECT_TRUE(QTest::qWaitFor(
        [this] {
          pump();
          if (m_answer.isOpen()) {
            m_handlers.look(1000);
            pump();
          }
          return !m_answer.isOpen();
        },
        kPatienceMs))
        << plain(m_handlers.lateText(0));
  }
  /// The answer to a command for which GDBs are asked.
  PlainLines answer(const std::string& line) {
    begin(line);
    await();
    EXPECT_FALSE(m_failure.has_value()) << line << ": " << plain(m_failure.value_or(QString()));
    return plain(m_answer.lines());
  }
  std::string failureOf(const std::string& line) {
    begin(line);
    await();
    return plain(m_failure.value_or(QStringLiteral("it has not failed")));
  }
  /// A line of the answer begins so.
  bool says(const std::string& beginning) const {
    const PlainLines lines = plain(m_answer.lines());
    return std::any_of(lines.begin(), lines.end(), [&beginning](const std::string& line) {
      return line.starts_with(beginning);
    });
  }
  std::string all() const { return plain(m_answer.lines().join(QLatin1Char('\n'))); }

  void goTo(const std::string& event) {
    begin("replay-to " + event);
    pump();
    target().allGated();
    pump();
    target().comeToTheirStops();
    pump();
  }
  /// All ranks stand before some event; these have GDBs that answer so.
  void standBefore(const std::string& event, const QList<int>& gdbs, const Replies& replies = {}) {
    session().debuggers().setFocus(gdbs);
    begin("replay-to " + event);
    gate(replies);
    target().comeToTheirStops();
    await();
    EXPECT_FALSE(m_failure.has_value()) << plain(m_failure.value_or(QString()));
    target().forgetOrders();
  }
  void standAll(const Replies& replies = {}) { standBefore("2:40", {0, 1, 2, 3}, replies); }

  std::optional<QString> m_failure;
  ScriptAnswer m_answer{[this](const std::optional<QString>& failure) {
    m_failure = failure;
    m_handlers.drop();
  }};
  ScriptHandlers m_handlers{session(), m_answer};
};

}  // namespace pf::headless
