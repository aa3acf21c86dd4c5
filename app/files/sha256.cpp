// SPDX-License-Identifier: GPL-3.0-or-later
// The functions of OpenSSL 1, though it would have others used: SHA256() of OpenSSL 3 allocates, and crashes where its first use
// of the library meets an end of memory.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "app/files/sha256.h"

#include <openssl/sha.h>

#include <array>

namespace pf::app {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_CTX context;
  (void)SHA256_Init(&context);  // none of the three can fail
  (void)SHA256_Update(&context, bytes.data(), bytes.size());
  (void)SHA256_Final(digest.data(), &context);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

}  // namespace pf::app
