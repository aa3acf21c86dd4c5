// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/races/race_baseline.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "replay_engine/base/shown_text.h"

namespace pf {
namespace {

constexpr std::string_view kFirstLine = "photofinish races ";
constexpr std::string_view kVersion = "1";
constexpr std::size_t kMostBytes = std::size_t{16} << 20U;
constexpr std::size_t kLongestInFile = std::size_t{16} << 10U;  ///< bytes of a line
constexpr std::size_t kMostEntries = 100'000;
constexpr std::size_t kMostPlaces = 10'000;  ///< of an entry
constexpr std::string_view kWithoutLine = ": [";
constexpr std::string_view kWithoutLineEnd = "]";
constexpr std::string_view kNotKnown = "text not known: ";

constexpr std::string_view kReceive = "receive ";
constexpr std::string_view kOutcome = "outcome ";
constexpr std::string_view kSend = "  send ";
constexpr std::string_view kAt = "  at ";

constexpr std::array kUsualHeader = {
    "# Races and outcomes of this program that are known. 'photofinish ci' fails where others "
    "appear.",
    "# What is said of each is its last line: 'benign: WHY', 'bug: WHAT', or 'unknown' until "
    "somebody has judged it.",
    "# Places are a call, its function and the text of its line: keep them as they are. Lines that "
    "begin with # stay."};

/// Whether a byte can be in a line of the file: no control character.
bool isPrintable(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return code >= 0x20 && code != 0x7F;
}

bool isBlank(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n' || byte == '\v' ||
         byte == '\f';
}

/// One line, which no reader takes for another: blanks are one, and the rest can be printed.
std::string oneLine(std::string_view text) {
  std::string line;
  for (const char byte : text) {
    if (isBlank(byte)) {
      line += line.empty() || line.back() == ' ' ? "" : " ";
    } else {
      line += isPrintable(byte) ? byte : '?';
    }
  }
  if (!line.empty() && line.back() == ' ') {
    line.pop_back();
  }
  // Bytes that are no UTF-8, and characters that would turn the direction of writing.
  if (const std::string visible = shown(line); visible != line) {
    std::ranges::replace_if(
        line, [](char byte) { return (static_cast<unsigned char>(byte) & 0x80U) != 0; }, '?');
  }
  return line;
}

}  // namespace

const char* nameOf(RaceVerdict verdict) {
  switch (verdict) {
    case RaceVerdict::Benign:
      return "benign";
    case RaceVerdict::Bug:
      return "bug";
    case RaceVerdict::Unknown:
      break;
  }
  return "unknown";
}

std::optional<RaceVerdict> verdictOf(std::string_view name) {
  for (const RaceVerdict each : {RaceVerdict::Unknown, RaceVerdict::Benign, RaceVerdict::Bug}) {
    if (name == nameOf(each)) {
      return each;
    }
  }
  return std::nullopt;
}

std::string lineText(std::string_view line) {
  std::string text = oneLine(line.substr(0, kLongestLine + 1));
  return line.size() > kLongestLine ? std::string() : text;
}

namespace {

/// A line that a file can have.
std::string cutLine(std::string_view text) {
  return oneLine(text.substr(0, kLongestLine));
}

std::string callIn(const std::string& call, const std::string& function) {
  const std::string name = cutLine(function);
  return oneLine(call) + " " + (name.empty() ? "?" : name);
}

}  // namespace

std::string placeName(const std::string& call, const std::string& function, std::string_view line,
                      std::size_t alike) {
  return callIn(call, function) + (alike > 1 ? " #" + std::to_string(alike) : std::string()) +
         ": " + lineText(line);
}

std::string placeNameWithoutLine(const std::string& call, const std::string& function,
                                 const std::string& where) {
  return callIn(call, function) + std::string(kWithoutLine) + std::string(kNotKnown) +
         cutLine(where) + std::string(kWithoutLineEnd);
}

bool lacksLine(std::string_view name) {
  return name.find(std::string(kWithoutLine) + std::string(kNotKnown)) != std::string_view::npos;
}

std::string className(const std::string& receive, std::vector<std::string> sends) {
  std::ranges::sort(sends);
  sends.erase(std::unique(sends.begin(), sends.end()), sends.end());
  std::string name = receive;
  for (const std::string& send : sends) {
    name += "\n" + send;
  }
  return name;
}

bool survivesEdits(std::string_view name) {
  return name.find('\n') != std::string_view::npos && !lacksLine(name);
}

std::vector<std::string> placesOf(std::string_view name) {
  std::vector<std::string> places;
  for (;;) {
    const std::size_t end = name.find('\n');
    places.emplace_back(name.substr(0, end));
    if (end == std::string_view::npos) {
      return places;
    }
    name.remove_prefix(end + 1);
  }
}

/// Reads a file line by line; no line is believed.
class BaselineReader {
 public:
  BaselineReader(std::string_view text, const std::string& name) : m_rest(text), m_name(name) {}

