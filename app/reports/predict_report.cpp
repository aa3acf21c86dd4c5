// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reports/predict_report.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <set>

#include "app/collation/event_text.h"
#include "app/collation/failure.h"
#include "app/collation/message_sizes.h"
#include "app/replaying/report_parts.h"

namespace pf::app {
namespace {

using nlohmann::json;

constexpr const char* kHolds =
    "Each prediction holds if the program makes the same calls whatever it receives; a run tells "
    "(docs/predicting.md).\n";

const char* nameOf(PredictionKind kind) {
  switch (kind) {
    case PredictionKind::Deadlock:
      return "deadlock";
    case PredictionKind::Truncation:
      return "truncation";
    case PredictionKind::Unreceived:
      break;
  }
  return "unreceived";
}

const char* nameOf(Confirmation::State state) {
  switch (state) {
    case Confirmation::State::Confirmed:
      return "confirmed";
    case Confirmation::State::Otherwise:
      return "otherwise";
    case Confirmation::State::NotTried:
      break;
  }
  return "not tried";
}

bool sendsWait(const Prediction& prediction) {
  return std::ranges::any_of(prediction.blocked,
                             [](const BlockedRank& rank) { return rank.standardSend; });
}

class Report {
 public:
  Report(const std::string& trace, const Execution& execution, const Predictions& predictions,
         const PredictOptions& options, std::optional<WhatFailed> recorded)
      : m_trace(trace),
        m_execution(execution),
        m_predictions(predictions),
        m_options(options),
        m_recorded(std::move(recorded)) {
    for (const Prediction& each : predictions.found) {
      m_confirmations.push_back(
          options.confirm ? options.confirm(each)
                          : Confirmation{Confirmation::State::NotTried, options.whyNot, ""});
    }
  }

  [[nodiscard]] std::string text() const {
    std::string text = m_recorded ? std::string("this recording itself ") +
                                        (m_recorded->hangs ? "hangs: " : "failed: ") +
                                        m_recorded->sentence + "\n"
                                  : std::string();
    text += summary();
    for (std::size_t i = 0; i < m_predictions.found.size(); ++i) {
      text += predictionText(i);
    }
    return text;
  }

  [[nodiscard]] json document() const {
    json found = json::array();
    for (std::size_t i = 0; i < m_predictions.found.size(); ++i) {
      found.push_back(predictionJson(i));
    }
    return {{"predictions", found},
            {"recordedFailure", m_recorded ? json(m_recorded->sentence) : json(nullptr)},
            {"recordedHang", m_recorded && m_recorded->hangs},
            {"decided", m_predictions.decided},
            {"more", m_predictions.more},
            {"truncationLooked", m_predictions.truncationLooked},
            {"receivesWithoutRoom", m_predictions.receivesWithoutRoom},
            {"unreceivedLooked", m_predictions.unreceivedLooked},
            {"ranks", m_execution.ranks.size()},
            {"messages", m_predictions.messages},
            {"matches", m_predictions.matches}};
  }

 private:
  [[nodiscard]] std::string summary() const {
    std::string text = m_predictions.found.empty()
                           ? "nothing predicted"
                           : std::to_string(m_predictions.found.size()) +
                                 (m_predictions.found.size() == 1 ? " prediction" : " predictions");
    text += ": " + std::to_string(m_execution.ranks.size()) + " ranks, " +
            std::to_string(m_predictions.messages) + " messages, " +
            std::to_string(m_predictions.matches) + " ways to match them\n";
    text += m_predictions.decided
                ? ""
                : "not decided in " + std::to_string(m_options.time.count() / 1000) +
                      " s: there may be more; --time gives it more\n";
    text += m_predictions.more ? "and there are more of a kind: those of the first ten classes of "
                                 "call sites are told\n"
                               : "";
    text += m_predictions.truncationLooked ? ""
                                           : "not looked for: messages that do not fit, as the "
                                             "sizes of receives are not in this recording\n";
    if (m_predictions.truncationLooked && m_predictions.receivesWithoutRoom > 0) {
      text += "not looked for: messages that do not fit " +
              std::to_string(m_predictions.receivesWithoutRoom) +
              (m_predictions.receivesWithoutRoom == 1 ? " receive" : " receives") +
              " (MPI_Mrecv, MPI_Imrecv), the size of which is not in this recording\n";
    }
    text += m_predictions.unreceivedLooked ? ""
                                           : "not looked for: messages that nobody receives, as "
                                             "the recording ends before the program\n";
    return text + kHolds;
  }

