//go:build !purego

package fastlanes

// fast selects the kernels in assembly, which need NEON. All processors have it.
var fast = true
