//go:build !purego

package fastlanes

// fast tells to use the kernels in assembly. They take NEON, which all processors have.
var fast = true
