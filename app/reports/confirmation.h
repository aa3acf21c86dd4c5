// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a prediction comes true: the program is run again with the predicted messages (photofinish flip).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "replay_engine/prediction/prediction.h"

namespace pf::app {

struct Confirmation {
  enum class State : std::uint8_t {
    NotTried,   ///< `why`
    Confirmed,  ///< the run hangs, or fails, as predicted
    Otherwise,  ///< the run did something else
  };
  State state = State::NotTried;
  std::string why;    ///< how it came out, in words
  std::string trace;  ///< of the forced run; empty: there is none
};

/// Of one prediction for a trace.
using Confirm = std::function<Confirmation(const Prediction& prediction)>;

/// What `photofinish flip` takes: "0:3=2:1 0:5=1:4".
[[nodiscard]] std::string flipWords(const Prediction& prediction);

struct FlipRun {
  std::string program;  ///< path of photofinish, or what stands for it
  std::string trace;
  std::string output;                     ///< the trace that the forced run makes
  std::chrono::milliseconds most{20000};  ///< a run that has not ended then hangs: it is ended
};

/// Runs `PROGRAM flip TRACE FLIPS -o OUTPUT`, and judges by how that ends. Blocks up to `most`, and ten seconds more.
[[nodiscard]] Confirmation confirmByFlip(const FlipRun& run, const Prediction& prediction);

}  // namespace pf::app
