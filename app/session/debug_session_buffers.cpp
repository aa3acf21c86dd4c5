// SPDX-License-Identifier: GPL-3.0-or-later
// Which message filled a variable: the interposer of a rank with a GDB notes where each receive
// writes (noted_buffers.h), the trace knows what each receive took.
#include <algorithm>

#include "app/session/debug_session.h"
#include "app/session/frame_values.h"
#include "mi_bridge/stop_values.h"

namespace pf::session {
namespace {

QString bytesText(std::uint64_t bytes) {
  return bytes == 1 ? QStringLiteral("1 byte") : QStringLiteral("%1 bytes").arg(bytes);
}

/// "MPI_Recv at main.c:57, event 12"
QString eventText(const Execution& execution, const EventRef& ref) {
  const Event& event = execution.ranks[static_cast<std::size_t>(ref.rank)].events[ref.serial - 1];
  QString text = event.call < execution.callNames.size() ? toText(execution.callNames[event.call])
                                                         : QStringLiteral("MPI");
  if (event.site < execution.sites.size() && !execution.sites[event.site].file.empty()) {
    const CallSite& site = execution.sites[event.site];
    text += QStringLiteral(" at %1:%2")
                .arg(toText(site.file).section(QLatin1Char('/'), -1))
                .arg(site.line);
  }
  return DebugSession::tr("%1, event %2").arg(text).arg(ref.serial);
}

}  // namespace

/// The receive that wrote last into [begin, end) and is over by now.
std::optional<DebugSession::Filled> DebugSession::lastFilled(int rank,
                                                             const MemoryRange& range) const {
  const RankHistory& history = m_state.whole().execution.ranks[static_cast<std::size_t>(rank)];
  const Serial done = m_state.eventsDone()[static_cast<std::size_t>(rank)];
  const auto known = m_noted.find(rank);
  std::optional<Filled> last;
  for (std::size_t i = 0; known != m_noted.end() && i < known->second.size(); ++i) {
    const NotedBuffer& buffer = known->second[i];
    if (buffer.begin >= range.end || buffer.end <= range.begin) {
      continue;
    }
    Serial completion = buffer.serial;
    const bool named = buffer.post < history.receives.size();
    if (named) {
      const PostedReceive& receive = history.receives[buffer.post];
      completion = receive.state == ReceiveState::Complete ? receive.completion : 0;
    }
    if (completion != 0 && completion <= done && (!last || completion >= last->completion)) {
      last = {named ? buffer.post : kNoPost, completion};
    }
  }
  return last;
}

QString DebugSession::filledText(int rank, const QString& what, const Filled& filled) const {
  const Execution& execution = m_state.whole().execution;
  const EventRef end{rank, filled.completion};
  if (filled.post == kNoPost) {
    return tr("%1 was filled last by %2.").arg(what, eventText(execution, end));
  }
  const PostedReceive& receive =
      execution.ranks[static_cast<std::size_t>(rank)].receives[filled.post];
  QString text = tr("%1 was filled last by %2").arg(what, eventText(execution, end));
  if (receive.post != filled.completion) {
    text += tr(" (posted by %1)").arg(eventText(execution, {rank, receive.post}));
  }
  text += tr(": the message of rank %1 with tag %2").arg(receive.source).arg(receive.tag);
  if (receive.message < execution.messages.size()) {
    const EventRef send = execution.messages[receive.message].send;
    const Event& event =
        execution.ranks[static_cast<std::size_t>(send.rank)].events[send.serial - 1];
    text += tr(", %1, sent by %2").arg(bytesText(event.bytes), eventText(execution, send));
  }
  return text + QLatin1Char('.');
}

void DebugSession::whichMessage(const QString& expression, const WhichDone& done) {
  const auto refuse = [&done](const QString& why) { done({why, {}, true}); };
  mi::GdbSession* gdb = currentGdb();
  if (m_state.source != Source::Recording || m_state.phase != Phase::Running) {
    refuse(
        tr("Which message filled a variable is known in a replay only: replay to an event first."));
    return;
  }
  if (gdb == nullptr || !currentIsStopped()) {
    refuse(gdb == nullptr
               ? tr("Rank %1 has no debugger: tick it in the ranks' list and restart the cycle.")
                     .arg(m_state.current)
               : tr("Rank %1 runs: pause it first.").arg(m_state.current));
    return;
  }
  const std::string e = expression.trimmed().toStdString();
  if (e.empty()) {
    refuse(tr("Name a variable, an expression with an address, or an address such as 0x7ffe0010."));
    return;
  }
  // Where it lies and how large it is; what it points to; itself as an address.
  askRanges({"(unsigned long)&(" + e + ")", "sizeof(" + e + ")", "(unsigned long)(" + e + ")",
             "sizeof(*(" + e + "))"},
            {},
            [this, rank = m_state.current, expression,
             done](const std::vector<std::optional<std::uint64_t>>& values) {
              findFilled(rank, expression.trimmed(), values, done);
            });
}

void DebugSession::askRanges(
    std::vector<std::string> expressions, std::vector<std::optional<std::uint64_t>> values,
    const std::function<void(const std::vector<std::optional<std::uint64_t>>&)>& done) {
  if (values.size() == expressions.size() || !currentIsStopped()) {
    values.resize(expressions.size());
    done(values);
    return;
  }
  const std::string next = expressions[values.size()];
  currentGdb()->inspect().evaluate(
      currentFrameRef(), next,
      [this, expressions = std::move(expressions), values = std::move(values),
       done](const Result<std::string>& value) mutable {
        bool ok = false;
        const quint64 number = value ? toText(*value).toULongLong(&ok, 0) : 0;
        values.push_back(ok ? std::optional<std::uint64_t>(number) : std::nullopt);
        askRanges(std::move(expressions), std::move(values), done);
      });
}

void DebugSession::findFilled(int rank, const QString& expression,
                              const std::vector<std::optional<std::uint64_t>>& values,
                              const WhichDone& done) {
  mi::GdbSession* gdb = m_fleet.session(rank);
  if ((!values[0] && !values[2]) || gdb == nullptr) {
    done({tr("'%1' has no address in the selected frame of rank %2.").arg(expression).arg(rank),
          {},
          true});
    return;
  }
  const auto answer = [this, rank, expression, values,
                       done](const Result<std::vector<NotedBuffer>>& more) {
    if (!more) {
      done({tr("Where the receives of rank %1 write cannot be read: %2.")
                .arg(rank)
                .arg(toText(more.error().message)),
            {},
            true});
      return;
    }
    std::vector<NotedBuffer>& noted = m_noted[rank];
    noted.insert(noted.end(), more->begin(), more->end());
    std::optional<Filled> filled;
    QString what = expression;
    if (values[0]) {
      filled = lastFilled(
          rank, {*values[0], *values[0] + std::max<std::uint64_t>(values[1].value_or(1), 1)});
    }
    if (!filled && values[2]) {
      filled = lastFilled(
          rank, {*values[2], *values[2] + std::max<std::uint64_t>(values[3].value_or(1), 1)});
      what = values[0] ? tr("What %1 points to").arg(expression) : expression;
    }
    if (!filled) {
      done({tr("No receive that rank %1 has done while it had a debugger wrote to '%2'. "
               "Collectives and one-sided "
               "communication are not followed.")
                .arg(rank)
                .arg(expression),
            {},
            false});
      return;
    }
    done({filledText(rank, what, *filled), {rank, filled->completion}, false});
  };
  // What the agent has told of the rank may be some milliseconds old.
  mi::eventsBegun(*gdb, [this, rank, answer](const Result<std::uint64_t>& begun) {
    mi::GdbSession* here = m_fleet.session(rank);
    if (here == nullptr) {
      answer(Error{ErrorCode::Peer, "its debugger is gone", {}});
      return;
    }
    protocol::RankState& state = m_state.now[rank].state;
    if (begun && *begun > state.serial) {
      state.serial = *begun;
    }
    const bool inProgram =
        rank == m_state.current && !m_frames.isEmpty() && m_frames.first().level == m_frame;
    state.inCall = inProgram ? 0 : state.inCall;
    mi::notedBuffers(*here, m_noted[rank].size(), answer);
  });
}

}  // namespace pf::session
