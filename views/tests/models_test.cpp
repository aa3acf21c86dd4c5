// SPDX-License-Identifier: GPL-3.0-or-later
// Models and the trace index, without a display.
#include <sys/stat.h>

#include <QAbstractItemModelTester>
#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "views/models/cycle_comparison.h"
#include "views/models/race_filter.h"
#include "views/models/race_list_model.h"
#include "views/models/rank_models.h"
#include "views/models/session_models.h"
#include "views/models/source_loader.h"
#include "views/models/variables_model.h"
#include "views/models/watches_model.h"
#include "views/tests/sample_trace.h"
#include "views/trace/analyses/trace_causality.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/output_buffer.h"
#include "views/values/roles.h"
#include "views/values/text.h"

using namespace pf;
using namespace pf::views;
using namespace pf::views::test;

class ModelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void indexFindsMessagesRacesAndPartners();
  void pastIsTheConsistentCut();
  void futureHoldsWhatDependsOnIt();
  void messagesInASpan();
  void badTimesAreReplaced();
  void malformedTraceIsHarmless();
  void textIsMadeVisible();
  void detailsNameEverything();
  void racesSortAndFilter();
  void racesAreWeighedByWhatTheUserSaysHasFailed();
  void ranksModel();
  void stackModel();
  void variablesAreLazyAndMarkChanges();
  void variablesAnswerThatComesTooLate();
  void watches();
  void watchesOpen();
  void watchesAreReplaced();
  void openPartsAreOfThisStop();
  void breakpointsEdit();
  void cycles();
  void cyclesSideBySide();
  void outputIsBounded();
  void historyWalks();
  void rankSets();
  void loaderRefuses();
};

namespace {

Race raceAt(const TraceIndex& trace, EventRef ref) {
  return trace.data().races[trace.races().at(ref).front()];
}

}  // namespace

void ModelsTest::indexFindsMessagesRacesAndPartners() {
  const TraceIndexPtr trace = makeIndex(masterWorker());
  QCOMPARE(trace->rankCount(), std::size_t{4});
  QCOMPARE(trace->data().races.size(), std::size_t{7});
  const EventRef first{0, 6};  // Init, Bcast, three sends, then the first collect
  QCOMPARE(callName(*trace, first), QStringLiteral("MPI_Recv"));
  QVERIFY(trace->links().isWildcard(first));
  QVERIFY(!trace->links().isWildcard({1, 3}));
  QCOMPARE(trace->races().at(first).size(), std::size_t{1});
  QCOMPARE(raceAt(*trace, first).alternatives.size(), std::size_t{2});
  const auto partners = partnersOf(*trace, first);
  QCOMPARE(partners.size(), std::size_t{1});
  QCOMPARE(partners.front().rank, 2);
  QCOMPARE(partnersOf(*trace, partners.front()).front(), first);
  QCOMPARE(partnersOf(*trace, {0, 2}).size(), std::size_t{3});  // the Bcast
  QVERIFY(trace->races().isTaken(raceAt(*trace, first).taken));
  // A posted receive: the race is at the post and at the wait.
  const EventRef post{0, 16};
  QCOMPARE(callName(*trace, post), QStringLiteral("MPI_Irecv"));
  QCOMPARE(trace->races().completionOf(trace->races().at(post).front()), (EventRef{0, 18}));
  QVERIFY(!trace->races().at({0, 18}).empty());
  QVERIFY(!trace->contains({0, 0}));
  QVERIFY(!trace->contains({9, 1}));
  QVERIFY(trace->links().sentAt({-1, 1}).empty());
}

void ModelsTest::pastIsTheConsistentCut() {
  const TraceIndexPtr trace = makeIndex(masterWorker());
  // First collect takes rank 2's result: rank 2 has done Init, Bcast, Recv, Send; 1 and 3 only the
  // Bcast's cause.
  const std::vector<Serial> cut = pastOf(*trace, {0, 6});
  QCOMPARE(cut, (std::vector<Serial>{6, 2, 4, 2}));
  for (const Message& message :
       trace->execution().messages) {  // no message received in the past is sent after it
    const auto dest = static_cast<std::size_t>(message.dest);
    if (message.completion != 0 && message.completion <= cut[dest]) {
      QVERIFY(message.send.serial <= cut[static_cast<std::size_t>(message.send.rank)]);
    }
  }
  QCOMPARE(pastOf(*trace, {7, 1}), (std::vector<Serial>{0, 0, 0, 0}));
}

void ModelsTest::futureHoldsWhatDependsOnIt() {
  const TraceIndexPtr trace = makeIndex(masterWorker());
  const std::vector<Serial> future = futureOf(*trace, {0, 6});
  QCOMPARE(future[0], Serial{6});
  QVERIFY(future[2] > 4);
  for (std::size_t r = 0; r < future.size(); ++r) {
    if (future[r] != 0) {
      const auto past = pastOf(*trace, {static_cast<Rank>(r), future[r]});
      QVERIFY(past[0] >= 6);
      if (future[r] > 1) {
        QVERIFY(r == 0 || pastOf(*trace, {static_cast<Rank>(r), future[r] - 1})[0] < 6);
      }
    }
  }
}

