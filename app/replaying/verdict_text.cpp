// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replaying/verdict_text.h"

#include <algorithm>

#include "app/collation/event_text.h"

namespace pf::app {
namespace {

std::string placeOf(const protocol::CodePlace& place) {
  return place.text.empty() ? std::string() : " at " + place.text;
}

std::string historyText(const protocol::RankDiverged& diverged) {
  std::string text = diverged.history.empty() ? "" : "\n  its last events before that:";
  for (const protocol::PastEvent& event : diverged.history) {
    text += "\n    " + std::to_string(event.serial) + "  " + event.call;
    if (event.peer >= -1) {
      text += event.peer < 0 ? " any source" : " rank " + std::to_string(event.peer);
      text += event.tag < 0 ? ", any tag" : ", tag " + std::to_string(event.tag);
    }
    text += placeOf(event.place);
  }
  return text;
}

}  // namespace

std::string DivergenceText::twoLines() const {
  return "\n  expected: " + expected + "\n  got:      " + got;
}

DivergenceText divergenceText(const Execution& execution, const protocol::RankDiverged& diverged) {
  const EventRef at{diverged.rank, diverged.serial};
  const auto rank = static_cast<std::size_t>(diverged.rank);
  const bool known =
      diverged.serial >= 1 && (diverged.goesOn || diverged.expected.rfind("MPI_", 0) == 0) &&
      rank < execution.ranks.size() && diverged.serial <= execution.ranks[rank].events.size();
  const std::size_t size = diverged.expected.find(", ");  // behind the call
  const std::string more = size == std::string::npos ? "" : diverged.expected.substr(size);
  return {known ? eventText(execution, at) + more : diverged.expected,
          diverged.got + placeOf(diverged.place), historyText(diverged)};
}

std::string OtherContents::first() const {
  const auto first = std::ranges::min_element(
      m_seen, {}, [](const protocol::RankDiverged& differs) { return differs.time; });
  return "other contents than recorded, first at rank " + std::to_string(first->rank) + ", event " +
         std::to_string(first->serial);
}

std::string OtherContents::atEnd() const {
  return "the replay did what the recorded run did, but with " + first() +
         (m_seen.size() == 1 ? "" : " (of " + std::to_string(m_seen.size()) + " ranks)");
}

Stall meaningOf(const protocol::Verdict& verdict, const db::RunInfo& run) {
  if (!run.complete && verdict.asRecorded) {
    return Stall::AsRecorded;
  }
  return verdict.proven ? Stall::Proven : Stall::MayGoOn;
}

const char* words(Stall stall) {
  switch (stall) {
    case Stall::AsRecorded:
      return "the replay makes no progress; the recording ends here, too";
    case Stall::Proven:
      return "the replay makes no progress, though the recorded run did";
    case Stall::MayGoOn:
      break;
  }
  return "nothing gets on in the replay, which may be right, in a long operation or with much data";
}

}  // namespace pf::app
