// SPDX-License-Identifier: MIT
#include "replay_engine/rank/payload/payload_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "replay_engine/base/allocate_file.h"

namespace pf {
namespace {

constexpr std::size_t kGranule = std::size_t{64} << 10;  // windows begin at multiples of it
constexpr std::size_t kFirstWindow = std::size_t{256} << 10;
constexpr std::size_t kLargestWindow = std::size_t{1} << 20;

/// So that writing it takes no page fault each 4 KiB. An older kernel cannot, and takes them.
void makeWritable(void* window, std::size_t size) {
#if defined(MADV_POPULATE_WRITE)
  madvise(window, size, MADV_POPULATE_WRITE);
#else
  static_cast<void>(window);
  static_cast<void>(size);
#endif
}

/// Ranks that receive little from outside take little of the disk.
std::size_t windowSize(std::uint64_t used) {
  std::size_t size = kFirstWindow;
  while (size < kLargestWindow && size < used) {
    size *= 2;
  }
  return size;
}

}  // namespace

bool PayloadWriter::open(const char* path, std::uint64_t salt, std::int32_t rank,
                         std::int32_t size) {
  if (std::strlen(path) >= sizeof(m_path)) {
    errno = ENAMETOOLONG;
    return false;
  }
  std::strcpy(m_path, path);
  const int fd = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    return false;
  }
  const int error = allocateFile(fd, 0, kPayloadHeaderSize);
  void* mapped = error != 0
                     ? MAP_FAILED
                     : mmap(nullptr, kPayloadHeaderSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const int mapError = error != 0 ? error : errno;
  ::close(fd);
  if (mapped == MAP_FAILED) {
    errno = mapError;
    return false;
  }
  madvise(mapped, kPayloadHeaderSize, MADV_DONTFORK);
  m_header = static_cast<PayloadHeader*>(mapped);
  m_header->magic = kPayloadMagic;
  m_header->version = kPayloadVersion;
  m_header->salt = salt;
  m_header->rank = rank;
  m_header->size = size;
  m_header->headerCrc = payloadHeaderCrc(*m_header);
  m_header->committed.store(payloadCommit(salt, 0), std::memory_order_release);
  m_used = 0;
  m_keeps = true;
  return true;
}

/// The window that has the byte at `offset`. What it does not succeed in, it leaves as it was.
bool PayloadWriter::mapWindow(std::uint64_t offset) {
  const int fd = ::open(m_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) {
    return false;
  }
  const std::uint64_t place = kPayloadHeaderSize + offset;
  const std::uint64_t from = place & ~std::uint64_t{kGranule - 1};
  const std::size_t size = windowSize(offset);
  const int error = allocateFile(fd, from, size);
  void* mapped = error != 0 ? MAP_FAILED
                            : mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                                   static_cast<off_t>(from));
  const int mapError = error != 0 ? error : errno;
  ::close(fd);
  if (mapped == MAP_FAILED) {
    errno = mapError;
    return false;
  }
  madvise(mapped, size, MADV_DONTFORK);
  if (m_head != nullptr && m_headPages == nullptr) {
    keepHead();
  } else {
    unmapWindow();
  }
  makeWritable(mapped, size);  // by now the former one takes no memory any more
  m_window = static_cast<unsigned char*>(mapped);
  m_windowSize = size;
  m_windowAt = from;
  m_at = m_window + (place - from);
  m_limit = m_window + size - sizeof(PayloadEntry);
  return true;
}

void PayloadWriter::unmapWindow() {
  if (m_window != nullptr) {
    munmap(m_window, m_windowSize);
  }
  m_window = m_at = m_limit = nullptr;
}

void PayloadWriter::unmapHead() {
  if (m_headPages != nullptr) {
    munmap(m_headPages, m_headSize);
  }
  m_headPages = nullptr;
}

/// Of the window, the pages that the head of the open entry is in.
void PayloadWriter::keepHead() {
  const auto head = static_cast<std::size_t>(m_head - m_window);
  const std::size_t from = head & ~(kGranule - 1);
  const std::size_t end =
      std::min(m_windowSize, (head + sizeof(PayloadEntry) + kGranule - 1) & ~(kGranule - 1));
  if (from > 0) {
    munmap(m_window, from);
  }
  if (end < m_windowSize) {
    munmap(m_window + end, m_windowSize - end);
  }
  m_headPages = m_window + from;
  m_headSize = end - from;
  m_window = nullptr;
}

/// The next window, for more of the open entry.
bool PayloadWriter::goOn() {
  const std::uint64_t place = m_windowAt + static_cast<std::uint64_t>(m_at - m_window);
  return mapWindow(place - kPayloadHeaderSize);
}

