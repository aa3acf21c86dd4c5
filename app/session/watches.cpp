// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/watches.h"

#include <QRegularExpression>

#include "app/session/state/frame_values.h"
#include "app/traces/own_traces.h"
#include "mi_bridge/value_format.h"

namespace pf::session {
namespace {

/// As GDB prints structures, arrays, containers and pointers. Which it is, is known when it is opened. In a hexadecimal format
/// a number is taken for a pointer by its length only.
bool mayHaveParts(const mi::WatchValue& watch, const QString& value) {
  static const QRegularExpression kAddress(QStringLiteral("^0x0*[1-9a-f][0-9a-f]{8,11}$"));
  if (mi::askedValue(watch.expression).format != 0) {
    return value.contains(QLatin1Char('{')) || kAddress.match(value).hasMatch();
  }
  return value.contains(QLatin1Char('{')) || value.contains(QLatin1String("0x"));
}

}  // namespace

void Watches::open(db::TraceStore* store) {
  m_store = store;
  m_values.clear();
  m_stops.clear();
  m_moving.clear();
  if (store == nullptr) {
    Q_EMIT changed(m_all);
    return;
  }
  m_all.clear();
  if (const auto rows = store->session().all<db::Watch>(); rows) {
    for (const db::Watch& row : *rows) {
      if (app::areKnownWords(row.expression)) {
        m_all.append(toText(row.expression));
      } else {
        Q_EMIT message(
            tr("The watch '%1' of this trace is not yours, and is left out: add it to have it.")
                .arg(toText(row.expression)),
            false);
      }
    }
  }
  give(m_all);
  Q_EMIT changed(m_all);
}

void Watches::set(const QStringList& expressions) {
  give(expressions);
  if (m_store != nullptr && expressions != m_all) {
    keep(expressions);
  }
  m_all = expressions;
  m_fleet.refreshWatches();
}

void Watches::give(const QStringList& expressions) {
  std::erase_if(m_ids, [&](const auto& known) {
    const bool gone = !expressions.contains(toText(known.first));
    if (gone) {
      m_fleet.removeWatch(known.second);
      std::erase_if(m_values, [&](const auto& value) { return value.first.first == known.first; });
    }
    return gone;
  });
  for (const QString& expression : expressions) {
    if (!m_ids.contains(expression.toStdString())) {
      app::keepWords(expression.toStdString());
      m_ids[expression.toStdString()] = m_fleet.addWatch(expression.toStdString());
    }
  }
}

void Watches::keep(const QStringList& expressions) {
  db::SessionTables tables = m_store->session();
  if (const auto rows = tables.all<db::Watch>(); rows) {
    for (const db::Watch& row : *rows) {
      (void)tables.remove<db::Watch>(row.id);
    }
  }
  for (const QString& expression : expressions) {
    (void)tables.add(db::Watch{0, expression.toStdString()});
  }
}

void Watches::stops(int rank) {
  m_moving.erase(rank);
  ++m_stops[rank];
}

void Watches::settle() {
  const std::set<int> moving = m_moving;
  for (const int rank : moving) {
    const mi::GdbSession* const gdb = m_fleet.session(rank);
    if (gdb != nullptr && gdb->state() == mi::SessionState::Stopped) {
      stops(rank);
    }
  }
}

void Watches::answered(const mi::WatchValue& value, const QString& function) {
  values::WatchValue out;
  out.rank = value.rank;
  (value.ok ? out.value : out.error) = toText(value.text);
  out.hasParts = value.ok && (value.python ? value.parts : mayHaveParts(value, out.value));
  if (!m_moving.contains(value.rank)) {
    Values& known = m_values[{value.expression, value.rank}];
    const int stop = m_stops[value.rank];
    if (known.now.stop != stop) {
      known.before = std::move(known.now);
    }
    known.now = {out.value, function, stop};
    if (value.ok && known.before.isOf(stop - 1, function) && known.before.value != out.value) {
      out.before = known.before.value;
    }
  }
  Q_EMIT arrived(toText(value.expression), {out});
}

}  // namespace pf::session

#include "moc_watches.cpp"
