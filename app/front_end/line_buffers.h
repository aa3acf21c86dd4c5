// SPDX-License-Identifier: GPL-3.0-or-later
// Program output of many ranks, cut into whole lines, so that ranks do not write into each other's
// lines. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace pf::headless {

class LineBuffers {
 public:
  /// Whole lines of this rank and stream, now that `bytes` have come; each with its "\n", without
  /// "\r".
  std::string feed(int rank, int stream, std::string_view bytes);
  /// What has no line end yet, ended by one, by (rank, stream).
  std::map<std::pair<int, int>, std::string> takeRest();

 private:
  std::map<std::pair<int, int>, std::string> m_rest;
};

/// `text` (whole lines) with `mark` before each.
std::string marked(const std::string& text, const std::string& mark);

}  // namespace pf::headless
