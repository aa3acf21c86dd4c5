// SPDX-License-Identifier: GPL-3.0-or-later
// How long cycles of this session needed to come to where they stand, by the clock: what a way back will cost. What a
// user takes to think is not counted, nor are steps by lines: a cycle runs past these in one go.
#pragma once

#include <optional>

#include <QElapsedTimer>

namespace pf::session {

class CycleTimes {
 public:
  enum class Begin { Anew, Snapshot };

  /// Another trace: nothing has been measured.
  void forget() { *this = {}; }
  /// A cycle begins.
  void begin(Begin how);
  /// Its ranks are sent on.
  void movesOn();
  /// They have come to where they were sent, or the cycle has ended.
  void stands();

  /// To come to where the ranks are, begun anew, in ms. Nothing: not measured.
  [[nodiscard]] std::optional<qint64> anew() const { return m_anew; }
  /// The last time that a cycle began from a snapshot, until it stood, in ms. Nothing: none did.
  [[nodiscard]] std::optional<qint64> fromSnapshot() const { return m_fromSnapshot; }

 private:
  QElapsedTimer m_moving;  ///< not valid: they stand
  Begin m_begin = Begin::Anew;
  bool m_begins = false;  ///< it has not yet stood
  std::optional<qint64> m_anew;
  std::optional<qint64> m_fromSnapshot;
};

}  // namespace pf::session
