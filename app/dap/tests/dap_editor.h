// SPDX-License-Identifier: GPL-3.0-or-later
// An editor at the other end of a connection, and a server over a synthetic trace whose replays are
// scripts (app/session/tests/fake_target.h).
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <QTest>

#include "app/dap/dap_server.h"
#include "app/session/tests/session_fixture.h"

namespace pf::headless {

class Editor {
 public:
  Editor() {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    EXPECT_EQ(::pipe2(in.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(out.data(), O_CLOEXEC | O_NONBLOCK), 0);
    m_say = UniqueFd(in[1]);
    m_hear = UniqueFd(out[0]);
    m_channel = std::make_unique<ByteChannel>(UniqueFd(in[0]), UniqueFd(out[1]));
  }
  [[nodiscard]] ByteChannel& channel() { return *m_channel; }

  void say(const std::string& bytes) {
    Q_EMIT m_channel->received(QByteArray::fromStdString(bytes));
  }
  /// Its number.
  int request(const std::string& command, const Json& arguments) {
    say(frame(
        Json{{"seq", ++m_seq}, {"type", "request"}, {"command", command}, {"arguments", arguments}}
            .dump()));
    return m_seq;
  }
  /// All that has come since the last time.
  std::vector<Json> heard() {
    std::array<char, 65536> buffer{};
    for (ssize_t got = 1; got > 0;) {
      got = ::read(m_hear.get(), buffer.data(), buffer.size());
      m_frames.feed({buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
    }
    std::vector<Json> messages;
    while (const auto next = m_frames.next()) {
      messages.push_back(Json::parse(**next));
    }
    return messages;
  }
  void hangUp() { m_say.reset(); }
  void goDeaf() { m_hear.reset(); }
  [[nodiscard]] int sayingEnd() const { return m_say.get(); }

 private:
  UniqueFd m_say;
  UniqueFd m_hear;
  std::unique_ptr<ByteChannel> m_channel;
  FrameReader m_frames;
  int m_seq = 0;
};

class DapServerFixture : public session::test::ReplayFixture {
 protected:
  using Replies = std::vector<session::test::FakeTarget::Reply>;
  static constexpr int kPatienceMs = 20000;

  DapServerFixture() {
    ::setenv("XDG_STATE_HOME", m_own.path().toStdString().c_str(), 1);  // what is trusted
    session().setReplays(replays());
    QObject::connect(m_server.get(), &DapServer::finished, [this] { ++m_finished; });
  }

  session::DebugSession& session() { return m_server->session(); }

  /// The response, once it is there.
  Json ask(const std::string& command, const Json& arguments = Json::object()) {
    return responseTo(m_editor.request(command, arguments));
  }
  Json responseTo(int seq) {
    Json response;
    EXPECT_TRUE(QTest::qWaitFor(
        [&] {
          pump();
          hear();
          const auto found =
              std::find_if(m_responses.begin(), m_responses.end(),
                           [seq](const Json& each) { return each["request_seq"] == seq; });
          if (found == m_responses.end()) {
            return false;
          }
          response = *found;
          return true;
        },
        kPatienceMs))
        << "no response to request " << seq;
    return response;
  }
  /// The body of a response that is no error.
  Json body(const std::string& command, const Json& arguments = Json::object()) {
    const Json response = ask(command, arguments);
    EXPECT_TRUE(response.value("success", false)) << response;
    return response.value("body", Json::object());
  }
  /// What an error response says to the user.
  std::string refusal(const std::string& command, const Json& arguments = Json::object()) {
    return errorOf(ask(command, arguments));
  }
  static std::string errorOf(const Json& response) {
    EXPECT_FALSE(response.value("success", true)) << response;
    return response.value("/body/error/variables/text"_json_pointer, std::string());
  }

  /// The first event of this name that has not been taken yet; waits for it.
  Json event(const std::string& name) {
    Json body;
    EXPECT_TRUE(QTest::qWaitFor([&] { return pump(), takeEvent(name, body); }, kPatienceMs))
        << "no event " << name;
    return body;
  }
  /// Whether there is one by now.
  bool hasEvent(const std::string& name) {
    Json body;
    QTest::qWait(100);  // the teller puts its events together for 30 ms
    pump();
    return takeEvent(name, body);
  }
  void forgetEvents() {
    hear();
    m_events.clear();
  }
  /// The text of all output events by now.
  std::string output(const std::string& category = {}) {
    hear();
    std::string text;
    for (const auto& [name, body] : m_events) {
      if (name == "output" && (category.empty() || body["category"] == category)) {
        text += body["output"].get<std::string>();
      }
    }
    return text;
  }

  [[nodiscard]] Json traceArguments() const {
    return {{"trace", m_trace.toStdString()}, {"trust", true}};
  }
  Json introduce(const Json& arguments = Json::object()) { return body("initialize", arguments); }
  /// To where breakpoints can be set.
  void launch(Json arguments = Json::object()) {
    introduce();
    arguments.update(traceArguments());
    body("launch", arguments);
    event("initialized");
  }
  /// A cycle whose ranks all stand before some event, each with a GDB that answers so.
  void stand(const Replies& replies = {}, Json arguments = Json::object()) {
    arguments["until"] = "2:40";
    launch(arguments);
    body("configurationDone");
    gate(replies);
    target().comeToTheirStops();
    event("stopped");
    target().forgetOrders();
  }
  /// The id of the innermost frame of the program.
  int userFrame(int rank) {
    const Json frames = body("stackTrace", {{"threadId", rank + 1}})["stackFrames"];
    EXPECT_GE(frames.size(), 2U) << frames;
    return frames.size() < 2 ? 0 : frames[1]["id"].get<int>();
  }
  /// The reference of a scope of it.
  int scope(int rank, const std::string& name) {
    const Json scopes = body("scopes", {{"frameId", userFrame(rank)}})["scopes"];
    for (const Json& each : scopes) {
      if (each["name"] == name) {
        return each["variablesReference"].get<int>();
      }
    }
    ADD_FAILURE() << "no scope " << name;
    return 0;
  }
  /// The rank runs on, by a continue of its own.
  void letRun(int rank) {
    body("continue", {{"threadId", rank + 1}, {"singleThread", true}});
    pump();
  }

  Editor m_editor;
  std::unique_ptr<DapServer> m_server = std::make_unique<DapServer>(m_editor.channel(), false);
  std::vector<Json> m_responses;
  std::vector<std::pair<std::string, Json>> m_events;
  int m_finished = 0;

 private:
  void hear() {
    for (Json& message : m_editor.heard()) {
      if (message["type"] == "event") {
        m_events.emplace_back(message["event"], message.value("body", Json::object()));
      } else {
        m_responses.push_back(std::move(message));
      }
    }
  }
  bool takeEvent(const std::string& name, Json& body) {
    hear();
    const auto found = std::find_if(m_events.begin(), m_events.end(),
                                    [&name](const auto& each) { return each.first == name; });
    if (found == m_events.end()) {
      return false;
    }
    body = found->second;
    m_events.erase(found);
    return true;
  }
};

}  // namespace pf::headless
