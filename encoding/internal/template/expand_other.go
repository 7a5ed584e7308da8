//go:build !amd64 || purego

package template

// avx2 tells that there is no kernel in assembly.
const avx2 = false

func (s *Set) expandChunks([]byte, []uint32, []byte) {}
