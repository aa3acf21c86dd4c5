// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/analyses/event_search.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>

#include <QStringList>

#include "views/trace/analyses/trace_text.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

/// Whether an event is meant.
struct Test {
  std::function<bool(EventRef, const Event&)> holds;
  bool slow = false;  ///< looks at more than the event: those that are not come first
};

bool contains(const QString& text, const QString& word) {
  return text.contains(word, Qt::CaseInsensitive);
}

// What calls can do at all: of the others nothing is looked up (EventKind says which call is which).

bool canReceive(EventKind kind) {
  return kind == EventKind::Receive || kind == EventKind::SendReceive ||
         kind == EventKind::Completion;
}

bool canSend(EventKind kind) {
  return kind == EventKind::Send || kind == EventKind::SendReceive || kind == EventKind::Start;
}

bool canChoose(EventKind kind) {
  return kind == EventKind::Receive || kind == EventKind::SendReceive || kind == EventKind::Post ||
         kind == EventKind::Start || kind == EventKind::Probe;
}

/// Makes the test of each word; texts are looked at once for each call, site or communicator.
class Query {
 public:
  explicit Query(const TraceIndex& trace) : m_trace(trace), m_execution(trace.execution()) {}

  /// Nothing if the word is not understood: `problem` says why.
  [[nodiscard]] std::optional<Test> test(const QString& word, QString& problem) const {
    const qsizetype colon = word.indexOf(u':');
    if (colon <= 0) {
      return anyText(word);
    }
    const QString key = word.left(colon).toLower();
    const QString value = word.mid(colon + 1);
    if (value.isEmpty()) {
      return Test{[](EventRef, const Event&) { return true; }};  // still being typed
    }
    if (key == u"kind"_s) {
      return kind(value.toLower(), problem);
    }
    if (key == u"call"_s || key == u"file"_s || key == u"function"_s || key == u"comm"_s) {
      return text(key, value);
    }
    if (key == u"bytes"_s) {
      return bytes(value, problem);
    }
    bool ok = false;
    const auto number = value.toULongLong(&ok);
    const std::optional<Test> made = numeric(key, number);
    if (!made) {
      problem =
          u"there is no \"%1:\"; there are kind, call, file, line, function, rank, event, "
          u"tag, from, to, comm, bytes"_s.arg(key);
    } else if (!ok) {
      problem = u"%1: wants a number, not \"%2\""_s.arg(key, value);
    } else {
      return made;
    }
    return std::nullopt;
  }

 private:
  template <typename Of>
  [[nodiscard]] static std::vector<bool> each(std::size_t n, const Of& holds) {
    std::vector<bool> out(n);
    for (std::size_t i = 0; i < n; ++i) {
      out[i] = holds(i);
    }
    return out;
  }

  [[nodiscard]] static bool in(const std::vector<bool>& set, std::size_t i) {
    return i < set.size() && set[i];
  }

  [[nodiscard]] std::vector<bool> calls(const QString& word) const {
    return each(m_execution.callNames.size(),
                [&](std::size_t i) { return contains(fromUtf8(m_execution.callNames[i]), word); });
  }

  [[nodiscard]] std::vector<bool> sites(const QString& word, bool files, bool functions) const {
    return each(m_execution.sites.size(), [&](std::size_t i) {
      const CallSite& site = m_execution.sites[i];
      return (files && contains(fromUtf8(site.file), word)) ||
             (functions && contains(fromUtf8(site.function), word));
    });
  }

  [[nodiscard]] Test anyText(const QString& word) const {
    return {[calls = calls(word), sites = sites(word, true, true)](EventRef, const Event& event) {
      return in(calls, event.call) || in(sites, event.site);
    }};
  }

  [[nodiscard]] Test text(const QString& key, const QString& value) const {
    if (key == u"call"_s) {
      return {[set = calls(value)](EventRef, const Event& event) { return in(set, event.call); }};
    }
    if (key == u"comm"_s) {
      return {[set = each(m_execution.communicators.size(), [&](std::size_t i) {
                 return contains(commText(m_trace, static_cast<std::uint32_t>(i)), value);
               })](EventRef, const Event& event) { return in(set, event.comm); }};
    }
    return {[set = sites(value, key == u"file"_s, key == u"function"_s)](
                EventRef, const Event& event) { return in(set, event.site); }};
  }

