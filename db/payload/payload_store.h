// SPDX-License-Identifier: GPL-3.0-or-later
// Tables `payload`, `payload_chunk` and `group_recording`. Contents go through piece by piece, and only as whole entries
// that verify.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/columns/log_chunks.h"
#include "db/payload/payload_scan.h"
#include "db/schema/trace_types.h"
#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"

namespace pf::db {

/// Entries of a rank, from wherever they are.
class PayloadSource {
 public:
  virtual ~PayloadSource() = default;
  /// The next piece, at most kLongestLogChunk bytes, good until the next call; empty: that was all.
  /// Damaged: there is no more of them. Any other error ends everything.
  [[nodiscard]] virtual Result<Bytes> next() = 0;
  /// To the first piece.
  virtual void rewind() = 0;
};

/// Sees what of a rank's contents is stored, as it is stored, before anything of it is used.
class StoredContents {
 public:
  virtual ~StoredContents() = default;
  /// The next chunk, compressed. An error ends everything.
  virtual Status chunk(const PayloadInfo& info, Bytes packed) = 0;
  /// The row of table `payload`, behind all chunks; not called where these are damaged.
  virtual Status row(const PayloadInfo& info) = 0;
};

/// From `file`, rank-N.payload of a run of `ranks`, what verifies of it into table `payload_chunk`. A file that is none of
/// this rank's gives no entries, and is Damaged from 0 on. Only the row of table `payload` is left to write. `sees` all of
/// it, if it is there.
[[nodiscard]] Result<PayloadInfo> storePayload(Database& database, Rank rank, std::int32_t ranks,
                                               int file, StoredContents* sees = nullptr);
/// The same from another trace: `known` is what that one says.
[[nodiscard]] Result<PayloadInfo> copyPayload(Database& from, Database& to,
                                              const PayloadInfo& known);
/// Makes the file `path` (0600; must not be there) as a PayloadReader takes it. Where the contents are damaged, there are
/// whole entries up to there in it, and the error says so. What `sees` refuses leaves no file.
Status extractPayload(Database& database, const PayloadInfo& info, std::int32_t ranks,
                      const std::string& path, StoredContents* sees = nullptr);
/// Shows what is stored, which is not unpacked. Damaged: there is no more of it.
Status showStored(Database& database, const PayloadInfo& info, StoredContents& sees);
/// Goes through all entries that verify. Damaged: there is no more of them.
Status lookIntoPayload(Database& database, const PayloadInfo& info, PayloadScan::Wants wants,
                       PayloadScan::Shows shows);
/// Damaged unless each entry verifies.
Status checkPayload(Database& database, const PayloadInfo& info);

[[nodiscard]] Result<std::vector<PayloadInfo>> readPayloads(Database& database);
Status writePayloads(Database& database, const std::vector<PayloadInfo>& payloads);

/// RunInfo::groups.
[[nodiscard]] Result<std::optional<std::string>> readGroups(Database& database);
Status writeGroups(Database& database, const std::optional<std::string>& groups);

}  // namespace pf::db
