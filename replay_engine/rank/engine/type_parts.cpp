// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/type_parts.h"

#include <climits>
#include <cstdlib>

#include "replay_engine/rank/engine/real_calls.h"

namespace pf {

#if MPI_VERSION >= 4

TypeEnvelope envelopeOf(MPI_Datatype type) {
  TypeEnvelope envelope;
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count types = 0;
  int combiner = -1;
  if (PF_REAL(Type_get_envelope_c)(type, &integers, &addresses, &envelope.largeCounts, &types,
                                   &combiner) == MPI_SUCCESS &&
      integers <= INT_MAX && addresses <= INT_MAX && types <= INT_MAX) {
    envelope.combiner = combiner;
    envelope.integers = static_cast<int>(integers);
    envelope.addresses = static_cast<int>(addresses);
    envelope.types = static_cast<int>(types);
  }
  return envelope;
}

bool partsOf(MPI_Datatype type, const TypeEnvelope& envelope, int* integers, MPI_Aint* addresses,
             MPI_Datatype* parts) {
  auto* const counts = static_cast<MPI_Count*>(
      std::malloc((static_cast<std::size_t>(envelope.largeCounts) + 1) * sizeof(MPI_Count)));
  const bool said = counts != nullptr &&
                    PF_REAL(Type_get_contents_c)(type, envelope.integers, envelope.addresses,
                                                 envelope.largeCounts, envelope.types, integers,
                                                 addresses, counts, parts) == MPI_SUCCESS;
  std::free(counts);
  return said;
}

#else

TypeEnvelope envelopeOf(MPI_Datatype type) {
  TypeEnvelope envelope;
  int combiner = -1;
  if (PF_REAL(Type_get_envelope)(type, &envelope.integers, &envelope.addresses, &envelope.types,
                                 &combiner) == MPI_SUCCESS) {
    envelope.combiner = combiner;
  }
  return envelope;
}

bool partsOf(MPI_Datatype type, const TypeEnvelope& envelope, int* integers, MPI_Aint* addresses,
             MPI_Datatype* parts) {
  return PF_REAL(Type_get_contents)(type, envelope.integers, envelope.addresses, envelope.types,
                                    integers, addresses, parts) == MPI_SUCCESS;
}

#endif

}  // namespace pf
