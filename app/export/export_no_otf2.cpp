// SPDX-License-Identifier: GPL-3.0-or-later
// In the place of export_otf2.cpp where the OTF2 library was not there at build time.
#include "app/export/formats.h"

namespace pf::app {

Status otf2IsThere() {
  return Error{ErrorCode::Usage, "this build of Photofinish cannot write OTF2",
               "Install libotf2-trace-dev and build it again."};
}

Status exportOtf2(const IndexedTrace&, const std::string&) {
  return otf2IsThere();
}

}  // namespace pf::app
