// SPDX-License-Identifier: GPL-3.0-or-later
// A run of another order of a trace, by the command line's `flip` and `blame`: one at a time, beside what the session debugs.
#pragma once

#include <functional>

#include <QByteArray>
#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QString>
#include <QStringList>

namespace pf::session {

class OtherOrder : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  /// What goes on is ended.
  ~OtherOrder() override;
  Q_DISABLE_COPY_MOVE(OtherOrder)

  [[nodiscard]] bool isRunning() const { return m_process != nullptr; }
  /// `what`: RACE, RACE:ALTERNATIVE or RANK:EVENT=SENDER:EVENT. `to`: the new trace; empty: freeName(). flipped() follows.
  void flip(const QString& trace, const QString& what, const QString& to = {});
  /// blamed() follows.
  void blame(const QString& trace);
  /// As by Ctrl-C. What it says of that follows.
  void interrupt();
  /// It is ended, and nothing follows.
  void drop();

  /// "a.flip.pft" beside "a.pft", with a number where that is there.
  [[nodiscard]] static QString freeName(const QString& trace);

 Q_SIGNALS:
  /// The trace of the new run, and what it took and how it ended; `trace` empty: there is none, and why.
  void flipped(const QString& trace, const QStringList& said);
  /// The JSON document of `photofinish blame`; empty: none was found, and why.
  void blamed(const QByteArray& document, const QStringList& said);

 private:
  void make(const QStringList& words);
  void whenEnded(const std::function<void(const QByteArray& out, const QStringList& said)>& then);
  [[nodiscard]] QStringList said();

  QPointer<QProcess> m_process;
};

/// "0:2": as the command line names an event.
[[nodiscard]] QString eventWords(int rank, quint64 serial);

}  // namespace pf::session
