// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/payload/payload_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "db/schema/rows.h"
#include "db/schema/schema.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::db {
namespace {

/// As many bytes as there are, at most `size`; -1 with errno.
ssize_t readAt(int file, unsigned char* to, std::size_t size, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::pread(file, to + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return n < 0 ? n : static_cast<ssize_t>(done);
    }
    done += static_cast<std::size_t>(n);
  }
  return static_cast<ssize_t>(done);
}

/// False with errno.
bool writeAt(int file, Bytes data, std::uint64_t offset) {
  while (!data.empty()) {
    const ssize_t n = ::pwrite(file, data.data(), data.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      errno = n == 0 ? ENOSPC : errno;
      return false;
    }
    offset += static_cast<std::uint64_t>(n);
    data = data.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

class FilePieces final : public PayloadSource {
 public:
  FilePieces(int file, std::uint64_t total) : m_file(file), m_total(total) {}
  [[nodiscard]] Result<Bytes> next() override {
    m_piece.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(kLongestLogChunk, m_total - m_at)));
    const ssize_t n = readAt(m_file, m_piece.data(), m_piece.size(), kPayloadHeaderSize + m_at);
    if (n < 0) {
      return systemError("cannot read contents of messages", errno);
    }
    m_at += static_cast<std::uint64_t>(n);
    return Bytes(m_piece.data(), static_cast<std::size_t>(n));
  }
  void rewind() override { m_at = 0; }

 private:
  int m_file;
  std::uint64_t m_total;
  std::uint64_t m_at = 0;
  std::vector<std::uint8_t> m_piece;
};

class StoredPieces final : public PayloadSource {
 public:
  StoredPieces(LogChunkReader reader, const PayloadInfo& info, StoredContents* sees)
      : m_reader(std::move(reader)), m_info(info), m_sees(sees) {}
  [[nodiscard]] Result<Bytes> next() override {
    const Result<Bytes> packed = nextPacked();
    if (!packed || packed->empty()) {
      return packed;
    }
    Result<Bytes> piece = m_reader.unpack(*packed);
    if (piece && piece->empty()) {
      return Error{ErrorCode::Damaged,
                   "chunk " + std::to_string(m_ordinal - 1) + " of the contents for rank " +
                       std::to_string(m_info.rank) + " is empty",
                   kSeeCheck};
    }
    return piece;
  }
  /// As next(), as it is stored.
  [[nodiscard]] Result<Bytes> nextPacked() {
    if (m_ordinal == m_info.chunks) {
      return Bytes();
    }
    const Result<Bytes> packed = m_reader.readPacked(m_info.rank, m_ordinal++);
    if (!packed && packed.error().code == ErrorCode::NotFound) {
      return Error{ErrorCode::Damaged, packed.error().message, kSeeCheck};
    }
    if (packed && m_sees != nullptr) {
      if (Status status = m_sees->chunk(m_info, *packed); !status) {
        return status.error();
      }
    }
    return packed;
  }
  void rewind() override { m_ordinal = 0; }

 private:
  LogChunkReader m_reader;
  PayloadInfo m_info;
  StoredContents* m_sees;
  std::uint64_t m_ordinal = 0;
};

/// A page of a file to be: atomics in it are plain words. Never on the stack: with AddressSanitizer, GCC 12 does not
/// keep the alignment there.
struct alignas(PayloadHeader) HeaderPage {
  std::array<unsigned char, kPayloadHeaderSize> bytes{};
  PayloadHeader& header() { return *reinterpret_cast<PayloadHeader*>(bytes.data()); }
};

/// Gives each piece to `take` until one does not verify; what was lost of a damaged source is in `lost`.
template <typename Take>
Status scanAll(PayloadSource& source, PayloadScan& scan, std::optional<Error>& lost, Take&& take) {
  while (true) {
    const Result<Bytes> piece = source.next();
    if (!piece && piece.error().code == ErrorCode::Damaged) {
      lost = piece.error();
      return {};
    }
    if (!piece) {
      return piece.error();
    }
    if (piece->empty()) {
      return {};
    }
    if (Status status = take(*piece); !status) {
      return status;
    }
    if (!scan.feed(*piece)) {
      return {};
    }
  }
}

/// What verifies of `total` bytes, into the table; tells of `info` all but its ending.
Result<PayloadScan> storePieces(Database& to, PayloadSource& source, std::uint64_t total,
                                PayloadInfo& info, StoredContents* sees = nullptr) {
  PayloadScan scan(info.salt, info.rank, total);
  std::optional<Error> lost;
  if (Status status = scanAll(source, scan, lost, [](Bytes) { return Status(); }); !status) {
    return status.error();
  }
  Result<LogChunkWriter> writer = LogChunkWriter::start(to, TableId::PayloadChunk);
  if (!writer) {
    return writer.error();
  }
  info.entries = scan.entries();
  info.bytes = scan.good();
  info.chunks = 0;
  source.rewind();
  for (std::uint64_t left = info.bytes; left > 0; ++info.chunks) {
    Result<Bytes> piece = source.next();
    if (!piece) {
      return piece.error();
    }
    if (piece->empty()) {
      return Error{ErrorCode::System,
                   "the contents that rank " + std::to_string(info.rank) +
                       " received became fewer while they were read",
                   "Nothing else may change these files; try again."};
    }
    const Bytes kept =
        piece->first(static_cast<std::size_t>(std::min<std::uint64_t>(left, piece->size())));
    if (Status status = writer->write(info.rank, info.chunks, kept); !status) {
      return status.error();
    }
    if (Status status = sees != nullptr ? sees->chunk(info, writer->packed()) : Status(); !status) {
      return status.error();
    }
    left -= kept.size();
  }
  info.packedBytes = writer->packedBytes();
  return scan;
}

