// SPDX-License-Identifier: MIT
// The call sites: their numbers, and Enter that walks their calls.
#include <QLineEdit>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "plugins/call_sites/sites_widget.h"
#include "views/tests/sample_trace.h"
#include "views/trace/analyses/trace_text.h"

using namespace pf;
using namespace pf::plugins;
using namespace pf::views::test;

class CallSitesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void countsBySite() {
    const auto trace = views::makeIndex(masterWorker());
    const std::vector<SiteUse> uses = siteUses(*trace);
    std::uint64_t calls = 0;
    const SiteUse* collect = nullptr;
    for (const SiteUse& use : uses) {
      calls += use.calls;
      const CallSite* site = views::siteOf(*trace, use.first);
      if (site != nullptr && site->line == 88 &&
          views::callName(*trace, use.first) == QStringLiteral("MPI_Recv")) {
        collect = &use;
      }
    }
    QCOMPARE(calls, std::uint64_t{trace->eventCount()});
    QVERIFY(collect != nullptr);
    QCOMPARE(collect->calls, std::uint64_t{6});
    QCOMPARE(collect->wildcards, std::uint64_t{6});
    QCOMPARE(collect->ranks, std::vector<Rank>{0});
    std::uint64_t racing = 0;
    for (std::size_t race = 0; race < trace->data().races.size(); ++race) {
      const EventRef event = trace->races().eventOf(race);
      racing +=
          trace->event(event).site == collect->site && trace->event(event).call == collect->call
              ? 1U
              : 0U;
    }
    QVERIFY(racing > 0);
    QCOMPARE(collect->racing, racing);
  }

  void bigTracesAreCountedMeanwhile() {
    SitesWidget widget;
    const auto trace = views::makeIndex(stencil(16, 600));
    QVERIFY(trace->eventCount() > views::kFewEvents);
    widget.show();
    widget.setTrace(trace);
    QCOMPARE(widget.model()->rowCount(), 0);
    QVERIFY(widget.filter()->placeholderText().contains(QStringLiteral("Counting")));
    QTRY_VERIFY(widget.model()->rowCount() > 2);
    QCOMPARE(widget.model()->uses().size(), siteUses(*trace).size());
    QVERIFY(!widget.filter()->placeholderText().contains(QStringLiteral("Counting")));
  }

  void enterWalksTheCalls() {
    SitesWidget widget;
    const auto trace = views::makeIndex(masterWorker());
    widget.setTrace(trace);
    QCOMPARE(widget.model()->rowCount(), 0);  // nobody looks
    widget.resize(900, 300);
    widget.show();
    QVERIFY(widget.model()->rowCount() > 3);
    widget.filter()->setText(QStringLiteral("worker.c:24"));
    QCOMPARE(widget.table()->model()->rowCount(), 1);
    QSignalSpy selected(&widget, &ViewWidget::eventSelected);
    const QModelIndex row = widget.table()->model()->index(0, 0);
    Q_EMIT widget.table()->activated(row);
    Q_EMIT widget.table()->activated(row);
    QCOMPARE(selected.size(), 2);
    const auto first = selected.at(0).first().value<EventRef>();
    const auto second = selected.at(1).first().value<EventRef>();
    QCOMPARE(first.rank, 1);
    QVERIFY(second.rank > first.rank || second.serial > first.serial);
    QCOMPARE(trace->event(first).site, trace->event(second).site);
    if (const QString shot = qEnvironmentVariable("PF_SHOT"); !shot.isEmpty()) {
      widget.filter()->clear();
      widget.grab().save(shot);
    }
    widget.setTrace(nullptr);
    QCOMPARE(widget.model()->rowCount(), 0);
  }
};

QTEST_MAIN(CallSitesTest)
#include "call_sites_test.moc"
