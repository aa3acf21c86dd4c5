// SPDX-License-Identifier: GPL-3.0-or-later
// How the source view reads a file: one interface, so that tests and remote sources can stand in.
#pragma once

#include <QByteArray>
#include <QString>

#include "replay_engine/base/result.h"

namespace pf::views {

class SourceLoader {
 public:
  SourceLoader() = default;
  virtual ~SourceLoader() = default;
  SourceLoader(const SourceLoader&) = delete;
  SourceLoader& operator=(const SourceLoader&) = delete;
  [[nodiscard]] virtual Result<QByteArray> load(const QString& path) = 0;
};

/// Reads local files; refuses what is not a regular file or larger than `limit`.
class FileSourceLoader : public SourceLoader {
 public:
  static constexpr qint64 kLimit = qint64{64} << 20;
  explicit FileSourceLoader(qint64 limit = kLimit) : m_limit(limit) {}
  [[nodiscard]] Result<QByteArray> load(const QString& path) override;

 private:
  qint64 m_limit;
};

}  // namespace pf::views
