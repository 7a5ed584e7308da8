//go:build !unix

package fastlanes

import "testing"

// guardedPage is memory; this machine's system does not guard what is behind it.
func guardedPage(*testing.T) []byte { return make([]byte, 1<<16) }