void ModelsTest::messagesInASpan() {
  const TraceIndexPtr trace = makeIndex(stencil(16, 30));
  for (const auto& [from, to] :
       {std::pair(0.0, 1e9), std::pair(20.0, 22.0), std::pair(40.5, 40.6)}) {
    std::size_t found = 0;
    trace->messages().forEachIn(from, to, [&](const MessageLine&) { ++found; });
    std::size_t expected = 0;
    for (const Message& message : trace->execution().messages) {
      const double sent = trace->time(message.send);
      const double done =
          std::max<double>(trace->time(trace->messages().arrival(message)), sent + 1);
      expected += sent <= to && done >= from ? 1 : 0;
    }
    QCOMPARE(found, expected);
  }
  const auto [first, last] = trace->times().serialsIn(3, 5.0, 9.0);
  for (Serial s = 1; s <= trace->lastSerial(3); ++s) {
    const double time = trace->time({3, s});
    QCOMPARE(s >= first && s < last, time >= 5.0 && time <= 9.0);
  }
}

void ModelsTest::badTimesAreReplaced() {
  TraceData data = *masterWorker();
  data.logicalTimes.clear();
  const TraceIndex trace(std::make_shared<const TraceData>(data));
  QCOMPARE(trace.time({0, 5}), 5U);
}

void ModelsTest::malformedTraceIsHarmless() {
  TraceData data = *masterWorker();
  data.execution.messages[0].send = {40, 2};
  data.execution.messages[1].dest = 77;
  data.execution.messages[1].completion = 999;
  data.execution.ranks[0].receives[0].message = 123456;
  data.execution.ranks[0].events[0].call = 999;
  data.races.push_back({9, false, 3, 5, {1, 2}});
  data.races.push_back({0, true, 30, kNone, {kNone}});
  const TraceIndexPtr trace = makeIndex(std::make_shared<const TraceData>(data));
  RaceListModel model;
  model.setTrace(trace);
  for (int row = 0; row < model.rowCount(); ++row) {
    for (int column = 0; column < model.columnCount(); ++column) {
      (void)model.index(row, column).data();
      (void)model.index(row, column).data(SortRole);
    }
  }
  for (Rank r = 0; r < 4; ++r) {
    for (Serial s = 0; s <= trace->lastSerial(r) + 1; ++s) {
      (void)eventDetails(*trace, {r, s});
      (void)pastOf(*trace, {r, s});
      (void)futureOf(*trace, {r, s});
      (void)partnersOf(*trace, {r, s});
    }
  }
}

void ModelsTest::textIsMadeVisible() {
  QCOMPARE(visibleText(QStringLiteral("a\x1b[31m\tb\n")), QStringLiteral("a\\x1b[31m\tb\n"));
  QCOMPARE(oneLine(QStringLiteral("a\nb\tc")), QStringLiteral("a\\nb\\tc"));
  QCOMPARE(visibleText(QString(QChar(0x202E))), QStringLiteral("\\u{202e}"));
  QVERIFY(plainToolTip(QStringLiteral("<img src=x>")).contains(QStringLiteral("&lt;img")));
  QCOMPARE(plainToolTip({}), QString());
  QCOMPARE(byteText(1536), QStringLiteral("1.5 KiB"));
  QCOMPARE(byteText(12), QStringLiteral("12 B"));
}

void ModelsTest::detailsNameEverything() {
  const TraceIndexPtr trace = makeIndex(masterWorker());
  const QString text = eventDetails(*trace, {0, 6});
  for (const char* part : {"MPI_Recv", "rank 0, event 6", "master.c:88 in collect()",
                           "any source, tag 7", "MPI_COMM_WORLD", "took: rank 2, tag 7, 1.5 KiB",
                           "RACE: could have taken 2 other messages"}) {
    QVERIFY2(text.contains(QString::fromLatin1(part)), qPrintable(text));
  }
  QVERIFY(eventDetails(*trace, {0, 20}).contains(QStringLiteral("THE RUN FAILED HERE")));
  QVERIFY(eventDetails(*trace, {1, 9}).contains(QStringLiteral("never received")));
}

