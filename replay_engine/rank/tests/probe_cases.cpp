// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/rank/tests/call_cases.h"

namespace pf::test {
namespace {

using fake::Script;

void receiveWhatWasSeen(const MPI_Status& seen) {
  int value = 0;
  MPI_Status status{};
  MPI_Recv(&value, 1, MPI_INT, seen.MPI_SOURCE, seen.MPI_TAG, MPI_COMM_WORLD, &status);
  sayTaken(status, value);
}

void probe() {
  for (int i = 0; i < 2; ++i) {
    MPI_Status seen{};
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &seen);
    receiveWhatWasSeen(seen);
  }
}

void probeBySource() {
  MPI_Status seen{};
  MPI_Probe(2, MPI_ANY_TAG, MPI_COMM_WORLD, &seen);
  receiveWhatWasSeen(seen);
}

void iprobe(int source) {
  for (int i = 0; i < 2; ++i) {
    MPI_Status seen{};
    int flag = 0;
    int failed = -1;
    for (; flag == 0; ++failed) {
      MPI_Iprobe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &seen);
    }
    say("failed %d", failed);
    receiveWhatWasSeen(seen);
  }
}

void iprobeWild() {
  iprobe(MPI_ANY_SOURCE);
}

/// How often it fails is a choice here, too.
void iprobeBySource() {
  iprobe(1);
}

/// It gives up: there is no success behind the last failures.
void iprobeInVain() {
  int flag = 0;
  for (int i = 0; i < 3; ++i) {
    MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    say("flag %d", flag);
  }
}

void mprobe() {
  for (int i = 0; i < 2; ++i) {
    int value = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status seen{};
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &seen);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    sayTaken(seen, value);
  }
}

void improbe() {
  for (int i = 0; i < 2; ++i) {
    int value = 0;
    int flag = 0;
    int failed = -1;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status seen{};
    for (; flag == 0; ++failed) {
      MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &seen);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("failed %d", failed);
    sayTaken(seen, value);
  }
}

const Script kSecondFirst{.arrivals = {{2, 6, 20, 2}, {1, 5, 10, 5}, {1, 4, 11, 5}}};
const Script kFirstFirst{.arrivals = {{1, 5, 10}, {1, 4, 11}, {2, 6, 20}}};

}  // namespace

std::vector<CallCase> probeCases() {
  return {
      {.name = "probe",
       .recorded = kSecondFirst,
       .replayed = kFirstFirst,
       .program = probe,
       .events = "Probe Receive Probe Receive",
       .receives = "0:2/6 1:1/5",
       .choices = "Probe 0-2,6 Probe 0-1,5"},
      {.name = "probeBySource",
       .recorded = kSecondFirst,
       .replayed = kFirstFirst,
       .program = probeBySource,
       .events = "Probe Receive",
       .receives = "0:2/6",
       .tempts = false},
      {.name = "iprobe",
       .recorded = kSecondFirst,
       .replayed = kFirstFirst,
       .program = iprobeWild,
       .events = "Probe Receive Probe Receive",
       .receives = "0:2/6 1:1/5",
       .choices = "Iprobe 2-2,6 Iprobe 3-1,5"},
      {.name = "iprobeBySource",
       .recorded = kSecondFirst,
       .replayed = kFirstFirst,
       .program = iprobeBySource,
       .events = "Probe Receive Probe Receive",
       .receives = "0:1/5 1:1/4",
       .choices = "Iprobe 5-1,5 Iprobe 0-1,4"},
      {.name = "iprobeInVain",
       .recorded = kSecondFirst,
       .replayed = kFirstFirst,
       .program = iprobeInVain,
       .events = "",
       .choices = "Iprobe 3-end"},
      {.name = "mprobe",
       .recorded = kSecondFirst,
       .replayed = kFirstFirst,
       .program = mprobe,
       .events = "Receive Local Receive Local",
       .receives = "0:2/6 1:1/5",
       .choices = "Mprobe 0-2,6 Mprobe 0-1,5"},
      {.name = "improbe",
       .recorded = kSecondFirst,
       .replayed = kFirstFirst,
       .program = improbe,
       .events = "Receive Local Completion Receive Local Completion",
       .receives = "0:2/6 1:1/5",
       .choices = "Improbe 2-2,6 Improbe 3-1,5"},
  };
}

}  // namespace pf::test
