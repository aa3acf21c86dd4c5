// SPDX-License-Identifier: MIT
#include "plugins/host/loading.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "plugins/host/trusted_path.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::plugins {
namespace {

using Clock = std::chrono::steady_clock;

/// Absolute, as XDG has it; empty: there is none.
std::string dataFolder() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data == '/') {
    return data;
  }
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.local/share" : std::string();
}

/// Names that end with ".so", in their order.
Result<std::vector<std::string>> namesIn(const std::string& folder) {
  DIR* const directory = opendir(folder.c_str());
  if (directory == nullptr) {
    return systemError("cannot read " + folder, errno);
  }
  std::vector<std::string> names;
  for (const dirent* entry = readdir(directory); entry != nullptr; entry = readdir(directory)) {
    if (const std::string name = entry->d_name; name.size() > 3 && name.ends_with(".so")) {
      names.push_back(name);
    }
  }
  closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

bool isThere(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0;
}

// ---- What a child says of a plugin: lines of texts, each with its length before it.

void put(std::string& out, const std::string& text) {
  out += std::to_string(text.size()) + "\n" + text;
}

std::string pack(const Result<Plugin>& plugin) {
  std::string out;
  if (!plugin) {
    put(out, "refused");
    put(out, std::to_string(static_cast<int>(plugin.error().code)));
    put(out, plugin.error().message);
    put(out, plugin.error().advice);
  } else {
    for (const std::string& text :
         {std::string("plugin"), plugin->name, plugin->version, plugin->about}) {
      put(out, text);
    }
    for (const Part& part : plugin->parts) {
      put(out, std::to_string(static_cast<int>(part.kind)));
      put(out, part.to == photofinish::ExportTo::Directory ? "directory" : "text");
      put(out, part.id);
      put(out, part.title);
      put(out, part.help);
    }
  }
  put(out, "end");
  return out;
}

/// Nothing where `packed` is not whole.
std::vector<std::string> unpack(const std::string& packed) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < packed.size();) {
    const std::size_t line = packed.find('\n', at);
    char* end = nullptr;
    const std::size_t size = std::strtoul(packed.c_str() + at, &end, 10);
    if (line == std::string::npos || end != packed.c_str() + line ||
        size > packed.size() - line - 1) {
      return {};
    }
    texts.push_back(packed.substr(line + 1, size));
    at = line + 1 + size;
  }
  return !texts.empty() && texts.back() == "end" ? texts : std::vector<std::string>();
}

Error cannotBeLoaded(const std::string& path, const std::string& why,
                     const std::string& advice = "Tell who has made it, or take it away.") {
  return {ErrorCode::System, path + " cannot be loaded: " + why, advice};
}

Result<Plugin> pluginIn(const std::vector<std::string>& texts, const std::string& path) {
  constexpr std::size_t kHead = 4;
  constexpr std::size_t kPart = 5;
  if (texts.size() == kHead + 1 && texts[0] == "refused") {
    return Error{static_cast<ErrorCode>(std::atoi(texts[1].c_str())), texts[2], texts[3]};
  }
  if (texts.size() < kHead + 1 || (texts.size() - kHead - 1) % kPart != 0 || texts[0] != "plugin") {
    return cannotBeLoaded(path, "its process said nonsense");
  }
  Plugin plugin{texts[1], texts[2], texts[3], path, {}};
  for (std::size_t i = kHead; i + kPart < texts.size(); i += kPart) {
    Part part = described(static_cast<PartKind>(std::atoi(texts[i].c_str())),
                          {texts[i + 2].c_str(), texts[i + 3].c_str(), texts[i + 4].c_str()});
    part.to = texts[i + 1] == "directory" ? photofinish::ExportTo::Directory
                                          : photofinish::ExportTo::Text;
    plugin.parts.push_back(std::move(part));
  }
  return plugin;
}

/// In the child. Returns to nobody. Does not outlive `parent`.
[[noreturn]] void answer(const std::string& path, int to, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(1);
  }
  std::signal(SIGPIPE, SIG_DFL);
  if (const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC); nowhere >= 0) {
    (void)dup2(nowhere, STDIN_FILENO);
    (void)dup2(nowhere, STDOUT_FILENO);  // what it prints is no part of our output
    (void)dup2(nowhere, STDERR_FILENO);
  }
  const std::string text = pack(load(path));
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = write(to, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) {
      break;
    }
    done += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  _exit(0);
}

