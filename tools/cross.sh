#!/usr/bin/env bash
# Checks the types of everything, with the tests, for Windows and macOS, whose files and calls differ from those of Linux, and for a
# processor of 32 bits; with arguments, such as windows/arm64, for these. It assembles the kernels for arm64, and tests them if the machine
# has qemu-user.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0

[ $# -gt 0 ] || set -- windows/amd64 darwin/arm64 linux/386
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -C tools -o "$work/typecheck" ./typecheck
for target; do "$work/typecheck" "$target" ./...; done

mapfile -t kernels < <(git ls-files '*_arm64.s' | xargs -n1 dirname | sort -u | sed 's|^|./|')
GOARCH=arm64 go build "${kernels[@]}"
if command -v qemu-aarch64 >/dev/null; then
  GOARCH=arm64 go test -short -run 'Known|Kernels|SourceEnd|Refused|Tiers' -exec qemu-aarch64 "${kernels[@]}"
else
  echo "no qemu-aarch64: kernels for arm64 are not tested"
fi
