// SPDX-License-Identifier: GPL-3.0-or-later
#include <nlohmann/json.hpp>

#include <array>
#include <cstdlib>
#include <utility>

#include "replay_engine/protocol/rank_page.h"
#include "replay_engine/protocol/session_directory.h"

namespace pf::protocol {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
constexpr std::array<std::pair<const char*, std::uint32_t>, 15> kModes{{
    {"record-choices", kRecordChoices},
    {"record-events", kRecordEvents},
    {"record-races", kRecordRaces},
    {"replay", kReplay},
    {"gate", kGate},
    {"jitter", kJitter},
    {"hold-after", kHoldAfter},
    {"trap-cycles", kTrapTsc},
    {"same-addresses", kSameAddresses},
    {"bounded-buffers", kBoundedBuffers},
    {"keep-contents", kKeepContents},
    {"replay-group", kReplayGroup},
    {"snapshots", kSnapshots},
    {"branch", kBranch},
    {"offers", kOffers},
}};

Error bad(const std::string& what) {
  return Error{ErrorCode::Damaged, "session.json cannot be used: " + what,
               "start the session again"};
}

bool read(const json& from, const char* name, std::string& out) {
  const auto it = from.find(name);
  if (it == from.end() || !it->is_string()) {
    return false;
  }
  out = it->get_ref<const std::string&>();
  return true;
}

bool read(const json& from, const char* name, bool& out) {
  const auto it = from.find(name);
  if (it == from.end() || !it->is_boolean()) {
    return false;
  }
  out = *it->get_ptr<const json::boolean_t*>();
  return true;
}

bool read(const json& from, const char* name, std::vector<std::string>& out) {
  const auto it = from.find(name);
  if (it == from.end() || !it->is_array()) {
    return false;
  }
  for (const json& each : *it) {
    if (!each.is_string()) {
      return false;
    }
    out.push_back(each.get_ref<const std::string&>());
  }
  return true;
}

/// Lists by the rank that they are of.
bool read(const json& from, const char* name,
          std::map<std::int32_t, std::vector<std::string>>& out) {
  const auto it = from.find(name);
  if (it == from.end() || !it->is_object()) {
    return false;
  }
  for (const auto& [rank, list] : it->items()) {
    if (!list.is_array() || !read(*it, rank.c_str(), out[std::atoi(rank.c_str())])) {
      return false;
    }
  }
  return true;
}

template <typename T>
bool readNumber(const json& from, const char* name, T& out) {
  const auto it = from.find(name);
  if (it == from.end() || !it->is_number_unsigned()) {
    return false;
  }
  const std::uint64_t value = *it->get_ptr<const json::number_unsigned_t*>();
  out = static_cast<T>(value);
  return std::in_range<T>(value);
}

/// Ranks, each once.
bool readRanks(const json& from, const char* name, std::vector<std::int32_t>& out) {
  const auto it = from.find(name);
  if (it == from.end() || !it->is_array()) {
    return false;
  }
  for (const json& each : *it) {
    if (!each.is_number_unsigned() || !std::in_range<std::int32_t>(each.get<std::uint64_t>())) {
      return false;
    }
    out.push_back(static_cast<std::int32_t>(each.get<std::uint64_t>()));
  }
  return true;
}

bool readMode(const json& from, std::uint32_t& mode) {
  const auto it = from.find("mode");
  if (it == from.end() || !it->is_array()) {
    return false;
  }
  for (const json& name : *it) {
    bool known = false;
    for (const auto& [text, bit] : kModes) {
      if (name.is_string() && name.get_ref<const std::string&>() == text) {
        mode |= bit;
        known = true;
      }
    }
    if (!known) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string toJson(const SessionConfig& config) {
  json modes = json::array();
  for (const auto& [text, bit] : kModes) {
    if ((config.mode & bit) != 0) {
      modes.push_back(text);
    }
  }
  json recorded = json::object();
  for (const auto& [rank, facts] : config.recordedEnvironment) {
    recorded[std::to_string(rank)] = facts;
  }
  const json out = {{"version", kVersion},
                    {"mode", modes},
                    {"logDirectory", config.logDirectory},
                    {"salt", config.salt},
                    {"jitterSeed", config.jitterSeed},
                    {"algorithm", config.algorithm},
                    {"ranks", static_cast<std::uint32_t>(config.ranks)},
                    {"running", config.running},
                    {"groups", config.groups},
                    {"pty", config.pty},
                    {"echo", config.echo},
                    {"watchIntervalMs", config.watchIntervalMs},
                    {"interposer", config.interposer},
                    {"gdb", config.gdb},
                    {"environment", config.environment},
                    {"variables", config.variables},
                    {"recordedEnvironment", recorded},
                    {"giveBack", config.giveBack}};
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<SessionConfig> configFromJson(const std::string& text) {
  const json in = json::parse(text, nullptr, false);
  if (!in.is_object()) {
    return bad("it is not a JSON object");
  }
  int version = 0;
  if (!readNumber(in, "version", version) || version != kVersion) {
    return Error{ErrorCode::Version, "session.json is of another version of photofinish",
                 "use one version of photofinish for the whole session"};
  }
  SessionConfig out;
  const bool ok =
      readMode(in, out.mode) && read(in, "logDirectory", out.logDirectory) &&
      readNumber(in, "salt", out.salt) && readNumber(in, "jitterSeed", out.jitterSeed) &&
      readNumber(in, "algorithm", out.algorithm) && readNumber(in, "ranks", out.ranks) &&
      readRanks(in, "running", out.running) && read(in, "groups", out.groups) &&
      read(in, "pty", out.pty) && read(in, "echo", out.echo) &&
      readNumber(in, "watchIntervalMs", out.watchIntervalMs) &&
      read(in, "interposer", out.interposer) && read(in, "gdb", out.gdb) &&
      read(in, "environment", out.environment) && read(in, "variables", out.variables) &&
      read(in, "recordedEnvironment", out.recordedEnvironment) &&
      read(in, "giveBack", out.giveBack);
  if (!ok) {
    return bad("a field is missing or has a value that cannot be");
  }
  if (out.watchIntervalMs == 0 || out.watchIntervalMs > 60'000) {
    return bad("watchIntervalMs is not in 1 … 60000");
  }
  return out;
}

}  // namespace pf::protocol
