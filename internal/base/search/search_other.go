//go:build !amd64 || purego

package search

// fast tells that there is no kernel in assembly.
const fast = false

func probe(_ *byte, n int, _ *[3]int, _ *[3]byte) int { return n }

func probeClasses(_ *byte, n int, _ *[6][16]byte) int { return n }
