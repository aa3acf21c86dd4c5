// SPDX-License-Identifier: GPL-3.0-or-later
// What the fake MPI library's handles point to, its state and its routines: private to fake_*.cpp.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "replay_engine/rank/tests/fake_mpi.h"

// mpi.h leaves these open: they are the library's own. Named as Open MPI's mpi.h does, or the header of the standard's binary
// interface, whose predefined handles are no addresses.
#if defined(OPEN_MPI)
using CommObject = struct ompi_communicator_t;
using GroupObject = struct ompi_group_t;
using TypeObject = struct ompi_datatype_t;
using RequestObject = struct ompi_request_t;
using MessageObject = struct ompi_message_t;
#define PF_OBJECT(ofOpenMpi, ofStandard) ofOpenMpi
#else
using CommObject = struct MPI_ABI_Comm;
using GroupObject = struct MPI_ABI_Group;
using TypeObject = struct MPI_ABI_Datatype;
using RequestObject = struct MPI_ABI_Request;
using MessageObject = struct MPI_ABI_Message;
#define PF_OBJECT(ofOpenMpi, ofStandard) ofStandard
#endif

struct PF_OBJECT(ompi_communicator_t, MPI_ABI_Comm) {
  int number = 0;          ///< as scripts name it
  std::vector<int> world;  ///< world rank of each of its ranks
};

struct PF_OBJECT(ompi_group_t, MPI_ABI_Group) {
  std::vector<int> world;
};

/// `blocks` blocks of elements of type `of`, or a predefined one.
struct PF_OBJECT(ompi_datatype_t, MPI_ABI_Datatype) {
  int size = 0;
  MPI_Datatype of = nullptr;
  int blocks = 1;
  int blockLength = 1;
  int stride = 1;
  std::map<int, void*> attributes = {};
};

namespace pf::fake {

/// Of a request that there is nothing to wait for.
inline MPI_Status emptyStatus(int error) {
  MPI_Status status{};
  status.MPI_SOURCE = MPI_ANY_SOURCE;
  status.MPI_TAG = MPI_ANY_TAG;
  status.MPI_ERROR = error;
  return status;
}

// What the standard leaves to the library.
#if defined(OPEN_MPI)
inline void setBytes(MPI_Status& status, std::size_t bytes) {
  status._ucount = bytes;
}
inline std::size_t bytesIn(const MPI_Status& status) {
  return status._ucount;
}
inline int& cancelledIn(MPI_Status& status) {
  return status._cancelled;
}
#else
inline void setBytes(MPI_Status& status, std::size_t bytes) {
  status.MPI_internal[0] = static_cast<int>(bytes);
}
inline std::size_t bytesIn(const MPI_Status& status) {
  return static_cast<std::size_t>(status.MPI_internal[0]);
}
inline int& cancelledIn(MPI_Status& status) {
  return status.MPI_internal[1];
}
#endif

}  // namespace pf::fake

struct PF_OBJECT(ompi_request_t, MPI_ABI_Request) {
  enum class Kind { Receive, Send, Collective };
  Kind kind = Kind::Receive;
  int source = 0;  ///< asked for; of a send: destination
  int tag = 0;
  MPI_Comm comm = nullptr;
  unsigned char* buffer = nullptr;
  std::size_t room = 0;  ///< bytes
  std::uint16_t call = 0;
  bool persistent = false;
  bool active = true;
  bool done = false;
  bool pendsOnTime = false;  ///< done at tick `doneAt`
  bool forgotten = false;    ///< MPI_Request_free came before it was done
  int doneAt = 0;
  MPI_Grequest_query_function* query = nullptr;  ///< of a generalized request
  bool filled = false;                           ///< a receive: it has its message
  int sendDoneAt = 0;  ///< of MPI_Isendrecv: its send is done at this tick
  MPI_Status status = pf::fake::emptyStatus(MPI_SUCCESS);
  unsigned char rest[256] = {};  ///< who looks for the status looks this far
};

namespace pf::fake {

struct Message {
  int source = 0;
  int tag = 0;
  MPI_Comm comm = nullptr;
  std::vector<unsigned char> bytes = {};
};

}  // namespace pf::fake

struct PF_OBJECT(ompi_message_t, MPI_ABI_Message) {
  pf::fake::Message message;
};

