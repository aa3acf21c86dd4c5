// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/analyses/trace_text.h"

#include <algorithm>
#include <cmath>

#include <QStringList>

#include "views/values/text.h"

namespace pf::views {

namespace {

QString sentFrom(const TraceIndex& trace, const Message& message) {
  QString out = u"rank %1, event %2"_s.arg(message.send.rank).arg(message.send.serial);
  const QString site = siteText(trace, message.send);
  return site.isEmpty() ? out : out + u" (%1)"_s.arg(site);
}

QString wants(const TraceIndex& trace, Rank source, Tag tag, std::uint32_t comm) {
  return u"%1, %2, %3"_s.arg(rankText(source), tagText(tag), commText(trace, comm));
}

void describeReceives(const TraceIndex& trace, EventRef ref, QStringList& lines) {
  const RankView& history = trace.execution().ranks[index(ref.rank)];
  const auto limit = [&](std::size_t n, std::size_t all) {
    if (n < all) {
      lines << u"… and %1 more"_s.arg(all - n);
    }
  };
  const auto posted = trace.links().postedAt(ref);
  const std::size_t shownPosts = std::min<std::size_t>(posted.size(), 4);
  for (const std::uint32_t r : posted.first(shownPosts)) {
    const PostedReceive& receive = history.receives[r];
    lines << u"accepts: %1"_s.arg(
        wants(trace, receive.wantedSource, receive.wantedTag, receive.comm));
    if (receive.state == ReceiveState::Cancelled) {
      lines << u"cancelled"_s;
    } else if (receive.state == ReceiveState::Pending) {
      lines << u"never completed in this run"_s;
    } else if (receive.completion != ref.serial) {
      lines << u"completed by event %1"_s.arg(receive.completion);
    }
  }
  limit(shownPosts, posted.size());
  const auto completed = trace.links().completedAt(ref);
  const std::size_t shown = std::min<std::size_t>(completed.size(), 6);
  for (const std::uint32_t r : completed.first(shown)) {
    const PostedReceive& receive = history.receives[r];
    if (receive.message < trace.messages().count()) {
      lines << u"took: "_s + messageText(trace, receive.message);
    } else {
      lines << u"took: message from %1, %2"_s.arg(rankText(receive.source), tagText(receive.tag));
    }
  }
  limit(shown, completed.size());
}

void describeRaces(const TraceIndex& trace, EventRef ref, QStringList& lines) {
  for (const std::uint32_t race : trace.races().at(ref)) {
    const auto& alternatives = trace.data().races[race].alternatives;
    QStringList from;
    for (const std::uint32_t m : alternatives) {
      if (m < trace.messages().count() && from.size() < 6) {
        const EventRef send = trace.execution().messages[m].send;
        from << u"rank %1 event %2"_s.arg(send.rank).arg(send.serial);
      }
    }
    lines << u"RACE: could have taken %1 instead: %2%3"_s.arg(
        counted(alternatives.size(), u"other message"_s, u"other messages"_s), from.join(u", "_s),
        toInt(alternatives.size()) > toInt(from.size()) ? u" …"_s : QString());
  }
}

}  // namespace

namespace {

struct ClockUnit {
  double size;  ///< nanoseconds
  const char16_t* name;
};
constexpr ClockUnit kClockUnits[] = {{1, u"ns"}, {1e3, u"µs"}, {1e6, u"ms"}, {1e9, u"s"}};

/// The largest unit that is not larger.
const ClockUnit& unitFor(double nanoseconds) {
  const ClockUnit* unit = &kClockUnits[0];
  for (const ClockUnit& each : kClockUnits) {
    unit = each.size <= nanoseconds ? &each : unit;
  }
  return *unit;
}

QString inUnit(double nanoseconds, const ClockUnit& unit, double precision) {
  const int digits = static_cast<int>(std::ceil(std::log10(unit.size / precision) - 1e-9));
  return QString::number(nanoseconds / unit.size, 'f', std::clamp(digits, 0, 9)) + u' ' +
         QString::fromUtf16(unit.name);
}

}  // namespace

QString clockTickText(double nanoseconds, double step, double last) {
  return inUnit(nanoseconds, unitFor(std::max(step, last / 1000)), step);
}

QString clockText(double nanoseconds) {
  const ClockUnit& unit = unitFor(nanoseconds);
  return inUnit(nanoseconds, unit, std::max(unit.size / 1000, 1.0));
}

QString timeOriginText(TimeOrigin origin) {
  switch (origin) {
    case TimeOrigin::Recording:
      return u"times of the recording"_s;
    case TimeOrigin::Reexecution:
      return u"times of the survey's re-execution"_s;
    case TimeOrigin::None:
      break;
  }
  return {};
}

QString callName(const TraceIndex& trace, EventRef ref) {
  const auto& names = trace.execution().callNames;
  const Event& event = trace.event(ref);
  return event.call < names.size() ? oneLine(fromUtf8(names[event.call])) : u"MPI call"_s;
}

QString kindText(EventKind kind) {
  switch (kind) {
    case EventKind::Send:
      return u"send"_s;
    case EventKind::Receive:
      return u"receive"_s;
    case EventKind::SendReceive:
      return u"send and receive"_s;
    case EventKind::Post:
      return u"non-blocking receive posted"_s;
    case EventKind::Completion:
      return u"completion"_s;
    case EventKind::Probe:
      return u"probe"_s;
    case EventKind::Collective:
      return u"collective"_s;
    case EventKind::CollectivePost:
      return u"non-blocking collective posted"_s;
    case EventKind::Local:
      return u"local"_s;
    case EventKind::Start:
      return u"persistent requests started"_s;
  }
  return {};
}

const CallSite* siteOf(const TraceIndex& trace, EventRef ref) {
  const auto& sites = trace.execution().sites;
  const std::uint32_t site = trace.event(ref).site;
  return site < sites.size() ? &sites[site] : nullptr;
}

QString siteText(const TraceIndex& trace, EventRef ref) {
  const CallSite* site = siteOf(trace, ref);
  if (site == nullptr) {
    return {};
  }
  if (!site->file.empty()) {
    return u"%1:%2"_s.arg(oneLine(baseName(fromUtf8(site->file)))).arg(site->line);
  }
  return site->module.empty()
             ? QString()
             : u"%1+0x%2"_s.arg(oneLine(baseName(fromUtf8(site->module)))).arg(site->offset, 0, 16);
}

QString rankText(Rank rank) {
  if (rank == kAnySource) {
    return u"any source"_s;
  }
  return rank < 0 ? u"unknown rank"_s : u"rank %1"_s.arg(rank);
}

QString tagText(Tag tag) {
  return tag == kAnyTag ? u"any tag"_s : u"tag %1"_s.arg(tag);
}

QString commText(const TraceIndex& trace, std::uint32_t comm) {
  const auto& all = trace.execution().communicators;
  if (comm >= all.size()) {
    return u"unknown communicator"_s;
  }
  return all[comm].name.empty() ? u"communicator %1"_s.arg(comm)
                                : oneLine(fromUtf8(all[comm].name));
}

QString eventTitle(const TraceIndex& trace, EventRef ref) {
  return u"rank %1, event %2: %3"_s.arg(ref.rank).arg(ref.serial).arg(callName(trace, ref));
}

QString messageText(const TraceIndex& trace, std::uint32_t message) {
  if (message >= trace.messages().count()) {
    return u"a message that is not in the record"_s;
  }
  const Message& m = trace.execution().messages[message];
  const std::uint64_t bytes = trace.event(m.send).bytes;
  return u"%1, %2%3, sent at %4"_s.arg(rankText(m.send.rank), tagText(m.tag),
                                       bytes != 0 ? u", "_s + byteText(bytes) : QString(),
                                       sentFrom(trace, m).section(u", "_s, 1));
}

QString eventDetails(const TraceIndex& trace, EventRef ref) {
  if (!trace.contains(ref)) {
    return {};
  }
  const Event& event = trace.event(ref);
  QStringList lines;
  lines << u"%1 (%2)"_s.arg(callName(trace, ref), kindText(event.kind));
  lines << u"rank %1, event %2, logical time %3"_s.arg(ref.rank)
               .arg(ref.serial)
               .arg(trace.logicalTime(ref));
  if (const std::optional<EventTime> at = trace.times().clockTime(ref)) {
    const auto took = static_cast<double>(at->end - at->begin);
    lines << u"at %1%2 (%3)"_s.arg(
        clockText(static_cast<double>(at->begin)),
        took > 0 ? u", in the call for %1"_s.arg(clockText(took)) : QString(),
        timeOriginText(trace.execution().timeOrigin));
  }
  if (const CallSite* site = siteOf(trace, ref); site != nullptr) {
    const QString function = oneLine(fromUtf8(site->function));
    lines << siteText(trace, ref) + (function.isEmpty() ? QString() : u" in %1()"_s.arg(function));
  }
  for (const std::uint32_t m : trace.links().sentAt(ref)) {
    const Message& message = trace.execution().messages[m];
    const EventRef end = trace.messages().arrival(message);
    lines << u"sends: to %1, %2%3, %4"_s.arg(
        rankText(message.dest), tagText(message.tag),
        event.bytes != 0 ? u", "_s + byteText(event.bytes) : QString(),
        end.valid() ? u"received by event %1"_s.arg(end.serial) : u"never received"_s);
  }
  describeReceives(trace, ref, lines);
  for (const std::uint32_t p : trace.links().probesAt(ref)) {
    const ProbeHit& probe = trace.execution().ranks[index(ref.rank)].probes[p];
    lines << u"asks: %1"_s.arg(wants(trace, probe.wantedSource, probe.wantedTag, probe.comm));
    lines << u"saw: %1, %2"_s.arg(rankText(probe.source), tagText(probe.tag));
  }
  if (const std::uint32_t group = trace.collectives().at(ref); group != kNone) {
    lines << u"%1, collective %2, %3"_s.arg(commText(trace, event.comm))
                 .arg(trace.collectives().groups()[group].ordinal + 1)
                 .arg(counted(trace.collectives().groups()[group].parts.size(), u"rank"_s,
                              u"ranks"_s));
  }
  describeRaces(trace, ref, lines);
  if (trace.data().failure.event == ref) {
    lines << u"THE RUN FAILED HERE: "_s + oneLine(trace.data().failure.reason);
  }
  return lines.join(QLatin1Char('\n'));
}

QString raceClass(const TraceIndex& trace, std::size_t race) {
  if (trace.data().races.isProbe(race)) {
    return u"probe"_s;
  }
  return trace.races().eventOf(race) == trace.races().completionOf(race) ? u"receive"_s
                                                                         : u"posted receive"_s;
}

QString raceEnvelope(const TraceIndex& trace, std::size_t race) {
  const Race& r = trace.data().races[race];
  if (!trace.contains(trace.races().eventOf(race))) {
    return {};
  }
  const RankView& history = trace.execution().ranks[index(r.rank)];
  if (r.probe) {
    const ProbeHit& probe = history.probes[r.index];
    return wants(trace, probe.wantedSource, probe.wantedTag, probe.comm);
  }
  const PostedReceive& receive = history.receives[r.index];
  return wants(trace, receive.wantedSource, receive.wantedTag, receive.comm);
}

QString whyConcurrent(const TraceIndex& trace, std::size_t race, std::uint32_t alternative) {
  if (alternative >= trace.messages().count()) {
    return {};
  }
  const Message& message = trace.execution().messages[alternative];
  const EventRef done = trace.races().completionOf(race);
  const EventRef end = trace.messages().arrival(message);
  const QString later =
      end.valid() ? u"In this run it was taken later, by event %1 of rank %2."_s.arg(end.serial)
                        .arg(end.rank)
                  : u"In this run no receive took it."_s;
  return u"Rank %1 does not need to know of event %2 of rank %3 before it sends this message, so "
         u"nothing makes the send "
         "come after the receive. Its envelope matches (%4), and no earlier message of rank %1 has "
         "to be received first. "
         "Only timing decided. "_s.arg(message.send.rank)
             .arg(done.serial)
             .arg(done.rank)
             .arg(raceEnvelope(trace, race)) +
         later;
}

QString alternativeText(const TraceIndex& trace, EventRef event, int number) {
  const auto races = trace.races().at(event);
  const auto place = static_cast<std::size_t>(number) - 1;
  if (races.empty() || number <= 0 ||
      place >= trace.data().races[races.front()].alternatives.size()) {
    return {};
  }
  return u"alternative %1: %2"_s.arg(number).arg(
      messageText(trace, trace.data().races[races.front()].alternatives[place]));
}

}  // namespace pf::views
