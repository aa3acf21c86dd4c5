// SPDX-License-Identifier: GPL-3.0-or-later
// What launcher and program print while they are recorded: the file beside the logs that keeps it, and what of it a person
// wants to see first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "db/schema/trace_types.h"

namespace pf::app {

/// The file: a header, then for each of the two streams its first kFirstPrinted bytes, and a ring of its last ones: byte number
/// n of the stream (from 0) lies at (n - kFirstPrinted) % kLastPrinted of it. In the byte order of the host.
inline constexpr const char* kPrintedFile = "printed";
inline constexpr std::size_t kFirstPrinted = std::size_t{16} << 10;
inline constexpr std::size_t kLastPrinted = std::size_t{112} << 10;
inline constexpr std::uint64_t kPrintedMagic = 0x3144'4554'4e49'5250;

struct PrintedHeader {
  std::uint64_t magic = kPrintedMagic;
  std::uint64_t total[2] = {0, 0};  ///< bytes that are in the file, or were
};

/// Where byte number n of a stream (0: standard output, 1: standard error) lies in the file.
[[nodiscard]] std::size_t placeOfPrinted(std::size_t stream, std::uint64_t number);

/// What the file of a directory of logs holds. Nothing where there is none, or it is not whole.
[[nodiscard]] std::vector<db::Printed> printedIn(const std::string& logDirectory);

/// A frame of a traceback that Python has printed.
struct TracedFrame {
  std::string file;  ///< as printed: what the program was started with, which may be relative
  int line = 0;
  std::string function;  ///< empty: what could not be compiled has none
  bool own = true;       ///< of none of Python's libraries
};
/// "a.py:12, in work".
[[nodiscard]] std::string frameText(const TracedFrame& frame);

/// A text each frame, in their order. Of a deep one the ends, with "… 30 frames" between.
[[nodiscard]] std::vector<std::string> frameTexts(const std::vector<TracedFrame>& traceback);

struct LastPrinted {
  /// As shown() has it (replay_engine/base/shown_text.h), cut where it is long; empty: there is none. What ends a traceback of
  /// Python is told with its place: "ValueError: 3 (raised at a.py:12, in work)".
  std::string line;
  std::vector<TracedFrame> traceback;  ///< that ends with it, innermost last, as Python prints it
};
/// The frame that is told: the program's own innermost one, if there is one. Null: there is no traceback.
[[nodiscard]] const TracedFrame* raisedIn(const std::vector<TracedFrame>& traceback);

/// The last line that the program has printed, to standard error if there is one: neither a blank one nor one of a launcher.
[[nodiscard]] LastPrinted lastPrinted(const std::vector<db::Printed>& printed);

}  // namespace pf::app
