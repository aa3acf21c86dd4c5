// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a pickle: its text is never longer than was asked for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "replay_engine/python_text/pickle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMost = 1000;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto text = pf::python_text::pickleText(bytes, kMost);
  if (text && text->size() > kMost + 3) {  // "…"
    std::abort();
  }
  return 0;
}
