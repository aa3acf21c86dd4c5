// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/recording/repeated_input.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "app/recording/input_tee.h"

namespace pf::app {

Result<RepeatedInput> RepeatedInput::start() {
  RepeatedInput input;
  input.m_begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (input.m_begin < 0 && isatty(STDIN_FILENO) == 0) {
    input.m_kept.reset(memfd_create("photofinish-input", MFD_CLOEXEC));
    if (!input.m_kept.valid()) {
      return systemError("cannot keep the standard input", errno);
    }
  }
  return input;
}

Status RepeatedInput::rewind() {
  m_at = 0;
  if (m_begin >= 0 && lseek(STDIN_FILENO, m_begin, SEEK_SET) < 0) {
    return systemError("cannot read the standard input again", errno);
  }
  if (m_tooLong) {
    return Error{ErrorCode::Usage,
                 "the standard input is longer than " + std::to_string(kMostInput >> 20) +
                     " MiB and comes by a pipe: no second run can have it",
                 "Give it from a file: photofinish record --until-failure … < FILE."};
  }
  return {};
}

int RepeatedInput::source() const {
  return m_at < m_size ? m_kept.get() : STDIN_FILENO;
}

ssize_t RepeatedInput::read(char* bytes, std::size_t size) {
  if (m_at < m_size) {
    const ssize_t n = pread(m_kept.get(), bytes, size, m_at);
    m_at += n > 0 ? n : 0;
    return n;
  }
  const ssize_t n = ::read(STDIN_FILENO, bytes, size);
  if (n > 0 && m_kept.valid() && !m_tooLong) {
    keep(bytes, static_cast<std::size_t>(n));
  }
  return n;
}

void RepeatedInput::keep(const char* bytes, std::size_t size) {
  const bool fits = static_cast<std::uint64_t>(m_size) + size <= kMostInput;
  if (fits && pwrite(m_kept.get(), bytes, size, m_size) == static_cast<ssize_t>(size)) {
    m_size += static_cast<off_t>(size);
    m_at = m_size;
    return;
  }
  m_tooLong = true;
  m_size = m_at = 0;
  [[maybe_unused]] const int emptied = ftruncate(m_kept.get(), 0);
}

}  // namespace pf::app
