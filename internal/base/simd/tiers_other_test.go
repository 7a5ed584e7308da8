//go:build !amd64 || purego

package simd

func tiers() []string { return []string{"go"} }

func use(string) {}
