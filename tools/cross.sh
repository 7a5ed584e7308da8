#!/usr/bin/env bash
# Compiles everything, and checks the tests' types, for the systems and processors that this machine is not.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0
for target in ${*:-windows/amd64 darwin/arm64 linux/arm64 linux/386}; do
  echo "$target"
  export GOOS=${target%/*} GOARCH=${target#*/}
  go build ./...
  go vet ./...
done
