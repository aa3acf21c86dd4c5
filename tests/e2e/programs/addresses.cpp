// SPDX-License-Identifier: GPL-3.0-or-later
// Where the memory of a C++ program lies, hashed: all that it allocates (in an order and of sizes
// that depend on which message came first), its stack, globals, functions, those of libraries.
// usage: addresses [threads]    with threads, three more allocate at the same time
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <mpi.h>

namespace {

constexpr int kRounds = 60;
constexpr int kLargest = 20000;  // ints: more than an eager message holds

thread_local std::uint64_t t_hash = 1469598103934665603U;
std::uint64_t g_global;

void add(const void* address) {
  t_hash = (t_hash ^ reinterpret_cast<std::uintptr_t>(address)) * 1099511628211U;
}

}  // namespace

void* operator new(std::size_t size) {
  void* block = std::malloc(size);
  add(block);
  return block;
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}

namespace {

void allocations(int seed) {
  static std::vector<void*> kept;
  void* blocks[] = {std::calloc(static_cast<std::size_t>(seed % 7 + 1), 24),
                    aligned_alloc(256, 512),
                    memalign(64, 100),
                    valloc(10),
                    std::malloc(static_cast<std::size_t>(seed % 5) << 18),
                    strdup("a copy that libc makes")};
  void* aligned = nullptr;
  if (posix_memalign(&aligned, 4096, 6000) == 0) {
    add(aligned);
  }
  void* mapped =
      mmap(nullptr, 1U << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  add(mapped);
  munmap(mapped, 1U << 16);
  add(sbrk(seed % 3 * 1024));
  for (void*& block : blocks) {
    add(block);
    block =
        std::realloc(block, malloc_usable_size(block) + static_cast<std::size_t>(seed % 11) * 100);
    add(block);
  }
  for (std::size_t i = 0; i < sizeof blocks / sizeof *blocks; ++i) {
    if ((seed + static_cast<int>(i)) % 3 == 0) {
      kept.push_back(blocks[i]);
    } else {
      std::free(blocks[i]);
    }
  }
  std::free(aligned);
}

/// An operation of the program, called by MPI.
void sum(void* in, void* out, int* count, MPI_Datatype*) {
  const std::vector<int> copy(static_cast<int*>(in), static_cast<int*>(in) + *count);
  for (int i = 0; i < *count; ++i) {
    static_cast<int*>(out)[i] += copy[static_cast<std::size_t>(i)];
  }
}

std::uint64_t threadsHash() {
  std::vector<std::uint64_t> hashes(3);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < hashes.size(); ++t) {
    threads.emplace_back([&hashes, t] {
      std::map<int, std::string> texts;
      for (int i = 0; i < 2000; ++i) {
        texts[i * 7919 % 301] += std::string(static_cast<std::size_t>(i % 90), 'x');
      }
      add(&texts);
      hashes[t] = t_hash;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::uint64_t all = 0;
  for (const std::uint64_t hash : hashes) {
    all = all * 31 + hash;
  }
  return all;
}

void work(int rank, int size) {
  std::map<int, std::vector<int>> results;
  std::vector<int> buffer(kLargest);
  int worked = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (rank == 0) {
      for (int i = 1; i < size; ++i) {
        MPI_Status status;
        int count = 0;
        MPI_Recv(buffer.data(), kLargest, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        auto& list = results[status.MPI_SOURCE * 100 + i];
        list.insert(list.end(), buffer.begin(), buffer.begin() + count % 1000);
        if (list.size() > 3000) {
          list = {};
        }
        allocations(status.MPI_SOURCE * 13 + i);
      }
    } else {
      const int count = round % 4 == 0 ? kLargest : 10 * rank + round;
      allocations(round);
      MPI_Request request;
      MPI_Isend(buffer.data(), count, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
      int done = 0;
      while (done == 0) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        worked += done == 0 && worked < 3 ? 1 : 0;
      }
    }
  }
  if (worked > 1) {
    results[-1].resize(static_cast<std::size_t>(worked) * 100);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int onStack = 0;
  setenv("OF_THE_PROGRAM", "a value", 1);
  void* early = std::malloc(100);
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const void* address :
       {static_cast<const void*>(&onStack), static_cast<const void*>(argv),
        static_cast<const void*>(argv[0]), static_cast<const void*>(&g_global),
        static_cast<const void*>(early), reinterpret_cast<const void*>(&main),
        reinterpret_cast<const void*>(&std::printf), reinterpret_cast<const void*>(&MPI_Recv),
        static_cast<const void*>(getenv("OF_THE_PROGRAM")), static_cast<const void*>(&errno)}) {
    add(address);
  }
  std::printf("rank %d stack %p global %p function %p early %p\n", rank,
              static_cast<void*>(&onStack), static_cast<void*>(&g_global),
              reinterpret_cast<void*>(&main), early);
  MPI_Op operation;
  MPI_Op_create(sum, 1, &operation);
  work(rank, size);
  int mine = rank;
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, operation, MPI_COMM_WORLD);
  std::free(early);
  if (argc > 1) {
    t_hash ^= threadsHash();
    t_hash ^= threadsHash();
  }
  allocations(all);
  std::FILE* file = std::fopen("/etc/passwd", "r");
  add(file);
  std::fclose(file);
  std::printf("rank %d all %llx\n", rank, static_cast<unsigned long long>(t_hash));
  MPI_Op_free(&operation);
  MPI_Finalize();
  return 0;
}
