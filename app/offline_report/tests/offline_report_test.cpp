// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/offline_report/offline_report.h"

#include <gtest/gtest.h>

namespace pf::headless {
namespace {

/// A report with something in every part, and with text that HTML would take for its own.
OfflineReport sample() {
  OfflineReport report;
  const ReportEvent event{{0, 7}, "MPI_Recv (any source)", "a.c:3", "if (a < b && c[0] > '\"')"};
  report.title = "<b>";
  report.failed = true;
  report.failure = "rank 0: SIGSEGV";
  report.facts = {{"command", "mpirun -n 2 './a b'"}};
  report.failingEvent = {event};
  report.stacks = {{{0}, {{"f(x=<optimized out>)", "a.c:3", "x"}}, ""}, {{1, 2, 3}, {}, "no GDB"}};
  report.valuesOf = "rank 0 in f()";
  report.values = {{"s", "char *", "\"</pre><script>\x01\""}};
  report.races = {{event, event, {event, event}}};
  report.racesLeftOut = 4;
  report.hits = {{"a.c:3 x", {1, 5}, "f()", "a.c:3", "42"}};
  report.hitTotals = {"a.c:3 x: 1 hit"};
  report.ranks.push_back({0, "SIGSEGV", 9, "/a", "abc", "out & about\n", "err\n", 12, 0});
  report.notes = {"<note>"};
  return report;
}

TEST(OfflineReport, HtmlEscapes) {
  EXPECT_EQ(htmlEscaped("<a href=\"x\">&'\x02\n"),
            "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\xEF\xBF\xBD\n");
  const std::string html = toHtml(sample());
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("<note>"), std::string::npos);
  EXPECT_NE(html.find("&lt;optimized out&gt;"), std::string::npos);
}

TEST(OfflineReport, BothFormsSayTheSame) {
  for (const std::string& text : {toHtml(sample()), toPlainText(sample())}) {
    for (const char* part :
         {"SIGSEGV", "a.c:3", "no GDB", "MPI_Recv", "or could", "42", "about", "12 bytes"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part;
    }
  }
}

TEST(OfflineReport, RefersToNothingOutside) {
  const std::string html = toHtml(sample());
  for (const char* reference : {"http", "src=", "href=", "url(", "@import"}) {
    EXPECT_EQ(html.find(reference), std::string::npos) << reference;
  }
}

TEST(OfflineReport, RankLists) {
  EXPECT_EQ(rankList({0, 1, 2, 3, 7, 9, 10}), "0-3, 7, 9, 10");
  EXPECT_EQ(rankList({}), "");
  EXPECT_EQ(rankList({5}), "5");
  EXPECT_EQ(rankList({0, 1}), "0, 1");
}

std::size_t countOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

/// The lines below a heading of the plain text, up to the next one.
std::string section(const std::string& text, const std::string& title) {
  const std::string head = "\n" + title + "\n" + std::string(title.size(), '-') + "\n";
  const std::size_t at = text.find(head);
  if (at == text.npos) {
    return "there is no section " + title;
  }
  const std::string rest = text.substr(at + head.size());
  return rest.substr(0, rest.find("\n\n"));
}

TEST(OfflineStacks, OfTheSameFunctionsAndPlacesAreOne) {
  std::vector<ReportStack> stacks;
  addStack(stacks, 3, {{"f(x=1)", "a.c:3", "x"}, {"main()", "a.c:9", ""}}, "");
  addStack(stacks, 0, {{"f(x=2)", "a.c:3", ""}, {"main()", "a.c:9", ""}}, "");
  addStack(stacks, 1, {{"f(x=1)", "a.c:4", "x"}, {"main()", "a.c:9", ""}}, "");
  addStack(stacks, 2, {{"f(x=1)", "a.c:3", "x"}}, "");
  addStack(stacks, 4, {{"f(x=1)", "a.c:3", "x"}, {"main()", "a.c:9", ""}}, "no GDB");
  ASSERT_EQ(stacks.size(), 4U);
  EXPECT_EQ(stacks[0].ranks, (std::vector<Rank>{0, 3})) << "arguments do not tell ranks apart";
  EXPECT_EQ(stacks[0].frames[0].function, "f(x=1)") << "of the one that came first";
  EXPECT_EQ(stacks[3].note, "no GDB") << "a note does";
}

TEST(OfflineStacks, WithoutFramesAreOneByTheirNote) {
  std::vector<ReportStack> stacks;
  for (const Rank rank : {2, 1, 0}) {
    addStack(stacks, rank, {}, "no GDB");
  }
  addStack(stacks, 3, {}, "GDB did not stop it in time");
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_EQ(rankList(stacks[0].ranks), "0-2");
}

TEST(OfflineSnapshots, SayWhenAndWhy) {
  EXPECT_EQ(snapshotTitle({2.04, "", {}, {}}), "2.0 s after the beginning of the replay");
  EXPECT_EQ(snapshotTitle({12.5, "SIGUSR1", {}, {}}),
            "12.5 s after the beginning of the replay, asked for by SIGUSR1");
}

TEST(OfflineSnapshots, AreCounted) {
  OfflineReport report;
  EXPECT_EQ(snapshotsText(report), "") << "none was asked for";
  report.snapshotEvery = 2.5;
  EXPECT_EQ(snapshotsText(report).substr(0, 61),
            "Every 2.5 s of the replay: no snapshot, it was over before. T");
  report.snapshots.resize(1);
  EXPECT_NE(snapshotsText(report).find(": 1 snapshot. They"), std::string::npos);
  report.snapshotEvery = 0;
  report.snapshots.resize(3);
  EXPECT_EQ(snapshotsText(report).substr(0, 27), "When asked for: 3 snapshots");
}

TEST(OfflineSnapshots, AreInBothForms) {
  OfflineReport report = sample();
  report.snapshots.push_back({1.0, "SIGUSR1", {"event 4", "event 5, in <MPI_Recv>"}, {}});
  addStack(report.snapshots[0].stacks, 1, {{"wait()", "b.c:8", ""}}, "");
  const std::string text = section(toPlainText(report), "Snapshots");
  EXPECT_EQ(text.substr(0, 28), "When asked for: 1 snapshot. ");
  const std::string plain = toPlainText(report);
  EXPECT_NE(plain.find("  rank 1 after event 5, in <MPI_Recv>\nrank 1\n  #0 wait() at b.c:8\n"),
            std::string::npos)
      << plain;
  const std::string html = toHtml(report);
  EXPECT_NE(html.find("event 5, in &lt;MPI_Recv&gt;"), std::string::npos);
  EXPECT_EQ(countOf(html, "<details"), countOf(html, "</details>"));
}

TEST(OfflineText, AReportOfASuccessSaysSo) {
  OfflineReport report;
  report.title = "T";
  report.failure = "The program ran to its end.";
  const std::string text = toPlainText(report);
  EXPECT_EQ(text.substr(0, 32), "T\n=\nThe program ran to its end.\n");
  EXPECT_EQ(section(text, "Races"), "No receive could have taken another message.");
  for (const char* missing : {"The failing receive", "Stacks", "Snapshots", "Notes",
                              "Breakpoints and logpoints", "Races before the failure"}) {
    EXPECT_EQ(text.find(missing), std::string::npos) << missing;
  }
  const std::string html = toHtml(report);
  EXPECT_NE(html.find("verdict good"), std::string::npos);
  EXPECT_EQ(html.find("Stacks"), std::string::npos);
}

TEST(OfflineText, ThatNobodyPrintedAnythingIsSaidInBothForms) {
  OfflineReport report;
  report.ranks.push_back({0, "finished", 9, "/a", "abc", "", "", 0, 0});
  for (const std::string& text : {toHtml(report), toPlainText(report)}) {
    EXPECT_NE(text.find("No rank printed anything."), std::string::npos) << text;
  }
}

TEST(OfflineText, OutputThatIsLeftOutIsSaidInBothForms) {
  OfflineReport report;
  report.ranks.push_back({0, "finished", 9, "/a", "abc", "tail\n", "", 70000, 0});
  for (const std::string& text : {toHtml(report), toPlainText(report)}) {
    EXPECT_NE(text.find("70000 bytes before"), std::string::npos) << text;
    EXPECT_NE(text.find("tail"), std::string::npos);
    EXPECT_EQ(text.find("standard error"), std::string::npos);
  }
}

TEST(OfflineText, OutputIsIndentedSoThatItCannotPassForAHeading) {
  OfflineReport report;
  report.ranks.push_back(
      {0, "finished", 9, "/a", "abc", "Notes\n-----\n- all is well\n\n", "", 0, 0});
  const std::string text = toPlainText(report);
  EXPECT_EQ(text.find("\nNotes\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n    Notes\n    -----\n    - all is well\n"), std::string::npos);
}

TEST(OfflineText, RacesSayWhatWasTakenAndWhatCouldHaveBeen) {
  OfflineReport report = sample();
  report.failed = false;
  const std::string text = section(toPlainText(report), "Races");
  EXPECT_EQ(countOf(text, "    took     rank 0 event 7"), 1U) << text;
  EXPECT_EQ(countOf(text, "    or could rank 0 event 7"), 2U);
  EXPECT_NE(text.find("(4 earlier ones are left out here)"), std::string::npos);
  EXPECT_NE(toHtml(report).find("1 receive could have taken another message; the latest first, and "
                                "4 earlier ones that are left out here."),
            std::string::npos);
}

TEST(OfflineText, HitsComeBelowTheirTotals) {
  const std::string text = section(toPlainText(sample()), "Breakpoints and logpoints");
  EXPECT_EQ(text, "a.c:3 x: 1 hit\n  a.c:3 x  rank 1 after event 5  in f()  42");
  OfflineReport none = sample();
  none.hits.clear();
  none.hitTotals = {"a.c:3: 0 hits"};
  EXPECT_EQ(section(toPlainText(none), "Breakpoints and logpoints"), "a.c:3: 0 hits");
  EXPECT_NE(toHtml(none).find("<li>a.c:3: 0 hits</li>"), std::string::npos);
}

TEST(OfflineText, VariablesAreThoseOfOneFrame) {
  const std::string text = toPlainText(sample());
  EXPECT_NE(section(text, "Variables of rank 0 in f()").find("  s = \"</pre>"), std::string::npos);
  OfflineReport none = sample();
  none.values.clear();
  EXPECT_EQ(toPlainText(none).find("Variables of"), std::string::npos);
  EXPECT_EQ(toHtml(none).find("Variables of"), std::string::npos);
}

/// Every text that a program or a trace can give is put where markup is.
TEST(OfflineReport, NoTextOfARunBecomesMarkup) {
  const std::string hostile = "<img src=x onerror=alert(1)>'\"&amp;";
  const ReportEvent event{{0, 7}, hostile, hostile, hostile};
  OfflineReport report;
  report.title = report.failure = report.valuesOf = hostile;
  report.facts = {{hostile, hostile}};
  report.failingEvent = {event};
  report.stacks = {{{0}, {{hostile, hostile, hostile}}, hostile}};
  report.values = {{hostile, hostile, hostile}};
  report.snapshots.push_back({1.0, hostile, {hostile}, report.stacks});
  report.races = {{event, event, {event}}};
  report.hits = {{hostile, {1, 5}, hostile, hostile, hostile}};
  report.hitTotals = {hostile};
  report.ranks.push_back({0, hostile, 9, hostile, hostile, hostile, hostile, 0, 0});
  report.notes = {hostile};
  const std::string html = toHtml(report);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find("'\"&amp;<"), std::string::npos);
  EXPECT_GE(countOf(html, "&lt;img src=x onerror=alert(1)&gt;&#39;&quot;&amp;amp;"), 30U);
  for (const char* each : {"table", "tr", "td", "pre", "ul", "li", "h2", "h3", "p", "details"}) {
    const std::string tag = each;
    EXPECT_EQ(countOf(html, "<" + tag + ">") + countOf(html, "<" + tag + " "),
              countOf(html, "</" + tag + ">"))
        << tag;
  }
}

}  // namespace
}  // namespace pf::headless
