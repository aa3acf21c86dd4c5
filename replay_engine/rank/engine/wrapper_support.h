// SPDX-License-Identifier: MIT
// What the generated wrappers are made of.
#pragma once

#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/mpi_header.h"
#include "replay_engine/rank/engine/real_calls.h"

#define PF_EXPORT __attribute__((visibility("default")))
/// A handler is a call away, so that the wrapper's own frame stays small for what fast_path.h does.
#define PF_HANDLER __attribute__((noinline))
#define PF_SITE(number)                                 \
  (::pf::CallPlace{number, __builtin_return_address(0), \
                   static_cast<void**>(__builtin_frame_address(0)) + 1})
/// The rest of a wrapper with the frame `frame`, out of the way of what fast_path.h does in it.
#define PF_REST __attribute__((noinline)) static
#define PF_SITE_OF(number, frame) \
  (::pf::CallPlace{number, static_cast<void**>(frame)[1], static_cast<void**>(frame) + 1})

namespace pf {

inline constexpr int kNoRoot = -1;

/// This thread has left MPI by longjmp: what it held (lock, turn) goes on.
void dropState();

/// `frame`: of the wrapper.
inline bool passThrough(const void* frame) {
  // Calls from one place differ by the arguments on the stack; a callback is further below, and so
  // is what MPI calls itself, mostly (MPICH's MPI_File_close is not).
  constexpr std::ptrdiff_t kArguments = 96;
  if (t_depth > 0 && static_cast<const char*>(frame) + kArguments >= t_outermost &&
      !isMpisOwnCall(static_cast<void* const*>(frame)[1])) [[unlikely]] {
    t_depth = 0;
    t_layer = 0;
    dropState();
  }
  return t_depth > 0 || !g_rankOnly.active;
}

/// This thread is inside MPI.
class Inside {
 public:
  __attribute__((always_inline)) Inside() : Inside(__builtin_frame_address(0)) {}
  explicit Inside(const void* frame) {
    if (t_depth++ == 0) {
      t_outermost = frame;
    }
  }
  ~Inside() {
    if (g_engine.holdAfter && t_depth == 1) [[unlikely]] {
      holdIfDue();
    }
    --t_depth;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

/// A blocking collective.
class CollectiveEvent {
 public:
  CollectiveEvent(const CallPlace& place, MPI_Comm comm, CollectiveFlow flow, int root,
                  bool contributes, bool takes, const Contents& given);
  ~CollectiveEvent();
  /// The daemon may know that the call does not end before the root is in it, or all ranks of the communicator are.
  void waitsForRoot(int root);
  void waitsForAll();
  CollectiveEvent(const CollectiveEvent&) = delete;
  CollectiveEvent& operator=(const CollectiveEvent&) = delete;
  /// Before the collective makes a communicator; with MPI_Comm_create_group's arguments.
  void makes();
  void makes(MPI_Group group, int tag);
  /// The collective made a communicator.
  void made(int result, const MPI_Comm* comm);

 private:
  bool m_endsLater;  ///< with several threads: its end is an event of its own
  std::uint32_t m_number = 0;
  CollectiveClock m_clock{};
  CallPlace m_place;
  MPI_Comm m_comm;
  InCall m_inCall;
};

/// The call of a non-blocking collective.
class PostedCollective {
 public:
  PostedCollective(const CallPlace& place, MPI_Comm comm, CollectiveFlow flow, int root,
                   bool contributes, bool takes, const Contents& given);
  void made(int result, const MPI_Comm* comm);
  void posted(int result, const MPI_Request* request);

 private:
  std::uint32_t m_number = 0;
  CollectiveClock m_clock{};
  CallPlace m_place;
  MPI_Comm m_comm;
};

/// A communicator goes away.
class DestructorEvent {
 public:
  DestructorEvent(const CallPlace& place, const MPI_Comm* comm);
};

// Hand-written handlers, one a routine; arguments as the routine's. Called at depth 1.
PF_HANDLER int onInit(const CallPlace&, int*, char***);
PF_HANDLER int onInit_thread(const CallPlace&, int*, char***, int, int*);
PF_HANDLER int onFinalize(const CallPlace&);
PF_HANDLER int onAbort(const CallPlace&, MPI_Comm, int);

PF_HANDLER int onSend(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm);
PF_HANDLER int onBsend(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm);
PF_HANDLER int onSsend(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm);
PF_HANDLER int onRsend(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm);
PF_HANDLER int onIsend(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm,
                       MPI_Request*);
PF_HANDLER int onIbsend(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm,
                        MPI_Request*);
PF_HANDLER int onIssend(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm,
                        MPI_Request*);
PF_HANDLER int onIrsend(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm,
                        MPI_Request*);
PF_HANDLER int onSend_init(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm,
                           MPI_Request*);
PF_HANDLER int onBsend_init(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm,
                            MPI_Request*);
PF_HANDLER int onSsend_init(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm,
                            MPI_Request*);
PF_HANDLER int onRsend_init(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm,
                            MPI_Request*);

PF_HANDLER int onRecv(const CallPlace&, void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
PF_HANDLER int onIrecv(const CallPlace&, void*, int, MPI_Datatype, int, int, MPI_Comm,
                       MPI_Request*);
PF_HANDLER int onRecv_init(const CallPlace&, void*, int, MPI_Datatype, int, int, MPI_Comm,
                           MPI_Request*);
PF_HANDLER int onSendrecv(const CallPlace&, const void*, int, MPI_Datatype, int, int, void*, int,
                          MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
PF_HANDLER int onSendrecv_replace(const CallPlace&, void*, int, MPI_Datatype, int, int, int, int,
                                  MPI_Comm, MPI_Status*);
PF_HANDLER int onIsendrecv(const CallPlace&, const void*, int, MPI_Datatype, int, int, void*, int,
                           MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
PF_HANDLER int onIsendrecv_replace(const CallPlace&, void*, int, MPI_Datatype, int, int, int, int,
                                   MPI_Comm, MPI_Request*);
PF_HANDLER int onStart(const CallPlace&, MPI_Request*);
PF_HANDLER int onStartall(const CallPlace&, int, MPI_Request*);
PF_HANDLER int onMrecv(const CallPlace&, void*, int, MPI_Datatype, MPI_Message*, MPI_Status*);
PF_HANDLER int onImrecv(const CallPlace&, void*, int, MPI_Datatype, MPI_Message*, MPI_Request*);

PF_HANDLER int onProbe(const CallPlace&, int, int, MPI_Comm, MPI_Status*);
PF_HANDLER int onIprobe(const CallPlace&, int, int, MPI_Comm, int*, MPI_Status*);
PF_HANDLER int onMprobe(const CallPlace&, int, int, MPI_Comm, MPI_Message*, MPI_Status*);
PF_HANDLER int onImprobe(const CallPlace&, int, int, MPI_Comm, int*, MPI_Message*, MPI_Status*);

PF_HANDLER int onWait(const CallPlace&, MPI_Request*, MPI_Status*);
PF_HANDLER int onWaitall(const CallPlace&, int, MPI_Request*, MPI_Status*);
PF_HANDLER int onWaitany(const CallPlace&, int, MPI_Request*, int*, MPI_Status*);
PF_HANDLER int onWaitsome(const CallPlace&, int, MPI_Request*, int*, int*, MPI_Status*);
PF_HANDLER int onTest(const CallPlace&, MPI_Request*, int*, MPI_Status*);
PF_HANDLER int onTestall(const CallPlace&, int, MPI_Request*, int*, MPI_Status*);
PF_HANDLER int onTestany(const CallPlace&, int, MPI_Request*, int*, int*, MPI_Status*);
PF_HANDLER int onTestsome(const CallPlace&, int, MPI_Request*, int*, int*, MPI_Status*);
PF_HANDLER int onRequest_get_status(const CallPlace&, MPI_Request, int*, MPI_Status*);
PF_HANDLER int onRequest_get_status_all(const CallPlace&, int, const MPI_Request*, int*,
                                        MPI_Status*);
PF_HANDLER int onRequest_get_status_any(const CallPlace&, int, const MPI_Request*, int*, int*,
                                        MPI_Status*);
PF_HANDLER int onRequest_get_status_some(const CallPlace&, int, const MPI_Request*, int*, int*,
                                         MPI_Status*);
PF_HANDLER int onCancel(const CallPlace&, MPI_Request*);
PF_HANDLER int onRequest_free(const CallPlace&, MPI_Request*);

/// At any depth.
double onWtime(const CallPlace&);

}  // namespace pf
