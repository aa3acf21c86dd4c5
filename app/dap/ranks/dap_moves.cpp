// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/ranks/dap_moves.h"

#include <algorithm>

#include "app/collation/failure.h"
#include "app/dap/wire/dap_asked_event.h"
#include "app/session/inspection/waits.h"
#include "app/session/line_search.h"

namespace pf::headless {

using session::Source;
using values::RankAction;
using values::RankState;

void Moves::continueRanks(const Request& request) {
  const std::optional<int> rank = m_threads.rankOf(request);
  if (!rank) {
    return;
  }
  const bool one = flag(request.arguments, "singleThread");
  QList<int> ranks;
  for (const RankState& state : m_threads.all()) {
    if (!one || state.rank == *rank) {
      ranks << state.rank;
    }
  }
  m_client.succeed(request, {{"allThreadsContinued", !one}});
  m_teller.sentOn(std::set<int>(ranks.begin(), ranks.end()), "pause");
  m_session.act(RankAction::Continue, ranks);
}

void Moves::step(const Request& request, RankAction action) {
  const std::optional<Threads::Stopped> stopped = m_threads.stoppedOf(request);
  if (!stopped) {
    return;
  }
  const int rank = stopped->rank;
  m_client.succeed(request);
  m_teller.sentOn({rank}, "step");
  if (action == RankAction::Finish && m_session.currentRank() != rank) {
    finishFrame(rank);
    return;
  }
  m_session.setCurrentRank(rank);
  m_session.act(action, {rank});
}

/// Of a rank whose stack is not known yet: the frame to return from is the program's.
void Moves::finishFrame(int rank) {
  connect(
      &m_session.inspector(), &session::Inspector::stackChanged, this,
      [this, rank] { m_session.act(RankAction::Finish, {rank}); },
      static_cast<Qt::ConnectionType>(Qt::QueuedConnection | Qt::SingleShotConnection));
  m_session.setCurrentRank(rank);
}

void Moves::pause(const Request& request) {
  if (!m_threads.rankOf(request)) {
    return;
  }
  m_client.succeed(request);
  QList<int> ranks;
  for (const RankState& state : m_threads.all()) {
    if (canPause(state)) {
      ranks << state.rank;
    }
  }
  m_teller.pauseAsked();
  m_session.act(RankAction::Pause, ranks);
}

/// Also one that is about to go on.
bool Moves::canPause(const RankState& state) const {
  // Of a job that runs without us, nothing but its GDB can stop a rank.
  const bool can = state.debugger || m_session.source() == Source::Recording;
  return can && !m_teller.knowsStopped(state.rank) && !m_threads.gone(state);
}

void Moves::stepBack(const Request& request) {
  const std::optional<int> rank = m_threads.rankOf(request);
  if (!rank) {
    return;
  }
  if (m_session.serialOf(*rank) == 0) {
    m_client.fail(request, "rank " + std::to_string(*rank) + " has done no event yet");
    return;
  }
  m_session.setCurrentRank(*rank);
  const auto granularity = request.arguments.find("granularity");
  const bool event = granularity != request.arguments.end() && *granularity == Json("instruction");
  if (const QString why = event ? QString() : m_session.whyNoLineBack(); !why.isEmpty()) {
    m_client.fail(request, why.toStdString());
    return;
  }
  m_client.succeed(request);
  m_teller.sent("step");
  if (event) {
    m_session.go(session::Move::PreviousEvent);
  } else {
    m_session.lineBack(session::LineMove::Next);
  }
}

void Moves::reverseContinue(const Request& request) {
  const std::optional<int> rank = m_threads.rankOf(request);
  if (!rank) {
    return;
  }
  const Serial serial = lastReceive(*rank);
  if (serial == 0) {
    m_client.fail(request, "rank " + std::to_string(*rank) + " has received nothing before this");
    return;
  }
  m_client.succeed(request, {{"allThreadsContinued", true}});
  send({*rank, serial}, "step");
}

Serial Moves::lastReceive(int rank) const {
  const RankHistory& history = m_session.trace()->execution.ranks[static_cast<std::size_t>(rank)];
  Serial serial = std::min<Serial>(m_session.serialOf(rank), history.events.size());
  while (serial > 0 && !app::receives(history, serial)) {
    --serial;
  }
  return serial;
}

void Moves::send(const EventRef& event, const char* reason) {
  m_teller.sent(reason);
  m_session.setCurrentRank(event.rank);
  m_session.replayTo(event);
}

void Moves::replayTo(const Request& request) {
  const std::optional<EventRef> event = askedEvent(m_client, request, m_session.trace()->execution);
  if (!event) {
    return;
  }
  if (!m_session.runs(event->rank)) {
    m_client.fail(request, m_session.notInReplay(event->rank).toStdString());
    return;
  }
  m_client.succeed(request);
  m_client.tell("continued",
                {{"threadId", Threads::idOf(event->rank)}, {"allThreadsContinued", true}});
  send(*event, "goto");
}

void Moves::snapshots(const Request& request) {
  const protocol::Snapshots& told = m_session.snapshots();
  Json all = Json::array();
  for (std::size_t i = 0; i < told.serials.size() && i < told.kilobytes.size(); ++i) {
    all.push_back({{"serial", told.serials[i]}, {"kilobytes", told.kilobytes[i]}});
  }
  m_client.succeed(request, {{"rank", told.rank >= 0 ? Json(told.rank) : Json(nullptr)},
                             {"snapshots", all},
                             {"text", m_session.snapshotsText().toStdString()}});
}

void Moves::waits(const Request& request) {
  m_session.waits().ask([this, request](const Result<session::WaitsAnswer>& answer) {
    if (!answer) {
      m_client.fail(request, answer.error());
      return;
    }
    Json waits = Json::array();
    for (const views::RankWait& wait : answer->state.waits) {
      waits.push_back({{"rank", wait.rank},
                       {"on", wait.on},
                       {"anyOne", wait.anyOne},
                       {"sure", wait.sure},
                       {"event", wait.event.valid() ? Json(wait.event.serial) : Json(nullptr)},
                       {"why", wait.why.toStdString()}});
    }
    m_client.succeed(request, {{"waits", std::move(waits)},
                               {"stuck", answer->state.stuck},
                               {"cycle", answer->state.cycle},
                               {"text", answer->text.toStdString()}});
  });
}

void Moves::gotoTargets(const Request& request) {
  const ClientFormat& format = m_client.format();
  const QString file = format.sourcePath(request.arguments);
  const int line = format.lineFromClient(number(request.arguments, "line", -1));
  if (file.isEmpty() || line < 1) {
    m_client.fail(request, "'gotoTargets' needs source.path and line");
    return;
  }
  Json targets =
      m_targets.find(m_session.trace()->execution, {file, line}, format,
                     [this](const EventRef& event) { return m_session.runs(event.rank); });
  m_client.succeed(request, {{"targets", std::move(targets)}});
}

void Moves::goTo(const Request& request) {
  if (!m_threads.rankOf(request)) {
    return;
  }
  const std::int64_t target = number(request.arguments, "targetId", 0);
  if (const std::optional<EventRef> event = m_targets.event(target)) {
    m_client.succeed(request);
    send(*event, "goto");
  } else if (const std::optional<GotoTargets::Line> line = m_targets.line(target)) {
    goToLine(request, *line);
  } else {
    m_client.fail(request, "there is no such target", "Ask for 'gotoTargets' of the line again.");
  }
}

void Moves::goToLine(const Request& request, const GotoTargets::Line& line) {
  const std::optional<Threads::Stopped> stopped = m_threads.stoppedOf(request);
  if (!stopped) {
    return;
  }
  m_client.succeed(request);
  m_teller.sentOn({stopped->rank}, "goto");
  m_session.setCurrentRank(stopped->rank);
  m_session.control().runToLine(line.first, line.second);
}

}  // namespace pf::headless

#include "moc_dap_moves.cpp"
