// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish-headless: the front ends without a window. The command line becomes it:
//   photofinish-headless dap [PORT]
//   photofinish-headless mcp [--allow-console]
//   photofinish-headless offline TRACE REPORT [STATUS] [--break PLACE]… [--log TEXT]…
//     [--transcripts DIRECTORY] [--snapshot-every SECONDS] [--group N | --ranks RANK,…]
//   photofinish-headless script TRACE FILE [--group N | --ranks RANK,…] [--force]
//   photofinish-headless check-script FILE
// --trust behind the first word of the first four: the trace is taken over.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <QCoreApplication>

#include "app/dap/dap_listener.h"
#include "app/mcp/mcp_server.h"
#include "app/offline_report/offline_run.h"
#include "app/script/script_main.h"
#include "app/session/records/trusted_trace.h"
#include "app/session/targets/local_gdb.h"
#include "replay_engine/base/caught.h"

namespace {

/// True: the option `name` was it.
bool readPart(const QString& name, const QString& value, pf::app::PartOfJob& part) {
  if (name == QLatin1String("--group")) {
    part.group = value.toUInt();
    return true;
  }
  if (name == QLatin1String("--ranks")) {
    for (const QString& rank : value.split(QLatin1Char(','))) {
      part.ranks.push_back(rank.toInt());
    }
    return true;
  }
  return false;
}

int offline(const QStringList& words, bool trusted) {
  pf::headless::OfflineOptions options;
  options.trusted = trusted;
  options.trace = words.value(2).toStdString();
  options.output = words.value(3).toStdString();
  bool known = false;
  if (const int status = words.value(4).toInt(&known); known) {
    options.exitStatus = status;
  }
  for (qsizetype i = 5; i + 1 < words.size(); i += 2) {
    const std::string value = words[i + 1].toStdString();
    if (words[i] == QLatin1String("--transcripts")) {
      options.transcripts = value;
    } else if (words[i] == QLatin1String("--snapshot-every")) {
      options.snapshotEvery = std::atof(value.c_str());
    } else if (!readPart(words[i], words[i + 1], options.part)) {
      (words[i] == QLatin1String("--break") ? options.breaks : options.logs).push_back(value);
    }
  }
  return pf::headless::runOffline(options);
}

int script(const QStringList& words, bool trusted) {
  pf::headless::ScriptOptions options;
  options.trace = words.value(2).toStdString();
  options.script = words.value(3).toStdString();
  options.trusted = trusted;
  options.force = words.mid(4).contains(QLatin1String("--force"));
  options.keepGoing = words.mid(4).contains(QLatin1String("--keep-going"));
  readPart(words.value(4), words.value(5), options.part);
  return pf::headless::runScript(options);
}

/// What a slot throws ends the program with a line.
class Application : public QCoreApplication {
 public:
  using QCoreApplication::QCoreApplication;
  bool notify(QObject* receiver, QEvent* event) override {
    try {
      return QCoreApplication::notify(receiver, event);
    } catch (...) {
      pf::sayCaught("photofinish");
      exit(pf::exitStatus(pf::ErrorCode::Internal));
      return true;
    }
  }
};

int headlessMain(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  Application application(argc, argv);
  const pf::session::EndOfLocalGdbs endOfGdbs;
  QStringList words = QCoreApplication::arguments();
  const bool trusted = words.value(2) == QLatin1String("--trust");
  if (trusted) {
    words.removeAt(2);
    application.setProperty(pf::session::kTrusted, true);
  }
  if (words.value(1) == QLatin1String("dap")) {
    return pf::headless::serveDap({words.size() > 2 ? words[2].toInt() : -1});
  }
  if (words.value(1) == QLatin1String("mcp")) {
    return pf::headless::serveMcp({trusted, words.contains(QLatin1String("--allow-console"))});
  }
  if (words.value(1) == QLatin1String("offline") && words.size() > 3) {
    return offline(words, trusted);
  }
  if (words.value(1) == QLatin1String("script") && words.size() > 3) {
    return script(words, trusted);
  }
  if (words.value(1) == QLatin1String("check-script") && words.size() > 2) {
    return pf::headless::checkScript(words[2].toStdString());
  }
  std::fprintf(stderr,
               "photofinish: this is started by 'photofinish dap', 'photofinish mcp' and "
               "'photofinish debug'\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  return pf::lastCatch("photofinish", headlessMain, argc, argv);
}
