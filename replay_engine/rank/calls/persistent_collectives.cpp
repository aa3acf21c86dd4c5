// SPDX-License-Identifier: MIT
#include "replay_engine/rank/calls/persistent_collectives.h"

#include <cstdlib>

#include "replay_engine/rank/engine/given.h"
#include "replay_engine/rank/layer/pieces.h"

namespace pf {

/// Pieces of the program's memory; their types are copies of ours, which stay when the program frees its own.
struct GivenAtStarts {
  struct Part {
    Piece piece;
    bool seen;
  };
  Part* parts = nullptr;
  int count = 0;
  int room = 0;
  std::uint32_t operation = 0;
};

namespace {

void letGo(GivenAtStarts* given) {
  for (int i = 0; given != nullptr && i < given->count; ++i) {
    letTypeGo(given->parts[i].piece.type);
  }
  if (given != nullptr) {
    std::free(given->parts);
  }
  std::free(given);
}

void add(GivenAtStarts& given, const void* buffer, long long count, MPI_Datatype type, bool seen) {
  if (given.count == given.room) {
    given.room = given.room == 0 ? 4 : 2 * given.room;
    given.parts = static_cast<GivenAtStarts::Part*>(std::realloc(
        given.parts, static_cast<std::size_t>(given.room) * sizeof(GivenAtStarts::Part)));
    if (given.parts == nullptr) {
      std::abort();  // the program cannot go on without memory either
    }
  }
  given.parts[given.count++] = {{const_cast<void*>(buffer), count, keepType(type)}, seen};
}

Contents nowGiven(const GivenAtStarts& given) {
  Digester digester;
  for (int i = 0; i < given.count; ++i) {
    const Piece& piece = given.parts[i].piece;
    if (given.parts[i].seen) {
      digester.add(piece.buffer, piece.count, piece.type);
    } else {
      digester.addUnseen(piece.count, piece.type);
    }
  }
  Contents contents = digester.contents();
  contents.operation = given.operation;
  return contents;
}

}  // namespace

GivenLater::GivenLater()
    : TakesPieces{[](TakesPieces& self, const void* buffer, long long count, MPI_Datatype type,
                     bool seen) {
        add(*static_cast<GivenLater&>(self).m_given, buffer, count, type, seen);
      }},
      m_given(static_cast<GivenAtStarts*>(std::calloc(1, sizeof(GivenAtStarts)))) {
  if (m_given == nullptr) {
    std::abort();  // the program cannot go on without memory either
  }
  t_takesPieces = this;
}

GivenLater::~GivenLater() {
  t_takesPieces = nullptr;
  letGo(m_given);
}

GivenAtStarts* GivenLater::atStarts(const Contents& given) {
  if (!given.known) {
    return nullptr;
  }
  GivenAtStarts* const taken = m_given;
  taken->operation = given.operation;
  m_given = nullptr;
  return taken;
}

void forgetGiven(Request& entry) {
  if (entry.kind == RequestKind::PersistentCollective && entry.details != nullptr) {
    letGo(entry.details->persistent.given);
    entry.details->persistent.given = nullptr;
  }
}

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
    letGo(m_part.given);
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
  const Contents given =
      part.given != nullptr && asksForGiven(comm) ? nowGiven(*part.given) : Contents{};
  beginEvent(place, comm, part.root >= 0 ? part.root : kNoPeer, 0);
  // Only now: while a thread waits for its turn, others change the table.
  Request& entry = *g_engine.requests.find(*request);
  const Request before = entry;
  entry.number = g_engine.postedCollectives++;
  entry.active = true;
  details.collective = sink().enters(
      place, RecordKind::CollectivePost,
      {entry.comm, part.flow, part.root, part.contributes, part.takes, part.number, part.starts++},
      given);
  compareGiven(place, given);
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
