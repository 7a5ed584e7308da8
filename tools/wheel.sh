#!/usr/bin/env bash
# Builds wheels of the Python package into python/dist. Usage: wheel.sh [-test] PYTHON [TARGET...]
# With -test, it builds only that of this machine, installs it into a folder, and runs the command and a scan.
set -euo pipefail
cd "$(dirname "$0")/../python"

limit=26000000 # bytes

build() {
  AMUDAI_TARGET=$1 "$python" -m hatchling build -t wheel -d dist >/dev/null
}

test=false
if [ "$1" = -test ]; then test=true && shift; fi
python=$1
shift
rm -rf dist
if $test; then
  build "$(go env GOOS)/$(go env GOARCH)"
else
  [ $# -gt 0 ] || set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
  for target; do build "$target"; done
fi
for wheel in dist/*.whl; do
  size=$(wc -c <"$wheel")
  echo "$wheel: $size bytes"
  [ "$size" -le $limit ] || { echo "larger than $limit bytes" >&2 && exit 1; }
done
$test || exit 0

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$python" -m pip install -q --no-deps --target "$dir/lib" dist/*.whl
cd "$dir" # away from the sources
unset AMUDAI_PROGRAM
export PYTHONPATH=$dir/lib
lib/bin/amudai version
"$python" -c '
import amudai, pyarrow
amudai.write(pyarrow.table({"a": [1, 2]}), "t.amudai.shard")
assert amudai.open("t.amudai.shard").to_arrow(where="a > 1").to_pylist() == [{"a": 2}]
'
