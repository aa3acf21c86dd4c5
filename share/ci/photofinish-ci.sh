#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Records an MPI program that is built already, and fails where it has races or outcomes that the file of known races
# does not know. Any CI can call it (docs/continuous-integration.md).
#
#   photofinish-ci.sh [-b FILE.races] [-o DIRECTORY] [-n RUNS] [-c CHECK] LAUNCHER... PROGRAM ARGS
#
#   -b  the file that is kept with the source (default: known.races)
#   -o  where the reports go (default: photofinish-reports): races.sarif, races.xml, races.md, and traces
#   -n  how often the program is recorded (default: 3)
#   -c  a command of the shell that judges what a run printed
# PHOTOFINISH names the program if it is not in PATH. Exit status: 0 nothing new, 5 something new, other: it could not be done.
set -eu

baseline=known.races
reports=photofinish-reports
runs=3
check=
while getopts b:o:n:c: option; do
  case $option in
    b) baseline=$OPTARG ;;
    o) reports=$OPTARG ;;
    n) runs=$OPTARG ;;
    c) check=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))

mkdir -p "$reports"
status=0
"${PHOTOFINISH:-photofinish}" ci --baseline "$baseline" --runs "$runs" ${check:+--check "$check"} --replace \
  --sarif "$reports/races.sarif" --junit "$reports/races.xml" --markdown "$reports/races.md" --trace "$reports/" \
  "$@" || status=$?

# GitHub shows this text on the page of the run.
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$reports/races.md" ]; then
  cat "$reports/races.md" >>"$GITHUB_STEP_SUMMARY"
fi
if [ "$status" -eq 5 ]; then
  echo "If it is right so: photofinish ci --update-baseline with the same words, say in $baseline why, and commit it." >&2
fi
exit "$status"
