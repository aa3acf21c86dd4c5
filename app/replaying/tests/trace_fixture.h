// SPDX-License-Identifier: GPL-3.0-or-later
// A trace of what a test puts into it, which counts as the user's own.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "db/store/origin.h"
#include "db/tests/sample.h"

namespace pf::app::test {

class TraceFixture : public testing::Test {
 protected:
  TraceFixture() {
    setenv("XDG_STATE_HOME", m_directory.file("state").c_str(), 1);
    db::setOriginOf([](const std::string&) { return db::Origin::Own; });
  }

  /// Becomes `m_store`.
  void open(const db::Content& content) {
    m_store.reset();
    const Status written = db::writeContent(m_path, content);
    ASSERT_TRUE(written.ok()) << written.error().text();
    Result<db::TraceStore> store = db::TraceStore::open(m_path, db::TraceStore::Mode::ReadOnly);
    ASSERT_TRUE(store.ok()) << store.error().text();
    m_store.emplace(std::move(*store));
  }

  db::Directory m_directory;
  std::string m_path = m_directory.file("t.pft");
  std::optional<db::TraceStore> m_store;
};

}  // namespace pf::app::test
