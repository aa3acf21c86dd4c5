// SPDX-License-Identifier: MIT
// Plugins for host_test: one that is whole, and one for each way in which one is refused.
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "plugins/api/plugin.h"

using namespace photofinish;

namespace {

void write(const Trace& trace, Output& output) {
  output.write(std::to_string(trace.ranks()) + "\n");
}

Judge* makeJudge(const Trace& /*trace*/) {
  throw std::runtime_error("no judge today");
}

Pane* makePane(Window& /*window*/, QWidget* /*parent*/) {
  return nullptr;
}

int run(const Trace& /*trace*/, Words words, Output& output) {
  output.write("words: " + std::to_string(words.count) + "\n");
  return static_cast<int>(words.count);
}

[[maybe_unused]] void give(Parts& parts) {
  parts.pane({"bars", "Bars", "Bars of ranks."}, makePane);
  parts.exporter({"ranks", "Ranks", "How many there are."}, ExportTo::Text, write);
  parts.judge({"strict", "Strict judge", ""}, makeJudge);
  parts.command({"count", "Count", "Counts words."}, run);
}

[[maybe_unused]] void throwInstead(Parts& /*parts*/) {
  throw std::runtime_error("there is no colour left");
}

void crashNow() {
  std::signal(SIGSEGV, SIG_DFL);  // a sanitizer has its own
  std::raise(SIGSEGV);
}

[[maybe_unused]] void crash(Parts& /*parts*/) {
  crashNow();
}

[[maybe_unused]] Pane* crashPane(Window& /*window*/, QWidget* /*parent*/) {
  crashNow();
  return nullptr;
}

[[maybe_unused]] void giveTrap(Parts& parts) {
  parts.pane({"trap", "Trap", "Crashes when it is made."}, crashPane);
}

[[maybe_unused]] void hang(Parts& /*parts*/) {
  for (volatile int turn = 0;; turn = turn + 1) {
  }
}

[[maybe_unused]] void leave(Parts& /*parts*/) {
  std::_Exit(7);
}

[[maybe_unused]] void giveNothing(Parts& /*parts*/) {}

[[maybe_unused]] void giveNameless(Parts& parts) {
  parts.exporter({"Not An Id", "Ranks", ""}, ExportTo::Text, write);
}

}  // namespace

#if defined PF_MADE_WHOLE
PHOTOFINISH_PLUGIN("whole", "1.2", "Has one of each.", give);
#elif defined PF_MADE_FORMER || defined PF_MADE_NEWER
extern "C" __attribute__((visibility("default"))) const PhotofinishPlugin* photofinish_plugin() {
#if defined PF_MADE_FORMER
  static const PhotofinishPlugin plugin = {77, 0, nullptr, nullptr, nullptr, nullptr};
#else
  static const PhotofinishPlugin plugin = {PHOTOFINISH_PLUGIN_INTERFACE,      999, "newer", "1", "",
                                           [](Parts* parts) { give(*parts); }};
#endif
  return &plugin;
}
#elif defined PF_MADE_THROWS
PHOTOFINISH_PLUGIN("throws", "1", "Throws.", throwInstead);
#elif defined PF_MADE_CRASHES
PHOTOFINISH_PLUGIN("crashes", "1", "Crashes.", crash);
#elif defined PF_MADE_TRAP
PHOTOFINISH_PLUGIN("trap", "1", "Its pane crashes when it is made.", giveTrap);
#elif defined PF_MADE_HANGS
PHOTOFINISH_PLUGIN("hangs", "1", "Does not come back.", hang);
#elif defined PF_MADE_LEAVES
PHOTOFINISH_PLUGIN("leaves", "1", "Ends its process.", leave);
#elif defined PF_MADE_NOTHING
PHOTOFINISH_PLUGIN("nothing", "1", "Gives nothing.", giveNothing);
#elif defined PF_MADE_NAMELESS
PHOTOFINISH_PLUGIN("nameless", "1", "Its exporter has no name.", giveNameless);
#elif defined PF_MADE_UNLINKED
int notThere();
static const int g_needs = notThere();
PHOTOFINISH_PLUGIN("unlinked", "1", "Needs what is nowhere.", give);
#endif
