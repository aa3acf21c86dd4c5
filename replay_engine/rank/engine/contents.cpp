// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/contents.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "replay_engine/rank/engine/packing.h"
#include "replay_engine/rank/engine/rank_link.h"
#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/rank/engine/type_parts.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace pf {
namespace {

constexpr std::size_t kPiece = 8192;            // bytes that are looked at together
constexpr std::uint64_t kMostPacked = 1 << 26;  // bytes: greater elements with gaps have no digest
constexpr std::uintptr_t kFirstPage = 65536;    // below it lies no data: MPI refuses the call

// -- words that look like addresses

#if defined(__aarch64__)
constexpr std::uint64_t kTops[] = {0xAA, 0xAB, 0xFE, 0xFF};
#else
constexpr std::uint64_t kTops[] = {0x55, 0x56, 0x7E,
                                   0x7F};  // programs and heaps; libraries and stacks
#endif
constexpr std::uint64_t kAnAddress = 0x5555'5555'5555'5555;

/// Bits 40 to 47 of an address. In memory that was freed, the C library keeps its page: those of programs' heaps count,
/// not those of threads', which would be all negative numbers beside a 7.
bool isAddress(std::uint64_t word) {
  bool is = word >> 28 == kTops[0] || word >> 28 == kTops[1];
  for (const std::uint64_t top : kTops) {
    is = is || word >> 40 == top;
  }
  return is;
}

std::uint64_t wordAt(const unsigned char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// How many bytes are before the next word.
std::size_t beforeWord(const unsigned char* at) {
  return (8 - (reinterpret_cast<std::uintptr_t>(at) & 7U)) & 7U;
}

bool holdsAddress(const unsigned char* at, std::size_t size) {
  constexpr std::uint64_t kLowest = kTops[0] << 28;
  constexpr std::uint64_t kRange = (std::uint64_t{1} << 48) - kLowest;
  const unsigned char* const end = at + size;
  bool near = false;
  const std::size_t skipped = beforeWord(at);
  if (size < skipped + 8) {
    return false;
  }
  const unsigned char* const first = at + skipped;
  for (const unsigned char* p = first; end - p >= 8; p += 8) {
    near |= wordAt(p) - kLowest < kRange;  // of most data none is
  }
  bool is = false;
  for (const unsigned char* p = first; near && !is && end - p >= 8; p += 8) {
    is = isAddress(wordAt(p));
  }
  return is;
}

/// At most kPiece bytes, with all addresses made the same one.
void updateWithout(XXH3_state_t* state, const unsigned char* at, std::size_t size) {
  unsigned char copy[kPiece];
  std::memcpy(copy, at, size);
  for (std::size_t i = beforeWord(at); i + 8 <= size; i += 8) {
    if (isAddress(wordAt(copy + i))) {
      std::memcpy(copy + i, &kAnAddress, sizeof kAnAddress);
    }
  }
  XXH3_64bits_update(state, copy, size);
}

// -- datatypes

struct Shape {
  MPI_Aint first = 0;  ///< bytes from the buffer's address to the first one that is moved
  MPI_Aint extent = 0;
  std::uint64_t size = 0;
  bool gaps = false;  ///< within an element
  /// Has bytes that are nobody's, and that no type names: those of long double, where 10 of 16 bytes are the number.
  bool padded = false;
  bool numbers = false;  ///< padded, and long doubles only
};

bool isPaddedNumber(MPI_Datatype type) {
  return sizeof(long double) > 10 && (type == MPI_LONG_DOUBLE || type == MPI_C_LONG_DOUBLE_COMPLEX);
}

bool isNamed(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

bool holdsPadding(MPI_Datatype type);

/// holdsPadding() of one that was made of others.
bool isMadeOfPadded(MPI_Datatype type, const TypeEnvelope& envelope) {
  const auto room = [](int count, std::size_t size) {
    return std::malloc((static_cast<std::size_t>(count) + 1) * size);
  };
  auto* const ints = static_cast<int*>(room(envelope.integers, sizeof(int)));
  auto* const offsets = static_cast<MPI_Aint*>(room(envelope.addresses, sizeof(MPI_Aint)));
  auto* const parts = static_cast<MPI_Datatype*>(room(envelope.types, sizeof(MPI_Datatype)));
  bool padded = true;  // if we cannot know
  if (ints != nullptr && offsets != nullptr && parts != nullptr &&
      partsOf(type, envelope, ints, offsets, parts)) {
    padded = false;
    for (int i = 0; i < envelope.types; ++i) {
      padded = padded || holdsPadding(parts[i]);
      const int combiner = combinerOf(parts[i]);
      if (combiner >= 0 && !isNamed(combiner)) {
        PF_REAL(Type_free)(&parts[i]);  // get_contents made it anew
      }
    }
  }
  std::free(ints);
  std::free(offsets);
  std::free(parts);
  return padded;
}

// Ours, as MPI's are functions of the library, which a launcher's own processes do not have.
int copyNothing(MPI_Datatype /*type*/, int /*key*/, void* /*extra*/, void* /*from*/, void* /*to*/,
                int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}
int deleteNothing(MPI_Datatype /*type*/, int /*key*/, void* /*value*/, void* /*extra*/) {
  return MPI_SUCCESS;
}

/// Kept with a type until that is freed.
int paddingKey() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    PF_REAL(Type_create_keyval)(copyNothing, deleteNothing, &made, nullptr);
    return made;
  }();
  return key;
}

bool holdsPadding(MPI_Datatype type) {
  if (sizeof(long double) <= 10) {
    return false;
  }
  const TypeEnvelope envelope = envelopeOf(type);
  if (envelope.combiner < 0) {
    return false;
  }
  if (isNamed(envelope.combiner)) {
    return isPaddedNumber(type) || type == MPI_LONG_DOUBLE_INT;
  }
  static char yes;
  static char no;
  void* kept = nullptr;
  int found = 0;
  if (PF_REAL(Type_get_attr)(type, paddingKey(), static_cast<void*>(&kept), &found) ==
          MPI_SUCCESS &&
      found != 0) {
    return kept == &yes;
  }
  const bool padded = isMadeOfPadded(type, envelope);
  PF_REAL(Type_set_attr)(type, paddingKey(), padded ? &yes : &no);
  return padded;
}

Shape lookAt(MPI_Datatype type) {
  Shape shape;
  int size = 0;
  MPI_Aint bound = 0;
  MPI_Aint length = 0;
  if (PF_REAL(Type_size)(type, &size) != MPI_SUCCESS || size <= 0 ||
      PF_REAL(Type_get_extent)(type, &bound, &shape.extent) != MPI_SUCCESS ||
      PF_REAL(Type_get_true_extent)(type, &shape.first, &length) != MPI_SUCCESS) {
    return {};
  }
  shape.size = static_cast<std::uint64_t>(size);
  shape.gaps = length != size;
  shape.padded = holdsPadding(type);
  shape.numbers = isPaddedNumber(type);
  return shape;
}

/// Predefined types are never freed: the last one is remembered.
Shape shapeOf(MPI_Datatype type) {
  static thread_local MPI_Datatype lastType __attribute__((tls_model("initial-exec"))){};
  static thread_local Shape last __attribute__((tls_model("initial-exec")));
  if (type == lastType) [[likely]] {
    return last;
  }
  if (type == MPI_DATATYPE_NULL) {  // MPI says so itself
    return {};
  }
  const Shape shape = lookAt(type);
  if (shape.size != 0 && combinerOf(type) == MPI_COMBINER_NAMED) {
    last = shape;
    lastType = type;
  }
  return shape;
}

bool inARow(const Shape& shape, long long count) {
  return !shape.gaps && (count == 1 || shape.extent == static_cast<MPI_Aint>(shape.size));
}

const unsigned char* memoryAt(const void* buffer, MPI_Aint offset) {
  const auto address =
      reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(offset);
  return address < kFirstPage ? nullptr : reinterpret_cast<const unsigned char*>(address);
}

/// Room to pack into, which stays.
unsigned char* packingRoom(std::size_t size) {
  static unsigned char* room = nullptr;
  static std::size_t has = 0;
  if (size > has) {
    std::free(room);
    room = static_cast<unsigned char*>(std::malloc(size));
    has = room != nullptr ? size : 0;
  }
  return room;
}

// -- the recording

struct Recorded {
  bool known = false;
  bool digested = false;
  std::uint32_t check = 0;
  std::uint64_t bytes = 0;
  std::uint64_t digest = 0;
};

struct Stream {
  const unsigned char* at = nullptr;
  const unsigned char* end = nullptr;

