// SPDX-License-Identifier: GPL-3.0-or-later
// "Plugins …": what was loaded, what was refused and why, and where plugins are looked for.
#pragma once

#include <QDialog>

#include "plugins/host/registry.h"

class QTreeWidget;

namespace pf::gui {

class PluginsDialog : public QDialog {
  Q_OBJECT
 public:
  PluginsDialog(const plugins::Registry& registry, QWidget* parent);
  /// A row for each plugin, below it what it gives; then a row for each that was refused.
  [[nodiscard]] QTreeWidget* list() const { return m_list; }

 private:
  void addPlugin(const plugins::Plugin& plugin);
  void addRefused(const plugins::Refused& refused);

  QTreeWidget* m_list;
};

}  // namespace pf::gui
