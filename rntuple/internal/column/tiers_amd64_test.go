//go:build !purego

package column

import "golang.org/x/sys/cpu"

// tiers are the names of the sets of kernels that this machine has.
func tiers() []string {
	if cpu.X86.HasAVX2 {
		return []string{"go", "avx2"}
	}
	return []string{"go"}
}

// use makes one of them the one that is used.
func use(tier string) { avx2 = tier == "avx2" }
