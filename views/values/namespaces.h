// SPDX-License-Identifier: GPL-3.0-or-later
// The names of pf::values are names of pf::views, too.
#pragma once

namespace pf::values {}  // namespace pf::values

namespace pf::views {
using namespace values;  // NOLINT(google-build-using-namespace)
}  // namespace pf::views
