// SPDX-License-Identifier: MIT
// Communicators that ranks outside of the group helped to make: who is in them.
#include <cstdlib>
#include <tuple>

#include "replay_engine/rank/engine/given.h"
#include "replay_engine/rank/group_recording/keeping.h"

namespace pf {
namespace {

/// The words of the entry (int32): 0, where this rank is not in it; else 1 or, of an inter-communicator, 2, how many are
/// in its group, their ranks in MPI_COMM_WORLD, the same of the remote group. Of a distributed graph then: how many sources
/// and destinations, 3 where they have weights (else 0), sources, their weights, destinations, theirs.
class Words {
 public:
  Words() = default;
  ~Words() { std::free(m_words); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  void add(int word) {
    if (m_count == m_room) {
      m_room = m_room == 0 ? 64 : 2 * m_room;
      m_words = static_cast<int*>(std::realloc(m_words, m_room * sizeof(int)));
      if (m_words == nullptr) {
        std::abort();  // the program cannot go on without memory either
      }
    }
    m_words[m_count++] = word;
  }
  int* room(int count) {
    const std::size_t first = m_count;
    for (int i = 0; i < count; ++i) {
      add(0);
    }
    return m_words + first;
  }
  void keep(std::uint16_t call) const {
    g_payload.begin(PayloadKind::Communicator, call, 0, g_engine.serial);
    g_payload.add(m_words, m_count * sizeof(int));
    g_payload.end();
  }

 private:
  int* m_words = nullptr;
  std::size_t m_count = 0;
  std::size_t m_room = 0;
};

void addMembers(Words& words, MPI_Group group) {
  int size = 0;
  PF_UNDER(Group_size)(group, &size);
  words.add(size);
  worldRanksOf(group, size, words.room(size));
  PF_UNDER(Group_free)(&group);
}

void addNeighbours(Words& words, MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  int in = 0;
  int out = 0;
  int weighted = 0;
  if (PF_UNDER(Topo_test)(comm, &topology) != MPI_SUCCESS || topology != MPI_DIST_GRAPH) {
    return;
  }
  PF_UNDER(Dist_graph_neighbors_count)(comm, &in, &out, &weighted);
  words.add(in);
  words.add(out);
  words.add(weighted != 0 ? 3 : 0);
  if (weighted != 0) {
    int* const sources = words.room(2 * (in + out));
    int* const destinations = sources + in + in;
    PF_UNDER(Dist_graph_neighbors)
    (comm, in, sources, sources + in, out, destinations, destinations + out);
  } else {
    int* const all = words.room(in + out);
    PF_UNDER(Dist_graph_neighbors)
    (comm, in, all, MPI_UNWEIGHTED, out, all + in, MPI_UNWEIGHTED);
  }
}

/// `comm`: null if this rank is not in it.
void keepMembers(std::uint16_t call, MPI_Comm comm) {
  forgetComm(comm);
  Words words;
  if (comm == MPI_COMM_NULL) {
    words.add(0);
  } else {
    const bool inter = isInter(comm);
    words.add(inter ? 2 : 1);
    MPI_Group group = MPI_GROUP_NULL;
    PF_UNDER(Comm_group)(comm, &group);
    addMembers(words, group);
    if (inter) {
      PF_UNDER(Comm_remote_group)(comm, &group);
      addMembers(words, group);
    }
    addNeighbours(words, comm);
  }
  words.keep(call);
}

/// Which ranks are on which side of the new one is nothing that a replay of the group works out.
void refuseInter(std::uint16_t call, MPI_Comm comm) {
  if (mixedComm(comm) != nullptr && isInter(comm)) {
    notAlone(outermostCall(call), comm);
  }
}

/// Of a constructor whose first argument is the old communicator and whose last one the new.
/// `always`: also if no rank of that is outside.
template <std::uint16_t call, bool always, typename Routine>
struct KeptComm;
template <std::uint16_t call, bool always, typename... Argument>
struct KeptComm<call, always, int (*)(MPI_Comm, Argument...)> {
  static int run(MPI_Comm comm, Argument... argument) {
    const auto under = reinterpret_cast<int (*)(MPI_Comm, Argument...)>(g_under[call]);
    const bool keep = t_layer == 0 && (always || mixedComm(comm) != nullptr) && mayBeTold(call);
    if (keep && call == kCallComm_split) {
      refuseInter(call, comm);
    }
    const InLayer inside;
    const int result = under(comm, argument...);
    MPI_Comm* const made = std::get<sizeof...(Argument) - 1>(std::tuple<Argument...>(argument...));
    if (result == MPI_SUCCESS && keep) {
      keepMembers(call, *made);
    } else if (result == MPI_SUCCESS) {
      forgetComm(*made);
    } else if (keep && !always) {
      keepFailure(call, result);
    }
    return result;
  }
};

/// The two sides know each other by it only: it is kept whoever is in `local`.
int keepIntercomm_create(MPI_Comm local, int leader, MPI_Comm bridge, int remote, int tag,
                         MPI_Comm* made) {
  const bool keep = t_layer == 0 && mayBeTold(kCallIntercomm_create);
  const InLayer inside;
  const int result = PF_UNDER(Intercomm_create)(local, leader, bridge, remote, tag, made);
  if (result == MPI_SUCCESS && keep) {
    keepMembers(kCallIntercomm_create, *made);
  }
  return result;
}

// A replay works out who is in these; a handle may have been another one's.

int forgetOther(int result, const MPI_Comm* made) {
  if (result == MPI_SUCCESS) {
    forgetComm(*made);
  }
  return result;
}

int keepComm_dup(MPI_Comm comm, MPI_Comm* made) {
  return forgetOther(PF_UNDER(Comm_dup)(comm, made), made);
}

int keepComm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  return forgetOther(PF_UNDER(Comm_dup_with_info)(comm, info, made), made);
}

int keepComm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  return forgetOther(PF_UNDER(Comm_idup)(comm, made, request), made);
}

int keepComm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  if (t_layer == 0) {
    refuseInter(kCallComm_create, comm);
  }
  return forgetOther(PF_UNDER(Comm_create)(comm, group, made), made);
}

