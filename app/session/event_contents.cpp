// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/event_contents.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <QCoreApplication>

#include "app/collation/collate.h"
#include "app/replaying/replay.h"
#include "replay_engine/groups/replay_groups.h"
#include "views/values/text.h"

namespace pf::session {
namespace {

constexpr std::size_t kPartsAsked = 1000;  ///< of an event that starts very many requests

QString words(const char* text) {
  return QCoreApplication::translate("EventContents", text);
}

/// Where `rank` stands for `seenBy` in the communicator; unknown: it is not in it.
Rank rankIn(const std::vector<Communicator>& all, std::uint32_t comm, Rank rank, Rank seenBy) {
  if (comm >= all.size()) {
    return kUnknownRank;
  }
  const Communicator& in = all[comm];
  const bool first = std::ranges::find(in.group, seenBy) != in.group.end();
  const std::vector<Rank>& members = in.remote.empty() || !first ? in.group : in.remote;
  const auto at = std::ranges::find(members, rank);
  return at == members.end() ? kUnknownRank : static_cast<Rank>(at - members.begin());
}

/// Collects the parts of an event.
class Asking {
 public:
  Asking(const views::TraceIndex& trace, const EventRef& event)
      : m_trace(trace), m_history(trace.execution().ranks[index(event.rank)]), m_event(event) {
    m_asked.event = event;
    m_asked.parts.push_back({event, {}, false, {}});
  }

  AskedContents ask() {
    for (const std::uint32_t r : m_trace.links().completedAt(m_event)) {
      m_asked.parts.front().messages.push_back(messageOf(m_history.receives[r]));
    }
    for (const std::uint32_t c : m_trace.links().collectivesDoneAt(m_event)) {
      addMembers(m_asked.parts.front(), m_history.collectives[c]);
    }
    askPosted();
    askProbes();
    askSent();
    return std::move(m_asked);
  }

 private:
  [[nodiscard]] AskedMessage messageOf(const PostedReceive& receive) const {
    return {receive.source,
            rankIn(m_trace.execution().communicators, receive.comm, receive.source, m_event.rank),
            receive.tag};
  }

  void addMembers(AskedPart& part, const CollectivePart& collective) const {
    const auto& communicators = m_trace.execution().communicators;
    if (collective.comm >= communicators.size()) {
      return;
    }
    for (const auto* group :
         {&communicators[collective.comm].group, &communicators[collective.comm].remote}) {
      std::ranges::copy_if(*group, std::back_inserter(part.members),
                           [&](Rank rank) { return rank != part.receiver.rank; });
    }
  }

  AskedPart* add(const EventRef& receiver) {
    if (m_asked.parts.size() >= kPartsAsked) {
      return nullptr;
    }
    return &m_asked.parts.emplace_back(AskedPart{receiver, {}, true, {}});
  }

  void askPosted() {
    for (const std::uint32_t r : m_trace.links().postedAt(m_event)) {
      const PostedReceive receive = m_history.receives[r];
      if (receive.completion == m_event.serial) {
        continue;
      }
      if (receive.completion == 0 || receive.state != ReceiveState::Complete) {
        ++m_asked.notReceived;
      } else if (AskedPart* part = add({m_event.rank, receive.completion})) {
        part->messages.push_back(messageOf(receive));
      }
    }
    if (const auto own = views::partAt(m_history, m_event.serial);
        own && own->completion != 0 && own->completion != m_event.serial) {
      if (AskedPart* part = add({m_event.rank, own->completion})) {
        part->onlyThese = false;
        addMembers(*part, *own);
      }
    }
  }

  void askProbes() {
    for (const std::uint32_t p : m_trace.links().probesAt(m_event)) {
      const ProbeHit probe = m_history.probes[p];
      askMessage(probe.message);
    }
  }

  void askSent() {
    for (const std::uint32_t m : m_trace.links().sentAt(m_event)) {
      askMessage(m);
    }
  }

  void askMessage(std::uint32_t number) {
    const auto& messages = m_trace.execution().messages;
    if (number >= messages.size()) {
      return;
    }
    const Message message = messages[number];
    const EventRef receiver{message.dest, message.completion};
    if (!receiver.valid() || !m_trace.contains(receiver)) {
      ++m_asked.notReceived;
    } else if (AskedPart* part = add(receiver)) {
      part->messages.push_back(
          {message.send.rank,
           rankIn(m_trace.execution().communicators, message.comm, message.send.rank, message.dest),
           message.tag});
    }
  }

  const views::TraceIndex& m_trace;
  const views::RankView& m_history;
  const EventRef m_event;
  AskedContents m_asked;
};

QString eventText(const EventRef& event) {
  return words("event %1 of rank %2").arg(event.serial).arg(event.rank);
}

QString ranksText(std::span<const Rank> ranks) {
  return QString::fromStdString(rangesText(ranks));
}

/// Looks for all parts of a question in one trace.
class Looking {
 public:
  Looking(db::TraceStore& store, const ReplayGroups& groups, const AskedContents& asked)
      : m_store(store), m_groups(groups), m_asked(asked) {
    m_out.event = asked.event;
  }

