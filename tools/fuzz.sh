#!/usr/bin/env bash
# Runs every fuzz target: fuzz.sh TIME [TOTAL]
# TIME, in seconds (5s), is given to each target. With TOTAL, in seconds too, targets get less if there are too many for
# it, but never less than one second. Inputs that fail are written below testdata/fuzz of the package, as go test does.
set -euo pipefail
cd "$(dirname "$0")/.."

each=${1:-5s}
total=${2:-}
targets=$(git ls-files -z --cached --others --exclude-standard -- '*_test.go' |
  xargs -0 grep -HsoE '^func Fuzz[A-Za-z0-9_]*' | sed 's|:func | |' | sort)
count=$(printf '%s' "$targets" | grep -c . || true)
if [ "$count" = 0 ]; then
  echo "no fuzz targets"
  exit
fi
if [ -n "$total" ]; then
  share=$((total / count))
  [ "$share" -ge 1 ] || share=1
  limit=${each%s}
  [ "$share" -ge "$limit" ] || each=${share}s
fi
echo "$count fuzz targets, $each each"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
for package in $(printf '%s\n' "$targets" | cut -d' ' -f1 | xargs -n1 dirname | sort -u); do
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
