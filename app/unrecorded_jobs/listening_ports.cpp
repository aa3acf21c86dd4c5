// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/unrecorded_jobs/listening_ports.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace pf::app {
namespace {

namespace fs = std::filesystem;

std::string directoryOf(pid_t pid) {
  return "/proc/" + std::to_string(pid);
}

/// Inodes of the sockets that a process has open.
std::set<std::string> socketsOf(pid_t pid) {
  static const std::string kPrefix = "socket:[";
  std::set<std::string> inodes;
  std::error_code error;
  for (fs::directory_iterator at(directoryOf(pid) + "/fd", error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    const std::string target = fs::read_symlink(at->path(), gone).string();
    if (target.rfind(kPrefix, 0) == 0) {
      inodes.insert(target.substr(kPrefix.size(), target.size() - kPrefix.size() - 1));
    }
  }
  return inodes;
}

/// Adds what a table of the kernel (proc(5), /proc/net/tcp) says of listening sockets with these
/// inodes.
void addPorts(const std::string& table, const std::set<std::string>& inodes, pid_t pid,
              std::map<std::uint16_t, pid_t>& ports) {
  constexpr const char* kListening = "0A";
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);  // the titles
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string slot, local, remote, state, queues, timer, retransmits, user, timeout, inode;
    words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user >>
        timeout >> inode;
    const std::size_t colon = local.find(':');
    if (state == kListening && colon != std::string::npos && inodes.count(inode) != 0) {
      ports.emplace(static_cast<std::uint16_t>(std::stoul(local.substr(colon + 1), nullptr, 16)),
                    pid);
    }
  }
}

}  // namespace

std::map<std::uint16_t, pid_t> listeningPorts(const std::vector<pid_t>& processes) {
  std::map<std::uint16_t, pid_t> ports;
  for (const pid_t pid : processes) {
    const std::set<std::string> inodes = socketsOf(pid);
    for (const char* table : {"/net/tcp", "/net/tcp6"}) {
      addPorts(directoryOf(pid) + table, inodes, pid, ports);
    }
  }
  return ports;
}

}  // namespace pf::app
