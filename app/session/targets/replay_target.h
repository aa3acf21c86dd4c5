// SPDX-License-Identifier: GPL-3.0-or-later
// A replay of a trace: launcher, control daemon and agents of one cycle. Starting and ending them takes its time, and is
// done on other threads.
#pragma once

#include <memory>
#include <vector>

#include <QSocketNotifier>

#include "app/job/job.h"
#include "app/replaying/replay_inputs.h"
#include "app/session/targets/target.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::session {

class ReplayTarget final : public Target {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Target>> make(const ReplayRequest& request);
  ~ReplayTarget() override;
  Q_DISABLE_COPY_MOVE(ReplayTarget)

  void start() override;
  void send(const protocol::Message& message) override;
  void tick() override;
  void close() override;
  [[nodiscard]] QString advice() const override;

 private:
  using StartedJob = std::shared_ptr<Result<std::unique_ptr<app::Job>>>;

  ReplayTarget() = default;
  void adopt(const StartedJob& job);
  void readDaemon();
  void look();  ///< at daemon and launcher
  void tellInputs(const app::ReplayInputs::Lines& lines);
  [[nodiscard]] QString launcherSaid() const;
  void endJob();

  app::JobOptions m_options;
  app::RecordedUse m_used;
  QThreadPool* m_ending = nullptr;
  bool m_starting = false;
  bool m_closing = false;
  std::unique_ptr<app::Job> m_job;
  std::shared_ptr<app::ReplayInputs> m_inputs = std::make_shared<app::ReplayInputs>();
  std::shared_ptr<UniqueFd> m_launcherOutput;  ///< a file in memory
  std::unique_ptr<QSocketNotifier> m_daemonNotifier;
  std::unique_ptr<QSocketNotifier> m_launcherNotifier;
};

}  // namespace pf::session
