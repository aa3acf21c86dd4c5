// SPDX-License-Identifier: MIT
#include "replay_engine/rank/calls/launchers_place.h"

#include <cstdlib>
#include <cstring>

#include "replay_engine/protocol/rank_page.h"

namespace pf {

LaunchersPlace::LaunchersPlace() {
  const char* const all = std::getenv(kLaunchersVariable);
  m_text = all == nullptr ? nullptr : strdup(all);
  char* rest = m_text;
  while (rest != nullptr && m_count < kMost) {
    put(strsep(&rest, ";"));
  }
}

void LaunchersPlace::put(char* entry) {
  char* const equals = std::strchr(entry, '=');
  if (equals != nullptr) {
    *equals = '\0';
  }
  if (*entry == '\0') {
    return;
  }
  const char* const was = std::getenv(entry);
  m_variables[m_count++] = {entry, was == nullptr ? nullptr : strdup(was)};
  if (equals != nullptr) {
    setenv(entry, equals + 1, 1);
  } else {
    unsetenv(entry);
  }
}

LaunchersPlace::~LaunchersPlace() {
  for (int i = 0; i < m_count; ++i) {
    if (m_variables[i].program != nullptr) {
      setenv(m_variables[i].name, m_variables[i].program, 1);
      std::free(m_variables[i].program);
    } else {
      unsetenv(m_variables[i].name);
    }
  }
  std::free(m_text);
}

}  // namespace pf
