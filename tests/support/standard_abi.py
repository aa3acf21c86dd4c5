# SPDX-License-Identifier: GPL-3.0-or-later
"""Libraries of the MPI standard's binary interface that are there, and how a program is built for one. Several have the same name for the
loader (libmpi_abi.so.1): a program finds its own in a folder beside it."""
import glob
import os

# name: (its header's folder, the library, its launcher)
LIBRARIES = {
    "abi-mpich": ("/usr/lib/*/mpi_abi_mpich/include", "/usr/lib/*/libmpi_abi_mpich.so.1.0.0", ["mpiexec.mpich"]),
    "abi-openmpi": ("/usr/lib/*/openmpi/include/standard_abi", "/usr/lib/*/libmpi_abi_openmpi.so.1.0.0", ["mpirun.openmpi", "--oversubscribe"]),
}


def found(name):
    """(header's folder, library), or None."""
    places = [glob.glob(pattern) for pattern in LIBRARIES[name][:2]]
    return (places[0][0], places[1][0]) if all(places) else None


def compiler(name, folder):
    """Words of a compiler, and those that come behind the sources."""
    headers, library = found(name)
    place = os.path.join(folder, name)
    os.makedirs(place, exist_ok=True)
    link = os.path.join(place, "libmpi_abi.so.1")
    if not os.path.lexists(link):
        os.symlink(library, link)
    return ["gcc", "-I", headers], [link, f"-Wl,-rpath,{place}"]
