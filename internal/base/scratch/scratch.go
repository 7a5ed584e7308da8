// Package scratch reuses memory between calls.
package scratch

import "slices"

// Slice gives n elements in the memory of *s, which grows if it is too small.
// Their content is arbitrary.
func Slice[T any](s *[]T, n int) []T {
	*s = slices.Grow((*s)[:0], n)[:n]
	return *s
}
