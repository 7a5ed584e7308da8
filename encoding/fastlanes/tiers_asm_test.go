//go:build (amd64 || arm64) && !purego

package fastlanes

var haveFast = fast

// tiers are the names of the sets of kernels that this machine has.
func tiers() []string {
	if haveFast {
		return []string{"go", "asm"}
	}
	return []string{"go"}
}

// use makes one of them the one that is used.
func use(tier string) { fast = tier == "asm" }
