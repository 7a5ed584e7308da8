#!/usr/bin/env bash
# Lists the packages in which goroutines or locks occur: those that the race detector can say something about.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z --cached --others --exclude-standard -- '*.go' |
  xargs -0 grep -lsE '^\s*go func|\bgo [a-zA-Z_.]+\(|"sync"|"sync/atomic"|sync/errgroup"' |
  grep -v '^tools/' | xargs -r -n1 dirname | sort -u | sed 's|^|./|'
