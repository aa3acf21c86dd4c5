// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/front_end/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace pf::headless {

StandardStreams takeStandardStreams() {
  StandardStreams streams{UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)),
                          UniqueFd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3))};
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  ::dup2(null.get(), STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return streams;
}

}  // namespace pf::headless
