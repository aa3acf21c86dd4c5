// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/wire/dap_capabilities.h"

namespace pf::headless {

Json capabilities() {
  Json can = Json::object();
  for (const char* what :
       {"supportsConfigurationDoneRequest", "supportsFunctionBreakpoints",
        "supportsConditionalBreakpoints", "supportsHitConditionalBreakpoints", "supportsLogPoints",
        "supportsEvaluateForHovers", "supportsSetVariable", "supportsStepBack",
        "supportsGotoTargetsRequest", "supportsRestartRequest", "supportsTerminateRequest",
        "supportsDelayedStackTraceLoading", "supportsExceptionInfoRequest",
        "supportsSingleThreadExecutionRequests"}) {
    can[what] = true;
  }
  can["exceptionBreakpointFilters"] = {
      {{"filter", "failure"},
       {"label", "Signals and aborts"},
       {"description", "A rank that crashes or aborts is always stopped."},
       {"default", true}},
      {{"filter", kMpiErrorFilter},
       {"label", "MPI errors"},
       {"description",
        "An MPI call that fails stops, before its error is returned or ends the job."},
       {"default", false}}};
  return can;
}

}  // namespace pf::headless
