// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

#include "app/collation/collate.h"
#include "app/collation/log_files.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::app {

using nlohmann::json;

namespace {

/// Any bytes as text that JSON can hold, each as the character of its number, and back.
std::string textOfBytes(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    if (value < 0x80) {
      text += byte;
    } else {
      text += static_cast<char>(0xC0 | value >> 6);
      text += static_cast<char>(0x80 | (value & 0x3F));
    }
  }
  return text;
}

std::string bytesOfText(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto value = static_cast<unsigned char>(text[i]);
    const bool two = (value & 0xE0U) == 0xC0U && i + 1 < text.size();
    bytes += two ? static_cast<char>((value & 3U) << 6U |
                                     (static_cast<unsigned char>(text[++i]) & 0x3FU))
                 : text[i];
  }
  return bytes;
}

/// What may hold any bytes, as it is: the rest of the file is for people, too, and UTF-8.
json exactWords(const RunFacts& facts) {
  json words = json::array();
  for (const std::string* word : {&facts.workingDirectory, &facts.launcher, &facts.program}) {
    words.push_back(textOfBytes(*word));
  }
  for (const std::string& word : facts.command) {
    words.push_back(textOfBytes(word));
  }
  return words;
}

void takeExactWords(const json& words, RunFacts& facts) {
  constexpr std::size_t kOthers = 3;
  if (words.size() != facts.command.size() + kOthers) {
    return;  // a Photofinish of before wrote it
  }
  std::size_t next = 0;
  for (std::string* word : {&facts.workingDirectory, &facts.launcher, &facts.program}) {
    *word = bytesOfText(words[next++].get<std::string>());
  }
  for (std::string& word : facts.command) {
    word = bytesOfText(words[next++].get<std::string>());
  }
}

}  // namespace

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
    if (end.stuck) {
      one["stuck"] = {{"proven", end.stuck->proven},
                      {"place", end.stuck->place},
                      {"peer", end.stuck->peer},
                      {"tag", end.stuck->tag}};
    }
    ends[std::to_string(rank)] = one;
  }
  json all = {{"command", facts.command},
              {"directory", facts.workingDirectory},
              {"launcher", facts.launcher},
              {"program", facts.program},
              {"created", facts.createdUtc},
              {"mode", facts.mode},
              {"salt", facts.salt},
              {"ends", ends},
              {"sameAddresses", facts.sameAddresses},
              {"exact", exactWords(facts)}};
  if (facts.exitStatus) {
    all["exitStatus"] = *facts.exitStatus;
  }
  if (facts.longestWait) {
    all["longestWait"] = *facts.longestWait;
  }
  if (facts.groups) {
    all["groups"] = textOfBytes(*facts.groups);
  }
  const std::string path = logDirectory + "/run.json";
  const std::string unseen = path + ".tmp";
  const std::string text = all.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
  const UniqueFd out(
      ::open(unseen.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
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
  takeExactWords(all.value("exact", json::array()), facts);
  if (all.contains("exitStatus")) {
    facts.exitStatus = all["exitStatus"].get<std::int32_t>();
  }
  if (all.contains("longestWait")) {
    facts.longestWait = all["longestWait"].get<std::uint64_t>();
  }
  if (all.contains("groups")) {
    facts.groups = bytesOfText(all["groups"].get<std::string>());
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
    if (one.contains("stuck")) {
      const json& stuck = one["stuck"];
      end.stuck =
          StuckIn{stuck.value("proven", false), stuck.value("place", ""),
                  stuck.value("peer", StuckIn::kNotKnown), stuck.value("tag", StuckIn::kAny)};
    }
  }
  return facts;
}

}  // namespace

Result<RunFacts> readFacts(const std::string& logDirectory) {
  const Result<std::string> text = readInLogs(logDirectory, "run.json", kMostInText);
  if (!text) {
    return text.error();
  }
  const json all = json::parse(*text, nullptr, false);
  if (all.is_object()) {
    try {
      return factsOf(all);
    } catch (const json::exception&) {  // a value of another type
    }
  }
  return Error{ErrorCode::Damaged, "cannot read " + logDirectory + "/run.json",
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
