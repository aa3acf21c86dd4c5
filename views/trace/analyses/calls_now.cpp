// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/analyses/calls_now.h"

#include <algorithm>
#include <map>
#include <utility>

#include <QCoreApplication>

#include "views/trace/analyses/trace_text.h"
#include "views/trace/analyses/waits_text.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

QString wording(const char* text) {
  return QCoreApplication::translate("pf::views::CallsNow", text);
}

bool isMessage(const CallNow& call) {
  return call.kind == CallNow::Kind::Receive || call.kind == CallNow::Kind::Send;
}

/// The rank in the job that it waits for; nothing: not known, or several.
std::optional<Rank> awaited(const CallNow& call, std::size_t ranks) {
  const bool known = isMessage(call) && call.ofWorld.value_or(false) && call.peer &&
                     index(*call.peer) < ranks && *call.peer != call.rank;
  return known ? call.peer : std::nullopt;
}

QString whyOf(const CallNow& call) {
  const QString at = call.place.isEmpty() ? QString() : wording(" at %1").arg(call.place);
  QString text = call.call;
  if (call.kind == CallNow::Kind::Completion) {
    return text + at + wording(", for which requests is not known");
  }
  if (isMessage(call)) {
    const QString who = call.anySource ? wording("any source")
                        : call.nobody  ? wording("MPI_PROC_NULL")
                        : call.peer    ? wording("rank %1").arg(*call.peer)
                                       : wording("a rank that is not known");
    text += (call.kind == CallNow::Kind::Send ? wording(" to %1") : wording(" from %1")).arg(who);
    if (call.anyTag || call.tag) {
      text += QStringLiteral(", ") + tagText(call.anyTag ? kAnyTag : *call.tag);
    }
  } else if (call.peer) {
    text += wording(", root %1").arg(*call.peer);
  }
  if (call.ofWorld && !*call.ofWorld) {
    text += wording(" of another communicator than MPI_COMM_WORLD");
  }
  return text + at;
}

/// Known ranks that have not come to the collective of MPI_COMM_WORLD that `call` is in.
std::vector<Rank> missingFrom(const CallNow& call, const std::vector<CallNow>& calls) {
  std::vector<Rank> missing;
  for (const CallNow& other : calls) {
    if (call.ofWorld.value_or(false) && other.rank != call.rank && other.call != call.call) {
      missing.push_back(other.rank);
    }
  }
  return missing;
}

}  // namespace

std::vector<Rank> circleOfCalls(const std::vector<CallNow>& calls, std::size_t ranks) {
  std::map<Rank, Rank> waits;
  for (const CallNow& call : calls) {
    if (const auto peer = awaited(call, ranks)) {
      waits[call.rank] = *peer;
    }
  }
  std::map<Rank, Rank> startOf;  // of the ranks that were come to: on which way
  for (const auto& [start, first] : waits) {
    std::vector<Rank> path;
    for (Rank rank = start; waits.contains(rank); rank = waits.at(rank)) {
      if (const auto [seen, fresh] = startOf.emplace(rank, start); !fresh) {
        if (seen->second == start) {
          return {std::find(path.begin(), path.end(), rank), path.end()};
        }
        break;  // that way led to no circle
      }
      path.push_back(rank);
    }
  }
  return {};
}

std::vector<RankWait> waitsOfCalls(const std::vector<CallNow>& calls, std::size_t ranks) {
  std::vector<RankWait> waits;
  for (const CallNow& call : calls) {
    if (call.kind == CallNow::Kind::NoCall || call.nobody) {
      continue;
    }
    RankWait wait;
    wait.rank = call.rank;
    wait.sure = false;
    wait.why = whyOf(call);
    if (const auto peer = awaited(call, ranks)) {
      wait.on = {*peer};
    } else if (call.anySource && call.ofWorld.value_or(false)) {
      for (Rank rank = 0; index(rank) < ranks; ++rank) {
        if (rank != call.rank) {
          wait.on.push_back(rank);
        }
      }
      wait.anyOne = wait.on.size() > 1;
    } else if (call.kind == CallNow::Kind::Collective) {
      wait.on = missingFrom(call, calls);
    }
    waits.push_back(std::move(wait));
  }
  return waits;
}

QStringList remarksOnCalls(const std::vector<CallNow>& calls, std::size_t ranks) {
  QStringList remarks;
  std::map<std::pair<QString, QString>, std::vector<Rank>> collectives;
  std::vector<Rank> computing;
  std::vector<Rank> unknown;
  for (Rank rank = 0; index(rank) < ranks; ++rank) {
    unknown.push_back(rank);
  }
  for (const CallNow& call : calls) {
    std::erase(unknown, call.rank);
    if (call.kind == CallNow::Kind::Collective && call.ofWorld.value_or(false)) {
      collectives[{call.call, call.place}].push_back(call.rank);
    }
    if (call.kind == CallNow::Kind::NoCall) {
      computing.push_back(call.rank);
    }
  }
  if (const std::vector<Rank> circle = circleOfCalls(calls, ranks); !circle.empty()) {
    remarks << wording("%1: a deadlock, if no message is on its way").arg(circleText(circle));
  }
  const auto isOther = [&](const auto& one) {
    return one.first.first != collectives.begin()->first.first;
  };
  if (std::any_of(collectives.begin(), collectives.end(), isOther)) {
    QStringList parts;
    for (const auto& [where, who] : collectives) {
      const QString at = where.second.isEmpty() ? QString() : wording(" at %1").arg(where.second);
      parts << (who.size() == 1 ? wording("%1 is in %2%3") : wording("%1 are in %2%3"))
                   .arg(ranksText(who), where.first, at);
    }
    remarks << parts.join(QStringLiteral(", ")) +
                   wording(
                       ": all ranks must call the collectives of MPI_COMM_WORLD in the same order");
  }
  if (!computing.empty()) {
    remarks << (computing.size() == 1 ? wording("%1 is in no call of MPI")
                                      : wording("%1 are in no call of MPI"))
                   .arg(ranksText(computing));
  }
  if (!unknown.empty()) {
    remarks << wording("of %1 nothing is known: not stopped by a debugger").arg(ranksText(unknown));
  }
  return remarks;
}

}  // namespace pf::views
