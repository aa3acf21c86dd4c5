#!/usr/bin/env python3
"""Makes the interposer's wrappers, the list of calls and the coverage page from mpi_calls.py.

usage: generate.py names FILE | wrappers FILE | coverage FILE | check MPI_H
"""
import re
import subprocess
import sys

from mpi_calls import CALLS

HAND = {"Lifecycle", "Send", "NonblockingSend", "PersistentSend", "BlockingReceive", "NonblockingReceive", "MatchedReceive",
        "Start", "Probe", "Completion"}
SAYS = {
    "Lifecycle": "begins or ends the record", "Send": "event", "NonblockingSend": "event", "PersistentSend": "event at Start",
    "BlockingReceive": "event; source of a wildcard recorded and forced", "NonblockingReceive": "event; source recorded and forced",
    "MatchedReceive": "event", "Start": "event; wildcard sources recorded and forced",
    "Probe": "event; source, tag and number of failures recorded and forced",
    "Completion": "event; flags, indices and counts recorded and forced", "Collective": "event",
    "NonblockingCollective": "event at the call and at its completion", "CommunicatorConstructor": "event; the communicator is known",
    "CommunicatorDestructor": "event",
    "Fetch": "passed through; what it brings is recorded when its epoch ends, and given back (a Get: under a lock only)",
    "WindowLock": "passed through; the trace notes its use: the order of locks is not recorded",
    "EpochEnd": "passed through; what was fetched is recorded and given back", "Unsupported": "passed through; the trace notes its use: replay not guaranteed",
    "Environment": "value recorded and given back", "Local": "passed through"}


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
    if call.kind == "Local":
        return f"  return {real};"
    if call.kind == "Unsupported":
        return f"  noteUnsupported(PF_SITE({number}));\n  return {real};"
    if call.kind in ("Fetch", "WindowLock", "EpochEnd"):
        return one_sided(call, number, real)
    if call.kind in HAND or call.kind == "Environment":
        return f"  return on{call.name}(PF_SITE({number}){', ' if names else ''}{names});"
    if call.kind == "CommunicatorDestructor":
        comm = split(call.parameters)[0][1]
        return (f"  const DestructorEvent event(PF_SITE({number}), {comm});\n  return {real};")
    comm = first_comm(call.parameters)
    root = call.root or "kNoRoot"
    contributes = f"{call.contributes} != 0" if call.contributes else "true"
    if call.contributes == "sendcount" and call.flow == "AllToAll":
        contributes = "sendbuf == MPI_IN_PLACE || sendcount != 0"
    takes = f"{call.takes} != 0" if call.takes else "true"
    arguments = f"PF_SITE({number}), {comm}, CollectiveFlow::{call.flow or 'AllToAll'}, {root}, {contributes}, {takes}"
    if call.kind == "NonblockingCollective":
        return f"  PostedCollective event({arguments});\n  const int result = {real};\n  event.posted(result, request);\n  return result;"
    tail = ""
    if call.kind == "CommunicatorConstructor":
        tail = f"\n  event.made(result, {call.new});"
        if "request" in names:
            tail += "\n  event.posted(result, request);"
            return f"  PostedCollective event({arguments});\n  const int result = {real};{tail}\n  return result;"
    return f"  CollectiveEvent event({arguments});\n  const int result = {real};{tail}\n  return result;"


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


def light(call):
    """The wrapper's way out in a recording without events (interposer/light.h), or nothing."""
    number, names = f"kCall{call.name}", ", ".join(name for _, name in split(call.parameters))
    test = "light()"
    if call.kind == "Send":
        out = f"lightSend({number}, PF_KNOWN({call.name}), {names})"
    elif call.kind == "NonblockingSend":
        out = f"lightIsend(PF_KNOWN({call.name}), {names})"
    elif call.name == "Recv":
        out = f"lightRecv({names})"
    elif call.name == "Irecv":
        test, out = "lightReceive(source, tag)", f"lightIrecv({names})"
    elif call.name in ("Wait", "Waitall"):
        count, requests = ("1", "request") if call.name == "Wait" else names.split(", ")[:2]
        test = f"lightCompletion({count})"
        out = f"lightWait({number}, {count}, {requests}, [&] {{ return PF_KNOWN({call.name})({names}); }})"
    elif call.kind == "Collective":
        test = "light() && !clocked()"
        return f"  if ({test}) [[likely]] {{\n    const LightCall event({number});\n    return PF_KNOWN({call.name})({names});\n  }}\n"
    else:
        return ""
    return f"  if ({test}) [[likely]] {{\n    return {out};\n  }}\n"