  [[nodiscard]] std::string predictionText(std::size_t number) const {
    const Prediction& prediction = m_predictions.found[number];
    std::string text = "\n" + std::to_string(number + 1) + ". " + title(prediction) + "\n";
    for (const PredictedMatch& flip : prediction.flips) {
      text += "    if " + eventLine(m_execution, flip.receive) +
              (flip.probe ? "\n        sees     " : "\n        takes    ") +
              eventLine(m_execution, flip.send) + "\n        not      " +
              (flip.recorded.valid() ? eventLine(m_execution, flip.recorded)
                                     : std::string("nothing, as recorded")) +
              "\n";
    }
    for (const BlockedRank& blocked : prediction.blocked) {
      text += "    waits for ever: " + eventLine(m_execution, blocked.event) +
              (blocked.standardSend ? ", for its receive" : "") + "\n";
    }
    if (prediction.kind == PredictionKind::Truncation) {
      text += "    " + std::to_string(prediction.bytes) + " bytes for " +
              std::to_string(prediction.room) + ": " + eventLine(m_execution, prediction.receive) +
              "\n    takes " + eventLine(m_execution, prediction.send) + "\n";
    }
    if (prediction.kind == PredictionKind::Unreceived) {
      text += "    received by nobody: " + eventLine(m_execution, prediction.send) + "\n";
    }
    return text + confirmationText(number);
  }

  [[nodiscard]] static std::string title(const Prediction& prediction) {
    switch (prediction.kind) {
      case PredictionKind::Deadlock:
        return sendsWait(prediction)
                   ? "deadlock where these sends wait for their receives, as MPI may let them "
                     "(synchronous, not buffered)"
                   : "deadlock, also where MPI buffers every standard send";
      case PredictionKind::Truncation:
        return "a message that does not fit (MPI_ERR_TRUNCATE)";
      case PredictionKind::Unreceived:
        break;
    }
    return "a message that nobody receives, and all ranks end";
  }

  [[nodiscard]] std::string confirmationText(std::size_t number) const {
    const Prediction& prediction = m_predictions.found[number];
    const Confirmation& made = m_confirmations[number];
    const std::string traceText = made.trace.empty() ? "" : "; its trace: " + made.trace;
    switch (made.state) {
      case Confirmation::State::Confirmed:
        return std::string("    confirmed: ") +
               (prediction.kind == PredictionKind::Deadlock ? "hangs" : made.why) + traceText +
               "\n";
      case Confirmation::State::Otherwise:
        return "    not confirmed: came out otherwise, " + made.why + traceText +
               (sendsWait(prediction) ? "; there MPI may have buffered the sends" : "") + "\n";
      case Confirmation::State::NotTried:
        break;
    }
    std::string text = "    not tried: " + made.why + "\n";
    if (!prediction.flips.empty()) {
      text += "    photofinish flip " + m_trace + " " + flipWords(prediction) + "\n";
    }
    return text;
  }

  [[nodiscard]] json eventJson(EventRef event) const {
    json out = json::object();
    if (!event.valid()) {
      return nullptr;
    }
    putPlace(out, m_execution, event);
    return out;
  }

  [[nodiscard]] json matchesJson(const std::vector<PredictedMatch>& matches) const {
    json out = json::array();
    for (const PredictedMatch& match : matches) {
      out.push_back({{"receive", eventJson(match.receive)},
                     {"probe", match.probe},
                     {"takes", eventJson(match.send)},
                     {"recorded", eventJson(match.recorded)}});
    }
    return out;
  }

