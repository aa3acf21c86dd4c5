// SPDX-License-Identifier: GPL-3.0-or-later
// C++: std::random_device, chrono, ifstream on /dev/urandom; a thread that is waited for with a
// time limit, and a signal to itself.
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>

#include <mpi.h>

static volatile std::sig_atomic_t signals = 0;
static const unsigned first = std::random_device{}();  // before main

static unsigned fromFile() {
  unsigned value = 0;
  std::ifstream in("/dev/urandom", std::ios::binary);
  in.read(reinterpret_cast<char*>(&value), sizeof value);
  return in ? value : 0;
}

int main(int argc, char** argv) {
  std::mt19937_64 random(std::random_device{}() ^ first ^ fromFile());
  const auto start = std::chrono::steady_clock::now();
  int rank = 0;
  int size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::printf("seeds %08x %016llx\n", first, static_cast<unsigned long long>(random()));
  std::uint64_t sum = 0;
  for (int i = 0; i < 10; ++i) {
    const std::uint64_t out = random() ^ fromFile();
    const int to = static_cast<int>(out % static_cast<unsigned>(size));
    int one = 1;
    int mine = 0;
    int counts[64] = {};
    counts[to] = 1;
    MPI_Reduce_scatter_block(counts, &mine, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(&out, 1, MPI_UINT64_T, to, one, MPI_COMM_WORLD, &request);
    for (int n = 0; n < mine; ++n) {
      std::uint64_t in = 0;
      MPI_Recv(&in, 1, MPI_UINT64_T, MPI_ANY_SOURCE, one, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum = sum * 31 + in;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  std::printf("sum %016llx wall %lld\n", static_cast<unsigned long long>(sum),
              static_cast<long long>(wall.count()));
  // The clock of a replay is in the past: the time limit must be as long as it was.
  std::mutex mutex;
  std::condition_variable condition;
  bool done = false;
  std::thread worker([&] {
    usleep(100000);
    const std::lock_guard<std::mutex> lock(mutex);
    done = true;
    condition.notify_one();
  });
  {
    std::unique_lock<std::mutex> lock(mutex);
    const bool inTime = condition.wait_for(lock, std::chrono::seconds(2), [&] { return done; });
    std::printf("worker %s\n", inTime ? "in time" : "late");
  }
  worker.join();
  std::timed_mutex held;
  std::thread holder([&] {
    const std::lock_guard<std::timed_mutex> lock(held);
    usleep(200000);
  });
  usleep(100000);
  const bool got = held.try_lock_for(std::chrono::seconds(2));
  std::printf("lock %s\n", got ? "in time" : "late");
  holder.join();
  std::signal(SIGUSR1, [](int) { signals = 1; });
  kill(getpid(), SIGUSR1);
  std::printf("signal %d\n", static_cast<int>(signals));
  const auto took = std::chrono::steady_clock::now() - start;
  std::printf("took %lld\n", static_cast<long long>(took.count()));
  MPI_Finalize();
  std::printf("end %lld\n",
              static_cast<long long>(std::chrono::steady_clock::now().time_since_epoch().count()));
  return 0;
}
