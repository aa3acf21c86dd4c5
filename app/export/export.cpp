// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/export/export.h"

#include "app/export/exported_trace.h"
#include "app/files/text_output.h"

namespace pf::app {
namespace {

using TextExport = Status (*)(const ExportedTrace&, TextOutput&);

TextExport textExport(const std::string& format) {
  return format == "csv"      ? exportCsv
         : format == "chrome" ? exportChrome
         : format == "shiviz" ? exportShiviz
                              : nullptr;
}

Status exportDirectory(const std::string& trace, const std::string& output) {
  if (Status status = otf2IsThere(); !status) {
    return status;
  }
  if (output.empty()) {
    return Error{ErrorCode::Usage, "an OTF2 archive is a directory, no text",
                 "Name a new one: photofinish export FILE --format otf2 -o DIRECTORY"};
  }
  if (Status status = mayBeMade(output); !status) {
    return status;
  }
  Result<ExportedTrace> exported = loadExported(trace);
  return exported ? exportOtf2(*exported, output) : Status(exported.error());
}

}  // namespace

Status exportTrace(const std::string& trace, const std::string& format, const std::string& output) {
  if (format == "otf2") {
    return exportDirectory(trace, output);
  }
  const TextExport write = textExport(format);
  if (write == nullptr) {
    return Error{ErrorCode::Usage, "there is no export format '" + format + "'",
                 "The formats are csv, chrome, shiviz and otf2."};
  }
  Result<TextOutput> out = TextOutput::open(output == "-" ? "" : output);
  if (!out) {
    return out.error();
  }
  Result<ExportedTrace> exported = loadExported(trace);
  if (!exported) {
    return exported.error();
  }
  if (Status status = write(*exported, *out); !status) {
    return status;
  }
  return out->finish();
}

}  // namespace pf::app
