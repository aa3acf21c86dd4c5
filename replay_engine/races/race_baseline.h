// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of a program's races: classes, named so that the names survive edits of the program, and what
// somebody has said of each. The same for the window, the trace, the command line and the text file that is kept with
// the source (NAME.races, docs/continuous-integration.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf {

enum class RaceVerdict : std::uint8_t {
  Unknown,  ///< seen, and nobody has judged it
  Benign,   ///< the order does not matter
  Bug       ///< it does, and that is to be mended
};
/// "unknown", "benign", "bug"
[[nodiscard]] const char* nameOf(RaceVerdict verdict);
/// Nothing: it is no such name.
[[nodiscard]] std::optional<RaceVerdict> verdictOf(std::string_view name);

/// What somebody has said of a class of races, or of an outcome.
struct Judged {
  RaceVerdict verdict = RaceVerdict::Unknown;
  std::string reason;  ///< one line; may be empty
  friend bool operator==(const Judged&, const Judged&) = default;
};

/// The name of a call's place: "MPI_Recv collect: MPI_Recv(&part, 1, ...);". `line`: the text of the source line.
/// `alike`: which of the lines of the function with that text it is, from 1.
[[nodiscard]] std::string placeName(const std::string& call, const std::string& function,
                                    std::string_view line, std::size_t alike);
/// The same of a call whose source line is not known. `where`: "line 88 of harvest.c".
[[nodiscard]] std::string placeNameWithoutLine(const std::string& call, const std::string& function,
                                               const std::string& where);
/// Whether placeNameWithoutLine() has made it, or a name in which it is: it does not survive edits.
[[nodiscard]] bool lacksLine(std::string_view name);
/// A source line as names have it: blanks at its ends are gone, and others are one; what is no printable UTF-8 is '?'.
/// Empty: there is none, or it is longer than kLongestLine.
[[nodiscard]] std::string lineText(std::string_view line);
inline constexpr std::size_t kLongestLine = 1000;  ///< bytes

/// The name of a class: the place of its receives, then those of the sends, sorted; a line each.
[[nodiscard]] std::string className(const std::string& receive, std::vector<std::string> sends);
/// Whether it is such a name, and survives edits.
[[nodiscard]] bool survivesEdits(std::string_view name);
/// The lines of such a name: never empty.
[[nodiscard]] std::vector<std::string> placesOf(std::string_view name);

/// A file of known classes and outcomes.
class RaceBaseline {
 public:
  /// What the file `name` holds. Damaged, with the number of the line: it is none; Version: a later one.
  static Result<RaceBaseline> parse(std::string_view text, const std::string& name);
  /// As the file holds it: sorted, the same for the same content.
  [[nodiscard]] std::string text() const;

  /// What is said of a class, whose name is className(). A run seldom shows all that could have raced, so what is said
  /// of a class with more sends holds for one with fewer at the same receive: of several the worst, a bug before what
  /// nobody has judged. Null: it is not known.
  [[nodiscard]] const Judged* ofClass(const std::string& name) const;
  /// Of an outcome: its kind ("exit 1", "deadlock"), and in further lines the places where it waited.
  [[nodiscard]] const Judged* ofOutcome(const std::string& name) const;
  [[nodiscard]] bool empty() const { return m_classes.empty() && m_outcomes.empty(); }
  void setClass(const std::string& name, const Judged& judged);
  void setOutcome(const std::string& name, const Judged& judged);
  void removeClass(const std::string& name) { m_classes.erase(name); }
  /// Adds classes, with what `verdicts` says of them, else as not judged; what was said of others stays. One that a larger class
  /// stands for is not added, nor one whose name does not survive edits. Returns how many are new.
  std::size_t add(std::vector<std::string> names, const RaceBaseline& verdicts);
  [[nodiscard]] std::vector<std::string> classes() const;   ///< names, ascending
  [[nodiscard]] std::vector<std::string> outcomes() const;  ///< likewise

 private:
  friend class BaselineReader;
  struct Entry {
    Judged judged;
    std::vector<std::string> comments;  ///< lines before it
    std::size_t line = 0;               ///< where it begins
  };
  using Entries = std::map<std::string, Entry>;

  Entries m_classes;
  Entries m_outcomes;
  std::vector<std::string> m_header;  ///< comments at the beginning; empty: the usual ones
  std::vector<std::string> m_footer;
};

}  // namespace pf