  [[nodiscard]] json predictionJson(std::size_t number) const {
    const Prediction& prediction = m_predictions.found[number];
    const Confirmation& made = m_confirmations[number];
    json blocked = json::array();
    for (const BlockedRank& rank : prediction.blocked) {
      json one = eventJson(rank.event);
      one["standardSend"] = rank.standardSend;
      blocked.push_back(std::move(one));
    }
    const bool fits = prediction.kind != PredictionKind::Truncation;
    return {{"kind", nameOf(prediction.kind)},
            {"sends", sendsWait(prediction) ? "synchronous" : "buffered"},
            {"flips", matchesJson(prediction.flips)},
            {"flip", flipWords(prediction)},
            {"order", matchesJson(prediction.order)},
            {"blocked", blocked},
            {"receive", eventJson(prediction.receive)},
            {"send", eventJson(prediction.send)},
            {"bytes", fits ? json(nullptr) : json(prediction.bytes)},
            {"room", fits ? json(nullptr) : json(prediction.room)},
            {"confirmation",
             {{"state", nameOf(made.state)},
              {"why", made.why},
              {"trace", made.trace.empty() ? json(nullptr) : json(made.trace)}}}};
  }

  const std::string& m_trace;
  const Execution& m_execution;
  const Predictions& m_predictions;
  const PredictOptions& m_options;
  const std::optional<WhatFailed> m_recorded;  ///< how the recording itself failed
  std::vector<Confirmation> m_confirmations;
};

/// What the program used that the record has no events of, and that orders ranks or moves data between them.
Status onlyWhatIsModelled(db::TraceStore& store) {
  Result<std::vector<db::NotGuaranteed>> notes = store.notGuaranteed();
  if (!notes) {
    return notes.error();
  }
  std::set<std::string> used;
  for (const db::NotGuaranteed& note : *notes) {
    if (note.what.find("MPI_") != std::string::npos) {
      used.insert(note.what);
    }
  }
  if (used.empty()) {
    return {};
  }
  std::string names;
  for (const std::string& what : used) {
    names += (names.empty() ? "" : "; ") + what;
  }
  return Error{ErrorCode::Usage,
               "nothing can be predicted from " + store.path() + ": the program used " + names +
                   ", whose part in the order of messages is not modelled",
               "'photofinish races' lists what each receive could have taken instead."};
}

/// How large messages are, and how large what receives can take: where the logs have it.
void addSizes(db::TraceStore& store, PredictionFacts& facts) {
  const Result<std::vector<SizesOfRank>> sizes = messageSizes(store);
  if (!sizes) {
    return;
  }
  for (const SizesOfRank& rank : *sizes) {
    facts.sizes.push_back(rank.sent);
    facts.rooms.push_back(rank.rooms);
  }
  const bool known = std::ranges::any_of(facts.rooms, [](const auto& rooms) {
    return std::ranges::any_of(rooms, [](const auto& room) { return room.has_value(); });
  });
  if (!known) {  // recorded by a version that did not keep them
    facts.rooms.clear();
  }
}

}  // namespace

Result<PredictReport> predictReport(const std::string& trace, const PredictOptions& options) {
  Result<Loaded> loaded = load(trace);
  if (!loaded) {
    return loaded.error();
  }
  if (const Status modelled = onlyWhatIsModelled(loaded->store); !modelled) {
    return modelled.error();
  }
  PredictionFacts facts;
  for (const db::RankInfo& rank : loaded->store.ranks()) {
    facts.cut.push_back(!rank.complete);
  }
  addSizes(loaded->store, facts);
  PredictionLimits limits;
  limits.time = options.time;
  Result<Predictions> predictions = predict(loaded->execution, facts, limits);
  if (!predictions) {
    return predictions.error();
  }
  std::optional<WhatFailed> recorded =
      whatFailed(loaded->store.ranks(), loaded->store.run().exitStatus);
  const bool hangs = recorded && recorded->hangs;
  if (hangs) {  // that its sends may wait where they did not, of the very order that hangs
    std::erase_if(predictions->found,
                  [](const Prediction& each) { return each.flips.empty() && sendsWait(each); });
  }
  const Report report(trace, loaded->execution, *predictions, options, std::move(recorded));
  return PredictReport{options.json ? dump(report.document()) : report.text(),
                       hangs || !predictions->found.empty(), predictions->decided};
}

}  // namespace pf::app
