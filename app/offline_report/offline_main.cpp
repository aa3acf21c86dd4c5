// SPDX-License-Identifier: GPL-3.0-or-later
// From the trace to the written report.
#include <cstdio>

#include <QCoreApplication>

#include "app/files/private_file.h"
#include "app/front_end/signals.h"
#include "app/offline_report/offline_facts.h"
#include "app/offline_report/offline_run.h"
#include "app/session/part_of_trace.h"
#include "replay_engine/base/shown_text.h"

namespace pf::headless {
namespace {

int failed(const Error& error) {
  tell(error.text());
  return exitStatus(error.code);
}

Status write(const OfflineReport& report, const std::string& path) {
  const bool plain = path.ends_with(".txt");
  const std::string text = plain ? shown(toPlainText(report)) : toHtml(report);
  // Bytes of the program that are no UTF-8 become replacement characters.
  return app::writePrivateFile(path, QString::fromStdString(text).toUtf8().toStdString(),
                               "Give another name with -o.");
}

}  // namespace

int runOffline(const OfflineOptions& options) {
  Result<session::LoadedTrace> loaded = session::loadPartToReplay(
      QString::fromStdString(options.trace), options.trusted, options.part);
  if (!loaded) {
    return failed(loaded.error());
  }
  const int status =
      options.exitStatus.value_or(loaded->run.exitStatus.value_or(loaded->run.complete ? 0 : 1));
  OfflineReport report = factsOf(options.trace, *loaded);
  {
    OfflineRun run(options, std::move(*loaded), report);
    if (const Status part = run.debugOnlyPart(); !part) {
      return failed(part.error());
    }
    EndSignals signals;
    QObject::connect(&signals, &EndSignals::received, &run, &OfflineRun::stop);
    QObject::connect(&signals, &EndSignals::asked, &run, [&run] { run.snapshot("SIGUSR1"); });
    QObject::connect(&run, &OfflineRun::finished, qApp, &QCoreApplication::quit,
                     Qt::QueuedConnection);
    QMetaObject::invokeMethod(&run, &OfflineRun::start, Qt::QueuedConnection);
    QCoreApplication::exec();
  }
  if (Status written = write(report, options.output); !written) {
    return failed(written.error());
  }
  tell(report.failure);
  tell("report in " + options.output);
  return status;
}

}  // namespace pf::headless
