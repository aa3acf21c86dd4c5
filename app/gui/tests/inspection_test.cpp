// SPDX-License-Identifier: GPL-3.0-or-later
// Looking at all ranks in the real window, on a real recording: stacks, groups, values.
#include <algorithm>

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QDockWidget>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QTreeView>

#include "app/collation/failure.h"
#include "app/gui/commands/key_bindings.h"
#include "app/gui/panes/inspection_panes.h"
#include "app/gui/tests/window_test.h"
#include "views/models/rank_models.h"
#include "views/models/variables_model.h"
#include "views/models/watches_model.h"
#include "views/panes/debug_views.h"
#include "views/panes/rank_strip.h"
#include "views/panes/rows_view.h"
#include "views/panes/source_editor.h"
#include "views/panes/source_view.h"
#include "views/panes/stack_tree_view.h"
#include "views/panes/value_popup.h"
#include "views/panes/values_across_view.h"
#include "views/values/stack_tree.h"

namespace {

namespace test = pf::gui::test;
using test::kPatience;

using pf::session::DebugSession;

/// "main:68(0)[master:36(0)]" of each node, lines included.
QString textOf(const std::vector<pf::values::StackNode>& nodes) {
  QStringList out;
  for (const pf::values::StackNode& node : nodes) {
    QString text = node.isNote() ? QLatin1Char('!') + node.note : node.frame.function;
    if (node.frame.line > 0) {
      text += QLatin1Char(':') + QString::number(node.frame.line);
    }
    text += QLatin1Char('(') + pf::values::rankSetText(node.ranks) + QLatin1Char(')');
    if (!node.children.empty()) {
      text += QLatin1Char('[') + textOf(node.children) + QLatin1Char(']');
    }
    out << text;
  }
  return out.join(QLatin1Char(' '));
}

class InspectionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void stacksOfAllRanks();
  void actionsOfAGroup();
  void groupsAreKept();
  void valuesAcrossRanks();
  void lookingDeeper();
  void commandPalette();
  void keysAreChosen();
  void cleanupTestCase();

 private:
  void waitSettled(const std::function<void()>& act);
  void endReplay();
  QList<pf::values::RankStack> askStacks(qint64* milliseconds = nullptr);
  /// Rank 0 before its `number`-th receive, from 1.
  pf::EventRef receiveOfRank0(int number);
  /// A new cycle to there, with GDBs on these ranks, all of which have stopped.
  void replayWith(const QList<int>& focus, const pf::EventRef& goal);
  /// The answer to an expression on all ranks: "2.5(1-2) !No symbol …(3)".
  QString across(const QString& expression);
  /// The same by the menu of a word that is selected in the source.
  void fromTheSource();
  /// And by that of a variable.
  void fromAHoveredValue();
  void fromTheVariables();
  /// PF_SHOTS=DIRECTORY keeps pictures of the window.
  void shot(const char* name);
  DebugSession& session() { return m_window->session(); }

  QTemporaryDir m_directory;
  std::unique_ptr<pf::gui::MainWindow> m_window;
  int m_ranks = 4;
};

void InspectionTest::initTestCase() {
  test::setUp(m_directory.path());
  m_ranks = std::max(4, qEnvironmentVariableIntValue("PF_LOOKING_RANKS"));
  const QString trace = m_directory.filePath(QStringLiteral("looking.pft"));
  const test::Recorded run = test::record(trace, {}, m_ranks, test::bin("e2e/looking"));
  QVERIFY2(run.status == 0, run.output.constData());
  QString problem;
  m_window = test::open(trace, &problem);
  QVERIFY2(m_window != nullptr, qPrintable(problem));
}

void InspectionTest::cleanupTestCase() {
  if (m_window != nullptr) {
    endReplay();
  }
  m_window.reset();
}

void InspectionTest::waitSettled(const std::function<void()>& act) {
  QSignalSpy settled(&session(), &DebugSession::settled);
  act();
  QVERIFY2(!settled.isEmpty() || settled.wait(kPatience), qPrintable(m_window->statusText()));
}

