// SPDX-License-Identifier: GPL-3.0-or-later
// Work on another thread of the program. Whatever it throws comes back as an error of its result
// (or an empty result, and a line on standard error): Qt would end the program by it.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <QtConcurrent>

#include "replay_engine/base/caught.h"

namespace pf::session {

/// A shared result may hold an error, too.
template <typename T>
struct SharedResult : std::false_type {};
template <typename T>
struct SharedResult<std::shared_ptr<Result<T>>> : std::true_type {};

/// `body`, and what it throws as its result. An empty shared result is never given.
template <typename Body>
auto caughtShared(Body& body) {
  using T = std::invoke_result_t<Body&>;
  if constexpr (SharedResult<T>::value) {
    try {
      return body();
    } catch (...) {
      return std::make_shared<typename T::element_type>(caughtError());
    }
  } else {
    return caught(body);
  }
}

template <typename Body>
auto inBackground(Body body) {
  return QtConcurrent::run([body = std::move(body)]() mutable { return caughtShared(body); });
}
template <typename Body>
auto inBackground(QThreadPool* pool, Body body) {
  return QtConcurrent::run(pool, [body = std::move(body)]() mutable { return caughtShared(body); });
}

}  // namespace pf::session
