// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/records/bookmarks.h"

#include "app/collation/collate.h"
#include "app/session/records/session_records.h"
#include "views/values/text.h"

namespace pf::session {

void Bookmarks::open(db::TraceStore* store) {
  m_store = store;
  m_all.clear();
  m_failing = {};
  if (store == nullptr) {
    return;
  }
  if (const auto rows = store->session().all<db::Note>(); rows) {
    for (const db::Note& row : *rows) {
      append({row.rank, row.serial}, values::fromUtf8(row.text), row.failing);
    }
  }
}

void Bookmarks::append(const EventRef& event, const QString& words, bool failing) {
  m_all.push_back({event, values::MarkKind::Bookmark, words});
  m_failing = failing ? event : m_failing;
}

void Bookmarks::add(const EventRef& event, const QString& words) {
  keep(event, words, false);
}

void Bookmarks::markFailing(const EventRef& event) {
  keep(event, tr("failing receive"), true);
}

void Bookmarks::keep(const EventRef& event, const QString& words, bool failing) {
  db::Note note;
  note.rank = event.rank;
  note.serial = event.serial;
  note.text = words.toStdString();
  note.createdUtc = app::utcNow();
  note.failing = failing;
  (void)keepRow(m_store, note);
  append(event, words, failing);
  Q_EMIT changed();
}

}  // namespace pf::session

#include "moc_bookmarks.cpp"
