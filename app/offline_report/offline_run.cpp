// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/offline_report/offline_run.h"

#include <algorithm>

#include <QFileInfo>

#include "app/front_end/stall_text.h"
#include "app/offline_report/offline_facts.h"
#include "app/replaying/replay.h"
#include "mi_bridge/stop_values.h"

namespace pf::headless {
namespace {

constexpr int kGdbsUpTo = 16;              ///< ranks: each GDB takes some 60 MB
constexpr std::uint64_t kMostHits = 5000;  ///< of one place
constexpr std::size_t kMostOfOutput = std::size_t{64} << 10U;
constexpr int kDeepest = 60;
constexpr int kLookEveryMs = 100;
constexpr int kLooks = 100;  ///< that ranks have to come to rest once one has failed

void append(std::string& text, std::uint64_t& lost, const QByteArray& bytes) {
  text.append(bytes.constData(), static_cast<std::size_t>(bytes.size()));
  std::erase(text, '\r');
  if (text.size() > kMostOfOutput) {
    lost += text.size() - kMostOfOutput;
    text.erase(0, text.size() - kMostOfOutput);
  }
}

}  // namespace

OfflineRun::OfflineRun(const OfflineOptions& options, session::LoadedTrace trace,
                       OfflineReport& report)
    : m_options(options),
      m_report(report),
      m_trace(QFileInfo(QString::fromStdString(options.trace)).absoluteFilePath()),
      m_data(trace.data),
      m_snapshots(m_session, report) {
  using S = session::DebugSession;
  m_session.open(m_trace, std::move(trace));
  m_session.breakpoints().setAside();
  m_session.debuggers().setTranscripts(QString::fromStdString(options.transcripts));
  m_failed = m_data->failure.event.valid() ? m_data->failure.event.rank : -1;
  m_session.setStopFilter([this](int rank, int breakpoint) { return onHit(rank, breakpoint); });
  m_patience.setInterval(kLookEveryMs);
  connect(&m_patience, &QTimer::timeout, this, &OfflineRun::look);
  connect(&m_session, &S::settled, this, &OfflineRun::onSettled);
  connect(&m_snapshots, &Snapshots::taken, this, &OfflineRun::onSettled);
  connect(&m_session, &S::stalled, this, [this](const QString& text, bool deadlock) {
    m_stalled = stallText(text, deadlock).toStdString();
  });
  connect(&m_session, &S::message, this, [this](const QString& text, bool problem) {
    if (problem && !m_leaving) {
      m_report.notes.push_back(text.toStdString());
    }
  });
  connect(&m_session, &S::output, this,
          [this](int rank, values::OutputStream stream, const QByteArray& bytes) {
            if (rank >= 0 && static_cast<std::size_t>(rank) < m_report.ranks.size() && !m_leaving) {
              ReportRank& row = m_report.ranks[static_cast<std::size_t>(rank)];
              const bool errors = stream == values::OutputStream::Err;
              append(errors ? row.err : row.out, errors ? row.errLost : row.outLost, bytes);
            }
          });
}

QList<int> OfflineRun::ranksThatRun() const {
  QList<int> running;
  for (const values::RankState& state : m_session.rankStates()) {
    if (state.activity != values::RankActivity::NotInReplay) {
      running << state.rank;
    }
  }
  return running;
}

Status OfflineRun::debugOnlyPart() {
  Status part = m_session.debugOnly(m_options.part);
  if (!part || m_options.part.isWhole()) {
    return part;
  }
  const QList<int> running = ranksThatRun();
  m_report.notes.push_back((running.size() == 1 ? "Only rank " : "Only ranks ") +
                           values::rankSetText(running).toStdString() +
                           " ran again. What is said of others is from the recording.");
  if (m_failed >= 0 && !m_session.runs(m_failed)) {
    m_report.notes.push_back("Rank " + std::to_string(m_failed) +
                             ", which failed, is none of them.");
    m_failed = -1;
  }
  return {};
}

/// Of a large job the rank that failed has a GDB, or those with places to watch: all.
void OfflineRun::focus() {
  const QList<int> running = ranksThatRun();
  const bool all =
      running.size() <= kGdbsUpTo || !m_options.breaks.empty() || !m_options.logs.empty();
  m_valuesOf = m_failed >= 0 ? m_failed : running.value(0);
  m_session.debuggers().setFocus(all            ? running
                                 : m_failed < 0 ? QList<int>()
                                                : QList<int>{m_failed});
}

void OfflineRun::start() {
  focus();
  placeBreakpoints();
  m_session.restartCycle();
  m_snapshots.start(m_options.snapshotEvery);
}

void OfflineRun::stop() {
  if (m_leaving) {
    return;
  }
  m_report.notes.emplace_back("The replay was ended from outside before it had come to its end.");
  leave();
}

/// One breakpoint for each line, whatever is asked there: GDB tells of one only.
void OfflineRun::placeBreakpoints() {
  std::map<std::string, int> known;
  const auto add = [&](const std::string& text, const std::string& place,
                       const std::string& expression) {
    const auto [entry, fresh] = known.try_emplace(place, 0);
    if (fresh) {
      const std::size_t colon = place.rfind(':');
      values::Breakpoint breakpoint;
      breakpoint.file = QString::fromStdString(place.substr(0, colon));
      breakpoint.line = QString::fromStdString(place.substr(colon + 1)).toInt();
      entry->second = m_session.breakpoints().addTransient(breakpoint);
      m_order.push_back(entry->second);
    }
    m_places[entry->second].wanted.push_back({text, expression});
  };
  for (const std::string& place : m_options.breaks) {
    add(place, place, {});
  }
  for (const std::string& text : m_options.logs) {
    const std::size_t blank = text.find(' ');
    add(text, text.substr(0, blank), text.substr(text.find_first_not_of(' ', blank)));
  }
}

/// Hits are written down, and the rank goes on: nobody looks.
bool OfflineRun::onHit(int rank, int breakpoint) {
  const auto place = m_places.find(breakpoint);
  if (place == m_places.end()) {
    return false;
  }
  if (++place->second.hits == kMostHits) {
    m_report.notes.push_back(place->second.wanted.front().text + " was passed " +
                             std::to_string(kMostHits) + " times and is not followed further.");
    QMetaObject::invokeMethod(
        this, [this, breakpoint] { m_session.breakpoints().remove({breakpoint}); },
        Qt::QueuedConnection);
  }
  noteNext(rank, breakpoint, 0);
  return true;
}

/// What is wanted at this hit, from `index` on.
void OfflineRun::noteNext(int rank, int breakpoint, std::size_t index) {
  const std::vector<Wanted>& wanted = m_places[breakpoint].wanted;
  mi::GdbSession* gdb = m_session.debugger(rank);
  if (index == wanted.size() || gdb == nullptr) {
    m_session.goOn(rank);
    return;
  }
  mi::frameAtStop(*gdb, [this, rank, breakpoint, index](const Result<mi::Frame>& frame) {
    noteHit(rank, breakpoint, index, frame ? *frame : mi::Frame());
  });
}

void OfflineRun::noteHit(int rank, int breakpoint, std::size_t index, const mi::Frame& frame) {
  const Wanted& wanted = m_places[breakpoint].wanted[index];
  mi::GdbSession* gdb = m_session.debugger(rank);
  ReportHit hit{wanted.text,
                {rank, m_session.serialOf(rank)},
                frame.function + "()",
                placeText(frame.fullname, frame.line),
                {}};
  if (wanted.expression.empty() || gdb == nullptr) {
    m_report.hits.push_back(std::move(hit));
    noteNext(rank, breakpoint, index + 1);
    return;
  }
  gdb->inspect().evaluate(
      mi::refOf(gdb->stop().thread, frame), wanted.expression,
      [this, rank, breakpoint, index, hit](const Result<std::string>& value) mutable {
        hit.value = value ? *value : value.error().message;
        m_report.hits.push_back(std::move(hit));
        noteNext(rank, breakpoint, index + 1);
      });
}

/// A rank was stopped by what ended it in the recording, or is held where its record ends.
bool OfflineRun::failureIsHere() {
  if (m_failed < 0) {
    return !m_stalled.empty();
  }
  mi::GdbSession* gdb = m_session.debugger(m_failed);
  const bool signal = gdb != nullptr && gdb->state() == mi::SessionState::Stopped &&
                      gdb->stop().reason == mi::StopReason::Signal;
  const values::RankState state = m_session.rankStates()[m_failed];
  return signal || !m_stalled.empty() || state.activity == values::RankActivity::Stopped;
}

void OfflineRun::onSettled() {
  if (!m_session.isReplaying()) {
    m_leaving = true;
    for (const int id : m_order) {
      const Place& place = m_places[id];
      for (const Wanted& each : place.wanted) {
        m_report.hitTotals.push_back(each.text + ": " + std::to_string(place.hits) +
                                     (place.hits == 1 ? " hit" : " hits"));
      }
    }
    if (!m_session.cycles().none() && !m_session.cycles().last().inputs.isEmpty()) {
      m_report.notes.push_back("Not the recorded run's: " +
                               m_session.cycles().last().inputs.toStdString());
    }
    Q_EMIT finished();
    return;
  }
  if (m_looking || m_leaving || m_snapshots.isTaking()) {
    return;
  }
  if (failureIsHere()) {
    m_snapshots.stop();
    m_looking = true;
    m_patience.start();
    return;
  }
  // A signal that the program deals with, for example: it had it in the recording, too.
  for (const values::RankState& state : m_session.rankStates()) {
    mi::GdbSession* gdb = m_session.debugger(state.rank);
    if (gdb != nullptr && gdb->state() == mi::SessionState::Stopped &&
        gdb->stop().reason == mi::StopReason::Signal) {
      m_session.goOn(state.rank);
    }
  }
}

bool OfflineRun::rests(const values::RankState& state) {
  if (mi::GdbSession* gdb = m_session.debugger(state.rank); gdb != nullptr) {
    return gdb->state() != mi::SessionState::Running;
  }
  return state.activity == values::RankActivity::Finished ||
         state.activity == values::RankActivity::Failed ||
         state.activity == values::RankActivity::NotInReplay ||
         state.activity == values::RankActivity::Stopped;
}

/// Waits for the others to get where their records end, stops those that wait, then asks for
/// stacks.
void OfflineRun::look() {
  QList<int> running;
  for (const values::RankState& state : m_session.rankStates()) {
    if (!rests(state)) {
      running << state.rank;
    }
  }
  ++m_waits;
  if (!running.isEmpty() && m_waits < kLooks) {
    if (m_waits == kLooks / 10 || (!m_stalled.empty() && m_waits == 1)) {
      m_session.act(values::RankAction::Pause, running);
    }
    return;
  }
  m_patience.stop();
  m_pending = 1;
  for (const int rank : ranksThatRun()) {
    askStack(rank);
  }
  answered();
}

void OfflineRun::askStack(int rank) {
  mi::GdbSession* gdb = m_session.debugger(rank);
  if (gdb == nullptr || gdb->state() != mi::SessionState::Stopped) {
    const values::RankState state = m_session.rankStates()[rank];
    const bool inLast = state.activity == values::RankActivity::InCall ||
                        state.activity == values::RankActivity::Finished;
    const EventRef at{rank, state.serial + (inLast ? 0 : 1)};
    const auto& events = m_data->execution.ranks[static_cast<std::size_t>(rank)].events;
    std::vector<ReportFrame> frames;
    if (at.serial >= 1 && at.serial <= events.size()) {
      const ReportEvent event = reportEvent(m_data->execution, at);
      frames.push_back({event.call, event.place, event.source});
    }
    const std::string why = gdb == nullptr ? "no GDB" : "GDB did not stop it in time";
    addStack(m_report.stacks, rank, std::move(frames),
             why + ": the call that it is at, from the recording");
    return;
  }
  ++m_pending;
  gdb->inspect().frames(
      gdb->stop().thread, 0, kDeepest, [this, rank](const Result<std::vector<mi::Frame>>& frames) {
        if (!frames) {
          addStack(m_report.stacks, rank, {}, frames.error().message);
          answered();
          return;
        }
        const std::size_t user = mi::firstUserFrame(*frames).value_or(0);
        mi::GdbSession* same = m_session.debugger(rank);
        std::vector<ReportFrame> shown;
        for (std::size_t i = mi::firstShownFrame(*frames); i < frames->size(); ++i) {
          const mi::Frame& frame = (*frames)[i];
          const int line = mi::isLibraryFrame(frame) ? 0 : frame.line;  // MPI and our wrapper
          shown.push_back({(frame.function.empty() ? "??" : frame.function) + "()",
                           placeText(frame.fullname, line), sourceLine(frame.fullname, line)});
        }
        addStack(m_report.stacks, rank, std::move(shown),
                 same != nullptr ? same->inspect().pythonProblem() : std::string());
        if (rank == m_valuesOf && user < frames->size()) {
          askValues(rank, (*frames)[user]);
        }
        answered();
      });
}

void OfflineRun::askValues(int rank, const mi::Frame& frame) {
  mi::GdbSession* gdb = m_session.debugger(rank);
  const mi::FrameRef at = mi::refOf(gdb->stop().thread, frame);
  m_report.valuesOf = "rank " + std::to_string(rank) + " in " + frame.function + "()";
  ++m_pending;
  gdb->inspect().variables(
      at, mi::VariableDetail::SimpleValues,
      [this, rank, at](const Result<std::vector<mi::Variable>>& found) {
        mi::GdbSession* same = m_session.debugger(rank);
        for (const mi::Variable& each : found ? *found : std::vector<mi::Variable>{}) {
          m_report.values.push_back({each.name, each.type, each.value.value_or("")});
          if (each.value || same == nullptr) {
            continue;
          }
          ++m_pending;  // a structure or an array: GDB's print limits keep it short
          same->inspect().evaluate(
              at, each.name,
              [this, index = m_report.values.size() - 1](const Result<std::string>& value) {
                m_report.values[index].value = value ? *value : value.error().message;
                answered();
              });
        }
        answered();
      });
}

void OfflineRun::answered() {
  if (--m_pending == 0) {
    leave();
  }
}

void OfflineRun::leave() {
  if (m_leaving) {
    return;
  }
  m_leaving = true;
  m_snapshots.stop();
  m_patience.stop();
  if (!m_stalled.empty()) {
    m_report.failure = m_stalled;
    m_report.failed = true;
  }
  std::stable_sort(m_report.stacks.begin(), m_report.stacks.end(),
                   [this](const ReportStack& a, const ReportStack& b) {
                     const auto has = [this](const ReportStack& stack) {
                       return std::count(stack.ranks.begin(), stack.ranks.end(), m_failed) > 0;
                     };
                     return has(a) && !has(b);
                   });
  m_session.endReplay();
}

}  // namespace pf::headless

#include "moc_offline_run.cpp"
