// SPDX-License-Identifier: GPL-3.0-or-later
// Speed of writing and reading an execution, in CPU time: db_bench [EVENTS [DIRECTORY]].
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "db/tests/sample.h"

namespace {

double cpuSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void report(const char* what, double count, double seconds) {
  std::printf("%-32s %10.0f in %7.3f s CPU: %6.2f M/s\n", what, count, seconds,
              count / seconds / 1e6);
}

/// Each receive races, with the message that its sender sends next.
std::vector<pf::Race> racesOf(const pf::Execution& execution) {
  std::vector<pf::Race> races;
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    const std::vector<pf::PostedReceive>& receives = execution.ranks[rank].receives;
    for (std::uint32_t i = 0; i + 1 < receives.size(); ++i) {
      races.push_back(
          {static_cast<pf::Rank>(rank), false, i, receives[i].message, {receives[i + 1].message}});
    }
  }
  return races;
}

int run(std::size_t events, const std::string& parent) {
  using namespace pf::db;  // NOLINT(google-build-using-namespace)
  const Directory directory(parent);
  const std::string path = directory.file("a.pft");
  const pf::Execution execution = largeExecution(8, events);
  LogicalTimes times;
  double rows = 0;
  for (const pf::RankHistory& history : execution.ranks) {
    times.emplace_back(history.events.size(), 7U);
    rows +=
        static_cast<double>(history.events.size() + history.receives.size() + history.sends.size());
  }
  double start = cpuSeconds();
  pf::Result<TraceWriter> writer = TraceWriter::create(path, Existing::Replace);
  RunInfo info;
  info.ranks = 8;
  writer->setRun(info);
  if (!writer->writeExecution(execution, {}, times).ok() || !writer->finish().ok()) {
    return 1;
  }
  report("rows written (event + receive + message)", rows, cpuSeconds() - start);
  report("events written", static_cast<double>(events), cpuSeconds() - start);
  start = cpuSeconds();
  pf::Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadWrite);
  if (!store.ok() || !store->readExecution(&times).ok()) {
    return 1;
  }
  report("rows read and verified", rows, cpuSeconds() - start);
  start = cpuSeconds();
  if (!store->replaceExecution(execution, {}, times).ok()) {
    return 1;
  }
  report("rows replaced", rows, cpuSeconds() - start);
  const auto size = static_cast<double>(std::filesystem::file_size(path));
  std::printf("%.1f bytes of file for each event\n", size / static_cast<double>(events));
  const std::vector<pf::Race> races = racesOf(execution);
  const std::vector<std::string> classes(races.size(), "work.c:120 <- work.c:90 work.c:95");
  const auto count = static_cast<double>(races.size());
  start = cpuSeconds();
  if (!store->replaceExecution(execution, races, times, classes).ok()) {
    return 1;
  }
  report("races replaced, with the rows", count, cpuSeconds() - start);
  start = cpuSeconds();
  if (!store->races().ok()) {
    return 1;
  }
  report("races read and verified", count, cpuSeconds() - start);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200000;
  return run(events, argc > 2 ? argv[2] : "/dev/shm");
}
