// SPDX-License-Identifier: MIT
#include "replay_engine/rank/layer/flat_type.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/rank/engine/type_parts.h"

namespace pf {
namespace {

constexpr int kMostDepth = 16;
constexpr int kMostSteps = 4096;  // types that are looked at
constexpr int kMostParts = 4096;  // of one of them

bool isPredefined(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

bool isOneOf(MPI_Datatype type, std::initializer_list<MPI_Datatype> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

BasicKind kindOf(MPI_Datatype type, int combiner) {
  if (combiner == MPI_COMBINER_F90_REAL) {
    return BasicKind::Float;
  }
  if (combiner == MPI_COMBINER_F90_COMPLEX) {
    return BasicKind::Complex;
  }
  if (combiner == MPI_COMBINER_F90_INTEGER ||
      isOneOf(type,
              {MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T,
               MPI_INT64_T, MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8,
               MPI_SIGNED_CHAR, MPI_AINT, MPI_OFFSET, MPI_COUNT})) {
    return BasicKind::Signed;
  }
  if (isOneOf(type,
              {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
               MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T})) {
    return BasicKind::Unsigned;
  }
  if (isOneOf(type, {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION,
                     MPI_REAL4, MPI_REAL8, MPI_REAL16})) {
    return BasicKind::Float;
  }
  if (isOneOf(type, {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX,
                     MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16})) {
    return BasicKind::Complex;
  }
  if (isOneOf(type, {MPI_CHAR, MPI_CHARACTER})) {
    return BasicKind::Char;
  }
  return isOneOf(type, {MPI_C_BOOL, MPI_LOGICAL}) ? BasicKind::Logical : BasicKind::Bytes;
}

/// MPI_DOUBLE_INT and its like: of which their first value is; null: it is none of them.
MPI_Datatype firstOfPair(MPI_Datatype type) {
  return type == MPI_FLOAT_INT         ? MPI_FLOAT
         : type == MPI_DOUBLE_INT      ? MPI_DOUBLE
         : type == MPI_LONG_INT        ? MPI_LONG
         : type == MPI_SHORT_INT       ? MPI_SHORT
         : type == MPI_LONG_DOUBLE_INT ? MPI_LONG_DOUBLE
         : type == MPI_2INT            ? MPI_INT
                                       : MPI_DATATYPE_NULL;
}

/// What a type was made of. Frees what it has.
class Parts {
 public:
  explicit Parts(MPI_Datatype type) {
    const TypeEnvelope envelope = envelopeOf(type);
    combiner = envelope.combiner;
    if (combiner < 0 || isPredefined(combiner) || envelope.integers > kMostParts ||
        envelope.addresses > kMostParts || envelope.types > kMostParts ||
        envelope.largeCounts != 0) {
      return;
    }
    ints = static_cast<int*>(room(envelope.integers, sizeof(int)));
    m_offsets = static_cast<MPI_Aint*>(room(envelope.addresses, sizeof(MPI_Aint)));
    types = static_cast<MPI_Datatype*>(room(envelope.types, sizeof(MPI_Datatype)));
    if (ints != nullptr && m_offsets != nullptr && types != nullptr &&
        partsOf(type, envelope, ints, m_offsets, types)) {
      count = envelope.types;
    }
  }
  ~Parts() {
    for (int i = 0; i < count; ++i) {
      const int made = combinerOf(types[i]);
      if (made >= 0 && !isPredefined(made)) {
        PF_REAL(Type_free)(&types[i]);  // Type_get_contents made it anew
      }
    }
    std::free(ints);
    std::free(m_offsets);
    std::free(types);
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  int combiner = -1;
  int* ints = nullptr;
  MPI_Datatype* types = nullptr;
  int count = 0;  ///< of `types`

 private:
  static void* room(int count, std::size_t size) {
    return std::calloc(static_cast<std::size_t>(count) + 1, size);
  }
  MPI_Aint* m_offsets = nullptr;
};

std::uint64_t sizeOf(MPI_Datatype type) {
  MPI_Count size = 0;
  return PF_REAL(Type_size_x)(type, &size) == MPI_SUCCESS && size > 0
             ? static_cast<std::uint64_t>(size)
             : 0;
}

class Flattening {
 public:
  explicit Flattening(PayloadType& type) : m_type(type) {}

  /// `times`: how often one is behind another. False: it is too complex.
  bool add(MPI_Datatype type, std::uint64_t times, int depth) {
    const std::uint64_t size = sizeOf(type);
    if (depth == kMostDepth || ++m_steps > kMostSteps) {
      return false;
    }
    if (size == 0 || times == 0) {
      return true;
    }
    const Parts parts(type);
    if (isPredefined(parts.combiner)) {
      return addBasic(type, parts.combiner, static_cast<std::uint32_t>(size), times);
    }
    if (parts.count == 0) {
      return false;
    }
    if (parts.combiner != MPI_COMBINER_STRUCT) {  // all others are of one type
      const std::uint64_t part = sizeOf(parts.types[0]);
      std::uint64_t all = 0;
      if (part == 0 || size % part != 0 || __builtin_mul_overflow(times, size / part, &all)) {
        return false;
      }
      return add(parts.types[0], m_outermost ? 1 : all, depth + 1);
    }
    m_outermost = false;
    for (std::uint64_t round = 0; round < times; ++round) {
      for (int i = 0; i < parts.count; ++i) {
        if (parts.ints[i + 1] > 0 &&
            !add(parts.types[i], static_cast<std::uint64_t>(parts.ints[i + 1]), depth + 1)) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  bool addBasic(MPI_Datatype type, int combiner, std::uint32_t size, std::uint64_t times) {
    if (times > UINT32_MAX) {
      return false;
    }
    if (const MPI_Datatype first = firstOfPair(type); first != MPI_DATATYPE_NULL) {
      if (first == MPI_INT) {
        return run(BasicKind::Signed, sizeof(int), 2 * times);
      }
      for (std::uint64_t i = 0; i < times; ++i) {
        if (!run(kindOf(first, MPI_COMBINER_NAMED), static_cast<std::uint32_t>(sizeOf(first)), 1) ||
            !run(BasicKind::Signed, sizeof(int), 1)) {
          return false;
        }
      }
      return true;
    }
    const BasicKind kind = kindOf(type, combiner);
    return kind == BasicKind::Bytes ? run(kind, 1, times * size) : run(kind, size, times);
  }

  bool run(BasicKind kind, std::uint32_t size, std::uint64_t count) {
    if (size > 32 || !isBasicSize(static_cast<std::uint8_t>(size)) || count > UINT32_MAX) {
      return false;
    }
    std::uint32_t& runs = m_type.head.runs;
    if (runs > 0) {
      PayloadRun& last = m_type.runs[runs - 1];
      if (last.kind == kind && last.size == size && last.count + count <= UINT32_MAX) {
        last.count += static_cast<std::uint32_t>(count);
        return true;
      }
    }
    if (runs == kMostRuns) {
      return false;
    }
    m_type.runs[runs++] = {kind, static_cast<std::uint8_t>(size), 0,
                           static_cast<std::uint32_t>(count)};
    return true;
  }

  PayloadType& m_type;
  int m_steps = 0;
  bool m_outermost = true;  ///< no struct is around: rounds of a type are as one
};

}  // namespace

PayloadType flatType(MPI_Datatype type) {
  PayloadType flat;
  if (type == MPI_DATATYPE_NULL || !Flattening(flat).add(type, 1, 0)) {
    flat.head.runs = 0;
    flat.runs = {};
  }
  if (flat.head.runs == 1) {
    flat.runs[0].count = 1;
  }
  char name[MPI_MAX_OBJECT_NAME] = {};
  int length = 0;
  if (type != MPI_DATATYPE_NULL && PF_REAL(Type_get_name)(type, name, &length) == MPI_SUCCESS &&
      length > 0) {
    flat.head.name = static_cast<std::uint32_t>(
        std::min<std::size_t>(static_cast<std::size_t>(length), kMostTypeName));
    std::memcpy(flat.name, name, flat.head.name);
  }
  return flat;
}

}  // namespace pf