void ModelsTest::racesAreWeighedByWhatTheUserSaysHasFailed() {
  const TraceIndexPtr trace = makeIndex(masterWorker());
  RaceListModel model;
  model.setTrace(trace, judgeRaces(trace, {0, 10}));
  int first = 0;
  for (int race = 0; race < model.rowCount(); ++race) {
    const int event = model.index(race, RaceListModel::EventSerial).data().toInt();
    first += model.severity(race) == 0 ? 1 : 0;
    QCOMPARE(model.severity(race) == 2, event > 10);
    QVERIFY(model.severityText(race) != QStringLiteral("The run did not fail"));
  }
  QVERIFY(first >= 1);
  QCOMPARE(rateRaces(*trace, {7, 1}), rateRaces(*trace));  // no event of this trace
}

void ModelsTest::racesSortAndFilter() {
  RaceListModel model;
  QAbstractItemModelTester tester(&model);
  RaceFilterModel proxy;
  proxy.setSourceModel(&model);
  QAbstractItemModelTester proxyTester(&proxy);
  model.setTrace(makeIndex(masterWorker()));
  QCOMPARE(model.rowCount(), 7);
  proxy.sort(RaceListModel::Severity, Qt::AscendingOrder);
  // The waited-for pair is the last racing receive of the failing rank, so it comes first.
  QCOMPARE(proxy.index(0, RaceListModel::Severity).data().toString(), QStringLiteral("first"));
  QCOMPARE(proxy.index(0, RaceListModel::EventSerial).data().toInt(), 16);
  QCOMPARE(proxy.index(2, RaceListModel::Severity).data().toString(),
           QStringLiteral("before failure"));
  QCOMPARE(proxy.index(2, RaceListModel::EventSerial).data().toInt(), 14);
  proxy.setFilterText(QStringLiteral("rank:2"));
  QCOMPARE(proxy.rowCount(), 0);
  proxy.setFilterText(QStringLiteral("rank:0 tag:7"));
  QCOMPARE(proxy.rowCount(), 7);
  proxy.setFilterText(QStringLiteral("tag:5"));
  QCOMPARE(proxy.rowCount(), 0);
  proxy.setFilterText(QStringLiteral("event:10"));
  QCOMPARE(proxy.rowCount(), 1);
  proxy.setFilterText(QStringLiteral("kind:posted"));
  QCOMPARE(proxy.rowCount(), 2);
  proxy.setFilterText(QStringLiteral("from:3"));
  QVERIFY(proxy.rowCount() > 0 && proxy.rowCount() < 7);
  proxy.setFilterText(QStringLiteral("file:master irecv"));
  QCOMPARE(proxy.rowCount(), 2);
  for (const QString& word : {QStringLiteral("collect"), QStringLiteral("rank 2"),
                              QStringLiteral("MASTER.c:88"), QStringLiteral("first"),
                              QStringLiteral("7"), QStringLiteral("posted"), QStringLiteral("x")}) {
    proxy.setFilterText(word.section(QLatin1Char(' '), 0, 0));
    int expected = 0;  // rows with a cell that holds it
    for (int row = 0; row < model.rowCount(); ++row) {
      bool any = false;
      for (int column = 0; column < model.columnCount(); ++column) {
        any = any || model.index(row, column)
                         .data()
                         .toString()
                         .contains(word.section(QLatin1Char(' '), 0, 0), Qt::CaseInsensitive);
      }
      expected += any ? 1 : 0;
    }
    QCOMPARE(proxy.rowCount(), expected);
  }
  proxy.setFilterText({});
  for (int column = 0; column < model.columnCount(); ++column) {
    const std::vector<std::int64_t> keys = model.sortKeys(column);
    for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
      proxy.setFilterText(QStringLiteral("rank:0"));
      const QPersistentModelIndex kept = proxy.index(1, 0);
      const int race = proxy.mapToSource(kept).row();
      proxy.sort(column, order);
      QCOMPARE(proxy.mapToSource(kept).row(), race);
      for (int row = 1; row < proxy.rowCount(); ++row) {
        const std::int64_t a = keys[at(proxy.mapToSource(proxy.index(row - 1, 0)).row())];
        const std::int64_t b = keys[at(proxy.mapToSource(proxy.index(row, 0)).row())];
        QVERIFY(order == Qt::AscendingOrder ? a <= b : a >= b);
      }
    }
  }
  proxy.setFilterText(QStringLiteral("rank:"));  // half typed
  QCOMPARE(proxy.rowCount(), 7);
  proxy.sort(RaceListModel::EventSerial, Qt::DescendingOrder);
  QCOMPARE(proxy.index(0, RaceListModel::EventSerial).data().toInt(), 17);
}

void ModelsTest::ranksModel() {
  RanksModel model;
  QAbstractItemModelTester tester(&model);
  RankState one;
  one.rank = 1;
  RankState zero;
  zero.activity = RankActivity::Stopped;
  model.setRanks({one, zero});
  QCOMPARE(model.index(0, RanksModel::RankColumn).data().toString(), QStringLiteral("0"));
  RankState five = one;
  five.rank = 5;
  model.updateRank(five);
  QCOMPARE(model.rowCount(), 3);
  QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
  one.activity = RankActivity::InCall;
  model.updateRank(one);
  model.updateRank(one);
  QCOMPARE(changed.size(), 1);
  QSignalSpy focus(&model, &RanksModel::focusChanged);
  QVERIFY(model.setData(model.index(2, 0), Qt::Checked, Qt::CheckStateRole));
  QCOMPARE(focus.takeFirst().first().value<QList<int>>(), QList<int>{5});
  QVERIFY(model.summary().contains(QStringLiteral("1 stopped")));
}