  Result<RaceBaseline> read() {
    if (m_rest.size() > kMostBytes) {
      return Error{ErrorCode::Damaged,
                   m_name + " has more than " + std::to_string(kMostBytes >> 20U) +
                       " MiB and is no file of known races",
                   kAdvice};
    }
    Status status = takeLine() ? readFirst() : Status(wrong("it is empty"));
    while (status.ok() && takeLine()) {
      status = readLine();
    }
    if (status.ok()) {
      status = m_bad ? Status(*m_bad) : endEntry();
    }
    if (!status) {
      return status.error();
    }
    m_baseline.m_footer = std::move(m_comments);
    return std::move(m_baseline);
  }

 private:
  static constexpr const char* kAdvice =
      "Take the file from your version control again, or let 'photofinish races FILE "
      "--write-baseline' write a new one.";

  [[nodiscard]] Error wrong(const std::string& what) const {
    return Error{ErrorCode::Damaged,
                 m_name + ":" + std::to_string(std::max<std::size_t>(m_number, 1)) + ": " + what,
                 "Mend that line, or take the file from your version control again."};
  }
  /// What was read, cut, for a message.
  [[nodiscard]] std::string quoted() const {
    constexpr std::size_t kMost = 60;
    return "'" + shown(m_line.substr(0, kMost)) + (m_line.size() > kMost ? "…" : "") + "'";
  }

  /// False: there is none, or it can be none of this file.
  bool takeLine() {
    if (m_rest.empty() || m_bad) {
      return false;
    }
    const std::size_t end = m_rest.find('\n');
    m_line = m_rest.substr(0, end);
    m_rest.remove_prefix(end == std::string_view::npos ? m_rest.size() : end + 1);
    ++m_number;
    if (m_line.ends_with('\r')) {
      m_line.remove_suffix(1);
    }
    if (m_line.size() > kLongestInFile) {
      m_bad = wrong("the line is longer than " + std::to_string(kLongestInFile) + " bytes");
    } else if (!std::ranges::all_of(m_line, isPrintable)) {
      m_bad = wrong("the line has control characters: " + quoted());
    } else if (shown(m_line) != m_line) {
      m_bad =
          wrong("the line has what is no UTF-8, or turns the direction of writing: " + quoted());
    }
    return !m_bad;
  }

  Status readFirst() {
    if (!m_line.starts_with(kFirstLine)) {
      return Error{ErrorCode::Damaged,
                   m_name + " is no file of known races: it does not begin with '" +
                       std::string(kFirstLine) + std::string(kVersion) + "'",
                   kAdvice};
    }
    if (m_line.substr(kFirstLine.size()) != kVersion) {
      return Error{ErrorCode::Version,
                   m_name + " is of version " + quotedVersion() +
                       " of the format; this Photofinish reads version " + std::string(kVersion),
                   "Use the Photofinish that has written it."};
    }
    return {};
  }
  [[nodiscard]] std::string quotedVersion() const {
    return shown(m_line.substr(kFirstLine.size(), 20));
  }

