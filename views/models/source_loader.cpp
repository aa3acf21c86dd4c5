// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/source_loader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <QFile>

#include "replay_engine/base/unique_fd.h"
#include "views/values/text.h"

namespace pf::views {

Result<QByteArray> FileSourceLoader::load(const QString& path) {
  const std::string shown = path.toStdString();
  // O_NONBLOCK: a FIFO must not make the window wait; it is refused below.
  const UniqueFd fd(
      ::open(QFile::encodeName(path).constData(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) {
    return errno == ENOENT || errno == ENOTDIR
               ? Error{ErrorCode::NotFound, "source file " + shown + " not found",
                       "Choose the file, or the directory the sources were moved to."}
               : systemError("could not open source file " + shown, errno);
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return systemError("could not examine source file " + shown, errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::Usage, shown + " is not a regular file",
                 "Choose the source file itself."};
  }
  if (info.st_size > m_limit) {
    return Error{
        ErrorCode::Usage,
        shown + " is larger than " + byteText(static_cast<std::uint64_t>(m_limit)).toStdString(),
        "That is no source file that an editor could show; choose another."};
  }
  QByteArray bytes(static_cast<qsizetype>(info.st_size), Qt::Uninitialized);
  qsizetype have = 0;
  while (have < bytes.size()) {
    const ssize_t n =
        ::read(fd.get(), bytes.data() + have, static_cast<std::size_t>(bytes.size() - have));
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return systemError("could not read source file " + shown, errno);
    }
    if (n == 0) {
      break;  // it shrank meanwhile
    }
    have += n;
  }
  bytes.truncate(have);
  return bytes;
}

}  // namespace pf::views