void ModelsTest::stackModel() {
  StackModel model;
  QAbstractItemModelTester tester(&model);
  StackFrame frame;
  frame.function = QStringLiteral("collect");
  frame.file = QStringLiteral("/x/master.c");
  frame.line = 88;
  StackFrame outer;
  outer.level = 1;
  model.setFrames({frame, outer}, 0);
  QCOMPARE(model.index(0, StackModel::LocationColumn).data().toString(),
           QStringLiteral("master.c:88"));
  QCOMPARE(model.index(1, StackModel::FunctionColumn).data().toString(), QStringLiteral("\?\?()"));
  QVERIFY(model.index(0, 0).data(BoldRole).toBool());
  model.setCurrent(1);
  QVERIFY(!model.index(0, 0).data(BoldRole).toBool());
}

namespace {
Variable variable(const char* path, const char* value, bool children = false) {
  Variable v;
  v.path = QString::fromLatin1(path);
  v.name = v.path.section(QLatin1Char('/'), -1);
  v.value = QString::fromLatin1(value);
  v.type = QStringLiteral("int");
  v.hasChildren = children;
  return v;
}
}  // namespace

void ModelsTest::variablesAreLazyAndMarkChanges() {
  VariablesModel model;
  QAbstractItemModelTester tester(&model);
  tester.setUseFetchMore(false);
  model.setVariables(QStringLiteral("0:f"), {variable("p", "{...}", true), variable("i", "1")});
  const QModelIndex p = model.index(0, 0);
  QVERIFY(model.hasChildren(p));
  QVERIFY(!model.hasChildren(model.index(1, 0)));
  QSignalSpy expand(&model, &VariablesModel::expandRequested);
  model.fetchMore(p);
  model.fetchMore(p);  // asked once only
  QCOMPARE(expand.size(), 1);
  QCOMPARE(expand.first().at(0).toString(), QStringLiteral("p"));
  model.setChildren(QStringLiteral("p"), {variable("p/x", "3"), variable("p/y", "4")}, true);
  QCOMPARE(model.rowCount(p), 2);
  QVERIFY(model.canFetchMore(p));
  model.fetchMore(p);
  QCOMPARE(expand.last().at(1).toInt(), 2);
  model.setChildren(QStringLiteral("p"), {variable("p/z", "5")});
  QCOMPARE(model.rowCount(p), 3);
  // The same frame at the next stop: nothing closes, what is open is asked for again, changes are
  // marked.
  model.setVariables(QStringLiteral("0:f"), {variable("p", "{...}", true), variable("i", "2")});
  QCOMPARE(model.rowCount(model.index(0, 0)), 3);
  QCOMPARE(expand.last().at(0).toString(), QStringLiteral("p"));
  QCOMPARE(model.index(1, 1).data(ToneRole).toInt(), static_cast<int>(Tone::Changed));
  model.setChildren(QStringLiteral("p"),
                    {variable("p/x", "3"), variable("p/y", "9"), variable("p/z", "5")});
  QCOMPARE(model.indexOf(QStringLiteral("p/y")).siblingAtColumn(1).data(BoldRole).toBool(), true);
  QCOMPARE(model.indexOf(QStringLiteral("p/x")).siblingAtColumn(1).data(BoldRole).toBool(), false);
  model.setVariables(QStringLiteral("0:f"), {variable("p", "{...}", true), variable("i", "2")});
  QCOMPARE(model.index(1, 1).data(BoldRole).toBool(), false);  // unchanged since the stop before
  QSignalSpy edit(&model, &VariablesModel::editRequested);
  QVERIFY(model.setData(model.index(1, 1), QStringLiteral("7"), Qt::EditRole));
  QCOMPARE(edit.first().at(1).toString(), QStringLiteral("7"));
  QVERIFY(!model.setData(model.index(1, 0), QStringLiteral("7"), Qt::EditRole));
  model.setVariables(QStringLiteral("0:g"), {variable("k", "1")});  // another frame
  QCOMPARE(model.rowCount(), 1);
}

