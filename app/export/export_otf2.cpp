// SPDX-License-Identifier: GPL-3.0-or-later
// An OTF2 archive by the OTF2 library: a location for each rank, a region for each MPI routine, the
// communicators, and for each call Enter, what it sent, received or took part in, and Leave. Where
// the trace has times, the clock ticks nanoseconds; else ten times a step of logical time, in which
// a call lasts eight.
//
// Sends of any kind are MpiSend: when MPI was done with the buffer of a non-blocking one is not
// recorded. Receives that do not block are MpiIrecvRequest and MpiIrecv.
#include <otf2/otf2.h>

#include <cerrno>
#include <filesystem>
#include <memory>

#include "app/export/formats.h"
#include "app/export/otf2_definitions.h"

namespace pf::app {
namespace {

constexpr std::uint64_t kTicksAStep = 10;
constexpr std::uint64_t kTicksASecond = 1000000;  // as the Chrome export: 10 µs a step
constexpr std::uint64_t kNanoseconds = 1000000000;

OTF2_FlushType flushAlways(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}
constexpr OTF2_FlushCallbacks kFlush = {flushAlways, nullptr};

/// The first failure of the library is kept, and not printed by it.
// NOLINTNEXTLINE(readability-function-size): as OTF2 calls it
OTF2_ErrorCode keepFirst(void* userData, const char*, std::uint64_t, const char*,
                         OTF2_ErrorCode code, const char*, va_list) {
  auto* first = static_cast<Otf2Failure*>(userData);
  if (first->code == OTF2_SUCCESS) {
    *first = {code, errno};
  }
  return code;
}

struct CloseArchive {
  void operator()(OTF2_Archive* archive) const { (void)OTF2_Archive_Close(archive); }
};
struct DeleteAttributes {
  void operator()(OTF2_AttributeList* list) const { (void)OTF2_AttributeList_Delete(list); }
};

/// Writes the events of one rank.
class RankWriter {
 public:
  RankWriter(const IndexedTrace& trace, const Otf2Definitions& definitions, Otf2Failure& failure,
             OTF2_EvtWriter* writer, OTF2_AttributeList* attributes, Rank rank)
      : m_trace(trace),
        m_execution(trace.execution()),
        m_definitions(definitions),
        m_failure(failure),
        m_writer(writer),
        m_attributes(attributes),
        m_rank(rank),
        m_history(m_execution.ranks[static_cast<std::size_t>(rank)]),
        m_index(trace.index[static_cast<std::size_t>(rank)]) {}

  void event(Serial serial) {
    const EventRef ref{m_rank, serial};
    const Event& event = m_trace.event(ref);
    const bool timed = m_trace.timed();
    const std::uint64_t begin = timed ? m_trace.span(ref).begin : kTicksAStep * m_trace.time(ref);
    const std::uint64_t end = timed ? m_trace.span(ref).end : begin + 8;
    m_entry = timed ? begin : begin + 1;
    m_exit = timed ? end : begin + 7;
    enter(ref, event, begin);
    m_index.messages.each(serial, [&](std::uint32_t i) { send(m_execution.messages[i], event); });
    m_index.posts.each(serial, [&](std::uint32_t i) { post(i); });
    m_index.collectives.each(serial, [&](std::uint32_t i) { collective(i); });
    m_index.completions.each(serial, [&](std::uint32_t i) { completion(i); });
    m_index.collectiveEnds.each(serial, [&](std::uint32_t i) { collectiveEnd(i); });
    m_failure.note(OTF2_EvtWriter_Leave(m_writer, nullptr, end, m_definitions.region(event.call)));
  }

 private:
  void enter(EventRef ref, const Event& event, std::uint64_t time) {
    using Definitions = Otf2Definitions;
    m_failure.note(OTF2_AttributeList_AddUint64(m_attributes, Definitions::kSerial, ref.serial));
    m_failure.note(OTF2_AttributeList_AddUint8(m_attributes, Definitions::kRacing,
                                               m_trace.races(ref) ? 1 : 0));
    if (const std::uint32_t place = m_definitions.place(event.site); place != kNone) {
      m_failure.note(
          OTF2_AttributeList_AddSourceCodeLocationRef(m_attributes, Definitions::kCallSite, place));
    }
    m_failure.note(
        OTF2_EvtWriter_Enter(m_writer, m_attributes, time, m_definitions.region(event.call)));
  }