int keepComm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  return forgetOther(PF_UNDER(Comm_create_group)(comm, group, tag, made), made);
}

/// The program's callbacks for its attributes still see it.
int keepComm_free(MPI_Comm* comm) {
  const MPI_Comm old = *comm;
  const int result = PF_UNDER(Comm_free)(comm);
  forgetComm(old);
  return result;
}

int keepComm_disconnect(MPI_Comm* comm) {
  const MPI_Comm old = *comm;
  const int result = PF_UNDER(Comm_disconnect)(comm);
  forgetComm(old);
  return result;
}

}  // namespace

void putCommunicatorsOver() {
#define PF_KEEP(Name) putOver(kCall##Name, KeptComm<kCall##Name, false, decltype(&MPI_##Name)>::run)
  PF_KEEP(Comm_split);
  PF_KEEP(Cart_create);
  PF_KEEP(Cart_sub);
  PF_KEEP(Graph_create);
  PF_KEEP(Dist_graph_create);
  PF_KEEP(Dist_graph_create_adjacent);
  PF_KEEP(Intercomm_merge);
#undef PF_KEEP
  // Which ranks share memory is another question on another machine.
  putOver(kCallComm_split_type,
          KeptComm<kCallComm_split_type, true, decltype(&MPI_Comm_split_type)>::run);
  putOver(kCallComm_dup, keepComm_dup);
  putOver(kCallComm_dup_with_info, keepComm_dup_with_info);
  putOver(kCallComm_idup, keepComm_idup);
  putOver(kCallComm_create, keepComm_create);
  putOver(kCallComm_create_group, keepComm_create_group);
  putOver(kCallIntercomm_create, keepIntercomm_create);
  putOver(kCallComm_free, keepComm_free);
  putOver(kCallComm_disconnect, keepComm_disconnect);
}

}  // namespace pf
