// SPDX-License-Identifier: MIT
#include "replay_engine/rank/group_recording/contents_of_group.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "replay_engine/log_format/system_values.h"
#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/engine/given.h"
#include "replay_engine/rank/engine/rank_link.h"
#include "replay_engine/rank/engine/records.h"
#include "replay_engine/rank/group_recording/keeping.h"
#include "replay_engine/rank/layer/group_members.h"
#include "replay_engine/rank/layer/not_alone.h"

namespace pf {

PayloadWriter g_payload;
HandleMap<KeptRequest> g_keptRequests;

namespace {

HandleMap<MemberView*> g_views;
std::atomic<bool> g_refused = false;
std::atomic<unsigned> g_forgotten = 0;  ///< communicators, so far
constexpr const char* kHugeElements =
    " brought an element of 2 GiB or more with gaps, or in another order than it lies in, which a "
    "group alone cannot receive";

/// The ranks of a group; whether some are outside.
bool translate(MPI_Group group, int** world, int* count) {
  PF_UNDER(Group_size)(group, count);
  *world = static_cast<int*>(std::malloc((static_cast<std::size_t>(*count) + 1) * sizeof(int)));
  if (*world == nullptr) {
    std::abort();  // the program cannot go on without memory either
  }
  worldRanksOf(group, *count, *world);
  return std::any_of(*world, *world + *count, [](int rank) { return !g_group.has(rank); });
}

MemberView* look(MPI_Comm comm) {
  auto* const view = static_cast<MemberView*>(std::calloc(1, sizeof(MemberView)));
  if (view == nullptr) {
    std::abort();  // the program cannot go on without memory either
  }
  MPI_Group group = MPI_GROUP_NULL;
  PF_UNDER(Comm_group)(comm, &group);
  view->hasOutside = translate(group, &view->world, &view->peers);
  PF_UNDER(Group_free)(&group);
  if (isInter(comm)) {
    std::free(view->world);
    PF_UNDER(Comm_remote_group)(comm, &group);
    view->hasOutside = translate(group, &view->world, &view->peers) || view->hasOutside;
    PF_UNDER(Group_free)(&group);
  }
  if (view->hasOutside) {
    view->outside = static_cast<bool*>(std::malloc(static_cast<std::size_t>(view->peers) + 1));
    if (view->outside == nullptr) {
      std::abort();  // the program cannot go on without memory either
    }
    for (int i = 0; i < view->peers; ++i) {
      view->outside[i] = !g_group.has(view->world[i]);
    }
  }
  return view;
}

}  // namespace

void worldRanksOf(MPI_Group group, int size, int* world) {
  MPI_Group all = MPI_GROUP_NULL;
  int* const own =
      static_cast<int*>(std::malloc((static_cast<std::size_t>(size) + 1) * sizeof(int)));
  if (own == nullptr) {
    std::abort();  // the program cannot go on without memory either
  }
  for (int i = 0; i < size; ++i) {
    own[i] = i;
  }
  PF_UNDER(Comm_group)(MPI_COMM_WORLD, &all);
  PF_UNDER(Group_translate_ranks)(group, size, own, all, world);
  PF_UNDER(Group_free)(&all);
  std::free(own);
}

bool MemberView::isOutside(int peer) const {
  return peer < 0 || peer >= peers || outside[peer];
}

const MemberView* mixedComm(MPI_Comm comm) {
  static MPI_Comm lastComm = MPI_COMM_NULL;  // of the layer's thread
  static unsigned lastForgotten = 0;
  static const MemberView* last = nullptr;
  if (comm == MPI_COMM_NULL) {
    return nullptr;
  }
  const bool first = isLayerThread();
  if (first && comm == lastComm && g_forgotten.load(std::memory_order_relaxed) == lastForgotten) {
    return last;
  }
  const LayerLock lock;
  MemberView** found = g_views.find(comm);
  const MemberView* const view = found != nullptr ? *found : g_views.insert(comm, look(comm));
  const MemberView* const mixed = view->hasOutside ? view : nullptr;
  if (first) {
    lastComm = comm;
    lastForgotten = g_forgotten.load(std::memory_order_relaxed);
    last = mixed;
  }
  if (g_layerThread == nullptr) {
    g_lastAsked = {comm, view->outside, view->peers};
  }
  return mixed;
}

void forgetComm(MPI_Comm comm) {
  const LayerLock lock;
  ++g_forgotten;
  g_lastAsked.comm = MPI_Comm{};
  // Requests under way know the view: it stays.
  g_views.erase(comm);
}

namespace {

/// Contents are kept up to here. `why`: behind the name of the routine.
void stopKeeping(const CallPlace& place, const char* why) {
  if (g_refused.exchange(true)) {
    return;
  }
  char text[300];
  std::snprintf(text, sizeof text,
                "%s%s: contents of messages are kept up to here, the order of messages is recorded "
                "on",
                kCallNames[place.call], why);
  sayOfRank(text);
  if (isLayerThread()) {
    g_payload.fail(ENOTSUP);
  } else {
    g_payload.stop(ENOTSUP);
  }
  const StateLock lock;
  sink().note(
      {static_cast<std::uint16_t>(kFirstAlone + place.call), place.returnAddress, place.slot});
}

}  // namespace

void keepUntoldFailure(std::uint16_t call) {
  stopKeeping(outermostCall(call), " has failed, and MPI did not return the error to the program");
}

void keepMessage(std::uint16_t call, const MemberView& members, const Piece& piece,
                 const MPI_Status& status, int error, std::uint16_t type) {
  if (!hasStatus(error) || status.MPI_SOURCE < 0 || !members.isOutside(status.MPI_SOURCE)) {
    return;
  }
  if (!g_payload.keeps()) {
    return;
  }
  const std::uint64_t room = bytesOf(piece);
  MPI_Count got = 0;
  std::uint64_t bytes = room;
  if (error == MPI_SUCCESS && PF_UNDER(Get_elements_x)(&status, MPI_BYTE, &got) == MPI_SUCCESS &&
      got >= 0) {
    bytes = std::min(static_cast<std::uint64_t>(got), room);
  }
  if (bytes >= INT_MAX) {  // a replay could not receive it
    stopKeeping(outermostCall(call),
                " brought a message of 2 GiB or more, which a group alone cannot receive");
    return;
  }
  g_payload.begin(PayloadKind::Message, status.MPI_SOURCE, status.MPI_TAG, g_engine.serial, type);
  if (!keepPiece(g_payload, piece, bytes)) {
    stopKeeping(outermostCall(call), kHugeElements);
    return;
  }
  if (error !=
      MPI_SUCCESS) {  // one more than there is room for: the replay fails as the recording did
    g_payload.add("", 1);
  }
  g_payload.end();
}

void keepProbe(const MemberView& members, const MPI_Status& status) {
  if (status.MPI_SOURCE < 0 || !members.isOutside(status.MPI_SOURCE)) {
    return;
  }
  MPI_Count got = 0;
  PF_UNDER(Get_elements_x)(&status, MPI_BYTE, &got);
  const auto bytes = static_cast<std::uint64_t>(got);
  g_payload.begin(PayloadKind::Probe, status.MPI_SOURCE, status.MPI_TAG, g_engine.serial);
  g_payload.add(&bytes, sizeof bytes);
  g_payload.end();
}

void keepPieces(std::uint16_t told, const MemberView& members, std::uint16_t call,
                const PeerPiece* begin, const PeerPiece* end, bool all, std::uint16_t type) {
  bool any = false;
  for (const PeerPiece* each = g_payload.keeps() ? begin : end; each != end; ++each) {
    if (all || members.isOutside(each->peer)) {
      if (!any) {
        g_payload.begin(PayloadKind::Collective, call, 0, g_engine.serial, type);
        any = true;
      }
      if (!keepPiece(g_payload, each->piece, kUnknownBytes)) {
        stopKeeping(outermostCall(told), kHugeElements);
        return;
      }
    }
  }
  if (any) {
    g_payload.end();
  }
}

void keepFailure(std::uint16_t call, int error) {
  int errorClass = MPI_ERR_UNKNOWN;
  PF_UNDER(Error_class)(error, &errorClass);
  g_payload.begin(PayloadKind::Failed, call, errorClass, g_engine.serial);
  g_payload.end();
}

namespace {

/// Contents are kept up to here.
void keepNoMore(const CallPlace& place, const MPI_Comm* comm) {
  if (t_layer == 0 && (comm == nullptr || mixedComm(*comm) != nullptr)) {
    stopKeeping(place, isLayerThread() ? " cannot be replayed by a group alone"
                                       : " of another thread than that of MPI_Init, with ranks "
                                         "outside, cannot be replayed by a group alone");
  }
}

}  // namespace

namespace {

bool leavesGroup(MPI_Comm comm, const int* dest) {
  const MemberView* const members = t_layer == 0 ? mixedComm(comm) : nullptr;
  return members != nullptr && (dest == nullptr || members->isOutside(*dest)) && g_payload.keeps();
}

}  // namespace

bool startKeepingContents(const RankPage& page, const char** why) {
  char path[sizeof page.logPath + 16];
  std::snprintf(path, sizeof path, "%s", page.logPath);
  char* const end = std::strrchr(path, '.');  // rank-N.log
  if (end == nullptr) {
    *why = "contents of messages are not kept: its log has no name";
    return false;
  }
  const auto room = sizeof path - static_cast<std::size_t>(end - path);
  std::snprintf(end, room, "%s", kGroupSuffix);
  if (!g_group.read(path) || g_group.worldSize() != page.size || !g_group.has(page.rank)) {
    *why = "contents of messages are not kept: its agent does not say which ranks are in its group";
    return false;
  }
  std::snprintf(end, room, "%s", kPayloadSuffix);
  beginLayer();
  if (!g_payload.open(path, page.salt, page.rank, page.size)) {
    *why = "contents of messages are not kept: the file for them cannot be made";
    return false;
  }
  if (page.threadLevel == MPI_THREAD_MULTIPLE) {
    beginOneThread();
  }
  if (g_group.count() < g_group.worldSize()) {
    putDatatypesOver();
    putMessagesOver();
    putCompletionsOver();
    putCollectivesOver();
    g_leavesGroup = g_engine.events ? nullptr : leavesGroup;
    g_rankOnly.grouped = !g_engine.events;
  }
  putCommunicatorsOver();
  g_notAlone = keepNoMore;
  return true;
}

void endKeepingContents() {
  if (g_payload.isOpen()) {
    g_payload.close(true);
  }
}

void abandonContents() {
  g_payload.abandon();
}

}  // namespace pf
