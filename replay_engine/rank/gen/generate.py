#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the interposer's wrappers, the list of calls and the coverage page from mpi_calls.py and mpi4_calls.py.

usage: generate.py names FILE | wrappers FILE MPI_H | coverage FILE | check MPI_H | standard FILE | compare MPI_H
The wrappers are those of the routines that this mpi.h declares. standard: the header of the standard's binary interface, of standard_abi.py;
compare: holds that against the one of a library.
"""
import dataclasses
import os
import re
import subprocess
import sys
import tempfile

import standard_abi
from mpi4_calls import CALLS as MPI4
from mpi_calls import CALLS as MPI3

CALLS = MPI3 + MPI4

HAND = {"Lifecycle", "Send", "NonblockingSend", "PersistentSend", "BlockingReceive", "NonblockingReceive", "MatchedReceive",
        "Start", "Probe", "Completion"}
COLLECTIVES = ("Collective", "NonblockingCollective", "PersistentCollective")
SAYS = {
    "Lifecycle": "begins or ends the record", "Send": "event", "NonblockingSend": "event", "PersistentSend": "event at Start",
    "BlockingReceive": "event; source of a wildcard recorded and forced", "NonblockingReceive": "event; source recorded and forced",
    "MatchedReceive": "event", "Start": "event; wildcard sources recorded and forced",
    "Probe": "event; source, tag and number of failures recorded and forced",
    "Completion": "event; flags, indices and counts recorded and forced", "Collective": "event",
    "NonblockingCollective": "event at the call and at its completion",
    "PersistentCollective": "event when it is made, at each Start and at its completion", "CommunicatorConstructor": "event; the communicator is known",
    "CommunicatorDestructor": "event",
    "Fetch": "passed through; what it brings is recorded when its epoch ends, and given back (a Get: under a lock only)",
    "WindowLock": "passed through; the trace notes its use: the order of locks is not recorded",
    "EpochEnd": "passed through; what was fetched is recorded and given back", "Unsupported": "passed through; the trace notes its use: replay not guaranteed",
    "Session": "passed through; the trace notes its use. A program without MPI_Init is not recorded, which is said",
    "SystemValues": "value recorded and given back", "Local": "passed through"}

# What a rank gives to a collective (replay_engine/rank/engine/given.h), by the name of the blocking one.
SENT = "sendbuf, sendcount, sendtype"
SENT_ALL = "sendbuf, sendcounts, sdispls, sendtype"
RECEIVED = "recvbuf, recvcount, recvtype"
GIVEN = {
    "Allgather": f"givenToAll({SENT}, {RECEIVED}, comm)",
    "Allgatherv": f"givenToAllOf({SENT}, recvbuf, recvcounts, displs, recvtype, comm)",
    "Allreduce": "givenToReduce(sendbuf, recvbuf, count, datatype, op)",
    "Alltoall": f"givenToEach({SENT}, {RECEIVED}, comm)",
    "Alltoallv": f"givenToEachOf({SENT_ALL}, recvbuf, recvcounts, rdispls, recvtype, comm)",
    "Alltoallw": f"givenToEachOf({SENT_ALL}s, recvbuf, recvcounts, rdispls, recvtypes, comm)",
    "Bcast": "givenByRoot(buffer, count, datatype, root, comm)",
    "Exscan": "givenToReduce(sendbuf, recvbuf, count, datatype, op)",
    "Gather": f"givenToGather({SENT}, root)",
    "Gatherv": f"givenToGather({SENT}, root)",
    "Neighbor_allgather": f"given({SENT})",
    "Neighbor_allgatherv": f"given({SENT})",
    "Neighbor_alltoall": f"givenToNeighbours({SENT}, comm)",
    "Neighbor_alltoallv": f"givenToNeighboursOf({SENT_ALL}, comm)",
    "Neighbor_alltoallw": f"givenToNeighboursOf({SENT_ALL}s, comm)",
    "Reduce": "givenToReduce(sendbuf, recvbuf, count, datatype, op, root)",
    "Reduce_scatter": "givenToReduceOf(sendbuf, recvbuf, recvcounts, datatype, op, comm)",
    "Reduce_scatter_block": "givenToReduceBlock(sendbuf, recvbuf, recvcount, datatype, op, comm)",
    "Scan": "givenToReduce(sendbuf, recvbuf, count, datatype, op)",
    "Scatter": f"givenToScatter({SENT}, root, comm)",
    "Scatterv": "givenToScatterOf(sendbuf, sendcounts, displs, sendtype, root, comm)",
}


def blocking(call):
    """The name of a collective's blocking form."""
    name = call.name.removesuffix("_c").removesuffix("_init")
    return name[1:].capitalize() if call.kind == "NonblockingCollective" else name


