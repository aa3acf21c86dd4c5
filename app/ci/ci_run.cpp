// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ci/ci_run.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "app/ci/judged_trace.h"
#include "app/files/paths.h"
#include "app/job/launcher.h"
#include "app/recording/repeated_input.h"
#include "app/recording/until_failure.h"
#include "app/reports/baseline_file.h"
#include "app/traces/own_traces.h"
#include "replay_engine/base/shown_text.h"

namespace pf::app {
namespace fs = std::filesystem;
namespace {

/// What all runs together have shown.
class Findings {
 public:
  /// Whether the run, of `trace`, has shown something that wants to be looked at and was not seen before.
  bool add(JudgedTrace run, const std::string& trace) {
    ++m_result.runs;
    bool toSee = note(m_result.outcomes, std::move(run.outcome), trace,
                      [](const CiOutcome& one) { return !one.good; });
    std::vector<std::string> seen;  // several classes of a run may have one name
    for (CiClass& one : run.classes) {
      if (std::ranges::find(seen, one.name) == seen.end()) {
        seen.push_back(one.name);
        toSee = note(m_result.classes, std::move(one), trace,
                     [](const CiClass& each) { return each.isNew; }) ||
                toSee;
      }
    }
    return toSee;
  }

  /// In the order in which they are told.
  CiResult take() {
    std::ranges::stable_sort(m_result.classes, {}, [](const CiClass& one) {
      return std::tuple(!one.isNew, one.judged.verdict == RaceVerdict::Benign, one.weight);
    });
    std::ranges::stable_sort(m_result.outcomes, {},
                             [](const CiOutcome& one) { return std::pair(one.good, !one.isNew); });
    return std::move(m_result);
  }
  /// The trace has been removed.
  void forget(const std::string& trace) {
    const auto leave = [&trace](CiFinding& one) {
      one.trace = one.trace == trace ? std::string() : one.trace;
    };
    std::ranges::for_each(m_result.classes, leave);
    std::ranges::for_each(m_result.outcomes, leave);
  }
  [[nodiscard]] std::size_t runs() const { return m_result.runs; }

 private:
  template <typename Finding, typename IsToSee>
  bool note(std::vector<Finding>& all, Finding one, const std::string& trace, IsToSee isToSee) {
    const auto known =
        std::ranges::find(all, one.name, [](const Finding& each) { return each.name; });
    if (known != all.end()) {
      ++known->runs;
      return false;
    }
    one.runs = 1;
    one.firstRun = m_result.runs;
    one.trace = trace;
    all.push_back(std::move(one));
    return isToSee(all.back());
  }

  CiResult m_result;
};

/// Where the traces of the runs lie.
class TracePlace {
 public:
  static Result<TracePlace> choose(const CiWish& wish, const RecordOptions& options,
                                   const std::string& title) {
    TracePlace place;
    const Result<std::string> usual =
        nameOfTrace(options, [](const std::string& /*name*/) { return false; });
    if (!usual) {
      return usual.error();
    }
    place.m_asked = !wish.trace.empty();
    place.m_first = place.m_asked ? wish.trace : *usual;
    if (wish.trace.ends_with('/') || isDirectory(wish.trace)) {
      std::error_code error;
      fs::create_directories(wish.trace, error);
      if (error) {
        return systemError("cannot make " + wish.trace, error.value());
      }
      place.m_first = (fs::path(wish.trace) / (title + ".pft")).string();
    }
    place.m_several = wish.runs > 1;
    return place;
  }

  /// Of run `number`, from 1.
  [[nodiscard]] std::string of(std::size_t number) const {
    if (!m_several) {
      return m_first;
    }
    const fs::path path(m_first);
    return (path.parent_path() / (path.stem().string() + "-run" + std::to_string(number) + ".pft"))
        .string();
  }
  /// A run is kept in any case.
  [[nodiscard]] bool asked() const { return m_asked; }

 private:
  std::string m_first;
  bool m_asked = false;
  bool m_several = false;
};

class CiRun {
 public:
  CiRun(const CiWish& wish, RaceBaseline known, TracePlace place, RecordOptions options)
      : m_wish(wish),
        m_known(std::move(known)),
        m_place(std::move(place)),
        m_options(std::move(options)) {}

  Result<CiEnd> go() {
    if (m_wish.explored > 0) {
      if (Status status = lookAtOthers(); !status) {
        return status.error();
      }
    }
    Result<RepeatedInput> input = RepeatedInput::start();
    if (!input) {
      return input.error();
    }
    m_options.input = &*input;
    for (std::size_t number = 1; number <= m_wish.runs; ++number) {
      const Result<std::optional<CiEnd>> ended = recordOne(number);
      if (!ended) {
        return ended.error();
      }
      if (*ended) {
        return **ended;
      }
    }
    return finish();
  }