void ModelsTest::variablesAnswerThatComesTooLate() {
  VariablesModel model;
  QAbstractItemModelTester tester(&model);
  tester.setUseFetchMore(false);
  model.setVariables(QStringLiteral("a"), {variable("p", "", true)});
  model.setChildren(QStringLiteral("p"), {variable("p/x", "1", true)});
  model.setChildren(QStringLiteral("p/x"), {variable("p/x/y", "1")});
  model.setVariables(QStringLiteral("b"), {variable("q", "1")});
  model.setChildren(QStringLiteral("p/x"), {variable("p/x/y", "2")});
  QCOMPARE(model.rowCount(), 1);
  QVERIFY(!model.indexOf(QStringLiteral("p/x/y")).isValid());
  model.clear();
  QCOMPARE(model.rowCount(), 0);
}

void ModelsTest::watches() {
  WatchesModel model;
  QAbstractItemModelTester tester(&model);
  QSignalSpy changed(&model, &WatchesModel::expressionsChanged);
  constexpr int kValue = WatchesModel::ValueColumn;
  model.setRank(2);
  QVERIFY(model.addExpression(QStringLiteral(" total ")));
  QVERIFY(!model.addExpression(QStringLiteral("total")));
  QVERIFY(!model.addExpression(QStringLiteral("  ")));
  QCOMPARE(model.headerData(kValue, Qt::Horizontal, Qt::DisplayRole).toString(),
           QStringLiteral("Rank 2"));
  model.setValues(QStringLiteral("total"), {{2, QStringLiteral("5"), {}}});
  QCOMPARE(model.index(0, kValue).data().toString(), QStringLiteral("5"));
  model.setRank(0);
  QCOMPARE(model.index(0, kValue).data().toString(), QStringLiteral("–"));
  model.setRank(2);
  QVERIFY(!model.index(0, kValue).data(BoldRole).toBool());
  model.setValues(QStringLiteral("total"), {{2, QStringLiteral("6"), {}, QStringLiteral("5")}});
  QVERIFY(model.index(0, kValue).data(BoldRole).toBool());
  QCOMPARE(model.index(0, kValue).data().toString(), QStringLiteral("5 → 6"));
  QVERIFY(model.index(0, kValue)
              .data(Qt::ToolTipRole)
              .toString()
              .endsWith(QLatin1String("6\nat the stop before:\n5")));
  const QString old(50, QLatin1Char('9'));
  model.setValues(QStringLiteral("total"), {{2, QStringLiteral("7"), {}, old}});
  QCOMPARE(model.index(0, kValue).data().toString(), QStringLiteral("7"));
  QVERIFY(model.index(0, kValue).data(Qt::ToolTipRole).toString().endsWith(old));
  QVERIFY(model.index(0, kValue).data(BoldRole).toBool());
  model.setValues(QStringLiteral("gone"), {{2, QStringLiteral("6"), {}}});
  QVERIFY(model.setData(model.index(0, 0), QStringLiteral("sum"), Qt::EditRole));
  QCOMPARE(model.index(0, kValue).data().toString(), QStringLiteral("–"));
  model.setValues(QStringLiteral("sum"),
                  {{0, QStringLiteral("1"), {}}, {2, QStringLiteral("6"), {}}});
  model.forgetValues();  // the ranks are gone
  QCOMPARE(model.index(0, kValue).data().toString(), QStringLiteral("–"));
  model.setRank(0);
  QCOMPARE(model.index(0, kValue).data().toString(), QStringLiteral("–"));
  model.removeExpression(0);
  QCOMPARE(changed.size(), 3);
  QCOMPARE(model.rowCount(), 0);
}

void ModelsTest::watchesOpen() {
  WatchesModel model;
  QAbstractItemModelTester tester(&model);
  tester.setUseFetchMore(false);
  QSignalSpy asked(&model, &WatchesModel::expandRequested);
  const auto part = [](const QString& path, const QString& value) {
    Variable out;
    out.path = path;
    out.name = path.section(QLatin1Char('/'), -1);
    out.value = value;
    return out;
  };
  model.setExpressions({QStringLiteral("n"), QStringLiteral("all")});
  model.setValues(QStringLiteral("n"), {{0, QStringLiteral("5"), {}}});
  model.setValues(QStringLiteral("all"), {{0, QStringLiteral("{1, 2}"), {}, {}, true}});
  QVERIFY(!model.hasChildren(model.index(0, 0)) && model.hasChildren(model.index(1, 0)));
  model.fetchMore(model.index(1, 0));
  const QString path = asked.last().first().toString();
  QCOMPARE(model.expressionOf(path), QStringLiteral("all"));
  model.setChildren(path, {part(path + u"/0"_s, u"1"_s), part(path + u"/1"_s, u"2"_s)});
  QVERIFY(model.expressionOf(path + u"/0"_s).isEmpty());
  QVERIFY(model.flags(model.index(0, 1, model.index(1, 0))) & Qt::ItemIsEditable);
  QVERIFY(!(model.flags(model.index(1, 1)) & Qt::ItemIsEditable));
  // The stop after: what is open is asked for again, and is shorter.
  model.setValues(QStringLiteral("all"), {{0, QStringLiteral("{1}"), {}, {}, true}});
  QCOMPARE(asked.size(), 2);
  QCOMPARE(asked.last().first().toString(), path);
  model.setChildren(path, {part(path + u"/0"_s, u"1"_s)});
  QCOMPARE(model.rowCount(model.index(1, 0)), 1);
  // Another one before it goes: it stays open. Of another rank nothing is.
  model.removeExpression(0);
  QCOMPARE(model.rowCount(model.index(0, 0)), 1);
  QCOMPARE(model.indexOf(path), model.index(0, 0));
  model.setRank(1);
  QCOMPARE(model.rowCount(model.index(0, 0)), 0);
  // It is no structure where the rank is now.
  model.setRank(0);
  model.fetchMore(model.index(0, 0));
  model.setChildren(path, {part(path + u"/0"_s, u"1"_s)});
  model.setValues(QStringLiteral("all"), {{0, {}, QStringLiteral("No symbol \"all\"")}});
  QCOMPARE(model.rowCount(model.index(0, 0)), 0);
  QVERIFY(!model.hasChildren(model.index(0, 0)));
}