void setDamaged(PayloadInfo& info) {
  info.ending = PayloadInfo::kDamaged;
  info.detail = static_cast<std::int64_t>(info.bytes);
}

Error damagedFrom(const PayloadInfo& info, std::uint64_t offset, const std::optional<Error>& lost) {
  return Error{ErrorCode::Damaged,
               "the contents that rank " + std::to_string(info.rank) +
                   " received from outside of its group are damaged from byte " +
                   std::to_string(offset) + " of " + std::to_string(info.bytes) + " on" +
                   (lost ? ": " + lost->message : ""),
               kSeeCheck};
}

Result<StoredPieces> storedPieces(Database& database, const PayloadInfo& info,
                                  StoredContents* sees = nullptr) {
  Result<LogChunkReader> reader = LogChunkReader::start(database, TableId::PayloadChunk);
  return reader ? Result<StoredPieces>(StoredPieces(std::move(reader).value(), info, sees))
                : Result<StoredPieces>(reader.error());
}

std::uint64_t totalOf(const PayloadInfo& info) {
  return std::min(info.bytes, kMostPayload) & ~std::uint64_t{7};
}

}  // namespace

Result<PayloadInfo> storePayload(Database& database, Rank rank, std::int32_t ranks, int file,
                                 StoredContents* sees) {
  PayloadInfo info;
  info.rank = rank;
  const auto page = std::make_unique<HeaderPage>();
  const ssize_t n = readAt(file, page->bytes.data(), page->bytes.size(), 0);
  if (n < 0) {
    return systemError("cannot read contents of messages", errno);
  }
  const PayloadHeader& header = page->header();
  if (n < static_cast<ssize_t>(kPayloadHeaderSize) ||
      wrongInPayload(header, rank, ranks) != nullptr) {
    setDamaged(info);
    const Status seen = sees != nullptr ? sees->row(info) : Status();
    return seen ? Result<PayloadInfo>(info) : Result<PayloadInfo>(seen.error());
  }
  info.salt = header.salt;
  const std::uint64_t total = payloadCommitted(header.salt, header.committed.load());
  FilePieces pieces(file, total);
  const Result<PayloadScan> scan = storePieces(database, pieces, total, info, sees);
  if (!scan) {
    return scan.error();
  }
  const std::int32_t failed = scan->mark().value_or(payloadErrno(header.failed.load()));
  if (!scan->whole()) {
    setDamaged(info);
  } else if (failed != 0 || scan->mark()) {
    info.ending = PayloadInfo::kStopped;
    info.detail = failed;
  } else {
    info.ending = header.clean.load() != 0 ? PayloadInfo::kComplete : PayloadInfo::kCut;
  }
  const Status seen = sees != nullptr ? sees->row(info) : Status();
  return seen ? Result<PayloadInfo>(info) : Result<PayloadInfo>(seen.error());
}

Result<PayloadInfo> copyPayload(Database& from, Database& to, const PayloadInfo& known) {
  Result<StoredPieces> pieces = storedPieces(from, known);
  if (!pieces) {
    return pieces.error();
  }
  PayloadInfo info = known;
  const Result<PayloadScan> scan = storePieces(to, *pieces, totalOf(known), info);
  if (!scan) {
    return scan.error();
  }
  if (info.bytes != known.bytes) {
    setDamaged(info);
  }
  return info;
}

