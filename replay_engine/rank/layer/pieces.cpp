// SPDX-License-Identifier: MIT
#include "replay_engine/rank/layer/pieces.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/engine/packing.h"
#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/rank/engine/type_parts.h"
#include "replay_engine/rank/payload/payload_writer.h"

namespace pf {
namespace {

constexpr std::uint64_t kRoom = 8192;  // bytes that are packed together, if an element is no more
constexpr int kMostInner = 16;

struct TypeLayout {
  std::uint64_t size = 0;  ///< 0: nothing is moved; kUnknownBytes: MPI does not say
  MPI_Aint extent = 0;
  MPI_Aint first = 0;  ///< from the buffer's address to the first byte that is moved
  bool dense = false;  ///< an element has no gaps, and its bytes are in the order of its type map
};

/// Whether its bytes lie in the order of its type map: it is predefined, or such ones in a row.
bool isInOrder(MPI_Datatype type, int depth) {
  const TypeEnvelope envelope = envelopeOf(type);
  if (envelope.combiner == MPI_COMBINER_NAMED) {
    return true;
  }
  if ((envelope.combiner != MPI_COMBINER_CONTIGUOUS && envelope.combiner != MPI_COMBINER_DUP) ||
      depth == kMostInner) {
    return false;
  }
  int count = 0;
  MPI_Aint offset = 0;
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  if (!partsOf(type, envelope, &count, &offset, &inner)) {
    return false;
  }
  const bool inOrder = isInOrder(inner, depth + 1);
  if (combinerOf(inner) != MPI_COMBINER_NAMED) {
    PF_REAL(Type_free)(&inner);  // Type_get_contents made it anew
  }
  return inOrder;
}

TypeLayout layoutOf(MPI_Datatype type) {
  TypeLayout layout;
  MPI_Count size = 0;
  MPI_Aint bound = 0;
  MPI_Aint length = 0;
  if (type == MPI_DATATYPE_NULL) {
    return {};
  }
  if (PF_REAL(Type_size_x)(type, &size) != MPI_SUCCESS || size < 0 ||
      PF_REAL(Type_get_extent)(type, &bound, &layout.extent) != MPI_SUCCESS ||
      PF_REAL(Type_get_true_extent)(type, &layout.first, &length) != MPI_SUCCESS) {
    layout.size = kUnknownBytes;
    return layout;
  }
  layout.size = static_cast<std::uint64_t>(size);
  // A type map may name bytes in another order than they lie in: of derived types, MPI packs. It cannot, of an element
  // of 2 GiB.
  layout.dense = length == size &&
                 (size > INT_MAX ? isInOrder(type, 0) : combinerOf(type) == MPI_COMBINER_NAMED);
  return layout;
}

/// Of `count` elements.
std::uint64_t bytesOf(const TypeLayout& layout, long long count) {
  std::uint64_t bytes = 0;
  return layout.size == kUnknownBytes ||
                 __builtin_mul_overflow(layout.size, static_cast<std::uint64_t>(count), &bytes)
             ? kUnknownBytes
             : bytes;
}

/// Whether MPI can pack one of its elements, whose bytes it counts in an int.
bool canPack(const TypeLayout& layout) {
  return layout.size <= INT_MAX;
}

bool inARow(const TypeLayout& layout, long long count) {
  return layout.dense && (count == 1 || layout.extent == static_cast<MPI_Aint>(layout.size));
}

unsigned char* at(void* buffer, MPI_Aint offset) {
  return reinterpret_cast<unsigned char*>(reinterpret_cast<std::uintptr_t>(buffer) +
                                          static_cast<std::uintptr_t>(offset));
}

/// Elements that are packed together, and room for them: `small`, or to be freed.
struct Packing {
  Packing(const TypeLayout& layout, long long count)
      : elements(
            std::clamp(static_cast<long long>(kRoom / layout.size), 1LL, std::max(count, 1LL))) {
    const std::uint64_t bytes = layout.size * static_cast<std::uint64_t>(elements);
    room = bytes <= kRoom ? small : static_cast<unsigned char*>(std::malloc(bytes));
    if (room == nullptr) {
      std::abort();  // the program cannot go on without memory either
    }
  }
  ~Packing() {
    if (room != small) {
      std::free(room);
    }
  }
  Packing(const Packing&) = delete;
  Packing& operator=(const Packing&) = delete;

