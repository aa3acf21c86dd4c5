// SPDX-License-Identifier: MIT
// A value or an error: nothing throws across a library edge.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace pf {

/// What went wrong, for a program (`code`) and for a person (`message`: what was tried, on what;
/// `advice`: what to do next, may be empty).
enum class ErrorCode {
  Usage,       ///< bad use of a command or an interface (exit status 2)
  NotFound,    ///< a file, program or rank that is not there (exit status 2)
  Damaged,     ///< a file that is cut, changed or not ours (exit status 4)
  Version,     ///< a file or a peer of another version (exit status 4)
  Divergence,  ///< a replay that does not do what the recording did (exit status 3)
  System,      ///< the operating system refused (exit status 1)
  Peer,        ///< the other end of a socket or pipe is gone or talks nonsense (exit status 1)
  Internal,    ///< a broken promise inside this program (exit status 1)
};

struct Error {
  ErrorCode code = ErrorCode::Internal;
  std::string message;
  std::string advice;

  /// `message`, then `advice` on a line of its own where there is one.
  [[nodiscard]] std::string text() const {
    return advice.empty() ? message : message + "\n  " + advice;
  }
};

/// The process exit status that the command line promises for `code` (docs/command-line.md).
[[nodiscard]] constexpr int exitStatus(ErrorCode code) {
  switch (code) {
    case ErrorCode::Usage:
    case ErrorCode::NotFound:
      return 2;
    case ErrorCode::Divergence:
      return 3;
    case ErrorCode::Damaged:
    case ErrorCode::Version:
      return 4;
    case ErrorCode::System:
    case ErrorCode::Peer:
    case ErrorCode::Internal:
      return 1;
  }
  return 1;
}

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : m_value(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : m_error(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return m_value.has_value(); }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & { return m_value.value(); }
  [[nodiscard]] const T& value() const& { return m_value.value(); }
  [[nodiscard]] T&& value() && { return std::move(m_value).value(); }
  [[nodiscard]] const Error& error() const { return m_error.value(); }

  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

 private:
  // Exactly one of the two. A std::variant of each T takes compilers several times as long.
  std::optional<T> m_value;
  std::optional<Error> m_error;
};

/// Success, or an error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : m_error(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return !m_error.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return *m_error; }

 private:
  std::optional<Error> m_error;
};

/// An error of the operating system: `what`, then the text of `errnoValue`.
[[nodiscard]] Error systemError(std::string what, int errnoValue);

}  // namespace pf
