#!/usr/bin/env bash
# Compares the exported API of the module with that of a base: the newest tag v*, or as long as there is none the commit that
# changed tools/api-base last.
# An incompatible change must stand, as apidiff prints it, in tools/api-changes, which a release empties; docs/versions.md has the rules.
set -euo pipefail
cd "$(dirname "$0")/.."

[ "$(git rev-parse --is-shallow-repository)" = false ] || git fetch -q --unshallow
base=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || git log -1 --format=%H -- tools/api-base)
module=$(go list -m)
work=$(mktemp -d)
trap 'rm -rf "$work"; git worktree prune' EXIT
go build -C tools -o "$work/apidiff" golang.org/x/exp/cmd/apidiff
git worktree add -q --detach "$work/base" "$base"
(cd "$work/base" && "$work/apidiff" -m -w "$work/old" "$module" 2> >(grep -v '^Ignoring internal' >&2))
"$work/apidiff" -m -w "$work/new" "$module" 2> >(grep -v '^Ignoring internal' >&2)
"$work/apidiff" -m -incompatible "$work/old" "$work/new" | sort >"$work/found"
grep -v '^#' tools/api-changes | sort >"$work/allowed" || true
if ! diff "$work/allowed" "$work/found"; then
  echo "incompatible changes since $base (>) differ from tools/api-changes (<): see docs/versions.md" >&2
  exit 1
fi
echo "no incompatible change since $base that is not in tools/api-changes"