Status extractPayload(Database& database, const PayloadInfo& info, std::int32_t ranks,
                      const std::string& path, StoredContents* sees) {
  Result<StoredPieces> pieces = storedPieces(database, info, sees);
  if (!pieces) {
    return pieces.error();
  }
  const UniqueFd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) {
    return systemError("cannot write " + path, errno);
  }
  PayloadScan scan(info.salt, info.rank, totalOf(info));
  std::optional<Error> lost;
  std::uint64_t at = kPayloadHeaderSize;
  Status status = scanAll(*pieces, scan, lost, [&](Bytes piece) {
    const bool written = writeAt(file.get(), piece, at);
    at += piece.size();
    return written ? Status() : Status(systemError("cannot write " + path, errno));
  });
  const bool damaged = lost || !scan.whole() || scan.good() != info.bytes;
  if (status.ok() && !damaged && sees != nullptr) {
    status = sees->row(info);
  }
  const auto page = std::make_unique<HeaderPage>();
  PayloadHeader& header = page->header();
  header.magic = kPayloadMagic;
  header.version = kPayloadVersion;
  header.salt = info.salt;
  header.rank = info.rank;
  header.size = ranks;
  header.headerCrc = payloadHeaderCrc(header);
  const bool cutShort = damaged || info.ending == PayloadInfo::kDamaged;
  // More than is there: its reader finds that what follows is damaged.
  header.committed = payloadCommit(info.salt, scan.good() + (cutShort ? sizeof(PayloadEntry) : 0));
  header.clean = info.ending == PayloadInfo::kComplete && !damaged ? kPayloadMagic : 0;
  if (info.ending == PayloadInfo::kStopped && !damaged) {
    header.failed = payloadFailed(static_cast<std::int32_t>(info.detail.value_or(EIO)));
  }
  if (status.ok() &&
      (::ftruncate(file.get(), static_cast<off_t>(kPayloadHeaderSize + scan.good())) != 0 ||
       !writeAt(file.get(), page->bytes, 0))) {
    status = systemError("cannot write " + path, errno);
  }
  if (!status) {
    ::unlink(path.c_str());
    return status;
  }
  return damaged ? Status(damagedFrom(info, scan.good(), lost)) : Status();
}

Status showStored(Database& database, const PayloadInfo& info, StoredContents& sees) {
  Result<StoredPieces> pieces = storedPieces(database, info, &sees);
  if (!pieces) {
    return pieces.error();
  }
  while (true) {
    const Result<Bytes> packed = pieces->nextPacked();
    if (!packed) {
      return packed.error();
    }
    if (packed->empty()) {
      return sees.row(info);
    }
  }
}

Status lookIntoPayload(Database& database, const PayloadInfo& info, PayloadScan::Wants wants,
                       PayloadScan::Shows shows) {
  Result<StoredPieces> pieces = storedPieces(database, info);
  if (!pieces) {
    return pieces.error();
  }
  PayloadScan scan(info.salt, info.rank, totalOf(info));
  scan.look(std::move(wants), std::move(shows));
  std::optional<Error> lost;
  if (Status status = scanAll(*pieces, scan, lost, [](Bytes) { return Status(); }); !status) {
    return status;
  }
  const bool whole = !lost && scan.whole() && scan.good() == info.bytes;
  return whole ? Status() : Status(damagedFrom(info, scan.good(), lost));
}

Status checkPayload(Database& database, const PayloadInfo& info) {
  Result<StoredPieces> pieces = storedPieces(database, info);
  if (!pieces) {
    return pieces.error();
  }
  PayloadScan scan(info.salt, info.rank, totalOf(info));
  std::optional<Error> lost;
  if (Status status = scanAll(*pieces, scan, lost, [](Bytes) { return Status(); }); !status) {
    return status;
  }
  const bool whole =
      !lost && scan.whole() && scan.good() == info.bytes && scan.entries() == info.entries;
  return whole ? Status() : Status(damagedFrom(info, scan.good(), lost));
}

Result<std::vector<PayloadInfo>> readPayloads(Database& database) {
  std::vector<PayloadInfo> payloads;
  const Status status =
      readRows<PayloadInfo>(database, TableId::Payload, false, [&](std::int64_t, PayloadInfo&& v) {
        const bool known =
            std::ranges::any_of(std::array{PayloadInfo::kComplete, PayloadInfo::kCut,
                                           PayloadInfo::kStopped, PayloadInfo::kDamaged},
                                [&v](const char* ending) { return v.ending == ending; });
        payloads.push_back(std::move(v));
        return known;
      });
  return status ? Result<std::vector<PayloadInfo>>(std::move(payloads))
                : Result<std::vector<PayloadInfo>>(status.error());
}

Status writePayloads(Database& database, const std::vector<PayloadInfo>& payloads) {
  Result<RowWriter> writer = RowWriter::start(database, table(TableId::Payload));
  if (!writer) {
    return writer.error();
  }
  for (const PayloadInfo& payload : payloads) {
    columns(*writer, payload);
    if (Status status = writer->end(); !status) {
      return status;
    }
  }
  return writer->finish();
}

Result<std::optional<std::string>> readGroups(Database& database) {
  std::optional<std::string> groups;
  const Status status = forEachRow(database, table(TableId::GroupRecording), [&](const Row& row) {
    RowReader reader(row);
    std::int64_t id = 0;
    reader(id), reader(groups.emplace());
    return reader.ok() && id == 1;
  });
  return status ? Result<std::optional<std::string>>(std::move(groups))
                : Result<std::optional<std::string>>(status.error());
}

Status writeGroups(Database& database, const std::optional<std::string>& groups) {
  Result<RowWriter> writer = RowWriter::start(database, table(TableId::GroupRecording));
  if (!writer) {
    return writer.error();
  }
  if (groups) {
    writer->integer(1);
    writer->text(*groups);
    if (Status status = writer->end(); !status) {
      return status;
    }
  }
  return writer->finish();
}

}  // namespace pf::db
