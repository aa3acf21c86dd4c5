// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/records/breakpoint_text.h"

#include <array>
#include <utility>

#include <QRegularExpression>

#include "app/session/state/frame_values.h"
#include "mi_bridge/breakpoint_words.h"
#include "replay_engine/steering/logical_stops.h"

namespace pf::session {
namespace {

using values::BreakpointKind;

constexpr std::array<std::pair<BreakpointKind, const char*>, 6> kWords{
    {{BreakpointKind::Watch, "watch"},
     {BreakpointKind::ReadWatch, "rwatch"},
     {BreakpointKind::AccessWatch, "awatch"},
     {BreakpointKind::Catch, "catch"},
     {BreakpointKind::Address, "address"},
     {BreakpointKind::Logical, "logical"}}};

Error noBreakpoint(const QString& typed) {
  return {ErrorCode::Usage, "'" + typed.toStdString() + "' names no place to stop at",
          breakpointForms().toStdString()};
}

bool isCaught(const QString& what) {
  static const QRegularExpression kForms(
      QStringLiteral("^(throw|catch|rethrow|mpi error|signal( (SIG[A-Z0-9]+|all|[0-9]+))?)$"));
  return kForms.match(what).hasMatch();
}

/// FILE:LINE, FUNCTION or *ADDRESS.
bool readPlace(const QString& place, values::Breakpoint& breakpoint) {
  static const QRegularExpression kLine(QStringLiteral("^(.+[^:]):([0-9]{1,8})$"));
  static const QRegularExpression kFunction(QStringLiteral("^[A-Za-z_~][\\w:~<>,()*& \\[\\]-]*$"));
  if (place.startsWith(QLatin1Char('*'))) {
    breakpoint.kind = BreakpointKind::Address;
    breakpoint.expression = place.mid(1).trimmed();
    return !breakpoint.expression.isEmpty();
  }
  if (const auto line = kLine.match(place); line.hasMatch() && line.captured(2).toInt() > 0) {
    breakpoint.file = line.captured(1);
    breakpoint.line = line.captured(2).toInt();
    return true;
  }
  breakpoint.function = place;
  return kFunction.match(place).hasMatch() &&
         (!place.contains(QLatin1Char(' ')) || place.contains(QLatin1Char('(')));
}

}  // namespace

QString breakpointForms() {
  return QStringLiteral(
      "Write FILE:LINE, FUNCTION, *ADDRESS, hit N of FILE:LINE, watch EXPRESSION (rwatch, awatch), "
      "catch throw|catch|signal NAME|mpi error, event RANK:SERIAL, receive RANK#K, message from "
      "RANK [to "
      "RANK] "
      "[tag TAG] [comm NAME], race N, collective N [comm NAME], any receive, start of main, or "
      "divergence.");
}

Result<values::Breakpoint> parseBreakpoint(const QString& typed) {
  values::Breakpoint breakpoint;
  QString where = typed.trimmed();
  if (where == QLatin1String("main")) {  // has begun where a replay can stop first
    where = QLatin1String(kStartOfMain);
  }
  if (isLogicalStop(where.toStdString())) {
    const Result<LogicalStop> stop = parseLogicalStop(where.toStdString());
    if (!stop) {
      return stop.error();
    }
    breakpoint.kind = BreakpointKind::Logical;
    breakpoint.expression = toText(toText(*stop));
    return breakpoint;
  }
  static const QRegularExpression kHit(QStringLiteral("^hit +([0-9]{1,9}) +of +(.+)$"));
  if (const auto hit = kHit.match(where); hit.hasMatch()) {
    if (hit.captured(1).toInt() < 1) {
      return noBreakpoint(typed);
    }
    breakpoint.ignoreCount = hit.captured(1).toInt() - 1;
    where = hit.captured(2).trimmed();
  }
  const QString word = where.section(QLatin1Char(' '), 0, 0);
  const QString rest = where.section(QLatin1Char(' '), 1).trimmed();
  for (const auto& [kind, name] : kWords) {
    const bool typable = kind != BreakpointKind::Address && kind != BreakpointKind::Logical;
    if (typable && word == QLatin1String(name) && !rest.isEmpty()) {
      breakpoint.kind = kind;
      breakpoint.expression = rest;
      return kind == BreakpointKind::Catch && !isCaught(rest)
                 ? Result<values::Breakpoint>(noBreakpoint(typed))
                 : Result<values::Breakpoint>(breakpoint);
    }
  }
  if (where.isEmpty() || !readPlace(where, breakpoint)) {
    return noBreakpoint(typed);
  }
  return breakpoint;
}

QString breakpointText(const values::Breakpoint& breakpoint) {
  const QString& what = breakpoint.expression;
  switch (breakpoint.kind) {
    case BreakpointKind::Address:
      return QLatin1Char('*') + what;
    case BreakpointKind::Logical:
      return what;
    case BreakpointKind::Watch:
    case BreakpointKind::ReadWatch:
    case BreakpointKind::AccessWatch:
    case BreakpointKind::Catch:
      for (const auto& [kind, name] : kWords) {
        if (kind == breakpoint.kind) {
          return QLatin1String(name) + QLatin1Char(' ') + what;
        }
      }
      break;
    case BreakpointKind::Code:
      break;
  }
  return breakpoint.file.isEmpty()
             ? breakpoint.function
             : QStringLiteral("%1:%2").arg(breakpoint.file).arg(breakpoint.line);
}

Status mayBeGiven(const values::Breakpoint& breakpoint) {
  for (const QString* each : {&breakpoint.condition, &breakpoint.log, &breakpoint.expression,
                              &breakpoint.function, &breakpoint.file}) {
    if (Status status = mi::checkExpression(each->toStdString()); !status) {
      return status;
    }
  }
  std::vector<std::string> commands;
  for (const QString& command : breakpoint.commands) {
    commands.push_back(command.toStdString());
  }
  return mi::checkCommands(commands);
}

db::Breakpoint toRow(const values::Breakpoint& b) {
  db::Breakpoint row;
  row.id = b.id;
  row.kind = b.function.isEmpty() ? "line" : "function";
  for (const auto& [kind, name] : kWords) {
    row.kind = kind == b.kind ? name : row.kind;
  }
  row.file = b.file.toStdString();
  row.line = b.line;
  row.function = b.function.toStdString();
  row.lineText = b.lineText.toStdString();
  row.condition = b.condition.toStdString();
  row.ignoreCount = b.ignoreCount;
  row.enabled = b.enabled;
  bool ok = true;
  for (const int rank : values::parseRankSet(b.ranks, ok)) {
    row.ranks.push_back(rank);
  }
  row.expression = b.expression.toStdString();
  row.temporary = b.temporary;
  for (const QString& command : b.commands) {
    row.commands.push_back(command.toStdString());
  }
  row.log = b.log.toStdString();
  row.stops = values::stopsText(b).toStdString();
  return row;
}

values::Breakpoint fromRow(const db::Breakpoint& row) {
  values::Breakpoint b;
  b.id = static_cast<int>(row.id);
  for (const auto& [kind, name] : kWords) {
    b.kind = row.kind == name ? kind : b.kind;
  }
  b.enabled = row.enabled;
  b.file = toText(row.file);
  b.line = row.line;
  b.function = toText(row.function);
  b.lineText = toText(row.lineText);
  b.condition = toText(row.condition);
  b.ignoreCount = row.ignoreCount;
  const QList<int> ranks(row.ranks.begin(), row.ranks.end());
  b.ranks = ranks.isEmpty() ? QString() : values::rankSetText(ranks);
  b.expression = toText(row.expression);
  b.temporary = row.temporary;
  for (const std::string& command : row.commands) {
    b.commands.append(toText(command));
  }
  b.log = toText(row.log);
  values::setStops(b, toText(row.stops));
  return b;
}

}  // namespace pf::session
