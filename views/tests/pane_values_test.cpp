// SPDX-License-Identifier: GPL-3.0-or-later
// What looks at all ranks at once: stack trees, values across ranks, fuzzy matching.
#include <algorithm>

#include <QAbstractItemModelTester>
#include <QTest>

#include "views/models/command_list.h"
#include "views/models/rows_model.h"
#include "views/values/rank_groups.h"
#include "views/values/roles.h"
#include "views/values/stack_tree.h"
#include "views/values/text.h"
#include "views/values/values_across.h"

using namespace pf;
using namespace pf::views;

namespace {

/// Outermost frame first: "main:10 work:20", the line behind the colon.
RankStack stackOf(int rank, const QString& text) {
  RankStack stack;
  stack.rank = rank;
  for (const QString& word : text.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    StackFrame frame;
    frame.function = word.section(QLatin1Char(':'), 0, 0);
    frame.line = word.section(QLatin1Char(':'), 1).toInt();
    frame.file = frame.line > 0 ? QStringLiteral("/src/a.c") : QString();
    stack.frames.prepend(frame);
  }
  return stack;
}

/// "main:10(0-2)[work:20(0,1) MPI_Recv(2)]"
QString textOf(const std::vector<StackNode>& nodes) {
  QStringList out;
  for (const StackNode& node : nodes) {
    QString text = node.isNote() ? QLatin1Char('!') + node.note : node.frame.function;
    if (node.frame.line > 0) {
      text += QLatin1Char(':') + QString::number(node.frame.line);
    }
    text += QLatin1Char('(') + rankSetText(node.ranks) + QLatin1Char(')');
    if (!node.children.empty()) {
      text += QLatin1Char('[') + textOf(node.children) + QLatin1Char(']');
    }
    out << text;
  }
  return out.join(QLatin1Char(' '));
}

}  // namespace

class InspectionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void stacksMergeToATree_data();
  void stacksMergeToATree();
  void ranksWithoutStackAreOneNodeAReason();
  void functionsAreTheSameByGdbAndDwarf();
  void treeModelIsAModel();
  void groupsAreMadeByState();
  void groupsAreCombined_data();
  void groupsAreCombined();
  void stragglersAreNamed();
  void numbersInValues();
  void equalValuesAreOneGroup();
  void outliersAreMarked_data();
  void outliersAreMarked();
  void valuesModelSaysWhyThereIsNone();
  void rowsMarkWhatChanged();
  void memoryIsRowsOfBytes();
  void lettersFindCommands();
};

void InspectionTest::stacksMergeToATree_data() {
  QTest::addColumn<QString>("stacks");
  QTest::addColumn<bool>("byLine");
  QTest::addColumn<QString>("tree");
  const auto row = [](const char* name, const QString& stacks, bool byLine, const QString& tree) {
    QTest::newRow(name) << stacks << byLine << tree;
  };
  row("none", {}, true, {});
  row("the same", u"main:5 work:9|main:5 work:9"_s, true, u"main:5(0-1)[work:9(0-1)]"_s);
  row("larger first", u"main:5 a:1|main:5 b:2|main:5 b:2"_s, true,
      u"main:5(0-2)[b:2(1-2) a:1(0)]"_s);
  row("lines apart", u"main:5 a:1|main:6 a:1"_s, true, u"main:5(0)[a:1(0)] main:6(1)[a:1(1)]"_s);
  row("lines together", u"main:5 a:1|main:6 a:1"_s, false, u"main(0-1)[a:1(0-1)]"_s);
  row("one ends earlier", u"main:5 a:1|main:5"_s, true, u"main:5(0-1)[a:1(0)]"_s);
  row("recursion", u"f:1 f:1 f:1"_s, true, u"f:1(0)[f:1(0)[f:1(0)]]"_s);
  row("in a call", u"main:5 MPI_Recv|main:5 MPI_Recv|main:5 MPI_Send"_s, true,
      u"main:5(0-2)[MPI_Recv(0-1) MPI_Send(2)]"_s);
}

void InspectionTest::stacksMergeToATree() {
  QFETCH(QString, stacks);
  QFETCH(bool, byLine);
  QFETCH(QString, tree);
  QList<RankStack> all;
  for (const QString& text : stacks.split(QLatin1Char('|'), Qt::SkipEmptyParts)) {
    all.append(stackOf(static_cast<int>(all.size()), text));
  }
  QCOMPARE(textOf(stackTree(all, byLine)), tree);
  std::reverse(all.begin(), all.end());  // the order in which ranks answer does not matter
  QCOMPARE(textOf(stackTree(all, byLine)), tree);
}

