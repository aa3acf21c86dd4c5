// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/log_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "replay_engine/base/allocate_file.h"
#include "replay_engine/base/crc32c.h"

namespace pf {
namespace {

constexpr std::uint64_t kBlocksPerWindow = 8;
constexpr std::size_t kWindowSize = kBlocksPerWindow * kLogBlockSize;

/// crc32c() without the initial and final inversion, a few bytes at a time.
inline std::uint32_t rawCrc(const unsigned char* p, const unsigned char* end, std::uint32_t crc) {
#if defined(__SSE4_2__)
  std::uint64_t wide = crc;
  for (; end - p >= 8; p += 8) {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, p, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  crc = static_cast<std::uint32_t>(wide);
  const auto left = end - p;  // in three steps at most: each waits for the one before
  if ((left & 4) != 0) {
    std::uint32_t word = 0;
    __builtin_memcpy(&word, p, 4);
    crc = _mm_crc32_u32(crc, word);
    p += 4;
  }
  if ((left & 2) != 0) {
    std::uint16_t word = 0;
    __builtin_memcpy(&word, p, 2);
    crc = _mm_crc32_u16(crc, word);
    p += 2;
  }
  return (left & 1) != 0 ? _mm_crc32_u8(crc, *p) : crc;
#else
  return ~crc32c(p, static_cast<std::size_t>(end - p), ~crc);
#endif
}

alignas(64) unsigned char g_dump[kLogBlockSize];  // where records go once the disk is full

}  // namespace

bool LogWriter::open(const char* path, std::uint64_t salt) {
  if (std::strlen(path) >= sizeof(m_path)) {
    errno = ENAMETOOLONG;
    return false;
  }
  std::strcpy(m_path, path);
  m_salt = salt;
  const int fd = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    return false;
  }
  const int error = allocateFile(fd, 0, kLogHeaderSize);
  void* mapped = error != 0
                     ? MAP_FAILED
                     : mmap(nullptr, kLogHeaderSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (mapped == MAP_FAILED) {
    errno = error != 0 ? error : errno;
    return false;
  }
  madvise(mapped, kLogHeaderSize, MADV_DONTFORK);
  m_header = static_cast<LogHeader*>(mapped);
  m_header->magic = kLogMagic;
  m_header->version = kLogVersion;
  m_header->salt = salt;
  m_blockNumber = 0;
  if (!mapWindow(0)) {
    fail(errno);
  }
  m_crc = ~logBlockSeed(m_salt, 0);
  return true;
}

bool LogWriter::mapWindow(std::uint64_t block) {
  const int fd = ::open(m_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) {
    return false;
  }
  const std::uint64_t offset = kLogHeaderSize + block * kLogBlockSize;
  const int error = allocateFile(fd, offset, kWindowSize);
  void* mapped = error != 0 ? MAP_FAILED
                            : mmap(nullptr, kWindowSize, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_POPULATE, fd, static_cast<off_t>(offset));
  const int mapError = error != 0 ? error : errno;
  ::close(fd);
  if (mapped == MAP_FAILED) {
    errno = mapError;
    return false;
  }
  madvise(mapped, kWindowSize, MADV_DONTFORK);
  if (m_window != nullptr) {
    munmap(m_window, kWindowSize);
  }
  m_window = static_cast<unsigned char*>(mapped);
  m_block = m_window;
  return true;
}

void LogWriter::fail(int error) {
  m_header->failed.store(static_cast<std::uint64_t>(error) << 32 | 1U, std::memory_order_release);
  m_block = g_dump;
  m_used = 0;
  char line[256];
  const int length = std::snprintf(
      line, sizeof line,
      "photofinish: rank %d: recording stopped, the log cannot grow: %s. The program goes on; "
      "what was recorded so far is kept.\n",
      m_header->rank, std::strerror(error));
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, line, static_cast<std::size_t>(length));
}

void LogWriter::nextBlock() {
  if (m_block == g_dump) {
    m_used = 0;
    return;
  }
  auto* trailer = reinterpret_cast<BlockTrailer*>(m_block + kLogBlockData);
  publish();
  trailer->crc = ~m_crc;
  std::atomic_ref<std::uint32_t>(trailer->used).store(m_used, std::memory_order_release);
  ++m_blockNumber;
  m_used = 0;
  m_crc = ~logBlockSeed(m_salt, m_blockNumber);
  if (m_blockNumber % kBlocksPerWindow != 0) {
    m_block += kLogBlockSize;
  } else if (!mapWindow(m_blockNumber)) {
    fail(errno);
  }
}

void LogWriter::commit(const unsigned char* end) {
  unsigned char* begin = m_block + m_used;
  m_crc = rawCrc(begin, end, m_crc);
  m_used += static_cast<std::uint32_t>(end - begin);
}

void LogWriter::publish() {
  if (m_block != g_dump) {
    const std::uint64_t word =
        std::uint64_t{~m_crc} << 32 | (m_blockNumber & 0xFFFFU) << 16 | m_used;
    m_header->commit.store(word, std::memory_order_release);
  }
}

void LogWriter::close(bool clean) {
  if (m_header == nullptr) {
    return;
  }
  publish();
  if (clean) {
    m_header->clean.store(kLogMagic, std::memory_order_release);
  }
}

void LogWriter::abandon() {
  m_header = nullptr;
  m_window = nullptr;
  m_block = g_dump;
  m_used = 0;
}

}  // namespace pf
