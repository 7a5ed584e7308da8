#!/usr/bin/env bash
# Builds wheels of the Python package into python/dist, by default that of this machine. Usage: wheel.sh [-test] PYTHON [TARGET...]
# With -test, it installs that of this machine into a folder, and runs the command, a scan, and the first session of docs/python.md. What a bare machine lacks is installed: Python by apt-get, hatchling into a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/../python"

limit=26000000 # bytes

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# prepare finds a Python that has hatchling, or makes one.
prepare() {
  builder=$python
  ! "$python" -c 'import hatchling' 2>/dev/null || return 0
  if ! "$python" -c 'import ensurepip' 2>/dev/null; then
    local sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -q
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3 python3-venv
  fi >&2
  "$python" -m venv "$dir/build"
  builder=$dir/build/bin/python
  "$builder" -m pip install -q "$(grep ^hatchling== requirements.txt)"
}

build() {
  AMUDAI_TARGET=$1 "$builder" -m hatchling build -t wheel -d dist >/dev/null
}

test=false
if [ "$1" = -test ]; then test=true && shift; fi
python=$1
shift
prepare
rm -rf dist
[ $# -gt 0 ] || set -- "$(go env GOOS)/$(go env GOARCH)"
for target; do build "$target"; done
for wheel in dist/*.whl; do
  size=$(wc -c <"$wheel")
  echo "$wheel: $size bytes"
  [ "$size" -le $limit ] || { echo "larger than $limit bytes" >&2 && exit 1; }
done
$test || exit 0

page=$PWD/../docs/python.md
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
lib/bin/amudai demo --keep . >/dev/null # flights.parquet
"$python" - "$page" <<'END'
import doctest, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
session = re.search(r"^```python\n(>>> .*?)^```$", page, re.DOTALL | re.MULTILINE).group(1)
test = doctest.DocTestParser().get_doctest(session, {}, "docs/python.md", None, None)
assert len(test.examples) > 3 and doctest.DocTestRunner().run(test).failed == 0
END
