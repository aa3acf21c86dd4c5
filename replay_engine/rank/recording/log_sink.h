// SPDX-License-Identifier: MIT
// What every recording keeps: the choices that MPI makes, in the log of this rank.
#pragma once

#include "replay_engine/rank/engine/record_sink.h"

namespace pf {

class LogSink : public RecordSink {
 public:
  void note(const CallPlace& place) override;
  void chose(ChoiceKind kind, std::initializer_list<std::uint32_t> payload) override;
  void choseSome(ChoiceKind kind, int count, const int* indices) override;
  void missed(ChoiceKind kind) override;
  void requestDone(const Request& entry, const MPI_Status* status, int error) override;
  void receiveDone(const Request& entry, const MPI_Status* status, int error) override;
  void told() override;
  void publish() override;

 protected:
  ~LogSink() = default;
  /// The entry of a non-blocking collective, whose end matters.
  static Request* keepCollective(MPI_Request request, std::uint32_t number, MPI_Comm comm);
  /// A receive is done: with a message from this source and of this tag; or with none that is known, and whether that
  /// is because it was cancelled.
  virtual void took(const Request&, int, int) {}
  virtual void tookNothing(const Request&, bool) {}
  virtual void sendDone(const Request&) {}
  virtual void collectiveRequestDone(const Request&) {}
};

}  // namespace pf
