// SPDX-License-Identifier: GPL-3.0-or-later
// Breakpoints at lines of Python, and steps by them: what GDB writes into the rank for them, and the condition under which it
// stops in the rank's pf_python_line() (replay_engine/cpython/line_stops.h). Texts only: GdbBreakpoints sends them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/cpython/line_stops.h"

namespace pf::mi {

/// Where a rank stops for a line of Python.
inline constexpr const char* kPythonLineFunction = "pf_python_line";

[[nodiscard]] bool isPythonSource(std::string_view file);

struct PythonPlace {
  std::string file;
  int line = 0;
  std::string condition;  ///< an expression of Python
  bool enabled = true;

  bool operator==(const PythonPlace&) const = default;
};

/// What the rank says of itself.
struct PythonTeller {
  std::uint64_t address = 0;  ///< of pf_python
  bool ready = false;         ///< it listens
  std::uint32_t thread = 0;   ///< whose lines are told, as gettid() has it; 0: none's

  bool operator==(const PythonTeller&) const = default;
};

/// Memory at the symbol, in any of GDB's languages.
[[nodiscard]] std::string tellerQuestion();
/// What its answer has: where the memory begins, and its bytes. Damaged where they are too few.
[[nodiscard]] Result<PythonTeller> tellerOf(std::uint64_t begin, const std::string& bytes);

class PythonLines {
 public:
  /// The rank is another one: it has no place.
  void begin(std::uint64_t address);
  [[nodiscard]] std::uint64_t address() const { return m_address; }

  /// Keeps a place in the rank for the breakpoint. Usage where it does not fit in.
  [[nodiscard]] Result<std::size_t> take(const PythonPlace& place);
  void enable(std::size_t slot, bool enabled) { m_places.at(slot).place.enabled = enabled; }
  void release(std::size_t slot);

  /// Commands that have the rank do as all that is taken says, of which `slot` has been changed; in this order.
  [[nodiscard]] std::vector<std::string> commandsFor(std::size_t slot) const;
  /// Whatever is in the rank is wanted no more.
  [[nodiscard]] std::string clearCommand() const;
  /// The command that begins a step, which conditionOf(kStepBit) says the end of. `outer`: frames of Python above the one that
  /// is stepped. None: takes back one that was begun.
  [[nodiscard]] std::string stepCommand(cpython::LineStep step, int outer) const;
  /// GDB's condition of the breakpoint in kPythonLineFunction.
  [[nodiscard]] std::string conditionOf(std::size_t slot) const;

 private:
  struct Slot {
    bool taken = false;
    PythonPlace place;
  };
  [[nodiscard]] std::string write(std::size_t offset, const void* bytes, std::size_t size) const;

  std::uint64_t m_address = 0;
  std::array<Slot, cpython::kLinePlaces> m_places;
};

}  // namespace pf::mi
