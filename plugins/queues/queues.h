// SPDX-License-Identifier: MIT
// Bundled plugin: at a moment of the run, which receives are posted, which messages have come
// unexpected, and which rank waits for which.
#pragma once

#include "plugins/api/api.h"

namespace pf::plugins {

class QueuesPlugin : public ViewPlugin {
 public:
  [[nodiscard]] QString id() const override;
  [[nodiscard]] QString title() const override;
  [[nodiscard]] ViewWidget* createWidget(QWidget* parent) override;
};

}  // namespace pf::plugins
