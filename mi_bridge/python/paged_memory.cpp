// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python/paged_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pf::mi::python {

bool PagedMemory::read(std::uint64_t address, void* to, std::size_t size) {
  if (size == 0 || address + size < address || address < kPage) {
    return false;
  }
  bool whole = true;
  auto* out = static_cast<char*>(to);
  while (size > 0) {
    const std::size_t offset = address % kPage;
    const std::size_t part = std::min(size, kPage - offset);
    const auto page = m_pages.find(address - offset);
    if (page == m_pages.end()) {
      whole = false;
      if (m_pages.size() + m_missing.size() >= m_mostPages) {
        m_exhausted = true;
        return false;
      }
      m_missing.insert(address - offset);
    } else if (page->second.empty()) {
      return false;
    } else {
      std::memcpy(out, page->second.data() + offset, part);
    }
    out += part;
    address += part;
    size -= part;
  }
  return whole;
}

std::vector<std::uint64_t> PagedMemory::takeMissing() {
  const std::set<std::uint64_t> missing = std::exchange(m_missing, {});
  return {missing.begin(), missing.end()};
}

void PagedMemory::add(std::uint64_t address, std::string_view bytes) {
  std::vector<char>& page = m_pages[address];
  page.clear();
  if (bytes.size() == kPage) {
    page.assign(bytes.begin(), bytes.end());
  }
}

}  // namespace pf::mi::python
