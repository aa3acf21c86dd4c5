// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/plugins_dialog.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "app/gui/panes/pane_trials.h"
#include "app/plugins/known_plugins.h"
#include "plugins/host/loading.h"
#include "views/values/text.h"

namespace pf::gui {
namespace {

/// Texts of others.
QString plain(const std::string& text) {
  return values::visibleText(QString::fromStdString(text));
}

}  // namespace

PluginsDialog::PluginsDialog(const plugins::Registry& registry, QWidget* parent)
    : QDialog(parent), m_list(new QTreeWidget) {
  setObjectName(QStringLiteral("pluginsDialog"));
  setWindowTitle(tr("Plugins"));
  resize(900, 560);
  m_list->setHeaderLabels({tr("Plugin"), tr("Version"), tr("What it is, or why it was refused")});
  m_list->setWordWrap(true);
  m_list->setTextElideMode(Qt::ElideNone);
  m_list->header()->setStretchLastSection(true);
  m_list->setColumnWidth(0, 190);
  m_list->setColumnWidth(1, 70);
  for (const auto& plugin : registry.plugins()) {
    addPlugin(*plugin);
  }
  for (const plugins::Refused& refused : registry.refused()) {
    addRefused(refused);
  }
  QString folders = tr("Looked for in:");
  for (const plugins::Folder& folder : plugins::searchPath(app::installedPlugins())) {
    folders += QLatin1Char('\n') + plain(folder.path);
  }
  auto* where = new QLabel(folders);
  where->setTextFormat(Qt::PlainText);
  where->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::accept);
  auto* again = buttons->addButton(tr("Try all again"), QDialogButtonBox::ActionRole);
  again->setToolTip(tr("The next window tries also panes with which a window ended"));
  connect(again, &QPushButton::clicked, this, [again] {
    PaneTrials::forget();
    again->setText(tr("Open another window"));
    again->setEnabled(false);
  });
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(m_list, 1);
  layout->addWidget(where);
  layout->addWidget(buttons);
}

void PluginsDialog::addPlugin(const plugins::Plugin& plugin) {
  const QString from = plugin.path.empty() ? tr("bundled") : plain(plugin.path);
  auto* const row =
      new QTreeWidgetItem(m_list, {plain(plugin.name), plain(plugin.version),
                                   plugin.about.empty() ? from : plain(plugin.about)});
  if (!plugin.about.empty()) {
    new QTreeWidgetItem(row, {QString(), QString(), from});
  }
  for (const plugins::Part& part : plugin.parts) {
    new QTreeWidgetItem(row,
                        {QString::fromLatin1(nameOf(part.kind)) + QLatin1Char(' ') + plain(part.id),
                         {},
                         plain(part.title)});
  }
  row->setExpanded(!plugin.path.empty());
}

/// The file by its name, so that the reason has room; its advice and the whole path below.
void PluginsDialog::addRefused(const plugins::Refused& refused) {
  const QString path = plain(refused.path);
  const QString name = path.section(QLatin1Char('/'), -1);
  auto* const row = new QTreeWidgetItem(
      m_list, {name.isEmpty() ? path : name, tr("refused"),
               path.isEmpty() ? plain(refused.why.message)
                              : plain(refused.why.message).replace(path, name)});
  QFont bold = font();
  bold.setBold(true);
  row->setFont(0, bold);
  row->setFont(1, bold);
  for (const QString& line : {plain(refused.why.advice), path}) {
    if (!line.isEmpty()) {
      new QTreeWidgetItem(row, {QString(), QString(), line});
    }
  }
  row->setExpanded(true);
}

}  // namespace pf::gui

#include "moc_plugins_dialog.cpp"