def given_later(call):
    """Of a persistent collective: what each start gives, as a statement."""
    name = blocking(call)
    return f"  if (mayAskForGiven()) {{\n    GivenLater later;\n    event.gives(later.atStarts({GIVEN[name]}));\n  }}\n" if name in GIVEN else ""


def given(call):
    """What the rank gives, as an expression."""
    name = blocking(call)
    return f"asksForGiven({first_comm(call.parameters)}) ? {GIVEN[name]} : Contents{{}}" if name in GIVEN else "Contents{}"


def split(parameters):
    """[(declaration, name)] of a C parameter list."""
    if parameters == "void":
        return []
    out = []
    for declaration in parameters.split(","):
        declaration = declaration.strip()
        if declaration == "...":
            continue
        out.append((declaration, re.search(r"(\w+)\s*(?:\[[^\]]*\])*$", declaration).group(1)))
    return out


def first_comm(parameters):
    return next(name for declaration, name in split(parameters) if re.match(r"MPI_Comm \w", declaration))


def body(call):
    """Statements of a wrapper, after the pass-through test."""
    number, names = f"kCall{call.name}", ", ".join(name for _, name in split(call.parameters))
    real = f"PF_REAL({call.name})({names})"
    if call.name == "File_open":
        return f"  notAlone(PF_SITE({number}), comm);\n  sawMpiFile(filename, amode);\n  return {real};"
    if call.name == "File_delete":
        return f"  sawMpiDelete(filename);\n  return {real};"
    if call.kind == "Local":
        return f"  return {real};"
    if call.kind == "Unsupported":
        return f"  noteUnsupported(PF_SITE({number}));\n{alone(call)}  return {real};"
    if call.kind in ("Fetch", "WindowLock", "EpochEnd"):
        return one_sided(call, number, real)
    if call.kind == "Session":
        starts = "  const LaunchersPlace launchers;\n" if call.name == "Session_init" else ""
        return f"  noteSession(PF_SITE({number}));\n{starts}  return {real};"
    if call.kind in HAND and call.base:
        return handed_on(call, number)
    if call.kind in HAND or call.kind == "SystemValues":
        return f"  return on{call.name}(PF_SITE({number}){', ' if names else ''}{names});"
    if call.kind == "CommunicatorDestructor":
        comm = split(call.parameters)[0][1]
        return (f"  const DestructorEvent event(PF_SITE({number}), {comm});\n  return {real};")
    comm = first_comm(call.parameters)
    root = call.root or "kNoRoot"
    contributes, takes = parts(call, names, comm)
    arguments = f"PF_SITE({number}), {comm}, CollectiveFlow::{call.flow or 'AllToAll'}, {root}, {contributes}, {takes}, {given(call)}"
    if call.kind == "PersistentCollective":
        return (f"  PersistentCollective event(PF_SITE({number}), {comm}, CollectiveFlow::{call.flow or 'AllToAll'}, {root}, {contributes}, {takes});\n{given_later(call)}"
                f"{alone(call)}  const int result = {real};\n  event.made(result, request);\n  return result;")
    if call.kind == "NonblockingCollective":
        return f"  PostedCollective event({arguments});\n{alone(call)}  const int result = {real};\n  event.posted(result, request);\n  return result;"
    tail = ""
    if call.kind == "CommunicatorConstructor":
        tail = f"\n  event.made(result, {call.new});"
        if "request" in names:
            tail += "\n  event.posted(result, request);"
            return f"  PostedCollective event({arguments});\n{alone(call)}  const int result = {real};{tail}\n  return result;"
    makes = ""
    if call.kind == "CommunicatorConstructor":
        makes = "  event.makes(group, tag);\n" if call.name == "Comm_create_group" else "  event.makes();\n"
    return f"  CollectiveEvent event({arguments});\n{makes}{awaited(call, contributes, takes)}{alone(call)}  const int result = {real};{tail}\n  return result;"


