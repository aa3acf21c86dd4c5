// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/window_plugins.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>

#include "app/export/export.h"
#include "app/job/job.h"
#include "app/plugins/known_plugins.h"
#include "plugins/call_sites/call_sites.h"
#include "plugins/comm_matrix/comm_matrix.h"
#include "plugins/host/loading.h"
#include "plugins/queues/queues.h"
#include "plugins/rank_timeline/rank_timeline.h"

namespace pf::gui {
namespace {

std::string textOf(const QJsonValue& value) {
  return value.toString().toStdString();
}

/// What `photofinish plugins --json` says. Nothing: it does not come.
QJsonObject tried(std::size_t files) {
  const auto patience = plugins::kPatience * (files + 1);
  QProcess process;
  process.setStandardErrorFile(QProcess::nullDevice());
  process.start(QString::fromStdString(app::programDirectory()) + QStringLiteral("/photofinish"),
                {QStringLiteral("plugins"), QStringLiteral("--json")}, QProcess::ReadOnly);
  if (!process.waitForFinished(static_cast<int>(patience.count()))) {
    process.kill();
    process.waitForFinished();
    return {};
  }
  return QJsonDocument::fromJson(process.readAllStandardOutput()).object();
}

void loadOthers(plugins::Registry& registry) {
  plugins::Registry refused;
  const auto files =
      plugins::pluginFiles(plugins::searchPath(app::installedPlugins()), refused).size();
  if (files == 0 && refused.refused().empty()) {
    return;
  }
  const QJsonObject said = tried(files);
  if (!said.contains(QStringLiteral("plugins"))) {
    registry.refuse(app::installedPlugins(),
                    {ErrorCode::System,
                     "plugins are not loaded: 'photofinish plugins' does not say "
                     "which of them are whole",
                     "Run it in a terminal to see why."});
    return;
  }
  for (const auto& each : said.value(QStringLiteral("plugins")).toArray()) {
    if (const std::string path = textOf(each[QStringLiteral("path")]); !path.empty()) {
      registry.addOrRefuse(plugins::load(path), path);
    }
  }
  for (const auto& each : said.value(QStringLiteral("refused")).toArray()) {
    registry.refuse(textOf(each[QStringLiteral("path")]),
                    {ErrorCode::Usage, textOf(each[QStringLiteral("why")]),
                     textOf(each[QStringLiteral("advice")])});
  }
}

}  // namespace

void loadWindowPlugins(plugins::Registry& registry) {
  for (const PhotofinishPlugin* const bundled :
       {plugins::queuesPlugin(), plugins::commMatrixPlugin(), plugins::callSitesPlugin(),
        plugins::rankTimelinePlugin(), app::bundledExporters()}) {
    registry.addOrRefuse(plugins::pluginOf(bundled, ""), bundled->name);
  }
  loadOthers(registry);
}

}  // namespace pf::gui
