//go:build !unix

package suite

import "os"

// mapFile is the bytes of a file; where files cannot be mapped, a copy of them.
func mapFile(f *os.File) ([]byte, error) { return os.ReadFile(f.Name()) }
