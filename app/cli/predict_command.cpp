// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/files/paths.h"
#include "app/job/job.h"
#include "app/reports/predict_report.h"
#include "app/traces/own_traces.h"

namespace pf::cli {
namespace {

constexpr int kPredicted = 5;   ///< exit status: something is predicted
constexpr int kNotDecided = 1;  ///< nothing is, and the time was over

struct PredictWords {
  std::string trace;
  bool json = false;
  bool confirm = true;
  double seconds = 60;
};

bool canFlip(const CLI::App& parser) {
  const auto all = parser.get_subcommands([](const CLI::App*) { return true; });
  return std::ranges::any_of(all, [](const CLI::App* each) { return each->get_name() == "flip"; });
}

/// A name that is not taken: NAME.predicted.pft, NAME.predicted.2.pft …
std::string freeName(const std::string& trace) {
  std::filesystem::path stem(trace);
  stem.replace_extension();
  std::string name = stem.string() + ".predicted.pft";
  for (int number = 2; access(name.c_str(), F_OK) == 0; ++number) {
    name = stem.string() + ".predicted." + std::to_string(number) + ".pft";
  }
  return name;
}

void addConfirming(const CLI::App& parser, const PredictWords& words,
                   app::PredictOptions& options) {
  if (!words.confirm) {
    options.whyNot = "--no-confirm";
    return;
  }
  if (!canFlip(parser)) {
    options.whyNot = "this photofinish has no flip, which forces other messages";
    return;
  }
  if (const Status may = app::mayRun(words.trace); !may) {
    options.whyNot = "somebody else recorded this trace: --trust runs what it says";
    return;
  }
  options.confirm = [trace = words.trace](const Prediction& prediction) {
    app::FlipRun run;
    run.program = app::programDirectory() + "/photofinish";
    run.trace = trace;
    run.output = freeName(trace);
    return app::confirmByFlip(run, prediction);
  };
}

int predict(const CLI::App& parser, const PredictWords& words) {
  app::PredictOptions options;
  options.json = words.json;
  options.time = std::chrono::milliseconds(std::llround(words.seconds * 1000));
  addConfirming(parser, words, options);
  const Result<app::PredictReport> report = app::predictReport(words.trace, options);
  if (!report) {
    return fail(report.error());
  }
  (words.json ? put : show)(report->text);
  return report->predicted ? kPredicted : report->decided ? 0 : kNotDecided;
}

}  // namespace

void addPredict(CLI::App& parser, Commands& commands) {
  auto words = std::make_shared<PredictWords>();
  CLI::App* command = parser.add_subcommand("predict",
                                            "Deadlocks, messages that do not fit or that nobody "
                                            "receives: in another order of the recorded messages");
  command->add_option("FILE", words->trace, "trace")->required();
  command->add_flag("--json", words->json, "one JSON document");
  command->add_flag("--confirm,!--no-confirm", words->confirm,
                    "run the program with the predicted messages, to see whether it comes true "
                    "(default), or do not");
  command
      ->add_option("--time", words->seconds,
                   "seconds to look for predictions at most (default: 60)")
      ->check(CLI::Range(0.1, 1e6));
  addTrust(*command);
  commands.push_back({command, [&parser, words] { return predict(parser, *words); },
                      [words] { return std::vector<std::string>{words->trace}; }});
}

}  // namespace pf::cli
