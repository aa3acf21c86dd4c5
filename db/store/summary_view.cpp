// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/store/summary_view.h"

#include <utility>

#include "db/columns/execution_columns.h"
#include "db/columns/execution_rows.h"
#include "db/columns/summary_store.h"
#include "db/sqlite/database.h"
#include "db/store/open_trace.h"

namespace pf::db {

static_assert(SummaryView::kTileRanks == TileGrid::kRanks &&
              SummaryView::kTileBins == TileGrid::kBins);

struct SummaryView::State {
  std::unique_ptr<Database> database;
  SummaryReader reader;
  TraceOutline outline;
};

SummaryView::SummaryView(std::unique_ptr<State> state) : m_state(std::move(state)) {}
SummaryView::SummaryView(SummaryView&&) noexcept = default;
SummaryView& SummaryView::operator=(SummaryView&&) noexcept = default;
SummaryView::~SummaryView() = default;

Result<SummaryView> SummaryView::open(const std::string& path) {
  Result<Database> database = openTrace(path, Database::Access::Read);
  if (!database) {
    return database.error();
  }
  auto kept = std::make_unique<Database>(std::move(database).value());
  Result<Transaction> transaction = Transaction::begin(*kept, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  Execution names;
  if (Status status = readNameRows(*kept, names); !status) {
    return status.error();
  }
  Result<std::vector<std::uint64_t>> events = eventCounts(*kept, names.ranks.size());
  if (!events) {
    return events.error();
  }
  Result<SummaryReader> reader = SummaryReader::start(*kept, std::move(*events));
  if (!reader) {
    return reader.error();
  }
  Result<TraceOutline> outline = outlineOf(*reader);
  if (!outline || outline->levels == 0) {
    return outline ? Error{ErrorCode::NotFound, "'" + path + "' has no pyramid", {}}
                   : outline.error();
  }
  return SummaryView(std::make_unique<State>(
      State{std::move(kept), std::move(reader).value(), std::move(outline).value()}));
}

const TraceOutline& SummaryView::outline() const {
  return m_state->outline;
}

std::size_t SummaryView::bins(std::size_t level) const {
  return m_state->reader.grid(level).bins;
}

std::uint32_t SummaryView::clockDistance() const {
  return m_state->reader.outline().every;
}

std::size_t SummaryView::clocksAChunk() const {
  return db::clocksAChunk(m_state->reader.events().size());
}

Status SummaryView::clocks(bool future, Rank rank, std::size_t ordinal,
                           std::vector<std::uint32_t>& values) {
  return m_state->reader.clockChunk(future ? Summary::Future : Summary::Past, rank, ordinal,
                                    values);
}

Status SummaryView::tile(std::size_t level, std::size_t row, std::size_t column,
                         std::vector<DensityCell>& cells) {
  const TileGrid grid = m_state->reader.grid(level);
  if (level >= m_state->outline.levels || row >= grid.down() || column >= grid.across()) {
    return Error{ErrorCode::Usage, "the pyramid has no such tile", {}};
  }
  return m_state->reader.tile(level, row, column, cells);
}

}  // namespace pf::db
