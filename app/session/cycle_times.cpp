// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/cycle_times.h"

namespace pf::session {

void CycleTimes::begin(Begin how) {
  m_begin = how;
  m_begins = true;
  m_anew.reset();  // of where the former one stood
  m_moving.start();
}

void CycleTimes::movesOn() {
  if (!m_moving.isValid()) {
    m_moving.start();
  }
}

void CycleTimes::stands() {
  if (!m_moving.isValid()) {
    return;
  }
  const qint64 took = m_moving.elapsed();
  m_moving.invalidate();
  const bool begins = m_begins;
  m_begins = false;
  if (begins && m_begin == Begin::Snapshot) {
    m_fromSnapshot = took;
  } else if (begins) {
    m_anew = took;
  } else if (m_anew) {
    *m_anew += took;
  }
}

}  // namespace pf::session
