// SPDX-License-Identifier: GPL-3.0-or-later
// A saved transcript against today's bridge: GDB's lines are fed again, what was asked of the
// session is asked again, and the session has to come to the same states and stops.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "mi_bridge/tests/support/fakes.h"
#include "mi_bridge/transcript.h"

namespace pf::mi::test {

class TranscriptReplay {
 public:
  explicit TranscriptReplay(std::vector<TranscriptLine> lines);

  void run();
  /// What the session told in the transcript, and tells now.
  [[nodiscard]] const std::vector<std::string>& expected() const { return m_expected; }
  [[nodiscard]] const std::vector<std::string>& told() const { return m_told; }
  /// Commands that only a session gives by itself, and that this one did not give.
  [[nodiscard]] const std::vector<std::string>& missing() const { return m_missing; }

 private:
  void ask(const std::string& what);
  void toGdb(const std::string& line);
  void fromGdb(const std::string& line);
  [[nodiscard]] bool matched(const std::string& token, const std::string& text);
  void push(const std::string& text);

  std::vector<TranscriptLine> m_lines;
  std::size_t m_next = 0;
  std::deque<std::string> m_sent;              ///< not yet found in the transcript
  std::map<std::string, std::string> m_token;  ///< the transcript's -> ours
  std::vector<std::string> m_expected;
  std::vector<std::string> m_told;
  std::vector<std::string> m_missing;
  std::vector<std::string> m_raw;
  FakeTransport m_transport;
  RecordingObserver m_observer;
  GdbSession m_session;
};

}  // namespace pf::mi::test
