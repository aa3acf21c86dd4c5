// SPDX-License-Identifier: MIT
#include "replay_engine/rank/payload/payload_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pf {
namespace {

constexpr std::uint64_t kGiveBackAt = std::uint64_t{1} << 20;
constexpr std::uint64_t kPageGranule = std::uint64_t{64} << 10;

}  // namespace

bool PayloadReader::open(const char* path, std::int32_t rank, std::int32_t size, const char** why) {
  close();
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    *why = std::strerror(errno);
    return false;
  }
  struct stat info {};
  const bool told = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  if (!told || info.st_size < static_cast<off_t>(kPayloadHeaderSize)) {
    ::close(fd);
    *why = told ? "it is shorter than its header" : "it is no regular file";
    return false;
  }
  const auto mapped = static_cast<std::size_t>(info.st_size);
  void* const base = mmap(nullptr, mapped, PROT_READ, MAP_SHARED, fd, 0);
  const int error = errno;
  ::close(fd);
  if (base == MAP_FAILED) {
    *why = std::strerror(error);
    return false;
  }
  madvise(base, mapped, MADV_SEQUENTIAL);
  m_base = static_cast<const unsigned char*>(base);
  m_mapped = mapped;
  const auto& header = *reinterpret_cast<const PayloadHeader*>(m_base);
  if (const char* const wrong = wrongInPayload(header, rank, size); wrong != nullptr) {
    close();
    *why = wrong;
    return false;
  }
  m_salt = header.salt;
  m_rank = rank;
  m_committed = payloadCommitted(m_salt, header.committed.load(std::memory_order_acquire));
  m_there = std::min<std::uint64_t>(m_committed, mapped - kPayloadHeaderSize);
  m_cutBy = payloadErrno(header.failed.load(std::memory_order_acquire));
  return true;
}

void PayloadReader::close() {
  if (m_base != nullptr) {
    munmap(const_cast<unsigned char*>(m_base), m_mapped);
  }
  m_base = nullptr;
  m_peeked = false;
  m_committed = m_there = m_offset = m_givenBack = 0;
  m_end = End::No;
  m_cutBy = 0;
}

const char* PayloadReader::why() const {
  switch (m_end) {
    case End::No:
      break;
    case End::Ended:
      return "what was kept ends there";
    case End::Cut:
      return "what followed could not be kept";
    case End::Damaged:
      return "what follows is damaged";
  }
  return "";
}

/// What was passed need not be in memory.
void PayloadReader::giveBack() {
  const std::uint64_t place = (kPayloadHeaderSize + m_offset) & ~(kPageGranule - 1);
  if (place >= m_givenBack + kGiveBackAt) {
    madvise(const_cast<unsigned char*>(m_base) + m_givenBack, place - m_givenBack, MADV_DONTNEED);
    m_givenBack = place;
  }
}

/// Whether m_entry is the entry at m_offset, which is no Datatype: these are for people.
bool PayloadReader::verified() {
  while (verifiedNext()) {
    if (static_cast<PayloadKind>(m_entry.kind) != PayloadKind::Datatype) {
      return true;
    }
    m_offset += sizeof(PayloadEntry) + payloadPadded(m_entry.size);
    m_peeked = false;
  }
  return false;
}

bool PayloadReader::verifiedNext() {
  if (m_peeked || m_end != End::No || m_base == nullptr) {
    return m_peeked;
  }
  if (m_offset == m_there) {
    m_end = m_there != m_committed ? End::Damaged : m_cutBy != 0 ? End::Cut : End::Ended;
    return false;
  }
  giveBack();
  m_end = End::Damaged;
  const std::uint64_t left = m_there - m_offset;
  const unsigned char* const content =
      m_base + kPayloadHeaderSize + m_offset + sizeof(PayloadEntry);
  if (left < sizeof(PayloadEntry)) {
    return false;
  }
  std::memcpy(&m_entry, content - sizeof(PayloadEntry), sizeof(PayloadEntry));
  if (!mayBePayload(m_entry, left)) {
    return false;
  }
  const std::uint32_t seed = payloadSeed(m_salt, m_rank, m_offset);
  if (payloadCrc(m_entry, crc32c(content, m_entry.size, seed)) != m_entry.crc ||
      std::any_of(content + m_entry.size, content + payloadPadded(m_entry.size),
                  [](unsigned char byte) { return byte != 0; })) {
    return false;
  }
  if (static_cast<PayloadKind>(m_entry.kind) == PayloadKind::Mark) {
    m_end = End::Cut;
    m_cutBy = m_entry.a;
    return false;
  }
  m_end = End::No;
  m_peeked = true;
  return true;
}

const PayloadEntry* PayloadReader::next(const unsigned char** content) {
  if (!verified()) {
    return nullptr;
  }
  *content = m_base + kPayloadHeaderSize + m_offset + sizeof(PayloadEntry);
  m_offset += sizeof(PayloadEntry) + payloadPadded(m_entry.size);
  m_peeked = false;
  return &m_entry;
}

PayloadKind PayloadReader::peekKind() {
  return verified() ? static_cast<PayloadKind>(m_entry.kind) : PayloadKind::None;
}

}  // namespace pf