void InspectionTest::shot(const char* name) {
  if (const QString directory = qEnvironmentVariable("PF_SHOTS"); !directory.isEmpty()) {
    QTest::qWait(300);
    m_window->grab().save(QStringLiteral("%1/%2.png").arg(directory, QLatin1String(name)));
  }
}

void InspectionTest::endReplay() {
  session().endReplay();
  QTRY_VERIFY_WITH_TIMEOUT(!session().isReplaying(), kPatience);
}

pf::EventRef InspectionTest::receiveOfRank0(int number) {
  const auto& history = session().trace()->execution.ranks[0];
  for (pf::Serial serial = 1; serial <= history.events.size(); ++serial) {
    if (pf::app::receives(history, serial) && --number == 0) {
      return {0, serial};
    }
  }
  return {};
}

QList<pf::values::RankStack> InspectionTest::askStacks(qint64* milliseconds) {
  QSignalSpy arrived(&session().stacks(), &pf::session::AllStacks::arrived);
  session().stacks().ask();
  if (arrived.isEmpty() && !arrived.wait(kPatience)) {
    return {};
  }
  if (milliseconds != nullptr) {
    *milliseconds = arrived.last()[1].toLongLong();
  }
  return arrived.last()[0].value<QList<pf::values::RankStack>>();
}

/// The tree is the same whether a GDB tells the stack or the rank's agent; a click goes to a rank.
void InspectionTest::stacksOfAllRanks() {
  session().debuggers().setFocus({});
  const pf::EventRef goal = receiveOfRank0(2);
  QVERIFY(goal.valid());
  waitSettled([&] { session().replayTo(goal); });
  qint64 milliseconds = 0;
  const auto byAgents = askStacks(&milliseconds);
  qInfo("stacks of %d ranks by agents: %lld ms", m_ranks, milliseconds);
  QCOMPARE(byAgents.size(), m_ranks);
  const QString tree = textOf(pf::values::stackTree(byAgents));
  QVERIFY2(tree.contains(QStringLiteral("[master:37(0)[take:28(0)[MPI_Recv(0)]]]")),
           qPrintable(tree));
  for (const auto& stack : byAgents) {
    QVERIFY2(stack.note.isEmpty() && !stack.debugger, qPrintable(stack.note));
    QCOMPARE(stack.frames.last().function, QStringLiteral("main"));
  }

  endReplay();
  session().debuggers().setFocus({0, 1});
  waitSettled([&] { session().replayTo(goal); });
  QList<pf::values::RankStack> mixed;
  const auto byGdb = [&] {
    mixed = askStacks();  // by the agent, too, until GDB has told that it has stopped
    return mixed.size() == m_ranks && mixed[0].debugger && mixed[1].debugger;
  };
  QTRY_VERIFY_WITH_TIMEOUT(byGdb(), kPatience);
  QVERIFY(!mixed[2].debugger);
  const auto frames = [](const pf::values::RankStack& stack) {
    QStringList out;
    for (const auto& frame : stack.frames) {
      out << QStringLiteral("%1 %2:%3").arg(frame.function, frame.file).arg(frame.line);
    }
    return out;
  };
  QCOMPARE(frames(mixed[0]), frames(byAgents[0]));
  QCOMPARE(frames(mixed[1]), frames(byAgents[1]));

  auto& panes = m_window->looking();
  panes.stacksDock()->raise();
  auto& view = panes.stacks();
  QTRY_VERIFY_WITH_TIMEOUT(view.model()->rowCount() > 0, kPatience);
  shot("stacks");
  QSignalSpy source(&panes, &pf::gui::InspectionPanes::sourceRequested);
  for (int row = 0; row < view.model()->rowCount(); ++row) {
    const QModelIndex index = view.model()->index(row, 0);
    if (!view.model()->node(index)->ranks.contains(0)) {
      QTest::mouseClick(view.tree()->viewport(), Qt::LeftButton, {},
                        view.tree()->visualRect(index).center());
      QCOMPARE(session().currentRank(), view.model()->node(index)->ranks.first());
      QCOMPARE(source.size(), 1);
      return;
    }
  }
  QFAIL("no node without rank 0");
}

