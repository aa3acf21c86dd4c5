// SPDX-License-Identifier: GPL-3.0-or-later
// The page that an agent shares with its rank, and the thread that waits for news on it.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"
#include "replay_engine/protocol/messages.h"
#include "replay_engine/protocol/rank_page.h"
#include "replay_engine/protocol/session_directory.h"

namespace pf::agent {

/// Owns the file and the mapping. Everything on the page but the agent's own orders may be
/// nonsense.
class RankPageFile {
 public:
  [[nodiscard]] static Result<RankPageFile> create(const std::string& path);
  RankPageFile(RankPageFile&& other) noexcept;
  RankPageFile& operator=(RankPageFile&&) = delete;
  RankPageFile(const RankPageFile&) = delete;
  RankPageFile& operator=(const RankPageFile&) = delete;
  ~RankPageFile();

  [[nodiscard]] RankPage& page() { return *m_page; }
  [[nodiscard]] const std::string& path() const { return m_path; }
  /// Before the program starts: what it needs to know before MPI_Init. `rank` -1: not known.
  void setLaunch(const protocol::SessionDirectory& session, std::int32_t rank);
  /// After orders have been written.
  void wakeRank();
  /// As the rank describes itself, with numbers in range and strings that end. `held` is not
  /// filled.
  [[nodiscard]] protocol::RankState state() const;
  [[nodiscard]] protocol::RankHello hello() const;
  [[nodiscard]] protocol::RankDiverged divergence() const;
  /// Of RankPage::contentsAt, once it is not 0.
  [[nodiscard]] protocol::RankDiverged otherContents() const;

 private:
  RankPageFile(std::string path, RankPage* page) : m_path(std::move(path)), m_page(page) {}

  std::string m_path;
  RankPage* m_page;
};

/// Wakes whoever sleeps on this word of the page, in any process.
void wakeSleepers(std::atomic<std::uint32_t>& word);

/// Makes fd() readable when the rank has bumped RankPage::toAgent.
class PageWatcher {
 public:
  explicit PageWatcher(RankPage& page);
  ~PageWatcher();
  PageWatcher(const PageWatcher&) = delete;
  PageWatcher& operator=(const PageWatcher&) = delete;

  [[nodiscard]] int fd() const { return m_event.get(); }
  /// Takes the news off fd().
  void clear();

 private:
  void watch();

  RankPage& m_page;
  UniqueFd m_event;
  std::atomic<bool> m_stop{false};
  std::thread m_thread;
};

}  // namespace pf::agent
