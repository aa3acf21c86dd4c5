// SPDX-License-Identifier: GPL-3.0-or-later
// The global definitions of an OTF2 archive. Private to app/export.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/export/formats.h"

namespace pf::app {

/// What the library refused first.
struct Otf2Failure {
  OTF2_ErrorCode code = OTF2_SUCCESS;
  int error = 0;  ///< errno then
  [[nodiscard]] bool none() const { return code == OTF2_SUCCESS; }
  void note(OTF2_ErrorCode result) {
    if (none()) {
      code = result;
    }
  }
};

class Otf2Definitions {
 public:
  enum Attribute : OTF2_AttributeRef { kCallSite, kSerial, kRacing };

  explicit Otf2Definitions(const IndexedTrace& trace);

  // References to write into events.
  [[nodiscard]] OTF2_RegionRef region(std::uint16_t call) const { return m_regions.at(call); }
  /// Of a call site; kNone if it has no file.
  [[nodiscard]] std::uint32_t place(std::uint32_t site) const {
    return site < m_places.size() ? m_places[site] : kNone;
  }
  [[nodiscard]] OTF2_CommRef communicator(std::uint32_t comm) const {
    return comm < m_trace.execution().communicators.size() ? comm : OTF2_UNDEFINED_COMM;
  }
  /// A world rank as `from` names it in a communicator: in the other group of an
  /// inter-communicator.
  [[nodiscard]] std::uint32_t rankIn(std::uint32_t comm, Rank rank, Rank from) const;
  /// What a collective call is to OTF2; nothing for one that it has no word for.
  [[nodiscard]] std::optional<OTF2_CollectiveOp> operation(std::uint16_t call) const;

  /// `counts`: records of each location.
  void write(OTF2_GlobalDefWriter* writer, const std::vector<std::uint64_t>& counts,
             Otf2Failure& failure) const;

 private:
  OTF2_StringRef string(const std::string& text);
  [[nodiscard]] OTF2_StringRef known(const std::string& text) const { return m_strings.at(text); }
  void internStrings();
  void writeStrings(OTF2_GlobalDefWriter* writer, Otf2Failure& failure) const;
  void writeLocations(OTF2_GlobalDefWriter* writer, const std::vector<std::uint64_t>& counts,
                      Otf2Failure& failure) const;
  void writeRegions(OTF2_GlobalDefWriter* writer, Otf2Failure& failure) const;
  void writeCommunicators(OTF2_GlobalDefWriter* writer, Otf2Failure& failure) const;
  void writeAttributes(OTF2_GlobalDefWriter* writer, Otf2Failure& failure) const;
  [[nodiscard]] std::string hostOf(std::size_t rank) const;

  const IndexedTrace& m_trace;
  std::map<std::string, OTF2_StringRef> m_strings;
  std::map<std::uint16_t, OTF2_RegionRef> m_regions;                      ///< by call
  std::vector<std::uint32_t> m_places;                                    ///< by call site
  std::map<std::pair<std::string, std::int32_t>, std::uint32_t> m_lines;  ///< references by place
  std::map<std::string, OTF2_SystemTreeNodeRef> m_hosts;
  /// By communicator, then group or remote group: position of each world rank.
  std::vector<std::array<std::map<Rank, std::uint32_t>, 2>> m_positions;
};

}  // namespace pf::app
