// SPDX-License-Identifier: GPL-3.0-or-later
// What an ELF file says of itself, without its being run. The file is another's: what is not as the
// format says is as if it were not there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pf::agent {

struct ElfFacts {
  std::uint16_t machine = 0;  ///< EM_X86_64 …
  bool is64 = false;
  std::string interpreter;          ///< the loader that starts it; empty: static, or a library
  std::vector<std::string> needed;  ///< names of the libraries that it asks for itself (DT_NEEDED)
};

/// None: it cannot be read, or is no ELF file (a script).
[[nodiscard]] std::optional<ElfFacts> elfFacts(const std::string& path);

/// Whether the file itself defines the function `name`: for others that are loaded with it, or
/// (`inside`) for itself alone, where its table of symbols was not stripped.
[[nodiscard]] bool definesFunction(const std::string& path, const char* name, bool inside = false);

/// The text that the object `name` of the file begins with, up to its first 0; empty: there is none.
[[nodiscard]] std::string textOfObject(const std::string& path, const char* name);

/// The text that the section `name` of the file begins with, up to its first 0.
[[nodiscard]] std::string textOfSection(const std::string& path, const char* name);

/// As people call it: "x86-64", "32-bit x86", "64-bit ARM", or "machine 8".
[[nodiscard]] std::string machineName(const ElfFacts& facts);

}  // namespace pf::agent
