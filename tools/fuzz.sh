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
status=0
for package in $packages; do
  # One instrumented program for all targets of the package.
  go test -c -fuzz=. -o "$work/fuzz.test" "./$package"
  for target in $(printf '%s\n' "$targets" | awk -v p="$package/" '{ d = $1; sub(/[^\/]*$/, "", d); if (d == p) print $2 }'); do
    # Left alone, Go spends a minute on making each input that finds new code shorter.
    if (cd "$package" && "$work/fuzz.test" -test.run='^$' -test.fuzz="^$target\$" -test.fuzztime="$each" \
      -test.fuzzminimizetime=100x -test.fuzzcachedir="$work/corpus" -test.parallel=2) >"$work/log" 2>&1; then
      echo "ok   $package $target: $(grep -o 'execs: [0-9]*' "$work/log" | tail -n 1)"
    elif grep -q 'context deadline exceeded' "$work/log" && ! grep -q 'Failing input written' "$work/log"; then
      # Go calls it a failure when the time ends while a worker starts; an input that fails is always written.
      echo "ok   $package $target: $(grep -o 'execs: [0-9]*' "$work/log" | tail -n 1), ended early"
    else
      echo "FAIL $package $target"
      cat "$work/log"
      status=1
    fi
  done
done
exit $status
