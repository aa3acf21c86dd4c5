// SPDX-License-Identifier: GPL-3.0-or-later
// After any sequence of actions the window shows what the session is: no stale cut, stack, variable, button or text. Replays
// are scripts, so that a sequence takes a fraction of a second. PF_MONKEY: how many sequences; PF_MONKEY_SEED: the first.
#include <array>
#include <functional>
#include <random>

#include <QAction>
#include <QPointer>
#include <QTemporaryDir>

#include "app/gui/panes/time_travel_bar.h"
#include "app/gui/tests/window_test.h"
#include "app/session/tests/fake_target.h"
#include "db/store/origin.h"
#include "tests/bench/views/synthetic.h"
#include "views/diagram/space_time_view.h"
#include "views/models/rank_models.h"
#include "views/models/variables_model.h"
#include "views/models/watches_model.h"
#include "views/panes/action_tips.h"
#include "views/panes/debug_views.h"
#include "views/panes/rank_strip.h"
#include "views/values/text.h"

namespace {

namespace test = pf::gui::test;
using pf::session::test::FakeTarget;
using pf::values::RankAction;

constexpr int kRanks = 4;
constexpr int kActions = 50;
constexpr int kSoonMs = 120;  ///< what the window puts off
constexpr const char* kStack =
    R"(^done,stack=[frame={level="0",addr="0x1",func="PMPI_Recv",from="/lib/libmpi.so.40"},)"
    R"(frame={level="1",addr="0x2",func="collect",file="m.c",fullname="/src/m.c",line="12"},)"
    R"(frame={level="2",addr="0x3",func="main",file="m.c",fullname="/src/m.c",line="40"}])";
constexpr const char* kVariables = R"(^done,variables=[{name="n",value="3",type="int"}])";

class MonkeyTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void theWindowShowsTheSession();

 private:
  using Act = std::function<void()>;

  [[nodiscard]] pf::session::DebugSession& session() { return m_window->session(); }
  [[nodiscard]] int upTo(int most) { return std::uniform_int_distribution<int>(0, most)(m_random); }
  void makeActs();
  void trigger(QAction* action) {
    if (action != nullptr && action->isEnabled()) {
      action->trigger();
    }
  }
  void gdbStops();
  void gate();
  void arrive();
  void comeToRest();
  [[nodiscard]] QString wrong();
  [[nodiscard]] QString wrongOfReplay();
  [[nodiscard]] QString wrongOfActions();
  static void pump() {
    for (int i = 0; i < 20; ++i) {
      QCoreApplication::sendPostedEvents();
      QCoreApplication::processEvents();
    }
  }

  QTemporaryDir m_directory;
  std::mt19937 m_random;
  QPointer<FakeTarget> m_target;
  std::vector<std::pair<QString, Act>> m_acts;
  QStringList m_done;
  std::unique_ptr<pf::gui::MainWindow> m_window;
};

void MonkeyTest::initTestCase() {
  test::setUp(m_directory.path());
  pf::db::setOriginOf([](const std::string&) { return pf::db::Origin::Own; });
  const QString trace = m_directory.filePath(QStringLiteral("t.pft"));
  pf::bench::Traffic traffic;
  traffic.ranks = kRanks;
  traffic.events = 800;
  QVERIFY(pf::bench::writeSyntheticTrace(trace.toStdString(), traffic).ok());
  QString problem;
  m_window = test::open(trace, &problem);
  QVERIFY2(m_window != nullptr, qPrintable(problem));
  session().setReplays([this](const pf::session::ReplayRequest& request) {
    auto target = std::make_unique<FakeTarget>(kRanks, request.ranks);
    target->replies = {{"-stack-list-frames", kStack},
                       {"-stack-list-variables", kVariables},
                       {"-data-evaluate-expression", R"(^done,value="5")"}};
    m_target = target.get();
    return pf::Result<std::unique_ptr<pf::session::Target>>(std::move(target));
  });
  QVERIFY(
      m_window->findChild<pf::views::WatchesView*>()->model()->addExpression(QStringLiteral("n")));
  makeActs();
}

