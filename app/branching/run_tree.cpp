// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/run_tree.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <set>

#include "app/collation/failure.h"
#include "app/files/paths.h"
#include "db/store/origin.h"
#include "replay_engine/base/shown_text.h"

namespace pf::app {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostTraces = 2000;
constexpr const char* kExploration = ".explore.d";

struct Found {
  TreeRun run;
  std::string parentUuid;
  std::string parentFile;
};

Found foundIn(const std::string& file, db::TraceFacts facts) {
  Found found;
  found.run.file = file;
  found.run.uuid = facts.run.uuid;
  found.run.createdUtc = facts.run.createdUtc;
  if (const auto failed = whatFailed(facts.ranks, facts.run.exitStatus)) {
    found.run.endedWell = false;
    found.run.ended = failed->sentence;
  } else {
    found.run.ended = "ended well";
  }
  if (facts.branch) {
    found.run.madeBy = std::move(facts.branch->madeBy);
    found.parentUuid = std::move(facts.branch->parentUuid);
    found.parentFile = std::move(facts.branch->parentFile);
    for (db::BranchFlip& flip : facts.flips) {
      found.run.flips.push_back(std::move(flip.text));
    }
  }
  return found;
}

/// The traces of some directories, each read once.
class Finder {
 public:
  Status begin(const std::string& trace) {
    Result<db::TraceFacts> facts = db::readFacts(trace);
    if (!facts) {
      return facts.error();
    }
    m_seen.insert(trace);
    take(trace, std::move(*facts));
    while (!m_directories.empty()) {
      const std::string directory = m_directories.front();
      m_directories.pop_front();
      readDirectory(directory);
    }
    return {};
  }

  [[nodiscard]] const std::vector<Found>& found() const { return m_found; }
  [[nodiscard]] bool all() const { return m_seen.size() < kMostTraces; }

 private:
  void take(const std::string& file, db::TraceFacts facts) {
    Found found = foundIn(file, std::move(facts));
    if (!m_uuids.insert(found.run.uuid).second) {  // a copy
      return;
    }
    look(fs::path(file).parent_path());
    if (!found.parentFile.empty() && found.parentFile.front() == '/') {
      look(fs::path(found.parentFile).parent_path());
    }
    m_found.push_back(std::move(found));
  }

  /// There, and where explorations there keep theirs; of such a directory, also where it lies.
  void look(const fs::path& directory) {
    if (m_known.insert(directory.string()).second) {
      m_directories.push_back(directory.string());
    }
    if (directory.string().ends_with(kExploration)) {
      look(directory.parent_path());
    }
  }

  void readDirectory(const std::string& directory) {
    std::error_code error;
    std::vector<std::string> traces;
    for (fs::directory_iterator at(directory, error), end; !error && at != end;
         at.increment(error)) {
      const std::string path = at->path().string();
      if (path.ends_with(kExploration) && isDirectory(path)) {
        look(at->path());
      } else if (path.ends_with(".pft") && isFile(path)) {
        traces.push_back(path);
      }
    }
    std::ranges::sort(traces);
    for (const std::string& trace : traces) {
      if (m_seen.size() >= kMostTraces || !m_seen.insert(trace).second) {
        continue;
      }
      if (Result<db::TraceFacts> facts = db::readPresentFacts(trace); facts) {
        take(trace, std::move(*facts));
      }
    }
  }

