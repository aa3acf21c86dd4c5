// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/contents_digest.h"

#include <string_view>

#include "app/files/sha256.h"

namespace pf::app {

std::string digestOfChunk(db::Bytes packed) {
  return sha256(std::string_view(reinterpret_cast<const char*>(packed.data()), packed.size()));
}

std::string digestOfRow(const db::PayloadInfo& info) {
  std::string text = "photofinish contents 1";
  for (const std::uint64_t number : {static_cast<std::uint64_t>(info.rank), info.salt, info.entries,
                                     info.bytes, info.packedBytes, info.chunks}) {
    text += " " + std::to_string(number);
  }
  text += " " + info.ending + (info.detail ? " " + std::to_string(*info.detail) : "");
  return sha256(text);
}

Status ContentsDigester::chunk(const db::PayloadInfo&, db::Bytes packed) {
  m_digest.chunks += digestOfChunk(packed);
  return {};
}

Status ContentsDigester::row(const db::PayloadInfo& info) {
  m_digest.row = digestOfRow(info);
  return {};
}

}  // namespace pf::app
