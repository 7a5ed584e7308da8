//go:build !amd64 || purego

package fields

// run does steps.
func run[O int32 | int64](a *assembler, order []uint32) { runGo[O](a, order) }
