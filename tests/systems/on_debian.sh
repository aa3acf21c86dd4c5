#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs a command of this tree on another Debian, in a folder of its own:
#   tests/systems/on_debian.sh trixie|sid|bookworm [COMMAND…]
# COMMAND is ./test unless given, and runs in a copy of what git follows here, with what is not committed yet. The system
# (build/systems/NAME, by debootstrap from Debian's packages) and what was built in it stay, so that a second time is
# quick; delete the folder to begin anew. ./run and ./test install what they need; before other commands, what ./test
# needs is installed. Mounts and processes are in namespaces of their own: nothing of them outlives the command.
# PF_MIRROR: where the packages come from, instead of where this system has its own from.
set -euo pipefail
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
place=/work/photofinish # of the tree, there

usage() {
  sed -n '3,9s/^# \{0,1\}//p' "$tree/tests/systems/on_debian.sh"
}

enter() { # system, command…: in namespaces of its own, as their process 1, which collects orphans
  local root=$1 node
  shift
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  # A mount of its own: programs ask where their root is mounted.
  mount -t tmpfs -o mode=755 tmpfs "$root/run"
  if [[ -d $tree/../shared ]]; then
    mkdir -p "$root/work/shared"
    mount --bind "$tree/../shared" "$root/work/shared"
    mount -o remount,ro,bind "$root/work/shared"
  fi
  for node in resolv.conf hosts; do
    cp -L "/etc/$node" "$root/etc/$node"
  done
  local status=0
  # shellcheck disable=SC2016
  chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    "${passed[@]}" /bin/bash -c 'cd "$0" && exec "$@"' "$place" "$@" || status=$?
  return "$status"
}

# What of the environment goes along: settings of the tests, the terminal, proxies. Open MPI 5 asks the kernel for
# routes, and warns on every rank's stderr where a virtual machine's network has none to itself: it need not ask.
passed=(OMPI_MCA_reachable=weighted)
while IFS= read -r -d '' setting; do
  case $setting in
    PF_* | OMPI_* | TERM=* | CI=* | QT_QPA_PLATFORM=* | http_proxy=* | https_proxy=* | no_proxy=*) passed+=("$setting") ;;
  esac
done < <(env -0)

if [[ ${1-} == --inside ]]; then # called by this script
  shift
  enter "$@"
  exit
fi

cd "$tree"
. .ci/setup.sh

suite=${1-}
case $suite in
  trixie | sid | bookworm) shift ;;
  --help | -h)
    usage
    exit 0
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac
[[ $# -gt 0 ]] || set -- ./test
if [[ $(id -u) != 0 ]]; then
  say "needs root, to make a system in a folder and to enter it: sudo $0 $suite $*" >&2
  exit 2
fi
systems=$tree/build/systems
root=$systems/$suite
mkdir -p "$systems"

exec 9>"$systems/$suite.lock"
if ! flock -n 9; then
  say "waits for another on_debian.sh, which prepares $root"
  flock 9
fi

child=
end() { # signal's number
  trap - INT TERM HUP
  # With it goes all that it started: --kill-child, and process 1 of its namespace.
  [[ -z $child ]] || kill -KILL "$child" 2>/dev/null || true
  say "ended before its time" >&2
  exit $((128 + $1))
}

apart() { # command…: with mounts and processes of its own
  trap 'end 2' INT
  trap 'end 15' TERM
  trap 'end 1' HUP
  # In the background, so that a signal is not waited for; bash has such a command ignore Ctrl-C, and what it runs too.
  env --default-signal=INT,QUIT unshare --mount --propagation private --pid --fork --kill-child --ipc --uts -- "$@" <&0 9>&- &
  child=$!
  local status=0
  wait "$child" || status=$?
  child=
  trap - INT TERM HUP
  return "$status"
}

mirror() {
  local found
  found=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
    sed -nE 's#^(URIs:|deb( \[[^]]*\])?) +(https?://[^ ]*/debian/?)( .*)?$#\3#p' | head -n1)
  printf '%s\n' "${PF_MIRROR:-${found:-http://deb.debian.org/debian}}"
}

make_system() {
  [[ -e $root/etc/debian_version ]] && return 0
  command -v debootstrap >/dev/null || install_missing debootstrap debian-archive-keyring
  if ! command -v debootstrap >/dev/null; then
    say "debootstrap is not there: install it" >&2
    return 1
  fi
  if [[ ! -e /usr/share/debootstrap/scripts/$suite ]]; then
    say "this debootstrap does not know $suite: install a newer one" >&2
    return 1
  fi
  local source
  source=$(mirror)
  say "makes Debian $suite in $root, of $source"
  rm -rf --one-file-system "$root.part"
  if ! apart debootstrap --variant=minbase "$suite" "$root.part" "$source" >"$systems/$suite-debootstrap.log" 2>&1; then
    tail -n 5 "$systems/$suite-debootstrap.log" >&2
    say "debootstrap could not make Debian $suite of $source; all it said is in $systems/$suite-debootstrap.log" >&2
    return 1
  fi
  # Daemons that a package would start are not to run because of us.
  printf '#!/bin/sh\nexit 101\n' >"$root.part/usr/sbin/policy-rc.d"
  chmod 755 "$root.part/usr/sbin/policy-rc.d"
  printf 'Acquire::Check-Valid-Until "false";\nAPT::Install-Recommends "false";\nAcquire::Languages "none";\n' \
    >"$root.part/etc/apt/apt.conf.d/90photofinish"
  mv "$root.part" "$root"
}

# Files keep their times, so that what was built of them stays good; those that git follows no longer are removed.
put_tree() {
  local there=$root$place
  mkdir -p "$there"
  git -C "$tree" -c safe.directory="$tree" ls-files -z >"$systems/$suite.followed"
  # What was deleted here, and not yet in git, is not to be copied.
  (cd "$tree" && while IFS= read -r -d '' name; do
    [[ -e $name || -L $name ]] && printf '%s\0' "$name"
  done <"$systems/$suite.followed") | LC_ALL=C sort -z >"$systems/$suite.now"
  if [[ ! -s $systems/$suite.now ]]; then
    say "$tree is no git clone, or an empty one: only files that git follows are copied" >&2
    return 1
  fi
  if [[ -e $root/work/photofinish-files ]]; then
    (cd "$there" && LC_ALL=C comm -z -23 "$root/work/photofinish-files" "$systems/$suite.now" | xargs -0 -r rm -f --)
  fi
  tar -C "$tree" --format=posix --null --no-recursion -T "$systems/$suite.now" -c | tar -C "$there" --no-same-owner -x
  cp "$systems/$suite.now" "$root/work/photofinish-files"
}

make_system
put_tree
if [[ $1 != ./test && $1 != ./run ]]; then
  if ! apart "$BASH" "$tree/tests/systems/on_debian.sh" --inside "$root" ./test --install \
    </dev/null >"$systems/$suite-packages.log" 2>&1; then
    tail -n 20 "$systems/$suite-packages.log" >&2
    say "the packages could not be installed on $suite; all that was said is in $systems/$suite-packages.log" >&2
    exit 1
  fi
fi
flock -u 9 # several commands may run there at a time; none while the system or the tree changes
apart "$BASH" "$tree/tests/systems/on_debian.sh" --inside "$root" "$@"
