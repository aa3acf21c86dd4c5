// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/place_in_job.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pf::protocol {
namespace {

using Lines = std::vector<std::string>;

Lines sorted(Lines lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(PlaceInJob, IsThatOfTheRecordedJob) {
  const LaunchContext recorded = placeFacts({"OMPI_COMM_WORLD_RANK=37", "OMPI_COMM_WORLD_SIZE=64",
                                             "PMIX_RANK=37", "HOME=/root", "SEED=3"});
  EXPECT_EQ(recorded.size(), 3U);
  EXPECT_EQ(sorted(giveBackPlace(recorded, {"OMPI_COMM_WORLD_RANK=0", "PMIX_RANK=0", "SEED=4",
                                            "OMPI_UNIVERSE_SIZE=2"})),
            (Lines{"OMPI_COMM_WORLD_RANK=37", "OMPI_COMM_WORLD_SIZE=64",
                   "PHOTOFINISH_LAUNCHERS=OMPI_COMM_WORLD_RANK=0;OMPI_COMM_WORLD_SIZE;"
                   "OMPI_UNIVERSE_SIZE=2;PMIX_RANK=0",
                   "PMIX_RANK=37", "SEED=4"}));
}

TEST(PlaceInJob, OfOlderTracesIsTheLaunchers) {
  const Lines now{"OMPI_COMM_WORLD_RANK=0", "SEED=4"};
  EXPECT_EQ(giveBackPlace({}, now), now);
}

TEST(PlaceInJob, OnlyNumbersOfKnownVariablesAreTakenFromATrace) {
  const LaunchContext hostile{{"place", "LD_PRELOAD", "1"},
                              {"place", "PMI_RANK", "1;LD_PRELOAD=/tmp/x"},
                              {"place", "PMI_SIZE", "12345678901"},
                              {"place", "PMIX_RANK", ""},
                              {"environ", "SLURM_PROCID", "3"}};
  const Lines now{"PMI_RANK=0"};
  EXPECT_EQ(giveBackPlace(hostile, now), now);
}

}  // namespace
}  // namespace pf::protocol
