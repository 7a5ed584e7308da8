#!/usr/bin/env bash
# Lists the packages in which goroutines share data: those that the race detector can say something about. A sync.Once or
# sync.Pool alone does not count.
set -euo pipefail
cd "$(dirname "$0")/.."

others=() # the folders of the other modules, whose packages cannot be named from here
while IFS= read -r mod; do others+=(":!$(dirname "$mod")/"); done < <(git ls-files --cached --others --exclude-standard -- '*/go.mod')
git ls-files -z --cached --others --exclude-standard -- '*.go' "${others[@]}" ':!gen/' |
  xargs -0 grep -lsE '\bgo func\(|^\s*go [a-zA-Z_.]+\(|\bsync\.(Mutex|RWMutex|WaitGroup|Cond|Map)\b|"sync/atomic"|sync/errgroup"|base/parallel"' |
  xargs -r -n1 dirname | sort -u | sed 's|^|./|'