def awaited(call, contributes, takes):
    """Tells whom a blocking collective waits for, where MPI lets nobody out before."""
    if call.flow == "FromRoot":
        return f"  if ({takes}) {{\n    event.waitsForRoot({call.root});\n  }}\n"
    if not call.meets:
        return ""
    test = f"{call.root} == g_engine.page->rank && {takes}" if call.flow == "ToRoot" else " && ".join(sorted({contributes, takes}))
    return f"  if ({test}) {{\n    event.waitsForAll();\n  }}\n"


def fast_call(call, number):
    """As awaited(), in a recording without events."""
    comm = first_comm(call.parameters)
    some = " && ".join(f"{each} != 0" for each in dict.fromkeys((call.contributes, call.takes)) if each)
    if call.flow == "FromRoot":
        return f"FastCall event({number}, {comm}, {call.takes} != 0 ? {call.root} : kNoPeer, -1)"
    if not call.meets:
        return f"FastCall event({number})"
    if call.flow == "ToRoot":
        return f"FastCall event({number}, {comm}, {call.takes} != 0 && {call.root} == g_engine.page->rank)"
    return f"FastCall event({number}, {comm}, {some or 'true'})"


# Who is in these is known afterwards, or of no communicator at all.
WHATEVER_THE_COMMUNICATOR = ("Comm_join", "Comm_spawn", "Comm_spawn_multiple", "Comm_accept", "Comm_connect", "Comm_create_from_group",
                             "Intercomm_create_from_groups")


def alone(call):
    """Before a call that a group which is replayed alone cannot do."""
    if call.kind == "Unsupported" or (call.base and call.kind not in COLLECTIVES) or call.name == "Comm_idup_with_info":
        comm = next((name for declaration, name in split(call.parameters) if re.match(r"MPI_Comm \w", declaration)), None)
        number = f"PF_SITE(kCall{call.name})"
        if call.name in WHATEVER_THE_COMMUNICATOR:
            return f"  notAlone({number});\n"
        return f"  notAlone({number}, {comm});\n" if comm else ""
    return ""


def alone_in_words(call):
    """Column of the page: what becomes of it where a group is replayed alone."""
    refused = call.kind not in HAND and call.kind not in ("Local", "SystemValues") and (
        alone(call) if call.parameters else re.search(r"^P(send|recv)_init|_with_info$|_from_group" if call.kind in COLLECTIVES else r"^P(send|recv)_init|_c$|_with_info$|_from_group", call.name))
    if call.name == "File_open" or refused:
        return "contents are kept up to it" + ("" if call.name in WHATEVER_THE_COMMUNICATOR else ", on a communicator with ranks outside")
    if call.name in ("Win_start", "Win_post", "Win_get_group", "File_get_group"):
        return "as its window or file, its group of the recorded job"
    if call.kind in ("Fetch", "EpochEnd", "WindowLock", "Unsupported", "Session"):
        return "as its window, file or job"
    if call.kind in ("BlockingReceive", "NonblockingReceive", "MatchedReceive", "Probe"):
        return "from outside: as recorded" + ("; to outside: compared, nothing is sent" if "sendrecv" in call.name.lower() else "")
    if call.kind in ("Send", "NonblockingSend", "PersistentSend"):
        return "to outside: compared, nothing is sent"
    if call.kind == "Collective":
        return "messages between those that run; else as recorded"
    if call.kind in ("NonblockingCollective", "PersistentCollective"):
        return "as recorded"
    if call.kind == "CommunicatorConstructor":
        return "over those that run, with all ranks recorded"
    if call.name.startswith(("Group_", "Cart", "Graph", "Dist_graph", "Topo_")) or call.name in (
            "Comm_size", "Comm_rank", "Comm_group", "Comm_compare", "Comm_remote_size", "Comm_remote_group", "Comm_test_inter"):
        return "worked out, of the recorded job"
    return "the same"


