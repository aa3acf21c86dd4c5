// SPDX-License-Identifier: GPL-3.0-or-later
// What is in a trace, and what is made of one.
#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <optional>

#include "app/cli/command.h"
#include "app/cli/opening.h"
#include "app/cli/output.h"
#include "app/cli/plugins_command.h"
#include "app/collation/logs_of_trace.h"
#include "app/export/export.h"
#include "app/files/paths.h"
#include "app/recording/record.h"
#include "app/replaying/replay.h"
#include "app/reports/baseline_file.h"
#include "app/reports/judged_classes.h"
#include "app/reports/payload_report.h"
#include "app/reports/query.h"
#include "app/reports/report.h"
#include "app/traces/own_traces.h"
#include "app/traces/redact.h"

namespace pf::cli {
namespace {

int checkTrace(const std::string& trace) {
  auto recovered = app::recoverTrace(trace);
  if (!recovered) {
    return fail(recovered.error());
  }
  auto findings = db::checkTrace(app::absolutePath(trace));
  if (!findings) {
    return fail(findings.error());
  }
  if (findings->empty()) {
    // Not what checksums can tell: whether the logs are of these ranks.
    auto store = app::openTrace(trace, db::TraceStore::Mode::ReadOnly);
    const Status logs = store ? app::logsAreTheirRanks(*store) : store.error();
    if (!logs) {
      return fail(logs.error());
    }
    std::printf("%s: whole, every checksum is right\n", trace.c_str());
    return 0;
  }
  for (const db::Finding& finding : *findings) {
    show(finding.where + ": " + finding.what + "; lost: " + finding.lost + "\n");
  }
  return exitStatus(ErrorCode::Damaged);
}

int salvage(const std::string& from, const std::string& to) {
  const std::string source = app::absolutePath(from);
  const std::string made = app::absolutePath(to);
  auto report = db::salvageTrace(source, made);
  if (!report) {
    return fail(report.error());
  }
  app::noteCopy(source, made);
  for (const std::string& kept : report->kept) {
    show("kept " + kept + "\n");
  }
  for (const db::Finding& finding : report->lost) {
    show("lost " + finding.where + ": " + finding.lost + " (" + finding.what + ")\n");
  }
  return 0;
}

int peek(const std::string& trace, const std::string& to, bool survey, bool trusted) {
  auto made = app::peek(trace, to);
  if (!made) {
    return fail(made.error());
  }
  if (const int status = trusted ? trust(to) : 0; status != 0) {
    return status;
  }
  if (survey) {
    std::signal(SIGTERM, [](int) { app::endReplays(); });  // the ranks of the survey end with us
    if (const Status seen = app::surveyIfNeeded(to); !seen) {
      return fail(seen.error());
    }
  }
  std::printf("%s: %d ranks, %llu wildcard receives so far\n", to.c_str(), made->ranks,
              static_cast<unsigned long long>(made->wildcardReceives));
  for (const std::string& cut : made->cuts) {
    show("  " + cut + "\n");
  }
  for (const std::string& cut : made->contentsCut) {
    show("  " + cut + "\n");
  }
  return 0;
}

/// As diff(1): 0 the same, 1 different.
int diff(const std::string& a, const std::string& b, bool json, bool all) {
  auto report = app::diffReport(a, b, json, all);
  if (!report) {
    return fail(report.error());
  }
  (json ? put : show)(report->text);
  return report->same ? 0 : 1;
}

/// What is before the damage of damaged contents is shown.
int payload(const std::string& trace, const app::PayloadOptions& options) {
  const auto report = app::payloadReport(trace, options);
  if (!report) {
    return fail(report.error());
  }
  (options.json ? put : show)(report->text);
  return ended(report->damage);
}

struct ReportWords {
  std::string trace;
  std::string other;  ///< a second trace, or the one to make
  bool json = false;
  bool further = false;  ///< info --tracing, peek --survey, races --all, diff --all
  int rank = -1;
  std::string query;
  std::string format;
  std::string output;
  std::shared_ptr<bool> trusted;
};
using WordsPtr = std::shared_ptr<ReportWords>;

/// Of `races`.
struct RacesWords {
  ReportWords report;
  std::string baseline;  ///< file of known races to compare with
  bool newOnly = false;
  std::string written;  ///< file of known races to write to
};

/// `known` may be null.
Status showRaces(const ReportWords& words, app::KnownRaces* known) {
  const app::RacesForm form = words.json      ? app::RacesForm::Json
                              : words.further ? app::RacesForm::Each
                                              : app::RacesForm::Classes;
  const app::StyledSink out = words.json ? [](std::string_view text, app::TextStyle) { put(text); }
                                         : app::StyledSink(showStyled);
  return app::racesReport(words.trace, form, out, {}, loadedPlugins(), known);
}

/// Adds the classes to the file that is kept with the source.
int writeKnown(const RacesWords& words) {
  Result<RaceBaseline> baseline = app::readBaselineIfThere(words.written);
  if (!baseline) {
    return fail(baseline.error());
  }
  const Result<app::Added> added = app::addRacesTo(*baseline, words.report.trace);
  if (!added) {
    return fail(added.error());
  }
  if (const Status written = app::writeBaseline(words.written, *baseline); !written) {
    return fail(written.error());
  }
  show(words.written + ": " + std::to_string(added->classes) +
       (added->classes == 1 ? " class of races was" : " classes of races were") + " added, of " +
       std::to_string(baseline->classes().size()) + "\n");
  if (added->leftOut == 0) {
    return 0;
  }
  return fail({ErrorCode::Usage,
               std::to_string(added->leftOut) + " classes of races of " + words.report.trace +
                   " were left out: of each " + app::kNoNameText,
               "Compile with -g, and record before you change the source."});
}

/// kNewFound where a class is new and only those are asked for.
int races(const RacesWords& words) {
  if (!words.written.empty()) {
    return writeKnown(words);
  }
  if (words.baseline.empty()) {
    return ended(showRaces(words.report, nullptr));
  }
  Result<RaceBaseline> baseline = app::readBaseline(words.baseline);
  if (!baseline) {
    return fail(baseline.error());
  }
  app::KnownRaces known{std::move(*baseline), words.baseline, words.newOnly};
  const int status = ended(showRaces(words.report, &known));
  return status == 0 && words.newOnly && known.newClasses > 0 ? kNewFound : status;
}

void addKnown(CLI::App& command, const std::shared_ptr<RacesWords>& words) {
  CLI::Option* baseline =
      command.add_option("--baseline", words->baseline,
                         "file of known races (NAME.races): says which classes it does not know");
  command
      .add_flag("--new-only", words->newOnly,
                "only classes that it does not know; exit status 5 where there are any")
      ->needs(baseline);
  command
      .add_option("--write-baseline", words->written,
                  "add the classes, and what the trace says of them, to a file of known races")
      ->excludes(baseline);
}

/// A command on FILE.
CLI::App* add(CLI::App& parser, const WordsPtr& words, const char* name, const char* about) {
  CLI::App* command = parser.add_subcommand(name, about);
  command->add_option("FILE", words->trace, "trace")->required();
  return command;
}

void addJson(CLI::App& command, const WordsPtr& words) {
  command.add_flag("--json", words->json, "one JSON document");
}

/// With --trust for FILE.
void keep(Commands& commands, CLI::App* command, const WordsPtr& words,
          const std::function<int()>& run) {
  words->trusted = addTrust(*command);
  commands.push_back({command, run, [words] { return std::vector<std::string>{words->trace}; }});
}

void addLooks(CLI::App& parser, Commands& commands) {
  auto info = std::make_shared<ReportWords>();
  CLI::App* infoCommand =
      add(parser, info, "info", "What is in a trace: ranks, command, messages, where it is cut");
  infoCommand->add_flag("--tracing", info->further,
                        "also what each of the papers' algorithms would trace, and the optimum");
  addJson(*infoCommand, info);
  keep(commands, infoCommand, info, [info] {
    return print(app::infoReport(info->trace, info->json, info->further), info->json);
  });

  auto racesWords = std::make_shared<RacesWords>();
  const WordsPtr report(racesWords, &racesWords->report);
  CLI::App* racesCommand =
      add(parser, report, "races", "Racing receives, and what each could have taken instead");
  racesCommand->add_flag("--all", report->further, "every race in full, not one of each class");
  addJson(*racesCommand, report);
  addKnown(*racesCommand, racesWords);
  keep(commands, racesCommand, report, [racesWords] { return races(*racesWords); });

  auto events = std::make_shared<ReportWords>();
  CLI::App* eventsCommand = add(parser, events, "events", "Events of all ranks");
  addJson(*eventsCommand, events);
  CLI::Option* rank = eventsCommand->add_option("--rank", events->rank, "this rank only");
  keep(commands, eventsCommand, events, [events, rank] {
    const app::EventChoice choice{*rank ? std::optional<Rank>(events->rank) : std::nullopt};
    return ended(app::eventsReport(events->trace, choice, events->json, events->json ? put : show));
  });
}

void addContents(CLI::App& parser, Commands& commands) {
  auto words = std::make_shared<ReportWords>();
  auto options = std::make_shared<app::PayloadOptions>();
  CLI::App* command = add(parser, words, "payload",
                          "Contents of messages that a rank got from outside of its group");
  command->add_option("--rank", options->rank, "rank that received them")->required();
  command
      ->add_option("--event", options->event, "what this event received (default: a list of all)")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 62));
  command
      ->add_option("--bytes", options->most,
                   "of each message at most so many bytes (default: 65536)")
      ->check(CLI::Range(std::size_t{1}, app::kMostShown));
  addJson(*command, words);
  keep(commands, command, words, [words, options] {
    options->json = words->json;
    return payload(words->trace, *options);
  });
}

