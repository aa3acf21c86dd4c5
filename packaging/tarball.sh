#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tarball.sh [BUILD [FILE]]: the engine (command line, daemon, agent, recorders; no Qt) as a tarball that runs where it is unpacked, on a
# system with the same or a newer glibc. All libraries but glibc's own go along. BUILD: build/release. Needs patchelf and xz.
set -euo pipefail
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${1:-$tree/build/release}
version=$(sed -nE 's/^project\(photofinish VERSION ([0-9.]+).*/\1/p' "$tree/CMakeLists.txt")
name=photofinish-engine-$version-$(uname -m)
out=$(realpath -m "${2:-$build/packages/$name.tar.xz}")
for tool in patchelf xz ldd strip; do
  command -v "$tool" >/dev/null || { echo "tarball.sh: $tool is not there: install it" >&2; exit 2; }
done
[[ -x $build/bin/photofinish ]] || { echo "tarball.sh: $build/bin/photofinish is not there: build first (./run --build)" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --component engine --prefix "$work/$name" >/dev/null
place=$(dirname "$(find "$work/$name" -name photofinish-agent)")
mkdir -p "$place/lib"
programs=(photofinish photofinish-agent photofinish-daemon)
for program in "${programs[@]}"; do
  ldd "$place/$program"
done | awk '$3 ~ /^\// { print $3 }' | sort -u | while read -r library; do
  case $(basename "$library") in
    libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | ld-linux*) ;;  # of glibc: the system's own
    *) cp -L "$library" "$place/lib/" ;;
  esac
done
for program in "${programs[@]}"; do
  strip --strip-unneeded "$place/$program"
  patchelf --set-rpath '$ORIGIN/lib' "$place/$program"
done
for library in "$place"/lib/*; do
  patchelf --set-rpath '$ORIGIN' "$library"
done
strip --strip-debug "$place"/libphotofinish*.so
# The link of the command is absolute, as packages have it.
ln -sfn "$(realpath -s --relative-to="$work/$name/bin" "$place/photofinish")" "$work/$name/bin/photofinish"
cp "$tree/LICENSE" "$tree/LICENSE.MIT" "$work/$name/"
mkdir -p "$(dirname "$out")"
tar -C "$work" --owner=0 --group=0 -cJf "$out" "$name"
echo "$out"
