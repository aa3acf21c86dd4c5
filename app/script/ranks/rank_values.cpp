// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/ranks/rank_values.h"

#include <QObject>

namespace pf::headless {

void RankValues::clear() {
  m_texts.clear();
  m_some = false;
}

void RankValues::add(int rank, const QString& value) {
  m_texts[rank] = value;
  m_some = true;
}

void RankValues::addError(int rank, const QString& why) {
  m_texts[rank] = QObject::tr("error: %1").arg(why);
}

}  // namespace pf::headless
