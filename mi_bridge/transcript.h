// SPDX-License-Identifier: GPL-3.0-or-later
// What passes between one session and its GDB, as text that a person can read and a test can
// replay.
//
//   # photofinish GDB/MI transcript 1: rank 2
//   ! 0 start                        asked of the session
//   > 1 1000001-gdb-version          to GDB
//   < 80 1000001^done                from GDB
//   * 95 state stopped               what the session makes of it
//
// The number is milliseconds since the transcript began.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf::mi {

enum class TranscriptSide : char { Asked = '!', ToGdb = '>', FromGdb = '<', Told = '*' };

/// `line` has no newline.
using TranscriptSink = std::function<void(TranscriptSide side, std::string_view line)>;

/// A transcript in a file, line by line: what was written before a crash is there.
class TranscriptFile {
 public:
  /// Makes the file, for its user alone. `title` is its first line. Fails if there is something of
  /// that name, even a link that leads nowhere, or if it cannot be written.
  [[nodiscard]] static Result<std::shared_ptr<TranscriptFile>> create(const std::string& path,
                                                                      const std::string& title);
  /// Errors are passed over: debugging goes on with a full disk.
  void write(TranscriptSide side, std::string_view line);

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  explicit TranscriptFile(std::FILE* file);

  std::unique_ptr<std::FILE, Closer> m_file;
  std::chrono::steady_clock::time_point m_began;
};

struct TranscriptLine {
  TranscriptSide side = TranscriptSide::Asked;
  std::chrono::milliseconds time{0};
  std::string text;
};

/// Comments and empty lines are left out. The message of an error names the line.
[[nodiscard]] Result<std::vector<TranscriptLine>> parseTranscript(std::string_view text);

}  // namespace pf::mi
