#!/usr/bin/env bash
# Static checks of everything that people write: Go, protobuf.
set -uo pipefail
cd "$(dirname "$0")/.."
status=0

unformatted=$(git ls-files -z --cached --others --exclude-standard -- '*.go' | xargs -0 ls 2>/dev/null | xargs gofmt -l)
if [ -n "$unformatted" ]; then
  printf 'not formatted (run gofmt -w):\n%s\n' "$unformatted" >&2
  status=1
fi
go vet ./... || status=1
go vet -C bench ./... || status=1
go tool -modfile=tools/go.mod staticcheck ./... || status=1
go tool -modfile=tools/go.mod buf lint || status=1
go tool -modfile=tools/go.mod buf format --diff --exit-code || status=1
exit $status