void ModelsTest::watchesAreReplaced() {
  WatchesModel model;
  model.setExpressions({QStringLiteral("a"), QStringLiteral("b")});
  model.setValues(QStringLiteral("a"), {{0, QStringLiteral("10"), {}}});
  QSignalSpy changed(&model, &WatchesModel::expressionsChanged);
  QVERIFY(!model.replaceExpression(QStringLiteral("a"), QStringLiteral("b")));
  QVERIFY(!model.replaceExpression(QStringLiteral("c"), QStringLiteral("/x c")));
  QVERIFY(changed.isEmpty());
  QVERIFY(model.replaceExpression(QStringLiteral("a"), QStringLiteral("/x a")));
  QCOMPARE(changed.last().first().toStringList(),
           (QStringList{QStringLiteral("/x a"), QStringLiteral("b")}));
  QCOMPARE(model.index(0, WatchesModel::ValueColumn).data().toString(), QStringLiteral("–"));
  // What was open is open again, once there is a value.
  model.setValues(QStringLiteral("/x a"), {{0, QStringLiteral("{0x1}"), {}, {}, true}});
  QSignalSpy asked(&model, &WatchesModel::expandRequested);
  model.fetchMore(model.index(0, 0));
  QVERIFY(model.replaceExpression(QStringLiteral("/x a"), QStringLiteral("/o a")));
  QCOMPARE(asked.size(), 1);
  model.setValues(QStringLiteral("/o a"), {{0, QStringLiteral("{01}"), {}, {}, true}});
  QCOMPARE(asked.size(), 2);
  QCOMPARE(model.expressionOf(asked.last().first().toString()), QStringLiteral("/o a"));
  model.setValues(QStringLiteral("/o a"), {{0, QStringLiteral("{01}"), {}, {}, true}});
  QCOMPARE(asked.size(), 3);  // as at each stop
}

void ModelsTest::openPartsAreOfThisStop() {
  VariablesModel model;
  QAbstractItemModelTester tester(&model);
  tester.setUseFetchMore(false);
  Variable top{u"v/a"_s, u"a"_s, u"{...}"_s, u"outer"_s, true};
  const Variable inner{u"v/a/0"_s, u"b"_s, u"{...}"_s, u"inner"_s, true};
  Variable leaf{u"v/a/0/0"_s, u"c"_s, u"1"_s, u"int"_s};
  model.setVariables(u"0:f"_s, {top});
  model.setChildren(top.path, {inner});
  model.setChildren(inner.path, {leaf});
  QSignalSpy asked(&model, &VariablesModel::expandRequested);
  top.value = u"{... }"_s;
  model.setVariables(u"0:f"_s, {top});
  QCOMPARE(asked.size(), 1);  // what is below is known by the answer
  model.setChildren(top.path, {inner});
  QCOMPARE(asked.size(), 2);
  QCOMPARE(asked.last().first().toString(), inner.path);
  leaf.value = u"2"_s;
  model.setChildren(inner.path, {leaf});
  const QModelIndex shown = model.indexOf(leaf.path);
  QCOMPARE(shown.siblingAtColumn(VariablesModel::ValueColumn).data().toString(), u"2"_s);
}