def parts(call, names, comm):
    """Whether something flows from this rank to all others, and whether something comes, as expressions. Counts of zero say
    that nothing does, and types of size zero; where they are given for each rank, all others'. A type is looked at only where
    the standard says that it is significant: elsewhere it may be no handle at all."""
    in_place, out_of_place = "sendbuf == MPI_IN_PLACE", "recvbuf == MPI_IN_PLACE"
    types = {"sendcount": "sendtype", "recvcount": "datatype" if "datatype" in names else "recvtype", "count": "datatype"}
    insignificant = {("FromRoot", "sendcount"): f"!gives(root, {comm})", ("FromRoot", "recvcount"): out_of_place,
                     ("ToRoot", "sendcount"): in_place, ("ToRoot", "recvcount"): f"!gives(root, {comm})"}

    def some(count):
        if not count:
            return "true"
        unless = insignificant.get((call.flow, count))
        return f"{count} != 0 && ({f'{unless} || ' if unless else ''}holdsBytes({comm}, {types[count]}))"
    contributes, takes = some(call.contributes), some(call.takes)
    if call.flow != "AllToAll":
        return contributes, takes
    if "sendcounts" in names:
        send, receive = ("sendtypes", "recvtypes") if "sendtypes" in names else ("sendtype", "recvtype")
        return (f"countsForAll({comm}, {in_place} ? recvcounts : sendcounts, {in_place} ? {receive} : {send})",
                f"countsForAll({comm}, recvcounts, {receive})")
    if call.contributes == "sendcount":
        own = "recvcount" if call.takes else f"countForMe({comm}, recvcounts)"
        contributes = f"({in_place} ? {own} : sendcount) != 0 && holdsBytes({comm}, {in_place} ? recvtype : sendtype)"
    elif "recvcounts" in names:  # Reduce_scatter
        takes = f"countForMe({comm}, recvcounts) != 0 && holdsBytes({comm}, datatype)"
    return contributes, takes


def handed_on(call, number):
    """Of MPI_X_c: to the handler of MPI_X."""
    out, arguments, count = "", [], ""
    for declaration, name in split(call.parameters):
        if declaration.startswith("MPI_Count "):
            count = name
        elif count:
            keeps = "Kept" if call.kind == "PersistentSend" or call.base == "Recv_init" else ""
            out += f"  const {keeps}Elements {count}Of({count}, {name});\n"
            arguments += [f"{count}Of.count()", f"{count}Of.type()"]
            count = ""
        else:
            arguments.append(name)
    return f"{out}  return on{call.base}(PF_SITE({number}), {', '.join(arguments)});"


def one_sided(call, number, real):
    """As body()."""
    names = [name for _, name in split(call.parameters)]
    target = "rank" if "rank" in names else "kEveryTarget"
    if call.kind == "WindowLock":
        return f"  noteUnsupported(PF_SITE({number}));\n  locks(win, 1);\n  return {real};"
    if call.kind == "EpochEnd":
        unlock = "\n  locks(win, -1);" if "unlock" in call.name else ""
        return f"  const int result = {real};\n  fetched({target}, win);{unlock}\n  return result;"
    to, count, datatype = {"Get": ("origin_addr", "origin_count", "origin_datatype"),
                           "Get_accumulate": ("result_addr", "result_count", "result_datatype")}.get(call.name, ("result_addr", "1", "datatype"))
    follow = "getsUnderLock" if call.name == "Get" else "fetches"
    return (f"  const int result = {real};\n  if (result == MPI_SUCCESS) {{\n"
            f"    {follow}(PF_SITE({number}), {to}, {count}, {datatype}, target_rank, win);\n  }}\n  return result;")


