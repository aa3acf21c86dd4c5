// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/export/otf2_definitions.h"

#include <utility>

namespace pf::app {
namespace {

constexpr std::pair<const char*, OTF2_CollectiveOp> kOperations[] = {
    {"Barrier", OTF2_COLLECTIVE_OP_BARRIER},
    {"Bcast", OTF2_COLLECTIVE_OP_BCAST},
    {"Gather", OTF2_COLLECTIVE_OP_GATHER},
    {"Gatherv", OTF2_COLLECTIVE_OP_GATHERV},
    {"Scatter", OTF2_COLLECTIVE_OP_SCATTER},
    {"Scatterv", OTF2_COLLECTIVE_OP_SCATTERV},
    {"Allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
    {"Allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
    {"Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL},
    {"Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
    {"Alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW},
    {"Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE},
    {"Reduce", OTF2_COLLECTIVE_OP_REDUCE},
    {"Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
    {"Reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
    {"Scan", OTF2_COLLECTIVE_OP_SCAN},
    {"Exscan", OTF2_COLLECTIVE_OP_EXSCAN},
    {"Comm_dup", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
    {"Comm_dup_with_info", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
    {"Comm_idup", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
    {"Comm_split", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
    {"Comm_split_type", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
    {"Comm_create", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
    {"Comm_create_group", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
    {"Cart_create", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
    {"Graph_create", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
    {"Dist_graph_create", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
    {"Dist_graph_create_adjacent", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
    {"Intercomm_create", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
    {"Intercomm_merge", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
    {"Comm_free", OTF2_COLLECTIVE_OP_DESTROY_HANDLE},
    {"Comm_disconnect", OTF2_COLLECTIVE_OP_DESTROY_HANDLE},
};

/// "MPI_Ibarrier" is a "Barrier", too, and "MPI_Bcast_c" a "Bcast".
std::optional<OTF2_CollectiveOp> operationOf(const std::string& call) {
  std::string name = call.starts_with("MPI_") ? call.substr(4) : call;
  if (name.ends_with("_c")) {  // large counts
    name.resize(name.size() - 2);
  }
  for (const auto& [word, operation] : kOperations) {
    const std::string nonblocking =
        "I" + std::string(1, static_cast<char>(word[0] - 'A' + 'a')) + (word + 1);
    if (name == word || name == nonblocking) {
      return operation;
    }
  }
  return std::nullopt;
}

OTF2_RegionRole roleOf(const std::string& call, EventKind kind) {
  switch (kind) {
    case EventKind::Send:
    case EventKind::Receive:
    case EventKind::SendReceive:
    case EventKind::Post:
    case EventKind::Start:
    case EventKind::Completion:
    case EventKind::Probe:
      return OTF2_REGION_ROLE_POINT2POINT;
    case EventKind::Collective:
    case EventKind::CollectivePost:
      break;
    case EventKind::Local:
      return OTF2_REGION_ROLE_FUNCTION;
  }
  if (call.starts_with("MPI_Start")) {  // of a persistent collective, or of messages
    return OTF2_REGION_ROLE_POINT2POINT;
  }
  switch (operationOf(call).value_or(OTF2_COLLECTIVE_OP_SCAN)) {
    case OTF2_COLLECTIVE_OP_BARRIER:
      return OTF2_REGION_ROLE_BARRIER;
    case OTF2_COLLECTIVE_OP_BCAST:
    case OTF2_COLLECTIVE_OP_SCATTER:
    case OTF2_COLLECTIVE_OP_SCATTERV:
      return OTF2_REGION_ROLE_COLL_ONE2ALL;
    case OTF2_COLLECTIVE_OP_GATHER:
    case OTF2_COLLECTIVE_OP_GATHERV:
    case OTF2_COLLECTIVE_OP_REDUCE:
      return OTF2_REGION_ROLE_COLL_ALL2ONE;
    case OTF2_COLLECTIVE_OP_SCAN:
    case OTF2_COLLECTIVE_OP_EXSCAN:
      return OTF2_REGION_ROLE_COLL_OTHER;
    default:
      return OTF2_REGION_ROLE_COLL_ALL2ALL;
  }
}

/// Readers want definitions in the order of their references.
template <typename Key>
std::map<std::uint32_t, Key> byReference(const std::map<Key, std::uint32_t>& references) {
  std::map<std::uint32_t, Key> result;
  for (const auto& [key, reference] : references) {
    result.emplace(reference, key);
  }
  return result;
}

const char* const kNames[] = {"",          "MPI",
                              "node",      "machine",
                              "call site", "where the program made the call",
                              "serial",    "number of the event on its rank, from 1",
                              "racing",    "1: could have taken another message instead"};

}  // namespace

Otf2Definitions::Otf2Definitions(const IndexedTrace& trace) : m_trace(trace) {
  const Execution& execution = trace.execution();
  trace.eachEvent([&](EventRef ref) {
    m_regions.try_emplace(trace.event(ref).call, static_cast<OTF2_RegionRef>(m_regions.size()));
  });
  for (const CallSite& site : execution.sites) {
    m_places.push_back(
        site.file.empty()
            ? kNone
            : m_lines
                  .try_emplace({site.file, site.line}, static_cast<std::uint32_t>(m_lines.size()))
                  .first->second);
  }
  for (const Communicator& comm : execution.communicators) {
    auto& positions = m_positions.emplace_back();
    for (std::size_t side = 0; side < 2; ++side) {
      for (const Rank rank : side == 0 ? comm.group : comm.remote) {
        positions[side].emplace(rank, static_cast<std::uint32_t>(positions[side].size()));
      }
    }
  }
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    m_hosts.try_emplace(hostOf(rank), static_cast<OTF2_SystemTreeNodeRef>(m_hosts.size() + 1));
  }
  internStrings();
}

std::string Otf2Definitions::hostOf(std::size_t rank) const {
  const auto& ranks = m_trace.loaded.store.ranks();
  const std::string host = rank < ranks.size() ? ranks[rank].host : "";
  return host.empty() ? m_trace.loaded.store.run().host : host;
}

OTF2_StringRef Otf2Definitions::string(const std::string& text) {
  return m_strings.try_emplace(text, static_cast<OTF2_StringRef>(m_strings.size())).first->second;
}

void Otf2Definitions::internStrings() {
  for (const char* name : kNames) {
    string(name);
  }
  for (const auto& [host, reference] : m_hosts) {
    string(host);
  }
  for (std::size_t rank = 0; rank < m_trace.execution().ranks.size(); ++rank) {
    string("MPI Rank " + std::to_string(rank));
    string("rank " + std::to_string(rank));
  }
  for (const auto& [call, region] : m_regions) {
    string(m_trace.execution().callNames[call]);
  }
  for (const Communicator& comm : m_trace.execution().communicators) {
    string(comm.name);
  }
  for (const auto& [place, reference] : m_lines) {
    string(place.first);
  }
}

std::uint32_t Otf2Definitions::rankIn(std::uint32_t comm, Rank rank, Rank from) const {
  if (comm >= m_positions.size()) {
    return static_cast<std::uint32_t>(rank);
  }
  const auto& [group, remote] = m_positions[comm];
  const auto& members = !remote.empty() && group.contains(from) ? remote : group;
  const auto found = members.find(rank);
  return found == members.end() ? static_cast<std::uint32_t>(rank) : found->second;
}

std::optional<OTF2_CollectiveOp> Otf2Definitions::operation(std::uint16_t call) const {
  return operationOf(m_trace.execution().callNames[call]);
}

void Otf2Definitions::write(OTF2_GlobalDefWriter* writer, const std::vector<std::uint64_t>& counts,
                            Otf2Failure& failure) const {
  writeStrings(writer, failure);
  failure.note(OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_MPI, known("MPI"),
                                                  OTF2_PARADIGM_CLASS_PROCESS));
  writeAttributes(writer, failure);
  writeLocations(writer, counts, failure);
  writeRegions(writer, failure);
  writeCommunicators(writer, failure);
  for (const auto& [reference, place] : byReference(m_lines)) {
    failure.note(OTF2_GlobalDefWriter_WriteSourceCodeLocation(
        writer, reference, known(place.first), static_cast<std::uint32_t>(place.second)));
  }
}

void Otf2Definitions::writeStrings(OTF2_GlobalDefWriter* writer, Otf2Failure& failure) const {
  for (const auto& [reference, text] : byReference(m_strings)) {
    failure.note(OTF2_GlobalDefWriter_WriteString(writer, reference, text.c_str()));
  }
}

void Otf2Definitions::writeAttributes(OTF2_GlobalDefWriter* writer, Otf2Failure& failure) const {
  const auto attribute = [&](Attribute reference, const char* name, const char* description,
                             OTF2_Type type) {
    failure.note(OTF2_GlobalDefWriter_WriteAttribute(writer, reference, known(name),
                                                     known(description), type));
  };
  attribute(kCallSite, kNames[4], kNames[5], OTF2_TYPE_SOURCE_CODE_LOCATION);
  attribute(kSerial, kNames[6], kNames[7], OTF2_TYPE_UINT64);
  attribute(kRacing, kNames[8], kNames[9], OTF2_TYPE_UINT8);
}

void Otf2Definitions::writeLocations(OTF2_GlobalDefWriter* writer,
                                     const std::vector<std::uint64_t>& counts,
                                     Otf2Failure& failure) const {
  failure.note(OTF2_GlobalDefWriter_WriteSystemTreeNode(
      writer, 0, known("machine"), known("machine"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
  for (const auto& [host, reference] : m_hosts) {
    failure.note(
        OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, reference, known(host), known("node"), 0));
  }
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const auto process = static_cast<OTF2_LocationGroupRef>(rank);
    failure.note(OTF2_GlobalDefWriter_WriteLocationGroup(
        writer, process, known("MPI Rank " + std::to_string(rank)),
        OTF2_LOCATION_GROUP_TYPE_PROCESS, m_hosts.at(hostOf(rank)), OTF2_UNDEFINED_LOCATION_GROUP));
    failure.note(
        OTF2_GlobalDefWriter_WriteLocation(writer, rank, known("rank " + std::to_string(rank)),
                                           OTF2_LOCATION_TYPE_CPU_THREAD, counts[rank], process));
  }
}

void Otf2Definitions::writeRegions(OTF2_GlobalDefWriter* writer, Otf2Failure& failure) const {
  std::map<std::uint16_t, EventKind> kinds;
  m_trace.eachEvent(
      [&](EventRef ref) { kinds.try_emplace(m_trace.event(ref).call, m_trace.event(ref).kind); });
  for (const auto& [reference, call] : byReference(m_regions)) {
    const std::string& name = m_trace.execution().callNames[call];
    failure.note(OTF2_GlobalDefWriter_WriteRegion(
        writer, reference, known(name), known(name), known(""), roleOf(name, kinds.at(call)),
        OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, known("MPI"), 0, 0));
  }
}

void Otf2Definitions::writeCommunicators(OTF2_GlobalDefWriter* writer, Otf2Failure& failure) const {
  OTF2_GroupRef next = 0;
  const auto group = [&](OTF2_GroupType type, const std::vector<std::uint64_t>& members) {
    failure.note(OTF2_GlobalDefWriter_WriteGroup(
        writer, next, known(""), type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
        static_cast<std::uint32_t>(members.size()), members.data()));
    return next++;
  };
  std::vector<std::uint64_t> all;
  for (std::size_t rank = 0; rank < m_trace.execution().ranks.size(); ++rank) {
    all.push_back(rank);
  }
  group(OTF2_GROUP_TYPE_COMM_LOCATIONS, all);
  const auto members = [&](const std::vector<Rank>& ranks) {
    std::vector<std::uint64_t> known;
    for (const Rank rank : ranks) {
      if (rank >= 0 && static_cast<std::size_t>(rank) < all.size()) {  // else of another job
        known.push_back(static_cast<std::uint64_t>(rank));
      }
    }
    return group(OTF2_GROUP_TYPE_COMM_GROUP, known);
  };
  const auto& communicators = m_trace.execution().communicators;
  for (std::size_t i = 0; i < communicators.size(); ++i) {
    const Communicator& comm = communicators[i];
    const auto self = static_cast<OTF2_CommRef>(i);
    const OTF2_GroupRef own = members(comm.group);
    if (comm.remote.empty()) {
      failure.note(OTF2_GlobalDefWriter_WriteComm(writer, self, known(comm.name), own,
                                                  OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    } else {
      failure.note(OTF2_GlobalDefWriter_WriteInterComm(writer, self, known(comm.name), own,
                                                       members(comm.remote), OTF2_UNDEFINED_COMM,
                                                       OTF2_COMM_FLAG_NONE));
    }
  }
}

}  // namespace pf::app