  void open(const ScheduleSection& section) {
    at = g_engine.choices.section(section);
    end = at + section.size;
  }
  /// False: there are no more.
  bool next(Recorded* recorded) {
    if (at >= end) {
      return false;
    }
    const unsigned char* const before = at;
    const std::uint64_t head = takeVarint(&at, end);
    recorded->known = head != 0;
    recorded->bytes = (head >> 1) - 1;
    recorded->digested = (head & 1U) != 0;
    recorded->check = static_cast<std::uint32_t>(takeVarint(&at, end));
    if (recorded->digested && end - at >= 8) {
      recorded->digest = wordAt(at);
      at += 8;
    }
    g_engine.choices.hasRead(before, at);
    return true;
  }
};

/// Of few messages, or collectives: those that left the group of the recording.
class Outgoing {
 public:
  /// `before`: the number that none of them has yet, so that the next one's may be the one behind it.
  void open(const ScheduleSection& section, std::uint64_t before) {
    m_stream.open(section);
    m_number = before;
    next();
  }
  /// Whether it is number `number`; *recorded is then what it was.
  bool take(std::uint64_t number, Recorded* recorded) {
    const bool is = isDue(number);
    if (is) {
      *recorded = m_recorded;
    }
    return is;
  }
  bool isDue(std::uint64_t number) {
    while (m_there && m_number < number)
      [[unlikely]] {
        next();
      }
    return m_there && m_number == number;
  }
  [[nodiscard]] bool any() const { return m_there; }