  void send(const Message& message, const Event& event) {
    m_failure.note(OTF2_EvtWriter_MpiSend(m_writer, nullptr, m_entry,
                                          m_definitions.rankIn(message.comm, message.dest, m_rank),
                                          m_definitions.communicator(message.comm),
                                          static_cast<std::uint32_t>(message.tag), event.bytes));
  }

  [[nodiscard]] static bool blocks(const PostedReceive& receive) {
    return receive.completion == receive.post;
  }

  void post(std::uint32_t i) {
    if (!blocks(m_history.receives[i]) && !pendingInside(m_history.receives[i])) {
      m_failure.note(OTF2_EvtWriter_MpiIrecvRequest(m_writer, nullptr, m_entry, receiveRequest(i)));
    }
  }

  /// A blocking receive that the record ends in.
  [[nodiscard]] bool pendingInside(const PostedReceive& receive) const {
    const EventKind kind = m_history.events[receive.post - 1].kind;
    return kind == EventKind::Receive || kind == EventKind::SendReceive;
  }

  void completion(std::uint32_t i) {
    const PostedReceive& receive = m_history.receives[i];
    if (receive.state == ReceiveState::Cancelled) {
      m_failure.note(
          OTF2_EvtWriter_MpiRequestCancelled(m_writer, nullptr, m_exit, receiveRequest(i)));
      return;
    }
    std::uint64_t bytes = 0;
    if (receive.message < m_execution.messages.size()) {
      bytes = m_trace.event(m_execution.messages[receive.message].send).bytes;
    }
    const std::uint32_t source = m_definitions.rankIn(receive.comm, receive.source, m_rank);
    const std::uint32_t comm = m_definitions.communicator(receive.comm);
    const auto tag = static_cast<std::uint32_t>(receive.tag);
    m_failure.note(blocks(receive)
                       ? OTF2_EvtWriter_MpiRecv(m_writer, nullptr, m_exit, source, comm, tag, bytes)
                       : OTF2_EvtWriter_MpiIrecv(m_writer, nullptr, m_exit, source, comm, tag,
                                                 bytes, receiveRequest(i)));
  }

  void collective(std::uint32_t i) {
    const CollectivePart& part = m_history.collectives[i];
    if (!m_definitions.operation(m_history.events[part.event - 1].call)) {
      return;
    }
    const bool blocking = m_history.events[part.event - 1].kind == EventKind::Collective;
    m_failure.note(blocking ? OTF2_EvtWriter_MpiCollectiveBegin(m_writer, nullptr, m_entry)
                            : OTF2_EvtWriter_NonBlockingCollectiveRequest(
                                  m_writer, nullptr, m_entry, collectiveRequest(i)));
  }

  void collectiveEnd(std::uint32_t i) {
    const CollectivePart& part = m_history.collectives[i];
    const auto operation = m_definitions.operation(m_history.events[part.event - 1].call);
    if (!operation) {
      return;
    }
    const std::uint32_t root = part.root < 0 ? std::uint32_t{OTF2_COLLECTIVE_ROOT_NONE}
                                             : m_definitions.rankIn(part.comm, part.root, m_rank);
    const std::uint32_t comm = m_definitions.communicator(part.comm);
    const bool blocking = part.completion == part.event;
    m_failure.note(blocking ? OTF2_EvtWriter_MpiCollectiveEnd(m_writer, nullptr, m_exit, *operation,
                                                              comm, root, 0, 0)
                            : OTF2_EvtWriter_NonBlockingCollectiveComplete(
                                  m_writer, nullptr, m_exit, *operation, comm, root, 0, 0,
                                  collectiveRequest(i)));
  }

  static std::uint64_t receiveRequest(std::uint32_t i) { return 2 * std::uint64_t{i}; }
  static std::uint64_t collectiveRequest(std::uint32_t i) { return 2 * std::uint64_t{i} + 1; }

