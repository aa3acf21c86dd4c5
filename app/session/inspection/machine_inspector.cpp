// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/inspection/machine_inspector.h"

#include "app/session/state/frame_values.h"
#include "views/models/rows_model.h"

namespace pf::session {
namespace {

constexpr std::uint32_t kMemoryBytes = 512;
constexpr qsizetype kMostInstructions = 400;

}  // namespace

void MachineInspector::tellProblem(Look look, const QString& text) {
  Q_EMIT rowsArrived(look, {}, -1, text);
}

mi::GdbSession* MachineInspector::gdbFor(Look look) {
  const int rank = m_state.current;
  mi::GdbSession* gdb = m_state.stoppedDebugger(rank);
  if (m_state.phase == Phase::Idle) {
    tellProblem(look, tr("No replay runs."));
    return nullptr;
  }
  if (m_state.debugger(rank) == nullptr) {
    tellProblem(look, tr("Rank %1 has no debugger: tick it in the ranks' list.").arg(rank));
  } else if (gdb == nullptr) {
    tellProblem(look, tr("Rank %1 runs: pause it first.").arg(rank));
  }
  return gdb;
}

void MachineInspector::askRegisters() {
  mi::GdbSession* gdb = gdbFor(Look::Registers);
  if (gdb == nullptr) {
    return;
  }
  gdb->inspect().registers(m_inspector.frameRef(),
                           [this](const Result<std::vector<mi::Register>>& registers) {
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

void MachineInspector::askMemory(const QString& address) {
  mi::GdbSession* gdb = gdbFor(Look::Memory);
  if (gdb == nullptr) {
    return;
  }
  if (address.isEmpty()) {
    tellProblem(Look::Memory, tr("An address, or an expression that has one: &x, buffer, $sp."));
    return;
  }
  // The number of the address first: the rows name it.
  const QString number = QStringLiteral("(unsigned long)(%1)").arg(address);
  gdb->inspect().evaluate(m_inspector.frameRef(), number.toStdString(),
                          [this](const Result<std::string>& value) { readMemory(value); });
}

void MachineInspector::readMemory(const Result<std::string>& address) {
  bool ok = false;
  const quint64 from = address ? toText(*address).toULongLong(&ok, 0) : 0;
  mi::GdbSession* gdb = m_state.stoppedDebugger(m_state.current);
  if (!ok || gdb == nullptr) {
    tellProblem(Look::Memory,
                address ? tr("That has no address.") : toText(address.error().message));
    return;
  }
  gdb->inspect().readMemory(QStringLiteral("0x%1").arg(from, 0, 16).toStdString(), kMemoryBytes,
                            [this, from](const Result<std::string>& digits) {
                              if (!digits) {
                                tellProblem(Look::Memory, toText(digits.error().message));
                              } else {
                                Q_EMIT rowsArrived(
                                    Look::Memory, views::memoryRows(from, toText(*digits)), -1, {});
                              }
                            });
}

void MachineInspector::askInstructions(const QString& address) {
  mi::GdbSession* gdb = gdbFor(Look::Instructions);
  if (gdb == nullptr) {
    return;
  }
  const values::StackFrame* frame = m_inspector.selected();
  const QString here = frame != nullptr ? frame->address : QString();
  gdb->inspect().instructions(
      m_inspector.frameRef(), (address.isEmpty() ? QStringLiteral("$pc") : address).toStdString(),
      [this, here](const Result<std::vector<mi::Instruction>>& instructions) {
        if (!instructions) {
          tellProblem(Look::Instructions, toText(instructions.error().message));
        } else {
          showInstructions(*instructions, here);
        }
      });
}

/// Of a large function, what is around the place.
void MachineInspector::showInstructions(const std::vector<mi::Instruction>& instructions,
                                        const QString& here) {
  QList<QStringList> rows;
  qsizetype current = -1;
  for (const mi::Instruction& each : instructions) {
    const quint64 at = toText(each.address).toULongLong(nullptr, 0);
    current = at == here.toULongLong(nullptr, 0) ? rows.size() : current;
    rows.append({QStringLiteral("0x%1").arg(at, 0, 16),
                 each.function.empty()
                     ? QString()
                     : QStringLiteral("%1+%2").arg(toText(each.function)).arg(each.offset),
                 toText(each.text)});
  }
  const qsizetype from = qBound<qsizetype>(0, current - kMostInstructions / 2,
                                           qMax<qsizetype>(0, rows.size() - kMostInstructions));
  Q_EMIT rowsArrived(Look::Instructions, rows.mid(from, kMostInstructions),
                     static_cast<int>(current < 0 ? -1 : current - from), {});
}

void MachineInspector::askThreads() {
  mi::GdbSession* gdb = gdbFor(Look::Threads);
  if (gdb == nullptr) {
    return;
  }
  gdb->inspect().threads([this](const Result<std::vector<mi::ThreadInfo>>& threads) {
    if (!threads) {
      tellProblem(Look::Threads, toText(threads.error().message));
    } else {
      showThreads(*threads);
    }
  });
}

void MachineInspector::showThreads(const std::vector<mi::ThreadInfo>& threads) {
  QList<QStringList> rows;
  int current = -1;
  for (const mi::ThreadInfo& thread : threads) {
    const values::StackFrame frame = toFrame(thread.frame);
    const QString place =
        frame.file.isEmpty()
            ? frame.module.section(QLatin1Char('/'), -1)
            : QStringLiteral("%1:%2").arg(frame.file.section(QLatin1Char('/'), -1)).arg(frame.line);
    current = thread.id == m_inspector.frameRef().thread ? static_cast<int>(rows.size()) : current;
    rows.append({QString::number(thread.id), toText(thread.name),
                 thread.running ? tr("running") : tr("stopped"),
                 frame.function.isEmpty() ? place : frame.function + QLatin1String("() ") + place});
  }
  Q_EMIT rowsArrived(Look::Threads, rows, current, {});
}

}  // namespace pf::session

#include "moc_machine_inspector.cpp"
