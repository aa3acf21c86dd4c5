// SPDX-License-Identifier: GPL-3.0-or-later
// What a CI run found, for people: text and Markdown; and how its reports are written.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "app/files/paths.h"
#include "app/reports/ci_result.h"
#include "app/reports/judged_classes.h"
#include "app/traces/own_traces.h"
#include "replay_engine/base/shown_text.h"

namespace pf::app {
namespace fs = std::filesystem;
namespace {

std::string ciCount(std::size_t number, const char* one, const char* many) {
  return std::to_string(number) + " " + (number == 1 ? one : many);
}

/// "new", "known: bug, issue 12", "benign: the sum …"
std::string ciState(const CiFinding& one) {
  if (one.isNew) {
    return one.survives ? "new" : "new: " + std::string(kNoNameText);
  }
  const std::string& reason = one.judged.reason;
  return std::string(nameOf(one.judged.verdict)) + (reason.empty() ? "" : ": " + reason);
}

/// Where to look: "run 3, kept as a.pft"
std::string ciRuns(const CiFinding& one, std::size_t runs) {
  std::string text = runs == 1 ? ""
                               : ciCount(one.runs, "run", "runs") + " of " + std::to_string(runs) +
                                     ", first run " + std::to_string(one.firstRun);
  if (!one.trace.empty()) {
    text += (text.empty() ? "" : ", ") + ("kept as " + one.trace);
  }
  return text;
}

std::string ciHeadline(const CiResult& result) {
  const std::size_t found = result.newFindings();
  std::string text = result.program + ": ";
  if (found == 0) {
    text += "nothing new";
  } else {
    text += ciCount(found, "new finding", "new findings");
    text += result.baseline.empty() ? "" : " that " + result.baseline + " does not know";
  }
  return text + ", " + ciCount(result.runs, "run", "runs") + ", " +
         ciCount(result.classes.size(), "class of races", "classes of races");
}

/// Nothing of a text of others is Markdown or HTML.
std::string markdownText(const std::string& text) {
  std::string out;
  for (const char byte : shown(text)) {
    if (byte == '&') {
      out += "&amp;";
    } else if (byte == '<') {
      out += "&lt;";
    } else if (byte == '\n' || byte == '\t') {
      out += ' ';
    } else {
      out +=
          std::string_view("\\`*_{}[]()#+-.!|>~@").find(byte) != std::string_view::npos ? "\\" : "";
      out += byte;
    }
  }
  return out;
}

/// In the first bytes of each report, in XML and Markdown, and in JSON: by them, it is known again.
constexpr std::string_view kCiMark = "<!-- photofinish ci -->";
constexpr std::string_view kCiMarkInJson = "\"photofinish ci/";
constexpr std::size_t kCiMarkWithin = 512;

}  // namespace

std::size_t CiResult::newFindings() const {
  const auto isNew = [](const CiFinding& one) { return one.isNew; };
  return static_cast<std::size_t>(std::ranges::count_if(classes, isNew) +
                                  std::ranges::count_if(outcomes, isNew));
}

std::string placeText(const CiPlace& place) {
  if (place.file.empty()) {
    return place.call + (place.function.empty() ? "" : " in " + place.function);
  }
  return place.call + " at " + fileName(place.file) + ":" + std::to_string(place.line) +
         (place.function.empty() ? "" : " (" + place.function + ")");
}

std::string sentenceOf(const CiClass& one) {
  std::string text =
      placeText(one.places.front()) + " can take either of several messages, sent by ";
  for (std::size_t i = 1; i < one.places.size(); ++i) {
    text += (i == 1 ? "" : ", ") + placeText(one.places[i]);
  }
  return text;
}

std::string ciText(const CiResult& result) {
  std::string text = ciHeadline(result) + "\n";
  for (const CiOutcome& one : result.outcomes) {
    const std::string where = ciRuns(one, result.runs);
    text += "\noutcome " + placesOf(one.name).front() +
            (one.good ? "" : " (" + ciState(one) + ")") + "\n";
    text += one.sentence.empty() ? "" : "    " + one.sentence + "\n";
    text += where.empty() ? "" : "    " + where + "\n";
  }
  for (const CiClass& one : result.classes) {
    const std::string where = ciRuns(one, result.runs);
    text +=
        "\nrace (" + ciState(one) + ")\n    received by " + placeText(one.places.front()) + "\n";
    for (std::size_t i = 1; i < one.places.size(); ++i) {
      text += "    sent by     " + placeText(one.places[i]) + "\n";
    }
    text += where.empty() ? "" : "    " + where + "\n";
    if (!one.trace.empty()) {
      text += "    'photofinish replay " + shownWord(one.trace) + " --until-race " +
              std::to_string(one.race) + "' goes to race " + std::to_string(one.race) + " of it\n";
    }
  }
  if (!result.unseen.empty()) {
    text += "\n" + ciCount(result.unseen.size(), "known class was", "known classes were") +
            " not seen: " + result.baseline + " keeps " +
            (result.unseen.size() == 1 ? "it" : "them") + "\n";
  }
  if (result.updated) {
    text += "\n" + result.baseline + " has them now\n";
  } else if (result.newFindings() > 0) {
    const std::string file = result.baseline.empty() ? "NAME.races" : shownWord(result.baseline);
    text += "\n'photofinish ci --baseline " + file +
            " --update-baseline …' adds them to it; what they are is said there\n";
  }
  return text;
}

std::string ciMarkdown(const CiResult& result) {
  std::string text = std::string(kCiMark) + "\n### " + markdownText(ciHeadline(result)) + "\n";
  if (!result.outcomes.empty()) {
    text += "\n| outcome | runs | | what happened |\n|---|---|---|---|\n";
  }
  for (const CiOutcome& one : result.outcomes) {
    text += "| " + markdownText(placesOf(one.name).front()) + " | " + std::to_string(one.runs) +
            " | " +
            (one.good    ? ""
             : one.isNew ? "**new**"
                         : markdownText(ciState(one))) +
            " | " + markdownText(one.sentence) + " |\n";
  }
  if (!result.classes.empty()) {
    text += "\n| race: received by | sent by | runs | |\n|---|---|---|---|\n";
  }
  for (const CiClass& one : result.classes) {
    std::string sends;
    for (std::size_t i = 1; i < one.places.size(); ++i) {
      sends += (i == 1 ? "" : "<br>") + markdownText(placeText(one.places[i]));
    }
    text += "| " + markdownText(placeText(one.places.front())) + " | " + sends + " | " +
            std::to_string(one.runs) + " | " +
            (one.isNew ? "**new**" + (one.survives ? "" : markdownText(ciState(one).substr(3)))
                       : markdownText(ciState(one))) +
            " |\n";
  }
  for (const std::string& trace : result.traces) {
    text += (&trace == &result.traces.front() ? "\nTraces kept: " : ", ") + markdownText(trace);
  }
  return text + (result.traces.empty() ? "" : "\n");
}

Status mayBeCiReport(const std::string& path) {
  std::error_code unknown;
  const fs::file_type found = fs::status(path, unknown).type();
  if (found == fs::file_type::not_found || found == fs::file_type::character ||
      found == fs::file_type::fifo) {
    return {};
  }
  std::string head(kCiMarkWithin, '\0');
  if (found == fs::file_type::regular) {
    std::ifstream file(path, std::ios::binary);
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    if (file.gcount() == 0 || head.find(kCiMark) != std::string::npos ||
        head.find(kCiMarkInJson) != std::string::npos) {
      return {};
    }
  }
  return Error{ErrorCode::Usage, path + " is there, and is no report of 'photofinish ci'",
               "Move it away, or give the report another name."};
}

Status writeCiReport(const std::string& path, const std::string& text) {
  if (Status may = mayBeCiReport(path); !may) {
    return may;
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  return file ? Status()
              : Status(Error{ErrorCode::System, "cannot write " + path,
                             "Is the disk full, or its directory not there?"});
}

}  // namespace pf::app