  [[nodiscard]] std::optional<Test> kind(const QString& value, QString& problem) const {
    if (value == u"racing"_s) {
      return Test{[this](EventRef ref, const Event&) {  // where it is chosen, not where it is seen
        const auto races = m_trace.races().at(ref);
        return std::any_of(races.begin(), races.end(), [&](std::uint32_t race) {
          return m_trace.races().eventOf(race) == ref;
        });
      }};
    }
    if (value == u"wildcard"_s) {
      return Test{[this](EventRef ref, const Event& event) {
                    return canChoose(event.kind) && m_trace.links().isWildcard(ref);
                  },
                  true};
    }
    static const std::pair<QString, std::vector<EventKind>> kKinds[] = {
        {u"send"_s, {EventKind::Send, EventKind::SendReceive}},
        {u"receive"_s, {EventKind::Receive, EventKind::SendReceive}},
        {u"probe"_s, {EventKind::Probe}},
        {u"post"_s, {EventKind::Post}},
        {u"completion"_s, {EventKind::Completion}},
        {u"collective"_s, {EventKind::Collective, EventKind::CollectivePost}},
        {u"local"_s, {EventKind::Local}},
        {u"start"_s, {EventKind::Start}}};
    QStringList names{u"racing"_s, u"wildcard"_s};
    for (const auto& [name, kinds] : kKinds) {
      if (name == value) {
        return Test{[kinds = kinds](EventRef, const Event& event) {
          return std::find(kinds.begin(), kinds.end(), event.kind) != kinds.end();
        }};
      }
      names << name;
    }
    problem = u"there is no kind \"%1\"; there are %2"_s.arg(value, names.join(u", "_s));
    return std::nullopt;
  }

  [[nodiscard]] static std::optional<Test> bytes(QString value, QString& problem) {
    const QChar sign = value.at(0);
    if (sign == u'<' || sign == u'>' || sign == u'=') {
      value.remove(0, 1);
    }
    bool ok = false;
    const std::uint64_t limit = value.toULongLong(&ok);
    if (!ok) {
      problem = u"bytes: wants a number, as in bytes:>1024"_s;
      return std::nullopt;
    }
    return Test{[sign, limit](EventRef, const Event& event) {
      return sign == u'<'   ? event.bytes < limit
             : sign == u'>' ? event.bytes > limit
                            : event.bytes == limit;
    }};
  }

  [[nodiscard]] bool takes(EventRef ref, const Event& event,
                           const std::function<bool(const Message&)>& holds) const {
    if (!canReceive(event.kind)) {
      return false;
    }
    const auto& receives = m_execution.ranks[index(ref.rank)].receives;
    const auto done = m_trace.links().completedAt(ref);
    return std::any_of(done.begin(), done.end(), [&](std::uint32_t r) {
      const std::uint32_t m = receives[r].message;
      return m < m_trace.messages().count() && holds(m_execution.messages[m]);
    });
  }

  [[nodiscard]] std::optional<Test> numeric(const QString& key, std::uint64_t number) const {
    if (key == u"rank"_s) {
      return Test{[number](EventRef ref, const Event&) {
        return static_cast<std::uint64_t>(ref.rank) == number;
      }};
    }
    if (key == u"event"_s) {
      return Test{[number](EventRef ref, const Event&) { return ref.serial == number; }};
    }
    if (key == u"line"_s) {
      return Test{[set = each(m_execution.sites.size(), [&](std::size_t i) {
                     return m_execution.sites[i].line >= 0 &&
                            static_cast<std::uint64_t>(m_execution.sites[i].line) == number;
                   })](EventRef, const Event& event) { return in(set, event.site); }};
    }
    if (key == u"tag"_s) {
      const auto tag = static_cast<Tag>(std::min<std::uint64_t>(number, 0x7FFFFFFF));
      return Test{[this, tag](EventRef ref, const Event& event) {
                    return event.tag == tag ||
                           takes(ref, event, [tag](const Message& m) { return m.tag == tag; });
                  },
                  true};
    }
    if (key == u"from"_s) {
      return Test{[this, number](EventRef ref, const Event& event) {
                    return takes(ref, event, [number](const Message& m) {
                      return static_cast<std::uint64_t>(m.send.rank) == number;
                    });
                  },
                  true};
    }
    if (key == u"to"_s) {
      return Test{[this, number](EventRef ref, const Event& event) {
                    if (!canSend(event.kind)) {
                      return false;
                    }
                    const auto sent = m_trace.links().sentAt(ref);
                    return std::any_of(sent.begin(), sent.end(), [&](std::uint32_t m) {
                      return static_cast<std::uint64_t>(m_execution.messages[m].dest) == number;
                    });
                  },
                  true};
    }
    return std::nullopt;
  }

