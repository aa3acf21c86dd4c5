// SPDX-License-Identifier: MIT
// Datatypes of a recording with groups: of which basic types each is, once.

#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/group_recording/keeping.h"
#include "replay_engine/rank/layer/flat_type.h"

namespace pf {
namespace {

HandleMap<std::uint16_t> g_typeNumbers;
/// By contents of their entries: a program may make the same type again and again.
struct KnownType {
  std::uint64_t hash;
  std::uint16_t number;
};
constexpr std::size_t kPlaces = 1024;  // a power of two; of types beyond, each handle is a new one
KnownType g_knownTypes[kPlaces];
std::uint16_t g_lastNumber = 0;

std::uint64_t hashOf(const PayloadType& type) {
  std::uint64_t hash = 0xCBF29CE484222325;
  const auto add = [&hash](const void* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001B3;
    }
  };
  add(&type.head, sizeof type.head);
  add(type.runs.data(), type.head.runs * sizeof(PayloadRun));
  add(type.name, type.head.name);
  return hash | 1;  // 0: nothing
}

std::uint16_t putType(const PayloadType& type) {
  if (g_lastNumber == kMostPayloadTypes || !g_payload.keeps()) {
    return 0;
  }
  ++g_lastNumber;
  g_payload.begin(PayloadKind::Datatype, g_lastNumber, 0, g_engine.serial);
  g_payload.add(&type.head, sizeof type.head);
  g_payload.add(type.runs.data(), type.head.runs * sizeof(PayloadRun));
  g_payload.add(type.name, type.head.name);
  g_payload.end();
  return g_lastNumber;
}

std::uint16_t numberFor(MPI_Datatype type) {
  const InLayer inside;
  const PayloadType flat = flatType(type);
  const std::uint64_t hash = hashOf(flat);
  KnownType& known = g_knownTypes[hash >> 1 & (kPlaces - 1)];
  if (known.hash == hash) {
    return known.number;
  }
  const std::uint16_t number = putType(flat);
  if (known.hash == 0) {
    known = {hash, number};
  }
  return number;
}

void forgetType(MPI_Datatype type) {
  g_typeNumbers.erase(type);
}

int keepType_free(MPI_Datatype* type) {
  const MPI_Datatype old = *type;
  const int result = PF_UNDER(Type_free)(type);
  forgetType(old);
  return result;
}

/// From now on it is another one for people.
int keepType_set_name(MPI_Datatype type, const char* name) {
  forgetType(type);
  return PF_UNDER(Type_set_name)(type, name);
}

}  // namespace

std::uint16_t typeNumber(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL || !g_payload.keeps()) {
    return 0;
  }
  const std::uint16_t* const known = g_typeNumbers.find(type);
  return known != nullptr ? *known : g_typeNumbers.insert(type, numberFor(type));
}

std::uint16_t typeNumber(const PeerPiece* begin, const PeerPiece* end) {
  if (begin == end) {
    return 0;
  }
  for (const PeerPiece* each = begin; each != end; ++each) {
    if (each->piece.type != begin->piece.type) {
      return 0;
    }
  }
  return typeNumber(begin->piece.type);
}

void putDatatypesOver() {
  putOver(kCallType_free, keepType_free);
  putOver(kCallType_set_name, keepType_set_name);
}

}  // namespace pf
