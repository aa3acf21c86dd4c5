// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/values/dap_file_answers.h"

#include <QFile>
#include <QFileInfo>

#include "app/reports/report.h"

namespace pf::headless {
namespace {

constexpr qint64 kMostSource = qint64{8} << 20;

}  // namespace

void answerSource(DapClient& client, const Request& request) {
  const QString path = client.format().sourcePath(request.arguments);
  const QFileInfo info(path);
  QFile file(path);
  if (path.isEmpty() || !info.isFile() || info.size() > kMostSource ||
      !file.open(QIODevice::ReadOnly)) {
    client.fail(request, "there is no source " + path.toStdString() + " that could be read");
    return;
  }
  client.succeed(request, {{"content", file.readAll().toStdString()}});
}

void answerRaces(DapClient& client, const Request& request, const QString& trace) {
  std::string report;
  const Status status =
      app::racesReport(trace.toStdString(), app::RacesForm::Json,
                       [&report](std::string_view text, app::TextStyle) { report += text; });
  if (!status) {
    client.fail(request, status.error().message, status.error().advice);
    return;
  }
  client.succeed(request, Json::parse(report, nullptr, false));
}

}  // namespace pf::headless