  Status readLine() {
    if (m_line.find_first_not_of(' ') == std::string_view::npos) {
      m_inHeader = m_inHeader && m_baseline.m_header.empty();
      return {};
    }
    if (m_line.starts_with('#')) {
      (m_inHeader             ? m_baseline.m_header
       : m_entry && !m_judged ? m_entry->comments
                              : m_comments)
          .emplace_back(m_line);
      return {};
    }
    for (const std::string_view mark : {"<<<<<<<", "=======", ">>>>>>>", "|||||||"}) {
      if (m_line.starts_with(mark)) {
        return wrong("here are two versions that git could not merge");
      }
    }
    if (m_line.starts_with(kReceive) || m_line.starts_with(kOutcome)) {
      const Status ended = endEntry();
      return ended.ok() ? beginEntry() : ended;
    }
    return m_entry ? readPart()
                   : wrong("here begins neither 'receive …' nor 'outcome …': " + quoted());
  }

  Status beginEntry() {
    m_isClass = m_line.starts_with(kReceive);
    m_entry.emplace();
    m_entry->line = m_number;
    m_entry->comments = std::exchange(m_comments, {});
    m_inHeader = false;
    m_head = std::string(m_line.substr(m_isClass ? kReceive.size() : kOutcome.size()));
    m_parts.clear();
    m_judged = false;
    return m_head.find_first_not_of(' ') == std::string::npos ? Status(wrong("it names nothing"))
                                                              : Status();
  }

  /// A place of the entry, or what is said of it, which is its last line.
  Status readPart() {
    const std::string_view mark = m_isClass ? kSend : kAt;
    if (m_judged) {
      return wrong("behind what is said of an entry comes the next: " + quoted());
    }
    if (m_line.starts_with(mark)) {
      m_parts.emplace_back(m_line.substr(mark.size()));
      return m_parts.size() > kMostPlaces ? Status(wrong("the entry has too many places"))
                                          : Status();
    }
    const std::string_view said =
        m_line.substr(std::min(m_line.find_first_not_of(' '), m_line.size()));
    const std::size_t end = said.find(':');
    const std::optional<RaceVerdict> verdict = verdictOf(said.substr(0, end));
    if (!m_line.starts_with(' ') || !verdict) {
      return wrong(quoted() + " is neither '" + std::string(mark.substr(2)) +
                   "…' nor 'benign: WHY', 'bug: WHAT' or 'unknown'");
    }
    m_entry->judged = {
        *verdict, end == std::string_view::npos ? std::string() : oneLine(said.substr(end + 1))};
    m_judged = true;
    return {};
  }

  Status endEntry() {
    if (!m_entry) {
      return {};
    }
    if (!m_judged) {
      return atEntry(
          "nothing is said of this entry: its last line is 'benign: WHY', 'bug: WHAT' or "
          "'unknown'");
    }
    if (m_isClass && m_parts.empty()) {
      return atEntry("the class has no 'send …'");
    }
    const std::string name = className(m_head, std::move(m_parts));
    RaceBaseline::Entries& all = m_isClass ? m_baseline.m_classes : m_baseline.m_outcomes;
    const auto [at, isNew] = all.try_emplace(name, *m_entry);
    if (!isNew && at->second.judged != m_entry->judged) {
      return atEntry("something else is said of this entry in line " +
                     std::to_string(at->second.line));
    }
    m_entry.reset();
    return m_baseline.m_classes.size() + m_baseline.m_outcomes.size() > kMostEntries
               ? Status(
                     wrong("the file has more than " + std::to_string(kMostEntries) + " entries"))
               : Status();
  }
  [[nodiscard]] Status atEntry(const std::string& what) {
    m_number = m_entry->line;
    return wrong(what);
  }

