// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/script_main.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <vector>

#include <QCoreApplication>
#include <QSocketNotifier>

#include "app/front_end/signals.h"
#include "app/script/script_run.h"
#include "app/session/part_of_trace.h"
#include "replay_engine/base/shown_text.h"

namespace pf::headless {
namespace {

int failed(const Error& error) {
  tell(error.text());
  return exitStatus(error.code);
}

Result<std::vector<std::string>> linesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  std::string line;
  while (std::getline(file, line)) {
    lines.push_back(line);
  }
  if (file.bad() || (lines.empty() && !file.eof())) {
    return Error{ErrorCode::NotFound, "cannot read the script " + path, "Check the name."};
  }
  return lines;
}

/// All wrong lines are told.
Status check(const std::string& path, const std::vector<std::string>& lines) {
  std::string wrong;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (const auto parsed = parseScriptLine(lines[i]); !parsed) {
      wrong += (wrong.empty() ? "" : "\nphotofinish: ") + path + ":" + std::to_string(i + 1) +
               ": " + parsed.error().message + ". " + parsed.error().advice;
    }
  }
  return wrong.empty() ? Status() : Status(Error{ErrorCode::Usage, wrong, {}});
}

/// Standard input as lines of the script, as they come.
class Input {
 public:
  explicit Input(ScriptRun& run) : m_run(run), m_notifier(STDIN_FILENO, QSocketNotifier::Read) {
    QObject::connect(&m_notifier, &QSocketNotifier::activated, &m_notifier, [this] { read(); });
  }

 private:
  void read() {
    char bytes[4096];
    const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (got > 0) {
      m_rest.append(bytes, static_cast<std::size_t>(got));
    }
    for (std::size_t end = m_rest.find('\n'); end != std::string::npos; end = m_rest.find('\n')) {
      m_run.addLine(m_rest.substr(0, end));
      m_rest.erase(0, end + 1);
    }
    if (got <= 0) {
      m_notifier.setEnabled(false);
      if (!m_rest.empty()) {
        m_run.addLine(m_rest);
      }
      m_run.noMoreLines();
    }
  }

  ScriptRun& m_run;
  QSocketNotifier m_notifier;
  std::string m_rest;
};

}  // namespace

int checkScript(const std::string& script) {
  const auto lines = linesOf(script);
  if (!lines) {
    return failed(lines.error());
  }
  const Status right = check(script, *lines);
  return right ? 0 : failed(right.error());
}

int runScript(const ScriptOptions& options) {
  const std::string& script = options.script;
  const bool fromInput = script == "-";
  Result<std::vector<std::string>> lines = std::vector<std::string>();
  if (!fromInput) {
    lines = linesOf(script);
    if (!lines) {
      return failed(lines.error());
    }
    if (const Status right = check(script, *lines); !right) {
      return failed(right.error());
    }
  }
  const QString trace = QString::fromStdString(options.trace);
  Result<session::LoadedTrace> loaded =
      session::loadPartToReplay(trace, options.trusted, options.part);
  if (!loaded) {
    return failed(loaded.error());
  }
  const bool typed = fromInput && isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  ScriptRun run(trace, std::move(*loaded), fromInput ? "standard input" : script, typed);
  if (const Status part = run.debugOnly(options.part); !part) {
    return failed(part.error());
  }
  run.session().allowRebuilt(options.force);
  if (options.keepGoing) {
    run.keepGoing();
  }
  EndSignals signals;
  QObject::connect(&signals, &EndSignals::received, &run, &ScriptRun::stop);
  QObject::connect(&run, &ScriptRun::finished, qApp, &QCoreApplication::quit, Qt::QueuedConnection);
  std::optional<Input> input;
  if (fromInput) {
    input.emplace(run);
  } else {
    for (const std::string& line : *lines) {
      run.addLine(line);
    }
    run.noMoreLines();
  }
  run.start();
  QCoreApplication::exec();
  return run.exitStatus();
}

}  // namespace pf::headless
