// SPDX-License-Identifier: GPL-3.0-or-later
// ShiViz's log format. A log file begins with the regular expression that parses it, and a line for
// the delimiter of several executions (empty: there is one). Each event has two lines: host and
// vector clock as JSON, in which the host's own component goes up by one; then its text.
#include "app/collation/event_text.h"
#include "app/export/formats.h"
#include "replay_engine/causality/event_clocks.h"

namespace pf::app {
namespace {

std::string host(std::size_t rank) {
  return "rank" + std::to_string(rank);
}

std::string clockText(const ClockStep& step) {
  std::string text = "{";
  for (std::size_t rank = 0; rank < step.clock.size(); ++rank) {
    if (step.clock[rank] != 0) {
      text +=
          (text.size() == 1 ? "\"" : ",\"") + host(rank) + "\":" + std::to_string(step.clock[rank]);
    }
  }
  return text + "}";
}

std::string received(const IndexedTrace& trace, EventRef ref) {
  const RankHistory& history = trace.execution().ranks[static_cast<std::size_t>(ref.rank)];
  const RankIndex& index = trace.index[static_cast<std::size_t>(ref.rank)];
  std::string text;
  index.completions.each(ref.serial, [&](std::uint32_t i) {
    const PostedReceive& receive = history.receives[i];
    text +=
        receive.state == ReceiveState::Cancelled
            ? " <- cancelled"
            : " <- rank " + std::to_string(receive.source) + " tag " + std::to_string(receive.tag);
  });
  index.probes.each(ref.serial, [&](std::uint32_t i) {
    text += " sees rank " + std::to_string(history.probes[i].source) + " tag " +
            std::to_string(history.probes[i].tag);
  });
  return text;
}

std::string eventLine(const IndexedTrace& trace, const ClockStep& step) {
  std::string text =
      std::to_string(step.event.serial) + " " + eventText(trace.execution(), step.event);
  if (step.part == ClockStep::Part::Send) {
    text += ", sends";
  } else {
    text += received(trace, step.event);
    text += trace.races(step.event) ? " (racing)" : "";
  }
  for (char& letter : text) {
    letter = static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
  }
  return text;
}

}  // namespace

Status exportShiviz(const IndexedTrace& trace, photofinish::Output& out) {
  out.write("(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\n\n");
  visitClocks(trace.execution(), [&](const ClockStep& step) {
    out.write(host(static_cast<std::size_t>(step.event.rank)) + " " + clockText(step) + "\n" +
              eventLine(trace, step) + "\n");
  });
  return {};
}

}  // namespace pf::app
