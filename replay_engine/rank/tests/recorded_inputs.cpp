// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/rank/tests/recorded_inputs.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "replay_engine/rank/engine/choice_stream.h"

namespace pf::test {
namespace {

constexpr const char* kStates[] = {"File",   "Absent", "Directory", "Variable",
                                   "Exists", "Link",   "Young",     "Written"};

/// The results of calls, put together of their pieces.
std::vector<std::string> resultsOf(const std::vector<unsigned char>& bytes) {
  std::vector<std::string> results;
  const unsigned char* at = bytes.data();
  const unsigned char* const end = at + bytes.size();
  for (bool more = false; at < end;) {
    const std::uint64_t size = takeVarint(&at, end);
    if (!more) {
      results.emplace_back();
    }
    results.back().append(reinterpret_cast<const char*>(at), size);
    at += size;
    more = size == kValueBytes;
  }
  return results;
}

struct KeptInput {
  InputState state;
  std::string name;
};

std::vector<KeptInput> keptInputs(const RankLog& log) {
  std::vector<KeptInput> inputs;
  for (const std::string& result : resultsOf(valuesIn(log, ValueKind::Input))) {
    inputs.push_back({static_cast<InputState>(result.at(sizeof(InputFile))),
                      result.substr(sizeof(InputFile) + 1)});
  }
  return inputs;
}

}  // namespace

const std::vector<unsigned char>& valuesIn(const RankLog& log, ValueKind kind) {
  return log.values[static_cast<std::size_t>(kind)];
}

std::string inputsIn(const RankLog& log, const std::string& directory) {
  std::string text;
  for (const KeptInput& input : keptInputs(log)) {
    if (input.name.starts_with(directory + "/") || input.name == directory) {
      const std::string name = input.name.substr(std::min(directory.size() + 1, input.name.size()));
      text += (text.empty() ? "" : ", ") + std::string(kStates[static_cast<int>(input.state)]) +
              " " + (name.empty() ? "." : name);
    }
  }
  return text;
}

std::string variablesIn(const RankLog& log) {
  std::string text;
  for (const KeptInput& input : keptInputs(log)) {
    if (input.state == InputState::Variable) {
      text += (text.empty() ? "" : " ") + input.name;
    }
  }
  return text;
}

bool isNoted(const RankLog& log, NotGuaranteedKind kind) {
  return std::any_of(log.notes.begin(), log.notes.end(), [&](std::uint32_t site) {
    return log.sites.at(site).call == kFirstNote + static_cast<std::uint32_t>(kind);
  });
}

Directory::Directory() {
  std::string pattern = testing::TempDir() + "inputs_XXXXXX";
  m_path = std::filesystem::canonical(::mkdtemp(pattern.data()));
}

Directory::~Directory() {
  std::error_code ignored;
  std::filesystem::remove_all(m_path, ignored);
}

void Directory::write(const std::string& name, const std::string& text) const {
  std::ofstream(*this / name) << text;
  const timespec old[2] = {{1000, 0}, {1000, static_cast<long>(text.size())}};
  ::utimensat(AT_FDCWD, (*this / name).c_str(), old, 0);
}

}  // namespace pf::test
