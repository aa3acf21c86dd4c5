// SPDX-License-Identifier: GPL-3.0-or-later
// Which MPI library a program is for: each kind has its own interposer.
#pragma once

#include <optional>
#include <string>

namespace pf::agent {

enum class MpiLibrary { OpenMpi, Mpich };

/// The MPI library that the ELF file at `path` is linked against itself; none for scripts, for
/// programs that load MPI later (python3) or have it behind a library of their own.
[[nodiscard]] std::optional<MpiLibrary> linkedMpi(const std::string& path);

/// The same of the program `name` as a shell finds it; where it does not say, the library whose
/// launcher has started this process, by the launcher's variables.
[[nodiscard]] MpiLibrary mpiOf(const std::string& name);

}  // namespace pf::agent
