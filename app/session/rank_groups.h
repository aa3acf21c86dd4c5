// SPDX-License-Identifier: GPL-3.0-or-later
// Named groups of ranks, and which ranks the diagram shows: kept in the trace.
#pragma once

#include <cstdint>
#include <map>

#include <QObject>

#include "app/session/state/session_state.h"
#include "views/trace/analyses/rank_arrangement.h"
#include "views/values/rank_groups.h"

namespace pf::session {

class RankGroups : public QObject {
  Q_OBJECT
 public:
  explicit RankGroups(const SessionState& state) : m_state(state) {}

  /// Those of a trace. `store`: where they are kept; null: nowhere, and there are none.
  void open(db::TraceStore* store);
  /// The same groups, in another file that has them under the same ids.
  void keepIn(db::TraceStore* store) { m_store = store; }

  [[nodiscard]] const QList<values::RankGroup>& all() const { return m_groups; }
  /// Replaces a group of this name.
  void add(const QString& name, const QList<int>& ranks);
  void remove(const QString& name);
  /// Of the recording, each set of ranks once.
  [[nodiscard]] QList<values::RankGroup> communicators() const;

  [[nodiscard]] const views::RankArrangement& arrangement() const { return m_arrangement; }
  void setArrangement(const views::RankArrangement& arrangement);

 Q_SIGNALS:
  void changed();
  void message(const QString& text, bool problem);

 private:
  void read(const db::RankGroup& row);

  const SessionState& m_state;
  db::TraceStore* m_store = nullptr;
  QList<values::RankGroup> m_groups;
  std::map<QString, std::int64_t> m_ids;  ///< rows of the trace
  views::RankArrangement m_arrangement;
  std::int64_t m_arrangementId = 0;  ///< of its row; 0: there is none
};

}  // namespace pf::session
