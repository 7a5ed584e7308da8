//go:build !cgo || !duckdb_arrow

package main

import (
	"fmt"
	"os"
)

// main says what the build lacks, because "go install" alone does not.
func main() {
	fmt.Fprintln(os.Stderr, "error: amudai-sql was built without its engine: it needs CGO_ENABLED=1, a C++ compiler and -tags duckdb_arrow")
	os.Exit(1)
}