def fast(call):
    """The wrapper's way out in a recording without events (replay_engine/rank/calls/fast_path.h), or nothing."""
    if call.kind in HAND and call.base:
        return ""
    number, names = f"kCall{call.name}", ", ".join(name for _, name in split(call.parameters))
    test = "fast()"
    if call.kind == "Send":
        test, out = "fastTo(dest, comm)", f"fastSend({number}, PF_KNOWN({call.name}), {names})"
    elif call.kind == "NonblockingSend":
        test = "fastTo(dest, comm)"
        out = f"fastIsend(PF_KNOWN({call.name}), {names})"
    elif call.name == "Recv":
        out = f"fastRecv({names})"
    elif call.name == "Irecv":
        test, out = "fastReceive(source, tag)", f"fastIrecv({names})"
    elif call.name in ("Wait", "Waitall"):
        count, requests = ("1", "request") if call.name == "Wait" else names.split(", ")[:2]
        test = f"fastCompletion({count})"
        out = f"fastWait({number}, {count}, {requests}, [&] {{ return PF_KNOWN({call.name})({names}); }})"
    elif call.kind == "Collective":
        test = f"fastCollective({first_comm(call.parameters)})" if call.name in GIVEN else "fast() && !followsClocks()"
        return f"  if ({test}) [[likely]] {{\n    const {fast_call(call, number)};\n    return PF_KNOWN({call.name})({names});\n  }}\n"
    else:
        return ""
    return f"  if ({test}) [[likely]] {{\n    return {out};\n  }}\n"


def chooses(call):
    """Whether MPI may decide something in it that a recording has to know."""
    return call.kind in ("BlockingReceive", "NonblockingReceive", "Probe", "Unsupported", "WindowLock", "Fetch", "EpochEnd") or \
        call.name in ("Start", "Startall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome") or \
        call.name.startswith("Request_get_status")


def handling(call, names):
    out = ""
    if call.kind not in ("Local", "SystemValues", "Session"):
        early = {"Init": "", "Init_thread": ""}.get(call.name, "passThrough(__builtin_frame_address(0))")
        if early:
            note = f"    noteNested(PF_SITE(kCall{call.name}));\n" if chooses(call) else ""
            out += f"  if ({early}) {{\n{note}    return PF_REAL({call.name})({names});\n  }}\n"
        out += "  const Inside inside;\n"
    elif call.name != "Wtick" and call.kind != "SystemValues":
        out += "  const Inside inside;\n"
    return out + body(call) + "\n"


def wrapper(call):
    declarations = ", ".join(d for d, _ in split(call.parameters))
    names = ", ".join(name for _, name in split(call.parameters))
    if call.name == "Pcontrol":
        declarations += ", ..."
    out = f'PF_EXPORT {call.returns} MPI_{call.name}({declarations}) {{\n'
    if fast(call):
        rest = handling(call, names).replace("__builtin_frame_address(0)", "frame").replace("inside;", "inside(frame);")
        rest = re.sub(r"PF_SITE\((\w+)\)", r"PF_SITE_OF(\1, frame)", rest)
        out = f"PF_REST {call.returns} rest{call.name}(void* frame, {declarations}) {{\n{rest}}}\n{out}"
        out += fast(call) + f"  return rest{call.name}(__builtin_frame_address(0), {names});\n}}\n"
    else:
        out += handling(call, names) + "}\n"
    out += f'PF_EXPORT {call.returns} PMPI_{call.name}({declarations}) __attribute__((alias("MPI_{call.name}")));\n\n'
    return out


def names(path):
    with open(path, "w") as f:
        f.write("// Generated by replay_engine/rank/gen/generate.py from mpi_calls.py. Do not edit.\n// NOLINTBEGIN\n#pragma once\n\n#include <cstdint>\n\n"
                "namespace pf {\n\nenum Call : std::uint16_t {\n")
        f.writelines(f"  kCall{c.name},\n" for c in CALLS)
        f.write("};\n\ninline constexpr std::uint16_t kCallCount = %d;\n\n/// Names of the MPI routines, by call number.\n"
                "inline constexpr const char* kCallNames[] = {\n" % len(CALLS))
        f.writelines(f'    "MPI_{c.name}",\n' for c in CALLS)
        f.write("};\n\n}  // namespace pf\n// NOLINTEND\n")


def in_header(call, declared):
    """The row with what the header says, where the table leaves it to the header."""
    if call.parameters:
        return call
    returns, parameters = declared[call.name]
    return dataclasses.replace(call, returns=returns, parameters=parameters)


