//go:build !unix

package fastlanes

import "testing"

// guardedPage returns ordinary memory, because this system has no guard pages.
func guardedPage(*testing.T) []byte { return make([]byte, 1<<16) }
