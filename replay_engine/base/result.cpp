// SPDX-License-Identifier: MIT
#include "replay_engine/base/result.h"

#include <cstring>

namespace pf {

Error systemError(std::string what, int errnoValue) {
  return Error{ErrorCode::System, std::move(what) + ": " + std::strerror(errnoValue), {}};
}

}  // namespace pf