void ModelsTest::breakpointsEdit() {
  BreakpointsModel model;
  QAbstractItemModelTester tester(&model);
  Breakpoint source;
  source.id = 4;
  source.file = QStringLiteral("/x/master.c");
  source.line = 88;
  source.state = BreakpointState::Set;
  source.hits = {{1, 3}, {2, 1}};
  Breakpoint logical;
  logical.id = 5;
  logical.event = {2, 17};
  model.setBreakpoints({source, logical});
  QCOMPARE(model.index(0, BreakpointsModel::PlaceColumn).data().toString(),
           QStringLiteral("master.c:88"));
  QCOMPARE(model.index(0, BreakpointsModel::HitsColumn).data().toString(),
           QStringLiteral("3 in cycle 1, 1 in cycle 2"));
  QSignalSpy enable(&model, &BreakpointsModel::enableRequested);
  QSignalSpy condition(&model, &BreakpointsModel::conditionEdited);
  QSignalSpy ignore(&model, &BreakpointsModel::ignoreCountEdited);
  QSignalSpy ranks(&model, &BreakpointsModel::ranksEdited);
  QVERIFY(model.setData(model.index(0, 0), Qt::Unchecked, Qt::CheckStateRole));
  QCOMPARE(enable.first().at(0).toInt(), 4);
  QCOMPARE(enable.first().at(1).toBool(), false);
  QVERIFY(model.setData(model.index(0, BreakpointsModel::ConditionColumn), QStringLiteral("i > 3"),
                        Qt::EditRole));
  QCOMPARE(condition.first().at(1).toString(), QStringLiteral("i > 3"));
  QVERIFY(model.setData(model.index(0, BreakpointsModel::IgnoreColumn), 5, Qt::EditRole));
  QVERIFY(!model.setData(model.index(0, BreakpointsModel::IgnoreColumn), QStringLiteral("x"),
                         Qt::EditRole));
  QCOMPARE(ignore.size(), 1);
  QVERIFY(model.setData(model.index(0, BreakpointsModel::RanksColumn), QStringLiteral("3,1,2"),
                        Qt::EditRole));
  QCOMPARE(ranks.first().at(1).toString(), QStringLiteral("1-3"));
  QVERIFY(!model.setData(model.index(0, BreakpointsModel::RanksColumn), QStringLiteral("a-b"),
                         Qt::EditRole));
  QVERIFY(!(model.flags(model.index(1, BreakpointsModel::ConditionColumn)) & Qt::ItemIsEditable));
}

void ModelsTest::cyclesSideBySide() {
  Cycle a;
  a.number = 1;
  a.build = QStringLiteral("aa");
  a.summary = QStringLiteral("stopped");
  a.recorded = {{2, 0, 5, {{QStringLiteral("x"), QStringLiteral("1")}}},
                {2, 0, 9, {{QStringLiteral("x"), QStringLiteral("2")}}},
                {1, 3, 4, {}}};
  Cycle b = a;
  b.number = 2;
  QVERIFY(compareCycles(a, b) == compareCycles(b, a));
  const auto differing = [&] {
    QStringList out;
    for (const ComparedRow& row : compareCycles(a, b)) {
      if (row.differs()) {
        out << row.what + u"|"_s + row.value + u"|"_s + row.first + u"|"_s + row.second;
      }
    }
    return out;
  };
  QVERIFY(differing().isEmpty());
  b.build = QStringLiteral("bb");
  b.recorded[1].values[0].value = QStringLiteral("7");
  b.recorded[1].values.append({QStringLiteral("y"), QStringLiteral("3")});
  b.recorded[2].serial = 6;
  b.recorded.append({2, 1, 8, {}});
  QCOMPARE(differing(), (QStringList{u"build||aa|bb"_s, u"breakpoint 1, rank 3, hit 1|event|4|6"_s,
                                     u"breakpoint 2, rank 0, hit 2|x|2|7"_s,
                                     u"breakpoint 2, rank 0, hit 2|y||3"_s,
                                     u"breakpoint 2, rank 1, hit 1|event||8"_s}));
  Cycle part = b;  // of a part of the job: the others had no hits that it could have
  part.ranks = {1, 3};
  std::swap(b, part);
  QCOMPARE(differing(), (QStringList{u"build||aa|bb"_s, u"ranks||all|1, 3"_s,
                                     u"breakpoint 1, rank 3, hit 1|event|4|6"_s,
                                     u"breakpoint 2, rank 1, hit 1|event||8"_s}));
  std::swap(b, part);
  CycleComparisonModel model;
  QAbstractItemModelTester tester(&model);
  model.setCycles(a, b);
  QCOMPARE(model.differences(), 5);
  QVERIFY(model.rowCount() > 5);
  model.setOnlyDifferences(true);
  QCOMPARE(model.rowCount(), 5);
  QCOMPARE(model.index(4, CycleComparisonModel::FirstColumn).data().toString(), u"–"_s);
}

