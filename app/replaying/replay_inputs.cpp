// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replaying/replay_inputs.h"

#include <csignal>
#include <utility>

#include "app/collation/failure.h"
#include "replay_engine/log_format/system_values.h"

namespace pf::app {
namespace {

/// Inputs that are named before the ranks begin.
constexpr std::size_t kMostListed = 40;

std::string howText(int status, int signal) {
  return signal > 0 ? "by signal " + std::to_string(signal)
                    : "with exit status " + std::to_string(status);
}

}  // namespace

Result<RecordedUse> recordedUse(db::TraceStore& store) {
  Result<std::vector<db::NotGuaranteed>> notGuaranteed = store.notGuaranteed();
  Result<std::vector<db::SeenInput>> inputs = store.seenInputs();
  if (!notGuaranteed || !inputs) {
    return notGuaranteed ? inputs.error() : notGuaranteed.error();
  }
  return RecordedUse{std::move(*notGuaranteed), std::move(*inputs), store.ranks(),
                     store.run().host};
}

ReplayInputs::Lines ReplayInputs::look(const RecordedUse& used) {
  const std::string threads =
      kNotGuaranteedTexts[static_cast<std::size_t>(NotGuaranteedKind::Threads)];
  for (const db::NotGuaranteed& each : used.notGuaranteed) {
    m_threads = m_threads || each.what.find(threads) != std::string::npos;
  }
  m_changed = changedInputs(used.inputs, used.ranks, used.host);
  if (m_changed.names.empty()) {
    return {};
  }
  return {"inputs differ from the recorded run's: " + firstOf(m_changed.names, kMostListed) +
          "; this replay may differ"};
}

ReplayInputs::Lines ReplayInputs::launched(const protocol::RankLaunched& rank, bool quiet) {
  protocol::LaunchContext news;
  for (const protocol::ContextFact& fact : rank.environment) {
    if (m_variables.insert(fact.name).second) {
      news.push_back(fact);
    }
  }
  const EnvironmentNews told = environmentNews(news, m_changed.asked);
  Lines lines;
  if (!told.given.empty() && !quiet) {
    lines.push_back("the program gets the recorded environment again: " + firstOf(told.given));
  }
  if (!told.unasked.empty() && !quiet) {
    lines.push_back("not given back, and not asked for by name: " + firstOf(told.unasked));
  }
  if (!told.differ.empty()) {
    lines.push_back("the environment differs from the recorded run's: " + firstOf(told.differ) +
                    "; this replay may differ");
    m_changed.names.insert(m_changed.names.end(), told.differ.begin(), told.differ.end());
  }
  return lines;
}

std::optional<Error> ReplayInputs::ended(const protocol::RankExited& rank,
                                         const db::TraceStore& store) const {
  const auto index = static_cast<std::size_t>(rank.rank);
  // So the launcher ends the others; below 0 its agent was lost.
  const bool byOthers = rank.signal == SIGTERM || rank.signal == SIGKILL || rank.signal < 0;
  if (rank.rank < 0 || index >= store.ranks().size() || byOthers) {
    return std::nullopt;
  }
  const db::RankInfo& recorded = store.ranks()[index];
  const std::string who = "rank " + std::to_string(rank.rank) + " ended ";
  const std::string how = howText(rank.exitStatus, rank.signal);
  if (rank.serial < recorded.lastSerial) {
    return Error{ErrorCode::Divergence,
                 who + "after event " + std::to_string(rank.serial) + " of " +
                     std::to_string(recorded.lastSerial) + ", " + how,
                 advice("The recorded run went on: were the program, its input or its environment "
                        "changed?")};
  }
  const int signal = recorded.exitSignal.value_or(0);
  const int status = recorded.exitStatus.value_or(0);
  const bool known = store.run().complete && (recorded.exitStatus || recorded.exitSignal) &&
                     !mayBeEndedByLauncher(recorded, store.ranks());
  if (known && (signal != rank.signal || (signal == 0 && status != rank.exitStatus))) {
    return Error{ErrorCode::Divergence,
                 who + how + ", in the recorded run " + howText(status, signal),
                 advice("Something decides that is not recorded ('photofinish info' lists what is "
                        "known), or the program was changed.")};
  }
  return std::nullopt;
}

void ReplayInputs::noteBuild(const protocol::RankHello& rank, const db::TraceStore& store) {
  const auto index = static_cast<std::size_t>(rank.rank);
  if (rank.rank < 0 || index >= store.ranks().size()) {
    return;
  }
  const std::string& recorded = store.ranks()[index].buildId;
  if (!recorded.empty() && !rank.buildId.empty() && recorded != rank.buildId) {
    m_otherBuild = rank.executable;
  }
}

std::string ReplayInputs::advice(std::string text) const {
  if (!m_otherBuild.empty()) {
    text = m_otherBuild + " is not the build that was recorded (--force): that may be it. " + text;
  }
  if (m_threads) {
    text +=
        " Threads of a rank share memory, and in which order without a lock is not recorded: "
        "that may be it, too.";
  }
  return text +
         (m_changed.names.empty() ? "" : " Inputs differ: " + firstOf(m_changed.names) + ".");
}

std::string ReplayInputs::atEnd() const {
  return m_changed.names.empty() ? "" : "inputs differ: " + firstOf(m_changed.names);
}

}  // namespace pf::app