  Result<EventContents> look() {
    const Result<std::vector<db::PayloadInfo>> infos = m_store.payloads();
    if (!infos) {
      return infos.error();
    }
    for (const db::PayloadInfo& info : *infos) {
      m_infos[info.rank] = info;
    }
    if (const Status read = readAll(); !read) {
      return read.error();
    }
    for (const AskedPart& part : m_asked.parts) {
      take(part);
    }
    noteInside();
    noteNotReceived();
    noteCut();
    if (m_out.found.empty() && m_out.notes.isEmpty()) {
      m_out.notes.append(words("Nothing came to this event from ranks outside of its group."));
    }
    return std::move(m_out);
  }

 private:
  /// Each rank's contents are gone through once, for all events that are asked of.
  Status readAll() {
    std::map<Rank, app::ContentsWanted> wanted;
    for (const AskedPart& part : m_asked.parts) {
      wanted[part.receiver.rank].events.push_back(part.receiver.serial);
    }
    std::size_t left = kContentsShown;
    for (auto& [rank, want] : wanted) {
      if (!m_infos.contains(rank)) {
        continue;
      }
      want.each = left;
      want.all = left;
      std::vector<app::Contents>& read = m_read[rank];
      const Status status = app::readContents(m_store, rank, want, read);
      if (!status && status.error().code != ErrorCode::Damaged) {
        return status;
      }
      if (!status) {
        m_out.notes.append(words("%1. %2").arg(QString::fromStdString(status.error().message),
                                               QString::fromStdString(status.error().advice)));
      }
      for (const app::Contents& each : read) {
        left -= each.bytes.size();
      }
    }
    return {};
  }

  void take(const AskedPart& part) {
    const auto outside = static_cast<std::size_t>(
        std::ranges::count_if(part.messages, [&](const AskedMessage& message) {
          return isOutside(message.source, part.receiver.rank);
        }));
    std::size_t matched = 0;
    bool probed = false;
    for (const app::Contents& each : m_read[part.receiver.rank]) {
      if (each.head.serial != part.receiver.serial) {
        continue;
      }
      const AskedMessage* known = messageOf(part, each);
      if (part.onlyThese && known == nullptr) {
        continue;
      }
      if (each.isProbe()) {
        probed = probed || known != nullptr;
        continue;
      }
      matched += each.isCollective() ? 0U : 1U;
      add(part.receiver, known, each);
    }
    if (outside < part.messages.size()) {
      m_inside += part.messages.size() - outside;
      m_insideOf = part.receiver.rank;
    }
    m_messages += part.messages.size();
    if (matched < outside) {
      noteMissing(part.receiver, probed);
    }
    if (part.onlyThese && matched > part.messages.size()) {
      m_out.notes.append(
          words("%1 messages of this source and tag came to %2; which of them is this one is not "
                "told.")
              .arg(matched)
              .arg(eventText(part.receiver)));
    }
    noteCollective(part);
  }

  [[nodiscard]] bool isOutside(Rank source, Rank receiver) const {
    const auto known = [this](Rank rank) { return rank >= 0 && index(rank) < m_groups.ranks(); };
    return known(source) && known(receiver) &&
           m_groups.groupOf(source) != m_groups.groupOf(receiver);
  }

  static const AskedMessage* messageOf(const AskedPart& part, const app::Contents& contents) {
    const auto found = std::ranges::find_if(part.messages, [&](const AskedMessage& message) {
      return !contents.isCollective() && message.told == contents.head.a &&
             message.tag == contents.head.b;
    });
    return found == part.messages.end() ? nullptr : &*found;
  }

  void add(const EventRef& receiver, const AskedMessage* known, const app::Contents& contents) {
    if (m_out.found.size() < kContentsListed) {
      m_out.found.push_back({receiver, known == nullptr ? kUnknownRank : known->source, contents});
    } else if (m_out.found.size() == kContentsListed && !std::exchange(m_tooMany, true)) {
      m_out.notes.append(words("These are the first %1 of them.").arg(kContentsListed));
    }
  }

  void noteMissing(const EventRef& receiver, bool probed) {
    const auto info = m_infos.find(receiver.rank);
    const std::string end = info == m_infos.end() ? std::string() : app::contentsEnd(info->second);
    if (probed) {
      m_out.notes.append(
          words("%1 has matched the message only. Its contents are with the MPI_Mrecv, or the end "
                "of the MPI_Imrecv, that received it: select that event.")
              .arg(eventText(receiver)));
    } else if (info == m_infos.end()) {
      m_out.notes.append(
          words("The trace has no contents of rank %1, though it was recorded with --groups: its "
                "record was cut before any came. 'photofinish info' says how each rank's record "
                "ends.")
              .arg(receiver.rank));
    } else if (!end.empty() || info->second.ending == db::PayloadInfo::kCut) {
      m_out.notes.append(
          words("The contents for rank %1 end before that: %2. 'photofinish info' says up to where "
                "each rank's go.")
              .arg(receiver.rank)
              .arg(end.empty() ? words("the rank ended without MPI_Finalize")
                               : QString::fromStdString(end)));
    } else {
      m_out.notes.append(
          words("The trace has no contents of it, though it came from outside of the group. "
                "'photofinish check' says whether the trace is whole."));
    }
  }

