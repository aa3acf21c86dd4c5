// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/values/dap_file_answers.h"

#include <QFile>
#include <QFileInfo>

#include "app/reports/report.h"

namespace pf::headless {
namespace {

constexpr qint64 kMostSource = qint64{8} << 20;
constexpr std::int64_t kEvents = 200;
constexpr std::int64_t kMostEvents = 1000;

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

void answerEvents(DapClient& client, const Request& request, const QString& trace,
                  const std::vector<std::size_t>& count) {
  const std::int64_t rank = number(request.arguments, "rank", -1);
  const std::int64_t first = number(request.arguments, "first", 1);
  const std::int64_t limit = number(request.arguments, "limit", kEvents);
  if (rank < 0 || static_cast<std::size_t>(rank) >= count.size()) {
    client.fail(request, "'rank' is none of the recording's",
                "It has ranks 0 to " + std::to_string(count.size() - 1) + ".");
    return;
  }
  if (first < 1 || limit < 1 || limit > kMostEvents) {
    client.fail(request, "'first' or 'limit' is out of bounds",
                "'first' counts from 1, 'limit' is up to " + std::to_string(kMostEvents) + ".");
    return;
  }
  std::string report;
  const Status status = app::eventsReport(
      trace.toStdString(),
      {static_cast<Rank>(rank), static_cast<Serial>(first), static_cast<std::uint64_t>(limit)},
      true, [&report](std::string_view text) { report += text; });
  if (!status) {
    client.fail(request, status.error().message, status.error().advice);
    return;
  }
  Json document = Json::parse(report, nullptr, false);
  document["count"] = count[static_cast<std::size_t>(rank)];
  client.succeed(request, std::move(document));
}

}  // namespace pf::headless