def extensions(header, declared):
    """Calls that a library has of a later MPI under a name of its own (MPIX_X, in its mpi-ext.h), as this one says."""
    extended = os.path.join(os.path.dirname(header), "mpi-ext.h")
    if not os.path.exists(extended):
        return
    for name, (returns, parameters) in declared_in(extended, "MPIX_").items():
        call = next((call for call in CALLS if call.name == name and call.kind in ("Unsupported", "PersistentCollective")), None)
        if call is not None and name not in declared:
            yield dataclasses.replace(call, returns=returns.split()[-1], parameters=parameters)  # without OMPI_DECLSPEC


def extension(call):
    """Its wrapper."""
    names = ", ".join(argument for _, argument in split(call.parameters))
    return (f"PF_EXPORT {call.returns} MPIX_{call.name}({call.parameters}) {{\n"
            f"  const auto known = reinterpret_cast<decltype(&MPIX_{call.name})>(real(kCall{call.name}));\n"
            f"  if (passThrough(__builtin_frame_address(0))) {{\n    return known({names});\n  }}\n"
            f"  const Inside inside;\n{body(call).replace(f'PF_REAL({call.name})', 'known')}\n}}\n"
            f'PF_EXPORT {call.returns} PMPIX_{call.name}({call.parameters}) __attribute__((alias("MPIX_{call.name}")));\n\n')


def wrappers(path, header):
    declared = declared_in(header)
    calls = [in_header(call, declared) for call in CALLS if call.name in declared]
    optional = [call for call in calls if header_is_ours(header) and call.name in standard_abi.MAY_LACK]
    calls = [call for call in calls if call not in optional]
    extended = list(extensions(header, declared))
    with open(path, "w") as f:
        f.write("// Generated by replay_engine/rank/gen/generate.py from its tables. Do not edit.\n// NOLINTBEGIN\n#include \"replay_engine/rank/inputs/system_values.h\"\n#include \"replay_engine/rank/engine/given.h\"\n#include \"replay_engine/rank/calls/fast_path.h\"\n#include \"replay_engine/rank/calls/launchers_place.h\"\n#include \"replay_engine/rank/calls/one_sided.h\"\n#include \"replay_engine/rank/calls/persistent_collectives.h\"\n#include \"replay_engine/rank/layer/not_alone.h\"\n")
        if any(call.base for call in calls):
            f.write("#include \"replay_engine/rank/calls/large_counts.h\"\n")
        f.writelines(f"#undef MPI_{call.name}\n#undef PMPI_{call.name}\n" for call in calls if re.search("_(c2f|f2c)$", call.name))  # MPICH 5 has macros, too
        f.write("\nusing namespace pf;\n\nnamespace pf {\nconst std::uint16_t kWrapped[] = {\n")
        f.writelines(f"    kCall{call.name},\n" for call in calls + optional + extended)
        f.write("};\nconst std::uint16_t kWrappedCount = %d;\nconst std::uint16_t kDeclaredCount = %d;\n}  // namespace pf\n\nextern \"C\" {\n\n" %
                (len(calls + optional + extended), len(calls)))
        f.writelines(wrapper(call) for call in calls + optional)
        f.writelines(extension(call) for call in extended)
        f.write("}  // extern \"C\"\n// NOLINTEND\n")


def coverage(path):
    with open(path, "w") as f:
        f.write("# What Photofinish does with each MPI routine\n\nClasses are explained at the beginning of `replay_engine/rank/gen/mpi_calls.py`. Routines of class Unsupported are not followed. Generated by `replay_engine/rank/gen/generate.py coverage` from "
                "`replay_engine/rank/gen/mpi_calls.py` and `mpi4_calls.py`. *Since*: the version of Photofinish that first did so. What stands "
                "behind MPI_Wtime is of MPI 4.0 or 4.1, or older and gone from Open MPI: a newer MPICH or Open MPI has it.\n\n"
                "| routine | class | in a recording and a replay | in a replay of a group alone | since |\n|---|---|---|---|---|\n")
        f.writelines(f"| MPI_{c.name} | {c.kind} | {SAYS[c.kind]} | {alone_in_words(c)} | {c.since} |\n" for c in CALLS)


