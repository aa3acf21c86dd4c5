// SPDX-License-Identifier: GPL-3.0-or-later
// explore_bench [BRANCHES [RANKS [EVENTS]]]: what the next choice of an exploration costs beside its run, and its open branches. Branches
// lie in a file as explore keeps them; the run that others branch from is synthetic. Wall times.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "app/branching/exploration_file.h"
#include "replay_engine/branching/branches.h"
#include "replay_engine/races/races.h"
#include "tests/bench/views/synthetic.h"

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(const std::function<void()>& work) {
  const Clock::time_point begun = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
}

double median(std::vector<double> times) {
  std::ranges::sort(times);
  return times.empty() ? 0 : times[times.size() / 2];
}

double residentMb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) {
      return std::strtod(line.c_str() + 6, nullptr) / 1024;
    }
  }
  return 0;
}

bool failed(const pf::Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return false;
}

bool measureFile(std::size_t wanted) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("explore_bench_" + std::to_string(::getpid()));
  constexpr std::size_t kOfARun = 1000;
  constexpr int kLooks = 200;
  const double before = residentMb();
  auto file = pf::app::ExplorationFile::open(path, {"/t", "/p", "b", "", 4, false}, false);
  if (!file) {
    return failed(file.error());
  }
  std::mt19937_64 draw(1);
  for (std::size_t made = 0; made < wanted; made += kOfARun) {
    std::vector<pf::app::OpenBranch> branches(std::min(kOfARun, wanted - made));
    for (std::size_t i = 0; i < branches.size(); ++i) {
      branches[i].branch.key = {draw(), draw()};
      branches[i].branch.step = static_cast<std::uint32_t>(i);
      branches[i].branch.takes = {1, 0};
      branches[i].flips = static_cast<std::uint32_t>(1 + made / (20 * kOfARun));
    }
    pf::app::FiledRun run;
    run.outcome.name = "ok";
    if (const auto filed = file->file(run, branches, {}); !filed) {
      return failed(filed.error());
    }
  }
  std::vector<double> looks;
  for (int i = 0; i < kLooks; ++i) {
    pf::app::OpenBranch open;
    looks.push_back(milliseconds([&] {
      const auto next = file->next(1000, {});
      open = next && *next ? **next : open;
    }));
    if (const pf::Status given = file->giveUp(open.branch.key, ""); !given) {
      return failed(given.error());
    }
  }
  const double counted = milliseconds([&] { (void)file->counts(1000); });
  std::printf("%zu open branches: %.0f bytes of file each, %.1f MB of memory in all\n", wanted,
              static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(wanted),
              residentMb() - before);
  std::printf("  the next one: median %.2f ms; counting them for a line of progress: %.0f ms\n",
              median(looks), counted);
  std::filesystem::remove(path);
  return true;
}

bool measureRun(int ranks, std::size_t events) {
  pf::Execution execution = pf::bench::makeExecution({.ranks = ranks, .events = events});
  pf::matchMessages(execution);
  std::vector<pf::Race> races;
  std::printf("%d ranks, %zu events\n", ranks, events);
  std::printf("  races: %.0f ms\n", milliseconds([&] { races = pf::findRaces(execution); }));
  std::unique_ptr<pf::Choices> choices;
  std::printf("  choices: %.0f ms\n",
              milliseconds([&] { choices = std::make_unique<pf::Choices>(execution); }));
  std::vector<pf::RunStep> steps;
  std::printf("  steps: %.0f ms\n", milliseconds([&] {
                const auto made = pf::stepsOf(*choices, {});
                steps = made ? *made : steps;
              }));
  std::vector<pf::Branch> branches;
  const double shown =
      milliseconds([&] { branches = pf::branchesOf(execution, *choices, races, steps); });
  std::printf("  branches that it shows: %zu of %zu steps, %.0f ms\n", branches.size(),
              steps.size(), shown);
  std::vector<double> starts;
  std::mt19937 draw(1);
  for (int i = 0; i < 20 && !branches.empty(); ++i) {
    const pf::Branch& branch = branches[draw() % branches.size()];
    starts.push_back(milliseconds([&] { (void)pf::startOf(execution, *choices, steps, branch); }));
  }
  std::printf("  beginning of a branch's run: median %.1f ms\n", median(starts));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at, unsigned long otherwise) {
    return argc > at ? std::strtoul(argv[at], nullptr, 10) : otherwise;
  };
  const bool done = measureFile(number(1, 1000000)) &&
                    measureRun(static_cast<int>(number(2, 1024)), number(3, 1000000));
  return done ? 0 : 1;
}
