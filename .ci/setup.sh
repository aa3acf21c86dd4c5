# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2034
# Sourced by run and test: packages of a bare Debian 12 or 13, and the build. Says what it does; a second time it is quick
# and needs no network.

# The clang of each release.
clang_version() {
  local codename= found=
  [[ ! -r /etc/os-release ]] || codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  case $codename in
    bookworm) found=14 ;;
    trixie) found=19 ;;
    *) found=$(apt-cache depends clang 2>/dev/null | sed -nE 's/^ *Depends: clang-([0-9]+)$/\1/p') ;;
  esac
  printf '%s\n' "${found:-14}"
}
clang=$(clang_version)

build_packages=(
  ninja-build cmake g++ pkg-config python3 ccache
  qt6-base-dev qt6-svg-dev libqscintilla2-qt6-dev
  libopenmpi-dev openmpi-bin libsqlite3-dev libzstd-dev nlohmann-json3-dev libcli11-dev libdw-dev libelf-dev
  libotf2-trace-dev libxxhash-dev libmetis-dev libcadical-dev libssl-dev
  libgtest-dev libgmock-dev)
run_packages=(gdb sqlite3 xvfb xauth fonts-dejavu-core)
test_packages=(gfortran libeigen3-dev libmpich-dev python3-mpi4py python3-numpy python3-jsonschema python3-yaml mumps-test "clang-$clang" "libclang-rt-$clang-dev" git imagemagick otf2-tools xdotool
  munge slurmctld slurmd slurm-client iproute2 strace neovim nodejs)
[[ $clang != 14 ]] || test_packages+=(clang-format-14)  # others format otherwise

say() { printf '%s: %s\n' "$(basename "$0")" "$*"; }

as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    say "this needs root, and there is no sudo: $*" >&2
    return 1
  fi
}

install_missing() { # packages…
  local package missing=()
  if ! command -v dpkg-query >/dev/null; then
    say "no Debian here; needed are what these packages hold: $*"
    return 0
  fi
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true) == installed ]] || missing+=("$package")
  done
  [[ ${#missing[@]} == 0 ]] && return 0
  say "installs ${missing[*]}"
  as_root apt-get update -q
  # Tests start the daemons that they need for themselves: none is to run because of us.
  local policy=/usr/sbin/policy-rc.d status=0 ours=
  if [[ ! -e $policy ]]; then
    ours=1
    as_root sh -c "printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy"
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" || status=$?
  [[ -z $ours ]] || as_root rm -f "$policy"
  return "$status"
}

build() { # preset, arguments of cmake and ninja: cmake's up to --, then targets
  local preset=$1 options=()
  shift
  while [[ $# -gt 0 && $1 != -- ]]; do
    options+=("$1")
    shift
  done
  [[ $# -gt 0 ]] && shift
  if ! cmake --preset "$preset" "${options[@]}" >"build/$preset-configure.log" 2>&1; then
    cat "build/$preset-configure.log" >&2
    say "cannot configure preset $preset" >&2
    return 1
  fi
  cmake --build --preset "$preset" "${@/#/--target=}"
}

mkdir -p build

# mpirun refuses root unless told twice.
if [[ $(id -u) == 0 ]]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
