// SPDX-License-Identifier: GPL-3.0-or-later
// Where debug information lies that is not in a program's file. Private to app/collation.
#pragma once

#include <elfutils/libdwfl.h>

namespace pf::app {

/// For Dwfl_Callbacks::find_debuginfo: looks where GDB and elfutils do on this host, and asks
/// nobody else. libdwfl's own asks the servers of $DEBUGINFOD_URLS, which then learn what is
/// debugged.
int findSeparateSymbols(Dwfl_Module* module, void** userData, const char* name, Dwarf_Addr base,
                        const char* file, const char* link, GElf_Word checksum, char** found);

}  // namespace pf::app
