// SPDX-License-Identifier: MIT
// A program that is linked against libmpi_abi and that a script or a shell has started: the agent saw the script only, which does not say
// for which MPI library it is, and preloaded the recorder for that of the launcher. The program begins once more, as the same process, with
// the recorder that it needs. Constructors of the libraries that it is linked with have run by then, and run once more.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "replay_engine/base/mpi_version.h"
#include "replay_engine/protocol/rank_page.h"
#include "replay_engine/rank/engine/mpi_header.h"

namespace pf {
namespace {

constexpr const char* kStandardsRecorder = "libphotofinish_mpi_abi.so";
constexpr const char* kPreload = "LD_PRELOAD=";
constexpr std::size_t kLongestPreload = 16384;

bool isLinkedWithStandardAbi() {
  const auto look = [](dl_phdr_info* info, std::size_t, void*) {
    return hasStandardAbi(info->dlpi_name) ? 1 : 0;
  };
  return dl_iterate_phdr(look, nullptr) != 0;
}

/// `entry`, LD_PRELOAD=…, with the recorder beside this one in its place. Null: it is not there.
char* withStandardsRecorder(const char* entry) {
  static char changed[kLongestPreload];
  Dl_info own{};
  dladdr(reinterpret_cast<const void*>(&isLinkedWithStandardAbi), &own);
  const char* const at = own.dli_fname != nullptr ? std::strstr(entry, own.dli_fname) : nullptr;
  const char* const slash = at != nullptr ? std::strrchr(own.dli_fname, '/') : nullptr;
  if (slash == nullptr) {
    return nullptr;
  }
  char recorder[PATH_MAX];
  const int length =
      std::snprintf(recorder, sizeof recorder, "%.*s/%s", static_cast<int>(slash - own.dli_fname),
                    own.dli_fname, kStandardsRecorder);
  if (length >= static_cast<int>(sizeof recorder) ||
      syscall(SYS_faccessat, AT_FDCWD, recorder, R_OK) != 0) {
    return nullptr;
  }
  const int size = std::snprintf(changed, sizeof changed, "%.*s%s%s", static_cast<int>(at - entry),
                                 entry, recorder, at + std::strlen(own.dli_fname));
  return size < static_cast<int>(sizeof changed) ? changed : nullptr;
}

/// First of our constructors: the others change what a program that begins would inherit. Where it cannot be done, MPI_Init refuses.
__attribute__((constructor(101))) void beginWithStandardsRecorder(int /*count*/, char** arguments,
                                                                  char** environment) {
  // Where the loader was started with the program as its argument, /proc/self/exe is the loader, and the arguments are not its own.
  const bool asArgument = getauxval(AT_BASE) == 0;
  if (kKind == MpiKind::Standard || std::getenv(kRankPageVariable) == nullptr || asArgument ||
      !isLinkedWithStandardAbi()) {
    return;
  }
  std::size_t count = 0;
  char** preload = nullptr;
  for (; environment[count] != nullptr; ++count) {
    if (beginsWith(environment[count], kPreload)) {
      preload = &environment[count];
    }
  }
  if (preload != nullptr && std::strstr(*preload, "vgpreload_") != nullptr) {
    return;  // valgrind would not follow, and report nothing: MPI_Init refuses
  }
  char* const changed = preload != nullptr ? withStandardsRecorder(*preload) : nullptr;
  char program[PATH_MAX];
  const auto size = syscall(SYS_readlink, "/proc/self/exe", program, sizeof program - 1);
  auto** const given = static_cast<char**>(std::malloc((count + 1) * sizeof *environment));
  if (changed == nullptr || size <= 0 || given == nullptr) {
    std::free(given);
    return;
  }
  program[size] = '\0';
  std::memcpy(given, environment, (count + 1) * sizeof *environment);
  given[preload - environment] = changed;
  syscall(SYS_execve, program, arguments, given);
  std::free(given);
}

}  // namespace
}  // namespace pf