 private:
  Status lookAtOthers() {
    const Result<TriedOrders> others =
        m_wish.explore({m_wish.command, m_wish.explored, m_wish.check});
    if (!others) {
      return others.error();
    }
    for (const TriedOrders::Run& run : others->runs) {
      if (Status status = judge(run.trace, run.wrong); !status) {
        return status;
      }
    }
    return {};
  }

  /// Something: the user has ended it.
  Result<std::optional<CiEnd>> recordOne(std::size_t number) {
    m_options.output = m_place.of(number);
    m_options.jitterSeed =
        number % 2 == 0 ? std::max<std::uint64_t>(m_wish.jitterSeed, 1) + number / 2 - 1 : 0;
    const Result<TriedRun> run = recordAndCheck(
        m_options, m_wish.check, number == 1 ? ShownOutput::OfAll : ShownOutput::OfFailed);
    if (!run) {
      return run.error();
    }
    if (run->interrupted) {
      tell("it was ended in run " + std::to_string(number) + ": nothing is judged");
      constexpr int kInterrupted = 130;
      return std::optional(CiEnd{{}, true, run->exitStatus != 0 ? run->exitStatus : kInterrupted});
    }
    tell("run " + std::to_string(number) + ": " + run->failure.value_or("ended well"));
    if (Status status = judge(m_options.output, run->wrong); !status) {
      return status.error();
    }
    return std::optional<CiEnd>();
  }

  Status judge(const std::string& trace, bool wrong) {
    Result<JudgedTrace> judged = judgeTrace(trace, m_known, wrong);
    if (!judged) {
      return judged.error();
    }
    for (const CiClass& one : judged->classes) {
      m_seen.setClass(one.name, {});
    }
    const bool toSee = m_findings.add(std::move(*judged), trace);
    (toSee ? m_kept : m_plain).push_back(trace);
    return {};
  }

  Result<CiEnd> finish() {
    if (m_place.asked() && m_kept.empty() && !m_plain.empty()) {
      m_kept.push_back(m_plain.back());
      m_plain.pop_back();
    }
    for (const std::string& trace : m_plain) {
      std::error_code gone;
      fs::remove(trace, gone);
      m_findings.forget(trace);
    }
    CiEnd end;
    end.result = m_findings.take();
    CiResult& result = end.result;
    result.command = m_wish.command;
    result.baseline = m_wish.baseline;
    result.traces = m_kept;
    for (const std::string& name : m_known.classes()) {
      if (!isSeen(name)) {
        result.unseen.push_back(name);
      }
    }
    return m_wish.update ? update(std::move(end)) : std::move(end);
  }

  /// Whether a run has shown a class that this one stands for.
  [[nodiscard]] bool isSeen(const std::string& name) const {
    RaceBaseline alone;
    alone.setClass(name, {});
    return std::ranges::any_of(m_seen.classes(), [&alone](const std::string& seen) {
      return alone.ofClass(seen) != nullptr;
    });
  }

  Result<CiEnd> update(CiEnd end) {
    CiResult& result = end.result;
    std::vector<std::string> names;
    RaceBaseline verdicts;
    for (const CiClass& one : result.classes) {
      if (one.isNew) {
        names.push_back(one.name);
        verdicts.setClass(one.name, one.judged);
      }
    }
    m_known.add(std::move(names), verdicts);
    for (const CiOutcome& one : result.outcomes) {
      if (one.isNew && one.survives) {
        m_known.setOutcome(one.name, {});
      }
    }
    if (Status written = writeBaseline(m_wish.baseline, m_known); !written) {
      return written.error();
    }
    result.updated = true;
    return end;
  }

  const CiWish& m_wish;
  RaceBaseline m_known;
  TracePlace m_place;
  RecordOptions m_options;
  Findings m_findings;
  RaceBaseline m_seen;
  std::vector<std::string> m_kept;
  std::vector<std::string> m_plain;  ///< traces without anything to see
};

}  // namespace

Result<CiEnd> runForCi(const CiWish& wish) {
  Result<RaceBaseline> known = wish.baseline.empty() ? Result(RaceBaseline())
                               : wish.update         ? readBaselineIfThere(wish.baseline)
                                                     : readBaseline(wish.baseline);
  if (!known) {
    return known.error();
  }
  RecordOptions options;
  options.command = wish.command;
  options.replace = wish.replace;
  options.mode = "all";  // what it needs is seen in this run, not in another
  options.endStuck = true;
  options.stallLimit = wish.stallLimit;
  options.quiet = true;
  const Result<LaunchCommand> command = parseLaunch(wish.command);
  if (!command) {
    return command.error();
  }
  Result<TracePlace> place = TracePlace::choose(wish, options, command->title());
  if (!place) {
    return place.error();
  }
  Result<CiEnd> end = CiRun(wish, std::move(*known), std::move(*place), std::move(options)).go();
  if (end) {
    end->result.program = command->title();
  }
  return end;
}

}  // namespace pf::app
