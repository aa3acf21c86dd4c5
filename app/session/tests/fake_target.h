// SPDX-License-Identifier: GPL-3.0-or-later
// A replay that is a script: ranks that do what the daemon would have them do, and GDBs that say ^done. No process is
// started. Orders can be looked at; what happens besides is said by the test.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/session/targets/target.h"

namespace pf::session::test {

class FakeTarget : public Target {
 public:
  /// `part`: those of them that run; empty: all.
  explicit FakeTarget(int ranks, std::vector<Rank> part = {})
      : m_ranks(ranks), m_part(std::move(part)) {}

  void start() override {
    later([this] { Q_EMIT started(); });
  }
  void close() override {
    closing = true;
    later([this] { Q_EMIT closed(); });
  }
  void send(const protocol::Message& message) override {
    orders.push_back(message);
    std::visit(protocol::Overloaded{[this](const protocol::AttachGdb& order) { attachGdbs(order); },
                                    [this](const protocol::MiToGdb& text) { answer(text); },
                                    [](const auto&) {}},
               message);
  }
  [[nodiscard]] QString advice() const override { return besides; }

  [[nodiscard]] const std::vector<Rank>& part() const { return m_part; }
  [[nodiscard]] bool runs(int rank) const {
    return m_part.empty() || std::find(m_part.begin(), m_part.end(), rank) != m_part.end();
  }

  // -- what happens
  void allGated() {
    protocol::SessionState state;
    state.allGated = true;
    for (int rank = 0; rank < m_ranks; ++rank) {
      if (!runs(rank)) {
        continue;
      }
      protocol::RankState each;
      each.rank = rank;
      each.phase = RankPhase::Gated;
      state.ranks.push_back(each);
    }
    Q_EMIT said(state);
  }
  void runs(int rank, Serial events) { state(rank, RankPhase::Running, events); }
  /// The rank stands before the event behind so many; its GDB, if it has one, says so afterwards.
  void stops(int rank, Serial events) {
    state(rank, RankPhase::Stopped, events);
    if (toGdb.count(rank) != 0) {
      later([this, rank] {
        Q_EMIT said(protocol::MiFromGdb{
            rank,
            "*stopped,reason=\"signal-received\",signal-name=\"SIGTRAP\",frame={addr=\"0x20\","
            "func=\"pf_stop_trap\",args=[]},thread-id=\"1\",stopped-threads=\"all\"\n"});
      });
    }
  }
  /// All come to their stops of the last plan.
  void comeToTheirStops() {
    const auto* plan = last<protocol::Plan>();
    const auto wanted =  // another may be sent meanwhile
        plan != nullptr ? plan->stops : decltype(plan->stops)();
    for (int rank = 0; std::cmp_less(rank, wanted.size()) && rank < m_ranks; ++rank) {
      if (const std::uint64_t stop = wanted[static_cast<std::size_t>(rank)];
          stop != 0 && runs(rank)) {
        stops(rank, stop - 1);
      }
    }
    protocol::Verdict verdict;
    verdict.kind = protocol::VerdictKind::CutReached;
    Q_EMIT said(verdict);
  }

  /// The rank's GDB tells of a stop. `how`: its fields, as reason="breakpoint-hit",bkptno="2".
  void gdbStops(int rank, const std::string& how) {
    gdbSays(rank, "*stopped," + how +
                      ",frame={addr=\"0x2\",func=\"collect\",args=[],file=\"m.c\",line=\"12\"},"
                      "thread-id=\"1\"");
  }
  void gdbSays(int rank, const std::string& line) {
    Q_EMIT said(protocol::MiFromGdb{rank, line + "\n"});
  }
  void gdbIs(int rank, protocol::GdbCondition condition, const std::string& text = {}) {
    protocol::GdbState state;
    state.rank = rank;
    state.state = condition;
    state.text = text;
    Q_EMIT said(state);
  }
  void exits(int rank, const std::string& how) {
    protocol::RankExited exited;
    exited.rank = rank;
    exited.text = how;
    Q_EMIT said(exited);
  }

  /// The last order of this kind; null: none was given.
  template <typename Order>
  [[nodiscard]] const Order* last() const {
    for (auto order = orders.rbegin(); order != orders.rend(); ++order) {
      if (const auto* found = std::get_if<Order>(&*order); found != nullptr) {
        return found;
      }
    }
    return nullptr;
  }

  /// What a GDB answers to a command that contains `part`, instead of ^done: `before` it, a line of its console.
  struct Reply {
    std::string part;
    std::string result;
    std::string before = {};
    int rank = -1;  ///< any
  };
  std::vector<Reply> replies;

  /// Sees each command before its GDB answers.
  std::function<void(int rank, const std::string& command)> hears;
  [[nodiscard]] bool wasTold(int rank, const std::string& part) const {
    const auto told = toGdb.find(rank);
    return told != toGdb.end() && told->second.find(part) != std::string::npos;
  }
  /// From now on only what comes is looked at.
  void forgetOrders() {
    orders.clear();
    for (auto& [rank, text] : toGdb) {
      text.clear();
    }
  }

  std::vector<protocol::Message> orders;
  std::map<int, std::string> toGdb;  ///< by rank
  /// What becomes of GDBs that are asked for.
  protocol::GdbCondition gdbs = protocol::GdbCondition::Attached;
  bool closing = false;
  QString besides;

 private:
  void later(const std::function<void()>& what) {
    QMetaObject::invokeMethod(this, what, Qt::QueuedConnection);
  }
  void state(int rank, RankPhase phase, Serial events) {
    protocol::RankState each;
    each.rank = rank;
    each.phase = phase;
    each.serial = events;
    Q_EMIT said(each);
  }
  void attachGdbs(const protocol::AttachGdb& order) {
    for (const std::int32_t rank : order.ranks) {
      later([this, rank] {
        protocol::GdbState state;
        state.rank = rank;
        state.pid = 100 + rank;
        state.state = gdbs;
        state.text = gdbs == protocol::GdbCondition::Attached ? "" : "there is no gdb";
        Q_EMIT said(state);
        if (gdbs == protocol::GdbCondition::Attached) {
          Q_EMIT said(protocol::MiFromGdb{rank, "~\"GNU gdb (GDB) 13.1\\n\"\n"});
        }
      });
    }
  }
  void answer(const protocol::MiToGdb& text) {
    toGdb[text.rank] += text.bytes;
    if (hears) {
      hears(text.rank, text.bytes);
    }
    later([this, text] {
      const std::string token = text.bytes.substr(0, text.bytes.find('-'));
      const bool runs = text.bytes.find("-exec-") != std::string::npos;
      std::string said = token + (runs ? "^running\n*running,thread-id=\"all\"\n" : "^done\n");
      for (const Reply& reply : replies) {
        if ((reply.rank < 0 || reply.rank == text.rank) &&
            text.bytes.find(reply.part) != std::string::npos) {
          said = (reply.before.empty() ? "" : "~\"" + reply.before + "\\n\"\n") + token +
                 reply.result + "\n";
        }
      }
      if (text.bytes.find("-target-attach") != std::string::npos) {
        said +=
            "*stopped,frame={addr=\"0x10\",func=\"main\",args=[],file=\"m.c\",line=\"3\"},"
            "thread-id=\"1\"\n";
      }
      Q_EMIT this->said(protocol::MiFromGdb{text.rank, said});
    });
  }

  int m_ranks;
  std::vector<Rank> m_part;
};

}  // namespace pf::session::test
