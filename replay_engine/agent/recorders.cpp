// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/recorders.h"

#include "replay_engine/agent/elf_file.h"

namespace pf::agent {

std::vector<Recorder> recordersIn(const std::string& directory) {
  std::vector<Recorder> found{{MpiKind::OpenMpi, directory + "/libphotofinish_mpi.so", {}},
                              {MpiKind::Mpich, directory + "/libphotofinish_mpich.so", {}}};
  for (Recorder& recorder : found) {
    recorder.builtFor = textOfSection(recorder.file, kBuiltForSection);
  }
  return found;
}

std::string supportedText(const std::vector<Recorder>& recorders) {
  std::string text;
  for (const Recorder& recorder : recorders) {
    const MpiVersion version = recorder.version();
    if (version.kind != MpiKind::Other) {
      text += (text.empty() ? "programs of " : " and ") + std::string(nameOf(version.kind)) + " " +
              std::to_string(version.major) + "." + std::to_string(version.minor) +
              (version.kind == MpiKind::Mpich ? " (libmpich.so.12)" : " (libmpi.so.40)");
    }
  }
  return text.empty() ? "no program: no recorder is there" : text;
}

const char* nameOf(MpiKind kind) {
  return kind == MpiKind::OpenMpi ? "Open MPI"
         : kind == MpiKind::Mpich ? "MPICH"
                                  : "another MPI library";
}

}  // namespace pf::agent
