// SPDX-License-Identifier: GPL-3.0-or-later
// Programs and libraries are made by the compiler here: small ones that say what real ones say.
#include "replay_engine/agent/mpi_library.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "replay_engine/agent/elf_file.h"

namespace pf::agent {
namespace {

namespace fs = std::filesystem;

const std::string kVersionOf = "int MPI_Get_library_version(char* t, int* n) { const char v[] = \"";
const std::string kVersionEnd =
    "\"; for (unsigned i = 0; i < sizeof v; ++i) t[i] = v[i]; *n = sizeof v - 1; return 0; }\n";

class MpiLibraryOfProgram : public testing::Test {
 protected:
  MpiLibraryOfProgram() {
    fs::create_directories(m_directory);
    for (const char* name : {"PMI_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "LD_PRELOAD"}) {
      ::unsetenv(name);
    }
    put("libphotofinish_mpi.so", recorder("Open MPI v4.1.4"));
    put("libphotofinish_mpich.so", recorder("MPICH Version: 4.0.2"));
  }
  ~MpiLibraryOfProgram() override { fs::remove_all(m_directory); }

  static std::string recorder(const std::string& version) {
    return "__attribute__((section(\".photofinish\"), used)) const char built[] = \"" + version +
           "\";\nint MPI_Init(void) { return 0; }\nint PMPI_Init(void) { return 0; }\n";
  }
  static std::string library(const std::string& version) {
    return "int PMPI_Init(void) { return 0; }\nint MPI_Init(void) { return 0; }\n" + kVersionOf +
           version + kVersionEnd;
  }
  static std::string standardLibrary(const std::string& version, const std::string& abi) {
    return library(version) + "int PMPI_Abi_get_version(int* a, int* i) { *a = " + abi +
           "; *i = 0; return 0; }\n";
  }
  [[nodiscard]] std::string at(const std::string& name) const { return m_directory + "/" + name; }

  void compile(const std::string& name, const std::string& code, const std::string& options) {
    std::ofstream(at("source.c")) << code;
    const std::string command =
        "cd '" + m_directory + "' && gcc -w -o " + name + " source.c " + options;
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  /// A shared library that is asked for by `soname`.
  void put(const std::string& file, const std::string& code, const std::string& soname = {},
           const std::string& options = {}) {
    compile(file, code,
            "-shared -fPIC -Wl,-soname," + (soname.empty() ? file : soname) + " " + options);
  }
  void program(const std::string& options,
               const std::string& code = "int MPI_Init(); int main() { return MPI_Init(); }") {
    compile("app", code, options + " -Wl,-rpath," + m_directory);
  }
  [[nodiscard]] Result<ProgramMpi> linked(const std::string& name = "app") const {
    return linkedMpi(at(name), recordersIn(m_directory));
  }
  void expectRefused(const std::vector<std::string>& words) {
    const Result<ProgramMpi> found = linked();
    ASSERT_FALSE(found.ok());
    for (const std::string& word : words) {
      EXPECT_NE(found.error().text().find(word), std::string::npos) << word << "\n"
                                                                    << found.error().text();
    }
  }

  std::string m_directory = testing::TempDir() + "pf_mpi_" + std::to_string(::getpid());
};

TEST_F(MpiLibraryOfProgram, ThatDoesNotSayIsItsLaunchers) {
  const std::vector<Recorder> all = recordersIn(m_directory);
  for (const char* file : {"/proc/self/exe", "/nonexistent", "/etc/passwd", "/", "/bin/sh"}) {
    const Result<ProgramMpi> found = linkedMpi(file, all);
    ASSERT_TRUE(found.ok()) << file << found.error().text();
    EXPECT_FALSE(found->kind) << file;
  }
  const auto kindOfShell = [&] { return mpiOf("sh", all)->kind; };
  EXPECT_EQ(kindOfShell(), MpiKind::OpenMpi);
  ::setenv("PMI_RANK", "0", 1);
  EXPECT_EQ(kindOfShell(), MpiKind::Mpich);
  ::setenv("SLURM_PROCID", "0", 1);  // srun --mpi=pmi2
  EXPECT_EQ(kindOfShell(), MpiKind::OpenMpi);
  ::unsetenv("SLURM_PROCID");
  ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  EXPECT_EQ(kindOfShell(), MpiKind::OpenMpi);
  ::unsetenv("OMPI_COMM_WORLD_RANK");
  ::unsetenv("PMI_RANK");
}

TEST_F(MpiLibraryOfProgram, IsKnownByItsNameOrByItsWord) {
  put("libmpi.so.40", library("Open MPI v4.1.4, package: made here"));
  program("libmpi.so.40");
  EXPECT_EQ(linked()->kind, MpiKind::OpenMpi);
  put("libmpich.so.12", library("MPICH Version:\\t4.0.2\\n"));
  program("libmpich.so.12");
  EXPECT_EQ(linked()->kind, MpiKind::Mpich);
  put("libmpi.so.12", library("MPICH Version:\\t4.0.2\\n"));  // a name that others have as well
  program("libmpi.so.12");
  EXPECT_EQ(linked()->kind, MpiKind::Mpich);
  put("libmpi_local.so", library("Open MPI v4.1.7, package: a name of its own"));
  program("libmpi_local.so");
  EXPECT_EQ(linked()->kind, MpiKind::OpenMpi);
}

TEST_F(MpiLibraryOfProgram, IsFoundBehindALibraryOfItsOwn) {
  put("libmpich.so.12", library("MPICH Version:\\t4.0.2\\n"));
  put("libsolver.so", "int MPI_Init(); int solve(void) { return MPI_Init(); }", {},
      "libmpich.so.12 -Wl,-rpath," + m_directory);
  program("libsolver.so -Wl,-rpath-link,.", "int solve(); int main() { return solve(); }");
  EXPECT_EQ(linked()->kind, MpiKind::Mpich);
}

TEST_F(MpiLibraryOfProgram, OfTheStandardsInterfaceHasARecorderWhateverImplementsIt) {
  put("libphotofinish_mpi_abi.so", recorder("MPI ABI 1.0"));
  for (const char* says :
       {"MPICH Version:\\t5.0.2\\n", "Open MPI v6.0.0rc2, package: made here", "My MPI 1"}) {
    put("libmpi_abi.so.1", standardLibrary(says, "1"));
    program("libmpi_abi.so.1");
    const Result<ProgramMpi> found = linked();
    ASSERT_TRUE(found.ok()) << found.error().text();
    EXPECT_EQ(found->kind, MpiKind::Standard) << says;
  }
  for (const char* file : {"libmpi_abi_mpich.so.1.0.0", "libmine.so.1"}) {  // which says so
    put(file, standardLibrary("MPICH Version:\\t5.0.2\\n", "1"));
    program(file);
    EXPECT_EQ(linked()->kind, MpiKind::Standard) << file;
  }
  EXPECT_EQ(supportedText(recordersIn(m_directory)),
            "programs of Open MPI 4.1 (libmpi.so.40), MPICH 4.0 (libmpich.so.12) and the MPI "
            "standard's binary interface 1.0 (libmpi_abi.so.1)");
}

TEST_F(MpiLibraryOfProgram, OfTheStandardsInterfaceIsRefusedWithoutItsRecorder) {
  put("libmpi_abi.so.1", library("MPICH Version:\\t5.0.2\\n"));
  program("libmpi_abi.so.1");
  expectRefused({"libmpi_abi.so.1", "MPICH Version: 5.0.2", "binary interface of the MPI standard",
                 "programs of Open MPI 4.1 (libmpi.so.40) and MPICH 4.0 (libmpich.so.12)"});
}

/// As in MPI_Init, where it is compared once more.
TEST_F(MpiLibraryOfProgram, OfTheStandardsInterfaceIsRefusedIfThatIsAnotherVersion) {
  put("libphotofinish_mpi_abi.so", recorder("MPI ABI 1.0"));
  put("libmpi_abi.so.1", standardLibrary("MPICH Version:\\t6.0\\n", "2"));
  program("libmpi_abi.so.1");
  expectRefused({"MPICH Version: 6.0, MPI ABI 2.0", "built for MPI ABI 1.0"});
  for (const std::string& early :
       {library("MPICH Version:\\t4.3.0\\n"), standardLibrary("MPICH Version:\\t4.3.0\\n", "-1")}) {
    put("libmpi_abi.so.1", early);
    program("libmpi_abi.so.1");
    expectRefused({"MPICH Version: 4.3.0", "early form", "built for MPI ABI 1.0", "MPICH 5.0"});
  }
}

TEST_F(MpiLibraryOfProgram, OfAnotherMakerIsRefusedByNameAndVersion) {
  const std::array<std::array<const char*, 2>, 5> others{
      {{"libmpi.so.12", "Intel(R) MPI Library 2021.10 for Linux* OS"},
       {"libmpi.so.12", "MVAPICH2 Version      :\\t2.3.7"},
       {"libmpi_cray.so.12", "MPI VERSION    : CRAY MPICH version 8.1.25 (ANL base 3.4a2)"},
       {"libmpi.so.0", "Fujitsu MPI"},
       {"libmine.so.1", "My MPI 1"}}};
  for (const auto& [name, version] : others) {
    put(name, library(version));
    program(name);
    std::string shown = version;
    shown = shown.substr(0, shown.find("\\t"));
    expectRefused({name, shown, "not known here", "Open MPI 4.1"});
  }
}

TEST_F(MpiLibraryOfProgram, OfAnotherMajorVersionIsRefused) {
  put("libmpi.so.40",
      library("Open MPI v5.0.7") + "const char ompi_version_string[] = \"5.0.7\";\n");
  program("libmpi.so.40");
  expectRefused({"Open MPI v5.0.7", "built for Open MPI v4.1.4"});
  put("libmpi.so.20", library("Open MPI v2.1.1, package: old"));
  program("libmpi.so.20");
  expectRefused({"libmpi.so.20 (Open MPI v2.1.1", "built for Open MPI v4.1.4"});
  put("libmpi.so.12", library("MPICH Version:\\t3.4\\n"));
  program("libmpi.so.12");
  expectRefused({"MPICH Version: 3.4", "built for MPICH Version: 4.0.2"});
}

TEST_F(MpiLibraryOfProgram, ThatDoesNotAnswerIsRefused) {
  put("libmpi.so.12",
      "int PMPI_Init(void) { return 0; }\nint MPI_Init(void) { return 0; }\n"
      "__attribute__((constructor)) static void crash(void) { __builtin_trap(); }\n");
  program("libmpi.so.12");
  expectRefused({"libmpi.so.12", "not known here"});
}

TEST_F(MpiLibraryOfProgram, BesideAnotherOneIsRefused) {
  put("libmpi.so.40", library("Open MPI v4.1.4"));
  put("libmpich.so.12", library("MPICH Version:\\t4.0.2\\n"));
  put("libfiles.so", "int MPI_Init(); int files(void) { return MPI_Init(); }", {},
      "libmpich.so.12 -Wl,-rpath," + m_directory);
  program("libmpi.so.40 libfiles.so -Wl,-rpath-link,.",
          "int files(); int MPI_Init(); int main() { return files() + MPI_Init(); }");
  expectRefused({"two MPI libraries", at("libmpi.so.40"), at("libmpich.so.12")});
}

TEST_F(MpiLibraryOfProgram, UnderTwoNamesIsOne) {
  put("libmpich.so.12", library("MPICH Version:\\t4.0.2\\n"));
  put("libmpi.so.12", library("MPICH Version:\\t4.0.2\\n"));
  program("libmpi.so.12 libmpich.so.12 -Wl,--no-as-needed libmpi.so.12",
          "int MPI_Init(); int main() { return MPI_Init(); }");
  fs::remove(at("libmpi.so.12"));
  fs::create_symlink("libmpich.so.12", at("libmpi.so.12"));
  EXPECT_EQ(linked()->kind, MpiKind::Mpich);
}

TEST_F(MpiLibraryOfProgram, InsideOfTheProgramIsRefused) {
  program("-static", library("MPICH Version:\\t4.0.2\\n") + "int main() { return PMPI_Init(); }");
  expectRefused({"static", "shared"});
  program("", library("MPICH Version:\\t4.0.2\\n") + "int main() { return PMPI_Init(); }");
  expectRefused({"static", "shared"});
  program("-static", "int main() { return 0; }");  // a wrapper that starts the program
  EXPECT_TRUE(linked().ok());
  put("libmpi.so.40", library("Open MPI v4.1.4"));
  program("libmpi.so.40",
          "int PMPI_Init(); int MPI_Init(void) { return PMPI_Init(); } int main() { return "
          "MPI_Init(); }");
  expectRefused({"MPI_Init of its own", "Link the program without"});
}

TEST_F(MpiLibraryOfProgram, ThatIsNotThereIsNamed) {
  put("libmpi.so.40", library("Open MPI v4.1.4"));
  program("libmpi.so.40");
  fs::remove(at("libmpi.so.40"));
  ::setenv("LD_LIBRARY_PATH", "", 1);
  const Result<ProgramMpi> found = linked();
  if (found.ok()) {  // the system's own
    EXPECT_EQ(found->kind, MpiKind::OpenMpi);
    return;
  }
  if (found.error().text().find("built for Open MPI v4.1.4") != std::string::npos) {
    return;  // likewise, of another version
  }
  expectRefused({"libmpi.so.40", "finds none", "LD_LIBRARY_PATH"});
}

TEST_F(MpiLibraryOfProgram, ThatNobodyHasIsNamed) {
  put("libmpi.so.77", library("Open MPI v7.0.0"));
  program("libmpi.so.77");
  fs::remove(at("libmpi.so.77"));
  expectRefused({"libmpi.so.77", "finds none", "LD_LIBRARY_PATH"});
}

TEST_F(MpiLibraryOfProgram, OfAnotherMachineIsNamed) {
  put("libmpi.so.40", library("Open MPI v4.1.4"));
  program("libmpi.so.40");
  std::fstream file(at("app"), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(18);  // e_machine
  file.put(static_cast<char>(183));
  file.close();
  expectRefused({"64-bit ARM", "x86-64"});
}

TEST_F(MpiLibraryOfProgram, ToolsThatStandInForMpiAreNamed) {
  put("libmpi.so.40", library("Open MPI v4.1.4"));
  put("libtool.so", "int PMPI_Init(); int MPI_Init(void) { return PMPI_Init(); }");
  program("libmpi.so.40");
  ::setenv("LD_PRELOAD", at("libtool.so").c_str(), 1);
  const Result<ProgramMpi> found = linked();
  ::unsetenv("LD_PRELOAD");
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(found->kind, MpiKind::OpenMpi);
  EXPECT_EQ(found->tools, std::vector<std::string>{at("libtool.so")});
  ::setenv("LD_PRELOAD", at("libphotofinish_mpi.so").c_str(), 1);  // of the session around
  EXPECT_TRUE(linked()->tools.empty());
  ::unsetenv("LD_PRELOAD");
}

TEST_F(MpiLibraryOfProgram, WithoutItsRecorderIsRefused) {
  put("libmpich.so.12", library("MPICH Version:\\t4.0.2\\n"));
  program("libmpich.so.12");
  fs::remove(at("libphotofinish_mpich.so"));
  expectRefused({"run by MPICH", "install libmpich-dev"});
  EXPECT_EQ(supportedText(recordersIn(m_directory)), "programs of Open MPI 4.1 (libmpi.so.40)");
  fs::remove(at("libphotofinish_mpi.so"));
  EXPECT_EQ(supportedText(recordersIn(m_directory)), "no program: no recorder is there");
}

TEST(LoadedLibraries, AreReadOfTheLoadersLines) {
  EXPECT_EQ(librariesOfListing("\tlinux-vdso.so.1 (0x00007f39c8dc4000)\n"
                               "\tlibmpi.so.40 => /a (b)/libmpi.so.40 (0x00007f39c8b8b000)\n"
                               "\tlibgone.so.1 => not found\n"
                               "\t/opt/libtool.so (0x00007f39c8dc6000)\n"
                               "\t/lib64/ld-linux-x86-64.so.2 => /lib/ld.so (0x1)\nnoise\n\n\t\n"),
            (std::vector<ListedLibrary>{{"libmpi.so.40", "/a (b)/libmpi.so.40"},
                                        {"libgone.so.1", ""},
                                        {"libtool.so", "/opt/libtool.so"},
                                        {"ld-linux-x86-64.so.2", "/lib/ld.so"}}));
}

TEST(ElfFile, CutOnesSayNothingWrong) {
  const std::string cut = testing::TempDir() + "cut_elf_" + std::to_string(::getpid());
  std::ifstream whole("/proc/self/exe", std::ios::binary);
  std::string bytes(20'000, '\0');
  whole.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  for (std::size_t size = 0; size < bytes.size(); size += size < 800 ? 8 : 997) {
    std::ofstream(cut, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(size));
    static_cast<void>(elfFacts(cut));
    EXPECT_FALSE(definesFunction(cut, "main", true)) << size;
    EXPECT_EQ(textOfSection(cut, ".photofinish"), "") << size;
    EXPECT_EQ(textOfObject(cut, "ompi_version_string"), "") << size;
  }
  ::unlink(cut.c_str());
}

}  // namespace
}  // namespace pf::agent
