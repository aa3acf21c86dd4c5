// SPDX-License-Identifier: GPL-3.0-or-later
// One message of every kind, with no field at its default.
#pragma once

#include <vector>

#include "replay_engine/protocol/messages.h"

namespace pf::protocol {

[[nodiscard]] std::vector<Message> sampleMessages();

}  // namespace pf::protocol