void InspectionTest::replayWith(const QList<int>& focus, const pf::EventRef& goal) {
  endReplay();
  session().debuggers().setFocus(focus);
  waitSettled([&] { session().replayTo(goal); });
  const auto stopped = [&] {
    const auto stacks = askStacks();
    return std::all_of(focus.begin(), focus.end(),
                       [&](int rank) { return stacks.size() > rank && stacks[rank].debugger; });
  };
  QTRY_VERIFY_WITH_TIMEOUT(stopped(), kPatience);
}

/// A step of two ranks of which one waits for the other: it is named, and nothing waits for it.
void InspectionTest::actionsOfAGroup() {
  const pf::EventRef goal = receiveOfRank0(2);
  const pf::RankHistory& history = session().trace()->execution.ranks[0];
  int waiting = -1;  // who sent the first message: it waits for the answer now
  for (const pf::Message& message : session().trace()->execution.messages) {
    if (message.dest == 0 && message.completion == receiveOfRank0(1).serial) {
      waiting = message.send.rank;
    }
  }
  QVERIFY(waiting > 0 && !history.events.empty());
  replayWith({0, waiting}, goal);
  session().setCurrentRank(0);
  session().groups().add(QStringLiteral("pair"), {waiting, 0});
  auto& strip = m_window->ranks();
  QComboBox* scope = strip.scopeBox();
  const QString shown = QStringLiteral("pair (%1)").arg(pf::values::rankSetText({0, waiting}));
  QVERIFY(scope->findText(shown) >= 0);
  scope->setCurrentIndex(scope->findText(shown));
  QCOMPARE(strip.scopeName(), QStringLiteral("pair"));
  QSignalSpy told(&session().groupRun(), &pf::session::GroupRun::changed);
  QVERIFY(strip.action(pf::values::RankAction::Next)->isEnabled());
  strip.action(pf::values::RankAction::Next)->trigger();
  const QString expected =
      QStringLiteral(
          "next (pair): 1 of 2 ranks; rank %1 still runs in MPI_Recv, waiting for rank 0")
          .arg(waiting);
  QTRY_COMPARE_WITH_TIMEOUT(strip.summary(), expected, kPatience);
  QCOMPARE(session().currentRank(), 0);
  QTRY_COMPARE_WITH_TIMEOUT(m_window->statusText(), expected, kPatience);
  shot("group");
  // The straggler is still one of the next step, which the other makes.
  strip.action(pf::values::RankAction::Next)->trigger();
  QTRY_VERIFY_WITH_TIMEOUT(told.size() > 1 && told.last().first().toString() == expected,
                           kPatience);
  waitSettled([&] { session().act(pf::values::RankAction::Continue, {0, waiting}); });
}

