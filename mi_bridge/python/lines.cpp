// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python/lines.h"

#include <algorithm>
#include <cstring>

namespace pf::mi {
namespace {

using cpython::LinePlace;
using cpython::LineStops;

bool hasNul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

}  // namespace

bool isPythonSource(std::string_view file) {
  return file.ends_with(".py");
}

std::string tellerQuestion() {
  return "-data-read-memory-bytes &pf_python " + std::to_string(cpython::kStopsBegin);
}

Result<PythonTeller> tellerOf(std::uint64_t begin, const std::string& bytes) {
  std::array<std::uint32_t, cpython::kStopsBegin / sizeof(std::uint32_t)> words{};
  if (begin == 0 || bytes.size() < sizeof words) {
    return Error{ErrorCode::Damaged, "GDB gave less memory than was asked for", {}};
  }
  std::memcpy(words.data(), bytes.data(), sizeof words);
  return PythonTeller{begin, words[offsetof(LineStops, ready) / sizeof words[0]] != 0,
                      words[offsetof(LineStops, telling) / sizeof words[0]]};
}

void PythonLines::begin(std::uint64_t address) {
  m_address = address;
  m_places = {};
}

Result<std::size_t> PythonLines::take(const PythonPlace& place) {
  if (place.file.size() >= sizeof LinePlace::file || hasNul(place.file)) {
    return Error{ErrorCode::Usage, "the path of the file is too long for a line of Python",
                 "give its last parts only"};
  }
  if (place.condition.size() >= sizeof LinePlace::condition || hasNul(place.condition)) {
    return Error{ErrorCode::Usage, "the condition is too long for a line of Python",
                 "put it into a function of the program, and call that"};
  }
  const auto free =
      std::find_if(m_places.begin(), m_places.end(), [](const Slot& slot) { return !slot.taken; });
  if (free == m_places.end()) {
    return Error{ErrorCode::Usage,
                 "there are " + std::to_string(m_places.size()) +
                     " breakpoints at lines of Python, and no more are possible",
                 "remove one"};
  }
  *free = {true, place};
  return static_cast<std::size_t>(free - m_places.begin());
}

void PythonLines::release(std::size_t slot) {
  m_places.at(slot) = {};
}

std::string PythonLines::write(std::size_t offset, const void* bytes, std::size_t size) const {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "-data-write-memory-bytes " + std::to_string(m_address + offset) + " ";
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(static_cast<const char*>(bytes)[i]);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::vector<std::string> PythonLines::commandsFor(std::size_t slot) const {
  const Slot& changed = m_places.at(slot);
  const PythonPlace& place = changed.place;
  const std::size_t at = offsetof(LineStops, places) + slot * sizeof(LinePlace);
  std::vector<std::string> out;
  if (changed.taken) {  // texts with the NUL behind them
    out.push_back(write(at + offsetof(LinePlace, file), place.file.c_str(), place.file.size() + 1));
    out.push_back(write(at + offsetof(LinePlace, condition), place.condition.c_str(),
                        place.condition.size() + 1));
  }
  const auto line = static_cast<std::uint32_t>(place.enabled ? place.line : 0);
  out.push_back(write(offsetof(LineStops, lines) + slot * sizeof line, &line, sizeof line));
  const std::uint32_t wanted =
      std::any_of(m_places.begin(), m_places.end(),
                  [](const Slot& each) { return each.taken && each.place.enabled; })
          ? 1
          : 0;
  out.push_back(write(offsetof(LineStops, wanted), &wanted, sizeof wanted));
  return out;
}

std::string PythonLines::clearCommand() const {
  const std::array<char, cpython::kStopsEnd - cpython::kStopsBegin> nothing{};
  return write(cpython::kStopsBegin, nothing.data(), nothing.size());
}

std::string PythonLines::stepCommand(cpython::LineStep step, int outer) const {
  struct {
    cpython::LineStep step;
    std::uint32_t isNew;
    std::int32_t outer;
  } const words{step, step == cpython::LineStep::None ? 0U : 1U, outer};
  static_assert(offsetof(LineStops, stepOuter) + sizeof words.outer - offsetof(LineStops, step) ==
                sizeof words);
  return write(offsetof(LineStops, step), &words, sizeof words);
}

std::string PythonLines::conditionOf(std::size_t slot) const {
  return "(*(unsigned long*)" + std::to_string(m_address) + " >> " + std::to_string(slot) + ") & 1";
}

}  // namespace pf::mi
