// SPDX-License-Identifier: GPL-3.0-or-later
// What a CI run found as JUnit's XML, as test reports of Jenkins, GitLab and others read it.
#include <string_view>

#include "app/reports/ci_result.h"
#include "app/reports/judged_classes.h"
#include "replay_engine/base/shown_text.h"

namespace pf::app {
namespace {

/// Text of others in XML 1.0, which has no control characters.
std::string xmlText(std::string_view text) {
  std::string out;
  for (const char byte : shown(text)) {
    switch (byte) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      case '\t':
        out += ' ';
        break;
      default:
        out += byte;
    }
  }
  return out;
}

std::string xmlAttribute(const char* name, std::string_view value) {
  return std::string(" ") + name + "=\"" + xmlText(value) + "\"";
}

std::string xmlNumber(const char* name, std::size_t value) {
  return xmlAttribute(name, std::to_string(value));
}

/// `kind`: "races" or "outcomes".
std::string junitCase(const CiFinding& one, const char* kind, const std::string& name,
                      const std::string& text) {
  std::string out = "    <testcase" +
                    xmlAttribute("classname", std::string("photofinish.") + kind) +
                    xmlAttribute("name", name);
  if (!one.places.empty() && !one.places.front().file.empty()) {
    out += xmlAttribute("file", one.places.front().file) +
           xmlNumber("line", static_cast<std::size_t>(one.places.front().line));
  }
  if (one.isNew) {
    out += ">\n      <failure" + xmlAttribute("type", "new") +
           xmlAttribute("message", "new: " + text) + ">" + xmlText(one.name) +
           (one.survives ? "" : "&#10;" + xmlText(kNoNameText)) +
           (one.trace.empty() ? "" : "&#10;kept as " + xmlText(one.trace)) +
           "</failure>\n    </testcase>\n";
    return out;
  }
  const std::string& reason = one.judged.reason;
  return out + ">\n      <system-out>" +
         xmlText(std::string(nameOf(one.judged.verdict)) + (reason.empty() ? "" : ": " + reason)) +
         "</system-out>\n    </testcase>\n";
}

}  // namespace

std::string ciJunit(const CiResult& result) {
  const std::string counts = xmlNumber("tests", result.outcomes.size() + result.classes.size()) +
                             xmlNumber("failures", result.newFindings()) + xmlNumber("errors", 0) +
                             xmlNumber("skipped", 0);
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- photofinish ci -->\n<testsuites" +
      xmlAttribute("name", "photofinish") + counts + ">\n  <testsuite" +
      xmlAttribute("name", result.program) + counts + ">\n";
  for (const CiOutcome& one : result.outcomes) {
    text += junitCase(one, "outcomes", placesOf(one.name).front(), one.sentence);
  }
  for (const CiClass& one : result.classes) {
    std::string name = placeText(one.places.front()) + " <-";
    for (std::size_t i = 1; i < one.places.size(); ++i) {
      name += (i == 1 ? " " : ", ") + placeText(one.places[i]);
    }
    text += junitCase(one, "races", name, sentenceOf(one));
  }
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace pf::app
