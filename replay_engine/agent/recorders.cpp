// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/recorders.h"

#include "replay_engine/agent/elf_file.h"

namespace pf::agent {
namespace {

const char* fileOf(MpiKind kind) {
  return kind == MpiKind::Mpich      ? "libmpich.so.12"
         : kind == MpiKind::Standard ? "libmpi_abi.so.1"
                                     : "libmpi.so.40";
}

}  // namespace

std::vector<Recorder> recordersIn(const std::string& directory) {
  std::vector<Recorder> found{{MpiKind::OpenMpi, directory + "/libphotofinish_mpi.so", {}},
                              {MpiKind::Mpich, directory + "/libphotofinish_mpich.so", {}},
                              {MpiKind::Standard, directory + "/libphotofinish_mpi_abi.so", {}}};
  for (Recorder& recorder : found) {
    recorder.builtFor = textOfSection(recorder.file, kBuiltForSection);
  }
  return found;
}

std::string supportedText(const std::vector<Recorder>& recorders) {
  std::vector<std::string> each;
  for (const Recorder& recorder : recorders) {
    const MpiVersion version = recorder.version();
    if (version.kind != MpiKind::Other) {
      each.push_back(std::string(nameOf(version.kind)) + " " + std::to_string(version.major) + "." +
                     std::to_string(version.minor) + " (" + fileOf(version.kind) + ")");
    }
  }
  std::string text;
  for (std::size_t i = 0; i < each.size(); ++i) {
    text += (i == 0 ? "programs of " : i + 1 == each.size() ? " and " : ", ") + each[i];
  }
  return text.empty() ? "no program: no recorder is there" : text;
}

const char* nameOf(MpiKind kind) {
  return kind == MpiKind::OpenMpi    ? "Open MPI"
         : kind == MpiKind::Mpich    ? "MPICH"
         : kind == MpiKind::Standard ? "the MPI standard's binary interface"
                                     : "another MPI library";
}

}  // namespace pf::agent
