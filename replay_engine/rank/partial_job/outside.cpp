// SPDX-License-Identifier: MIT
#include "replay_engine/rank/partial_job/outside.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "replay_engine/rank/engine/rank_link.h"
#include "replay_engine/rank/layer/group_members.h"
#include "replay_engine/rank/layer/not_alone.h"
#include "replay_engine/rank/partial_job/job_comms.h"
#include "replay_engine/rank/partial_job/job_errors.h"
#include "replay_engine/rank/partial_job/job_groups.h"
#include "replay_engine/rank/partial_job/job_requests.h"
#include "replay_engine/rank/partial_job/partial_job.h"
#include "replay_engine/rank/payload/payload_reader.h"

namespace pf {
namespace {

PayloadReader g_outside;
MPI_Comm g_feeder{};
constexpr int kFirstTag = 2;
int g_lastTag = kFirstTag;
bool* g_tagUsed = nullptr;  ///< by tag
int g_tags = 0;

const char* nameOf(PayloadKind kind) {
  switch (kind) {
    case PayloadKind::Message:
      return "a message";
    case PayloadKind::Probe:
      return "what a probe saw";
    case PayloadKind::Collective:
      return "what a collective brought";
    case PayloadKind::Communicator:
      return "the ranks of a new communicator";
    case PayloadKind::Failed:
      return "an error";
    case PayloadKind::None:
    case PayloadKind::Datatype:
    case PayloadKind::Mark:
      break;
  }
  return "something else";
}

void describe(char (&text)[200], PayloadKind kind, int a, int b) {
  if (kind == PayloadKind::Message || kind == PayloadKind::Probe) {
    std::snprintf(text, sizeof text, "%s from rank %d of its communicator, tag %d", nameOf(kind), a,
                  b);
  } else {
    std::snprintf(text, sizeof text, "%s in %s", nameOf(kind),
                  a >= 0 && a < static_cast<int>(kCallCount) ? kCallNames[a] : "?");
  }
}

/// Until the replay is ended: the daemon sees that nothing gets on.
[[noreturn]] void waitForEnd() {
  while (true) {
    waitForAgent(g_engine.page->toRank.load());
  }
}

/// In the call in which the record of this rank ends, it waits as it did then.
void waitAsRecorded() {
  if (g_outside.end() == PayloadReader::End::Ended && g_engine.choices.header().complete == 0 &&
      g_engine.choices.allUsed(g_engine.serial)) {
    waitForEnd();
  }
}

/// What it does from here on needs ranks that do not run. The daemon sees that it does not get on, as if it waited in `call`.
[[noreturn]] void stayAtEnd(std::uint16_t call) {
  RankPage& page = *g_engine.page;
  page.waitPeer.store(kUnknownRank, std::memory_order_relaxed);
  page.inCall.store(1U + call, std::memory_order_relaxed);
  tellAgent();
  waitForEnd();
}

}  // namespace

void outsideDiffers(std::uint16_t call, const char* expected, const char* got) {
  diverge(outermostCall(call), expected, got);
}

OutsideEntry takeOutside(PayloadKind kind, std::uint16_t call, int a, int b) {
  mayBeTold(call);  // if not, it does not return
  char asked[200];
  OutsideEntry entry{};
  entry.head = g_outside.next(&entry.content);
  if (entry.head == nullptr) {
    waitAsRecorded();
    char got[200];
    describe(asked, kind, a, b);
    std::snprintf(got, sizeof got, "no more from ranks outside of the group: %s", g_outside.why());
    outsideDiffers(call, asked, got);
  }
  const bool same = entry.head->kind == static_cast<std::uint32_t>(kind) &&
                    (a == kAny || entry.head->a == a) && (b == kAny || entry.head->b == b);
  if (!same) {
    char got[200];
    describe(got, static_cast<PayloadKind>(entry.head->kind), entry.head->a, entry.head->b);
    describe(asked, kind, a, b);
    outsideDiffers(call, got, asked);
  }
  return entry;
}

int failedAsRecorded(std::uint16_t call, MPI_Comm comm) {
  const PayloadEntry* const next = isLayerThread() ? g_outside.peek() : nullptr;
  if (next == nullptr || next->kind != static_cast<std::uint16_t>(PayloadKind::Failed) ||
      next->a != call || next->serial != g_engine.serial) {
    return MPI_SUCCESS;
  }
  const OutsideEntry entry = takeOutside(PayloadKind::Failed, call, call, kAny);
  if (entry.head->b <= MPI_SUCCESS || entry.head->b > MPI_ERR_LASTCODE) {
    outsideDiffers(call, "an error as the trace has it", "no class of MPI's errors");
  }
  return jobError(comm, entry.head->b);
}

MPI_Comm feeder() {
  return g_feeder;
}

namespace {

/// Room for twice as many tags, the next one of which is free. False: MPI has no more.
bool moreTags() {
  int* most = nullptr;
  int isThere = 0;
  PF_UNDER(Comm_get_attr)(MPI_COMM_WORLD, MPI_TAG_UB, &most, &isThere);
  const int limit = isThere != 0 ? *most : 32767;  // MPI_TAG_UB is at least that
  const int more = std::min(limit, g_tags == 0 ? 4096 : g_tags <= limit / 2 ? 2 * g_tags : limit);
  if (more <= g_tags) {
    return false;
  }
  auto* const grown =
      static_cast<bool*>(std::realloc(g_tagUsed, static_cast<std::size_t>(more) * sizeof(bool)));
  if (grown == nullptr) {
    std::abort();  // the program cannot go on without memory either
  }
  std::fill(grown + g_tags, grown + more, false);
  g_lastTag = g_tags == 0 ? kFirstTag : g_tags - 1;
  g_tagUsed = grown;
  g_tags = more;
  return true;
}

}  // namespace

int feederTag() {
  const LayerLock lock;
  do {
    for (int i = kFirstTag; i < g_tags; ++i) {
      g_lastTag = g_lastTag + 1 < g_tags ? g_lastTag + 1 : kFirstTag;
      if (!g_tagUsed[g_lastTag]) {
        g_tagUsed[g_lastTag] = true;
        return g_lastTag;
      }
    }
  } while (moreTags());
  outsideDiffers(kCallIrecv, kGroupCan,
                 "more receives and collectives under way with ranks outside than MPI has tags");
}

void freeFeederTag(int tag) {
  const LayerLock lock;
  g_tagUsed[tag] = false;
}

void feed(const void* content, std::uint64_t size, int tag) {
  if (size > INT_MAX) {
    outsideDiffers(kCallRecv, kGroupCan, "a message of more than 2 GiB");
  }
  MPI_Request request = MPI_REQUEST_NULL;
  PF_UNDER(Isend)(content, static_cast<int>(size), MPI_BYTE, 0, tag, g_feeder, &request);
  PF_UNDER(Wait)(&request, MPI_STATUS_IGNORE);
}

namespace {

void cannotGoOn(const CallPlace& place, const MPI_Comm* comm) {
  if (comm == nullptr || partialComm(*comm) != nullptr) {
    char got[200];
    std::snprintf(got, sizeof got, "%s%s, which needs ranks that do not run: replay all ranks",
                  kCallNames[place.call],
                  isLayerThread() ? "" : " of another thread than that of MPI_Init");
    diverge(place, kGroupCan, got);
  }
}

}  // namespace

namespace {

/// MPI_INFO_ENV (MPI 3.1, 10.5.3), where it says how many processes there are (Open MPI).
void sayWholeJob() {
  char value[16];
  int given = 0;
  PF_REAL(Info_get)(MPI_INFO_ENV, "maxprocs", sizeof value - 1, value, &given);
  if (given != 0) {
    std::snprintf(value, sizeof value, "%d", g_group.worldSize());
    PF_REAL(Info_set)(MPI_INFO_ENV, "maxprocs", value);
  }
}

}  // namespace

bool startPartialJob(const RankPage& page, const char** why) {
  char path[sizeof page.earlySchedule + 16];
  std::snprintf(path, sizeof path, "%s%s", page.earlySchedule, kGroupSuffix);
  if (!g_group.read(path) || g_group.runningCount() == 0) {
    *why = "it is not said which ranks run";
    return false;
  }
  beginLayer();
  int level = 0;
  PF_UNDER(Query_thread)(&level);
  if (level == MPI_THREAD_MULTIPLE) {
    beginOneThread();
  }
  int size = 0;
  PF_UNDER(Comm_size)(MPI_COMM_WORLD, &size);
  if (size != g_group.runningCount()) {
    *why = "the launcher has started another number of processes";
    return false;
  }
  PF_UNDER(Comm_split)(MPI_COMM_SELF, 0, 0, &g_feeder);
  PF_UNDER(Comm_set_errhandler)(g_feeder, MPI_ERRORS_RETURN);
  sayWholeJob();
  startComms();
  putCommsOver();
  putJobMessagesOver();
  putJobCompletionsOver();
  putJobCollectivesOver();
  g_notAlone = cannotGoOn;
  return true;
}

bool openPartialPayload(const RankPage& page, const char** why) {
  char path[sizeof page.schedulePath + 16];
  std::snprintf(path, sizeof path, "%s%s", page.schedulePath, kPayloadSuffix);
  if (const ScheduleHeader& recorded = g_engine.choices.header(); recorded.complete == 0) {
    g_recordEnds = [](std::uint16_t call) { stayAtEnd(call); };
    g_engine.holdAfter = g_engine.holdAfter || recorded.insideLast != 0;
  }
  return g_outside.open(path, page.rank, page.size, why);
}

}  // namespace pf
