// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/rank_notes.h"

#include "mpi_calls.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace pf::app {
namespace {

/// What a note's call is to people; empty: nothing that is known.
std::string noteName(std::uint32_t call, const Execution& execution) {
  if (call == kCallInit_thread) {
    return "calls of MPI from a thread that pthread_create did not make, first";
  }
  if (call >= kFirstNote && call < kFirstNote + kNoteKinds) {
    return kNotGuaranteedTexts[call - kFirstNote];
  }
  if (call >= kFirstAlone) {
    const std::string name = noteName(call - kFirstAlone, execution);
    return name.empty() ? name : kContentsEnd + name;
  }
  return call < execution.callNames.size() ? execution.callNames[call] : std::string();
}

/// "rma.c:12": where a call of the rank stands.
std::string loggedPlace(const RankLog& log, const LoggedSite& site, const Execution& execution) {
  const std::string module = site.module < log.modules.size() ? log.modules[site.module] : "";
  const std::string source = site.file < log.sourceFiles.size() ? log.sourceFiles[site.file] : "";
  const auto line = static_cast<std::int32_t>(site.line);
  const auto resolved =
      std::find_if(execution.sites.begin(), execution.sites.end(), [&](const CallSite& each) {
        return each.offset == site.address && each.module == module &&
               (source.empty() || each.file != source || each.line == line);
      });
  return siteText(execution, static_cast<std::uint32_t>(resolved - execution.sites.begin()));
}

/// Whether somebody or something ended the rank, or its record, in the middle of what it did.
bool wasCut(const RankLog& log, const RunFacts& facts) {
  const auto end = facts.ends.find(log.rank);
  return !log.complete && (end == facts.ends.end() || end->second.signal || !end->second.status);
}

/// Of a log of choices, which has no posts: whether some receive from any source has no source,
/// though later ones have theirs. Those that were cancelled have none either.
bool lacksSources(const RankLog& log) {
  std::size_t accountedFor = log.cancelledPosts.size();
  for (const auto& page : log.wildSources.pages()) {
    accountedFor += static_cast<std::size_t>(
        std::count_if(page.second.begin(), page.second.end(),
                      [](std::int32_t source) { return source != kPinUnknown; }));
  }
  return accountedFor < log.wildSources.size();
}

/// Of a rank that was cut: receives from any source that it had posted and not seen complete. MPI
/// may have put a message into their buffers by then, and a replay another one, or none.
std::vector<std::string> pendingReceives(const RankLog& log, const Execution& execution) {
  const std::string text =
      "buffer of a receive from any source that was pending where the record ends";
  if (!log.hasEvents) {
    return lacksSources(log) ? std::vector{text} : std::vector<std::string>{};
  }
  std::set<std::uint32_t> sites;
  const auto& events = log.history.events;
  for (const PostedReceive& receive : log.history.receives) {
    if (receive.state != ReceiveState::Pending || receive.completion != 0 ||
        receive.wantedSource != kAnySource || receive.post == 0 || receive.post > events.size()) {
      continue;
    }
    const Event& post = events[receive.post - 1];  // one that blocks has nothing to look at yet
    if (post.kind == EventKind::Post || post.kind == EventKind::Start) {
      sites.insert(post.site);
    }
  }
  std::vector<std::string> notes;
  for (const std::uint32_t site : sites) {
    const std::string place =
        site < log.sites.size() ? loggedPlace(log, log.sites[site], execution) : "?";
    std::string note = text + ", posted at " + place;
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
      notes.push_back(std::move(note));
    }
  }
  return notes;
}

}  // namespace

std::string noteOfStrange(const std::string& file) {
  return "file that somebody else wrote during the run, " + file;
}

std::vector<std::string> notesOf(const RankLog& log, const RunFacts& facts,
                                 const Execution& execution) {
  std::vector<std::string> notes;
  for (const std::uint32_t number : log.notes) {
    if (number >= log.sites.size() || noteName(log.sites[number].call, execution).empty()) {
      continue;
    }
    const LoggedSite& site = log.sites[number];
    notes.push_back(noteName(site.call, execution) + " at " + loggedPlace(log, site, execution));
  }
  if (log.unseenMatches > 0) {
    notes.emplace_back(
        "receive from any source, pending where the record ends, which may have taken a message");
  }
  if (wasCut(log, facts)) {
    std::vector<std::string> pending = pendingReceives(log, execution);
    std::move(pending.begin(), pending.end(), std::back_inserter(notes));
  }
  return notes;
}

}  // namespace pf::app