void InspectionTest::groupsAreKept() {
  session().groups().add(QStringLiteral("  \n"), {1});
  QVERIFY(m_window->statusText().contains(QStringLiteral("needs a name")));
  session().groups().add(QStringLiteral("odd"), {1, 3, 99});
  session().groups().add(QStringLiteral("odd"), {3, 1});
  QCOMPARE(session().groups().all().size(), 2);
  QCOMPARE(session().groups().all().last().ranks, (QList<int>{1, 3}));
  const auto communicators = session().groups().communicators();
  QVERIFY(std::any_of(communicators.begin(), communicators.end(), [this](const auto& group) {
    return group.ranks.size() == m_ranks && group.name == QStringLiteral("MPI_COMM_WORLD");
  }));
  QVERIFY(std::any_of(communicators.begin(), communicators.end(), [](const auto& group) {
    return group.ranks.startsWith(1) && group.ranks.value(1) == 3;  // MPI_Comm_split
  }));
  auto& strip = m_window->ranks();
  Q_EMIT strip.groupMenu()->aboutToShow();
  QMenu* byCommunicator = nullptr;
  for (QAction* action : strip.groupMenu()->actions()) {
    byCommunicator =
        action->text() == QStringLiteral("By communicator") ? action->menu() : byCommunicator;
  }
  QVERIFY(byCommunicator != nullptr && byCommunicator->actions().size() >= 3);
  byCommunicator->actions().first()->trigger();
  QCOMPARE(session().groups().all().size(), 3);
  session().groups().remove(session().groups().all().last().name);

  pf::gui::MainWindow again;
  QSignalSpy opened(&again, &pf::gui::MainWindow::opened);
  again.openTrace(m_directory.filePath(QStringLiteral("looking.pft")));
  QVERIFY(opened.wait(kPatience));
  QCOMPARE(again.session().groups().all(), session().groups().all());
  QVERIFY(again.ranks().scopeBox()->findText(QStringLiteral("odd (1, 3)")) >= 0);
}

QString InspectionTest::across(const QString& expression) {
  QSignalSpy arrived(&session().across(), &pf::session::AcrossRanks::arrived);
  m_window->looking().across().ask(expression);
  if (arrived.isEmpty() && !arrived.wait(kPatience)) {
    return QStringLiteral("no answer");
  }
  QStringList out;
  for (const auto& group : m_window->looking().across().model()->summary().groups) {
    out << QStringLiteral("%1%2(%3)%4")
               .arg(group.isError ? QStringLiteral("!") : QString(), group.text,
                    pf::values::rankSetText(group.ranks),
                    group.outlier ? QStringLiteral("*") : QString());
  }
  return out.join(QLatin1Char(' '));
}

void InspectionTest::fromTheSource() {
  (void)across(QStringLiteral("0"));
  pf::views::SourceEditor* editor = m_window->source().currentEditor();
  QVERIFY(editor != nullptr && editor->findFirst(QStringLiteral("share"), false, true, true, true));
  QContextMenuEvent asked(QContextMenuEvent::Keyboard, QPoint(5, 5),
                          editor->viewport()->mapToGlobal(QPoint(5, 5)));
  QApplication::sendEvent(editor->viewport(), &asked);
  auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
  QVERIFY(menu != nullptr);
  QStringList items;
  QAction* onAll = nullptr;
  QAction* watch = nullptr;
  for (QAction* each : menu->actions()) {
    items << each->text();
    onAll = each->text() == QLatin1String("share across ranks") ? each : onAll;
    watch = each->text() == QLatin1String("Watch share") ? each : watch;
  }
  for (const char* item :
       {"Toggle breakpoint in line", "Run to line", "Watch share", "Stop when share changes",
        "Which message filled share", "Back to the last change of share", "share as an array"}) {
    QVERIFY2(items.filter(QLatin1String(item)).size() == 1,
             qPrintable(items.join(QLatin1Char('|'))));
  }
  QVERIFY2(onAll != nullptr && watch != nullptr, qPrintable(items.join(QLatin1Char('|'))));
  onAll->trigger();
  watch->trigger();
  menu->close();
  pf::views::WatchesModel& watches = *m_window->findChild<pf::views::WatchesView*>()->model();
  QCOMPARE(watches.expressions(), QStringList{QStringLiteral("share")});
  QTRY_COMPARE_WITH_TIMEOUT(
      watches.index(0, pf::views::WatchesModel::ValueColumn).data().toString(),
      QStringLiteral("2.5"), kPatience);
  watches.removeExpression(0);
  QCOMPARE(m_window->looking().across().expression(), QStringLiteral("share"));
  QTRY_VERIFY_WITH_TIMEOUT(
      m_window->looking().across().summary().startsWith(QStringLiteral("3 ranks: least 2.5")),
      kPatience);
}

