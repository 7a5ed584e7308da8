//go:build !purego

package simd

import "golang.org/x/sys/cpu"

// tiers are the names of the sets of kernels that this machine supports.
func tiers() []string {
	if cpu.X86.HasAVX2 {
		return []string{"go", "avx2"}
	}
	return []string{"go"}
}

// use selects a set of kernels.
func use(tier string) { avx2 = tier == "avx2" }