 private:
  void next() {
    const unsigned char* const before = m_stream.at;
    m_number += takeVarint(&m_stream.at, m_stream.end) + 1;
    g_engine.choices.hasRead(before, m_stream.at);
    m_there = m_stream.next(&m_recorded);
  }

  Stream m_stream;
  std::uint64_t m_number = 0;
  Recorded m_recorded;
  bool m_there = false;
};

Stream g_sent;
Stream g_given;
Outgoing g_outgoing;
Outgoing g_outgoingGiven;

[[noreturn]] void otherSize(const CallPlace& place, std::uint64_t was, std::uint64_t is) {
  char expected[96];
  char got[96];
  std::snprintf(expected, sizeof expected, "%s, %llu bytes", kCallNames[place.call],
                static_cast<unsigned long long>(was));
  std::snprintf(got, sizeof got, "%s, %llu bytes", kCallNames[place.call],
                static_cast<unsigned long long>(is));
  diverge(place, expected, got);
}

/// Says it on the page, once.
void otherContents(const CallPlace& place, const Contents& contents) {
  RankPage& page = *g_engine.page;
  if (page.contentsAt.load(std::memory_order_relaxed) != 0) {
    return;
  }
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  page.contentsTime = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  page.contentsAddress = reinterpret_cast<std::uint64_t>(applicationAddress(place));
  std::snprintf(page.contents, sizeof page.contents, "%s with other contents (%llu bytes)",
                kCallNames[place.call], static_cast<unsigned long long>(contents.bytes));
  page.contentsAt.store(g_engine.serial, std::memory_order_release);
  tellAgent();
  for (int seconds = 0; seconds < 5;
       ++seconds) {  // it finds the call's place while the rank is there
    const std::uint32_t seen = page.toRank.load(std::memory_order_acquire);
    if (page.contentsSeen.load(std::memory_order_acquire) != 0) {
      return;
    }
    waitForAgent(seen);
  }
}

void compare(const CallPlace& place, const Recorded& was, const Contents& is) {
  if (was.known && is.known && was.bytes != is.bytes) {
    otherSize(place, was.bytes, is.bytes);
  }
  if (was.digested && is.digested && was.digest != is.digest) {
    otherContents(place, is);
  }
}

bool compares() {
  return g_engine.replay && !g_engine.live;
}

}  // namespace

