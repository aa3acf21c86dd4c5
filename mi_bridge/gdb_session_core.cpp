// SPDX-License-Identifier: GPL-3.0-or-later
// What a process that has ended left behind, as a session in which nothing runs.
#include <utility>

#include "mi_bridge/gdb_session.h"

namespace pf::mi {
namespace {

constexpr Duration kOpenPatience = std::chrono::seconds(60);

}  // namespace

void GdbSession::openCore(const std::string& program, const std::string& core, Done done) {
  const auto quotedProgram = quote(program);
  const auto quotedCore = quote(core);
  if (!quotedProgram || !quotedCore) {
    done(!quotedProgram ? quotedProgram.error() : quotedCore.error());
    return;
  }
  asked("core " + *quotedProgram + " " + *quotedCore);
  m_core = true;
  m_libraries.clear();
  const auto open = [this, core, done](const Status& status) {
    if (!status) {
      done(Error{ErrorCode::Peer,
                 "cannot read the program of " + core + ": " + status.error().message,
                 "name the program that left it, as it was built then: photofinish core --program "
                 "PROGRAM CORE"});
      return;
    }
    m_queue.push(
        {"-target-select core " + core, CommandFlag::None,
         [this, core, done](const Result<ResultRecord>& reply) { coreOpened(core, reply, done); },
         kOpenPatience});
  };
  if (program.empty()) {
    open({});
  } else {
    send("-file-exec-and-symbols " + *quotedProgram, CommandFlag::None, open, kOpenPatience);
  }
}

/// GDB gives the place with its answer, and no record of a stop.
void GdbSession::coreOpened(const std::string& core, const Result<ResultRecord>& reply,
                            const Done& done) {
  if (!reply) {
    done(Error{ErrorCode::Peer, "cannot open the core file " + core + ": " + reply.error().message,
               "check that it is the core file of an ended process of this kind of machine"});
    return;
  }
  m_queue.push(
      {"-thread-info", CommandFlag::Immediate, [this, done](const Result<ResultRecord>& threads) {
         StopEvent stop;
         stop.reasonText = "core file";
         if (threads) {
           const int current = threads->results.toInt32Or(0, "current-thread-id");
           for (const ThreadInfo& thread : threadsOf(threads->results["threads"])) {
             if (thread.id == current) {
               stop.thread = thread.id;
               stop.frame = thread.frame;
             }
           }
         }
         publish(std::move(stop));
         done({});
       }});
}

}  // namespace pf::mi