  std::vector<Found> m_found;
  std::set<std::string> m_seen;
  std::set<std::string> m_uuids;
  std::set<std::string> m_known;
  std::deque<std::string> m_directories;
};

/// The tree of the first of `found`.
class Grown {
 public:
  explicit Grown(const std::vector<Found>& found) : m_found(found) {
    for (const Found& each : found) {
      m_byUuid.emplace(each.run.uuid, &each);
      if (!each.parentUuid.empty()) {
        m_branches[each.parentUuid].push_back(&each);
      }
    }
    for (auto& [uuid, branches] : m_branches) {
      std::ranges::stable_sort(branches, {}, [](const Found* each) {
        return std::pair(each->run.createdUtc, each->run.file);
      });
    }
    const Found* root = &found.front();
    std::set<const Found*> above{root};  // a trace may say that it comes from itself
    while (const Found* parent = parentOf(*root)) {
      if (!above.insert(parent).second) {
        break;
      }
      root = parent;
    }
    if (!root->parentUuid.empty() && parentOf(*root) == nullptr) {
      addMissing(*root);
    } else {
      add(*root, {}, 0);
    }
  }

  RunTree take() { return std::move(m_tree); }

 private:
  [[nodiscard]] const Found* parentOf(const Found& run) const {
    const auto parent = m_byUuid.find(run.parentUuid);
    return parent == m_byUuid.end() ? nullptr : parent->second;
  }

  /// The run that is not there, and all its branches.
  void addMissing(const Found& branch) {
    TreeRun missing;
    missing.file = branch.parentFile;
    missing.uuid = branch.parentUuid;
    missing.found = false;
    m_tree.runs.push_back(std::move(missing));
    for (const Found* each : m_branches[branch.parentUuid]) {
      add(*each, 0, 1);
    }
  }

  void add(const Found& run, std::optional<std::size_t> parent, std::size_t depth) {
    if (!m_added.insert(&run).second) {
      return;
    }
    const std::size_t number = m_tree.runs.size();
    m_tree.runs.push_back(run.run);
    m_tree.runs.back().parent = parent;
    m_tree.runs.back().depth = depth;
    if (&run == &m_found.front()) {
      m_tree.here = number;
    }
    if (const auto branches = m_branches.find(run.run.uuid); branches != m_branches.end()) {
      for (const Found* each : branches->second) {
        add(*each, number, depth + 1);
      }
    }
  }

  const std::vector<Found>& m_found;
  std::map<std::string, const Found*> m_byUuid;
  std::map<std::string, std::vector<const Found*>> m_branches;
  std::set<const Found*> m_added;
  RunTree m_tree;
};

/// Of a stranger's, perhaps.
std::string oneLine(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return shown(text);
}

std::string lineOf(const TreeRun& run, bool here) {
  std::string text(run.depth * 2, ' ');
  text += (here ? "* " : "  ") + oneLine(run.file);
  return text + (run.found ? ": " + oneLine(run.ended) : ": is not there any more");
}

}  // namespace

Result<RunTree> runTree(const std::string& trace) {
  Finder finder;
  if (Status begun = finder.begin(absolutePath(trace)); !begun) {
    return begun.error();
  }
  RunTree tree = Grown(finder.found()).take();
  tree.all = finder.all();
  return tree;
}

std::string runTreeText(const RunTree& tree) {
  std::string text;
  for (std::size_t i = 0; i < tree.runs.size(); ++i) {
    const TreeRun& run = tree.runs[i];
    text += lineOf(run, i == tree.here) + "\n";
    for (const std::string& flip : run.flips) {
      text += std::string(run.depth * 2 + 4, ' ') + oneLine(flip) + "\n";
    }
  }
  if (!tree.all) {
    text += "not all traces that lie beside these were looked at: there are more than " +
            std::to_string(kMostTraces) + "\n";
  }
  return text;
}

std::string runTreeJson(const RunTree& tree) {
  using nlohmann::json;
  json document = {{"here", tree.here}, {"all", tree.all}, {"runs", json::array()}};
  for (const TreeRun& run : tree.runs) {
    document["runs"].push_back({{"file", run.file},
                                {"uuid", run.uuid},
                                {"parent", run.parent ? json(*run.parent) : json()},
                                {"found", run.found},
                                {"made_by", run.madeBy},
                                {"flips", run.flips},
                                {"ended_well", run.endedWell},
                                {"ended", run.ended},
                                {"created", run.createdUtc}});
  }
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace pf::app