/// What a user does, and what ranks do.
void MonkeyTest::makeActs() {
  const auto act = [this](const QString& name, Act does) {
    m_acts.emplace_back(name, std::move(does));
  };
  for (const char* name : {"failingReceive", "nextReceive", "nextEvent", "nextRacing",
                           "previousEvent", "previousReceive", "previousHit", "deliverNext",
                           "deliverHere", "reverseNext", "reverseStep", "reverseFinish"}) {
    act(QString::fromLatin1(name), [this, action = m_window->findChild<QAction*>(
                                              QString::fromLatin1(name))] { trigger(action); });
  }
  for (const RankAction action : {RankAction::Continue, RankAction::Pause, RankAction::Next,
                                  RankAction::Step, RankAction::Finish}) {
    act(pf::values::actionWord(action),
        [this, action] { trigger(m_window->ranks().action(action)); });
  }
  act(QStringLiteral("restart"), [this] { session().restartCycle(); });
  act(QStringLiteral("repeat"), [this] { session().repeatCycle(); });
  act(QStringLiteral("end"), [this] { session().endReplay(); });
  act(QStringLiteral("rank"), [this] { Q_EMIT m_window->ranks().currentRankChanged(upTo(3)); });
  act(QStringLiteral("tick"), [this] {
    QList<int> ranks;
    for (int rank = 0; rank < kRanks; ++rank) {
      upTo(1) == 1 ? ranks.append(rank) : void();
    }
    Q_EMIT m_window->ranks().focusChanged(ranks);
  });
  act(QStringLiteral("event"), [this] {
    m_window->diagram().selectEvent({upTo(3), static_cast<pf::Serial>(1 + upTo(99))});
  });
  act(QStringLiteral("replay to"), [this] {
    Q_EMIT m_window->diagram().replayToRequested({upTo(3), static_cast<pf::Serial>(2 + upTo(97))});
  });
  act(QStringLiteral("break"), [this] {
    session().breakpoints().breakAt({upTo(3), static_cast<pf::Serial>(2 + upTo(97))});
  });
  for (int times = 0; times < 6; ++times) {  // ranks do most
    act(QStringLiteral("gate"), [this] { gate(); });
    act(QStringLiteral("arrive"), [this] { arrive(); });
  }
  act(QStringLiteral("GDB stops"), [this] { gdbStops(); });
  act(QStringLiteral("GDB stops"), [this] { gdbStops(); });
  act(QStringLiteral("moves"), [this] {
    if (m_target != nullptr && session().isRunning()) {
      const int rank = upTo(3);
      m_target->runs(rank, session().serialOf(rank) + 1);
    }
  });
  act(QStringLiteral("ends"), [this] {
    if (m_target != nullptr && session().isRunning() && upTo(4) == 0) {
      Q_EMIT m_target->ended(upTo(1), {});
    }
  });
  act(QStringLiteral("time"), [] { QTest::qWait(5); });
}

void MonkeyTest::gate() {
  if (m_target != nullptr && session().isReplaying() && !session().isRunning() &&
      !m_target->closing) {
    m_target->allGated();
  }
}

void MonkeyTest::arrive() {
  if (m_target != nullptr && session().isRunning() && !m_target->closing) {
    m_target->comeToTheirStops();
  }
}

void MonkeyTest::gdbStops() {
  const int rank = upTo(3);
  const pf::mi::GdbSession* const gdb = session().debugger(rank);
  if (m_target == nullptr || !session().isRunning() || gdb == nullptr ||
      gdb->state() != pf::mi::SessionState::Running) {
    return;
  }
  static const std::array<const char*, 3> kReasons{
      R"(reason="breakpoint-hit",bkptno="7")", R"(reason="end-stepping-range")",
      R"(reason="signal-received",signal-name="SIGSEGV",signal-meaning="x")"};
  m_target->gdbStops(rank, kReasons[static_cast<std::size_t>(upTo(2))]);
}

void MonkeyTest::comeToRest() {
  for (int i = 0; i < 12; ++i) {
    pump();
    gate();
    pump();
    arrive();
  }
  pump();
  QTest::qWait(kSoonMs);
  pump();
}

/// Empty: all that is shown is what the session is.
QString MonkeyTest::wrong() {
  const QString replay = wrongOfReplay();
  return replay.isEmpty() ? wrongOfActions() : replay;
}

