#!/usr/bin/env bash
# Runs every fuzz target: fuzz.sh TIME [PARTS]
# TIME, in seconds (5s), is given to each target. With PARTS, only the targets of about one package in PARTS run, which the commit
# decides: compiling for the fuzzer takes longer than running. Inputs that fail are written below testdata/fuzz of the package, as go test
# does.
set -euo pipefail
cd "$(dirname "$0")/.."

each=${1:-5s}
parts=${2:-1}
targets=$(git ls-files -z --cached --others --exclude-standard -- '*_test.go' |
  xargs -0 grep -HsoE '^func Fuzz[A-Za-z0-9_]*' | sed 's|:func | |' | sort)
count=$(printf '%s' "$targets" | grep -c . || true)
if [ "$count" = 0 ]; then
  echo "no fuzz targets"
  exit
fi
all=$(printf '%s\n' "$targets" | cut -d' ' -f1 | xargs -n1 dirname | sort -u)
packages=$(printf '%s\n' "$all" |
  awk -v parts="$parts" -v chosen="$((0x$(git rev-parse --short=7 HEAD) % parts))" 'NR % parts == chosen')
echo "$count fuzz targets; those in $(printf '%s\n' "$packages" | wc -l) of $(printf '%s\n' "$all" | wc -l) packages run, $each each"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fuzz PACKAGE runs its targets, and prints its results together.
fuzz() (
  dir=$(mktemp -d "$work/XXXXXX")
  # One instrumented program for all targets of the package.
  go test -c -fuzz=. -o "$dir/fuzz.test" "./$1"
  status=0
  for target in $(awk -v p="$1/" '{ d = $1; sub(/[^\/]*$/, "", d); if (d == p) print $2 }' "$work/targets"); do
    # Left alone, Go spends a minute on making each input that finds new code shorter.
    if (cd "$1" && "$dir/fuzz.test" -test.run='^$' -test.fuzz="^$target\$" -test.fuzztime="$each" \
      -test.fuzzminimizetime=100x -test.fuzzcachedir="$dir/corpus" -test.parallel=1) >"$dir/log" 2>&1; then
      echo "ok   $1 $target: $(grep -o 'execs: [0-9]*' "$dir/log" | tail -n 1)"
    elif grep -q 'context deadline exceeded' "$dir/log" && ! grep -q 'Failing input written' "$dir/log"; then
      # Go calls it a failure when the time ends while a worker starts; an input that fails is always written.
      echo "ok   $1 $target: $(grep -o 'execs: [0-9]*' "$dir/log" | tail -n 1), ended early"
    else
      echo "FAIL $1 $target"
      cat "$dir/log"
      status=1
    fi
  done
  exit $status
)
export -f fuzz
export work each
printf '%s\n' "$targets" >"$work/targets"
# One package for each processor: linking and starting take longer than fuzzing, on one of them.
printf '%s\n' "$packages" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I '{}' bash -c 'set -e; out=$(fuzz "{}" 2>&1) || { echo "$out"; exit 1; }; echo "$out"'
