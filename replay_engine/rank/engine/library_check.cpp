// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/library_check.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "replay_engine/base/mpi_version.h"
#include "replay_engine/protocol/rank_page.h"
#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/mpi_header.h"
#include "replay_engine/rank/engine/rank_link.h"
#include "replay_engine/rank/engine/real_calls.h"

namespace pf {
namespace {

// For the agent and for people, who look at the file (replay_engine/agent/recorders.h).
__attribute__((section(".photofinish"), used)) constexpr char kBuiltFor[] = PF_BUILT_FOR;
static_assert(mpiVersionOf(kBuiltFor).kind == kKind, "mpi.h says a version that is not known");

constexpr std::size_t kTextSize = 1200;

struct FoundLibraries {
  const void* bases[2] = {};
  char files[2][300] = {};
  int count = 0;
};

void add(FoundLibraries& found, const void* base, const char* file) {
  for (int i = 0; i < found.count; ++i) {
    if (found.bases[i] == base) {
      return;
    }
  }
  if (found.count < 2) {
    found.bases[found.count] = base;
    std::snprintf(found.files[found.count], sizeof found.files[0], "%s", file);
    ++found.count;
  }
}

/// Begins of names: Open MPI's component that talks to PMIx, whose thread calls back.
constexpr const char* kStaysLoaded[] = {"mca_pmix_"};

/// Calls `use(map)` for all that is loaded, in the loader's list: also what was loaded for one user alone.
template <typename Use>
void forEachLoaded(Use use) {
  void* const program = dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD);
  const link_map* at = nullptr;
  if (program == nullptr || dlinfo(program, RTLD_DI_LINKMAP, &at) != 0) {
    return;
  }
  for (; at != nullptr; at = at->l_next) {
    if (at->l_name != nullptr && at->l_name[0] != '\0') {
      use(*at);
    }
  }
}

/// What defines PMPI_Init is an MPI library: the tools that stand in for MPI_Init do not. Those that
/// were loaded for one user alone (Python's import) are in the loader's list as well.
FoundLibraries loadedLibraries() {
  FoundLibraries found;
  Dl_info own{};
  dladdr(reinterpret_cast<const void*>(&whyOtherLibrary), &own);
  forEachLoaded([&](const link_map& at) {
    void* const handle = dlopen(at.l_name, RTLD_LAZY | RTLD_NOLOAD);
    void* const routine = handle != nullptr ? dlsym(handle, "PMPI_Init") : nullptr;
    Dl_info where{};
    if (routine != nullptr && dladdr(routine, &where) != 0 && where.dli_fbase != own.dli_fbase) {
      add(found, where.dli_fbase, where.dli_fname);
    }
    if (handle != nullptr) {
      dlclose(handle);
    }
  });
  return found;
}

/// Of the binary interface of the standard that the library in `file` says it has; -1: it has none. MPICH 5 and Open MPI 6 say
/// so of their own.
MpiVersion versionOfAbi(const char* file) {
  using Ask = int (*)(int*, int*);
  MpiVersion version{MpiKind::Standard, -1, -1};
  void* const library = *file != '\0' ? dlopen(file, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (library != nullptr) {
    if (void* const ask = dlsym(library, "PMPI_Abi_get_version"); ask != nullptr) {
      reinterpret_cast<Ask>(ask)(&version.major, &version.minor);
    }
    dlclose(library);
  }
  return version;
}

/// Up to the comma of "Open MPI v4.1.4, package: …", or the end of the line.
void firstWords(char* text) {
  text[std::strcspn(text, ",\n")] = '\0';
  for (char* c = text; *c != '\0'; ++c) {
    *c = *c == '\t' ? ' ' : *c;
  }
}

/// Of whatever library answers, which may not be the one that this is built for: MPICH's has the most, 8,192.
constexpr std::size_t kLongestVersion = 16384;

}  // namespace

MpiKind g_implementation = MpiKind::Other;

namespace {

MpiVersion g_loadedAbi;  ///< of the loaded library; Other: it has none

}  // namespace

void putLibrary(char* to, std::size_t size, const char* said) {
  putLibrary(to, size, said, g_loadedAbi);
}

void putLibrary(char* to, std::size_t size, const char* said, MpiVersion abi) {
  char end[48] = "";
  if (abi.kind == MpiKind::Standard) {
    std::snprintf(end, sizeof end, "%s%d.%d", kAbiMark.data(), abi.major, abi.minor);
  }
  const std::size_t line = std::strcspn(said, "\n");
  const std::size_t room = size - 1 - std::strlen(end);
  std::snprintf(to, size, "%.*s%s", static_cast<int>(line < room ? line : room), said, end);
  for (char* c = to; *c != '\0'; ++c) {  // "MPICH Version:\t4.0.2"
    *c = *c == '\t' ? ' ' : *c;
  }
}

void keepLoaded() {
  forEachLoaded([](const link_map& at) {
    const char* const slash = std::strrchr(at.l_name, '/');
    if (beginsWithOne(slash != nullptr ? slash + 1 : at.l_name, kStaysLoaded)) {
      (void)dlopen(at.l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
  });
}

const char* loadedMpiFile() {
  static FoundLibraries found;
  found = loadedLibraries();
  return found.count > 0 ? found.files[0] : "not there";
}

void endForOtherLibrary(const char* why) {
  char path[sizeof(RankPage::logPath)] = {};
  const char* const page = std::getenv(kRankPageVariable);
  std::snprintf(path, sizeof path, "%s", page != nullptr ? page : "");
  errno = 0;
  int mark = -1;
  if (char* const name = std::strrchr(path, '/'); name != nullptr) {
    const auto left = sizeof path - static_cast<std::size_t>(name + 1 - path);
    std::snprintf(name + 1, left, "%s", kRefusedMark);
    mark = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  }
  if (mark >= 0 || errno != EEXIST) {
    g_engine.page = nullptr;  // it is no rank yet
    sayOfRank(why);
  }
  ::_exit(1);
}

const char* whyOtherLibrary() {
  static char why[kTextSize];
  const FoundLibraries found = loadedLibraries();
  if (found.count > 1) {
    std::snprintf(why, sizeof why,
                  "the program has loaded two MPI libraries, %s and %s: link it, and all libraries "
                  "that it needs, with one of them",
                  found.files[0], found.files[1]);
    return why;
  }
  static char text[kLongestVersion] = {};
  int length = 0;
  int version = 0;
  int subversion = 0;
  PF_REAL(Get_library_version)(text, &length);
  PF_REAL(Get_version)(&version, &subversion);
  text[sizeof text - 1] = '\0';
  MpiVersion loaded = mpiVersionOf(text);
  const MpiVersion built = mpiVersionOf(kBuiltFor);
  g_implementation = loaded.kind;
  // Whatever its file is called.
  const MpiVersion standard = versionOfAbi(found.files[0]);
  g_loadedAbi = standard.major >= 0 ? standard : MpiVersion{};
  if (hasStandardAbi(found.files[0]) || standard.major >= 0) {
    loaded = standard;
  }
  const bool newer =
      version > MPI_VERSION || (version == MPI_VERSION && subversion > MPI_SUBVERSION);
  if (loaded.kind == built.kind && loaded.major == built.major && !newer) {
    return nullptr;
  }
  firstWords(text);
  std::snprintf(
      why, sizeof why,
      "the program has loaded %.200s (MPI %d.%d, %.400s), and the recorder is for %s (MPI %d.%d): "
      "build the program with that library, or photofinish with the program's, if that is "
      "Open MPI or MPICH or has the standard's binary interface",
      text, version, subversion, found.files[0], kBuiltFor, MPI_VERSION, MPI_SUBVERSION);
  return why;
}

}  // namespace pf