void PayloadWriter::forgetEntry() {
  if (m_headPages == nullptr) {
    m_at = m_head;
  } else {
    unmapHead();
    unmapWindow();  // of later bytes
  }
  m_head = nullptr;
}

void PayloadWriter::begin(PayloadKind kind, std::int32_t a, std::int32_t b, std::uint64_t serial,
                          std::uint16_t type) {
  if (!keeps()) {
    return;
  }
  if (m_head != nullptr) [[unlikely]] {
    forgetEntry();
  }
  if (m_limit - m_at < static_cast<std::ptrdiff_t>(sizeof(PayloadEntry)) && !mapWindow(m_used))
      [[unlikely]] {
    fail(errno);
    return;
  }
  m_entry = {static_cast<std::uint16_t>(kind),
             type,
             payloadSeed(m_header->salt, m_header->rank, m_used),
             a,
             b,
             0,
             serial};
  m_head = m_at;
  m_at += sizeof(PayloadEntry);
}

void PayloadWriter::add(const void* bytes, std::size_t n) {
  if (m_head == nullptr) {
    return;
  }
  const auto* from = static_cast<const unsigned char*>(bytes);
  while (n > 0) {
    if (m_at == m_limit && !goOn()) [[unlikely]] {
      fail(errno);
      return;
    }
    const std::size_t part = std::min(n, static_cast<std::size_t>(m_limit - m_at));
    std::memcpy(m_at, from, part);
    m_entry.crc = crc32c(m_at, part, m_entry.crc);  // of what is kept: others may change `bytes`
    m_entry.size += part;
    m_at += part;
    from += part;
    n -= part;
  }
}

void PayloadWriter::end() {
  if (m_head == nullptr) {
    return;
  }
  if (payloadPadded(m_entry.size) > kMostPayload - 2 * sizeof(PayloadEntry) - m_used) [[unlikely]] {
    fail(EFBIG);
    return;
  }
  while ((reinterpret_cast<std::uintptr_t>(m_at) & 7U) != 0) {
    *m_at++ = 0;  // an entry that was forgotten may have been there
  }
  unsigned char* const head = m_head;
  m_head = nullptr;
  commit(head);
  if (m_headPages != nullptr) [[unlikely]] {
    unmapHead();
  }
}

/// Puts the entry before its content, and makes it count.
void PayloadWriter::commit(unsigned char* head) {
  m_entry.crc = payloadCrc(m_entry, m_entry.crc);
  std::memcpy(head, &m_entry, sizeof m_entry);
  m_used += sizeof m_entry + payloadPadded(m_entry.size);
  m_header->committed.store(payloadCommit(m_header->salt, m_used), std::memory_order_release);
}

void PayloadWriter::fail(int error) {
  if (!m_keeps) {
    return;
  }
  if (m_at == nullptr) {
    static_cast<void>(mapWindow(m_used));  // before the first entry
  }
  if (unsigned char* const place = m_head != nullptr ? m_head : m_at; place != nullptr) {
    const std::uint32_t seed = payloadSeed(m_header->salt, m_header->rank, m_used);
    m_entry = {kLastPayloadKind, 0, seed, error, 0, 0, m_head != nullptr ? m_entry.serial : 0};
    commit(place);
  }
  m_header->failed.store(payloadFailed(error), std::memory_order_release);
  m_keeps = false;
  m_head = nullptr;
  unmapHead();
  unmapWindow();
  sayStopped(error);
}

void PayloadWriter::stop(int error) {
  std::uint64_t none = 0;
  if (m_header->failed.compare_exchange_strong(none, payloadFailed(error))) {
    sayStopped(error);
  }
}

void PayloadWriter::sayStopped(int error) const {
  if (error == ENOTSUP) {
    return;  // who asked for it has said why
  }
  char line[320];
  const int length = std::snprintf(
      line, sizeof line,
      "photofinish: rank %d: contents of messages are no longer kept: %s. The program goes on; "
      "their order is recorded still, but a group cannot be replayed alone beyond this.\n",
      m_header->rank, std::strerror(error));
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, line, static_cast<std::size_t>(length));
}

void PayloadWriter::close(bool clean) {
  if (m_header == nullptr) {
    return;
  }
  if (clean) {
    m_header->clean.store(kPayloadMagic, std::memory_order_release);
  }
  m_keeps = false;
  m_head = nullptr;
  unmapHead();
  unmapWindow();
  munmap(m_header, kPayloadHeaderSize);
  m_header = nullptr;
  if (const int fd = ::open(m_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW); fd >= 0) {
    extendFile(fd, kPayloadHeaderSize + m_used);  // the rest of its window goes back to the disk
    ::close(fd);
  }
}

void PayloadWriter::abandon() {
  m_header = nullptr;
  m_keeps = false;
  m_window = m_at = m_limit = m_head = m_headPages = nullptr;
}

}  // namespace pf