  void noteCollective(const AskedPart& part) {
    const bool outside = std::ranges::any_of(
        part.members, [&](Rank member) { return isOutside(member, part.receiver.rank); });
    const bool found = std::ranges::any_of(m_out.found, [&](const FoundContents& each) {
      return each.receiver == part.receiver && each.contents.isCollective();
    });
    if (part.members.empty() || found) {
      return;
    }
    m_out.notes.append(
        outside
            ? words("The collective brought nothing to rank %1 from outside of its group.")
                  .arg(part.receiver.rank)
            : words("All who take part in the collective are in the group %1: what it brings is "
                    "not kept, as a replay of the group makes it again.")
                  .arg(groupText(part.receiver.rank)));
  }

  [[nodiscard]] QString groupText(Rank rank) const {
    return rank < 0 || index(rank) >= m_groups.ranks()
               ? QString()
               : ranksText(m_groups.members(m_groups.groupOf(rank)));
  }

  void noteInside() {
    if (m_inside == 0) {
      return;
    }
    const QString group = groupText(m_insideOf);
    m_out.notes.append(
        (m_messages == 1
             ? words("It was sent within the group %1: only its order was recorded.").arg(group)
             : words("%1 of its %2 messages were sent within the group %3: only their "
                     "order was recorded.")
                   .arg(m_inside)
                   .arg(m_messages)
                   .arg(group)) +
        QLatin1Char(' ') +
        words("A replay brings the contents again: stop behind the receive and look at its "
              "variable. 'record --groups each' keeps those of every message."));
  }

  void noteNotReceived() {
    if (m_asked.notReceived != 0) {
      m_out.notes.append(
          m_asked.notReceived == 1
              ? words("No rank has received the message, so nothing of it is kept.")
              : words("%1 of its messages were received by no rank, so nothing of them is kept.")
                    .arg(m_asked.notReceived));
    }
  }

  /// Of the longest that is not whole; a sentence for all.
  void noteCut() {
    for (const FoundContents& each : m_out.found) {
      if (each.contents.bytes.size() < each.contents.size) {
        m_out.notes.append(
            words("At most %1 are shown. For more: photofinish payload FILE --rank %2 --event %3 "
                  "--bytes %4")
                .arg(values::byteText(kContentsShown))
                .arg(each.receiver.rank)
                .arg(each.receiver.serial)
                .arg(each.contents.size));
        return;
      }
    }
  }

  db::TraceStore& m_store;
  const ReplayGroups& m_groups;
  const AskedContents& m_asked;
  std::map<Rank, db::PayloadInfo> m_infos;
  std::map<Rank, std::vector<app::Contents>> m_read;
  EventContents m_out;
  std::size_t m_inside = 0;
  Rank m_insideOf = kUnknownRank;
  std::size_t m_messages = 0;
  bool m_tooMany = false;
};

EventContents only(const EventRef& event, const QString& note) {
  return {event, {}, {note}};
}

}  // namespace

bool AskedContents::isNone() const {
  return notReceived == 0 && parts.size() == 1 && parts.front().messages.empty() &&
         parts.front().members.empty();
}

AskedContents askedContents(const views::TraceIndex& trace, const EventRef& event) {
  return trace.contains(event) ? Asking(trace, event).ask() : AskedContents{event, {}, 0};
}

Result<EventContents> readEventContents(const std::string& trace, const AskedContents& asked) {
  if (asked.parts.empty()) {
    return only(asked.event, words("The trace has no such event."));
  }
  Result<db::TraceStore> store = app::openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  const std::optional<std::string>& spec = store->run().groups;
  if (!spec) {
    return only(asked.event,
                words("The trace holds no contents of messages. Record with --groups to keep those "
                      "between groups of ranks; 'record --groups each' keeps those of every "
                      "message."));
  }
  if (store->run().redacted) {
    return only(asked.event, words("The contents of messages were taken out of this trace, which "
                                   "was made to be given away. The trace that it was made of has "
                                   "them."));
  }
  const Result<ReplayGroups> groups = ReplayGroups::parse(*spec, store->run().ranks);
  if (!groups) {
    return groups.error();
  }
  Result<EventContents> found = Looking(*store, *groups, asked).look();
  if (found && found->found.empty() && asked.isNone()) {
    return only(asked.event, words("This event neither sends nor receives anything."));
  }
  return found;
}

}  // namespace pf::session
