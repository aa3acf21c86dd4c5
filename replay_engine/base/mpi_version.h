// SPDX-License-Identifier: MIT
// What an MPI library says of itself. Nothing is guessed: what is neither Open MPI nor MPICH by its
// own words, nor of the standard's binary interface by its name, is another library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace pf {

enum class MpiKind { OpenMpi, Mpich, Standard, Other };  ///< Standard: by its binary interface

struct MpiVersion {
  MpiKind kind = MpiKind::Other;
  int major = 0;  ///< 0: it does not say
  int minor = 0;

  friend bool operator==(const MpiVersion&, const MpiVersion&) = default;
};

/// As starts_with(), which GCC makes of substr(): that may throw, and a rank's library must have
/// nothing that does.
constexpr bool beginsWith(std::string_view text, std::string_view begin) {
  return text.size() >= begin.size() && std::equal(begin.begin(), begin.end(), text.begin());
}

/// Reads "4.1" off the start of `text`, into the two numbers of `version`. False: it has none.
constexpr bool readNumbers(std::string_view text, MpiVersion& version) {
  int* const numbers[] = {&version.major, &version.minor};
  std::size_t at = 0;
  for (int* const number : numbers) {
    const std::size_t begin = at;
    int value = 0;
    for (; at < text.size() && at < begin + 4 && text[at] >= '0' && text[at] <= '9'; ++at) {
      value = value * 10 + (text[at] - '0');
    }
    if (at == begin || (number == &version.major && (at == text.size() || text[at] != '.'))) {
      return false;
    }
    *number = value;
    ++at;
  }
  return true;
}

/// Of the text of MPI_Get_library_version (MPI 3.1, 8.1.1): "Open MPI v4.1.4, package: …", "MPICH
/// Version:\t4.0.2\n…". Those that are made of MPICH say another name (MVAPICH, Intel(R) MPI
/// Library, CRAY MPICH), and are another library here.
constexpr MpiVersion mpiVersionOf(std::string_view text) {
  constexpr std::string_view kOpenMpi = "Open MPI v";
  constexpr std::string_view kMpich = "MPICH Version:";
  constexpr std::string_view kStandard = "MPI ABI ";  // of a recorder
  MpiVersion version;
  if (beginsWith(text, kOpenMpi)) {
    text.remove_prefix(kOpenMpi.size());
    version.kind = readNumbers(text, version) ? MpiKind::OpenMpi : MpiKind::Other;
  } else if (beginsWith(text, kMpich)) {
    text.remove_prefix(kMpich.size());
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    version.kind = readNumbers(text, version) ? MpiKind::Mpich : MpiKind::Other;
  } else if (beginsWith(text, kStandard)) {
    text.remove_prefix(kStandard.size());
    version.kind = readNumbers(text, version) ? MpiKind::Standard : MpiKind::Other;
  }
  return version.kind == MpiKind::Other ? MpiVersion{} : version;
}

/// Behind what a library says of itself, where it says as well that it has the standard's binary interface: its version, as
/// "MPICH Version: 5.0.2, MPI ABI 1.0".
inline constexpr std::string_view kAbiMark = ", MPI ABI ";

/// Of such a text; Other: it does not say that.
constexpr MpiVersion abiVersionOf(std::string_view text) {
  const std::size_t at = text.rfind(kAbiMark);
  if (at == std::string_view::npos) {
    return {};
  }
  text.remove_prefix(at + std::string_view(", ").size());
  return mpiVersionOf(text);
}

/// The name of a file without its folders.
constexpr std::string_view fileNameOf(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return path;
}

/// Whether a library has the standard's binary interface (MPI 5.0, 20), by its name, or that of the file behind it
/// (libmpi_abi_mpich.so.1.0.0): its handles and constants are neither Open MPI's nor MPICH's, whichever of them it was made of.
constexpr bool hasStandardAbi(std::string_view path) {
  const std::string_view name = fileNameOf(path);
  return beginsWith(name, "libmpi_abi.so") ||
         (beginsWith(name, "libmpi_abi_") && name.find(".so") != std::string_view::npos);
}

/// The one of the two whose library is called so: libmpi.so.40, libmpich.so.12. Of libmpi.so.12,
/// which MPICH shares with others, and of any other name: Other.
constexpr MpiKind mpiKindOfName(std::string_view path) {
  const std::string_view name = fileNameOf(path);
  const auto is = [&](std::string_view known) {
    return name == known || (beginsWith(name, known) && name[known.size()] == '.');
  };
  return is("libmpi.so.40")     ? MpiKind::OpenMpi
         : is("libmpich.so.12") ? MpiKind::Mpich
                                : MpiKind::Other;
}

/// Where a recorder (libphotofinish_mpi.so …) says which MPI library's header it was built with: a
/// section of this name, with a text as "Open MPI v4.1.4" or "MPICH Version: 4.0.2".
inline constexpr const char* kBuiltForSection = ".photofinish";

}  // namespace pf
