// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/rank_page_file.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>

#include "replay_engine/agent/python_place.h"
#include "replay_engine/agent/read_context.h"

namespace pf::agent {
namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
  return ::syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

template <std::size_t Size>
std::string textOf(
    const char (&field)[Size]) {  // NOLINT(modernize-avoid-c-arrays): the page's layout
  return std::string(field, ::strnlen(field, Size));
}

}  // namespace

Result<RankPageFile> RankPageFile::create(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) {
    return systemError("cannot make the rank's page " + path, errno);
  }
  if (const int error = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(kRankPageSize));
      error != 0) {
    ::unlink(path.c_str());
    return systemError("cannot make the rank's page " + path, error);
  }
  void* memory = ::mmap(nullptr, kRankPageSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) {
    const int error = errno;
    ::unlink(path.c_str());
    return systemError("cannot map the rank's page " + path, error);
  }
  auto* page = new (memory) RankPage();
  page->waitPeer = -2;
  page->waitTag = -1;
  page->version = kRankPageVersion;
  page->magic = kRankPageMagic;
  return RankPageFile(path, page);
}

RankPageFile::RankPageFile(RankPageFile&& other) noexcept
    : m_path(std::move(other.m_path)), m_page(std::exchange(other.m_page, nullptr)) {}

RankPageFile::~RankPageFile() {
  if (m_page != nullptr) {
    ::munmap(m_page, kRankPageSize);
    ::unlink(m_path.c_str());
  }
}

void RankPageFile::setLaunch(const protocol::SessionDirectory& session, std::int32_t rank) {
  const protocol::SessionConfig& config = session.config();
  m_page->launchMode = config.mode;
  rank = rank < 0 && config.ranks == 1 ? 0 : rank;
  const std::string path = protocol::SessionDirectory::schedulePath(session.path(), rank);
  if ((config.mode & kReplay) != 0 && rank >= 0 && path.size() < sizeof m_page->earlySchedule) {
    path.copy(m_page->earlySchedule, path.size());
  }
}

void RankPageFile::wakeRank() {
  m_page->toRank.fetch_add(1, std::memory_order_release);
  wakeSleepers(m_page->toRank);
}

protocol::RankState RankPageFile::state() const {
  const RankPage& page = *m_page;
  protocol::RankState out;
  const std::uint32_t phase = page.phase.load(std::memory_order_acquire);
  out.phase =
      static_cast<RankPhase>(std::min(phase, static_cast<std::uint32_t>(RankPhase::Finalized)));
  out.rank = page.rank;
  out.serial = page.serial.load(std::memory_order_relaxed);
  out.inCall = page.inCall.load(std::memory_order_relaxed);
  const std::int32_t peer = page.waitPeer.load(std::memory_order_relaxed);
  out.waitPeer = peer < kWaitsForAll ? -2 : peer;
  out.waitTag = std::max(page.waitTag.load(std::memory_order_relaxed), -1);
  out.pastEnd = page.pastEnd.load(std::memory_order_relaxed) != 0;
  out.races = page.races.load(std::memory_order_relaxed);
  out.logFailed =
      static_cast<std::int32_t>(page.logFailed.load(std::memory_order_relaxed) & 0xFFFU);
  if (out.phase == RankPhase::Stopped || out.phase == RankPhase::Diverged) {
    out.call = textOf(page.waitCall);
  }
  return out;
}

protocol::RankHello RankPageFile::hello() const {
  protocol::RankHello out;
  out.rank = m_page->rank;
  out.size = m_page->size;
  out.pid = m_page->pid;
  out.threadLevel = m_page->threadLevel;
  out.executable = textOf(m_page->executable);
  out.mpiLibrary = textOf(m_page->mpiLibrary);
  return out;
}

protocol::RankDiverged RankPageFile::divergence() const {
  protocol::RankDiverged out;
  out.rank = m_page->rank;
  out.serial = m_page->divergedAt;
  out.call = textOf(m_page->waitCall);
  out.expected = textOf(m_page->expected);
  out.got = textOf(m_page->got);
  out.callAddress = m_page->callAddress;
  std::vector<PageEvent> past;
  for (const PageEvent& event : m_page->past) {
    if (event.serial != 0 && event.serial < out.serial && out.serial - event.serial < kPageEvents) {
      past.push_back(event);
    }
  }
  std::sort(past.begin(), past.end(),
            [](const PageEvent& a, const PageEvent& b) { return a.serial < b.serial; });
  const std::vector<Mapping> mappings = mappingsOf(m_page->pid);
  out.place = placeOf(mappings, out.callAddress);
  out.place.text = pythonPlaceOf(m_page->pid, *m_page);
  for (const PageEvent& event : past) {
    out.history.push_back({event.serial,
                           event.call + 1,
                           {},
                           event.peer,
                           event.tag,
                           placeOf(mappings, event.address)});
  }
  return out;
}

protocol::RankDiverged RankPageFile::otherContents() const {
  protocol::RankDiverged out;
  out.rank = m_page->rank;
  out.serial = m_page->contentsAt.load(std::memory_order_acquire);
  out.got = textOf(m_page->contents);
  // For who does not know the recorded event: the call is the same.
  out.expected = out.got.substr(0, out.got.find(' ')) + " with the recorded contents";
  out.callAddress = m_page->contentsAddress;
  out.place = placeOf(mappingsOf(m_page->pid), out.callAddress);
  out.place.text = pythonPlaceOf(m_page->pid, *m_page);
  out.goesOn = true;
  out.time = m_page->contentsTime;
  return out;
}

void wakeSleepers(std::atomic<std::uint32_t>& word) {
  futex(word, FUTEX_WAKE, INT_MAX, nullptr);
}

PageWatcher::PageWatcher(RankPage& page)
    : m_page(page),
      m_event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      m_thread([this] { watch(); }) {}

PageWatcher::~PageWatcher() {
  m_stop = true;
  wakeSleepers(m_page.toAgent);
  m_thread.join();
}

void PageWatcher::clear() {
  std::uint64_t count = 0;
  static_cast<void>(::read(m_event.get(), &count, sizeof count) == sizeof count);
}

void PageWatcher::watch() {
  const timespec most{0, 200'000'000};
  std::uint32_t seen = 0;
  while (!m_stop) {
    const std::uint32_t now = m_page.toAgent.load(std::memory_order_acquire);
    if (now != seen) {
      seen = now;
      const std::uint64_t one = 1;
      static_cast<void>(::write(m_event.get(), &one, sizeof one) == sizeof one);
      continue;
    }
    futex(m_page.toAgent, FUTEX_WAIT, seen, &most);
  }
}

}  // namespace pf::agent