  std::string_view m_rest;
  const std::string& m_name;
  std::string_view m_line;
  std::size_t m_number = 0;
  std::optional<Error> m_bad;
  RaceBaseline m_baseline;
  bool m_inHeader = true;
  std::vector<std::string> m_comments;  ///< of what comes next
  std::optional<RaceBaseline::Entry> m_entry;
  bool m_isClass = false;
  bool m_judged = false;
  std::string m_head;
  std::vector<std::string> m_parts;
};

Result<RaceBaseline> RaceBaseline::parse(std::string_view text, const std::string& name) {
  return BaselineReader(text, name).read();
}

std::string RaceBaseline::text() const {
  std::string text = std::string(kFirstLine) + std::string(kVersion) + "\n";
  const auto put = [&text](const std::string& line) { text += line + "\n"; };
  if (m_header.empty()) {
    std::ranges::for_each(kUsualHeader, [&](const char* line) { put(line); });
  }
  std::ranges::for_each(m_header, put);
  const auto putAll = [&](const Entries& entries, std::string_view head, std::string_view part) {
    for (const auto& [name, entry] : entries) {
      text += "\n";
      std::ranges::for_each(entry.comments, put);
      const std::vector<std::string> places = placesOf(name);
      put(std::string(head) + places.front());
      std::for_each(places.begin() + 1, places.end(),
                    [&](const std::string& place) { put(std::string(part) + place); });
      const std::string& reason = entry.judged.reason;
      put(std::string("  ") + nameOf(entry.judged.verdict) + (reason.empty() ? "" : ": ") + reason);
    }
  };
  putAll(m_classes, kReceive, kSend);
  putAll(m_outcomes, kOutcome, kAt);
  text += m_footer.empty() ? "" : "\n";
  std::ranges::for_each(m_footer, put);
  return text;
}

namespace {

/// Benign, not judged, bug.
int badness(const Judged& judged) {
  return judged.verdict == RaceVerdict::Benign ? 0 : judged.verdict == RaceVerdict::Unknown ? 1 : 2;
}

std::vector<std::string> namesOf(const auto& entries) {
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const auto& [name, entry] : entries) {
    names.push_back(name);
  }
  return names;
}

}  // namespace

const Judged* RaceBaseline::ofClass(const std::string& name) const {
  if (const auto found = m_classes.find(name); found != m_classes.end()) {
    return &found->second.judged;
  }
  const std::vector<std::string> places = placesOf(name);
  if (places.size() < 2) {
    return nullptr;  // no name of a class
  }
  const std::string receive = places.front() + "\n";
  const Judged* worst = nullptr;
  for (auto at = m_classes.lower_bound(receive);
       at != m_classes.end() && at->first.starts_with(receive); ++at) {
    const std::vector<std::string> known = placesOf(at->first);
    if (std::includes(known.begin() + 1, known.end(), places.begin() + 1, places.end()) &&
        (worst == nullptr || badness(at->second.judged) > badness(*worst))) {
      worst = &at->second.judged;
    }
  }
  return worst;
}

const Judged* RaceBaseline::ofOutcome(const std::string& name) const {
  const auto found = m_outcomes.find(name);
  return found == m_outcomes.end() ? nullptr : &found->second.judged;
}

void RaceBaseline::setClass(const std::string& name, const Judged& judged) {
  m_classes[name].judged = {judged.verdict, cutLine(judged.reason)};
}

void RaceBaseline::setOutcome(const std::string& name, const Judged& judged) {
  m_outcomes[name].judged = {judged.verdict, cutLine(judged.reason)};
}

std::size_t RaceBaseline::add(std::vector<std::string> names, const RaceBaseline& verdicts) {
  std::erase_if(names, [](const std::string& name) { return !survivesEdits(name); });
  std::ranges::stable_sort(names, std::greater<>(),
                           [](const std::string& name) { return placesOf(name).size(); });
  std::size_t added = 0;
  for (const std::string& name : names) {
    const Judged* said = verdicts.ofClass(name);
    const Judged* known = ofClass(name);
    if (known == nullptr || (said != nullptr && !(*said == *known))) {
      added += known == nullptr ? 1 : 0;
      setClass(name, said != nullptr ? *said : Judged{});
    }
  }
  return added;
}

std::vector<std::string> RaceBaseline::classes() const {
  return namesOf(m_classes);
}

std::vector<std::string> RaceBaseline::outcomes() const {
  return namesOf(m_outcomes);
}

}  // namespace pf
