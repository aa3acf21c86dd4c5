// SPDX-License-Identifier: MIT
// A plugin as a shared object, for registry_test.
#include "plugins/api/api.h"

namespace {

class TestPlugin : public QObject, public pf::plugins::ViewPlugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID PF_VIEW_PLUGIN_IID)
  Q_INTERFACES(pf::plugins::ViewPlugin)

 public:
  [[nodiscard]] QString id() const override { return QStringLiteral("test_plugin"); }
  [[nodiscard]] QString title() const override { return QStringLiteral("Test"); }
  [[nodiscard]] pf::plugins::ViewWidget* createWidget(QWidget* /*parent*/) override {
    return nullptr;
  }
};

}  // namespace

#include "test_plugin.moc"
