#!/usr/bin/env bash
# Holds formats, values, stores and the Python package to other programs: interop.sh [-install] [DIR]
# It installs what is missing: programs by apt-get, packages of Python and Node into DIR, by default a temporary folder. With -install it
# does nothing else; a folder in which that has ended is used as it is. A test that is skipped is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

only=false
if [ "${1:-}" = -install ]; then only=true && shift; fi

have() {
  local program
  for program; do command -v "$program" >/dev/null || return 1; done
}

install() {
  if ! have python3 node npm tmux java ps jq xrootd || ! python3 -c 'import ensurepip' 2>/dev/null; then
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -q
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
      python3 python3-venv nodejs npm tmux default-jre-headless procps jq xrootd-server
  fi
  python3 -m venv "$dir/venv"
  "$dir/venv/bin/pip" install -q -r python/requirements.txt
  npm install --silent --prefix "$dir" --ignore-scripts --omit=optional jsroot@7.11.2 @oneidentity/zstd-js azurite@3.35.0
  GOBIN="$dir" GOFLAGS= go install github.com/fsouza/fake-gcs-server@v1.56.1
  touch "$dir/installed"
}

if [ $# -gt 0 ]; then
  dir=$1
else
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
fi
[ -e "$dir/installed" ] || install
! $only || exit 0
for target in interop-formats interop-stores interop-python interop-spark test-sql; do
  begin=$SECONDS
  GOFLAGS="${GOFLAGS:-} -v" PATH="$dir/venv/bin:$PATH" make --no-print-directory "$target" \
    PYTHON="$dir/venv/bin/python3" NODE_MODULES="$dir/node_modules" GCS="$dir/fake-gcs-server" | tee "$dir/$target.log"
  # A program is missing, or too old. Parts of the tests of stores are skipped where a store cannot do something.
  if grep -E -e '^--- SKIP' -e '[0-9] skipped' "$dir/$target.log"; then
    echo "$target skips tests" >&2 && exit 1
  fi
  echo "$target: $((SECONDS - begin)) s"
done
