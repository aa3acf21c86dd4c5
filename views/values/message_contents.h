// SPDX-License-Identifier: GPL-3.0-or-later
// What was in a message, put in words for a view. QtCore only.
#pragma once

#include <cstdint>

#include <QString>

namespace pf::values {

struct MessageContents {
  QString what;      ///< "message", "MPI_Bcast"
  QString from;      ///< "rank 2"; empty: of several
  QString tag;       ///< empty: it has none
  QString receiver;  ///< "rank 0, event 17"
  std::uint64_t bytes = 0;
  QString datatype;  ///< "3 float64, int32 (Particle)"; empty: not known
  QString values;    ///< lines; empty: none by the datatype
  QString hex;       ///< lines
  friend bool operator==(const MessageContents&, const MessageContents&) = default;
};

}  // namespace pf::values

namespace pf::views {
using values::MessageContents;
}  // namespace pf::views
