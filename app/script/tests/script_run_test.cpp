// SPDX-License-Identifier: GPL-3.0-or-later
// Scripts from their first line to the exit status, as far as no replay runs.
#include "app/script/script_run.h"

#include <functional>

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QTemporaryDir>

#include "app/session/tests/fake_target.h"
#include "db/store/origin.h"
#include "tests/bench/views/synthetic.h"

namespace pf::headless {
namespace {

class ScriptRunTest : public testing::Test {
 protected:
  void SetUp() override {
    db::setOriginOf([](const std::string&) { return db::Origin::Own; });
    bench::Traffic traffic;
    traffic.ranks = 4;
    traffic.events = 200;
    ASSERT_TRUE(bench::writeSyntheticTrace(trace().toStdString(), traffic).ok());
  }
  [[nodiscard]] QString trace() const { return m_directory.filePath(QStringLiteral("t.pft")); }

  std::unique_ptr<ScriptRun> begin(bool interactive) {
    auto loaded = session::loadTrace(trace());
    EXPECT_TRUE(loaded.ok());
    return std::make_unique<ScriptRun>(trace(), std::move(*loaded), "s.txt", interactive);
  }
  int run(const std::vector<std::string>& lines, bool interactive = false,
          const std::function<void(ScriptRun&)>& prepare = {}) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    auto script = begin(interactive);
    if (prepare) {
      prepare(*script);
    }
    QObject::connect(script.get(), &ScriptRun::finished, qApp, &QCoreApplication::quit,
                     Qt::QueuedConnection);
    for (const std::string& line : lines) {
      script->addLine(line);
    }
    script->noMoreLines();
    script->start();
    QCoreApplication::exec();
    m_out = testing::internal::GetCapturedStdout();
    m_err = testing::internal::GetCapturedStderr();
    return script->exitStatus();
  }

  QTemporaryDir m_directory;
  std::string m_out;
  std::string m_err;
};

TEST_F(ScriptRunTest, CarriesOutEveryCommand) {
  const auto script = begin(false);
  for (const ScriptVerb& verb : scriptVerbs()) {
    EXPECT_TRUE(script->carriesOut(verb.name)) << verb.name;
  }
}

TEST_F(ScriptRunTest, PrintsAnswersAndNothingElse) {
  EXPECT_EQ(
      run({"# a comment", "", "group home 0", "expect ^\\[0\\] home$", "echo there", "groups"}), 0);
  EXPECT_EQ(m_out.substr(0, 26), "[0] home\nthere\n[0] home\n[0");
  EXPECT_EQ(m_err, "");
}

TEST_F(ScriptRunTest, TheFirstCommandThatFailsEndsIt) {
  EXPECT_EQ(run({"group home 0", "", "expect nothing like it", "echo never"}), 1);
  EXPECT_EQ(m_out, "[0] home\n");
  EXPECT_EQ(m_err, "photofinish: s.txt:3: expected /nothing like it/, got:\n  [0] home\n");
}

TEST_F(ScriptRunTest, WhereItIsToGoOnAllFailuresAreToldAndTheStatusTells) {
  const auto goOn = [](ScriptRun& script) { script.keepGoing(); };
  EXPECT_EQ(run({"expect nothing", "nosuch", "echo on"}, false, goOn), 1);
  EXPECT_EQ(m_out, "on\n");
  EXPECT_EQ(m_err,
            "photofinish: s.txt:1: expected /nothing/, got: nothing\n"
            "photofinish: s.txt:2: there is no command 'nosuch'. 'help' lists all.\n");
  EXPECT_EQ(run({"echo on"}, false, goOn), 0);
}

TEST_F(ScriptRunTest, AtATerminalItGoesOn) {
  EXPECT_EQ(run({"expect nothing", "nosuch", "echo on"}, true), 0);
  EXPECT_EQ(m_out, "on\n(photofinish) ");
  EXPECT_EQ(m_err,
            "photofinish: expected /nothing/, got: nothing\n"
            "photofinish: there is no command 'nosuch'. 'help' lists all.\n");
}

TEST_F(ScriptRunTest, QuitEndsItWithLinesLeft) {
  EXPECT_EQ(run({"echo a", "quit", "echo b"}), 0);
  EXPECT_EQ(m_out, "a\n");
}

TEST_F(ScriptRunTest, ACommandThatDoesNotEndInTimeFailsAndEndsTheReplay) {
  session::test::FakeTarget* target = nullptr;
  EXPECT_EQ(run({"timeout 0.2", "replay-to 1:9", "echo never"}, false,
                [&target](ScriptRun& script) {
                  script.session().setReplays([&target](const session::ReplayRequest&) {
                    auto made = std::make_unique<session::test::FakeTarget>(4);
                    target = made.get();
                    return Result<std::unique_ptr<session::Target>>(std::move(made));
                  });
                }),
            1);
  EXPECT_NE(target, nullptr);
  EXPECT_EQ(m_out, "");
  EXPECT_EQ(m_err,
            "photofinish: s.txt:2: not done within 0.2 s: the ranks are still being started\n");
}

TEST_F(ScriptRunTest, ACycleThatCannotBeginIsSaidWithItsLine) {
  EXPECT_EQ(run({"run", "echo never"}, false,
                [](ScriptRun& script) {
                  script.session().setReplays([](const session::ReplayRequest&) {
                    return Result<std::unique_ptr<session::Target>>(
                        Error{ErrorCode::System, "no ranks to be had", "Buy some."});
                  });
                }),
            1);
  EXPECT_EQ(m_out, "");
  EXPECT_EQ(m_err.substr(0, 21), "photofinish: s.txt:1:");
  EXPECT_NE(m_err.find("no ranks to be had"), std::string::npos) << m_err;
}

TEST_F(ScriptRunTest, WhatATextSaysToATerminalIsMadeHarmless) {
  EXPECT_EQ(run({"echo a\x1b[2Jb"}), 0);
  EXPECT_EQ(m_out.find('\x1b'), std::string::npos) << m_out;
}

TEST_F(ScriptRunTest, ASignalIsItsStatus) {
  const auto script = begin(false);
  int finished = 0;
  QObject::connect(script.get(), &ScriptRun::finished, [&finished] { ++finished; });
  testing::internal::CaptureStderr();
  script->stop(15);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "photofinish: ended by a signal\n");
  EXPECT_EQ(script->exitStatus(), 143);
  EXPECT_EQ(finished, 1);
}

}  // namespace
}  // namespace pf::headless
