// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of a file that have been read; those used last stay.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace pf::session {

/// Of one thread at a time.
template <typename Place, typename Value>
class KeptParts {
 public:
  /// So many values of all parts together, but one part always.
  explicit KeptParts(std::size_t most) : m_most(most) {}

  /// The part at `place`. `read` fills it where it is not there; null where that says false.
  template <typename Read>
  std::shared_ptr<const std::vector<Value>> get(const Place& place, Read&& read) {
    if (const auto known = m_known.find(place); known != m_known.end()) {
      m_parts.splice(m_parts.begin(), m_parts, known->second);
      return m_parts.front().values;
    }
    auto values = std::make_shared<std::vector<Value>>();
    if (!read(*values)) {
      return nullptr;
    }
    m_values += values->size();
    m_parts.push_front({place, std::move(values)});
    m_known[place] = m_parts.begin();
    while (m_values > m_most && m_parts.size() > 1) {
      m_values -= m_parts.back().values->size();
      m_known.erase(m_parts.back().place);
      m_parts.pop_back();
    }
    return m_parts.front().values;
  }

 private:
  struct Part {
    Place place;
    std::shared_ptr<const std::vector<Value>> values;
  };
  std::size_t m_most;
  std::size_t m_values = 0;
  std::list<Part> m_parts;  ///< that used last comes first
  std::map<Place, typename std::list<Part>::iterator> m_known;
};

}  // namespace pf::session
