// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/printed_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "app/collation/log_files.h"
#include "replay_engine/base/shown_text.h"

namespace pf::app {
namespace {

constexpr std::size_t kOfAStream = kFirstPrinted + kLastPrinted;
constexpr std::size_t kLongestLine = 200;

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Without mpirun's mark of --tag-output, "[1,0]<stderr>:".
std::string_view untagged(std::string_view line) {
  if (line.starts_with('[')) {
    const std::size_t end = line.find(">:");
    if (end != std::string_view::npos &&
        line.substr(0, end).find("]<std") != std::string_view::npos) {
      line.remove_prefix(end + 2);
    }
  }
  return line;
}

/// And without blanks around.
std::string_view bare(std::string_view given) {
  const std::string_view line = untagged(given);
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = line.find_first_not_of(kBlanks);
  return first == std::string_view::npos
             ? std::string_view()
             : line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
}

/// Open MPI's messages stand between two of them.
bool isRule(std::string_view line) {
  return line.size() >= 20 && line.find_first_not_of('-') == std::string_view::npos;
}

/// "[host:4711] …", as Open MPI's processes write.
bool isOfAProcess(std::string_view line) {
  const std::size_t end = line.find(']');
  const std::size_t colon = line.substr(0, end).rfind(':');
  return line.starts_with('[') && end != std::string_view::npos &&
         colon != std::string_view::npos && colon + 1 < end &&
         line.substr(colon + 1, end - colon - 1).find_first_not_of("0123456789") ==
             std::string_view::npos;
}

bool isOfALauncher(std::string_view line) {
  static constexpr std::array<std::string_view, 11> kBeginnings{
      "mpirun",
      "mpiexec",
      "orterun",
      "prterun",
      "srun: ",
      "slurmstepd: ",
      "photofinish",
      "====",
      "=   ",
      "YOUR APPLICATION TERMINATED",
      "This typically refers to a problem"};
  return isOfAProcess(line) || std::ranges::any_of(kBeginnings, [line](std::string_view each) {
           return line.starts_with(each);
         });
}

bool isOfPythonsLibraries(std::string_view path) {
  return path.starts_with("<frozen ") ||
         std::ranges::any_of(
             std::array<std::string_view, 4>{"/dist-packages/", "/site-packages/", "/lib/python3",
                                             "/lib64/python3"},
             [path](std::string_view each) { return path.find(each) != std::string_view::npos; });
}

/// Of a line `  File "/src/a.py", line 12, in work` of Python's tracebacks; that of a SyntaxError has no function.
std::optional<TracedFrame> tracedFrame(std::string_view line) {
  constexpr std::string_view kFile = "  File \"";
  constexpr std::string_view kLine = "\", line ";
  constexpr std::string_view kFunction = ", in ";
  const std::size_t number = line.find(kLine);
  if (!line.starts_with(kFile) || number == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view path = line.substr(kFile.size(), number - kFile.size());
  std::string_view rest = line.substr(number + kLine.size());
  TracedFrame frame{std::string(path), 0, {}, !isOfPythonsLibraries(path)};
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), frame.line);
  if (error != std::errc()) {
    return std::nullopt;
  }
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (rest.starts_with(kFunction)) {
    frame.function = rest.substr(kFunction.size());
  }
  return frame;
}

/// The traceback that comes just before line `message`.
std::vector<TracedFrame> tracebackBefore(const std::vector<std::string_view>& lines,
                                         std::size_t message) {
  std::vector<TracedFrame> frames;
  for (std::size_t i = message; i-- > 0;) {
    const std::string_view line = untagged(lines[i]);
    if (line.starts_with("Traceback (most recent call last):")) {
      std::ranges::reverse(frames);
      return frames;
    }
    if (!line.starts_with("  ")) {
      break;
    }
    if (std::optional<TracedFrame> frame = tracedFrame(line)) {
      frames.push_back(std::move(*frame));
    }
  }
  return {};
}

LastPrinted lastOf(const db::Printed& printed) {
  const std::optional<db::RawBytes>& text = printed.end ? printed.end : printed.beginning;
  const std::vector<std::string_view> lines =
      linesOf(text ? std::string_view(text->bytes) : std::string_view());
  bool inMessage = false;
  for (std::size_t i = lines.size(); i-- > 0;) {
    const std::string_view line = bare(lines[i]);
    if (isRule(line)) {
      inMessage = !inMessage;
    } else if (!inMessage && !line.empty() && !isOfALauncher(line)) {
      LastPrinted last{
          shown(line.substr(0, kLongestLine)) + (line.size() > kLongestLine ? " …" : ""),
          tracebackBefore(lines, i)};
      if (const TracedFrame* const frame = raisedIn(last.traceback)) {
        last.line += " (raised at " + frameText(*frame) + ")";
      }
      return last;
    }
  }
  return {};
}

}  // namespace