/// All that comes until the other end is closed. False: that took too long.
bool readAll(int from, Clock::time_point until, std::string& text) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd wait{from, POLLIN, 0};
    if (left <= 0 || poll(&wait, 1, static_cast<int>(left)) == 0) {
      return false;
    }
    char buffer[4096];
    const ssize_t n = read(from, buffer, sizeof buffer);
    if (n == 0 || (n < 0 && errno != EINTR)) {
      return true;
    }
    text.append(buffer, n > 0 ? static_cast<std::size_t>(n) : 0);
  }
}

int waitFor(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

std::vector<Folder> searchPath(const std::string& installed) {
  std::vector<Folder> folders;
  const char* const given = std::getenv("PHOTOFINISH_PLUGIN_PATH");
  std::string left = given != nullptr ? given : "";
  while (!left.empty()) {
    const std::size_t end = std::min(left.find(':'), left.size());
    if (end > 0) {
      folders.push_back({left.substr(0, end), true});
    }
    left.erase(0, end + 1);
  }
  if (const std::string data = dataFolder(); !data.empty()) {
    folders.push_back({data + "/photofinish/plugins", false});
  }
  folders.push_back({installed, false});
  return folders;
}

std::vector<std::string> pluginFiles(const std::vector<Folder>& folders, Registry& registry) {
  std::vector<std::string> files;
  for (const Folder& folder : folders) {
    if (!folder.named && !isThere(folder.path)) {
      continue;
    }
    if (Status trusted = checkTrustedPath(folder.path); !trusted) {
      registry.refuse(folder.path, trusted.error());
      continue;
    }
    const Result<std::vector<std::string>> names = namesIn(folder.path);
    if (!names) {
      registry.refuse(folder.path, names.error());
      continue;
    }
    for (const std::string& name : *names) {
      const std::string path = folder.path + "/" + name;
      if (Status trusted = checkTrustedPath(path); !trusted) {
        registry.refuse(path, trusted.error());
      } else {
        files.push_back(path);
      }
    }
  }
  return files;
}

Result<Plugin> load(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // and never closed
  if (library == nullptr) {
    const char* const why = dlerror();
    return cannotBeLoaded(path, why != nullptr ? why : "no reason is given",
                          "Install what it lacks, or build it again on this machine.");
  }
  using Entry = const PhotofinishPlugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "photofinish_plugin"));
  if (entry == nullptr) {
    return Error{ErrorCode::Usage,
                 path + " is no plugin of Photofinish: it has no photofinish_plugin()",
                 "A plugin has PHOTOFINISH_PLUGIN in one of its files (docs/plugins.md)."};
  }
  const PhotofinishPlugin* given = nullptr;
  if (Status status = guarded(path, [&] { given = entry(); }); !status) {
    return status.error();
  }
  return pluginOf(given, path);
}

Result<Plugin> probe(const std::string& path, std::chrono::milliseconds patience) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return systemError("cannot make a pipe", errno);
  }
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    return systemError("cannot start a process to try " + path, errno);
  }
  if (child == 0) {
    answer(path, to.get(), parent);
  }
  close(to.release());
  std::string text;
  const bool ended = readAll(from.get(), Clock::now() + patience, text);
  if (!ended) {
    kill(child, SIGKILL);
  }
  const int status = waitFor(child);
  if (!ended) {
    return cannotBeLoaded(
        path, "it did not come back in " + std::to_string(patience.count() / 1000) + " seconds");
  }
  const std::vector<std::string> texts = unpack(text);
  if (texts.empty()) {
    return cannotBeLoaded(
        path, WIFSIGNALED(status)
                  ? std::string("it crashed (") + strsignal(WTERMSIG(status)) + ")"
                  : "it ended its process with status " + std::to_string(WEXITSTATUS(status)));
  }
  return pluginIn(texts, path);
}

void describeAll(const std::string& installed, Registry& registry) {
  for (const std::string& path : pluginFiles(searchPath(installed), registry)) {
    registry.addOrRefuse(probe(path), path);
  }
}

void loadAll(const std::string& installed, Registry& registry) {
  for (const std::string& path : pluginFiles(searchPath(installed), registry)) {
    const Result<Plugin> tried = probe(path);
    registry.addOrRefuse(tried ? load(path) : tried, path);
  }
}

}  // namespace pf::plugins
