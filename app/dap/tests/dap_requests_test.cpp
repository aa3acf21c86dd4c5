// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/wire/dap_requests.h"

#include <gtest/gtest.h>

namespace pf::headless {
namespace {

class DapRequests : public testing::Test {
 protected:
  DapRequests() {
    const auto handler = [this](const Request& request) { m_asked += request.command + " "; };
    m_requests.add("launch", DapState::Initialized, DapState::Initialized, Needs::Nothing, handler);
    m_requests.add("threads", DapState::Configuring, DapState::Live, Needs::Nothing, handler);
    m_requests.add("next", DapState::Live, DapState::Live, Needs::Process, handler);
    m_requests.add("stepBack", DapState::Live, DapState::Live, Needs::Recording, handler);
  }
  /// What is said against it; empty: its handler is called.
  std::string refusal(const std::string& command, DapState state, Needs there = Needs::Recording) {
    m_requests.enter(state);
    const Request request{1, command, Json::object()};
    const Result<Requests::Handler> found = m_requests.find(request, there);
    if (!found) {
      EXPECT_EQ(found.error().code, ErrorCode::Usage);
      return found.error().message;
    }
    (*found)(request);
    return {};
  }

  Requests m_requests;
  std::string m_asked;
};

TEST_F(DapRequests, GoToWhoAnswersThem) {
  EXPECT_EQ(m_requests.state(), DapState::Fresh);
  EXPECT_EQ(refusal("launch", DapState::Initialized), "");
  EXPECT_EQ(refusal("threads", DapState::Configuring), "");
  EXPECT_EQ(refusal("threads", DapState::Live), "");
  EXPECT_EQ(m_asked, "launch threads threads ");
}

TEST_F(DapRequests, ThatAreNotKnownAreRefused) {
  EXPECT_EQ(refusal("makeCoffee", DapState::Live), "the request 'makeCoffee' is not known here");
}

TEST_F(DapRequests, HaveTheirStates) {
  const auto says = [this](const char* command, DapState state, const std::string& when) {
    EXPECT_EQ(refusal(command, state),
              std::string("the request '") + command + "' does not fit " + when);
  };
  says("launch", DapState::Fresh, "before 'initialize'");
  says("threads", DapState::Initialized, "before 'launch'");
  says("launch", DapState::Launching, "while the launch is under way");
  says("next", DapState::Configuring, "before 'configurationDone'");
  says("launch", DapState::Live, "in a session that has begun");
  says("threads", DapState::Over, "after the end of the session");
  EXPECT_EQ(m_asked, "");
}

TEST_F(DapRequests, NeedAProcessOrARecording) {
  EXPECT_EQ(refusal("next", DapState::Live, Needs::Process), "");
  EXPECT_EQ(refusal("threads", DapState::Live, Needs::Nothing), "");
  EXPECT_EQ(refusal("next", DapState::Live, Needs::Nothing),
            "core files can only be looked at: nothing runs");
  for (const Needs there : {Needs::Nothing, Needs::Process}) {
    EXPECT_EQ(refusal("stepBack", DapState::Live, there),
              "'stepBack' needs a recording, and there is none of this job");
  }
}

}  // namespace
}  // namespace pf::headless
