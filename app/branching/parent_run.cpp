// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/parent_run.h"

#include "db/store/trace_store.h"

namespace pf::app {
namespace {

std::string siteWords(const Execution& execution, std::uint32_t site, FrameResolver& resolver) {
  if (site >= execution.sites.size()) {
    return "?";
  }
  const CallSite& raw = execution.sites[site];
  return siteText(raw.file.empty() ? resolver.frames(raw.module, raw.offset).front() : raw);
}

/// "rank 0's MPI_Recv at app.c:21 (event 2)"
std::string placeWords(const Execution& execution, EventRef at, FrameResolver& resolver) {
  const Event& event = execution.ranks[static_cast<std::size_t>(at.rank)].events[at.serial - 1];
  const std::string call =
      event.call < execution.callNames.size() ? execution.callNames[event.call] : "call";
  return "rank " + std::to_string(at.rank) + "'s " + call + " at " +
         siteWords(execution, event.site, resolver) + " (event " + std::to_string(at.serial) + ")";
}

template <typename T>
Status removeAll(db::SessionTables& tables) {
  const Result<std::vector<T>> rows = tables.all<T>();
  if (!rows) {
    return rows.error();
  }
  for (const T& row : *rows) {
    if (Status removed = tables.remove<T>(row.id); !removed) {
      return removed;
    }
  }
  return {};
}

}  // namespace

std::string takenText(const Execution& execution, EventRef receive, EventRef send,
                      FrameResolver& resolver) {
  return placeWords(execution, receive, resolver) + " takes rank " + std::to_string(send.rank) +
         "'s message (event " + std::to_string(send.serial) + ")";
}

std::string gaveText(const Execution& execution, EventRef call, const std::string& requests,
                     FrameResolver& resolver) {
  return placeWords(execution, call, resolver) + " gives request " + requests;
}

Status keepParent(const std::string& trace, const ParentRun& parent,
                  const std::vector<TakenInstead>& flips) {
  Result<db::TraceStore> store = db::TraceStore::open(trace, db::TraceStore::Mode::ReadWrite);
  if (!store) {
    return store.error();
  }
  db::SessionTables tables = store->session();
  if (Status removed = removeAll<db::BranchFlip>(tables); !removed) {
    return removed;
  }
  if (Status removed = removeAll<db::Branch>(tables); !removed) {
    return removed;
  }
  std::vector<db::BranchFlip> rows;
  rows.reserve(flips.size());
  for (const TakenInstead& flip : flips) {
    rows.push_back(
        {0, flip.receive.rank, flip.receive.serial, flip.send.rank, flip.send.serial, flip.text});
  }
  if (Status added = tables.addAll(rows); !added) {
    return added;
  }
  const Result<std::int64_t> added =
      tables.add(db::Branch{0, parent.uuid, parent.file, parent.madeBy});
  return added ? Status() : Status(added.error());
}

}  // namespace pf::app