void ModelsTest::cycles() {
  CyclesModel model;
  QAbstractItemModelTester tester(&model);
  Cycle one;
  one.number = 1;
  one.stops = {{0, 17, QStringLiteral("master.c:88"), QStringLiteral("breakpoint 1")},
               {1, 3, {}, {}}};
  Cycle two;
  two.number = 2;
  two.match = CycleMatch::Diverged;
  model.setCycles({one, two});
  const QModelIndex first = model.index(0, 0);
  QCOMPARE(model.rowCount(first), 2);
  QCOMPARE(model.rowCount(model.index(1, 0)), 0);
  one.running = true;
  one.summary = QStringLiteral("stopped: failing receive");
  model.setCycles({one, two});
  QCOMPARE(model.index(0, CyclesModel::OutcomeColumn).data().toString(), QStringLiteral("running"));
  one.stands = true;
  model.setCycles({one, two});
  QCOMPARE(model.index(0, CyclesModel::OutcomeColumn).data().toString(), one.summary);
  one.running = one.stands = false;
  one.summary.clear();
  model.setCycles({one, two});
  const QModelIndex stop = model.index(0, CyclesModel::OutcomeColumn, model.index(0, 0));
  QCOMPARE(stop.data().toString(), QStringLiteral("breakpoint 1 – master.c:88"));
  QCOMPARE(model.stop(stop)->serial, Serial{17});
  QCOMPARE(model.index(1, CyclesModel::MatchColumn).data(ToneRole).toInt(),
           static_cast<int>(Tone::Bad));
}

void ModelsTest::outputIsBounded() {
  OutputBuffer buffer(1000);
  QVERIFY(buffer.append(0, OutputStream::Out, "half").empty());
  QVERIFY(buffer.hasPartial());
  const auto lines = buffer.append(0, OutputStream::Out, " done\r\nnext\n");
  QCOMPARE(lines.size(), std::size_t{2});
  QCOMPARE(lines[0].text, QStringLiteral("half done"));
  QVERIFY(buffer.append(0, OutputStream::Out, "prompt> ").empty());
  QCOMPARE(buffer.flush().front().text, QStringLiteral("prompt> "));
  QVERIFY(buffer.append(0, OutputStream::Out, "y\n").front().continued);
  for (int i = 0; i < 200; ++i) {
    (void)buffer.append(1, OutputStream::Err, "0123456789\n");
  }
  QVERIFY(buffer.bytes() <= 1000);
  QVERIFY(buffer.cutLines() > 100);
  QCOMPARE(buffer.cutLines() + buffer.lines().size(), std::size_t{204});
  const auto broken = buffer.append(2, OutputStream::Out, QByteArray(200000, 'x'));
  QCOMPARE(broken.size(), std::size_t{3});
  QVERIFY(broken[1].continued);
}

void ModelsTest::historyWalks() {
  CommandHistory history;
  history.add(QStringLiteral("a"));
  history.add(QStringLiteral("b"));
  history.add(QStringLiteral("b"));
  history.add(QStringLiteral("  "));
  QCOMPARE(history.lines().size(), 2);
  QCOMPARE(history.previous(QStringLiteral("typing")), QStringLiteral("b"));
  QCOMPARE(history.previous({}), QStringLiteral("a"));
  QCOMPARE(history.previous({}), QStringLiteral("a"));
  QCOMPARE(history.next(), QStringLiteral("b"));
  QCOMPARE(history.next(), QStringLiteral("typing"));
}

void ModelsTest::rankSets() {
  bool ok = false;
  QCOMPARE(parseRankSet(QStringLiteral("0-2, 7"), ok), (QList<int>{0, 1, 2, 7}));
  QVERIFY(ok);
  for (const char* bad : {"x", "3-1", "1-2-3", "-1", "0-99999999999"}) {
    (void)parseRankSet(QString::fromLatin1(bad), ok);
    QVERIFY2(!ok, bad);
  }
  (void)parseRankSet(QStringLiteral("0-1048576,").repeated(100000),
                     ok);  // 400 GB, if taken at its word
  QVERIFY(!ok);
  QCOMPARE(rankSetText({7, 1, 0, 2}), QStringLiteral("0-2, 7"));
}

void ModelsTest::loaderRefuses() {
  QTemporaryDir dir;
  QFile file(dir.filePath(QStringLiteral("a.c")));
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write("int x;\n");
  file.close();
  FileSourceLoader loader;
  QCOMPARE(*loader.load(file.fileName()), QByteArray("int x;\n"));
  QCOMPARE(loader.load(dir.filePath(QStringLiteral("gone.c"))).error().code, ErrorCode::NotFound);
  QCOMPARE(loader.load(dir.path()).error().code, ErrorCode::Usage);
  const QByteArray fifo = QFile::encodeName(dir.filePath(QStringLiteral("fifo")));
  QCOMPARE(::mkfifo(fifo.constData(), 0600), 0);
  QCOMPARE(loader.load(QFile::decodeName(fifo)).error().code, ErrorCode::Usage);
  QCOMPARE(FileSourceLoader(3).load(file.fileName()).error().code, ErrorCode::Usage);
}

QTEST_GUILESS_MAIN(ModelsTest)
#include "models_test.moc"
