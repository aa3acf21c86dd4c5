// SPDX-License-Identifier: MIT
#include "replay_engine/rank/layer/under.h"

#include <cstring>

namespace pf {

void beginLayer() {
  (void)resolveAll();  // MPICH declares some that it does not have
  std::memcpy(g_under, g_real, sizeof g_under);
  g_layerHasBegun = true;
}

}  // namespace pf