void InspectionTest::ranksWithoutStackAreOneNodeAReason() {
  QList<RankStack> all = {stackOf(0, QStringLiteral("main:1"))};
  for (const int rank : {3, 1, 2}) {
    RankStack stack;
    stack.rank = rank;
    stack.note = rank == 2 ? QStringLiteral("ended") : QStringLiteral("no answer");
    all.append(stack);
  }
  QCOMPARE(textOf(stackTree(all)), QStringLiteral("main:1(0) !ended(2) !no answer(1, 3)"));
}

void InspectionTest::functionsAreTheSameByGdbAndDwarf() {
  const auto same = [](const char* given, const char* plain) {
    QCOMPARE(plainFunction(QString::fromLatin1(given)), QString::fromLatin1(plain));
  };
  same("main", "main");
  same("work(int, char const*)", "work");
  same("ns::Grid::step() const", "ns::Grid::step");
  same("Sum::operator()(int) const", "Sum::operator()");
  same("Sum::operator()", "Sum::operator()");
  same("(anonymous namespace)::send", "(anonymous namespace)::send");
  same("(anonymous namespace)::send(int)", "(anonymous namespace)::send");
  same("std::function<void (int)>::call(int)", "std::function<void (int)>::call");
  same("std::function<void (int)>::call", "std::function<void (int)>::call");
  same("work(int) [clone .isra.0]", "work");
  same("work.constprop.0.isra.1", "work");
  same("name[abi:cxx11](int)", "name");
}

void InspectionTest::treeModelIsAModel() {
  StackTreeModel model;
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
  model.setStacks(
      {stackOf(0, QStringLiteral("main:5 a:1")), stackOf(1, QStringLiteral("main:6 a:1"))});
  QCOMPARE(model.rowCount(), 2);
  model.setByLine(false);
  QCOMPARE(model.rowCount(), 1);
  const QModelIndex main = model.index(0, 0);
  QCOMPARE(model.rowCount(main), 1);
  const QModelIndex a = model.index(0, StackTreeModel::RanksColumn, main);
  QCOMPARE(a.data().toString(), QStringLiteral("0-1"));
  QCOMPARE(model.node(a)->ranks, (QList<int>{0, 1}));
  model.setStacks({});
  QCOMPARE(model.rowCount(), 0);
}

namespace {

RankState stateOf(int rank, RankActivity activity, const QString& detail = {}) {
  RankState state;
  state.rank = rank;
  state.activity = activity;
  state.detail = detail;
  return state;
}

QList<RankState> fourRanks() {
  return {stateOf(0, RankActivity::Stopped, u"before event 3"_s),
          stateOf(1, RankActivity::InCall, u"in MPI_Recv, waiting for rank 0"_s),
          stateOf(2, RankActivity::Stopped, u"breakpoint 1"_s),
          stateOf(3, RankActivity::InCall, u"in MPI_Recv, waiting for rank 0"_s)};
}

/// One rank a value; "!text" is an error, "-" no debugger.
QList<RankValue> valuesOf(const QString& text) {
  QList<RankValue> values;
  for (const QString& word : text.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    RankValue value;
    value.rank = static_cast<int>(values.size());
    value.debugger = word != u"-";
    (word.startsWith(u'!') ? value.error : value.value) = word;
    values.append(value);
  }
  return values;
}

}  // namespace

void InspectionTest::groupsAreCombined_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("ranks");
  QTest::addColumn<QString>("problem");
  const auto row = [](const char* text, const char* ranks, const char* problem = "") {
    QTest::newRow(text) << QString::fromLatin1(text) << QString::fromLatin1(ranks)
                        << QString::fromLatin1(problem);
  };
  row("left", "0-2");
  row("left + 5", "0-2, 5");
  row("left+5", "0-2, 5");
  row("all - left", "3-7");
  row("all-left", "3-7");
  row("2-4", "2-4");
  row("0,2-4 - 3", "0, 2, 4");
  row("left & 2-5 + 7", "2, 7");
  row("left & (2-5 + 0)", "0, 2");
  row("all - 'in MPI_Recv'", "0-5");
  row("", "", "missing at the end");
  row("left +", "", "missing at the end");
  row("nobody", "", "'nobody' is neither a group nor ranks from 0 to 7");
  row("8", "", "'8' is neither");
  row("left right", "", "'right' is not expected here");
  row("(left", "", "')' is missing");
  row("'left", "", "not closed");
  row("left - left", "", "no rank is left");
  row("*", "", "'*' is neither");
  QTest::newRow("deep") << QString(200, QLatin1Char('(')) << QString() << QStringLiteral("neither");
}

