// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/offline_report/offline_report.h"

#include "replay_engine/base/text_stream.h"

namespace pf::headless {
namespace {

/// Colours of the window's themes. Nothing is fetched: no font, script or picture.
constexpr const char* kStyle = R"(
:root { --ink: #1d2329; --muted: #5c6670; --line: #d7dce0; --back: #ffffff; --soft: #f4f6f8; --bad: #b3261e; --race: #8a5a00; --good: #1b6e3c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ec; --muted: #9aa5b0; --line: #3a424a; --back: #181c20; --soft: #22282e; --bad: #ff8a80; --race: #ffc466; --good: #7ad39a; }
}
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--back); max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .2rem; }
h3 { font-size: 1rem; margin: 1rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--muted); font-weight: 600; white-space: nowrap; }
code, pre, .mono { font: 13px/1.45 ui-monospace, monospace; }
pre { background: var(--soft); padding: .6rem .8rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; }
.muted { color: var(--muted); } .bad { color: var(--bad); } .good { color: var(--good); } .race { color: var(--race); }
.verdict { font-size: 1.1rem; margin: .6rem 0; }
.facts th { width: 9rem; }
summary { font-weight: 600; margin: .8rem 0 .3rem; cursor: pointer; }
)";

class Html {
 public:
  Html& raw(const std::string& text) {
    m_out << text;
    return *this;
  }
  Html& text(const std::string& text) {
    m_out << htmlEscaped(text);
    return *this;
  }
  Html& heading(const std::string& title) { return raw("<h2>").text(title).raw("</h2>\n"); }
  Html& paragraph(const std::string& words, const char* kind = "") {
    return raw(std::string("<p class=\"") + kind + "\">").text(words).raw("</p>\n");
  }
  Html& cell(const std::string& words, const char* kind = "") {
    return raw(std::string("<td class=\"") + kind + "\">").text(words).raw("</td>");
  }
  Html& head(std::initializer_list<const char*> titles) {
    raw("<table>\n<tr>");
    for (const char* title : titles) {
      raw("<th>").text(title).raw("</th>");
    }
    return raw("</tr>\n");
  }
  [[nodiscard]] std::string str() const { return m_out.str(); }

 private:
  TextStream m_out;
};

std::string eventName(const EventRef& event) {
  return "rank " + std::to_string(event.rank) + " event " + std::to_string(event.serial);
}

