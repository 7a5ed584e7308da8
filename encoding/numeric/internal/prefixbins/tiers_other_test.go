//go:build !amd64 || purego

package prefixbins

func tiers() []string { return []string{"go"} }

func use(string) {}
