// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/rank/tests/fake_mpi.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/rank/tests/fake_objects.h"

namespace pf::fake {

Library g_library;

void endProcess(int code, const char* what, const char* more) {
  std::fprintf(stderr, "the fake MPI: %s%s\n", what, more);
  _exit(code);
}

void notFaked(const char* what) {
  endProcess(kNotFaked, "it has no ", what);
}

// -- time, and what arrives

namespace {

constexpr int kForEver = 10000;

bool matches(int wantedSource, int wantedTag, MPI_Comm wantedComm, const Message& message) {
  return wantedComm == message.comm &&
         (wantedSource == MPI_ANY_SOURCE || wantedSource == message.source) &&
         (wantedTag == MPI_ANY_TAG || wantedTag == message.tag);
}

void fill(RequestObject& request, const Message& message) {
  const std::size_t fits = std::min(request.room, message.bytes.size());
  std::memcpy(request.buffer, message.bytes.data(), fits);
  request.status.MPI_SOURCE = message.source;
  request.status.MPI_TAG = message.tag;
  setBytes(request.status, fits);
  request.status.MPI_ERROR = message.bytes.size() > request.room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  request.filled = true;
  request.done = request.sendDoneAt <= g_library.now;
}

}  // namespace

void deliver(Message message) {
  auto& posted = g_library.posted;
  const auto found = std::find_if(posted.begin(), posted.end(), [&](MPI_Request each) {
    return matches(each->source, each->tag, each->comm, message);
  });
  if (found == posted.end()) {
    g_library.unexpected.push_back(std::move(message));
    return;
  }
  fill(**found, message);
  posted.erase(found);
}

void post(RequestObject& request) {
  const auto found = lookFor(request.source, request.tag, request.comm);
  if (found == g_library.unexpected.end()) {
    g_library.posted.push_back(&request);
    return;
  }
  fill(request, *found);
  g_library.unexpected.erase(found);
}

std::deque<Message>::iterator lookFor(int source, int tag, MPI_Comm comm) {
  return std::find_if(g_library.unexpected.begin(), g_library.unexpected.end(),
                      [&](const Message& message) { return matches(source, tag, comm, message); });
}

void arrive() {
  auto& network = g_library.network;
  for (auto next = network.begin(); next != network.end();) {
    const MPI_Comm comm = commNamed(next->comm);
    if (!g_library.programBegan || next->after > g_library.now || comm == nullptr) {
      ++next;
      continue;
    }
    Message message{next->source, next->tag, comm, {}};
    for (int i = 0; i < next->count; ++i) {
      const auto* bytes = reinterpret_cast<const unsigned char*>(&next->value);
      message.bytes.insert(message.bytes.end(), bytes, bytes + sizeof(int));
    }
    next = network.erase(next);
    deliver(std::move(message));
  }
  for (const auto& request : g_library.requests) {
    request->done = request->done || (request->pendsOnTime && request->doneAt <= g_library.now) ||
                    (request->filled && request->sendDoneAt <= g_library.now);
  }
}

void tick(const char* call) {
  if (++g_library.now > kForEver) {
    endProcess(kWaitsForEver, call, " waits for ever");
  }
  arrive();
}

// -- calls

namespace {

struct Counted {
  int made = 0;   ///< since the program began
  int begun = 0;  ///< for failures
};
Counted g_counted[kCallCount];

/// A call begins: counts it. What it has to return at once, if the script lets it fail.
int begun(std::uint16_t call) {
  ++g_counted[call].made;
  arrive();
  if (!g_library.programBegan) {
    return MPI_SUCCESS;
  }
  ++g_counted[call].begun;
  for (const Failure& failure : g_library.script.failures) {
    if (failure.call == call && failure.nth == g_counted[call].begun) {
      return failure.error;
    }
  }
  return MPI_SUCCESS;
}

template <std::uint16_t Call>
int missing() {
  endProcess(kNotFaked, kCallNames[Call], " is not faked");
}

template <std::uint16_t... Numbers>
void fillWithMissing(std::integer_sequence<std::uint16_t, Numbers...>) {
  ((g_real[Numbers] = reinterpret_cast<void*>(&missing<Numbers>)), ...);
}

}  // namespace

int onError(int error) {
  if (error != MPI_SUCCESS && g_library.script.fatal) {
    endProcess(kFatalError, "MPI_ERRORS_ARE_FATAL");
  }
  return error;
}

/// Puts a routine into the table, behind the count of its calls and the failures of the script.
template <std::uint16_t Call, typename... Arguments>
void put(int (*routine)(Arguments...)) {
  static int (*const to)(Arguments...) = routine;
  int (*const counted)(Arguments...) = [](Arguments... arguments) {
    if (const int error = begun(Call); error != MPI_SUCCESS) {
      return onError(error);
    }
    return to(arguments...);
  };
  g_real[Call] = reinterpret_cast<void*>(counted);
}

#define PF_FAKED(Name) put<kCall##Name>(static_cast<decltype(&MPI_##Name)>(fake##Name))

namespace {

double fakeWtime() {
  return g_library.now;
}

void fillMessages() {
  PF_FAKED(Send);
  PF_FAKED(Bsend);
  PF_FAKED(Ssend);
  PF_FAKED(Rsend);
  PF_FAKED(Isend);
  PF_FAKED(Ibsend);
  PF_FAKED(Issend);
  PF_FAKED(Irsend);
  PF_FAKED(Send_init);
  PF_FAKED(Bsend_init);
  PF_FAKED(Ssend_init);
  PF_FAKED(Rsend_init);
  PF_FAKED(Recv);
  PF_FAKED(Irecv);
  PF_FAKED(Recv_init);
  PF_FAKED(Start);
  PF_FAKED(Startall);
  PF_FAKED(Grequest_start);
  PF_FAKED(Grequest_complete);
  PF_FAKED(Status_set_elements);
  PF_FAKED(Status_set_cancelled);
  PF_FAKED(Sendrecv);
  PF_FAKED(Sendrecv_replace);
  PF_FAKED(Probe);
  PF_FAKED(Iprobe);
  PF_FAKED(Mprobe);
  PF_FAKED(Improbe);
  PF_FAKED(Mrecv);
  PF_FAKED(Imrecv);
}

void fillCompletions() {
  PF_FAKED(Wait);
  PF_FAKED(Test);
  PF_FAKED(Waitany);
  PF_FAKED(Testany);
  PF_FAKED(Waitsome);
  PF_FAKED(Testsome);
  PF_FAKED(Waitall);
  PF_FAKED(Testall);
  PF_FAKED(Request_get_status);
#if PF_HAS_STATUS_OF_MANY
  PF_FAKED(Request_get_status_all);
  PF_FAKED(Request_get_status_any);
  PF_FAKED(Request_get_status_some);
#endif
  PF_FAKED(Request_free);
  PF_FAKED(Cancel);
  PF_FAKED(Test_cancelled);
  PF_FAKED(Get_count);
  PF_FAKED(Get_elements_x);
}

void fillCollectives() {
  PF_FAKED(Barrier);
  PF_FAKED(Bcast);
  PF_FAKED(Reduce);
  PF_FAKED(Allreduce);
  PF_FAKED(Allgather);
  PF_FAKED(Ibarrier);
  PF_FAKED(Iallreduce);
}

void fillObjects() {
  PF_FAKED(Comm_rank);
  PF_FAKED(Comm_size);
  PF_FAKED(Comm_remote_size);
  PF_FAKED(Comm_test_inter);
  PF_FAKED(Comm_group);
  PF_FAKED(Comm_dup);
  PF_FAKED(Comm_split);
  PF_FAKED(Comm_split_type);
  PF_FAKED(Comm_create);
  PF_FAKED(Comm_free);
  PF_FAKED(Comm_get_attr);
  PF_FAKED(Comm_set_errhandler);
  PF_FAKED(Comm_call_errhandler);
  PF_FAKED(Group_size);
  PF_FAKED(Group_rank);
  PF_FAKED(Group_translate_ranks);
  PF_FAKED(Group_free);
  PF_FAKED(Type_size);
  PF_FAKED(Type_size_x);
  PF_FAKED(Type_get_extent);
  PF_FAKED(Type_get_true_extent);
  PF_FAKED(Type_get_envelope);
  PF_FAKED(Type_get_name);
  PF_FAKED(Type_get_contents);
#if MPI_VERSION >= 4
  PF_FAKED(Type_get_envelope_c);
  PF_FAKED(Type_get_contents_c);
#endif
  PF_FAKED(Type_get_attr);
  PF_FAKED(Type_set_attr);
  PF_FAKED(Type_create_keyval);
  PF_FAKED(Type_vector);
  PF_FAKED(Type_commit);
  PF_FAKED(Type_free);
  PF_FAKED(Pack_size);
  PF_FAKED(Pack);
}

void fillLifecycle() {
  PF_FAKED(Init);
  PF_FAKED(Init_thread);
  PF_FAKED(Finalize);
  PF_FAKED(Abort);
  PF_FAKED(Query_thread);
  PF_FAKED(Get_library_version);
  PF_FAKED(Get_version);
  PF_FAKED(Error_class);
  g_real[kCallWtime] = reinterpret_cast<void*>(&fakeWtime);
}

}  // namespace

void begin(const Script& script) {
  g_library.script = script;
  g_library.network.assign(script.arrivals.begin(), script.arrivals.end());
  std::stable_sort(g_library.network.begin(), g_library.network.end(),
                   [](const Arrival& a, const Arrival& b) { return a.after < b.after; });
  std::vector<int> all(static_cast<std::size_t>(script.size));
  std::iota(all.begin(), all.end(), 0);
  objectOf(MPI_COMM_WORLD).world = all;
  objectOf(MPI_COMM_SELF).world = {script.rank};
  fillWithMissing(std::make_integer_sequence<std::uint16_t, kCallCount>{});
  fillMessages();
  fillCompletions();
  fillCollectives();
  fillObjects();
  fillLifecycle();
}

void programBegins() {
  g_library.programBegan = true;
  g_library.now = 0;
  g_library.sent.clear();
  for (Counted& counted : g_counted) {
    counted = {};
  }
}

int calls(std::uint16_t call) {
  return g_counted[call].made;
}

const std::vector<Sent>& sent() {
  return g_library.sent;
}

int toldErrors() {
  return g_library.toldErrors;
}

int lastToldComm() {
  return g_library.lastTold;
}

std::size_t placeOfStatus() {
  return offsetof(RequestObject, status);
}

}  // namespace pf::fake
