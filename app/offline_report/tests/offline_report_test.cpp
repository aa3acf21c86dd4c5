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
}

}  // namespace
}  // namespace pf::headless
