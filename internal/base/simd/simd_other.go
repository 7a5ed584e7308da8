//go:build !amd64 || purego

package simd

// There are no kernels in assembly; the loops in Go do everything.

func widenFast([][2]uint64, []uint64, uint64, uint64) int { return 0 }

func narrowFast([]int32, []uint64, uint64, uint64) int { return 0 }

func countFast([]int32, int32, int32) int { return 0 }

func mergeFast[W uint32 | uint64]([]W, []uint16, *[8]W) (int, uint16) { return 0, 0 }

func repeatFast[U word]([]U, []U, []uint32) (int, int) { return 0, 0 }

func utf8Fast([]byte) (int, bool) { return 0, true }

func betweenFast[W Unsigned]([]uint64, []W, W, W) int { return 0 }