/// Over a value that is hovered are buttons for what the menu asks of it.
void InspectionTest::fromAHoveredValue() {
  (void)across(QStringLiteral("0"));
  auto& source = m_window->source();
  const auto hover = [&source] {
    Q_EMIT source.hoverRequested(QStringLiteral("share"), source.mapToGlobal(QPoint(40, 40)));
  };
  auto* const tip = source.findChild<pf::views::ValuePopup*>();
  const auto button = [tip](const char* text) {
    const auto buttons = tip->findChildren<QToolButton*>();
    const auto found = std::ranges::find(buttons, QString::fromLatin1(text), &QToolButton::text);
    return found == buttons.end() ? nullptr : *found;
  };
  hover();
  QTRY_VERIFY_WITH_TIMEOUT(tip->isVisible(), kPatience);
  QCOMPARE(tip->text(), QStringLiteral("share = 2.5"));
  for (const char* const each : {"Watch", "Stop when it changes", "Across ranks", "Array"}) {
    QVERIFY2(button(each) != nullptr, each);
  }
  QCOMPARE(button("Array")->toolTip(), QStringLiteral("share as an array"));
  QTest::keyClick(m_window.get(), Qt::Key_Escape);
  QVERIFY(!tip->isVisible());
  hover();
  QTRY_VERIFY_WITH_TIMEOUT(tip->isVisible(), kPatience);
  button("Watch")->click();
  QVERIFY(!tip->isVisible());
  pf::views::WatchesModel& watches = *m_window->findChild<pf::views::WatchesView*>()->model();
  QCOMPARE(watches.expressions(), QStringList{QStringLiteral("share")});
  watches.removeExpression(0);
  // The mouse goes elsewhere, but not there.
  hover();
  QTRY_VERIFY_WITH_TIMEOUT(tip->isVisible(), kPatience);
  Q_EMIT source.currentEditor()->hoverEnded();
  QVERIFY(tip->isVisible());
  QTRY_VERIFY(!tip->isVisible());
}

void InspectionTest::fromTheVariables() {
  (void)across(QStringLiteral("0"));
  auto& panes = m_window->looking();
  panes.acrossDock()->hide();
  const auto share = [this] {
    return m_window->variables().model()->indexOf(QStringLiteral("v/share"));
  };
  QTRY_VERIFY_WITH_TIMEOUT(share().isValid(), kPatience);
  m_window->variables().tree()->setCurrentIndex(share());
  test::trigger(*m_window->variables().tree(), QStringLiteral("it across ranks"));
  QCOMPARE(panes.across().expression(), QStringLiteral("share"));
  QTRY_VERIFY(panes.acrossDock()->isVisible() && !panes.acrossDock()->visibleRegion().isEmpty());
  QTRY_VERIFY_WITH_TIMEOUT(
      panes.across().summary().startsWith(QStringLiteral("3 ranks: least 2.5")), kPatience);
}

void InspectionTest::valuesAcrossRanks() {
  const int last = m_ranks - 1;
  replayWith({1, 2, last}, receiveOfRank0(2));
  session().setCurrentRank(1);
  QTRY_COMPARE_WITH_TIMEOUT(m_window->source().currentFile().section(QLatin1Char('/'), -1),
                            QStringLiteral("looking.c"), kPatience);
  m_window->looking().acrossDock()->raise();
  const QString others = QStringLiteral("!no debugger(%1)");
  QString without = QStringLiteral("0");
  if (last > 3) {
    without += QStringLiteral(", 3-%1").arg(last - 1);
  }
  QCOMPARE(across(QStringLiteral("share")),
           QStringLiteral("2.5(1-2) 100(%1)* ").arg(last) + others.arg(without));
  QVERIFY2(
      m_window->looking().across().summary().startsWith(
          QStringLiteral("3 ranks: least 2.5 (rank 1), most 100 (rank %1), mean 35").arg(last)),
      qPrintable(m_window->looking().across().summary()));
  shot("values");
  fromTheSource();
  fromAHoveredValue();
  fromTheVariables();
  const QString bad = across(QStringLiteral("nothing_of_this_name"));
  QVERIFY2(bad.startsWith(QStringLiteral("!No symbol")) && bad.count(QLatin1Char('!')) == 2,
           qPrintable(bad));
  QVERIFY(across(QStringLiteral("share +"))
              .contains(QStringLiteral("(%1)").arg(pf::values::rankSetText({1, 2, last}))));
  QVERIFY(session().isReplaying());
  // A rank gets a debugger, and answers then.
  Q_EMIT m_window->looking().across().debuggerRequested({0});
  const auto answers = [&] {
    return !across(QStringLiteral("share")).contains(QLatin1Char('!')) || last > 3;
  };
  QTRY_VERIFY_WITH_TIMEOUT(answers(), kPatience);
  QSignalSpy groups(&session().groups(), &pf::session::RankGroups::changed);
  session().groups().add(QStringLiteral("share = 100"), {last});
  QCOMPARE(groups.size(), 1);
}

