// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/transcript.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "replay_engine/base/unique_fd.h"

namespace pf::mi {

TranscriptFile::TranscriptFile(std::FILE* file)
    : m_file(file), m_began(std::chrono::steady_clock::now()) {}

Result<std::shared_ptr<TranscriptFile>> TranscriptFile::create(const std::string& path,
                                                               const std::string& title) {
  // It has the program's memory in it: nobody else reads it, whatever the umask. A file that is
  // there may be open elsewhere, and a link may have been laid by somebody else: neither is used.
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  std::FILE* file = fd.valid() && ::fchmod(fd.get(), 0600) == 0 ? ::fdopen(fd.get(), "w") : nullptr;
  if (file == nullptr) {
    return Error{ErrorCode::System,
                 "cannot write the GDB transcript " + path + ": " + std::strerror(errno),
                 "choose another directory"};
  }
  static_cast<void>(fd.release());
  std::shared_ptr<TranscriptFile> made(new TranscriptFile(file));
  (void)std::setvbuf(file, nullptr, _IOLBF, std::size_t{1} << 16U);
  std::fprintf(file, "# photofinish GDB/MI transcript 1: %s\n", title.c_str());
  return made;
}

void TranscriptFile::write(TranscriptSide side, std::string_view line) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - m_began);
  const std::string head =
      std::string(1, static_cast<char>(side)) + ' ' + std::to_string(since.count()) + ' ';
  (void)std::fwrite(head.data(), 1, head.size(), m_file.get());
  (void)std::fwrite(line.data(), 1, line.size(), m_file.get());
  (void)std::fputc('\n', m_file.get());
}

Result<std::vector<TranscriptLine>> parseTranscript(std::string_view text) {
  std::vector<TranscriptLine> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') {
      continue;
    }
    long long time = 0;
    const char* last = line.data() + line.size();
    const auto [rest, error] =
        line.size() > 2 ? std::from_chars(line.data() + 2, last, time)
                        : std::from_chars_result{line.data(), std::errc::invalid_argument};
    const bool known = std::string_view("!><*").find(line.front()) != std::string_view::npos;
    if (!known || error != std::errc() || line[1] != ' ' || rest == last || *rest != ' ') {
      return Error{ErrorCode::Usage,
                   "line " + std::to_string(number) +
                       " is no line of a transcript: " + std::string(line.substr(0, 60)),
                   {}};
    }
    lines.push_back({static_cast<TranscriptSide>(line.front()), std::chrono::milliseconds(time),
                     std::string(rest + 1, last)});
  }
  return lines;
}

}  // namespace pf::mi