  const IndexedTrace& m_trace;
  const Execution& m_execution;
  const Otf2Definitions& m_definitions;
  Otf2Failure& m_failure;
  OTF2_EvtWriter* m_writer;
  OTF2_AttributeList* m_attributes;
  Rank m_rank;
  const RankHistory& m_history;
  const RankIndex& m_index;
  std::uint64_t m_entry = 0;  ///< time of what leaves
  std::uint64_t m_exit = 0;   ///< time of what comes
};

/// Number of records of each location.
std::vector<std::uint64_t> writeEvents(const IndexedTrace& trace,
                                       const Otf2Definitions& definitions, Otf2Failure& failure,
                                       OTF2_Archive* archive) {
  std::vector<std::uint64_t> counts;
  const std::unique_ptr<OTF2_AttributeList, DeleteAttributes> attributes(OTF2_AttributeList_New());
  failure.note(OTF2_Archive_OpenEvtFiles(archive));
  for (std::size_t rank = 0; rank < trace.execution().ranks.size() && failure.none(); ++rank) {
    OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive, rank);
    if (writer == nullptr) {
      failure.note(OTF2_ERROR_INVALID);
      break;
    }
    RankWriter events(trace, definitions, failure, writer, attributes.get(),
                      static_cast<Rank>(rank));
    const std::size_t last = trace.execution().ranks[rank].events.size();
    for (Serial serial = 1; serial <= last && failure.none(); ++serial) {
      events.event(serial);
    }
    failure.note(OTF2_EvtWriter_GetNumberOfEvents(writer, &counts.emplace_back()));
    failure.note(OTF2_Archive_CloseEvtWriter(archive, writer));
  }
  failure.note(OTF2_Archive_CloseEvtFiles(archive));
  return counts;
}

/// Each location has a file of its own definitions, empty here.
void writeLocalDefinitions(std::size_t ranks, Otf2Failure& failure, OTF2_Archive* archive) {
  failure.note(OTF2_Archive_OpenDefFiles(archive));
  for (std::size_t rank = 0; rank < ranks && failure.none(); ++rank) {
    OTF2_DefWriter* writer = OTF2_Archive_GetDefWriter(archive, rank);
    failure.note(writer == nullptr ? OTF2_ERROR_INVALID
                                   : OTF2_Archive_CloseDefWriter(archive, writer));
  }
  failure.note(OTF2_Archive_CloseDefFiles(archive));
}

std::uint64_t lengthOf(const IndexedTrace& trace) {
  std::uint64_t latest = 0;
  for (const RankHistory& rank : trace.execution().ranks) {
    latest = rank.times.empty() ? latest : std::max(latest, rank.times.back().end);
  }
  if (trace.timed()) {
    return latest + 1;
  }
  std::uint32_t last = 0;
  for (const auto& times : trace.times) {
    last = times.empty() ? last : std::max(last, times.back());
  }
  return kTicksAStep * (std::uint64_t{last} + 1);
}

void writeArchive(const IndexedTrace& trace, const std::string& output, Otf2Failure& failure) {
  std::unique_ptr<OTF2_Archive, CloseArchive> archive(OTF2_Archive_Open(
      output.c_str(), "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
      OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE));
  if (archive == nullptr) {
    failure.note(OTF2_ERROR_INVALID);
    return;
  }
  failure.note(OTF2_Archive_SetFlushCallbacks(archive.get(), &kFlush, nullptr));
  failure.note(OTF2_Archive_SetSerialCollectiveCallbacks(archive.get()));
  failure.note(OTF2_Archive_SetCreator(archive.get(), "Photofinish"));
  const Otf2Definitions definitions(trace);
  const auto counts = writeEvents(trace, definitions, failure, archive.get());
  if (!failure.none()) {
    return;
  }
  writeLocalDefinitions(counts.size(), failure, archive.get());
  if (OTF2_GlobalDefWriter* writer = OTF2_Archive_GetGlobalDefWriter(archive.get())) {
    failure.note(OTF2_GlobalDefWriter_WriteClockProperties(
        writer, trace.timed() ? kNanoseconds : kTicksASecond, 0, lengthOf(trace),
        OTF2_UNDEFINED_TIMESTAMP));
    definitions.write(writer, counts, failure);
  } else {
    failure.note(OTF2_ERROR_INVALID);
  }
  failure.note(OTF2_Archive_Close(archive.release()));
}

}  // namespace

Status otf2IsThere() {
  return {};
}

Status exportOtf2(const IndexedTrace& trace, const std::string& output) {
  std::error_code refused;
  if (!std::filesystem::create_directory(output, refused)) {
    return Error{ErrorCode::System, "cannot make " + output + ": " + refused.message(),
                 "Give another directory with -o."};
  }
  Otf2Failure failure;
  const OTF2_ErrorCallback former = OTF2_Error_RegisterCallback(keepFirst, &failure);
  writeArchive(trace, output, failure);
  (void)OTF2_Error_RegisterCallback(former, nullptr);
  if (failure.none()) {
    return {};
  }
  std::error_code ignored;
  std::filesystem::remove_all(output, ignored);
  return Error{
      ErrorCode::System,
      "cannot write the OTF2 archive " + output + ": " + OTF2_Error_GetDescription(failure.code),
      "Make room, or give another directory with -o."};
}

}  // namespace pf::app
