#!/usr/bin/env bash
# Compiles everything, tests too, for the systems and processors that this machine is not.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0
for target in ${*:-windows/amd64 darwin/arm64 linux/arm64 linux/386}; do
  echo "$target"
  # Listing with export data compiles packages and their tests, and links nothing.
  GOOS=${target%/*} GOARCH=${target#*/} go list -export -test ./... >/dev/null
done
