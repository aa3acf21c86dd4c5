// Data port: one analysed execution as the views want it. The application fills it once (messages
// matched, races found, logical times computed) and shares it read-only. QtCore only.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <QString>

#include "core/execution.h"
#include "core/races.h"

namespace pf::views {

enum class RankEndKind { Unknown, Finished, Crashed, Aborted, Hung, Killed, Cut };

/// How one rank ended. `text` is for people: "SIGSEGV in collect()", "MPI_Abort(1)".
struct RankEnd {
  RankEndKind kind = RankEndKind::Unknown;
  QString text;
};

/// The event at which the run failed; invalid if it did not fail.
struct Failure {
  EventRef event;
  QString reason;
};

struct TraceData {
  QString title;
  Execution execution;  ///< after matchMessages()
  std::vector<Race> races;
  std::vector<std::vector<std::uint32_t>> logicalTimes;  ///< [rank][serial - 1], from 1
  std::vector<RankEnd> ends;                             ///< by rank; may be short
  Failure failure;
  std::vector<QString> hosts;  ///< by rank; may be short
};

using TraceDataPtr = std::shared_ptr<const TraceData>;

}  // namespace pf::views
