// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/export/export.h"

#include "app/export/formats.h"
#include "app/plugins/part_output.h"
#include "app/plugins/trace_facts.h"
#include "app/version.h"

namespace pf::app {
namespace {

/// Our own formats need more of a trace than plugins see, and are not run on another's.
template <Status (*kWrite)(const IndexedTrace&, photofinish::Output&)>
void writeText(const photofinish::Trace& trace, photofinish::Output& output) {
  failIfNot(kWrite(dynamic_cast<const TraceFacts&>(trace).indexed(), output), output);
}

void writeOtf2(const photofinish::Trace& trace, photofinish::Output& output) {
  failIfNot(exportOtf2(dynamic_cast<const TraceFacts&>(trace).indexed(), output.path().string()),
            output);
}

void giveExporters(photofinish::Parts* parts) {
  using photofinish::ExportTo;
  parts->exporter({"csv", "CSV", "A row an event, for tables and scripts."}, ExportTo::Text,
                  exportCsv);
  parts->exporter({"chrome", "Trace Event JSON", "For Perfetto and chrome://tracing."},
                  ExportTo::Text, writeText<exportChrome>);
  parts->exporter({"shiviz", "ShiViz", "A log with vector clocks."}, ExportTo::Text,
                  writeText<exportShiviz>);
  parts->exporter({"otf2", "OTF2", "An archive for Vampir, Score-P and others."},
                  ExportTo::Directory, writeOtf2);
}

/// "csv, chrome and otf2"
std::string namesOf(const std::vector<const plugins::Part*>& exporters) {
  std::string text;
  for (std::size_t i = 0; i < exporters.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == exporters.size() ? " and " : ", ") + exporters[i]->id;
  }
  return text;
}

Error noSuchFormat(const std::string& format, const plugins::Registry& plugins) {
  std::string advice =
      "The formats are " + namesOf(plugins.parts(plugins::PartKind::Exporter)) + ".";
  if (!plugins.refused().empty()) {
    advice += " Some plugins were refused: 'photofinish plugins' says why.";
  }
  return {ErrorCode::Usage, "there is no export format '" + format + "'", advice};
}

Status exportDirectory(const std::string& trace, const plugins::Part& exporter,
                       const plugins::Plugin& plugin, const std::string& output) {
  if (Status status = exporter.write == writeOtf2 ? otf2IsThere() : Status(); !status) {
    return status;
  }
  if (output.empty()) {
    return Error{
        ErrorCode::Usage, "an " + exporter.title + " archive is a directory, no text",
        "Name a new one: photofinish export FILE --format " + exporter.id + " -o DIRECTORY"};
  }
  if (Status status = mayBeMade(output); !status) {
    return status;
  }
  const Result<IndexedTrace> indexed = loadIndexed(trace);
  if (!indexed) {
    return indexed.error();
  }
  PartOutput made(output);
  return made.run(partName(plugin, exporter), [&] { exporter.write(TraceFacts(*indexed), made); });
}

}  // namespace

const PhotofinishPlugin* bundledExporters() {
  static const PhotofinishPlugin plugin = {PHOTOFINISH_PLUGIN_INTERFACE,
                                           PHOTOFINISH_PLUGIN_REVISION,
                                           "exporters",
                                           kVersion,
                                           "Formats of other tools.",
                                           giveExporters};
  return &plugin;
}

Status exportTrace(const std::string& trace, const std::string& format, const std::string& output,
                   const plugins::Registry& plugins) {
  const plugins::Part* const exporter = plugins.find(plugins::PartKind::Exporter, format);
  if (exporter == nullptr) {
    return noSuchFormat(format, plugins);
  }
  const plugins::Plugin& plugin = plugins.pluginWith(*exporter);
  if (exporter->to == photofinish::ExportTo::Directory) {
    return exportDirectory(trace, *exporter, plugin, output);
  }
  Result<TextOutput> out = TextOutput::open(output == "-" ? "" : output);
  if (!out) {
    return out.error();
  }
  const Result<IndexedTrace> indexed = loadIndexed(trace);
  if (!indexed) {
    return indexed.error();
  }
  PartOutput written(*out);
  if (Status status = written.run(partName(plugin, *exporter),
                                  [&] { exporter->write(TraceFacts(*indexed), written); });
      !status) {
    return status;
  }
  return out->finish();
}

}  // namespace pf::app