void InspectionTest::lookingDeeper() {
  using pf::session::Look;
  auto& panes = m_window->looking();
  session().setCurrentRank(1);
  QSignalSpy rows(&session().machine(), &pf::session::MachineInspector::rowsArrived);
  QTRY_VERIFY_WITH_TIMEOUT(!m_window->stack().model()->frames().isEmpty(), kPatience);
  for (const auto& arrived : rows) {
    QVERIFY(arrived.first().value<Look>() != Look::Registers);  // nobody sees them
  }
  const auto shown = [&](Look look) {
    panes.rowsDock(look)->show();
    panes.rowsDock(look)->raise();
    return panes.rows(look).model()->rowCount();
  };
  QTRY_VERIFY_WITH_TIMEOUT(shown(Look::Registers) > 10, kPatience);
  QTRY_VERIFY_WITH_TIMEOUT(shown(Look::Threads) >= 1, kPatience);
  QTRY_VERIFY_WITH_TIMEOUT(shown(Look::Instructions) > 10, kPatience);
  QVERIFY(panes.rows(Look::Instructions).model()->current() > 0);
  QVERIFY(panes.rows(Look::Instructions)
              .model()
              ->rows()
              .first()[1]
              .startsWith(QStringLiteral("worker+")));
  QTRY_VERIFY_WITH_TIMEOUT(
      shown(Look::Memory) == 0 && !panes.rows(Look::Memory).problem().isEmpty(), kPatience);
  panes.rows(Look::Memory).setInput(QStringLiteral("&share"));
  Q_EMIT panes.rows(Look::Memory).inputEntered(QStringLiteral("&share"));
  QTRY_VERIFY_WITH_TIMEOUT(shown(Look::Memory) == 32, kPatience);
  // 2.5 as a double, little endian
  QVERIFY(panes.rows(Look::Memory)
              .model()
              ->rows()
              .first()[1]
              .startsWith(QStringLiteral("00 00 00 00 00 00 04 40")));
  shot("memory");
  panes.rows(Look::Memory).setInput(QStringLiteral("no_such"));
  Q_EMIT panes.rows(Look::Memory).inputEntered(QStringLiteral("no_such"));
  QTRY_VERIFY_WITH_TIMEOUT(panes.rows(Look::Memory).problem().contains(QStringLiteral("No symbol")),
                           kPatience);

  // A value changed by hand marks the cycle, the next one is the recording again.
  const auto marked = [this] {
    const auto labels = m_window->findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
      return label->text().contains(QStringLiteral(", altered"));
    });
  };
  QVERIFY(!session().inspector().isAltered() && !marked());
  session().inspector().edit(QStringLiteral("v/share"), QStringLiteral("7"));
  QTRY_VERIFY_WITH_TIMEOUT(session().inspector().isAltered() && marked(), kPatience);
  QTRY_VERIFY_WITH_TIMEOUT(across(QStringLiteral("share")).contains(QStringLiteral("7(1)")),
                           kPatience);
  replayWith({1}, receiveOfRank0(2));
  QVERIFY(!session().inspector().isAltered() && !marked());
  QVERIFY(across(QStringLiteral("share")).contains(QStringLiteral("2.5(1)")));
}

