// SPDX-License-Identifier: GPL-3.0-or-later
// What a trace has of a rank's contents from outside of its group, as digests (SHA-256, FIPS 180-4) of what is stored. A
// checksum is made anew with what it covers; these are kept elsewhere (app/traces/own_traces.h).
#pragma once

#include <string>

#include "db/payload/payload_store.h"

namespace pf::app {

struct ContentsDigest {
  Rank rank = kUnknownRank;
  std::string chunks;  ///< kDigestDigits of each, in order
  std::string row;     ///< the same of its row of table `payload`; empty: the chunks are damaged

  static constexpr std::size_t kDigestDigits = 64;
};

/// Of one chunk, compressed, as it is stored.
[[nodiscard]] std::string digestOfChunk(db::Bytes packed);
/// Of a row of table `payload`. Never change this: what was known would not be any more.
[[nodiscard]] std::string digestOfRow(const db::PayloadInfo& info);

/// Makes it of what is shown.
class ContentsDigester final : public db::StoredContents {
 public:
  explicit ContentsDigester(Rank rank) { m_digest.rank = rank; }
  Status chunk(const db::PayloadInfo& info, db::Bytes packed) override;
  Status row(const db::PayloadInfo& info) override;
  [[nodiscard]] const ContentsDigest& digest() const { return m_digest; }

 private:
  ContentsDigest m_digest;
};

}  // namespace pf::app