QString MonkeyTest::wrongOfReplay() {
  const bool replays = session().isReplaying();
  const auto& shown = m_window->diagram().replayPositions();
  const bool told =
      session().isRunning() || !replays;  // ranks on their way to the gate are nowhere
  if (told && shown != session().positions()) {
    return replays ? QStringLiteral("another cut than where the ranks are")
                   : QStringLiteral("the cut of a replay that has ended");
  }
  const int current = session().currentRank();
  pf::mi::GdbSession* const gdb = session().debugger(current);
  const bool stands = gdb != nullptr && gdb->state() == pf::mi::SessionState::Stopped;
  const bool frames = !m_window->stack().model()->frames().isEmpty();
  if (frames && !stands) {
    return QStringLiteral("a stack of a rank that GDB has not stopped");
  }
  if (session().isRunning() && stands && !frames) {
    return QStringLiteral("no stack of a rank that GDB has stopped");
  }
  if (!stands && m_window->variables().model()->rowCount() != 0 && !replays) {
    return QStringLiteral("variables of a replay that has ended");
  }
  if (!replays && !m_window->findChild<pf::views::WatchesView*>()
                       ->model()
                       ->index(0, pf::views::WatchesModel::ValueColumn)
                       .data()
                       .toString()
                       .startsWith(QStringLiteral("–"))) {
    return QStringLiteral("a watch of a replay that has ended");
  }
  if (m_window->ranks().currentRank() != current) {
    return QStringLiteral("another rank is current in the ranks' list");
  }
  const QList<pf::values::RankState> ranks = session().rankStates();
  if (m_window->ranks().model()->ranks() != ranks) {
    return QStringLiteral("other states in the ranks' list");
  }
  const QString position = pf::values::oneLine(
      pf::gui::positionText(ranks.at(current), session().source(), session().isReplaying(),
                            session().cycles().lastNumber()));
  return m_window->timeTravel().position() == position
             ? QString()
             : QStringLiteral("the bar says '%1' and not '%2'")
                   .arg(m_window->timeTravel().position(), position);
}

QString MonkeyTest::wrongOfActions() {
  using pf::session::Move;
  static const std::array<std::pair<const char*, Move>, 6> kMoves{
      {{"nextReceive", Move::NextReceive},
       {"nextEvent", Move::NextEvent},
       {"nextRacing", Move::NextRace},
       {"previousEvent", Move::PreviousEvent},
       {"previousReceive", Move::PreviousReceive},
       {"failingReceive", Move::Failure}}};
  const auto differs = [this](const char* name, const QString& why) {
    const QString shown =
        pf::views::whyNot(*m_window->findChild<QAction*>(QString::fromLatin1(name)));
    return shown == why ? QString()
                        : QStringLiteral("%1 says '%2' and not '%3'")
                              .arg(QString::fromLatin1(name), shown, why);
  };
  for (const auto& [name, move] : kMoves) {
    if (const QString text = differs(name, session().whyNot(move)); !text.isEmpty()) {
      return text;
    }
  }
  for (const char* name : {"reverseNext", "reverseStep", "reverseFinish"}) {
    if (const QString text = differs(name, session().whyNoLineBack()); !text.isEmpty()) {
      return text;
    }
  }
  return differs("previousHit", session().whyNoPreviousHit());
}

void MonkeyTest::theWindowShowsTheSession() {
  bool ok = false;
  const int sequences = qEnvironmentVariableIntValue("PF_MONKEY", &ok);
  const int first = qEnvironmentVariableIntValue("PF_MONKEY_SEED");
  for (int sequence = 0; sequence < (ok ? sequences : 40); ++sequence) {
    m_random.seed(static_cast<unsigned>(first + sequence));
    m_done.clear();
    for (int i = 0; i < kActions; ++i) {
      const auto& [name, act] =
          m_acts[static_cast<std::size_t>(upTo(static_cast<int>(m_acts.size()) - 1))];
      m_done << name;
      act();
      pump();
    }
    comeToRest();
    const QString text = wrong();
    QVERIFY2(text.isEmpty(), qPrintable(QStringLiteral("seed %1: %2\nafter: %3")
                                            .arg(first + sequence)
                                            .arg(text, m_done.join(QStringLiteral(", ")))));
  }
  session().endReplay();
  comeToRest();
  QCOMPARE(wrong(), QString());
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QTEST_FUNCTION_TIMEOUT", "3600000");  // milliseconds: a thousand sequences
  QApplication application(argc, argv);
  MonkeyTest test;
  return QTest::qExec(&test, argc, argv);
}

#include "monkey_test.moc"
