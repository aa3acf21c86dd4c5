// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/tests/support/transcript_replay.h"

#include <algorithm>
#include <array>

namespace pf::mi::test {
namespace {

std::string digits(const std::string& line) {
  return line.substr(0, std::min(line.size(), line.find_first_not_of("0123456789")));
}

bool startsWith(const std::string& text, std::string_view begin) {
  return text.compare(0, begin.size(), begin) == 0;
}

/// "next, 0, 57, main.c", "next of thread 3 alone, 0, 57, main.c"
RunCommand runCommand(const std::string& text) {
  RunCommand command;
  const std::size_t level = text.find(", ");
  const std::size_t line = text.find(", ", level + 2);
  const std::size_t source = text.find(", ", line + 2);
  std::string what = text.substr(0, level);
  constexpr std::string_view kAlone = " alone";
  constexpr std::string_view kThread = " of thread ";
  if (what.size() > kAlone.size() && what.substr(what.size() - kAlone.size()) == kAlone) {
    command.onlyThread = true;
    what.resize(what.size() - kAlone.size());
  }
  if (const std::size_t thread = what.find(kThread); thread != std::string::npos) {
    command.thread = std::stoi(what.substr(thread + kThread.size()));
    what.resize(thread);
  }
  for (const RunKind kind : {RunKind::Continue, RunKind::Step, RunKind::Next, RunKind::Finish,
                             RunKind::StepInstruction, RunKind::NextInstruction, RunKind::RunTo}) {
    if (what == toString(kind)) {
      command.kind = kind;
    }
  }
  command.frameLevel = std::stoi(text.substr(level + 2));
  command.line = std::stoi(text.substr(line + 2));
  command.source = text.substr(source + 2);
  return command;
}

}  // namespace

TranscriptReplay::TranscriptReplay(std::vector<TranscriptLine> lines)
    : m_lines(std::move(lines)), m_transport(&m_raw), m_session(m_transport, m_observer) {
  m_session.setTranscript([this](TranscriptSide side, std::string_view line) {
    if (side == TranscriptSide::Told) {
      m_told.emplace_back(line);
    } else if (side == TranscriptSide::ToGdb) {
      m_sent.emplace_back(line);
    }
  });
}

void TranscriptReplay::run() {
  int now = 0;
  m_session.tick(at(0));
  while (m_next < m_lines.size()) {
    const TranscriptLine line = m_lines[m_next++];
    for (; now < static_cast<int>(line.time.count());
         now = std::min(now + 100, static_cast<int>(line.time.count()))) {
      m_session.tick(at(now));
    }
    switch (line.side) {
      case TranscriptSide::Asked:
        ask(line.text);
        break;
      case TranscriptSide::ToGdb:
        toGdb(line.text);
        break;
      case TranscriptSide::FromGdb:
        fromGdb(line.text);
        break;
      case TranscriptSide::Told:
        m_expected.push_back(line.text);
        break;
    }
  }
}

void TranscriptReplay::ask(const std::string& what) {
  const Done nobody = [](const Status&) {};
  if (what == "start") {
    m_session.start(nobody);
  } else if (startsWith(what, "attach ")) {
    m_session.attach(std::stoi(what.substr(7)), nobody);
  } else if (startsWith(what, "core \"")) {
    const std::size_t middle = what.find("\" \"");
    m_session.openCore(what.substr(6, middle - 6),
                       what.substr(middle + 3, what.size() - middle - 4), nobody);
  } else if (what == "detach") {
    m_session.detach(nobody);
  } else if (startsWith(what, "run ")) {
    m_session.run(runCommand(what.substr(4)), nobody);
  } else if (what == "pause") {
    m_session.pause(nobody);
  } else if (startsWith(what, "console ")) {
    m_session.console(what.substr(8), nobody);
  } else if (startsWith(what, "closed ")) {
    m_session.closed(what.substr(7));
  } else if (what == "while paused") {
    // What was done meanwhile is in the transcript, before the program was let go on.
    m_session.whilePaused([this] {
      for (std::size_t i = m_next; i < m_lines.size(); ++i) {
        const std::string& text = m_lines[i].text;
        if (m_lines[i].side != TranscriptSide::ToGdb) {
          continue;
        }
        const std::string command = text.substr(digits(text).size());
        if (startsWith(command, "-exec-") || startsWith(command, "-target-")) {
          return;
        }
        push(command);
      }
    });
  } else {
    m_missing.push_back("unknown: " + what);
  }
}

void TranscriptReplay::push(const std::string& text) {
  static constexpr std::array<std::string_view, 6> kRefreshes{
      "-stack-", "-data-", "-var-create", "-var-list", "-var-update", "-thread-info"};
  const bool refresh =
      std::any_of(kRefreshes.begin(), kRefreshes.end(),
                  [&text](std::string_view begin) { return startsWith(text, begin); });
  m_session.queue().push({text, refresh ? CommandFlag::Discardable : CommandFlag::None, {}});
}

bool TranscriptReplay::matched(const std::string& token, const std::string& text) {
  const auto found = std::find_if(m_sent.begin(), m_sent.end(), [&text](const std::string& sent) {
    return sent.substr(digits(sent).size()) == text;
  });
  if (found == m_sent.end()) {
    return false;
  }
  m_token[token] = digits(*found);
  m_sent.erase(found);
  return true;
}

void TranscriptReplay::toGdb(const std::string& line) {
  const std::string token = digits(line);
  const std::string text = line.substr(token.size());
  if (matched(token, text)) {
    return;
  }
  if (startsWith(text, "-exec-") || startsWith(text, "-target-") || text == "end") {
    m_missing.push_back(text);  // nobody but the session gives these
    return;
  }
  push(text);
  (void)matched(token, text);
}

void TranscriptReplay::fromGdb(const std::string& line) {
  const std::string token = digits(line);
  const auto ours = m_token.find(token);
  const bool reply = token.size() < line.size() && line[token.size()] == '^';
  m_session.feed((reply && ours != m_token.end() ? ours->second : token) +
                 line.substr(token.size()) + "\n");
}

}  // namespace pf::mi::test
