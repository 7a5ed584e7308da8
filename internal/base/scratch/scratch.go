// Package scratch reuses memory between calls.
package scratch

import "slices"

// Slice returns n elements of arbitrary content in the memory of *s, which grows if necessary.
func Slice[T any](s *[]T, n int) []T {
	*s = slices.Grow((*s)[:0], n)[:n]
	return *s
}