int combinerOf(MPI_Datatype type) {
  return envelopeOf(type).combiner;
}

// -- digests

static_assert(sizeof(XXH3_state_t) <= 640 && alignof(XXH3_state_t) <= 64);

namespace {
XXH3_state_t* stateIn(unsigned char* room) {
  return reinterpret_cast<XXH3_state_t*>(room);
}
}  // namespace

Digester::Digester() {
  XXH3_64bits_reset(stateIn(m_state));
}

void Digester::addBytes(const unsigned char* bytes, std::size_t size) {
  while (size > 0) {
    const std::size_t whole = kPiece - 8 + beforeWord(bytes);  // to the end of a word
    const std::size_t piece = size < whole ? size : whole;
    if (holdsAddress(bytes, piece)) {
      updateWithout(stateIn(m_state), bytes, piece);
    } else {
      XXH3_64bits_update(stateIn(m_state), bytes, piece);
    }
    bytes += piece;
    size -= piece;
  }
}

void Digester::addNumbers(const unsigned char* numbers, std::size_t size) {
  constexpr std::size_t kUsed = 10;
  for (std::size_t i = 0; i < size; i += sizeof(long double)) {
    XXH3_64bits_update(stateIn(m_state), numbers + i, kUsed);
  }
}

void Digester::addUnseen(long long count, MPI_Datatype type) {
  if (t_takesPieces != nullptr) [[unlikely]] {
    t_takesPieces->take(*t_takesPieces, nullptr, count, type, false);
    return;
  }
  if (count > 0) {
    m_bytes += static_cast<std::uint64_t>(count) * shapeOf(type).size;
  }
  m_digested = false;
}

void Digester::add(const void* buffer, long long count, MPI_Datatype type) {
  if (count <= 0) {
    return;
  }
  if (t_takesPieces != nullptr) [[unlikely]] {
    t_takesPieces->take(*t_takesPieces, buffer, count, type, true);
    return;
  }
  const Shape shape = shapeOf(type);
  const std::uint64_t bytes = static_cast<std::uint64_t>(count) * shape.size;
  m_bytes += bytes;
  if (bytes == 0 || !m_digested) {
    return;
  }
  const unsigned char* const first = memoryAt(buffer, shape.first);
  if (first != nullptr && shape.numbers) {
    addNumbers(first, bytes);
  } else if (first == nullptr || shape.padded) {
    m_digested = false;
  } else if (inARow(shape, count)) {
    addBytes(first, bytes);
  } else {
    addPacked(first - shape.first, count, type);
  }
}

void Digester::addPacked(const unsigned char* buffer, long long count, MPI_Datatype type) {
  constexpr std::uint64_t kAtOnce = 1 << 20;  // bytes, or one element
  const Shape shape = shapeOf(type);
  const auto most = static_cast<long long>(shape.size < kAtOnce ? kAtOnce / shape.size : 1);
  for (long long done = 0; m_digested && done < count;) {
    const int n = static_cast<int>(count - done < most ? count - done : most);
    int room = 0;
    int packed = 0;
    m_digested = shape.size <= kMostPacked &&
                 PF_REAL(Pack_size)(n, type, g_engine.nowhere, &room) == MPI_SUCCESS && room >= 0;
    unsigned char* const to =
        m_digested ? packingRoom(static_cast<std::size_t>(room) + 1) : nullptr;
    m_digested = to != nullptr &&
                 packElements(buffer, n, type, to, room, &packed, g_engine.nowhere) == MPI_SUCCESS;
    if (m_digested) {
      addBytes(to, static_cast<std::size_t>(packed));
    }
    buffer += shape.extent * n;
    done += n;
  }
}

Contents Digester::contents() const {
  Contents contents;
  contents.known = true;
  contents.bytes = m_bytes;
  contents.digested = m_digested && m_bytes != 0;
  contents.digest =
      contents.digested ? XXH3_64bits_digest(reinterpret_cast<const XXH3_state_t*>(m_state)) : 0;
  return contents;
}

