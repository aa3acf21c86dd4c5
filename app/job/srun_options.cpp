// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/job/srun_options.h"

#include <string_view>

namespace pf::app {
namespace {

constexpr std::string_view kTakeValue = "ABCDFGJLMNSTWbcdeimnopqrtwx";
constexpr std::string_view kMayTakeValue = "IKk";  ///< in the same word only

/// Long options without a value, or with one behind '=' only; all others take the next word.
constexpr std::string_view kFlags =
    " bcast compress contiguous disable-status exact exclusive external help hold immediate"
    " interactive kill-on-bad-exit label multi-prog nice no-allocate no-kill overcommit"
    " overlap oversubscribe preserve-env propagate pty quiet quit-on-interrupt reboot"
    " resv-ports send-libs spread-job stepmgr test-only unbuffered usage use-min-nodes"
    " verbose version x11";

bool isLong(const std::string& word) {
  return word.rfind("--", 0) == 0;
}

/// Long options may be cut short.
bool isFlag(const std::string& name) {
  return kFlags.find(" " + name) != std::string_view::npos;
}

}  // namespace

std::size_t srunOptionWords(const std::vector<std::string>& words, std::size_t i) {
  const std::string& word = words[i];
  if (isLong(word)) {
    return word.find('=') != std::string::npos || isFlag(word.substr(2)) ? 1 : 2;
  }
  for (std::size_t at = 1; at < word.size(); ++at) {  // several letters behind one dash
    if (kMayTakeValue.find(word[at]) != std::string_view::npos) {
      return 1;
    }
    if (kTakeValue.find(word[at]) != std::string_view::npos) {
      return at + 1 < word.size() ? 1 : 2;
    }
  }
  return 1;
}

Status srunOptionTaken(const std::string& option) {
  const std::string name = option.substr(0, option.find('='));
  if (name == "--multi-prog") {
    return Error{ErrorCode::Usage,
                 "srun's --multi-prog names a file, not the program that is to be recorded",
                 "Give a script instead that starts each rank's program by its SLURM_PROCID."};
  }
  if (name == "--bcast") {
    return Error{ErrorCode::Usage,
                 "srun's --bcast would copy Photofinish's agent in place of the program",
                 "Leave it out, and copy the program first: sbcast PROGRAM PLACE."};
  }
  return {};
}

}  // namespace pf::app