def declared_in(header, prefix="MPI_"):
    """{name: (what it returns, parameters)} of the routines that an mpi.h declares."""
    text = subprocess.run(["cpp", "-I", os.path.dirname(header), "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", header],
                          capture_output=True, text=True, check=True).stdout
    text = " ".join(line for line in text.splitlines() if not line.startswith("#"))
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    declared = {}
    for statement in text.split(";"):
        match = re.match(rf"([\w\s*]*?)\b{prefix}([A-Z]\w*)\s*\((.*)\)\s*$", statement.strip(), re.DOTALL)
        if match and "typedef" not in statement and not match[2].startswith("C_"):
            declared[match[2]] = (" ".join(match[1].split()), " ".join(match[3].split()))
    return declared


def header_is_ours(header):
    return "standard_abi.py" in open(header).readline()


def standard(path):
    text = standard_abi.header(CALLS)
    if not os.path.exists(path) or open(path).read() != text:  # what was compiled with it stays good
        with open(path, "w") as f:
            f.write(text)


def values_in(header, names, folder):
    """[value of each of `names`, all that are constants] by a compiler."""
    source, program = os.path.join(folder, "values.c"), os.path.join(folder, "values")
    with open(source, "w") as f:
        f.write(f'#include "{os.path.abspath(header)}"\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{{\n')
        f.writelines(f'    printf("MPI_{name} %lld\\n", (long long)MPI_{name});\n' for name in names)
        f.writelines(f'    printf("{fact} %zu\\n", {fact});\n' for fact in [
            f"sizeof(MPI_{kind})" for kind in ("Status", "Aint", "Count", "Offset", *standard_abi.HANDLES)] + [
            f"offsetof(MPI_Status, MPI_{field})" for field in ("SOURCE", "TAG", "ERROR", "internal")])
        f.write("    return 0;\n}\n")
    subprocess.run(["cc", "-w", source, "-o", program], check=True)
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


def types_of(parameters):
    """Of a C parameter list, without names."""
    named = re.sub(r"\w+\s*(?:\[\d*\])+", "*", parameters)
    return [re.sub(r"\s*\*\s*", "*", each if each.strip() in ("void", "...") or each.rstrip().endswith("*") else re.sub(r"\w+\s*$", "", each)).strip()
            for each in named.split(",")]


def compare(header):
    """0 if a library's header of the standard's binary interface says what standard_abi.py does."""
    names = [*(name for values in standard_abi.HANDLES.values() for name in values), *standard_abi.NUMBERS, *standard_abi.POINTERS]
    with tempfile.TemporaryDirectory() as folder:
        ours = os.path.join(folder, "mpi.h")
        standard(ours)
        differences = [f"{mine}: {theirs} there" for mine, theirs in
                       zip(values_in(ours, names, folder), values_in(header, names, folder)) if mine != theirs]
        mine, theirs = declared_in(ours), declared_in(header)
    for name in sorted(mine.keys() | theirs.keys()):
        if name not in mine or name not in theirs:
            if name not in (standard_abi.MAY_LACK if name in mine else standard_abi.NOT_THERE):
                differences.append(f"MPI_{name}: " + ("not there" if name in mine else "there only"))
        elif (mine[name][0], types_of(mine[name][1])) != (theirs[name][0], types_of(theirs[name][1])) and name not in standard_abi.MAY_DIFFER:
            differences.append(f"MPI_{name}({mine[name][1]}): ({theirs[name][1]}) there")
    print("\n".join(differences) or f"{len(names)} constants and {len(mine)} routines are those of {header}")
    return 1 if differences else 0


def check(header):
    """0 if every routine that the header declares has a row here."""
    declared = declared_in(header)
    known = {c.name for c in CALLS}
    missing = sorted(declared.keys() - known)
    if missing or len(known) != len(CALLS):
        print("not in the tables:", " ".join(missing))
        return 1
    print(f"{len(declared)} routines declared, all in the table of {len(CALLS)}")
    return 0


COMMANDS = {"names": (names, 1), "wrappers": (wrappers, 2), "coverage": (coverage, 1), "check": (check, 1), "standard": (standard, 1), "compare": (compare, 1)}

if __name__ == "__main__":
    command, count = COMMANDS.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0))
    if command is None or len(sys.argv) != 2 + count:
        sys.exit(__doc__)
    sys.exit(command(*sys.argv[2:]))
