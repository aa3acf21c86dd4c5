#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fstream>

#include "app/collate.h"
#include "base/unique_fd.h"

namespace pf::app {

using nlohmann::json;

Status writeFacts(const std::string& logDirectory, const RunFacts& facts) {
  json ends = json::object();
  for (const auto& [rank, end] : facts.ends) {
    json one;
    one["host"] = end.host;
    if (end.status) {
      one["status"] = *end.status;
    }
    if (end.signal) {
      one["signal"] = *end.signal;
    }
    ends[std::to_string(rank)] = one;
  }
  json all = {{"command", facts.command},    {"directory", facts.workingDirectory},
              {"launcher", facts.launcher},  {"program", facts.program},
              {"created", facts.createdUtc}, {"mode", facts.mode},
              {"salt", facts.salt},          {"ends", ends},
              {"sameAddresses", facts.sameAddresses}};
  if (facts.exitStatus) {
    all["exitStatus"] = *facts.exitStatus;
  }
  if (facts.longestWait) {
    all["longestWait"] = *facts.longestWait;
  }
  const std::string path = logDirectory + "/run.json";
  const std::string unseen = path + ".tmp";
  const std::string text = all.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
  const UniqueFd out(::open(unseen.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  errno = out.valid() ? ENOSPC : errno;  // of a write that is cut short
  if (!out.valid() || ::write(out.get(), text.data(), text.size()) != std::ssize(text) ||
      ::fdatasync(out.get()) != 0 || std::rename(unseen.c_str(), path.c_str()) != 0) {
    return systemError("cannot write " + path, errno);
  }
  return {};
}

namespace {

RunFacts factsOf(const json& all) {
  RunFacts facts;
  facts.command = all.value("command", std::vector<std::string>());
  facts.workingDirectory = all.value("directory", "");
  facts.launcher = all.value("launcher", "");
  facts.program = all.value("program", "");
  facts.createdUtc = all.value("created", "");
  facts.mode = all.value("mode", "all");
  facts.salt = all.value("salt", std::uint64_t{0});
  facts.sameAddresses = all.value("sameAddresses", false);
  if (all.contains("exitStatus")) {
    facts.exitStatus = all["exitStatus"].get<std::int32_t>();
  }
  if (all.contains("longestWait")) {
    facts.longestWait = all["longestWait"].get<std::uint64_t>();
  }
  const json ends = all.value("ends", json::object());
  for (const auto& [rank, one] : ends.items()) {
    RankEnd& end = facts.ends[std::atoi(rank.c_str())];
    end.host = one.value("host", "");
    end.core = one.value("core", "");
    if (one.contains("status")) {
      end.status = one["status"].get<std::int32_t>();
    }
    if (one.contains("signal")) {
      end.signal = one["signal"].get<std::int32_t>();
    }
  }
  return facts;
}

}  // namespace

Result<RunFacts> readFacts(const std::string& logDirectory) {
  const std::string path = logDirectory + "/run.json";
  std::ifstream in(path);
  if (!in) {
    return systemError("cannot read " + path, errno);
  }
  const json all = json::parse(in, nullptr, false);
  if (all.is_object()) {
    try {
      return factsOf(all);
    } catch (const json::exception&) {  // a value of another type
    }
  }
  return Error{ErrorCode::Damaged, "cannot read " + path,
               "Without it the recorded command is not known; record the program again."};
}

std::string utcNow() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string hostName() {
  char text[256] = {};
  gethostname(text, sizeof text - 1);
  return text;
}

}  // namespace pf::app
