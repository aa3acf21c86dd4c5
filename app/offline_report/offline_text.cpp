// SPDX-License-Identifier: GPL-3.0-or-later
// The report as plain text.

#include "app/offline_report/offline_report.h"
#include "replay_engine/base/text_stream.h"

namespace pf::headless {
namespace {

void heading(TextStream& out, const std::string& title) {
  out << "\n" << title << "\n" << std::string(title.size(), '-') << "\n";
}

std::string eventLine(const ReportEvent& event) {
  std::string out = "rank " + std::to_string(event.event.rank) + " event " +
                    std::to_string(event.event.serial) + "  " + event.call;
  if (!event.place.empty()) {
    out += "  at " + event.place;
  }
  return event.source.empty() ? out : out + "  | " + event.source;
}

std::string indented(const std::string& text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c;
    if (c == '\n') {
      out += "    ";
    }
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == '\n')) {
    out.pop_back();
  }
  return out + "\n";
}

void stackLines(TextStream& out, const std::vector<ReportStack>& stacks) {
  for (const ReportStack& stack : stacks) {
    out << (stack.ranks.size() == 1 ? "rank " : "ranks ") << rankList(stack.ranks)
        << (stack.note.empty() ? "" : " (" + stack.note + ")") << "\n";
    int level = 0;
    for (const ReportFrame& frame : stack.frames) {
      out << "  #" << level++ << " " << frame.function
          << (frame.place.empty() ? "" : " at " + frame.place)
          << (frame.source.empty() ? "" : "  | " + frame.source) << "\n";
    }
  }
}

void addStacks(TextStream& out, const OfflineReport& report) {
  if (!report.stacks.empty()) {
    heading(out, report.failed ? "Stacks at the failure" : "Stacks");
  }
  stackLines(out, report.stacks);
  if (!report.values.empty()) {
    heading(out, "Variables of " + report.valuesOf);
    for (const ReportValue& value : report.values) {
      out << "  " << value.name << " = " << value.value << "  (" << value.type << ")\n";
    }
  }
}

void addHits(TextStream& out, const OfflineReport& report) {
  if (report.hitTotals.empty()) {
    return;
  }
  heading(out, "Breakpoints and logpoints");
  for (const std::string& total : report.hitTotals) {
    out << total << "\n";
  }
  for (const ReportHit& hit : report.hits) {
    out << "  " << hit.what << "  rank " << hit.after.rank << " after event " << hit.after.serial
        << "  in " << hit.function << (hit.value.empty() ? "" : "  " + hit.value) << "\n";
  }
}

void addSnapshots(TextStream& out, const OfflineReport& report) {
  const std::string text = snapshotsText(report);
  if (text.empty()) {
    return;
  }
  heading(out, "Snapshots");
  out << text << "\n";
  for (const ReportSnapshot& snapshot : report.snapshots) {
    out << "\n" << snapshotTitle(snapshot) << "\n";
    for (std::size_t rank = 0; rank < snapshot.where.size(); ++rank) {
      out << "  rank " << rank << " after " << snapshot.where[rank] << "\n";
    }
    stackLines(out, snapshot.stacks);
  }
}

void addRaces(TextStream& out, const OfflineReport& report) {
  heading(out, report.failed ? "Races before the failure, the latest first" : "Races");
  for (const ReportRace& race : report.races) {
    out << eventLine(race.receive) << "\n    took     " << eventLine(race.taken) << "\n";
    for (const ReportEvent& other : race.alternatives) {
      out << "    or could " << eventLine(other) << "\n";
    }
  }
  if (report.racesLeftOut > 0) {
    out << "(" << report.racesLeftOut << " earlier ones are left out here)\n";
  }
  if (report.races.empty()) {
    out << "No receive could have taken another message.\n";
  }
}

/// False: it has printed nothing.
bool addStream(TextStream& out, const ReportRank& rank, const char* name, const std::string& text,
               std::uint64_t lost) {
  if (text.empty() && lost == 0) {
    return false;
  }
  out << "rank " << rank.rank << ", " << name
      << (lost > 0 ? " (" + std::to_string(lost) + " bytes before are left out)" : "") << "\n"
      << indented(text);
  return true;
}

void addOutput(TextStream& out, const OfflineReport& report) {
  heading(out, "Output of the program");
  bool any = false;
  for (const ReportRank& rank : report.ranks) {
    any = addStream(out, rank, "standard output", rank.out, rank.outLost) || any;
    any = addStream(out, rank, "standard error", rank.err, rank.errLost) || any;
  }
  if (!any) {
    out << "No rank printed anything.\n";
  }
}

}  // namespace

std::string toPlainText(const OfflineReport& report) {
  TextStream out;
  out << report.title << "\n"
      << std::string(report.title.size(), '=') << "\n"
      << report.failure << "\n\n";
  for (const auto& [name, value] : report.facts) {
    out << name << std::string(name.size() < 12 ? 12 - name.size() : 1, ' ') << value << "\n";
  }
  if (!report.failingEvent.empty()) {
    heading(out, "The failing receive");
    out << eventLine(report.failingEvent.front()) << "\n";
  }
  addStacks(out, report);
  addHits(out, report);
  addSnapshots(out, report);
  addRaces(out, report);
  heading(out, "Ranks");
  for (const ReportRank& rank : report.ranks) {
    out << "rank " << rank.rank << ": " << rank.end << ", " << rank.events << " events, "
        << rank.executable << " " << rank.buildId << "\n";
  }
  addOutput(out, report);
  if (!report.notes.empty()) {
    heading(out, "Notes");
    for (const std::string& note : report.notes) {
      out << "- " << note << "\n";
    }
  }
  return out.str();
}

}  // namespace pf::headless
