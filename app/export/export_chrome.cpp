// SPDX-License-Identifier: GPL-3.0-or-later
// Chrome's Trace Event Format (JSON object form), as Perfetto and chrome://tracing load it: one
// process for the trace, a thread for each rank, a complete event ("X") for each call, a flow ("s",
// "f") for each message. Where the trace has no times, a step of logical time is 10 µs.
#include <nlohmann/json.hpp>

#include "app/export/formats.h"

namespace pf::app {
namespace {

using nlohmann::json;

constexpr std::uint64_t kStep = 10;    ///< µs of a step of logical time
constexpr std::uint64_t kLength = 8;   ///< µs of a call
constexpr std::uint64_t kLeaves = 1;   ///< µs after its begin: what it sends
constexpr std::uint64_t kArrives = 7;  ///< µs after its begin: what it receives

class ChromeExport {
 public:
  ChromeExport(const IndexedTrace& trace, photofinish::Output& out)
      : m_trace(trace),
        m_out(out),
        // Viewers take the thread that has its process's number for the main one, so it is no rank.
        m_pid(trace.execution().ranks.size()) {}

  void run() {
    m_out.write(R"({"displayTimeUnit":"ms","otherData":)" + text(otherData()) +
                R"(,"traceEvents":[)" + "\n");
    metadata("process_name", 0, {{"name", m_trace.loaded.store.run().program}});
    for (std::size_t rank = 0; rank < m_trace.execution().ranks.size(); ++rank) {
      metadata("thread_name", rank, {{"name", "rank " + std::to_string(rank)}});
      metadata("thread_sort_index", rank, {{"sort_index", rank}});
    }
    m_trace.eachEvent([&](EventRef ref) { call(ref); });
    for (std::size_t i = 0; i < m_trace.execution().messages.size(); ++i) {
      message(i);
    }
    m_out.write("\n]}\n");
  }

 private:
  static std::string text(const json& value) {
    return value.dump(-1, ' ', true, json::error_handler_t::replace);
  }

  [[nodiscard]] json otherData() const {
    return {{"trace", m_trace.path},
            {"command", m_trace.loaded.store.run().command},
            {"recorded", m_trace.loaded.store.run().createdUtc},
            {"time", m_trace.execution().timeOrigin == TimeOrigin::Recording ? "of the recording"
                     : m_trace.timed() ? "of a re-execution (survey), not of the recording"
                                       : "logical, 10 µs a step"}};
  }

  /// In µs, as the format has it.
  static double micros(std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1000;
  }

  void put(const json& event) {
    m_out.write(m_any ? ",\n" : "");
    m_out.write(text(event));
    m_any = true;
  }

  void metadata(const char* name, std::size_t rank, const json& args) {
    put({{"ph", "M"}, {"name", name}, {"pid", m_pid}, {"tid", rank}, {"args", args}});
  }

  void call(EventRef ref) {
    const Event& event = m_trace.event(ref);
    const bool racing =
        m_trace.races(ref) ||
        m_trace.index[static_cast<std::size_t>(ref.rank)].observedRacing.contains(ref.serial);
    json args = {{"serial", ref.serial}, {"racing", racing}};
    if (const CallSite* site = m_trace.site(event)) {
      args["file"] = site->file;
      args["line"] = site->line;
    }
    if (const std::string name = m_trace.communicatorName(event); !name.empty()) {
      args["communicator"] = name;
    }
    if (hasEnvelope(event.kind)) {
      args["peer"] = event.peer == kAnySource ? json("any") : json(event.peer);
      args["tag"] = event.tag == kAnyTag ? json("any") : json(event.tag);
      args["bytes"] = event.bytes;
    }
    const EventTime span = m_trace.timed() ? m_trace.shownSpan(ref) : EventTime{};
    json out = {
        {"ph", "X"},
        {"name", m_trace.callName(event)},
        {"cat", std::string(kindText(event.kind)) + (racing ? ",racing" : "")},
        {"pid", m_pid},
        {"tid", ref.rank},
        {"ts", m_trace.timed() ? json(micros(span.begin)) : json(kStep * m_trace.time(ref))},
        {"dur", m_trace.timed() ? json(micros(span.end - span.begin)) : json(kLength)},
        {"args", args}};
    if (racing) {
      out["cname"] = "terrible";  // red, in viewers that have Chrome's colour names
    }
    put(out);
  }

  void flow(const char* phase, std::size_t id, EventRef at, std::uint64_t offset) {
    // Within its call, also after rounding.
    const EventTime span = m_trace.timed() ? m_trace.shownSpan(at) : EventTime{};
    const std::uint64_t inside = span.end - span.begin > 1 ? 1 : 0;
    const json when = !m_trace.timed()    ? json(kStep * m_trace.time(at) + offset)
                      : offset == kLeaves ? json(micros(span.begin + inside))
                                          : json(micros(span.end - inside));
    json out = {{"ph", phase},  {"id", id},       {"name", "message"}, {"cat", "message"},
                {"pid", m_pid}, {"tid", at.rank}, {"ts", when}};
    if (*phase == 'f') {
      out["bp"] = "e";  // ends in the call around it, not in the next one
    }
    put(out);
  }

  void message(std::size_t index) {
    const Message& message = m_trace.execution().messages[index];
    if (message.completion != 0) {
      flow("s", index, message.send, kLeaves);
      flow("f", index, {message.dest, message.completion}, kArrives);
    }
  }

  const IndexedTrace& m_trace;
  photofinish::Output& m_out;
  std::size_t m_pid;
  bool m_any = false;
};

}  // namespace

Status exportChrome(const IndexedTrace& trace, photofinish::Output& out) {
  ChromeExport(trace, out).run();
  return {};
}

}  // namespace pf::app
