// SPDX-License-Identifier: MIT
// Vectors of many megabytes, in huge pages where the kernel gives them to who asks
// (transparent_hugepage/enabled "madvise" or "always"; madvise(2), MADV_HUGEPAGE).
//
// Collation goes all over tables of gigabytes: with pages of 4 KiB nearly every look misses the
// TLB, and each page costs a fault when it is first written.
#pragma once

#include <cstddef>
#include <vector>

namespace pf {

/// Asks for huge pages for what lies wholly within these bytes; of a few megabytes it asks nothing.
/// Best called before they are written. A kernel that has none is no error.
void useHugePages(void* begin, std::size_t bytes);

/// Makes room for `size` values in all.
template <typename Value>
void reserveLarge(std::vector<Value>& values, std::size_t size) {
  values.reserve(size);
  useHugePages(values.data(), values.capacity() * sizeof(Value));
}

/// `size` copies of `value`.
template <typename Value>
[[nodiscard]] std::vector<Value> largeVector(std::size_t size, const Value& value) {
  std::vector<Value> values;
  reserveLarge(values, size);
  values.assign(size, value);
  return values;
}

}  // namespace pf