def chooses(call):
    """Whether MPI may decide something in it that a recording has to know."""
    return call.kind in ("BlockingReceive", "NonblockingReceive", "Probe") or \
        call.name in ("Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome")


def handling(call, names):
    out = ""
    if call.kind not in ("Local", "Environment"):
        early = {"Init": "", "Init_thread": ""}.get(call.name, "passThrough(__builtin_frame_address(0))")
        if early:
            note = f"    noteNested(PF_SITE(kCall{call.name}));\n" if chooses(call) else ""
            out += f"  if ({early}) {{\n{note}    return PF_REAL({call.name})({names});\n  }}\n"
        out += "  const Inside inside;\n"
    elif call.name != "Wtick" and call.kind != "Environment":
        out += "  const Inside inside;\n"
    return out + body(call) + "\n"


def wrapper(call):
    declarations = ", ".join(d for d, _ in split(call.parameters))
    names = ", ".join(name for _, name in split(call.parameters))
    if call.name == "Pcontrol":
        declarations += ", ..."
    out = f'PF_EXPORT {call.returns} MPI_{call.name}({declarations}) {{\n'
    if light(call):
        rest = handling(call, names).replace("__builtin_frame_address(0)", "frame").replace("inside;", "inside(frame);")
        rest = re.sub(r"PF_SITE\((\w+)\)", r"PF_SITE_OF(\1, frame)", rest)
        out = f"PF_REST {call.returns} rest{call.name}(void* frame, {declarations}) {{\n{rest}}}\n{out}"
        out += light(call) + f"  return rest{call.name}(__builtin_frame_address(0), {names});\n}}\n"
    else:
        out += handling(call, names) + "}\n"
    out += f'PF_EXPORT {call.returns} PMPI_{call.name}({declarations}) __attribute__((alias("MPI_{call.name}")));\n\n'
    return out


def names(path):
    with open(path, "w") as f:
        f.write("// Generated by replay_engine/gen/generate.py from mpi_calls.py. Do not edit.\n#pragma once\n\n#include <cstdint>\n\n"
                "namespace pf {\n\nenum Call : std::uint16_t {\n")
        f.writelines(f"  kCall{c.name},\n" for c in CALLS)
        f.write("};\n\ninline constexpr std::uint16_t kCallCount = %d;\n\n/// Names of the MPI routines, by call number.\n"
                "inline constexpr const char* kCallNames[] = {\n" % len(CALLS))
        f.writelines(f'    "MPI_{c.name}",\n' for c in CALLS)
        f.write("};\n\n}  // namespace pf\n")


def wrappers(path):
    with open(path, "w") as f:
        f.write("// Generated by replay_engine/gen/generate.py from mpi_calls.py. Do not edit.\n#include \"light.h\"\n#include \"one_sided.h\"\n\n"
                "using namespace pf;\n\nextern \"C\" {\n\n")
        f.writelines(wrapper(c) for c in CALLS)
        f.write("}  // extern \"C\"\n")


def coverage(path):
    with open(path, "w") as f:
        f.write("# What Photofinish does with each MPI routine\n\nGenerated by `replay_engine/gen/generate.py coverage` from "
                "`replay_engine/gen/mpi_calls.py`. *Since*: the version of Photofinish that first did so.\n\n"
                "| routine | class | in a recording and a replay | since |\n|---|---|---|---|\n")
        f.writelines(f"| MPI_{c.name} | {c.kind} | {SAYS[c.kind]} | {c.since} |\n" for c in CALLS)


def check(header):
    """0 if every routine that the header declares has a row here."""
    text = subprocess.run(["cpp", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", header], capture_output=True, text=True, check=True).stdout
    text = " ".join(line for line in text.splitlines() if not line.startswith("#"))
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    declared = set()
    for statement in text.split(";"):
        match = re.match(r"[\w\s*]*?\b(MPI_[A-Z]\w*)\s*\(", statement.strip())
        if match and "typedef" not in statement and not match.group(1).startswith("MPI_C_"):
            declared.add(match.group(1)[4:])
    known = {c.name for c in CALLS}
    missing = sorted(declared - known)
    if missing or len(known) != len(CALLS):
        print("not in mpi_calls.py:", " ".join(missing))
        return 1
    print(f"{len(declared)} routines declared, all in the table of {len(CALLS)}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("names", "wrappers", "coverage", "check"):
        sys.exit(__doc__)
    sys.exit({"names": names, "wrappers": wrappers, "coverage": coverage, "check": check}[sys.argv[1]](sys.argv[2]))
