// SPDX-License-Identifier: MIT
// Parts of the program's memory that messages and collectives fill, as the bytes that their datatypes move: never their
// gaps.
#pragma once

#include <cstdint>

#include "replay_engine/rank/engine/mpi_header.h"

namespace pf {

class PayloadWriter;

struct Piece {
  void* buffer;
  long long count;
  MPI_Datatype type;
};

/// A type that stays when the program frees its own: a copy without its attributes, unless it is predefined.
MPI_Datatype keepType(MPI_Datatype type);
void letTypeGo(MPI_Datatype type);

/// MPI does not say how many, or they are more than can be counted.
inline constexpr std::uint64_t kUnknownBytes = ~std::uint64_t{0};
/// Bytes that it moves.
std::uint64_t bytesOf(const Piece& piece);
/// Adds at most `limit` of them, the first ones, to the entry that is begun. False: MPI cannot pack them (an element of
/// 2 GiB or more that is not one row of bytes).
[[nodiscard]] bool keepPiece(PayloadWriter& writer, const Piece& piece, std::uint64_t limit);
/// Fills it from `content` and returns what is behind. Null: there are not so many bytes.
const unsigned char* fillPiece(const Piece& piece, const unsigned char* content,
                               const unsigned char* end);
/// Packed, in memory to free(); `bytes` of it. Null: they are 2 GiB or more.
unsigned char* packPiece(const Piece& piece, std::uint64_t* bytes);

}  // namespace pf