void InspectionTest::commandPalette() {
  auto& keys = m_window->keys();
  const auto commands = keys.commands();
  QString palette;
  for (const auto& command : commands) {
    palette = command.text == QStringLiteral("Command palette") ? command.id : palette;
  }
  QVERIFY(commands.size() > 40);
  // Each once, and by a name that says what it is of.
  QStringList names;
  for (const auto& command : commands) {
    const QString name = command.menu + QLatin1Char(' ') + command.text;
    QVERIFY2(!names.contains(name), qPrintable(name));
    QVERIFY2(!command.text.startsWith(QLatin1String("it ")) &&
                 !command.text.endsWith(QLatin1String(" it")),
             qPrintable(name));
    names << name;
  }
  QCOMPARE(keys.action(palette)->shortcut(), QKeySequence(QStringLiteral("Ctrl+Shift+P")));
  keys.action(palette)->trigger();
  auto* dialog = m_window->findChild<pf::gui::CommandPalette*>();
  QVERIFY(dialog != nullptr);
  QTest::keyClicks(dialog->input(), QStringLiteral("rsworks"));
  QCOMPARE(dialog->table()->model()->index(0, 0).data().toString(),
           QStringLiteral("Reset this workspace"));
  if (const QString directory = qEnvironmentVariable("PF_SHOTS"); !directory.isEmpty()) {
    dialog->grab().save(directory + QStringLiteral("/palette.png"));
  }
  QSignalSpy triggered(keys.action(QStringLiteral("view-reset-this-workspace")),
                       &QAction::triggered);
  QTest::keyClick(dialog->input(), Qt::Key_Return);
  QCOMPARE(triggered.size(), 1);
}

void InspectionTest::keysAreChosen() {
  auto& keys = m_window->keys();
  const QString next = QStringLiteral("replay-next-receive");
  const QString failing = QStringLiteral("replay-failing-receive");
  QVERIFY(keys.action(next) != nullptr && keys.action(failing) != nullptr);
  {
    pf::gui::KeysDialog dialog(keys, nullptr);
    dialog.show();
    dialog.filter()->setText(QStringLiteral("next receive"));
    dialog.table()->selectRow(0);
    QCOMPARE(dialog.keys()->keySequence(), QKeySequence(Qt::Key_F8));
    dialog.keys()->setKeySequence(QKeySequence(Qt::Key_F4));
    dialog.findChild<QPushButton*>(QStringLiteral("setKeys"))->click();
    QVERIFY(dialog.note()->text().contains(QStringLiteral("Failing receive")));
  }
  QCOMPARE(keys.action(next)->shortcut(), QKeySequence(Qt::Key_F4));
  QVERIFY(keys.action(next)
              ->toolTip()
              .section(QLatin1Char('\n'), 0, 0)
              .endsWith(QStringLiteral("(F4)")));
  QVERIFY(keys.action(failing)->shortcut().isEmpty());
  {
    pf::gui::MainWindow again;
    QCOMPARE(again.keys().action(next)->shortcut(), QKeySequence(Qt::Key_F4));
    QVERIFY(again.keys().action(failing)->shortcut().isEmpty());
    again.keys().resetAll();
    QCOMPARE(again.keys().action(failing)->shortcut(), QKeySequence(Qt::Key_F4));
  }
  keys.resetAll();
  QVERIFY(keys.isDefault(next) && keys.isDefault(failing));
  pf::gui::MainWindow third;
  QCOMPARE(third.keys().action(next)->shortcut(), QKeySequence(Qt::Key_F8));
}

}  // namespace

QTEST_MAIN(InspectionTest)
#include "inspection_test.moc"
