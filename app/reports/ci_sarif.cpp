// SPDX-License-Identifier: GPL-3.0-or-later
// What a CI run found as SARIF 2.1.0 (OASIS Standard, 27 March 2020; paragraphs are its).
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string_view>

#include "app/files/paths.h"
#include "app/files/sha256.h"
#include "app/reports/ci_result.h"
#include "app/version.h"

namespace pf::app {
namespace {

using nlohmann::json;

constexpr const char* kSarifSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json";
constexpr const char* kSarifBase = "WORKDIR";

enum SarifRule : std::uint8_t { kRaceRule, kOutcomeRule };

json sarifRules() {
  return json::array(
      {{{"id", "message-race"},
        {"name", "MessageRace"},
        {"shortDescription", {{"text", "A receive that could have taken another message"}}},
        {"help",
         {{"text",
           "If the order does not matter, say so in the file of known races; "
           "'photofinish replay FILE --until-race N' goes to the receive."}}}},
       {{"id", "outcome"},
        {"name", "Outcome"},
        {"shortDescription", {{"text", "A run that did not end well"}}},
        {"help",
         {{"text", "'photofinish FILE' opens the run in the window, at its failing receive."}}}}});
}

/// A path as a URI reference (RFC 3986).
std::string sarifUri(std::string_view path) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string uri;
  for (const char byte : path) {
    if (kPlain.find(byte) != std::string_view::npos) {
      uri += byte;
    } else {
      const auto code = static_cast<unsigned char>(byte);
      uri += '%';
      uri += kDigits[code >> 4U];
      uri += kDigits[code & 15U];
    }
  }
  return uri;
}

/// With a '/' at its end.
std::string workingDirectory() {
  const std::string path = absolutePath(".");
  return path.ends_with('/') ? path : path + "/";
}

/// 3.4: below the working directory from there, else from the root.
json sarifArtifact(const std::string& file) {
  const std::string path = absolutePath(file);
  const std::string here = workingDirectory();
  return path.starts_with(here)
             ? json{{"uri", sarifUri(std::string_view(path).substr(here.size()))},
                    {"uriBaseId", kSarifBase}}
             : json{{"uri", "file://" + sarifUri(path)}};
}

/// 3.28
json sarifLocation(const CiPlace& place) {
  json out = json::object();
  if (!place.function.empty()) {
    out["logicalLocations"] =
        json::array({{{"fullyQualifiedName", place.function}, {"kind", "function"}}});
  }
  if (!place.file.empty()) {
    out["physicalLocation"] = {{"artifactLocation", sarifArtifact(place.file)}};
    if (place.line > 0) {
      out["physicalLocation"]["region"] = {{"startLine", place.line}};
    }
  }
  out["message"] = {{"text", placeText(place)}};
  return out;
}

const char* sarifLevel(const CiFinding& one) {
  if (one.isNew) {
    return "error";
  }
  return one.judged.verdict == RaceVerdict::Bug ? "warning" : "note";
}

/// 3.27
json sarifResult(const CiFinding& one, SarifRule rule, const std::string& text) {
  json out = {{"ruleId", sarifRules()[rule]["id"]},
              {"ruleIndex", static_cast<int>(rule)},
              {"level", sarifLevel(one)},
              {"kind", "fail"},
              {"baselineState", one.isNew ? "new" : "unchanged"},
              {"message", {{"text", text}}},
              {"partialFingerprints", {{"name/v1", sha256(one.name)}}},
              {"properties",
               {{"runs", one.runs},
                {"firstRun", one.firstRun},
                {"verdict", nameOf(one.judged.verdict)},
                {"name", placesOf(one.name)}}}};
  if (!one.places.empty()) {
    out["locations"] = json::array({sarifLocation(one.places.front())});
  }
  for (std::size_t i = 1; i < one.places.size(); ++i) {
    json more = sarifLocation(one.places[i]);
    more["id"] = i;
    out["relatedLocations"].push_back(std::move(more));
  }
  if (!one.trace.empty()) {
    out["attachments"] = json::array({{{"artifactLocation", sarifArtifact(one.trace)},
                                       {"description", {{"text", "the recorded run"}}}}});
  }
  if (!one.isNew && one.judged.verdict == RaceVerdict::Benign) {  // 3.35
    out["suppressions"] =
        json::array({{{"kind", "external"}, {"justification", one.judged.reason}}});
  }
  return out;
}

}  // namespace

std::string ciSarif(const CiResult& all) {
  json results = json::array();
  for (const CiOutcome& one : all.outcomes) {
    if (!one.good) {
      results.push_back(sarifResult(one, kOutcomeRule, one.sentence));
    }
  }
  for (const CiClass& one : all.classes) {
    results.push_back(sarifResult(one, kRaceRule, sentenceOf(one)));
  }
  json run = {
      {"automationDetails", {{"id", "photofinish ci/" + all.program + "/"}}},
      {"tool",
       {{"driver", {{"name", "Photofinish"}, {"version", kVersion}, {"rules", sarifRules()}}}}},
      {"originalUriBaseIds", {{kSarifBase, {{"uri", "file://" + sarifUri(workingDirectory())}}}}},
      {"invocations",
       json::array({{{"executionSuccessful", true},
                     {"properties", {{"command", all.command}, {"runs", all.runs}}}}})},
      {"columnKind", "utf16CodeUnits"},
      {"results", results}};
  const json document = {
      {"$schema", kSarifSchema}, {"version", "2.1.0"}, {"runs", json::array({run})}};
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace pf::app
