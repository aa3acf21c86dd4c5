// SPDX-License-Identifier: GPL-3.0-or-later
// Traces for the tests: one small and with everything in it, one as large as asked for.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "db/store/trace_store.h"
#include "db/store/trace_writer.h"
#include "replay_engine/execution/execution.h"
#include "replay_engine/races/races.h"

namespace pf::db {

/// A directory of its own, removed at the end.
class Directory {
 public:
  explicit Directory(const std::string& parent = "/dev/shm") {
    m_path = parent + "/pf_db-XXXXXX";
    if (::mkdtemp(m_path.data()) == nullptr) {
      std::abort();
    }
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return m_path + "/" + name; }
  [[nodiscard]] const std::string& path() const { return m_path; }

 private:
  std::string m_path;
};

inline std::vector<std::uint8_t> readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<std::uint8_t> bytes(file ? static_cast<std::size_t>(file.tellg()) : 0);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

inline void writeFile(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

/// Everything that a trace can hold.
struct Content {
  RunInfo run;
  std::vector<RankInfo> ranks;
  std::vector<LaunchFact> launch;
  std::vector<SeenInput> inputs;
  std::vector<Printed> printed;
  std::vector<NotGuaranteed> notGuaranteed;
  std::vector<ModuleInfo> modules;
  std::vector<std::vector<std::vector<std::uint8_t>>> logs;  // [rank][ordinal]
  /// rank-N.payload, and what a trace says of it. Written from the one, read into both.
  std::map<Rank, std::vector<std::uint8_t>> payloadFiles;
  std::vector<PayloadInfo> payloads;
  Execution execution;
  std::vector<Race> races;
  std::vector<std::string> raceClasses;
  LogicalTimes times;
  std::vector<Breakpoint> breakpoints;
  std::vector<Watch> watches;
  std::vector<Cycle> cycles;
  std::vector<CycleStop> stops;
  std::vector<BreakpointHit> hits;
  std::vector<Note> notes;
  std::vector<RankGroup> groups;
  std::vector<RankArrangement> arrangements;
  std::vector<BenignRace> benign;
  std::vector<PartOfJob> parts;
  std::vector<JudgedRace> judged;
  std::vector<Branch> branches;
  std::vector<BranchFlip> flips;
};

Content smallContent();
/// The same, of a recording of groups: rank 1 has all that came from outside, rank 2 less, rank 0 nothing.
Content groupContent();
/// `events` events in all, on `ranks` ranks: sends round the ring, each received.
Execution largeExecution(int ranks, std::size_t events);

/// An execution over several chunks with completions of all kinds, and more races than a chunk holds;
/// those of successive receives resemble one another. tests/data/format11-racing.pft.zst has it.
Content racingContent();

/// Writes recording and execution, then the session tables.
Status writeContent(const std::string& path, const Content& content);
/// All of a trace, or the first error.
Result<Content> readContent(const std::string& path);
/// A readable dump: equal dumps, equal contents.
std::string dump(const Content& content);
std::string dump(const Execution& execution);
std::string dump(const std::vector<Race>& races, const std::vector<std::string>& classes);

}  // namespace pf::db
