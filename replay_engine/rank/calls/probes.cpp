// SPDX-License-Identifier: MIT
// Probes: MPI's choice of a message is made here; the receive by source and tag after it only
// executes it.
#include <array>

#include "replay_engine/rank/engine/lanes.h"
#include "replay_engine/rank/engine/records.h"
#include "replay_engine/rank/engine/wrapper_support.h"
#include "replay_engine/rank/forcing/shadow.h"

namespace pf {
namespace {

struct Choice {
  ChoiceKind kind;
  RecordKind record;  ///< Probe, or Receive for matched probes
};

/// Files a successful probe.
void logHit(const CallPlace& place, const Choice& choice, int source, int tag, MPI_Comm comm,
            const MPI_Status& status) {
  const bool polled = choice.kind == ChoiceKind::Iprobe || choice.kind == ChoiceKind::Improbe;
  if (polled || isWild(source)) {
    sink().chose(choice.kind, {static_cast<std::uint32_t>(status.MPI_SOURCE),
                               static_cast<std::uint32_t>(status.MPI_TAG)});
  }
  sink().probed(place, choice.record, {comm, source, tag}, status);
  sink().publish();
}

/// Whether MPI refuses these arguments. It did so in the recording, where that was no choice.
bool isRefused(int source, int tag, MPI_Comm comm) {
  return (tag < 0 && tag != MPI_ANY_TAG) ||
         (!isWild(source) && (source < 0 || source >= g_engine.comms.of(comm).peers));
}

/// Looks up what the recording's probe chose. `source` and `tag` become what to ask MPI for.
NextChoice forced(const Choice& choice, int* source, int* tag) {
  const NextChoice next = g_engine.choices.next(choice.kind);
  std::array<std::uint64_t, 2> recorded{};
  if (next == NextChoice::Hit) {
    recorded[0] = g_engine.choices.payload(choice.kind);
    recorded[1] = g_engine.choices.payload(choice.kind);
  } else if (next == NextChoice::WhenThere) {
    recorded = g_engine.choices.payloadAhead(choice.kind);
  } else {
    return next;
  }
  if (recorded[0] == kSeesAny) {
    return next == NextChoice::Hit ? NextChoice::Live : next;
  }
  if (isWild(*source)) {
    *source = static_cast<int>(recorded[0]);
    *tag = static_cast<int>(recorded[1]);
  }
  return next;
}

/// A probe has succeeded: it has a number, matched ones as receives.
void takePost(const Choice& choice) {
  ++(choice.record == RecordKind::Receive ? g_engine.posts : g_engine.probes);
}

/// Where the message is that a probe will see which has not failed in the recording.
ProbeRoute routeProbe(const Choice& choice, int source, int tag, MPI_Comm comm) {
  if (g_engine.routes == nullptr || isRefused(source, tag, comm)) {
    return {source, tag, comm};
  }
  const ScheduleRoute* const routed = choice.record == RecordKind::Receive
                                          ? routeOfPost(g_engine.posts)
                                          : routeOfProbe(g_engine.probes);
  return routed != nullptr ? shadowOf(*routed) : ProbeRoute{source, tag, comm};
}

/// Files what a probe returned that does not fail for want of a message.
void logProbe(const CallPlace& place, const Choice& choice, int source, int tag, MPI_Comm comm,
              const MPI_Status& status, int result) {
  if (result == MPI_SUCCESS) {
    takePost(choice);
    logHit(place, choice, source, tag, comm, status);
    if (g_engine.jitter) [[unlikely]] {
      jitteredProbe(status.MPI_SOURCE, comm);
    }
  } else {
    sink().probeRefused(place);
  }
}

/// Any probe where other threads may receive, too: MPI looks under the engine's lock, so that what
/// it sees is there at this moment of the rank's order. `ask(route, found, status)` asks MPI
/// once. `flag` null: until there is a message.
template <typename Ask>
int probeOfThread(const CallPlace& place, const Choice& choice, Ask ask, int source, int tag,
                  MPI_Comm comm, int* flag, MPI_Status* status) {
  MPI_Status own;
  MPI_Status* use = status != MPI_STATUS_IGNORE ? status : &own;
  int askSource = source;
  int askTag = tag;
  const StateLock lock;
  NextChoice next = NextChoice::Live;
  if (g_engine.replay && (flag != nullptr || isWild(source)) && !isRefused(source, tag, comm)) {
    next = forced(choice, &askSource, &askTag);
  }
  int found = 0;
  int result = MPI_SUCCESS;
  const bool certain = g_engine.replay && (flag == nullptr || next == NextChoice::Hit);
  ProbeRoute where{askSource, askTag, comm};
  if (certain) {
    beginEvent(place, comm, source, tag);
    where = routeProbe(choice, askSource, askTag, comm);
  }
  if (flag == nullptr || next != NextChoice::FailedPoll) {
    result = ask(where, &found, use);
    while (found == 0 && result == MPI_SUCCESS && (certain || flag == nullptr)) {
      yieldState();
      result = ask(where, &found, use);
    }
    if (found != 0) {
      restoreStatus(use, where.routed);
      if (next == NextChoice::WhenThere) {
        g_engine.choices.useAhead(choice.kind);
      }
    }
    result = where.routed != nullptr ? errorOnShadow(comm, result) : result;
  }
  if (flag != nullptr) {
    *flag = found;
    if (!certain && (found == 0 || result != MPI_SUCCESS)) {
      if (result == MPI_SUCCESS) {
        sink().missed(choice.kind);
      }
      return result;
    }
  }
  if (!certain) {
    beginEvent(place, comm, source, tag);
  }
  logProbe(place, choice, source, tag, comm, *use, result);
  return result;
}

template <typename RealCall>
int look(RealCall call, const ProbeRoute& where, MPI_Comm comm, MPI_Status* status) {
  const int result = call(where, status);
  restoreStatus(status, where.routed);
  return where.routed != nullptr ? errorOnShadow(comm, result) : result;
}

/// MPI_Probe and MPI_Mprobe. `call(route, status)` does it.
template <typename RealCall>
int blockingProbe(const CallPlace& place, const Choice& choice, RealCall call, int source, int tag,
                  MPI_Comm comm, MPI_Status* status) {
  MPI_Status own;
  MPI_Status* use = status != MPI_STATUS_IGNORE ? status : &own;
  int askSource = source;
  int askTag = tag;
  {
    const StateLock lock;
    if (!isMessage(source, comm)) {
      return call(ProbeRoute{source, tag, comm}, status);
    }
    beginEvent(place, comm, source, tag);
    if (g_engine.replay && isWild(source) && !isRefused(source, tag, comm)) {
      forced(choice, &askSource, &askTag);
    } else if (g_engine.jitter) {
      askSource = jitteredSource(source, tag, comm);
    }
  }
  int result = MPI_SUCCESS;
  {
    const InCall inCall(place, choice.record, comm, source, tag);
    if (askSource != source) {
      sayPeer(comm, askSource, askTag);
    }
    result = look(call, routeProbe(choice, askSource, askTag, comm), comm, use);
  }
  const StateLock lock;
  logProbe(place, choice, source, tag, comm, *use, result);
  return result;
}

/// MPI_Iprobe and MPI_Improbe. `poll(source, tag, flag, status)` asks MPI once, `wait(route, status)`
/// until it succeeds.
template <typename Poll, typename Wait>
int polledProbe(const CallPlace& place, const Choice& choice, Poll poll, Wait wait, int source,
                int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  MPI_Status own;
  MPI_Status* use = status != MPI_STATUS_IGNORE ? status : &own;
  if (!isMessage(source, comm)) {
    return poll(source, tag, flag, status);
  }
  int askSource = source;
  int askTag = tag;
  NextChoice next = NextChoice::Live;
  if (g_engine.replay) {
    {
      const StateLock lock;
      if (!isRefused(source, tag, comm)) {
        next = forced(choice, &askSource, &askTag);
      }
      if (next == NextChoice::FailedPoll) {
        *flag = 0;
        sink().missed(choice.kind);
        return MPI_SUCCESS;
      }
      if (next == NextChoice::Hit) {
        beginEvent(place, comm, source, tag);
      }
    }
    if (next == NextChoice::Hit) {
      *flag = 1;
      int result = MPI_SUCCESS;
      {
        const InCall inCall(place, choice.record, comm, askSource, askTag);
        result = look(wait, routeProbe(choice, askSource, askTag, comm), comm, use);
      }
      const StateLock lock;
      logProbe(place, choice, source, tag, comm, *use, result);
      return result;
    }
  }
  int result = MPI_SUCCESS;
  const bool mayFail = g_engine.jitter && next != NextChoice::WhenThere;
  if (mayFail && !jitteredPoll(&askSource, tag, comm)) [[unlikely]] {
    *flag = 0;
  } else {
    result = poll(askSource, askTag, flag, use);
  }
  if (result == MPI_SUCCESS) {
    const StateLock lock;
    if (*flag != 0) {
      if (next == NextChoice::WhenThere) {
        g_engine.choices.useAhead(choice.kind);
      }
      beginEvent(place, comm, source, tag);
      takePost(choice);
      logHit(place, choice, source, tag, comm, *use);
      if (g_engine.jitter) [[unlikely]] {
        jitteredProbe(use->MPI_SOURCE, comm);
      }
    } else {
      sink().missed(choice.kind);
    }
  }
  return result;
}

/// MPI_Mprobe: what came with a routed message is needed when it is received.
int matchedProbe(const ProbeRoute& where, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  const int result = PF_REAL(Mprobe)(where.source, where.tag, where.comm, message, status);
  if (result == MPI_SUCCESS) {
    keepMessage(*message, where.routed, comm);
  }
  return result;
}

/// MPI_Improbe, in the same way.
int matchedPoll(const ProbeRoute& where, MPI_Comm comm, int* flag, MPI_Message* message,
                MPI_Status* status) {
  const int result = PF_REAL(Improbe)(where.source, where.tag, where.comm, flag, message, status);
  if (result == MPI_SUCCESS && *flag != 0) {
    keepMessage(*message, where.routed, comm);
  }
  return result;
}

}  // namespace

int onProbe(const CallPlace& place, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (g_engine.threads && isMessage(source, comm)) [[unlikely]] {
    const InCall inCall(place, RecordKind::Padding, comm, source, tag);
    const auto ask = [&](const ProbeRoute& where, int* f, MPI_Status* use) {
      return PF_REAL(Iprobe)(where.source, where.tag, where.comm, f, use);
    };
    return probeOfThread(place, {ChoiceKind::Probe, RecordKind::Probe}, ask, source, tag, comm,
                         nullptr, status);
  }
  const auto call = [&](const ProbeRoute& where, MPI_Status* use) {
    return PF_REAL(Probe)(where.source, where.tag, where.comm, use);
  };
  return blockingProbe(place, {ChoiceKind::Probe, RecordKind::Probe}, call, source, tag, comm,
                       status);
}

int onMprobe(const CallPlace& place, int source, int tag, MPI_Comm comm, MPI_Message* message,
             MPI_Status* status) {
  if (g_engine.threads && isMessage(source, comm)) [[unlikely]] {
    const InCall inCall(place, RecordKind::Padding, comm, source, tag);
    const auto ask = [&](const ProbeRoute& where, int* f, MPI_Status* use) {
      return matchedPoll(where, comm, f, message, use);
    };
    return probeOfThread(place, {ChoiceKind::Mprobe, RecordKind::Receive}, ask, source, tag, comm,
                         nullptr, status);
  }
  const auto call = [&](const ProbeRoute& where, MPI_Status* use) {
    return matchedProbe(where, comm, message, use);
  };
  return blockingProbe(place, {ChoiceKind::Mprobe, RecordKind::Receive}, call, source, tag, comm,
                       status);
}

int onIprobe(const CallPlace& place, int source, int tag, MPI_Comm comm, int* flag,
             MPI_Status* status) {
  if (g_engine.threads && isMessage(source, comm)) [[unlikely]] {
    const auto ask = [&](const ProbeRoute& where, int* f, MPI_Status* use) {
      return PF_REAL(Iprobe)(where.source, where.tag, where.comm, f, use);
    };
    return probeOfThread(place, {ChoiceKind::Iprobe, RecordKind::Probe}, ask, source, tag, comm,
                         flag, status);
  }
  const auto poll = [&](int s, int t, int* f, MPI_Status* use) {
    return PF_REAL(Iprobe)(s, t, comm, f, use);
  };
  const auto wait = [&](const ProbeRoute& where, MPI_Status* use) {
    return PF_REAL(Probe)(where.source, where.tag, where.comm, use);
  };
  return polledProbe(place, {ChoiceKind::Iprobe, RecordKind::Probe}, poll, wait, source, tag, comm,
                     flag, status);
}

int onImprobe(const CallPlace& place, int source, int tag, MPI_Comm comm, int* flag,
              MPI_Message* message, MPI_Status* status) {
  if (g_engine.threads && isMessage(source, comm)) [[unlikely]] {
    const auto ask = [&](const ProbeRoute& where, int* f, MPI_Status* use) {
      return matchedPoll(where, comm, f, message, use);
    };
    return probeOfThread(place, {ChoiceKind::Improbe, RecordKind::Receive}, ask, source, tag, comm,
                         flag, status);
  }
  const auto poll = [&](int s, int t, int* f, MPI_Status* use) {
    return PF_REAL(Improbe)(s, t, comm, f, message, use);
  };
  const auto wait = [&](const ProbeRoute& where, MPI_Status* use) {
    return matchedProbe(where, comm, message, use);
  };
  return polledProbe(place, {ChoiceKind::Improbe, RecordKind::Receive}, poll, wait, source, tag,
                     comm, flag, status);
}

}  // namespace pf
