// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/files/text_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "replay_engine/base/shown_text.h"

namespace pf::app {
namespace {

constexpr std::size_t kBuffer = 256U << 10;

Error cannotWrite(const std::string& name, int error) {
  Error failure = systemError("cannot write " + name, error);
  failure.advice = error == ENOSPC || error == EDQUOT || error == EFBIG
                       ? "Make room, or give another place with -o."
                       : "Give another place with -o.";
  return failure;
}

}  // namespace

Status mayBeMade(const std::string& path) {
  struct stat there = {};
  if (stat(path.c_str(), &there) != 0) {
    return {};
  }
  if (S_ISREG(there.st_mode) || S_ISDIR(there.st_mode)) {
    return Error{ErrorCode::Usage, path + " is there already",
                 "Remove it, or give another name with -o."};
  }
  return {};
}

Result<TextOutput> TextOutput::open(const std::string& path) {
  TextOutput output;
  if (path.empty()) {
    output.m_name = "standard output";
    output.m_file = UniqueFd(dup(STDOUT_FILENO));
  } else {
    if (Status status = mayBeMade(path); !status) {
      return status.error();
    }
    output.m_name = path;
    output.m_file = UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (output.m_file.get() >= 0) {
      output.m_made = path;
    } else if (errno == EEXIST) {
      output.m_file = UniqueFd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    }
  }
  if (output.m_file.get() < 0) {
    return cannotWrite(output.m_name, errno);
  }
  output.m_terminal = isatty(output.m_file.get()) == 1;
  return output;
}

TextOutput::~TextOutput() {
  if (!m_made.empty()) {
    unlink(m_made.c_str());
  }
}

void TextOutput::write(std::string_view text) {
  if (m_terminal) {
    m_buffer += shown(text);
  } else {
    m_buffer += text;
  }
  if (m_buffer.size() >= kBuffer) {
    flush();
  }
}

void TextOutput::flush() {
  std::string_view left = m_buffer;
  while (!left.empty() && m_failure == 0) {
    const ssize_t written = ::write(m_file.get(), left.data(), left.size());
    if (written < 0) {
      m_failure = errno == EINTR ? 0 : errno;
    } else {
      left.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  m_buffer.clear();
}

Status TextOutput::finish() {
  flush();
  if (const int file = m_file.release(); close(file) != 0 && m_failure == 0) {
    m_failure = errno;
  }
  if (m_failure != 0) {
    return cannotWrite(m_name, m_failure);
  }
  m_made.clear();
  return {};
}

}  // namespace pf::app
