//go:build !purego

package prefixbins

import "golang.org/x/sys/cpu"

// tiers are the names of the sets of kernels that this machine has.
func tiers() []string {
	if cpu.X86.HasBMI2 {
		return []string{"go", "bmi2"}
	}
	return []string{"go"}
}

// use makes one of them the one that is used.
func use(tier string) { kernels = tier == "bmi2" }
