// SPDX-License-Identifier: GPL-3.0-or-later
// Arbitrary bytes from GDB: nothing may crash, and a record that parses must survive being printed
// and parsed again. A session with commands in flight hears the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <variant>

#include "mi_bridge/gdb_session.h"
#include "mi_bridge/parser.h"

namespace {

using namespace pf::mi;

class Sink : public Transport {
 public:
  void send(std::string_view bytes) override { m_bytes += bytes.size(); }

 private:
  std::size_t m_bytes = 0;
};

class Deaf : public SessionObserver {
 public:
  void onState(SessionState) override {}
  void onStopped(const StopEvent& stop) override { (void)stop.describe(); }
  void onBreakpointChanged(BreakpointChange, const Breakpoint&) override {}
  void onConsole(StreamKind, std::string_view) override {}
  void onLost(const std::string&) override {}
  void onEscalate(Escalation) override {}
  void onToolAction(ToolAction, std::string_view) override {}
  void onSlow(const std::string&, bool) override {}
  void onValuesChanged() override {}
};

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void roundTrip(const Value& results) {
  std::string line = "^done";
  for (const auto& field : results.fields()) {
    line += "," + (field.name.empty() ? "" : field.name + "=") + field.value.toMi();
  }
  const auto again = parseRecord(line);
  require(again.ok() && std::get<ResultRecord>(*again).results == results);
}

void checkLine(std::string_view line) {
  std::size_t offset = 0;
  const auto record = parseRecord(line, &offset);
  require(record.ok() || offset <= line.size());
  if (!record) {
    return;
  }
  if (const auto* result = std::get_if<ResultRecord>(&*record)) {
    roundTrip(result->results);
  } else if (const auto* async = std::get_if<AsyncRecord>(&*record)) {
    roundTrip(async->results);
  }
}

void checkSession(std::string_view bytes) {
  Sink sink;
  Deaf deaf;
  int asked = 0;
  int answered = 0;
  {
    GdbSession session(sink, deaf);
    const auto once = [&answered](const auto&) { ++answered; };
    TimePoint now = TimePoint{} + std::chrono::hours(1);
    session.tick(now);
    ++asked, session.start(once);
    ++asked, session.attach(1, once);
    BreakpointRequest request;
    request.source = "a.c";
    request.line = 3;
    const std::size_t step = bytes.size() / 8 + 1;
    for (std::size_t i = 0; i < bytes.size(); i += step) {
      session.feed(bytes.substr(i, step));
      session.tick(now += std::chrono::milliseconds(700));
      ++asked, session.run({static_cast<RunKind>(i % 7), 1, "a.c", 3}, once);
      ++asked, session.pause(once);
      ++asked, session.inspect().frames(1, 0, 5, once);
      ++asked, session.inspect().children("v", {0, 5}, once);
      ++asked, session.breakpoints().insert(request, once);
      ++asked, session.console("print 1", once);
    }
    session.feed(bytes);
    ++asked, session.detach(once);
    session.closed("the end");
  }
  require(asked == answered);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  LineSplitter splitter(std::size_t{1} << 16U);
  splitter.feed(bytes, [](std::string_view line, bool) { checkLine(line); });
  constexpr std::size_t kForSession = 1024;
  checkSession(bytes.substr(0, kForSession));
  return 0;
}
