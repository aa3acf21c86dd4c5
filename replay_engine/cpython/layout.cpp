// SPDX-License-Identifier: MIT
#include "replay_engine/cpython/layout.h"

#include <array>
#include <cstring>
#include <string_view>

namespace pf::cpython {
namespace {

/// What 3.11 to 3.13 have in common, and 3.11's own. From the headers of 3.11.2 and 3.11.7.
Layout layout311() {
  Layout out;
  out.minor = 11;
  out.interpretersHead = 40;
  out.interpreterNext = 0;
  out.threadsHead = 16;
  out.interpreterRuntime = 40;
  out.threadNext = 8;
  out.threadInterpreter = 16;
  out.threadId = 152;
  out.nativeThreadId = 160;
  out.hasCframe = true;
  out.cframe = 56;
  out.currentFrame = 8;
  out.frameCode = 32;
  out.framePrevious = 48;
  out.frameInstruction = 56;
  out.frameGlobals = 8;
  out.frameLocals = 24;
  out.frameOwner = 69;
  out.frameIsEntry = 68;
  out.localsplus = 72;
  out.codeFlags = 48;
  out.codeArguments = 56;
  out.codeKeywordArguments = 64;
  out.codeFirstLine = 72;
  out.codeLocalsCount = 76;
  out.codeNames = 96;
  out.codeFile = 112;
  out.codeQualifiedName = 128;
  out.codeLineTable = 136;
  out.codeFirstTraceable = 168;
  out.codeInstructions = 184;
  out.asciiSize = 48;
  out.compactSize = 72;
  out.dictValues = 0;
  return out;
}

/// From the headers of 3.12.1.
Layout layout312() {
  Layout out = layout311();
  out.minor = 12;
  out.threadsHead = 72;
  out.interpreterRuntime = 96;
  out.threadId = 136;
  out.nativeThreadId = 144;
  out.currentFrame = 0;
  out.frameCode = 0;
  out.framePrevious = 8;
  out.frameGlobals = 24;
  out.frameLocals = 40;
  out.frameOwner = 70;
  out.frameIsEntry = 0;
  out.codeArguments = 52;
  out.codeKeywordArguments = 60;
  out.codeFirstLine = 68;
  out.codeLocalsCount = 72;
  out.codeFirstTraceable = 176;
  out.codeInstructions = 192;
  out.asciiSize = 40;
  out.compactSize = 56;
  out.taggedSize = true;
  return out;
}

/// What _Py_DebugOffsets does not say, from the headers of 3.13.0.
Layout layout313() {
  Layout out = layout312();
  out.minor = 13;
  out.hasCframe = false;
  out.interpreterRuntime = 0;
  out.codeFirstTraceable = 184;
  out.dictValues = 8;
  return out;
}

/// _Py_DebugOffsets of 3.13, as numbers of 8 bytes behind its cookie.
enum DescribedNumber : std::size_t {
  Version = 1,
  FreeThreaded = 2,
  InterpretersHead = 5,
  InterpreterNext = 8,
  ThreadsHead = 9,
  ThreadNext = 21,
  ThreadInterpreter = 22,
  CurrentFrame = 23,
  ThreadId = 24,
  NativeThreadId = 25,
  FramePrevious = 29,
  FrameExecutable = 30,
  FrameInstruction = 31,
  FrameLocalsplus = 32,
  FrameOwner = 33,
  CodeFile = 35,
  CodeQualifiedName = 37,
  CodeLineTable = 38,
  CodeFirstLine = 39,
  CodeArguments = 40,
  CodeNames = 41,
  CodeInstructions = 43,
  DescribedCount = 44,
};

LayoutProblem describedLayout(Memory& memory, std::uint64_t runtime, Layout& out) {
  std::array<std::uint64_t, DescribedCount> told{};
  static constexpr std::string_view kCookie = "xdebugpy";
  if (!memory.read(runtime, told.data(), sizeof told) ||
      std::memcmp(told.data(), kCookie.data(), kCookie.size()) != 0 ||
      told[Version] >> 16U != 0x030DU) {
    return LayoutProblem::NotDescribed;
  }
  if (told[FreeThreaded] != 0) {
    return LayoutProblem::FreeThreaded;
  }
  constexpr std::uint64_t kLargest = 1U << 22U;
  for (std::size_t i = FreeThreaded + 1; i < told.size(); ++i) {
    if (told[i] > kLargest) {
      return LayoutProblem::Impossible;
    }
  }
  out = layout313();
  out.interpretersHead = told[InterpretersHead];
  out.interpreterNext = told[InterpreterNext];
  out.threadsHead = told[ThreadsHead];
  out.threadNext = told[ThreadNext];
  out.threadInterpreter = told[ThreadInterpreter];
  out.currentFrame = told[CurrentFrame];
  out.threadId = told[ThreadId];
  out.nativeThreadId = told[NativeThreadId];
  out.framePrevious = told[FramePrevious];
  out.frameCode = told[FrameExecutable];
  out.frameInstruction = told[FrameInstruction];
  out.localsplus = told[FrameLocalsplus];
  out.frameOwner = told[FrameOwner];
  out.codeFile = told[CodeFile];
  out.codeQualifiedName = told[CodeQualifiedName];
  out.codeLineTable = told[CodeLineTable];
  out.codeFirstLine = told[CodeFirstLine];
  out.codeArguments = told[CodeArguments];
  out.codeNames = told[CodeNames];
  out.codeInstructions = told[CodeInstructions];
  return LayoutProblem::None;
}

}  // namespace

LayoutProblem findLayout(Memory& memory, std::uint64_t runtime, std::uint64_t version,
                         Layout& layout) {
  if (version == 0) {
    return LayoutProblem::Old;
  }
  const auto major = version >> 24U & 0xFFU;
  const auto minor = version >> 16U & 0xFFU;
  if (version > 0xFFFFFFFFU || major != 3 || minor < 11 || minor > 13) {
    return LayoutProblem::Unknown;
  }
  if (minor == 13) {
    return describedLayout(memory, runtime, layout);
  }
  layout = minor == 11 ? layout311() : layout312();
  return LayoutProblem::None;
}

}  // namespace pf::cpython
