//go:build !purego

package template

import "golang.org/x/sys/cpu"

// tiers are the names of the sets of kernels that this machine has.
func tiers() []string {
	if cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT {
		return []string{"go", "avx2"}
	}
	return []string{"go"}
}

// use makes one of them the one that is used.
func use(tier string) { avx2 = tier == "avx2" }