std::uint64_t sizeOfType(MPI_Datatype type) {
  return shapeOf(type).size;
}

Contents contentsOf(const Data& data) {
  return g_engine.contents ? digestOf(data) : Contents{};
}

Contents contentsAsked(const Data& data, int dest, MPI_Comm comm) {
  const bool asked = g_engine.contents ||
                     (g_leavesGroup != nullptr && g_leavesGroup(comm, &dest)) ||
                     (g_outgoing.any() && compares() && g_outgoing.isDue(g_engine.sends));
  return asked ? digestOf(data) : Contents{};
}

bool asksForGiven(MPI_Comm comm) {
  return g_engine.contents || (g_leavesGroup != nullptr && g_leavesGroup(comm, nullptr)) ||
         (g_outgoingGiven.any() && compares() &&
          // Of several threads, who has the next event is not known yet.
          (g_engine.threads || g_outgoingGiven.isDue(g_engine.serial + 1)));
}

bool mayAskForGiven() {
  return g_engine.contents || g_leavesGroup != nullptr || (g_outgoingGiven.any() && compares());
}

Contents digestOf(const Data& data) {
  Contents contents;
  contents.known = true;
  if (data.count <= 0) {
    return contents;
  }
  const Shape shape = shapeOf(data.type);
  contents.bytes = static_cast<std::uint64_t>(data.count) * shape.size;
  const unsigned char* const first = memoryAt(data.buffer, shape.first);
  if (contents.bytes == 0 || first == nullptr) {
    return contents;
  }
  if (shape.padded || !inARow(shape, data.count) || contents.bytes > kPiece - 8 ||
      holdsAddress(first, contents.bytes)) [[unlikely]] {
    Digester digester;
    digester.add(data.buffer, data.count, data.type);
    return digester.contents();
  }
  contents.digested = true;
  contents.digest = XXH3_64bits(first, contents.bytes);
  return contents;
}

// -- records, and what they are compared with

std::uint32_t checkOfSent(MPI_Comm comm, int dest, int tag) {
  return sentCheck(g_engine.comms.of(comm).key, g_engine.comms.worldRank(comm, dest), tag);
}

void compareAsked(const CallPlace& place, const Contents& contents, std::uint32_t check) {
  if (g_leavesGroup != nullptr && contents.known) {
    sink().outgoing(contents);
  }
  Recorded recorded;
  if (g_engine.contents && compares() && g_sent.next(&recorded)) {
    if (recorded.check != 0 && check != 0 && recorded.check != check) {
      diverge(place, kCallNames[place.call], "the same call, to another rank or with another tag");
    }
    compare(place, recorded, contents);
  }
  if (g_outgoing.any() && compares() && g_outgoing.take(g_engine.sends, &recorded)) {
    compare(place, recorded, contents);
  }
}

namespace {

void compareGiven(const CallPlace& place, const Recorded& was, const Contents& is) {
  if (was.known && is.known && was.check != is.operation) {
    diverge(place, kCallNames[place.call], "the same call, with another operation");
  }
  compare(place, was, is);
}

}  // namespace

void compareGiven(const CallPlace& place, const Contents& given) {
  if (g_leavesGroup != nullptr && given.known) {
    sink().outgoingGiven(given);
  }
  Recorded recorded;
  if (g_engine.contents && compares() && g_given.next(&recorded)) {
    compareGiven(place, recorded, given);
  }
  if (g_outgoingGiven.any() && compares() && g_outgoingGiven.take(g_engine.serial, &recorded)) {
    compareGiven(place, recorded, given);
  }
}

bool startContents() {
  const ScheduleHeader& header = g_engine.choices.header();
  g_sent.open(header.sent);
  g_given.open(header.given);
  g_outgoing.open(header.outgoing, ~std::uint64_t{0});  // messages are counted from 0
  g_outgoingGiven.open(header.outgoingGiven, 0);        // and events from 1
  g_comparesOutgoing = g_outgoing.any();
  return header.sent.size != 0 || header.given.size != 0;
}

}  // namespace pf
