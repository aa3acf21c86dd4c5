// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/mpi_call_query.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace pf::mi {
namespace {

std::string_view takeWord(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

std::optional<int> numberIn(std::string_view word) {
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() && value >= 0
             ? std::optional(value)
             : std::nullopt;
}

}  // namespace

std::optional<StandingCall> standingCallIn(std::string_view value) {
  const bool quoted = value.size() > 2 && (value.front() == '"' || value.front() == '\'') &&
                      value.back() == value.front();  // as the language of the frame has it
  if (!quoted) {
    return std::nullopt;  // 0
  }
  std::string_view rest = value.substr(1, value.size() - 2);
  const std::string_view name = takeWord(rest);
  if (name.empty()) {
    return std::nullopt;
  }
  StandingCall call;
  call.name = "MPI_" + std::string(name);
  call.name[4] = static_cast<char>(std::toupper(static_cast<unsigned char>(call.name[4])));
  const std::string_view peer = takeWord(rest);
  call.anySource = peer == "any";
  call.nobody = peer == "none";
  call.peer = numberIn(peer);
  const std::string_view tag = takeWord(rest);
  call.anyTag = tag == "any";
  call.tag = numberIn(tag);
  const std::string_view comm = takeWord(rest);
  call.comm = comm == "world"   ? StandingCall::Comm::World
              : comm == "other" ? StandingCall::Comm::Other
                                : StandingCall::Comm::Unknown;
  call.place = rest == "?" ? "" : std::string(rest);
  return call;
}

}  // namespace pf::mi
