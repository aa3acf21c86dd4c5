// What the generated wrappers are made of.
#pragma once

#include "engine.h"
#include "mpi_header.h"
#include "real_calls.h"

#define PF_EXPORT __attribute__((visibility("default")))
#define PF_SITE(number)                                 \
  (::pf::CallPlace{number, __builtin_return_address(0), \
                   static_cast<void**>(__builtin_frame_address(0)) + 1})

namespace pf {

inline constexpr int kNoRoot = -1;

inline bool passThrough() {
  return t_depth > 0 || !g_engine.active;
}

/// This thread is inside MPI.
class Inside {
 public:
  Inside() { ++t_depth; }
  ~Inside() { --t_depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

/// A blocking collective.
class CollectiveEvent {
 public:
  CollectiveEvent(const CallPlace& place, MPI_Comm comm, CollectiveFlow flow, int root,
                  bool contributes, bool takes);
  /// The collective made a communicator.
  void made(int result, const MPI_Comm* comm);

 private:
  CallPlace m_place;
  MPI_Comm m_comm;
  InCall m_inCall;
};

/// The call of a non-blocking collective.
class PostedCollective {
 public:
  PostedCollective(const CallPlace& place, MPI_Comm comm, CollectiveFlow flow, int root,
                   bool contributes, bool takes);
  void made(int result, const MPI_Comm* comm);
  void posted(int result, const MPI_Request* request);

 private:
  CallPlace m_place;
  MPI_Comm m_comm;
  std::uint32_t m_number;
};

/// A communicator goes away.
class DestructorEvent {
 public:
  DestructorEvent(const CallPlace& place, const MPI_Comm* comm);
};

// Hand-written handlers, one a routine; arguments as the routine's. Called at depth 1.
int onInit(const CallPlace&, int*, char***);
int onInit_thread(const CallPlace&, int*, char***, int, int*);
int onFinalize(const CallPlace&);
int onAbort(const CallPlace&, MPI_Comm, int);

int onSend(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm);
int onBsend(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm);
int onSsend(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm);
int onRsend(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm);
int onIsend(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int onIbsend(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int onIssend(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int onIrsend(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int onSend_init(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int onBsend_init(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm,
                 MPI_Request*);
int onSsend_init(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm,
                 MPI_Request*);
int onRsend_init(const CallPlace&, const void*, int, MPI_Datatype, int, int, MPI_Comm,
                 MPI_Request*);

int onRecv(const CallPlace&, void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
int onIrecv(const CallPlace&, void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int onRecv_init(const CallPlace&, void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int onSendrecv(const CallPlace&, const void*, int, MPI_Datatype, int, int, void*, int, MPI_Datatype,
               int, int, MPI_Comm, MPI_Status*);
int onSendrecv_replace(const CallPlace&, void*, int, MPI_Datatype, int, int, int, int, MPI_Comm,
                       MPI_Status*);
int onStart(const CallPlace&, MPI_Request*);
int onStartall(const CallPlace&, int, MPI_Request*);
int onMrecv(const CallPlace&, void*, int, MPI_Datatype, MPI_Message*, MPI_Status*);
int onImrecv(const CallPlace&, void*, int, MPI_Datatype, MPI_Message*, MPI_Request*);

int onProbe(const CallPlace&, int, int, MPI_Comm, MPI_Status*);
int onIprobe(const CallPlace&, int, int, MPI_Comm, int*, MPI_Status*);
int onMprobe(const CallPlace&, int, int, MPI_Comm, MPI_Message*, MPI_Status*);
int onImprobe(const CallPlace&, int, int, MPI_Comm, int*, MPI_Message*, MPI_Status*);

int onWait(const CallPlace&, MPI_Request*, MPI_Status*);
int onWaitall(const CallPlace&, int, MPI_Request*, MPI_Status*);
int onWaitany(const CallPlace&, int, MPI_Request*, int*, MPI_Status*);
int onWaitsome(const CallPlace&, int, MPI_Request*, int*, int*, MPI_Status*);
int onTest(const CallPlace&, MPI_Request*, int*, MPI_Status*);
int onTestall(const CallPlace&, int, MPI_Request*, int*, MPI_Status*);
int onTestany(const CallPlace&, int, MPI_Request*, int*, int*, MPI_Status*);
int onTestsome(const CallPlace&, int, MPI_Request*, int*, int*, MPI_Status*);
int onRequest_get_status(const CallPlace&, MPI_Request, int*, MPI_Status*);
int onCancel(const CallPlace&, MPI_Request*);
int onRequest_free(const CallPlace&, MPI_Request*);

}  // namespace pf
