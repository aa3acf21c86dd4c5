// SPDX-License-Identifier: MIT
#include "replay_engine/rank/calls/persistent_collectives.h"

#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/engine/given.h"

namespace pf {

PersistentCollective::PersistentCollective(const CallPlace& place, MPI_Comm comm,
                                           CollectiveFlow flow, int root, bool contributes,
                                           bool takes)
    : m_event(place, comm, CollectiveFlow::None, root, false, false, Contents{}), m_comm(comm) {
  m_part.flow = flow;
  m_part.root = root;
  m_part.contributes = contributes;
  m_part.takes = takes;
}

void PersistentCollective::made(int result, const MPI_Request* request) {
  if (result != MPI_SUCCESS) {
    return;
  }
  const bool inter = isInter(m_comm);
  const StateLock lock;
  if (inter) {
    m_part.flow = CollectiveFlow::None;  // as in any collective between two groups
  }
  // All ranks make them in one order, whatever the order of their starts (MPI 4.0, 6.13).
  m_part.number = ++g_engine.comms.of(m_comm).persistent;
  Request entry;
  entry.handle = *request;
  entry.kind = RequestKind::PersistentCollective;
  entry.comm = m_comm;
  g_engine.requests.detail(*g_engine.requests.insert(entry)).persistent = m_part;
}

bool isPersistentCollective(MPI_Request request) {
  const Request* const entry = g_engine.requests.find(request);
  return entry != nullptr && entry->kind == RequestKind::PersistentCollective;
}

int startCollective(const CallPlace& place, MPI_Request* request) {
  const MPI_Comm comm = g_engine.requests.find(*request)->comm;
  RequestDetails& details = *g_engine.requests.find(*request)->details;
  PersistentPart& part = details.persistent;
  beginEvent(place, comm, part.root >= 0 ? part.root : kNoPeer, 0);
  // Only now: while a thread waits for its turn, others change the table.
  Request& entry = *g_engine.requests.find(*request);
  const Request before = entry;
  entry.number = g_engine.postedCollectives++;
  entry.active = true;
  details.collective = sink().enters(
      place, RecordKind::CollectivePost,
      {entry.comm, part.flow, part.root, part.contributes, part.takes, part.number, part.starts++},
      {});
  compareGiven(place, Contents{});
  const int result = PF_REAL(Start)(request);
  if (result != MPI_SUCCESS) {
    entry.number = before.number;
    entry.active = before.active;
    sink().note(place);  // the record has a start that never was
  }
  sink().publish();
  return result;
}

}  // namespace pf
