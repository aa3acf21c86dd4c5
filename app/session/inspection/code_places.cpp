// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/inspection/code_places.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

namespace pf::session {
namespace {

/// A line of maps: "from-to r-xp offset device inode   /path".
struct Mapping {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t offset = 0;
  std::string_view file;
};

std::string_view nextWord(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

bool readHex(std::string_view text, std::uint64_t& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return problem == std::errc() && end == text.data() + text.size() && !text.empty();
}

/// Of code that a file has. Nothing: the line is of something else.
std::optional<Mapping> mappingOf(std::string_view line) {
  Mapping found;
  const std::string_view range = nextWord(line);
  const std::string_view rights = nextWord(line);
  const std::string_view offset = nextWord(line);
  (void)nextWord(line);  // device
  (void)nextWord(line);  // inode
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  found.file = line;
  const std::size_t dash = range.find('-');
  const bool read = dash != std::string_view::npos && readHex(range.substr(0, dash), found.from) &&
                    readHex(range.substr(dash + 1), found.to) && readHex(offset, found.offset);
  const bool code = rights.size() > 2 && rights[2] == 'x' && found.file.starts_with('/');
  return read && code ? std::optional<Mapping>(found) : std::nullopt;
}

/// The first that `wanted` says yes to.
template <typename Wanted>
std::optional<Mapping> find(std::string_view maps, const Wanted& wanted) {
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    if (const std::optional<Mapping> mapping = mappingOf(line); mapping && wanted(*mapping)) {
      return mapping;
    }
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
  }
  return std::nullopt;
}

}  // namespace

std::string memoryMaps(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<CodePlace> codePlaceOf(std::string_view maps, std::uint64_t address) {
  const std::optional<Mapping> mapping = find(
      maps, [address](const Mapping& each) { return address >= each.from && address < each.to; });
  return mapping ? std::optional<CodePlace>(
                       {std::string(mapping->file), address - mapping->from + mapping->offset})
                 : std::nullopt;
}

std::optional<std::uint64_t> addressOf(std::string_view maps, const CodePlace& place) {
  const std::optional<Mapping> mapping = find(maps, [&place](const Mapping& each) {
    return each.file == place.file && place.offset >= each.offset &&
           place.offset - each.offset < each.to - each.from;
  });
  return mapping ? std::optional<std::uint64_t>(place.offset - mapping->offset + mapping->from)
                 : std::nullopt;
}

}  // namespace pf::session
