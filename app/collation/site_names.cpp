// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/site_names.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "app/collation/collate.h"
#include "app/files/paths.h"
#include "replay_engine/races/race_baseline.h"

namespace pf::app {
namespace {

constexpr std::int64_t kLargestSource = std::int64_t{16} << 20;  // bytes

bool g_asBuilt = false;

struct SourceFacts {
  std::int64_t size = 0;
  std::pair<std::int64_t, std::int64_t> changed;  ///< seconds, ns
};

/// Nothing: it is not there, or no file.
std::optional<SourceFacts> sourceFacts(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return std::nullopt;
  }
  return SourceFacts{info.st_size, {info.st_mtim.tv_sec, info.st_mtim.tv_nsec}};
}

std::optional<std::vector<std::string>> readSource(const std::string& source,
                                                   const std::string& module) {
  const std::optional<SourceFacts> text = sourceFacts(source);
  const std::optional<SourceFacts> built = sourceFacts(module);
  if (!text || text->size > kLargestSource || !built ||
      (!g_asBuilt && text->changed > built->changed)) {
    return std::nullopt;
  }
  std::ifstream file(source, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(lineText(line));
  }
  return file.bad() || lines.empty() ? std::nullopt : std::optional(std::move(lines));
}

/// Where a call is, for whom its line's text is not known.
std::string siteWhere(const CallSite& site) {
  return site.file.empty()
             ? "offset " + std::to_string(site.offset) + " of " + fileName(site.module)
             : "line " + std::to_string(site.line) + " of " + fileName(site.file);
}

}  // namespace

void takeSourcesAsBuilt() {
  g_asBuilt = true;
}

const SiteNames::Lines* SiteNames::linesOf(const CallSite& site) {
  const auto [known, isNew] = m_lines.try_emplace({site.file, site.module});
  if (isNew) {  // Python runs what is there
    known->second = readSource(site.file, isOfPython(site) ? site.file : site.module);
  }
  return known->second ? &*known->second : nullptr;
}

std::string SiteNames::functionOf(const CallSite& site) {
  const std::string& innermost = m_resolver.frames(site.module, site.offset).front().function;
  return innermost.empty() || isOfPython(site) ? site.function : innermost;
}

bool SiteNames::isOfPython(const CallSite& site) {
  return !site.file.empty() && (isOfMpi4py(site.module) ||
                                m_resolver.frames(site.module, site.offset).front().file.empty());
}

std::string SiteNames::name(const std::string& call, const CallSite& site) {
  const std::string function = functionOf(site);
  const Lines* lines = site.file.empty() ? nullptr : linesOf(site);
  if (lines == nullptr || site.line < 1 || static_cast<std::size_t>(site.line) > lines->size()) {
    return placeNameWithoutLine(call, function, siteWhere(site));
  }
  const auto at = lines->begin() + (site.line - 1);
  if (at->empty()) {
    return placeNameWithoutLine(call, function, siteWhere(site));
  }
  const std::int32_t declared =
      isOfPython(site) ? 0 : m_resolver.declaredAt(site.module, site.offset);
  const bool inside = declared >= 1 && declared <= site.line;
  const auto first = lines->begin() + (inside ? declared - 1 : 0);
  const auto before = static_cast<std::size_t>(std::count(first, at, *at));
  return placeName(call, function, *at, before + 1);
}

const std::string& SiteNames::place(EventRef ref) {
  const Event& event = m_execution.ranks[static_cast<std::size_t>(ref.rank)].events[ref.serial - 1];
  const auto [known, isNew] = m_known.try_emplace({event.site, event.call});
  if (isNew) {
    const std::string call =
        event.call < m_execution.callNames.size() ? m_execution.callNames[event.call] : "?";
    known->second = event.site < m_execution.sites.size()
                        ? name(call, m_execution.sites[event.site])
                        : placeNameWithoutLine(call, {}, "a place that is not known");
  }
  return known->second;
}

std::string SiteNames::ofClass(const Race& race) {
  std::vector<std::string> sends;
  const auto add = [&](std::uint32_t message) {
    if (message < m_execution.messages.size()) {
      sends.push_back(place(m_execution.messages[message].send));
    }
  };
  add(race.taken);
  std::ranges::for_each(race.alternatives, add);
  return className(place(raceEvent(m_execution, race)), std::move(sends));
}

}  // namespace pf::app
