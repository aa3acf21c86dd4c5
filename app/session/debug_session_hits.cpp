// SPDX-License-Identifier: GPL-3.0-or-later
// Hits of breakpoints: each with its event and the values of the watches there, kept in the trace.
#include <algorithm>
#include <array>

#include <QRegularExpression>

#include "app/session/debug_session.h"
#include "app/session/records/breakpoint_text.h"
#include "app/session/state/frame_values.h"
#include "mi_bridge/stop_values.h"

namespace pf::session {
namespace {

/// Where and how an MPI library says which call has failed, when GDB has stopped the rank there.
struct ErrorPlace {
  const char* call;  ///< expression of its name
  const char* code;
  int classBits;  ///< of the code
  std::array<const char*, 20> classes;
};

/// ompi_errhandler_invoke(handler, object, type, code, call).
constexpr ErrorPlace kOpenMpiErrors{
    "(char*)$r8", "(int)$ecx", -1, {"MPI_SUCCESS",       "MPI_ERR_BUFFER",  "MPI_ERR_COUNT",
                                    "MPI_ERR_TYPE",      "MPI_ERR_TAG",     "MPI_ERR_COMM",
                                    "MPI_ERR_RANK",      "MPI_ERR_REQUEST", "MPI_ERR_ROOT",
                                    "MPI_ERR_GROUP",     "MPI_ERR_OP",      "MPI_ERR_TOPOLOGY",
                                    "MPI_ERR_DIMS",      "MPI_ERR_ARG",     "MPI_ERR_UNKNOWN",
                                    "MPI_ERR_TRUNCATE",  "MPI_ERR_OTHER",   "MPI_ERR_INTERN",
                                    "MPI_ERR_IN_STATUS", "MPI_ERR_PENDING"}};

/// MPIR_Err_return_comm(communicator, call, code): "internal_Recv", and a code with its class in
/// the lowest bits.
constexpr ErrorPlace kMpichErrors{
    "(char*)$rsi", "(int)$edx", 0x7f, {"MPI_SUCCESS",     "MPI_ERR_BUFFER",   "MPI_ERR_COUNT",
                                       "MPI_ERR_TYPE",    "MPI_ERR_TAG",      "MPI_ERR_COMM",
                                       "MPI_ERR_RANK",    "MPI_ERR_ROOT",     "MPI_ERR_GROUP",
                                       "MPI_ERR_OP",      "MPI_ERR_TOPOLOGY", "MPI_ERR_DIMS",
                                       "MPI_ERR_ARG",     "MPI_ERR_UNKNOWN",  "MPI_ERR_TRUNCATE",
                                       "MPI_ERR_OTHER",   "MPI_ERR_INTERN",   "MPI_ERR_IN_STATUS",
                                       "MPI_ERR_PENDING", "MPI_ERR_REQUEST"}};

QString mpiErrorName(const ErrorPlace& place, int code) {
  const auto number = static_cast<std::size_t>(code & place.classBits);
  return code >= 0 && number < place.classes.size() ? QString::fromLatin1(place.classes[number])
                                                    : QStringLiteral("MPI error %1").arg(code);
}

/// As the program calls it.
QString mpiCallName(QString name) {
  static const QRegularExpression kInside(QStringLiteral("^(internal_|P?MPI_)"));
  return name.replace(kInside, QStringLiteral("MPI_"));
}

}  // namespace

void DebugSession::onBreakpointStatus(const mi::BreakpointStatus& status) {
  m_breakpoints.onStatus(status, m_cycles.isEmpty() ? 0 : m_cycles.last().number);
}

void DebugSession::onForeignBreakpoint(mi::Rank rank, mi::BreakpointChange change,
                                       const mi::Breakpoint& bp) {
  if (change == mi::BreakpointChange::Created) {
    Q_EMIT consoleText(
        rank,
        tr("(breakpoint %1 is this GDB's own: it does not come back in the next cycle)\n")
            .arg(bp.number),
        false);
  }
}

void DebugSession::onRankLog(mi::Rank rank, int spec, std::uint64_t serial,
                             const std::string& words) {
  if (const int id = m_breakpoints.idOf(spec); id != 0 && !m_cycles.isEmpty()) {
    Q_EMIT logged({m_cycles.last().number, rank, serial != 0 ? serial : m_state.serialOf(rank), id,
                   toText(words)});
  }
}

void DebugSession::noteStanding(int rank) {
  const EventRef next{rank, m_state.serialOf(rank) + 1};
  for (const int id : m_breakpoints.before(next)) {
    addHit(id, rank, next.serial);
  }
}

void DebugSession::noteDivergence(const EventRef& at) {
  for (const int id : m_breakpoints.onDivergence()) {
    addHit(id, at.rank, at.serial);
  }
}

/// Others stop with a rank that GDB has stopped at a breakpoint: at once, or at their next event.
void DebugSession::stopOthers(const views::Breakpoint& breakpoint, int rank) {
  if (breakpoint.stops == views::StopsWho::Alone) {
    return;
  }
  bool ok = true;
  const QList<int> group = views::parseRankSet(breakpoint.group, ok);
  std::vector<mi::Rank> withGdb;
  for (int other = 0; other < static_cast<int>(m_state.rankInfos.size()); ++other) {
    const bool meant = breakpoint.stops == views::StopsWho::All || group.contains(other);
    if (other == rank || !meant || m_state.now[other].exited) {
      continue;
    }
    mi::GdbSession* gdb = m_fleet.session(other);
    if (gdb != nullptr && m_state.now[other].attached) {
      if (gdb->state() == mi::SessionState::Running) {
        m_pausing.insert(other);
        withGdb.push_back(other);
      }
    } else if (m_state.now[other].state.phase != RankPhase::Stopped) {
      order(protocol::SetStop{other, m_state.serialOf(other) + 1});
    }
  }
  m_fleet.pause(withGdb, [](const mi::GroupResult&) {});
}

void DebugSession::publishMarks() {
  std::vector<views::EventMark> marks = m_bookmarks.all();
  const std::vector<views::EventMark> stops = m_breakpoints.marks();
  marks.insert(marks.end(), stops.begin(), stops.end());
  Q_EMIT marksChanged(marks);
}

int DebugSession::breakpointOf(int rank, const mi::StopEvent& stop) const {
  const int spec = stop.breakpointNumber > 0 ? m_fleet.specOf(rank, stop.breakpointNumber) : 0;
  if (const int id = m_breakpoints.idOf(spec); id != 0) {
    return id;
  }
  if (stop.breakpointNumber == 0 && stop.reason == mi::StopReason::Other && !m_cycles.isEmpty()) {
    return caughtBy(rank);
  }
  return 0;
}

/// GDB does not say that it was a signal's catchpoint that stopped: the one that has a hit more.
int DebugSession::caughtBy(int rank) const {
  const views::Cycle& cycle = m_cycles.last();
  for (const views::Breakpoint& breakpoint : m_breakpoints.all()) {
    const int spec = m_breakpoints.specOf(breakpoint.id);
    if (breakpoint.kind != views::BreakpointKind::Catch || spec == 0) {
      continue;
    }
    const auto known = std::count_if(cycle.recorded.begin(), cycle.recorded.end(),
                                     [&](const views::BreakpointHit& hit) {
                                       return hit.breakpoint == breakpoint.id && hit.rank == rank;
                                     });
    if (m_fleet.status(spec, rank).hits > known) {
      return breakpoint.id;
    }
  }
  return 0;
}

/// GDB has stopped the rank where its MPI library begins to handle an error.
void DebugSession::describeMpiError(int rank) {
  mi::GdbSession* gdb = m_fleet.session(rank);
  if (gdb == nullptr) {
    return;
  }
  const mi::FrameRef frame{gdb->stop().thread, 0};
  const bool mpich = gdb->stop().frame.function.rfind("MPIR_", 0) == 0;
  const ErrorPlace& place = mpich ? kMpichErrors : kOpenMpiErrors;
  gdb->inspect().evaluate(
      frame, place.call, [this, rank, frame, &place](const Result<std::string>& call) {
        mi::GdbSession* here = m_fleet.session(rank);
        if (!call || here == nullptr) {
          return;
        }
        const QString name =
            mpiCallName(QString::fromStdString(*call).section(QLatin1Char('"'), 1, 1));
        here->inspect().evaluate(
            frame, place.code, [this, rank, name, &place](const Result<std::string>& code) {
              if (!code) {
                return;
              }
              m_state.now[rank].why = tr("%1: %2").arg(
                  name, mpiErrorName(place, QString::fromStdString(*code).toInt()));
              m_cycles.last().summary = tr("rank %1: %2").arg(rank).arg(m_state.now[rank].why);
              Q_EMIT message(tr("Rank %1: an MPI error, %2. It is handled as the program has it "
                                "once the rank goes on.")
                                 .arg(rank)
                                 .arg(m_state.now[rank].why),
                             false);
              Q_EMIT ranksChanged();
              saveCycle();
            });
      });
}

void DebugSession::onBreakpointHit(int id, int rank) {
  RankNow& now = m_state.now[rank];
  now.why = tr("breakpoint %1").arg(id);
  m_cycles.last().summary = tr("stopped at breakpoint %1, rank %2 after event %3")
                                .arg(id)
                                .arg(rank)
                                .arg(now.state.serial);
  addHit(id, rank, now.state.serial);
  if (const views::Breakpoint* breakpoint = m_breakpoints.find(id); breakpoint != nullptr) {
    stopOthers(*breakpoint, rank);
    if (breakpoint->kind == views::BreakpointKind::Catch &&
        breakpoint->expression == QLatin1String("mpi error")) {
      describeMpiError(rank);
    }
  }
}

void DebugSession::addHit(int id, int rank, Serial serial) {
  views::Breakpoint* breakpoint = m_breakpoints.find(id);
  if (m_cycles.isEmpty() || breakpoint == nullptr) {
    return;
  }
  views::Cycle& cycle = m_cycles.last();
  const bool logical = breakpoint->kind == views::BreakpointKind::Logical;
  const bool known = std::any_of(
      cycle.recorded.begin(), cycle.recorded.end(), [&](const views::BreakpointHit& hit) {
        return hit.breakpoint == id && hit.rank == rank && hit.serial == serial;
      });
  if (logical && known) {
    return;  // it stands there still
  }
  cycle.recorded.append({id, rank, serial, {}});
  ++cycle.hits;
  m_standing.append(cycle.recorded.last());
  m_breakpoints.counted(*breakpoint, cycle.number);
  const int index = static_cast<int>(cycle.recorded.size()) - 1;
  storeHit({cycle.number, index});
  m_openHits.push_back({cycle.number, index});
  completeHits(rank);
  Q_EMIT m_breakpoints.changed();
}

views::BreakpointHit* DebugSession::hitAt(HitKey key) {
  for (views::Cycle& cycle : m_cycles) {
    if (cycle.number == key.cycle && key.index < cycle.recorded.size()) {
      return &cycle.recorded[key.index];
    }
  }
  return nullptr;
}

void DebugSession::storeHit(HitKey key) {
  const views::BreakpointHit* hit = hitAt(key);
  if (hit == nullptr || hit->breakpoint <= 0) {  // a passing one's is not kept
    return;
  }
  db::BreakpointHit row;
  row.id = m_hitRows[key];
  row.cycle = m_cycleIds[key.cycle];
  row.breakpoint = hit->breakpoint;
  row.rank = hit->rank;
  row.serial = hit->serial;
  row.hits = 1;
  for (const views::Cycle& cycle : std::as_const(m_cycles)) {
    if (cycle.number == key.cycle) {
      row.hits +=
          std::count_if(cycle.recorded.begin(), cycle.recorded.begin() + key.index,
                        [&](const views::BreakpointHit& other) {
                          return other.breakpoint == hit->breakpoint && other.rank == hit->rank;
                        });
    }
  }
  for (const views::WatchedValue& value : hit->values) {
    row.watched.push_back(value.expression.toStdString());
    row.watched.push_back(value.value.toStdString());
  }
  if (m_keeper != nullptr) {
    m_hitRows[key] = m_keeper->keep(std::move(row));
  }
}

/// Asks the rank's GDB, once it has stopped, what the hits lack: the exact event and the values.
void DebugSession::completeHits(int rank) {
  mi::GdbSession* gdb = m_fleet.session(rank);
  if (gdb == nullptr || gdb->state() != mi::SessionState::Stopped ||
      m_state.now[rank].attached == false) {
    return;
  }
  for (std::size_t i = 0; i < m_openHits.size();) {
    const HitKey key = m_openHits[i];
    const views::BreakpointHit* hit = hitAt(key);
    if (hit != nullptr && hit->rank != rank) {
      ++i;
      continue;
    }
    m_openHits.erase(m_openHits.begin() + static_cast<std::ptrdiff_t>(i));
    if (hit != nullptr) {
      askHit(*gdb, key);
    }
  }
}

void DebugSession::askHit(mi::GdbSession& gdb, HitKey key) {
  if (!gdb.stop().stoppedAtEvent()) {
    mi::eventsBegun(gdb, [this, key](const Result<std::uint64_t>& begun) {
      if (views::BreakpointHit* hit = hitAt(key);
          begun && hit != nullptr && hit->serial != *begun) {
        hit->serial = *begun;
        storeHit(key);
        Q_EMIT cyclesChanged();
      }
    });
  }
  std::vector<std::string> expressions;
  for (const QString& watch : std::as_const(m_watches)) {
    expressions.push_back(watch.toStdString());
  }
  mi::valuesAtStop(gdb, expressions, [this, key, watches = m_watches](const mi::Values& values) {
    views::BreakpointHit* hit = hitAt(key);
    if (hit == nullptr || values.empty()) {
      return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      // Not what was thrown away because the rank went on: that is no value.
      if (values[i] || values[i].error().code == ErrorCode::Peer) {
        hit->values.append({watches[static_cast<qsizetype>(i)],
                            toText(values[i] ? *values[i] : values[i].error().message)});
      }
    }
    storeHit(key);
    Q_EMIT cyclesChanged();
  });
}

}  // namespace pf::session
