// SPDX-License-Identifier: GPL-3.0-or-later
// Classes of races: that they partition the races, filter the list, and can be judged benign.
#include <set>

#include <QAction>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "views/panes/race_classes_view.h"
#include "views/panes/race_list_view.h"
#include "views/tests/sample_trace.h"
#include "views/values/text.h"

using namespace pf;
using namespace pf::views;
using namespace pf::views::test;

namespace {

RaceBaseline benign(const QHash<QString, QString>& reasons) {
  RaceBaseline verdicts;
  for (auto it = reasons.begin(); it != reasons.end(); ++it) {
    verdicts.setClass(it.key().toStdString(), {RaceVerdict::Benign, it.value().toStdString()});
  }
  return verdicts;
}

}  // namespace

class RaceClassesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void classesPartitionTheRaces() {
    for (const TraceIndexPtr& trace : {makeIndex(masterWorker()), makeIndex(stencil(64, 20))}) {
      const RaceClasses classes(trace);
      std::set<int> seen;
      std::set<QString> keys;
      for (std::size_t number = 0; number < classes.all().size(); ++number) {
        const RaceClass& one = classes.all()[number];
        QVERIFY(keys.insert(one.key).second);
        const std::vector<int> races = classes.races(number);
        QCOMPARE(races.size(), one.count);
        QCOMPARE(races.front(), one.first);
        QCOMPARE(races.back(), one.last);
        for (const int race : races) {
          QVERIFY(seen.insert(race).second);
          const EventRef first = trace->races().eventOf(at(one.first));
          QCOMPARE(trace->event(trace->races().eventOf(at(race))).site, trace->event(first).site);
          QVERIFY(std::binary_search(one.ranks.begin(), one.ranks.end(),
                                     trace->data().races.rank(at(race))));
        }
      }
      QCOMPARE(seen.size(), trace->data().races.size());
      QVERIFY(classes.all().size() < trace->data().races.size());
    }
  }

  void aClassIsNamedByItsPlaces() {
    const auto trace = makeIndex(masterWorker());
    const RaceClasses found(trace);
    const std::vector<RaceClass>& classes = found.all();
    QVERIFY(!classes.empty());
    QCOMPARE(classes[0].receive, u"MPI_Recv at master.c:88"_s);
    QCOMPARE(classes[0].senders, u"worker.c:40"_s);
    QCOMPARE(classes[0].key, u"MPI_Recv collect master.c:88 < MPI_Send work worker.c:40"_s);
    QCOMPARE(classes[0].ranks, std::vector<Rank>{0});
  }

  /// The name that the file has, which survives edits, where it has one.
  void aClassIsNamedAsInTheFile() {
    TraceData data = *masterWorker();
    const std::vector<Race> races = data.races.list();
    data.races = {};
    for (std::size_t i = 0; i < races.size(); ++i) {
      RaceFacts facts;
      facts.rank = races[i].rank;
      facts.probe = races[i].probe;
      facts.index = static_cast<std::uint32_t>(races[i].index);
      facts.taken = races[i].taken;
      facts.alternatives = races[i].alternatives;
      facts.raceClass = static_cast<std::uint32_t>(i % 3);
      data.races.add(facts);
    }
    data.races.finish();
    data.raceClassNames = {className("MPI_Recv collect: f();", {"MPI_Send work: g();"}),
                           "a.c:1 <- b.c:2"};
    const RaceClasses found(makeIndex(std::make_shared<const TraceData>(data)));
    QCOMPARE(found.all()[0].key, u"MPI_Recv collect: f();\nMPI_Send work: g();"_s);
    QCOMPARE(found.all()[1].key, found.all()[1].formerKey);
    QCOMPARE(found.all()[2].key, found.all()[2].formerKey);
    QVERIFY(found.all()[0].formerKey.startsWith(u"MPI_Recv collect master.c:88 <"_s));
  }

  void aClassFiltersTheList() {
    RaceListView view;
    view.resize(1500, 260);
    const auto trace = makeIndex(masterWorker());
    view.setTrace(trace);
    view.show();
    RaceClassesView* classes = view.classes();
    const int all = view.table()->model()->rowCount();
    QCOMPARE(all, static_cast<int>(trace->data().races.size()));
    QCOMPARE(classes->selectedRow(), 0);
    QVERIFY(classes->model()->rowCount() >= 3);
    classes->selectRow(2);
    const int some = view.table()->model()->rowCount();
    QCOMPARE(some, static_cast<int>(classes->model()->classAt(2)->count));
    QVERIFY(some < all);
    // A race of another class, chosen in the diagram, brings its own class.
    const int other = classes->model()->classAt(1)->first;
    view.selectRace(other);
    QCOMPARE(classes->selectedRow(), 1);
    QCOMPARE(view.selectedRace(), other);
    classes->selectRow(0);
    QCOMPARE(view.table()->model()->rowCount(), all);
    if (const QString shot = qEnvironmentVariable("PF_SHOT"); !shot.isEmpty()) {
      view.setVerdicts(
          benign({{classes->model()->classAt(1)->key, u"the sum does not depend on it"_s}}));
      view.grab().save(shot);
    }
  }

  void manyRacesAreJudgedMeanwhile() {
    TraceData data = *masterWorker();
    const std::vector<Race> races = data.races.list();
    while (data.races.size() <= kFewEvents) {
      std::ranges::for_each(races, [&](const Race& race) { data.races.push_back(race); });
    }
    RaceListView view;
    const auto trace = makeIndex(std::make_shared<const TraceData>(data));
    view.setTrace(trace);
    QCOMPARE(view.table()->model()->rowCount(), 0);
    view.selectRace(3);
    QTRY_COMPARE(view.table()->model()->rowCount(), toInt(data.races.size()));
    QCOMPARE(view.selectedRace(), 3);
    QVERIFY(view.classes()->model()->rowCount() > 1);
    view.setTrace(trace);
    view.setTrace(nullptr);
    QTest::qWait(100);
    QCOMPARE(view.table()->model()->rowCount(), 0);
  }

  void benignClassesComeLast() {
    RaceListView view;
    const auto trace = makeIndex(masterWorker());
    view.setTrace(trace);
    RaceClassesView* classes = view.classes();
    QVERIFY(!classes->benignAction()->isEnabled());  // of all races nothing can be said
    classes->selectRow(1);
    QSignalSpy asked(classes, &RaceClassesView::benignRequested);
    QVERIFY(classes->benignAction()->isEnabled());
    QVERIFY(!classes->notJudgedAction()->isEnabled());
    classes->benignAction()->trigger();
    QCOMPARE(asked.size(), 1);
    const QString key = asked[0][0].toString();
    view.setVerdicts(
        benign({{key, u"only the order of a log"_s}, {u"of another program"_s, u"x"_s}}));
    QCOMPARE(classes->selectedRow(), 1);
    QVERIFY(classes->notJudgedAction()->isEnabled());
    QCOMPARE(classes->model()->benignRaces(),
             static_cast<int>(classes->model()->classAt(1)->count));
    const QAbstractItemModel* table = classes->table()->model();
    const QModelIndex last = table->index(table->rowCount() - 1, RaceClassModel::Note);
    QCOMPARE(last.data().toString(), u"only the order of a log"_s);
    QSignalSpy cleared(classes, &RaceClassesView::notJudgedRequested);
    classes->notJudgedAction()->trigger();
    QCOMPARE(cleared[0][0].toString(), key);
    const QString name = key;
    RaceBaseline bug;
    bug.setClass(name.toStdString(), {RaceVerdict::Bug, "issue 12"});
    view.setVerdicts(bug);
    QCOMPARE(classes->model()->benignRaces(), 0);
    QVERIFY(classes->notJudgedAction()->isEnabled());
    QCOMPARE(classes->model()->index(1, RaceClassModel::Note).data().toString(),
             u"bug: issue 12"_s);
    QSignalSpy bugs(classes, &RaceClassesView::bugRequested);
    classes->bugAction()->trigger();
    QCOMPARE(bugs[0][0].toString(), key);
    view.setVerdicts({});
    QCOMPARE(classes->model()->benignRaces(), 0);
    view.setTrace(nullptr);
    QCOMPARE(classes->model()->rowCount(), 0);
  }
};

QTEST_MAIN(RaceClassesTest)
#include "race_classes_test.moc"
