// SPDX-License-Identifier: GPL-3.0-or-later
// A rank to debug. Argument: what it does. GDB steers it through the two volatile variables.
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

extern "C" int MPI_Recv_like(int serial, int stop);
extern "C" int MPI_Test(int serial);

volatile int g_stopAtEvent = 0;
volatile int g_exitWith = -1;
int g_counts[3] = {0, 255, 4096};
namespace deep {
double weight = 1.5;
namespace {
int inside = 4;
}
}  // namespace deep

int add(int left, int right) {
  int sum = left + right;  // MARK add
  return sum;
}

static int useless(const std::vector<int>& numbers) {
  alignas(std::map<int, int>) unsigned char bytes[sizeof(std::map<int, int>)];
  std::memset(bytes, 0x20, sizeof bytes);
  auto& uninitialised = *reinterpret_cast<std::map<int, int>*>(bytes);
  const int seen = reinterpret_cast<unsigned char*>(&uninitialised)[0];
  return seen + numbers[0];  // MARK containers
}

volatile long g_first = 0;
volatile long g_second = 0;

static void* count(void* argument) {
  volatile long* const counter = static_cast<volatile long*>(argument);
  for (;;) {
    *counter = *counter + 1;  // MARK count
    usleep(200);              // MARK counted
  }
}

static int hide() {
  const int g_counts = deep::inside;
  return g_counts;  // MARK hidden
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "loop";
  if (mode == "deaf") {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, nullptr);
  }
  if (mode == "forks") {
    signal(SIGINT, SIG_IGN);
  }
  pthread_t first, second;
  if (mode == "threads") {  // GDB's numbers 2 and 3
    pthread_create(&first, nullptr, count, const_cast<long*>(&g_first));
    pthread_create(&second, nullptr, count, const_cast<long*>(&g_second));
  }
  std::vector<int> numbers(1000000);
  std::string text = "caf\303\251";
  int total = 0;
  for (int round = 1; g_exitWith < 0; ++round) {
    numbers[0] = round;
    int sum = add(round, 2);  // MARK call
    total += sum;             // MARK after
    if (mode == "noise") {
      std::printf("^done,fake=\"1\"\n7^error,msg=\"fake\"\npartial line %d", round);
      std::fflush(stdout);
    }
    if (g_stopAtEvent != 0) {
      g_stopAtEvent = 0;
      int taken = MPI_Recv_like(round, 1);  // MARK event
      total += taken;                       // MARK after event
    }
    if (mode == "forks") {
      const pid_t child = fork();
      if (child == 0) {
        round % 2 == 0 ? static_cast<void>(execl("/bin/true", "true", nullptr)) : _exit(0);
      }
      waitpid(child, nullptr, 0);
    }
    total += useless(numbers) + hide();
    total += MPI_Test(round);  // MARK test
    usleep(2000);              // MARK sleep
  }
  return g_exitWith + (total == 1 ? 1 : 0);
}