  long long elements;
  unsigned char* room;
  unsigned char small[kRoom];
};

}  // namespace

MPI_Datatype keepType(MPI_Datatype type) {
  MPI_Datatype copy = type;
  if (type != MPI_DATATYPE_NULL && combinerOf(type) != MPI_COMBINER_NAMED) {
    PF_REAL(Type_contiguous)(1, type, &copy);  // no MPI_Type_dup: that copies attributes
    PF_REAL(Type_commit)(&copy);
  }
  return copy;
}

void letTypeGo(MPI_Datatype type) {
  if (type != MPI_DATATYPE_NULL && combinerOf(type) != MPI_COMBINER_NAMED) {
    PF_REAL(Type_free)(&type);
  }
}

std::uint64_t bytesOf(const Piece& piece) {
  return piece.count <= 0 ? 0 : bytesOf(layoutOf(piece.type), piece.count);
}

bool keepPiece(PayloadWriter& writer, const Piece& piece, std::uint64_t limit) {
  const TypeLayout layout = layoutOf(piece.type);
  if (piece.count <= 0 || layout.size == 0 || limit == 0) {
    return true;
  }
  if (inARow(layout, piece.count)) {
    const std::uint64_t all = bytesOf(layout, piece.count);
    writer.add(at(piece.buffer, layout.first), std::min(all, limit));
    return true;
  }
  if (!canPack(layout)) {
    return false;
  }
  const Packing packing(layout, piece.count);
  for (long long done = 0; done < piece.count && limit > 0; done += packing.elements) {
    const auto some = static_cast<int>(std::min(packing.elements, piece.count - done));
    const std::uint64_t bytes = layout.size * static_cast<std::uint64_t>(some);
    int position = 0;
    if (packElements(at(piece.buffer, done * layout.extent), some, piece.type, packing.room,
                     static_cast<int>(bytes), &position, MPI_COMM_SELF) != MPI_SUCCESS) {
      return false;
    }
    const std::uint64_t kept = std::min(bytes, limit);
    writer.add(packing.room, kept);
    limit -= kept;
  }
  return true;
}

const unsigned char* fillPiece(const Piece& piece, const unsigned char* content,
                               const unsigned char* end) {
  const TypeLayout layout = layoutOf(piece.type);
  if (piece.count <= 0 || layout.size == 0) {
    return content;
  }
  const std::uint64_t all = bytesOf(layout, piece.count);
  if (static_cast<std::uint64_t>(end - content) < all) {
    return nullptr;
  }
  if (inARow(layout, piece.count)) {
    std::memcpy(at(piece.buffer, layout.first), content, all);
    return content + all;
  }
  if (!canPack(layout)) {
    return nullptr;
  }
  const long long most = std::max(1LL, static_cast<long long>(INT_MAX / layout.size));
  for (long long done = 0; done < piece.count; done += most) {
    const auto some = static_cast<int>(std::min(most, piece.count - done));
    const std::uint64_t bytes = layout.size * static_cast<std::uint64_t>(some);
    int position = 0;
    if (unpackElements(content, static_cast<int>(bytes), &position,
                       at(piece.buffer, done * layout.extent), some, piece.type,
                       MPI_COMM_SELF) != MPI_SUCCESS) {
      return nullptr;
    }
    content += bytes;
  }
  return content;
}

unsigned char* packPiece(const Piece& piece, std::uint64_t* bytes) {
  const TypeLayout layout = layoutOf(piece.type);
  *bytes = piece.count <= 0 ? 0 : bytesOf(layout, piece.count);
  if (*bytes > INT_MAX) {
    return nullptr;
  }
  auto* const room = static_cast<unsigned char*>(std::malloc(*bytes + 1));
  if (room == nullptr) {
    std::abort();  // the program cannot go on without memory either
  }
  if (*bytes != 0 && inARow(layout, piece.count)) {
    std::memcpy(room, at(piece.buffer, layout.first), *bytes);
  } else if (*bytes != 0) {
    int position = 0;
    packElements(piece.buffer, static_cast<int>(piece.count), piece.type, room,
                 static_cast<int>(*bytes), &position, MPI_COMM_SELF);
  }
  return room;
}

}  // namespace pf