void addCopies(CLI::App& parser, Commands& commands) {
  auto checked = std::make_shared<ReportWords>();
  commands.push_back({add(parser, checked, "check", "Verify every checksum; list what is lost"),
                      [checked] { return checkTrace(checked->trace); },
                      {}});
  const auto addMaking = [&parser](const WordsPtr& words, const char* name, const char* about) {
    CLI::App* command = add(parser, words, name, about);
    command->add_option("TO", words->other, "new trace")->required();
    return command;
  };
  auto salvaged = std::make_shared<ReportWords>();
  commands.push_back(
      {addMaking(salvaged, "salvage", "Copy what still verifies of a damaged trace into a new one"),
       [salvaged] { return salvage(salvaged->trace, salvaged->other); },
       {}});
  auto redacted = std::make_shared<ReportWords>();
  commands.push_back(
      {addMaking(redacted, "redact",
                 "Make a trace to give away: events, messages and races, without what may be "
                 "private"),
       [redacted] { return ended(app::redactTrace(redacted->trace, redacted->other)); },
       {}});
  auto peeked = std::make_shared<ReportWords>();
  CLI::App* peekCommand = addMaking(
      peeked, "peek", "Make a trace of what a recording that goes on has so far, and let it go on");
  peekCommand->add_flag("--survey", peeked->further,
                        "where MPI's choices only are recorded, run the program once more at once "
                        "to see its events");
  peeked->trusted = addTrust(*peekCommand);  // of what is made
  commands.push_back(
      {peekCommand,
       [peeked] { return peek(peeked->trace, peeked->other, peeked->further, *peeked->trusted); },
       {}});
}