std::size_t placeOfPrinted(std::size_t stream, std::uint64_t number) {
  const std::uint64_t inStream =
      number < kFirstPrinted ? number : kFirstPrinted + (number - kFirstPrinted) % kLastPrinted;
  return sizeof(PrintedHeader) + stream * kOfAStream + static_cast<std::size_t>(inStream);
}

std::vector<db::Printed> printedIn(const std::string& logDirectory) {
  const Result<std::optional<std::string>> file =
      readIfInLogs(logDirectory, kPrintedFile, sizeof(PrintedHeader) + 2 * kOfAStream);
  PrintedHeader header;
  if (!file || !*file || (*file)->size() < sizeof header) {
    return {};
  }
  const std::string& bytes = **file;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::vector<db::Printed> all;
  for (std::size_t stream = 0; header.magic == kPrintedMagic && stream < 2; ++stream) {
    const std::uint64_t total = header.total[stream];
    const std::uint64_t first = std::min<std::uint64_t>(total, kFirstPrinted);
    const std::uint64_t last = std::min<std::uint64_t>(total - first, kLastPrinted);
    const auto part = [&](std::uint64_t from, std::uint64_t count) {
      db::RawBytes out;
      for (std::uint64_t i = from; i < from + count; ++i) {
        const std::size_t place = placeOfPrinted(stream, i);
        if (place >= bytes.size()) {
          return std::optional<db::RawBytes>();
        }
        out.bytes += bytes[place];
      }
      return std::optional(out);
    };
    db::Printed printed{
        static_cast<std::int32_t>(stream) + 1, part(0, first), total - first - last, {}};
    if (last > 0) {
      printed.end = part(total - last, last);
    }
    if (total > 0 && printed.beginning && printed.end.has_value() == (last > 0)) {
      all.push_back(std::move(printed));
    }
  }
  return all;
}

std::string frameText(const TracedFrame& frame) {
  const std::string_view path = frame.file;
  const std::string_view function = frame.function;
  return shown(path.substr(path.rfind('/') + 1).substr(0, kLongestLine)) + ":" +
         std::to_string(frame.line) +
         (function.empty() ? "" : ", in " + shown(function.substr(0, kLongestLine)));
}

std::vector<std::string> frameTexts(const std::vector<TracedFrame>& traceback) {
  constexpr std::size_t kFirst = 4;
  constexpr std::size_t kLast = 12;
  const std::size_t left =
      traceback.size() > kFirst + kLast + 1 ? traceback.size() - kFirst - kLast : 0;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < traceback.size(); ++i) {
    if (left > 0 && i == kFirst) {
      texts.push_back("… " + std::to_string(left) + " frames");
      i += left;
    }
    texts.push_back(frameText(traceback[i]));
  }
  return texts;
}

const TracedFrame* raisedIn(const std::vector<TracedFrame>& traceback) {
  const auto own =
      std::find_if(traceback.rbegin(), traceback.rend(), [](const auto& each) { return each.own; });
  return own != traceback.rend() ? &*own : traceback.empty() ? nullptr : &traceback.back();
}

LastPrinted lastPrinted(const std::vector<db::Printed>& printed) {
  LastPrinted found;
  for (const std::int32_t stream : {2, 1}) {
    for (const db::Printed& each : printed) {
      if (found.line.empty() && each.stream == stream) {
        found = lastOf(each);
      }
    }
  }
  return found;
}

}  // namespace pf::app