namespace pf::fake {

struct Library {
  Script script;
  int now = 0;
  bool programBegan = false;
  std::deque<Arrival> network;  ///< under way
  std::deque<Message> unexpected;
  std::vector<MPI_Request> posted;
  std::vector<std::unique_ptr<RequestObject>> requests;  ///< all that were ever made
  std::vector<MPI_Request> freeRequests;                 ///< the last one is used next
  std::vector<std::unique_ptr<CommObject>> comms;
  std::vector<MPI_Comm> freeComms;
  std::vector<Sent> sent;
  std::size_t broughtSoFar = 0;
  int programsComms = 0;
  int shadows = 0;
  int toldErrors = 0;
  int lastTold = 0;
};
extern Library g_library;

/// What a handle stands for.
CommObject& objectOf(MPI_Comm comm);
TypeObject& objectOf(MPI_Datatype type);
GroupObject& objectOf(MPI_Group group);

/// Says `what`, and what more there is to say.
[[noreturn]] void endProcess(int code, const char* what, const char* more = "");
[[noreturn]] void notFaked(const char* what);
int onError(int error);

/// Delivers what is due.
void arrive();
/// A tick passes in `call`.
void tick(const char* call);
/// Waits in `call` until `isThere()`.
template <typename Predicate>
void waitUntil(const char* call, Predicate isThere) {
  while (!isThere()) {
    tick(call);
  }
}

void deliver(Message message);
/// Posts a receive.
void post(RequestObject& request);
/// The first message that has come and that nobody has taken.
std::deque<Message>::iterator lookFor(int source, int tag, MPI_Comm comm);
/// Null: there is none yet.
MPI_Comm commNamed(int number);

MPI_Request newRequest();
void freeRequest(MPI_Request* request);
/// How many bytes a buffer holds.
std::size_t bytesOf(int count, MPI_Datatype type);
/// The elements one behind the other.
std::vector<unsigned char> packed(const void* buffer, int count, MPI_Datatype type);

// -- messages

int fakeSend(const void*, int, MPI_Datatype, int, int, MPI_Comm);
int fakeBsend(const void*, int, MPI_Datatype, int, int, MPI_Comm);
int fakeSsend(const void*, int, MPI_Datatype, int, int, MPI_Comm);
int fakeRsend(const void*, int, MPI_Datatype, int, int, MPI_Comm);
int fakeIsend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int fakeIbsend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int fakeIssend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int fakeIrsend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int fakeSend_init(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int fakeBsend_init(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int fakeSsend_init(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int fakeRsend_init(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int fakeRecv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
int fakeIrecv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int fakeRecv_init(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int fakeStart(MPI_Request*);
int fakeGrequest_start(MPI_Grequest_query_function*, MPI_Grequest_free_function*,
                       MPI_Grequest_cancel_function*, void*, MPI_Request*);
int fakeGrequest_complete(MPI_Request);
int fakeStatus_set_elements(MPI_Status*, MPI_Datatype, int);
int fakeStatus_set_cancelled(MPI_Status*, int);
int fakeStartall(int, MPI_Request*);
int fakeSendrecv(const void*, int, MPI_Datatype, int, int, void*, int, MPI_Datatype, int, int,
                 MPI_Comm, MPI_Status*);
int fakeSendrecv_replace(void*, int, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Status*);
int fakeProbe(int, int, MPI_Comm, MPI_Status*);
int fakeIprobe(int, int, MPI_Comm, int*, MPI_Status*);
int fakeMprobe(int, int, MPI_Comm, MPI_Message*, MPI_Status*);
int fakeImprobe(int, int, MPI_Comm, int*, MPI_Message*, MPI_Status*);
int fakeMrecv(void*, int, MPI_Datatype, MPI_Message*, MPI_Status*);
int fakeImrecv(void*, int, MPI_Datatype, MPI_Message*, MPI_Request*);

// -- completions

int fakeWait(MPI_Request*, MPI_Status*);
int fakeTest(MPI_Request*, int*, MPI_Status*);
int fakeWaitany(int, MPI_Request*, int*, MPI_Status*);
int fakeTestany(int, MPI_Request*, int*, int*, MPI_Status*);
int fakeWaitsome(int, MPI_Request*, int*, int*, MPI_Status*);
int fakeTestsome(int, MPI_Request*, int*, int*, MPI_Status*);
int fakeWaitall(int, MPI_Request*, MPI_Status*);
int fakeTestall(int, MPI_Request*, int*, MPI_Status*);
int fakeRequest_get_status(MPI_Request, int*, MPI_Status*);
int fakeRequest_get_status_all(int, const MPI_Request*, int*, MPI_Status*);
int fakeRequest_get_status_any(int, const MPI_Request*, int*, int*, MPI_Status*);
int fakeRequest_get_status_some(int, const MPI_Request*, int*, int*, MPI_Status*);
int fakeRequest_free(MPI_Request*);
int fakeCancel(MPI_Request*);
int fakeTest_cancelled(const MPI_Status*, int*);
int fakeGet_count(const MPI_Status*, MPI_Datatype, int*);
int fakeGet_elements_x(const MPI_Status*, MPI_Datatype, MPI_Count*);

// -- collectives

int fakeBarrier(MPI_Comm);
int fakeBcast(void*, int, MPI_Datatype, int, MPI_Comm);
int fakeReduce(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
int fakeAllreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
int fakeAllgather(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
int fakeIbarrier(MPI_Comm, MPI_Request*);
int fakeIallreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*);

// -- communicators, groups, types

int fakeComm_rank(MPI_Comm, int*);
int fakeComm_size(MPI_Comm, int*);
int fakeComm_remote_size(MPI_Comm, int*);
int fakeComm_test_inter(MPI_Comm, int*);
int fakeComm_group(MPI_Comm, MPI_Group*);
int fakeComm_dup(MPI_Comm, MPI_Comm*);
int fakeComm_split(MPI_Comm, int, int, MPI_Comm*);
int fakeComm_split_type(MPI_Comm, int, int, MPI_Info, MPI_Comm*);
int fakeComm_create(MPI_Comm, MPI_Group, MPI_Comm*);
int fakeComm_free(MPI_Comm*);
int fakeComm_get_attr(MPI_Comm, int, void*, int*);
int fakeComm_set_errhandler(MPI_Comm, MPI_Errhandler);
int fakeComm_call_errhandler(MPI_Comm, int);
int fakeGroup_size(MPI_Group, int*);
int fakeGroup_rank(MPI_Group, int*);
int fakeGroup_translate_ranks(MPI_Group, int, const int*, MPI_Group, int*);
int fakeGroup_free(MPI_Group*);
int fakeType_size(MPI_Datatype, int*);
int fakeType_size_x(MPI_Datatype, MPI_Count*);
int fakeType_get_extent(MPI_Datatype, MPI_Aint*, MPI_Aint*);
int fakeType_get_true_extent(MPI_Datatype, MPI_Aint*, MPI_Aint*);
int fakeType_get_envelope(MPI_Datatype, int*, int*, int*, int*);
int fakeType_get_name(MPI_Datatype, char*, int*);
int fakeType_get_contents(MPI_Datatype, int, int, int, int*, MPI_Aint*, MPI_Datatype*);
int fakeType_get_envelope_c(MPI_Datatype, MPI_Count*, MPI_Count*, MPI_Count*, MPI_Count*, int*);
int fakeType_get_contents_c(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int*,
                            MPI_Aint*, MPI_Count*, MPI_Datatype*);
int fakeType_get_attr(MPI_Datatype, int, void*, int*);
int fakeType_set_attr(MPI_Datatype, int, void*);
int fakeType_create_keyval(MPI_Type_copy_attr_function*, MPI_Type_delete_attr_function*, int*,
                           void*);
int fakeType_vector(int, int, int, MPI_Datatype, MPI_Datatype*);
int fakeType_commit(MPI_Datatype*);
int fakeType_free(MPI_Datatype*);
int fakePack_size(int, MPI_Datatype, MPI_Comm, int*);
int fakePack(const void*, int, MPI_Datatype, void*, int, int*, MPI_Comm);

// -- lifecycle

int fakeInit(int*, char***);
int fakeInit_thread(int*, char***, int, int*);
int fakeFinalize();
int fakeAbort(MPI_Comm, int);
int fakeQuery_thread(int*);
int fakeGet_library_version(char*, int*);
int fakeGet_version(int*, int*);
int fakeError_class(int, int*);

}  // namespace pf::fake
