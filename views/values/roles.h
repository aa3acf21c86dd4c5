// SPDX-License-Identifier: MIT
// Roles that every model of ours answers; colours and fonts are the views' business. QtCore only.
#pragma once

#include <Qt>

#include "views/values/namespaces.h"

namespace pf::values {

enum Role {
  SortRole = Qt::UserRole + 1,  ///< a value that sorts right (number, not its text)
  ToneRole,                     ///< Tone, as int
  BoldRole,                     ///< bool
  MonospaceRole,                ///< bool
  KeyRole,                      ///< the row's own id (rank, breakpoint id, race index, path …)
};

/// What a cell wants to say; the view picks a colour and never uses colour alone.
enum class Tone { Normal, Muted, Race, Bad, Good, Changed, Active };

}  // namespace pf::values