std::string count(std::size_t n, const std::string& one, const std::string& many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

void eventCells(Html& out, const ReportEvent& event, const std::string& role, const char* kind) {
  out.raw("<tr>").cell(role, kind).cell(eventName(event.event)).cell(event.call, "mono");
  out.cell(event.place, "mono").cell(event.source, "mono").raw("</tr>\n");
}

void addVerdict(Html& out, const OfflineReport& report) {
  out.raw("<h1>").text(report.title).raw("</h1>\n");
  out.paragraph(report.failure, report.failed ? "verdict bad" : "verdict good");
  out.raw("<table class=\"facts\">\n");
  for (const auto& [name, value] : report.facts) {
    out.raw("<tr><th>").text(name).raw("</th>").cell(value, "mono").raw("</tr>\n");
  }
  out.raw("</table>\n");
  if (!report.failingEvent.empty()) {
    out.heading("The failing receive");
    out.paragraph("The last message that the rank took before it failed.", "muted");
    out.head({"", "event", "call", "place", "source"});
    eventCells(out, report.failingEvent.front(), "receive", "bad");
    out.raw("</table>\n");
  }
}

void stackTables(Html& out, const std::vector<ReportStack>& stacks) {
  for (const ReportStack& stack : stacks) {
    out.raw("<h3>")
        .text((stack.ranks.size() == 1 ? "Rank " : "Ranks ") + rankList(stack.ranks))
        .raw("</h3>\n");
    if (!stack.note.empty()) {
      out.paragraph(stack.note, "muted");
    }
    if (stack.frames.empty()) {
      continue;
    }
    out.head({"", "function", "place", "source"});
    int level = 0;
    for (const ReportFrame& frame : stack.frames) {
      out.raw("<tr>").cell(std::to_string(level++), "muted").cell(frame.function, "mono");
      out.cell(frame.place, "mono").cell(frame.source, "mono").raw("</tr>\n");
    }
    out.raw("</table>\n");
  }
}

void addStacks(Html& out, const OfflineReport& report) {
  if (report.stacks.empty()) {
    return;
  }
  out.heading(report.failed ? "Stacks at the failure" : "Stacks");
  stackTables(out, report.stacks);
  if (!report.values.empty()) {
    out.raw("<h3>").text("Variables of " + report.valuesOf).raw("</h3>\n");
    out.head({"name", "type", "value"});
    for (const ReportValue& value : report.values) {
      out.raw("<tr>").cell(value.name, "mono").cell(value.type, "mono muted");
      out.cell(value.value, "mono").raw("</tr>\n");
    }
    out.raw("</table>\n");
  }
}

void addSnapshots(Html& out, const OfflineReport& report) {
  const std::string text = snapshotsText(report);
  if (text.empty()) {
    return;
  }
  out.heading("Snapshots");
  out.paragraph(text, "muted");
  for (const ReportSnapshot& snapshot : report.snapshots) {
    out.raw("<details open>\n<summary>").text(snapshotTitle(snapshot)).raw("</summary>\n");
    out.head({"rank", "after"});
    for (std::size_t rank = 0; rank < snapshot.where.size(); ++rank) {
      out.raw("<tr>").cell(std::to_string(rank)).cell(snapshot.where[rank]).raw("</tr>\n");
    }
    out.raw("</table>\n");
    stackTables(out, snapshot.stacks);
    out.raw("</details>\n");
  }
}

void addRaces(Html& out, const OfflineReport& report) {
  out.heading(report.failed ? "Races before the failure" : "Races");
  if (report.races.empty()) {
    out.paragraph("No receive could have taken another message.");
    return;
  }
  out.paragraph(count(report.races.size(), "receive", "receives") +
                    " could have taken another message; the latest first" +
                    (report.racesLeftOut > 0 ? ", and " + std::to_string(report.racesLeftOut) +
                                                   " earlier ones that are left out here"
                                             : "") +
                    ".",
                "muted");
  for (const ReportRace& race : report.races) {
    out.head({"", "event", "call", "place", "source"});
    eventCells(out, race.receive, "receive", "race");
    eventCells(out, race.taken, "took", "");
    for (const ReportEvent& other : race.alternatives) {
      eventCells(out, other, "or could", "race");
    }
    out.raw("</table>\n<br>\n");
  }
}

void addHits(Html& out, const OfflineReport& report) {
  if (report.hitTotals.empty()) {
    return;
  }
  out.heading("Breakpoints and logpoints");
  out.raw("<ul>\n");
  for (const std::string& total : report.hitTotals) {
    out.raw("<li>").text(total).raw("</li>\n");
  }
  out.raw("</ul>\n");
  if (report.hits.empty()) {
    return;
  }
  out.head({"at", "rank", "after event", "in", "value"});
  for (const ReportHit& hit : report.hits) {
    out.raw("<tr>").cell(hit.what, "mono").cell(std::to_string(hit.after.rank));
    out.cell(std::to_string(hit.after.serial)).cell(hit.function + " " + hit.place, "mono");
    out.cell(hit.value, "mono").raw("</tr>\n");
  }
  out.raw("</table>\n");
}

void addRanks(Html& out, const OfflineReport& report) {
  out.heading("Ranks");
  out.head({"rank", "ended", "events", "program", "build"});
  for (const ReportRank& rank : report.ranks) {
    out.raw("<tr>").cell(std::to_string(rank.rank)).cell(rank.end);
    out.cell(std::to_string(rank.events)).cell(rank.executable, "mono");
    out.cell(rank.buildId, "mono muted").raw("</tr>\n");
  }
  out.raw("</table>\n");
}

void addOutput(Html& out, const OfflineReport& report) {
  out.heading("Output of the program");
  bool any = false;
  const auto stream = [&](const ReportRank& rank, const char* name, const std::string& text,
                          std::uint64_t lost) {
    if (text.empty() && lost == 0) {
      return;
    }
    any = true;
    out.raw("<h3>").text("Rank " + std::to_string(rank.rank) + ", " + name).raw("</h3>\n");
    if (lost > 0) {
      out.paragraph(std::to_string(lost) + " bytes before this are left out.", "muted");
    }
    out.raw("<pre>").text(text).raw("</pre>\n");
  };
  for (const ReportRank& rank : report.ranks) {
    stream(rank, "standard output", rank.out, rank.outLost);
    stream(rank, "standard error", rank.err, rank.errLost);
  }
  if (!any) {
    out.paragraph("No rank printed anything.");
  }
}

}  // namespace

std::string htmlEscaped(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        // Other control characters are no HTML at all.
        if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') {
          out += "\xEF\xBF\xBD";
        } else {
          out += c;
        }
    }
  }
  return out;
}

std::string rankList(const std::vector<Rank>& ranks) {
  std::string out;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
      ++last;
    }
    out += (out.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (last > i) {
      out += (last > i + 1 ? "-" : ", ") + std::to_string(ranks[last]);
    }
    i = last + 1;
  }
  return out;
}

std::string toHtml(const OfflineReport& report) {
  Html out;
  out.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>")
      .text(report.title)
      .raw("</title>\n<style>")
      .raw(kStyle)
      .raw("</style>\n</head>\n<body>\n");
  addVerdict(out, report);
  addStacks(out, report);
  addHits(out, report);
  addSnapshots(out, report);
  addRaces(out, report);
  addRanks(out, report);
  addOutput(out, report);
  if (!report.notes.empty()) {
    out.heading("Notes");
    out.raw("<ul>\n");
    for (const std::string& note : report.notes) {
      out.raw("<li>").text(note).raw("</li>\n");
    }
    out.raw("</ul>\n");
  }
  out.raw("</body>\n</html>\n");
  return out.str();
}

}  // namespace pf::headless
