// SPDX-License-Identifier: GPL-3.0-or-later
// Tools that report on the open trace, in words of app/reports.
#include <QFileInfo>

#include "app/mcp/tools.h"
#include "app/reports/report.h"
#include "views/trace/analyses/waits_text.h"

namespace pf::headless {

void ToolDesk::info(const Given&) {
  if (!needsTrace()) {
    return;
  }
  inBackground([trace = m_path.toStdString(), said = m_said] {
    BoundedText text = said;
    const Result<std::string> report = app::infoReport(trace, false);
    if (!report) {
      return ToolResult{text.take(""), report.error()};
    }
    text.add(*report);
    return ToolResult{text.take("'photofinish info' prints all"), {}};
  });
}

void ToolDesk::races(const Given& given) {
  if (!needsTrace()) {
    return;
  }
  app::RacesText shown;
  shown.classes = static_cast<std::size_t>(given.number("limit", 10));
  shown.moreClasses = "a larger 'limit' shows more classes";
  shown.moreRaces = "'events' of a rank shows all its receives";
  inBackground([trace = m_path.toStdString(), shown] {
    BoundedText text;
    const Status made = app::racesReport(
        trace, app::RacesForm::Classes,
        [&text, line = std::string()](std::string_view piece, app::TextStyle) mutable {
          line += piece;
          if (const std::size_t end = line.rfind('\n'); end != std::string::npos) {
            text.add(std::string_view(line).substr(0, end + 1));
            line.erase(0, end + 1);
          }
        },
        shown);
    return made ? ToolResult{text.take("a smaller 'limit' leaves fewer"), {}}
                : ToolResult{{}, made.error()};
  });
}

void ToolDesk::events(const Given& given) {
  if (!needsTrace()) {
    return;
  }
  const auto rank = static_cast<Rank>(given.number("rank", 0));
  const auto& ranks = m_run->session().trace()->execution.ranks;
  if (static_cast<std::size_t>(rank) >= ranks.size()) {
    failNext("the recording has ranks 0 to " + std::to_string(ranks.size() - 1),
             "Name one of them.");
    return;
  }
  const Serial last = ranks[static_cast<std::size_t>(rank)].events.size();
  const auto first = static_cast<Serial>(given.number("first", 1));
  const auto most = static_cast<std::uint64_t>(given.number("limit", 50));
  if (first > last) {
    failNext("rank " + std::to_string(rank) + " has " + std::to_string(last) +
                 " events in the recording",
             "Give a 'first' of " + std::to_string(last) + " or less.");
    return;
  }
  inBackground([trace = m_path.toStdString(), choice = app::EventChoice{rank, first, most}, last] {
    BoundedText text;
    const Status made =
        app::eventsReport(trace, choice, false, [&text](std::string_view line) { text.add(line); });
    if (!made) {
      return ToolResult{{}, made.error()};
    }
    if (const Serial shown = choice.first + choice.most - 1; shown < last) {
      text.add("… of " + std::to_string(last) + " events; 'first' " + std::to_string(shown + 1) +
               " shows the next");
    }
    return ToolResult{text.take("a smaller 'limit' shows whole answers"), {}};
  });
}

namespace {

/// `positions` empty: no replay runs.
std::string waitsOf(const views::TraceIndex& trace,
                    const std::vector<values::ReplayPosition>& positions) {
  if (trace.pages() == nullptr && trace.eventCount() == 0) {
    return "Not known: the trace has no events.\n";
  }
  const bool replays = !positions.empty();
  const views::JobCut cut = replays ? views::cutOf(trace, positions) : views::cutAtEnd(trace);
  return views::waitsText(
             trace, views::jobStateAt(trace, cut),
             replays ? QObject::tr("where the replay is") : QObject::tr("at the end of the record"))
      .toStdString();
}

}  // namespace

void ToolDesk::waits(const Given&) {
  if (!needsTrace()) {
    return;
  }
  inBackground([trace = m_run->session().trace(), index = m_index,
                positions = m_run->session().positions()] {
    if (*index == nullptr) {  // one call at a time: nobody else makes it now
      *index = views::makeIndex(trace);
    }
    BoundedText text;
    text.add(waitsOf(**index, positions));
    return ToolResult{text.take("'where' says it of single ranks"), {}};
  });
}

void ToolDesk::compare(const Given& given) {
  if (!needsTrace()) {
    return;
  }
  const QString other = QFileInfo(QString::fromStdString(given.text("other"))).absoluteFilePath();
  inBackground([a = m_path.toStdString(), b = other.toStdString()] {
    const Result<app::DiffReport> report = app::diffReport(a, b, false);
    if (!report) {
      return ToolResult{{}, report.error()};
    }
    BoundedText text;
    text.add("A is " + a + ", B is " + b);
    text.add(report->text);
    return ToolResult{text.take("'photofinish diff A B' prints all"), {}};
  });
}

}  // namespace pf::headless
