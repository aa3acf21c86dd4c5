// SPDX-License-Identifier: GPL-3.0-or-later
// Registers, memory, instructions and threads of the current rank, as rows of text.
#include "app/session/debug_session.h"
#include "app/session/frame_values.h"
#include "views/models/rows_model.h"

namespace pf::session {
namespace {

constexpr std::uint32_t kMemoryBytes = 512;
constexpr qsizetype kMostInstructions = 400;

}  // namespace

mi::FrameRef DebugSession::currentFrameRef() {
  mi::GdbSession* gdb = currentGdb();
  const int stopped = gdb != nullptr ? gdb->stop().thread : 0;
  return {m_thread > 0 ? m_thread : stopped, m_frame};
}

void DebugSession::tellProblem(Look look, const QString& text) {
  Q_EMIT rowsArrived(look, {}, -1, text);
}

bool DebugSession::canLook(Look look) {
  if (!isReplaying()) {
    tellProblem(look, tr("No replay runs."));
  } else if (currentGdb() == nullptr) {
    tellProblem(look,
                tr("Rank %1 has no debugger: tick it in the ranks' list.").arg(m_state.current));
  } else if (!currentIsStopped()) {
    tellProblem(look, tr("Rank %1 runs: pause it first.").arg(m_state.current));
  } else {
    return true;
  }
  return false;
}

void DebugSession::askRegisters() {
  if (!canLook(Look::Registers)) {
    return;
  }
  currentGdb()->inspect().registers(
      currentFrameRef(), [this](const Result<std::vector<mi::Register>>& registers) {
        if (!registers) {
          tellProblem(Look::Registers, toText(registers.error().message));
          return;
        }
        QList<QStringList> rows;
        for (const mi::Register& each : *registers) {
          rows.append({toText(each.name), toText(each.value)});
        }
        Q_EMIT rowsArrived(Look::Registers, rows, -1, {});
      });
}

void DebugSession::askMemory(const QString& address) {
  if (!canLook(Look::Memory)) {
    return;
  }
  if (address.isEmpty()) {
    tellProblem(Look::Memory, tr("An address, or an expression that has one: &x, buffer, $sp."));
    return;
  }
  // The number of the address first: the rows name it.
  const QString number = QStringLiteral("(unsigned long)(%1)").arg(address);
  currentGdb()->inspect().evaluate(
      currentFrameRef(), number.toStdString(), [this](const Result<std::string>& value) {
        bool ok = false;
        const quint64 from = value ? toText(*value).toULongLong(&ok, 0) : 0;
        if (!ok || !currentIsStopped()) {
          tellProblem(Look::Memory,
                      value ? tr("That has no address.") : toText(value.error().message));
          return;
        }
        currentGdb()->inspect().readMemory(
            QStringLiteral("0x%1").arg(from, 0, 16).toStdString(), kMemoryBytes,
            [this, from](const Result<std::string>& digits) {
              if (!digits) {
                tellProblem(Look::Memory, toText(digits.error().message));
              } else {
                Q_EMIT rowsArrived(Look::Memory, views::memoryRows(from, toText(*digits)), -1, {});
              }
            });
      });
}

void DebugSession::askInstructions(const QString& address) {
  if (!canLook(Look::Instructions)) {
    return;
  }
  const views::StackFrame* frame = frameAt(m_frame);
  const QString here = frame != nullptr ? frame->address : QString();
  currentGdb()->inspect().instructions(
      currentFrameRef(), (address.isEmpty() ? QStringLiteral("$pc") : address).toStdString(),
      [this, here](const Result<std::vector<mi::Instruction>>& instructions) {
        if (!instructions) {
          tellProblem(Look::Instructions, toText(instructions.error().message));
          return;
        }
        QList<QStringList> rows;
        qsizetype current = -1;
        for (const mi::Instruction& each : *instructions) {
          const quint64 at = toText(each.address).toULongLong(nullptr, 0);
          current = at == here.toULongLong(nullptr, 0) ? rows.size() : current;
          rows.append({QStringLiteral("0x%1").arg(at, 0, 16),
                       each.function.empty()
                           ? QString()
                           : QStringLiteral("%1+%2").arg(toText(each.function)).arg(each.offset),
                       toText(each.text)});
        }
        // Of a large function, what is around the place.
        const qsizetype from =
            qBound<qsizetype>(0, current - kMostInstructions / 2,
                              qMax<qsizetype>(0, rows.size() - kMostInstructions));
        Q_EMIT rowsArrived(Look::Instructions, rows.mid(from, kMostInstructions),
                           static_cast<int>(current < 0 ? -1 : current - from), {});
      });
}

void DebugSession::askThreads() {
  if (!canLook(Look::Threads)) {
    return;
  }
  currentGdb()->inspect().threads([this](const Result<std::vector<mi::ThreadInfo>>& threads) {
    if (!threads) {
      tellProblem(Look::Threads, toText(threads.error().message));
      return;
    }
    QList<QStringList> rows;
    int current = -1;
    for (const mi::ThreadInfo& thread : *threads) {
      const views::StackFrame frame = toFrame(thread.frame);
      const QString place = frame.file.isEmpty()
                                ? frame.module.section(QLatin1Char('/'), -1)
                                : QStringLiteral("%1:%2")
                                      .arg(frame.file.section(QLatin1Char('/'), -1))
                                      .arg(frame.line);
      current = thread.id == currentFrameRef().thread ? static_cast<int>(rows.size()) : current;
      rows.append(
          {QString::number(thread.id), toText(thread.name),
           thread.running ? tr("running") : tr("stopped"),
           frame.function.isEmpty() ? place : frame.function + QLatin1String("() ") + place});
    }
    Q_EMIT rowsArrived(Look::Threads, rows, current, {});
  });
}

void DebugSession::selectThread(int thread) {
  if (thread > 0 && currentIsStopped()) {
    m_thread = thread;
    refreshStack(m_state.current);
  }
}

void DebugSession::setAltered(bool altered) {
  if (altered != m_altered) {
    m_altered = altered;
    Q_EMIT alteredChanged(altered);
  }
}

}  // namespace pf::session
