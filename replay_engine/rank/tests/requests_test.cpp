// SPDX-License-Identifier: GPL-3.0-or-later
// The table of requests, against a map.
#include "replay_engine/rank/engine/requests.h"

#include <deque>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/rank/tests/rank_run.h"

namespace pf::test {
namespace {

/// Handles as MPI gives them: addresses of objects of some size.
MPI_Request handle(std::uint32_t number) {
  return requestOf(reinterpret_cast<void*>(std::uintptr_t{0x10000} + number * std::uintptr_t{208}));
}

Request entry(std::uint32_t number, std::uint32_t post) {
  Request made;
  made.handle = handle(number);
  made.kind = RequestKind::Receive;
  made.number = post;
  return made;
}

/// The same numbers each time.
class Random {
 public:
  explicit Random(unsigned seed) : m_engine(seed) {}
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(m_engine() % end); }

 private:
  std::mt19937 m_engine;
};

/// A rank has its tables as long as it lives: they free nothing.
template <typename Table>
Table& keptTable() {
  static auto* const all = new std::deque<Table>;
  return all->emplace_back();
}

TEST(RequestTable, isAMap) {
  Random random(7);
  Requests& table = keptTable<Requests>();
  std::map<std::uint32_t, std::uint32_t> map;
  for (std::uint32_t step = 0; step < 20000; ++step) {
    // Grows beyond its first room, shrinks, and grows again.
    const std::uint32_t handles = step / 5000 % 2 == 0 ? 1500 : 40;
    const std::uint32_t number = random.below(handles);
    if (random.below(3) != 0) {
      table.insert(entry(number, step));
      map[number] = step;
    } else {
      table.erase(handle(number));
      map.erase(number);
    }
    ASSERT_EQ(table.count(), map.size());
    const std::uint32_t other = random.below(1500);
    const Request* const found = table.find(handle(other));
    const auto expected = map.find(other);
    ASSERT_EQ(found != nullptr, expected != map.end());
    if (found != nullptr) {
      ASSERT_EQ(found->number, expected->second);
    }
  }
  std::size_t entries = 0;
  for (const Request& each : table) {
    entries += each.kind == RequestKind::Receive ? 1 : 0;
  }
  EXPECT_EQ(entries, map.size());
}

/// Details belong to an entry, and stay where they are while others come and go.
TEST(RequestTable, detailsStayWithTheirEntry) {
  Requests& table = keptTable<Requests>();
  RequestDetails& details = table.detail(*table.insert(entry(1, 10)));
  details.count = 77;
  for (std::uint32_t i = 2; i < 1000; ++i) {
    table.insert(entry(i, i));
    table.detail(*table.find(handle(i))).count = static_cast<int>(i);
  }
  for (std::uint32_t i = 2; i < 1000; i += 2) {
    table.erase(handle(i));
  }
  EXPECT_EQ(table.find(handle(1))->details, &details);
  EXPECT_EQ(details.count, 77);
  EXPECT_EQ(table.find(handle(501))->details->count, 501);
  table.insert(entry(1, 11));
  EXPECT_EQ(table.find(handle(1))->details, nullptr);  // of another request
}

TEST(RequestTable, requestsOfAFreedCommunicatorGoToAnother) {
  const auto comm = [](std::uintptr_t number) {
    return retiredComm(0, reinterpret_cast<void*>(number << 8));
  };
  Requests& table = keptTable<Requests>();
  Request on = entry(1, 10);
  on.comm = comm(1);
  table.insert(on);
  Request elsewhere = entry(2, 11);
  elsewhere.comm = comm(2);
  table.insert(elsewhere);
  EXPECT_EQ(table.retire(comm(5), comm(9)), Retired::None);
  EXPECT_EQ(table.retire(comm(1), comm(9)), Retired::Some);
  EXPECT_EQ(table.find(handle(1))->comm, comm(9));
  EXPECT_EQ(table.find(handle(2))->comm, comm(2));
  Request persistent = entry(3, 0);
  persistent.kind = RequestKind::PersistentReceive;
  persistent.comm = comm(2);
  table.insertPersistent(persistent, nullptr, 1, nullptr);
  EXPECT_EQ(table.retire(comm(2), comm(9)), Retired::Persistent);
  EXPECT_EQ(table.find(handle(2))->comm, comm(2));
}

/// The number of a handle's last post, whatever handles shared its slot.
TEST(PostNumbers, areOfTheLastPost) {
  PostNumbers& numbers = keptTable<PostNumbers>();
  std::map<std::uint32_t, std::uint32_t> map;
  Random random(3);
  for (std::uint32_t post = 0; post < 5000; ++post) {
    const std::uint32_t number = random.below(700);
    numbers.note(handle(number), post);
    map[number] = post;
  }
  std::uint32_t post = 0;
  for (const auto& [number, last] : map) {
    ASSERT_TRUE(numbers.find(handle(number), &post));
    EXPECT_EQ(post, last) << number;
  }
  EXPECT_FALSE(numbers.find(handle(9999), &post));
}

}  // namespace
}  // namespace pf::test
