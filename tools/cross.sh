#!/usr/bin/env bash
# Compiles everything for Windows, where files are of another kind, with the tests, and for a processor of 32 bits; for macOS, which
# differs from Linux in calls of the system, what makes such calls. It tests the kernels in assembly for arm64 if the machine has
# qemu-user. With arguments, such as windows/amd64, it compiles everything for these.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0

# compile TARGET ARGUMENT... lists packages with export data, which compiles them, and links nothing.
compile() {
  local target=$1
  shift
  echo "$target"
  GOOS=${target%/*} GOARCH=${target#*/} go list -export "$@" >/dev/null
}

if [ $# -gt 0 ]; then
  for target; do compile "$target" -test ./...; done
else
  compile windows/amd64 -test ./...
  compile linux/386 ./...
  compile darwin/arm64 ./encoding/... ./internal/base/... ./cmd/amudai/internal/session ./shard/... ./storage ./storage/http
fi

if command -v qemu-aarch64 >/dev/null; then
  GOOS=linux GOARCH=arm64 go test -short -run 'Known|Kernels|SourceEnd|Refused|Tiers' -exec qemu-aarch64 ./encoding/internal/fastlanes
else
  echo "no qemu-aarch64: kernels for arm64 are not tested"
fi
