// SPDX-License-Identifier: GPL-3.0-or-later
// A GDB that is a script: what was sent can be looked at, and answers are given by the test.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "mi_bridge/gdb_session.h"
#include "mi_bridge/transport.h"

namespace pf::mi::test {

inline TimePoint at(int milliseconds) {
  return TimePoint{} + std::chrono::hours(1) + std::chrono::milliseconds(milliseconds);
}

class FakeTransport : public Transport {
 public:
  explicit FakeTransport(std::vector<std::string>* sent) : m_sent(sent) {}
  void send(std::string_view bytes) override { m_sent->emplace_back(bytes); }

 private:
  std::vector<std::string>* m_sent;
};

/// The token of the newest command sent whose text contains `part`; "" if there is none.
inline std::string tokenOf(const std::vector<std::string>& sent, std::string_view part) {
  for (auto line = sent.rbegin(); line != sent.rend(); ++line) {
    if (line->find(part) != std::string::npos) {
      return line->substr(0, line->find('-'));
    }
  }
  return {};
}

class RecordingObserver : public SessionObserver {
 public:
  void onState(SessionState state) override {
    log.push_back("state " + std::string(toString(state)));
  }
  void onStopped(const StopEvent& stop) override {
    log.push_back("stopped " + std::string(toString(stop.reason)));
    stops.push_back(stop);
  }
  void onBreakpointChanged(BreakpointChange change, const Breakpoint& bp) override {
    static constexpr const char* kNames[] = {"created", "modified", "deleted"};
    log.push_back(std::string(kNames[static_cast<int>(change)]) + " " + std::to_string(bp.number));
  }
  void onConsole(StreamKind kind, std::string_view text) override {
    console.push_back((kind == StreamKind::Target ? "@"
                       : kind == StreamKind::Log  ? "&"
                                                  : "~") +
                      std::string(text));
  }
  void onLost(const std::string& text) override { log.push_back("lost " + text); }
  void onEscalate(Escalation escalation) override { escalations.push_back(escalation); }
  void onToolAction(ToolAction action, std::string_view) override { actions.push_back(action); }
  void onSlow(const std::string& command, bool givenUp) override {
    log.push_back((givenUp ? "given up " : "slow ") + command);
  }
  void onValuesChanged() override { log.emplace_back("values"); }

  std::vector<std::string> log;
  std::vector<std::string> console;
  std::vector<StopEvent> stops;
  std::vector<Escalation> escalations;
  std::vector<ToolAction> actions;
};

/// A session whose GDB is played by the test.
class FakeSession {
 public:
  FakeSession() : transport(&sent), session(transport, observer) { session.tick(at(0)); }

  void line(const std::string& text) { session.feed(text + "\n"); }
  /// Answers the newest command that contains `part`.
  void answer(std::string_view part, const std::string& record) {
    EXPECT_TRUE(wasSent(part)) << "nothing was sent like " << part;
    line(tokenOf(sent, part) + record);
  }
  [[nodiscard]] bool wasSent(std::string_view part) const { return !tokenOf(sent, part).empty(); }
  [[nodiscard]] int countSent(std::string_view part) const {
    return static_cast<int>(std::count_if(sent.begin(), sent.end(), [part](const std::string& l) {
      return l.find(part) != std::string::npos;
    }));
  }
  /// Answers everything that start() sends. Settings wait for one another: several rounds.
  void started(const std::string& version = "GNU gdb (Debian 13.1-3) 13.1\\n") {
    session.start([this](const Status& status) { startStatus = status; });
    line("~\"" + version + "\"");
    for (std::size_t i = 0; i < sent.size(); ++i) {
      line(sent[i].substr(0, sent[i].find('-')) + "^done");
    }
    sent.clear();
  }
  void attached() {
    started();
    session.attach(4711, [this](const Status& status) { attachStatus = status; });
    answer("-target-attach", "^done");
    line(kStop + std::string("thread-id=\"1\",stopped-threads=\"all\""));
  }
  void runs(RunKind kind = RunKind::Continue) {
    session.run({kind, 0, {}, 0}, [this](const Status& status) { runStatus = status; });
    answer("-exec-", "^running");
    line("*running,thread-id=\"all\"");
  }

  static constexpr const char* kStop =
      "*stopped,frame={addr=\"0x10\",func=\"main\",args=[],file=\"m.c\",line=\"3\"},";

  std::vector<std::string> sent;
  FakeTransport transport;
  RecordingObserver observer;
  GdbSession session;
  Status startStatus;
  Status attachStatus;
  Status runStatus;
};

}  // namespace pf::mi::test
