#!/usr/bin/env bash
# Lists the packages in which goroutines share data: those that the race detector can say something about. A sync.Once or
# sync.Pool alone does not count.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z --cached --others --exclude-standard -- '*.go' ':!tools/' ':!gen/' |
  xargs -0 grep -lsE '\bgo func\(|^\s*go [a-zA-Z_.]+\(|\bsync\.(Mutex|RWMutex|WaitGroup|Cond|Map)\b|"sync/atomic"|sync/errgroup"' |
  xargs -r -n1 dirname | sort -u | sed 's|^|./|'