  const TraceIndex& m_trace;
  const ExecutionView& m_execution;
};

/// The order of hits.
std::tuple<std::uint32_t, Rank, Serial> orderOf(const TraceIndex& trace, EventRef ref) {
  return {trace.time(ref), ref.rank, ref.serial};
}

EventSearch inOrder(std::vector<std::tuple<std::uint32_t, Rank, Serial>> found) {
  std::sort(found.begin(), found.end());
  EventSearch out;
  out.hits.reserve(found.size());
  out.times.reserve(found.size());
  for (const auto& [time, rank, serial] : found) {
    out.hits.push_back({rank, serial});
    out.times.push_back(time);
  }
  return out;
}

/// Of the ranks [first, last).
EventSearch searchRanks(const TraceIndex& trace, std::size_t first, std::size_t last,
                        const QString& query, const std::stop_token& stop) {
  constexpr std::size_t kBetweenLooks = 4096;
  std::size_t looked = 0;
  EventSearch out;
  const Query parser(trace);
  std::vector<Test> tests;
  for (const QString& word : query.simplified().split(u' ', Qt::SkipEmptyParts)) {
    std::optional<Test> test = parser.test(word, out.problem);
    if (!test) {
      return out;
    }
    tests.push_back(std::move(*test));
  }
  if (tests.empty()) {
    return out;
  }
  std::stable_partition(tests.begin(), tests.end(), [](const Test& test) { return !test.slow; });
  std::vector<std::tuple<std::uint32_t, Rank, Serial>> found;
  for (std::size_t r = first; r < last; ++r) {
    EventRef ref{static_cast<Rank>(r), 0};
    for (const Event event : trace.execution().ranks[r].events) {
      if (looked++ % kBetweenLooks == 0 && stop.stop_requested()) {
        return out;
      }
      ++ref.serial;
      if (std::all_of(tests.begin(), tests.end(),
                      [&](const Test& test) { return test.holds(ref, event); })) {
        found.push_back(orderOf(trace, ref));  // now, while its page is at hand
      }
    }
  }
  return inOrder(std::move(found));
}

}  // namespace

EventSearch searchEvents(const TraceIndex& trace, const QString& query,
                         const std::stop_token& stop) {
  return searchRanks(trace, 0, trace.rankCount(), query, stop);
}

EventSearch searchRank(const TraceIndex& trace, Rank rank, const QString& query,
                       const std::stop_token& stop) {
  return rank >= 0 && index(rank) < trace.rankCount()
             ? searchRanks(trace, index(rank), index(rank) + 1, query, stop)
             : EventSearch{};
}

EventSearchPtr onAxisOf(const TraceIndex& trace, const EventSearch& found) {
  std::vector<std::tuple<std::uint32_t, Rank, Serial>> hits;
  hits.reserve(found.hits.size());
  for (const EventRef hit : found.hits) {
    hits.push_back(orderOf(trace, hit));
  }
  return std::make_shared<const EventSearch>(inOrder(std::move(hits)));
}

int nextHit(const TraceIndex& trace, const std::vector<EventRef>& hits, EventRef from, int step) {
  if (hits.empty()) {
    return -1;
  }
  if (!trace.contains(from)) {
    return step > 0 ? 0 : toInt(hits.size() - 1);
  }
  const auto before = [&](EventRef a, EventRef b) { return orderOf(trace, a) < orderOf(trace, b); };
  if (step > 0) {
    const auto next = std::upper_bound(hits.begin(), hits.end(), from, before);
    return next == hits.end() ? 0 : toInt(static_cast<std::size_t>(next - hits.begin()));
  }
  const auto here = std::lower_bound(hits.begin(), hits.end(), from, before);
  return toInt(static_cast<std::size_t>((here == hits.begin() ? hits.end() : here) - hits.begin()) -
               1);
}

}  // namespace pf::views
