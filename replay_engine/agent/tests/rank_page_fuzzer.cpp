// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes on the page of a rank that waits in a call: a program may write over all of it. What
// the agent reads there is possible and can be told to the daemon; where it follows an address into
// the rank's memory it finds something or nothing; in the rank's log it writes at one place only.
//
// First byte: what is looked at besides, and by bit 6 whether all texts are full: they do not end,
// and what is read of them ends with their fields. Then patches of a sensible page: two bytes for
// the offset, or, from 0x8000 on, for a field that steers; one for the length; then what is put
// there.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay_engine/agent/matched_receives.h"
#include "replay_engine/agent/rank_page_file.h"
#include "replay_engine/agent/rank_stack.h"
#include "replay_engine/agent/read_context.h"
#include "replay_engine/base/matched_receives.h"
#include "replay_engine/protocol/frame.h"

namespace {

using namespace pf;

constexpr std::size_t kLogSize = 3 * 4096;
constexpr std::uint32_t kMatchedAt = 4096;

/// Of the fields by which the agent goes: the others are texts and times.
constexpr std::array kSteering{
    offsetof(RankPage, phase),         offsetof(RankPage, inCall),
    offsetof(RankPage, serial),        offsetof(RankPage, waitPeer),
    offsetof(RankPage, waitTag),       offsetof(RankPage, logFailed),
    offsetof(RankPage, pid),           offsetof(RankPage, mpiLibrary),
    offsetof(RankPage, executable),    offsetof(RankPage, waitCall),
    offsetof(RankPage, callAddress),   offsetof(RankPage, divergedAt),
    offsetof(RankPage, expected),      offsetof(RankPage, got),
    offsetof(RankPage, outermostAt),   offsetof(RankPage, waitAddress),
    offsetof(RankPage, past),          offsetof(RankPage, past) + sizeof(PageEvent),
    offsetof(RankPage, contentsAt),    offsetof(RankPage, contentsAddress),
    offsetof(RankPage, contents),      offsetof(RankPage, requests),
    offsetof(RankPage, requests) + 8,  offsetof(RankPage, requests) + 16,
    offsetof(RankPage, requests) + 20, offsetof(RankPage, requests) + 24,
    offsetof(RankPage, requests) + 28, offsetof(RankPage, requests) + 32,
    offsetof(RankPage, requests) + 36, offsetof(RankPage, requests) + 40,
    offsetof(RankPage, requests) + 44, offsetof(RankPage, requests) + 48,
    offsetof(RankPage, requests) + 52, offsetof(RankPage, requests) + 56,
    offsetof(RankPage, requests) + 64, offsetof(RankPage, requests) + 72,
    offsetof(RankPage, requests) + 80, offsetof(RankPage, requests) + 88,
    offsetof(RankPage, requests) + 92, offsetof(RankPage, requests) + 96,
    offsetof(RankPage, pythonRuntime), offsetof(RankPage, pythonVersion),
    offsetof(RankPage, pythonThread)};

struct Field {
  std::size_t at;
  std::size_t size;
};
/// The texts, each with another letter where they are full.
constexpr std::array kTexts{
    Field{offsetof(RankPage, mpiLibrary), sizeof(RankPage::mpiLibrary)},
    Field{offsetof(RankPage, executable), sizeof(RankPage::executable)},
    Field{offsetof(RankPage, waitCall), sizeof(RankPage::waitCall)},
    Field{offsetof(RankPage, logPath), sizeof(RankPage::logPath)},
    Field{offsetof(RankPage, schedulePath), sizeof(RankPage::schedulePath)},
    Field{offsetof(RankPage, boardPath), sizeof(RankPage::boardPath)},
    Field{offsetof(RankPage, expected), sizeof(RankPage::expected)},
    Field{offsetof(RankPage, got), sizeof(RankPage::got)},
    Field{offsetof(RankPage, earlySchedule), sizeof(RankPage::earlySchedule)},
    Field{offsetof(RankPage, contents), sizeof(RankPage::contents)}};

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

/// What a rank has in its memory, where its page says: the child below has it at the same place.
struct Receive {
  std::uint64_t handle;
  std::uint64_t details;
  std::uint32_t post;
  std::uint32_t wild;
  unsigned char isWild;
  unsigned char isActive;
  unsigned char isCancelled;
};
/// MPI's: of Open MPI, and of MPICH where patches say its size.
struct RequestObject {
  std::uint64_t handle = 0;
  std::array<std::int32_t, 2> status{3, 7};
};
struct RankMemory {
  RequestObject object;
  std::array<Receive, 60> receives{};
  std::uint64_t entries = 0;
  std::uint32_t count = 0;
  std::array<std::uint64_t, 2> frame{};
  std::uint64_t outermost = 0;
};
RankMemory g_memory;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

template <typename T>
std::uint64_t addressOf(const T& value) {
  return reinterpret_cast<std::uintptr_t>(&value);
}

class Rank {
 public:
  Rank() {
    fillMemory();
    const pid_t fuzzer = ::getpid();
    m_pid = ::fork();
    require(m_pid >= 0);
    if (m_pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (::getppid() == fuzzer) {  // it may have ended before that was set
        ::pause();
      }
      ::_exit(0);
    }
    fillPage();
    std::memcpy(m_sensible.data(), &m_page->page(), m_sensible.size());
    m_zeros.assign(kLogSize, '\0');
    m_log = UniqueFd(::open(logPath().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  }
  ~Rank() {
    ::kill(m_pid, SIGKILL);
    m_page.reset();
    std::error_code ignored;
    std::filesystem::remove_all(m_directory, ignored);
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  [[nodiscard]] pid_t pid() const { return m_pid; }
  [[nodiscard]] const agent::RankPageFile& file() const { return *m_page; }
  [[nodiscard]] RankPage& page() { return m_page->page(); }

  void lay(pid_t pid, bool full, const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kHeader = 3;
    std::array<char, kRankPageSize> bytes = m_sensible;
    std::memcpy(bytes.data() + offsetof(RankPage, pid), &pid, sizeof pid);
    for (std::size_t i = 0; full && i < kTexts.size(); ++i) {
      std::memset(bytes.data() + kTexts[i].at, 'A' + static_cast<int>(i), kTexts[i].size);
    }
    while (size > kHeader) {
      const std::size_t offset = data[0] | (std::size_t{data[1]} << 8U);
      const std::size_t at =
          (offset & 0x8000U) != 0 ? kSteering[offset % kSteering.size()] : offset % kRankPageSize;
      const std::size_t length =
          std::min<std::size_t>({data[2], size - kHeader, kRankPageSize - at});
      std::memcpy(bytes.data() + at, data + kHeader, length);
      data += kHeader + length;
      size -= kHeader + length;
    }
    std::memcpy(static_cast<void*>(&page()), bytes.data(), bytes.size());
  }

  /// The log is written at `RankPage::requests.matchedAt` or nowhere, and what is there counts.
  void lookForMatched() {
    const ssize_t size = static_cast<ssize_t>(kLogSize);
    require(::pwrite(m_log.get(), m_zeros.data(), kLogSize, 0) == size);
    m_matched.look(m_pid, page(), logPath());
    std::vector<char> log(kLogSize);
    struct stat info {};
    require(::pread(m_log.get(), log.data(), log.size(), 0) == size);
    require(::fstat(m_log.get(), &info) == 0 && info.st_size == size);
    if (log == m_zeros) {
      return;
    }
    const std::size_t at = page().requests.matchedAt;
    require(at + sizeof(MatchedReceives) <= log.size());
    std::uint64_t count = 0;
    std::memcpy(&count, log.data() + at, sizeof count);
    require((count & 0xFFFFFFFFU) == (~count >> 32U));
    require((count & 0xFFFFFFFFU) <= MatchedReceives::kMost);
    std::fill_n(log.begin() + static_cast<std::ptrdiff_t>(at), sizeof(MatchedReceives), '\0');
    require(log == m_zeros);
  }

 private:
  static void fillMemory() {
    for (std::size_t i = 0; i < g_memory.receives.size(); ++i) {
      const auto number = static_cast<std::uint32_t>(i);
      g_memory.receives[i] = {addressOf(g_memory.object), 0, number, number, 1, 1, 0};
    }
    g_memory.entries = addressOf(g_memory.receives);
    g_memory.count = static_cast<std::uint32_t>(g_memory.receives.size());
    g_memory.frame = {addressOf(g_memory.frame),
                      reinterpret_cast<std::uintptr_t>(&Rank::fillMemory) + 1};
    g_memory.outermost = addressOf(g_memory.frame);
  }
  void fillPage() {
    require(::mkdtemp(m_directory.data()) != nullptr);
    Result<agent::RankPageFile> made = agent::RankPageFile::create(m_directory + "/page");
    require(made.ok());
    m_page = std::make_unique<agent::RankPageFile>(std::move(*made));
    RankPage& page = m_page->page();
    page.phase = static_cast<std::uint32_t>(RankPhase::Running);
    page.inCall = 1;
    page.serial = 20;
    page.pid = m_pid;
    page.size = 4;
    page.divergedAt = 20;
    page.contentsAt = 20;
    page.outermostAt = addressOf(g_memory.outermost);
    page.pythonRuntime = addressOf(g_memory.receives);
    page.pythonVersion = 0x030C01F0;
    page.pythonThread = addressOf(g_memory.receives);
    for (std::uint64_t serial = 10; serial < 20; ++serial) {
      page.past[serial % kPageEvents] = {serial, g_memory.frame[1], 1, -1, 7, 0};
    }
    page.requests = {addressOf(g_memory.entries),
                     addressOf(g_memory.count),
                     sizeof(Receive),
                     offsetof(Receive, handle),
                     sizeof(std::uint64_t),
                     offsetof(Receive, details),
                     0,
                     offsetof(Receive, post),
                     offsetof(Receive, wild),
                     offsetof(Receive, isWild),
                     offsetof(Receive, isActive),
                     offsetof(Receive, isCancelled),
                     kMatchedAt,
                     offsetof(RequestObject, status),
                     0,
                     {}};
  }
  [[nodiscard]] std::string logPath() const { return m_directory + "/rank-0.log"; }

  std::string m_directory = std::filesystem::temp_directory_path() / "rank_page_fuzzer-XXXXXX";
  pid_t m_pid = -1;
  std::unique_ptr<agent::RankPageFile> m_page;
  std::array<char, kRankPageSize> m_sensible{};
  std::vector<char> m_zeros;
  UniqueFd m_log;
  agent::MatchedLook m_matched;
};

/// What was read of a text of the page is that text, and nothing behind its field.
template <std::size_t Size>
void checkText(const std::string& read,
               const char (&field)[Size]) {  // NOLINT(modernize-avoid-c-arrays)
  require(read ==
          std::string(std::begin(field), std::find(std::begin(field), std::end(field), '\0')));
}

/// The daemon gets what was told.
void checkTold(const protocol::Message& message) {
  const Result<std::string> bytes = protocol::encodeMessage(message, 1);
  require(bytes.ok());
  protocol::FrameDecoder decoder;
  decoder.feed(*bytes);
  const Result<std::optional<protocol::Frame>> frame = decoder.next();
  require(frame.ok() && frame->has_value());
  const Result<protocol::Message> read = protocol::decodeMessage(**frame);
  require(read.ok() && *read == message);
}

void checkState(const protocol::RankState& state, const RankPage& page) {
  require(state.phase <= RankPhase::Finalized);
  if (state.phase == RankPhase::Stopped || state.phase == RankPhase::Diverged) {
    checkText(state.call, page.waitCall);
  }
  require(state.waitPeer >= kWaitsForAll && state.waitTag >= -1);
  require(state.logFailed >= 0 && state.logFailed < 4096);
  checkTold(state);
}

void checkHello(const protocol::RankHello& hello, const RankPage& page) {
  checkText(hello.executable, page.executable);
  checkText(hello.mpiLibrary, page.mpiLibrary);
  checkTold(hello);
}

void checkDivergence(const protocol::RankDiverged& divergence, const RankPage& page) {
  checkText(divergence.call, page.waitCall);
  checkText(divergence.expected, page.expected);
  checkText(divergence.got, page.got);
  require(divergence.history.size() <= kPageEvents);
  std::uint64_t last = 0;
  for (const auto& event : divergence.history) {
    require(event.serial >= last && event.serial < divergence.serial);
    last = event.serial;
  }
  checkTold(divergence);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  static Rank rank;
  // Where code is takes a hundred times as long to find out as all else, and stacks as long again.
  const bool places = data[0] % 16 == 0;
  rank.lay(places ? rank.pid() : 0, (data[0] & 0x40U) != 0, data + 1, size - 1);
  checkState(rank.file().state(), rank.page());
  checkHello(rank.file().hello(), rank.page());
  checkDivergence(rank.file().divergence(), rank.page());
  const protocol::RankDiverged contents = rank.file().otherContents();
  checkText(contents.got, rank.page().contents);
  checkTold(contents);
  rank.lookForMatched();
  if (places) {
    static_cast<void>(agent::callPlaceOf(rank.pid(), rank.page()));
  }
  if (data[0] % 128 == 127) {
    const auto frames = agent::stackOf(rank.pid(), rank.page(), data[0] == 255);
    require(!frames.ok() || frames->size() <= 64);
  }
  return 0;
}
