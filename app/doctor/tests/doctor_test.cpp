// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/doctor/doctor.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "app/doctor/gdb_check.h"
#include "app/doctor/mpi_checks.h"
#include "app/doctor/system_checks.h"

namespace pf::app {
namespace {

constexpr std::uint64_t kMebi = 1U << 20U;

const std::vector<agent::Recorder> kRecorders{
    {MpiKind::OpenMpi, "/p/libphotofinish_mpi.so", "Open MPI v4.1.4"},
    {MpiKind::Mpich, "/p/libphotofinish_mpich.so", ""}};

bool says(const Check& check, const std::string& words) {
  return (check.found + "\n" + check.remedy).find(words) != std::string::npos;
}

TEST(Doctor, ARecorderIsForTheLibraryThatItWasBuiltWith) {
  EXPECT_EQ(recorderCheck(kRecorders[0]).state, CheckState::Works);
  const Check none = recorderCheck(kRecorders[1]);
  EXPECT_EQ(none.state, CheckState::Missing);
  EXPECT_TRUE(says(none, "libmpich-dev")) << none.remedy;
  EXPECT_EQ(recorderCheck({MpiKind::OpenMpi, "/p/x", "MPICH Version: 4.0"}).state,
            CheckState::Missing);
}

TEST(Doctor, AnMpiLibraryNeedsItsRecorder) {
  const auto state = [](const char* path, const char* version) {
    return libraryCheck(path, version, kRecorders).state;
  };
  EXPECT_EQ(state("/l/libmpi.so.40.30.4", "Open MPI v4.1.4"), CheckState::Works);
  EXPECT_EQ(state("/l/libmpi.so.40.20.4", "Open MPI v4.0.3"), CheckState::Works);
  EXPECT_EQ(state("/l/libmpi.so.40.40.0", "Open MPI v4.2.0"), CheckState::Limited);
  EXPECT_EQ(state("/l/libmpi.so.40.40.7", "Open MPI v5.0.7"), CheckState::Missing);
  EXPECT_EQ(state("/l/libmpich.so.12.2.2", "MPICH Version: 4.0.2"), CheckState::Missing);
  EXPECT_EQ(state("/l/libmpi.so.12", "Intel(R) MPI Library 2021.10"), CheckState::Missing);
  EXPECT_EQ(state("/l/libmpi.so.12", ""), CheckState::Missing);
  EXPECT_EQ(state("/l/libmpi_abi.so.1", "Open MPI v4.1.4"), CheckState::Missing);
  const std::vector<agent::Recorder> standard{
      {MpiKind::Standard, "/p/libphotofinish_mpi_abi.so", "MPI ABI 1.0"}};
  const auto ofStandard = [&](const char* path, const char* version) {
    return libraryCheck(path, version, standard);
  };
  EXPECT_EQ(ofStandard("/l/libmpi_abi.so.1", "Open MPI v6.0.0, MPI ABI 1.0").state,
            CheckState::Works);
  EXPECT_EQ(ofStandard("/l/libmine.so.1", "My MPI 1, MPI ABI 1.1").state, CheckState::Works);
  EXPECT_EQ(ofStandard("/l/libmpi_abi.so.1", "MPICH Version: 6.0, MPI ABI 2.0").state,
            CheckState::Missing);
  const Check early = ofStandard("/l/libmpi_abi.so.0", "MPICH Version: 4.3.0");
  EXPECT_EQ(early.state, CheckState::Missing);
  EXPECT_TRUE(says(early, "early form")) << early.found;
  EXPECT_TRUE(says(early, "MPICH 5.0 or later")) << early.remedy;
  EXPECT_EQ(ofStandard("/l/libmpi_abi.so.1", "").state, CheckState::Missing);
  EXPECT_EQ(recorderCheck(standard[0]).state, CheckState::Works);
  EXPECT_TRUE(
      says(libraryCheck("/l/libmpi_abi.so.1", "Open MPI v4.1.4", kRecorders), "MPI standard"));
}

TEST(Doctor, LaunchersAreKnownByWhatTheySay) {
  const Check open = launcherCheck("/b/mpirun", "mpirun (Open MPI) 4.1.4\n\nReport bugs to …\n");
  EXPECT_EQ(open.found, "Open MPI's");
  EXPECT_EQ(open.version, "mpirun (Open MPI) 4.1.4");
  const Check hydra =
      launcherCheck("/b/mpiexec", "HYDRA build details:\n    Version:      4.0.2\n    Release");
  EXPECT_EQ(hydra.version, "HYDRA 4.0.2");
  EXPECT_EQ(launcherCheck("/b/srun", "slurm 22.05.8\n").found, "Slurm's");
  EXPECT_EQ(launcherCheck("/b/mpirun", "prterun (PRRTE) 3.0.7\n").found, "Open MPI's");
  EXPECT_EQ(launcherCheck("/b/mpirun", "").state, CheckState::Limited);
  EXPECT_EQ(
      launcherCheck("/b/mpirun", "Intel(R) MPI Library for Linux* OS, Version 2021.10\n").state,
      CheckState::Limited);
}

const std::string kGdbSays =
    "=thread-group-added,id=\"i1\"\n(gdb) "
    "\n^done,features=[\"frozen-varobjs\",\"pending-breakpoints\",\"thread-info\","
    "\"data-read-memory-bytes\",\"breakpoint-notifications\",\"python\"]\n(gdb) \n~\"GNU gdb "
    "(Debian 13.1-3) 13.1\\n\"\n^done\n";

TEST(Doctor, GdbIsAskedWhatItCan) {
  const Check whole = gdbCheck("/b/gdb", kGdbSays + "~\"photofinish asks: 42\\n\"\n^done\n^exit\n");
  EXPECT_EQ(whole.state, CheckState::Works) << whole.found;
  EXPECT_EQ(whole.version, "GNU gdb (Debian 13.1-3) 13.1");
  EXPECT_TRUE(
      says(gdbCheck("/b/gdb", kGdbSays + "^error,msg=\"Couldn't write extended state status: Bad "
                                         "address.\"\n~\"photofinish asks: 42\\n\"\n^done\n"),
           "cannot be called"));
  EXPECT_EQ(gdbCheck("/b/gdb", kGdbSays).state, CheckState::Limited);
  EXPECT_TRUE(says(gdbCheck("/b/gdb", kGdbSays), "without Python"));
  const Check old = gdbCheck("/b/gdb", "^done,features=[\"frozen-varobjs\",\"thread-info\"]\n");
  EXPECT_EQ(old.state, CheckState::Missing);
  EXPECT_TRUE(says(old, "pending-breakpoints, data-read-memory-bytes, breakpoint-notifications"))
      << old.found;
  EXPECT_EQ(gdbCheck("/b/gdb", "usage: gdb …").state, CheckState::Missing);
  EXPECT_TRUE(says(gdbCheck("", ""), "--gdb PATH"));
  EXPECT_NE(gdbQuestions().find("-list-features\n"), std::string::npos);
}

TEST(Doctor, TheKernelMayForbidDebugging) {
  EXPECT_EQ(ptraceCheck(true, "", false).state, CheckState::Works);
  EXPECT_EQ(ptraceCheck(true, "1", true).state, CheckState::Works);
  EXPECT_TRUE(says(ptraceCheck(true, "1", false), "not attach"));
  const Check none = ptraceCheck(false, "3", false);
  EXPECT_EQ(none.state, CheckState::Missing);
  EXPECT_TRUE(says(none, "--cap-add=SYS_PTRACE"));
  EXPECT_TRUE(says(none, "ptrace_scope is 3"));
}

TEST(Doctor, SharedMemoryIsThereAndLargeEnough) {
  EXPECT_EQ(sharedMemoryCheck(8192 * kMebi, 8000 * kMebi, true).state, CheckState::Works);
  EXPECT_EQ(sharedMemoryCheck(64 * kMebi, 60 * kMebi, true).state,
            CheckState::Limited);  // Docker's usual
  EXPECT_EQ(sharedMemoryCheck(64 * kMebi, kMebi, true).state, CheckState::Missing);
  EXPECT_EQ(sharedMemoryCheck(0, 0, false).state, CheckState::Missing);
  EXPECT_EQ(sharedMemoryCheck(8192 * kMebi, 8000 * kMebi, false).state, CheckState::Missing);
  EXPECT_TRUE(says(sharedMemoryCheck(64 * kMebi, kMebi, true), "--shm-size"));
}

TEST(Doctor, ADiskIsWritableAndNotSlow) {
  EXPECT_EQ(diskCheck("/d", 9000 * kMebi, 16 * kMebi, 0.1).state, CheckState::Works);
  EXPECT_TRUE(says(diskCheck("/d", 9000 * kMebi, 16 * kMebi, 0.1), "160 MiB/s"));
  EXPECT_TRUE(says(diskCheck("/d", 9000 * kMebi, 16 * kMebi, 4), "local disk"));
  EXPECT_EQ(diskCheck("/d", 500 * kMebi, 16 * kMebi, 0.1).state, CheckState::Limited);
  EXPECT_EQ(diskCheck("/d", 60 * kMebi, 16 * kMebi, 0.1).state, CheckState::Missing);
  EXPECT_EQ(diskCheck("/d", 9000 * kMebi, 0, 0).state, CheckState::Missing);
}

TEST(Doctor, CoreFilesNamespacesAndDisplayAreNotNeeded) {
  EXPECT_EQ(coreCheck("core", ~0ULL).state, CheckState::Works);
  EXPECT_TRUE(says(coreCheck("core", 0), "ulimit -c"));
  EXPECT_EQ(coreCheck("|/usr/lib/systemd/systemd-coredump %P", ~0ULL).state, CheckState::Works);
  EXPECT_TRUE(says(coreCheck("|/usr/share/apport/apport %p", ~0ULL), "core_pattern=core"));
  EXPECT_TRUE(says(displayCheck(true, ""), "ssh -X"));
  EXPECT_EQ(displayCheck(true, ":0").state, CheckState::Works);
  EXPECT_TRUE(says(displayCheck(false, ":0"), "not installed"));
  for (const Check& check : {coreCheck("", 0), namespaceCheck(false), displayCheck(false, "")}) {
    EXPECT_FALSE(check.needed);
    EXPECT_FALSE(check.remedy.empty());
  }
}

TEST(Doctor, IsContentWhereAllThatIsNeededWorks) {
  Checks checks{
      {.name = "a", .state = CheckState::Works, .needed = true, .found = "x", .remedy = ""},
      {.name = "b", .state = CheckState::Limited, .needed = true, .found = "y", .remedy = "do"},
      {.name = "c", .state = CheckState::Missing, .needed = false, .found = "z", .remedy = "do"}};
  EXPECT_TRUE(isFit(checks));
  EXPECT_EQ(doctorReport(checks, false).find("MISSING"), std::string::npos);
  checks[2].needed = true;
  checks[2].path = "/a\xff";
  EXPECT_FALSE(isFit(checks));
  EXPECT_NE(doctorReport(checks, false).find("MISSING c"), std::string::npos);
  const auto document = nlohmann::json::parse(doctorReport(checks, true));
  EXPECT_EQ(document["works"], false);
  ASSERT_EQ(document["checks"].size(), 3U);
  EXPECT_EQ(document["checks"][1]["state"], "limited");
  EXPECT_EQ(document["checks"][2]["remedy"], "do");
}

}  // namespace
}  // namespace pf::app
