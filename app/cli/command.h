// SPDX-License-Identifier: GPL-3.0-or-later
// A command of photofinish: its options, and what it does. Each add…() adds some, with what they keep.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/replaying/part_of_job.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pf::cli {

struct Command {
  CLI::App* words;  ///< what was given
  /// Its exit status.
  std::function<int()> run;
  /// What --trust takes over before run(); may be empty.
  std::function<std::vector<std::string>()> trusts;
};
using Commands = std::vector<Command>;

void addRecord(CLI::App& parser, Commands& commands);
/// ci: what is known of a program's races, and what is not
void addCi(CLI::App& parser, Commands& commands);
/// `forced`: "pinned" or "tagged", or empty.
void addReplay(CLI::App& parser, Commands& commands, const std::string& forced);
/// info, races, events, check, salvage, redact, peek, diff, sql, export
void addReports(CLI::App& parser, Commands& commands);
/// groups: which ranks to replay together
void addGroups(CLI::App& parser, Commands& commands);
/// flip: the run again with another delivery
void addFlip(CLI::App& parser, Commands& commands);
/// explore: all orders of a program's messages
void addExplore(CLI::App& parser, Commands& commands);
/// blame: which deliveries decide
void addBlame(CLI::App& parser, Commands& commands);
/// runs: a run and its other orders
void addRuns(CLI::App& parser, Commands& commands);
/// predict: what another order of the messages leads to
void addPredict(CLI::App& parser, Commands& commands);
/// plugins, command
void addPlugins(CLI::App& parser, Commands& commands);
/// tutorial: small programs with a bug each
void addTutorial(CLI::App& parser, Commands& commands);
/// doctor: what works on this machine
void addDoctor(CLI::App& parser, Commands& commands);
/// debug, attach, core, dap
void addDebugging(CLI::App& parser, Commands& commands);

/// Adds --group and --ranks; one of them can be given.
void addPart(CLI::App& command, app::PartOfJob& part);
/// Adds --trust: whether it was given.
std::shared_ptr<bool> addTrust(CLI::App& command);
/// Adds --gdb, which is obeyed as soon as it is read.
void addGdb(CLI::App& command);
/// Adds --stall-after: its seconds.
std::shared_ptr<double> addStallAfter(CLI::App& command);

}  // namespace pf::cli
