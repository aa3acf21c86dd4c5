// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/files/sha256.h"

#include <openssl/sha.h>

#include <array>
#include <new>

namespace pf::app {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  if (SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data()) ==
      nullptr) {
    throw std::bad_alloc();  // nothing else can go wrong with it
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

}  // namespace pf::app
