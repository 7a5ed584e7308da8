#!/usr/bin/env bash
# Compiles everything, tests too, for the systems and processors that this machine is not,
# and tests the kernels in assembly for arm64 if it has qemu-user.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0
for target in ${*:-windows/amd64 darwin/arm64 linux/arm64 linux/386}; do
  echo "$target"
  # Listing with export data compiles packages and their tests, and links nothing.
  GOOS=${target%/*} GOARCH=${target#*/} go list -export -test ./... >/dev/null
done

if command -v qemu-aarch64 >/dev/null; then
  GOOS=linux GOARCH=arm64 go test -short -run 'Known|Kernels|SourceEnd|Refused|Tiers' -exec qemu-aarch64 ./encoding/fastlanes
else
  echo "no qemu-aarch64: kernels for arm64 are not tested"
fi
