// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/group_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "replay_engine/base/unique_fd.h"
#include "replay_engine/groups/replay_groups.h"
#include "replay_engine/protocol/rank_page.h"

namespace pf::agent {

Status keepGroup(const protocol::SessionConfig& config, std::int32_t rank, std::int32_t size) {
  if ((config.mode & kKeepContents) == 0) {
    return {};
  }
  const Result<ReplayGroups> groups = ReplayGroups::parse(config.groups, size);
  if (!groups) {
    return groups.error();
  }
  const auto members = groups->members(groups->groupOf(rank));
  std::vector<std::int32_t> numbers{size, static_cast<std::int32_t>(members.size())};
  numbers.insert(numbers.end(), members.begin(), members.end());
  const std::string path = config.logDirectory + "/rank-" + std::to_string(rank) + ".group";
  const UniqueFd made(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  const std::size_t bytes = numbers.size() * sizeof(std::int32_t);
  if (!made.valid() || ::write(made.get(), numbers.data(), bytes) != static_cast<ssize_t>(bytes)) {
    return systemError("cannot write " + path, errno);
  }
  return {};
}

}  // namespace pf::agent