void addConversions(CLI::App& parser, Commands& commands) {
  auto compared = std::make_shared<ReportWords>();
  CLI::App* diffCommand = parser.add_subcommand(
      "diff", "In what two recordings of a program differ: before the failure, first causes");
  diffCommand->add_option("A", compared->trace, "trace")->required();
  diffCommand->add_option("B", compared->other, "trace of the same program")->required();
  diffCommand->add_flag("--all", compared->further, "every difference, and what follows from each");
  addJson(*diffCommand, compared);
  addTrust(*diffCommand);
  commands.push_back({diffCommand,
                      [compared] {
                        return diff(compared->trace, compared->other, compared->json,
                                    compared->further);
                      },
                      [compared] {
                        return std::vector<std::string>{compared->trace, compared->other};
                      }});

  auto queried = std::make_shared<ReportWords>();
  CLI::App* sqlCommand = add(parser, queried, "sql", "Rows of one SELECT on a trace");
  sqlCommand->add_option("QUERY", queried->query, "SQL; tables are in docs/trace-format.md")
      ->required();
  sqlCommand->add_flag("--json", queried->json, "one JSON array of objects");
  keep(commands, sqlCommand, queried,
       [queried] { return ended(app::printQuery(queried->trace, queried->query, queried->json)); });

  auto exported = std::make_shared<ReportWords>();
  CLI::App* exportCommand =
      add(parser, exported, "export", "Write a trace in the format of other tools");
  exportCommand
      ->add_option("--format", exported->format,
                   "csv: a row an event; chrome: Trace Event JSON, for Perfetto; shiviz: log with "
                   "vector clocks; otf2: archive; or an exporter of a plugin")
      ->required();
  exportCommand->add_option("-o,--output", exported->output,
                            "file to make (a directory for otf2); default: standard output");
  keep(commands, exportCommand, exported, [exported] {
    return ended(
        app::exportTrace(exported->trace, exported->format, exported->output, loadedPlugins()));
  });
}

}  // namespace

void addReports(CLI::App& parser, Commands& commands) {
  addLooks(parser, commands);
  addContents(parser, commands);
  addCopies(parser, commands);
  addConversions(parser, commands);
}

}  // namespace pf::cli
