// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/place_in_job.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "replay_engine/protocol/rank_page.h"

namespace pf::protocol {
namespace {

/// Of Open MPI, PMIx, MPICH's Hydra and Slurm.
constexpr std::array kPlaceVariables{
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "OMPI_COMM_WORLD_NODE_RANK",
    "OMPI_UNIVERSE_SIZE",
    "OMPI_APP_CTX_NUM_PROCS",
    "PMIX_RANK",
    "PMI_RANK",
    "PMI_SIZE",
    "PMI_LOCAL_RANK",
    "PMI_LOCAL_SIZE",
    "MPI_LOCALRANKID",
    "MPI_LOCALNRANKS",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "SLURM_NPROCS",
    "SLURM_LOCALID",
};

std::string nameOf(const std::string& entry) {
  return entry.substr(0, entry.find('='));
}

bool isOfPlace(const std::string& name) {
  return std::find(kPlaceVariables.begin(), kPlaceVariables.end(), name) != kPlaceVariables.end();
}

bool isNumber(std::string_view text) {
  return !text.empty() && text.size() <= 10 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

LaunchContext placeFacts(const std::vector<std::string>& environment) {
  LaunchContext facts;
  for (const std::string& entry : environment) {
    const std::string name = nameOf(entry);
    if (isOfPlace(name) && name.size() < entry.size() && isNumber(entry.substr(name.size() + 1))) {
      facts.push_back({"place", name, entry.substr(name.size() + 1), {}});
    }
  }
  return facts;
}

std::vector<std::string> giveBackPlace(const LaunchContext& recorded,
                                       std::vector<std::string> now) {
  std::map<std::string, std::string> then;
  for (const ContextFact& fact : recorded) {
    if (fact.kind == "place" && isOfPlace(fact.name) && isNumber(fact.value)) {
      then[fact.name] = fact.value;
    }
  }
  if (then.empty()) {
    return now;
  }
  std::string launchers;
  std::map<std::string, std::string> here;
  for (const std::string& entry : now) {
    if (const std::string name = nameOf(entry); isOfPlace(name)) {
      here.emplace(name, entry);
    }
  }
  for (const char* name : kPlaceVariables) {
    const auto own = here.find(name);
    if (own != here.end() || then.contains(name)) {
      launchers += (launchers.empty() ? "" : ";") + (own != here.end() ? own->second : name);
    }
  }
  std::erase_if(now, [](const std::string& entry) { return isOfPlace(nameOf(entry)); });
  for (const auto& [name, value] : then) {
    now.push_back(name + "=" + value);
  }
  now.push_back(std::string(kLaunchersVariable) + "=" + launchers);
  return now;
}

}  // namespace pf::protocol