void InspectionTest::groupsAreCombined() {
  QFETCH(QString, text);
  QFETCH(QString, ranks);
  QFETCH(QString, problem);
  const QList<pf::values::RankGroup> groups{{QStringLiteral("left"), {0, 1, 2}},
                                            {QStringLiteral("in MPI_Recv"), {6, 7}}};
  QString wrong;
  const QList<int> found = pf::values::ranksOfExpression(text, groups, 8, &wrong);
  QCOMPARE(found.isEmpty() ? QString() : pf::values::rankSetText(found), ranks);
  QVERIFY2(problem.isEmpty() ? wrong.isEmpty() : wrong.contains(problem), qPrintable(wrong));
}

void InspectionTest::groupsAreMadeByState() {
  const QList<RankGroup> groups = groupsByState(fourRanks());
  QCOMPARE(groups, (QList<RankGroup>{{u"stopped"_s, {0, 2}}, {u"in MPI_Recv"_s, {1, 3}}}));
}

void InspectionTest::stragglersAreNamed() {
  GroupRun run{u"next"_s, u"workers"_s, {0, 1, 2, 3}, {3}, {}};
  QCOMPARE(groupRunText(run, fourRanks()),
           u"next (workers): 3 of 4 ranks; rank 3 still runs in MPI_Recv, waiting for rank 0"_s);
  run.underWay = {1, 3};
  run.debugless = {4, 5};
  QCOMPARE(groupRunText(run, fourRanks()),
           u"next (workers): 2 of 4 ranks; ranks 1, 3 still run in MPI_Recv, waiting for rank 0; "
           u"ranks 4-5 have no debugger"_s);
  QCOMPARE(groupRunText({u"pause"_s, {}, {2}, {}, {}}, fourRanks()),
           u"pause: the rank has stopped"_s);
  QCOMPARE(groupRunText({u"continue"_s, {}, {0, 1, 2, 3}, {}, {}}, fourRanks()),
           u"continue: all 4 ranks have stopped"_s);
  QList<RankState> ended = fourRanks();
  for (RankState& state : ended) {
    state.activity = RankActivity::Finished;
  }
  QCOMPARE(groupRunText({u"continue"_s, {}, {0, 1, 2, 3}, {}, {}}, ended),
           u"continue: all 4 ranks have ended"_s);
  ended[0].activity = RankActivity::Stopped;
  QCOMPARE(groupRunText({u"continue"_s, {}, {0, 1, 2, 3}, {}, {}}, ended),
           u"continue: 1 stopped, 3 ended"_s);
  QList<RankState> states = fourRanks();
  states[1].activity = RankActivity::Finished;
  QCOMPARE(groupRunText({u"continue"_s, {}, {0, 1}, {1}, {}}, states),
           u"continue: 1 of 2 ranks; rank 1 has finished"_s);
}

void InspectionTest::numbersInValues() {
  QCOMPARE(numberOf(u"42"_s), 42.0);
  QCOMPARE(numberOf(u"-1.5e-7"_s), -1.5e-7);
  QCOMPARE(numberOf(u"65 'A'"_s), 65.0);
  QCOMPARE(numberOf(u"true"_s), 1.0);
  for (const QString& none : {u"0x7ffe10"_s, u"0x10 <main>"_s, u"{x = 1}"_s, u""_s, u"RED"_s,
                              u"nan"_s, u"inf"_s, u"1 apple"_s}) {
    QVERIFY2(!numberOf(none), qPrintable(none));
  }
}

void InspectionTest::equalValuesAreOneGroup() {
  const ValueSummary summary = summarize(valuesOf(u"7 7 !no 3 - 7 !no -"_s));
  QStringList groups;
  for (const ValueGroup& group : summary.groups) {
    groups << u"%1(%2)"_s.arg(group.text, rankSetText(group.ranks));
  }
  QCOMPARE(groups.join(u' '), u"7(0-1, 5) 3(3) !no(2, 6) no debugger(4, 7)"_s);
  QCOMPARE(summary.numbers, 4);
  QCOMPARE(summary.mean, 6.0);
  QCOMPARE(summaryText(summary), u"4 ranks: least 3 (rank 3), most 7 (rank 0), mean 6"_s);
  QCOMPARE(summaryText(summarize(valuesOf(u"a b"_s))), QString());
  QCOMPARE(summarize({}).groups.size(), 0);
}

