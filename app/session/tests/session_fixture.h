// SPDX-License-Identifier: GPL-3.0-or-later
// A session over a synthetic trace of four ranks, whose replays are scripts (fake_target.h).
#pragma once

#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QFile>
#include <QPointer>
#include <QTemporaryDir>

#include "app/session/debug_session.h"
#include "app/session/tests/fake_target.h"
#include "db/store/origin.h"
#include "tests/bench/views/synthetic.h"

namespace pf::session::test {

inline constexpr int kRanks = 4;
inline constexpr const char* kGroups = "0-1,2,3";

/// What a GDB says of a rank that is inside of MPI_Recv.
inline constexpr const char* kStack =
    R"(^done,stack=[frame={level="0",addr="0x1",func="PMPI_Recv",from="/lib/libmpi.so.40"},)"
    R"(frame={level="1",addr="0x2",func="collect",file="m.c",fullname="/src/m.c",line="12"},)"
    R"(frame={level="2",addr="0x3",func="main",file="m.c",fullname="/src/m.c",line="40"}])";
/// What it says of a breakpoint that it has made.
inline constexpr const char* kMade = R"(^done,bkpt={number="2",line="12",fullname="/src/m.c"})";

/// A trace of its own for each test, whose replays are scripts.
class ReplayFixture : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    s_directory = new QTemporaryDir;
    bench::Traffic traffic;
    traffic.ranks = kRanks;
    traffic.events = 2000;
    traffic.groups = kGroups;
    ASSERT_TRUE(bench::writeSyntheticTrace(original().toStdString(), traffic).ok());
  }
  static void TearDownTestSuite() { delete s_directory; }
  static QString original() { return s_directory->filePath(QStringLiteral("original.pft")); }

  ReplayFixture() {
    db::setOriginOf([](const std::string&) { return db::Origin::Own; });
    QFile::copy(original(), m_trace);
  }

  /// For DebugSession::setReplays().
  ReplayFactory replays() {
    return [this](const ReplayRequest& request) {
      auto target = std::make_unique<FakeTarget>(kRanks, request.ranks);
      m_targets.append(target.get());
      return Result<std::unique_ptr<Target>>(std::move(target));
    };
  }
  FakeTarget& target() { return *m_targets.last(); }
  /// Until nothing is left to be done at once.
  static void pump() {
    for (int i = 0; i < 40; ++i) {
      QCoreApplication::sendPostedEvents();
      QCoreApplication::processEvents();
    }
  }
  /// The ranks of a cycle that starts come to the gate, get their GDBs, and go on.
  void gate(const std::vector<FakeTarget::Reply>& replies = {}) {
    pump();
    target().replies = replies;
    target().replies.insert(target().replies.begin(), {"-stack-list-frames", kStack});
    target().allGated();
    pump();
  }

  static inline QTemporaryDir* s_directory = nullptr;
  QTemporaryDir m_own;
  QString m_trace = m_own.filePath(QStringLiteral("t.pft"));
  QList<QPointer<FakeTarget>> m_targets;
};

class SessionFixture : public ReplayFixture {
 protected:
  SessionFixture() {
    session().setReplays(replays());
    QObject::connect(&session(), &DebugSession::message, [this](const QString& text, bool problem) {
      (problem ? m_problems : m_messages).append(text);
    });
    QObject::connect(&session(), &DebugSession::settled, [this] { ++m_settled; });
    auto loaded = loadTrace(m_trace);
    EXPECT_TRUE(loaded.ok());
    session().open(m_trace, std::move(*loaded));
  }

  DebugSession& session() { return *m_session; }
  /// A cycle that has begun, and whose ranks have come to their stops.
  void run(const EventRef& event) {
    session().replayTo(event);
    pump();
    target().allGated();
    pump();
    target().comeToTheirStops();
    pump();
  }
  /// A cycle whose ranks all stand before some event, each with a GDB that answers so.
  void stand(const std::vector<FakeTarget::Reply>& replies = {}) {
    session().debuggers().setFocus({0, 1, 2, 3});
    session().replayTo({2, 40});
    gate(replies);
    target().comeToTheirStops();
    pump();
  }
  /// The trace as it is now in the file.
  void reopen(const QString& path = {}) {
    const QString file = path.isEmpty() ? m_trace : path;
    auto loaded = loadTrace(file);
    ASSERT_TRUE(loaded.ok());
    session().open(file, std::move(*loaded));
    pump();
  }
  [[nodiscard]] bool wasSaid(const char* words) const {
    return said().contains(QLatin1String(words));
  }
  QString said() const { return (m_messages + m_problems).join(QLatin1Char('\n')); }

  QStringList m_messages;
  QStringList m_problems;
  int m_settled = 0;
  std::unique_ptr<DebugSession> m_session = std::make_unique<DebugSession>();
};

}  // namespace pf::session::test
