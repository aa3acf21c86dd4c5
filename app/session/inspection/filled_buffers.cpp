// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/inspection/filled_buffers.h"

#include <algorithm>
#include <utility>

#include "app/collation/event_text.h"
#include "app/session/inspection/expression_place.h"
#include "app/session/state/frame_values.h"
#include "mi_bridge/stop_values.h"

namespace pf::session {
namespace {

QString bytesText(std::uint64_t bytes) {
  return bytes == 1 ? QStringLiteral("1 byte") : QStringLiteral("%1 bytes").arg(bytes);
}

/// "MPI_Recv at main.c:57, event 12"
QString eventText(const Execution& execution, const EventRef& ref) {
  return FilledBuffers::tr("%1, event %2")
      .arg(QString::fromStdString(app::callText(execution, ref)))
      .arg(ref.serial);
}

}  // namespace

/// The receive that wrote last into [begin, end) and is over by now.
std::optional<FilledBuffers::Filled> FilledBuffers::lastFilled(int rank,
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

QString FilledBuffers::filledText(int rank, const QString& what, const Filled& filled) const {
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

void FilledBuffers::ask(const QString& expression, const Done& done) {
  const int rank = m_state.current;
  const auto refuse = [&done](const QString& why) { done({why, {}, true}); };
  if (m_state.source != Source::Recording || m_state.phase != Phase::Running) {
    refuse(
        tr("Which message filled a variable is known in a replay only: replay to an event first."));
    return;
  }
  if (m_state.stoppedDebugger(rank) == nullptr) {
    refuse(m_state.debugger(rank) == nullptr
               ? tr("Rank %1 has no debugger: tick it in the ranks' list and restart the cycle.")
                     .arg(rank)
               : tr("Rank %1 runs: pause it first.").arg(rank));
    return;
  }
  const std::string e = expression.trimmed().toStdString();
  if (e.empty()) {
    refuse(tr("Name a variable, an expression with an address, or an address such as 0x7ffe0010."));
    return;
  }
  // Where it lies and how large it is; what it points to; itself as an address.
  askValues(
      {"&(" + e + ")", "sizeof(" + e + ")", "(unsigned long)(" + e + ")", "sizeof(*(" + e + "))"},
      {}, [this, rank, expression, done](const Values& values) {
        find(rank, expression.trimmed(), values, done);
      });
}

void FilledBuffers::askValues(std::vector<std::string> expressions, Values values,
                              const std::function<void(const Values&)>& done) {
  mi::GdbSession* gdb = m_state.stoppedDebugger(m_state.current);
  if (values.size() == expressions.size() || gdb == nullptr) {
    values.resize(expressions.size());
    done(values);
    return;
  }
  const std::string next = expressions[values.size()];
  gdb->inspect().evaluate(m_inspector.frameRef(), next,
                          [this, expressions = std::move(expressions), values = std::move(values),
                           done](const Result<std::string>& value) mutable {
                            bool ok = false;
                            const quint64 number = value ? toText(*value).toULongLong(&ok, 0) : 0;
                            // An address comes with its type, which Fortran and C write in their own ways.
                            const std::optional<ExpressionPlace> place =
                                value && !ok ? placeIn(*value) : std::optional<ExpressionPlace>();
                            values.push_back(ok      ? std::optional<std::uint64_t>(number)
                                             : place ? std::optional<std::uint64_t>(place->address)
                                                     : std::nullopt);
                            askValues(std::move(expressions), std::move(values), done);
                          });
}

void FilledBuffers::find(int rank, const QString& expression, const Values& values,
                         const Done& done) {
  mi::GdbSession* gdb = m_state.fleet.session(rank);
  if ((!values[0] && !values[2]) || gdb == nullptr) {
    done({tr("'%1' has no address in the selected frame of rank %2.").arg(expression).arg(rank),
          {},
          true});
    return;
  }
  const auto tell = [this, rank, expression, values,
                     done](const Result<std::vector<NotedBuffer>>& more) {
    done(answer(rank, expression, values, more));
  };
  // What the agent has told of the rank may be some milliseconds old.
  mi::eventsBegun(*gdb, [this, rank, tell](const Result<std::uint64_t>& begun) {
    mi::GdbSession* here = m_state.fleet.session(rank);
    if (here == nullptr) {
      tell(Error{ErrorCode::Peer, "its debugger is gone", {}});
      return;
    }
    protocol::RankState& state = m_state.now[rank].state;
    if (begun && *begun > state.serial) {
      state.serial = *begun;
    }
    const bool inProgram = rank == m_state.current && m_inspector.isInnermost();
    state.inCall = inProgram ? 0 : state.inCall;
    mi::notedBuffers(*here, m_noted[rank].size(), tell);
  });
}

WhichMessage FilledBuffers::answer(int rank, const QString& expression, const Values& values,
                                   const Result<std::vector<NotedBuffer>>& more) {
  if (!more) {
    return {tr("Where the receives of rank %1 write cannot be read: %2.")
                .arg(rank)
                .arg(toText(more.error().message)),
            {},
            true};
  }
  std::vector<NotedBuffer>& noted = m_noted[rank];
  noted.insert(noted.end(), more->begin(), more->end());
  const auto filledAt = [&](std::size_t address) -> std::optional<Filled> {
    if (!values[address]) {
      return std::nullopt;
    }
    const std::uint64_t size = std::max<std::uint64_t>(values[address + 1].value_or(1), 1);
    return lastFilled(rank, {*values[address], *values[address] + size});
  };
  if (const auto filled = filledAt(0)) {
    return {filledText(rank, expression, *filled), {rank, filled->completion}, false};
  }
  if (const auto filled = filledAt(2)) {
    const QString what = values[0] ? tr("What %1 points to").arg(expression) : expression;
    return {filledText(rank, what, *filled), {rank, filled->completion}, false};
  }
  return {tr("No receive that rank %1 has done while it had a debugger wrote to '%2'. "
             "Collectives and one-sided "
             "communication are not followed.")
              .arg(rank)
              .arg(expression),
          {},
          false};
}

}  // namespace pf::session

#include "moc_filled_buffers.cpp"