void InspectionTest::outliersAreMarked_data() {
  QTest::addColumn<QString>("values");
  QTest::addColumn<QString>("outliers");
  const auto row = [](const char* name, const QString& values, const QString& outliers) {
    QTest::newRow(name) << values << outliers;
  };
  row("one of many", u"2 2 2 100 2"_s, u"3"_s);
  row("spread", u"1 2 3 4 5 6"_s, {});
  row("far from a spread", u"1 2 3 4 5 60"_s, u"5"_s);
  row("two ranks tell nothing", u"1 100"_s, {});
  row("words", u"RED RED BLUE RED"_s, u"2"_s);
  row("no majority", u"RED RED BLUE BLUE"_s, {});
  row("a number among words", u"RED RED 4 RED"_s, u"2"_s);
  row("errors are none", u"5 5 5 !no"_s, {});
}

void InspectionTest::outliersAreMarked() {
  QFETCH(QString, values);
  QFETCH(QString, outliers);
  QList<int> marked;
  for (const ValueGroup& group : summarize(valuesOf(values)).groups) {
    marked += group.outlier ? group.ranks : QList<int>();
  }
  QCOMPARE(rankSetText(marked), outliers);
}

void InspectionTest::valuesModelSaysWhyThereIsNone() {
  ValuesAcrossModel model;
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
  model.setValues(valuesOf(u"2 2 9 !bad -"_s));
  QCOMPARE(model.rowCount(), 4);
  QStringList notes;
  for (int row = 0; row < model.rowCount(); ++row) {
    notes << model.index(row, ValuesAcrossModel::NoteColumn).data().toString();
  }
  QCOMPARE(notes, (QStringList{{}, u"outlier"_s, u"no value"_s, u"double click gives them one"_s}));
  model.setValues({});
  QCOMPARE(model.rowCount(), 0);
}

void InspectionTest::rowsMarkWhatChanged() {
  RowsModel model({u"Register"_s, u"Value"_s}, 1);
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
  model.setRows({{u"rax"_s, u"1"_s}, {u"rbx"_s, u"2"_s}});
  QVERIFY(!model.changed(0) && !model.changed(1));
  model.setRows({{u"rax"_s, u"1"_s}, {u"rbx"_s, u"3"_s}, {u"rcx"_s, u"4"_s}}, 2);
  QVERIFY(!model.changed(0) && model.changed(1) && !model.changed(2));
  QVERIFY(model.index(1, 1).data(BoldRole).toBool());
  QVERIFY(model.index(2, 0).data(BoldRole).toBool());
  QVERIFY(!model.index(1, 0).data(BoldRole).toBool());
}

void InspectionTest::memoryIsRowsOfBytes() {
  QCOMPARE(memoryRows(0x1000, {}), QList<QStringList>());
  const QList<QStringList> rows = memoryRows(0xFF8, u"48692100ff0102030405060708090a0b0c41"_s);
  QCOMPARE(rows.size(), 2);
  QCOMPARE(rows[0], (QStringList{u"0xff8"_s, u"48 69 21 00 ff 01 02 03  04 05 06 07 08 09 0a 0b"_s,
                                 u"Hi!............."_s}));
  QCOMPARE(rows[1], (QStringList{u"0x1008"_s, u"0c 41"_s, u".A"_s}));
}

void InspectionTest::lettersFindCommands() {
  QCOMPARE(fuzzyScore(u"xq"_s, u"Next receive"_s), 0);
  QVERIFY(fuzzyScore(u"nr"_s, u"Next receive"_s) > fuzzyScore(u"nr"_s, u"Find next error"_s));
  QVERIFY(fuzzyScore(u"REC"_s, u"Next receive"_s) > 0);
  QVERIFY(fuzzyScore({}, u"anything"_s) > 0);
  CommandListModel model;
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
  model.setCommands({{u"a"_s, u"Go to line"_s, u"View"_s, {}, true},
                     {u"b"_s, u"Next receive"_s, u"Replay"_s, u"F8"_s, true},
                     {u"c"_s, u"Restart cycle"_s, u"Replay"_s, {}, false}});
  QCOMPARE(model.rowCount(), 3);
  model.setLetters(u"nrec"_s);
  QCOMPARE(model.rowCount(), 1);
  QCOMPARE(model.index(0, 0).data(KeyRole).toString(), u"b"_s);
  model.setLetters(u"replay"_s);  // by the menu, too
  QCOMPARE(model.rowCount(), 2);
  QCOMPARE(model.command(model.index(0, 0))->id, u"b"_s);  // what can be done comes first
}

QTEST_GUILESS_MAIN(InspectionTest)
#include "pane_values_test.moc"
