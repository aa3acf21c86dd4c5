// SPDX-License-Identifier: MIT
// Of what a datatype was made (MPI 4.0, 5.1.13), also where its counts are too large for an int: MPI_Type_get_envelope calls the
// error handler of one that was, which would end the program.
#pragma once

#include "replay_engine/rank/engine/mpi_header.h"

namespace pf {

struct TypeEnvelope {
  int combiner = -1;  ///< -1: MPI does not say
  int integers = 0;
  int addresses = 0;
  int types = 0;
  MPI_Count largeCounts = 0;  ///< not 0: the integers do not say all
};

TypeEnvelope envelopeOf(MPI_Datatype type);
/// The arrays have the sizes that the envelope says. Derived types among `parts` are made anew: the caller frees them. False:
/// MPI does not say, or there is no memory.
bool partsOf(MPI_Datatype type, const TypeEnvelope& envelope, int* integers, MPI_Aint* addresses,
             MPI_Datatype* parts);

}  // namespace pf
