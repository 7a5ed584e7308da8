#!/usr/bin/env bash
# Compiles everything for the systems and processors that this machine is not, with the tests where integers have 32 bits and
# where files are of another kind, and tests the kernels in assembly for arm64 if it has qemu-user.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0
for target in ${*:-windows/amd64 darwin/arm64 linux/386}; do
  echo "$target"
  tests=-test
  case $target in */arm64) tests= ;; esac
  # Listing with export data compiles packages, and links nothing.
  GOOS=${target%/*} GOARCH=${target#*/} go list -export $tests ./... >/dev/null
done

if command -v qemu-aarch64 >/dev/null; then
  GOOS=linux GOARCH=arm64 go test -short -run 'Known|Kernels|SourceEnd|Refused|Tiers' -exec qemu-aarch64 ./encoding/fastlanes
else
  echo "no qemu-aarch64: kernels for arm64 are not tested"
fi
