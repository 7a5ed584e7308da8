//go:build (amd64 || arm64) && !purego

package fastlanes

var haveFast = fast

// tiers are the names of the sets of kernels that this machine supports.
func tiers() []string {
	if haveFast {
		return []string{"go", "asm"}
	}
	return []string{"go"}
}

// use selects a set of kernels.
func use(tier string) { fast = tier == "asm" }
