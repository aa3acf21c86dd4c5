// SPDX-License-Identifier: MIT
#include "replay_engine/base/caught.h"

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>

namespace pf {
namespace {

constexpr const char* kNoMemory = "memory ran out";
constexpr const char* kNoMemoryAdvice =
    "Close other programs, or raise the limit (ulimit -v), and try again; what is recorded is "
    "kept.";
constexpr const char* kUnexpected = "an error inside of Photofinish that nothing expected: ";
constexpr const char* kUnexpectedAdvice =
    "Please report it with the command that you gave; what is recorded is kept.";

/// What no catch can reach (before main, on a thread, where nothing may be thrown) ends with the
/// same line and status.
[[noreturn]] void atTerminate() {
  if (std::current_exception() != nullptr) {
    sayCaught("photofinish");
  } else {
    std::fprintf(stderr, "photofinish: %sno description\n  %s\n", kUnexpected, kUnexpectedAdvice);
  }
  ::_exit(exitStatus(ErrorCode::Internal));
}

struct SetTerminate {
  SetTerminate() { std::set_terminate(atTerminate); }
};
constexpr int kBeforeAllOthers = 101;
[[gnu::init_priority(kBeforeAllOthers)]] const SetTerminate g_setTerminate;

}  // namespace

Error caughtError() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::System, kNoMemory, kNoMemoryAdvice};
  } catch (const std::exception& error) {
    return Error{ErrorCode::Internal, std::string(kUnexpected) + error.what(), kUnexpectedAdvice};
  } catch (...) {
    return Error{ErrorCode::Internal, std::string(kUnexpected) + "no description",
                 kUnexpectedAdvice};
  }
}

void sayCaught(const char* who) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: %s\n  %s\n", who, kNoMemory, kNoMemoryAdvice);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s%s\n  %s\n", who, kUnexpected, error.what(), kUnexpectedAdvice);
  } catch (...) {
    std::fprintf(stderr, "%s: %sno description\n  %s\n", who, kUnexpected, kUnexpectedAdvice);
  }
}

int lastCatch(const char* who, int (*body)(int, char**), int argc, char** argv) {
  try {
    return body(argc, argv);
  } catch (...) {
    sayCaught(who);
    return exitStatus(ErrorCode::Internal);
  }
}

}  // namespace pf
