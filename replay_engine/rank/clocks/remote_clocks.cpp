// SPDX-License-Identifier: MIT
#include "replay_engine/rank/clocks/remote_clocks.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "replay_engine/rank/engine/real_calls.h"

namespace pf {
namespace {

/// Of the ranks of MPI_COMM_WORLD, those that share no memory with this one. How many.
int markRemote(int size, bool* isRemote) {
  if (const char* how = std::getenv("PHOTOFINISH_CLOCKS");
      how != nullptr && std::strcmp(how, "messages") == 0) {
    int own = 0;
    PF_REAL(Comm_rank)(MPI_COMM_WORLD, &own);
    for (int rank = 0; rank < size; ++rank) {
      isRemote[rank] = rank != own;
    }
    return size - 1;
  }
  MPI_Comm near = MPI_COMM_NULL;
  PF_REAL(Comm_split_type)(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
  MPI_Group nearGroup = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  PF_REAL(Comm_group)(near, &nearGroup);
  PF_REAL(Comm_group)(MPI_COMM_WORLD, &all);
  int remote = 0;
  for (int rank = 0; rank < size; ++rank) {
    int there = MPI_UNDEFINED;
    PF_REAL(Group_translate_ranks)(all, 1, &rank, nearGroup, &there);
    isRemote[rank] = there == MPI_UNDEFINED;
    remote += isRemote[rank] ? 1 : 0;
  }
  PF_REAL(Group_free)(&all);
  PF_REAL(Group_free)(&nearGroup);
  PF_REAL(Comm_free)(&near);
  return remote;
}

}  // namespace

bool RemoteLink::start(int rank, int size) {
  const auto ranks = static_cast<std::size_t>(size);
  m_isRemote = static_cast<bool*>(std::calloc(ranks, sizeof(bool)));
  m_in = static_cast<In*>(std::calloc(ranks, sizeof(In)));
  int mine = m_isRemote != nullptr && m_in != nullptr ? markRemote(size, m_isRemote) : 0;
  int most = 0;
  PF_REAL(Allreduce)(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (most == 0) {
    return false;
  }
  // No attribute of the application's is on MPI_COMM_WORLD yet.
  PF_REAL(Comm_dup)(MPI_COMM_WORLD, &m_comm);
  PF_REAL(Comm_set_errhandler)(m_comm, MPI_ERRORS_RETURN);
  m_out = static_cast<Out*>(std::calloc(kUnderWay, sizeof(Out)));
  for (std::uint32_t i = 0; m_out != nullptr && i < kUnderWay; ++i) {
    m_out[i].request = MPI_REQUEST_NULL;
  }
  m_isRemote[rank] = false;
  return m_out != nullptr && mine != 0;
}

/// What is still under way is not worth waiting for.
void RemoteLink::stop() {
  for (std::uint32_t i = 0; m_out != nullptr && i < kUnderWay; ++i) {
    if (m_out[i].request != MPI_REQUEST_NULL) {
      PF_REAL(Request_free)(&m_out[i].request);
    }
  }
}

bool RemoteLink::publish(int to, const online::ClockRecord& record) {
  Out& out = m_out[m_sent % kUnderWay];
  int done = 1;
  if (out.request != MPI_REQUEST_NULL) {
    PF_REAL(Test)(&out.request, &done, MPI_STATUS_IGNORE);
  }
  if (done == 0) {
    return false;
  }
  ++m_sent;
  out.record = record;
  return PF_REAL(Isend)(&out.record, sizeof out.record, MPI_BYTE, to, 0, m_comm, &out.request) ==
         MPI_SUCCESS;
}

const online::ClockRecord* RemoteLink::next(int from) {
  In& in = m_in[from];
  if (in.records == nullptr) {
    in.records = new (std::nothrow) online::FlatArray<online::ClockRecord>;
  }
  if (in.first == in.records->size()) {
    in.records->resize(0);
    in.first = 0;
    int there = 0;
    PF_REAL(Iprobe)(from, 0, m_comm, &there, MPI_STATUS_IGNORE);
    if (there == 0) {
      return nullptr;
    }
    online::ClockRecord record{};
    PF_REAL(Recv)(&record, sizeof record, MPI_BYTE, from, 0, m_comm, MPI_STATUS_IGNORE);
    in.records->push(record);
  }
  return &(*in.records)[in.first];
}

void RemoteLink::drop(int from) {
  ++m_in[from].first;
}

}  // namespace pf
